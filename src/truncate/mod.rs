//! Shortening a text: how long it may be, which part of it stays, and what the reader is told about the rest.

pub mod binary;
pub mod cut;
#[cfg(test)]
mod fixture;
pub mod json;
pub mod limits;
pub mod notice;
pub mod render;
pub mod screen;
pub mod smart;
pub mod window;
