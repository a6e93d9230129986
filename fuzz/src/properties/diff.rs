//! A preview of a diff is within its limits, and shows lines of the text under their numbers; counts in gap lines add
//! up.

use spillway_core::text::lossy::{Shown, Source};
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::smart::{Keep, Lean};

use super::input::{Input, as_text};
use super::rendered::Case;
use super::smart::check_lines;

/// Lines that a case is built from if it is not arbitrary text.
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
    let keep = input.pick(&[Keep::Diff(Lean::Late), Keep::Diff(Lean::Early)]);
    let case = Case::new(&mut input, keep);
    let raw = if input.flag() {
        as_text(&input.content(6 * 1024))
    } else {
        let choices = input.content(1024);
        let lines = choices.iter().map(|choice| LINES[usize::from(*choice) % LINES.len()]);
        lines.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
    };

    let window = case.window(&raw);
    case.check(&window, &raw);

    let structured = window.structured().expect("the limits ask for it");
    let Some(made) = structured.preview(&window, Source::Text, &case.limits, &ENGLISH) else {
        return;
    };
    check_lines(&Shown::decode(&raw, Source::Text).text, &made.text);
    assert!(made.cut.kept_bytes() <= raw.len() as u64);
    assert!(made.cut.kept_lines() <= made.cut.total_lines);
}
