//! Shortening a text: how long it may be, which part of it stays, and what the reader is told about the rest.

mod anomaly;
pub mod binary;
pub mod csv;
pub mod diff;
#[cfg(test)]
mod fixture;
pub mod head_tail;
pub mod json;
pub mod limits;
pub mod lines;
pub mod notice;
pub mod preview_buffer;
pub mod render;
pub mod smart;
pub mod strategies;
pub mod terminal_preview;
