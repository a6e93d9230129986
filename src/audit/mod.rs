//! An audit log that reveals every later change of it.
//!
//! There is one file per session and one record per line. Each writer chains its own records, and every record also
//! names the hash of the record before it in the file, whichever writer wrote that. A record therefore cannot be
//! changed, removed, inserted or moved without a mismatch in the next one. Records removed from the end are only
//! detected with a hash that the caller kept.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`record`] | the form of a line, its hash, its maximum length |
//! | `redact` | which parts of an event are secrets |
//! | [`log`] | how lines are appended: locks, incomplete lines, the next file |
//! | [`options`] | the settings of a log |
//! | [`verify`] | whether a log is as it was written, and which record is the first that is not |

pub mod log;
pub mod options;
pub mod record;
mod redact;
pub mod verify;
