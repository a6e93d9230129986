//! Commands and code that print variables of the environment, where tokens and passwords are.

use std::collections::HashSet;

use crate::permission::shell::name_letters::is_in_variable;
use crate::permission::shell::programs::{Kind, Program};
use crate::permission::shell::word::Word;
use crate::permission::shell::{AnalyzedCommand, Concern};
use crate::redaction::secret_patterns::is_secret_name;

/// Programs that print their words.
const PRINTERS: [&str; 5] = ["echo", "printf", "print", "write-output", "write-host"];

/// Only the start of a value is searched for a secret, in bytes.
const MAX_VALUE: usize = 1024;
/// Maximum number of settings of variables from others that are read.
const MAX_SETTINGS: usize = 256;
/// Stands for any variable, if a command sets too many.
const ANY: &str = "*";

/// Names of the whole environment, or of what returns it, in the code of some language.
const ENVIRONMENTS: [&str; 8] =
    ["environ", "environb", "ENVIRON", "ENV", "_ENV", "getenv", "get_env", "dotenv_values"];

/// Objects with an environment called `env`.
const HAVE_ENV: [&str; 4] = ["process.", "process?.", "Deno.", "Bun."];

/// Methods that return all variables.
const RETURN_ALL: [&str; 12] = [
    "items",
    "values",
    "copy",
    "to_h",
    "to_a",
    "each",
    "each_pair",
    "map",
    "inspect",
    "select",
    "sort",
    "toObject",
];

/// Texts before an environment that is passed to another process, or only asked for names.
const PASS_ON: [&str; 8] =
    ["env=", "env =", "env:", "...", "**", " in", "Object.keys(", "environment="];

/// Adds a concern if a command prints secrets from its environment.
pub(crate) fn ask(
    base: &str,
    program: Option<&Program>,
    words: &[Word],
    copies: &[String],
    command: &mut AnalyzedCommand,
) {
    let has_code = program.is_some_and(|one| one.script || one.kind == Kind::Awk);
    let is_top = words.get(1).is_some_and(|word| word.text == "top");
    let prints = words[1..].iter().any(|word| match base {
        "jq" | "gojq" | "jaq" => filter_prints(&word.text),
        "yq" => word.text.contains("env("),
        "ps" => lists_environment(&word.text),
        "docker" | "podman" | "nerdctl" => is_top && lists_environment(&word.text),
        _ if PRINTERS.contains(&base) => !word.known && expands_secret(&word.text, copies),
        _ => has_code && code_prints(&word.text),
    });
    if prints {
        let reason = format!("{} can print secrets of the environment", command.text);
        command.concerns.push(Concern::unless_exact(reason));
    }
}

/// Returns the names of the variables that a text expands.
fn expanded_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|rest| name_at(rest.trim_start_matches(['{', '!'])))
}

/// Returns true if a text expands a variable of the environment that holds a secret, or a copy of one. The names of the former are
/// in upper case.
pub(crate) fn expands_secret(text: &str, copies: &[String]) -> bool {
    let is_copy = |name: &str| copies.iter().any(|copy| copy == name || copy == ANY);
    expanded_names(text).any(|name| is_secret(name) || is_copy(name))
}

