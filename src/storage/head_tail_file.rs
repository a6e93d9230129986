//! Saved files with a maximum size: the first and the last part of a longer output, and a line between them.
//!
//! While an output comes in, its draft is filled in order up to the maximum. Further bytes overwrite the second half of
//! the draft as a ring buffer, so that the draft always holds the first and the last bytes so far. The boundaries of
//! the parts depend on the output alone, not on how it was split into chunks.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::text::omitted_range::OmittedRange;
use crate::text::utf8_boundary;

/// Smallest useful maximum in bytes.
pub const MIN_BYTES: u64 = 4096;
/// Maximum distance in bytes at which a line break is looked for; without one a part ends between two characters.
const NEAR: u64 = 1024;

/// Maps offsets of an output to offsets of a draft with a maximum size.
#[derive(Debug, Clone, Copy)]
pub struct DraftLayout {
    max_bytes: u64,
}

impl DraftLayout {
    /// Creates the layout of a draft of at most `max_bytes` bytes.
    pub fn new(max_bytes: u64) -> Self {
        DraftLayout { max_bytes }
    }

    /// Returns the number of bytes at the start that are not overwritten.
    pub fn head(&self) -> u64 {
        self.max_bytes / 2
    }

    /// Returns the ranges of the draft that hold a range of the output, in order.
    pub fn stretches(self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut offset = range.start;
        std::iter::from_fn(move || {
            let left = range.end.checked_sub(offset).filter(|left| *left > 0)?;
            let (place, room) = self.place(offset);
            let bytes = room.min(left);
            offset += bytes;
            Some(place..place + bytes)
        })
    }

    /// Returns the offset of the draft that holds the byte at `offset` of the output, and the number of bytes that
    /// follow contiguously.
    fn place(&self, offset: u64) -> (u64, u64) {
        if offset < self.max_bytes {
            return (offset, self.max_bytes - offset);
        }
        let turn = (offset - self.head()) % (self.max_bytes - self.head());
        (self.head() + turn, self.max_bytes - self.head() - turn)
    }

    /// Writes bytes of an output, which begin at `offset`, to their positions in a draft.
    pub fn write(
        &self,
        draft: &mut (impl Write + Seek),
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let mut rest = bytes;
        for place in self.stretches(offset..offset + bytes.len() as u64) {
            let (piece, later) = rest.split_at((place.end - place.start) as usize);
            draft.seek(SeekFrom::Start(place.start))?;
            draft.write_all(piece)?;
            rest = later;
        }
        Ok(())
    }

    /// Appends a range of an output from a draft.
    pub fn copy(
        &self,
        draft: &mut (impl Read + Seek),
        range: Range<u64>,
        to: &mut impl Write,
    ) -> io::Result<()> {
        self.stretches(range).try_for_each(|place| copy_range(draft, place, to))
    }

    /// Appends the parts of an output of `total` bytes, which exceeds the maximum, to its file, and returns the range
    /// omitted.
    pub fn seal(
        &self,
        draft: &mut (impl Read + Seek),
        total: u64,
        to: &mut impl Write,
    ) -> io::Result<(OmittedRange, u64)> {
        let (part, line) = self.cut(total, |from, to| {
            let mut bytes = Vec::new();
            self.copy(draft, from..to, &mut bytes)?;
            Ok(bytes)
        })?;
        self.copy(draft, 0..part.head_bytes, to)?;
        to.write_all(line.as_bytes())?;
        self.copy(draft, part.tail_start()..total, to)?;
        Ok((part, part.head_bytes + line.len() as u64 + part.tail_bytes))
    }

    /// Decides which parts of an output of `total` bytes are kept, and the line between them. `read` returns a range of
    /// the output.
    fn cut(
        &self,
        total: u64,
        mut read: impl FnMut(u64, u64) -> io::Result<Vec<u8>>,
    ) -> io::Result<(OmittedRange, String)> {
        // The bytes after the first half are overwritten, so the last position that can be checked is one character
        // before its end.
        let from = self.head() - NEAR;
        let near = read(from, self.head())?;
        let (head, is_line) = match memrchr(b'\n', &near) {
            Some(at) => (from + at as u64 + 1, true),
            None => (
                from + utf8_boundary::floor(&near, near.len() - utf8_boundary::MAX_LENGTH) as u64,
                false,
            ),
        };
        let line = |omitted| {
            let marker = OmittedRange::marker(omitted);
            if is_line { format!("{marker}\n") } else { format!("\n{marker}\n") }
        };
        let room = self.max_bytes - head - line(total).len() as u64;
        // The same applies to the start of the second half.
        let oldest = total - (self.max_bytes - self.head()) + utf8_boundary::MAX_LENGTH as u64;
        let start = oldest.max(total - room);
        let from = start - utf8_boundary::MAX_LENGTH as u64;
        let near = read(from, (start + NEAR).min(total))?;
        let before = utf8_boundary::MAX_LENGTH - 1;
        let ended = near.get(before..).and_then(|near| memchr(b'\n', near));
        let tail = match ended {
            Some(at) => from + (before + at + 1) as u64,
            None => from + utf8_boundary::ceil(&near, utf8_boundary::MAX_LENGTH) as u64,
        };
        let part =
            OmittedRange { head_bytes: head, tail_bytes: total - tail, omitted_bytes: tail - head };
        Ok((part, line(part.omitted_bytes)))
    }
}

