//! Finds what code of other languages destroys: by the names of its calls, and by the commands in its strings.

use std::borrow::Cow;

use super::destroying_commands::{
    CHANGES_RIGHTS, FORKS, KILLS_ALL, MAX_TAILS, REMOVES_ROOT, STOPS_MACHINE, WRITES_DISK,
    WRITES_SYSTEM,
};
use super::windows_programs::{is_of_system, text_removes};
use crate::permission::places::{Place, is_protected_file};
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::code::code_text::{
    arguments_of, closing, end_of, given_to_words, last_name, start_of,
};
use crate::permission::shell::code::forks_in_code::starts_for_ever;
use crate::permission::shell::code::paths_in_code::{first_string, quoted};
use crate::permission::shell::code::removing_calls::{
    changes_mode, copies_over, links_over, removes_by_method, removes_listed,
};
use crate::permission::shell::code::values_in_code::{Values, WRITING};
use crate::permission::shell::decode;
use crate::permission::shell::expand::decoded_all;
use crate::permission::shell::program_names::base;
use crate::util::words::has_word;

/// Calls of other languages that remove a directory.
const REMOVING_CALLS: &str = "\
    rmtree(|rmSync(|rmdirSync(|rm_rf(|rm_r(|rm_rf |remove_entry(|remove_tree(|rmtree |rimraf(|remove_dir_all(|removeSync(|\
    emptyDirSync(|.rm(|Remove-Item |deltree(|unlink glob|finddepth(|remove_tree \"|rm_r \"|rm_rf!(|Deno.remove|file delete|\
    deleteDir(|deleteRecursively(|removeDirectoryRecursive|delete-directory/files|delete-directory-tree|delete-tree|\
    removeDir(|removeItem(at|Directory.Delete(|Directory]::Delete(|call delete(|vim.fn.delete(|vim.fs.rm(|REMOVE_RECURSE|\
    state=absent|ensure => absent|ensure=>absent|del_dir_r(|RemoveAll(";

/// Calls that remove what they are given, of which only the first argument counts.
const REMOVING_GIVEN: &str = "\
    unlink(|rm(|delete-directory |rmdir(|os.remove(|File.delete(|rename(|rename |renameSync(|shutil.move(|\
    os.replace(|mv(|file rename |unlink |unlink for |unlink foreach ";

/// Calls that run a program or the text of a shell.
const RUNNERS: &str = "\
    system(|system |exec(|exec |execSync(|execFile(|execFileSync(|popen(|Popen(|run(|call(|check_call(|check_output(|getoutput(|\
    spawn(|spawnSync(|shell_exec(|passthru(|Command::new(|exec.Command(";

/// Maximum number of calls that are judged by what they are given; more of them can remove any path of the code.
const MAX_REMOVED: usize = 256;

/// Maximum number of bytes in front of a path in which its call is looked for.
const MAX_BEFORE: usize = 256;

/// The home directory of the user in other languages.
pub(crate) const HOMES: &[&str] = &[
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
    "environ.get(\"HOME\")",
    "environ.get('HOME')",
    "env[\"HOME\"]",
    "env['HOME']",
];

