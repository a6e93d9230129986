//! Which part of a text stays.
//!
//! Whole lines, as many as both limits allow. Only when not even one line with text fits is it cut inside, between two
//! graphemes, so that the preview of a text is never empty unless the budget is smaller than one grapheme. The break at
//! the cut, and the break that ends the text, are not part of the preview.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use super::limits::{Direction, Limits, Unit};
use super::window::{Totals, Window};
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::shown::{Shown, Source};

/// A stretch of the text that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// What is shown: well-formed, within the limits.
    pub text: Cow<'a, str>,
    /// The bytes of the original that it shows.
    pub bytes: std::ops::Range<u64>,
    /// The number of its first line; lines count from 1.
    pub first_line: u64,
    /// The number of its last line.
    pub last_line: u64,
    /// The line that is not shown whole, if any: its number and its bytes.
    pub partial: Option<(u64, std::ops::Range<u64>)>,
}

/// A line that is not shown whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partial {
    /// The number of the line.
    pub line: u64,
    /// Its bytes that are shown.
    pub shown: u64,
    /// Its bytes, without the break.
    pub total: u64,
}

/// What stays of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The stretches that are shown, in order; a gap lies between two of them.
    pub pieces: Vec<Piece<'a>>,
    /// The limit that stopped the cut.
    pub limited_by: Unit,
    /// The direction that was used: a budget too small for two ends shows the start alone.
    pub direction: Direction,
    /// Lines of the text.
    pub total_lines: u64,
    /// Bytes of the text.
    pub total_bytes: u64,
}

impl Cut<'_> {
    /// Lines of which something is shown.
    pub fn kept_lines(&self) -> u64 {
        let mut lines = 0;
        let mut last = 0;
        for piece in self.pieces.iter().filter(|piece| !piece.text.is_empty()) {
            lines += piece.last_line + 1 - piece.first_line.max(last + 1).min(piece.last_line + 1);
            last = piece.last_line;
        }
        lines
    }

    /// Bytes of the original that are shown.
    pub fn kept_bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes.end - piece.bytes.start).sum()
    }

    /// Lines of which nothing is shown.
    pub fn removed_lines(&self) -> u64 {
        self.total_lines - self.kept_lines()
    }

    /// Bytes of the original that are not shown.
    pub fn removed_bytes(&self) -> u64 {
        self.total_bytes - self.kept_bytes()
    }

    /// The first line that is not shown whole, which is where to read on.
    pub fn next_line(&self) -> u64 {
        match self.pieces.first() {
            Some(piece) if piece.first_line == 1 && !piece.text.is_empty() => {
                piece.partial.as_ref().map_or(piece.last_line + 1, |(line, _)| *line)
            }
            _ => 1,
        }
    }

    /// How many bytes are shown from the start on, before the first that is not.
    pub fn shown_from_start(&self) -> u64 {
        let first = self.pieces.first().filter(|piece| piece.bytes.start == 0);
        first.map_or(0, |piece| piece.bytes.end)
    }

    /// The lines that are not shown whole; a line that both ends show a part of is one.
    pub fn partials(&self) -> Vec<Partial> {
        let mut partials: Vec<Partial> = Vec::new();
        for piece in &self.pieces {
            let Some((line, range)) = &piece.partial else { continue };
            let shown = piece.bytes.end.min(range.end) - piece.bytes.start.max(range.start);
            match partials.last_mut().filter(|partial| partial.line == *line) {
                Some(partial) => partial.shown += shown,
                None => {
                    partials.push(Partial { line: *line, shown, total: range.end - range.start })
                }
            }
        }
        partials
    }
}

#[cfg(test)]
impl Cut<'_> {
    /// The same without the window.
    pub(super) fn into_owned(self) -> Cut<'static> {
        let owned = |piece: Piece<'_>| Piece { text: Cow::Owned(piece.text.into_owned()), ..piece };
        Cut { pieces: self.pieces.into_iter().map(owned).collect(), ..self }
    }
}

