//! Previews of tables that are tables: the header and whole rows as they are in the text, so that a parser for the
//! original reads the preview too, with the same columns.
//!
//! While the text streams through, [`scan`] parses it and scores its rows, and [`retained`] keeps the first rows, the
//! last rows, and rows that differ from the others, in bounded memory. At the end [`select`] takes as many of them as
//! the budget allows.
//!
//! | module | contents |
//! | --- | --- |
//! | [`scan`] | ends of rows, and the unusual rows |
//! | [`retained`] | rows that are kept in memory |
//! | [`select`] | rows that the preview shows |
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
//!     keep: Keep::of("csv", Printed::Other),
//!     terminal: false,
//! };
//! let mut window = Window::new(&limits);
//! window.push(b"id,name\n");
//! (0..1000).for_each(|id| window.push(format!("{id},user {id}\n").as_bytes()));
//! window.finish();
//! let preview = window.structured().and_then(|read| read.preview(&window, Source::Text, &limits, &ENGLISH));
//! let shown = preview.map(|preview| preview.text).unwrap_or_default();
//! assert!(shown.starts_with("id,name\n0,user 0\n"), "{shown}");
//! assert!(shown.contains("\n999,user 999"));
//! ```

mod retained;
mod scan;
mod select;
#[cfg(test)]
mod tests;

pub use scan::Scanner;

use super::limits::Limits;
use super::notice::Wording;
use super::preview_buffer::Window;
use super::result::Piece;
use super::strategies::{Preview, cut_of, ranges};
use crate::text::lossy::Source;

/// Returns a preview within the limits, or `None` if the text is not a table of at least two columns, or its header
/// does not fit.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Preview> {
    let table = scanner.finish()?;
    let choice = select::choose(&table, source, limits)?;
    let mut pieces: Vec<Piece<'static>> = Vec::new();
    let mut text = String::new();
    let mut numbers: Vec<u64> = Vec::new();
    for (row, shown) in &choice.rows {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(shown);
        numbers.extend(row.lines());
        // Only a line break separates them.
        let open = pieces.last_mut().filter(|last| row.bytes.start - last.bytes.end <= 2);
        match open {
            Some(last) => {
                last.last_line = row.last_line;
                last.bytes.end = row.bytes.end;
            }
            None => pieces.push(Piece {
                text: "\n".into(),
                bytes: row.bytes.clone(),
                first_line: row.first_line,
                last_line: row.last_line,
                partial: None,
            }),
        }
    }
    let cut = cut_of(pieces, choice.is_short_of_lines, window, limits);
    let shown = choice.rows.len() as u64 - 1;
    let missing = wording.csv(shown, table.rows() - 1, &ranges(&numbers));
    Some(Preview { text, cut, missing })
}
