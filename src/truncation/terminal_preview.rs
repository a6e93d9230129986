//! Connects a terminal to a preview buffer, and maps the lines shown to the raw output.

use memchr::memchr_iter;

use super::binary;
use super::preview_buffer::{Totals, Window};
use super::result::{Cut, Piece};
use crate::text::lines::LineRule;
use crate::text::terminal::source_map::{Mark, Origins, RawRange, Stretch};
use crate::text::terminal::{Sink, Terminal};

/// Number of raw bytes kept to detect binary output.
const HEAD: usize = 4096;

/// The terminal between an output and its preview buffer.
#[derive(Debug, Clone)]
pub struct Screen {
    terminal: Terminal,
    totals: Totals,
    head: Vec<u8>,
    places: Places,
    has_ended: bool,
}

/// The sources of the lines at both ends.
#[derive(Debug, Clone)]
struct Places {
    cap: u64,
    first: Origins,
    last: Origins,
}

/// The parts of the raw output that a cut shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traced {
    /// Raw ranges in the order of the lines shown.
    pub ranges: Vec<RawRange>,
    /// The line at which to continue reading, and the number of lines before it.
    pub next_line: u64,
    /// Number of bytes shown from the start on.
    pub from_start: u64,
}

impl Traced {
    /// Returns the number of raw lines and bytes shown, each counted once.
    pub fn kept(&self) -> (u64, u64) {
        let union = |mut spans: Vec<(u64, u64)>| {
            spans.sort_unstable();
            let mut reached = 0;
            let lengths = spans.into_iter().map(|(from, to)| {
                let length = to.saturating_sub(from.max(reached));
                reached = reached.max(to);
                length
            });
            lengths.sum()
        };
        let lines = self.ranges.iter().map(|range| (range.from_line, range.to_line + 1));
        let bytes = self.ranges.iter().map(|range| (range.from_byte, range.to_byte));
        (union(lines.collect()), union(bytes.collect()))
    }
}

impl Screen {
    /// Creates a terminal for a buffer that keeps `cap` bytes of each end.
    pub fn new(cap: usize) -> Self {
        let places =
            Places { cap: cap as u64, first: Origins::default(), last: Origins::default() };
        let (totals, head) = (Totals::default(), Vec::new());
        Screen { terminal: Terminal::new(), totals, head, places, has_ended: false }
    }

    /// Takes the next bytes of the output, and passes on the final text.
    pub fn push(&mut self, bytes: &[u8], window: &mut Window) {
        let Some(&last) = bytes.last() else { return };
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.totals.bytes += bytes.len() as u64;
        self.totals.breaks += memchr_iter(b'\n', bytes).count() as u64;
        self.totals.ends_with_break = last == b'\n';
        self.terminal.push(bytes, &mut Onward { window, places: &mut self.places });
    }

    /// Ends the output.
    pub fn finish(&mut self, window: &mut Window) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.terminal.finish(&mut Onward { window, places: &mut self.places });
        }
    }

    /// Returns true if the output has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the counts of the raw output.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns the first bytes of the raw output.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns true if the output is binary.
    pub fn is_binary(&self) -> bool {
        binary::kind(&self.head).is_some()
    }

    /// Returns the source of one line of the text.
    pub fn range(&self, line: u64, bytes: &std::ops::Range<u64>) -> RawRange {
        let stretch = Stretch { line, last_line: line, start: bytes.start, end: bytes.end };
        let found = self.places.ranges(stretch).pop();
        let (from_byte, to_byte) = (bytes.start, bytes.end);
        found.unwrap_or(RawRange { from_line: line, to_line: line, from_byte, to_byte })
    }

    /// Converts a cut to lines and bytes of the raw output.
    pub fn trace<'a>(&self, cut: Cut<'a>, rule: LineRule) -> Cut<'a> {
        let pieces = cut.pieces.iter().filter(|piece| !piece.text.is_empty());
        let ranges = pieces.flat_map(|piece| self.places.of_piece(piece)).collect();
        self.traced(cut, ranges, rule)
    }

    /// Converts a cut whose raw ranges are known.
    pub fn traced<'a>(&self, mut cut: Cut<'a>, ranges: Vec<RawRange>, rule: LineRule) -> Cut<'a> {
        let next = cut.next_line();
        let shown_first = if next > 1 { ranges.first().copied() } else { None };
        let after = || ranges.last().map_or(1, |last| last.to_line + 1);
        let next_line = match next {
            1 => 1,
            _ if next > cut.total_lines => after(),
            _ => self.places.line(next),
        };
        let from_start = shown_first.map_or(0, |range| range.to_byte);
        for piece in &mut cut.pieces {
            let lines = [piece.first_line, piece.last_line].map(|line| self.places.line(line));
            (piece.first_line, piece.last_line) = (lines[0].min(lines[1]), lines[0].max(lines[1]));
            if let Some((line, _)) = &mut piece.partial {
                *line = self.places.line(*line);
            }
        }
        let Totals { bytes, breaks, ends_with_break } = self.totals;
        cut.total_lines = rule.count(breaks, bytes == 0, ends_with_break);
        cut.total_bytes = bytes;
        cut.traced = Some(Traced { ranges, next_line, from_start });
        cut
    }
}

impl Places {
    fn note(&mut self, line: u64, byte: u64, mark: Mark) {
        if byte <= self.cap {
            self.first.note(line, byte, mark);
        }
        self.last.note(line, byte, mark);
    }

    fn of_piece(&self, piece: &Piece<'_>) -> Vec<RawRange> {
        let (line, last_line) = (piece.first_line, piece.last_line);
        self.ranges(Stretch { line, last_line, start: piece.bytes.start, end: piece.bytes.end })
    }

    fn ranges(&self, stretch: Stretch) -> Vec<RawRange> {
        let is_last = self.last.known_from().is_some_and(|from| from <= stretch.start);
        if is_last {
            return self.last.ranges(stretch);
        }
        if stretch.end <= self.cap {
            return self.first.ranges(stretch);
        }
        // Between both ends only JSON is shown, whose only controls are line breaks: its lines are unchanged.
        self.first.guess(stretch).into_iter().collect()
    }

    fn line(&self, line: u64) -> u64 {
        self.last.line(line).or_else(|| self.first.line(line)).unwrap_or(line)
    }
}

/// Passes final lines on to the buffer.
struct Onward<'a> {
    window: &'a mut Window,
    places: &'a mut Places,
}

impl Sink for Onward<'_> {
    fn block(&mut self, text: &[u8], marks: &[Mark]) {
        let Totals { bytes, breaks, .. } = self.window.totals();
        let (mut line, mut at) = (breaks + 1, 0);
        for mark in marks {
            let before = text.get(at..mark.offset).unwrap_or_default();
            line += memchr_iter(b'\n', before).count() as u64;
            at = mark.offset;
            let byte = bytes + at as u64;
            self.places.note(line, byte, *mark);
            self.window.note(line, byte, *mark);
        }
        self.window.pass(text);
        let bytes = self.window.totals().bytes;
        self.places.last.forget_before(bytes.saturating_sub(2 * self.places.cap));
    }
}
