//! Storage of full outputs: saving, reading back, searching, retention.
//!
//! A saved output is complete or absent: it is written without a name, and gets one when it is complete. Nothing is
//! overwritten, and no other user can read it. If one directory fails, the next is tried.
//!
//! | module | contents |
//! | --- | --- |
//! | [`directories`] | directories for saved outputs, in the order in which they are tried |
//! | [`open_store`] | the state of a store between two calls |
//! | [`save`] | publishing an output under its name |
//! | [`head_tail_file`] | the kept parts of an output over the maximum size |
//! | [`dedup`] | recognizing two equal outputs of a call |
//! | [`range`] | ranges of lines and bytes |
//! | [`read`] | reading a file, and the check that it may be read |
//! | [`read_buffer`] | starts of characters in a piece of a file |
//! | [`line_index`] | starts of lines in a large file |
//! | [`search`] | searching lines, and the limits of a search |
//! | [`pattern`] | compiling a pattern |
//! | [`parallel_scan`] | skipping parts of a large file that cannot match |
//! | [`excerpt`] | the excerpt of a long line that matches |
//! | [`inventory`] | the list of saved outputs in a directory |
//! | [`bounds`] | the outputs that exceed the bounds of a directory |
//! | [`sweep`] | removing outputs |
//! | [`auto_sweep`] | scheduled sweeps |
//! | [`lease`] | sessions that are in use |
//!
//! ```
//! use std::sync::Arc;
//!
//! use spillway_core::storage::directories::{Durability, StoreDirs};
//! use spillway_core::storage::open_store::OpenStore;
//! use spillway_core::storage::range::{Range, RangeRead};
//! use spillway_core::storage::save::{Save, SaveRequest};
//!
//! let dir = tempfile::tempdir()?;
//! let places = StoreDirs::of(vec![dir.path().join("outputs")], Durability::Process);
//! let store = Arc::new(OpenStore::new(places));
//!
//! let request = SaveRequest { tool: "bash".to_owned(), session: None, call: None, now_ms: 1_700_000_000_000 };
//! let mut save = Save::new(Arc::clone(&store), request);
//! save.write(b"one\ntwo\nthree\n").map_err(|error| error.message)?;
//! let saved = save.publish().map_err(|error| error.message)?;
//!
//! let second = Range { from_line: Some(2), line_count: Some(1), ..Range::default() };
//! let mut read = RangeRead::open(&store.places, &store.indexes, &saved.path, None, second).map_err(|error| error.message)?;
//! let piece = read.step(1 << 20).map_err(|error| error.message)?;
//! assert_eq!(piece.map(|piece| piece.text).as_deref(), Some("two\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod auto_sweep;
pub mod bounds;
mod dedup;
pub mod directories;
pub mod excerpt;
#[cfg(test)]
pub(crate) mod fixture;
pub mod head_tail_file;
pub mod inventory;
mod lease;
pub mod line_index;
pub mod open_store;
mod parallel_scan;
pub mod pattern;
pub mod range;
pub mod read;
mod read_buffer;
pub mod save;
pub mod search;
pub mod sweep;
