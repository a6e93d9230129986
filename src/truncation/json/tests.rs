#[allow(unreachable_pub, reason = "public for the fuzz targets")]
#[path = "../../../fuzz/src/properties/json_part.rs"]
mod json_part;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::json::members::tests::json as any_json;
use crate::truncation::fixture::{self, check_rendered, preview, window};
use crate::truncation::limits::{Direction, Limits};
use crate::truncation::notice::{CHINESE, ENGLISH};
use crate::truncation::preview_buffer::Window;
use crate::truncation::smart::{Keep, Lean};
use json_part::is_part;

fn limits(max_lines: u64, max_bytes: u64) -> Limits {
    Limits {
        keep: Keep::Json(Lean::Late),
        ..fixture::limits(max_lines, max_bytes, Direction::Head)
    }
}

fn made(text: &[u8], limits: &Limits, piece: usize) -> Option<super::Preview> {
    let window = window(text, limits, piece);
    preview(&window, limits)
}

fn shown(text: &str, max_bytes: u64) -> (Vec<Value>, String) {
    let made = made(text.as_bytes(), &limits(2000, max_bytes), 1000).unwrap();
    let values = serde_json::Deserializer::from_str(&made.text).into_iter();
    (values.collect::<Result<_, _>>().expect(&made.text), made.missing)
}

fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.collect::<Result<_, _>>().unwrap()
}

