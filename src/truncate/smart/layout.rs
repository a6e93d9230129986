//! The chosen lines in their order, with the exact gap at every cut.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::scan::Scanner;
use super::select::{Budget, Line, Lines, choose};
use super::template::template;
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::shown::{Shown, Source};
use crate::text::terminal::clean_line;
use crate::text::terminal::origins::{RawRange, join};
use crate::truncate::cut::{Cut, Piece};
use crate::truncate::limits::{Direction, Limits, Unit};
use crate::truncate::notice::Wording;
use crate::truncate::window::Window;

/// A preview and what it shows of the text.
#[derive(Debug)]
pub struct Selection {
    /// The shown lines with the gaps between them.
    pub text: String,
    /// What of the text is shown.
    pub cut: Cut<'static>,
}

/// A line takes at most this share of the bytes; a longer one is shown in part.
const SHARE: u64 = 4;
/// Shorter than this, part of a line says nothing.
const LEAST: u64 = 120;
/// What stands behind a part of a line.
const ELLIPSIS: &str = "\u{2026}";

/// A preview within these limits; nothing if there is no room for any line.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Selection> {
    let totals = window.totals();
    let total =
        LineRule::Terminated.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
    let longest = limits.max_bytes.saturating_div(SHARE).max(LEAST.min(limits.max_bytes / 2));
    let longest = usize::try_from(longest).unwrap_or(usize::MAX);
    let found = scanner.findings();
    let mut lines = ends(window, source, total, longest);
    for finding in &found.0 {
        let bytes = finding.start..finding.end;
        let place = finding.place.unwrap_or_else(|| own_place(finding.line, &bytes));
        lines
            .entry(finding.line)
            .or_insert_with(|| line(&finding.text, bytes, place, source, longest));
    }
    let most = totals.breaks.max(window.raw_totals().breaks) + 1;
    let gap = wording.gap(most, most, most, None).len() as u64 + 1;
    // The last line has no break.
    let budget = Budget { lines: limits.max_lines, bytes: limits.max_bytes.saturating_add(1), gap };
    let numbers = choose(&lines, &found, total, budget, limits.keep);
    if numbers.is_empty() {
        return None;
    }
    Some(write(&lines, &numbers, total, window, limits, wording))
}

/// The lines of both ends, as far as they are there.
fn ends(window: &Window, source: Source, total: u64, longest: usize) -> Lines {
    let mut lines = Lines::new();
    let (head, is_all) = window.head();
    let mut start = 0;
    let mut number = 1;
    let place = |number: u64, bytes: &std::ops::Range<u64>| match window.screen() {
        Some(screen) => screen.range(number, bytes),
        None => own_place(number, bytes),
    };
    let whole = |text: &[u8], within: std::ops::Range<usize>, offset: u64, number: u64| {
        let raw = text.get(within.clone()).unwrap_or_default();
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let start = offset + within.start as u64;
        let bytes = start..start + raw.len() as u64;
        let place = place(number, &bytes);
        line(raw, bytes, place, source, longest)
    };
    for end in memchr_iter(b'\n', head) {
        lines.insert(number, whole(head, start..end, 0, number));
        start = end + 1;
        number += 1;
    }
    if start < head.len() && (is_all || number == 1) {
        let last = if is_all {
            whole(head, start..head.len(), 0, number)
        } else {
            // It goes on behind what was kept of it.
            let raw = head.get(start..).unwrap_or_default();
            let bytes = start as u64..window.head_line_end();
            let place = place(number, &bytes);
            line(raw, bytes, place, source, longest)
        };
        lines.insert(number, last);
    }
    let (tail, is_all) = window.tail();
    if is_all || is_all_shown(&lines, total) {
        return lines;
    }
    let offset = window.totals().bytes - tail.len() as u64;
    let ended = tail.strip_suffix(b"\n").unwrap_or(tail);
    let (mut end, mut number) = (ended.len(), total);
    for at in memchr::memrchr_iter(b'\n', ended) {
        let line = whole(tail, at + 1..end, offset, number);
        lines.entry(number).or_insert(line);
        end = at;
        number -= 1;
    }
    lines
}

fn is_all_shown(lines: &Lines, total: u64) -> bool {
    lines.len() as u64 == total
}

