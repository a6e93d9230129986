//! Blocks: adjacent lines that explain the same failure, such as an assertion with its diff or a compiler's message
//! with its source. A block is shown whole or, if it is too long, from its best line outwards.

use std::collections::{BTreeMap, BTreeSet};

use super::features::Described;
use super::line_fingerprint::{template, without_names};
use super::ranking::Ranking;
use crate::truncation::lines::{Chosen, Lines};
use crate::util::sort::sort_by_key;

/// Lines that belong together.
#[derive(Debug)]
pub(super) struct Block {
    /// The numbers of its lines, in order, with their probabilities.
    lines: Vec<(u64, u32)>,
    /// The place of its best line among them.
    best: usize,
    /// The probability of its best line, in ten thousandths.
    peak: u32,
    /// Its worth per byte.
    density: u64,
    /// The numbers of its lines and of what is near of the paragraphs that it begins and ends in.
    paragraphs: Vec<u64>,
    /// The kinds of its lines that are not blank.
    kinds: Vec<u64>,
}

impl Block {
    fn first(&self) -> Option<u64> {
        self.lines.first().map(|(number, _)| *number)
    }

    /// Returns the numbers of its first and last line if its best line is at least so likely.
    pub(super) fn ends(&self, min_peak: u32) -> Option<(u64, u64)> {
        let ((first, _), (last, _)) = (self.lines.first()?, self.lines.last()?);
        (self.peak >= min_peak).then_some((*first, *last))
    }
}

/// Less likely lines begin no block.
const SEED: u32 = 60;
/// A line joins a block if it is at least the best line's probability divided by this.
const SLOPE: u32 = 15;
/// Or if it is at least so likely.
const SURE: u32 = 2500;
/// Less likely lines in a row that a block goes across.
const BRIDGE: usize = 1;
/// A block takes its paragraph to the start or the end if that is at most this many lines away.
const TO_START: usize = 15;
const TO_END: usize = 8;
/// Lines below that are indented deeper belong to a block, however unlikely, at most this many.
const DEEPER: usize = 4;
/// Share in percent of what is left for blocks that a block gets which does not fit, so that the next one gets something too.
const PART: u64 = 90;
/// Lines at the start of a block that say what it is about, and their share in percent of the part of a block that does not fit.
const START: usize = 2;
const START_PART: u64 = 40;
/// Lines that are alike in the shown part of such a block.
const ALIKE: usize = 3;
/// Bytes that stand for the gap line of a block.
const GAP: u64 = 40;
/// A block repeats others if more than this share of its lines, in percent, is like lines of theirs.
const REPEATED: usize = 60;
/// A block of fewer lines is shown even if others have lines like its own.
const MIN_KINDS: usize = 3;
/// Number of lines of a kind that are shown before such a block repeats others, too.
const EXAMPLES: usize = 3;

/// The lines that blocks are formed of.
struct Candidates<'a> {
    lines: &'a Lines,
    numbers: Vec<u64>,
    likely: Vec<u32>,
    /// Lines that are in a block already, or in none, as good news is.
    taken: Vec<bool>,
}

