//! When a history no longer fits into a model's context.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`classify`] | whether an error or an answer says so, and what numbers it gives |
//! | [`wordings`] | how providers word it |
//! | [`usable`] | how much of a model's context its input may use |
//! | [`limits`] | how much of a context one result, and all of them together, may take: numbers and words per profile |
//! | [`weight`] | how long a text is, with or without regard to its script |
//! | [`cut`] | which part of a too long result stays |
//! | [`aggregate`] | which of many results become shorter so that all of them fit |
//! | [`spill`] | where a result says that its full output was saved |
//! | [`plan`] | which step of a recovery comes next |

pub mod aggregate;
pub mod char_weight;
pub mod classify;
pub mod head_tail;
pub mod input_budget;
pub mod limits;
pub mod plan;
pub mod provider_errors;
pub mod saved_path;
