//! Configuration: the user's file with comments, merged with an inline configuration. Problems are reported with their
//! positions, and the valid rest is used; permission fails closed.
//!
//! | module | contents |
//! | --- | --- |
//! | [`fields`] | the keys: names, kinds, defaults |
//! | [`check`] | the valid part of a layer, and its problems |
//! | [`load`] | the effective configuration, and its problems |
//! | [`file`] | reading and replacing the file |
//! | [`edit`] | changing a text and preserving the rest of it |
//! | [`tree`] | JSON with comments as a tree with positions |
//!
//! ```
//! use spillway_core::config::load::{Found, load};
//!
//! // One value is out of range: it is reported, and the rest is used.
//! let text = r#"{
//!   // Limits of all tools.
//!   "agents": { "runtime": { "truncation": { "maxLines": 0, "maxBytes": "50k" } } },
//! }"#;
//! let loaded: serde_json::Value =
//!     serde_json::from_str(&load("spillway.jsonc", Found::Text(text), None).map_err(|error| error.message)?)?;
//! assert_eq!(loaded["options"]["truncation"]["maxBytes"], 51_200);
//! assert_eq!(loaded["problems"][0]["path"], "agents.runtime.truncation.maxLines");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod check;
pub mod edit;
pub mod fields;
pub mod file;
pub mod load;
pub mod tree;

#[cfg(test)]
mod tests;
