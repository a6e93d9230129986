//! Follows the values of code from name to name: which of its names can be a path that must not be removed.

use std::collections::{HashMap, HashSet};

use super::code_text::{closing, given_to_words, last_name, start_of, words};
use crate::permission::shell::name_letters::is_in_identifier;

/// Maximum number of statements, and of rounds in which values are given on; of more code, every name can be such a path.
const MAX_STATEMENTS: usize = 2048;
const MAX_ROUNDS: usize = 8;

/// Where a path that must not be removed is. Paths below a home are often removed, those below a folder of the system are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Protected {
    Home,
    System,
}

/// Code, and the names in it that can have a protected path as their value.
pub(crate) struct Values<'t, P> {
    text: &'t str,
    is_protected: P,
    names: HashMap<&'t str, Protected>,
    /// True if there is more code than is followed.
    is_cut: bool,
}

impl<'t, P: Fn(&str) -> bool> Values<'t, P> {
    /// Follows the values of all names in a code.
    pub(crate) fn in_code(text: &'t str, is_protected: P) -> Self {
        let statements: Vec<&str> =
            text.split([';', '\n']).filter(|it| !it.trim().is_empty()).collect();
        let is_cut = statements.len() > MAX_STATEMENTS;
        let mut values = Values { text, is_protected, names: HashMap::default(), is_cut };
        if is_cut {
            return values;
        }
        let functions: Vec<(&str, &str)> =
            statements.iter().filter_map(|statement| function_in(statement)).collect();
        let defined: HashSet<&str> = functions.iter().map(|(name, _)| *name).collect();
        for round in 1.. {
            let before = values.names.clone();
            statements.iter().for_each(|statement| values.bind(statement));
            values.bind_parameters(&functions, &defined);
            if values.names == before {
                break;
            }
            if round == MAX_ROUNDS {
                values.is_cut = true;
                break;
            }
        }
        values
    }

    /// Returns the protected path that a part of the code names itself.
    fn protected_literal(&self, part: &str) -> Option<Protected> {
        let paths = quoted(part).filter(|(_, path)| (self.is_protected)(path));
        let kind = |(_, path): (usize, &str)| match path.starts_with('~') {
            true => Protected::Home,
            false => Protected::System,
        };
        paths.map(kind).max()
    }

    /// Returns the protected path that a part of the code can have as its value.
    fn protected_value(&self, part: &str) -> Option<Protected> {
        let of_name = |(at, word): (usize, &str)| {
            let is_called = part[at + word.len()..].starts_with('(');
            self.names.get(word).copied().filter(|_| !is_called)
        };
        let found = self.protected_literal(part).max(words(part).filter_map(of_name).max());
        found.filter(|found| *found == Protected::System || !is_joined(part))
    }

    /// Records that a name can have a protected path as its value.
    fn record(&mut self, name: &'t str, value: Protected) {
        let known = self.names.entry(name).or_insert(value);
        *known = value.max(*known);
    }

    /// Adds the names that a statement gives such a path to.
    fn bind(&mut self, statement: &'t str) {
        let Some(value) = self.protected_value(statement) else { return };
        let assigns = |at: usize| {
            !statement[at + 1..].starts_with('=')
                && !statement[..at].ends_with(['=', '!', '<', '>'])
        };
        let signs: Vec<usize> =
            statement.match_indices('=').map(|(at, _)| at).filter(|at| assigns(*at)).collect();
        let left = signs.first().map_or("", |at| &statement[..*at]);
        // `a, b = 1, "/"`
        if let [at] = signs[..] {
            let right = &statement[at + 1..];
            let count = left.split(',').count();
            if count > 1 && count == right.split(',').count() && !statement.contains(['(', '[']) {
                for (name, given) in left.split(',').zip(right.split(',')) {
                    if let Some(value) = self.protected_value(given) {
                        self.record(last_name(name.trim()), value);
                    }
                }
                return;
            }
        }
        let is_loop = statement.contains("for");
        let binds = |(at, word): &(usize, &str)| {
            let after = statement[at + word.len()..].trim_start();
            let at_end = statement.len() - after.len();
            signs.contains(&at_end)
                || [":", "|", "<-"].iter().any(|sign| after.starts_with(sign))
                || is_loop && ["in ", "of "].iter().any(|sign| after.starts_with(sign))
                || statement[..*at].ends_with("as $")
        };
        let bound: Vec<&str> = words(statement).filter(binds).map(|(_, word)| word).collect();
        // `(a, b) = …`, `my ($a) = …`, `for a, b in …`
        let is_list = left.contains(['(', '[', ',']) && !left.contains(['"', '\'', '.']);
        let listed = words(left).filter(|_| is_list).map(|(_, word)| word);
        for name in bound.into_iter().chain(listed) {
            self.record(name, value);
        }
    }

