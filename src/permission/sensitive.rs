//! Which names are those of files with secrets, and of the folder that git runs programs from. Case, full-width letters
//! and what file systems ignore in a name make no difference.

use std::borrow::Cow;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use crate::util::sort::sort_by_key;

/// The default names; `!` takes names out again.
pub const SENSITIVE_FILES: [&str; 5] = [".env", ".env.*", "!.env.example", "*.pem", "*.key"];

/// Further names of files with secrets, as programs and people call them, unless a user gives a list. With a folder in front,
/// only files in a folder of that name, and with `/**` all that is below it.
const COMMON: &str = "\
    id_* !id_*.ts !id_*.tsx !id_*.js !id_*.jsx !id_*.mjs !id_*.cjs !id_*.py !id_*.go !id_*.rs !id_*.rb !id_*.java !id_*.kt !id_*.swift \
    !id_*.c !id_*.h !id_*.cc !id_*.cpp !id_*.hpp !id_*.cs !id_*.php !id_*.vue !id_*.sql !id_*.csv !id_*.tsv !id_*.json !id_*.yml \
    !id_*.yaml !id_*.toml !id_*.xml !id_*.html !id_*.css !id_*.md !id_*.txt !id_*.rst !id_*.proto !id_*.sh !id_*.log !id_*.png \
    !id_*.svg !id_*.lock !id_*.snap \
    id_rsa* id_dsa* id_ecdsa* id_ed25519* *_rsa *_dsa *_ecdsa *_ed25519 .ssh/** ssh/ssh_host_* \
    *.p12 *.pfx *.p8 *.pkcs12 *.jks *.keystore *.bcfks *.jceks *.kdbx *.kdb *.ppk *.keytab *.keychain *.keychain-db *.agekey \
    .gnupg/** secring.gpg secring.* .password-store/** wallet.dat \
    .npmrc .netrc _netrc .pypirc .git-credentials git/credentials .aws/** .azure/** .kube/** kubeconfig *.kubeconfig kubeconfig.yml kubeconfig.yaml \
    .docker/config.json .dockercfg .dockerconfigjson terraform.tfstate* *.tfstate *.tfstate.backup *.tfvars *.tfvars.json \
    .terraformrc terraform.rc credentials.tfrc.json service-account*.json service_account*.json serviceaccount*.json \
    credentials*.json *-credentials.json *_credentials.json .credentials.json .credentials application_default_credentials.json \
    client_secret*.json gha-creds-*.json oauth_creds.json .config/gcloud/** gcloud/credentials.db gcloud/access_tokens.db \
    .config/gh/** gh/hosts.yml .config/glab-cli/** .config/hub .config/op/** .config/doctl/** .config/rclone/** rclone.conf \
    .cargo/credentials* .gem/credentials .bundle/config .m2/settings.xml settings-security.xml .gradle/gradle.properties .nuget/nuget.config \
    .composer/auth.json composer/auth.json .codex/auth.json opencode/auth.json .pgpass pgpass.conf .my.cnf .mylogin.cnf .mysql/** \
    .htpasswd .htdigest .vault-token .oci/** .boto .s3cfg .passwd-s3fs .databrickscfg .snowsql/config .dbt/profiles.yml .dev.vars \
    .sftp.json sftp-config.json .ftpconfig .ftppass .fetchmailrc .msmtprc .smbcredentials secrets.json secrets.yml secrets.yaml secrets.toml \
    *.bash_history .bash_history .zsh_history .sh_history .ksh_history .history .histfile .python_history .node_repl_history .psql_history \
    .mysql_history .sqlite_history .rediscli_history .mongosh/** .dbshell .irb_history .irb-history fish_history ConsoleHost_history.txt \
    .envrc .env-* .env_* *.env~ \
    key3.db key4.db logins.json cookies.sqlite environ serviceaccount/token etc/shadow etc/shadow- etc/gshadow etc/sudoers \
    .config/containers/auth.json containers/auth.json .yarnrc.yml NuGet/NuGet.Config firebase-adminsdk-*.json *-firebase-adminsdk.json \
    .cloudflared/*.json .aliyun/config.json .bluemix/config.json .fly/config.yml .config/stripe/** .snowflake/** .wrangler/** \
    .kaggle/kaggle.json kaggle.json .cache/huggingface/token .huggingface/token .authinfo .authinfo.gpg .vault_pass .vault_pass.txt *.bks \
    *.env !*process.env !*default.env !*defaults.env !*meta.env !*example.env !*sample.env !*template.env .dev.vars.* .secrets .secret secrets.txt \
    secrets.ini secrets.properties secrets.xml secret.json secret.txt password.txt passwords.txt passwords.csv credentials.csv credentials.yml credentials.yaml credentials.toml credentials.ini credentials.xml \
    *_accessKeys.csv rootkey.csv keyfile.json *-service-account.json *_service_account.json *-service-key.json *-sa-key.json token.pickle cookies.txt \
    *.pk8 *.pkcs8 *.pvk *.snk *.psafe3 *.kwl *.kwallet *.1pux *.opvault *.bek *.ovpn *.pem.bak *.key.bak sops/age/keys.txt wg0.conf \
    etc/wireguard/** etc/master.passwd etc/ssl/private/** run/secrets/** ipsec.secrets chap-secrets pap-secrets wpa_supplicant.conf krb5cc_* \
    system-connections/** .local/share/keyrings/** Library/Keychains/** .mozilla/** .thunderbird/** .config/google-chrome/** .config/chromium/** \
    .vnc/passwd .lastpass/** .Renviron .sentryclirc .curlrc .wgetrc .muttrc .offlineimaprc .mbsyncrc .esmtprc .gitcookies .cvspass \
    svn.simple/** davfs2/secrets rsyncd.secrets .rediscli_auth .cqlshrc .cassandra/cqlshrc .hex/hex.config .ngrok2/** ngrok.yml \
    .doppler.yaml .doppler/** .config/github-copilot/** com.vercel.cli/auth.json netlify/config.json .railway/config.json .supabase/access-token \
    configstore/firebase-tools.json hcloud/cli.toml .config/linode-cli .vultr-cli.yaml scw/config.yaml .ovh.conf ovh.conf .civo.json \
    exoscale/exoscale.toml .circleci/cli.yml .travis/config.yml .twilio-cli/config.json planetscale/access-token .pi/agent/auth.json .factory/auth.json \
    pypoetry/auth.toml local.settings.json wp-config.php secret_token.rb hudson.util.Secret encrypted_data_bag_secret .vault-password* \
    sitemanager.xml recentservers.xml WinSCP.ini .vscode/sftp.json .remote-sync.json UTC--* solana/id.json .near-credentials/** .foundry/keystores/** mnemonic.txt \
    !*.pub !known_hosts !known_hosts.old !*.pub.pem !.env-example !.env_example !.env-sample !.env_sample";

