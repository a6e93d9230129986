//! Shortening a text: how long it may be, which part of it stays, and what the reader is told about the rest.

pub mod cut;
pub mod limits;
pub mod notice;
pub mod render;
pub mod window;
