//! Commands that print secrets without naming the file that holds them.

use crate::permission::Domain;
use crate::permission::hosts::gives_tokens;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::command_tables::CommandTable;
use crate::permission::shell::program_names::base;
use crate::permission::shell::word::Word;
use crate::permission::shell::{AnalyzedCommand, Concern};
use crate::util::words::has_word;

/// The file that a command prints, or `-` if its secrets come from elsewhere.
static TABLE: CommandTable = CommandTable::new(
    "\
.env docker,podman,nerdctl compose config,convert !-q,--quiet,--services,--images,--volumes,--networks,--profiles,--models,--hash,--no-interpolate
.env docker-compose,podman-compose config,convert !-q,--quiet,--services,--images,--volumes,--networks,--profiles,--models,--hash,--no-interpolate
.env dotenv,dotenv-cli,dotenvx,env-cmd,dotenv-run _ !set,encrypt,--version,--help
.env dotenv,dotenv-cli -p
.env.local vercel env pull
~/.config/gh/hosts.yml gh auth token
~/.config/gh/hosts.yml gh auth status -t,--show-token
~/.config/gh/hosts.yml gh config get *token
~/.config/glab-cli/config.yml glab auth status -t,--show-token
~/.config/glab-cli/config.yml glab config get *token
~/.git-credentials git credential,credential-store,credential-cache,credential-osxkeychain,credential-manager,credential-libsecret,credential-wincred fill,get
~/.git-credentials git-credential-store,git-credential-cache,git-credential-osxkeychain,git-credential-manager,git-credential-libsecret get
~/.docker/config.json docker-credential-desktop,docker-credential-osxkeychain,docker-credential-secretservice,docker-credential-pass,docker-credential-wincred,docker-credential-ecr-login get
~/.npmrc npm,pnpm,yarn config,c get,list,ls *authtoken
~/.npmrc npm,pnpm get *authtoken
- npm token create
~/.aws/credentials aws configure get *secret_access_key,*session_token
~/.aws/credentials aws configure export-credentials
~/.aws/credentials aws-vault export
- aws sts get-session-token,get-federation-token,assume-role*
- aws secretsmanager get-secret-value,batch-get-secret-value,get-random-password
- aws ssm get-parameter,get-parameters,get-parameters-by-path,get-parameter-history --with-decryption
- aws ecr,ecr-public get-login,get-login-password,get-authorization-token
- aws eks get-token
- aws iam create-access-key
- aws ec2 get-password-data,create-key-pair
- aws apigateway get-api-key,get-api-keys --include-value,--include-values
- aws kms decrypt,generate-data-key,generate-data-key-pair
~/.config/gcloud/credentials.db gcloud auth print-*
~/.config/gcloud/credentials.db gcloud auth application-default print-*
~/.config/gcloud/credentials.db gcloud config config-helper
- gcloud secrets versions access
~/.azure/msal_token_cache.json az account get-access-token
- az keyvault secret show,download
- az acr credential show
- az storage account keys list
- az +keys,key,admin-key,query-key +list,show !keyvault
- az +show-connection-string,list-connection-strings,connection-string,list-publishing-profiles,list-publishing-credentials
- az containerapp secret list,show
- gcloud services api-keys get-key-string
- scw config dump
- cf oauth-token
- ibmcloud iam oauth-tokens
- ngrok config cat
- az webapp,functionapp config appsettings list
- heroku config,config:get,auth:token
- fly,flyctl auth token
- fly,flyctl tokens create
- railway variables,variable
- netlify env:list,env:get
- firebase functions:config:get,functions:secrets:access,login:ci
- doctl auth token
~/.kube/config kubectl,oc config view --raw
- kubectl,oc get *secret* -o,--output,--template !name,wide,-oname,-owide
- kubectl,oc get --raw
- kubectl,oc,k patch,annotate,label,edit *secret* -o,--output,--template !name,wide,-oname,-owide
- kubectl,oc create token
- kubectl,oc view-secret
- oc whoami -t,--show-token
- oc extract *secret*
terraform.tfstate terraform,tofu,terragrunt output -json,-raw,--json,--raw
terraform.tfstate terraform,tofu,terragrunt output _
terraform.tfstate terraform,tofu,terragrunt show -json,--json
terraform.tfstate terraform,tofu,terragrunt state pull
- pulumi config get
- pulumi config,stack,output --show-secrets
- vault,bao kv get
- vault,bao read,unwrap
- vault,bao print token
- vault,bao token create,lookup
~/.password-store/x pass,gopass show,grep,otp,cat
~/.password-store/x pass,gopass _ !ls,list,find,search,init,insert,add,edit,generate,rm,remove,delete,mv,rename,cp,copy,git,help,version,sync,--help,--version
- op read,inject,run
- op item,document get
- op signin --raw
- bw,rbw get,list,export,unlock,send
- lpass show,export
- keepassxc-cli show,clip,export,search
- doppler secrets !set,delete,upload,notes,--only-names
- infisical secrets,export !set,delete,folders
- chamber read,export,env
~/Library/Keychains/login.keychain-db security find-generic-password,find-internet-password -w,-g
~/Library/Keychains/login.keychain-db security dump-keychain,export
- secret-tool lookup,search
~/.gnupg/secring.gpg gpg,gpg2 --export-secret-keys,--export-secret-subkeys,--export-secret-key
- gpg,gpg2 -d,--decrypt
- age,rage -d,--decrypt
- sops -d,--decrypt
- sops decrypt,exec-env,exec-file
- ansible-vault view,decrypt
- rails credentials:show,secrets:show,encrypted:show
- wg show _ private-key,preshared-keys,dump
- wg showconf _
- nmcli -s,--show-secrets
~/.config/rclone/rclone.conf rclone config show,dump
- systemctl show-environment
- tmux show-environment,showenv
- keyring get
- direnv dump,export
- helm get values,all
- supabase status
- dokku config,config:show,config:get,config:export
- cf env
- scalingo env,env-get
- clever env
- pulumi env open,get
- eas env:get,env:list,env:pull
- convex env get,list
- dotenvx get
- akeyless get-secret-value
- conjur variable get
- credstash get,getall
- kamal secrets print,fetch
- snyk config get
- stripe config --list
- git config *extraheader,*password,*token
- printenv .
- npm,pnpm,yarn,bun run,run-script env
- npm,pnpm,yarn,bun exec,x,dlx env,printenv
- yarn env,printenv
- npx,bunx,pnpx env,printenv
~/.netrc curl -n,--netrc,--netrc-optional
- bws secret get,list
- stripe listen --print-secret
- supabase projects api-keys
- gcloud kms decrypt,asymmetric-decrypt,raw-decrypt
- kubectl,oc,k set env --resolve
- nmcli d,dev,device wifi show-password
- make,gmake -p,--print-data-base
- printenv +*key*,*token*,*secret*,*pass*,*cred*,*auth*
- printenv +*pwd !pwd,oldpwd
- eb,dokku,cf printenv
- ssh,autossh,mosh,vagrant,et,adb,ansible,salt $env,printenv,*/env,*/printenv,set,export
- ssh,autossh,mosh,vagrant,et +export,declare $-p
- ssh,autossh,mosh,vagrant,et,adb,ansible,salt +*printenv*,*$* $*token,*secret,*password,*passwd,*_key,*_pass
- docker,podman,nerdctl,docker-compose,podman-compose,kubectl,oc,k,crictl,ctr,lxc,incus,limactl,colima,devcontainer,machinectl,heroku,fly,flyctl,railway,scalingo,dokku,eb,cf,multipass,orb,distrobox +exec,run,rsh,ssh,console,shell,debug $env,printenv,*/env,*/printenv,set,export
- docker,podman,nerdctl,docker-compose,podman-compose,kubectl,oc,k,crictl,ctr,lxc,incus,heroku,fly,flyctl +exec,run,rsh,ssh,console,shell,debug +*printenv*,*$* $*token,*secret,*password,*passwd,*_key,*_pass
- aws,az,gcloud +execute-command,ssh,exec +env,printenv
- docker,podman,nerdctl inspect !-f,--format,-f*
- docker,podman,nerdctl container,service,config inspect !-f,--format,-f*
- docker,podman,nerdctl +inspect +*config.env*,*.config}*,*.}}*,*\"env*,*spec.env*
- docker swarm join-token,unlock-key
- docker,podman secret inspect --showsecret
- kubectl,oc,k cluster-info dump
- minikube,k3s,microk8s,rancher kubectl +get +*secret* -o,--output,--template !name,wide,-oname,-owide
- k get *secret* -o,--output,--template !name,wide,-oname,-owide
- kubeadm token create,list
- argocd account generate-token
- argocd admin initial-password
- istioctl proxy-config,pc secret
terraform.tfstate terraform,tofu,terragrunt console
- consul kv get
- etcdctl get
- nomad var get
- berglas,teller access,show,yaml,json
- aws lambda get-function,get-function-configuration
- aws ecs describe-task-definition
- aws rds generate-db-auth-token
- aws codeartifact get-authorization-token
- aws cognito-idp describe-user-pool-client
- aws elasticbeanstalk describe-configuration-settings
- az cosmosdb keys list
- az redis list-keys
- az ad sp create-for-rbac
- az ad app credential reset
- pscale password create
- pm2 env,jlist,prettylist
- systemctl show +*environment*
- php -i
- php artisan config:show,env:decrypt
- django-admin diffsettings
- composer config +*oauth*,*basic*,*bearer*,*token*
- poetry config +*basic*,*token*
- serverless,sls print
- kwallet-query -r,--read-password
- mc alias export
- mise env
- launchctl getenv",
);