/// Names of ordinary files. A glob with a star that one of these matches is about files in general, and not about secrets.
const ORDINARY: &str = "\
    index.js main.ts app.tsx view.jsx page.vue style.css theme.scss index.html main.py app.rb lib.rs main.go Main.java App.kt Program.cs \
    main.c main.cpp util.h main.swift index.php run.sh build.ps1 query.sql README.md notes.txt guide.rst paper.pdf data.csv table.tsv data.xml \
    package.json package-lock.json tsconfig.json config.json settings.json schema.json manifest.json test.json client.json data.json \
    config.yml config.yaml docker-compose.yml ci.yaml values.yaml pom.xml Cargo.toml pyproject.toml setup.cfg app.ini app.conf app.properties \
    Makefile Dockerfile LICENSE CHANGELOG src test tests docs lib build dist package vite.config.js jest.config.ts main.test.ts app.spec.js \
    main_test.go test_main.py types.d.ts app.min.js a.lock yarn.lock data.db app.log out.tmp backup.bak image.png icon.svg photo.jpg \
    a.o a.so a.a a.out a.zip a.tar.gz main.proto main.dart main.lua main.ex mod.zig a.mjs a.cjs a.wasm a.map directory factory entry \
    setup.py settings.py client.ts history.ts secrets.ts keys.ts key.ts service.ts token.ts terraform.tf main.tf identity.ts ids.ts";

