use super::*;
use proptest::prelude::*;

fn all(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    members(text.as_bytes(), |key, value| {
        found.push((String::from_utf8_lossy(key.0).into_owned(), format!("{value:?}")));
    })
    .then_some(found)
}

fn keys(text: &str) -> Option<Vec<String>> {
    all(text).map(|found| found.into_iter().map(|(key, _)| key).collect())
}

#[test]
fn only_the_members_of_the_object_itself_count() {
    assert_eq!(
        keys(r#" {"a":{"b":[{"c":1}]},"d":[],"e":"\"f\":"} "#),
        Some(vec!["a".into(), "d".into(), "e".into()])
    );
    assert_eq!(keys(r#"[{"a":1}]"#), Some(vec![]));
    assert_eq!(keys(r#""{\"a\":1}""#), Some(vec![]));
    assert_eq!(keys("{}"), Some(vec![]));
    assert_eq!(keys(" 12e3 "), Some(vec![]));
}

#[test]
fn values_come_with_their_kind() {
    let mut kinds = Vec::new();
    let text = br#"{"a":"x\n","b":-0.5e+3,"c":null,"d":[ ],"e":{"f":1},"g":""}"#;
    assert!(members(text, |_, value| kinds.push(value)));
    assert_eq!(
        kinds,
        [
            Value::Text(br"x\n"),
            Value::Number(b"-0.5e+3"),
            Value::Word,
            Value::Nested { empty: true },
            Value::Nested { empty: false },
            Value::Text(b""),
        ]
    );
}

#[test]
fn keys_may_be_escaped() {
    assert!(Key(br"stderr").is("stderr"));
    assert!(Key(br"\u0073tderr").is("stderr"));
    assert!(Key(br"stder\u0072").is("stderr"));
    assert!(!Key(br"stderr\u0020").is("stderr"));
    assert!(!Key(br"\\tderr").is("stderr"));
    assert!(!Key(br"s\tderr").is("stderr"));
    assert!(!Key(br"\u+073tderr").is("stderr"));
}

#[test]
fn depth_is_no_limit() {
    let deep = 100_000;
    let text = format!(
        r#"{{"a":{}{},"b":1}}"#,
        "[{\"x\":".repeat(deep),
        "1}]".to_owned() + &"}]".repeat(deep - 1)
    );
    assert_eq!(keys(&text), Some(vec!["a".into(), "b".into()]));
    assert_eq!(keys(&"[".repeat(deep)), None);
    assert_eq!(keys(&("[".repeat(deep) + &"]".repeat(deep))), Some(vec![]));
}

#[test]
fn what_json_parse_refuses_is_refused() {
    let wrong = [
        "",
        " ",
        "{",
        "}",
        "{]",
        "[}",
        "{,}",
        "[,]",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "{'a':1}",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "+1",
        "tru",
        "nulll",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u123",
        "\"\n\"",
        "1 2",
        "{} x",
        "\u{feff}{}",
        "\u{a0}{}",
        "NaN",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
    ];
    for text in wrong {
        assert_eq!(all(text), None, "{text:?}");
    }
}

#[test]
fn the_last_members_come_from_the_end_alone() {
    let text = br#"e \"quoted\": end\n","stderr": "","n":1.5e3, "exitCode" : 0 , "w":"a\\" }"#;
    let found: Vec<_> = LastMembers::of(text).into_iter().flatten().collect();
    let expected = [
        (&b"w"[..], Value::Text(br"a\\"), true),
        (b"exitCode", Value::Number(b"0"), false),
        (b"n", Value::Number(b"1.5e3"), true),
        (b"stderr", Value::Text(b""), true),
    ];
    let expected = expected.map(|(key, value, marker)| LastMember { key: Key(key), value, marker });
    assert_eq!(found, expected);
}

#[test]
fn a_key_inside_a_string_is_no_member() {
    for text in [
        r#"log \"exitCode\":0}"#,
        r#"\"exitCode\":0}"#,
        r#""exitCode":0}"#,
        r#"x"exitCode":0}"#,
        "0}",
        "}",
        "",
    ] {
        let found: Vec<_> = LastMembers::of(text.as_bytes()).into_iter().flatten().collect();
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

/// Random sequences of JSON tokens: sometimes valid, often almost.
pub(crate) fn almost_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\\"",
        "\\u0041",
        "0",
        "1",
        "-",
        ".5",
        "e9",
        "true",
        "null",
        " ",
        "\n",
        "\"a\"",
        "\"stderr\":",
        "\"\"",
        "x",
        "é",
        "\u{1f600}",
        "\u{1}",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Any JSON value, with or without white space between the tokens.
pub(crate) fn json() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "stdout",
        "stderr",
        "exitCode",
        "a",
        "\"exitCode\":0}",
        "\\",
        "é",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-3i32..3).prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-z\"\\\\\n:,{}é\u{1f600}]{0,12}".prop_map(Into::into),
        Just(serde_json::Value::String(String::new())),
    ];
    let value = leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    });
    (value, any::<bool>()).prop_map(
        |(value, pretty)| {
            if pretty { format!("{value:#}") } else { value.to_string() }
        },
    )
}

fn expected(text: &str) -> Option<Vec<String>> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default())
}

proptest! {
    #[test]
    fn json_is_read_as_serde_reads_it(text in json()) {
        let mut found = Vec::new();
        let valid = members(text.as_bytes(), |key, _| {
            found.push(serde_json::from_str::<String>(&format!("\"{}\"", String::from_utf8_lossy(key.0))).unwrap_or_default());
        });
        found.sort();
        prop_assert_eq!(valid.then_some(found), expected(&text));
    }

    #[test]
    fn almost_json_is_refused_as_serde_refuses_it(text in almost_json()) {
        let valid = members(text.as_bytes(), |_, _| ());
        prop_assert_eq!(valid, serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
    }

    #[test]
    fn trust_only_ever_accepts_more(text in prop_oneof![json(), almost_json()]) {
        let (mut checked, mut trusted) = (Vec::new(), Vec::new());
        if members(text.as_bytes(), |key, value| checked.push((key, value))) {
            prop_assert!(members_on_trust(text.as_bytes(), |key, value| trusted.push((key, value))));
            prop_assert_eq!(checked, trusted);
        }
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        members(&bytes, |_, _| ());
        members_on_trust(&bytes, |_, _| ());
        LastMembers::of(&bytes).into_iter().flatten().for_each(drop);
    }

    #[test]
    fn the_last_members_are_members(text in json(), cut in any::<prop::sample::Index>()) {
        let mut forward = Vec::new();
        members(text.as_bytes(), |key, value| forward.push((key, value)));
        let tail = &text.as_bytes()[cut.index(text.len())..];
        let backward: Vec<_> = LastMembers::of(tail).into_iter().flatten().map(|last| (last.key, last.value)).collect();
        prop_assert!(backward.len() <= forward.len());
        prop_assert!(forward.iter().rev().zip(&backward).all(|(a, b)| a == b), "{:?} {:?}", forward, backward);
    }
}
