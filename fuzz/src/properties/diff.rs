//! A preview of a diff keeps its limits, and shows true lines under their true numbers; counts in gaps add up.

use spillway_core::text::lines::LineRule;
use spillway_core::text::shown::{Shown, Source};
use spillway_core::truncate::limits::Limits;
use spillway_core::truncate::notice::{CHINESE, Circumstances, ENGLISH};
use spillway_core::truncate::render::{Form, render};
use spillway_core::truncate::smart::Keep;
use spillway_core::truncate::window::Window;

use super::input::{Input, as_text};
use super::smart::check_lines;

/// Lines that a case is put together from, where it is not any text.
const LINES: [&str; 16] = [
    "diff --git a/x b/x",
    "--- a/x",
    "+++ b/x",
    "@@ -1,2 +1,2 @@ fn f()",
    "@@ -1 +1 @@",
    "@@@ -1,2 -1 +1,2 @@@",
    " same",
    "-old",
    "+new",
    "",
    "\\ No newline at end of file",
    "commit 0123456789012345678901234567890123456789",
    "    Subject",
    "rename to y",
    "Binary files a/x and b/x differ",
    "\u{1b}[32m+\u{4f60}\u{1b}[m\r",
];

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let keep = input.pick(&[Keep::DiffLate, Keep::DiffEarly]);
    let limits = Limits { keep, line_rule: LineRule::Terminated, ..input.limits() };
    let (source, wording) = (Source::Text, input.pick(&[&ENGLISH, &CHINESE]));
    let inside = input.flag();
    let size = input.below(512) + 1;
    let raw = if input.flag() {
        as_text(&input.content(6 * 1024))
    } else {
        let choices = input.content(1024);
        let lines = choices.iter().map(|choice| LINES[usize::from(*choice) % LINES.len()]);
        lines.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
    };

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
    check_lines(&Shown::decode(&raw, source).text, &made.text);
    assert!(made.cut.kept_bytes() <= raw.len() as u64);
    assert!(made.cut.kept_lines() <= made.cut.total_lines);
}
