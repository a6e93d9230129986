//! Captures an output while it is being produced, when its length is not known yet.
//!
//! Bytes are held in memory until they exceed a limit ([`bounded_buffer`]). From then on they go to the saved file and
//! into the buffer that keeps both ends ([`pipeline`]). Memory is bounded by the limits, and an output within them is
//! never written to the disk. [`pipe`] lets a command write into the core directly.
//!
//! | module | contents |
//! | --- | --- |
//! | [`bounded_buffer`] | the memory for an output, and its bounds |
//! | [`pipe`] | the pipe through which a command writes into the core |
//! | [`pipeline`] | counting, bounding and saving an output |
//!
//! ```
//! use spillway_core::capture::bounded_buffer::BoundedBuffer;
//! use spillway_core::truncation::limits::{Direction, Limits};
//!
//! let limits = Limits {
//!     max_lines: 2,
//!     max_bytes: 1024,
//!     max_tokens: u64::MAX,
//!     direction: Direction::Both,
//!     line_rule: Default::default(),
//!     keep: Default::default(),
//!     terminal: false,
//! };
//! let mut buffer = BoundedBuffer::new(limits);
//! assert!(buffer.take(b"one\ntwo\n"));
//! // A third line is too much: from here on the output goes to its file.
//! assert!(!buffer.take(b"three\n"));
//! assert_eq!(buffer.bytes(), b"one\ntwo\n");
//! ```

pub mod bounded_buffer;
pub mod pipeline;

#[cfg(unix)]
pub mod pipe;

#[cfg(not(unix))]
#[path = "pipe_other.rs"]
pub mod pipe;
