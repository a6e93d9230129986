//! Describes the place of a line in the output: the lines near it, its paragraph, and the exits, counts of failures and
//! commands before and after it.

use super::features::{Row, Seen, log, small};
use super::words::{Report, Start};

/// A distance that means that there is no such line.
const NONE: u16 = 999;
/// A rule with this weight or more names the cause of a failure.
const GRAVE: u16 = 850;

/// Number of features that this module adds.
pub(super) const SURROUNDINGS: usize = NEAR + AFTER + SEGMENT + PARAGRAPH + SECTION;
const NEAR: usize = 14;
const AFTER: usize = 3;
const SEGMENT: usize = 16;
const PARAGRAPH: usize = 8;
const SECTION: usize = 3;

/// Fills in the features that come from other lines, from a place in the rows on.
pub(super) fn add(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    near(seen, rows, from);
    after(seen, rows, from + NEAR);
    segments(seen, rows, from + NEAR + AFTER);
    paragraphs(seen, rows, from + NEAR + AFTER + SEGMENT);
    sections(seen, rows, from + NEAR + AFTER + SEGMENT + PARAGRAPH);
}

/// Fills in where a line is between the rules and numbers that set off the failures of a report.
fn sections(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    let is_border = |line: &Seen| matches!(line.start, Start::Rule | Start::Item);
    let far = |border: Option<u64>, number: u64| border.map_or(NONE, |it| log(it.abs_diff(number)));
    let (mut border, mut bad) = (None, 0u64);
    for (own, (number, row)) in seen.iter().zip(rows.iter_mut()) {
        if is_border(own) {
            (border, bad) = (Some(*number), 0);
        }
        put(row, from, [far(border, *number), log(bad)]);
        bad += u64::from(own.judged.own && own.judged.weight >= 600);
    }
    let mut border = None;
    for (own, (number, row)) in seen.iter().zip(rows).rev() {
        put(row, from + 2, [far(border, *number)]);
        if is_border(own) {
            border = Some(*number);
        }
    }
}

fn put<const N: usize>(row: &mut Row, from: usize, values: [u16; N]) {
    for (slot, value) in row.iter_mut().skip(from).zip(values) {
        *slot = value;
    }
}

fn is_grave(line: &Seen) -> bool {
    line.judged.own && line.judged.weight >= GRAVE
}

/// Returns the features of a line that come from the lines around it and the grave ones before it.
fn near(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    let grave_total = seen.iter().filter(|line| is_grave(line)).count() as u64;
    let highest = |near: &[Seen]| near.iter().map(|line| line.judged.worth).max().unwrap_or(0);
    let words = |near: &[Seen]| near.iter().fold(0, |words, line| words | line.meaning.groups);
    let slice = |from: usize, to: usize| {
        seen.get(from.min(seen.len())..to.min(seen.len())).unwrap_or_default()
    };
    let (mut last_grave, mut grave_before, mut since_blank) = (None::<u64>, 0u64, 0u64);
    for (at, ((number, row), own)) in rows.iter_mut().zip(seen).enumerate() {
        let since = last_grave.map_or(NONE, |last| small(*number - last, NONE));
        let before_this = grave_before;
        if is_grave(own) {
            grave_before += 1;
            last_grave = Some(*number);
        }
        since_blank = if own.is_blank { 0 } else { since_blank + 1 };
        let before = at.checked_sub(1).and_then(|at| seen.get(at));
        let next = seen.get(at + 1);
        // 100 for the same indentation, more for a deeper neighbour.
        let indent =
            |it: Option<&Seen>| it.map_or(100, |it| (100 + it.indent).saturating_sub(own.indent));
        let alike = |it: Option<&Seen>| log(it.map_or(0, |it| it.alike).into());
        let values: [u16; NEAR] = [
            highest(slice(at.saturating_sub(3), at)),
            highest(slice(at.saturating_sub(12), at.saturating_sub(3))),
            highest(slice(at + 1, at + 4)),
            highest(slice(at + 4, at + 13)),
            words(slice(at.saturating_sub(2), at)),
            words(slice(at + 1, at + 3)),
            since,
            log(before_this),
            log(grave_total - grave_before),
            small(since_blank, 99),
            indent(before),
            indent(next),
            alike(before),
            alike(next),
        ];
        put(row, from, values);
    }
}

