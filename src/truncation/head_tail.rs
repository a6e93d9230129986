//! Truncates a text at its start, its end or in the middle.
//!
//! Keeps as many whole lines as both limits allow. If not even one line with text fits, the line is cut between two
//! graphemes, so that the preview is never empty unless the budget is smaller than one grapheme. The line break at the
//! cut, and the one at the end of the text, are not part of the preview.
//!
//! With two ends, the head gets half of the budget that the gap line leaves, and the tail gets what the head did not
//! use:
//!
//! ```text
//! limits   |-------- head --------|- gap -|-------- tail --------|
//! text     line 1 … line 40  (lines 41 to 960 omitted)  line 961 … line 1000
//! ```

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use super::limits::{Direction, Limits, Unit};
use super::preview_buffer::{Totals, Window};
use super::result::{Cut, Piece};
use super::terminal_preview::Screen;
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::lossy::{Shown, Source};
use crate::tokens::{Mode, longest_end, longest_start, of_text};

/// The room for the gap line between two ends, which counts against the limits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gap {
    /// Length in bytes, without the breaks around it.
    pub bytes: u64,
    /// Number of tokens, with the breaks around it.
    pub tokens: u64,
}

/// Truncates the text in a buffer that was made for these limits or wider ones.
pub fn cut<'a>(window: &'a Window, source: Source, limits: &Limits, gap: Gap) -> Cut<'a> {
    let rule = limits.line_rule;
    let mut cut = cut_text(window, source, limits, gap);
    if rule == LineRule::Split && window.totals().ends_with_break && cut.is_nothing() {
        // By this rule a line begins after the final break. It counts, but it has nothing to show.
        let limits = Limits { line_rule: LineRule::Terminated, ..*limits };
        cut = Cut { total_lines: cut.total_lines, ..cut_text(window, source, &limits, gap) };
    }
    match window.screen() {
        Some(screen) => screen.trace(cut, rule),
        None => cut,
    }
}

fn cut_text<'a>(window: &'a Window, source: Source, limits: &Limits, gap: Gap) -> Cut<'a> {
    let totals = window.totals();
    let rule = limits.line_rule;
    let total_lines = rule.count(totals.breaks, totals.bytes == 0, totals.ends_with_break);
    let done = |pieces, limited_by, direction| Cut {
        pieces,
        limited_by,
        direction,
        total_lines,
        total_bytes: totals.bytes,
        total_tokens: window.tokens(),
        traced: None,
    };
    let gap = Limits {
        max_lines: limits.max_lines.saturating_sub(1),
        max_bytes: limits.max_bytes.saturating_sub(gap.bytes.saturating_add(2)),
        max_tokens: without(limits.max_tokens, gap.tokens),
        ..*limits
    };
    match limits.direction {
        Direction::Tail => {
            let (piece, unit) = tail(window, source, limits, total_lines, Blank::Show);
            done(vec![piece], unit, Direction::Tail)
        }
        // Each end needs a line and something to show in it.
        Direction::Both if gap.max_lines >= 2 && gap.max_bytes >= 2 && gap.max_tokens >= 2 => {
            let first_half = Limits {
                max_lines: gap.max_lines.div_ceil(2),
                max_bytes: gap.max_bytes.div_ceil(2),
                max_tokens: half(gap.max_tokens),
                ..gap
            };
            let (first, first_unit) = head(window, source, &first_half, Blank::Hide);
            let rest = Limits {
                max_lines: gap.max_lines - (first.last_line + 1 - first.first_line),
                max_bytes: gap.max_bytes - first.text.len() as u64,
                max_tokens: without_text(gap.max_tokens, &first.text),
                ..gap
            };
            let (last, last_unit) = tail(window, source, &rest, total_lines, Blank::Hide);
            let is_nothing = first.text.is_empty() && last.text.is_empty();
            if is_nothing || last.bytes.start < first.bytes.end {
                // Neither half has room for a grapheme, or the text fits after all and the ends would meet.
                let (piece, unit) = head(window, source, limits, Blank::Show);
                return done(vec![piece], unit, Direction::Head);
            }
            let unit = [Unit::Tokens, Unit::Bytes]
                .into_iter()
                .find(|unit| [first_unit, last_unit].contains(unit))
                .unwrap_or(Unit::Lines);
            done(vec![first, last], unit, Direction::Both)
        }
        Direction::Head | Direction::Both => {
            let (piece, unit) = head(window, source, limits, Blank::Show);
            done(vec![piece], unit, Direction::Head)
        }
    }
}

/// Subtracts `tokens` from a limit, saturating at zero. `u64::MAX` means "unlimited" and is returned unchanged.
fn without(limit: u64, tokens: u64) -> u64 {
    if limit == u64::MAX { limit } else { limit.saturating_sub(tokens) }
}

fn without_text(limit: u64, text: &str) -> u64 {
    if limit == u64::MAX { limit } else { limit.saturating_sub(of_text(text, Mode::Upper)) }
}

