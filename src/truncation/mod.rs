//! Truncation: the limits of a preview, the part of the text that it shows, and the notice that states what is missing.

mod anomaly;
pub mod binary;
pub mod csv;
pub mod diff;
#[cfg(test)]
mod fixture;
pub mod head_tail;
pub mod json;
pub mod limits;
mod line_buffer;
pub mod lines;
pub mod notice;
pub mod preview_buffer;
pub mod render;
pub mod smart;
pub mod strategies;
pub mod terminal_preview;
pub mod test_run;
