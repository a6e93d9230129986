//! Compaction: replaces old messages by a summary.
//!
//! The messages and the summary stay in JavaScript. The core receives columns: the role and the size of each message,
//! the messages of each call and its result, the outputs that can be replaced. It returns indexes.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`cut_points`] | between which messages a history may be split |
//! | [`limits`] | when to compact, and how much may stay; the numbers of each profile |
//! | [`plan`] | which outputs are replaced, and where the kept part begins |
//! | [`images`] | which images are removed if it still does not fit |
//! | [`acceptance`] | whether a summary is accepted, and whether another compaction makes sense |
//! | [`changed_files`] | the list of changed files, which survives every summary |
//! | [`messages`] | the prompt for summaries, and the texts in the history |
//!
//! ```
//! use serde_json::json;
//! use spillway_core::history::compaction::changed_files::{Outcome, lines, merged};
//!
//! let edit = || lines("edit_file", &json!({ "path": "a.ts" }), Outcome::Done);
//! assert_eq!(edit(), ["- edit_file a.ts: done"]);
//! // The list of the last summary is continued.
//! assert_eq!(merged(&edit(), &edit(), 100), ["- edit_file a.ts: done (×2)"]);
//! ```

pub mod acceptance;
pub mod changed_files;
pub mod cut_points;
pub mod images;
pub mod limits;
pub mod messages;
pub mod plan;
