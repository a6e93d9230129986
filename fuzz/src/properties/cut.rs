//! A truncated text is well-formed, within the limits, and reports correctly what is missing.

use spillway_core::text::lines::LineRule;
use spillway_core::text::lossy::{Shown, Source};
use spillway_core::truncation::head_tail::{Gap, cut, fits};
use spillway_core::truncation::limits::{Direction, Limits};
use spillway_core::truncation::notice::{
    CHINESE, Circumstances, ENGLISH, MORYFLOW, OPENCODE, TAKUMI, contains_marker,
};
use spillway_core::truncation::preview_buffer::Window;
use spillway_core::truncation::render::{Form, render};
use spillway_core::truncation::result::Cut;

use super::input::{Input, as_text};

/// Maximum length of a notice in bytes, without the path.
const NOTICE_BYTES: usize = 512;
const NOTICE_LINES: u64 = 8;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = input.limits();
    let source = input.pick(&[Source::Text, Source::Bytes]);
    let wording = input.pick(&[&ENGLISH, &CHINESE, &OPENCODE, &TAKUMI, &MORYFLOW]);
    let inside = input.flag();
    let is_lost = input.flag();
    let circumstances = Circumstances {
        failed: input.flag(),
        path: if is_lost { String::new() } else { "/data/x_1_aaaaaaaaaaaaa.txt".to_owned() },
        part: None,
        lost: is_lost.then(|| "ENOSPC: no space left on device (/data)".to_owned()),
        ceiling: input.flag().then_some(204_800),
        tools: vec!["grep".to_owned(), "read".to_owned(), "task".to_owned()],
        foreign: false,
        earlier: None,
    };
    let gap_bytes = input.count();
    let content = input.content(6 * 1024);
    let raw = if source == Source::Text { as_text(&content) } else { content };

    let mut window = Window::new(&limits);
    window.push(&raw);
    let shown = Shown::decode(&raw, source).text;
    let rule = limits.line_rule;
    let is_within = limits.allow(lines(rule, &shown), shown.len() as u64);
    assert_eq!(fits(&window, source, &limits), is_within);
    if is_within {
        return;
    }

    let gap = Gap { bytes: gap_bytes, tokens: 0 };
    let made = cut(&window, source, &limits, gap);
    check_counts(&made, &raw, rule);
    check_pieces(&made, &raw, source, &limits, gap_bytes);
    check_choice(&made, &shown, &limits);

    let form = Form { limits, wording, inside, notice: None, room: &[], preview: None };
    let rendered = render(&window, source, &form, &circumstances);
    let preview = &rendered.content[rendered.preview.clone()];
    if inside {
        // The whole text is counted by the default rule.
        let size = lines(LineRule::Terminated, &rendered.content);
        assert!(size <= limits.max_lines, "{size} lines: {}", rendered.content);
        assert!(rendered.content.len() as u64 <= limits.max_bytes, "{}", rendered.content);
    } else {
        assert!(preview.len() as u64 <= limits.max_bytes);
        // If only line breaks are shown, the last of them is the one at the cut.
        let rule = if is_blank(preview) { LineRule::Terminated } else { rule };
        assert!(lines(rule, preview) <= limits.max_lines);
        let more = rendered.content.len() - preview.len();
        assert!(more <= NOTICE_BYTES + circumstances.path.len(), "{more} bytes more");
        let all = lines(LineRule::Terminated, &rendered.content);
        assert!(all - lines(LineRule::Terminated, preview) <= NOTICE_LINES);
        assert!(contains_marker(&rendered.content), "{}", rendered.content);
    }
}

/// Checks that the parts shown and missing add up to the whole.
fn check_counts(cut: &Cut<'_>, raw: &[u8], rule: LineRule) {
    let breaks = raw.iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!(cut.total_bytes, raw.len() as u64);
    assert_eq!(cut.total_lines, rule.count(breaks, raw.is_empty(), raw.ends_with(b"\n")));
    assert_eq!(cut.kept_bytes() + cut.removed_bytes(), cut.total_bytes);
    assert_eq!(cut.kept_lines() + cut.removed_lines(), cut.total_lines);
    for partial in cut.partials() {
        assert!(0 < partial.shown && partial.shown < partial.total, "{partial:?}");
    }
}

