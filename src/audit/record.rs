//! One record: a JSON object in canonical form, with the hash of everything in it but the hash itself.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::canonical::canonical;
use crate::hex::hex;
use crate::store::known::is_secret_name;
use crate::store::redact::{Redactor, Rules};

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

/// Takes secrets out of every text of an event, names of members included.
pub fn redact(value: &mut Value, rules: &Arc<Rules>) {
    match value {
        Value::String(text) => *text = redacted(text, rules),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, rules)),
        Value::Object(members) => {
            for (name, mut inner) in std::mem::take(members) {
                match &mut inner {
                    Value::String(secret) if rules.knows() && is_secret_name(&name) => {
                        *secret = "*".repeat(secret.len());
                    }
                    inner => redact(inner, rules),
                }
                let mut name = redacted(&name, rules);
                while members.contains_key(&name) {
                    name.push('*');
                }
                members.insert(name, inner);
            }
        }
        _ => {}
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
    // Stars may stand for a part of a character.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Cuts what is too long for a line, longest texts first, and marks the event: `cut` has the bytes that it had.
pub fn bound(event: &mut Map<String, Value>) {
    // Room for what the log itself adds.
    const ROOM: usize = LONGEST_LINE - 1024;
    let length = |event: &Map<String, Value>| canonical(&Value::Object(event.clone())).len();
    let bytes = length(event);
    if bytes <= ROOM {
        return;
    }
    for most in [8192, 1024, 128] {
        event.values_mut().for_each(|value| cut_texts(value, most));
        if length(event) <= ROOM {
            break;
        }
    }
    // Very many short members: the plain ones say most.
    if length(event) > ROOM {
        let mut left = ROOM;
        event.retain(|name, value| {
            let plain = !value.is_array() && !value.is_object();
            let bytes = name.len() * 2 + canonical(value).len() + 4;
            let stays = plain && bytes <= left;
            left -= if stays { bytes } else { 0 };
            stays
        });
    }
    event.insert("cut".to_owned(), Value::from(bytes));
}

fn cut_texts(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => {
            let bytes = text.len();
            text.truncate(text.floor_char_boundary(most));
            // A fixed text would be one more way for two events to look alike.
            let _ = write!(text, "… [{bytes} bytes]");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, most)),
        Value::Object(members) => members.values_mut().for_each(|inner| cut_texts(inner, most)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let mut short = object(json!({ "tool": "bash" }));
        bound(&mut short);
        assert_eq!(short, object(json!({ "tool": "bash" })));
    }

    #[test]
    fn secrets_go_from_values_and_names() {
        let rules = Arc::new(Rules::new(&[], &["hunter22".to_owned()], true).unwrap());
        let mut event = json!({ "a": ["say \"hunter22\"\n"], "hunter22": 1, "n": 5 });
        redact(&mut event, &rules);
        assert_eq!(event, json!({ "a": ["say \"********\"\n"], "********": 1, "n": 5 }));
        let mut event = json!({ "dbPassword": "short", "tokens": "many", "token": 3 });
        redact(&mut event, &rules);
        assert_eq!(event, json!({ "dbPassword": "*****", "tokens": "many", "token": 3 }));
    }
}
