//! The list of changed files, which survives every summary.
//!
//! A summary may omit which files were changed. This list of a few lines in the message of the summary is read back and
//! extended by the next compaction.

use serde_json::Value;

use crate::history::pruning::superseded::Access;
use crate::permission::Domain;
use crate::permission::targets::{UnresolvedTarget, touched};
use crate::tools::{Kind, kind_of, last_part};

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The result does not report a failure.
    Done,
    /// The result reports a failure.
    Failed,
    /// There is no result.
    Unknown,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::Unknown => "no result",
        }
    }
}

/// Maximum length in characters of names of tools and files; longer ones are truncated.
const MAX_LENGTH: usize = 160;

/// Returns true if calls of this tool belong in the list.
pub fn is_edit(tool: &str) -> bool {
    kind_of(tool) == Some(Kind::Edit)
}

/// Returns the entries of a call, one for each file that it changes.
pub fn lines(tool: &str, args: &Value, outcome: Outcome) -> Vec<String> {
    if !is_edit(tool) || !matches!(Access::of(tool, args), Access::Write) {
        return Vec::new();
    }
    let paths = touched(last_part(tool), args, &[], &[]).into_iter().filter_map(|one| match one {
        UnresolvedTarget::Path(Domain::Edit, path) => Some(path),
        _ => None,
    });
    let mut paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        paths.push("?".into());
    }
    paths
        .iter()
        .map(|path| format!("- {} {}: {}", plain(tool), plain(path), outcome.word()))
        .collect()
}

/// Merges new entries into a list: each occurs once with its count, ordered by its last occurrence. The oldest ones in
/// excess of `limit` are dropped.
pub fn merged(known: &[String], new: &[String], limit: usize) -> Vec<String> {
    let mut all: Vec<(String, u64)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for line in known.iter().chain(new) {
        let (line, times) = counted(line);
        let before = places.insert(line.to_owned(), all.len());
        let earlier =
            before.and_then(|at| all.get_mut(at)).map_or(0, |(_, times)| std::mem::take(times));
        all.push((line.to_owned(), earlier.saturating_add(times)));
    }
    all.retain(|(_, times)| *times > 0);
    let surplus = all.len().saturating_sub(limit);
    let newest = all.into_iter().skip(surplus);
    newest
        .map(|(line, times)| if times > 1 { format!("{line} (×{times})") } else { line })
        .collect()
}

/// Splits an entry into its text and its count.
fn counted(line: &str) -> (&str, u64) {
    let parts = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (×"));
    match parts.and_then(|(line, times)| Some((line, times.parse().ok()?))) {
        Some((line, times)) => (line, times),
        None => (line, 1),
    }
}

/// Joins a text to one line.
fn plain(text: &str) -> String {
    let line: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if line.chars().count() <= MAX_LENGTH {
        return line.trim().to_owned();
    }
    let end: Vec<char> = line.chars().rev().take(MAX_LENGTH - 1).collect();
    std::iter::once('…').chain(end.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_changed_file_has_a_line() {
        let of = |tool: &str, args: Value| lines(tool, &args, Outcome::Done);
        assert_eq!(of("edit_file", json!({ "path": "a.ts" })), ["- edit_file a.ts: done"]);
        assert_eq!(
            of("mcp__fs__write", json!({ "file_path": "b\n- edit c" })),
            ["- mcp__fs__write b - edit c: done"]
        );
        let patch = "*** Begin Patch\n*** Update File: a.ts\n*** Add File: b.ts\n*** End Patch";
        assert_eq!(of("apply_patch", json!({ "input": patch })).len(), 2);
        assert_eq!(of("read", json!({ "path": "a.ts" })), [""; 0]);
        let view = json!({ "command": "view", "path": "a.ts" });
        assert_eq!(of("str_replace_based_edit_tool", view), [""; 0]);
        assert_eq!(
            lines("write", &json!({}), Outcome::Failed),
            ["- write ?: failed"],
            "a call without a file is a change as well"
        );
        let long = of("write", json!({ "path": "x".repeat(1000) }));
        assert!(long.iter().all(|line| line.chars().count() < 200));
    }

    #[test]
    fn a_record_grows_by_what_is_new() {
        let lines = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
        let known = lines(&["- edit a: done", "- edit b: done (×2)"]);
        let new = lines(&["- edit a: done", "- edit a: failed"]);
        let all = merged(&known, &new, 10);
        assert_eq!(all, lines(&["- edit b: done (×2)", "- edit a: done (×2)", "- edit a: failed"]));
        assert_eq!(merged(&all, &[], 10), all);
        assert_eq!(merged(&all, &[], 1), lines(&["- edit a: failed"]));
    }
}
