//! Which rows of a table are shown: the header, the first and the last, and those that stand out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::retained::{Memory, Row};
use crate::text::lossy::{Shown, Source};
use crate::truncation::limits::Limits;

/// Shares of the budget in percent, one after the other: of the first rows, of the last, of those that stand out, and again of
/// the first. The last rows have the rest.
const FIRST: u64 = 25;
const LAST: u64 = 40;
const SPECIAL: u64 = 75;
const MORE: u64 = 90;

pub(super) struct Choice<'a> {
    /// The rows with their text, in order; the header is the first.
    pub rows: Vec<(&'a Row, Cow<'a, str>)>,
    /// Whether there was no room for more lines, rather than bytes.
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
    /// Whether the row is in now, within this share of the budget.
    fn add(&mut self, row: &'a Row, percent: u64) -> bool {
        if self.rows.contains_key(&row.ordinal) {
            return true;
        }
        let of = |most: u64| (u128::from(most) * u128::from(percent) / 100) as u64;
        let lines = self.lines + row.lines().count() as u64;
        let text = Shown::decode(&row.text, self.source).text;
        // The last row has no break.
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

/// The rows to show; nothing if there is no room for the header.
pub(super) fn choose<'a>(table: &'a Memory, source: Source, limits: &Limits) -> Option<Choice<'a>> {
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
    // The last rows may be among the first, where there are few.
    let first = || table.first().iter();
    let last = || table.last().iter().rev().chain(table.first().iter().rev());
    first().all(|row| chosen.add(row, FIRST));
    last().all(|row| chosen.add(row, LAST));
    for row in table.special() {
        chosen.add(row, SPECIAL);
    }
    first().all(|row| chosen.add(row, MORE));
    last().all(|row| chosen.add(row, 100));
    // A row that is too long leaves room for others.
    for row in first() {
        chosen.add(row, 100);
    }
    let Chosen { rows, is_short_of_lines, .. } = chosen;
    Some(Choice { rows: rows.into_values().collect(), is_short_of_lines })
}
