//! How a pointer names its target: by the tool and its arguments, which the model can see.

use serde_json::Value;

use super::Given;
use crate::history::pruning::superseded::Access;
use crate::text::graphemes;
use crate::tools::{self, Kind};

/// Bytes of what a call was asked.
const MAX_BYTES: usize = 60;

/// Arguments that say what a call is about. The first that is there counts.
const SUBJECTS: [&str; 14] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "regex",
    "url",
    "script",
    "code",
    "file",
    "filename",
    "name",
];

/// Begins the label of arguments.
pub(crate) const ARGUMENTS: &str = "the arguments of ";

pub(crate) fn label(given: &Given<'_>) -> String {
    let args: Value = serde_json::from_str(given.args).unwrap_or_default();
    let tool = clean(given.tool);
    let subject = SUBJECTS.iter().find_map(|name| match args.get(name)? {
        Value::String(text) => Some(clean(text)),
        Value::Array(words) => {
            Some(clean(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    });
    if given.argument {
        return match subject {
            Some(subject) => format!("{ARGUMENTS}{tool} {subject}"),
            None => format!("{ARGUMENTS}{tool}"),
        };
    }
    if let Access::Read(read) = Access::of(given.tool, &args) {
        return format!("the read of {}", path(&read.path));
    }
    let kind = tools::kind_of(given.tool);
    match (kind, subject) {
        (Some(Kind::Terminal), Some(subject)) => format!("the output of `{subject}`"),
        (_, Some(subject)) => format!("the result of {tool} {subject}"),
        (_, None) => format!("the result of {tool}"),
    }
}

/// A path on one line; of a long one the end.
fn path(text: &str) -> String {
    let line = text.replace(|letter: char| letter.is_control() || letter == '`', " ");
    if line.len() <= MAX_BYTES {
        return line;
    }
    let from = graphemes::ceil(&line, line.len() - MAX_BYTES);
    let end = &line[from..];
    format!("…{}", end.find('/').map_or(end, |at| &end[at..]))
}

/// On one line, and not long.
fn clean(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let line = line.replace(|letter: char| letter.is_control() || letter == '`', " ");
    let end = graphemes::floor(&line, MAX_BYTES);
    if end < line.len() || text.trim().lines().nth(1).is_some() {
        format!("{}…", &line[..end])
    } else {
        line
    }
}
