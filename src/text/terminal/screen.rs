//! A screen with its cursor.
//!
//! While text is only appended, the screen is a text: the lines that can still be reached, and the current line at its
//! end. When the cursor moves back, the lines that it may reach become rows; when it moves past the last of them, they
//! become text again.

mod moves;

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use super::line::{Place, Row};
use super::source_map::Mark;
use super::{MAX_LENGTH, ROWS, Raw, Sink};
use crate::text::utf8_boundary;

/// Text is emitted in chunks of about this size.
const BATCH: usize = 64 * 1024;
/// Minimum length of text that is passed on without being buffered.
const STRETCH: usize = 4 * 1024;

#[derive(Debug, Clone, Copy)]
struct Saved {
    row: u64,
    column: usize,
    away: Option<(usize, usize)>,
}

#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Complete lines and, while there are no rows, the current line.
    text: Vec<u8>,
    marks: VecDeque<Mark>,
    /// Offset in `text` at which the current line begins, or the part of it that is buffered.
    line_at: usize,
    /// Source of the current line in the raw output: line number and offset.
    raw_line: u64,
    raw_at: u64,
    /// True if the first part of the current line has been emitted.
    is_open: bool,
    /// True directly after a carriage return.
    is_returned: bool,
    /// The rows that the cursor may reach, down to the last; empty while the screen is a text.
    rows: Vec<Row>,
    row: usize,
    column: usize,
    /// Number of lines before the first row, or before the current line.
    above: u64,
    /// Lines before this one are final.
    floor: u64,
    /// The first line of the screen, as long as nothing can have scrolled.
    top: Option<u64>,
    region: Option<usize>,
    saved: Option<Saved>,
    /// Row and column from the top of the screen, if the cursor is at an unknown position.
    away: Option<(usize, usize)>,
    /// True if text that scrolls out is discarded.
    is_alternate: bool,
    /// Length of `text` at which it is checked for final lines.
    due: usize,
}

impl Page {
    pub(crate) fn new(is_alternate: bool, top: Option<u64>) -> Self {
        Page {
            text: Vec::new(),
            marks: VecDeque::new(),
            line_at: 0,
            raw_line: 1,
            raw_at: 0,
            is_open: false,
            is_returned: false,
            rows: Vec::new(),
            row: 0,
            column: 0,
            above: 0,
            floor: 0,
            top,
            region: None,
            saved: None,
            away: None,
            is_alternate,
            due: BATCH,
        }
    }

    /// Begins this screen: the next text is written to it.
    pub(crate) fn begin(&mut self, raw: &Raw) {
        (self.raw_line, self.raw_at) = (raw.line, raw.at);
    }

    /// Leaves this screen: the next text is written to another.
    pub(crate) fn leave(&mut self, raw: &Raw) {
        self.rows();
        self.end_rows(raw.line, raw.at);
    }

    /// Records the end of a raw line in the rows that were written in it.
    fn end_rows(&mut self, line: u64, end: u64) {
        for row in self.rows.iter_mut().filter(|row| row.place.line == line) {
            row.place.end.get_or_insert(end);
        }
    }

