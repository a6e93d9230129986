//! Options of a log.

use std::path::PathBuf;

use serde_json::Value;

use super::log::Options;
use super::record::{MAX_LINE_LENGTH, MIN_KEY_LENGTH, Sealer};
use crate::error::{Code, Result};
use crate::options::fields::{boolean, count_from, object, refuse, text};
use crate::options::redaction;
use crate::storage::directories::is_root;
use crate::util::suggest;

const CODE: Code = Code::InvalidConfig;
/// The options that a host may set: the rest is filled in for it.
const FIELDS: [&str; 8] =
    ["dir", "sessionId", "key", "maxFileBytes", "redact", "sync", "onFailure", "onProblem"];
/// Default size of a file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads the options of a log. `stem` is the session's part of its file names; `key` is hexadecimal.
pub fn read(options: &Value) -> Result<Options> {
    let (mut dir, mut session, mut stem) = (None, None, None);
    let mut read = Options {
        dir: PathBuf::new(),
        session: String::new(),
        stem: String::new(),
        sealer: Sealer::default(),
        max_file_bytes: MAX_FILE_BYTES,
        redact: None,
        sync: false,
    };
    for (name, value) in object(options, CODE, "options")? {
        if value.get("$type").and_then(Value::as_str) == Some("undefined") {
            continue;
        }
        match name.as_str() {
            "dir" => dir = Some(text(value, CODE, name)?),
            "sessionId" => session = Some(text(value, CODE, name)?),
            "stem" => stem = Some(text(value, CODE, name)?),
            "key" => read.sealer = Sealer::new(Some(key(&text(value, CODE, name)?)?)),
            "maxFileBytes" => {
                read.max_file_bytes = count_from(MAX_LINE_LENGTH as u64, value, CODE, name)?;
            }
            "redact" => read.redact = redaction::rules(value, CODE, name)?,
            "sync" => read.sync = boolean(value, CODE, name)?,
            _ => return Err(suggest::unknown(CODE, name, name, &FIELDS)),
        }
    }
    let missing = |name: &str| refuse(None, CODE, name, "a string");
    let dir = dir.ok_or_else(|| missing("dir"))?;
    if dir.is_empty() || dir.contains('\0') || is_root(&dir) {
        return Err(refuse(&Value::String(dir), CODE, "dir", "the path of a folder"));
    }
    read.dir = PathBuf::from(dir);
    read.session = session.ok_or_else(|| missing("sessionId"))?;
    read.stem = stem.ok_or_else(|| missing("sessionId"))?;
    Ok(read)
}

/// Reads a key of hexadecimal digits.
pub fn key(digits: &str) -> Result<Vec<u8>> {
    let bytes: Option<Vec<u8>> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| {
            std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())
        })
        .collect();
    let bytes = bytes.unwrap_or_default();
    if bytes.len() < MIN_KEY_LENGTH {
        // The message must not contain the key.
        let problem = format!("expected {MIN_KEY_LENGTH} bytes or more, received {}", bytes.len());
        return Err(crate::error::Error::field(CODE, "key", problem));
    }
    Ok(bytes)
}
