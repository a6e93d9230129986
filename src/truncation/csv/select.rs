//! Selects the rows to show: the header, the first rows, the last rows, and anomalies.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::retained::{RetainedRows, Row};
use crate::text::lossy::{Shown, Source};
use crate::truncation::limits::Limits;

/// Percentages of the budget, used up one after the other: for first rows, last rows, anomalies, and first rows again.
/// Last rows get the remainder.
const FIRST: u64 = 25;
const LAST: u64 = 40;
const SPECIAL: u64 = 75;
const MORE: u64 = 90;

pub(super) struct Choice<'a> {
    /// The selected rows with their text, in order, beginning with the header.
    pub rows: Vec<(&'a Row, Cow<'a, str>)>,
    /// True if the limit on lines, not on bytes, ended the selection.
    pub is_short_of_lines: bool,
}

struct Chosen<'a> {
    rows: BTreeMap<u64, (&'a Row, Cow<'a, str>)>,
    source: Source,
    lines: u64,
    bytes: u64,
    limits: Limits,
    is_short_of_lines: bool,
}

impl<'a> Chosen<'a> {
    /// Adds a row if it fits into this share of the budget, and returns whether it did.
    fn add(&mut self, row: &'a Row, percent: u64) -> bool {
        if self.rows.contains_key(&row.ordinal) {
            return true;
        }
        let of = |limit: u64| (u128::from(limit) * u128::from(percent) / 100) as u64;
        let lines = self.lines + row.lines().count() as u64;
        let text = Shown::decode(&row.text, self.source).text;
        // The last row has no line break.
        let bytes = self.bytes + text.len() as u64 + u64::from(!self.rows.is_empty());
        if lines > of(self.limits.max_lines) || bytes > of(self.limits.max_bytes) {
            self.is_short_of_lines = lines > self.limits.max_lines;
            return false;
        }
        (self.lines, self.bytes) = (lines, bytes);
        self.rows.insert(row.ordinal, (row, text));
        true
    }
}

/// Selects rows, or returns `None` if the header does not fit.
pub(super) fn choose<'a>(
    table: &'a RetainedRows,
    source: Source,
    limits: &Limits,
) -> Option<Choice<'a>> {
    let mut chosen = Chosen {
        rows: BTreeMap::new(),
        source,
        lines: 0,
        bytes: 0,
        limits: *limits,
        is_short_of_lines: false,
    };
    if !chosen.add(table.header()?, 100) {
        return None;
    }
    // In a small table the last rows may be among the first.
    let first = || table.first().iter();
    let last = || table.last().iter().rev().chain(table.first().iter().rev());
    first().all(|row| chosen.add(row, FIRST));
    last().all(|row| chosen.add(row, LAST));
    for row in table.special() {
        chosen.add(row, SPECIAL);
    }
    first().all(|row| chosen.add(row, MORE));
    last().all(|row| chosen.add(row, 100));
    // A row that is too long is skipped in favour of others.
    for row in first() {
        chosen.add(row, 100);
    }
    let Chosen { rows, is_short_of_lines, .. } = chosen;
    Some(Choice { rows: rows.into_values().collect(), is_short_of_lines })
}