/// Maximum number of words of a text that are compared.
const MAX_WORDS: usize = 32;

/// Programs that fetch an address.
const FETCHERS: &str = "curl curlie wget wget2 http https xh aria2c lwp-request httpie";

impl Walker<'_> {
    /// Adds the file with secrets that a command prints without its name.
    pub(crate) fn printed_secrets(
        &mut self,
        base: &str,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        let asks = |word: &&Word| gives_tokens(&word.text);
        if let Some(word) = words.iter().skip(1).find(asks).filter(|_| has_word(FETCHERS, base)) {
            let reason = format!("{} is where tokens of this machine are given out", word.brief());
            command.concerns.push(Concern::unless_exact(reason));
        }
        match TABLE.find(base, words.get(1..).unwrap_or_default()) {
            Some(("-", _)) => {
                let reason = format!("{} can print secrets", command.text);
                command.concerns.push(Concern::unless_exact(reason));
            }
            Some((file, _)) => {
                let tilde = file.starts_with('~');
                command
                    .concerns
                    .extend(self.file(Domain::Read, &Word { tilde, ..Word::plain(file) }));
            }
            None => {}
        }
    }

    /// Does so for a text of code that may be such a command.
    pub(crate) fn printed_by_text(&mut self, text: &str, command: &mut AnalyzedCommand) {
        let words: Vec<Word> = text.split_whitespace().take(MAX_WORDS).map(Word::plain).collect();
        if may_print(&words) {
            self.printed_secrets(&base(&words[0].text), &words, command);
        }
    }
}

/// Returns true if words that may be a command begin with one that prints secrets. A program name followed by any word can be
/// something else.
pub(crate) fn may_print(words: &[Word]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    !rest.is_empty()
        && TABLE.find(&base(&name.text), rest).is_some_and(|(_, pattern)| !pattern.starts_with('_'))
}
