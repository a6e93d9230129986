//! Previews of what test runners print: lines of the text, with an exact gap line at every cut.

use std::ops::Range;

use super::entries::Entry;
use super::retained::RetainedTest;
use super::select;
use crate::text::lossy::Source;
use crate::truncation::limits::Limits;
use crate::truncation::lines::{
    Budget, Lines, Selection, line, longest, missing_lines, most_lines, total_lines, write,
};
use crate::truncation::notice::Wording;
use crate::truncation::preview_buffer::Window;

/// Maximum number of attempts to use up the budget.
const ROUNDS: usize = 4;

/// Returns a preview within the limits, and the number of failures that it names. Returns `None` if it names none.
pub(super) fn preview(
    entries: &[Entry],
    kept: &[RetainedTest],
    window: &Window,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<(u64, Selection)> {
    let longest = longest(limits);
    let mut lines = Lines::new();
    for kept in kept {
        lines.insert(kept.number, line(&kept.text, kept.bytes.clone(), source, longest));
    }
    let total = total_lines(window);
    let widest = most_lines(window);
    let in_gap = |missing: Range<u64>| {
        let raw = missing_lines(&lines, &missing, window);
        let (first, last) = raw.unwrap_or((missing.start, missing.end - 1));
        wording.gap(last + 1 - first, first, last, None)
    };
    // Most gap lines are shorter than the longest one. The difference is added to the budget of another round.
    let mut budget = Budget::new(limits, wording.gap(widest, widest, widest, None).len());
    let mut best: Option<(u64, Selection)> = None;
    for _ in 0..ROUNDS {
        let (numbers, named) = select::choose(entries, kept, &lines, total, budget);
        let written = write(&lines, numbers.iter().copied(), window, limits, in_gap);
        let Some(spare) = limits.max_bytes.checked_sub(written.text.len() as u64) else { break };
        if named == 0 {
            return None;
        }
        best = Some((named, written));
        if spare <= limits.max_bytes / 16 {
            break;
        }
        budget.bytes += spare * 3 / 4;
    }
    best
}
