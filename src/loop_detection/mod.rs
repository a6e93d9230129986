//! Whether an agent goes in circles.
//!
//! The detector is asked before a call and told how it went. It never reads a clock and never calls anybody: the same
//! calls give the same answers.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`detector`] | one run: its counts, its questions, and what approvals change |
//! | [`signature`] | when two calls, or two results, are the same |
//! | [`conduct`] | what a call is for: does it wait, can it change something |
//! | [`errors`] | what the text of a result says about a failure |
//! | [`calls`] | which loops the last calls show |
//! | [`answers`] | loops without calls: the same exchange of words again and again |
//! | [`repetition`] | a passage that one answer says again and again |
//! | [`rules`] | the numbers, and those of each profile |
//! | [`words`] | what people and models are told |

pub mod call_effect;
pub mod call_history;
pub mod detector;
pub mod errors;
pub mod messages;
pub mod repeated_replies;
pub mod repetition;
pub mod rules;
pub mod signature;
