//! Renders the text for the model: preview and notice.

use std::borrow::Cow;

use serde::Serialize;

use super::binary;
use super::head_tail::{Gap, cut};
use super::limits::{Direction, Limits, Unit};
use super::lines::{Selection, total_lines};
use super::notice::{Circumstances, Wording, assemble};
use super::preview_buffer::{Totals, Window};
use super::result::{Cut, Piece};
use super::smart;
use super::strategies::{Preview, Structured};
use super::test_run::TestRun;
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::lossy::Source;
use crate::text::terminal::source_map::RawRange;
use crate::text::utf16::units;
use crate::tokens::{Mode, longest_start, of_text};

/// Maximum length of a custom notice in bytes, so that the text stays bounded.
pub const MAX_CUSTOM_NOTICE_BYTES: usize = 4 * 1024;

/// The settings for rendering a text.
#[derive(Debug)]
pub struct Form<'a> {
    /// The limits of the preview, or of the whole text if `inside`.
    pub limits: Limits,
    pub wording: &'a Wording,
    /// True if the limits include the notice.
    pub inside: bool,
    /// A custom notice that replaces the built-in one.
    pub notice: Option<&'a str>,
    /// Other notices that must fit beside the same preview.
    pub room: &'a [String],
    /// A preview made by a custom strategy.
    pub preview: Option<Foreign<'a>>,
}

/// A preview made by a custom strategy, with the counts that it returned.
#[derive(Debug, Clone, Copy)]
pub struct Foreign<'a> {
    pub text: &'a str,
    /// Number of lines missing, if the strategy returned it.
    pub removed_lines: Option<u64>,
    /// Number of bytes missing, if the strategy returned it.
    pub removed_bytes: Option<u64>,
}

/// The rendered text, and the facts about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Preview and notice.
    pub content: String,
    /// Byte range of the preview in `content`.
    pub preview: std::ops::Range<usize>,
    pub facts: Facts,
}

/// Facts about a truncated text. Offsets into `content` are in UTF-16 code units, as JavaScript counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    removed_lines: u64,
    removed_bytes: u64,
    kept_lines: u64,
    kept_bytes: u64,
    total_lines: u64,
    total_bytes: u64,
    limited_by: Unit,
    direction: Direction,
    ranges: Vec<Range>,
    partial_lines: Vec<PartialLine>,
    preview: Span,
    hint: String,
    /// Length in UTF-16 units of each piece, for callers that truncate several texts as one.
    piece_units: Vec<usize>,
    /// True if the preview was chosen by what the text says, and is not made of its ends.
    is_selected: bool,
    /// The test run, if the strategy looks for one and the text is the output of a known runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_run: Option<TestRun>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    from_line: u64,
    to_line: u64,
    from_byte: u64,
    to_byte: u64,
}

impl From<&Piece<'_>> for Range {
    fn from(piece: &Piece<'_>) -> Self {
        Range {
            from_line: piece.first_line,
            to_line: piece.last_line,
            from_byte: piece.bytes.start,
            to_byte: piece.bytes.end,
        }
    }
}