    /// Adds the parameters of functions that a call gives such a path.
    fn bind_parameters(&mut self, functions: &[(&'t str, &'t str)], defined: &HashSet<&str>) {
        if defined.is_empty() {
            return;
        }
        let mut given: HashMap<&str, Protected> = HashMap::default();
        for (at, name) in words(self.text).filter(|(_, word)| defined.contains(word)) {
            let after = &self.text[at + name.len()..];
            let Some(after) = after.strip_prefix(['(', ' ']) else { continue };
            let after = start_of(after);
            let after = after.split([';', '\n']).next().unwrap_or_default();
            if let Some(value) = self.protected_value(&after[..closing(after)]) {
                let known = given.entry(name).or_insert(value);
                *known = value.max(*known);
            }
        }
        for (name, rest) in functions {
            let Some(value) = given.get(name) else { continue };
            // Perl takes its parameters from a list, and shells from numbers.
            for parameter in words(rest).map(|(_, word)| word).chain(["_", "1", "shift"]) {
                self.record(parameter, *value);
            }
        }
    }

    /// Returns true if what follows a call that removes can be such a path.
    pub(crate) fn may_be_protected(&self, given: &str) -> bool {
        let at = given.as_ptr().addr() - self.text.as_ptr().addr();
        let end = match self.text[..at].ends_with('(') {
            true => closing(given),
            false => given.find([';', '\n']).unwrap_or(given.len()),
        };
        let given = &given[..end];
        if let Some((_, name)) = given.strip_prefix("as ").and_then(|rest| words(rest).next()) {
            let calls = given_to_words(self.text, &format!("{name}("));
            return calls
                .iter()
                .any(|given| self.protected_value(&given[..closing(given)]).is_some());
        }
        let before = self.text[..at].rsplit([';', '\n']).next().unwrap_or_default();
        if before.contains('|') && self.protected_literal(before).is_some() {
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
            return !before.contains(['"', '\'']) || self.protected_literal(before).is_some();
        }
        self.is_cut || self.protected_value(given).is_some() || self.is_of_loop(given, at)
    }

    /// Returns true if a call is given the value of a loop after it: `rmtree($_) for ("/", "/etc")`.
    fn is_of_loop(&self, given: &str, at: usize) -> bool {
        let after = &self.text[at + given.len()..];
        let after = after.split([';', '\n']).next().unwrap_or_default();
        after.contains(" for ") && self.protected_value(start_of(after)).is_some()
    }
}

/// Returns the name of a function that a statement defines, and its parameters with what follows.
fn function_in(statement: &str) -> Option<(&str, &str)> {
    for begin in ["def ", "function ", "sub "] {
        if let Some((_, rest)) = statement.split_once(begin)
            && let Some((at, name)) = words(rest).next()
        {
            return Some((name, start_of(&rest[at + name.len()..])));
        }
    }
    let begins = ["lambda", "=>", "->"].iter().any(|begin| statement.contains(begin));
    let (left, right) = statement.split_once('=').filter(|_| begins)?;
    let name = last_name(left.trim_end());
    (!name.is_empty()).then_some((name, start_of(right)))
}

/// Returns true if the first value of a part is made of a path and further names: `join(home, "x")`, `home + "/x"`.
fn is_joined(part: &str) -> bool {
    let mut depth = 0;
    let end = part.find(|letter| {
        depth += i32::from(matches!(letter, '(' | '[' | '{'));
        depth -= i32::from(matches!(letter, ')' | ']' | '}'));
        letter == ',' && depth == 0
    });
    let first = &part[..end.unwrap_or(part.len())];
    let is_list = first.rsplit('=').next().unwrap_or_default().trim_start().starts_with('[');
    let names = |inner: &str| inner.contains(char::is_alphanumeric) && !inner.contains("${");
    !is_list
        && !first.contains("..")
        && ["join", "+", "/"].iter().any(|way| first.contains(way))
        && first.split(['"', '\'', '`']).skip(1).step_by(2).any(names)
}

/// Returns what can be a path in a text, in quotes or as a word, and where it is. A slash between spaces divides, or joins.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
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
            after.starts_with(|next| is_in_identifier(next) || "\"'($".contains(next))
        })
    };
    text.split(['"', '\'', '`', ',', '(', ')', ' ', '=', '\n'])
        .filter(|part| part.starts_with(['/', '~']) || part.contains(":\\"))
        .map(|part| (part.as_ptr().addr() - text.as_ptr().addr(), part))
        .filter(move |(at, part)| *part != "/" || !divides(*at) && !separates(*at))
}

/// Returns the string that a text begins with. `<…>` of Perl are the files of a glob.
pub(crate) fn first_string(text: &str) -> Option<&str> {
    split_first_string(text).map(|(string, _)| string)
}

/// Returns the string that a text begins with, and what follows its end.
pub(super) fn split_first_string(text: &str) -> Option<(&str, &str)> {
    let path = text.trim_start_matches('<').strip_prefix(['"', '\'']);
    let path = path.or_else(|| text.strip_prefix('<'))?;
    path.split_once(['"', '\'', '>']).or(Some((path, "")))
}