/// Git's folder, also by the short name that Windows gives it.
const GIT: [&str; 2] = [".git", "git~1"];

/// How folders are called that hold what is in git's folder and nothing else.
const BARE: &str = ".git";

static ORDINARY_NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| ORDINARY.split_ascii_whitespace().map(plain).map(Cow::into_owned).collect());

static GIT_NAMES: LazyLock<SensitiveNames> = LazyLock::new(|| {
    SensitiveNames::new(&GIT.map(str::to_owned))
        .unwrap_or_else(|_| unreachable!("built-in names are valid"))
});

/// Returns true if a path is git's folder or below one: there git finds programs that it runs, and settings that name more
/// of them. A glob does if it says so.
pub fn is_of_git(path: &str, is_glob: bool) -> bool {
    path.split(['/', '\\']).any(|name| match is_glob {
        true => GIT_NAMES.can_be_sensitive(name, false),
        false => GIT_NAMES.is_sensitive(name) || plain(name).ends_with(BARE),
    })
}

/// Files that only a repository of git has at its top, or that say what git does with other files.
const GIT_FILES: [&str; 3] = ["head", ".gitmodules", ".gitattributes"];

/// Files that are git's in a folder that is a repository.
const GIT_SETTINGS: [&str; 4] = ["config", "config.worktree", "commondir", "gitdir"];

/// Returns true if a file makes a folder a repository, or configures git.
pub fn is_file_of_git(path: &str) -> bool {
    GIT_FILES.contains(&&*plain(last(path)))
}

/// Returns true if a file configures git where its folder is a repository.
pub fn is_setting_of_git(path: &str) -> bool {
    GIT_SETTINGS.contains(&&*plain(last(path)))
}

