//! What happened, in files that show when somebody changed them.
//!
//! One file per session, one record a line. Whoever writes has a chain of records of its own, and every record also names
//! the one before it in the file, whoever wrote that: so no record can be changed, taken out, put in or moved without the
//! next one showing it. Records cut from the end show only against a hash that the caller kept.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`record`] | what one line is: its form, its hash, how long it may get |
//! | `redact` | which parts of an event are secrets |
//! | [`log`] | how lines get into the file: locks, torn ends, the next file |
//! | [`options`] | what a caller may set |
//! | [`verify`] | whether a log is as it was written, and which record is the first that is not |

pub mod log;
pub mod options;
pub mod record;
mod redact;
pub mod verify;
