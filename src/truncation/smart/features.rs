//! Describes each line that may be shown by small integers: its words and shape, its place, and what the hand rules find
//! in it and near it. [`ranking`](super::ranking) turns them into the probability that the line explains a failure.

use std::collections::BTreeMap;

use super::retained::{Counts, Finding};
use super::rules::Rules;
use super::select::is_repeat;
use super::stack_trace::{Owner, frame, indent};
use super::surroundings::{self, SURROUNDINGS};
use super::words::{self, GROUPS, LOOKED_AT, Meaning, Start};
use crate::truncation::lines::{Line, Lines};

/// Features of a line by itself, without the groups of words.
const OWN: usize = 23;

/// Number of features of a line.
pub const FEATURES: usize = OWN + GROUPS.len() + SURROUNDINGS;

/// The features of a line.
pub type Row = [u16; FEATURES];

/// Lines that are alike, of which there are more than this, are noise where they follow one another.
const NOISE: u16 = 64;

/// The judgement of the hand rules on a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Judged {
    pub worth: u16,
    pub weight: u16,
    less: u16,
    count: u16,
    ordinal: u16,
    pub own: bool,
}

/// Facts about a line by itself, without its neighbours.
pub(super) struct Seen {
    pub number: u64,
    pub judged: Judged,
    pub meaning: Meaning,
    pub start: Start,
    pub indent: u16,
    pub is_blank: bool,
    /// The rules call it good news.
    pub is_good: bool,
    /// 0 for a line outside of stack traces, 1 for a frame of the user, 2 for a frame of a library.
    pub frame: u16,
    /// Number of lines that are alike.
    pub alike: u16,
}

/// The lines that may be shown, described.
pub(super) struct Described {
    pub rows: Vec<(u64, Row)>,
    /// Lines that explain nothing: repeats, and good news by the rules.
    pub is_noise: Vec<bool>,
    pub is_good: Vec<bool>,
}

/// Returns the logarithm in four steps for each doubling.
pub(super) fn log(value: u64) -> u16 {
    let value = value.saturating_add(1);
    let whole = value.ilog2();
    let part = if whole >= 2 { (value >> (whole - 2)) & 3 } else { 0 };
    (whole * 4) as u16 + part as u16
}

/// Returns a value, or the most that it may be.
pub(super) fn small(value: u64, max: u16) -> u16 {
    u16::try_from(value).unwrap_or(max).min(max)
}

/// Describes lines in order. `worth` is what the hand rules give each line.
pub(super) fn describe(
    lines: &Lines,
    (findings, counts): (&[Finding], &Counts),
    worth: &BTreeMap<u64, i64>,
    (total, bytes): (u64, u64),
    rules: &Rules,
) -> Described {
    let judged = judge(findings, counts, worth);
    let mut alike: BTreeMap<u64, u16> = BTreeMap::new();
    for line in lines.values() {
        let count = alike.entry(line.alike).or_default();
        *count = count.saturating_add(1);
    }
    let seen: Vec<Seen> = lines
        .iter()
        .map(|(number, line)| {
            let text = line.text.as_bytes();
            let meaning = words::read(text);
            // A line of good news without any word of these groups counts as ordinary.
            let is_good = meaning.groups != 0 && rules.is_vetoed(text);
            Seen {
                number: *number,
                judged: judged.get(number).copied().unwrap_or_default(),
                // The words of good news speak for no line near it either.
                meaning: if is_good { Meaning::default() } else { meaning },
                start: words::start(text),
                indent: small(indent(text) as u64, 40),
                is_blank: line.text.trim().is_empty(),
                is_good,
                frame: match frame(text) {
                    None => 0,
                    Some(Owner::User) => 1,
                    Some(Owner::Library) => 2,
                },
                alike: if line.alike == 0 {
                    0
                } else {
                    alike.get(&line.alike).copied().unwrap_or(1)
                },
            }
        })
        .collect();
    let mut rows: Vec<(u64, Row)> = lines
        .iter()
        .zip(&seen)
        .map(|((number, line), seen)| (*number, own(line, seen, (total, bytes))))
        .collect();
    surroundings::add(&seen, &mut rows, OWN + GROUPS.len());
    let is_in_run = |number: u64| {
        let alike = |number: u64| lines.get(&number).map(|line| line.alike);
        let own = alike(number);
        alike(number.wrapping_sub(1)) == own || alike(number + 1) == own
    };
    let is_noise =
        |line: &Seen| is_repeat(lines, line.number) || line.alike > NOISE && is_in_run(line.number);
    let is_noise = seen.iter().map(is_noise).collect();
    Described { rows, is_noise, is_good: seen.iter().map(|line| line.is_good).collect() }
}

