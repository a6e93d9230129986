//! Which old parts of a history are left out of the next request, and when.
//!
//! Leaving something out changes the prompt in its middle, and what comes behind the change has to be paid as if it were
//! new. So there are two questions: what may go ([`policies`]), and whether the moment is worth it ([`schedule`]). What
//! went stays away, with the same bytes in its place, for as long as the history is asked about.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`policies`] | which items may go |
//! | [`budget`] | which results are beyond a budget of tokens |
//! | [`pressure`] | which results are trimmed or go when the context window fills up |
//! | [`trim`] | what stays of a result that is trimmed |
//! | [`superseded`] | which reads of a file were overtaken by later ones |
//! | [`schedule`] | whether letting them go now pays, and from where on |
//! | [`placeholder`] | what stands where something was |
//! | [`pruner`] | what is known about a history from request to request |

pub mod budget;
pub mod placeholder;
pub mod policies;
pub mod pressure;
pub mod pruner;
pub mod schedule;
pub mod superseded;
pub mod trim;
