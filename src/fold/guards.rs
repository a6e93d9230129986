//! Lines that are never folded: the first and the last three, lines that look like errors, lines of diffs, and lines that the caller keeps.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::line::Lines;
use crate::truncation::smart::rules::Rules;

/// Lines that stay at each end.
pub(crate) const ENDS: usize = 3;

/// The weight from which a line is an error.
const ERROR: u16 = 850;

/// Returns of each line whether it stays.
pub(crate) fn guarded(lines: &Lines<'_>, rules: Option<&Rules>, keep: &[String]) -> Vec<bool> {
    let count = lines.len();
    let mut stays = vec![false; count];
    // The empty text after the last line feed does not count as a line.
    let end = count - usize::from(lines.line(count - 1).is_empty());
    stays[..ENDS.min(count)].fill(true);
    stays[end.saturating_sub(ENDS)..].fill(true);
    if let Some(rules) = rules {
        let mut from = 0;
        while let Some(found) = rules.next_word(lines.text, from) {
            let at = lines.at_byte(found.saturating_sub(1));
            let line = lines.line(at);
            stays[at] |= rules.judge(line).is_some_and(|verdict| verdict.weight >= ERROR);
            from = lines.start(at + 1);
        }
        other_errors(lines, &mut stays);
    }
    for text in keep.iter().filter(|text| !text.is_empty()) {
        for found in memmem::find_iter(lines.text, text.as_bytes()) {
            let last = lines.at_byte(found + text.len() - 1);
            stays[lines.at_byte(found)..=last].fill(true);
        }
    }
    diffs(lines, &mut stays);
    stays
}

/// Words of errors that the rules of previews do not know: in other languages, what a shell says of a program that a signal
/// ended, and what a system says that has run out of something.
const WORDS: [&str; 43] = [
    "错误",
    "錯誤",
    "エラー",
    "오류",
    "Fehler",
    "rreur",
    "шибка",
    "шибки",
    "Killed",
    "signal: killed",
    "SIGKILL",
    "SIGSEGV",
    "SIGABRT",
    "SIGBUS",
    "SIGILL",
    "Terminated",
    "llegal instruction",
    "loating point exception",
    "reakpoint trap",
    "erminate called",
    "roken pipe",
    "imed out",
    "o space left on device",
    "uota exceeded",
    "oo many open files",
    "annot allocate memory",
    "onnection reset",
    "ot found for architecture",
    "EOF when reading",
    "ENOSPC",
    "EDQUOT",
    "ENOMEM",
    "EMFILE",
    "EACCES",
    "EPERM",
    "EPIPE",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "ECONNRESET",
    "EADDRINUSE",
    "untime error",
    "onfiguration error",
    "Failed test",
];

static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(WORDS).ok());

/// Marks errors that have no word of the rules: those of [`WORDS`], of apt and of klog, of compilers at a place (`a.go:5:41: …`), and
/// the names of failed tests of Mocha, RSpec, Minitest and PHPUnit (`  1) adds`).
fn other_errors(lines: &Lines<'_>, stays: &mut [bool]) {
    for found in FINDER.iter().flat_map(|finder| finder.find_iter(lines.text)) {
        stays[lines.at_byte(found.start())] = true;
    }
    for (at, stays) in stays.iter_mut().enumerate() {
        *stays |= match lines.line(at) {
            [b'E' | b'W', b':', b' ', ..] | [b'E', b'r', b'r', b':', ..] => true,
            [b'E' | b'F', date @ ..] if date.len() > 8 => {
                date[..4].iter().all(u8::is_ascii_digit) && date[4] == b' ' && date[7] == b':'
            }
            line => {
                let rest = line.trim_ascii_start();
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let is_numbered = digits > 0 && rest[digits..].starts_with(b") ");
                // A list in a text has no indentation, and PHPUnit names `Class::method`.
                let is_test = line.starts_with(b"  ") || memmem::find(line, b"::").is_some();
                (is_numbered && is_test) || is_at_place(rest)
            }
        };
    }
}

/// Words of compilers after a place where there is no error.
const HARMLESS: [&[u8]; 6] = [b"warning", b"note", b"remark", b"info", b"hint", b"style"];

/// Returns true for a line with a path, the number of a line, the number of a column, and a text that is no warning.
fn is_at_place(line: &[u8]) -> bool {
    let mut parts = line.splitn(4, |byte| *byte == b':');
    let mut next = || parts.next().unwrap_or_default();
    let (path, number, column, text) = (next(), next(), next(), next());
    let is_number =
        |part: &[u8]| (1..8).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    is_number(number)
        && is_number(column)
        && path.contains(&b'.')
        && !path.contains(&b' ')
        && matches!(text, [b' ', next, ..] if *next != b' ')
        && !HARMLESS.iter().any(|word| text.trim_ascii_start().starts_with(word))
}