impl From<&RawRange> for Range {
    fn from(range: &RawRange) -> Self {
        let RawRange { from_line, to_line, from_byte, to_byte } = *range;
        Range { from_line, to_line, from_byte, to_byte }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialLine {
    line: u64,
    shown_bytes: u64,
    total_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Span {
    from: usize,
    to: usize,
}

/// Truncates the text and adds the notice.
pub fn render(
    window: &Window,
    source: Source,
    form: &Form<'_>,
    circumstances: &Circumstances,
) -> Rendered {
    let maker = Renderer { window, source, form, circumstances };
    let mut rendered = maker.rendered();
    rendered.facts.test_run = window.structured().and_then(Structured::test_run);
    rendered
}

/// The form of the notice.
#[derive(Debug, Clone, Copy)]
enum Notice<'a> {
    /// How much is missing, where it is, and how to continue reading.
    Full,
    /// Marker and path in one line, and the text between the line and the preview.
    Compact { line: &'a str, around: &'static str },
    /// How much is missing.
    Marker,
}

struct Renderer<'a> {
    window: &'a Window,
    source: Source,
    form: &'a Form<'a>,
    circumstances: &'a Circumstances,
}

impl Renderer<'_> {
    /// Returns a text that is within the limits as a whole, if there is one that shows something of the original.
    ///
    /// The size of the notice depends on the numbers in it, and those on the room that it leaves for the preview. The
    /// excess is subtracted from the room for the preview until the whole fits. Each round subtracts at least a line or
    /// a byte, and the numbers change by at most a digit.
    fn shrink(&self, notice: Notice<'_>) -> Option<Rendered> {
        let whole = self.form.limits;
        let mut limits = whole;
        for _ in 0..8 {
            let made = self.attempt(limits, notice);
            let others = self.form.room.iter().map(|other| {
                let form = Form { notice: Some(other), ..*self.form };
                Renderer { form: &form, ..*self }.attempt(limits, notice).content
            });
            let (lines, bytes, tokens) = largest(whole, &made.content, others);
            if whole.allow(lines, bytes) && tokens <= whole.max_tokens {
                return Some(made).filter(|made| !made.preview.is_empty());
            }
            let over_lines = lines.saturating_sub(whole.max_lines);
            let over_bytes = bytes.saturating_sub(whole.max_bytes);
            let over_tokens = tokens.saturating_sub(whole.max_tokens);
            // The starting point is the part that is actually shown, not the unused budget.
            let (shown_lines, shown_bytes) =
                size(made.content.get(made.preview.clone()).unwrap_or_default());
            let (max_lines, max_bytes) =
                (shown_lines.min(limits.max_lines), shown_bytes.min(limits.max_bytes));
            let max_tokens =
                self::tokens(whole, made.content.get(made.preview).unwrap_or_default())
                    .min(limits.max_tokens);
            if over_lines >= max_lines
                || over_bytes >= max_bytes
                || over_tokens >= max_tokens.max(1)
            {
                return None;
            }
            if over_lines > 0 {
                limits.max_lines = max_lines - over_lines;
            }
            if over_bytes > 0 {
                limits.max_bytes = max_bytes - over_bytes;
            }
            if over_tokens > 0 {
                limits.max_tokens = max_tokens - over_tokens;
            }
        }
        None
    }

    /// Returns a description of binary output, for strategies that examine the content.
    fn binary(&self) -> Option<Rendered> {
        let Renderer { window, form, circumstances, .. } = *self;
        let is_looked_at = window.scanner().is_some() || window.screen().is_some();
        if !is_looked_at || form.preview.is_some() {
            return None;
        }
        let kind = binary::kind(window.raw_head())?;
        let cut = self.nothing();
        let mut preview = form.wording.binary(kind, window.raw_totals().bytes);
        preview.truncate(self.fitting(&preview));
        let hint = match self.custom_notice() {
            Some(notice) => notice.to_owned(),
            None => form.wording.hint(&cut, circumstances),
        };
        let whole = assemble(&preview, &[&hint], "\n\n", Direction::Head);
        let (lines, bytes) = size(&whole.content);
        let fits = form.limits.allow(lines, bytes) && form.limits.allow_tokens(&whole.content);
        if form.inside && !fits {
            return Some(finish(preview.clone(), 0, &preview, String::new(), &cut, None));
        }
        Some(finish(whole.content, whole.preview_start, &preview, hint, &cut, None))
    }

