//! Errors on their way to JavaScript. The facade makes the real error objects, because an error made here belongs to
//! another realm under Jest and Vitest; what crosses is a line of JSON in the message.

use napi::{Error, Status};
use serde_json::json;
use spillway_core::error::Error as CoreError;

/// The result of an exported function.
pub type Result<T> = napi::Result<T>;

/// An error of the core, as the facade expects it.
pub fn from_core(error: CoreError) -> Error {
    let text =
        json!({ "code": error.code.as_str(), "message": error.message, "field": error.field });
    Error::new(Status::GenericFailure, text.to_string())
}
