//! Configuration: the user's file with comments, then what is given inline. What is wrong is told with its place, and the rest
//! is used; permission fails closed.

pub mod check;
pub mod edit;
pub mod fields;
pub mod file;
pub mod load;
pub mod tree;

#[cfg(test)]
mod tests;
