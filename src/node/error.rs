//! Converts errors. The facade makes the error objects, because an error made here belongs to another realm under Jest
//! and Vitest; the message of the native error is a line of JSON.

use napi::{Error, Status};
use serde_json::json;
use spillway_core::error::Error as CoreError;

/// The result of an exported function.
pub type Result<T> = napi::Result<T>;

/// Encodes an error of the core for the facade.
pub fn from_core(error: CoreError) -> Error {
    let text =
        json!({ "code": error.code.as_str(), "message": error.message, "field": error.field });
    Error::new(Status::GenericFailure, text.to_string())
}
