//! Limits, windows and previews for tests.

use super::limits::{Direction, Limits};
use super::notice::{Circumstances, ENGLISH, Wording};
use super::preview_buffer::Window;
use super::render::{Form, render};
use super::strategies::{Preview, Structured};
use crate::text::lines::LineRule;
use crate::text::lossy::Source;

/// Limits in lines and bytes, and in nothing else.
pub fn limits(max_lines: u64, max_bytes: u64, direction: Direction) -> Limits {
    Limits {
        max_lines,
        max_bytes,
        max_tokens: u64::MAX,
        direction,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    }
}

/// A window that a text went past in pieces of so many bytes.
pub fn window(text: &[u8], limits: &Limits, piece: usize) -> Window {
    let mut window = Window::new(limits);
    text.chunks(piece.max(1)).for_each(|piece| window.push(piece));
    window
}

/// The preview of a text that should be of the form that the limits ask for.
pub fn preview(window: &Window, limits: &Limits) -> Option<Preview> {
    let structured = window.structured().expect("the limits ask for a form");
    structured.preview(window, Source::Text, limits, &ENGLISH)
}

/// Checks that what is shown of a text keeps its limits, and is the same whether it comes at once or in pieces. The window is the
/// one of the pieces.
pub fn check_rendered(
    text: &str,
    limits: Limits,
    piece: usize,
    wording: &Wording,
    inside: bool,
) -> Window {
    let [split, at_once] = [piece, usize::MAX].map(|piece| window(text.as_bytes(), &limits, piece));
    let form = Form { limits, wording, inside, notice: None, room: &[], preview: None };
    let circumstances = Circumstances { path: "/x".into(), ..Default::default() };
    let rendered = render(&split, Source::Text, &form, &circumstances);
    let shown = if inside { 0..rendered.content.len() } else { rendered.preview.clone() };
    let bound = &rendered.content[shown];
    assert!(bound.len() as u64 <= limits.max_bytes, "{bound}");
    assert!(bound.lines().count() as u64 <= limits.max_lines, "{bound}");
    assert_eq!(rendered, render(&at_once, Source::Text, &form, &circumstances));
    split
}

/// Bytes of what is remembered of a text of a form.
pub fn held(window: &Window) -> usize {
    match window.structured().expect("the limits ask for a form") {
        Structured::Json(scanner) => scanner.held(),
        Structured::Diff(scanner) => scanner.held(),
        Structured::Csv(scanner) => scanner.held(),
    }
}
