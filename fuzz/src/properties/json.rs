//! A preview of JSON is JSON, keeps its limits, and every value in it is one of the text; what is no JSON is shown otherwise.

use serde_json::{Deserializer, Value};
use spillway_core::text::lines::LineRule;
use spillway_core::text::shown::{Shown, Source};
use spillway_core::truncate::limits::Limits;
use spillway_core::truncate::notice::{CHINESE, Circumstances, ENGLISH};
use spillway_core::truncate::render::{Form, render};
use spillway_core::truncate::smart::Keep;
use spillway_core::truncate::window::Window;

use super::input::{Input, as_text};

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = Limits { keep: Keep::JsonLate, line_rule: LineRule::Terminated, ..input.limits() };
    let (source, wording) = (Source::Text, input.pick(&[&ENGLISH, &CHINESE]));
    let inside = input.flag();
    let size = input.below(512) + 1;
    let raw = as_text(&input.content(6 * 1024));

    let mut window = Window::new(&limits);
    window.push(&raw);
    let mut pieces = Window::new(&limits);
    raw.chunks(size).for_each(|piece| pieces.push(piece));
    let form = Form { limits, wording, inside, notice: None, preview: None };
    let circumstances = Circumstances { path: "/data/x.txt".to_owned(), ..Default::default() };
    let made = render(&window, source, &form, &circumstances);
    assert_eq!(render(&pieces, source, &form, &circumstances), made);
    let bound = if inside { &made.content } else { &made.content[made.preview.clone()] };
    assert!(bound.len() as u64 <= limits.max_bytes, "{bound}");
    assert!(bound.lines().count() as u64 <= limits.max_lines, "{bound}");

    let structured = window.structured().expect("the limits ask for it");
    let Some(made) = structured.preview(&window, source, &limits, &ENGLISH) else { return };
    let text = Shown::decode(&raw, source).text;
    let shown = values(&made.text);
    // What is nested deeper than this parser goes is JSON all the same, and so is half a pair that is escaped.
    if let (Some(shown), Some(whole)) = (shown, values(text.trim_start_matches('\u{feff}'))) {
        let mut rest = whole.iter();
        for part in &shown {
            assert!(rest.any(|whole| is_part(part, whole)), "{} of {text}", made.text);
        }
    } else {
        assert!(
            text.contains("[[") || text.contains("\\u") || text.contains("{\""),
            "{}",
            made.text
        );
    }
}

fn values(text: &str) -> Option<Vec<Value>> {
    Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| is_part(part, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter().all(|part| rest.any(|whole| is_part(part, whole)))
        }
        (Value::String(part), Value::String(whole)) => {
            part == whole
                || part.match_indices('\u{2026}').any(|(at, ellipsis)| {
                    whole.starts_with(&part[..at]) && whole.ends_with(&part[at + ellipsis.len()..])
                })
        }
        _ => part == whole,
    }
}
