//! Renders a preview: the candidate lines, and the gap lines between the chosen ones.

use std::ops::Range;

use memchr::memchr_iter;

use super::features::Row;
use super::scan::{Found, Scanner};
use super::select::{choose, describe_lines};
use crate::text::lossy::Source;
use crate::truncation::limits::{Limits, Unit};
use crate::truncation::lines::{
    Budget, Line, Lines, Selection, line, longest_of, missing_lines, most_lines, total_lines, write,
};
use crate::truncation::notice::Wording;
use crate::truncation::preview_buffer::Window;

/// A preview within these limits; nothing if there is no room for any line.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Selection> {
    let total = total_lines(window);
    let longest = longest_of(total, limits);
    let found = scanner.findings();
    let mut lines = ends(window, source, total, longest);
    let matches = found.asked.iter().flat_map(|(_, (matches, _))| matches);
    for finding in found.findings.iter().chain(matches) {
        lines.entry(finding.line).or_insert_with(|| Line {
            place: finding.place,
            ..line(&finding.text, finding.start..finding.end, source, longest)
        });
    }
    let widest = most_lines(window);
    let budget = Budget::new(limits, wording.gap(widest, widest, widest, None).len());
    let size = window.totals().bytes;
    let numbers = choose(&lines, &found, (total, size), budget, limits.keep, scanner.rules());
    if numbers.is_empty() {
        return None;
    }
    let gaps = Gaps { lines: &lines, window, wording };
    let mut spare = limits.max_bytes.saturating_sub(gaps.room(&numbers, total));
    let in_gap = |missing| gaps.folded(missing, &mut spare);
    Some(write(&lines, numbers.iter().copied(), window, limits, in_gap))
}

/// The lines that may be shown with their features, for training: their numbers, lengths in bytes and features.
pub fn describe(window: &Window, scanner: &Scanner, limits: &Limits) -> Vec<(u64, u64, Row)> {
    let total = total_lines(window);
    let longest = longest_of(total, limits);
    let Found { findings, counts, .. } = scanner.findings();
    let mut lines = ends(window, Source::Text, total, longest);
    for finding in &findings {
        lines.entry(finding.line).or_insert_with(|| {
            line(&finding.text, finding.start..finding.end, Source::Text, longest)
        });
    }
    let totals = (total, window.totals().bytes);
    let described = describe_lines(&lines, &(findings, counts), totals, scanner.rules());
    let length = |number| lines.get(&number).map_or(0, |line| line.text.len() as u64 + 1);
    described.rows.into_iter().map(|(number, row)| (number, length(number), row)).collect()
}

/// The lines of both ends, as far as they are there.
fn ends(window: &Window, source: Source, total: u64, longest: usize) -> Lines {
    let mut lines = Lines::new();
    let (head, is_all) = window.head();
    let mut start = 0;
    let mut number = 1;
    for end in memchr_iter(b'\n', head) {
        lines.insert(number, whole(head, start..end, 0, source, longest));
        start = end + 1;
        number += 1;
    }
    if start < head.len() && (is_all || number == 1) {
        let last = if is_all {
            whole(head, start..head.len(), 0, source, longest)
        } else {
            // The line continues after the part that was kept.
            let raw = head.get(start..).unwrap_or_default();
            line(raw, start as u64..window.head_line_end(), source, longest)
        };
        lines.insert(number, last);
    }
    if is_all_shown(&lines, total) {
        return lines;
    }
    let (tail, _) = window.tail();
    let offset = window.totals().bytes - tail.len() as u64;
    let ended = tail.strip_suffix(b"\n").unwrap_or(tail);
    let (mut end, mut number) = (ended.len(), total);
    for at in memchr::memrchr_iter(b'\n', ended) {
        let line = whole(tail, at + 1..end, offset, source, longest);
        lines.entry(number).or_insert(line);
        end = at;
        number -= 1;
    }
    lines
}

fn is_all_shown(lines: &Lines, total: u64) -> bool {
    lines.len() as u64 == total
}

fn whole(text: &[u8], place: Range<usize>, offset: u64, source: Source, longest: usize) -> Line {
    let raw = text.get(place.clone()).unwrap_or_default();
    let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
    let start = offset + place.start as u64;
    line(raw, start..start + raw.len() as u64, source, longest)
}

