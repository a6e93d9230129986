//! Previews of JSON that are JSON: they parse, and every value in them is a value of the text, in the same place and of
//! the same type.
//!
//! While the text streams through, [`scan`] validates it and [`sampled_tree`] retains a small sample of it, guided by
//! the anomaly scores of [`super::anomaly`]. At the end [`select`] takes as much of the sample as the budget allows,
//! and [`write`] serializes it.

mod sampled_tree;
pub mod scan;
mod select;
mod shorten;
#[cfg(test)]
mod tests;
mod write;

pub use scan::Scanner;

use super::limits::Limits;
use super::notice::Wording;
use super::preview_buffer::Window;
use super::strategies::{Preview, cut_of};
use crate::text::lossy::Source;

/// Returns a preview within the limits, or `None` if the text is not JSON, or nothing of it fits.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Preview> {
    let sketch = scanner.finish()?;
    let choice = select::choose(sketch.values(), source, limits)?;
    let written = write::write(&choice, limits.max_lines);
    let lines = written.text.matches('\n').count() as u64 + 1;
    if written.text.is_empty() || !limits.allow(lines, written.text.len() as u64) {
        return None;
    }
    let cut = cut_of(written.pieces, choice.is_short_of_lines, window, limits);
    Some(Preview { text: written.text, cut, missing: write::missing(&choice, wording) })
}
