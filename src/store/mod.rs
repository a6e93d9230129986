//! Where full outputs are kept.
//!
//! A saved output is complete or absent: it is written without a name, and gets one when it is complete. Nothing is
//! ever overwritten, and nobody else can read it. When one folder fails, the next is tried.

pub mod excerpt;
#[cfg(test)]
mod fixture;
pub mod inventory;
pub mod lease;
pub mod line_index;
pub mod names;
pub mod opened;
pub mod pattern;
pub mod places;
pub mod range;
pub mod read;
pub mod retention;
pub mod save;
pub mod search;
pub mod sweep;

#[cfg(unix)]
mod calls;
#[cfg(unix)]
#[path = "folder_unix.rs"]
mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
mod folder;
