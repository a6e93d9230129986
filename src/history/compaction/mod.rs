//! What of a history goes when it is made shorter by a summary.
//!
//! The messages and the summary stay in JavaScript. What arrives here are columns: what each message is and how large, which
//! messages hold a call and its result, which outputs can be replaced. What leaves are places.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`cuts`] | between which messages a history may be cut |
//! | [`limits`] | when it is time, and how much may stay; the numbers of each profile |
//! | [`plan`] | which outputs go, where the kept part begins, which images go |
//! | [`verdict`] | whether what came out is worth taking, and whether compacting again makes sense |
//! | [`record`] | the record of changed files that outlives every summary |
//! | [`words`] | what the summariser is asked for, and what stands in the history |

pub mod acceptance;
pub mod changed_files;
pub mod cut_points;
pub mod limits;
pub mod messages;
pub mod plan;
