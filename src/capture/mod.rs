//! Captures an output while it is made, when its length is not known yet.
//!
//! Bytes are held in memory until they exceed a limit ([`bounded_buffer`]). From then on they go to the saved file and
//! into the buffer that keeps both ends ([`pipeline`]). Memory is bounded by the limits, and an output within them is
//! never written to the disk. [`pipe`] lets a command write into the core directly.

pub mod bounded_buffer;
pub mod pipeline;

#[cfg(unix)]
pub mod pipe;

#[cfg(not(unix))]
#[path = "pipe_other.rs"]
pub mod pipe;
