//! Variables that a command sets, and which of them do not change what runs.

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

use super::Doubt;
use super::analyzer::Walker;
use super::word::Word;
use crate::permission::Domain;

/// The reason to ask about an index.
pub(super) const RUNNING_INDEX: &str = "an index of an array can run commands";

/// Variables that change how a program displays and not what it runs.
static HARMLESS: &[&str] = &[
    "CI",
    "NODE_ENV",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "DEBUG",
    "VERBOSE",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PORT",
    "CARGO_TERM_COLOR",
    "DJANGO_DEBUG",
    "FLASK_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "MIX_ENV",
    "APP_ENV",
    "ENVIRONMENT",
    "LOG_LEVEL",
    "GIT_TERMINAL_PROMPT",
    "HUSKY",
    "UPDATE_SNAPSHOTS",
    "DEBIAN_FRONTEND",
    "CGO_ENABLED",
    "GOOS",
    "GOARCH",
];

/// Lower-case names that programs and shells read, wherever they were set.
static READ_LOWER_CASE: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "histchars",
    "auto_resume",
    "path",
    "cdpath",
    "fpath",
    "module_path",
    "aliases",
    "galiases",
    "saliases",
    "functions",
    "commands",
    "options",
];

/// Returns true if a variable can be passed to programs without a question.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Names of variables that programs, shells or the loader read; `*` matches anything. Their values can change what is
/// run, where it is looked up, or what is loaded.
static READ_BY_PROGRAMS: &[&str] = &[
    "PATH",
    "*_PATH",
    "*PATH",
    "*_PATHS",
    "*_HOME",
    "HOME",
    "IFS",
    "ENV",
    "SHELL",
    "*SHELL",
    "*_SHELL",
    "CDPATH",
    "PS?",
    "PROMPT*",
    "FIGNORE",
    "GLOBIGNORE",
    "HIST*",
    "INPUTRC",
    "MAIL*",
    "OPT*",
    "REPLY",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCH*",
    "PWD",
    "OLDPWD",
    "UID",
    "EUID",
    "GID",
    "EGID",
    "PPID",
    "USER",
    "USERNAME",
    "LOGNAME",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "SHLVL",
    "SHELLOPTS",
    "BASH*",
    "ZSH*",
    "ZDOTDIR",
    "FUNC*",
    "DIRSTACK",
    "GROUPS",
    "PIPESTATUS",
    "COMP*",
    "MAPFILE",
    "READNULLCMD",
    "NULLCMD",
    "TMOUT",
    "TIMEFORMAT",
    "EXECIGNORE",
    "CHILD_MAX",
    "POSIXLY*",
    "PARAMETERS",
    "ARGV*",
    "LD_*",
    "DYLD_*",
    "GLIBC_*",
    "MALLOC_*",
    "GCONV_*",
    "LOCPATH",
    "NLSPATH",
    "RES_*",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "TERMINFO*",
    "TERMCAP",
    "*PAGER",
    "*EDITOR",
    "VISUAL",
    "*BROWSER",
    "*_ASKPASS",
    "LESS*",
    "MORE",
    "MAN*",
    "GROFF*",
    "GIT_*",
    "HG*",
    "SVN_*",
    "CVS*",
    "GH_*",
    "GLAB_*",
    "SSH_*",
    "RSYNC_*",
    "GPG*",
    "GNUPG*",
    "NODE_*",
    "NPM_*",
    "YARN_*",
    "PNPM_*",
    "BUN_*",
    "DENO_*",
    "COREPACK_*",
    "TS_*",
    "TSX_*",
    "JEST_*",
    "VITE*",
    "WEBPACK_*",
    "BABEL_*",
    "ESLINT_*",
    "PRETTIER*",
    "ELECTRON_*",
    "PYTHON*",
    "PIP_*",
    "PIPENV_*",
    "POETRY_*",
    "UV_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PYTEST_*",
    "DJANGO_*",
    "FLASK_*",
    "COVERAGE_*",
    "TOX_*",
    "MYPY*",
    "RUFF_*",
    "JUPYTER_*",
    "IPYTHON*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "RAILS_*",
    "RACK_*",
    "RBENV_*",
    "PHP*",
    "COMPOSER_*",
    "LUA_*",
    "JAVA_*",
    "_JAVA*",
    "JDK_*",
    "JVM_*",
    "MAVEN_*",
    "MVN_*",
    "GRADLE_*",
    "ANT_*",
    "SBT_*",
    "CLASSPATH",
    "KOTLIN_*",
    "GO",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "GOBIN",
    "GOENV",
    "GOPROXY",
    "GOSUMDB",
    "GONO*",
    "GOPRIVATE",
    "GOINSECURE",
    "GOTOOL*",
    "GOWORK",
    "GOEXPERIMENT",
    "GODEBUG",
    "GOCACHE*",
    "GOVCS",
    "GOTMPDIR",
    "GOMODCACHE",
    "GOOS",
    "GOARCH",
    "GO111MODULE",
    "GOAUTH",
    "CGO_*",
    "CARGO*",
    "RUST*",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "AS",
    "NM",
    "RANLIB",
    "STRIP",
    "OBJCOPY",
    "LINKER",
    "HOSTCC",
    "CROSS_*",
    "*FLAGS",
    "*_OPTS",
    "*_OPTIONS",
    "*_ARGS",
    "*_CMD",
    "*_COMMAND",
    "*_PROGRAM",
    "*_WRAPPER",
    "*_LAUNCHER",
    "*_PRELOAD",
    "*_PLUGIN*",
    "*_CONFIG*",
    "*_RC",
    "*RC",
    "*_EXEC*",
    "*_HOOK*",
    "*_INIT*",
    "*_STARTUP*",
    "*_REQUIRE*",
    "*_LOADER*",
    "*_INTERPRETER",
    "*_PROXY",
    "*_TOKEN",
    "*_CREDENTIALS",
    "MAKE*",
    "MFLAGS",
    "CMAKE_*",
    "NINJA_*",
    "MESON_*",
    "AUTOM4TE",
    "ACLOCAL*",
    "PKG_CONFIG*",
    "CCACHE_*",
    "DISTCC_*",
    "DOCKER_*",
    "COMPOSE_*",
    "KUBE*",
    "HELM_*",
    "TF_*",
    "ANSIBLE_*",
    "VAGRANT_*",
    "AWS_*",
    "GOOGLE_*",
    "AZURE_*",
    "CLOUDSDK_*",
    "XDG_*",
    "DBUS_*",
    "DISPLAY",
    "WAYLAND_*",
    "GTK_*",
    "QT_*",
    "GIO_*",
    "GST_*",
    "CURL_*",
    "SSL_*",
    "OPENSSL_*",
    "WGETRC",
    "TAR_*",
    "TAPE",
    "GREP_*",
    "RIPGREP_*",
    "FZF_*",
    "BAT_*",
    "FD_*",
    "AWK*",
    "GAWK*",
    "SED",
    "LOCALE*",
    "FPATH",
    "MODULE_*",
    "FCEDIT",
    "SUDO_*",
    "PG*",
    "MYSQL_*",
    "REDISCLI_*",
    "SQLITE*",
    "PSQL*",
    "TMPDIR",
    "TMPPREFIX",
    "TERM_*",
    "INSIDE_*",
    "SYSTEMD_*",
    "NIX_*",
    "HOMEBREW_*",
    "ASDF_*",
    "MISE_*",
    "RTX_*",
    "NVM_*",
    "PYENV_*",
    "SDKMAN_*",
    "DIRENV_*",
    "STARSHIP_*",
    "TMUX*",
    "VIM*",
    "NVIM*",
    "EMACS*",
    "EX*",
    "TERMINAL",
    "SPILLWAY_*",
];

