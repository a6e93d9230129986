//! Previews of diffs that keep their structure: the changed files, the positions of changes, and as many of the changes
//! as fit.
//!
//! While the text streams through, [`scan`] follows the structure line by line, and [`retained`] keeps lines by their
//! role, in bounded memory. At the end [`select`] takes commits, file names and hunk headers first, then whole hunks.
//! Every gap states the numbers of added lines, removed lines and files that it omits.
//!
//! | module | contents |
//! | --- | --- |
//! | [`scan`] | the kinds of lines in a diff |
//! | [`retained`] | lines that are kept in memory |
//! | [`select`] | lines that the preview shows |
//!
//! ```
//! use spillway_core::text::lossy::Source;
//! use spillway_core::tools::Printed;
//! use spillway_core::truncation::limits::{Direction, Limits};
//! use spillway_core::truncation::notice::ENGLISH;
//! use spillway_core::truncation::preview_buffer::Window;
//! use spillway_core::truncation::smart::Keep;
//!
//! let limits = Limits {
//!     max_lines: 20,
//!     max_bytes: 400,
//!     max_tokens: u64::MAX,
//!     direction: Direction::Head,
//!     line_rule: Default::default(),
//!     keep: Keep::of("diff", Printed::Other),
//!     terminal: false,
//! };
//! let mut window = Window::new(&limits);
//! for file in ["a.rs", "b.rs"] {
//!     window.push(format!("--- a/{file}\n+++ b/{file}\n@@ -1,0 +1,100 @@\n").as_bytes());
//!     (0..100).for_each(|line| window.push(format!("+line {line}\n").as_bytes()));
//! }
//! window.finish();
//! let preview = window.structured().and_then(|read| read.preview(&window, Source::Text, &limits, &ENGLISH));
//! let shown = preview.map(|preview| preview.text).unwrap_or_default();
//! // Every changed file is named.
//! assert!(shown.contains("+++ b/a.rs\n") && shown.contains("+++ b/b.rs\n"), "{shown}");
//! ```

mod retained;
mod scan;
mod select;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use scan::Scanner;

use retained::RetainedLine;

use super::limits::Limits;
use super::lines::{
    Budget, Lines, Selection, line, longest, missing_lines, most_lines, total_lines, write,
};
use super::notice::{Tally, Wording};
use super::preview_buffer::Window;
use super::strategies::Preview;
use crate::text::lossy::Source;

/// Maximum number of attempts to use up the budget.
const ROUNDS: usize = 4;

/// Returns a preview within the limits, or `None` if the text is not a diff, or no line fits.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Preview> {
    let memory = scanner.finish()?;
    let (kept, all) = (memory.kept(), memory.all());
    let longest = longest(limits);
    let mut lines = Lines::new();
    for kept in kept {
        lines.insert(kept.number, line(&kept.text, kept.bytes.clone(), source, longest));
    }
    let total = total_lines(window);
    let largest = Tally { files: all.files.max(1), ..all };
    let widest = most_lines(window);
    let gap = wording.changes((widest, widest, widest), largest).len();
    let at = |number: u64| kept.binary_search_by_key(&number, |kept| kept.number).ok();
    let in_gap = |missing: std::ops::Range<u64>| {
        let before = missing.start.checked_sub(1).and_then(at).and_then(|at| kept.get(at));
        let after = at(missing.end).and_then(|at| kept.get(at));
        let before = before.map_or(Tally::default(), RetainedLine::after);
        let after = after.map_or(all, |kept| kept.before);
        let tally = Tally {
            files: after.files.saturating_sub(before.files),
            added: after.added.saturating_sub(before.added),
            removed: after.removed.saturating_sub(before.removed),
        };
        let raw = missing_lines(&lines, &missing, window);
        let (first, last) = raw.unwrap_or((missing.start, missing.end - 1));
        wording.changes((last + 1 - first, first, last), tally)
    };
    // Most gap lines are shorter than the longest one. The difference is added to the budget of another round.
    let mut budget = Budget::new(limits, gap);
    let mut best: Option<(BTreeSet<u64>, Selection)> = None;
    for _ in 0..ROUNDS {
        let numbers = select::choose(kept, &lines, total, budget);
        let written = write(&lines, numbers.iter().copied(), window, limits, in_gap);
        let Some(spare) = limits.max_bytes.checked_sub(written.text.len() as u64) else { break };
        if numbers.is_empty() {
            return None;
        }
        best = Some((numbers, written));
        if spare <= limits.max_bytes / 16 {
            break;
        }
        budget.bytes += spare * 3 / 4;
    }
    let (numbers, Selection { text, cut }) = best?;
    let shown = |is_counted: fn(&RetainedLine) -> bool| {
        let counted = kept.iter().filter(|kept| is_counted(kept));
        counted.filter(|kept| numbers.contains(&kept.number)).count() as u64
    };
    let files = (shown(RetainedLine::begins_file), all.files);
    let hunks = (shown(RetainedLine::begins_hunk), memory.hunks());
    Some(Preview { text, cut, missing: wording.diff(files, hunks, all) })
}