/// Cuts the text that went through a window which was made for these limits or wider ones.
///
/// `gap_bytes` is the room that the line between two ends needs; it counts against the limits.
pub fn cut<'a>(window: &'a Window, source: Source, limits: &Limits, gap_bytes: u64) -> Cut<'a> {
    let totals = window.totals();
    let rule = limits.line_rule;
    let total_lines = rule.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
    let done = |pieces, limited_by, direction| Cut {
        pieces,
        limited_by,
        direction,
        total_lines,
        total_bytes: totals.bytes,
    };
    let gap = Limits {
        max_lines: limits.max_lines.saturating_sub(1),
        max_bytes: limits.max_bytes.saturating_sub(gap_bytes.saturating_add(2)),
        ..*limits
    };
    match limits.direction {
        Direction::Tail => {
            let (piece, unit) = tail(window, source, limits, total_lines, Blank::Show);
            done(vec![piece], unit, Direction::Tail)
        }
        // Two ends need a line each and something to show in it.
        Direction::Both if gap.max_lines >= 2 && gap.max_bytes >= 2 => {
            let half = Limits {
                max_lines: gap.max_lines.div_ceil(2),
                max_bytes: gap.max_bytes.div_ceil(2),
                ..gap
            };
            let (first, first_unit) = head(window, source, &half, Blank::Hide);
            let rest = Limits {
                max_lines: gap.max_lines - (first.last_line + 1 - first.first_line),
                max_bytes: gap.max_bytes - first.text.len() as u64,
                ..gap
            };
            let (last, last_unit) = tail(window, source, &rest, total_lines, Blank::Hide);
            let is_nothing = first.text.is_empty() && last.text.is_empty();
            if is_nothing || last.bytes.start < first.bytes.end {
                // Neither half has room for a grapheme, or the text fits after all and the ends would meet.
                let (piece, unit) = head(window, source, limits, Blank::Show);
                return done(vec![piece], unit, Direction::Head);
            }
            let unit = if first_unit == Unit::Bytes || last_unit == Unit::Bytes {
                Unit::Bytes
            } else {
                Unit::Lines
            };
            done(vec![first, last], unit, Direction::Both)
        }
        Direction::Head | Direction::Both => {
            let (piece, unit) = head(window, source, limits, Blank::Show);
            done(vec![piece], unit, Direction::Head)
        }
    }
}

/// What to do when all that could be shown is one line without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blank {
    /// Show its break rather than nothing.
    Show,
    /// Show nothing: the gap and the other end are there.
    Hide,
}

/// A kept stretch in the offsets of the shown text.
struct Kept {
    start: usize,
    end: usize,
    lines: u64,
    partial: bool,
    stopped: Unit,
}

fn head<'a>(
    window: &'a Window,
    source: Source,
    limits: &Limits,
    blank: Blank,
) -> (Piece<'a>, Unit) {
    let (raw, complete) = window.head();
    let shown = Shown::decode(raw, source);
    let kept = keep_head(&shown.text, complete, limits, blank);
    let end = shown.raw_offset(kept.end) as u64;
    let partial = kept.partial.then(|| {
        let before = shown.text.as_bytes().get(..kept.end).unwrap_or_default();
        let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        let rest = shown.text.as_bytes().get(kept.end..).unwrap_or_default();
        let line_end = match memchr(b'\n', rest) {
            Some(at) => {
                let at = limits.line_rule.content_end(shown.text.as_bytes(), kept.end + at);
                shown.raw_offset(at) as u64
            }
            None => window.head_line_end(),
        };
        (kept.lines, shown.raw_offset(start) as u64..line_end)
    });
    let text = part(shown.text, 0..kept.end);
    (
        Piece { text, bytes: 0..end, first_line: 1, last_line: kept.lines.max(1), partial },
        kept.stopped,
    )
}

fn keep_head(text: &str, complete: bool, limits: &Limits, blank: Blank) -> Kept {
    let bytes = text.as_bytes();
    let max_bytes = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX);
    let mut kept = Kept { start: 0, end: 0, lines: 0, partial: false, stopped: Unit::Lines };
    let mut breaks = memchr_iter(b'\n', bytes);
    // Where the next line begins.
    let mut next = 0;
    while kept.lines < limits.max_lines {
        let found = breaks.next();
        let content_end = match found {
            Some(at) => limits.line_rule.content_end(bytes, at),
            None if complete && next == bytes.len() && limits.line_rule == LineRule::Terminated => {
                kept.stopped = Unit::Bytes;
                break;
            }
            None if complete => bytes.len(),
            None => usize::MAX,
        };
        if content_end > max_bytes {
            kept.stopped = Unit::Bytes;
            break;
        }
        kept.end = content_end;
        kept.lines += 1;
        match found {
            Some(at) => next = at + 1,
            None => break,
        }
    }
    if !is_blank(bytes.get(..kept.end).unwrap_or_default()) {
        return kept;
    }
    if kept.stopped == Unit::Bytes {
        let line_end = bytes
            .get(next..)
            .and_then(|rest| memchr(b'\n', rest))
            .map_or(bytes.len(), |at| next + at);
        let end = graphemes::floor(text, max_bytes).min(line_end);
        if end > next {
            kept.end = end;
            kept.lines += 1;
            kept.partial = true;
            return kept;
        }
    }
    // Nothing but breaks: show them rather than nothing.
    if blank == Blank::Show && kept.end == 0 && next <= max_bytes {
        kept.end = next;
    }
    kept
}

