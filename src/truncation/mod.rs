//! Truncation: the limits of a preview, the part of the text that it shows, and the notice that states what is missing.
//!
//! A text streams through a [buffer](preview_buffer) that keeps what a preview may show, in memory bounded by the limits.
//! At the end a strategy chooses from it, and the notice is added until both together fit.
//!
//! | module | contents |
//! | --- | --- |
//! | [`limits`] | the limits of a preview: lines, bytes, tokens, which end |
//! | [`preview_buffer`] | the kept parts of a text that streams through |
//! | [`result`] | the parts of a preview, and the counts of the missing ones |
//! | [`head_tail`], [`lines`] | whole lines of both ends, and the cut of a long line |
//! | [`smart`] | lines that matter: errors, stack traces, matches of a query |
//! | [`json`], [`csv`], [`diff`], [`test_run`] | previews that keep the structure of a format |
//! | `anomaly` | the distance of a value or a row from those before it |
//! | [`terminal_preview`] | a preview of terminal output as a screen shows it |
//! | [`binary`] | recognizing binary data, which no preview shows |
//! | [`strategies`] | the choice of one of these strategies |
//! | `lazy_regex` | the expressions of tables, compiled when they are first asked |
//! | `line_buffer` | splitting a text that comes in pieces into lines |
//! | `retained` | the parts of a long text that a strategy keeps in bounded memory |
//! | [`render`] | fitting preview and notice into the limits together |
//! | [`notice`] | the words of the notice and of markers in all languages, and how they are recognized |
//!
//! ```
//! use spillway_core::truncation::limits::{Direction, Limits};
//! use spillway_core::truncation::preview_buffer::Window;
//!
//! let limits = Limits {
//!     max_lines: 4,
//!     max_bytes: 1024,
//!     max_tokens: u64::MAX,
//!     direction: Direction::Both,
//!     line_rule: Default::default(),
//!     keep: Default::default(),
//!     terminal: false,
//! };
//! let mut buffer = Window::new(&limits);
//! for number in 1..=1000 {
//!     buffer.push(format!("test {number} ... ok\n").as_bytes());
//! }
//! buffer.finish();
//! let (head, tail) = (buffer.head().0, buffer.tail().0);
//! assert!(head.starts_with(b"test 1 ... ok\n") && tail.ends_with(b"test 1000 ... ok\n"));
//! ```

mod anomaly;
pub mod binary;
pub mod csv;
pub mod diff;
#[cfg(test)]
mod fixture;
pub mod head_tail;
pub mod json;
mod lazy_regex;
pub mod limits;
mod line_buffer;
pub mod lines;
pub mod notice;
pub mod preview_buffer;
pub mod render;
pub mod result;
mod retained;
pub mod smart;
pub mod strategies;
pub mod terminal_preview;
pub mod test_run;
