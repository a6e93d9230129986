//! Finds what code of other languages destroys: by the names of its calls, and by the commands in its strings.

use std::borrow::Cow;
use std::collections::HashSet;

use super::analyzer::Walker;
use super::decode;
use super::destroying_commands::{
    CHANGES_RIGHTS, FORKS, KILLS_ALL, MAX_TAILS, REMOVES_ROOT, STOPS_MACHINE, WRITES_DISK,
    WRITES_SYSTEM,
};
use super::expand::decoded_all;
use super::forks_in_code::starts_for_ever;
use super::removing_calls::{
    changes_mode, closing, copies_over, given_to_words, is_of_name, last_name, links_over,
    removes_by_method, removes_listed, start_of, words,
};
use super::windows_programs::{is_of_system, text_removes};
use crate::permission::places::{Place, is_protected_file};
use crate::util::words::has_word;

/// Calls of other languages that remove a directory.
const REMOVING_CALLS: &str = "\
    rmtree(|rmSync(|rmdirSync(|rm_rf(|rm_r(|rm_rf |remove_entry(|remove_tree(|rmtree |rimraf(|remove_dir_all(|removeSync(|\
    emptyDirSync(|.rm(|Remove-Item |deltree(|unlink glob|finddepth(|remove_tree \"|rm_r \"|rm_rf!(|Deno.remove|file delete|\
    deleteDir(|deleteRecursively(|removeDirectoryRecursive|delete-directory/files|delete-directory-tree|delete-tree|\
    removeDir(|removeItem(at|Directory.Delete(|Directory]::Delete(|call delete(|vim.fn.delete(|vim.fs.rm(|REMOVE_RECURSE|\
    state=absent|ensure => absent|ensure=>absent|del_dir_r(";

/// Calls that remove what they are given, of which only the first argument counts.
const REMOVING_GIVEN: &str = "\
    unlink(|rm(|delete-directory |rmdir(|os.remove(|File.delete(|RemoveAll(|rename(|rename |renameSync(|shutil.move(|\
    os.replace(|mv(|file rename |unlink |unlink for |unlink foreach ";

/// Maximum number of statements whose values are followed, and of names from one to the next.
const MAX_STATEMENTS: usize = 512;
const MAX_NAMES: usize = 4;

/// The home directory of the user in other languages.
pub(super) const HOMES: &[&str] = &[
    "Path.home()",
    "expanduser(\"~\")",
    "expanduser('~')",
    "environ[\"HOME\"]",
    "environ['HOME']",
    "getenv(\"HOME\")",
    "getenv('HOME')",
    "homedir()",
    "env.HOME",
    "Dir.home",
    "ENV[\"HOME\"]",
    "ENV['HOME']",
    "ENV{HOME}",
    "env(\"HOME\")",
];

impl Walker<'_> {
    /// Returns the targets that code of another language destroys, by its calls and by the commands in its strings.
    pub(super) fn code_runs(&mut self, text: &str) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = self.code_destroys(text).into_iter().collect();
        // A string is no code of its own, unless it is run.
        if text.contains('\\') && ["exec", "eval"].iter().any(|call| text.contains(call)) {
            found.extend(self.code_destroys(&decoded_all(text)));
        }
        found.extend(self.commands_destroy(&commands_in(text)));
        found.extend(decoded_parts(text).iter().flat_map(|text| self.text_destroys(text)));
        found
    }

    /// Returns what a text in another language destroys, by the names of its calls.
    pub(super) fn code_destroys(&self, text: &str) -> Option<&'static str> {
        if !text.contains(['(', ' ', '{']) {
            return None;
        }
        if starts_for_ever(text) {
            return Some(FORKS);
        }
        if ends_all_processes(text) {
            return Some(KILLS_ALL);
        }
        if text.contains("tell app")
            && ["shut down", "restart"].iter().any(|verb| text.contains(verb))
        {
            return Some(STOPS_MACHINE);
        }
        let is_it =
            |path: &str| self.place(path, path.contains('*'), true).is_some() || is_of_system(path);
        // Tools for settings remove what has such a state.
        let sets = ["state=absent", "ensure => absent", "ensure=>absent"];
        let removed = given_to_words(text, REMOVING_CALLS);
        if !removed.is_empty()
            && quoted(text).any(|(_, path)| is_it(path))
            && (sets.iter().any(|set| text.contains(set)) || removed.len() > MAX_TAILS || {
                let values = Values::of(text, is_it);
                removed.iter().any(|given| values.can_be(given))
            })
        {
            return Some(REMOVES_ROOT);
        }
        let is_place = |path: &str| self.place(path, path.contains('*'), true).is_some();
        if text_removes(text)
            || removes_given(text, is_place)
            || removes_listed(text, is_place)
            || removes_by_method(text, is_place)
        {
            return Some(REMOVES_ROOT);
        }
        let is_of_system = |path: &str| {
            let place = self.place(path, path.contains('*'), true);
            matches!(place, Some((Place::Root | Place::System, _)))
        };
        if changes_mode(text, is_of_system) {
            return Some(CHANGES_RIGHTS);
        }
        if copies_over(text, is_of_system) || links_over(text) {
            return Some(WRITES_SYSTEM);
        }
        let writes = [
            "'w",
            "\"w",
            "write",
            "'r+",
            "\"r+",
            "'a",
            "\">",
            "'>",
            "copyfile",
            "copyFile",
            "truncate",
            "put_contents",
        ]
        .iter()
        .any(|way| text.contains(way));
        let mut paths = quoted(text).filter(|_| writes);
        let place = paths.find_map(|(at, path)| {
            is_protected_file(path).filter(|_| !only_reads(text, at, path))
        })?;
        Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
    }
}

