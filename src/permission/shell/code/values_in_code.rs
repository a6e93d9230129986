//! Follows the values of code from name to name: which of its names can be a path that must not be removed.

use std::collections::{HashMap, HashSet};

use super::code_text::{closing, given_to_words, last_name, start_of, words};
use crate::permission::shell::name_letters::is_in_identifier;
use crate::util::words::has_word;

/// Maximum number of statements, of different paths, of calls of functions of the code, and of rounds in which values are given on;
/// of more code, every name can be such a path.
const MAX_STATEMENTS: usize = 16384;
const MAX_PATHS: usize = 1024;
const MAX_CALLS: usize = 2048;
const MAX_ROUNDS: usize = 8;

/// Maximum number of bytes in front of a value that are read.
const MAX_BEFORE: usize = 128;

/// The ways of opening a file that write to it, as they begin in code.
pub(crate) const WRITING: [&str; 9] = ["'w", "\"w", "'a", "\"a", "'x", "+", "O_", "'>", "\">"];

/// Calls whose first argument is a sign between the parts of a text, and such calls whose second one is where the first is a backslash.
const SEPARATED: &str = "\
    split rsplit sub gsub replace replaceAll strip lstrip rstrip trim ltrim rtrim endswith startswith endsWith startsWith find rfind \
    index rindex indexOf lastIndexOf tr count includes partition rpartition explode implode Split HasPrefix HasSuffix TrimSuffix \
    TrimPrefix removeprefix removesuffix delete_prefix delete_suffix chomp";
const SEPARATED_SECOND: &str =
    "replace replaceAll ReplaceAll tr sub gsub translate str_replace explode";

/// Where a path that must not be removed is. Paths below a home are often removed, those below a folder of the system are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Protected {
    Home,
    System,
}

/// A function of the code.
struct Function<'t> {
    name: &'t str,
    parameters: &'t str,
    /// Names that it has its parameters from without naming them.
    implied: &'static [&'static str],
}

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
            let before = values.names.clone();
            statements.iter().for_each(|statement| values.bind(statement));
            values.bind_parameters(&functions, &calls);
            if values.names == before || values.is_cut {
                break;
            }
            values.is_cut = round == MAX_ROUNDS;
        }
        Some(values)
    }

    /// Returns where a part of the code begins.
    fn place(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
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
        let names = if self.names.is_empty() { "" } else { part };
        let names = self.names_in_or_none(names);
        let found = self.protected_literal(part).max(names);
        found.filter(|found| *found == Protected::System || !is_joined(part))
    }

    fn names_in_or_none(&self, part: &str) -> Option<Protected> {
        if part.is_empty() {
            return None;
        }
        self.names_in(part).map(|(_, kind)| kind).max()
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
            end_of(&statement[..at])
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
                let known = given.entry(name).or_insert(value);
                *known = value.max(*known);
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
        let before = end_of(&self.text[..at]);
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
            return self.is_cut
                || match name.is_empty() {
                    true if before.contains(['"', '\'']) => {
                        self.protected_literal(before).is_some()
                    }
                    true => true,
                    false => {
                        self.names.contains_key(name) || self.protected_literal(before).is_some()
                    }
                };
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
        let given = start_of(after).split([';', '\n']).next().unwrap_or_default();
        let given = &given[..closing(given)];
        let is_it = |part: &str| self.protected_value(part).is_some();
        let receiver = end_of(before).rsplit([';', '\n']).next().unwrap_or_default();
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

/// Returns the names that a code gives an empty text, or a value with such a default: `prefix = ""`, `get("PREFIX", "")`.
fn emptied_names(text: &str) -> HashSet<&str> {
    let statements = text.split([';', '\n']).filter_map(|statement| statement.split_once('='));
    statements
        .filter(|(_, value)| ["''", "\"\""].iter().any(|empty| value.contains(empty)))
        .map(|(name, _)| last_name(name.trim_end()))
        .collect()
}

/// Returns the protected paths of a text with their places, and true if there are more than are judged.
fn protected_paths(
    text: &str,
    is_protected: impl Fn(&str) -> bool,
    emptied: &HashSet<&str>,
) -> (Vec<(usize, Protected)>, bool) {
    let mut judged: HashMap<&str, bool> = HashMap::default();
    let mut found = Vec::new();
    for (at, path) in quoted(text) {
        if judged.len() >= MAX_PATHS && !judged.contains_key(path) {
            return (found, true);
        }
        let after = &text[at + path.len()..];
        if *judged.entry(path).or_insert_with(|| is_protected(path))
            && !is_below(text, at, after, emptied)
        {
            let is_home = path.starts_with('~');
            found.push((at, if is_home { Protected::Home } else { Protected::System }));
        }
    }
    (found, false)
}

/// Returns the statements of a code. A list or call continues in the next line.
fn statements_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, end) in text.match_indices([';', '\n']) {
        let statement = &text[from..at];
        if end == "\n" && statement.trim_end().ends_with(['[', '(', ',']) {
            continue;
        }
        found.push(statement);
        from = at + 1;
    }
    found.push(&text[from..]);
    found.retain(|statement| !statement.trim().is_empty());
    found
}

