//! Canonical JSON: equal values are written as equal bytes.
//!
//! The form is that of RFC 8785 (JSON Canonicalization Scheme): no white space, members sorted by the UTF-16 code units
//! of their names, numbers and strings as ECMAScript writes them. Any library for that scheme gives the same bytes.

use serde_json::{Map, Number, Value};

/// The first whole number after which a JavaScript number is no longer exact.
const LAST_EXACT: u64 = 1 << 53;

/// Returns the canonical form of a value. Whole numbers that are too large for a JavaScript number keep all their
/// digits, where RFC 8785 would round them.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(members, out),
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
    }
}

fn write_object(members: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    // UTF-8 and UTF-16 order differ only above the surrogates, and most names are ASCII.
    if sorted.iter().any(|(name, _)| !name.is_ascii()) {
        sorted.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    }
    out.push('{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn write_number(number: &Number, out: &mut String) {
    let whole = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    match (whole, number.as_f64()) {
        (Some(whole), Some(float)) if whole <= LAST_EXACT => {
            out.push_str(ryu_js::Buffer::new().format(float));
        }
        (None, Some(float)) => out.push_str(ryu_js::Buffer::new().format(float)),
        _ => out.push_str(&number.to_string()),
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain_from..at]);
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            other => out.push_str(&format!("\\u{other:04x}")),
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(json: &str) -> String {
        canonical(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_examples_of_the_rfc() {
        assert_eq!(
            of(r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#),
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(
            of(r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#),
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}"
        );
    }

    #[test]
    fn numbers_are_those_of_javascript() {
        for (json, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e2", "100"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("-5", "-5"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e21", "1e+21"),
        ] {
            assert_eq!(of(json), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(text in "\\PC*|[\\x00-\\x40]*", number in any::<i32>(), float in -1e18f64..1e18) {
            let value = serde_json::json!({ "text": text.clone(), text: [number, float, null] });
            let once = canonical(&value);
            let again: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(canonical(&again), once);
        }
    }
}
