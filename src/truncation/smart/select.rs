//! Selects the lines to show among those remembered: the two ends, then the most important lines, as long as there is room.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;

use super::features::{Described, describe};
use super::retained::{Counts, Finding};
use super::rules::Rules;
use super::scan::Found;
use super::{Keep, blocks, sections};
use crate::truncation::lines::{Budget, Chosen, Lines};
use crate::util::sort::sort_by_key;

/// A line below this value is shown only if there is room to spare.
const WARNING: i64 = 330;
/// Share of the rest in percent that the first lines of each kind get before unlikely blocks.
const KINDS: u64 = 10;
/// Share of the budget in percent that the first lines of likely blocks get before anything else of them.
const STARTS: u64 = 20;
/// Share of the rest in percent that likely blocks get before the lines that the hand rules rank.
const BLOCKS: u64 = 60;
/// Share of what then remains in percent that the rest of their sections gets, and then the sections of the gravest lines.
const SECTIONS: u64 = 40;
const GRAVE_SECTIONS: u64 = 60;
/// Bytes of the budget for each section of a grave line: 8 sections at 50 KB, none at 4 KB.
const PER_SECTION: u64 = 6400;
/// Number of sections whose name is shown with a grave line of theirs, if the rest of them is not.
const NAMED_SECTIONS: u32 = 3;
/// Share of what then remains in percent that the rest of their paragraphs gets.
const PARAGRAPHS: u64 = 40;
/// Bytes of the budget for each line that a paragraph may reach beyond its block: 64 lines at 50 KB.
const PER_PARAGRAPH_LINE: u64 = 800;
/// Maximum number of lines that a paragraph may reach beyond its block.
const FARTHEST: u64 = 256;
/// Bytes of the budget for each line of the gaps that are closed before less likely lines are shown: 8 lines at 50 KB.
const PER_GAP_LINE: u64 = 6400;
/// Lines and bytes of the gaps that are closed before anything but likely blocks is shown.
const SMALL_GAP: (u64, u64) = (3, 300);
/// Probability in ten thousandths of the best line of a likely block.
const LIKELY: u32 = 300;

/// Describes lines with what the hand rules give them.
pub(super) fn describe_lines(
    lines: &Lines,
    (findings, counts): &(Vec<Finding>, Counts),
    totals: (u64, u64),
    rules: &Rules,
) -> Described {
    let worth = rank(findings, counts).into_iter().map(|(worth, line)| (line, worth)).collect();
    describe(lines, (findings, counts), &worth, totals, rules)
}

/// The numbers of the lines to show.
pub(super) fn choose(
    lines: &Lines,
    found: &Found,
    (total, size): (u64, u64),
    budget: Budget,
    keep: Keep,
    rules: &Rules,
) -> Vec<u64> {
    let mut chosen = Chosen::new(lines, total, budget);
    let ranked = rank(&found.findings, &found.counts);
    let all = chosen.all();
    let (head, tail) = keep.reserved();
    let (head_limit, tail_limit) = (chosen.share(head), chosen.share(tail));
    let mut down = Walk::new(lines, keep, 1);
    let mut up = Walk::new(lines, keep, total);
    while up.step(&mut chosen, tail_limit, -1) {}
    let limit = (head_limit.0 + chosen.used_lines, head_limit.1 + chosen.used_bytes);
    while down.step(&mut chosen, limit, 1) {}
    if let Some((query, matches)) = &found.asked {
        query.add(&mut chosen, matches, total, keep.is_early());
    }
    let mut blocks = Vec::new();
    if !keep.is_early() {
        let worth = ranked.iter().map(|(worth, line)| (*line, *worth)).collect();
        let described =
            describe(lines, (&found.findings, &found.counts), &worth, (total, size), rules);
        let far = (budget.bytes / PER_PARAGRAPH_LINE).min(FARTHEST) as usize;
        blocks = blocks::form(lines, &described, rules.ranking(), far);
        let limit = chosen.share(STARTS);
        blocks::begin(&mut chosen, &blocks, LIKELY, limit);
        let limit = chosen.share(BLOCKS);
        blocks::add(&mut chosen, &blocks, LIKELY, limit);
        let limit = chosen.share(SECTIONS);
        sections::of_blocks(&mut chosen, lines, &blocks, LIKELY, limit);
        let limit = chosen.share(GRAVE_SECTIONS);
        sections::of_grave(&mut chosen, lines, &ranked, budget.bytes / PER_SECTION, limit);
        let limit = chosen.share(PARAGRAPHS);
        blocks::complete(&mut chosen, &blocks, LIKELY, limit);
        chosen.close_small_gaps(SMALL_GAP.0, SMALL_GAP.1);
    }
    let mut names = if keep.is_early() { 0 } else { NAMED_SECTIONS };
    for (value, number) in ranked.iter().copied().filter(|(value, _)| *value >= WARNING) {
        let is_shown = chosen.add(number, all);
        if is_shown && names > 0 && sections::name(&mut chosen, lines, (value, number), all) {
            names -= 1;
        }
    }
    if !blocks.is_empty() {
        chosen.close_gaps(budget.bytes / PER_GAP_LINE);
    }
    let some = chosen.share(KINDS);
    let mut kinds = BTreeSet::new();
    for (value, number) in &ranked {
        if *value > 0 && kinds.insert(chosen.alike(*number)) {
            chosen.add(*number, some);
        }
    }
    blocks::add(&mut chosen, &blocks, 0, all);
    let some = chosen.share(25);
    for (value, number) in &ranked {
        if (1..WARNING).contains(value) {
            chosen.add(*number, some);
        }
    }
    let head_limit = chosen.share(keep.head_share());
    while down.step(&mut chosen, head_limit, 1) {}
    while up.step(&mut chosen, all, -1) {}
    while down.step(&mut chosen, all, 1) {}
    chosen.close_gaps(1);
    chosen.numbers.into_iter().collect()
}

