//! Finds reads of a file that later reads of it supersede, and runs of a command that was run again.
//!
//! A read is superseded if enough newer successful reads show the same file in the same or a wider range. Failed reads
//! neither count nor are superseded. A command counts as a read of a file of its own: what it shows is what its next
//! run shows, or how that was before.

use std::collections::HashMap;

use serde_json::Value;

use crate::json::canonical::canonical;
use crate::permission::shell::{PrintedLines, printed_lines};
use crate::tools::arguments::{COMMAND_KEYS, command_of, names_folder};
use crate::tools::{Kind, kind_of, plain};

/// Argument names for the file to read. The first one present counts.
const PATHS: [&str; 9] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "absolutePath",
    "target_file",
    "file",
    "filename",
    "fileName",
];
/// Argument names for the first line.
const FIRST_LINES: [&str; 7] = [
    "offset",
    "start_line",
    "startLine",
    "from_line",
    "fromLine",
    "line_start",
    "start_line_one_indexed",
];
/// Argument names for the last line.
const LAST_LINES: [&str; 6] =
    ["end_line", "endLine", "to_line", "toLine", "line_end", "end_line_one_indexed_inclusive"];
/// Argument names for the number of lines.
const COUNTS: [&str; 5] = ["limit", "line_count", "lineCount", "num_lines", "count"];

/// Arguments of a command that do not change what it shows: what the model says about it, and how long it may take. As
/// [`plain`] returns them.
const BESIDE_COMMANDS: [&str; 7] = [
    "description",
    "explanation",
    "justification",
    "timeout",
    "timeoutms",
    "timeoutseconds",
    "yieldtimems",
];
/// Longer arguments of commands are not compared: bytes.
const MAX_COMMAND: usize = 4096;

/// The file access of a call, by the name of its tool and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// Reads one file.
    Read(Read),
    /// Changes files.
    Write,
    /// None, or unknown.
    None,
}

impl Access {
    /// Returns the file access of a call. A tool that both views and edits says in its `command` which it does.
    pub fn of(tool: &str, args: &Value) -> Access {
        let text = |names: &[&str]| names.iter().find_map(|name| args.get(name)?.as_str());
        let number = |names: &[&str]| names.iter().find_map(|name| args.get(name)?.as_f64());
        let known = kind_of(tool);
        let views = text(&["command"]).is_some_and(|command| command == "view");
        match known {
            Some(Kind::Read) => {}
            Some(Kind::Edit) if views => {}
            Some(Kind::Edit) => return Access::Write,
            _ => return Access::None,
        }
        let Some(path) = path_of(args) else { return Access::None };
        let view = args.get("view_range").and_then(Value::as_array);
        let viewed = |at: usize| view.and_then(|range| range.get(at)).and_then(Value::as_f64);
        let from_line = viewed(0).or_else(|| number(&FIRST_LINES)).unwrap_or(1.0).max(1.0);
        let to_line = viewed(1)
            .or_else(|| number(&LAST_LINES))
            .or_else(|| number(&COUNTS).map(|count| from_line + count - 1.0))
            // `[10, -1]` is up to the end.
            .filter(|line| *line >= from_line)
            .unwrap_or(f64::INFINITY);
        Access::Read(Read { path, from_line, to_line, worked: true })
    }

    /// Returns the file access of a call, also of a terminal: a command that does nothing but print lines of one file is
    /// a read of them.
    pub fn also_by_command(tool: &str, args: &Value) -> Access {
        match Access::of(tool, args) {
            Access::None => printed_by(tool, args).map_or(Access::None, Access::Read),
            known => known,
        }
    }
}

/// Returns the lines that the command of a terminal prints, if it does nothing else.
fn printed_by(tool: &str, args: &Value) -> Option<Read> {
    kind_of(tool).filter(|kind| *kind == Kind::Terminal)?;
    let PrintedLines { path, from, to } = printed_lines(&command_of(args)?)?;
    let folder = args
        .as_object()
        .into_iter()
        .flatten()
        .find_map(|(key, value)| value.as_str().filter(|_| names_folder(&plain(key))));
    let path = match folder {
        Some(folder) if !path.starts_with(['/', '~']) => format!("{folder}/{path}"),
        _ => path,
    };
    Some(Read {
        path: normal_path(&path),
        from_line: from as f64,
        to_line: to.map_or(f64::INFINITY, |to| to as f64),
        worked: true,
    })
}

/// Returns the path that the arguments of a call name.
pub fn path_of(args: &Value) -> Option<String> {
    let path = PATHS.iter().find_map(|name| args.get(name)?.as_str())?;
    (!path.is_empty()).then(|| normal_path(path))
}

/// Returns a text that only runs of the same command have, in the place of a path. `None` if a tool runs no commands, the
/// arguments have none, or they are long.
pub fn same_command(tool: &str, args: &Value) -> Option<String> {
    if kind_of(tool) != Some(Kind::Terminal) {
        return None;
    }
    let given = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(words) => !words.is_empty(),
        _ => false,
    };
    let mut members = args.as_object()?.clone();
    COMMAND_KEYS.iter().find(|key| members.get(**key).is_some_and(given))?;
    members.retain(|name, _| !BESIDE_COMMANDS.contains(&plain(name).as_str()));
    let form = canonical(&Value::Object(members));
    // No path has this in it.
    (form.len() <= MAX_COMMAND).then(|| format!("\0{} {form}", plain(tool)))
}

