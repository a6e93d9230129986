//! Groups lines that begin with the same path below that path: `src/a.ts`, then `12:text`. Hits without numbers are grouped below
//! `src/a.ts:`, and lists of paths below their folder, both indented by two blanks.

use super::Edit;
use super::line::Lines;
use crate::tools::{self, Kind};

/// Lines of a group at least.
const MIN_LINES: usize = 2;
/// The same of hits without numbers, which other lines resemble.
const MIN_PLAIN_HITS: usize = 3;
/// Bytes of a path at least and at most.
const PATH: std::ops::RangeInclusive<usize> = 4..=400;
const INDENT: &str = "  ";
/// Programs that print paths in front of lines, or lists of paths.
const PROGRAMS: [&str; 9] =
    ["grep", "egrep", "rg", "ag", "ack", "find", "fd", "fdfind", "ls-files"];

/// Returns true if a call prints search hits or paths.
pub(crate) fn may_have(tool: &str, args: &str) -> bool {
    let kind = tools::kind_of(tool);
    match kind {
        Some(Kind::Search) => true,
        Some(Kind::Terminal) => args
            .split(|letter: char| {
                !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
            })
            .any(|word| PROGRAMS.contains(&word)),
        _ => false,
    }
}

/// Adds groups between the edits that are there.
pub(crate) fn add(lines: &Lines<'_>, keep: &[String], edits: &mut Vec<Edit>) {
    let mut all = Vec::new();
    let mut at = 0;
    let mut taken = edits.iter().map(|edit| (edit.from_line, edit.to_line)).peekable();
    while at < lines.len() {
        let until = match taken.peek() {
            Some(&(from, to)) if at == from => {
                at = to;
                taken.next();
                continue;
            }
            Some(&(from, _)) => from,
            None => lines.len(),
        };
        match group(lines, keep, at, until) {
            Some(edit) => {
                at = edit.to_line;
                all.push(edit);
            }
            None => at += 1,
        }
    }
    edits.append(&mut all);
    edits.sort_by_key(|edit| edit.from_line);
}

/// Splits a line into its path and the rest.
type Split = fn(&str) -> Option<(&str, &str)>;

/// The group that begins with a line.
fn group(lines: &Lines<'_>, keep: &[String], from: usize, until: usize) -> Option<Edit> {
    let first = std::str::from_utf8(lines.line(from)).ok()?;
    if keep.iter().any(|kept| !kept.is_empty() && first.contains(kept.as_str())) {
        return None;
    }
    let kinds: [(Split, usize, &str); 3] =
        [(hit, MIN_LINES, ""), (plain_hit, MIN_PLAIN_HITS, INDENT), (listed, MIN_LINES, INDENT)];
    kinds.into_iter().find_map(|(split, min, indent)| {
        let rest = below(lines, split, from, until)?;
        let (head, to) = (split(first)?.0, from + rest.len());
        let size: usize = rest.iter().map(|line| line.len() + indent.len() + 1).sum();
        if rest.len() < min || head.len() + size >= lines.bytes(from, to) {
            return None;
        }
        let mut shown = head.to_owned();
        for line in rest {
            shown.push('\n');
            shown += indent;
            shown += line;
        }
        Some(Edit { from_line: from, to_line: to, from: 0, to: 0, text: shown, target: None })
    })
}

/// Returns the rest of each line, from one on, that begins with the path of the first.
fn below<'a>(lines: &Lines<'a>, split: Split, from: usize, until: usize) -> Option<Vec<&'a str>> {
    let text = |at: usize| std::str::from_utf8(lines.line(at)).ok();
    let (head, _) = split(text(from)?)?;
    let rest: Vec<&str> = (from..until)
        .map_while(|at| split(text(at)?).filter(|(path, _)| *path == head).map(|(_, after)| after))
        .collect();
    PATH.contains(&head.len()).then_some(rest)
}

/// `path:12:text` and `path-12-text`: the path, and the line from its number on.
fn hit(line: &str) -> Option<(&str, &str)> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b':', b'-', &bytes[from..bytes.len().min(512)]) {
        let at = from + found;
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (1..=9).contains(&digits) && bytes.get(at + 1 + digits) == Some(&bytes[at]) && at > 0 {
            let path = &line[..at];
            // A number that is followed by another of its kind is a date or a time.
            let is_path = path.contains(['/', '.', '\\'])
                && !path.starts_with(|first: char| first.is_whitespace());
            return is_path.then(|| (path, &line[at + 1..]));
        }
        from = at + 1;
        if from >= bytes.len().min(512) {
            break;
        }
    }
    None
}

/// `path:text`: the path with its colon, and the text.
fn plain_hit(line: &str) -> Option<(&str, &str)> {
    let at = line.find([':', ' ', '\t'])?;
    let (path, rest) = line.split_at(at);
    let is_path = rest.starts_with(':') && path.contains(['/', '.']) && !rest.starts_with("://");
    is_path.then(|| line.split_at(at + 1))
}

/// A path by itself: its folder, and the rest.
fn listed(line: &str) -> Option<(&str, &str)> {
    let at = line.rfind('/')?;
    let is_path =
        !line.contains(char::is_whitespace) && !line.contains("://") && at + 1 < line.len();
    is_path.then(|| line.split_at(at + 1))
}

/// The lines of a group.
pub(crate) fn ungroup(shown: &[&str]) -> Option<Vec<String>> {
    let (head, rest) = shown.split_first()?;
    let line = |line: &&str| match line.strip_prefix(INDENT).filter(|_| head.ends_with(['/', ':']))
    {
        Some(name) => Some(format!("{head}{name}")),
        None => {
            let digits = line.find(|letter: char| !letter.is_ascii_digit())?;
            Some(format!("{head}{}{line}", &line[digits..=digits]))
        }
    };
    rest.iter().map(line).collect()
}
