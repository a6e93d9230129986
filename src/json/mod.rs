//! JSON as text: reads single members without a tree, and writes one canonical form.
//!
//! | module | contents |
//! | --- | --- |
//! | [`canonical`] | writes equal values as equal bytes |
//! | [`members`] | reads the members of an object without building a tree |
//!
//! ```
//! use spillway_core::json::canonical::canonical;
//!
//! let value = serde_json::from_str(r#"{ "b": 1.0, "a": [true, null] }"#)?;
//! assert_eq!(canonical(&value), r#"{"a":[true,null],"b":1}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod canonical;
pub mod members;
