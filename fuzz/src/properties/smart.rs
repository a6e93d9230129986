//! A smart preview is within its limits, states which lines are missing, and shows lines of the text under their
//! numbers.

use spillway_core::text::lossy::{Shown, Source};
use spillway_core::text::terminal::clean_line as clean;
use spillway_core::truncation::head_tail::fits;
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::smart::{Keep, Lean, preview};

use super::input::{Input, as_text};
use super::rendered::Case;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let keep = input.pick(&[Keep::Smart(Lean::Late), Keep::Smart(Lean::Early)]);
    let case = Case::new(&mut input, keep);
    let raw = as_text(&input.content(6 * 1024));

    let window = case.window(&raw);
    if fits(&window, Source::Text, &case.limits) {
        return;
    }
    case.check(&window, &raw);

    let scanner = window.scanner().expect("the limits ask for it");
    if let Some(selection) = preview(&window, scanner, Source::Text, &case.limits, &ENGLISH) {
        let text = Shown::decode(&raw, Source::Text).text;
        check_lines(&text, &selection.text);
        assert!(selection.cut.kept_bytes() <= raw.len() as u64);
        assert!(selection.cut.kept_lines() <= selection.cut.total_lines);
    }
}

/// Checks the number of every line by counting on from each gap.
pub(super) fn check_lines(text: &str, preview: &str) {
    let lines: Vec<&str> =
        text.split_terminator('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let mut next = 0;
    for line in preview.split('\n') {
        // A line of the text may look like a gap line; it is one only if it continues at the current number.
        if let Some((from, to)) = gap(line).filter(|(from, _)| *from == next + 1)
            && lines.get(next).is_none_or(|own| clean(own) != line)
        {
            assert!(from <= to && to <= lines.len(), "{line}");
            next = to;
            continue;
        }
        let raw = lines.get(next).copied().unwrap_or_default();
        let own = clean(raw);
        let is_true = own == line
            || line
                .strip_suffix('\u{2026}')
                .is_some_and(|start| own.starts_with(start) || was_seen(raw, start));
        assert!(is_true, "line {}: {line:?} of {own:?}", next + 1);
        next += 1;
    }
    assert_eq!(next, lines.len());
}

/// Returns true if the terminal showed this at some time: a long line is shown as far as it was examined, and later
/// text can overwrite it.
fn was_seen(raw: &str, start: &str) -> bool {
    raw.contains(['\r', '\u{8}', '\u{1b}'])
        && raw
            .char_indices()
            // These only move the cursor.
            .filter(|(at, _)| !raw[..*at].ends_with(['\r', '\u{8}']))
            .any(|(at, _)| clean(&raw[..at]).starts_with(start))
}

/// Parses a gap line. A partial line of the text that begins like one ends in an ellipsis.
fn gap(line: &str) -> Option<(usize, usize)> {
    let line = line.strip_suffix("...")?;
    let (count, rest) = line.strip_prefix("...")?.split_once(" lines truncated: ")?;
    let (from, rest) = rest.split_once('-')?;
    let to = rest.split(|char: char| !char.is_ascii_digit()).next()?;
    let (count, from, to): (usize, usize, usize) =
        (count.parse().ok()?, from.parse().ok()?, to.parse().ok()?);
    (to + 1 == from + count).then_some((from, to))
}
