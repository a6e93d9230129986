//! Hashes of calls and results: when two of them are the same.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::json::canonical::canonical;
use crate::tools::{Kind, kind_of, last_part, plain};
use crate::util::hex::hex;

/// Fields of a terminal's results that differ between equal runs.
const TERMINAL_FIELDS: [&str; 14] = [
    "duration",
    "durationms",
    "durationseconds",
    "elapsed",
    "elapsedms",
    "walltime",
    "walltimeseconds",
    "cwd",
    "pid",
    "sessionid",
    "chunkid",
    "originaltokencount",
    "startedat",
    "endedat",
];

/// Fields of a terminal's arguments in which models explain the command, in different words each time.
const TERMINAL_REMARKS: [&str; 3] = ["description", "explanation", "justification"];

/// Fields of the result of sending a message that differ between equal messages. The destination is not among them:
/// another conversation is another result.
const SENT_FIELDS: [&str; 10] = [
    "id",
    "messageid",
    "runid",
    "fileid",
    "pollid",
    "ts",
    "timestamp",
    "sentat",
    "createdat",
    "date",
];

/// Returns the normalized names of a tool's volatile fields.
fn own_fields<'a>(volatile: &'a BTreeMap<String, Vec<String>>, tool: &str) -> Vec<&'a str> {
    if volatile.is_empty() {
        return Vec::new();
    }
    let lists = ["*", &plain(tool), &plain(last_part(tool))].map(|name| volatile.get(name));
    lists.into_iter().flatten().flatten().map(String::as_str).collect()
}

/// Returns `tool:` and 64 hexadecimal digits for a tool and its arguments, independent of the order of members.
/// `arguments` is JSON; a string that contains JSON is treated as its content, because models write arguments so.
pub fn signature(tool: &str, arguments: &str, volatile: &BTreeMap<String, Vec<String>>) -> String {
    let fields = own_fields(volatile, tool);
    let form = match structure(arguments) {
        Some(mut value) => {
            let remarks: &[&str] =
                if sort_of(tool) == Sort::Terminal { &TERMINAL_REMARKS } else { &[] };
            remove(&mut value, &|name| {
                fields.contains(&name) || remarks.contains(&plain(name).as_str())
            });
            canonical(&value)
        }
        None => arguments.to_owned(),
    };
    format!("{tool}:{}", hash(&[tool, &form]))
}

/// Hashes the content of a result, without fields that differ between equal runs.
pub fn outcome(
    tool: &str,
    result: &str,
    is_error: bool,
    volatile: &BTreeMap<String, Vec<String>>,
) -> String {
    let fields = own_fields(volatile, tool);
    let sort = sort_of(tool);
    let known: &[&str] = match sort {
        Sort::Terminal => &TERMINAL_FIELDS,
        Sort::Sends => &SENT_FIELDS,
        Sort::Other => &[],
    };
    let form = match structure(result) {
        Some(mut value) => {
            remove(&mut value, &|name| {
                fields.contains(&name) || known.contains(&plain(name).as_str())
            });
            canonical(&value)
        }
        None if sort == Sort::Terminal => without_times(result),
        None => result.trim().to_owned(),
    };
    hash(&[if is_error { "error" } else { "" }, &form])
}

/// Hashes a text, ignoring white space.
pub fn words(text: &str) -> String {
    hash(&[&text.split_whitespace().collect::<Vec<_>>().join(" ")])
}

#[derive(PartialEq, Eq)]
enum Sort {
    Terminal,
    Sends,
    Other,
}

fn sort_of(tool: &str) -> Sort {
    if kind_of(tool) == Some(Kind::Terminal) {
        return Sort::Terminal;
    }
    let name = plain(last_part(tool));
    if name.contains("send") || name.contains("message") || name.contains("reply") {
        return Sort::Sends;
    }
    Sort::Other
}

/// Parses an object or array, also one inside a string.
fn structure(json: &str) -> Option<Value> {
    let first = json.trim_start().bytes().next()?;
    if !matches!(first, b'{' | b'[' | b'"') {
        return None;
    }
    match serde_json::from_str(json).ok()? {
        Value::String(text) => {
            let first = text.trim_start().bytes().next();
            let inner: Option<Value> = first
                .filter(|first| matches!(first, b'{' | b'['))
                .and_then(|_| serde_json::from_str(&text).ok());
            Some(inner.unwrap_or(Value::String(text)))
        }
        value => Some(value),
    }
}

/// Removes members at every depth. The parser bounds the depth.
fn remove(value: &mut Value, goes: &dyn Fn(&str) -> bool) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !goes(name));
            members.values_mut().for_each(|inner| remove(inner, goes));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| remove(inner, goes)),
        _ => {}
    }
}

