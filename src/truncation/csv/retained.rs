//! The rows of a table that may be shown, in bounded memory: the first rows, the last rows, and anomalies.

use crate::truncation::retained::{Best, Held};
use crate::util::sort::sort_by_key;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// Maximum number of bytes for each of the three groups.
const ROOM: u64 = 1 << 20;
/// Memory for a row in addition to its text, in bytes.
const OVERHEAD: usize = size_of::<Row>();

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Index of the row; the header is 0.
    pub ordinal: u64,
    /// Byte range of the row in the text, without its line break.
    pub bytes: Range<u64>,
    pub first_line: u64,
    pub last_line: u64,
    /// The row as it is in the text.
    pub text: Box<[u8]>,
    /// Anomaly score, from 0 to 1,000.
    pub score: u16,
}

impl Row {
    pub(crate) fn lines(&self) -> RangeInclusive<u64> {
        self.first_line..=self.last_line
    }

    /// Orders anomalies: the highest score first, equal ones as they come.
    fn rank(&self) -> (Reverse<u16>, u64) {
        (Reverse(self.score), self.ordinal)
    }
}

impl Held for Row {
    fn held(&self) -> usize {
        OVERHEAD + self.text.len()
    }
}

#[derive(Debug, Clone)]
pub(super) struct RetainedRows {
    /// The header and the rows after it.
    first: Vec<Row>,
    last: VecDeque<Row>,
    special: Best<Row>,
    /// Bytes of the first rows and of the last ones.
    held: [usize; 2],
    room: usize,
    is_first_full: bool,
    rows: u64,
}

impl RetainedRows {
    /// Creates storage that suffices for a preview of `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        // A row of two columns may consist of its comma only.
        let room = max_bytes.saturating_mul(32).min(ROOM.max(max_bytes.saturating_mul(2)));
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        RetainedRows {
            first: Vec::new(),
            last: VecDeque::new(),
            special: Best::new(room, room / 2),
            held: [0; 2],
            room,
            is_first_full: false,
            rows: 0,
        }
    }

    /// Returns the number of rows, the header included.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn header(&self) -> Option<&Row> {
        self.first.first().filter(|row| row.ordinal == 0)
    }

    /// Returns the first rows in order, without the header.
    pub(crate) fn first(&self) -> &[Row] {
        self.first.get(1..).unwrap_or_default()
    }

    /// Returns the last rows in order. They do not overlap with the first ones.
    pub(crate) fn last(&self) -> &VecDeque<Row> {
        &self.last
    }

    /// Returns the anomalies by descending score.
    pub(crate) fn special(&self) -> Vec<&Row> {
        let rows = self.first().iter().chain(self.special.items()).filter(|row| row.score > 0);
        let mut rows: Vec<&Row> = rows.collect();
        sort_by_key(&mut rows, |row| row.rank());
        rows
    }

    /// Adds the next row. If `is_whole` is false, the row is too long to be shown.
    pub(crate) fn take(&mut self, row: Row, is_whole: bool) {
        let [first, last] = &mut self.held;
        self.rows += 1;
        if !is_whole {
            self.is_first_full |= row.ordinal == 0;
            return;
        }
        if !self.is_first_full {
            *first += row.held();
            self.is_first_full = *first > self.room;
            self.first.push(row);
            return;
        }
        if row.score > 0 {
            self.special.push(row.clone(), Row::rank);
        }
        *last += row.held();
        self.last.push_back(row);
        while *last > self.room
            && let Some(oldest) = self.last.pop_front()
        {
            *last -= oldest.held();
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held.iter().sum::<usize>() + self.special.held()
    }
}
