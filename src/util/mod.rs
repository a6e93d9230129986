//! Helpers that know nothing of the modules above them.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`hex`] | writes bytes as hexadecimal digits |
//! | [`sort`] | sorts without one copy of the algorithm for each type |
//! | [`suggest`] | finds the known name that a misspelt one is nearest to |

pub mod hex;
pub mod sort;
pub mod suggest;
