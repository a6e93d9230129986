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
//! | [`json`] | the members of a JSON object, without building it |
//! | [`cost`] | what a text takes of a context |

pub mod cost;
pub mod facts;
pub mod json;
pub mod outdated;
pub mod terminal;
pub mod tools;
