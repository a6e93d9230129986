//! One line of the screen: its text as bytes, addressed by columns.
//!
//! A line is stored as the bytes that were written, because nearly all lines are only appended to. Columns are counted
//! once the cursor moves back: a wide character has two, a combining one none, and a tab reaches to the next multiple
//! of eight.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use crate::text::lossy::{Shown, Source};
use crate::text::simd::{self, u8x16};
use crate::text::utf8_boundary;

/// Distance of tab stops in columns.
const TAB: usize = 8;
/// Distance in bytes at which column positions are cached, so that not every move back scans the line.
const STRIDE: usize = 128;

/// The part of the raw output that last wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Line number in the raw output, from 1.
    pub line: u64,
    /// Offset at which that line begins, in bytes.
    pub start: u64,
    /// Offset at which it ends, without its break; `None` while it is incomplete.
    pub end: Option<u64>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    bytes: Vec<u8>,
    width: usize,
    /// True if every byte is one column.
    is_plain: bool,
    /// True if text was overwritten or erased, so that blanks at the end are not part of the text.
    pub is_touched: bool,
    /// Cached offsets and their columns, valid since the last change before them.
    known: Vec<(usize, usize)>,
    /// Offset and column of the last lookup: the next write is mostly there.
    last: (usize, usize),
    pub place: Place,
    /// True if the first part of the line has been emitted already.
    pub is_open: bool,
    /// True if the line exists only because the cursor moved below it.
    pub is_filler: bool,
}

impl Row {
    pub(crate) fn new(place: Place) -> Self {
        Row::of(Vec::new(), place)
    }

    /// Creates a line from a text that was only appended to.
    ///
    /// Malformed bytes become U+FFFD, so that they cannot combine with bytes that are written next to them.
    pub(crate) fn of(bytes: Vec<u8>, place: Place) -> Self {
        let bytes = match Shown::decode(&bytes, Source::Text).text {
            Cow::Owned(text) => text.into_bytes(),
            Cow::Borrowed(_) => bytes,
        };
        let is_plain = is_plain(&bytes);
        let width = if is_plain { bytes.len() } else { end_of(&bytes, 0) };
        let (is_touched, is_open, is_filler) = (false, false, false);
        let (known, last) = (Vec::new(), (0, 0));
        Row { bytes, width, is_plain, is_touched, known, last, place, is_open, is_filler }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes a text without control characters but tabs at a column, and returns the column of the cursor afterwards.
    pub(crate) fn put(&mut self, column: usize, text: &[u8]) -> usize {
        let text = Shown::decode(text, Source::Text).text;
        let text = text.as_bytes();
        let mut at = column;
        for (index, stretch) in text.split(|byte| *byte == b'\t').enumerate() {
            if index > 0 {
                at = self.tab(at);
            }
            at = self.write(at, stretch);
        }
        at
    }

    /// Writes a tab at the end of a line; elsewhere a tab only moves the cursor.
    fn tab(&mut self, column: usize) -> usize {
        let stop = column + TAB - column % TAB;
        if column >= self.width {
            self.pad(column);
            self.bytes.push(b'\t');
            self.is_plain = false;
            self.width = stop;
        }
        stop
    }

    fn pad(&mut self, column: usize) {
        let missing = column.saturating_sub(self.width);
        self.bytes.resize(self.bytes.len() + missing, b' ');
        self.width += missing;
    }

    fn write(&mut self, column: usize, text: &[u8]) -> usize {
        if text.is_empty() {
            return column;
        }
        let plain = is_plain(text);
        let end = if plain { column + text.len() } else { end_of(text, column) };
        if column >= self.width {
            self.pad(column);
            self.bytes.extend_from_slice(text);
            self.is_plain &= plain;
            self.width = end;
            return end;
        }
        self.is_touched = true;
        let from = self.split(column);
        let to = self.split(end);
        self.forget(from);
        self.is_plain &= plain;
        match self.bytes.get_mut(from..to).filter(|old| old.len() == text.len()) {
            Some(old) => old.copy_from_slice(text),
            None => self.replace(from, to, text),
        }
        self.last = (from + text.len(), end);
        self.width = self.width.max(end);
        end
    }

    /// Replaces the text between two offsets.
    #[inline(never)]
    fn replace(&mut self, from: usize, to: usize, text: &[u8]) {
        self.bytes.splice(from..to, text.iter().copied());
    }

    fn blank(&mut self, from: usize, to: usize, count: usize) {
        self.replace(from, to, &vec![b' '; count]);
    }

    /// Returns the offset and the column at which the character that covers `column` begins.
    fn find(&mut self, column: usize) -> (usize, usize) {
        if self.is_plain {
            let at = column.min(self.bytes.len());
            return (at, at);
        }
        if column >= self.width {
            return (self.bytes.len(), self.width);
        }
        let before = self.known.partition_point(|(_, known)| *known <= column);
        let known = before.checked_sub(1).and_then(|last| self.known.get(last).copied());
        let (mut at, mut reached) = known
            .into_iter()
            .chain([self.last])
            .filter(|(_, known)| *known <= column)
            .max()
            .unwrap_or((0, 0));
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let near = rest.get(..STRIDE.min(column - reached)).unwrap_or(rest);
            let (length, width) = match plain_start(near) {
                0 => character(rest, reached),
                plain => (plain, plain),
            };
            if width > 0 && reached + width > column {
                break;
            }
            at += length;
            reached += width;
            if self.known.last().map_or(0, |(known, _)| *known) + STRIDE <= at {
                self.known.push((at, reached));
            }
        }
        self.last = (at, reached);
        (at, reached)
    }