/// Returns true if a program may read a variable with an upper-case name.
pub(super) fn is_read_by_programs(name: &str) -> bool {
    READ_BY_PROGRAMS.iter().any(|known| match (known.strip_prefix('*'), known.strip_suffix('*')) {
        (Some(rest), None) => name.ends_with(rest),
        (None, Some(rest)) => name.starts_with(rest),
        (Some(rest), Some(_)) => name.contains(rest.trim_end_matches('*')),
        _ => {
            name == *known
                || (known.ends_with('?')
                    && name.len() == known.len()
                    && name.starts_with(known.trim_end_matches('?')))
        }
    })
}

/// Options of Node that change its resources or its output.
const NODE_OPTIONS: [&str; 12] = [
    "--max-old-space-size",
    "--max-semi-space-size",
    "--stack-size",
    "--stack-trace-limit",
    "--max-http-header-size",
    "--no-warnings",
    "--no-deprecation",
    "--trace-warnings",
    "--trace-deprecation",
    "--enable-source-maps",
    "--experimental-vm-modules",
    "--unhandled-rejections",
];

/// Options of Go's programs that change what is checked or printed, and no program that is run.
const GO_OPTIONS: [&str; 8] =
    ["-mod", "-count", "-race", "-v", "-short", "-trimpath", "-buildvcs", "-tags"];

/// Variables that name the directories of a program's output.
const WRITTEN_FOLDERS: [&str; 10] = [
    "GOCACHE",
    "GOTMPDIR",
    "GOMODCACHE",
    "GOLANGCI_LINT_CACHE",
    "TMPDIR",
    "PIP_CACHE_DIR",
    "RUFF_CACHE_DIR",
    "MYPY_CACHE_DIR",
    "UV_CACHE_DIR",
    "PYTHONPYCACHEPREFIX",
];