/// The place of a line in what is saved, where that is the very text.
fn own_place(number: u64, bytes: &std::ops::Range<u64>) -> RawRange {
    let (from_byte, to_byte) = (bytes.start, bytes.end);
    RawRange { from_line: number, to_line: number, from_byte, to_byte }
}

/// A line as it is shown: well-formed, as a terminal would show it, not longer than allowed.
fn line(
    raw: &[u8],
    bytes: std::ops::Range<u64>,
    place: RawRange,
    source: Source,
    longest: usize,
) -> Line {
    let is_part = (raw.len() as u64) < bytes.end - bytes.start;
    let shown = Shown::decode(raw, source).text;
    let cleaned = clean_line(&shown);
    let alike = match cleaned.split_whitespace().nth(1) {
        Some(_) => template(cleaned.as_bytes()),
        None => 0,
    };
    if cleaned.len() <= longest && !is_part {
        return Line { text: cleaned.into_owned(), bytes, part: None, alike, place };
    }
    let end = graphemes::floor(&cleaned, longest.saturating_sub(ELLIPSIS.len()));
    let mut text = cleaned.get(..end).unwrap_or_default().to_owned();
    let part = text.len() as u64;
    text.push_str(ELLIPSIS);
    Line { text, part: Some(part), bytes, alike, place }
}

fn write(
    lines: &Lines,
    numbers: &[u64],
    total: u64,
    window: &Window,
    limits: &Limits,
    wording: &Wording,
) -> Selection {
    let mut text = String::new();
    let mut pieces: Vec<Piece<'static>> = Vec::new();
    let mut ranges = Vec::new();
    let raw = window.raw_totals();
    let last = LineRule::Terminated.count(raw.breaks, raw.bytes == 0, raw.ends_with_break);
    let gaps = Gaps { lines, wording, total: last };
    let mut next = 1;
    let mut spare = limits.max_bytes.saturating_sub(gaps.room(numbers, total));
    for number in numbers {
        let Some(line) = lines.get(number) else { continue };
        if *number > next {
            gaps.write(&mut text, next..*number, &mut spare);
        }
        if !text.is_empty() || *number > 1 && next > 1 {
            text.push('\n');
        }
        text.push_str(&line.text);
        next = number + 1;
        show(&mut pieces, *number, line);
        join(&mut ranges, line.place, false);
    }
    if next <= total {
        gaps.write(&mut text, next..total + 1, &mut spare);
    }
    let totals = window.totals();
    let total_lines =
        limits.line_rule.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
    let shown = numbers.len() as u64;
    let limited_by =
        if shown * 10 >= limits.max_lines.saturating_mul(9) { Unit::Lines } else { Unit::Bytes };
    let cut = Cut {
        pieces,
        limited_by,
        direction: Direction::Both,
        total_lines,
        total_bytes: totals.bytes,
        total_tokens: window.tokens(),
        traced: None,
    };
    let cut = match window.screen() {
        Some(screen) => screen.traced(cut, ranges, limits.line_rule),
        None => cut,
    };
    Selection { text, cut }
}

/// What is said where lines are missing. Its numbers are those of what is saved.
struct Gaps<'a> {
    lines: &'a Lines,
    wording: &'a Wording,
    /// The number of the last line there is.
    total: u64,
}

