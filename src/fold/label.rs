//! How a pointer names its target: by the tool and its arguments, which the model can see.

use serde_json::Value;

use crate::history::pruning::superseded::Access;
use crate::text::graphemes;
use crate::tools::arguments::command_of;
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

/// The label of what the model wrote: the arguments of a call.
pub(crate) fn of_arguments(tool: &str, args: &Value) -> String {
    let tool = clean(tool);
    match subject(args) {
        Some(subject) => format!("the arguments of {tool} {subject}"),
        None => format!("the arguments of {tool}"),
    }
}

/// The label of the result of a call.
pub(crate) fn of_result(tool: &str, args: &Value) -> String {
    if let Access::Read(read) = Access::of(tool, args) {
        return format!("the read of {}", path(&read.path));
    }
    let is_command = tools::kind_of(tool) == Some(Kind::Terminal) && command_of(args).is_some();
    let tool = clean(tool);
    match (is_command, subject(args)) {
        (true, Some(subject)) => format!("the output of `{subject}`"),
        (_, Some(subject)) => format!("the result of {tool} {subject}"),
        (_, None) => format!("the result of {tool}"),
    }
}

fn subject(args: &Value) -> Option<String> {
    SUBJECTS.iter().find_map(|name| match args.get(name)? {
        Value::String(text) => Some(clean(text)),
        Value::Array(words) => {
            Some(clean(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    })
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_command_has_an_output_by_its_name() {
        for (tool, args, label) in [
            ("bash", json!({ "command": "ls" }), "the output of `ls`"),
            ("mcp__box__exec", json!({ "cmd": ["ls", "a"] }), "the output of `ls a`"),
            ("run_tests", json!({ "path": "a.test.ts" }), "the result of run_tests a.test.ts"),
            ("build", json!({}), "the result of build"),
        ] {
            assert_eq!(of_result(tool, &args), label, "{tool}");
        }
    }
}
