//! Calls of other languages that remove, move or change what another call lists, or the path that they are a method of.

use std::collections::HashSet;

use super::code_text::{calls_in, closing, given_to, last_name, start_of, words};
use super::paths_in_code::{first_string, split_first_string};
use crate::permission::places::is_protected_file;
use crate::permission::shell::destroying::destroying_code::HOMES;
use crate::permission::shell::name_letters::is_in_identifier;
use crate::util::words::has_word;

/// Calls that list the files of the folder or of the glob that is given to them.
const LISTERS: &str = "\
    glob(|Path(|Pathname(|Pathname.new(|Dir[|Dir.glob |walk(|listdir(|scandir(|readdirSync(|readdir(|list.files(|list_files(|\
    children(|entries(|each_child(|foreach(|Find.find(|opendir D,|readDir(|readDirSync(|for(|for |map{unlink}|File.ls!(";

/// Names of calls that remove files, whatever they are methods of.
const REMOVERS: &str = "\
    unlink unlinkSync rmdir rmdirSync rmSync rmtree rm_r rm_rf rm_f remove_entry renameSync removeSync";

/// Names of calls that do so of modules for files, on paths, and in some languages on their own.
const SHARED: &str = "remove delete replace rename move rm mv";

const MODULES: &str = "os fs fsp promises File Files FileUtils Dir shutil file Deno";

/// Words around the names that a statement gives to values.
const BINDERS: [&str; 9] = ["=", " in ", " of ", "|", "->", "<-", " as ", "opendir", "{ "];

/// Words that are no such names.
const KEYWORDS: &str =
    "for in of if else not and or const let var my do end as foreach import from print";

/// Classes of paths, and the methods that remove what a path names.
const PATHS: [&str; 3] = ["Path(", "Pathname(", "Pathname.new("];
const METHODS: [&str; 10] = [
    ".rmtree",
    ".unlink",
    ".rmdir",
    ".delete",
    ".rename(",
    ".replace(",
    ".chmod(0)",
    ".chmod(0o0",
    ".children.each(&:delete",
    ".children.each(&:rmtree",
];

/// Calls that copy a folder with everything in it over another one.
const COPIERS: &str = "cpSync(|copytree(|cp_r |cp_r(|copySync(|copy_tree(|copy_dir(";

/// Calls that make a link with the name that is given second.
const LINKERS: &str = "symlink(|symlinkSync(|ln_s |ln_sf |ln_s(|ln_sf(";

/// Code that lists a protected place, read from its start.
struct Listing<'t> {
    text: &'t str,
    /// Where the calls are, in order.
    calls: Vec<usize>,
    /// Names of what they list.
    names: HashSet<&'t str>,
}

impl<'t> Listing<'t> {
    /// Returns true if a part of the code has what is listed.
    fn is_in(&self, part: &str) -> bool {
        let from = part.as_ptr().addr() - self.text.as_ptr().addr();
        let next = self.calls.partition_point(|at| *at < from);
        self.calls.get(next).is_some_and(|at| *at < from + part.len())
            || words(part).any(|(_, word)| self.names.contains(word))
    }

    fn bind(&mut self, statement: &'t str) {
        if !BINDERS.iter().any(|binder| statement.contains(binder)) {
            return;
        }
        let names = words(statement).filter(|(at, word)| {
            !statement[..*at].ends_with(['/', '"', '\'', '.', '-'])
                && !statement[at + word.len()..].starts_with(['(', '.'])
                && !has_word(KEYWORDS, word)
        });
        self.names.extend(names.map(|(_, name)| name));
    }

    /// Returns true if a word of a statement is a call that removes what is listed.
    fn removes(&self, statement: &str, at: usize, verb: &str) -> bool {
        let is_remover = has_word(REMOVERS, verb);
        if !is_remover && !has_word(SHARED, verb) {
            return false;
        }
        let before = &statement[..at];
        if before.ends_with("&:") {
            return true;
        }
        let given = start_of(&statement[at + verb.len()..]).trim_start_matches(['!', '.']);
        // PHP calls by names in quotes as well.
        let is_quoted = before.ends_with(['"', '\'']);
        let given = given.strip_prefix(['"', '\'']).filter(|_| is_quoted).unwrap_or(given);
        let given = given.strip_prefix('(').map_or(given, |inner| &inner[..closing(inner)]);
        let first = first_string(given.trim_start_matches(['(', ' ', '*']));
        if first.is_some_and(|path| !path.starts_with('/') || path.starts_with("/tmp")) {
            return false;
        }
        let is_given =
            self.is_in(given) || ["$_", "&1", "_1"].iter().any(|name| given.contains(name));
        let is_empty = !given.contains(|letter| is_in_identifier(letter) || "\"'".contains(letter));
        let Some(receiver) = before.strip_suffix(['.', ':']) else {
            // `rm` of R removes variables.
            let is_file = matches!(verb, "rm" | "remove" | "rename" | "mv");
            return match is_remover {
                true => is_given || is_empty,
                false => is_given && is_file && !self.text.contains("list."),
            };
        };
        let receiver = receiver.trim_end_matches(':');
        let name = last_name(receiver);
        if is_remover || has_word(MODULES, name) {
            return is_given || is_empty;
        }
        // Methods of paths.
        let is_listed = name.is_empty() || matches!(name, "it" | "_1") || self.names.contains(name);
        is_listed
            && match verb {
                "rename" | "replace" => !is_empty && !given.contains([',', '=']),
                _ => is_empty,
            }
    }
}