/// The text where lines are missing. Its numbers are those of the saved output.
struct Gaps<'a> {
    lines: &'a Lines,
    window: &'a Window,
    wording: &'a Wording,
}

impl Gaps<'_> {
    /// Returns the text for these missing lines; `like` is a line before them that they all resemble.
    fn text(&self, missing: &Range<u64>, like: Option<u64>) -> String {
        match missing_lines(self.lines, missing, self.window) {
            Some((first, last)) => self.wording.gap(last + 1 - first, first, last, like),
            None => self.wording.marker(Unit::Lines, missing.end - missing.start),
        }
    }

    /// Bytes of the preview without what gaps say of repeats.
    fn room(&self, numbers: &[u64], total: u64) -> u64 {
        let mut bytes = 0;
        let mut next = 1;
        let gap = |missing: Range<u64>| self.text(&missing, None).len() as u64 + 1;
        for number in numbers {
            if *number > next {
                bytes += gap(next..*number);
            }
            bytes += self.lines.get(number).map_or(0, |line| line.text.len() as u64 + 1);
            next = number + 1;
        }
        if next <= total {
            bytes += gap(next..total + 1);
        }
        bytes.saturating_sub(1)
    }

    /// That all of it is alike, too, if there is room to say so.
    fn folded(&self, missing: Range<u64>, spare: &mut u64) -> String {
        let plain = self.text(&missing, None);
        let before = missing.start.checked_sub(1);
        let alike = before.filter(|line| is_run(self.lines, *line, &missing)).and_then(|number| {
            let line = self.lines.get(&number)?;
            Some(line.place_in(number, self.window).from_line)
        });
        let folded = alike.map(|line| self.text(&missing, Some(line)));
        match folded.filter(|folded| folded.len() as u64 <= plain.len() as u64 + *spare) {
            Some(folded) => {
                *spare -= (folded.len() - plain.len()) as u64;
                folded
            }
            None => plain,
        }
    }
}

/// Returns true if all missing lines are like the line before them.
fn is_run(lines: &Lines, before: u64, missing: &Range<u64>) -> bool {
    let Some(alike) = lines.get(&before).map(|line| line.alike).filter(|alike| *alike != 0) else {
        return false;
    };
    let count = missing.end - missing.start;
    count <= lines.len() as u64
        && missing.clone().all(|number| lines.get(&number).is_some_and(|line| line.alike == alike))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::terminal::clean_line;
    use crate::tokens::{Mode, of_text};
    use crate::truncation::fixture::{self, window};
    use crate::truncation::limits::Direction;
    use crate::truncation::lines::ELLIPSIS;
    use crate::truncation::notice::{CHINESE, Circumstances, ENGLISH, contains_marker};
    use crate::truncation::render::{Form, render};
    use crate::truncation::smart::{Keep, Lean};
    use proptest::prelude::*;

    fn limits(max_lines: u64, max_bytes: u64) -> Limits {
        Limits {
            keep: Keep::Smart(Lean::Late),
            ..fixture::limits(max_lines, max_bytes, Direction::Head)
        }
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

    #[test]
    fn a_line_that_goes_back_and_is_cut_in_a_character_has_no_half_of_it() {
        let other = "other\n".repeat(40_000);
        for ahead in 0..2 {
            let (row, more) = ("-".repeat(9000), "\u{e9}".repeat(9000));
            let line = format!("error: {row}\rerror: {}{more}\n", "a".repeat(ahead));
            let preview = shown(&format!("{other}{line}{other}"), limits(10, 100_000));
            assert!(preview.contains(ELLIPSIS), "{preview}");
            assert!(!preview.contains('\u{fffd}'), "{preview}");
        }
    }

    #[test]
    fn a_long_line_that_is_the_last_and_has_no_break_is_shown_in_part() {
        let other = "other\n".repeat(40_000);
        let title = "\u{1b}]0;";
        for (hidden, length, max_bytes) in
            [(title, 300_000, 4000), (title, 300_000, 100_000), ("", 300_000, 100_000)]
        {
            let line = format!("error: {hidden}{}", "x".repeat(length));
            let preview = shown(&format!("{other}{line}"), limits(10, max_bytes));
            let last = preview.lines().last().unwrap();
            assert!(last.starts_with("error: ") && last.ends_with(ELLIPSIS), "{hidden:?}{length}");
        }
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
            let form = Form { limits, wording: &ENGLISH, inside, notice: None, room: &[], preview: None };
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
