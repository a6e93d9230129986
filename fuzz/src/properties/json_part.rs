//! The relation of a preview of JSON to the text, for the fuzz target and the tests of the core.

use serde_json::Value;

/// Returns true if a value is a part of another, as far as it is shown.
pub fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| is_part(part, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter().all(|part| rest.any(|whole| is_part(part, whole)))
        }
        (Value::String(part), Value::String(whole)) => {
            part == whole
                || part.match_indices('\u{2026}').any(|(at, ellipsis)| {
                    let (head, tail) = (&part[..at], &part[at + ellipsis.len()..]);
                    head.len() + tail.len() < whole.len()
                        && whole.starts_with(head)
                        && whole.ends_with(tail)
                })
        }
        _ => part == whole,
    }
}