impl Gaps<'_> {
    /// Of these lines, which may all be like the one before them.
    fn text(&self, missing: &std::ops::Range<u64>, like: bool) -> String {
        let place = |number: u64| self.lines.get(&number).map(|line| line.place);
        let before = missing.start.checked_sub(1).and_then(place);
        let first = before.map_or(1, |before| before.to_line + 1);
        let last = match place(missing.end) {
            Some(after) => after.from_line.saturating_sub(1),
            None => self.total,
        };
        if last < first {
            // They were written before what is shown above them, or in the same line.
            return self.wording.marker(Unit::Lines, missing.end - missing.start);
        }
        let like = before.filter(|_| like).map(|before| before.from_line);
        self.wording.gap(last + 1 - first, first, last, like)
    }

    /// Bytes of the preview without what gaps say of repeats.
    fn room(&self, numbers: &[u64], total: u64) -> u64 {
        let mut bytes = 0;
        let mut next = 1;
        let gap = |from: u64, to: u64| self.text(&(from..to), false).len() as u64 + 1;
        for number in numbers {
            if *number > next {
                bytes += gap(next, *number);
            }
            bytes += self.lines.get(number).map_or(0, |line| line.text.len() as u64 + 1);
            next = number + 1;
        }
        if next <= total {
            bytes += gap(next, total + 1);
        }
        bytes.saturating_sub(1)
    }

    fn write(&self, text: &mut String, missing: std::ops::Range<u64>, spare: &mut u64) {
        if missing.start > 1 {
            text.push('\n');
        }
        let plain = self.text(&missing, false);
        let is_run =
            missing.start.checked_sub(1).is_some_and(|line| is_run(self.lines, line, &missing));
        let folded = Some(self.text(&missing, true)).filter(|_| is_run);
        match folded.filter(|folded| folded.len() as u64 <= plain.len() as u64 + *spare) {
            Some(folded) => {
                *spare -= (folded.len() - plain.len()) as u64;
                text.push_str(&folded);
            }
            None => text.push_str(&plain),
        }
    }
}

/// Whether all that is missing is like the line before it.
fn is_run(lines: &Lines, before: u64, missing: &std::ops::Range<u64>) -> bool {
    let Some(alike) = lines.get(&before).map(|line| line.alike).filter(|alike| *alike != 0) else {
        return false;
    };
    let count = missing.end - missing.start;
    count <= lines.len() as u64
        && missing.clone().all(|number| lines.get(&number).is_some_and(|line| line.alike == alike))
}

