//! JSON at the boundary, in both directions.

use serde::Serialize;
use serde::de::DeserializeOwned;
use spillway_core::error::{Code, Error as CoreError};

use crate::error::{Result, from_core};

/// Parses JSON from the facade. A syntax error is a bug in Spillway.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        from_core(CoreError::new(Code::Internal, format!("the facade sent bad JSON: {error}")))
    })
}

/// Serializes a value for the facade. Infallible, because all values are representable.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
