//! Commands that print secrets without naming the file that holds them.

use std::sync::LazyLock;

use super::analyzer::Walker;
use super::destroying_commands::base;
use super::programs;
use super::word::Word;
use super::{AnalyzedCommand, Concern};
use crate::permission::Domain;
use crate::util::hash::NameMap;

/// In each line the file that a command prints, or `-` if its secrets come from elsewhere, its programs, and its words: `a,b` is
/// one of several, `x*` and `*x` begin or end so, `_` is any, `.` is none, `-x,--long` are options of which one is there, and
/// `!a,b` are words that are not.
static TEXT: &str = "\
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
~/.config/gcloud/credentials.db gcloud auth print-*
~/.config/gcloud/credentials.db gcloud auth application-default print-*
~/.config/gcloud/credentials.db gcloud config config-helper
- gcloud secrets versions access
~/.azure/msal_token_cache.json az account get-access-token
- az keyvault secret show,download
- az acr credential show
- az storage account keys list
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
- printenv *key*,*token*,*secret*,*pass*,*cred*,*auth*
- printenv *pwd !pwd,oldpwd
- launchctl getenv";

/// Maximum number of words of a text that are compared.
const MAX_WORDS: usize = 32;

/// The place in the text of the first line with a program.
static FIRST: LazyLock<NameMap<usize>> = LazyLock::new(|| {
    let mut first = NameMap::default();
    let mut at = 0;
    for line in TEXT.lines() {
        let names = line.split(' ').nth(1).unwrap_or_default();
        for name in names.split(',') {
            first.entry(name).or_insert(at);
        }
        at += line.len() + 1;
    }
    first
});

impl Walker<'_> {
    /// Adds the file with secrets that a command prints without its name.
    pub(super) fn printed_secrets(
        &mut self,
        base: &str,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        match printed(base, words) {
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
    pub(super) fn printed_by_text(&mut self, text: &str, command: &mut AnalyzedCommand) {
        let words: Vec<Word> = text.split_whitespace().take(MAX_WORDS).map(Word::plain).collect();
        if may_print(&words) {
            self.printed_secrets(&base(&words[0].text), &words, command);
        }
    }
}

/// Returns true if words that may be a command begin with one that prints secrets. A program name followed by any word can be
/// something else.
pub(super) fn may_print(words: &[Word]) -> bool {
    let found = words.first().and_then(|name| printed(&base(&name.text), words));
    words.len() > 1 && found.is_some_and(|(_, pattern)| !pattern.starts_with('_'))
}

/// Returns the file and the words of the line of the table for a command.
fn printed(base: &str, words: &[Word]) -> Option<(&'static str, &'static str)> {
    TEXT[*FIRST.get(base)?..].lines().find_map(|line| {
        let (file, rest) = line.split_once(' ')?;
        let (names, pattern) = rest.split_once(' ')?;
        (is_one_of(names, base) && is_match(pattern, words)).then_some((file, pattern))
    })
}

fn is_option(word: &Word) -> bool {
    word.text.len() > 1 && word.text.starts_with('-')
}

/// Returns true if a command has the words of a line.
fn is_match(pattern: &str, words: &[Word]) -> bool {
    let mut at = 1;
    let mut next = |part: &str| {
        loop {
            let Some(word) = words.get(at) else { return part == "." };
            // An option, and what may be its value, can stand before each.
            let may_be_value = is_option(&words[at - 1]) && !words[at - 1].text.contains('=');
            at += 1;
            if !is_option(word) && is_one_of(part, &word.text) {
                return true;
            }
            if !is_option(word) && !may_be_value {
                return false;
            }
        }
    };
    pattern.split(' ').all(|part| match part.as_bytes() {
        [b'!', ..] => !words[1..].iter().any(|word| {
            let value = word.text.split_once('=').map_or("", |(_, value)| value);
            let name = word.text.split('=').next().unwrap_or_default();
            [name, value].iter().any(|text| !text.is_empty() && is_one_of(&part[1..], text))
        }),
        [b'-', ..] => words[1..].iter().any(|word| part.split(',').any(|flag| is_flag(flag, word))),
        _ => next(part),
    })
}

/// Returns true if a word is an option, or abbreviates it, but not if it is another one that is a part of its name.
fn is_flag(flag: &str, word: &Word) -> bool {
    let name = word.text.split('=').next().unwrap_or_default();
    let rest = flag.strip_prefix(name).unwrap_or_default();
    programs::flag(&word.text, &[flag]).is_some() && !rest.starts_with('-')
}

/// Returns true if a text is one of those between the commas, in any case.
fn is_one_of(list: &str, text: &str) -> bool {
    let text = text.as_bytes();
    list.as_bytes().split(|byte| *byte == b',').any(|one| {
        let end = one.strip_prefix(b"*").unwrap_or(one);
        let part = end.strip_suffix(b"*").unwrap_or(end);
        let (is_open, is_cut) = (end.len() < one.len(), part.len() < end.len());
        // At most one place if both ends or one of them are fixed.
        let Some(last) = text.len().checked_sub(part.len()) else { return false };
        let from = if is_open && !is_cut { last } else { 0 };
        let to = if is_open { last } else { 0 };
        one == b"_"
            || (is_open || is_cut || last == 0)
                && (from..=to).any(|at| text[at..at + part.len()].eq_ignore_ascii_case(part))
    })
}
