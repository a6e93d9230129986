//! Classifies tools by the names that agents give them.
//!
//! Names that differ only in case and in how their words are joined are the same name: `run_command`, `runCommand` and
//! `Run-Command`.
//!
//! ```
//! use spillway_core::tools::{Kind, is_same, kind, last_part};
//!
//! assert!(matches!(kind(last_part("mcp__box__exec_command")), Some(Kind::Terminal)));
//! assert!(is_same("readFile", "read_file"));
//! assert!(kind("frobnicate").is_none());
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`table`] | known tools, their kinds, and the arguments that state what they touch |
//! | [`arguments`] | names of arguments for paths, commands, addresses, … |

pub mod arguments;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use self::table::TABLE;
pub use self::table::{Kind, Shape};
use self::table::{OF_SAVED_OUTPUTS, OTHER_SPACES, TAKE_GLOBS, TESTS_OF_SERVERS, WAIT};
use crate::util::words::has_word;

/// Length above which a name cannot be in a table.
const MAX_LENGTH: usize = 256;

static KNOWN: LazyLock<HashMap<String, (Kind, Option<Shape>)>> = LazyLock::new(|| {
    let rows = TABLE.iter();
    rows.flat_map(|(kind, shape, names)| names.iter().map(|name| (plain(name), (*kind, *shape))))
        .collect()
});

/// Looks up the row of a tool.
fn known(name: &str) -> Option<(Kind, Option<Shape>)> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    KNOWN.get(&plain(name)).copied()
}

/// Returns the kind of a tool, or `None` if its name is not known.
pub fn kind(name: &str) -> Option<Kind> {
    let in_space =
        || OTHER_SPACES.iter().any(|space| name.starts_with(space)).then_some(Kind::Other);
    known(name).map(|(kind, _)| kind).or_else(in_space)
}

/// Returns what a tool does, by its whole name or by the part after that of its server.
pub fn kind_of(name: &str) -> Option<Kind> {
    let of_server = |last: &str| {
        kind(last).or_else(|| {
            let runs_tests =
                last.len() < name.len() && TESTS_OF_SERVERS.contains(&plain(last).as_str());
            runs_tests.then_some(Kind::Terminal)
        })
    };
    kind(name).or_else(|| of_server(last_part(name)))
}

/// The kind of an output, as far as its tool or its command says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// Files, names of files, or lines that were searched for.
    Listing,
    /// The differences between files.
    Diff,
    /// Anything else, or nothing is known.
    Other,
}

/// Returns what a tool prints.
pub fn printed_by(tool: &str) -> Printed {
    match kind(tool) {
        Some(Kind::Read | Kind::Search) => Printed::Listing,
        _ => Printed::Other,
    }
}

/// Returns how the arguments of a tool state what it touches, or `None` if its name is not known or says too little.
pub(crate) fn shape(name: &str) -> Option<Shape> {
    known(name)?.1
}

/// Returns true for the tools of `createOutputTools` and of the MCP proxy, which read or search saved outputs anywhere.
pub fn reads_saved_outputs(name: &str) -> bool {
    OF_SAVED_OUTPUTS.contains(&plain(last_part(name)).as_str())
}

/// Returns true for tools that expand wildcards in paths.
pub(crate) fn takes_globs(name: &str) -> bool {
    TAKE_GLOBS.contains(&plain(name).as_str())
}

/// Returns true for tools that wait for something, so that repeating them is expected. The name is in normal form.
pub(crate) fn waits(name: &str) -> bool {
    has_word(WAIT, name)
}

/// Returns the last part of a name with a server or name space before it: `exec_command` for `mcp__box__exec_command`
/// and `functions.exec_command`.
pub fn last_part(name: &str) -> &str {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.rsplit(['.', '/', ':']).next().unwrap_or(last)
}

/// Normalizes a name: lower case, without the characters that join words.
pub fn plain(name: &str) -> String {
    letters(name).collect()
}

/// Returns true if two names have the same normal form.
pub fn is_same(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
}

/// Returns true if a tool matches one of the patterns by its whole name or by its last part. `*` in a pattern matches
/// any characters.
pub fn is_one_of(name: &str, patterns: &[String]) -> bool {
    let last = last_part(name);
    patterns.iter().any(|pattern| {
        if pattern.contains('*') {
            let pattern = plain(pattern);
            matches(&plain(name), &pattern) || matches(&plain(last), &pattern)
        } else {
            is_same(pattern, name) || is_same(pattern, last)
        }
    })
}

/// Returns true if a pattern matches a whole name. Linear in the name for each `*`: taking the first occurrence of a
/// part never loses a match.
fn matches(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_suffix(end) else { return false };
    middle.split('*').all(|part| match name.split_once(part) {
        Some((_, after)) => {
            name = after;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_in_case_and_joints_only() {
        for name in [
            "bash",
            "Bash",
            "terminal-execute",
            "TerminalExecute",
            "runShellCommand",
            "container.exec",
            "executeTerminalCommand",
            "runTests",
            "process",
        ] {
            assert_eq!(kind(name), Some(Kind::Terminal), "{name}");
        }
        assert_eq!(kind_of("mcp__runner__test"), Some(Kind::Terminal));
        assert_eq!(kind_of("test"), None);
        assert_eq!(kind("Read"), Some(Kind::Read));
        assert_eq!(kind("filesystem-read"), Some(Kind::Read));
        assert_eq!(kind("filesystem-anything"), Some(Kind::Other));
        for name in
            ["", "deploy", "bash2", "__proto__", "constructor", "执行", &"bash".repeat(1000)]
        {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let is = |name: &str, pattern: &str| is_one_of(name, &[pattern.to_owned()]);
        for (name, pattern) in [
            ("exec", "ex*"),
            ("Exec_Command", "EXEC*"),
            ("exec", "exec"),
            ("exec", "*"),
            ("", "*"),
            ("web_fetch", "*fetch"),
            ("mcp__files__read", "mcp__*__read"),
            ("mcp__files__read_file", "read*"),
            ("abcab", "a*b*a*b"),
            ("ab", "a**b"),
        ] {
            assert!(is(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [
            ("exec", "ex"),
            ("exec", "*ex"),
            ("aba", "ab*ba"),
            ("abc", "a*b"),
            ("axbxc", "a*c*b*c"),
            ("exec", ""),
            ("exec", "ex?c"),
        ] {
            assert!(!is(name, pattern), "{name} {pattern}");
        }
    }

    #[test]
    fn the_arguments_of_a_tool_fit_its_kind() {
        for (kind, shape, names) in TABLE {
            let fits = match kind {
                Kind::Terminal => matches!(shape, Some(Shape::Command) | None),
                Kind::Read => *shape == Some(Shape::Paths),
                Kind::Search => matches!(shape, Some(Shape::Search | Shape::Paths)),
                Kind::Delegate => shape.is_none(),
                Kind::Edit => matches!(
                    shape,
                    Some(Shape::Paths | Shape::Editor | Shape::Move | Shape::Copy | Shape::Patch)
                ),
                Kind::Other => *shape != Some(Shape::Command),
            };
            assert!(fits, "{names:?}");
        }
        for name in OF_SAVED_OUTPUTS.iter().chain(&TAKE_GLOBS) {
            assert_eq!(shape(name), Some(Shape::Paths), "{name}");
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        let all: usize = TABLE.iter().map(|(_, _, names)| names.len()).sum();
        assert_eq!(KNOWN.len(), all);
    }
}
