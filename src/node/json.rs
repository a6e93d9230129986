//! JSON as it crosses the boundary, in both directions.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Result, from_json};

/// Reads what the facade sent.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| from_json(&error))
}

/// Writes what the facade reads. There is nothing in it that JSON cannot say.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
