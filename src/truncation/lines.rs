//! Previews of selected lines in their order, with an exact gap line at every cut.
//!
//! [`Chosen`] accounts for the budget while lines are selected, gaps included; [`write`] puts the lines together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::limits::{Limits, Unit};
use super::preview_buffer::Window;
use super::result::{Cut, Piece};
use super::smart::line_fingerprint::template;
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::lossy::{Shown, Source};
use crate::text::terminal::clean_line;
use crate::text::terminal::source_map::{RawRange, join};
use crate::text::utf16::incomplete_suffix;

/// A preview, and the parts of the text that it shows.
#[derive(Debug)]
pub struct Selection {
    /// The lines with the gap lines between them.
    pub text: String,
    pub cut: Cut<'static>,
}

/// A line that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The line as it is shown.
    pub text: String,
    /// Byte range of the line in the text.
    pub bytes: Range<u64>,
    /// Number of its bytes that are shown, if it is not shown completely.
    pub part: Option<u64>,
    /// Fingerprint that similar lines have in common.
    pub alike: u64,
    /// Severity that its colours show: 3 for red, 2 for yellow, 1 for others, 0 for none.
    pub tint: u8,
    /// Position in the raw output, if the text is terminal output as displayed and the position was recorded.
    pub place: Option<RawRange>,
}

impl Line {
    /// Returns the position of the line with this number in the raw output.
    pub(crate) fn place_in(&self, number: u64, window: &Window) -> RawRange {
        let (from_byte, to_byte) = (self.bytes.start, self.bytes.end);
        match (self.place, window.screen()) {
            (Some(place), _) => place,
            (None, Some(screen)) => screen.range(number, &self.bytes),
            (None, None) => RawRange { from_line: number, to_line: number, from_byte, to_byte },
        }
    }
}

/// The lines that may be shown, by number.
pub(super) type Lines = BTreeMap<u64, Line>;

/// A line takes at most this fraction of the bytes; a longer one is shown in part.
const SHARE: u64 = 4;
/// Minimum length of a partial line in bytes: less of it is useless.
const MIN: u64 = 120;
/// Marks the end of a partial line.
pub(super) const ELLIPSIS: &str = "\u{2026}";

/// Returns the maximum number of bytes shown of a line.
pub(super) fn longest(limits: &Limits) -> usize {
    let longest = limits.max_bytes.saturating_div(SHARE).max(MIN.min(limits.max_bytes / 2));
    usize::try_from(longest).unwrap_or(usize::MAX)
}

/// Returns the maximum number of bytes shown of each of `total` lines: a few share what there is.
pub(super) fn longest_of(total: u64, limits: &Limits) -> usize {
    let share = limits.max_bytes.checked_div(total).unwrap_or(0).saturating_sub(1);
    longest(limits).max(usize::try_from(share).unwrap_or(usize::MAX))
}

/// Converts a line to the form in which it is shown: well-formed, as a terminal would show it, and at most `longest`
/// bytes.
pub(super) fn line(raw: &[u8], bytes: Range<u64>, source: Source, longest: usize) -> Line {
    let is_part = (raw.len() as u64) < bytes.end - bytes.start;
    // A character that the cut splits is not part of the output, and could remain in the middle if the cursor moved
    // back.
    let cut = if is_part { incomplete_suffix(raw) } else { 0 };
    let raw = raw.get(..raw.len() - cut).unwrap_or_default();
    let shown = Shown::decode(raw, source).text;
    let cleaned = clean_line(&shown);
    let tint = tint(raw);
    let alike = match cleaned.split_whitespace().nth(1) {
        Some(_) => template(cleaned.as_bytes()),
        None => 0,
    };
    if cleaned.len() <= longest && !is_part {
        return Line { text: cleaned.into_owned(), bytes, part: None, alike, tint, place: None };
    }
    let end = graphemes::floor(&cleaned, longest.saturating_sub(ELLIPSIS.len()));
    let mut text = cleaned.get(..end).unwrap_or_default().to_owned();
    let part = text.len() as u64;
    text.push_str(ELLIPSIS);
    Line { text, part: Some(part), bytes, alike, tint, place: None }
}

/// Longest colour sequence that is read: a line of openers without an end must not be scanned once for each of them.
const MAX_SEQUENCE: usize = 16;

