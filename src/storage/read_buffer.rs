//! A range of a file in memory, with a few bytes around it to find character boundaries.

use std::io::{self, Read, SeekFrom};

use super::read::Input;
use crate::text::lossy::{Shown, Source};
use crate::text::utf8_boundary;

pub(super) struct PaddedBuffer {
    /// Offset in the file of the first byte of the buffer.
    pub offset: u64,
    pub bytes: Vec<u8>,
}

impl PaddedBuffer {
    /// Reads the bytes from `from` to `to` of a file of `size` bytes, and those around them.
    pub(crate) fn read(file: &mut dyn Input, from: u64, to: u64, size: u64) -> io::Result<Self> {
        let offset = from.saturating_sub(utf8_boundary::MAX_LENGTH as u64);
        let end = to.saturating_add(utf8_boundary::MAX_LENGTH as u64).min(size);
        let length = end.saturating_sub(offset);
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.take(length).read_to_end(&mut bytes)?;
        Ok(PaddedBuffer { offset, bytes })
    }

    /// Returns the index in the buffer of an offset in the file.
    pub(crate) fn index(&self, byte: u64) -> usize {
        let index = usize::try_from(byte.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        index.min(self.bytes.len())
    }

    /// Returns the displayed text of the bytes between two indexes.
    pub(crate) fn text(&self, from: usize, to: usize) -> String {
        let raw = self.bytes.get(from..to).unwrap_or_default();
        Shown::decode(raw, Source::Text).text.into_owned()
    }
}