    /// Returns the length of the longest prefix of a line that is within the limits.
    fn fitting(&self, line: &str) -> usize {
        let limits = self.form.limits;
        let max_bytes = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX);
        let room = match limits.max_tokens {
            u64::MAX => max_bytes,
            max_tokens => max_bytes.min(longest_start(line, max_tokens, Mode::Upper)),
        };
        graphemes::floor(line, room)
    }

    /// Returns the first form of preview and notice that keeps the limits.
    fn rendered(&self) -> Rendered {
        let Renderer { form, circumstances, .. } = *self;
        if let Some(made) = self.binary() {
            return made;
        }
        if let Some(mut made) = self.selection() {
            made.facts.is_selected = true;
            return made;
        }
        if !form.inside || form.preview.is_some() {
            return self.attempt(form.limits, Notice::Full);
        }
        let line = form.wording.compact(circumstances).filter(|_| form.notice.is_none());
        let line = line.as_deref();
        let both = form.limits.direction == Direction::Both;
        let usual = match line.filter(|_| both && form.wording.is_compact()) {
            Some(line) => Notice::Compact { line, around: "\n\n" },
            None => Notice::Full,
        };
        // A part of a path would be read as another path: it is written completely or not at all.
        self.shrink(usual)
            .or_else(|| self.shrink(Notice::Compact { line: line?, around: "\n" }))
            .or_else(|| {
                line.filter(|line| self.fitting(line) == line.len()).map(|line| self.alone(line))
            })
            .or_else(|| self.shrink(Notice::Marker))
            .unwrap_or_else(|| self.marker_alone())
    }

    /// Returns a preview chosen by what the text says, if the strategy makes one and some of it fits.
    fn selection(&self) -> Option<Rendered> {
        let Renderer { window, form, circumstances, .. } = *self;
        if form.preview.is_some() {
            return None;
        }
        let mut limits = form.limits;
        let mut is_over_tokens = false;
        for _ in 0..12 {
            let (text, mut cut, shown) = self.selected(&limits)?;
            let hint = self.custom_notice().map_or_else(
                || form.wording.hint_of(&cut, circumstances, shown.as_deref()),
                str::to_owned,
            );
            let whole = assemble(&text, &[&hint], "\n\n", cut.direction);
            let (lines, bytes, tokens) = if form.inside {
                let others = form
                    .room
                    .iter()
                    .map(|other| assemble(&text, &[bounded(other)], "\n\n", cut.direction).content);
                largest(form.limits, &whole.content, others)
            } else {
                largest(form.limits, &text, [])
            };
            let over_lines = lines.saturating_sub(form.limits.max_lines);
            let over_bytes = bytes.saturating_sub(form.limits.max_bytes);
            if over_lines == 0 && over_bytes == 0 && tokens <= form.limits.max_tokens {
                let is_within = form.limits.allow(total_lines(window), window.totals().bytes);
                if is_within || (is_over_tokens && cut.limited_by == Unit::Bytes) {
                    cut.limited_by = Unit::Tokens;
                }
                return Some(finish(whole.content, whole.preview_start, &text, hint, &cut, None));
            }
            limits.max_lines = limits.max_lines.saturating_sub(over_lines);
            limits.max_bytes = limits.max_bytes.saturating_sub(over_bytes);
            if tokens > form.limits.max_tokens {
                is_over_tokens = true;
                // Most of the excess is preview text; slightly more than its share is subtracted.
                let shown = size(&text).1.min(limits.max_bytes);
                let share = u128::from(shown) * u128::from(form.limits.max_tokens) * 97;
                limits.max_bytes = (share / (u128::from(tokens) * 100)) as u64;
            }
        }
        None
    }

    /// Returns a preview that keeps the structure, or else one of the important lines, and a sentence about the parts
    /// missing.
    fn selected(&self, limits: &Limits) -> Option<(String, Cut<'static>, Option<String>)> {
        let Renderer { window, source, form, .. } = *self;
        let made = window
            .structured()
            .and_then(|structured| structured.preview(window, source, limits, form.wording));
        let run = window.structured().and_then(Structured::test_run);
        let is_unfinished = run.is_some_and(|run| run.unfinished);
        let described = |cut: &Cut<'_>, shown: Option<String>| match is_unfinished {
            true => Some(form.wording.unfinished(cut, shown)),
            false => shown,
        };
        if let Some(Preview { text, cut, missing }) = made {
            let shown = described(&cut, Some(missing));
            return Some((text, cut, shown));
        }
        let Selection { text, cut } =
            smart::preview(window, window.scanner()?, source, limits, form.wording)?;
        // Lines that consist of control sequences only display nothing: the lines are shown as they came.
        let Totals { bytes, breaks, .. } = window.totals();
        if bytes > breaks && text.bytes().all(|byte| byte == b'\n') {
            return None;
        }
        let shown = described(&cut, form.wording.scattered(&cut));
        Some((text, cut, shown))
    }

    /// Returns the custom notice, truncated to its maximum length.
    fn custom_notice(&self) -> Option<&str> {
        self.form.notice.map(bounded)
    }

    fn attempt(&self, limits: Limits, notice: Notice<'_>) -> Rendered {
        let Renderer { form, circumstances, .. } = self;
        let wording = form.wording;
        let gap = match notice {
            Notice::Compact { line, around } => line.len() + 2 * around.len(),
            Notice::Full | Notice::Marker => {
                wording.longest_marker(self.window.raw_totals().bytes) + 2
            }
        };
        let gap = Gap { bytes: gap as u64 - 2, tokens: self.gap_tokens(notice) };
        let cut = cut(self.window, self.source, &limits, gap);
        let both = cut.direction == Direction::Both;
        if let Notice::Compact { line, around } = notice {
            return beside(&cut, line, around, String::new());
        }
        let (unit, removed) = missing(&cut, form.preview);
        let marker = wording.marker(unit, removed);
        if let Notice::Marker = notice {
            return beside(&cut, &marker, "\n", wording.hint(&cut, circumstances));
        }
        let preview = match form.preview {
            Some(foreign) => Cow::Borrowed(foreign.text),
            None => join_ends(&cut.pieces, &marker, "\n"),
        };
        let custom = self.custom_notice();
        let hint = custom.map_or_else(|| wording.hint(&cut, circumstances), str::to_owned);
        let notice: &[&str] = match custom {
            Some(notice) => &[notice],
            // With two ends the gap line is a marker already.
            None if both && form.preview.is_none() => &[&hint],
            None => &[&marker, &hint],
        };
        let whole = assemble(&preview, notice, "\n\n", cut.direction);
        finish(whole.content, whole.preview_start, &preview, hint, &cut, form.preview)
    }

    /// Returns the tokens of the gap line, whatever number it contains.
    fn gap_tokens(&self, notice: Notice<'_>) -> u64 {
        if self.form.limits.max_tokens == u64::MAX {
            return 0;
        }
        let tokens = |gap: &str| of_text(&format!("\n\n{gap}\n\n"), Mode::Upper) + 1;
        if let Notice::Compact { line, .. } = notice {
            return tokens(line);
        }
        let digits = self.window.raw_totals().bytes.to_string().len();
        let markers = [Unit::Lines, Unit::Bytes, Unit::Tokens].into_iter().flat_map(|unit| {
            let marker = self.form.wording.marker(unit, 0);
            // Digits have a constant cost, or the larger of two.
            ["1", "12"].map(|number| {
                let number: String = number.chars().cycle().take(digits).collect();
                tokens(&marker.replacen('0', &number, 1))
            })
        });
        markers.max().unwrap_or(0)
    }

    /// Returns the shortest marker, for limits without room for anything beside the notice.
    fn marker_alone(&self) -> Rendered {
        let (unit, removed) = missing(&self.nothing(), None);
        let marker = self.form.wording.marker(unit, removed);
        self.alone(&marker[..self.fitting(&marker)])
    }

    /// Returns a line without any of the text.
    fn alone(&self, line: &str) -> Rendered {
        let cut = self.nothing();
        let hint = self.form.wording.hint(&cut, self.circumstances);
        finish(line.to_owned(), 0, "", hint, &cut, None)
    }

    /// Returns a cut that shows nothing.
    fn nothing(&self) -> Cut<'_> {
        let mut cut = cut(self.window, self.source, &self.form.limits, Gap::default());
        cut.direction = Direction::Head;
        cut.clear();
        cut
    }
}

