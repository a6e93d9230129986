//! Files that may hold only so many bytes: of a longer output the first and the last part, and a line between them.
//!
//! While an output comes in, its draft is filled in order up to its most bytes. What comes then goes over the second half
//! of the draft, round and round, so that it always holds the first and the last bytes of what came so far. Where the
//! parts are cut depends on the output alone and not on how it was split.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use memchr::{memchr, memrchr};
use serde::{Deserialize, Serialize};

use crate::text::edges;
use crate::truncate::limits::Unit;
use crate::truncate::notice::ENGLISH;

/// A file that may hold fewer bytes would be of no use.
pub const LEAST_BYTES: u64 = 4096;
/// Bytes in which the end of a line is looked for; without one a part is cut between two characters.
const NEAR: u64 = 1024;

/// The parts of an output that its file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Bytes of its start, which are the first of the file.
    pub head_bytes: u64,
    /// Bytes of its end, which are the last of the file.
    pub tail_bytes: u64,
    /// Bytes between them, which are not in the file.
    pub omitted_bytes: u64,
}

impl Part {
    /// Bytes of the whole output.
    pub fn total_bytes(&self) -> u64 {
        self.head_bytes + self.tail_bytes + self.omitted_bytes
    }

    /// Where its end begins in the output.
    pub fn tail_start(&self) -> u64 {
        self.head_bytes + self.omitted_bytes
    }
}

/// Where the bytes of an output stand in a draft that may hold so many.
#[derive(Debug, Clone, Copy)]
pub struct Ring {
    most: u64,
}

impl Ring {
    /// Of a draft that may hold `most` bytes.
    pub fn new(most: u64) -> Self {
        Ring { most }
    }

    /// Bytes of the start that stay where they are.
    pub fn head(&self) -> u64 {
        self.most / 2
    }

    /// Where the byte at `offset` of the output stands, and how many stand in order from there.
    pub fn place(&self, offset: u64) -> (u64, u64) {
        if offset < self.most {
            return (offset, self.most - offset);
        }
        let turn = (offset - self.head()) % (self.most - self.head());
        (self.head() + turn, self.most - self.head() - turn)
    }

