//! Configuration: the user's file with comments, merged with an inline configuration. Problems are reported with their
//! positions, and the valid rest is used; permission fails closed.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`fields`] | the keys: names, kinds, defaults |
//! | [`check`] | which parts of a layer are valid |
//! | [`load`] | the effective configuration, and its problems |
//! | [`file`] | reading and replacing the file |
//! | [`edit`] | changing a text and preserving the rest of it |
//! | [`tree`] | JSON with comments as a tree with positions |

pub mod check;
pub mod edit;
pub mod fields;
pub mod file;
pub mod load;
pub mod tree;

#[cfg(test)]
mod tests;