/// Returns true if a text lists a protected place, and removes what is listed.
pub(crate) fn removes_listed(text: &str, is_protected: impl Fn(&str) -> bool) -> bool {
    let lists = [
        "glob", "iterdir", "walk", "children", "each", "Dir", "dir", "files", "</", "<~", "<\"",
        "ls!",
    ];
    let of_home = |home: &&'static str| {
        calls_in(text, home).into_iter().filter(|(_, given)| {
            let rest = given.trim_start_matches(')');
            [".iterdir(", ".rglob(", ".glob(", ".walk("].iter().any(|call| rest.starts_with(call))
        })
    };
    let is_listed = |given: &str| {
        let path = first_string(given.trim_start_matches(['(', ' ']));
        path.is_some_and(|path| path.starts_with(['/', '~']) && is_protected(path))
    };
    let can_list = lists.iter().any(|word| text.contains(word));
    let listers = calls_in(text, if can_list { LISTERS } else { "\0" });
    let listed = listers
        .into_iter()
        .filter(|(_, given)| is_listed(given))
        .chain(HOMES.iter().flat_map(of_home));
    let mut calls: Vec<usize> = listed.map(|(at, _)| at).collect();
    if calls.is_empty() {
        return false;
    }
    calls.sort_unstable();
    let mut listing = Listing { text, calls, names: HashSet::default() };
    text.split_inclusive([';', '\n']).any(|statement| {
        listing.is_in(statement) && {
            listing.bind(statement);
            words(statement).any(|(at, word)| listing.removes(statement, at, word))
        }
    })
}

/// Returns true if a path is removed by a method of its own: `Path("/x").unlink()`.
pub(crate) fn removes_by_method(text: &str, is_protected: impl Fn(&str) -> bool) -> bool {
    PATHS.iter().flat_map(|class| text.match_indices(class)).any(|(at, class)| {
        let given = &text[at + class.len()..];
        let Some((path, rest)) = split_first_string(given) else { return false };
        let rest = rest.trim_start_matches([')', ' ']);
        path.starts_with('/')
            && METHODS.iter().any(|method| rest.starts_with(method))
            && (is_protected(path) || is_protected_file(path).is_some())
    })
}

/// Returns true if a call takes all rights from a place, or changes them in everything below it.
pub(crate) fn changes_mode(text: &str, is_of_system: impl Fn(&str) -> bool) -> bool {
    let changes = |given: &str, is_recursive: bool| {
        let given = given.split([';', '\n']).next().unwrap_or_default();
        let takes =
            |word: &str| word.starts_with('0') && word.bytes().all(|byte| b"0ox".contains(&byte));
        let is_place = |part: &str| part.starts_with('/') && is_of_system(part);
        given.split(['"', '\'']).skip(1).step_by(2).any(is_place)
            && (is_recursive
                || given.split(|letter: char| !letter.is_ascii_alphanumeric()).any(takes))
    };
    given_to(text, "chmod(|chmodSync(|chmod 0").any(|given| {
        changes(given, false) || given.starts_with(',') && changes(&["0", given].concat(), false)
    }) || given_to(text, "chmod_R|chown_R").any(|given| changes(given, true))
}

/// Returns true if a folder is copied over one of the system.
pub(crate) fn copies_over(text: &str, is_of_system: impl Fn(&str) -> bool) -> bool {
    given_to(text, COPIERS).any(|given| second_string(given).is_some_and(&is_of_system))
}

/// Returns true if a link takes the place of a file that the system needs.
pub(crate) fn links_over(text: &str) -> bool {
    let is_needed = |path: &str| is_protected_file(path).is_some();
    given_to(text, LINKERS).any(|given| second_string(given).is_some_and(is_needed))
}

/// Returns the string that is the second argument of a call.
fn second_string(given: &str) -> Option<&str> {
    let (_, second) = given.split([';', '\n']).next()?.split_once(',')?;
    first_string(second.trim_start()).filter(|path| path.starts_with('/'))
}
