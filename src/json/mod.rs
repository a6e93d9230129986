//! JSON as text: reading single members without a tree, and writing one canonical form.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`canonical`] | writes equal values as equal bytes |
//! | [`members`] | reads members of an object and leaves the rest alone |

pub mod canonical;
pub mod members;
