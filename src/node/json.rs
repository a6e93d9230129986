//! JSON and columns of numbers at the boundary.

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

/// Divides a column into rows of `N` values. A remainder is a bug in Spillway.
pub(crate) fn rows<const N: usize, T>(values: &[T]) -> Result<&[[T; N]]> {
    let (rows, rest) = values.as_chunks::<N>();
    if rest.is_empty() {
        return Ok(rows);
    }
    let count = values.len();
    let problem = format!("the facade sent {count} values in rows of {N}");
    Err(from_core(CoreError::new(Code::Internal, problem)))
}

/// Serializes a value for the facade. Infallible, because all values are representable.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