/// Returns true if a variable names a directory that programs write to: it is judged like an edited file.
pub(crate) fn is_written_folder(name: &str, value: &str) -> bool {
    WRITTEN_FOLDERS.contains(&name) && value.starts_with('/')
}

/// Returns true if a variable with this value can be passed to programs without a question.
pub(crate) fn is_handed(name: &str, value: &str) -> bool {
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_harmless(name)
        || match name {
            "PAGER" | "GIT_PAGER" | "MANPAGER" | "GH_PAGER" | "BAT_PAGER" | "DELTA_PAGER"
            | "AWS_PAGER" | "SYSTEMD_PAGER" | "JJ_PAGER" | "PSQL_PAGER" => {
                matches!(value, "" | "cat")
            }
            "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" | "EDITOR" | "VISUAL" => {
                matches!(value, "true" | ":" | "cat" | "false")
            }
            "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => value == "/dev/null",
            "GIT_CONFIG_NOSYSTEM"
            | "GIT_OPTIONAL_LOCKS"
            | "GIT_ADVICE"
            | "NPM_CONFIG_AUDIT"
            | "NPM_CONFIG_FUND"
            | "PIP_DISABLE_PIP_VERSION_CHECK"
            | "PIP_NO_INPUT"
            | "HOMEBREW_NO_AUTO_UPDATE"
            | "NEXT_TELEMETRY_DISABLED"
            | "DO_NOT_TRACK"
            | "PYTHONWARNINGS_OFF"
            | "PYTHONHASHSEED"
            | "PYTHONUTF8"
            | "PYTHONFAULTHANDLER"
            | "CARGO_INCREMENTAL"
            | "CARGO_NET_OFFLINE"
            | "GO111MODULE"
            | "GOMAXPROCS"
            | "GOTRACEBACK"
            | "UV_OFFLINE"
            | "JEST_WORKER_ID"
            | "VITEST" => is_number(value),
            "NODE_OPTIONS" => value.split_whitespace().all(|option| {
                let (name, value) = option.split_once('=').unwrap_or((option, "0"));
                NODE_OPTIONS.contains(&name) && is_number(&value.replace('-', ""))
            }),
            "GOFLAGS" => value.split_whitespace().all(|option| {
                let (name, value) = option.split_once('=').unwrap_or((option, "1"));
                GO_OPTIONS.contains(&name) && value.split(['_', ',']).all(is_number)
            }),
            _ => {
                let ends = ["_URL", "_URI", "_DSN", "_HOST", "_PORT", "_TIMEOUT"];
                ends.iter().any(|end| name.ends_with(end))
                    && !is_read_by_programs(name)
                    && !value.starts_with(['/', '.', '~', '-', '|', '!'])
                    && !value.contains(['`', '$', ';', '|', '<', '>'])
                    && !value.to_ascii_lowercase().starts_with("file:")
                    && !value.contains("::")
            }
        }
}

/// Returns true if a variable can be set in a shell without a question: no program receives it unless it was exported
/// before.
pub(crate) fn is_own(name: &str) -> bool {
    let lower = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_')
        && name != "_"
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.starts_with("npm_")
        // Tables and lists of zsh that define the meaning of names, and hooks.
        && !name.starts_with("dis_")
        && !name.ends_with("_functions")
        && !READ_LOWER_CASE.contains(&name);
    let upper = name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !is_read_by_programs(name);
    lower || upper || is_harmless(name)
}

/// Returns true if a text is an index with a command in it, which shells run wherever they take the text for a number
/// or a name.
pub(crate) fn has_running_index(text: &str) -> bool {
    let index = text.find('[').map_or("", |at| &text[at..]);
    index.contains("$(") || index.contains('`')
}

/// An assignment of a command.
pub(super) struct Assigned {
    pub raw: String,
    pub name: String,
    /// The value, if it is known.
    pub value: Option<String>,
    /// True if its value is the name of a commit.
    pub revision: bool,
    pub doubt: Option<Doubt>,
}

impl Assigned {
    /// Returns true if it can be passed to programs without a question.
    pub(crate) fn is_handed(&self) -> bool {
        let is_folder = |value: &String| is_written_folder(&self.name, value);
        if self.value.as_ref().is_some_and(is_folder) {
            return true;
        }
        self.value
            .as_ref()
            .map_or_else(|| is_harmless(&self.name), |value| is_handed(&self.name, value))
    }