/// Files that run, or say what runs, when a shell starts or a user logs in.
const STARTUP: &str = ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout \
    .kshrc .mkshrc .cshrc .tcshrc .login .logout .xinitrc .xprofile .xsession .xsessionrc .inputrc .pam_environment \
    .gitconfig git/config .config/git/** authorized_keys authorized_keys2 .ssh/rc .ssh/config .ssh/environment .config/fish/** \
    .config/autostart/** .config/systemd/user/** systemd/user/** LaunchAgents/** LaunchDaemons/** .config/environment.d/** \
    .vimrc .gvimrc .exrc .nvimrc .emacs .lldbinit .gdbinit .screenrc .tmux.conf .pythonrc .pythonrc.py .irbrc .pryrc .Rprofile \
    .config/nvim/init.lua .config/nvim/init.vim sitecustomize.py usercustomize.py Microsoft.PowerShell_profile.ps1 profile.ps1 \
    crontabs/** cron.d/** cron.daily/** cron.hourly/** init.d/** rc.local";

static STARTUP_NAMES: LazyLock<SensitiveNames> = LazyLock::new(|| {
    SensitiveNames::of(STARTUP.split_ascii_whitespace().map(Name::built_in).collect())
});

/// Returns true if a file runs, or names a program that runs, when a shell starts or a user logs in.
pub fn is_startup(path: &str, is_glob: bool) -> bool {
    match is_glob {
        true => STARTUP_NAMES.can_be_sensitive(path, false),
        false => STARTUP_NAMES.is_sensitive(path),
    }
}

/// A glob that begins with at least this number of letters of a name matches that name.
const MIN_START: usize = 4;

/// Maximum number of lists of alternatives in a glob that are expanded.
const MAX_ALTERNATIVES: usize = 3;

/// Names with at most one `*` each, in order; the last one that matches counts.
#[derive(Debug, Clone, Default)]
pub struct SensitiveNames {
    names: Vec<Name>,
    /// Places in `names` by the [`key`](Name::key), ascending for each; `starts` says where those of a key begin. Every word of
    /// every command is compared, and a letter of it rules out nearly all names.
    places: Vec<usize>,
    starts: Vec<usize>,
}

/// Kinds of keys, each with one for every letter: names of files by their first letter; those that begin with `*` by their last
/// letter, or 0 without one; names in folders by the first letter of the last folder.
const FIRST: usize = 0;
const LAST: usize = 256;
const FOLDER: usize = 512;
const KEYS: usize = 768;

#[derive(Debug, Clone)]
struct Name {
    counts: bool,
    /// Folders that must come before it, each a whole name.
    folders: Vec<String>,
    /// Everything below the folders counts.
    below: bool,
    start: String,
    end: Option<String>,
    /// Names that it is about, for globs to match.
    samples: Vec<String>,
}

impl Name {
    /// One that is known to be right.
    fn built_in(name: &str) -> Self {
        let (counts, path) = name.strip_prefix('!').map_or((true, name), |rest| (false, rest));
        let path = plain_path(path);
        let (below, path) =
            path.strip_suffix("/**").map_or((false, path.as_str()), |path| (true, path));
        let (folders, name) = match below {
            true => (path, ""),
            false => path.rsplit_once('/').unwrap_or(("", path)),
        };
        let folders =
            folders.split('/').filter(|folder| !folder.is_empty()).map(str::to_owned).collect();
        let (start, end) =
            name.split_once('*').map_or((name, None), |(start, end)| (start, Some(end.to_owned())));
        let samples = samples(start, end.as_deref(), below);
        Name { counts, folders, below, start: start.to_owned(), end, samples }
    }

    fn is(&self, name: &str) -> bool {
        let Name { start, end, .. } = self;
        match end {
            None => name == start,
            Some(end) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end.as_str())
            }
        }
    }

    fn key(&self) -> usize {
        let letter = |byte: Option<u8>| usize::from(byte.unwrap_or(0));
        match (self.folders.last(), &self.end) {
            (Some(folder), _) => FOLDER + letter(folder.bytes().next()),
            (None, Some(end)) if self.start.is_empty() => LAST + letter(end.bytes().last()),
            (None, _) => FIRST + letter(self.start.bytes().next()),
        }
    }

    /// Returns true if it matches a path of these parts, the last of which is the name of the file.
    fn is_path(&self, parts: &[Cow<'_, str>]) -> bool {
        let Some((name, above)) = parts.split_last() else { return false };
        if self.below {
            // The folder itself, which is listed or copied as a whole, counts too.
            return parts.windows(self.folders.len()).any(|some| some == self.folders);
        }
        let from = above.len().checked_sub(self.folders.len());
        from.is_some_and(|from| above[from..] == self.folders[..]) && self.is(name)
    }

    /// Returns true if it has a letter before its extension, so that a glob for the extension matches other files, too.
    fn is_word(&self) -> bool {
        match &self.end {
            Some(end) if self.start.is_empty() => {
                !end.starts_with('.') || end.matches('.').count() > 1
            }
            _ => !self.start.starts_with('.'),
        }
    }
}

/// Names that begin and end so.
fn samples(start: &str, end: Option<&str>, below: bool) -> Vec<String> {
    if below {
        return vec!["config".to_owned(), "credentials".to_owned()];
    }
    let Some(end) = end else { return vec![start.to_owned()] };
    let between: &[&str] = match (start.is_empty(), end.is_empty()) {
        (true, _) => &["x", "server"],
        (_, true) if start.ends_with('.') => {
            &["local", "production", "development", "test", "prod", "dev", "staging"]
        }
        _ => &["", "x"],
    };
    between.iter().map(|between| [start, *between, end].concat()).collect()
}

impl SensitiveNames {
    /// Reads names; the error is what is wrong with one.
    pub fn new(names: &[String]) -> Result<Self, String> {
        let read = |name: &String| {
            let body = plain(name.strip_prefix('!').unwrap_or(name));
            if body.is_empty() || body.contains('/') || body.matches('*').count() > 1 {
                return Err(format!("expected a file name with at most one *, received {name:?}"));
            }
            Ok(Name::built_in(name))
        };
        names.iter().map(read).collect::<Result<_, _>>().map(Self::of)
    }

    /// No names.
    pub fn none() -> Self {
        Self::of(Vec::new())
    }

    /// The names that are usual for files with secrets.
    pub fn usual() -> Self {
        let names = SENSITIVE_FILES.into_iter().chain(COMMON.split_ascii_whitespace());
        Self::of(names.map(Name::built_in).collect())
    }

    fn of(names: Vec<Name>) -> Self {
        let mut places: Vec<usize> = (0..names.len()).collect();
        sort_by_key(&mut places, |at| names[*at].key());
        let before = |key: usize| places.partition_point(|at| names[*at].key() < key);
        let starts = (0..=KEYS).map(before).collect();
        SensitiveNames { names, places, starts }
    }

    /// The places of names with a key.
    fn with_key(&self, key: usize) -> &[usize] {
        let at = |key: usize| self.starts.get(key).map_or(0, |at| *at);
        &self.places[at(key)..at(key + 1)]
    }

    /// Returns true if a path ends in such a name, or is in a folder of secrets.
    pub fn is_sensitive(&self, path: &str) -> bool {
        let name = plain(last(path));
        let letter = |byte: Option<u8>| usize::from(byte.unwrap_or(0));
        let mut found = None;
        let keys = [FIRST + letter(name.bytes().next()), LAST + letter(name.bytes().last()), LAST];
        for at in keys.iter().flat_map(|key| self.with_key(*key)) {
            if Some(at) > found && self.names[*at].is(&name) {
                found = Some(at);
            }
        }
        let folders = || {
            let mut rest = Some(path);
            let next = std::iter::from_fn(move || {
                let text = rest?;
                let end = text.bytes().position(|byte| matches!(byte, b'/' | b'\\'));
                rest = end.map(|end| &text[end + 1..]);
                Some(end.map_or(text, |end| &text[..end]))
            });
            next.filter(|part| !matches!(*part, "" | "."))
        };
        let mut parts = None;
        for folder in folders().map(plain) {
            for at in self.with_key(FOLDER + letter(folder.bytes().next())) {
                let one = &self.names[*at];
                if Some(at) > found && one.folders.last().is_some_and(|own| *own == folder) {
                    let parts =
                        parts.get_or_insert_with(|| folders().map(plain).collect::<Vec<_>>());
                    found = found.max(Some(at).filter(|_| one.is_path(parts)));
                }
            }
        }
        found.is_some_and(|at| self.names[*at].counts)
    }

    /// Returns true if a glob of a shell matches such a name. One for every name counts only if `wide_counts`.
    pub fn can_be_sensitive(&self, glob: &str, wide_counts: bool) -> bool {
        self.any_alternative(glob, &|glob| self.is_meant(glob, wide_counts))
    }

    /// Returns true if a glob that a program expands itself matches such a name: a wildcard matches a leading dot, too. With
    /// `crosses`, it stands for several folders.
    pub fn can_be_found(&self, glob: &str, crosses: bool) -> bool {
        self.any_alternative(glob, &|glob| {
            self.is_meant(glob, false)
                || self.matches_sample(glob, &|glob, path| matches_glob(glob, path, crosses))
        })
    }

    /// Returns true if an expression for whole paths matches such a name.
    pub fn can_be_matched(&self, expression: &regex::bytes::Regex) -> bool {
        self.matches_sample("*", &|_, path| expression.is_match(path.as_bytes()))
    }

    /// Returns true if a glob or an expression matches one of the names and no ordinary one.
    fn matches_sample(&self, glob: &str, matches: &dyn Fn(&str, &str) -> bool) -> bool {
        let glob = plain_path(glob);
        let mut glob = glob.as_str();
        // The path of a glob may begin anywhere.
        while let Some(rest) =
            ["/", "./", "*/", "**/"].iter().find_map(|start| glob.strip_prefix(start))
        {
            glob = rest;
        }
        let has_folder = glob.contains('/') || glob == "*";
        let is_match = |name: &str| match has_folder {
            false => matches(glob, name),
            true => ["", "./", "a/", "./a/", "/a/"]
                .iter()
                .any(|folder| matches(glob, &[*folder, name].concat())),
        };
        let is_secret = |one: &Name| {
            if one.folders.is_empty() || !has_folder {
                return one.samples.iter().any(|sample| is_match(sample));
            }
            let folders = one.folders.join("/");
            one.samples.iter().any(|sample| is_match(&[&folders, "/", sample].concat()))
        };
        let found =
            self.names.iter().filter(|one| one.counts && (has_folder || !one.below)).any(is_secret);
        found && !(glob.contains('*') && ORDINARY_NAMES.iter().any(|name| is_match(name)))
    }

    /// Returns true if one of the globs between braces matches.
    fn any_alternative(&self, glob: &str, is_it: &dyn Fn(&str) -> bool) -> bool {
        let glob = &*without_classes(glob);
        if let Some((before, rest)) = glob.split_once('{')
            && let Some((all, after)) = rest.split_once('}')
        {
            // Nested ones are not taken apart, nor many: they may mean anything.
            return all.contains('{')
                || glob.matches('{').count() > MAX_ALTERNATIVES
                || all
                    .split(',')
                    .any(|one| self.any_alternative(&[before, one, after].concat(), is_it));
        }
        is_it(glob)
    }

    fn is_meant(&self, glob: &str, wide_counts: bool) -> bool {
        let folders = glob.rsplit_once(['/', '\\']).map_or("", |(folders, _)| folders);
        if self.is_sensitive(&[folders, "/x"].concat()) {
            return true;
        }
        let glob = plain(last(glob));
        let Some(first) = glob.find(['*', '?', '[']) else { return self.is_sensitive(&glob) };
        let start = &glob[..first];
        let end = glob.rfind(['*', '?', ']']).map_or("", |at| &glob[at + 1..]);
        let open_end = !end.contains('.');
        if start.is_empty() && open_end {
            return wide_counts;
        }
        let is_ordinary = || {
            glob.contains('*') && ORDINARY_NAMES.iter().any(|name| matches_glob(&glob, name, false))
        };
        self.names.iter().filter(|one| one.counts && one.folders.is_empty()).any(|one| {
            if one.is_word()
                && !one.start.is_empty()
                && start.len() < MIN_START
                && !start.starts_with(&one.start)
            {
                return one.samples.iter().any(|name| matches_glob(&glob, name, false))
                    && !is_ordinary();
            }
            // A wildcard does not stand for a dot at the beginning of a name.
            let longer = one.end.is_some() && start.starts_with(&one.start);
            let starts = longer || one.start.starts_with(start);
            let starts = starts && (!start.is_empty() || !one.start.starts_with('.'));
            let tail = one.end.as_deref().unwrap_or(&one.start);
            let part = tail.ends_with(end) && !(one.is_word() && one.start.is_empty());
            let ends = open_end || tail.is_empty() || end.ends_with(tail) || part;
            // One that may end in anything does not say that it ends like that.
            starts
                && ends
                && (wide_counts || !open_end || !one.start.is_empty())
                && !(one.is_word() && is_ordinary())
        })
    }
}