/// From one end inwards.
struct Walk<'a> {
    lines: &'a Lines,
    keep: Keep,
    number: u64,
}

/// Number of similar lines that are shown of a run.
const RUN: u64 = 3;

impl<'a> Walk<'a> {
    fn new(lines: &'a Lines, keep: Keep, number: u64) -> Self {
        Walk { lines, keep, number }
    }

    /// Adds the next line, unless it repeats similar lines; returns whether there is another.
    fn step(&mut self, chosen: &mut Chosen<'_>, limit: (u64, u64), by: i64) -> bool {
        if !self.lines.contains_key(&self.number) {
            return false;
        }
        if !self.is_repeat() && !chosen.add(self.number, limit) {
            return false;
        }
        self.number = self.number.saturating_add_signed(by);
        true
    }

    fn is_repeat(&self) -> bool {
        !self.keep.is_early() && is_repeat(self.lines, self.number)
    }
}

/// Returns true if a line is inside a run of alike lines, and neither among its first nor its last.
pub(super) fn is_repeat(lines: &Lines, number: u64) -> bool {
    let alike = |number: u64| lines.get(&number).map(|line| line.alike);
    let own = alike(number).filter(|alike| *alike != 0);
    let before = (1..=RUN - 1).all(|back| alike(number.wrapping_sub(back)) == own);
    own.is_some() && before && alike(number + 1) == own
}

/// Every remembered line with its value, the best first.
fn rank(findings: &[Finding], counts: &Counts) -> Vec<(i64, u64)> {
    let mut grave = 0;
    let mut values: Vec<i64> = findings
        .iter()
        .map(|finding| {
            let count = counts.get(&finding.kind).copied().unwrap_or(1);
            let mut value = worth(finding, count);
            // An early finding is seldom caused by a later one.
            if finding.weight >= 850 && finding.less == 0 && grave < 3 && count <= 8 {
                grave += 1;
                value += 25;
            }
            value
        })
        .collect();
    follow_names(findings, &mut values);
    let mut best: BTreeMap<u64, i64> = BTreeMap::new();
    for (finding, value) in findings.iter().zip(values) {
        let known = best.entry(finding.line).or_insert(value);
        *known = (*known).max(value);
    }
    let mut ranked: Vec<(i64, u64)> = best.into_iter().map(|(line, value)| (value, line)).collect();
    sort_by_key(&mut ranked, |(value, line)| (-value, *line));
    ranked
}

/// A line ranks by its weight, and lower the more lines are like it.
fn worth(finding: &Finding, count: u32) -> i64 {
    let weight = i64::from(finding.weight);
    let by_order = match finding.ordinal {
        0 => 100,
        1 | 2 => 97,
        3..6 => 93,
        6..10 => 85,
        10..24 => 70,
        _ => 50,
    };
    let by_count = match count {
        0..=12 => 100,
        13..=60 => 96,
        61..=400 => 90,
        _ => 82,
    };
    // The explanation of the first of a kind explains the others.
    let less = i64::from(finding.less) * (2 + i64::from(finding.ordinal.min(8))) / 2;
    weight * by_order * by_count / 10_000 - less
}

/// Maximum number of names from the most severe lines.
const NAMES: usize = 24;
/// A name in more lines than this is too common to be useful.
const COMMON: u32 = 12;
/// Bonus of a line that mentions a name from a severe line.
const RELATED: i64 = 260;

/// Lines that mention a name from the most severe lines explain them, whatever else they contain.
fn follow_names(findings: &[Finding], values: &mut [i64]) {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    let value = |index: &usize| values.get(*index).copied().unwrap_or_default();
    sort_by_key(&mut order, |index| (-value(index), *index));
    let mut names: Vec<&[u8]> = Vec::new();
    for index in order.into_iter().filter(|index| value(index) >= 650).take(24) {
        let Some(finding) = findings.get(index).filter(|finding| finding.less == 0) else {
            continue;
        };
        for name in quoted(&finding.text) {
            if names.len() < NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let Ok(words) = AhoCorasick::new(&names) else { return };
    let mut found = vec![0u32; names.len()];
    let mut related: Vec<(usize, usize)> = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        for name in words.find_iter(&*finding.text) {
            let name = name.pattern().as_usize();
            if let Some(found) = found.get_mut(name) {
                *found += 1;
            }
            related.push((index, name));
        }
    }
    let mut last = usize::MAX;
    for (index, name) in related {
        let is_rare = found.get(name).is_some_and(|found| *found <= COMMON);
        if let Some(value) = values.get_mut(index).filter(|_| is_rare && index != last) {
            *value += RELATED.min((900 - *value).max(0));
            last = index;
        }
    }
}

/// Returns the names between quotes.
fn quoted(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.get(..1024).unwrap_or(text);
    let words = text.split(|byte| matches!(byte, b'\'' | b'"' | b'`'));
    words.skip(1).step_by(1).map(|word| word.strip_suffix(b"\\").unwrap_or(word)).filter(|word| {
        (4..=64).contains(&word.len())
            && !word.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')'))
    })
}
