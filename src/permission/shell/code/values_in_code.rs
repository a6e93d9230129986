//! Follows the values of code from name to name: which of its names can be a path that must not be removed.

use std::collections::{HashMap, HashSet};

use super::code_text::{
    arguments_of, closing, end_of, given_to_words, last_name, place_in, start_of, words,
};
use super::functions_in_code::{
    Function, MAX_CALLS, calls_of, function_in, is_of_callback, loop_names, statements_in,
};
use super::paths_in_code::{
    MAX_BEFORE, Protected, emptied_names, first_string, is_below, is_joined, protected_paths,
};
use crate::permission::shell::name_letters::is_in_identifier;
use crate::util::words::has_word;

/// Maximum number of statements, and of rounds in which values are given on; of more code, every name can be such a path.
const MAX_STATEMENTS: usize = 16384;
const MAX_ROUNDS: usize = 8;

/// The ways of opening a file that write to it, as they begin in code.
pub(crate) const WRITING: [&str; 9] = ["'w", "\"w", "'a", "\"a", "'x", "+", "O_", "'>", "\">"];

/// Code, and the names in it that can have a protected path as their value.
pub(crate) struct Values<'t> {
    text: &'t str,
    /// The protected paths of the code, and where they are.
    paths: Vec<(usize, Protected)>,
    names: HashMap<&'t str, Protected>,
    /// Names that can be an empty text.
    emptied: HashSet<&'t str>,
    /// True if there is more code than is followed.
    is_cut: bool,
}

impl<'t> Values<'t> {
    /// Follows the values of all names in a code; `None` if no path in it is protected.
    pub(crate) fn in_code(text: &'t str, is_protected: impl Fn(&str) -> bool) -> Option<Self> {
        let emptied = emptied_names(text);
        let (paths, is_cut) = protected_paths(text, is_protected, &emptied);
        if paths.is_empty() && !is_cut {
            return None;
        }
        let statements = statements_in(text);
        let is_cut = is_cut || statements.len() > MAX_STATEMENTS;
        let mut values = Values { text, paths, emptied, names: HashMap::default(), is_cut };
        if is_cut {
            return Some(values);
        }
        let functions: Vec<Function<'_>> =
            statements.iter().filter_map(|statement| function_in(statement)).collect();
        let defined: HashSet<&str> = functions.iter().map(|function| function.name).collect();
        let calls: Vec<(&str, &str)> =
            if defined.is_empty() { Vec::new() } else { calls_of(text, &defined) };
        values.is_cut = calls.len() > MAX_CALLS;
        for round in 1.. {
            let before = values.grown();
            statements.iter().for_each(|statement| values.bind(statement));
            values.bind_parameters(&functions, &calls);
            if values.grown() == before || values.is_cut {
                break;
            }
            values.is_cut = round == MAX_ROUNDS;
        }
        Some(values)
    }

    /// Returns how many names are known, and how many of them can be a path of the system: both only grow.
    fn grown(&self) -> (usize, usize) {
        let of_system = self.names.values().filter(|kind| **kind == Protected::System);
        (self.names.len(), of_system.count())
    }

    /// Returns where a part of the code begins.
    fn place(&self, part: &str) -> usize {
        place_in(self.text, part)
    }

    /// Returns the protected paths that a part of the code names itself.
    fn paths_in(&self, part: &str) -> &[(usize, Protected)] {
        let from = self.place(part);
        let first = self.paths.partition_point(|(at, _)| *at < from);
        let end = self.paths.partition_point(|(at, _)| *at < from + part.len());
        &self.paths[first..end]
    }

    /// Returns the kind of the protected path that a part of the code names itself.
    fn protected_literal(&self, part: &str) -> Option<Protected> {
        self.paths_in(part).iter().map(|(_, kind)| *kind).max()
    }

