//! Which line of the clean text was last written where in the raw output.

use std::collections::VecDeque;

/// Where a stretch of the clean text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Where it begins, in bytes of the text that the mark comes with.
    pub offset: usize,
    /// The raw line that it is in; lines count from 1.
    pub line: u64,
    /// Where in the raw output it begins.
    pub start: u64,
    /// Where it ends there. Nothing where the text up to the next mark is the very raw output, breaks included.
    pub end: Option<u64>,
    /// It goes on with a line of which the first part came before.
    pub is_rest: bool,
    /// It is a line in which something was written over or erased.
    pub is_touched: bool,
}

/// A mark by its place in the whole clean text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// The clean line; lines count from 1.
    line: u64,
    /// Where the stretch begins.
    byte: u64,
    mark: Mark,
}

/// A stretch of the raw output. Lines count from 1, bytes from 0; the last line belongs to it, the last byte does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRange {
    /// The first line.
    pub from_line: u64,
    /// The last line.
    pub to_line: u64,
    /// The first byte.
    pub from_byte: u64,
    /// The byte behind the last.
    pub to_byte: u64,
}

/// A stretch of the clean text, without the break at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its first line.
    pub line: u64,
    /// Its last line.
    pub last_line: u64,
    /// Its first byte.
    pub start: u64,
    /// The byte behind its last.
    pub end: u64,
}

/// Where the lines of a part of the clean text come from.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    entries: VecDeque<Entry>,
}

impl Origins {
    /// Says that a line, or the rest of one, begins at a byte of the clean text and comes from there.
    pub fn note(&mut self, line: u64, byte: u64, mark: Mark) {
        self.entries.push_back(Entry { line, byte, mark });
    }

    /// Forgets what is only of use for the text before a byte.
    pub fn forget_before(&mut self, byte: u64) {
        while self.entries.get(1).is_some_and(|next| next.byte <= byte) {
            self.entries.pop_front();
        }
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The raw line of a clean line, which is not before the first that is known; nothing if that is not known either.
    pub fn line(&self, line: u64) -> Option<u64> {
        let next = self.entries.partition_point(|entry| entry.line <= line);
        let entry = self.entries.get(next.checked_sub(1)?)?;
        Some(entry.mark.line + (line - entry.line))
    }

    /// Where a stretch behind the last that is known would be if nothing between them had been changed.
    pub fn guess(&self, stretch: Stretch) -> Option<RawRange> {
        let Entry { line, byte, mark } = self.entries.back()?;
        let to_line = |it: u64| mark.line + it.saturating_sub(*line);
        let to_byte = |it: u64| mark.start + it.saturating_sub(*byte);
        Some(RawRange {
            from_line: to_line(stretch.line),
            to_line: to_line(stretch.last_line),
            from_byte: to_byte(stretch.start),
            to_byte: to_byte(stretch.end),
        })
    }

    /// From which byte of the clean text on it is known.
    pub fn known_from(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.byte)
    }

    /// The raw lines that the lines of a stretch were last written in, in their order. What follows each other in both is
    /// one range.
    pub fn ranges(&self, stretch: Stretch) -> Vec<RawRange> {
        let mut ranges: Vec<RawRange> = Vec::new();
        let from = self.entries.partition_point(|entry| entry.byte <= stretch.start);
        let mut entries = self.entries.iter().skip(from.saturating_sub(1)).peekable();
        while let Some(entry) = entries.next() {
            let is_past = entry.line > stretch.last_line || entry.byte > stretch.end;
            if is_past && !ranges.is_empty() {
                break;
            }
            let next = entries
                .peek()
                .filter(|next| next.line <= stretch.last_line && next.byte <= stretch.end);
            let (last_line, end) = next.map_or((stretch.last_line, stretch.end), |next| {
                if next.mark.is_rest {
                    (next.line, next.byte)
                } else {
                    (next.line - 1, next.byte - 1)
                }
            });
            let first_line = entry.line.max(stretch.line).min(last_line);
            let range = entry.range(first_line..=last_line, stretch.start.max(entry.byte), end);
            join(&mut ranges, range, entry.mark.is_rest);
        }
        ranges
    }
}

impl Entry {
    fn range(&self, lines: std::ops::RangeInclusive<u64>, start: u64, end: u64) -> RawRange {
        let Mark { line, start: raw, end: raw_end, .. } = self.mark;
        match raw_end {
            Some(raw_end) => {
                RawRange { from_line: line, to_line: line, from_byte: raw, to_byte: raw_end }
            }
            None => RawRange {
                from_line: line + lines.start().saturating_sub(self.line),
                to_line: line + lines.end().saturating_sub(self.line),
                from_byte: raw + start.saturating_sub(self.byte),
                to_byte: raw + end.saturating_sub(self.byte),
            },
        }
    }
}

/// Adds a range, to the one before it if it follows that: with the rest of its last line, or with the next.
pub fn join(ranges: &mut Vec<RawRange>, next: RawRange, is_rest: bool) {
    // The parts of a long line may come from several, each of its own.
    let follows = |last: &RawRange| last.to_line + u64::from(!is_rest) == next.from_line;
    match ranges.last_mut().filter(|last| follows(last)) {
        Some(last) => (last.to_line, last.to_byte) = (next.to_line, next.to_byte.max(last.to_byte)),
        None => ranges.push(next),
    }
}
