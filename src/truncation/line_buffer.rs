//! Splits a text that comes in pieces into lines, of which only the start is kept.

use memchr::memchr;

/// Maximum number of bytes of a line that are examined and shown.
pub(crate) const MAX_LENGTH: usize = 4 * 1024;

/// One line of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawLine<'a> {
    /// Line number, from 1.
    pub number: u64,
    /// Offset of the line in the text.
    pub at: u64,
    /// Length without its break. A partial line extends to the end of the full line.
    pub length: u64,
    /// The start of the line, without its break: at most [`MAX_LENGTH`] bytes.
    pub text: &'a [u8],
}

/// The line that is coming in.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineBuffer {
    /// The current line, as far as it is examined.
    line: Vec<u8>,
    /// Length of the current line so far.
    length: u64,
    /// Offset of the current line.
    at: u64,
    number: u64,
}

impl LineBuffer {
    /// Takes the next bytes of the text, and hands each line that they end to `read`.
    pub(crate) fn push(&mut self, bytes: &[u8], mut read: impl FnMut(RawLine<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = (rest.get(..end).unwrap_or_default(), rest.get(end + 1..));
            rest = after.unwrap_or_default();
            if self.length == 0 {
                self.length = line.len() as u64;
                read(self.next(line.get(..MAX_LENGTH).unwrap_or(line)));
            } else {
                self.collect(line);
                let line = std::mem::take(&mut self.line);
                read(self.next(&line));
                self.line = line;
                self.line.clear();
            }
            self.at += self.length + 1;
            self.length = 0;
        }
        self.collect(rest);
    }

    /// Returns the last line if no break ends it.
    pub(crate) fn last(&self) -> Option<RawLine<'_>> {
        (self.length > 0).then(|| self.line(self.number + 1, &self.line))
    }

    fn collect(&mut self, bytes: &[u8]) {
        let room = MAX_LENGTH - self.line.len();
        self.line.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.length += bytes.len() as u64;
    }

    fn next<'a>(&mut self, raw: &'a [u8]) -> RawLine<'a> {
        self.number += 1;
        self.line(self.number, raw)
    }

    fn line<'a>(&self, number: u64, raw: &'a [u8]) -> RawLine<'a> {
        let is_whole = raw.len() as u64 == self.length;
        let text = if is_whole { raw.strip_suffix(b"\r").unwrap_or(raw) } else { raw };
        let length = if is_whole { text.len() as u64 } else { self.length };
        RawLine { number, at: self.at, length, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_text_is_split() {
        let text = format!("one\r\n\n{}\ntwo\r", "x".repeat(MAX_LENGTH + 5));
        let lines = |piece: usize| {
            let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
            let mut keep = |line: RawLine<'_>| {
                lines.push((line.number, line.at, line.length, line.text.to_vec()));
            };
            text.as_bytes().chunks(piece).for_each(|piece| buffer.push(piece, &mut keep));
            buffer.last().into_iter().for_each(keep);
            lines
        };
        let long = MAX_LENGTH as u64 + 5;
        let expected = [
            (1, 0, 3, b"one".to_vec()),
            (2, 5, 0, Vec::new()),
            (3, 6, long, vec![b'x'; MAX_LENGTH]),
            (4, 7 + long, 3, b"two".to_vec()),
        ];
        for piece in [1, 2, 7, text.len()] {
            assert_eq!(lines(piece), expected);
        }
    }
}