impl Candidates<'_> {
    fn probability(&self, at: usize) -> u32 {
        self.likely.get(at).copied().unwrap_or_default()
    }

    fn is_blank(&self, at: usize) -> bool {
        let line = self.numbers.get(at).and_then(|number| self.lines.get(number));
        line.is_some_and(|line| line.text.is_empty())
    }

    fn indentation(&self, at: usize) -> usize {
        let line = self.numbers.get(at).and_then(|number| self.lines.get(number));
        line.map_or(0, |line| line.text.len() - line.text.trim_start().len())
    }

    /// Returns the neighbour of a line if no line is missing between them and it is in no block.
    fn next(&self, at: usize, by: isize) -> Option<usize> {
        let next = at.checked_add_signed(by)?;
        let (number, own) = (self.numbers.get(next)?, self.numbers.get(at)?);
        let is_free = self.taken.get(next).is_some_and(|taken| !taken);
        (number.abs_diff(*own) == 1 && is_free).then_some(next)
    }

    /// Returns the last likely line in one direction.
    fn reach(&self, seed: usize, by: isize) -> usize {
        let min_probability = (self.probability(seed) / SLOPE).min(SURE);
        let (mut end, mut at, mut misses, mut deeper) = (seed, seed, 0, 0);
        let is_deeper = |next| by > 0 && self.indentation(next) > self.indentation(seed);
        while let Some(next) = self.next(at, by) {
            if self.probability(next) >= min_probability {
                (end, misses) = (next, 0);
            } else if deeper < DEEPER && !self.is_blank(next) && is_deeper(next) {
                deeper += 1;
                (end, misses) = (next, 0);
            } else if !self.is_blank(next) {
                misses += 1;
            }
            if misses > BRIDGE {
                break;
            }
            at = next;
        }
        end
    }

    /// Returns the end of the paragraph in one direction if it is near, else the same place.
    fn complete(&self, from: usize, by: isize, max_lines: usize) -> usize {
        let mut at = from;
        if self.is_blank(at) {
            return from;
        }
        for _ in 0..=max_lines {
            match self.next(at, by).filter(|next| !self.is_blank(*next)) {
                Some(next) => at = next,
                None => return at,
            }
        }
        from
    }
}

/// Returns a number that lines have in common which differ only in numbers, paths and quoted names. `None` for a blank line.
fn kind_of(text: &str) -> Option<u64> {
    let mut named = Vec::new();
    without_names(text.as_bytes(), &mut named);
    (!text.trim().is_empty()).then(|| template(&named))
}

/// Forms blocks of the lines, the most worth per byte first. The paragraphs of a block reach at most `far` lines beyond it.
pub(super) fn form(
    lines: &Lines,
    described: &Described,
    ranking: &Ranking,
    far: usize,
) -> Vec<Block> {
    let Described { rows, is_noise, is_good } = described;
    let likely: Vec<u32> = rows
        .iter()
        .zip(is_noise)
        .map(|((_, row), is_noise)| if *is_noise { 0 } else { ranking.probability(row) })
        .collect();
    let numbers = rows.iter().map(|(number, _)| *number).collect();
    let mut candidates = Candidates { lines, numbers, likely, taken: is_good.clone() };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.retain(|at| candidates.probability(*at) >= SEED);
    sort_by_key(&mut order, |at| (u32::MAX - candidates.probability(*at), *at));
    let mut blocks = Vec::new();
    for seed in order {
        if candidates.taken.get(seed).copied().unwrap_or(true) {
            continue;
        }
        let from = candidates.complete(candidates.reach(seed, -1), -1, TO_START);
        let to = candidates.complete(candidates.reach(seed, 1), 1, TO_END);
        let (start, end) = (candidates.complete(from, -1, far), candidates.complete(to, 1, far));
        let numbers = (start..=end).filter_map(|at| candidates.numbers.get(at).copied());
        let paragraphs = numbers.collect();
        candidates.taken.iter_mut().take(to + 1).skip(from).for_each(|taken| *taken = true);
        let own: Vec<(u64, u32)> = (from..=to)
            .filter_map(|at| Some((*candidates.numbers.get(at)?, candidates.probability(at))))
            .collect();
        let bytes = |number: &u64| lines.get(number).map_or(0, |line| line.text.len() as u64 + 1);
        let size = own.iter().map(|(number, _)| bytes(number)).sum::<u64>() + GAP;
        let worth: u64 = own.iter().map(|(_, likely)| u64::from(*likely)).sum();
        let peak = candidates.probability(seed);
        let density = worth * 1000 / size;
        let kinds =
            own.iter().filter_map(|(number, _)| kind_of(&lines.get(number)?.text)).collect();
        blocks.push(Block { lines: own, best: seed - from, peak, density, paragraphs, kinds });
    }
    sort_by_key(&mut blocks, |block: &Block| (u64::MAX - block.density, block.first()));
    blocks
}

