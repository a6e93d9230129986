//! Follows the values of code from name to name: which of its names can be a path that must not be removed.

use std::collections::HashSet;

use super::code_text::{closing, given_to_words, is_of_name, words};
use super::destroying_commands::MAX_TAILS;

/// Maximum number of statements whose values are followed, and of names from one to the next.
const MAX_STATEMENTS: usize = 512;
const MAX_NAMES: usize = 4;

/// Code, and the names in it that can have a protected path as their value.
pub(super) struct Values<'t, P> {
    text: &'t str,
    is_protected: P,
    names: HashSet<&'t str>,
}

impl<'t, P: Fn(&str) -> bool> Values<'t, P> {
    pub(super) fn of(text: &'t str, is_protected: P) -> Self {
        let mut values = Values { text, is_protected, names: HashSet::default() };
        let statements: Vec<&str> = text.split([';', '\n']).take(MAX_STATEMENTS).collect();
        // A value can be given on from name to name.
        for _ in 0..MAX_NAMES {
            let count = values.names.len();
            for statement in &statements {
                values.bind(statement);
                values.bind_parameters(statement);
            }
            if values.names.len() == count {
                break;
            }
        }
        values
    }

    /// Returns true if a part of the code names a protected path.
    fn names_one(&self, part: &str) -> bool {
        quoted(part).any(|(_, path)| (self.is_protected)(path))
    }

    /// Returns true if a part of the code can have such a path as its value, and not one below it.
    fn can_be_one(&self, part: &str) -> bool {
        let is_joined = || {
            ["join", "+", "/", "`"].iter().any(|way| part.contains(way))
                && part.split(['"', '\'', '`']).skip(1).step_by(2).any(|inner| {
                    inner.contains(char::is_alphanumeric) && !(self.is_protected)(inner)
                })
        };
        let is_value = |(at, word): (usize, &str)| {
            self.names.contains(word) && !part[at + word.len()..].starts_with(['(', '='])
        };
        let names_home = || part.contains('~') && !self.names_one(&part.replace('~', ""));
        self.names_one(part) && !(names_home() && is_joined())
            || words(part).any(is_value) && !is_joined()
    }

    /// Adds the names that a statement gives such a path to.
    fn bind(&mut self, statement: &'t str) {
        let binds = |(at, word): &(usize, &str)| {
            let after = statement[at + word.len()..].trim_start();
            !after.starts_with("==")
                && (["=", ":", "|", "<-", "in ", "of "].iter().any(|end| after.starts_with(end))
                    || statement[..*at].ends_with("as $"))
        };
        let is_list = |text: &str| text.chars().all(|it| is_of_name(it) || ", $".contains(it));
        if let Some((left, right)) = statement.split_once('=').filter(|(left, _)| is_list(left)) {
            let count = left.split(',').count();
            let is_pairwise = count > 1 && count == right.split(',').count();
            let right = |at| if is_pairwise { right.split(',').nth(at) } else { Some(right) };
            for (at, name) in left.split(',').take(MAX_TAILS).enumerate() {
                if right(at).is_some_and(|value| self.can_be_one(value)) {
                    self.names.extend(words(name).map(|(_, name)| name).last());
                }
            }
        } else if self.can_be_one(statement) {
            self.names.extend(words(statement).filter(binds).map(|(_, word)| word));
        }
    }

    /// Adds the parameters of a function that a statement defines, if a call gives it such a path.
    fn bind_parameters(&mut self, statement: &'t str) {
        for begin in ["def ", "function ", "sub "] {
            let Some((_, rest)) = statement.split_once(begin) else { continue };
            let Some((at, name)) = words(rest).next() else { continue };
            let parameters = &rest[at + name.len()..];
            let parameters = &parameters[..parameters.find([')', ':', '{']).unwrap_or(0)];
            let calls = [format!("{name}("), format!("{name} ")];
            let given = calls.iter().flat_map(|call| given_to_words(self.text, call));
            let is_given = given.take(MAX_TAILS).any(|given| {
                let given = given.split([';', '\n']).next().unwrap_or_default();
                self.can_be_one(&given[..closing(given)])
            });
            if is_given {
                // Perl and shells have no names for them.
                self.names.extend(words(parameters).map(|(_, name)| name).chain(["_", "1"]));
            }
        }
    }

    /// Returns true if what follows a call that removes can be such a path.
    pub(super) fn can_be(&self, given: &str) -> bool {
        let at = given.as_ptr().addr() - self.text.as_ptr().addr();
        let end = match self.text[..at].ends_with('(') {
            true => closing(given),
            false => given.find([';', '\n']).unwrap_or(given.len()),
        };
        let given = &given[..end];
        if let Some((_, name)) = given.strip_prefix("as ").and_then(|rest| words(rest).next()) {
            let calls = given_to_words(self.text, &format!("{name}("));
            return calls.iter().any(|given| self.can_be_one(&given[..closing(given)]));
        }
        let before = self.text[..at].rsplit([';', '\n']).next().unwrap_or_default();
        if before.contains('|') && self.names_one(before) {
            return true;
        }
        let given = given.trim_start_matches(['(', ' ']);
        // Other paths can be made of the first string.
        let is_made = [".format", "%"].iter().any(|way| given.contains(way));
        if let Some(path) = first_string(given).filter(|_| !is_made) {
            return (self.is_protected)(path);
        }
        if words(given).next().is_none() && !given.contains(['"', '\'']) {
            // It is a method of a path, or of a variable.
            return !before.contains(['"', '\'']) || self.names_one(before);
        }
        self.can_be_one(given)
    }
}

/// Returns what can be a path in a text, in quotes or as a word, and where it is. A slash between spaces divides, or joins.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const SEPARATED: [&str; 4] = ["split(", "sub(", "replace(", "strip("];
    let separates = |at: usize| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let before = before.trim_end_matches(['"', '\'']);
        after.trim_start_matches(['"', '\'']).starts_with(".join")
            || SEPARATED.iter().any(|call| before.ends_with(call))
    };
    let divides = |at: usize| {
        let after = text[at + 1..].strip_prefix(' ').filter(|_| text[..at].ends_with(' '));
        after.is_some_and(|after| {
            after.starts_with(|next| is_of_name(next) || "\"'($".contains(next))
        })
    };
    text.split(['"', '\'', '`', ',', '(', ')', ' ', '=', '\n'])
        .filter(|part| part.starts_with(['/', '~']) || part.contains(":\\"))
        .map(|part| (part.as_ptr().addr() - text.as_ptr().addr(), part))
        .filter(move |(at, part)| *part != "/" || !divides(*at) && !separates(*at))
}

/// Returns the string that a text begins with. `<…>` of Perl are the files of a glob.
pub(super) fn first_string(text: &str) -> Option<&str> {
    let path = text.trim_start_matches('<').strip_prefix(['"', '\'']);
    let path = path.or_else(|| text.strip_prefix('<'))?;
    path.split(['"', '\'', '>']).next()
}
