//! Excerpts of matching lines: the line, truncated around the match if it is long, and its neighbours.

use std::io::{self, SeekFrom};

use memchr::{memchr, memrchr};
use serde::Serialize;

use super::read::Input;
use super::read_buffer::PaddedBuffer;
use crate::text::lines::LineRule;
use crate::text::lossy::{Shown, Source};
use crate::text::utf8_boundary;

/// Maximum number of bytes shown of a matching line.
const LINE_SHOWN: u64 = 1024;
/// Number of those bytes that are before the match.
const LEAD: u64 = LINE_SHOWN / 4;
/// Maximum number of bytes shown of a neighbouring line.
const NEIGHBOUR_SHOWN: usize = 512;
/// Number of bytes read at a time to find neighbouring lines.
const BLOCK: u64 = 64 * 1024;
/// Maximum distance in bytes at which the other end of a line is looked for. Neighbours beyond a longer line are not
/// shown.
const REACH: u64 = 1 << 20;
/// Marks the end at which a line was truncated.
const CUT: &str = "…";

/// Position of a match in the file.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Line number, from 1.
    pub line: u64,
    /// Offset of the line.
    pub line_start: u64,
    /// Offset of the match.
    pub from: u64,
    /// End of the match, exclusive.
    pub to: u64,
}

/// A matching line as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Line number, from 1.
    pub line: u64,
    /// The line without its break.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
    /// Offset of the match in the file.
    pub byte: u64,
    /// True if `text` is only a part of the line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Match {
    /// Returns the total length of its texts in bytes.
    pub fn bytes(&self) -> u64 {
        let context = self.before.iter().chain(&self.after).map(String::len).sum::<usize>();
        (self.text.len() + context) as u64
    }
}

/// Returns an excerpt of at most `room` bytes. If it does not fit, returns `None` if `may_refuse`, and a truncated one
/// otherwise.
pub fn excerpt(
    file: &mut dyn Input,
    size: u64,
    found: &Found,
    (before, after): (usize, usize),
    room: u64,
    may_refuse: bool,
) -> io::Result<Option<Match>> {
    let (mut shown, end) = line(file, size, found, LINE_SHOWN)?;
    if before > 0 {
        shown.before = lines_before(file, found.line_start, before)?;
    }
    if after > 0
        && let Some(end) = line_end(file, end)?
    {
        shown.after = lines_after(file, size, end, after)?;
    }
    if shown.bytes() > room {
        if may_refuse {
            return Ok(None);
        }
        let marks = 2 * CUT.len() as u64;
        let max_bytes = LINE_SHOWN.min(room.saturating_sub(marks));
        shown = line(file, size, found, max_bytes)?.0;
        if shown.bytes() > room {
            // A malformed byte is displayed as three bytes.
            shown = line(file, size, found, max_bytes / 3)?.0;
        }
    }
    Ok(Some(shown))
}

/// Reads at most `max_bytes` bytes of the matching line. Also returns an offset after the match that is still in the line.
fn line(
    file: &mut dyn Input,
    size: u64,
    found: &Found,
    max_bytes: u64,
) -> io::Result<(Match, u64)> {
    let begin = found.line_start.max(found.from.saturating_sub(max_bytes));
    let view = PaddedBuffer::read(file, begin, found.from.saturating_add(max_bytes), size)?;
    let after = view.bytes.get(view.index(found.from)..).unwrap_or_default();
    let line_end = memchr(b'\n', after).map(|at| {
        let at = view.index(found.from) + at;
        view.offset + LineRule::Terminated.content_end(&view.bytes, at) as u64
    });
    // If the end is out of reach, the line is too long to be shown whole.
    let end = line_end.unwrap_or(view.offset + view.bytes.len() as u64).max(found.line_start);
    let fits = end - found.line_start <= max_bytes && (line_end.is_some() || end == size);
    let (start, stop) = if fits {
        (found.line_start, end)
    } else {
        let lead = LEAD.min(max_bytes / 4);
        let start = found.from.saturating_sub(lead).min(end.saturating_sub(max_bytes)).max(begin);
        (start, end.min(start + max_bytes))
    };
    let from = utf8_boundary::ceil(&view.bytes, view.index(start));
    let to = utf8_boundary::floor(&view.bytes, view.index(stop)).max(from);
    let (cut_before, cut_after) =
        (start > found.line_start, stop < end || (!fits && end < size && line_end.is_none()));
    let text = view.text(from, to);
    let shown = Match {
        line: found.line,
        text: marked(text, cut_before, cut_after),
        before: Vec::new(),
        after: Vec::new(),
        byte: found.from,
        partial: cut_before || cut_after,
    };
    Ok((shown, found.to))
}

