//! Histories: finds results and messages that a conversation no longer needs.
//!
//! A history stays in JavaScript. The core receives columns, one number per tool result, and the texts of the few
//! results that matter; it returns indexes of the results that can be replaced.
//!
//! | module | contents |
//! | --- | --- |
//! | [`outdated`] | outdated results of terminal tools |
//! | [`result_facts`] | the known facts about a result, and those that must be read from its text |
//! | [`result_classifier`] | recognizing results of terminals and of failed calls by their text |
//! | [`tools`] | recognizing terminals by the names of their tools |
//! | [`call_pairing`] | pairs of calls and results, and the missing ones |
//! | [`compaction`] | replacing old messages by a summary |
//! | [`pruning`] | pruning old results from a request when that is worth it |
//! | [`overflow`] | recognizing requests that were too long, and shortening their results |
//!
//! ```
//! use spillway_core::history::call_pairing::{Event, Names, Pairs};
//!
//! let call = |id| Event::Call(Names { id: Some(id), name: None });
//! let result = |id| Event::Result(Names { id: Some(id), name: None });
//!
//! // Two parallel calls, answered in another order.
//! let mut pairs = Pairs::new(false);
//! let answers = pairs.extend([Event::User, Event::Assistant, call(0), call(1), result(1), result(0)]);
//! assert_eq!(answers.iter().map(|answer| answer.call).collect::<Vec<_>>(), [Some(1), Some(0)]);
//! assert!(pairs.open().is_empty());
//! ```

pub mod call_pairing;
pub mod compaction;
pub mod outdated;
pub mod overflow;
pub mod pruning;
pub mod result_classifier;
pub mod result_facts;
pub mod tools;