/// Returns the severity that the colours in a line show.
fn tint(raw: &[u8]) -> u8 {
    let mut tint = 0;
    for at in memchr::memchr_iter(0x1b, raw) {
        let code = raw.get(at + 1..raw.len().min(at + 1 + MAX_SEQUENCE)).unwrap_or_default();
        let end = code.iter().position(|byte| *byte == b'm').unwrap_or(0);
        let has = |colour: &[u8]| {
            code.get(..end).unwrap_or_default().windows(2).any(|pair| pair == colour)
        };
        let found = match () {
            () if has(b"31") || has(b"91") => 3,
            () if has(b"33") || has(b"93") => 2,
            () => u8::from(end > 2),
        };
        tint = found.max(tint);
    }
    tint
}

/// The budget of a preview.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub lines: u64,
    pub bytes: u64,
    /// Maximum length of a gap line in bytes, with its break.
    pub gap: u64,
}

impl Budget {
    /// Creates the budget for these limits, given the maximum length of a gap line.
    pub(crate) fn new(limits: &Limits, gap: usize) -> Self {
        // The last line has no break.
        let bytes = limits.max_bytes.saturating_add(1);
        Budget { lines: limits.max_lines, bytes, gap: gap as u64 + 1 }
    }
}

/// A selection of lines that stays within its budget.
pub(super) struct Chosen<'a> {
    lines: &'a Lines,
    total: u64,
    budget: Budget,
    pub numbers: BTreeSet<u64>,
    pub used_lines: u64,
    pub used_bytes: u64,
}

impl<'a> Chosen<'a> {
    pub(crate) fn new(lines: &'a Lines, total: u64, budget: Budget) -> Self {
        // One gap: nothing is selected yet.
        let numbers = BTreeSet::new();
        Chosen { lines, total, budget, numbers, used_lines: 1, used_bytes: budget.gap }
    }

    /// Adds a line if it fits within `limit`, and returns whether it is selected.
    pub(crate) fn add(&mut self, number: u64, limit: (u64, u64)) -> bool {
        if self.numbers.contains(&number) {
            return true;
        }
        let Some(line) = self.lines.get(&number) else { return false };
        let before = self.numbers.range(..number).next_back().copied().unwrap_or(0);
        let after = self.numbers.range(number..).next().copied().unwrap_or(self.total + 1);
        let gaps = i64::from(number > before + 1) + i64::from(after > number + 1) - 1;
        let lines = (self.used_lines + 1).saturating_add_signed(gaps);
        let bytes = (self.used_bytes + line.text.len() as u64 + 1)
            .saturating_add_signed(gaps * self.budget.gap as i64);
        if lines > limit.0.min(self.budget.lines) || bytes > limit.1.min(self.budget.bytes) {
            return false;
        }
        self.used_lines = lines;
        self.used_bytes = bytes;
        self.numbers.insert(number);
        true
    }

    /// Adds all of the lines if they fit within `limit`, or none, and returns whether they are selected.
    pub(crate) fn add_all(
        &mut self,
        numbers: impl Iterator<Item = u64>,
        limit: (u64, u64),
    ) -> bool {
        let before = (self.used_lines, self.used_bytes);
        let mut added = Vec::new();
        for number in numbers {
            if self.numbers.contains(&number) {
                continue;
            }
            if !self.add(number, limit) {
                for number in added {
                    self.numbers.remove(&number);
                }
                (self.used_lines, self.used_bytes) = before;
                return false;
            }
            added.push(number);
        }
        true
    }

    /// Returns the fingerprint that a line has in common with similar ones; 0 if it has none.
    pub(crate) fn alike(&self, number: u64) -> u64 {
        self.lines.get(&number).map_or(0, |line| line.alike)
    }

    pub(crate) fn all(&self) -> (u64, u64) {
        (self.budget.lines, self.budget.bytes)
    }

    /// Returns the limits for a percentage of the remaining budget on top of the part used so far.
    pub(crate) fn share(&self, percent: u64) -> (u64, u64) {
        self.part(percent, self.all())
    }

