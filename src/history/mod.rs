//! What an agent's history holds, and what of it can go.
//!
//! A history stays in JavaScript. What arrives here are columns, one number per tool result, and the texts of the few
//! results that matter; what leaves are the places of the results that can be replaced.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`outdated`] | which results of terminal tools are too old to be worth their place |
//! | [`facts`] | what is known about a result so far, and what still has to be read |
//! | [`terminal`] | what the text of a result says about where it comes from and how it went |
//! | [`tools`] | which tools are terminals, by their names |
//! | [`pairs`] | which result answers which call, and what is missing |
//! | [`json`] | the members of a JSON object, without building it |
//! | [`compact`] | what goes when a history is made shorter by a summary |
//! | [`prune`] | which old parts a request leaves out, and whether the moment is worth it |
//! | [`overflow`] | whether a request did not fit, and what has to go then |

pub mod call_pairing;
pub mod compaction;
pub mod outdated;
pub mod overflow;
pub mod pruning;
pub mod result_classifier;
pub mod result_facts;
pub mod tools;
