//! Compaction: replaces old messages by a summary.
//!
//! The messages and the summary stay in JavaScript. The core receives columns: the role and the size of each message,
//! the messages of each call and its result, the outputs that can be replaced. It returns indexes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`cut_points`] | between which messages a history may be split |
//! | [`limits`] | the limit that triggers a compaction, and the sizes of the parts; the numbers of each profile |
//! | [`plan`] | the outputs to replace, and the start of the kept part |
//! | [`images`] | the images that are removed if the history is still too long |
//! | [`acceptance`] | checks of a summary, and of the benefit of another compaction |
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