fn tail<'a>(
    window: &'a Window,
    source: Source,
    limits: &Limits,
    total_lines: u64,
    blank: Blank,
) -> (Piece<'a>, Unit) {
    let (raw, complete) = window.tail();
    let base = window.totals().bytes - raw.len() as u64;
    let shown = Shown::decode(raw, source);
    let kept = keep_tail(&shown.text, complete, limits, blank);
    let raw_offset = |at| base + shown.raw_offset(at) as u64;
    let first_line = total_lines + 1 - kept.lines.clamp(1, total_lines.max(1));
    let partial = kept.partial.then(|| {
        let before = shown.text.as_bytes().get(..kept.start).unwrap_or_default();
        let start = memrchr(b'\n', before)
            .map_or_else(|| window.tail_line_start(), |at| raw_offset(at + 1));
        let stretch = shown.text.as_bytes().get(kept.start..kept.end).unwrap_or_default();
        let end = memchr(b'\n', stretch).map_or(kept.end, |at| {
            limits.line_rule.content_end(shown.text.as_bytes(), kept.start + at)
        });
        (first_line, start..raw_offset(end))
    });
    let bytes = raw_offset(kept.start)..raw_offset(kept.end);
    let text = part(shown.text, kept.start..kept.end);
    (Piece { text, bytes, first_line, last_line: total_lines.max(1), partial }, kept.stopped)
}

fn keep_tail(text: &str, complete: bool, limits: &Limits, blank: Blank) -> Kept {
    let bytes = text.as_bytes();
    let max_bytes = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX);
    let stop = limits.line_rule.last_content_end(bytes);
    let mut kept = Kept { start: stop, end: stop, lines: 0, partial: false, stopped: Unit::Lines };
    let mut breaks = memrchr_iter(b'\n', bytes.get(..stop).unwrap_or_default());
    // Where the text of the line ends that is looked at.
    let mut line_end = stop;
    while kept.lines < limits.max_lines {
        let found = breaks.next();
        let line_start = match found {
            Some(at) => at + 1,
            None if complete => 0,
            None => {
                kept.stopped = Unit::Bytes;
                break;
            }
        };
        if stop - line_start > max_bytes {
            kept.stopped = Unit::Bytes;
            break;
        }
        kept.start = line_start;
        kept.lines += 1;
        match found {
            Some(at) => line_end = at,
            None => {
                kept.stopped = Unit::Bytes;
                // No line is left that could be cut inside.
                line_end = 0;
                break;
            }
        }
    }
    if !is_blank(bytes.get(kept.start..stop).unwrap_or_default()) {
        return kept;
    }
    if kept.stopped == Unit::Bytes && line_end > 0 {
        // The text of the line that did not fit ends before its break.
        let content_end =
            if line_end < stop { limits.line_rule.content_end(bytes, line_end) } else { line_end };
        let start = graphemes::ceil(text, stop.saturating_sub(max_bytes));
        if start < content_end {
            kept.start = start;
            kept.lines += 1;
            kept.partial = true;
            return kept;
        }
    }
    if blank == Blank::Show && kept.start == stop && bytes.len() - stop <= max_bytes {
        kept.end = bytes.len();
    }
    kept
}