/// Returns true if calls of a tool are known to read or change files.
pub fn handles_files(tool: &str) -> bool {
    matches!(kind_of(tool), Some(Kind::Read | Kind::Edit))
}

/// A read of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The path as [`normal_path`] returns it.
    pub path: String,
    /// First requested line, from 1.
    pub from_line: f64,
    /// Last requested line; infinite for the end of the file.
    pub to_line: f64,
    /// True if the read succeeded.
    pub worked: bool,
}

/// Returns the indexes of the superseded reads, given in the order of their results. Linear in the number of reads as
/// long as few ranges of one file differ.
pub fn superseded<'a>(
    reads: impl DoubleEndedIterator<Item = (usize, &'a Read)>,
    keep: usize,
) -> Vec<usize> {
    // Per file the ranges that were read later, each with the number of reads that cover it.
    let mut later: HashMap<&str, Vec<(f64, f64, usize)>> = HashMap::new();
    let mut found = Vec::new();
    for (place, read) in reads.rev().filter(|(_, read)| read.worked) {
        let ranges = later.entry(&read.path).or_default();
        let covered: usize = ranges
            .iter()
            .filter(|(from, to, _)| *from <= read.from_line && *to >= read.to_line)
            .map(|(_, _, times)| times)
            .sum();
        if covered >= keep {
            found.push(place);
        }
        match ranges.iter_mut().find(|(from, to, _)| (*from, *to) == (read.from_line, read.to_line))
        {
            Some((_, _, times)) => *times += 1,
            None => ranges.push((read.from_line, read.to_line, 1)),
        }
    }
    found.reverse();
    found
}

/// Normalizes a path: `./a`, `a` and `b/../a` are the same file. The file system is not accessed, so symlinks are not
/// resolved. Backslashes separate as well, because agents on Windows write both.
pub fn normal_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => {
                parts.pop();
            }
            // The root has no parent.
            ("..", None) if rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(reads: &[(&str, f64, f64, bool)], keep: usize) -> Vec<usize> {
        let reads: Vec<Read> = reads
            .iter()
            .map(|&(path, from_line, to_line, worked)| Read {
                path: normal_path(path),
                from_line,
                to_line,
                worked,
            })
            .collect();
        superseded(reads.iter().enumerate(), keep)
    }

    const ALL: f64 = f64::INFINITY;

    #[test]
    fn the_newest_of_each_file_stay_and_failures_do_not_count() {
        let whole = [("a", 1.0, ALL, true); 7];
        assert_eq!(places(&whole, 5), [0, 1]);
        let mut one_failed = whole;
        one_failed[4].3 = false;
        assert_eq!(places(&one_failed, 5), [0]);
        assert_eq!(places(&whole[..3], 5), [0usize; 0]);
    }

    #[test]
    fn a_wider_read_supersedes_a_narrower_one_and_not_the_other_way_round() {
        let narrow_first = [("a", 10.0, 20.0, true), ("a", 1.0, 100.0, true)];
        assert_eq!(places(&narrow_first, 1), [0]);
        let wide_first = [("a", 1.0, ALL, true), ("a", 10.0, 20.0, true)];
        assert_eq!(places(&wide_first, 1), [0usize; 0]);
    }

    #[test]
    fn a_call_says_which_lines_of_which_file_it_reads() {
        let read =
            |tool: &str, args: &str| match Access::of(tool, &serde_json::from_str(args).unwrap()) {
                Access::Read(read) => Some((read.path, read.from_line, read.to_line)),
                _ => None,
            };
        let a = |from, to| Some(("a".to_owned(), from, to));
        assert_eq!(read("Read", r#"{"file_path":"./a"}"#), a(1.0, ALL));
        assert_eq!(read("read_file", r#"{"path":"a","offset":10,"limit":5}"#), a(10.0, 14.0));
        assert_eq!(read("view", r#"{"path":"a","start_line":3,"end_line":9}"#), a(3.0, 9.0));
        assert_eq!(
            read("str_replace_editor", r#"{"command":"view","path":"a","view_range":[5,-1]}"#),
            a(5.0, ALL)
        );
        for (tool, args) in [
            ("Read", "{}"),
            ("Read", r#"{"path":7}"#),
            ("Read", "[]"),
            ("bash", r#"{"path":"a"}"#),
            ("str_replace_editor", r#"{"command":"create","path":"a"}"#),
        ] {
            assert_eq!(read(tool, args), None, "{tool} {args}");
        }
        let edit = serde_json::json!({ "path": "a", "content": "x" });
        assert_eq!(Access::of("write_file", &edit), Access::Write);
        assert_eq!(Access::of("mcp__files__edit_file", &edit), Access::Write);
    }

    #[test]
    fn paths_are_one_however_they_are_written() {
        for path in ["a.ts", "./a.ts", "dir/../a.ts", ".//a.ts", ".\\a.ts"] {
            assert_eq!(normal_path(path), "a.ts", "{path}");
        }
        assert_eq!(normal_path("/../etc/./x"), "/etc/x");
        assert_eq!(normal_path("../../x"), "../../x");
        assert_ne!(normal_path("../x"), normal_path("x"));
    }
}
