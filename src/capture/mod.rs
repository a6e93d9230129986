//! An output that comes in while it is made, of which nobody knows how long it will be.
//!
//! What arrives is held in memory until it passes a limit ([`bounded_buffer`]); from then on it goes through [`crate::capture::pipeline`] like
//! any other output: to the file at once, and past the window that keeps its ends. So memory is bounded by the limits,
//! and an output that stays within them never touches the disk. [`pipe`] lets a command write straight into it.

pub mod bounded_buffer;
pub mod pipeline;

#[cfg(unix)]
pub mod pipe;

#[cfg(not(unix))]
#[path = "pipe_other.rs"]
pub mod pipe;
