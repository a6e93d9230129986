//! From a window to the text that the model reads.

use serde::Serialize;

use super::cut::{Cut, Piece, cut};
use super::limits::{Direction, Limits, Unit};
use super::notice::{Circumstances, Wording, assemble};
use super::window::Window;
use crate::text::graphemes;
use crate::text::lines::LineRule;
use crate::text::shown::Source;

/// A custom notice is the caller's text, but what it adds to a bounded preview stays bounded.
pub const MAX_CUSTOM_NOTICE_BYTES: usize = 4 * 1024;

/// How a text is put together.
#[derive(Debug)]
pub struct Form<'a> {
    /// The budget of the preview; with `inside`, of everything.
    pub limits: Limits,
    /// The words.
    pub wording: &'a Wording,
    /// Whether the whole text keeps the limits, and not just the preview.
    pub inside: bool,
    /// A notice to use instead of the built-in one.
    pub notice: Option<&'a str>,
    /// A preview that somebody else made.
    pub preview: Option<Foreign<'a>>,
}

/// A preview that a strategy of the caller made, with the counts that it gave.
#[derive(Debug, Clone, Copy)]
pub struct Foreign<'a> {
    /// The text.
    pub text: &'a str,
    /// Lines that are missing, if it said so.
    pub removed_lines: Option<u64>,
    /// Bytes that are missing, if it said so.
    pub removed_bytes: Option<u64>,
}

/// The text for the model, and everything that is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Preview and notice.
    pub content: String,
    /// Where the preview stands in it, in bytes.
    pub preview: std::ops::Range<usize>,
    /// The facts.
    pub facts: Facts,
}

/// What is known about a shortened text. Offsets into `content` are in UTF-16 units, as JavaScript counts.
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
    /// UTF-16 units of each shown stretch, for callers that cut several parts of text as one.
    piece_units: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    from_line: u64,
    to_line: u64,
    from_byte: u64,
    to_byte: u64,
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

/// Cuts and puts together.
pub fn render(
    window: &Window,
    source: Source,
    form: &Form<'_>,
    circumstances: &Circumstances,
) -> Rendered {
    let whole = attempt(window, source, form, form.limits, circumstances);
    if !form.inside || form.preview.is_some() || fits_whole(&whole.content, &form.limits) {
        return whole;
    }
    // The notice's size depends on the numbers in it, and those on the room that it leaves: take off what is too much
    // until it fits. Each round takes off at least one line or byte more, and the numbers change by a digit at most.
    let mut limits = form.limits;
    for _ in 0..8 {
        let too_long = attempt(window, source, form, limits, circumstances);
        let (lines, bytes) = size(&too_long.content);
        if lines <= form.limits.max_lines && bytes <= form.limits.max_bytes {
            return too_long;
        }
        let over_lines = lines.saturating_sub(form.limits.max_lines);
        let over_bytes = bytes.saturating_sub(form.limits.max_bytes);
        // What is actually shown is the place to save from, not the budget that was not used up.
        let shown = too_long.content.get(too_long.preview).unwrap_or_default();
        let (shown_lines, shown_bytes) = size(shown);
        if over_lines >= shown_lines.min(limits.max_lines)
            || over_bytes >= shown_bytes.min(limits.max_bytes)
        {
            break;
        }
        if over_lines > 0 {
            limits.max_lines = shown_lines.min(limits.max_lines) - over_lines;
        }
        if over_bytes > 0 {
            limits.max_bytes = shown_bytes.min(limits.max_bytes) - over_bytes;
        }
    }
    marker_only(window, source, form, circumstances)
}

fn attempt(
    window: &Window,
    source: Source,
    form: &Form<'_>,
    limits: Limits,
    circumstances: &Circumstances,
) -> Rendered {
    let gap = form.wording.longest_marker(window.totals().bytes) as u64;
    let compact = compact_line(form, circumstances);
    let gap = compact.as_ref().map_or(gap, |line| line.len() as u64 + 2);
    let cut = cut(window, source, &limits, gap);
    let (unit, removed) = missing(&cut, form.preview);
    let marker = form.wording.marker(unit, removed);
    if let Some(line) = compact.filter(|_| cut.direction == Direction::Both) {
        let preview = join_ends(&cut.pieces, &line, "\n\n");
        return finish(preview.clone(), 0, preview, String::new(), &cut, form.preview);
    }
    let preview = match form.preview {
        Some(foreign) => foreign.text.to_owned(),
        None if cut.direction == Direction::Both => join_ends(&cut.pieces, &marker, "\n"),
        None => cut.pieces.first().map(|piece| piece.text.clone()).unwrap_or_default(),
    };
    let custom =
        form.notice.map(|notice| &notice[..graphemes::floor_char(notice, MAX_CUSTOM_NOTICE_BYTES)]);
    let hint = custom.map_or_else(|| form.wording.hint(&cut, circumstances), str::to_owned);
    let notice: Vec<&str> = match custom {
        Some(notice) => vec![notice],
        // Between two ends the marker is in the gap already.
        None if cut.direction == Direction::Both && form.preview.is_none() => vec![&hint],
        None => vec![&marker, &hint],
    };
    let whole = assemble(&preview, &notice, cut.direction);
    finish(whole.content, whole.preview_start, preview, hint, &cut, form.preview)
}