fn marked(text: String, cut_before: bool, cut_after: bool) -> String {
    match (cut_before, cut_after) {
        (false, false) => text,
        (before, after) => {
            let mark = |is_cut: bool| if is_cut { CUT } else { "" };
            format!("{}{text}{}", mark(before), mark(after))
        }
    }
}

/// Returns the offset after the line feed that ends a line, if it is within reach.
fn line_end(file: &mut dyn Input, from: u64) -> io::Result<Option<u64>> {
    file.seek(SeekFrom::Start(from))?;
    let mut block = vec![0; BLOCK as usize];
    let mut at = from;
    while at - from < REACH {
        let read = file.read(&mut block)?;
        let fresh = block.get(..read).unwrap_or_default();
        if let Some(end) = memchr(b'\n', fresh) {
            return Ok(Some(at + end as u64 + 1));
        }
        if read == 0 {
            break;
        }
        at += read as u64;
    }
    Ok(None)
}

/// Returns the start of the line that ends before `end`, if it is within reach.
fn line_start(file: &mut dyn Input, end: u64) -> io::Result<Option<u64>> {
    let mut at = end;
    while at > 0 && end - at < REACH {
        let begin = at.saturating_sub(BLOCK);
        let view = PaddedBuffer::read(file, begin, at, at)?;
        let fresh = view.bytes.get(view.index(begin)..).unwrap_or_default();
        if let Some(found) = memrchr(b'\n', fresh) {
            return Ok(Some(begin + found as u64 + 1));
        }
        at = begin;
    }
    Ok((at == 0).then_some(0))
}

/// Returns up to `count` lines before the line that begins at `end`.
fn lines_before(file: &mut dyn Input, mut end: u64, count: usize) -> io::Result<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    while end > 0 && lines.len() < count {
        let begin = end.saturating_sub(BLOCK);
        let view = PaddedBuffer::read(file, begin, end, end)?;
        let known = view.bytes.get(view.index(begin)..).unwrap_or_default();
        let mut rest = known.strip_suffix(b"\n").unwrap_or(known);
        let held = lines.len();
        while let Some(at) = memrchr(b'\n', rest)
            && lines.len() < count
        {
            let line = rest.get(at + 1..).unwrap_or_default();
            lines.push(neighbour(without_return(line), false, false));
            rest = rest.get(..at).unwrap_or_default();
            end = begin + at as u64 + 1;
        }
        if lines.len() == count || (held < lines.len() && begin > 0) {
            continue;
        }
        // It begins at the start of the file, or out of reach.
        let Some(start) = (if begin == 0 { Some(0) } else { line_start(file, end - 1)? }) else {
            lines.push(neighbour(without_return(rest), true, false));
            break;
        };
        let view = PaddedBuffer::read(file, start, start + BLOCK, end - 1)?;
        let line = view.bytes.get(view.index(start)..).unwrap_or_default();
        lines.push(neighbour(without_return(line), false, false));
        end = start;
    }
    lines.reverse();
    Ok(lines)
}

/// Returns up to `count` lines from the one that begins at `begin`.
fn lines_after(
    file: &mut dyn Input,
    size: u64,
    mut begin: u64,
    count: usize,
) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    while begin < size && lines.len() < count {
        let view = PaddedBuffer::read(file, begin, begin.saturating_add(BLOCK), size)?;
        let mut rest = view.bytes.get(view.index(begin)..).unwrap_or_default();
        let held = lines.len();
        while let Some(at) = memchr(b'\n', rest)
            && lines.len() < count
        {
            let line = rest.get(..at).unwrap_or_default();
            lines.push(neighbour(without_return(line), false, false));
            rest = rest.get(at + 1..).unwrap_or_default();
            begin += at as u64 + 1;
        }
        let is_cut = begin + (rest.len() as u64) < size;
        if lines.len() == count || (held < lines.len() && is_cut) {
            continue;
        }
        // The file ends, or was truncated by another process.
        if rest.is_empty() {
            break;
        }
        lines.push(neighbour(rest, false, is_cut));
        match line_end(file, begin + rest.len() as u64)? {
            Some(end) => begin = end,
            None => break,
        }
    }
    Ok(lines)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Formats a neighbouring line, truncating a long one.
fn neighbour(line: &[u8], cut_before: bool, cut_after: bool) -> String {
    let is_long = line.len() > NEIGHBOUR_SHOWN;
    let range = match (is_long, cut_before) {
        (false, _) => 0..line.len(),
        (true, false) => 0..utf8_boundary::floor(line, NEIGHBOUR_SHOWN),
        (true, true) => utf8_boundary::ceil(line, line.len() - NEIGHBOUR_SHOWN)..line.len(),
    };
    let shown = line.get(range).unwrap_or_default();
    let text = Shown::decode(shown, Source::Text).text.into_owned();
    marked(text, cut_before, cut_after || (is_long && !cut_before))
}