impl Walker<'_> {
    /// Returns the targets that code of another language destroys, by its calls and by the commands in its strings.
    pub(crate) fn code_runs(&mut self, text: &str) -> Vec<&'static str> {
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
    pub(crate) fn code_destroys(&self, text: &str) -> Option<&'static str> {
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
        if runs_stop(text) {
            return Some(STOPS_MACHINE);
        }
        let is_it =
            |path: &str| self.place(path, path.contains('*'), true).is_some() || is_of_system(path);
        // Tools for settings remove what has such a state.
        let sets = ["state=absent", "ensure => absent", "ensure=>absent"];
        let mut removed = given_to_words(text, REMOVING_CALLS);
        if text.contains("recursive") {
            // Without that word, `rm` of R removes variables.
            removed.extend(given_to_words(text, "rm("));
        }
        let commands = removing_commands(text);
        if !(removed.is_empty() && commands.is_empty())
            && let Some(values) = Values::in_code(text, is_it)
            && (sets.iter().any(|set| text.contains(set))
                || removed.len() + commands.len() > MAX_REMOVED
                || commands.iter().any(|given| values.ends_command(given))
                || removed.iter().any(|given| values.may_be_protected(given)))
        {
            return Some(REMOVES_ROOT);
        }
        let is_place = |path: &str| self.place(path, path.contains('*'), true).is_some();
        if text_removes(text)
            || removes_given(text, &removed, is_place)
            || removes_listed(text, is_place)
            || removes_by_method(text, is_place)
        {
            return Some(REMOVES_ROOT);
        }
        let is_system_place = |path: &str| {
            let place = self.place(path, path.contains('*'), true);
            matches!(place, Some((Place::Root | Place::System, _)))
        };
        if changes_mode(text, is_system_place) {
            return Some(CHANGES_RIGHTS);
        }
        if copies_over(text, is_system_place) || links_over(text) {
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
        let is_file = |path: &str| is_protected_file(path).is_some();
        let mut are_written: Option<bool> = None;
        let place = paths.find_map(|(at, path)| {
            let place = is_protected_file(path).filter(|_| !only_reads(text, at, path))?;
            // A path that a name has as its value is harmful only if that name is written to.
            let is_written = !is_kept(text, at)
                || *are_written.get_or_insert_with(|| {
                    Values::in_code(text, is_file).is_some_and(|values| values.are_written())
                });
            is_written.then_some(place)
        })?;
        Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
    }
}

/// Returns the commands that a word may contain: itself, the value of an option, quoted text, what strings of a program
/// make together, and the text after `!`, `:` or `e`.
pub(crate) fn commands_in(text: &str) -> Vec<String> {
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
pub(crate) fn with_joined_strings(text: &str) -> String {
    joined(text, " ", is_between)
}

/// Joins the strings of a program that it puts together, with `by` between those of a list or of a call and those that `/` joins as
/// the parts of a path. With a NUL they stay apart.
pub(crate) fn with_joined_paths(text: &str, by: &str) -> String {
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
fn removes_given(text: &str, removed: &[&str], is_protected: impl Fn(&str) -> bool) -> bool {
    let mut given = given_to_words(text, REMOVING_GIVEN);
    given.extend(removed);
    if given.is_empty() {
        return false;
    }
    // Strings of Tcl need no quotes.
    let is_tcl = text.contains("file rename ");
    let homes = names_of_home(text);
    given.into_iter().any(|given| {
        let first = given.split([',', ';', '\n']).next().unwrap_or_default();
        // A path below it is joined.
        let is_home = before_home(first).any(|before| !before.contains("join"));
        let name = first.trim_matches(|letter: char| "()$ ".contains(letter));
        let is_home = is_home || homes.contains(&name);
        let of_tcl = is_tcl
            .then(|| given.trim_start_matches("-force ").split(' ').next().unwrap_or_default());
        let path = first_string(given.trim_start_matches(['(', ' '])).or(of_tcl);
        is_home || path.is_some_and(|path| path.starts_with(['/', '~']) && is_protected(path))
    })
}

/// Returns true if the path at a place of a text is no argument of a call, but the value of a name or a part of a list.
fn is_kept(text: &str, at: usize) -> bool {
    let before = end_of(&text[..at], MAX_BEFORE);
    let before = before.rsplit(';').next().unwrap_or_default();
    let mut depth = 0;
    let open = before.char_indices().rev().find(|(_, letter)| {
        depth += i32::from(matches!(letter, '(' | '[')) - i32::from(matches!(letter, ')' | ']'));
        depth > 0
    });
    match open {
        None => before.contains('='),
        Some((at, letter)) => letter == '[' || last_name(&before[..at]).is_empty(),
    }
}

/// Returns true if the path at a place of a text is not written there: `open("/x")`, `exists("/x")`, `copyfile("/x", "y")`.
fn only_reads(text: &str, at: usize, path: &str) -> bool {
    const WRITERS: [&str; 6] = ["write", "put", "trunc", "append", "save", "stream"];
    const PATHS: &str = "Path Paths of get File Pathname";
    let before = end_of(&text[..at], MAX_BEFORE);
    let before = before.trim_end_matches(['"', '\'']);
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
            !first.contains(['"', '\'']) && !WRITING.iter().any(|mode| given.contains(mode))
        }
        // The text reads a file by its path.
        "" if has_word(PATHS, class) => {
            text[at + path.len()..].trim_start_matches(['"', '\'', ')']).starts_with(".read")
        }
        // The text is changed that names the file.
        _ if matches!(class, "replace" | "replaceAll" | "sub" | "gsub")
            && !call.ends_with("os.replace") =>
        {
            first.contains(',') || given.contains(',')
        }
        "" => name.contains("read") || !WRITERS.iter().any(|part| name.contains(part)),
        _ => false,
    }
}