/// A part of a text, without a copy if the text is not ours.
fn part(text: Cow<'_, str>, range: std::ops::Range<usize>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_owned()),
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Whether a text that went through a window keeps the limits as it will be shown.
///
/// Bytes that are not well-formed take three bytes each as U+FFFD, so a text may be too long although its raw bytes are
/// not. Only asked when the raw bytes are within the limits, so the window holds the whole text.
pub fn fits(window: &Window, source: Source, limits: &Limits) -> bool {
    let Totals { bytes, breaks, ends_with_break } = window.totals();
    let lines = limits.line_rule.count(breaks, bytes == 0, ends_with_break);
    // What came as a text is shown byte for byte as long as it is kept: a lone surrogate and U+FFFD both take three.
    if source == Source::Text || !limits.allow(lines, bytes) {
        return limits.allow(lines, bytes);
    }
    let raw = if limits.direction == Direction::Tail { window.tail().0 } else { window.head().0 };
    limits.allow(lines, Shown::decode(raw, source).text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(max_lines: u64, max_bytes: u64, direction: Direction) -> Limits {
        Limits { max_lines, max_bytes, direction, line_rule: LineRule::Terminated }
    }

    fn cut_text(text: &str, limits: &Limits) -> Cut<'static> {
        let mut window = Window::new(limits);
        window.push(text.as_bytes());
        cut(&window, Source::Text, limits, 30).into_owned()
    }

    fn shown(text: &str, max_lines: u64, max_bytes: u64, direction: Direction) -> String {
        let cut = cut_text(text, &limits(max_lines, max_bytes, direction));
        let pieces: Vec<&str> = cut.pieces.iter().map(|piece| piece.text.as_ref()).collect();
        pieces.join("|")
    }

    #[test]
    fn whole_lines_within_both_limits() {
        use Direction::{Head, Tail};
        let text = "ab\ncd\nef";
        assert_eq!(shown(text, 9, 5, Head), "ab\ncd");
        assert_eq!(shown(text, 9, 5, Tail), "cd\nef");
        assert_eq!(shown(text, 9, 4, Head), "ab");
        assert_eq!(shown(text, 1, 99, Tail), "ef");
        assert_eq!(shown("a\r\nb\r\nc", 2, 99, Head), "a\r\nb");
        assert_eq!(shown("a\r\nb\r\nc\r\n", 2, 99, Tail), "b\r\nc");
    }

    #[test]
    fn a_line_that_is_shown_whole_is_not_called_partial() {
        // Only the last break is too much, and a carriage return is no text to look for.
        let cut = cut_text("\r\r\n\r\n", &limits(2, 3, Direction::Tail));
        assert_eq!((cut.partials(), cut.kept_lines(), cut.kept_bytes()), (vec![], 2, 3));
    }

    #[test]
    fn a_text_that_fits_is_shown_once() {
        for text in ["", "\n", "a", "a\n", "\n\n", "a\nb", "a\n\n", "\r\n\r\na", "a\nb\nc\nd\n"] {
            for direction in [Direction::Head, Direction::Tail, Direction::Both] {
                for max_lines in 4..9 {
                    for max_bytes in [8, 32, 34, 36, 40, 48, 100] {
                        let limits = limits(max_lines, max_bytes, direction);
                        let cut = cut_text(text, &limits);
                        assert_eq!(cut.kept_bytes() + cut.removed_bytes(), text.len() as u64);
                        assert!(cut.removed_lines() <= cut.total_lines, "{text:?} {limits:?}");
                        let shown: u64 =
                            cut.pieces.iter().map(|piece| piece.text.len() as u64).sum();
                        assert!(shown <= text.len() as u64, "{text:?} {limits:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_that_does_not_fit_is_cut_inside() {
        use Direction::{Head, Tail};
        assert_eq!(shown(&"a".repeat(11), 9, 10, Head), "a".repeat(10));
        assert_eq!(shown(&format!("y\n{}", "x".repeat(20)), 9, 10, Head), "y");
        assert_eq!(shown(&format!("y\n{}", "x".repeat(20)), 9, 10, Tail), "x".repeat(10));
        assert_eq!(shown("你好", 9, 4, Head), "你");
        assert_eq!(shown("你好", 9, 4, Tail), "好");
        assert_eq!(shown("你好", 9, 2, Head), "");
        let cut = cut_text(&"x".repeat(10_000), &limits(9, 10, Tail));
        assert_eq!(cut.partials(), [Partial { line: 1, shown: 10, total: 10_000 }]);
        assert_eq!((cut.kept_lines(), cut.removed_lines(), cut.removed_bytes()), (1, 0, 9_990));
    }

    #[test]
    fn blank_lines_do_not_make_an_empty_preview() {
        use Direction::{Head, Tail};
        assert_eq!(shown(&format!("\n{}", "x".repeat(20)), 9, 5, Head), "\nxxxx");
        assert_eq!(shown(&format!("{}\n\n", "x".repeat(20)), 9, 5, Tail), "xxxx\n");
        assert_eq!(shown("\nabc", 1, 99, Head), "\n");
        assert_eq!(shown("abc\n\n", 1, 99, Tail), "\n");
        assert_eq!(shown("\n\n\n", 1, 99, Head), "\n");
    }

    #[test]
    fn two_ends_share_the_budget_with_the_gap() {
        let text: String = (1..=100).map(|i| format!("line {i}\n")).collect();
        let cut = cut_text(&text, &limits(5, 1000, Direction::Both));
        let lines: Vec<(u64, u64)> =
            cut.pieces.iter().map(|piece| (piece.first_line, piece.last_line)).collect();
        assert_eq!(lines, [(1, 2), (99, 100)]);
        assert_eq!((cut.kept_lines(), cut.removed_lines(), cut.next_line()), (4, 96, 3));
        let one_line = format!("HEAD{}TAIL", "x".repeat(500));
        let cut = cut_text(&one_line, &limits(9, 100, Direction::Both));
        assert!(cut.pieces[0].text.starts_with("HEAD") && cut.pieces[1].text.ends_with("TAIL"));
        assert_eq!((cut.kept_lines(), cut.kept_bytes()), (1, 68));
        assert_eq!(cut.partials(), [Partial { line: 1, shown: 68, total: 508 }]);
    }

    #[test]
    fn the_split_rule_counts_the_empty_piece() {
        let split = |text: &str, max_lines, direction| {
            let limits = Limits { line_rule: LineRule::Split, ..limits(max_lines, 999, direction) };
            cut_text(text, &limits)
        };
        let cut = split("a\nb\nc\n", 3, Direction::Head);
        assert_eq!((cut.pieces[0].text.as_ref(), cut.removed_lines()), ("a\nb\nc", 1));
        assert_eq!(split("a\nb\nc\n", 3, Direction::Tail).pieces[0].text, "b\nc\n");
        assert_eq!(split("a\r\nb\r\nc", 2, Direction::Head).pieces[0].text, "a\r\nb\r");
    }

    fn any_text() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            3 => "[a-z ]{0,12}",
            1 => Just("你好".to_owned()),
            1 => Just("👨\u{200d}👩\u{200d}👧".to_owned()),
            1 => Just("e\u{301}\u{302}".to_owned()),
            2 => Just("\n".to_owned()),
            1 => Just("\r\n".to_owned()),
            1 => Just("🇩🇪🇫🇷".to_owned()),
        ];
        let bytes = prop_oneof![9 => word.prop_map(String::into_bytes), 1 => Just(vec![0xff]), 1 => Just(vec![0xed, 0xa0, 0x80])];
        prop::collection::vec(bytes, 0..40).prop_map(|parts| parts.concat())
    }

    fn direction() -> impl Strategy<Value = Direction> {
        prop_oneof![Just(Direction::Head), Just(Direction::Tail), Just(Direction::Both)]
    }

    proptest! {
        #[test]
        fn every_cut_is_within_its_limits_and_true(
            text in any_text(), max_lines in 1u64..12, max_bytes in 1u64..120, direction in direction(),
        ) {
            let limits = limits(max_lines, max_bytes, direction);
            let mut window = Window::new(&limits);
            window.push(&text);
            prop_assume!(!fits(&window, Source::Text, &limits));
            let gap = 30;
            let cut = cut(&window, Source::Text, &limits, gap);
            let mut lines = 0;
            let mut bytes = 0;
            for piece in &cut.pieces {
                lines += LineRule::Terminated.count(
                    piece.text.matches('\n').count() as u64, piece.text.is_empty(), piece.text.ends_with('\n'));
                bytes += piece.text.len() as u64;
                let raw = &text[piece.bytes.start as usize..piece.bytes.end as usize];
                prop_assert_eq!(Shown::decode(raw, Source::Text).text, piece.text.as_ref());
                prop_assert!(piece.first_line >= 1 && piece.last_line <= cut.total_lines.max(1));
                let before = text[..piece.bytes.start as usize].iter().filter(|&&b| b == b'\n').count() as u64;
                prop_assert_eq!(piece.first_line, before + 1);
            }
            if cut.direction == Direction::Both {
                lines += 1;
                bytes += gap + 2;
                prop_assert!(cut.pieces[0].bytes.end <= cut.pieces[1].bytes.start);
            }
            prop_assert!(lines <= max_lines && bytes <= max_bytes, "{} lines, {} bytes", lines, bytes);
            prop_assert!(cut.kept_lines() <= cut.total_lines);
        }

        #[test]
        fn a_preview_is_empty_only_when_no_grapheme_fits(
            text in any_text(), max_lines in 1u64..12, max_bytes in 26u64..120, direction in direction(),
        ) {
            let limits = limits(max_lines, max_bytes, direction);
            let mut window = Window::new(&limits);
            window.push(&text);
            prop_assume!(!fits(&window, Source::Text, &limits));
            let cut = cut(&window, Source::Text, &limits, 30);
            prop_assert!(!cut.pieces[0].text.is_empty() || cut.direction == Direction::Both);
        }
    }
}
