//! Pruning: leaves old parts of a history out of the next request.
//!
//! A pruned part changes the prompt in its middle, and everything after the change is charged as new. So there are two
//! questions: what may be pruned ([`policies`]), and whether this is a good moment ([`schedule`]). A pruned part stays
//! pruned, with the same bytes in its place, for as long as the history is used.
//!
//! | module | contents |
//! | --- | --- |
//! | [`policies`] | the items that may be pruned |
//! | [`budget`] | the results that exceed a token budget |
//! | [`pressure`] | the results that are trimmed or pruned when the context window fills up |
//! | [`trim`] | the kept parts of a trimmed result |
//! | [`used_results`] | the results that are kept because the model has used them |
//! | [`superseded`] | reads of a file that later ones supersede |
//! | [`schedule`] | the cost and benefit of pruning now, and the first item to prune |
//! | [`placeholder`] | the text in place of a pruned item |
//! | [`word_index`] | the words of a result that its placeholder keeps |
//! | [`pruner`] | the state of a history from request to request |
//!
//! ```
//! use serde_json::json;
//! use spillway_core::history::pruning::superseded::{Access, superseded};
//!
//! let read = |args| match Access::of("read_file", &args) {
//!     Access::Read(read) => read,
//!     other => panic!("{other:?}"),
//! };
//! let part = read(json!({ "path": "a.ts", "offset": 10, "limit": 5 }));
//! let whole = read(json!({ "path": "./a.ts" }));
//! // The later read of the whole file shows the part as well.
//! assert_eq!(superseded([(3, &part), (7, &whole)].into_iter(), 1), [3]);
//! ```

pub mod budget;
pub mod placeholder;
pub mod policies;
pub mod pressure;
pub mod pruner;
pub mod schedule;
pub mod superseded;
pub mod trim;
pub mod used_results;
pub mod word_index;