/// Returns the calls of functions of a code, with what is given to each.
fn calls_of<'t>(text: &'t str, defined: &HashSet<&str>) -> Vec<(&'t str, &'t str)> {
    let is_definition =
        |at: usize| ["def ", "function ", "sub "].iter().any(|begin| text[..at].ends_with(begin));
    let calls = words(text).filter(|(at, word)| defined.contains(word) && !is_definition(*at));
    let calls = calls.filter_map(|(at, name)| {
        let after = start_of(text[at + name.len()..].strip_prefix(['(', ' '])?);
        let after = after.split([';', '\n']).next().unwrap_or_default();
        Some((name, &after[..closing(after)]))
    });
    calls.take(MAX_CALLS + 1).collect()
}

/// Returns the function that a statement defines.
fn function_in(statement: &str) -> Option<Function<'_>> {
    let kinds: [(&str, &[&str]); 3] =
        [("def ", &[]), ("function ", &["1"]), ("sub ", &["_", "shift"])];
    // Perl takes its parameters from a list, and shells from numbers.
    for (begin, implied) in kinds {
        if let Some((_, rest)) = statement.split_once(begin)
            && let Some((at, name)) = words(rest).next()
        {
            return Some(Function {
                name,
                parameters: parameters(&rest[at + name.len()..]),
                implied,
            });
        }
    }
    let begins = ["lambda", "=>", "->"].iter().any(|begin| statement.contains(begin));
    let (left, right) = statement.split_once('=').filter(|_| begins)?;
    let name = last_name(left.trim_end());
    (!name.is_empty()).then_some(Function { name, parameters: parameters(right), implied: &[] })
}

/// Returns the parameters of a function, of which a text is what follows its name.
fn parameters(text: &str) -> &str {
    let text = ["async ", "lambda", "->", "function"]
        .iter()
        .fold(start_of(text).trim_start(), |text, begin| {
            text.strip_prefix(begin).unwrap_or(text).trim_start()
        });
    if let Some(inner) = text.strip_prefix('(') {
        return &inner[..closing(inner)];
    }
    match text.split_once('|') {
        Some((_, inner)) => inner.split('|').next().unwrap_or_default(),
        None => text.split([':', '{', '=']).next().unwrap_or_default(),
    }
}

/// Returns true if a name is what a function is given for each value of a list: `dirs.forEach((d) => …)`.
fn is_of_callback(statement: &str, at: usize, after: &str) -> bool {
    const EACH: &str = "\
        forEach map flatMap filter some every each reduce reduceRight for_each find findIndex findLast then from eachSeries ForEach";
    let before = end_of(&statement[..at]);
    let mut depth = 0;
    let opened = before.char_indices().rev().filter(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        let is_open = depth > 0;
        depth = depth.min(0);
        is_open
    });
    // The list of parameters has a bracket of its own, or none.
    let callers: Vec<&str> =
        opened.take(2).map(|(at, _)| last_name(before[..at].trim_end())).collect();
    let further =
        after.trim_start_matches(|letter| is_in_identifier(letter) || ", )".contains(letter));
    let is_parameter = further.starts_with("=>")
        || callers.first() == Some(&"function")
        || before.contains("lambda ") && further.starts_with(':');
    is_parameter && callers.iter().any(|caller| has_word(EACH, caller))
}