/// A glob in which lists with classes, such as `[[:punct:]]`, may stand for any letter.
pub fn without_classes(glob: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(glob);
    if !glob.contains('[') {
        return text;
    }
    for _ in 0..MAX_ALTERNATIVES {
        let parts = text.split_once("[[:").and_then(|(before, rest)| {
            let (_, after) = rest.split_once(":]")?;
            let (_, after) = after.split_once(']')?;
            Some([before, "?", after].concat())
        });
        let Some(parts) = parts else { break };
        text = Cow::Owned(parts);
    }
    text
}

/// Returns true if a glob matches a text. With `crosses`, a wildcard matches `/` too.
pub(super) fn matches_glob(glob: &str, text: &str, crosses: bool) -> bool {
    let (glob, text) = (glob.as_bytes(), text.as_bytes());
    let (mut at, mut to) = (0, 0);
    // The position of the last star, and how far it reaches.
    let mut star: Option<(usize, usize)> = None;
    while to < text.len() {
        let letter = text[to];
        let end = match glob.get(at) {
            Some(b'*') => {
                star = Some((at, to));
                at += 1;
                continue;
            }
            Some(b'?') if crosses || letter != b'/' => Some(at + 1),
            Some(b'[') => match class(&glob[at..], letter) {
                Some((length, true)) => Some(at + length),
                Some((_, false)) => None,
                None => (letter == b'[').then_some(at + 1),
            },
            Some(b'\\') if glob.get(at + 1) == Some(&letter) => Some(at + 2),
            Some(own) if *own == letter => Some(at + 1),
            _ => None,
        };
        match (end, star) {
            (Some(end), _) => (at, to) = (end, to + 1),
            (None, Some((before, reach))) if crosses || text[reach] != b'/' => {
                star = Some((before, reach + 1));
                (at, to) = (before + 1, reach + 1);
            }
            _ => return false,
        }
    }
    glob[at..].iter().all(|letter| *letter == b'*')
}