fn compact_line(form: &Form<'_>, circumstances: &Circumstances) -> Option<String> {
    let wanted = form.inside && form.notice.is_none() && form.preview.is_none();
    form.wording
        .compact(circumstances)
        .filter(|_| wanted && form.limits.direction == Direction::Both)
}

/// The unit that the text shows, and how many of it are missing.
fn missing(cut: &Cut, foreign: Option<Foreign<'_>>) -> (Unit, u64) {
    match foreign {
        Some(Foreign { removed_lines: None, removed_bytes: Some(bytes), .. }) => {
            (Unit::Bytes, bytes)
        }
        Some(Foreign { removed_lines: Some(lines), .. }) => (Unit::Lines, lines),
        Some(Foreign { text, .. }) => {
            (Unit::Bytes, cut.total_bytes.saturating_sub(text.len() as u64))
        }
        None if cut.limited_by == Unit::Lines => (Unit::Lines, cut.removed_lines()),
        None => (Unit::Bytes, cut.removed_bytes()),
    }
}

fn join_ends(pieces: &[Piece], gap: &str, around: &str) -> String {
    let ends: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    match ends.as_slice() {
        [first, ""] => format!("{first}{around}{gap}"),
        ["", last] => format!("{gap}{around}{last}"),
        [first, last] => format!("{first}{around}{gap}{around}{last}"),
        other => other.concat(),
    }
}

/// When nothing fits beside the notice: the shortest sign that something is missing.
fn marker_only(
    window: &Window,
    source: Source,
    form: &Form<'_>,
    circumstances: &Circumstances,
) -> Rendered {
    let mut cut = cut(window, source, &form.limits, 0);
    cut.direction = Direction::Head;
    cut.pieces.clear();
    let marker = compact_line(form, circumstances)
        .unwrap_or_else(|| form.wording.marker(missing(&cut, None).0, missing(&cut, None).1));
    let max_bytes = usize::try_from(form.limits.max_bytes).unwrap_or(usize::MAX);
    let end = graphemes::floor(&marker, max_bytes);
    let content = marker.get(..end).unwrap_or_default().to_owned();
    let hint = form.wording.hint(&cut, circumstances);
    finish(content, 0, String::new(), hint, &cut, None)
}

fn finish(
    content: String,
    preview_start: usize,
    preview: String,
    hint: String,
    cut: &Cut,
    foreign: Option<Foreign<'_>>,
) -> Rendered {
    let from = units(content.get(..preview_start).unwrap_or_default());
    let (kept_lines, kept_bytes) = match foreign {
        None => (cut.kept_lines(), cut.kept_bytes()),
        Some(foreign) => (
            cut.total_lines.saturating_sub(
                foreign
                    .removed_lines
                    .unwrap_or_else(|| cut.total_lines.saturating_sub(size(foreign.text).0)),
            ),
            cut.total_bytes.saturating_sub(
                foreign
                    .removed_bytes
                    .unwrap_or_else(|| cut.total_bytes.saturating_sub(foreign.text.len() as u64)),
            ),
        ),
    };
    let shown = if foreign.is_some() { &[] } else { cut.pieces.as_slice() };
    let facts = Facts {
        removed_lines: cut.total_lines - kept_lines,
        removed_bytes: cut.total_bytes - kept_bytes,
        kept_lines,
        kept_bytes,
        total_lines: cut.total_lines,
        total_bytes: cut.total_bytes,
        limited_by: missing(cut, foreign).0,
        direction: cut.direction,
        ranges: shown
            .iter()
            .filter(|piece| !piece.text.is_empty())
            .map(|piece| Range {
                from_line: piece.first_line,
                to_line: piece.last_line,
                from_byte: piece.bytes.start,
                to_byte: piece.bytes.end,
            })
            .collect(),
        partial_lines: if foreign.is_some() { Vec::new() } else { partial_lines(cut) },
        preview: Span { from, to: from + units(&preview) },
        hint,
        piece_units: shown.iter().map(|piece| units(&piece.text)).collect(),
    };
    Rendered { preview: preview_start..preview_start + preview.len(), content, facts }
}

