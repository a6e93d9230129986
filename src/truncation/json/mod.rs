//! Previews of JSON that are JSON: they parse, and every value in them is a value of the text, in the same place and of
//! the same type.
//!
//! While the text streams through, [`scan`] validates it and [`sampled_tree`] retains a small sample of it, guided by
//! the anomaly scores of [`super::anomaly`]. At the end [`select`] takes as much of the sample as the budget allows,
//! and [`write`] serializes it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`scan`] | recognizing JSON, and offering its values |
//! | [`sampled_tree`] | values that are kept in memory |
//! | [`select`] | values that the preview shows |
//! | [`shorten`] | shortened strings |
//! | [`write`] | writing values, and placeholders for the missing ones |
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
//!     max_lines: 50,
//!     max_bytes: 400,
//!     max_tokens: u64::MAX,
//!     direction: Direction::Head,
//!     line_rule: Default::default(),
//!     keep: Keep::of("json", Printed::Other),
//!     terminal: false,
//! };
//! let mut window = Window::new(&limits);
//! let users: Vec<_> = (0..1000).map(|id| serde_json::json!({ "id": id, "ok": id != 500 })).collect();
//! window.push(serde_json::json!({ "users": users }).to_string().as_bytes());
//! window.finish();
//! let preview = window.structured().and_then(|read| read.preview(&window, Source::Text, &limits, &ENGLISH));
//! let shown = preview.map(|preview| preview.text).unwrap_or_default();
//! let value: serde_json::Value = serde_json::from_str(&shown)?;
//! assert_eq!(value["users"][0], users[0]);
//! // The only user that is unlike the others.
//! assert!(shown.contains("500"));
//! # Ok::<(), serde_json::Error>(())
//! ```

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
