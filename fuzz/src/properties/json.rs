//! A preview of JSON is JSON, within its limits, and every value in it is a value of the text; other texts are shown
//! differently.

use serde_json::{Deserializer, Value};
use spillway_core::text::lossy::{Shown, Source};
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::smart::{Keep, Lean};

use super::input::{Input, as_text};
use super::json_part::is_part;
use super::rendered::Case;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let case = Case::new(&mut input, Keep::Json(Lean::Late));
    let raw = as_text(&input.content(6 * 1024));

    let window = case.window(&raw);
    case.check(&window, &raw);

    let structured = window.structured().expect("the limits ask for it");
    let Some(made) = structured.preview(&window, Source::Text, &case.limits, &ENGLISH) else {
        return;
    };
    let text = Shown::decode(&raw, Source::Text).text;
    let shown = values(&made.text);
    let whole = values(text.trim_start_matches('\u{feff}'));
    if let (Ok(shown), Ok(whole)) = (&shown, &whole) {
        let mut rest = whole.iter();
        for part in shown {
            assert!(rest.any(|whole| is_part(part, whole)), "{} of {text}", made.text);
        }
    }
    for refused in [shown.err(), whole.err()].into_iter().flatten() {
        assert!(is_json_beyond(&refused), "{refused}: {} of {text}", made.text);
    }
}

fn values(text: &str) -> serde_json::Result<Vec<Value>> {
    Deserializer::from_str(text).into_iter().collect()
}

/// Returns true for valid JSON that the reference parser cannot represent: too deep, a number out of range, an escaped
/// lone surrogate.
fn is_json_beyond(refused: &serde_json::Error) -> bool {
    let why = refused.to_string();
    [
        "recursion limit exceeded",
        "number out of range",
        "lone leading surrogate",
        "unexpected end of hex escape",
        "invalid unicode code point",
    ]
    .iter()
    .any(|limit| why.starts_with(limit))
}