/// The first words of lines in the head of a diff.
const HEAD: [&[u8]; 17] = [
    b"diff ",
    b"Index: ",
    b"=====",
    b"index ",
    b"--- ",
    b"+++ ",
    b"similarity ",
    b"dissimilarity ",
    b"rename ",
    b"copy ",
    b"new ",
    b"old ",
    b"deleted ",
    b"Binary ",
    b"GIT binary ",
    b"mode ",
    b"*** ",
];

/// Where a line of a diff is.
enum Part {
    None,
    Head,
    /// Lines of a hunk that are still to come, of the old and of the new file, after an indentation.
    Hunk {
        old: usize,
        new: usize,
        indent: usize,
    },
    /// The same of a merge, which has a column of signs for each parent.
    Merge {
        new: usize,
        parents: usize,
    },
    /// A hunk with all lines of the old file before those of the new one.
    Context,
}

/// Marks the heads and hunks of diffs.
fn diffs(lines: &Lines<'_>, stays: &mut [bool]) {
    if ["@@ -", "diff --git ", "***************"]
        .iter()
        .all(|sign| memmem::find(lines.text, sign.as_bytes()).is_none())
    {
        return;
    }
    let mut part = Part::None;
    for (at, stays) in stays.iter_mut().enumerate() {
        let line = lines.line(at);
        part = begins(line, &part).unwrap_or_else(|| goes_on(line, part));
        *stays |= !matches!(part, Part::None);
        if matches!(part, Part::Hunk { old: 0, new: 0, .. } | Part::Merge { new: 0, .. }) {
            part = Part::None;
        }
    }
}

/// Returns the part that begins with a line.
fn begins(line: &[u8], before: &Part) -> Option<Part> {
    let is_in_hunk = matches!(before, Part::Hunk { .. } | Part::Merge { .. });
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    let rest = &line[indent..];
    if rest.starts_with(b"@@") && (!is_in_hunk || indent == 0) {
        if let Some((old, new)) = hunk(rest) {
            return Some(Part::Hunk { old, new, indent });
        }
        if let Some((new, parents)) = merge(rest) {
            return Some(Part::Merge { new, parents });
        }
    }
    if line.starts_with(b"***************") {
        return Some(Part::Context);
    }
    let is_head = [&b"diff --git "[..], b"diff --cc ", b"Index: ", b"--- "]
        .iter()
        .any(|head| line.starts_with(head));
    (is_head && !is_in_hunk && !matches!(before, Part::Context)).then_some(Part::Head)
}

/// Returns the part after a line that begins none.
fn goes_on(line: &[u8], part: Part) -> Part {
    match part {
        Part::Hunk { old, new, indent } => {
            let (removes, adds) = match line.get(indent) {
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                Some(b'\\') => (0, 0),
                _ => (1, 1),
            };
            Part::Hunk { old: old.saturating_sub(removes), new: new.saturating_sub(adds), indent }
        }
        Part::Merge { new, parents } => {
            let removes = line.iter().take(parents).any(|byte| *byte == b'-');
            Part::Merge { new: new.saturating_sub(usize::from(!removes)), parents }
        }
        Part::Head if HEAD.iter().any(|head| line.starts_with(head)) => Part::Head,
        Part::Context
            if [&b"  "[..], b"! ", b"+ ", b"- ", b"*** ", b"--- "]
                .iter()
                .any(|sign| line.starts_with(sign)) =>
        {
            Part::Context
        }
        _ => Part::None,
    }
}

/// Lines that a hunk has of the old and of the new file.
fn hunk(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line.get(..line.len().min(80))?).ok()?;
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some((range(old)?, range(new)?))
}

/// Lines that the hunk of a merge has of the new file, and the number of its parents.
fn merge(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line.get(..line.len().min(120))?).ok()?;
    let parents = text.bytes().take_while(|byte| *byte == b'@').count().checked_sub(1)?;
    let (_, rest) = text.strip_prefix("@@@").and(text.split_once(" +"))?;
    let (new, _) = rest.split_once(" @@@")?;
    Some((range(new)?, parents))
}

fn range(text: &str) -> Option<usize> {
    match text.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => text.parse::<usize>().ok().map(|_| 1),
    }
}