/// Returns the variables that a whole command sets from a secret variable, also through others: `x=$TOKEN; y=$x; echo $y`.
pub(crate) fn secret_copies(whole: &str) -> Vec<String> {
    if !expands_secret(whole, &[]) {
        return Vec::new();
    }
    // Each variable with one that is set from it.
    let mut set_from: Vec<(&str, &str)> = Vec::new();
    let mut copies: Vec<&str> = Vec::new();
    for (count, (name, value)) in settings(whole).enumerate() {
        if count == MAX_SETTINGS {
            return vec![ANY.to_owned()];
        }
        set_from.extend(expanded_names(value).map(|from| (from, name)));
        if expands_secret(value, &[]) {
            copies.push(name);
        }
    }
    set_from.sort_unstable();
    let mut found: HashSet<&str> = HashSet::new();
    while let Some(name) = copies.pop() {
        if found.insert(name) {
            let first = set_from.partition_point(|(from, _)| *from < name);
            let set = set_from[first..].iter().take_while(|(from, _)| *from == name);
            copies.extend(set.map(|(_, name)| name));
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Returns the names and values of variables that a command sets from others: by assignments, loops, and `read` from a text.
fn settings(whole: &str) -> impl Iterator<Item = (&str, &str)> {
    let places = ["=", " in ", "<<<"].into_iter().flat_map(|sign| whole.match_indices(sign));
    let named = places.map(|(at, sign)| {
        let before = &whole[whole.ceil_char_boundary(at.saturating_sub(MAX_VALUE))..at];
        (at + sign.len(), sign, names_before(before, sign))
    });
    // Values take longer to read: most signs come after no name.
    named.filter(|(_, _, names)| !names.is_empty()).flat_map(|(from, sign, names)| {
        let value = &whole[from..whole.floor_char_boundary(from + MAX_VALUE)];
        let value = &value[..end_of_value(value, sign == "=")];
        let names = if value.contains('$') { names } else { "" };
        names.split_ascii_whitespace().map(move |name| (name, value))
    })
}

/// Returns the names that a text ends with, which the sign after it sets.
fn names_before<'t>(text: &'t str, sign: &str) -> &'t str {
    if sign == "<<<" {
        // `read x y <<< $z` sets several, and so does `while read x y; do …; done <<< $z`.
        let read = text.rfind("read ").map_or("", |at| &text[at..]);
        return &read[..read.find([';', '\n', '|', '&']).unwrap_or(read.len())];
    }
    let text = text.strip_suffix('+').unwrap_or(text);
    &text[text.trim_end_matches(is_in_variable).len()..]
}

/// Returns where a value ends, outside quotes, parentheses and braces. A blank ends the value of an assignment.
fn end_of_value(text: &str, at_blank: bool) -> usize {
    let (mut quote, mut open, mut is_escaped) = (None, 0_usize, false);
    let is_end = |(_, byte): &(usize, u8)| {
        match (quote, byte) {
            _ if is_escaped => is_escaped = false,
            (None | Some(b'"' | b'`'), b'\\') => is_escaped = true,
            (Some(own), _) if own == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(*byte),
            (None, b'(' | b'{') => open += 1,
            (None, b')' | b'}') if open > 0 => open -= 1,
            (None, b';' | b'\n' | b'|' | b'&') => return open == 0,
            (None, byte) => return open == 0 && at_blank && byte.is_ascii_whitespace(),
        }
        false
    };
    text.bytes().enumerate().find(is_end).map_or(text.len(), |(at, _)| at)
}

/// Returns true if `ps` shows the environment of processes: `ps eww`, `ps auxe`.
fn lists_environment(word: &str) -> bool {
    word.contains('e')
        && word.len() < 6
        && word.bytes().all(|byte| b"aexuwfjlsvrmcTNSH".contains(&byte))
}

/// Returns true if a filter of `jq` reads the environment, by `env` or `$ENV`.
fn filter_prints(filter: &str) -> bool {
    filter.match_indices("env").chain(filter.match_indices("ENV")).any(|(at, name)| {
        let (before, after) = (&filter[..at], &filter[at + name.len()..]);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_./\"-".contains(letter);
        let is_name = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || "_:-/".contains(c));
        let is_own = if name == "ENV" { before.ends_with('$') } else { !before.ends_with(is_part) };
        is_own && is_name
    })
}

/// Returns true if code reads the whole environment, or a variable that holds a secret.
fn code_prints(code: &str) -> bool {
    identifiers(code).any(|(at, name)| {
        let before = &code[..at];
        let after = &code[at + name.len()..];
        let is_of_owner = |before: &str| HAVE_ENV.iter().any(|owner| before.ends_with(owner));
        // `process["env"]`
        let quoted = before
            .strip_suffix(['"', '\'', '`'])
            .and_then(|before| before.strip_suffix('['))
            .map(|owner| [owner, "."].concat())
            .filter(|owner| name == "env" && is_of_owner(owner));
        if let Some(owner) = quoted {
            let after = after.trim_start_matches(['"', '\'', '`']);
            return reads_secret(&owner, after.strip_prefix(']').unwrap_or(after));
        }
        let is_environment = ENVIRONMENTS.contains(&name) || name == "env" && is_of_owner(before);
        is_environment && reads_secret(before, after)
    })
}

/// Returns true if what follows the name of an environment reads all of it, or a secret.
fn reads_secret(before: &str, after: &str) -> bool {
    let after = after.strip_prefix('?').unwrap_or(after);
    let (method, after) = match after.strip_prefix('.') {
        Some(rest) => rest.split_at(name_at(rest).len()),
        None => ("", after),
    };
    if RETURN_ALL.contains(&method) {
        return true;
    }
    if !method.is_empty() && !after.starts_with('(') {
        return is_secret(method) && !is_set(after);
    }
    if let Some(rest) = after.strip_prefix(['(', '[', '{']) {
        let quoted = rest.trim_start_matches(['"', '\'', '`', '\\']);
        let name = name_at(quoted);
        // `getenv()`, `environ[name]`.
        let is_variable = quoted == rest && name.bytes().any(|byte| byte.is_ascii_lowercase());
        let closed = quoted[name.len()..].trim_start_matches(['"', '\'', '`', '\\', ']', '}']);
        return name.is_empty() || is_variable || is_secret(name) && !is_set(closed);
    }
    let owners = HAVE_ENV.iter().chain(&["os."]);
    let before = owners.clone().find_map(|owner| before.strip_suffix(owner)).unwrap_or(before);
    let before = before.strip_suffix("dict(").unwrap_or(before).trim_end();
    // `/ENV/` is a regular expression.
    !after.starts_with('/') && !PASS_ON.iter().any(|word| before.ends_with(word))
}

/// Returns true if a text begins with an assignment.
fn is_set(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('=') && !text.starts_with("==")
}

/// Returns true if the name is one of a variable of the environment that holds a secret.
fn is_secret(name: &str) -> bool {
    // `PASS` counts tests.
    !name.is_empty()
        && name != "PASS"
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
        && is_secret_name(name)
}

/// Returns the identifier that a text begins with.
fn name_at(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the identifiers of a text with their places.
fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_separator = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let mut end = 0;
    text.split_inclusive(is_separator).map(move |piece| {
        let at = end;
        end += piece.len();
        (at, piece.trim_end_matches(is_separator))
    })
}
