//! Where full outputs are kept.
//!
//! A saved output is complete or absent: it is written without a name, and gets one when it is complete. Nothing is
//! ever overwritten, and nobody else can read it. When one folder fails, the next is tried.

pub mod bounds;
mod calls;
mod examined;
pub mod excerpt;
#[cfg(test)]
pub(crate) mod fixture;
pub mod inventory;
pub(crate) mod known;
mod lease;
pub mod line_index;
pub(crate) mod links;
pub mod names;
pub mod opened;
pub mod part;
pub mod pattern;
pub mod places;
pub mod range;
pub mod read;
pub mod redact;
pub mod ring;
pub mod save;
mod scout;
pub mod search;
pub mod sweep;
mod upkeep;
mod view;

#[cfg(unix)]
#[path = "folder_unix.rs"]
pub(crate) mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
pub(crate) mod folder;
