//! Where full outputs are kept.
//!
//! A saved output is complete or absent: it is written without a name, and gets one when it is complete. Nothing is
//! ever overwritten, and nobody else can read it. When one folder fails, the next is tried.

pub mod names;
pub mod places;
pub mod read;
pub mod retention;
pub mod save;

#[cfg(unix)]
#[path = "folder_unix.rs"]
mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
mod folder;
