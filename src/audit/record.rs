//! One record: a JSON object in canonical form, with the hash of everything in it but the hash itself.

use std::cmp::Reverse;
use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::json::canonical::canonical;
use crate::util::hex::hex;
use crate::util::sort::{object, sort_by_key};

/// Bytes of a line. Longer fields are cut, and the record says so.
pub const LONGEST_LINE: usize = 64 * 1024;

/// The hash before the first record of a chain, and of a log.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Members that only a log writes.
pub const RESERVED: [&str; 6] = ["after", "cut", "hash", "prev", "seq", "writer"];

/// The form of a record.
pub const VERSION: u64 = 1;

/// Bytes of a key. Shorter ones could be guessed.
pub const SHORTEST_KEY: usize = 16;

/// Makes hashes: with a key only who has it can make them.
#[derive(Debug, Clone, Default)]
pub struct Sealer {
    key: Option<Vec<u8>>,
}

impl Sealer {
    /// With a key, if there is one.
    pub fn new(key: Option<Vec<u8>>) -> Self {
        Sealer { key }
    }

    /// The hash of a record that has no `hash` yet.
    pub fn hash(&self, record: &Map<String, Value>) -> String {
        let form = canonical(&Value::Object(record.clone()));
        match self.key.as_deref().map(Hmac::<Sha256>::new_from_slice) {
            Some(Ok(mut mac)) => {
                mac.update(form.as_bytes());
                hex(&mac.finalize().into_bytes())
            }
            // A key of any length is one for this function; no key is no error.
            Some(Err(_)) | None => hex(&Sha256::digest(form.as_bytes())),
        }
    }

    /// The line of a record, its hash and its line feed included.
    pub fn line(&self, mut record: Map<String, Value>) -> (String, String) {
        let hash = self.hash(&record);
        record.insert("hash".to_owned(), Value::String(hash.clone()));
        (canonical(&Value::Object(record)) + "\n", hash)
    }
}

/// Cuts what is too long for a line: long texts and lists first, at last the largest fields. It marks the event: `cut` has the
/// bytes that it had.
pub fn bound(event: &mut Map<String, Value>) {
    // Room for what the log itself adds.
    const ROOM: usize = LONGEST_LINE - 1024;
    /// Bytes of a text, and members of a list or an object inside the event.
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

/// Every mark says how much there was: a fixed one would be one more way for two events to look alike.
fn shorten(value: &mut Value, text_bytes: usize, most: usize) {
    match value {
        Value::String(text) if text.len() > text_bytes => {
            let bytes = text.len();
            text.truncate(text.floor_char_boundary(text_bytes));
            let _ = write!(text, "… [{bytes} bytes]");
        }
        Value::Array(items) => {
            let count = items.len();
            if count > most {
                items.truncate(most);
                items.push(json!(format!("… [{count} items]")));
            }
            items.iter_mut().for_each(|item| shorten(item, text_bytes, most));
        }
        Value::Object(members) => {
            let count = members.len();
            if count > most {
                *members = object(std::mem::take(members).into_iter().take(most));
                members.insert("…".to_owned(), json!(format!("[{count} members]")));
            }
            members.values_mut().for_each(|inner| shorten(inner, text_bytes, most));
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
            assert!(canonical(&Value::Object(event.clone())).len() <= LONGEST_LINE - 512);
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
