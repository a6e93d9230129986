//! Lines that are never folded: the first and the last three, lines that look like errors, lines of diffs, and lines that the caller keeps.

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

/// Marks the heads and hunks of diffs.
fn diffs(lines: &Lines<'_>, stays: &mut [bool]) {
    if memmem::find(lines.text, b"@@ -").is_none() {
        return;
    }
    let (mut old, mut new) = (0, 0);
    let mut in_head = false;
    for (at, stays) in stays.iter_mut().enumerate() {
        let line = lines.line(at);
        if let Some(counts) = hunk(line) {
            (old, new) = counts;
            in_head = false;
            *stays = true;
        } else if old > 0 || new > 0 {
            *stays = true;
            let (removes, adds) = match line.first() {
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                Some(b'\\') => (0, 0),
                _ => (1, 1),
            };
            old = old.saturating_sub(removes);
            new = new.saturating_sub(adds);
        } else if [&b"diff --git "[..], b"Index: ", b"--- "]
            .iter()
            .any(|head| line.starts_with(head))
        {
            in_head = true;
            *stays = true;
        } else if in_head {
            *stays = true;
        }
    }
}

/// Lines that a hunk has of the old and of the new file.
fn hunk(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line.get(..line.len().min(80))?).ok()?;
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((count(old)?, count(new)?))
}
