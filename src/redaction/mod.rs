//! Redaction: which parts of a text are secrets, and how they are masked.
//!
//! | module | contents |
//! | --- | --- |
//! | [`redactor`] | masks secrets in an output of any size, in chunks |
//! | `secret_patterns` | recognizes well-known secrets by their form, their name or the option they belong to |
//!
//! ```
//! use std::sync::Arc;
//!
//! use spillway_core::redaction::redactor::{Redactor, Rules};
//!
//! let rules = Rules::new(&[], &["hunter22".to_owned()], false).map_err(|_| "refused")?;
//! let mut redactor = Redactor::default();
//! redactor.add(Arc::new(rules));
//! let mut masked = Vec::new();
//! let mut write = |bytes: &[u8]| -> Result<(), &str> { masked.extend_from_slice(bytes); Ok(()) };
//! redactor.push(b"login hunter22 ok\n", &mut write)?;
//! redactor.finish(&mut write)?;
//! assert_eq!(masked, b"login ******** ok\n");
//! # Ok::<(), &str>(())
//! ```

pub mod redactor;
pub(crate) mod secret_patterns;
