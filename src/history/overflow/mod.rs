//! Overflow: recovery when a history no longer fits into a model's context.
//!
//! | module | contents |
//! | --- | --- |
//! | [`classify`] | recognizing an overflow in an error or an answer, and reading its numbers |
//! | [`provider_errors`] | the wordings of overflows, by provider |
//! | [`input_budget`] | the input tokens that a model's context leaves room for |
//! | [`limits`] | the share of a context for one result and for all results; numbers and messages per profile |
//! | [`char_weight`] | the length of a text, with or without regard to its script |
//! | [`head_tail`] | the kept parts of a result |
//! | [`aggregate`] | the results to shorten so that all of them fit |
//! | [`saved_path`] | the path of the saved output that a result names |
//! | [`plan`] | the next step of a recovery |
//!
//! ```
//! use spillway_core::history::overflow::input_budget::{Model, usable};
//!
//! // The answer needs a part of the context too.
//! let model = Model { context: 200_000.0, output: 64_000.0, input: None };
//! assert_eq!(usable(&model, None), Some(136_000.0));
//! // A reserve that is larger than the answer counts instead of it.
//! assert_eq!(usable(&model, Some(80_000.0)), Some(120_000.0));
//! ```

pub mod aggregate;
pub mod char_weight;
pub mod classify;
pub mod head_tail;
pub mod input_budget;
pub mod limits;
pub mod plan;
pub mod provider_errors;
pub mod saved_path;
