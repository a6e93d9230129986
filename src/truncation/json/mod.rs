//! Previews of JSON that are JSON: they parse, and every value in them is one of the text, in its place and of its type.
//!
//! While the text streams by, [`scan`] checks it and [`sketch`] remembers a small likeness of it, led by what
//! [`super::anomaly`] finds remarkable. At the end [`choose`] takes as much of that as the budget allows, and [`write`] writes it down.

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

/// A preview within these limits; nothing if the text is not JSON, or there is no room for any of it.
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
