//! Helpers without knowledge of any other module.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`hex`] | writes bytes as hexadecimal digits |
//! | [`regex_source`] | holds a regular expression of a caller with its flags |
//! | [`size`] | reads sizes such as `50k` |
//! | [`sort`] | sorts with one copy of the algorithm for all types |
//! | [`suggest`] | finds the known name nearest to a misspelt one |

pub mod hex;
pub mod regex_source;
pub mod size;
pub mod sort;
pub mod suggest;