/// Returns the text with one line in its gap or at its truncated end.
fn beside(cut: &Cut<'_>, line: &str, around: &str, hint: String) -> Rendered {
    let kept = join_ends(&cut.pieces, line, around);
    let notice: &[&str] = if cut.direction == Direction::Both { &[] } else { &[line] };
    let whole = assemble(&kept, notice, around, cut.direction);
    finish(whole.content, whole.preview_start, &kept, hint, cut, None)
}

/// Returns the unit to report, and the number missing in that unit.
fn missing(cut: &Cut<'_>, foreign: Option<Foreign<'_>>) -> (Unit, u64) {
    match foreign {
        Some(Foreign { removed_lines: None, removed_bytes: Some(bytes), .. }) => {
            (Unit::Bytes, bytes)
        }
        Some(Foreign { removed_lines: Some(lines), .. }) => (Unit::Lines, lines),
        Some(Foreign { text, .. }) => {
            (Unit::Bytes, cut.total_bytes.saturating_sub(text.len() as u64))
        }
        None if cut.limited_by == Unit::Lines => (Unit::Lines, cut.removed_lines()),
        None if cut.limited_by == Unit::Tokens => (Unit::Tokens, cut.removed_tokens()),
        None => (Unit::Bytes, cut.removed_bytes()),
    }
}