/// Returns the part of a loop with the names that it gives its values: `for (const [a, b] of …)`, `for my $a (…)`.
fn loop_names(statement: &str) -> &str {
    let is_for = |(_, word): &(usize, &str)| matches!(*word, "for" | "foreach");
    let Some((at, word)) = words(statement).find(is_for) else { return "" };
    let rest = &statement[at + word.len()..];
    let end = [" of ", " in "].iter().filter_map(|sign| rest.find(sign)).min();
    &rest[..end.or_else(|| rest.find('(')).unwrap_or(0)]
}

/// Returns the end of a text, which is as much as is read in front of a value.
fn end_of(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(MAX_BEFORE))..]
}

/// Returns true if a value at a place of a text, with `after` after it, is only the end of a path: `stage + "/usr"`,
/// `File.join(stage, prefix)`. Names that can be empty are `emptied`.
fn is_below(text: &str, at: usize, after: &str, emptied: &HashSet<&str>) -> bool {
    let before = end_of(&text[..at]);
    // `packages/${name}`
    let folder = before.trim_end_matches(['{', '$', '#']);
    let folder = folder.rsplit_once(['"', '\'', '`']).map_or("", |(_, folder)| folder);
    if folder.ends_with('/')
        && folder.starts_with(is_in_identifier)
        && !folder.contains("..")
        && folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    {
        return true;
    }
    let before = before.trim_end_matches(['"', '\'', '`', '$']).trim_end();
    if let Some(left) = before.strip_suffix('+') {
        let left = left.trim_end();
        return !left.is_empty()
            && !["''", "\"\"", "../..'", "../..\"", "+", "(", "=", " '", " \""]
                .iter()
                .any(|end| left.ends_with(end))
            && !emptied.contains(last_name(left));
    }
    let Some((call, given)) = before.rsplit_once("join(") else { return false };
    let can_be_empty = ["''", "\"\"", ".."].iter().any(|part| given.contains(part));
    let is_further = given.contains(',') && closing(given) == given.len() && !can_be_empty;
    let is_cut = || [".lstrip(", ".strip(", "[1:]"].iter().any(|cut| after.starts_with(cut));
    // With Python an absolute path stays what it is.
    is_further
        && (call.ends_with("File.")
            || call.ends_with("path.") && (!call.ends_with("os.path.") || is_cut()))
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
    // `join(home, name)`
    let is_named = first.split_once("join(").is_some_and(|(_, given)| {
        let further = given.split_once(',').map_or("", |(_, further)| further);
        further.trim_start().starts_with(is_in_identifier)
    });
    !is_list
        && !first.contains("..")
        && (is_named
            || ["join", "+", "/"].iter().any(|way| first.contains(way))
                && first.split(['"', '\'', '`']).skip(1).step_by(2).any(names))
}

/// Returns what can be a path in a text, in quotes or as a word, and where it is. A slash between spaces divides, or joins.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let separates = |at: usize| {
        let (before, after) = (end_of(&text[..at]), &text[at + 1..]);
        let before = before.trim_end_matches(['"', '\'']);
        let after = after.trim_start_matches(['"', '\'']);
        let is_first = || {
            let call = before.strip_suffix('(').map_or("", last_name);
            has_word(SEPARATED, call.trim_end_matches('?'))
        };
        let is_second = || {
            let given = before.trim_end().strip_suffix(',');
            let call = given.and_then(|given| given.rsplit_once('('));
            call.is_some_and(|(call, first)| {
                first.contains('\\') && has_word(SEPARATED_SECOND, last_name(call))
            })
        };
        after.starts_with(".join") || after.starts_with(" in ") || is_first() || is_second()
    };
    // It is only compared.
    let compares = |at: usize| {
        let before = end_of(&text[..at]).trim_end_matches(['"', '\'']).trim_end();
        ["==", "!=", " eq", " ne"].iter().any(|sign| before.ends_with(sign))
    };
    let divides = |at: usize| {
        let after = text[at + 1..].strip_prefix(' ').filter(|_| text[..at].ends_with(' '));
        after.is_some_and(|after| {
            after.starts_with(|next| is_in_identifier(next) || "\"'($".contains(next))
        })
    };
    text.split(['"', '\'', '`', ',', '(', ')', ' ', '=', '\n', ';'])
        .filter(|part| part.starts_with(['/', '~']) || part.contains(":\\"))
        .map(|part| (part.as_ptr().addr() - text.as_ptr().addr(), part))
        .filter(move |(at, part)| *part != "/" || !divides(*at) && !separates(*at))
        .filter(move |(at, _)| !compares(*at))
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
