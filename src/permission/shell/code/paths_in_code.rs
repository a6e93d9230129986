//! The paths in code: what may be one, which of them are protected, and which are only parts of others.

use std::collections::{HashMap, HashSet};

use super::code_text::{closing, end_of, last_name, place_in};
use crate::permission::shell::name_letters::is_in_identifier;
use crate::util::words::has_word;

/// Maximum number of bytes in front of a value that are read.
pub(super) const MAX_BEFORE: usize = 128;

/// Maximum number of different paths that are judged; of code with more, every name can be a protected one.
const MAX_PATHS: usize = 1024;

/// Calls whose first argument is a sign between the parts of a text, and such calls whose second one is where the first is a backslash.
const SEPARATED: &str = "\
    split rsplit sub gsub replace replaceAll strip lstrip rstrip trim ltrim rtrim endswith startswith endsWith startsWith find rfind \
    index rindex indexOf lastIndexOf tr count includes partition rpartition explode implode Split HasPrefix HasSuffix TrimSuffix \
    TrimPrefix removeprefix removesuffix delete_prefix delete_suffix chomp";

const SEPARATED_SECOND: &str =
    "replace replaceAll ReplaceAll tr sub gsub translate str_replace explode";

/// Where a path that must not be removed is. Paths below a home are often removed, those below a folder of the system are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Protected {
    Home,
    System,
}

/// Returns the names that a code gives an empty text, or a value with such a default: `prefix = ""`, `get("PREFIX", "")`.
pub(super) fn emptied_names(text: &str) -> HashSet<&str> {
    let statements = text.split([';', '\n']).filter_map(|statement| statement.split_once('='));
    statements
        .filter(|(_, value)| ["''", "\"\""].iter().any(|empty| value.contains(empty)))
        .map(|(name, _)| last_name(name.trim_end()))
        .collect()
}

/// Returns the protected paths of a text with their places, and true if there are more than are judged.
pub(super) fn protected_paths(
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

/// Returns true if a value at a place of a text, with `after` after it, is only the end of a path: `stage + "/usr"`,
/// `File.join(stage, prefix)`. Names that can be empty are `emptied`.
pub(super) fn is_below(text: &str, at: usize, after: &str, emptied: &HashSet<&str>) -> bool {
    let before = end_of(&text[..at], MAX_BEFORE);
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
pub(super) fn is_joined(part: &str) -> bool {
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
        let (before, after) = (end_of(&text[..at], MAX_BEFORE), &text[at + 1..]);
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
        let before = end_of(&text[..at], MAX_BEFORE).trim_end_matches(['"', '\'']).trim_end();
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
        .map(|part| (place_in(text, part), part))
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
