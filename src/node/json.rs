//! JSON as it crosses the boundary, in both directions.

use serde::Serialize;
use serde::de::DeserializeOwned;
use spillway_core::error::{Code, Error as CoreError};

use crate::error::{Result, from_core};

/// Reads what the facade sent. What the facade made itself and does not parse is a fault of Spillway.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        from_core(CoreError::new(Code::Internal, format!("the facade sent bad JSON: {error}")))
    })
}

/// Writes what the facade reads. There is nothing in it that JSON cannot say.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
