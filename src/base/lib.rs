//! The lowest layer of Spillway's core, which `spillway-core` re-exports: text, token estimates, errors and helpers.
//! Nothing in here depends on a module above it.
//!
//! ```
//! use spillway_base::text::terminal::clean_line;
//! use spillway_base::tokens::{Mode, of_text};
//!
//! // A progress bar costs tokens that no terminal would show.
//! let raw = "downloading 10 %\rdownloading 99 %\r\u{1b}[2Kdone";
//! let shown = clean_line(raw);
//! assert_eq!(shown, "done");
//! assert!(of_text(&shown, Mode::Typical) < of_text(raw, Mode::Typical));
//! ```
#![forbid(unsafe_code)]
// Not a published interface: a comment is written where there is something to say.
#![allow(missing_docs)]

#[path = "../error.rs"]
pub mod error;
#[path = "../text/mod.rs"]
pub mod text;
#[path = "../tokens/mod.rs"]
pub mod tokens;
#[path = "../util/mod.rs"]
pub mod util;
