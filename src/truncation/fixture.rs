//! Limits, buffers and previews for tests.

use super::limits::{Direction, Limits};
use super::notice::{Circumstances, ENGLISH, Wording};
use super::preview_buffer::Window;
use super::render::{Form, render};
use super::strategies::{Preview, Structured};
use crate::text::lines::LineRule;
use crate::text::lossy::Source;

/// Limits in lines and bytes only.
pub(crate) fn limits(max_lines: u64, max_bytes: u64, direction: Direction) -> Limits {
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

/// Pushes a text into a buffer in chunks of `piece` bytes.
pub(crate) fn window(text: &[u8], limits: &Limits, piece: usize) -> Window {
    let mut window = Window::new(limits);
    text.chunks(piece.max(1)).for_each(|piece| window.push(piece));
    window
}

/// Returns the preview of a text that should have the structure that the limits ask for.
pub(crate) fn preview(window: &Window, limits: &Limits) -> Option<Preview> {
    let structured = window.structured().expect("the limits ask for a form");
    structured.preview(window, Source::Text, limits, &ENGLISH)
}

/// Checks that the rendered text is within its limits, and the same whether the text comes whole or in chunks. The
/// buffer is the one with chunks.
pub(crate) fn check_rendered(
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

/// Returns the number of bytes retained for a structured preview.
pub(crate) fn held(window: &Window) -> usize {
    match window.structured().expect("the limits ask for a form") {
        Structured::Json(scanner) => scanner.held(),
        Structured::Diff(scanner) => scanner.held(),
        Structured::Csv(scanner) => scanner.held(),
        Structured::Tests(scanner) => scanner.held(),
    }
}