    /// Drops cached columns after an offset that has changed.
    fn forget(&mut self, at: usize) {
        let left = self.known.partition_point(|(known, _)| *known <= at);
        self.known.truncate(left);
        if self.last.0 > at {
            self.last = (0, 0);
        }
    }

    /// Returns the offset of a column, after replacing a wide character that covers it by blanks.
    fn split(&mut self, column: usize) -> usize {
        let (at, begins) = self.find(column);
        if begins >= column || at == self.bytes.len() {
            return at;
        }
        self.forget(at);
        let before = column - begins;
        if self.bytes.get(at) == Some(&b'\t') {
            self.blank(at, at, before);
        } else {
            // Half a wide character is blank.
            let (length, width) = character(self.bytes.get(at..).unwrap_or_default(), begins);
            self.blank(at, at + length, width);
        }
        at + before
    }

    /// Erases from a column to the end.
    pub(crate) fn erase_from(&mut self, column: usize) {
        if column < self.width {
            let at = self.split(column);
            self.forget(at);
            self.bytes.truncate(at);
            self.width = column;
            self.is_touched = true;
        }
    }

    /// Erases `count` columns; the text after them keeps its columns.
    pub(crate) fn erase(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count);
        if end >= self.width {
            self.erase_from(column);
            return;
        }
        let from = self.split(column);
        let to = self.split(end);
        self.forget(from);
        self.blank(from, to, count);
        self.is_touched = true;
    }

    pub(crate) fn clear(&mut self) {
        self.erase_from(0);
    }

    /// Deletes `count` columns; the text after them moves to the left.
    pub(crate) fn delete(&mut self, column: usize, count: usize) {
        if column.saturating_add(count) >= self.width {
            self.erase_from(column);
            return;
        }
        self.without_tabs();
        let from = self.split(column);
        let to = self.split(column + count);
        self.forget(from);
        self.replace(from, to, &[]);
        self.width -= count;
        self.is_touched = true;
    }

    /// Inserts `count` blank columns; text that moves past the last column, or past `widest`, is lost.
    pub(crate) fn insert(&mut self, column: usize, count: usize, widest: usize) {
        if column >= self.width {
            return;
        }
        self.without_tabs();
        let at = self.split(column);
        self.forget(at);
        self.blank(at, at, count);
        let end = self.width.max(widest);
        self.width += count;
        self.is_touched = true;
        self.erase_from(end);
    }

    /// Replaces tabs by blanks, because a tab that moves would reach to another stop.
    fn without_tabs(&mut self) {
        while let Some(at) = memchr::memchr(b'\t', &self.bytes) {
            let begins = end_of(self.bytes.get(..at).unwrap_or_default(), 0);
            self.forget(at);
            self.blank(at, at + 1, TAB - begins % TAB);
        }
    }

    /// Empties the line after its text was emitted; its rest continues at `start`.
    pub(crate) fn open(&mut self, start: u64) {
        let mut rest = Row::new(Place { start, end: None, ..self.place });
        rest.is_open = true;
        *self = rest;
    }
}

fn is_plain(text: &[u8]) -> bool {
    !simd::any_byte(text, b' ', |bytes| {
        bytes.simd_lt(u8x16::splat(0x20)) | bytes.simd_ge(u8x16::splat(0x7f))
    })
}

/// Returns the number of columns of a text.
pub fn columns_of(text: &[u8]) -> usize {
    end_of(text, 0)
}

/// Returns the offset of the first character of a text at a column or after it, at most the length of the text.
pub fn at_column(text: &[u8], column: usize) -> usize {
    let (mut at, mut before) = (0, 0);
    while before < column {
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let (length, width) = character(rest, before);
        at += length;
        before += width;
    }
    at.min(text.len())
}

/// Returns the column after a text that begins at `column`.
fn end_of(text: &[u8], column: usize) -> usize {
    let (mut rest, mut column) = (text, column);
    loop {
        let plain = plain_start(rest);
        rest = rest.get(plain..).unwrap_or_default();
        column += plain;
        if rest.is_empty() {
            return column;
        }
        let (length, width) = character(rest, column);
        rest = rest.get(length..).unwrap_or_default();
        column += width;
    }
}

/// Returns the number of characters of one byte and one column at the start of a text.
fn plain_start(text: &[u8]) -> usize {
    text.iter().take_while(|byte| (0x20..0x7f).contains(*byte)).count()
}

/// Returns the length in bytes and the width in columns of the first character.
fn character(text: &[u8], column: usize) -> (usize, usize) {
    match text.first() {
        Some(b'\t') => (1, TAB - column % TAB),
        Some(0x20..0x7f) | None => (1, 1),
        Some(_) => {
            let length = utf8_boundary::unit(text).max(1);
            let bytes = text.get(..length).unwrap_or_default();
            let char = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
            // Malformed bytes are shown as one character.
            (length, char.map_or(1, |char| char.width().unwrap_or(0)))
        }
    }
}
