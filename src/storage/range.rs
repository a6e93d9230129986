//! Reads a part of a saved output, by lines or by bytes, in memory independent of the file's size.

use std::io::{self, Cursor, Read, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use memchr::{memchr_iter, memrchr};
use serde::{Deserialize, Serialize};

use super::directories::StoreDirs;
use super::line_index::{LineIndex, LineIndexes, LinePosition};
use super::read::{Input, Unfinished, is_incomplete, open_output_of, unreadable};
use super::read_buffer::PaddedBuffer;
use crate::error::Result;
use crate::text::utf8_boundary;
use crate::text::utf16;
use crate::util::sync::lock;

/// Maximum number of bytes returned by one call.
pub const MAX_BYTES: u64 = 256 * 1024;
/// Minimum of `max_bytes`: with less, a call could never get past a longer character.
pub const MIN_BYTES: u64 = utf8_boundary::MAX_LENGTH as u64;

/// A requested range, and the range that continues a previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// First line, from 1; `None` for a range of bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_line: Option<u64>,
    /// Number of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// First byte. Together with a line: continue within that line, at this offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_byte: Option<u64>,
    /// Number of bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_count: Option<u64>,
    /// Maximum number of bytes of one call, at most [`MAX_BYTES`]. Lines are returned whole if at least one of them fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

impl Range {
    fn max_bytes(&self) -> u64 {
        self.max_bytes.map_or(MAX_BYTES, |bytes| bytes.clamp(MIN_BYTES, MAX_BYTES))
    }
}

/// The result of reading a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Piece {
    /// Well-formed text, with the line breaks of the file.
    #[serde(skip)]
    pub text: String,
    /// Line of the first byte, if the range was given in lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_line: Option<u64>,
    /// Number of lines shown, whole or in part, if the range was given in lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// Offset of the first byte in the file.
    pub from_byte: u64,
    /// Number of bytes in the file.
    pub byte_count: u64,
    /// Length of the file in bytes.
    pub total_bytes: u64,
    /// Number of lines in the file, if the range begins with a line beyond its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// The range to continue with; `None` at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Range>,
    /// True if the text begins or ends within a line, or within a character.
    pub partial: bool,
    /// True if the file holds only a part of the output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A read in progress; a long search for a line takes several steps.
#[derive(Debug)]
pub struct RangeRead {
    file: Box<dyn Input>,
    size: u64,
    index: Arc<Mutex<LineIndex>>,
    range: Range,
    incomplete: bool,
}

impl RangeRead {
    /// Opens an output; with the folder of a session, only if the output belongs to it.
    pub fn open(
        places: &StoreDirs,
        indexes: &LineIndexes,
        path: &str,
        session: Option<&str>,
        range: Range,
    ) -> Result<Self> {
        let file = open_output_of(places, path, session)?;
        let data = file.metadata().map_err(unreadable)?;
        let index = indexes.of(Path::new(path), &data);
        let incomplete = is_incomplete(path);
        Ok(RangeRead { file: Box::new(file), size: data.len(), index, range, incomplete })
    }

    /// Opens an output in progress, with its line index.
    pub fn of_unfinished(
        unfinished: Unfinished,
        index: Arc<Mutex<LineIndex>>,
        range: Range,
    ) -> Result<Self> {
        let Unfinished { mut file, bytes, incomplete } = unfinished;
        let cut = incomplete_end(&mut *file, bytes).map_err(unreadable)?;
        lock(&index).resume();
        Ok(RangeRead { file, size: bytes - cut, index, range, incomplete })
    }

    /// Opens an output in memory, under a path like that of a file.
    pub fn over(bytes: Vec<u8>, path: &str, range: Range) -> Self {
        let (size, incomplete) = (bytes.len() as u64, is_incomplete(path));
        let file = Box::new(Cursor::new(bytes));
        RangeRead { file, size, index: Arc::default(), range, incomplete }
    }

    /// Reads at most about `budget` bytes to get to the range. Returns `None` if it must be called again.
    pub fn step(&mut self, budget: u64) -> Result<Option<Piece>> {
        self.advance(budget).map_err(unreadable)
    }

    fn advance(&mut self, budget: u64) -> io::Result<Option<Piece>> {
        let Range { from_line, line_count, from_byte, byte_count, .. } = self.range;
        let Some(line) = from_line else {
            return self
                .by_bytes(from_byte.unwrap_or(0), byte_count.unwrap_or(MAX_BYTES))
                .map(Some);
        };
        let start = match from_byte {
            Some(byte) => LinePosition::At(byte),
            None => {
                let mut index = lock(&self.index);
                index.find(&mut *self.file, line.saturating_sub(1), budget)?
            }
        };
        match start {
            LinePosition::Unknown => Ok(None),
            LinePosition::Beyond => self.beyond_end(line, line_count).map(Some),
            LinePosition::At(byte) => self.by_lines(line, byte, line_count).map(Some),
        }
    }

    fn by_bytes(&mut self, from: u64, count: u64) -> io::Result<Piece> {
        let max_bytes = self.range.max_bytes();
        let (from, end) = (from.min(self.size), from.saturating_add(count.min(max_bytes)));
        let view = self.view(from, end)?;
        // A character belongs to the range that contains its first byte.
        let start = utf8_boundary::ceil(&view.bytes, view.index(from));
        let mut stop = utf8_boundary::ceil(&view.bytes, view.index(end)).max(start);
        if (stop - start) as u64 > max_bytes {
            stop = utf8_boundary::floor(&view.bytes, view.index(end));
        }
        let mut piece = self.piece(&view, start, stop);
        piece.partial |= start > view.index(from);
        piece.next = self.more(piece.from_byte + piece.byte_count).map(|from_byte| Range {
            from_byte: Some(from_byte),
            byte_count: Some(count),
            max_bytes: self.range.max_bytes,
            ..Range::default()
        });
        Ok(piece)
    }

    fn by_lines(&mut self, line: u64, from: u64, count: Option<u64>) -> io::Result<Piece> {
        let from = from.min(self.size);
        let max_bytes = self.range.max_bytes();
        let view = self.view(from, from.saturating_add(max_bytes))?;
        let start = utf8_boundary::ceil(&view.bytes, view.index(from));
        let limit = view.index(from.saturating_add(max_bytes));
        let within = view.bytes.get(start..limit).unwrap_or_default();
        let wanted = usize::try_from(count.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let mut breaks = memchr_iter(b'\n', within);
        let asked = wanted.checked_sub(1).and_then(|before| breaks.nth(before));
        let stop = match asked {
            Some(last) => start + last + 1,
            None if view.offset + limit as u64 >= self.size => limit,
            // Whole lines if there is one, else as much of this line as allowed.
            None => match memrchr(b'\n', within) {
                Some(last) => start + last + 1,
                None => utf8_boundary::floor(&view.bytes, limit),
            },
        };
        let mut piece = self.piece(&view, start, stop);
        let shown = view.bytes.get(start..stop).unwrap_or_default();
        let ended = memchr_iter(b'\n', shown).count() as u64;
        let inside = shown.last().is_some_and(|&byte| byte != b'\n');
        piece.from_line = Some(line);
        piece.line_count = Some(ended + u64::from(inside));
        piece.next = self.more(piece.from_byte + piece.byte_count).map(|end| Range {
            from_line: Some(line + ended),
            line_count: count,
            from_byte: inside.then_some(end),
            byte_count: None,
            max_bytes: self.range.max_bytes,
        });
        Ok(piece)
    }

    /// Returns an empty piece that says how many lines there are.
    fn beyond_end(&mut self, line: u64, line_count: Option<u64>) -> io::Result<Piece> {
        let mut piece = self.by_lines(line, self.size, line_count)?;
        let index = lock(&self.index);
        let line_feeds = index.line_feeds(&mut *self.file)?;
        drop(index);
        let last = self.view(self.size.saturating_sub(1), self.size)?;
        let is_open = self.size > 0 && last.bytes.get(last.index(self.size) - 1) != Some(&b'\n');
        piece.total_lines = Some(line_feeds + u64::from(is_open));
        Ok(piece)
    }

    fn more(&self, end: u64) -> Option<u64> {
        (end < self.size).then_some(end)
    }

    fn piece(&self, view: &PaddedBuffer, start: usize, stop: usize) -> Piece {
        let raw = view.bytes.get(start..stop).unwrap_or_default();
        let end = view.offset + stop as u64;
        let at_break = |at: usize| at == 0 || view.bytes.get(at - 1) == Some(&b'\n');
        let whole = at_break(start) && (end == self.size || at_break(stop));
        Piece {
            text: view.text(start, stop),
            from_line: None,
            line_count: None,
            from_byte: view.offset + start as u64,
            byte_count: raw.len() as u64,
            total_bytes: self.size,
            total_lines: None,
            next: None,
            partial: !raw.is_empty() && !whole,
            incomplete: self.incomplete,
        }
    }

    fn view(&mut self, from: u64, end: u64) -> io::Result<PaddedBuffer> {
        PaddedBuffer::read(&mut *self.file, from, end, self.size)
    }
}

/// Returns the number of bytes at the end that begin a character, which may still be completed.
fn incomplete_end(file: &mut dyn Input, bytes: u64) -> io::Result<u64> {
    let start = bytes.saturating_sub(utf8_boundary::MAX_LENGTH as u64);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(bytes - start).read_to_end(&mut end)?;
    Ok(utf16::incomplete_suffix(&end) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::fixture::saved;
    use crate::text::lossy::{Shown, Source};
    use proptest::prelude::*;

    fn read(places: &StoreDirs, path: &str, range: Range) -> Piece {
        let mut read = RangeRead::open(places, &LineIndexes::default(), path, None, range).unwrap();
        loop {
            if let Some(piece) = read.step(1).unwrap() {
                return piece;
            }
        }
    }

    fn lines(from: u64, count: u64) -> Range {
        Range { from_line: Some(from), line_count: Some(count), ..Range::default() }
    }

    fn tile(places: &StoreDirs, path: &str, first: Range) -> Vec<Piece> {
        let mut pieces = vec![read(places, path, first)];
        while let Some(next) = pieces.last().and_then(|piece| piece.next) {
            pieces.push(read(places, path, next));
        }
        pieces
    }

    #[test]
    fn lines_come_whole_with_their_breaks() {
        let (_root, places, path) = saved(b"a\r\nb\n\nd");
        let piece = read(&places, &path, lines(2, 2));
        assert_eq!((piece.text.as_str(), piece.line_count, piece.from_byte), ("b\n\n", Some(2), 3));
        assert_eq!((piece.next, piece.partial), (Some(lines(4, 2)), false));
        let piece = read(&places, &path, lines(4, 2));
        assert_eq!((piece.text.as_str(), piece.line_count, piece.next), ("d", Some(1), None));
        let piece = read(&places, &path, lines(9, 2));
        assert_eq!((piece.text.as_str(), piece.line_count, piece.next), ("", Some(0), None));
    }

    #[test]
    fn a_line_beyond_the_end_counts_the_lines() {
        let stride = "x\n".repeat(1 << 19);
        let long = format!("{stride}{stride}last");
        let rows = [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), (&stride, 1 << 19)];
        for (text, lines_of_text) in rows.into_iter().chain([(long.as_str(), (1 << 20) + 1)]) {
            let (_root, places, path) = saved(text.as_bytes());
            let piece = read(&places, &path, lines(9_000_000, 1));
            assert_eq!(piece.total_lines, Some(lines_of_text));
            assert_eq!((piece.text.as_str(), piece.from_byte), ("", text.len() as u64));
        }
    }

    #[test]
    fn a_line_over_the_limit_comes_in_parts() {
        let text = format!("first\n{}\nlast\n", "é".repeat(300_000));
        let (_root, places, path) = saved(text.as_bytes());
        let pieces = tile(&places, &path, lines(1, 1));
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(joined, text);
        let facts: Vec<_> = pieces.iter().map(|each| (each.from_line, each.partial)).collect();
        let line = |line, partial| (Some(line), partial);
        assert_eq!(
            facts,
            [line(1, false), line(2, true), line(2, true), line(2, true), line(3, false)]
        );
        assert!(pieces.iter().all(|piece| piece.byte_count <= MAX_BYTES));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn ranges_tile_the_file(
            bytes in prop::collection::vec(prop_oneof![
                Just(0xf0u8), Just(0x9f), Just(0x98), Just(0x80), Just(0xed), Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()
            ], 0..80),
            count in 1u64..9,
            max_bytes in MIN_BYTES..20,
        ) {
            let (_root, places, path) = saved(&bytes);
            let whole = Shown::decode(&bytes, Source::Text).text;
            let by_bytes = Range { from_byte: Some(0), byte_count: Some(count), ..Range::default() };
            for first in [by_bytes, lines(1, count)] {
                let joined: String = tile(&places, &path, first).into_iter().map(|each| each.text).collect();
                prop_assert_eq!(&joined, &*whole);
            }
            for first in [by_bytes, lines(1, count)].map(|range| Range { max_bytes: Some(max_bytes), ..range }) {
                let pieces = tile(&places, &path, first);
                prop_assert!(pieces.iter().all(|piece| piece.byte_count <= max_bytes));
                prop_assert_eq!(pieces.iter().map(|each| each.text.as_str()).collect::<String>(), &*whole);
            }
            // Adjacent ranges that are chosen without `next` lose nothing either.
            let joined: String = (0..=bytes.len() as u64 / count)
                .map(|at| Range { from_byte: Some(at * count), ..by_bytes })
                .map(|range| read(&places, &path, range).text)
                .collect();
            prop_assert_eq!(&joined, &*whole);
        }
    }
}