fn half(limit: u64) -> u64 {
    if limit == u64::MAX { limit } else { limit.div_ceil(2) }
}

/// How to show a text whose visible part is one line without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blank {
    /// Show its line break rather than nothing.
    Show,
    /// Show nothing: the gap and the other end are shown.
    Hide,
}

/// A kept range in offsets of the displayed text.
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
    // The limit in tokens is converted to an offset, from where on it acts as a limit in bytes.
    let (max_bytes, unit) = match limits.max_tokens {
        u64::MAX => (max_bytes, Unit::Bytes),
        max_tokens => narrower(max_bytes, longest_start(text, max_tokens, Mode::Upper), text.len()),
    };
    let mut kept = Kept { start: 0, end: 0, lines: 0, partial: false, stopped: Unit::Lines };
    let mut breaks = memchr_iter(b'\n', bytes);
    // Start of the next line.
    let mut next = 0;
    while kept.lines < limits.max_lines {
        let found = breaks.next();
        let content_end = match found {
            Some(at) => limits.line_rule.content_end(bytes, at),
            None if complete && next == bytes.len() && limits.line_rule == LineRule::Terminated => {
                kept.stopped = unit;
                break;
            }
            None if complete => bytes.len(),
            None => usize::MAX,
        };
        if content_end > max_bytes {
            kept.stopped = unit;
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
    if kept.stopped != Unit::Lines {
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
    // Only line breaks: show them rather than nothing.
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
    let ending = text.get(..stop).unwrap_or_default();
    let (max_bytes, unit) = match limits.max_tokens {
        u64::MAX => (max_bytes, Unit::Bytes),
        max_tokens => {
            narrower(max_bytes, stop - longest_end(ending, max_tokens, Mode::Upper), stop)
        }
    };
    let mut kept = Kept { start: stop, end: stop, lines: 0, partial: false, stopped: Unit::Lines };
    let mut breaks = memrchr_iter(b'\n', bytes.get(..stop).unwrap_or_default());
    // End of the content of the current line.
    let mut line_end = stop;
    while kept.lines < limits.max_lines {
        let found = breaks.next();
        let line_start = match found {
            Some(at) => at + 1,
            None if complete => 0,
            None => {
                kept.stopped = unit;
                break;
            }
        };
        if stop - line_start > max_bytes {
            kept.stopped = unit;
            break;
        }
        kept.start = line_start;
        kept.lines += 1;
        match found {
            Some(at) => line_end = at,
            None => {
                kept.stopped = unit;
                // No line is left that could be cut.
                line_end = 0;
                break;
            }
        }
    }
    if !is_blank(bytes.get(kept.start..stop).unwrap_or_default()) {
        return kept;
    }
    if kept.stopped != Unit::Lines && line_end > 0 {
        // The content of the line that did not fit ends before its break.
        let content_end =
            if line_end < stop { limits.line_rule.content_end(bytes, line_end) } else { line_end };
        let mut start = graphemes::ceil(text, stop.saturating_sub(max_bytes));
        // Within a line a later start may cost slightly more than an earlier one.
        while start < stop && !limits.allow_tokens(ending.get(start..).unwrap_or_default()) {
            start = graphemes::ceil(text, start + 1);
        }
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

/// Returns the narrower of a limit in bytes and a limit in tokens that allows `room` bytes of a text of `length` bytes,
/// and its unit.
fn narrower(max_bytes: usize, room: usize, length: usize) -> (usize, Unit) {
    if room < max_bytes && room < length { (room, Unit::Tokens) } else { (max_bytes, Unit::Bytes) }
}

/// Returns a part of a text, without copying if it is borrowed.
fn part(text: Cow<'_, str>, range: std::ops::Range<usize>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_owned()),
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Returns true if the text in a buffer is within the limits in the form in which it is shown.
///
/// Malformed bytes are shown as U+FFFD, three bytes each, so a text may be too long although its raw bytes are not.
/// Must only be called if the raw bytes are within the limits, so that the buffer holds the whole text.
pub fn fits(window: &Window, source: Source, limits: &Limits) -> bool {
    // Binary output is described.
    if window.screen().is_some_and(Screen::is_binary) {
        return false;
    }
    let Totals { bytes, breaks, ends_with_break } = window.totals();
    let lines = limits.line_rule.count(breaks, bytes == 0, ends_with_break);
    let unlimited = limits.max_tokens == u64::MAX;
    // Text of JavaScript is shown with its own length while it is held: a lone surrogate and U+FFFD both have three
    // bytes.
    if (source == Source::Text && unlimited) || !limits.allow(lines, bytes) {
        return limits.allow(lines, bytes);
    }
    let raw = if limits.direction == Direction::Tail { window.tail().0 } else { window.head().0 };
    let text = Shown::decode(raw, source).text;
    limits.allow(lines, text.len() as u64) && limits.allow_tokens(&text)
}

#[cfg(test)]
mod tests;