fn partial_lines(cut: &Cut) -> Vec<PartialLine> {
    let partials = cut.partials().into_iter();
    partials
        .map(|partial| PartialLine {
            line: partial.line,
            shown_bytes: partial.shown,
            total_bytes: partial.total,
        })
        .collect()
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn size(text: &str) -> (u64, u64) {
    let breaks = text.matches('\n').count() as u64;
    (LineRule::Terminated.count(breaks, text.is_empty(), text.ends_with('\n')), text.len() as u64)
}

fn fits_whole(text: &str, limits: &Limits) -> bool {
    let (lines, bytes) = size(text);
    limits.allow(lines, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncate::notice::{ENGLISH, OPENCODE};
    use proptest::prelude::*;

    fn rendered(text: &str, limits: Limits, wording: &Wording, inside: bool) -> Rendered {
        let mut window = Window::new(&limits);
        window.push(text.as_bytes());
        let form = Form { limits, wording, inside, notice: None, preview: None };
        let circumstances =
            Circumstances { path: "/data/tool_1_abc.txt".into(), ..Default::default() };
        render(&window, Source::Text, &form, &circumstances)
    }

    fn limits(max_lines: u64, max_bytes: u64, direction: Direction) -> Limits {
        Limits { max_lines, max_bytes, direction, line_rule: LineRule::Terminated }
    }

    #[test]
    fn the_notice_stands_where_the_text_is_missing() {
        let text: String = (0..100).map(|i| format!("line{i}\n")).collect();
        let head = rendered(&text, limits(2, 1000, Direction::Head), &ENGLISH, false).content;
        assert!(
            head.starts_with("line0\nline1\n\n...98 lines truncated...\n\nThe tool call succeeded"),
            "{head}"
        );
        let tail = rendered(&text, limits(2, 1000, Direction::Tail), &ENGLISH, false).content;
        assert!(
            tail.starts_with("...98 lines truncated...") && tail.ends_with("\n\nline98\nline99"),
            "{tail}"
        );
        let both = rendered(&text, limits(3, 1000, Direction::Both), &ENGLISH, false).content;
        assert!(both.starts_with("line0\n...98 lines truncated...\nline99\n\nThe tool"), "{both}");
    }

    #[test]
    fn the_facts_point_at_the_preview() {
        let text = "你好😀\n".repeat(100);
        for direction in [Direction::Head, Direction::Tail, Direction::Both] {
            let Rendered { content, preview, facts } =
                rendered(&text, limits(4, 1000, direction), &ENGLISH, false);
            let (preview_at, preview) = (preview.start, &content[preview]);
            assert_eq!(units(&content[..preview_at]), facts.preview.from);
            assert!(preview.starts_with("你好😀\n") && preview.ends_with("你好😀"), "{preview}");
        }
    }

    #[test]
    fn one_line_says_it_all_when_both_ends_share_the_budget() {
        let text = format!("HEAD-{}-TAIL", "x".repeat(500));
        let content = rendered(&text, limits(2000, 300, Direction::Both), &OPENCODE, true).content;
        assert!(content.len() <= 300 && content.contains("/data/tool_1_abc.txt ..."), "{content}");
        assert!(content.starts_with("HEAD-") && content.ends_with("-TAIL"), "{content}");
    }

    proptest! {
        #[test]
        fn with_the_notice_inside_everything_keeps_the_limits(
            lines in 1u64..40, max_lines in 1u64..20, max_bytes in 1u64..500, width in 1usize..200,
            direction in prop_oneof![Just(Direction::Head), Just(Direction::Tail), Just(Direction::Both)],
            opencode: bool,
        ) {
            let text = format!("{}\n", "é".repeat(width)).repeat(lines as usize);
            let limits = limits(max_lines, max_bytes, direction);
            prop_assume!(!limits.allow(lines, text.len() as u64));
            let wording = if opencode { &OPENCODE } else { &ENGLISH };
            let Rendered { content, .. } = rendered(&text, limits, wording, true);
            let (lines, bytes) = size(&content);
            prop_assert!(lines <= max_lines && bytes <= max_bytes, "{lines} lines, {bytes} bytes: {content}");
            prop_assert!(!content.is_empty());
        }
    }
}
