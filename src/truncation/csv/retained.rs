//! The rows of a table that may be shown, within bounds: the first ones, the last ones, and those that stand out.

use crate::util::sort::sort_by_key;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// Bytes of the first rows, of the last ones, and of those that stand out, at most.
const ROOM: u64 = 1 << 20;
/// Bytes that a row takes beside its text.
const OVERHEAD: usize = size_of::<Row>();

/// A row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// How many came before it; the header is the first.
    pub ordinal: u64,
    /// Where it stands, without the break that ends it.
    pub bytes: Range<u64>,
    pub first_line: u64,
    pub last_line: u64,
    /// As it stands in the text.
    pub text: Box<[u8]>,
    /// How much it stands out, up to 1,000.
    pub score: u16,
}

impl Row {
    pub fn lines(&self) -> RangeInclusive<u64> {
        self.first_line..=self.last_line
    }

    fn held(&self) -> usize {
        OVERHEAD + self.text.len()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// The header and what follows it.
    first: Vec<Row>,
    last: VecDeque<Row>,
    special: Vec<Row>,
    held: [usize; 3],
    room: usize,
    is_first_full: bool,
    rows: u64,
}

impl Memory {
    /// Remembers enough for a preview of so many bytes.
    pub fn new(max_bytes: u64) -> Self {
        // A row of two columns may be no longer than its comma.
        let room = max_bytes.saturating_mul(32).min(ROOM.max(max_bytes.saturating_mul(2)));
        Memory {
            first: Vec::new(),
            last: VecDeque::new(),
            special: Vec::new(),
            held: [0; 3],
            room: usize::try_from(room).unwrap_or(usize::MAX),
            is_first_full: false,
            rows: 0,
        }
    }

    /// How many rows there were, with the header.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn header(&self) -> Option<&Row> {
        self.first.first().filter(|row| row.ordinal == 0)
    }

    /// The first rows without the header, in order.
    pub fn first(&self) -> &[Row] {
        self.first.get(1..).unwrap_or_default()
    }

    /// The last rows, in order. None of them is one of the first.
    pub fn last(&self) -> &VecDeque<Row> {
        &self.last
    }

    /// Rows that stand out, the most remarkable first.
    pub fn special(&self) -> Vec<&Row> {
        let rows = self.first().iter().chain(&self.special).filter(|row| row.score > 0);
        let mut rows: Vec<&Row> = rows.collect();
        sort_by_key(&mut rows, |row| (std::cmp::Reverse(row.score), row.ordinal));
        rows
    }

    /// Takes the next row; its text is missing if it is too long to be shown.
    pub fn take(&mut self, row: Row, is_whole: bool) {
        let [first, last, special] = &mut self.held;
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
            *special += row.held();
            self.special.push(row.clone());
        }
        *last += row.held();
        self.last.push_back(row);
        while *last > self.room
            && let Some(oldest) = self.last.pop_front()
        {
            *last -= oldest.held();
        }
        if *special > self.room {
            sort_by_key(&mut self.special, |row| (std::cmp::Reverse(row.score), row.ordinal));
            *special = 0;
            let half = self.room / 2;
            self.special.retain(|row| {
                *special += row.held();
                *special <= half
            });
            *special = self.special.iter().map(Row::held).sum();
        }
    }

    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.held.iter().sum()
    }
}