/// Adds a line to what is shown.
fn show(pieces: &mut Vec<Piece<'static>>, number: u64, line: &Line) {
    let shown =
        line.part.map_or(line.bytes.end, |part| line.bytes.end.min(line.bytes.start + part));
    let partial = line.part.map(|_| (number, line.bytes.clone()));
    let open = pieces
        .last_mut()
        .filter(|last| last.last_line + 1 == number && last.partial.is_none() && partial.is_none());
    match open {
        Some(last) => {
            last.last_line = number;
            last.bytes.end = shown;
            last.text = Cow::Borrowed("\n");
        }
        None => pieces.push(Piece {
            text: Cow::Borrowed("\n"),
            bytes: line.bytes.start..shown,
            first_line: number,
            last_line: number,
            partial,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Mode, of_text};
    use crate::truncate::fixture::{self, window};
    use crate::truncate::notice::{CHINESE, Circumstances, ENGLISH, contains_marker};
    use crate::truncate::render::{Form, render};
    use crate::truncate::smart::Keep;
    use proptest::prelude::*;

    fn limits(max_lines: u64, max_bytes: u64) -> Limits {
        Limits { keep: Keep::SmartLate, ..fixture::limits(max_lines, max_bytes, Direction::Head) }
    }

    fn shown(text: &str, limits: Limits) -> String {
        let window = window(text.as_bytes(), &limits, 1000);
        let scanner = window.scanner().unwrap();
        preview(&window, scanner, Source::Text, &limits, &ENGLISH).unwrap().text
    }

    /// Every line that is shown, by the number that the gaps give it; what is missing is as long as the gap says.
    fn check(text: &str, preview: &str) -> Result<(), TestCaseError> {
        let lines: Vec<&str> = text.lines().collect();
        let mut next = 0;
        for line in preview.split('\n') {
            let gap = line.strip_prefix("...").filter(|gap| gap.contains(" lines truncated: "));
            if let Some(gap) = gap {
                let numbers: Vec<usize> = gap
                    .split(|char: char| !char.is_ascii_digit())
                    .filter_map(|number| number.parse().ok())
                    .collect();
                prop_assert_eq!(numbers[1], next + 1);
                prop_assert_eq!(numbers[2] + 1 - numbers[1], numbers[0]);
                next = numbers[2];
            } else if let Some(start) = line.strip_suffix(ELLIPSIS) {
                prop_assert!(clean_line(lines[next]).starts_with(start));
                next += 1;
            } else {
                prop_assert_eq!(clean_line(lines[next]), line);
                next += 1;
            }
        }
        prop_assert_eq!(next, lines.len());
        Ok(())
    }

    const STARTS: [&str; 9] = [
        "error: ",
        "warning: ",
        "  at f (x.js) ",
        "\u{1b}[31mFAIL\u{1b}[0m ",
        "ok ",
        "\u{4f60}\u{1f469}\u{200d}\u{1f469}",
        "10%\r20%\r",
        "",
        "Error: ",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn previews_keep_their_limits_and_show_true_lines(
            lines in prop::collection::vec((0..STARTS.len(), 0usize..60), 1..300),
            max_lines in 1u64..120,
            max_bytes in 1u64..6000,
            piece in 1usize..9000,
            max_tokens in prop::option::of(1u64..900),
            inside in any::<bool>(),
        ) {
            let mut text = String::new();
            for (kind, length) in lines {
                let length = if length == 59 { 30_000 } else { length };
                text.push_str(STARTS[kind]);
                text.extend(std::iter::repeat_n(if kind == 5 { '\u{597d}' } else { 'x' }, length));
                text.push('\n');
            }
            let max_tokens = max_tokens.unwrap_or(u64::MAX);
            let limits = Limits { max_tokens, ..limits(max_lines, max_bytes) };
            let split = window(text.as_bytes(), &limits, piece);
            let form = Form { limits, wording: &ENGLISH, inside, notice: None, preview: None };
            let circumstances = Circumstances { path: "/x".into(), ..Default::default() };
            let made = render(&split, Source::Text, &form, &circumstances);
            let bound = if inside { &made.content } else { &made.content[made.preview.clone()] };
            prop_assert!(bound.len() as u64 <= max_bytes);
            prop_assert!(bound.lines().count() as u64 <= max_lines);
            prop_assert!(of_text(bound, Mode::Upper) <= limits.max_tokens);
            let whole = window(text.as_bytes(), &limits, usize::MAX);
            prop_assert_eq!(&render(&whole, Source::Text, &form, &circumstances), &made);
            let scanner = split.scanner().unwrap();
            let selection = preview(&split, scanner, Source::Text, &limits, &ENGLISH);
            if let Some(selection) = selection {
                check(&text, &selection.text)?;
            }
        }
    }

    #[test]
    fn ten_errors_in_a_long_log_are_all_kept() {
        let places = [400, 1900, 4000, 6000, 9000, 11_000, 13_500, 16_000, 18_800, 19_980];
        let mut text = String::new();
        for line in 0..20_000 {
            text.push_str(&if places.contains(&line) {
                format!("src/m{line}.c:{line}:7: error: undeclared 'x{line}'\n    int y = x;\n        ^\n")
            } else {
                format!("[{line}/20000] Building C object app.dir/src/file{line}.c.o\n")
            });
        }
        for (max_lines, max_bytes) in [(2000, 40_000), (100, 4096)] {
            let preview = shown(&text, limits(max_lines, max_bytes));
            assert_eq!(preview.matches("error: undeclared").count(), 10, "{preview}");
            assert!(preview.len() as u64 <= max_bytes);
        }
    }

    #[test]
    fn a_run_of_lines_that_are_alike_is_folded() {
        let mut text = String::from("start\n");
        for line in 0..500 {
            text.push_str(&format!("Downloading chunk {line} of 500\n"));
        }
        text.push_str("done\n");
        let preview = shown(&text, limits(50, 4096));
        assert!(preview.contains("all like line"), "{preview}");
        assert!(preview.lines().count() < 12, "{preview}");
        assert!(contains_marker(&preview));
        assert!(contains_marker(&CHINESE.gap(3, 5, 7, None)));
        assert!(!contains_marker("...x lines truncated: 1-2..."));
    }

    #[test]
    fn frames_of_the_user_come_before_those_of_libraries() {
        let mut text = "step\n".repeat(3000);
        text.push_str("TypeError: x is not a function\n");
        for line in 0..20 {
            text.push_str(&format!("    at lib{line} (/app/node_modules/lib/index.js:{line}:1)\n"));
        }
        text.push_str("    at handler (/app/src/handler.js:10:5)\n");
        text.push_str(&"step\n".repeat(3000));
        let preview = shown(&text, limits(30, 700));
        assert!(preview.contains("TypeError: x is not a function"));
        assert!(preview.contains("at handler (/app/src/handler.js:10:5)"), "{preview}");
    }
}