/// Joins the preview: one end, or both with the gap line between them.
fn join_ends<'a>(pieces: &'a [Piece<'_>], gap: &str, around: &str) -> Cow<'a, str> {
    match pieces {
        [only] => Cow::Borrowed(&only.text),
        [first, last] => {
            let ends = [first.text.as_ref(), gap, last.text.as_ref()];
            let shown: Vec<&str> = ends.into_iter().filter(|text| !text.is_empty()).collect();
            Cow::Owned(shown.join(around))
        }
        _ => Cow::Borrowed(""),
    }
}

fn finish(
    content: String,
    preview_start: usize,
    preview: &str,
    hint: String,
    cut: &Cut<'_>,
    foreign: Option<Foreign<'_>>,
) -> Rendered {
    let from = units(content.get(..preview_start).unwrap_or_default());
    // A custom strategy may count other things than lines; its numbers are passed on.
    let (removed_lines, removed_bytes) = match foreign {
        None => (cut.removed_lines(), cut.removed_bytes()),
        Some(foreign) => (
            foreign
                .removed_lines
                .unwrap_or_else(|| cut.total_lines.saturating_sub(size(foreign.text).0)),
            foreign
                .removed_bytes
                .unwrap_or_else(|| cut.total_bytes.saturating_sub(foreign.text.len() as u64)),
        ),
    };
    let shown = if foreign.is_some() { &[] } else { cut.pieces.as_slice() };
    let preview_units = units(preview);
    let piece_units = match shown {
        // A single piece is the preview, which was counted already.
        [only] if only.text == preview => vec![preview_units],
        _ => shown.iter().map(|piece| units(&piece.text)).collect(),
    };
    let ranges = match &cut.traced {
        Some(traced) => traced.ranges.iter().map(Range::from).collect(),
        None => shown.iter().filter(|piece| !piece.text.is_empty()).map(Range::from).collect(),
    };
    let facts = Facts {
        removed_lines,
        removed_bytes,
        kept_lines: cut.total_lines.saturating_sub(removed_lines),
        kept_bytes: cut.total_bytes.saturating_sub(removed_bytes),
        total_lines: cut.total_lines,
        total_bytes: cut.total_bytes,
        limited_by: missing(cut, foreign).0,
        direction: cut.direction,
        ranges: if foreign.is_some() { Vec::new() } else { ranges },
        partial_lines: if foreign.is_some() { Vec::new() } else { partial_lines(cut) },
        preview: Span { from, to: from + preview_units },
        hint,
        piece_units,
        is_selected: false,
        test_run: None,
    };
    Rendered { preview: preview_start..preview_start + preview.len(), content, facts }
}

fn partial_lines(cut: &Cut<'_>) -> Vec<PartialLine> {
    let partials = cut.partials().into_iter();
    partials
        .map(|partial| PartialLine {
            line: partial.line,
            shown_bytes: partial.shown,
            total_bytes: partial.total,
        })
        .collect()
}

/// Truncates a custom notice to its maximum length.
fn bounded(notice: &str) -> &str {
    notice.get(..graphemes::floor_char(notice, MAX_CUSTOM_NOTICE_BYTES)).unwrap_or_default()
}

/// Returns the maximum of two texts in lines, bytes and tokens.
fn largest(
    limits: Limits,
    text: &str,
    others: impl IntoIterator<Item = String>,
) -> (u64, u64, u64) {
    let measure = |text: &str| {
        let (lines, bytes) = size(text);
        (lines, bytes, tokens(limits, text))
    };
    others.into_iter().map(|other| measure(&other)).fold(measure(text), |widest, each| {
        (widest.0.max(each.0), widest.1.max(each.1), widest.2.max(each.2))
    })
}

fn tokens(limits: Limits, text: &str) -> u64 {
    if limits.max_tokens == u64::MAX { 0 } else { of_text(text, Mode::Upper) }
}

fn size(text: &str) -> (u64, u64) {
    let breaks = text.matches('\n').count() as u64;
    (LineRule::Terminated.count(breaks, text.is_empty(), text.ends_with('\n')), text.len() as u64)
}

#[cfg(test)]
mod tests;
