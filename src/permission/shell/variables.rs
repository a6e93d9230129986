//! Variables that a command sets, and which of them do not change what runs.

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

use super::Concern;
use super::analyzer::Walker;

use super::variable_names::{READ_LOWER_CASE, is_harmless, is_read_by_programs};
use super::word::Word;
use crate::permission::Domain;
use crate::util::words::has_word;

/// The reason to ask about an index.
pub(super) const RUNNING_INDEX: &str = "an index of an array can run commands";

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
        && !has_word(READ_LOWER_CASE, name);
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
    pub concern: Option<Concern>,
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
        let mut concern = self::concern(name);
        if index || keyed {
            concern = Some(RUNNING_INDEX.into());
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
                word.known && !word.tilde && word.concerns.is_empty() && is_scalar && !index
            });
            concern = concern.or_else(|| word.concerns.first().map(|reason| (*reason).to_owned()));
            if word.known && has_running_index(&word.text) {
                concern = Some(RUNNING_INDEX.into());
            }
        }
        let value = value.filter(|_| !assignment.append && !revision);
        let by_name = can_change(name);
        if value.as_ref().is_some_and(|value| is_handed(name, value))
            && concern.as_ref() == Some(&by_name)
        {
            concern = None;
        }
        if let Some(folder) = value.as_ref().filter(|value| is_written_folder(name, value))
            && concern.as_ref() == Some(&by_name)
        {
            concern = walker.file(Domain::Edit, &Word::plain(folder)).map(|concern| concern.reason);
        }
        // A rule for exactly this command says which value the variable has.
        let is_fixed = value.is_some() && concern.as_ref() == Some(&by_name);
        let concern = concern.map(if is_fixed { Concern::unless_exact } else { Concern::always });
        let raw = raw.to_owned();
        Assigned { raw, name: name.clone(), value, revision, concern }
    }
}

/// Returns the reason to ask about setting a variable.
pub(super) fn concern(name: &str) -> Option<String> {
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