/// Appends a range of a file.
pub fn copy_range(
    from: &mut (impl Read + Seek),
    range: Range<u64>,
    to: &mut impl Write,
) -> io::Result<()> {
    from.seek(SeekFrom::Start(range.start))?;
    let bytes = range.end - range.start;
    let copied = io::copy(&mut from.take(bytes), to)?;
    if copied != bytes {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the part that was written could not be read back",
        ));
    }
    Ok(())
}

/// Collects an output in memory, for a storage that takes it as a whole.
#[derive(Debug, Default)]
pub struct Collection {
    draft: Cursor<Vec<u8>>,
    written: u64,
    max_bytes: Option<u64>,
}

impl Collection {
    /// Keeps only the first and the last part of an output with more than `max_bytes` bytes.
    pub fn with_limit(self, max_bytes: u64) -> Self {
        Collection { max_bytes: Some(max_bytes), ..self }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let offset = self.written;
        self.written += bytes.len() as u64;
        match self.max_bytes.filter(|max_bytes| self.written > *max_bytes) {
            Some(max_bytes) => DraftLayout::new(max_bytes).write(&mut self.draft, offset, bytes),
            None => self.draft.write_all(bytes),
        }
    }

    /// Returns all bytes, and the range omitted if there is one.
    pub fn finish(self) -> io::Result<(Vec<u8>, Option<OmittedRange>)> {
        let Collection { mut draft, written, max_bytes } = self;
        let Some(max_bytes) = max_bytes.filter(|max_bytes| written > *max_bytes) else {
            return Ok((draft.into_inner(), None));
        };
        let mut bytes = Vec::new();
        let (part, _) = DraftLayout::new(max_bytes).seal(&mut draft, written, &mut bytes)?;
        Ok((bytes, Some(part)))
    }
}

/// Shortens an output that is complete already.
#[cfg(test)]
pub(super) fn part_of(bytes: &[u8], max_bytes: u64) -> (Vec<u8>, OmittedRange) {
    let range = |from: u64, to: u64| Ok(bytes[from as usize..to as usize].to_vec());
    let (part, line) = DraftLayout::new(max_bytes).cut(bytes.len() as u64, range).unwrap();
    let (head, tail) = (part.head_bytes as usize, part.tail_start() as usize);
    ([&bytes[..head], line.as_bytes(), &bytes[tail..]].concat(), part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collected<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
        max_bytes: u64,
    ) -> (Vec<u8>, Option<OmittedRange>) {
        let mut collection = Collection::default().with_limit(max_bytes);
        for piece in pieces {
            collection.push(piece).unwrap();
        }
        collection.finish().unwrap()
    }

    #[test]
    fn an_output_that_just_fits_is_whole() {
        let bytes = vec![b'x'; 4096];
        assert_eq!(collected([&bytes[..]], 4096), (bytes.clone(), None));
        assert!(collected([&bytes[..], b"x"], 4096).1.is_some());
    }

    #[test]
    fn parts_are_cut_at_the_ends_of_lines() {
        let text: String = (0..10_000).map(|line| format!("line {line}\n")).collect();
        let (bytes, part) = collected([text.as_bytes()], 5000);
        let (held, part) = (String::from_utf8(bytes).unwrap(), part.unwrap());
        assert!(held.len() <= 5000 && part.total_bytes() == text.len() as u64);
        let marker = format!("...{} bytes truncated...", part.omitted_bytes);
        let (head, tail) = held.split_once(&format!("{marker}\n")).unwrap();
        assert!(text.starts_with(head) && head.ends_with('\n') && text.ends_with(tail));
        assert!(tail.starts_with("line ") && head.len() + tail.len() > 4900);
    }

    #[test]
    fn no_more_is_collected_than_may_be_kept() {
        let mut collection = Collection::default().with_limit(5000);
        for _ in 0..1000 {
            collection.push(&[b'x'; 777]).unwrap();
        }
        let capacity = collection.draft.into_inner().capacity();
        assert!(capacity <= 2 * 5000, "{capacity}");
    }

    #[test]
    fn a_draft_holds_the_first_and_the_last_bytes() {
        let ring = DraftLayout::new(10);
        let places: Vec<u64> = (0..21).map(|offset| ring.place(offset).0).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5]);
        assert_eq!((ring.place(3).1, ring.place(12).1), (7, 3));
    }

    proptest! {
        #[test]
        fn parts_are_cut_between_characters(
            unit in prop::sample::select(vec!["a", "é", "你", "😀", "x\n", "你你你\r\n", "ab😀"]),
            count in 1000usize..9000, max_bytes in 4096u64..9000, size in 1usize..20_000,
        ) {
            let text = unit.repeat(count);
            let (bytes, part) = collected(text.as_bytes().chunks(size), max_bytes);
            prop_assert!(bytes.len() as u64 <= max_bytes.max(text.len() as u64 * u64::from(part.is_none())));
            let held = String::from_utf8(bytes).unwrap();
            if let Some(part) = part {
                prop_assert_eq!((held.clone().into_bytes(), part), part_of(text.as_bytes(), max_bytes));
                prop_assert_eq!(part.total_bytes(), text.len() as u64);
                prop_assert_eq!(&held[..part.head_bytes as usize], &text[..part.head_bytes as usize]);
                prop_assert!(text.ends_with(&held[held.len() - part.tail_bytes as usize..]));
                prop_assert!(held.len() as u64 + NEAR * 2 + 100 > max_bytes);
            } else {
                prop_assert_eq!(held, text);
            }
        }
    }
}
