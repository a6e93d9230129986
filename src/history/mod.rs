//! Histories: finds results and messages that a conversation no longer needs.
//!
//! A history stays in JavaScript. The core receives columns, one number per tool result, and the texts of the few
//! results that matter; it returns indexes of the results that can be replaced.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`outdated`] | which results of terminal tools are too old to be worth their place |
//! | [`result_facts`] | what is known about a result, and what must be read |
//! | [`result_classifier`] | whether a result comes from a terminal, and whether it failed, by its text |
//! | [`tools`] | which tools are terminals, by their names |
//! | [`call_pairing`] | which result answers which call, and which are missing |
//! | [`compaction`] | which messages are replaced by a summary |
//! | [`pruning`] | which old parts a request leaves out, and when that is worth it |
//! | [`overflow`] | whether a request was too long, and what is shortened then |
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
