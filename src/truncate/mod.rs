//! Shortening a text: how long it may be, which part of it stays, and what the reader is told about the rest.

pub mod binary;
pub mod csv;
pub mod cut;
pub mod diff;
#[cfg(test)]
mod fixture;
pub mod json;
pub mod limits;
pub mod lines;
pub mod notice;
pub mod render;
pub mod screen;
mod signal;
pub mod smart;
pub mod structured;
pub mod window;
