//! Private folders and files, for storage and audit.
//!
//! | module | contents |
//! | --- | --- |
//! | `folder` | files of a folder: written without a name, published whole, listed and removed |
//! | `open_folder` | opening and creating a folder without following a planted symlink |
//! | `draft` | a file that is written before it gets its name |
//! | [`file_names`] | names of saved outputs, temporary files and sessions, and how they are recognized |
//! | `file_metadata` | size and times of a file |
//! | `symlink_policy` | the symbolic links that a path may go through |
//!
//! ```
//! use spillway_core::fs::file_names;
//!
//! let name = file_names::output("bash", 1_700_000_000_000, false)?;
//! assert!(file_names::is_output(&name) && !file_names::is_partial(&name));
//! assert_eq!((file_names::tool(&name), file_names::saved_ms(&name)), ("bash", 1_700_000_000_000));
//! # Ok::<(), spillway_core::error::Error>(())
//! ```

pub(crate) mod file_metadata;
pub mod file_names;
pub(crate) mod symlink_policy;

#[cfg(unix)]
#[path = "draft_unix.rs"]
mod draft;
#[cfg(unix)]
#[path = "folder_unix.rs"]
pub(crate) mod folder;
#[cfg(not(unix))]
#[path = "folder_other.rs"]
pub(crate) mod folder;
#[cfg(unix)]
#[path = "open_folder_unix.rs"]
mod open_folder;