/// Adds the first lines of the blocks whose best line is at least so likely, the likeliest first. A block that begins like
/// another is known by that one.
pub(super) fn begin(chosen: &mut Chosen<'_>, blocks: &[Block], min_peak: u32, limit: (u64, u64)) {
    let mut order: Vec<&Block> = blocks.iter().filter(|block| block.peak >= min_peak).collect();
    sort_by_key(&mut order, |block| (u32::MAX - block.peak, block.first()));
    let mut met = BTreeSet::new();
    for block in order {
        if block.first().is_some_and(|first| met.insert(chosen.alike(first))) {
            chosen.add_all(block.lines.iter().take(START).map(|(number, _)| *number), limit);
        }
    }
}

/// Adds blocks whose best line is at least so likely, whole before the next, and those that repeat others after the rest. If a
/// block does not fit, its best line and the likelier of its neighbours are added as long as there is room.
pub(super) fn add(chosen: &mut Chosen<'_>, blocks: &[Block], min_peak: u32, limit: (u64, u64)) {
    let mut shown: BTreeMap<u64, usize> = BTreeMap::new();
    let (first, repeats): (Vec<&Block>, Vec<&Block>) =
        blocks.iter().filter(|block| block.peak >= min_peak).partition(|block| {
            let enough = if block.kinds.len() < MIN_KINDS { EXAMPLES } else { 1 };
            let is_known = |kind: &&u64| shown.get(kind).is_some_and(|count| *count >= enough);
            let known = block.kinds.iter().filter(is_known).count();
            let is_repeat = known * 100 > block.kinds.len() * REPEATED;
            if !is_repeat {
                for kind in &block.kinds {
                    *shown.entry(*kind).or_default() += 1;
                }
            }
            !is_repeat
        });
    for block in first.into_iter().chain(repeats) {
        if !chosen.add_all(block.lines.iter().map(|(number, _)| *number), limit) {
            let part = chosen.part(PART, limit);
            add_part(chosen, block, part);
        }
    }
}

/// Adds the paragraphs of the blocks that are shown and whose best line is at least so likely, as long as there is room.
pub(super) fn complete(
    chosen: &mut Chosen<'_>,
    blocks: &[Block],
    min_peak: u32,
    limit: (u64, u64),
) {
    for block in blocks.iter().filter(|block| block.peak >= min_peak) {
        if block.lines.iter().any(|(number, _)| chosen.numbers.contains(number)) {
            chosen.add_all(block.paragraphs.iter().copied(), limit);
        }
    }
}

fn add_part(chosen: &mut Chosen<'_>, block: &Block, limit: (u64, u64)) {
    let start = chosen.part(START_PART, limit);
    for (number, _) in block.lines.iter().take(START.min(block.best)) {
        if !chosen.add(*number, start) {
            break;
        }
    }
    let at = |place: usize| block.lines.get(place).copied();
    if !at(block.best).is_some_and(|(number, _)| chosen.add(number, limit)) {
        return;
    }
    let likely = |place: Option<usize>| place.and_then(at).map(|(_, likely)| likely);
    let (mut above, mut below) = (block.best.checked_sub(1), Some(block.best + 1));
    let mut met: BTreeMap<u64, usize> = BTreeMap::new();
    while let Some(better) = likely(above).max(likely(below)) {
        let is_above = likely(above) == Some(better);
        let place = if is_above { above } else { below };
        let is_in = place.and_then(at).is_some_and(|(number, _)| {
            let alike = chosen.alike(number);
            let count = met.entry(alike).or_default();
            *count += usize::from(alike != 0);
            *count > ALIKE || chosen.add(number, limit)
        });
        if is_above {
            above = above.filter(|_| is_in).and_then(|place| place.checked_sub(1));
        } else {
            below = below.filter(|_| is_in).map(|place| place + 1);
        }
    }
}