/// Lines that terminals print before an output, and durations: of a test run, a test, a package.
static TIMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const TIMES: &str = concat!(
        r"(?m)^(?:Chunk ID|Wall time|Original token count|Process running with session ID|Session ID|PID|Duration|Elapsed|Command):.*$",
        r"|\bin \d+\.\d+ ?s(?:ec(?:onds?)?)?\b",
        r"|^[ \t]*(?:Time|Duration):?[ \t]+\d+(?:\.\d+)? ?(?:ms|s|min)(?:, estimated .*| \(.*\))?\r?$",
        r"|^[ \t]*Start at[ \t]+[\d:]+\r?$",
        // A number of seconds alone can be progress.
        r"| \((?:\d+(?:\.\d+)? ?ms|\d+\.\d+ ?s)\)\r?$",
        r"|\t(?:\d+\.\d+s|\(cached\))\r?$",
    );
    Regex::new(TIMES).ok()
});

fn without_times(text: &str) -> String {
    match &*TIMES {
        Some(times) => times.replace_all(text, "").trim().to_owned(),
        None => text.trim().to_owned(),
    }
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> BTreeMap<String, Vec<String>> {
        BTreeMap::new()
    }

    #[test]
    fn the_order_of_members_and_the_writing_of_numbers_do_not_matter() {
        let one = signature("read", r#"{"a":1,"b":{"c":[1,2],"d":null}}"#, &none());
        assert_eq!(one, signature("read", r#"{ "b": {"d":null,"c":[1.0,2]}, "a": 1e0 }"#, &none()));
        assert_eq!(
            one,
            signature("read", r#""{\"b\":{\"d\":null,\"c\":[1,2]},\"a\":1}""#, &none())
        );
        assert_ne!(one, signature("read", r#"{"a":1,"b":{"c":[2,1],"d":null}}"#, &none()));
        assert_ne!(one, signature("view", r#"{"a":1,"b":{"c":[1,2],"d":null}}"#, &none()));
        assert_eq!(one.len(), "read:".len() + 64);
    }

    #[test]
    fn long_arguments_differ_in_their_last_character() {
        let long = |last: &str| format!(r#"{{"content":"{}{last}"}}"#, "x".repeat(1 << 20));
        assert_ne!(
            signature("write", &long("a"), &none()),
            signature("write", &long("b"), &none())
        );
    }

    #[test]
    fn volatile_fields_do_not_count_at_any_depth() {
        let volatile = BTreeMap::from([("*".to_owned(), vec!["nonce".to_owned()])]);
        let of = |nonce: u32| {
            signature("t", &format!(r#"{{"a":[{{"nonce":{nonce},"b":2}}]}}"#), &volatile)
        };
        assert_eq!(of(1), of(2));
        assert_ne!(of(1), signature("t", r#"{"a":[{"nonce":1,"b":3}]}"#, &volatile));
    }

    #[test]
    fn a_terminal_s_times_and_numbers_do_not_count() {
        let of = |chunk: &str, time: &str, text: &str| {
            let result = format!("Chunk ID: {chunk}\nWall time: {time} seconds\nOutput:\n{text}");
            outcome("exec_command", &result, false, &none())
        };
        assert_eq!(of("a1", "0.1", "x"), of("b2", "7.5", "x"));
        assert_ne!(of("a1", "0.1", "x"), of("a1", "0.1", "y"));
        for (one, other) in [
            (
                "Tests: 1 failed\nTime:        1.23 s, estimated 2 s\nRan",
                "Tests: 1 failed\nTime:        0.9 s\nRan",
            ),
            ("  ✓ adds (3 ms)\n", "  ✓ adds (12 ms)\n"),
            ("ok  \tpkg\t0.012s", "ok  \tpkg\t(cached)"),
            ("   Duration  1.23s (tests 3ms)", "   Duration  2.01s (tests 5ms)"),
            ("--- FAIL: TestX (0.01s)", "--- FAIL: TestX (0.00s)"),
        ] {
            assert_eq!(of("", "", one), of("", "", other), "{one}");
        }
        for (one, other) in
            [("still running (35s)", "still running (36s)"), ("Time: 3 left", "Time: 2 left")]
        {
            assert_ne!(of("", "", one), of("", "", other), "{one}");
        }
        let json = |pid: u32, text: &str| {
            outcome("bash", &format!(r#"{{"pid":{pid},"stdout":"{text}"}}"#), false, &none())
        };
        assert_eq!(json(1, "x"), json(2, "x"));
        assert_ne!(json(1, "10%"), json(1, "11%"));
        assert_ne!(
            outcome("status", r#"{"pid":1}"#, false, &none()),
            outcome("status", r#"{"pid":2}"#, false, &none())
        );
    }
}