/// Returns the commands that a word may contain: itself, the value of an option, quoted text, what strings of a program
/// make together, and the text after `!`, `:` or `e`.
pub(super) fn commands_in(text: &str) -> Vec<String> {
    if !text.contains([' ', ';', '(', '\n', '|', ',']) {
        return Vec::new();
    }
    let mut found = vec![text.to_owned()];
    for separator in ["=", "!", "e "] {
        found.extend(
            text.split_once(separator).map(|(_, rest)| rest.trim_start_matches('!').to_owned()),
        );
    }
    let values = text.match_indices(['=', ':']).take(4);
    found.extend(values.map(|(at, _)| text[at + 1..].trim_start_matches('!').to_owned()));
    if text.contains('\\') {
        found.push(decoded_all(text));
    }
    let whole = text.contains(['"', '\'']).then(|| with_joined_strings(&with_arguments(text)));
    for text in [Some(text), whole.as_deref().filter(|whole| *whole != text)].into_iter().flatten()
    {
        for quote in ['"', '\'', '`'] {
            found.extend(text.split(quote).skip(1).step_by(2).map(str::to_owned));
        }
    }
    // Quotes of Perl and Ruby with a letter.
    found.extend(text.match_indices("q{").take(MAX_TAILS).map(|(at, opener)| {
        let inner = &text[at + opener.len()..];
        inner[..inner.find('}').unwrap_or(inner.len())].to_owned()
    }));
    // A list of words, without what is in front of it.
    found.extend(text.match_indices('[').take(MAX_TAILS).map(|(at, _)| {
        let inner = &text[at + 1..];
        let list = &inner[..inner.find(']').unwrap_or(inner.len())];
        with_joined_strings(list).trim_matches(['"', '\'']).to_owned()
    }));
    found.retain(|text| text.contains([' ', '{', '>', '\t']));
    found.dedup();
    found
}

/// Returns a text in which arguments that a program gets by calls of their own follow its name: `Command::new("a").arg("b")`.
fn with_arguments(text: &str) -> Cow<'_, str> {
    const CALLS: [&str; 3] = [").args(&[", ").args([", ").arg("];
    if !text.contains(").arg") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(CALLS.iter().fold(text.to_owned(), |text, call| text.replace(call, ", ")))
}

/// Joins the strings of a program that it puts together (`"a" + "b"`, `"a" "b"`), and those of a list as the words of
/// a command (`["a", "b"]`).
pub(super) fn with_joined_strings(text: &str) -> String {
    joined(text, " ", is_between)
}

/// Does so with `by` between the strings of a list or of a call and where `/` joins the parts of a path. With a NUL they stay apart.
pub(super) fn with_joined_paths(text: &str, by: &str) -> String {
    joined(text, by, |letter| is_between(letter) || "/()".contains(letter))
}

/// Joins strings with only such letters between them, and those of a list with `by` between them.
fn joined(text: &str, by: &str, is_between: fn(char) -> bool) -> String {
    let mut made = String::new();
    let mut rest = text;
    let mut open: Option<char> = None;
    // The quote that the string in `made` begins with.
    let mut first = '"';
    while let Some(at) = rest.find(|letter| match open {
        Some(quote) => letter == quote,
        None => matches!(letter, '"' | '\''),
    }) {
        if open.is_some() && rest[..at].contains('\n') {
            // It was no string, but a quote in a comment, or before several lines.
            open = None;
            continue;
        }
        let quote = char::from(rest.as_bytes()[at]);
        made.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if open.is_none() {
            (open, first) = (Some(quote), quote);
            made.push(quote);
            rest = after;
            continue;
        }
        let next = after.trim_start_matches(is_between);
        let next =
            next.strip_prefix("{args:").map_or(next, |list| list.trim_start_matches(is_between));
        let between = &after[..after.len() - next.len()];
        rest = match next.chars().next().filter(|next| matches!(next, '"' | '\'')) {
            Some(quote) if !between.is_empty() => {
                match by {
                    _ if !between.contains([',', '/']) => {}
                    "\0" => made.extend([first, first]),
                    by => made.push_str(by),
                }
                open = Some(quote);
                &next[1..]
            }
            _ => {
                made.push(first);
                open = None;
                after
            }
        };
    }
    made.push_str(rest);
    made
}

