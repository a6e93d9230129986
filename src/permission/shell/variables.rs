//! Variables that a command sets, and which of them change nothing of what is run.

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

use super::Doubt;
use super::walk::Walker;

/// Why an index is asked about.
pub(super) const RUNNING_INDEX: &str = "an index of an array can run commands";

/// Variables that change how a program looks and not what it runs.
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

/// Lower-case names that programs and shells read nevertheless, wherever they were set.
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

/// Whether a variable can be handed to programs without a question.
pub fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether a variable with this value can be handed to programs without a question.
pub fn is_handed(name: &str, _value: &str) -> bool {
    is_harmless(name)
}

/// Whether a variable can be set in a shell without a question. A name in lower case is the shell's own, and no program
/// hears of it unless it did before.
pub fn is_own(name: &str) -> bool {
    let own = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_')
        && name != "_"
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.starts_with("npm_")
        // Tables and lists of zsh that say what names stand for, and what runs besides.
        && !name.starts_with("dis_")
        && !name.ends_with("_functions")
        && !READ_LOWER_CASE.contains(&name);
    own || is_harmless(name)
}

/// Whether a text is an index with a command in it, which shells run wherever they take the text for a number or a name.
pub fn has_running_index(text: &str) -> bool {
    let index = text.find('[').map_or("", |at| &text[at..]);
    index.contains("$(") || index.contains('`')
}

/// A variable that a command sets.
pub(super) struct Assigned {
    pub raw: String,
    pub name: String,
    pub doubt: Option<Doubt>,
}

impl Assigned {
    pub fn read(walker: &mut Walker<'_>, assignment: &Assignment, raw: &str) -> Self {
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
        for word in words {
            let word = walker.word(word);
            doubt = doubt.or_else(|| word.doubts.first().map(|reason| (*reason).to_owned()));
            if word.known && has_running_index(&word.text) {
                doubt = Some(RUNNING_INDEX.into());
            }
        }
        Assigned { raw: raw.to_owned(), name: name.clone(), doubt: doubt.map(Doubt::always) }
    }
}

/// Why setting a variable is asked about.
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
        for name in ["x", "my_dir"] {
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
        ] {
            assert!(!is_own(name), "{name}");
        }
        for text in ["a[$(evil)]", "x[1]+a[`evil`]"] {
            assert!(has_running_index(text), "{text}");
        }
        for text in ["$(ls) [a]", "[0-9]", "`a`[b]"] {
            assert!(!has_running_index(text), "{text}");
        }
    }
}