fn judge(
    findings: &[Finding],
    counts: &Counts,
    worth: &BTreeMap<u64, i64>,
) -> BTreeMap<u64, Judged> {
    let mut judged: BTreeMap<u64, Judged> = BTreeMap::new();
    for finding in findings {
        let count = counts.get(&finding.kind).copied().unwrap_or(1);
        let new = Judged {
            worth: worth.get(&finding.line).map_or(0, |worth| small((*worth).max(0) as u64, 1300)),
            weight: finding.weight,
            less: finding.less,
            count: log(count.into()),
            ordinal: small(finding.ordinal.into(), 99),
            own: finding.less == 0,
        };
        let known = judged.entry(finding.line).or_insert(new);
        let value = |it: &Judged| i32::from(it.weight) - i32::from(it.less);
        if value(&new) > value(known) {
            *known = new;
        }
    }
    judged
}

/// The features of a line by itself.
fn own(line: &Line, seen: &Seen, (total, bytes): (u64, u64)) -> Row {
    let text = line.text.as_bytes();
    let text = text.get(..LOOKED_AT).unwrap_or(text).trim_ascii();
    let (mut letters, mut digits, mut capitals, mut marks) = (0, 0, 0, 0);
    for byte in text {
        letters += usize::from(byte.is_ascii_alphabetic());
        digits += usize::from(byte.is_ascii_digit());
        capitals += usize::from(byte.is_ascii_uppercase());
        marks += usize::from(byte.is_ascii_punctuation());
    }
    let share = |count: usize| (count * 100 / text.len().max(1)) as u16;
    let class = |byte: Option<&u8>| match byte {
        None => 0,
        Some(byte) if byte.is_ascii_lowercase() => 1,
        Some(byte) if byte.is_ascii_uppercase() => 2,
        Some(byte) if byte.is_ascii_digit() => 3,
        Some(byte) => u16::from(*byte),
    };
    let mut row = [0; FEATURES];
    let judged = seen.judged;
    let features: [u16; OWN] = [
        judged.worth,
        judged.weight,
        judged.less,
        judged.count,
        judged.ordinal,
        log(total.saturating_sub(seen.number)),
        log(bytes.saturating_sub(line.bytes.end)),
        small(seen.number.saturating_mul(1000) / total.max(1), 1000),
        small(line.text.len() as u64, 400),
        seen.indent,
        class(text.first()),
        class(text.last()),
        share(letters),
        share(digits),
        share(capitals),
        share(marks),
        small(text.split(u8::is_ascii_whitespace).count() as u64, 60),
        place_shape(text),
        u16::from(line.tint),
        log(seen.alike.into()),
        seen.meaning.groups,
        seen.frame,
        log(total),
    ];
    for (slot, value) in row.iter_mut().zip(features) {
        *slot = value;
    }
    // Trees compare, so each group is a feature of its own too.
    for (slot, bit) in row.iter_mut().skip(OWN).zip(0..GROUPS.len()) {
        *slot = (seen.meaning.groups >> bit) & 1;
    }
    row
}

/// Returns 2 if a line names a place in a file with a line number, 1 with a path only, else 0.
fn place_shape(text: &[u8]) -> u16 {
    let word = text
        .split(u8::is_ascii_whitespace)
        .find(|word| word.contains(&b'.') || word.contains(&b'/'));
    let Some(word) = word else { return 0 };
    let is_numbered =
        word.windows(2).any(|pair| matches!(pair, [b':' | b'(', digit] if digit.is_ascii_digit()));
    1 + u16::from(is_numbered)
}