/// Returns true for what is between strings that are put together, or the words of a list.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "+.,[".contains(letter)
}

/// Returns true if a call removes a protected place that is its first argument, or the home directory.
fn removes_given(text: &str, is_protected: impl Fn(&str) -> bool) -> bool {
    let calls = [REMOVING_CALLS, REMOVING_GIVEN].into_iter();
    calls.flat_map(|calls| given_to_words(text, calls)).any(|given| {
        let first = given.split([',', ';', '\n']).next().unwrap_or_default();
        let is_home = HOMES.iter().any(|home| {
            first.split_once(home).is_some_and(|(before, after)| {
                // A path below it.
                !before.contains("join") && after.bytes().all(|byte| b")]}\"' ".contains(&byte))
            })
        });
        // Strings of Tcl need no quotes.
        let of_tcl = text
            .contains("file rename ")
            .then(|| given.trim_start_matches("-force ").split(' ').next().unwrap_or_default());
        let path = first_string(given.trim_start_matches(['(', ' '])).or(of_tcl);
        is_home || path.is_some_and(|path| path.starts_with(['/', '~']) && is_protected(path))
    })
}

/// Returns what can be a path in a text, in quotes or as a word, and where it is. A slash between spaces divides, or joins.
fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
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

/// Code, and the names in it that can have a protected path as their value.
struct Values<'t, P> {
    text: &'t str,
    is_protected: P,
    names: HashSet<&'t str>,
}

impl<'t, P: Fn(&str) -> bool> Values<'t, P> {
    fn of(text: &'t str, is_protected: P) -> Self {
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
    fn can_be(&self, given: &str) -> bool {
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

/// Returns true if the path at a place of a text is not written there: `open("/x")`, `exists("/x")`, `copyfile("/x", "y")`.
fn only_reads(text: &str, at: usize, path: &str) -> bool {
    const WRITERS: [&str; 6] = ["write", "put", "trunc", "append", "save", "stream"];
    const PATHS: &str = "Path Paths of get File Pathname";
    const MODES: [&str; 7] = ["'w", "\"w", "'a", "\"a", "'x", "+", "O_"];
    let before = text[..at].trim_end_matches(['"', '\'']);
    let given = start_of(&text[at + path.len()..]);
    let given = &given[..closing(given)];
    // Perl names the way before the file.
    if ["<\", ", "<', ", ": "].iter().any(|end| before.ends_with(end)) {
        return true;
    }
    let Some((call, first)) = before.rsplit_once('(') else { return false };
    let class = last_name(call);
    let name = class.to_ascii_lowercase();
    match first.trim() {
        _ if name.ends_with("open") => {
            !first.contains(['"', '\'']) && !MODES.iter().any(|mode| given.contains(mode))
        }
        // The text reads a file by its path.
        "" if has_word(PATHS, class) => {
            text[at + path.len()..].trim_start_matches(['"', '\'', ')']).starts_with(".read")
        }
        "" => name.contains("read") || !WRITERS.iter().any(|part| name.contains(part)),
        _ => false,
    }
}

/// Returns the string that a text begins with. `<…>` of Perl are the files of a glob.
pub(super) fn first_string(text: &str) -> Option<&str> {
    let path = text.trim_start_matches('<').strip_prefix(['"', '\'']);
    let path = path.or_else(|| text.strip_prefix('<'))?;
    path.split(['"', '\'', '>']).next()
}

/// Returns true if a call sends a signal to every process: `kill(-1, 9)`.
fn ends_all_processes(text: &str) -> bool {
    let is_all = |one: &str| one.trim() == "-1";
    // Perl takes the signal first, without brackets as well: `kill 9, -1`.
    let ends = |given: &str| {
        given.split(';').next().unwrap_or_default().rsplit([',', '>']).next().is_some_and(is_all)
    };
    given_to_words(text, "kill ").into_iter().any(ends)
        || given_to_words(text, "kill(|posix_kill(")
            .into_iter()
            .any(|given| given.split(')').next().is_some_and(|all| all.split(',').any(is_all)))
}

/// The texts that are encoded in a text.
fn decoded_parts(text: &str) -> Vec<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-".contains(letter);
    let parts = text.split(|letter: char| !is_letter(letter)).filter(|part| part.len() >= 8);
    let decoded =
        parts.take(MAX_TAILS).filter_map(|part| decode::base64(part).or_else(|| decode::hex(part)));
    decoded.collect()
}
