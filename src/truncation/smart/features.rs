//! Describes each line that may be shown by small integers: its words and shape, its place, and what the hand rules find
//! in it and near it. [`ranking`](super::ranking) turns them into the probability that the line explains a failure.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::retained::{Counts, Finding};
use super::rules::Rules;
use super::stack_trace::{Owner, frame, indent};
use crate::truncation::lines::{Line, Lines};

/// Number of features of a line.
pub const FEATURES: usize = 50;

/// The features of a line.
pub type Row = [u16; FEATURES];

/// Longer lines are described by their start.
const LOOKED_AT: usize = 400;
/// A distance that means that there is no such line.
const NONE: u16 = 999;
/// A rule with this weight or more names the cause of a failure.
const GRAVE: u16 = 850;

/// Words by what they tell of a line; the index of the group is the bit in the line's mask.
static GROUPS: [&[&str]; 10] = [
    &["error", "erreur", "fehler", "ошибка", "错误", "エラー", "fatal", "panic", "critical"],
    &["fail", "broken", "not ok", "✗", "✕", "✖", "❌"],
    &["exception", "traceback", "stack trace", "caused by", "backtrace", "raise", "throw"],
    &[
        "expected", "actual", "assert", "should ", "to be", "to equal", "got:", "wanted",
        "but was", "received", "mismatch", "+++", "---",
    ],
    &["warn", "deprecat", "notice"],
    &[
        "exited with",
        "exit code",
        "exit status",
        "returned non-zero",
        "elifecycle",
        "*** [",
        "aborted",
        "terminated",
        "killed",
        "exit 1",
        "return code",
        "gave up",
        "stopping",
    ],
    &[
        "cannot",
        "can't",
        "could not",
        "couldn't",
        "unable",
        "not found",
        "undefined",
        "missing",
        "invalid",
        "unexpected",
        "denied",
        "no such",
        "unknown",
        "illegal",
        "does not",
        "doesn't",
        "didn't",
        "not in scope",
        "unresolved",
        "refused",
        "timed out",
        "timeout",
        "conflict",
        "incorrect",
        "must be",
        "too long",
        "too many",
        "violation",
    ],
    &["pass", "success", " ok", "✓", "done", "complete", "up to date", "up-to-date", "finished"],
    &[
        "install",
        "download",
        "fetch",
        "unpack",
        "setting up",
        "compiling",
        "building",
        "http://",
        "https://",
        "linking",
        "loading",
        "copying",
        "running ",
        "starting ",
        "creating",
        "generating",
        "using ",
    ],
    &["travis_", "$ ", "+ ", "make[", "entering directory", "leaving directory", "> "],
];

struct Words {
    automaton: AhoCorasick,
    groups: Vec<u8>,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let words = GROUPS.iter().flat_map(|group| group.iter().copied());
    let groups = (0u8..).zip(GROUPS).flat_map(|(group, words)| words.iter().map(move |_| group));
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()?;
    Some(Words { automaton, groups: groups.collect() })
});

/// The judgement of the hand rules on a line.
#[derive(Clone, Copy, Default)]
struct Judged {
    worth: u16,
    weight: u16,
    less: u16,
    count: u16,
    ordinal: u16,
    own: bool,
}

/// Facts about a line by itself, without its neighbours.
struct Seen {
    number: u64,
    judged: Judged,
    groups: u16,
    indent: u16,
    is_blank: bool,
    alike: u16,
}

fn log(value: u64) -> u16 {
    // Four steps for each doubling.
    let value = value.saturating_add(1);
    let whole = value.ilog2();
    let part = if whole >= 2 { (value >> (whole - 2)) & 3 } else { 0 };
    (whole * 4) as u16 + part as u16
}

fn small(value: u64, most: u16) -> u16 {
    u16::try_from(value).unwrap_or(most).min(most)
}