/// Returns what is given to each call that runs `rm` for folders.
fn removing_commands(text: &str) -> Vec<&str> {
    if !["rm ", "rm'", "rm\""].iter().any(|name| text.contains(name)) {
        return Vec::new();
    }
    let removes = |given: &&str| {
        // `f"rm -rf {d}"` of Python has a letter before its quote.
        let command = given.trim_start_matches(['f', '[', '(', '"', '\'', '`', ' ']);
        let command = command.strip_prefix("sudo ").unwrap_or(command);
        let options = command.strip_prefix("rm");
        options.is_some_and(|options| {
            options.starts_with([' ', '"', '\''])
                && ["-r", "-R", "-fr", "-fR"].iter().any(|option| options.contains(option))
        })
    };
    given_to_words(text, RUNNERS).into_iter().map(arguments_of).filter(removes).collect()
}

/// Returns what is in front of the home directory in a value that ends with it.
fn before_home(value: &str) -> impl Iterator<Item = &str> {
    let ends = |after: &str| after.bytes().all(|byte| b")]}\"' ".contains(&byte));
    let divided = HOMES.iter().filter_map(|home| value.split_once(home));
    divided.filter(move |(_, after)| ends(after)).map(|(before, _)| before)
}

/// Returns the names that are given the home directory, and nothing more: `h = Path.home()`.
fn names_of_home(text: &str) -> Vec<&str> {
    let statements = text.split([';', '\n']).filter_map(|statement| {
        let (name, value) = statement.split_once('=')?;
        let value = value.trim_start_matches("new ").trim();
        let is_path = |letter: char| letter.is_alphanumeric() || "._:$(".contains(letter);
        let is_home = before_home(value).any(|before| before.chars().all(is_path));
        is_home.then(|| last_name(name.trim_end()))
    });
    statements.filter(|name| !name.is_empty()).take(MAX_TAILS).collect()
}

/// Returns true if a call runs a program that stops the machine, whose first string is only its name: `execSync("reboot")`.
fn runs_stop(text: &str) -> bool {
    const STOPS: &str = "reboot halt poweroff shutdown";
    STOPS.split(' ').any(|stop| text.contains(stop))
        && given_to_words(text, RUNNERS).into_iter().any(|given| {
            let program = first_string(given.trim_start_matches(['[', '(', ' ']));
            program.is_some_and(|program| has_word(STOPS, &base(program)))
        })
}

/// Returns true if a call sends a signal to every process: `kill(-1, 9)`.
fn ends_all_processes(text: &str) -> bool {
    let is_all = |one: &str| one.trim() == "-1";
    // Perl takes the signal first, without brackets as well: `kill 9, -1`.
    let ends = |given: &str| {
        given
            .split(';')
            .next()
            .unwrap_or_default()
            .rsplit(',')
            .next()
            .is_some_and(|last| last.rsplit("=>").next().is_some_and(is_all))
    };
    // The first process starts all others. Signal 0 only asks.
    let ends_first = |given: &str| {
        let given = given.split([')', ';', '\n']).next().unwrap_or_default();
        let (process, signal) = given.split_once(',').unwrap_or((given, ""));
        process.trim() == "1" && signal.trim() != "0"
    };
    given_to_words(text, "os.kill(|process.kill(").into_iter().any(ends_first)
        || given_to_words(text, "kill ").into_iter().any(ends)
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
