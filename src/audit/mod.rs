//! An audit log that reveals every later change of it.
//!
//! There is one file per session and one record per line. Each writer chains its own records, and every record also
//! names the hash of the record before it in the file, whichever writer wrote that. A record therefore cannot be
//! changed, removed, inserted or moved without a mismatch in the next one. Records removed from the end are only
//! detected with a hash that the caller kept.
//!
//! | module | contents |
//! | --- | --- |
//! | [`record`] | the form of a line, its hash, its maximum length |
//! | `redact` | masking of secrets in an event |
//! | [`log`] | appending lines: locks, incomplete lines, the next file |
//! | [`options`] | the settings of a log |
//! | [`verify`] | checking that a log is as it was written, or finding the first record that is not |
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use spillway_core::audit::log::{Log, Options};
//! use spillway_core::audit::record::Sealer;
//! use spillway_core::audit::verify::Verifier;
//!
//! let dir = tempfile::tempdir()?;
//! let options = Options {
//!     dir: dir.path().to_owned(),
//!     session: "s".to_owned(),
//!     stem: "s-0".to_owned(),
//!     sealer: Sealer::default(),
//!     max_file_bytes: 1 << 20,
//!     redact: None,
//!     sync: false,
//! };
//! let mut log = Log::new(options).map_err(|error| error.message)?;
//! let event = serde_json::from_str(r#"{ "type": "tool", "tool": "bash" }"#)?;
//! log.append(vec![event], 1_700_000_000_000).map_err(|error| error.message)?;
//!
//! let is_intact = || -> Result<bool, Box<dyn std::error::Error>> {
//!     let mut verifier =
//!         Verifier::open(&log.path(), Sealer::default(), BTreeSet::new()).map_err(|error| error.message)?;
//!     loop {
//!         if let Some(report) = verifier.step().map_err(|error| error.message)? {
//!             return Ok(report.ok);
//!         }
//!     }
//! };
//! assert!(is_intact()?);
//! let text = std::fs::read_to_string(log.path())?;
//! std::fs::write(log.path(), text.replace("bash", "read"))?;
//! assert!(!is_intact()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod log;
pub mod options;
pub mod record;
mod redact;
pub mod verify;
