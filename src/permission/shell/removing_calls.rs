//! Calls of other languages that remove, move or change what another call lists, or the path that they are a method of.

use super::destroying_code::{HOMES, first_string};
use crate::permission::places::is_protected_file;

/// Calls that list the files of the folder or of the glob that is given to them.
const LISTERS: &str = "\
    glob(|Path(|Pathname(|Pathname.new(|Dir[|Dir.glob |walk(|listdir(|scandir(|readdirSync(|readdir(|list.files(|list_files(|\
    children(|entries(|each_child(|foreach(|Find.find(|opendir D,|readDir(|readDirSync(|for(|for |map{unlink}|File.ls!(";

/// Calls that remove what they are given, whatever that is.
const REMOVERS: &str = "\
    remove(|remove,|unlink|delete(|delete |:delete|rmdir|rmSync|rm(|rm.(|rm,|rm_r|rmtree|replace(|rename|move(";

/// Classes of paths, and the methods that remove what a path names.
const PATHS: [&str; 3] = ["Path(", "Pathname(", "Pathname.new("];
const METHODS: [&str; 9] = [
    ".rmtree",
    ".unlink",
    ".rmdir",
    ".delete",
    ".rename(",
    ".replace(",
    ".chmod(0",
    ".children.each(&:delete",
    ".children.each(&:rmtree",
];

/// Calls that copy a folder with everything in it over another one.
const COPIERS: &str = "cpSync(|copytree(|cp_r |cp_r(|copySync(|copy_tree(|copy_dir(";

/// Calls that make a link with the name that is given second.
const LINKERS: &str = "symlink(|symlinkSync(|ln_s |ln_sf |ln_s(|ln_sf(";

/// Returns what follows each of the calls of a list.
fn given_to<'t>(text: &'t str, calls: &'static str) -> impl Iterator<Item = &'t str> {
    let calls = calls.split('|');
    calls
        .flat_map(move |call| text.match_indices(call).map(move |(at, _)| &text[at + call.len()..]))
}

/// Returns true if a text lists a protected place, and removes something that is no fixed other path.
pub(super) fn removes_listed(text: &str, is_protected: impl Fn(&str) -> bool) -> bool {
    let is_open = |given: &str| {
        let given = given.trim_start_matches(['(', ' ']);
        first_string(given).is_none_or(|path| path.starts_with('/') && !path.starts_with("/tmp"))
    };
    if !given_to(text, REMOVERS).any(is_open) {
        return false;
    }
    let lists = [
        "glob", "iterdir", "walk", "children", "each", "Dir", "dir", "files", "</", "<~", "<\"",
        "ls!",
    ];
    let of_home = |home: &&str| {
        text.match_indices(home).any(|(at, _)| {
            let rest = text[at + home.len()..].trim_start_matches(')');
            [".iterdir(", ".rglob(", ".glob(", ".walk("].iter().any(|call| rest.starts_with(call))
        })
    };
    HOMES.iter().any(of_home)
        || lists.iter().any(|word| text.contains(word))
            && given_to(text, LISTERS).any(|given| {
                let path = first_string(given.trim_start_matches(['(', ' ']));
                path.is_some_and(|path| path.starts_with(['/', '~']) && is_protected(path))
            })
}

/// Returns true if a path is removed by a method of its own: `Path("/x").unlink()`.
pub(super) fn removes_by_method(text: &str, is_protected: impl Fn(&str) -> bool) -> bool {
    PATHS.iter().flat_map(|class| text.match_indices(class)).any(|(at, class)| {
        let given = &text[at + class.len()..];
        let Some(path) = first_string(given) else { return false };
        let rest = given[(path.len() + 2).min(given.len())..].trim_start_matches([')', ' ']);
        path.starts_with('/')
            && METHODS.iter().any(|method| rest.starts_with(method))
            && (is_protected(path) || is_protected_file(path).is_some())
    })
}

/// Returns true if a call takes all rights from a place, or changes them in everything below it.
pub(super) fn changes_mode(text: &str, is_of_system: impl Fn(&str) -> bool) -> bool {
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
pub(super) fn copies_over(text: &str, is_of_system: impl Fn(&str) -> bool) -> bool {
    given_to(text, COPIERS).any(|given| second_string(given).is_some_and(&is_of_system))
}

/// Returns true if a link takes the place of a file that the system needs.
pub(super) fn links_over(text: &str) -> bool {
    let is_needed = |path: &str| is_protected_file(path).is_some();
    given_to(text, LINKERS).any(|given| second_string(given).is_some_and(is_needed))
}

/// Returns the string that is the second argument of a call.
fn second_string(given: &str) -> Option<&str> {
    let (_, second) = given.split([';', '\n']).next()?.split_once(',')?;
    first_string(second.trim_start()).filter(|path| path.starts_with('/'))
}
