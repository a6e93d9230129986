//! The core of Spillway: lets a coding agent take in any amount of tool output and keep its context small, without
//! losing a byte.
//!
//! # The path of one output
//!
//! An output enters an [`Intake`](capture::pipeline::Intake) in chunks of any size. Each chunk is transcoded to WTF-8
//! ([`text`]), scanned by a [`Window`](truncation::preview_buffer::Window), which retains both ends and the lines that may be
//! shown, and written to a [`Save`](storage::save::Save) without a name. Memory depends on the limits, not on the output. At the
//! end the file gets its name, and [`render`](capture::pipeline::Intake::render) puts the text for the model together: a preview
//! within the [`Limits`](truncation::limits::Limits), and a notice that says what is missing, where it is saved, and how to
//! continue reading. [`RangeRead`](storage::range::RangeRead) and [`Search`](storage::search::Search) read the saved output back.
//!
//! ```
//! use std::sync::Arc;
//!
//! use spillway_core::capture::pipeline::{Intake, RenderRequest, Style};
//! use spillway_core::storage::directories::{Durability, StoreDirs};
//! use spillway_core::storage::open_store::OpenStore;
//! use spillway_core::storage::range::{Range, RangeRead};
//! use spillway_core::storage::save::SaveRequest;
//! use spillway_core::text::lines::LineRule;
//! use spillway_core::text::lossy::Source;
//! use spillway_core::truncation::limits::{Direction, Limits};
//! use spillway_core::truncation::notice::ENGLISH;
//!
//! let dir = tempfile::tempdir()?;
//! let places = StoreDirs::of(vec![dir.path().join("outputs")], Durability::Process);
//! let store = Arc::new(OpenStore::new(places));
//! let limits = Limits {
//!     max_lines: 10,
//!     max_bytes: 50 * 1024,
//!     max_tokens: u64::MAX,
//!     direction: Direction::Both,
//!     line_rule: LineRule::Terminated,
//!     keep: Default::default(),
//!     terminal: false,
//! };
//!
//! // A command prints ten thousand lines.
//! let request = SaveRequest { tool: "bash".to_owned(), ..SaveRequest::default() };
//! let mut output = Intake::new(limits, Source::Bytes, Some((Arc::clone(&store), request)));
//! for number in 1..=10_000 {
//!     output.push_bytes(format!("test {number} ... ok\n").as_bytes());
//! }
//! let path = output.finish().saved.as_ref().map(|saved| saved.path.clone()).unwrap_or_default();
//!
//! // The model reads both ends and the notice.
//! let style = Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() };
//! let text = output.render(&style, &RenderRequest::default()).content;
//! assert!(text.contains("test 1 ... ok\n") && text.contains("test 10000 ... ok"));
//! assert!(text.contains(&path) && text.len() < 1000);
//!
//! // The lines between are read from the saved output.
//! let range = Range { from_line: Some(5000), line_count: Some(1), ..Range::default() };
//! let mut read = RangeRead::open(&store.places, &store.indexes, &path, None, range).map_err(|error| error.message)?;
//! let piece = read.step(u64::MAX).map_err(|error| error.message)?;
//! assert_eq!(piece.map(|piece| piece.text).as_deref(), Some("test 5000 ... ok\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! A module uses only modules below it; `tests/layers.rs` lists which.
//!
//! | module | contents |
//! | --- | --- |
//! | [`config`] | a user's configuration file: reading, checking, merging, editing |
//! | [`loop_detection`] | recognizing an agent that repeats itself without progress |
//! | [`audit`] | a log of events that reveals every later change |
//! | [`options`] | settings: which are allowed where, and which layer wins |
//! | [`capture`] | the pipeline of one output, and the pipe of a command |
//! | [`fold`] | replacing lines of a result that are in the context already by pointers |
//! | [`history`] | the results and messages that a conversation no longer needs |
//! | [`permission`] | allowing, asking about and denying tool calls |
//! | [`truncation`] | the limits of a preview, the part of a text that it shows, its notice |
//! | [`storage`] | full outputs: saving, reading back, searching, retention |
//! | [`redaction`] | finding and masking secrets in a text |
//! | [`fs`] | private folders, files that appear whole, symbolic links |
//! | [`tools`] | the kinds of tools by their names |
//! | [`json`] | members of JSON objects, and the canonical form of a value |
//! | [`tokens`] | estimates of tokens |
//! | [`text`] | encodings, lines, graphemes, terminal output |
//! | [`util`] | sorting, hexadecimal digits, suggestions for misspelt names |
//! | [`error`] | errors with stable codes |
//!
//! The core knows nothing of Node: `src/node` converts, and TypeScript owns every JavaScript value.
#![forbid(unsafe_code)]
// Not a published interface: a comment is written where there is something to say.
#![allow(missing_docs)]

pub use spillway_base::{error, text, tokens, util};

pub mod audit;
pub mod capture;
pub mod config;
pub mod fold;
pub mod fs;
pub mod history;
pub mod json;
pub mod loop_detection;
pub mod options;
pub mod permission;
pub mod redaction;
pub mod storage;
pub mod tools;
pub mod truncation;