    pub(crate) fn read(walker: &mut Walker<'_>, assignment: &Assignment, raw: &str) -> Self {
        let (name, index) = match &assignment.name {
            AssignmentName::VariableName(name) => (name, false),
            AssignmentName::ArrayElementName(name, _) => (name, true),
        };
        let words: Vec<&str> = match &assignment.value {
            AssignmentValue::Scalar(word) => vec![&word.value],
            AssignmentValue::Array(items) => {
                items.iter().map(|(_, word)| word.value.as_str()).collect()
            }
        };
        let keyed = matches!(&assignment.value, AssignmentValue::Array(items) if items.iter().any(|(key, _)| key.is_some()));
        let mut doubt = self::doubt(name);
        if index || keyed {
            doubt = Some(RUNNING_INDEX.into());
        }
        let mut value = None;
        let mut revision = false;
        let is_scalar = matches!(&assignment.value, AssignmentValue::Scalar(_));
        for word in words {
            let is_whole = super::revisions::is_whole(word);
            let word = walker.word(word);
            revision = is_whole && is_scalar && !index && !assignment.append;
            // The text after `~` is not expanded here.
            value = Some(word.text.clone()).filter(|_| {
                word.known && !word.tilde && word.doubts.is_empty() && is_scalar && !index
            });
            doubt = doubt.or_else(|| word.doubts.first().map(|reason| (*reason).to_owned()));
            if word.known && has_running_index(&word.text) {
                doubt = Some(RUNNING_INDEX.into());
            }
        }
        let value = value.filter(|_| !assignment.append && !revision);
        let by_name = can_change(name);
        if value.as_ref().is_some_and(|value| is_handed(name, value))
            && doubt.as_ref() == Some(&by_name)
        {
            doubt = None;
        }
        if let Some(folder) = value.as_ref().filter(|value| is_written_folder(name, value))
            && doubt.as_ref() == Some(&by_name)
        {
            doubt = walker.file(Domain::Edit, &Word::plain(folder)).map(|doubt| doubt.reason);
        }
        // A rule for exactly this command says which value the variable has.
        let is_fixed = value.is_some() && doubt.as_ref() == Some(&by_name);
        let doubt = doubt.map(if is_fixed { Doubt::unless_exact } else { Doubt::always });
        let raw = raw.to_owned();
        Assigned { raw, name: name.clone(), value, revision, doubt }
    }
}

/// Returns the reason to ask about setting a variable.
pub(super) fn doubt(name: &str) -> Option<String> {
    (!is_own(name)).then(|| can_change(name))
}

pub(super) fn can_change(name: &str) -> String {
    format!("the variable {name} can change what is run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_only_change_looks() {
        for name in ["NODE_ENV", "LC_ALL"] {
            assert!(is_harmless(name) && is_own(name), "{name}");
        }
        for name in ["x", "my_dir", "ROOT", "REPO", "V6", "BASE_COMMIT", "TMP"] {
            assert!(is_own(name) && !is_harmless(name), "{name}");
        }
        for name in [
            "PATH",
            "LD_PRELOAD",
            "IFS",
            "BASH_ENV",
            "GIT_PAGER",
            "http_proxy",
            "_",
            "PAGER",
            "HOME",
            "CC",
            "RUSTFLAGS",
            "GOPATH",
            "PROMPT_COMMAND",
            "PS4",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "MY_SSH_COMMAND",
            "JAVA_TOOL_OPTIONS",
            "UID",
            "RANDOM",
            "path",
            "Path",
        ] {
            assert!(!is_own(name), "{name}");
        }
        for (name, value) in [
            ("PAGER", "cat"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 --no-warnings"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GOFLAGS", "-mod=mod -count=1 -tags=unit,e2e_fast"),
            ("DATABASE_URL", "postgres://localhost/x"),
            ("API_URL", "http://localhost:3000"),
        ] {
            assert!(is_handed(name, value), "{name}");
        }
        for (name, value) in [
            ("PAGER", "evil"),
            ("NODE_OPTIONS", "--require=./evil.js"),
            ("NODE_OPTIONS", "--no-warnings --import ./evil.js"),
            ("GIT_CONFIG_GLOBAL", "x"),
            ("GOFLAGS", "-toolexec=./evil"),
            ("GOFLAGS", "-race -exec=x"),
            ("GOFLAGS", "-modfile=../x"),
            ("PIP_INDEX_URL", "http://evil"),
            ("GIT_X_URL", "x"),
            ("DATABASE_URL", "file:///etc/passwd"),
            ("FOO", "1"),
        ] {
            assert!(!is_handed(name, value), "{name}");
        }
        for text in ["a[$(evil)]", "x[1]+a[`evil`]"] {
            assert!(has_running_index(text), "{text}");
        }
        for text in ["$(ls) [a]", "[0-9]", "`a`[b]"] {
            assert!(!has_running_index(text), "{text}");
        }
    }
}
