//! The facts about the text of a tool result agree with a parser, and the facts about its ends never contradict them.

use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};
use spillway_core::history::result_classifier::{
    HEAD_UNITS, TAIL_UNITS, ends, ends_latin1, whole, whole_latin1,
};
use spillway_core::history::result_facts::Facts;
use spillway_core::history::tools::ToolNames;
use spillway_core::json::members::{Key, LastMembers, Value, members, members_on_trust};
use spillway_core::text::utf16;

use super::input::Input;

/// Maximum nesting that the reference parser supports.
const DEEPEST: usize = 100;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let cut = input.below(256);
    let content = input.content(512);
    let string = utf16::decode(&content);
    check_json(&content);
    check_facts(&string, &content);
    check_ends(&string);
    let tail = &content[cut.min(content.len())..];
    LastMembers::of(tail).into_iter().flatten().for_each(drop);
    ToolNames::new(None).kind(&String::from_utf8_lossy(tail));
}

fn check_json(bytes: &[u8]) {
    let mut checked: Vec<(Key<'_>, Value<'_>)> = Vec::new();
    let is_json = members(bytes, |key, value| checked.push((key, value)));
    let mut trusted = Vec::new();
    let is_trusted = members_on_trust(bytes, |key, value| trusted.push((key, value)));
    assert!(!is_json || (is_trusted && checked == trusted), "trust only accepts more");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let deepest = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if deepest > DEEPEST {
        return;
    }
    assert_eq!(is_json, serde_json::from_str::<IgnoredAny>(text).is_ok(), "{text}");
    if !is_json {
        return;
    }
    let backward: Vec<_> =
        LastMembers::of(bytes).into_iter().flatten().map(|last| (last.key, last.value)).collect();
    if text.trim_start().starts_with('{') {
        assert!(backward.len() <= checked.len());
        assert!(checked.iter().rev().zip(&backward).all(|(forward, back)| forward == back));
    }
    if let Ok(Json::Object(map)) = serde_json::from_str(text) {
        check_members(&checked, &map);
    }
}

/// Checks the members against the parser: of several equal keys, the last one counts.
fn check_members(found: &[(Key<'_>, Value<'_>)], expected: &Map<String, Json>) {
    let read = |raw: &[u8]| {
        let quoted = format!("\"{}\"", String::from_utf8_lossy(raw));
        serde_json::from_str::<String>(&quoted).expect("the parser took it")
    };
    let names: std::collections::HashSet<String> =
        found.iter().map(|(key, _)| read(key.0)).collect();
    assert_eq!(names, expected.keys().cloned().collect());
    for (name, value) in expected {
        let last =
            found.iter().rev().find(|(key, _)| read(key.0) == *name).map(|(_, value)| *value);
        let is_same = match (last, value) {
            (Some(Value::Text(raw)), Json::String(text)) => read(raw) == *text,
            (Some(Value::Number(raw)), Json::Number(number)) => {
                serde_json::from_slice::<serde_json::Number>(raw).is_ok_and(|raw| raw == *number)
            }
            (Some(Value::Word), Json::Null | Json::Bool(_)) => true,
            (Some(Value::Nested { empty }), Json::Array(list)) => empty == list.is_empty(),
            (Some(Value::Nested { empty }), Json::Object(map)) => empty == map.is_empty(),
            _ => false,
        };
        assert!(is_same, "{name}: {last:?} and {value}");
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            assert!(found.iter().any(|(key, _)| key.is(name)), "{name}");
        }
    }
}

/// Checks the facts against the parsed text.
fn check_facts(string: &[u16], bytes: &[u8]) {
    let facts = whole(string);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let is_error = facts.any(Facts::STARTS_AS_ERROR);
    let start =
        text.trim_start_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}');
    assert_eq!(is_error, start.starts_with("Error:"));
    let deepest = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if is_error || deepest > DEEPEST {
        return;
    }
    let Ok(value) = serde_json::from_str::<Json>(text) else { return };
    let has = |name: &str| value.as_object().is_some_and(|map| map.contains_key(name));
    assert_eq!(
        facts.is_terminal(),
        Some(["stdout", "stderr", "exitCode"].into_iter().any(has)),
        "{text}"
    );
    let is_zero = |code: &Json| {
        code.as_f64() == Some(0.0) || code.as_str().is_some_and(|text| text.parse() == Ok(0.0))
    };
    let failed = has("exitCode") && !value.get("exitCode").is_some_and(is_zero);
    assert_eq!(facts.any(Facts::EXIT_FAILED), failed, "{text}");
    let filled = match value.as_object().and_then(|map| map.get("stderr")) {
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Array(list)) => !list.is_empty(),
        Some(Json::Object(map)) => !map.is_empty(),
        _ => false,
    };
    assert_eq!(facts.any(Facts::STDERR_FILLED), filled, "{text}");
}

/// Checks that the facts about the ends of a text do not contradict those about the whole, in both encodings.
fn check_ends(text: &[u16]) {
    let known = whole(text);
    let latin1 = |units: &[u16]| units.iter().map(|&unit| unit as u8).collect::<Vec<u8>>();
    let is_latin1 = text.iter().all(|&unit| unit < 0x100);
    if is_latin1 {
        assert_eq!(whole_latin1(&latin1(text)), known);
    }
    if text.len() < HEAD_UNITS.max(TAIL_UNITS) {
        return;
    }
    let (head, tail) = (&text[..HEAD_UNITS], &text[text.len() - TAIL_UNITS..]);
    let seen = ends(head, tail);
    if is_latin1 {
        assert_eq!(ends_latin1(&latin1(head), &latin1(tail)), seen);
    }
    for stderr_is_error in [true, false] {
        let (early, late) = (seen.is_error(stderr_is_error), known.is_error(stderr_is_error));
        assert!(early.is_none() || early == late, "{seen:?} {known:?}");
    }
    let (early, late) = (seen.is_terminal(), known.is_terminal());
    assert!(early.is_none() || late.is_none() || early == late, "{seen:?} {known:?}");
}
