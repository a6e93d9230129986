//! Reads a caller's rules for secrets.

use std::sync::Arc;

use serde_json::Value;

use super::fields;
use crate::error::{Code, Error, Result};
use crate::redaction::redactor::Rules;
use crate::util::regex_source::RegexSource;
use crate::util::suggest;

const FIELDS: [&str; 3] = ["patterns", "values", "known"];

/// Reads the rules; returns `None` if they cannot match anything.
pub(crate) fn rules(value: &Value, code: Code, path: &str) -> Result<Option<Arc<Rules>>> {
    if !value.is_object() {
        return Err(refuse(value, code, path, "an object such as { known: true }"));
    }
    let (mut patterns, mut values, mut known) = (Vec::new(), Vec::new(), false);
    for (key, value) in fields::object(value, code, path)? {
        let field = format!("{path}.{key}");
        match key.as_str() {
            "patterns" => patterns = fields::array(value, code, &field, "an array", pattern)?,
            "values" => values = secrets(value, code, &field)?,
            "known" => known = fields::boolean(value, code, &field)?,
            _ => return Err(suggest::unknown(code, &field, key, &FIELDS)),
        }
    }
    let rules = Rules::new(&patterns, &values, known)
        .map_err(|(place, problem)| Error::field(code, format!("{path}.{place}"), problem))?;
    Ok((!rules.is_empty()).then(|| Arc::new(rules)))
}

fn secrets(value: &Value, code: Code, field: &str) -> Result<Vec<String>> {
    if !value.is_array() {
        return Err(refuse(value, code, field, "an array of strings"));
    }
    fields::array(value, code, field, "an array of strings", |value, code, field| {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| refuse(value, code, field, "a string"))
    })
}

/// Returns the error for an invalid value. Names the value only by its kind: it may be a secret, and messages are
/// logged.
fn refuse(value: &Value, code: Code, field: &str, allowed: &str) -> Error {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Error::field(code, field, format!("expected {allowed}, received {kind}"))
}

/// Reads a regular expression, which the facade sends as its source and flags.
pub(super) fn pattern(value: &Value, code: Code, field: &str) -> Result<RegexSource> {
    if let Some(source) = value.as_str() {
        return Ok(RegexSource { source: source.to_owned(), ..RegexSource::default() });
    }
    let of = |key| value.get(key).and_then(Value::as_str);
    match (of("$type"), of("source"), of("flags")) {
        (Some("RegExp"), Some(source), Some(flags)) => Ok(RegexSource {
            source: source.to_owned(),
            ignore_case: flags.contains('i'),
            multi_line: flags.contains('m'),
            dot_all: flags.contains('s'),
        }),
        _ => Err(fields::refuse(value, code, field, "a string or a RegExp")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(value: Value) -> (String, String) {
        let error = rules(&value, Code::InvalidConfig, "redact").map(|_| ()).unwrap_err();
        (error.field.unwrap_or_default(), error.message)
    }

    #[test]
    fn a_wrong_rule_is_named_by_its_place() {
        let cases = [
            (json!(true), "redact"),
            (json!({ "pattern": [] }), "redact.pattern"),
            (json!({ "known": 1 }), "redact.known"),
            (json!({ "patterns": "x" }), "redact.patterns"),
            (json!({ "patterns": ["a", 5] }), "redact.patterns[1]"),
            (json!({ "patterns": ["a", "b", "(?=c)"] }), "redact.patterns[2]"),
            (json!({ "values": ["long enough", "abc"] }), "redact.values[1]"),
            (json!({ "values": [null] }), "redact.values[0]"),
        ];
        for (value, field) in cases {
            let (named, message) = refused(value);
            assert_eq!(named, field);
            assert!(message.contains(&format!(" option \"{field}\": ")), "{message}");
        }
        for value in [json!("7312"), json!(7312), json!({ "x": "7312" })] {
            let list = json!({ "values": value });
            let entry = json!({ "values": ["long enough", [value]] });
            for rules in [value, list, entry] {
                let message = refused(rules.clone()).1;
                assert!(!message.contains("7312"), "{rules}: {message}");
            }
        }
    }

    #[test]
    fn rules_that_find_nothing_are_none() {
        for value in [json!({}), json!({ "patterns": [], "values": [], "known": false })] {
            assert!(rules(&value, Code::InvalidConfig, "redact").unwrap().is_none());
        }
        let regex = json!({ "$type": "RegExp", "source": "a\\/b", "flags": "gi" });
        assert!(
            rules(&json!({ "patterns": [regex] }), Code::InvalidConfig, "redact")
                .unwrap()
                .is_some()
        );
    }
}