    /// Returns the limits for a percentage of what is left of `limit`.
    pub(crate) fn part(&self, percent: u64, limit: (u64, u64)) -> (u64, u64) {
        let of = |used: u64, limit: u64| {
            let left = limit.saturating_sub(used);
            used.saturating_add((u128::from(left) * u128::from(percent) / 100) as u64)
        };
        (of(self.used_lines, limit.0), of(self.used_bytes, limit.1))
    }

    /// Fills gaps of at most `max_lines` lines, since a gap line would take as much room as the lines it replaces.
    pub(crate) fn close_gaps(&mut self, max_lines: u64) {
        self.close_small_gaps(max_lines, u64::MAX);
    }

    /// Fills gaps of at most `max_lines` lines that have at most this many bytes.
    pub(crate) fn close_small_gaps(&mut self, max_lines: u64, bytes: u64) {
        let all = self.all();
        let numbers: Vec<u64> = self.numbers.iter().copied().collect();
        for pair in numbers.windows(2) {
            let [before, after] = pair else { continue };
            if after - before <= 1 || after - before > max_lines + 1 {
                continue;
            }
            let missing = self.lines.range(before + 1..*after);
            if missing.map(|(_, line)| line.text.len() as u64 + 1).sum::<u64>() <= bytes {
                self.add_all(before + 1..*after, all);
            }
        }
    }
}

/// Puts lines together. `gap` returns the gap line for the missing numbers.
pub(super) fn write(
    lines: &Lines,
    numbers: impl IntoIterator<Item = u64>,
    window: &Window,
    limits: &Limits,
    mut gap: impl FnMut(Range<u64>) -> String,
) -> Selection {
    let total = total_lines(window);
    let mut text = String::new();
    let mut pieces: Vec<Piece<'static>> = Vec::new();
    let mut ranges = Vec::new();
    let (mut next, mut shown) = (1, 0);
    for number in numbers {
        let Some(line) = lines.get(&number) else { continue };
        if number > next {
            begin(&mut text, next);
            text.push_str(&gap(next..number));
        }
        begin(&mut text, number);
        text.push_str(&line.text);
        next = number + 1;
        shown += 1;
        show(&mut pieces, number, line);
        if window.screen().is_some() {
            join(&mut ranges, line.place_in(number, window), false);
        }
    }
    if next <= total {
        begin(&mut text, next);
        text.push_str(&gap(next..total + 1));
    }
    let is_full = shown * 10 >= limits.max_lines.saturating_mul(9);
    let limited_by = if is_full { Unit::Lines } else { Unit::Bytes };
    let cut = Cut::of_pieces(pieces, limited_by, window, limits);
    let cut = match window.screen() {
        Some(screen) => screen.traced(cut, ranges, limits.line_rule),
        None => cut,
    };
    Selection { text, cut }
}

/// Returns the first and the last line of the raw output that a gap omits. Returns `None` if they were written before
/// the lines shown above them, or in the same line.
pub(super) fn missing_lines(
    lines: &Lines,
    missing: &Range<u64>,
    window: &Window,
) -> Option<(u64, u64)> {
    if window.screen().is_none() {
        return Some((missing.start, missing.end - 1));
    }
    let place = |number: u64| lines.get(&number).map(|line| line.place_in(number, window));
    let before = missing.start.checked_sub(1).and_then(place);
    let first = before.map_or(1, |before| before.to_line + 1);
    let last = match place(missing.end) {
        Some(after) => after.from_line.saturating_sub(1),
        None => {
            let raw = window.raw_totals();
            LineRule::Terminated.count(raw.breaks, raw.bytes == 0, raw.ends_with_break)
        }
    };
    (first <= last).then_some((first, last))
}

/// Returns the larger of the numbers of lines of the text and of the raw output.
pub(super) fn most_lines(window: &Window) -> u64 {
    window.totals().breaks.max(window.raw_totals().breaks) + 1
}

/// Returns the number of lines of a text whose last line may lack a break.
pub(super) fn total_lines(window: &Window) -> u64 {
    let totals = window.totals();
    LineRule::Terminated.count(totals.breaks, totals.bytes == 0, totals.ends_with_break)
}

/// Ends the previous line.
fn begin(text: &mut String, number: u64) {
    if number > 1 {
        text.push('\n');
    }
}

/// Adds a line to the shown pieces.
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