    /// Takes text without control characters but tabs and line feeds.
    pub(crate) fn lines(&mut self, text: &[u8], raw: &mut Raw, sink: &mut dyn Sink) {
        let mut rest = text;
        if rest.len() >= STRETCH && self.is_text() && !self.is_returned && self.away.is_none() {
            rest = self.pass(rest, raw, sink);
        }
        while let Some(at) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            self.text(line, raw, sink);
            self.line_feed(raw, sink);
            rest = after.get(1..).unwrap_or_default();
        }
        self.text(rest, raw, sink);
    }

    /// Takes text of a line.
    pub(crate) fn text(&mut self, text: &[u8], raw: &mut Raw, sink: &mut dyn Sink) {
        if text.is_empty() {
            return;
        }
        if self.away.is_some() {
            raw.pass(text.len());
            return;
        }
        if self.is_text() && !self.is_returned {
            self.append(text, raw, sink);
            return;
        }
        self.rows();
        self.put(text, raw, sink);
    }

    fn is_text(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends to the current line.
    fn append(&mut self, text: &[u8], raw: &mut Raw, sink: &mut dyn Sink) {
        let mut rest = text;
        while self.text.len() - self.line_at + rest.len() >= MAX_LENGTH {
            let room = MAX_LENGTH - (self.text.len() - self.line_at);
            let (now, after) = rest.split_at(utf8_boundary::ceil(rest, room));
            self.text.extend_from_slice(now);
            raw.pass(now.len());
            self.flow(raw, sink);
            rest = after;
        }
        self.text.extend_from_slice(rest);
        raw.pass(rest.len());
    }

    /// Writes at the cursor. Where the line may become too long, it writes character by character, because that must
    /// not depend on how the text is split.
    fn put(&mut self, text: &[u8], raw: &mut Raw, sink: &mut dyn Sink) {
        let mut rest = text;
        while !rest.is_empty() {
            let Some(row) = self.rows.get_mut(self.row) else { return };
            let padding = self.column.saturating_sub(row.width());
            let is_short = row.len() + padding + 3 * rest.len() + 2 < MAX_LENGTH;
            let length = if is_short { rest.len() } else { utf8_boundary::unit(rest).max(1) };
            let (now, after) = rest.split_at(length.min(rest.len()));
            self.column = row.put(self.column, now);
            row.place =
                if row.is_open && row.place.line == raw.line { row.place } else { raw.place() };
            row.is_filler = false;
            raw.pass(now.len());
            if row.len() >= MAX_LENGTH {
                self.flow_row(raw, sink);
            }
            rest = after;
        }
    }

    /// Emits the start of the current line, which is too long to be buffered.
    fn flow(&mut self, raw: &Raw, sink: &mut dyn Sink) {
        self.mark(raw.at);
        self.emit_all(sink);
        self.is_open = true;
        self.begin(raw);
        self.floor = self.above;
    }

    /// Emits the start of a row that is too long; the rows above it become final.
    fn flow_row(&mut self, raw: &Raw, sink: &mut dyn Sink) {
        let below = self.rows.split_off(self.row + 1);
        let Some(mut row) = self.rows.pop() else { return };
        self.above += self.rows.len() as u64;
        for above in std::mem::take(&mut self.rows) {
            self.keep(&above, raw, above.is_touched);
            self.text.push(b'\n');
        }
        // Blanks at the end belong to the line, which continues.
        self.keep(&row, raw, false);
        self.emit_all(sink);
        row.open(raw.at);
        self.rows.push(row);
        self.rows.extend(below);
        (self.row, self.column, self.floor) = (0, 0, self.above);
    }

    /// Ends the line at the cursor, for a line feed.
    fn line_feed(&mut self, raw: &mut Raw, sink: &mut dyn Sink) {
        let end = raw.line_end();
        if self.is_text() {
            self.mark(end);
            self.text.push(b'\n');
            self.above += 1;
        } else {
            self.end_rows(raw.line, end);
            if !self.move_down(raw) {
                raw.next_line();
                return;
            }
        }
        raw.next_line();
        self.begin_line(raw, sink);
    }

    /// Moves down a line without ending the raw line.
    pub(crate) fn feed(&mut self, raw: &Raw, sink: &mut dyn Sink) {
        if self.is_text() {
            self.mark(raw.at);
            self.text.push(b'\n');
            self.above += 1;
        } else if !self.move_down(raw) {
            return;
        }
        self.begin_line(raw, sink);
    }

    /// Moves to the next row. Returns true if there is none, and the rows have become text.
    fn move_down(&mut self, raw: &Raw) -> bool {
        self.column = 0;
        if self.away.take().is_some() {
            // The next line is the first that is free.
            self.row = self.rows.len().saturating_sub(1);
            if self.rows.last().is_some_and(Row::is_empty) {
                return false;
            }
        }
        if self.row + 1 < self.rows.len() {
            self.row += 1;
            return false;
        }
        if self.rows.first().is_some_and(|row| row.is_open) {
            self.floor = self.above + 1;
        }
        self.above += self.rows.len() as u64;
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            self.keep(row, raw, row.is_touched);
            self.text.push(b'\n');
        }
        self.row = 0;
        true
    }

    fn begin_line(&mut self, raw: &Raw, sink: &mut dyn Sink) {
        if std::mem::take(&mut self.is_open) {
            self.floor = self.above;
        }
        self.is_returned = false;
        self.line_at = self.text.len();
        self.begin(raw);
        if self.text.len() >= self.due {
            self.emit_some(sink);
        }
    }

    /// Returns true if a line whose first part was emitted continues: text emitted from another screen is gone, and the
    /// rest is a line of its own.
    fn is_rest(&self, is_open: bool) -> bool {
        is_open && !self.is_alternate
    }

    /// Records the source of the buffered part of the current line.
    fn mark(&mut self, end: u64) {
        let length = (self.text.len() - self.line_at) as u64;
        let is_rest = self.is_rest(self.is_open);
        if length == 0 && is_rest {
            return;
        }
        let is_raw = end - self.raw_at == length;
        let place = Place { line: self.raw_line, start: self.raw_at, end: Some(end) };
        self.note(self.line_at, place, is_raw, is_rest, false);
    }

    fn note(&mut self, offset: usize, place: Place, is_raw: bool, is_rest: bool, is_touched: bool) {
        let Place { line, start, end } = place;
        let goes_on = self.marks.back().is_some_and(|last| {
            last.end.is_none()
                && offset >= last.offset
                && (offset - last.offset) as u64 + last.start == start
        });
        if is_raw && goes_on {
            return;
        }
        let end = end.filter(|_| !is_raw);
        self.marks.push_back(Mark { offset, line, start, end, is_rest, is_touched });
    }

    /// Turns a row into text, without its break.
    fn keep(&mut self, row: &Row, raw: &Raw, is_touched: bool) {
        let text = row.text();
        let end = row.place.end.unwrap_or(raw.at);
        let is_raw = !row.is_touched && end - row.place.start == text.len() as u64;
        let is_rest = self.is_rest(row.is_open);
        if !(text.is_empty() && is_rest) {
            let place = Place { end: Some(end), ..row.place };
            self.note(self.text.len(), place, is_raw, is_rest, is_touched);
        }
        self.text.extend_from_slice(text);
    }

    pub(crate) fn carriage_return(&mut self) {
        self.column = 0;
        self.is_returned = self.is_text();
    }

    pub(crate) fn back(&mut self) {
        if self.away.is_none() && !self.is_returned {
            self.rows();
            self.column = self.column.saturating_sub(1);
        }
    }

    /// Turns the current line into a row.
    fn rows(&mut self) {
        if !self.is_text() {
            return;
        }
        let place = Place { line: self.raw_line, start: self.raw_at, end: None };
        let mut row = Row::of(self.text.split_off(self.line_at), place);
        row.is_open = std::mem::take(&mut self.is_open);
        self.column = if self.is_returned { 0 } else { row.width() };
        (self.is_returned, self.row) = (false, 0);
        self.rows.push(row);
    }

    /// Turns `count` lines above the cursor into rows, or as many as can be reached.
    fn reach(&mut self, count: usize) {
        let missing = count.saturating_sub(self.row).min(ROWS.saturating_sub(self.rows.len()));
        let mut above = Vec::new();
        while above.len() < missing && self.above > self.floor {
            let Some(stop) = self.text.len().checked_sub(1) else { break };
            let start =
                memrchr(b'\n', self.text.get(..stop).unwrap_or_default()).map_or(0, |at| at + 1);
            let (place, is_touched) = self.place_of(start, stop);
            self.text.truncate(stop);
            let mut row = Row::of(self.text.split_off(start), place);
            row.is_touched = is_touched;
            above.push(row);
            self.above -= 1;
        }
        self.row += above.len();
        above.reverse();
        self.rows.splice(..0, above);
        self.line_at = self.text.len();
    }

    /// Removes the source of the last line of the text and returns it, with whether anything was overwritten in it.
    fn place_of(&mut self, start: usize, stop: usize) -> (Place, bool) {
        let Some(mark) = self.marks.back().copied() else {
            return (Place { line: 1, start: 0, end: Some(0) }, false);
        };
        let before = self.text.get(mark.offset..start).unwrap_or_default();
        let line = mark.line + memchr_iter(b'\n', before).count() as u64;
        if mark.offset >= start {
            self.marks.pop_back();
        }
        let place = match mark.end {
            Some(_) => Place { line: mark.line, start: mark.start, end: mark.end },
            None => {
                let raw = mark.start + before.len() as u64;
                Place { line, start: raw, end: Some(raw + (stop - start) as u64) }
            }
        };
        (place, mark.is_touched)
    }

    /// Emits lines that cannot be reached any more.
    pub(crate) fn emit_some(&mut self, sink: &mut dyn Sink) {
        if self.text.len() < self.due {
            return;
        }
        let lines = self.text.get(..self.line_at).unwrap_or_default();
        let out = memrchr_iter(b'\n', lines).nth(ROWS).map_or(0, |at| at + 1);
        self.emit(out, sink);
        self.due = BATCH.max(2 * self.text.len());
    }

    pub(crate) fn emit_all(&mut self, sink: &mut dyn Sink) {
        self.emit(self.text.len(), sink);
    }

    fn emit(&mut self, until: usize, sink: &mut dyn Sink) {
        if until == 0 {
            return;
        }
        let count = self.marks.partition_point(|mark| mark.offset < until);
        let text = self.text.get(..until).unwrap_or_default();
        let last = count.checked_sub(1).and_then(|last| self.marks.get(last)).copied();
        let marks: Vec<Mark> = self.marks.drain(..count).collect();
        if !self.is_alternate {
            show(text, &marks, sink);
        }
        // A line that continues unchanged continues after the cut too.
        let goes_on =
            until < self.text.len() && self.marks.front().is_none_or(|next| next.offset > until);
        if let Some(mark) = last.filter(|mark| mark.end.is_none() && goes_on) {
            let before = text.get(mark.offset..).unwrap_or_default();
            let lines = memchr_iter(b'\n', before).count() as u64;
            let (line, start) = (mark.line + lines, mark.start + before.len() as u64);
            self.marks.push_front(Mark {
                offset: until,
                line,
                start,
                end: None,
                is_rest: false,
                is_touched: false,
            });
        }
        self.text.drain(..until);
        self.marks.iter_mut().for_each(|mark| mark.offset -= until);
        self.line_at = self.line_at.saturating_sub(until);
    }

    /// Passes on the lines that cannot be reached any more once all of `text` is written. Returns the rest, which is to
    /// be buffered.
    fn pass<'a>(&mut self, text: &'a [u8], raw: &mut Raw, sink: &mut dyn Sink) -> &'a [u8] {
        let Some(first) = memchr(b'\n', text) else { return text };
        let last = memrchr(b'\n', text).unwrap_or(first);
        let body = text.get(first + 1..=last).unwrap_or_default();
        let mut starts = memrchr_iter(b'\n', body);
        let Some(held) = starts.nth(ROWS).map(|at| at + 1) else { return text };
        self.text(text.get(..first).unwrap_or_default(), raw, sink);
        self.line_feed(raw, sink);
        self.emit_all(sink);
        let (out, held) = body.split_at(held);
        let whole = Mark {
            offset: 0,
            line: raw.line,
            start: raw.at,
            end: None,
            is_rest: false,
            is_touched: false,
        };
        if !self.is_alternate {
            sink.block(out, &[whole]);
        }
        let lines = memchr_iter(b'\n', out).count() as u64;
        raw.pass(out.len());
        raw.line += lines;
        self.above += lines;
        self.marks.push_back(Mark { line: raw.line, start: raw.at, ..whole });
        for line in held.split_inclusive(|byte| *byte == b'\n') {
            self.above += 1;
            if line.len() > MAX_LENGTH {
                self.floor = self.above;
            }
        }
        self.text.extend_from_slice(held);
        raw.pass(held.len());
        raw.line += ROWS as u64;
        raw.start = raw.at;
        self.line_at = self.text.len();
        self.begin(raw);
        text.get(last + 1..).unwrap_or_default()
    }

    /// Drops the last rows if the cursor only passed them.
    fn drop_fillers(&mut self) {
        while self.rows.len() > 1 && self.rows.last().is_some_and(|row| row.is_filler) {
            self.rows.pop();
        }
    }

    /// Turns all rows into text at the end of the output.
    pub(crate) fn settle(&mut self, raw: &Raw) {
        if self.is_text() {
            self.mark(raw.at);
            return;
        }
        self.drop_fillers();
        let rows = std::mem::take(&mut self.rows);
        self.above += (rows.len() as u64).saturating_sub(1);
        for (index, row) in rows.iter().enumerate() {
            self.keep(row, raw, row.is_touched);
            if index + 1 < rows.len() {
                self.text.push(b'\n');
            }
        }
        self.line_at = self.text.len();
    }

    /// Appends the content of another screen below this one.
    pub(crate) fn append_page(&mut self, mut other: Page, raw: &Raw, sink: &mut dyn Sink) {
        other.settle(raw);
        let lines = (other.above + 1 - other.floor).min(ROWS as u64) as usize;
        let start = memrchr_iter(b'\n', &other.text).nth(lines - 1).map_or(0, |at| at + 1);
        other.emit(start, sink);
        if other.text.iter().all(|byte| matches!(byte, b'\n' | b' ')) {
            return;
        }
        // All of a long line but its end may have been emitted.
        self.drop_fillers();
        let is_under_way = self.is_open || self.rows.last().is_some_and(|row| row.is_open);
        self.settle(raw);
        if self.text.last().map_or(is_under_way, |last| *last != b'\n') {
            self.text.push(b'\n');
        }
        let offset = self.text.len();
        // A line without text leaves no mark.
        while self.marks.back().is_some_and(|mark| mark.offset == offset) {
            self.marks.pop_back();
        }
        self.text.extend_from_slice(&other.text);
        let marks = other.marks.into_iter();
        self.marks.extend(marks.map(|mark| Mark { offset: mark.offset + offset, ..mark }));
        (self.line_at, self.is_open) = (self.text.len(), true);
    }
}

/// Emits text. Blanks at the end of a line remain from erased text.
fn show(text: &[u8], marks: &[Mark], sink: &mut dyn Sink) {
    if !marks.iter().any(|mark| mark.is_touched) {
        sink.block(text, marks);
        return;
    }
    let (mut shown, mut places, mut done) = (Vec::with_capacity(text.len()), Vec::new(), 0);
    for mark in marks {
        shown.extend_from_slice(text.get(done..mark.offset).unwrap_or_default());
        places.push(Mark { offset: shown.len(), ..*mark });
        done = mark.offset;
        if mark.is_touched {
            let rest = text.get(done..).unwrap_or_default();
            let line = rest.get(..memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
            let end = line.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
            shown.extend_from_slice(line.get(..end).unwrap_or_default());
            done += line.len();
        }
    }
    shown.extend_from_slice(text.get(done..).unwrap_or_default());
    sink.block(&shown, &places);
}

#[cfg(test)]
impl Page {
    /// Returns the number of bytes buffered.
    pub(crate) fn held(&self) -> usize {
        let marks = self.marks.len() * size_of::<Mark>();
        self.text.len()
            + marks
            + self.rows.iter().map(|row| row.len() + size_of::<self::Row>()).sum::<usize>()
    }
}
