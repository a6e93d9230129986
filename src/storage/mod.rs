//! Where full outputs are kept.
//!
//! A saved output is complete or absent: it is written without a name, and gets one when it is complete. Nothing is
//! ever overwritten, and nobody else can read it. When one folder fails, the next is tried.

mod auto_sweep;
pub mod bounds;
mod dedup;
pub mod directories;
pub mod excerpt;
mod file_metadata;
pub mod file_names;
#[cfg(test)]
pub(crate) mod fixture;
pub mod head_tail_file;
pub mod inventory;
mod lease;
pub mod line_index;
pub mod omitted_range;
pub mod open_store;
mod parallel_scan;
pub mod pattern;
pub mod range;
pub mod read;
mod read_buffer;
pub mod redact;
pub mod save;
pub mod search;
pub(crate) mod secret_patterns;
pub mod sweep;
pub(crate) mod symlink_policy;

#[cfg(unix)]
#[path = "folder_unix.rs"]
pub(crate) mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
pub(crate) mod folder;
