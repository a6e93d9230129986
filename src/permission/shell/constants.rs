//! Variables that a command sets once to a known text, and that have this value from there on.
//!
//! A variable counts only if it cannot have another value: its name occurs once in the whole text beside its uses,
//! nothing in the text sets variables by computed names, and the use can only be reached after the assignment.

use std::ops::Range;

use super::name_letters::is_in_variable;
use super::variables::is_own;
use super::word::Word;

/// Maximum length of a value: each use repeats it.
const MAX_VALUE: usize = 1024;

/// Maximum number of searches of the text for a name.
const MAX_SEARCHES: usize = 64;

/// Commands that can set variables whose names do not occur in the text.
const SETTERS: [&str; 16] = [
    "eval",
    "read",
    "declare",
    "typeset",
    "local",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "source",
    "select",
    "readonly",
    "alias",
    "trap",
    "nameref",
];

/// A variable with a known value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    name: String,
    text: String,
    /// True if the value is a glob.
    glob: bool,
    /// True if it is the name of a commit that is not known, or nothing.
    revision: bool,
}

/// The variables that are known at a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants {
    /// The whole text, if variables in it can be followed.
    text: Option<String>,
    /// The places of filters in it, in order.
    filters: Vec<Range<usize>>,
    known: Vec<Constant>,
    /// Remaining number of searches of the text.
    searches_left: usize,
}

impl Constants {
    /// Creates the state for a text that a shell of its own reads.
    pub(crate) fn of(text: &str) -> Self {
        let has_setter = || {
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            words.into_iter().any(|word| SETTERS.contains(&word))
        };
        let follows = text.contains('$')
            && (text.contains('=') || text.contains("for "))
            // With other separators, a value is split elsewhere.
            && !["((", ":=", "IFS"].iter().any(|part| text.contains(part))
            && !has_setter();
        Constants {
            text: follows.then(|| text.to_owned()),
            filters: if follows { filters(text) } else { Vec::new() },
            known: Vec::new(),
            searches_left: MAX_SEARCHES,
        }
    }

    /// Records an assignment.
    pub(crate) fn set(&mut self, name: &str, value: &Word) {
        let can = value.known
            && value.concerns.is_empty()
            && !value.tilde
            && value.text.len() <= MAX_VALUE;
        if !can || !self.can_follow(name) {
            return;
        }
        self.known.retain(|known| known.name != name);
        let (name, text, glob) = (name.to_owned(), value.text.clone(), value.glob);
        self.known.push(Constant { name, text, glob, revision: false });
    }

    /// Takes a variable for the name of a commit.
    pub(crate) fn set_revision(&mut self, name: &str) {
        if self.can_follow(name) {
            self.known.retain(|known| known.name != name);
            let (name, text) = (name.to_owned(), String::new());
            self.known.push(Constant { name, text, glob: false, revision: true });
        }
    }

    /// Returns true if a variable is the name of a commit.
    pub(crate) fn is_revision(&self, name: &str) -> bool {
        self.known.iter().any(|known| known.name == name && known.revision)
    }

    /// Returns true if a variable can be followed.
    pub(crate) fn can_follow(&mut self, name: &str) -> bool {
        if self.text.is_none() || self.searches_left == 0 {
            return false;
        }
        self.searches_left -= 1;
        is_own(name) && !super::variable_names::is_harmless(name) && self.stands_once(name)
    }

    /// Makes all variables unknown; returns `true` if any was known.
    pub(crate) fn disable(&mut self) -> bool {
        self.text = None;
        let was_known = !self.known.is_empty();
        self.known.clear();
        was_known
    }

    /// Returns the value of a variable, and whether it is a glob.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, bool)> {
        let known = self.known.iter().find(|known| known.name == name && !known.revision)?;
        Some((&known.text, known.glob))
    }

    /// Returns the number of known variables; later ones can be [removed](Self::forget).
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Removes the variables set since then.
    pub(crate) fn forget(&mut self, len: usize) {
        self.known.truncate(len);
    }

    /// Returns true if a name is once in the text outside of an expansion.
    fn stands_once(&self, name: &str) -> bool {
        let Some(text) = &self.text else { return false };
        let is_in_filter = |at: usize| {
            let next = self.filters.partition_point(|filter| filter.end < at);
            self.filters.get(next).is_some_and(|filter| filter.contains(&at))
        };
        text.match_indices(name)
            .filter(|(at, _)| {
                let (before, after) = (&text[..*at], &text[at + name.len()..]);
                let is_part_of_name =
                    before.ends_with(is_in_variable) || after.starts_with(is_in_variable);
                let is_read =
                    before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
                // `merge-base`, and `id,path` as a list of fields.
                let is_of_word =
                    before.ends_with('-') || (before.ends_with(' ') && after.starts_with(','));
                let is_field = || is_in_filter(*at) && !sets(before, after);
                !is_part_of_name && !is_read && !is_of_word && !is_field()
            })
            .take(2)
            .count()
            == 1
    }
}

/// Returns true if the text around the name of a variable sets it, wherever that runs.
fn sets(before: &str, after: &str) -> bool {
    after.starts_with(['=', '+', '[', ':']) || before.ends_with("for ") || before.ends_with("for\t")
}

/// The texts between single quotes that can be no name of a variable: `'{id, path}'`.
fn filters(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(('\'', from)), '\'') => {
                let inner = &text[from + 1..at];
                if inner.starts_with(['{', '.']) || inner.contains(" | ") {
                    found.push(from..at);
                }
                quote = None;
            }
            (Some(('"', _)), '"') => quote = None,
            (None | Some(('"', _)), '\\') => {
                letters.next();
            }
            (None, '\'' | '"') => quote = Some((letter, at)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(text: &str) -> Option<String> {
        let mut constants = Constants::of(text);
        constants.set("V", &Word::plain("x"));
        constants.get("V").map(|(text, _)| text.to_owned())
    }

    #[test]
    fn a_variable_is_known_where_nothing_else_can_set_it() {
        for text in [
            "V=x; cat $V",
            "V=x && cat \"${V}/a\" \"$V\"",
            "for V in x; do cat $V; done",
            "for V in x; do gh api a/$V --jq '{V, path}'; done",
            "V=x; jq '.[] | .V' \"$V\"",
        ] {
            assert_eq!(value_of(text).as_deref(), Some("x"), "{text}");
        }
        for text in [
            "V=x; V=y; cat $V",
            "V=x; read V; cat $V",
            "V=x; read $n; cat $V",
            "V=x; printf -v V y; cat $V",
            "V=x; for V in y; do ls; done; cat $V",
            "V=x; eval $y; cat $V",
            "V=x; unset V; cat $V",
            "V=x; ((V=1)); cat $V",
            "V=x; echo ${V:=y}; cat $V",
            "V=x; export V; cat $V",
            "V=x; export 'V=y | z'; cat $V",
            "V=x; printf -v 'V' y; cat $V",
            "V=x; sh '{V=y}'; cat $V",
            "V=x; a '. for V in y'; cat $V",
            "V=x; exec {V}>y; cat $V",
        ] {
            assert_eq!(value_of(text), None, "{text}");
        }
    }
}