fn large() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-z ]{0,300}",
        "(\\\\|\"|\n|é|\u{1f469}\u{200d}\u{1f469}|\u{301}|x){0,200}",
        Just("error: it failed".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        text.prop_map(Into::into),
    ];
    let value = leaf.prop_recursive(6, 400, 40, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..40).prop_map(Into::into),
            prop::collection::hash_map("[a-zé\"]{0,6}|required|type", inner, 0..30)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    });
    (value, any::<bool>()).prop_map(|(value, pretty)| {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        // As serializers of other languages write it.
        if pretty {
            text
        } else {
            text.replace('\u{e9}', "\\u00e9").replace('\u{1f469}', "\\ud83d\\udc69")
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]
    #[test]
    fn a_preview_is_json_of_what_is_there_and_keeps_its_limits(
        documents in prop::collection::vec(prop_oneof![3 => large(), 1 => any_json()], 1..4),
        max_lines in 1u64..60,
        max_bytes in 1u64..3000,
        piece in 1usize..200,
        max_tokens in prop::option::of(1u64..900),
        inside in any::<bool>(),
        chinese in any::<bool>(),
    ) {
        let text = documents.join("\n");
        let whole = values(&text);
        let limits = Limits { max_tokens: max_tokens.unwrap_or(u64::MAX), ..limits(max_lines, max_bytes) };
        let wording = if chinese { &CHINESE } else { &ENGLISH };
        let split = check_rendered(&text, limits, piece, wording, inside);

        let Some(made) = preview(&split, &limits) else {
            // A value has at least its brackets, and a name is never shortened.
            prop_assert!(max_bytes < 1200 || whole.iter().all(|it| it.is_number()), "{}", text);
            return Ok(());
        };
        prop_assert!(made.text.len() as u64 <= max_bytes && made.text.lines().count() as u64 <= max_lines);
        let mut rest = whole.iter();
        for part in values(&made.text) {
            prop_assert!(rest.any(|whole| is_part(&part, whole)), "{} of {}", part, text);
        }
        let mut end = 0;
        for piece in &made.cut.pieces {
            prop_assert!(end <= piece.bytes.start && piece.bytes.start < piece.bytes.end, "{:?}", made.cut.pieces);
            end = piece.bytes.end;
            let before = text.as_bytes()[..piece.bytes.start as usize].iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(piece.first_line, before as u64 + 1);
        }
        prop_assert!(end <= text.len() as u64);
        if max_bytes > 2 * text.len() as u64 + 2000 && (values(&made.text).len() as u64) < max_lines {
            prop_assert_eq!(values(&made.text), whole);
        }
    }
}

#[test]
fn the_ends_the_failures_and_what_differs_are_kept() {
    let rows: Vec<Value> = (0..5000)
        .map(|id| match id {
            1234 => json!({ "id": id, "status": "failed", "error": "connection refused" }),
            2345 => json!({ "id": id, "status": "skipped", "ms": 12 }),
            3456 => json!({ "id": id, "status": "ok", "ms": 12, "retries": 3 }),
            4000 => json!({ "id": id, "status": "ok", "ms": 99_000 }),
            _ => json!({ "id": id, "status": "ok", "ms": 10 + id % 5 }),
        })
        .collect();
    let text = json!({ "rows": rows, "count": 5000 }).to_string();
    let (values, missing) = shown(&text, 4000);
    let ids: Vec<i64> = values[0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_i64().unwrap())
        .collect();
    for id in [0, 1, 1234, 2345, 3456, 4000, 4998, 4999] {
        assert!(ids.contains(&id), "{id} of {ids:?}");
    }
    assert_eq!(values[0]["count"], 5000);
    assert!(
        missing.starts_with("Shown: items 0-") && missing.contains("of 5000 in $.rows"),
        "{missing}"
    );
}

#[test]
fn a_schema_keeps_its_types_required_names_and_enumerations() {
    let properties: serde_json::Map<String, Value> = (0..40)
        .map(|n| {
            let choices: Vec<String> = (0..n % 5 + 2).map(|n| format!("choice-{n}")).collect();
            let schema = json!({ "description": "Long words. ".repeat(40), "type": "string", "enum": choices });
            (format!("field{n}"), schema)
        })
        .collect();
    let required: Vec<&String> = properties.keys().collect();
    let tool = json!({ "tools": [{
        "name": "create", "description": "Creates. ".repeat(500),
        "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
    }]});
    let (values, _) = shown(&tool.to_string(), 8000);
    let (part, whole) = (&values[0]["tools"][0]["inputSchema"], &tool["tools"][0]["inputSchema"]);
    assert_eq!(part["required"], whole["required"]);
    assert_eq!(part["type"], "object");
    for (name, schema) in whole["properties"].as_object().unwrap() {
        assert_eq!(part["properties"][name]["type"], schema["type"], "{name}");
        assert_eq!(part["properties"][name]["enum"], schema["enum"], "{name}");
    }
}

#[test]
fn json_lines_stay_json_lines() {
    let text: String = (0..9000)
        .map(|n| {
            format!("{{\"n\":{n},\"level\":\"{}\"}}\n", if n == 4567 { "error" } else { "info" })
        })
        .collect();
    let (values, missing) = shown(&text, 3000);
    assert!(values.len() > 50 && values.contains(&json!({ "n": 4567, "level": "error" })));
    assert!(missing.contains("of 9000"), "{missing}");
}

#[test]
fn of_members_with_one_name_the_last_counts() {
    let filler = "x".repeat(3000);
    let text = format!(r#"{{"a":1,"b":"{filler}","\u0061":2,"c":{{"d":1,"d":[2]}}}}"#);
    let (values, _) = shown(&text, 300);
    assert_eq!((&values[0]["a"], &values[0]["c"]), (&json!(2), &json!({ "d": [2] })));
    assert_eq!(made(text.as_bytes(), &limits(9, 300), 7).unwrap().text.matches("\"d\"").count(), 1);
}

#[test]
fn depth_and_length_are_no_limit() {
    let deep = 100_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{}1{}", open.repeat(deep), close.repeat(deep));
        let (values, missing) = shown(&text, 2000);
        assert!(!values.is_empty() && !missing.is_empty());
    }
    let cut = "[".repeat(deep);
    assert!(made(cut.as_bytes(), &limits(9, 300), 999).is_none());
    let long = format!("{{\"stdout\":\"{}\",\"exitCode\":1}}", "line\\n".repeat(1_000_000));
    let (values, missing) = shown(&long, 2000);
    assert_eq!(values[0]["exitCode"], 1);
    assert!(values[0]["stdout"].as_str().unwrap().len() > 1000);
    assert!(missing.contains("without their middle (\u{2026}): 1"), "{missing}");
    let number = format!("[{},1]", "9".repeat(5000));
    assert_eq!(shown(&number, 200).0, [json!([1])]);
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let limits = limits(2000, 51_200);
    let mut window = Window::new(&limits);
    window.push(b"{\"tree\":[");
    for n in 0..60_000 {
        let row = format!(
            "{}{{\"name\":\"n{n}\",\"inside\":[{{\"a\":[1,2,3],\"b\":{{\"c\":\"{}\"}}}}],\"k{n}\":{n}}}",
            if n > 0 { "," } else { "" },
            "y".repeat(n % 300)
        );
        window.push(row.as_bytes());
    }
    window.push(b"]}");
    let held = fixture::held(&window);
    assert!(held < 4 << 20, "{held} bytes");
    let made = preview(&window, &limits).unwrap();
    assert!(made.text.len() > 40_000 && values(&made.text).len() == 1, "{}", made.text.len());
}
