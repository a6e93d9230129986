//! Removes secrets from an event before it is hashed.

use std::convert::Infallible;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::redaction::redactor::{Redactor, Rules};
use crate::redaction::secret_patterns::{in_arguments, is_secret_name};

/// Minimum number of digits of a number that can be a secret.
const MIN_NUMBER_LENGTH: usize = 4;

/// Redacts secrets in every text of an event, names of members included, and every text and number under a secret's
/// name: as a member, as an entry of a map, as the value of a name, and as the argument of an option.
pub(super) fn redact(value: &mut Value, rules: &Arc<Rules>) {
    redact_in(value, rules, false);
}

fn redact_in(value: &mut Value, rules: &Arc<Rules>, is_secret: bool) {
    match value {
        Value::String(text) if is_secret => *text = "*".repeat(text.len()),
        Value::String(text) => *text = redacted(text, rules),
        Value::Number(number) if is_secret => {
            let digits = number.to_string();
            if digits.len() >= MIN_NUMBER_LENGTH {
                *value = Value::String("*".repeat(digits.len()));
            }
        }
        Value::Array(items) => redact_list(items, rules, is_secret),
        Value::Object(members) => redact_object(members, rules, is_secret),
        _ => {}
    }
}

fn redact_list(items: &mut [Value], rules: &Arc<Rules>, is_secret: bool) {
    let mut hidden = vec![is_secret; items.len()];
    if rules.knows() && !is_secret {
        let texts: Vec<&str> = items.iter().map(|item| item.as_str().unwrap_or_default()).collect();
        let is_pair = items.len() == 2;
        for (at, text) in texts.iter().enumerate() {
            // `['--password', …]`, `['Authorization', …]` among the headers of a request, or an entry of a map.
            let names_next = text.starts_with('-')
                || text.contains('-')
                || (is_pair && at == 0)
                || is_header(text);
            if let Some(next) = hidden.get_mut(at + 1)
                && names_next
                && is_secret_name(text.trim_start_matches('-'))
                && !texts
                    .get(at + 1)
                    .is_some_and(|next| text.starts_with('-') && next.starts_with('-'))
            {
                *next = true;
            }
        }
        let mut parts = Vec::new();
        in_arguments(&texts, |at, part| parts.push((at, part)));
        for (at, part) in parts {
            if let Some(Value::String(text)) = items.get_mut(at)
                && let Some(secret) = text.get(part.clone())
            {
                let stars = "*".repeat(secret.len());
                text.replace_range(part, &stars);
            }
        }
    }
    for (item, is_hidden) in items.iter_mut().zip(hidden) {
        redact_in(item, rules, is_hidden);
    }
}

fn is_header(text: &str) -> bool {
    ["authorization", "cookie"].iter().any(|name| text.eq_ignore_ascii_case(name))
}

fn redact_object(members: &mut Map<String, Value>, rules: &Arc<Rules>, is_secret: bool) {
    const NAMES: [&str; 8] =
        ["name", "key", "variable", "header", "field", "env", "parameter", "id"];
    const VALUES: [&str; 4] = ["value", "val", "default", "values"];
    let is_named = rules.knows()
        && members.iter().any(|(name, value)| {
            NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
                && value.as_str().is_some_and(is_secret_name)
        });
    for (name, mut inner) in std::mem::take(members) {
        let is_secret = is_secret
            || (rules.knows() && is_secret_name(&name))
            || (is_named && VALUES.iter().any(|known| name.eq_ignore_ascii_case(known)));
        redact_in(&mut inner, rules, is_secret);
        let mut name = redacted(&name, rules);
        while members.contains_key(&name) {
            name.push('*');
        }
        members.insert(name, inner);
    }
}

fn redacted(text: &str, rules: &Arc<Rules>) -> String {
    let mut redactor = Redactor::default();
    redactor.add(Arc::clone(rules));
    let mut bytes = Vec::with_capacity(text.len());
    let mut keep = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = redactor.push(text.as_bytes(), &mut keep);
    let Ok(()) = redactor.finish(&mut keep);
    // A redacted range may end within a character.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_go_from_values_and_names() {
        let rules = Arc::new(Rules::new(&[], &["hunter22".to_owned()], true).unwrap());
        for (mut event, expected) in [
            (
                json!({ "a": ["say \"hunter22\"\n"], "hunter22": 1, "n": 5 }),
                json!({ "a": ["say \"********\"\n"], "********": 1, "n": 5 }),
            ),
            (
                json!({ "dbPassword": "short", "tokens": "many", "token": 3 }),
                json!({ "dbPassword": "*****", "tokens": "many", "token": 3 }),
            ),
            (
                json!({ "password": ["a", { "old": "bc" }], "apiKey": { "n": 1, "is": "d" } }),
                json!({ "password": ["*", { "old": "**" }], "apiKey": { "n": 1, "is": "*" } }),
            ),
            (json!({ "password": 12345678901_u64 }), json!({ "password": "***********" })),
            (
                json!({ "$map": [["password", "x"], ["b", "y"]] }),
                json!({ "$map": [["password", "*"], ["b", "y"]] }),
            ),
            (
                json!([{ "name": "DB_PASSWORD", "value": "x" }, { "Key": "a", "Value": "x" }]),
                json!([{ "name": "DB_PASSWORD", "value": "*" }, { "Key": "a", "Value": "x" }]),
            ),
            (
                json!(["mysql", "--password", "x", "--token", "--verbose"]),
                json!(["mysql", "--password", "*", "--token", "--verbose"]),
            ),
            (
                json!(["/usr/bin/mysql", "-u", "root", "-phunter", "db"]),
                json!(["/usr/bin/mysql", "-u", "root", "-p******", "db"]),
            ),
            (
                json!(["curl", "-u", "me:hunter", "-b", "sid=abcdef", "https://example.com"]),
                json!(["curl", "-u", "me:******", "-b", "sid=******", "https://example.com"]),
            ),
            (
                json!(["Host", "example.com", "Authorization", "abc", "X-Api-Key", "d"]),
                json!(["Host", "example.com", "Authorization", "***", "X-Api-Key", "*"]),
            ),
            (json!(["write", "a", "token", "b"]), json!(["write", "a", "token", "b"])),
        ] {
            redact(&mut event, &rules);
            assert_eq!(event, expected);
        }
    }
}
