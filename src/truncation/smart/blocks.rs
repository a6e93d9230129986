//! Blocks: lines that stand together and explain the same thing, such as an assertion with its diff or a compiler's message
//! with its source. A block is shown whole or, if it is too long, from its best line outwards.

use std::collections::BTreeMap;

use super::features::Row;
use super::rules::Rules;
use super::select::is_repeat;
use crate::truncation::lines::{Chosen, Lines};
use crate::util::sort::sort_by_key;

/// Lines that stand together.
#[derive(Debug)]
pub(super) struct Block {
    /// The numbers of its lines, in order.
    lines: Vec<u64>,
    /// The place of its best line among them.
    best: usize,
    /// The probability of its best line, in ten thousandths.
    peak: u32,
    /// Its worth per byte.
    density: u64,
}

/// Less likely lines begin no block.
const SEED: u32 = 60;
/// A line joins a block if it is at least the best line's probability divided by this.
const SLOPE: u32 = 15;
/// Or if it is at least so likely.
const SURE: u32 = 2500;
/// Less likely lines in a row that a block goes across.
const BRIDGE: usize = 2;
/// Lines that are alike, of which there are more than this, are noise where they follow one another.
const NOISE: u32 = 64;
/// Bytes that stand for the gap line of a block.
const GAP: u64 = 40;

/// Forms blocks of the lines, the most worth per byte first.
pub(super) fn form(lines: &Lines, rows: &[(u64, Row)], rules: &Rules) -> Vec<Block> {
    let ranking = rules.ranking();
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    lines.values().for_each(|line| *counts.entry(line.alike).or_default() += 1);
    let is_noise = |number: u64| {
        let alike = |number: u64| lines.get(&number).map(|line| line.alike);
        let own = alike(number).filter(|own| counts.get(own).is_some_and(|count| *count > NOISE));
        let in_run = alike(number.wrapping_sub(1)) == own || alike(number + 1) == own;
        own.is_some_and(|own| own != 0) && in_run
    };
    let likely: Vec<u32> = rows
        .iter()
        .map(|(number, row)| {
            let is_out = is_repeat(lines, *number) || is_noise(*number);
            if is_out { 0 } else { ranking.probability(row) }
        })
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let probability = |at: usize| likely.get(at).copied().unwrap_or_default();
    order.retain(|at| probability(*at) >= SEED);
    sort_by_key(&mut order, |at| (u32::MAX - probability(*at), *at));
    let number = |at: usize| rows.get(at).map(|(number, _)| *number);
    let is_blank =
        |at: usize| number(at).and_then(|it| lines.get(&it)).is_some_and(|it| it.text.is_empty());
    // Lines that the rules call good news are in no block.
    let is_good =
        |number: &u64| lines.get(number).is_some_and(|line| rules.is_vetoed(line.text.as_bytes()));
    let mut taken: Vec<bool> = rows.iter().map(|(number, _)| is_good(number)).collect();
    let is_taken = |taken: &[bool], at: usize| taken.get(at).copied().unwrap_or(true);
    let mut blocks = Vec::new();
    for seed in order {
        if is_taken(&taken, seed) {
            continue;
        }
        let peak = probability(seed);
        let least = (peak / SLOPE).min(SURE);
        let reach = |by: isize| {
            let (mut end, mut at, mut misses) = (seed, seed, 0);
            while let Some(next) = at.checked_add_signed(by) {
                let is_next = number(next).zip(number(at)).is_some_and(|(a, b)| a.abs_diff(b) == 1);
                if !is_next || is_taken(&taken, next) {
                    break;
                }
                if probability(next) >= least {
                    (end, misses) = (next, 0);
                } else if !is_blank(next) {
                    misses += 1;
                }
                if misses > BRIDGE {
                    break;
                }
                at = next;
            }
            end
        };
        let (from, to) = (reach(-1), reach(1));
        taken.iter_mut().take(to + 1).skip(from).for_each(|taken| *taken = true);
        let numbers: Vec<u64> = (from..=to).filter_map(number).collect();
        let bytes = |number: &u64| lines.get(number).map_or(0, |line| line.text.len() as u64 + 1);
        let size = numbers.iter().map(bytes).sum::<u64>() + GAP;
        let worth: u64 = (from..=to).map(|at| u64::from(probability(at))).sum();
        // Both the surest line and the yield of the whole count.
        let density = u64::from(peak) * 100 + worth * 2000 / size;
        blocks.push(Block { lines: numbers, best: seed - from, peak, density });
    }
    sort_by_key(&mut blocks, |block| (u64::MAX - block.density, block.lines.first().copied()));
    blocks
}

/// Adds blocks whose best line is at least so likely, whole before the next.
pub(super) fn add(chosen: &mut Chosen<'_>, blocks: &[Block], least: u32, most: (u64, u64)) {
    for block in blocks.iter().filter(|block| block.peak >= least) {
        if chosen.add_all(block.lines.iter().copied(), most) {
            continue;
        }
        let (mut before, mut after) = (block.best, block.best + 1);
        let at = |place: usize| block.lines.get(place).copied();
        loop {
            let below = at(after).is_some_and(|number| chosen.add(number, most));
            after += usize::from(below);
            let above =
                before.checked_sub(1).and_then(at).is_some_and(|number| chosen.add(number, most));
            before -= usize::from(above);
            if !below && !above {
                break;
            }
        }
        if let Some(number) = at(block.best) {
            chosen.add(number, most);
        }
    }
}