    /// Writes bytes of an output, from `offset` on, to where they stand in a draft.
    pub fn write(&self, draft: &mut File, mut offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (place, room) = self.place(offset);
            let end = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            let (piece, later) = rest.split_at(end);
            draft.seek(SeekFrom::Start(place))?;
            draft.write_all(piece)?;
            offset += piece.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// Appends a range of an output whose bytes stand round in a draft.
    pub fn copy(&self, draft: &mut File, range: Range<u64>, to: &mut impl Write) -> io::Result<()> {
        let mut offset = range.start;
        while offset < range.end {
            let (place, room) = self.place(offset);
            let bytes = room.min(range.end - offset);
            copy_range(draft, place..place + bytes, to)?;
            offset += bytes;
        }
        Ok(())
    }

    /// What of an output of `total` bytes, which is too long, goes into the file, and the line between the parts. `read`
    /// gives the bytes of a range of the output.
    pub fn cut(
        &self,
        total: u64,
        mut read: impl FnMut(u64, u64) -> io::Result<Vec<u8>>,
    ) -> io::Result<(Part, String)> {
        // What follows the first half is gone, so the last cut that can be judged lies a character before its end.
        let from = self.head() - NEAR;
        let near = read(from, self.head())?;
        let (head, is_line) = match memrchr(b'\n', &near) {
            Some(at) => (from + at as u64 + 1, true),
            None => (from + edges::floor(&near, near.len() - edges::LONGEST) as u64, false),
        };
        let line = |omitted| {
            let marker = ENGLISH.marker(Unit::Bytes, omitted);
            if is_line { format!("{marker}\n") } else { format!("\n{marker}\n") }
        };
        let room = self.most - head - line(total).len() as u64;
        // The same before what is left of the second half.
        let oldest = total - (self.most - self.head()) + edges::LONGEST as u64;
        let start = oldest.max(total - room);
        let from = start - edges::LONGEST as u64;
        let near = read(from, (start + NEAR).min(total))?;
        let before = edges::LONGEST - 1;
        let ended = near.get(before..).and_then(|near| memchr(b'\n', near));
        let tail = match ended {
            Some(at) => from + (before + at + 1) as u64,
            None => from + edges::ceil(&near, edges::LONGEST) as u64,
        };
        let part = Part { head_bytes: head, tail_bytes: total - tail, omitted_bytes: tail - head };
        Ok((part, line(part.omitted_bytes)))
    }
}

/// Appends a range of a file.
pub fn copy_range(from: &mut File, range: Range<u64>, to: &mut impl Write) -> io::Result<()> {
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

/// An output that is kept in memory, for a storage that is handed it as a whole.
#[derive(Debug, Default)]
pub struct Collection {
    bytes: Vec<u8>,
    most: Option<u64>,
}

impl Collection {
    /// Keeps only the first and the last part of an output that has more bytes than this.
    pub fn with_most(self, most: u64) -> Self {
        Collection { most: Some(most), ..self }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All bytes, and which parts of the output they are if not all of it.
    pub fn finish(self) -> (Vec<u8>, Option<Part>) {
        let Collection { bytes, most } = self;
        let total = bytes.len() as u64;
        let Some(most) = most.filter(|most| total > *most) else { return (bytes, None) };
        let range =
            |from: u64, to: u64| bytes.get(from as usize..to as usize).unwrap_or_default().to_vec();
        let Ok((part, line)) = Ring::new(most).cut(total, |from, to| Ok(range(from, to))) else {
            return (bytes, None);
        };
        let whole = [range(0, part.head_bytes), line.into_bytes(), range(part.tail_start(), total)];
        (whole.concat(), Some(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collected(bytes: &[u8], most: u64) -> (Vec<u8>, Option<Part>) {
        let mut collection = Collection::default().with_most(most);
        collection.push(bytes);
        collection.finish()
    }

    #[test]
    fn an_output_that_just_fits_is_whole() {
        let bytes = vec![b'x'; 4096];
        assert_eq!(collected(&bytes, 4096), (bytes.clone(), None));
        assert!(collected(&[bytes, vec![b'x']].concat(), 4096).1.is_some());
    }

    #[test]
    fn parts_are_cut_at_the_ends_of_lines() {
        let text: String = (0..10_000).map(|line| format!("line {line}\n")).collect();
        let (bytes, part) = collected(text.as_bytes(), 5000);
        let (held, part) = (String::from_utf8(bytes).unwrap(), part.unwrap());
        assert!(held.len() <= 5000 && part.total_bytes() == text.len() as u64);
        let marker = format!("...{} bytes truncated...", part.omitted_bytes);
        let (head, tail) = held.split_once(&format!("{marker}\n")).unwrap();
        assert!(text.starts_with(head) && head.ends_with('\n') && text.ends_with(tail));
        assert!(tail.starts_with("line ") && head.len() + tail.len() > 4900);
    }

    #[test]
    fn a_draft_holds_the_first_and_the_last_bytes() {
        let ring = Ring::new(10);
        let places: Vec<u64> = (0..21).map(|offset| ring.place(offset).0).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5]);
        assert_eq!((ring.place(3).1, ring.place(12).1), (7, 3));
    }

    proptest! {
        #[test]
        fn parts_are_cut_between_characters(
            unit in prop::sample::select(vec!["a", "é", "你", "😀", "x\n", "你你你\r\n", "ab😀"]),
            count in 1000usize..9000, most in 4096u64..9000,
        ) {
            let text = unit.repeat(count);
            let (bytes, part) = collected(text.as_bytes(), most);
            prop_assert!(bytes.len() as u64 <= most.max(text.len() as u64 * u64::from(part.is_none())));
            let held = String::from_utf8(bytes).unwrap();
            if let Some(part) = part {
                prop_assert_eq!(part.total_bytes(), text.len() as u64);
                prop_assert_eq!(&held[..part.head_bytes as usize], &text[..part.head_bytes as usize]);
                prop_assert!(text.ends_with(&held[held.len() - part.tail_bytes as usize..]));
                prop_assert!(held.len() as u64 + NEAR * 2 + 100 > most);
            } else {
                prop_assert_eq!(held, text);
            }
        }
    }
}