/// How long the list of letters is that a glob begins with, and whether a letter is in it.
fn class(glob: &[u8], letter: u8) -> Option<(usize, bool)> {
    let is_not = matches!(glob.get(1), Some(b'!' | b'^'));
    let start = 1 + usize::from(is_not);
    let end = start + 1 + glob.get(start + 1..)?.iter().position(|letter| *letter == b']')?;
    // A class, such as `[:alpha:]`, stands for any letter.
    if glob[start] == b'[' && matches!(glob.get(start + 1), Some(b':')) {
        let end = end + usize::from(glob.get(end + 1) == Some(&b']'));
        return Some((end + 1, letter.is_ascii_alphanumeric() != is_not));
    }
    let list = &glob[start..end];
    let mut found = false;
    let mut at = 0;
    while at < list.len() {
        if list.get(at + 1) == Some(&b'-') && at + 2 < list.len() {
            found |= (list[at]..=list[at + 2]).contains(&letter);
            at += 3;
        } else {
            found |= list[at] == letter;
            at += 1;
        }
    }
    Some((end + 1, found != is_not && (letter != b'/' || found)))
}

fn last(path: &str) -> &str {
    let end = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    end.map_or(path, |end| &path[end + 1..])
}

/// A path, each part of which is [`plain`].
fn plain_path(path: &str) -> String {
    path.split('/').map(plain).collect::<Vec<_>>().join("/")
}

/// A name as the most careless file system compares it.
fn plain(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b':';
    if name.bytes().all(is_plain) && !name.ends_with([' ', '.']) {
        return Cow::Borrowed(name);
    }
    if !name.is_ascii() {
        let letters = name.nfkc().filter(|letter| !is_ignored(*letter));
        let letters: String = letters.flat_map(char::to_lowercase).collect();
        return Cow::Owned(without_end(&letters).to_owned());
    }
    Cow::Owned(without_end(name).to_ascii_lowercase())
}

/// A name without the stream of a file on Windows (`.env::$DATA`), and without spaces and dots at its end.
fn without_end(name: &str) -> &str {
    name.split(':').next().unwrap_or_default().trim_end_matches([' ', '.'])
}

/// Letters that HFS+ ignores in a name, by the table that git keeps of them.
fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
