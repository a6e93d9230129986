//! Previews of reports in XML: the tags that name and explain each failure, one on a line.

use super::xml::{Tag, XmlFailure};
use crate::text::lossy::Source;
use crate::truncation::limits::Limits;
use crate::truncation::lines::{Line, line, longest};
use crate::truncation::preview_buffer::Window;
use crate::truncation::result::{Cut, Piece};
use crate::truncation::strategies::cut_of;
use crate::util::sort::sort_by_key;

/// Returns the number of failures that are named, the preview, and the parts of the text that it shows. Returns `None` if
/// no name fits.
pub(super) fn preview(
    failures: &[XmlFailure],
    window: &Window,
    source: Source,
    limits: &Limits,
) -> Option<(u64, String, Cut<'static>)> {
    let longest = longest(limits);
    let shown = |tag: &Tag| {
        let text: Vec<u8> = tag
            .text
            .iter()
            .map(|byte| if byte.is_ascii_whitespace() { b' ' } else { *byte })
            .collect();
        line(&text, tag.bytes.clone(), source, longest)
    };
    let mut budget = Budget { lines: limits.max_lines, bytes: limits.max_bytes.saturating_add(1) };
    // Names first, then what explains them.
    let names: Vec<(usize, &Tag)> = failures
        .iter()
        .enumerate()
        .filter_map(|(at, failure)| Some((at, failure.tags.first()?)))
        .collect();
    let rest = failures
        .iter()
        .enumerate()
        .flat_map(|(at, failure)| failure.tags.iter().skip(1).map(move |tag| (at, tag)));
    let mut chosen: Vec<(&Tag, Line)> = Vec::new();
    let mut named = vec![false; failures.len()];
    for (at, tag) in names {
        let line = shown(tag);
        if budget.takes(&line) {
            chosen.push((tag, line));
            if let Some(named) = named.get_mut(at) {
                *named = true;
            }
        }
    }
    for (at, tag) in rest {
        let line = shown(tag);
        if named.get(at) == Some(&true) && budget.takes(&line) {
            chosen.push((tag, line));
        }
    }
    sort_by_key(&mut chosen, |(tag, _)| tag.bytes.start);
    let text = chosen.iter().map(|(_, line)| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let pieces = chosen.iter().map(|(tag, line)| piece(tag, line)).collect();
    let named = named.iter().filter(|named| **named).count() as u64;
    (named > 0).then(|| (named, text, cut_of(pieces, budget.lines == 0, window, limits)))
}

/// The rest of the limits.
struct Budget {
    lines: u64,
    bytes: u64,
}

impl Budget {
    /// Takes the room for a line, if it is there.
    fn takes(&mut self, line: &Line) -> bool {
        let bytes = line.text.len() as u64 + 1;
        if self.lines == 0 || self.bytes < bytes {
            return false;
        }
        self.lines -= 1;
        self.bytes -= bytes;
        true
    }
}

fn piece(tag: &Tag, line: &Line) -> Piece<'static> {
    let shown = line.part.map_or(tag.bytes.end, |part| tag.bytes.end.min(tag.bytes.start + part));
    Piece {
        text: "\n".into(),
        bytes: tag.bytes.start..shown,
        first_line: tag.lines.0,
        last_line: tag.lines.1,
        partial: None,
    }
}