/// Checks that each piece is a part of the original, in order, with its line numbers, and that together they are within
/// the limits.
fn check_pieces(cut: &Cut<'_>, raw: &[u8], source: Source, limits: &Limits, gap_bytes: u64) {
    let mut end = 0;
    for piece in &cut.pieces {
        assert!(end <= piece.bytes.start && piece.bytes.start <= piece.bytes.end);
        end = piece.bytes.end;
        assert!(end <= raw.len() as u64);
        let (from, to) = (piece.bytes.start as usize, piece.bytes.end as usize);
        assert_eq!(Shown::decode(&raw[from..to], source).text, piece.text);
        if piece.text.is_empty() {
            continue;
        }
        let breaks = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(piece.first_line, breaks(&raw[..from]) + 1);
        // A piece that ends with a break may show the empty line after it too: its own break is at the cut.
        let last = piece.first_line + breaks(&raw[from..to]);
        let is_last = piece.last_line == last;
        assert!(
            is_last || (piece.text.ends_with('\n') && piece.last_line == last - 1),
            "{piece:?}"
        );
    }
    let all: u64 = cut.pieces.iter().map(|piece| piece.text.len() as u64).sum();
    let shown = cut.pieces.iter().filter(|piece| !piece.text.is_empty());
    let count: u64 = shown.map(|piece| piece.last_line + 1 - piece.first_line).sum();
    let is_split = cut.pieces.len() == 2;
    assert!(all + if is_split { gap_bytes } else { 0 } <= limits.max_bytes);
    assert!(count + u64::from(is_split) <= limits.max_lines);
    // The pieces are at the ends that the direction says, and only the reported part is missing.
    if let [only] = &cut.pieces[..]
        && !only.text.is_empty()
    {
        let rest = &raw[only.bytes.end as usize..];
        let is_tail = cut.direction == Direction::Tail;
        assert!(if is_tail {
            matches!(rest, b"" | b"\n" | b"\r\n")
        } else {
            only.bytes.start == 0
        });
    }
}

/// With one end: as many whole lines as fit, found by trying; nothing only if not even a character fits.
fn check_choice(cut: &Cut<'_>, shown: &str, limits: &Limits) {
    let [piece] = &cut.pieces[..] else { return };
    let expected = whole_lines(shown, limits, cut.direction);
    if !is_blank(&expected) {
        assert_eq!(piece.text, expected);
    } else if piece.text.is_empty() && limits.max_bytes >= 64 {
        // A grapheme can have any length; a longer one than this was not typed.
        let end = limits.max_bytes as usize;
        let near = if cut.direction == Direction::Tail {
            &shown.as_bytes()[shown.len() - end.min(shown.len())..]
        } else {
            &shown.as_bytes()[..end.min(shown.len())]
        };
        assert!(!near.iter().all(u8::is_ascii_graphic), "nothing is shown of {shown:?}");
    }
}

fn whole_lines(text: &str, limits: &Limits, direction: Direction) -> String {
    let bytes = text.as_bytes();
    let rule = limits.line_rule;
    let mut spans = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('\n') {
        spans.push((from, rule.content_end(bytes, at)));
        from = at + 1;
    }
    if from < text.len() || rule == LineRule::Split {
        spans.push((from, text.len()));
    }
    let mut kept = "";
    for count in 1..=spans.len().min(usize::try_from(limits.max_lines).unwrap_or(usize::MAX)) {
        let taken = match direction {
            Direction::Tail => &spans[spans.len() - count..],
            _ => &spans[..count],
        };
        let (Some(first), Some(last)) = (taken.first(), taken.last()) else { break };
        if (last.1 - first.0) as u64 > limits.max_bytes {
            break;
        }
        kept = &text[first.0..last.1];
    }
    kept.to_owned()
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\r' | b'\n'))
}

fn lines(rule: LineRule, text: &str) -> u64 {
    rule.count(text.matches('\n').count() as u64, text.is_empty(), text.ends_with('\n'))
}