    /// Returns the names in a part of the code that can have such a path as their value, and where they are in it.
    fn names_in<'p>(
        &self,
        part: &'p str,
    ) -> impl Iterator<Item = (usize, Protected)> + use<'_, 'p, 't> {
        let from = self.place(part);
        words(part).filter_map(move |(at, word)| {
            let kind = self.names.get(word)?;
            let after = &part[at + word.len()..];
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            // `"info.json"` is no value of `info`.
            let is_file = part[..at].ends_with(['"', '\'']) && after.starts_with('.');
            let is_other = after.starts_with('(')
                || is_file
                || is_number && !part[..at].ends_with('$')
                || word == "shift" && after.trim_start().starts_with("@ARGV");
            (!is_other && !is_below(self.text, from + at, after, &self.emptied))
                .then_some((at, *kind))
        })
    }

    /// Returns the protected path that a part of the code can have as its value.
    fn protected_value(&self, part: &str) -> Option<Protected> {
        let of_names = || self.names_in(part).map(|(_, kind)| kind).max();
        let found = match self.names.is_empty() {
            true => self.protected_literal(part),
            false => self.protected_literal(part).max(of_names()),
        };
        found.filter(|found| *found == Protected::System || !is_joined(part))
    }

    /// Records that a name can have a protected path as its value.
    fn record(&mut self, name: &'t str, value: Protected) {
        raise(&mut self.names, name, value);
    }

    /// Adds the names that a statement gives such a path to.
    fn bind(&mut self, statement: &'t str) {
        let Some(value) = self.protected_value(statement) else { return };
        let assigns = |at: usize| {
            !statement[at + 1..].starts_with(['=', '>', '~'])
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
        let is_loop = words(statement).any(|(_, word)| matches!(word, "for" | "foreach"));
        // Where such a path is the value of a key: `p: "/"`, `p => "/"`.
        let from = self.place(statement);
        let mut given: Vec<usize> =
            self.paths_in(statement).iter().map(|(at, _)| at - from).collect();
        given.extend(self.names_in(statement).map(|(at, _)| at));
        given.sort_unstable();
        let commas: Vec<usize> = statement.match_indices(',').map(|(at, _)| at).collect();
        let is_choice = |at: usize| {
            end_of(&statement[..at], MAX_BEFORE)
                .rsplit([',', '{', '(', '['])
                .next()
                .is_some_and(|part| part.contains('?'))
        };
        let is_given = |at: usize| {
            let next = |all: &[usize]| all.get(all.partition_point(|one| *one < at)).copied();
            let value = statement[at..].trim_start();
            let end = match value.strip_prefix(['[', '(', '{']) {
                Some(inner) => Some(statement.len() - inner.len() + closing(inner)),
                None => next(&commas),
            };
            next(&given).is_some_and(|value| end.is_none_or(|end| value < end))
        };
        let binds = |(at, word): &(usize, &str)| {
            let after = statement[at + word.len()..].trim_start();
            let at_end = statement.len() - after.len();
            let sign = ["??", "||", "//", "|"]
                .iter()
                .find(|sign| after.strip_prefix(**sign).is_some_and(|rest| rest.starts_with('=')));
            let at_sign = at_end + sign.map_or(0, |sign| sign.len());
            signs.binary_search(&at_sign).is_ok()
                || [":", "=>"].iter().any(|sign| after.starts_with(sign))
                    && !is_choice(*at)
                    && is_given(at_end + 1)
                || is_of_callback(statement, *at, after)
                || after.starts_with('|')
                    && !after.starts_with("||")
                    && given.first().is_some_and(|value| value < at)
                || after.starts_with("<-")
                || is_loop && ["in ", "of "].iter().any(|sign| after.starts_with(sign))
                || statement[..*at].ends_with("as $")
        };
        let bound: Vec<&str> = words(statement).filter(binds).map(|(_, word)| word).collect();
        // `(a, b) = …`, `my ($a) = …`
        let is_list = match left.trim_end().ends_with([')', ']']) {
            true => !left.contains(['"', '\'', '.']),
            false => left.contains(',') && !left.contains(['(', '[', '"', '\'', '.']),
        };
        let listed = words(left).filter(|_| is_list).map(|(_, word)| word);
        let looped = words(loop_names(statement)).map(|(_, word)| word);
        let looped = looped.filter(|word| !has_word("const let var my our", word));
        for name in bound.into_iter().chain(listed).chain(looped) {
            self.record(name, value);
        }
    }

    /// Adds the parameters of functions that a call gives such a path.
    fn bind_parameters(&mut self, functions: &[Function<'t>], calls: &[(&'t str, &'t str)]) {
        let mut given: HashMap<&str, Protected> = HashMap::default();
        for (name, arguments) in calls {
            if given.get(name) == Some(&Protected::System) {
                continue;
            }
            if let Some(value) = self.protected_value(arguments) {
                raise(&mut given, name, value);
            }
        }
        for function in functions {
            let Some(value) = given.get(function.name) else { continue };
            let named = words(function.parameters).map(|(_, word)| word);
            for parameter in named.chain(function.implied.iter().copied()) {
                self.record(parameter, *value);
            }
        }
    }

    /// Returns true if what follows a call that removes can be such a path.
    pub(crate) fn may_be_protected(&self, given: &str) -> bool {
        let at = self.place(given);
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
        let before = end_of(&self.text[..at], MAX_BEFORE);
        let before = before.rsplit([';', '\n']).next().unwrap_or_default();
        let has_parameter = before.split("||").any(|part| part.contains('|'));
        if has_parameter && self.protected_literal(before).is_some() {
            return true;
        }
        let given = given.trim_start_matches(['(', ' ']);
        // Other paths can be made of the first string.
        let is_made = [".format", "%"].iter().any(|way| given.contains(way));
        if let Some(path) = first_string(given).filter(|_| !is_made) {
            return !path.is_empty()
                && self.paths_in(path).iter().any(|(at, _)| *at == self.place(path));
        }
        if words(given).next().is_none() && !given.contains(['"', '\'']) {
            // It is a method of a path, or of a variable.
            let call = before.trim_end_matches(['(', ' ']);
            let receiver =
                call[..call.len() - last_name(call).len()].trim_end_matches(['.', '!', '?']);
            let name = last_name(receiver);
            let is_it = match name {
                "" => !before.contains(['"', '\'']),
                name => self.names.contains_key(name),
            };
            return self.is_cut || is_it || self.protected_literal(before).is_some();
        }
        self.is_cut || self.protected_value(given).is_some() || self.is_of_loop(given, at)
    }

    /// Returns true if a command that a call runs has such a value as its last part: `["rm", "-rf", d]`, `"rm -rf " + d`.
    pub(crate) fn ends_command(&self, given: &str) -> bool {
        let is_whole = |at: usize| {
            let after = given[at..].trim_start_matches(is_in_identifier);
            let after = after.trim_start_matches(['}', '+', ' ', '"', '\'']);
            !after.starts_with(['/', '.', ','])
        };
        self.is_cut || self.names_in(given).any(|(at, _)| is_whole(at))
    }

    /// Returns true if a call writes to what a name of the code can have as its value.
    pub(crate) fn are_written(&self) -> bool {
        self.is_cut
            || words(self.text).any(|(at, word)| {
                let after = &self.text[at + word.len()..];
                let before = &self.text[..at];
                after.starts_with(['(', ' ']) && self.writes(before, word, &after[1..])
            })
    }

    /// Returns true if a call writes to such a value.
    fn writes(&self, before: &str, call: &str, after: &str) -> bool {
        const WRITERS: [&str; 9] =
            ["write", "put", "trunc", "append", "save", "stream", "create", "output", "tofile"];
        const COPIERS: [&str; 8] =
            ["copy", "move", "rename", "cp", "mv", "replace", "symlink", "retrieve"];
        const OPENERS: [&str; 7] =
            ["open", "fileobject", "gzipfile", "zipfile", "tarfile", "bz2file", "filehandler"];
        let name = call.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let is_open = has(&OPENERS);
        if !is_open && !has(&WRITERS) && !has(&COPIERS) {
            return false;
        }
        let given = arguments_of(after);
        let is_it = |part: &str| self.protected_value(part).is_some();
        let receiver = end_of(before, MAX_BEFORE).rsplit([';', '\n']).next().unwrap_or_default();
        let of_receiver = || receiver.ends_with('.') && is_it(receiver);
        let (first, further) = given.split_once(',').unwrap_or((given, &given[given.len()..]));
        if is_open {
            let mode = further.split(',').next().unwrap_or_default().trim();
            let mode = mode.strip_prefix("mode=").unwrap_or(mode);
            // The way of opening has a name.
            let is_unknown = mode.starts_with(is_in_identifier) && !mode.contains('=');
            let writes = is_unknown || WRITING.iter().any(|mode| given.contains(mode));
            return writes && (is_it(given) || of_receiver());
        }
        if has(&WRITERS) {
            // `f.write(text)` writes to another file.
            let is_data = name == "write"
                && receiver.ends_with('.')
                && !has_word("File IO Bun", last_name(&receiver[..receiver.len() - 1]));
            return of_receiver() || is_it(first) && !is_data;
        }
        is_it(further)
    }

    /// Returns true if a call is given the value of a loop after it: `rmtree($_) for ("/", "/etc")`.
    fn is_of_loop(&self, given: &str, at: usize) -> bool {
        let after = start_of(&self.text[at + given.len()..]);
        let after = after.split([';', '\n']).next().unwrap_or_default();
        after.contains(" for ") && self.protected_value(after).is_some()
    }
}

/// Notes what a name can be: the worst of all that it is given.
fn raise<'t>(kinds: &mut HashMap<&'t str, Protected>, name: &'t str, kind: Protected) {
    let known = kinds.entry(name).or_insert(kind);
    *known = kind.max(*known);
}
