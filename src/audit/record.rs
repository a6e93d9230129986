//! A record: a JSON object in canonical form, with a hash of all its members but the hash itself.

use std::cmp::Reverse;
use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::json::canonical::canonical;
use crate::util::hex::hex;
use crate::util::sort::{object, sort_by_key};

/// Maximum length of a line in bytes. Longer fields are truncated, which the record states.
pub const MAX_LINE_LENGTH: usize = 64 * 1024;

/// The previous hash of the first record of a chain, and of a log.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Members that only the log writes.
pub const RESERVED: [&str; 6] = ["after", "cut", "hash", "prev", "seq", "writer"];

/// Version of the record format.
pub const VERSION: u64 = 1;

/// Minimum length of a key in bytes. Shorter ones could be guessed.
pub const MIN_KEY_LENGTH: usize = 16;

/// Computes hashes of records: HMAC-SHA-256 with a key, SHA-256 without.
#[derive(Debug, Clone, Default)]
pub struct Sealer {
    key: Option<Vec<u8>>,
}

impl Sealer {
    pub fn new(key: Option<Vec<u8>>) -> Self {
        Sealer { key }
    }

    /// Returns the hash of a record that has no `hash` member yet.
    pub fn hash(&self, record: &Map<String, Value>) -> String {
        let form = canonical(&Value::Object(record.clone()));
        match self.key.as_deref().map(Hmac::<Sha256>::new_from_slice) {
            Some(Ok(mut mac)) => {
                mac.update(form.as_bytes());
                hex(&mac.finalize().into_bytes())
            }
            // HMAC accepts keys of any length, so this is the case without a key.
            Some(Err(_)) | None => hex(&Sha256::digest(form.as_bytes())),
        }
    }

    /// Returns the line of a record with its hash and line feed, and the hash.
    pub fn line(&self, mut record: Map<String, Value>) -> (String, String) {
        let hash = self.hash(&record);
        record.insert("hash".to_owned(), Value::String(hash.clone()));
        (canonical(&Value::Object(record)) + "\n", hash)
    }
}

/// Truncates an event that is too long for a line: long texts and lists first, then the largest fields. `cut` records
/// the original length in bytes.
pub fn bound(event: &mut Map<String, Value>) {
    // The difference is room for the members that the log adds.
    const ROOM: usize = MAX_LINE_LENGTH - 1024;
    /// Limits tried in turn: bytes of a text, and number of members of a list or object in the event.
    const STEPS: [(usize, usize); 4] = [(8192, 1024), (1024, 256), (128, 64), (128, 8)];
    let length = |event: &Map<String, Value>| canonical(&Value::Object(event.clone())).len();
    let bytes = length(event);
    if bytes <= ROOM {
        return;
    }
    let whole = std::mem::take(event);
    for (text, members) in STEPS {
        event.clone_from(&whole);
        event.values_mut().for_each(|value| shorten(value, text, members));
        if length(event) <= ROOM {
            break;
        }
    }
    let mut left = length(event);
    if left > ROOM {
        let mut fields: Vec<(usize, String)> = event
            .iter()
            .map(|(name, value)| {
                (canonical(&json!(name)).len() + canonical(value).len() + 2, name.clone())
            })
            .collect();
        sort_by_key(&mut fields, |(bytes, _)| Reverse(*bytes));
        for (bytes, name) in fields {
            if left <= ROOM {
                break;
            }
            event.remove(&name);
            left -= bytes;
        }
    }
    event.insert("cut".to_owned(), Value::from(bytes));
}

/// Truncates texts and lists. Every mark states the original length: with a constant mark two different events could
/// look the same.
fn shorten(value: &mut Value, text_bytes: usize, max_items: usize) {
    match value {
        Value::String(text) if text.len() > text_bytes => {
            let bytes = text.len();
            text.truncate(text.floor_char_boundary(text_bytes));
            let _ = write!(text, "… [{bytes} bytes]");
        }
        Value::Array(items) => {
            let count = items.len();
            if count > max_items {
                items.truncate(max_items);
                items.push(json!(format!("… [{count} items]")));
            }
            items.iter_mut().for_each(|item| shorten(item, text_bytes, max_items));
        }
        Value::Object(members) => {
            let count = members.len();
            if count > max_items {
                *members = object(std::mem::take(members).into_iter().take(max_items));
                members.insert("…".to_owned(), json!(format!("[{count} members]")));
            }
            members.values_mut().for_each(|inner| shorten(inner, text_bytes, max_items));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_hash_of_a_known_record() {
        let record = object(json!({ "b": 1, "a": "x" }));
        // `printf '{"a":"x","b":1}' | sha256sum`
        assert_eq!(
            Sealer::new(None).hash(&record),
            "cdab067e9f3beb32d1252cfd63e492592fecbf591b0d08cadb24bb17f3864246"
        );
        let keyed = Sealer::new(Some(b"a key of 16 bytes".to_vec())).hash(&record);
        assert_eq!(keyed, "d4fcb16a3a272bf429e065866ddf4c7c6d58cd69ca404f0d597f3cc6f97c304e");
    }

    #[test]
    fn long_events_are_cut_and_say_so() {
        for event in [
            json!({ "tool": "bash", "targets": ["é".repeat(100_000)] }),
            json!({ "tool": "bash", "targets": vec!["x".repeat(500); 1000] }),
            json!({ "tool": "bash", "more": vec![1; 100_000] }),
            Value::Object(
                (0..10_000)
                    .map(|i| (format!("field{i}"), json!(i)))
                    .chain([("tool".to_owned(), json!("bash"))])
                    .collect(),
            ),
        ] {
            let mut event = object(event);
            let bytes = canonical(&Value::Object(event.clone())).len();
            bound(&mut event);
            assert!(canonical(&Value::Object(event.clone())).len() <= MAX_LINE_LENGTH - 512);
            assert_eq!(event.get("cut"), Some(&json!(bytes)));
        }
        let long = json!({ "list": vec![json!({ "a": 1 }); 30_000], "x": "y".repeat(100_000) });
        let mut event = object(json!({ "tool": "bash", "targets": ["bash:ls"], "input": long }));
        bound(&mut event);
        assert_eq!((&event["tool"], &event["targets"]), (&json!("bash"), &json!(["bash:ls"])));
        let list = event["input"]["list"].as_array().unwrap();
        assert_eq!(
            (&list[0], list.last().unwrap()),
            (&json!({ "a": 1 }), &json!("… [30000 items]"))
        );
        let mut short = object(json!({ "tool": "bash" }));
        bound(&mut short);
        assert_eq!(short, object(json!({ "tool": "bash" })));
    }
}
