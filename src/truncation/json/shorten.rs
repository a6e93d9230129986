//! Shortens strings to their two ends.

use super::sampled_tree::Text;
use crate::text::graphemes;
use crate::text::lossy::{Shown, Source};

/// Marks the text missing in a string.
pub(super) const ELLIPSIS: &str = "\u{2026}";

/// The part of a string that is shown, without the quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub text: String,
    /// Number of raw bytes shown at the start and at the end; `None` if the string is complete.
    pub ends: Option<(u64, u64)>,
}

/// Shortens a string to `max_bytes` bytes. Returns `None` if that has no room for an ellipsis.
pub(super) fn part(text: &Text, max_bytes: usize, source: Source) -> Option<Part> {
    if text.is_whole() && text.head.len() <= max_bytes {
        let shown = Shown::decode(&text.head, source).text;
        if shown.len() <= max_bytes {
            return Some(Part { text: shown.into_owned(), ends: None });
        }
    }
    let room = max_bytes.checked_sub(ELLIPSIS.len())?;
    let tail_room = room / 3;
    let tail_raw = if text.is_whole() { &text.head } else { &text.tail };
    let (tail, tail_bytes) = end_of(tail_raw, tail_room, source);
    let (head, head_bytes) = start_of(&text.head, room - tail.len(), source);
    let text = format!("{head}{ELLIPSIS}{tail}");
    Some(Part { text, ends: Some((head_bytes, tail_bytes)) })
}

/// Returns the longest prefix that ends after a whole character and a whole escape, and its length in raw bytes.
fn start_of(raw: &[u8], max_bytes: usize, source: Source) -> (String, u64) {
    let raw = raw.get(..max_bytes + 8).unwrap_or(raw);
    let shown = Shown::decode(raw, source);
    let text = shown.text.as_ref();
    // The last character may be incomplete, because only a part of the string was kept.
    let limit = if text.len() > max_bytes {
        max_bytes
    } else {
        text.len().saturating_sub(4).min(max_bytes)
    };
    let end = graphemes::floor(text, limit);
    let end = before_escape(text, end);
    (text.get(..end).unwrap_or_default().to_owned(), shown.raw_offset(end) as u64)
}

/// Returns the last offset at or before `at` that is not within an escape, or within a surrogate pair of escapes.
pub(super) fn before_escape(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(found) = bytes.get(place..at).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = place + found;
        let mut end = start + escape(bytes.get(start..).unwrap_or_default());
        if surrogate(bytes.get(start..).unwrap_or_default()) == Some(Half::First)
            && surrogate(bytes.get(end..).unwrap_or_default()) == Some(Half::Second)
        {
            end += 6;
        }
        if end > at {
            return start;
        }
        place = end;
    }
    at
}

/// Returns the length of the escape that begins here.
fn escape(bytes: &[u8]) -> usize {
    if bytes.get(1) == Some(&b'u') { 6 } else { 2 }
}

#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Returns the half of a surrogate pair that is escaped here.
fn surrogate(bytes: &[u8]) -> Option<Half> {
    match bytes {
        [b'\\', b'u', b'd' | b'D', digit, ..] => match digit.to_ascii_lowercase() {
            b'8'..=b'9' | b'a'..=b'b' => Some(Half::First),
            b'c'..=b'f' => Some(Half::Second),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the longest suffix that begins with a whole character and a whole escape, and its length in raw bytes.
fn end_of(raw: &[u8], max_bytes: usize, source: Source) -> (String, u64) {
    let nothing = (String::new(), 0);
    let from = raw.len().saturating_sub(max_bytes + 16);
    let near = raw.get(from..).unwrap_or_default();
    // An escape has at most six bytes: after six without a backslash there is none in progress, and no character either
    // after the first byte of one.
    let safe = |at: usize| {
        let before = near.get(at.wrapping_sub(6)..at);
        before.is_some_and(|before| !before.contains(&b'\\'))
            && near.get(at).is_some_and(|byte| !matches!(byte, 0x80..=0xbf))
            && surrogate(near.get(at..).unwrap_or_default()) != Some(Half::Second)
    };
    let Some(start) = (6..near.len()).find(|at| safe(*at)) else { return nothing };
    let shown = Shown::decode(near.get(start..).unwrap_or_default(), source);
    let text = shown.text.as_ref();
    let mut at = graphemes::ceil(text, text.len().saturating_sub(max_bytes));
    // After the escape that the cut is within.
    let back = before_escape(text, at);
    if back < at {
        at = back + escape(text.as_bytes().get(back..).unwrap_or_default());
        if surrogate(text.as_bytes().get(at..).unwrap_or_default()) == Some(Half::Second) {
            at += 6;
        }
    }
    let text = text.get(at..).unwrap_or_default();
    let raw_bytes = near.len() - start - shown.raw_offset(at);
    (text.to_owned(), raw_bytes as u64)
}