/// The numbers of the lines and their features, in order. `worth` is what the hand rules give each line.
pub(super) fn rows(
    lines: &Lines,
    (findings, counts): (&[Finding], &Counts),
    worth: &BTreeMap<u64, i64>,
    (total, bytes): (u64, u64),
    rules: &Rules,
) -> Vec<(u64, Row)> {
    let judged = judge(findings, counts, worth);
    let mut alike: BTreeMap<u64, u16> = BTreeMap::new();
    for line in lines.values() {
        let count = alike.entry(line.alike).or_default();
        *count = count.saturating_add(1);
    }
    let seen: Vec<Seen> = lines
        .iter()
        .map(|(number, line)| Seen {
            number: *number,
            judged: judged.get(number).copied().unwrap_or_default(),
            // The words of good news speak for no line near it either.
            groups: if rules.is_vetoed(line.text.as_bytes()) { 0 } else { groups(&line.text) },
            indent: small(indent(line.text.as_bytes()) as u64, 40),
            is_blank: line.text.trim().is_empty(),
            alike: if line.alike == 0 { 0 } else { alike.get(&line.alike).copied().unwrap_or(1) },
        })
        .collect();
    let mut rows: Vec<(u64, Row)> = lines
        .iter()
        .zip(&seen)
        .map(|((number, line), seen)| (*number, own(line, seen, (total, bytes))))
        .collect();
    around(&seen, &mut rows);
    rows
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

fn groups(text: &str) -> u16 {
    let Some(words) = &*WORDS else { return 0 };
    let text = text.as_bytes();
    let text = text.get(..LOOKED_AT).unwrap_or(text);
    words
        .automaton
        .find_iter(text)
        .filter_map(|found| words.groups.get(found.pattern().as_usize()))
        .fold(0, |mask, group| mask | 1 << group)
}

/// The features of a line by itself.
fn own(line: &Line, seen: &Seen, (total, bytes): (u64, u64)) -> Row {
    let text = line.text.as_bytes();
    let text = text.get(..LOOKED_AT).unwrap_or(text).trim_ascii();
    let share = |is: fn(&u8) -> bool| {
        let count = text.iter().filter(|byte| is(byte)).count();
        (count * 100 / text.len().max(1)) as u16
    };
    let class = |byte: Option<&u8>| match byte {
        None => 0,
        Some(byte) if byte.is_ascii_lowercase() => 1,
        Some(byte) if byte.is_ascii_uppercase() => 2,
        Some(byte) if byte.is_ascii_digit() => 3,
        Some(byte) => u16::from(*byte),
    };
    let mut row = [0; FEATURES];
    let judged = seen.judged;
    let features = [
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
        share(u8::is_ascii_alphabetic),
        share(u8::is_ascii_digit),
        share(u8::is_ascii_uppercase),
        share(u8::is_ascii_punctuation),
        small(text.split(u8::is_ascii_whitespace).count() as u64, 60),
        place_shape(text),
        u16::from(line.tint),
        log(seen.alike.into()),
        seen.groups,
        match frame(line.text.as_bytes()) {
            None => 0,
            Some(Owner::User) => 1,
            Some(Owner::Library) => 2,
        },
        log(total),
    ];
    for (slot, value) in row.iter_mut().zip(features) {
        *slot = value;
    }
    // Trees compare, so each group is a feature of its own too.
    for (slot, bit) in row.iter_mut().skip(23).zip(0..GROUPS.len()) {
        *slot = (seen.groups >> bit) & 1;
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

/// The features that come from the lines near a line.
fn around(seen: &[Seen], rows: &mut [(u64, Row)]) {
    let grave = |it: &Seen| it.judged.own && it.judged.weight >= GRAVE;
    let grave_total = seen.iter().filter(|it| grave(it)).count() as u64;
    let most = |near: &[Seen]| near.iter().map(|it| it.judged.worth).max().unwrap_or(0);
    let mask = |near: &[Seen]| near.iter().fold(0, |mask, it| mask | it.groups);
    let slice = |from: usize, to: usize| seen.get(from.min(seen.len())..to.min(seen.len()));
    let near = |from: usize, to: usize| slice(from, to).unwrap_or_default();
    let (mut last_grave, mut grave_before) = (None::<u64>, 0u64);
    let mut above_blank = 0u64;
    for (at, (number, row)) in rows.iter_mut().enumerate() {
        let Some(own) = seen.get(at) else { continue };
        let set = |row: &mut Row, index: usize, value: u16| {
            if let Some(slot) = row.get_mut(33 + index) {
                *slot = value;
            }
        };
        set(row, 0, most(near(at.saturating_sub(3), at)));
        set(row, 1, most(near(at.saturating_sub(12), at.saturating_sub(3))));
        set(row, 2, most(near(at + 1, at + 4)));
        set(row, 3, most(near(at + 4, at + 13)));
        set(row, 4, mask(near(at.saturating_sub(2), at)));
        set(row, 5, mask(near(at + 1, at + 3)));
        let since = last_grave.map_or(NONE, |last| small(*number - last, NONE));
        set(row, 6, since);
        set(row, 7, log(grave_before));
        grave_before += u64::from(grave(own));
        set(row, 8, log(grave_total - grave_before));
        if grave(own) {
            last_grave = Some(*number);
        }
        above_blank = if own.is_blank { 0 } else { above_blank + 1 };
        set(row, 9, small(above_blank, 99));
        let before = at.checked_sub(1).and_then(|at| seen.get(at));
        let indent_of =
            |it: Option<&Seen>| it.map_or(100, |it| 100 + it.indent - own.indent.min(it.indent));
        let deeper = |it: Option<&Seen>| it.map_or(0, |it| own.indent.saturating_sub(it.indent));
        set(row, 10, indent_of(before).saturating_sub(deeper(before)));
        set(row, 11, indent_of(seen.get(at + 1)).saturating_sub(deeper(seen.get(at + 1))));
        set(row, 12, log(before.map_or(0, |it| it.alike).into()));
        set(row, 13, log(seen.get(at + 1).map_or(0, |it| it.alike).into()));
    }
    let (mut next_grave, mut next_exit) = (None::<u64>, None::<u64>);
    let mut below_blank = 0u64;
    for (own, (number, row)) in seen.iter().zip(rows.iter_mut()).rev() {
        let distance = |next: Option<u64>| next.map_or(NONE, |next| small(next - *number, NONE));
        below_blank = if own.is_blank { 0 } else { below_blank + 1 };
        let values = [distance(next_grave), distance(next_exit), small(below_blank, 99)];
        for (slot, value) in row.iter_mut().skip(47).zip(values) {
            *slot = value;
        }
        if grave(own) {
            next_grave = Some(*number);
        }
        if own.groups & (1 << 5) != 0 {
            next_exit = Some(*number);
        }
    }
}