/// Returns the distances to what follows a line.
fn after(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    let (mut next_grave, mut next_exit, mut until_blank) = (None::<u64>, None::<u64>, 0u64);
    for (own, (number, row)) in seen.iter().zip(rows).rev() {
        let distance = |next: Option<u64>| next.map_or(NONE, |next| small(next - *number, NONE));
        until_blank = if own.is_blank { 0 } else { until_blank + 1 };
        let values: [u16; AFTER] =
            [distance(next_grave), distance(next_exit), small(until_blank, 99)];
        put(row, from, values);
        if is_grave(own) {
            next_grave = Some(*number);
        }
        if own.meaning.is_exit() {
            next_exit = Some(*number);
        }
    }
}

/// Exits, counts of failures and commands on one side of a line.
#[derive(Default)]
struct Passed {
    exit: Option<u64>,
    exits: u64,
    failures: Option<u64>,
    counts: u64,
    command: Option<u64>,
}

impl Passed {
    fn reports(&mut self, line: &Seen) {
        if line.meaning.exit == Report::Other {
            self.exit = Some(line.number);
            self.exits += 1;
        }
        if line.meaning.failures == Report::Other {
            self.failures = Some(line.number);
            self.counts += 1;
        }
    }

    fn command(&mut self, line: &Seen) {
        if line.meaning.is_command() {
            self.command = Some(line.number);
        }
    }

    /// Returns the distances from a line and the numbers of reports.
    fn features(&self, number: u64) -> [u16; 5] {
        let far = |from: Option<u64>| from.map_or(NONE, |from| log(from.abs_diff(number)));
        let counts = [small(self.exits, 99), small(self.counts, 99)];
        [far(self.exit), far(self.failures), far(self.command), counts[0], counts[1]]
    }
}

/// Fills in where a line is between the commands of an output and their reports.
fn segments(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    let mut passed = Passed::default();
    let (mut graves, mut item, mut items) = (0u64, None::<u64>, 0u64);
    for (own, (number, row)) in seen.iter().zip(rows.iter_mut()) {
        let meaning = own.meaning;
        put(row, from, [meaning.exit as u16, meaning.failures as u16, own.start as u16]);
        put(row, from + 3, passed.features(*number));
        let since = item.map_or(NONE, |item| log(*number - item));
        put(row, from + 8, [log(graves), since, small(items, 99)]);
        if meaning.exit == Report::Other {
            graves = 0;
        }
        passed.reports(own);
        passed.command(own);
        graves += u64::from(is_grave(own));
        let is_item = own.start == Start::Item
            || matches!(own.start, Start::Symbol | Start::Capitals) && meaning.is_bad();
        if is_item {
            item = Some(*number);
            items += 1;
        }
    }
    let mut to_come = Passed::default();
    for (own, (number, row)) in seen.iter().zip(rows).rev() {
        to_come.reports(own);
        put(row, from + 11, to_come.features(*number));
        to_come.command(own);
    }
}

/// Fills in what the paragraph of a line holds: the lines between two blank ones, or between two gaps.
fn paragraphs(seen: &[Seen], rows: &mut [(u64, Row)], from: usize) {
    let mut start = 0;
    for lines in seen
        .chunk_by(|line, next| line.number + 1 == next.number && !line.is_blank && !next.is_blank)
    {
        let own = rows.iter_mut().skip(start).take(lines.len());
        start += lines.len();
        let Some(first) = lines.first().filter(|first| !first.is_blank) else { continue };
        let words = lines.iter().fold(0, |words, line| words | line.meaning.groups);
        let highest = lines.iter().map(|line| line.judged.worth).max().unwrap_or(0);
        let frames = lines.iter().filter(|line| line.frame > 0).count() as u64;
        let length = small(lines.len() as u64, 200);
        for (place, (_, row)) in (0u64..).zip(own) {
            let values: [u16; PARAGRAPH] = [
                words,
                highest,
                length,
                first.meaning.groups,
                first.start as u16,
                small(place, 200),
                small(frames, 99),
                first.indent,
            ];
            put(row, from, values);
        }
    }
}
