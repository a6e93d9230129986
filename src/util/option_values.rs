//! Readers of options: each returns the value, or the error that names the field, the value and the values that are allowed.
//!
//! ```
//! use serde_json::json;
//! use spillway_base::error::Code;
//! use spillway_base::util::option_values::strings;
//!
//! let error = strings(&json!(["a", 7]), Code::InvalidConfig, "mcpServers").unwrap_err();
//! assert_eq!(error.message, r#"Invalid option "mcpServers[1]": expected a string, received 7"#);
//! ```

use serde_json::{Map, Value};

use super::suggest::refuse;
use crate::error::{Code, Result};

/// Reads an object: not a value that JSON has no form for, such as `Infinity`.
pub fn object<'a>(value: &'a Value, code: Code, field: &str) -> Result<&'a Map<String, Value>> {
    match value {
        Value::Object(map) if !map.contains_key("$type") => Ok(map),
        _ => Err(refuse(value, code, field, "an object")),
    }
}

pub fn boolean(value: &Value, code: Code, field: &str) -> Result<bool> {
    value.as_bool().ok_or_else(|| refuse(value, code, field, "true or false"))
}

pub fn text(value: &Value, code: Code, field: &str) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| refuse(value, code, field, "a string"))
}

pub fn strings(value: &Value, code: Code, field: &str) -> Result<Vec<String>> {
    array(value, code, field, "an array of strings", text)
}

/// Reads an array entry by entry. The path of an entry is the field and the index.
pub fn array<T>(
    value: &Value,
    code: Code,
    field: &str,
    allowed: &str,
    read: impl Fn(&Value, Code, &str) -> Result<T>,
) -> Result<Vec<T>> {
    let Value::Array(items) = value else { return Err(refuse(value, code, field, allowed)) };
    let items = items.iter().enumerate();
    items.map(|(index, item)| read(item, code, &format!("{field}[{index}]"))).collect()
}
