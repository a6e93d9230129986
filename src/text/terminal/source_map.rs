//! Maps lines of the clean text to the raw output that last wrote them.

use std::collections::VecDeque;

/// The source of a run of clean text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Offset of the run in the text that the mark comes with, in bytes.
    pub offset: usize,
    /// Raw line number, from 1.
    pub line: u64,
    /// Offset in the raw output.
    pub start: u64,
    /// End offset in the raw output; `None` if the clean text up to the next mark equals the raw output, breaks
    /// included.
    pub end: Option<u64>,
    /// True if the run continues a line whose first part came before.
    pub is_rest: bool,
    /// True if text of the line was overwritten or erased.
    pub is_touched: bool,
}

/// A mark with its position in the whole clean text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Line number in the clean text, from 1.
    line: u64,
    /// Offset in the clean text.
    byte: u64,
    mark: Mark,
}

/// A range of the raw output. Lines count from 1 and are inclusive; bytes count from 0, the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRange {
    pub from_line: u64,
    pub to_line: u64,
    pub from_byte: u64,
    pub to_byte: u64,
}

/// A range of the clean text, without the break at its end. Lines are inclusive, the end byte is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub line: u64,
    pub last_line: u64,
    pub start: u64,
    pub end: u64,
}

/// The sources of a part of the clean text.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    entries: VecDeque<Entry>,
}

impl Origins {
    /// Records the source of a line, or of the rest of one, that begins at an offset of the clean text.
    pub fn note(&mut self, line: u64, byte: u64, mark: Mark) {
        self.entries.push_back(Entry { line, byte, mark });
    }

    /// Drops records that are needed only for text before an offset.
    pub fn forget_before(&mut self, byte: u64) {
        while self.entries.get(1).is_some_and(|next| next.byte <= byte) {
            self.entries.pop_front();
        }
    }

    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the raw line of a clean line, or `None` if it is before the first one recorded.
    pub fn line(&self, line: u64) -> Option<u64> {
        let next = self.entries.partition_point(|entry| entry.line <= line);
        let entry = self.entries.get(next.checked_sub(1)?)?;
        Some(entry.mark.line + (line - entry.line))
    }

    /// Returns the source that a range after the last record has if nothing between them was changed.
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

    /// Returns the offset of the clean text from which on sources are recorded.
    pub fn known_from(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.byte)
    }

    /// Returns the raw ranges that last wrote the lines of a range, in order. Adjacent ranges are joined.
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

/// Appends a range, or extends the last one if the range follows it directly.
pub fn join(ranges: &mut Vec<RawRange>, next: RawRange, is_rest: bool) {
    // The parts of a long line may have different sources.
    let follows = |last: &RawRange| last.to_line + u64::from(!is_rest) == next.from_line;
    match ranges.last_mut().filter(|last| follows(last)) {
        Some(last) => (last.to_line, last.to_byte) = (next.to_line, next.to_byte.max(last.to_byte)),
        None => ranges.push(next),
    }
}
