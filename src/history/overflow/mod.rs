//! Overflow: recovery when a history no longer fits into a model's context.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`classify`] | whether an error or an answer is an overflow, and the numbers it gives |
//! | [`provider_errors`] | how providers word overflows |
//! | [`input_budget`] | how much of a model's context its input may use |
//! | [`limits`] | how much of a context one result, and all of them together, may take; numbers and messages per profile |
//! | [`char_weight`] | the length of a text, with or without regard to its script |
//! | [`head_tail`] | which part of a result is kept |
//! | [`aggregate`] | which of many results are shortened so that all of them fit |
//! | [`saved_path`] | where a result says that its full output was saved |
//! | [`plan`] | which step of a recovery comes next |
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
