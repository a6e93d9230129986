//! The index of the lines in the context: for each result the numbers of its lines, and a table from windows of four lines to
//! their positions.
//! At most 23 bytes a line: 8 for the body, 4 for the mark, 5.3 to 10.7 in the table.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::RandomState;

use super::line::{Lines, Mark};

/// Lines of a window.
pub(crate) const WINDOW: usize = 4;

const EMPTY: u32 = u32::MAX;

/// A result or an argument whose lines are known.
pub(crate) struct Source {
    pub id: u32,
    call: u32,
    pub label: String,
    base: u32,
    pub hashes: Box<[u64]>,
    pub marks: Box<[Mark]>,
    /// Lines that the model does not see in it.
    hidden: Vec<(usize, usize)>,
    keys: Keys,
    used: u64,
}

/// Numbers by which a text is found again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keys {
    /// The same for equal calls; nothing where the arguments are not known.
    pub call: Option<u64>,
    /// The same for texts of one file.
    pub file: Option<u64>,
}

impl Keys {
    fn iter(self) -> impl Iterator<Item = u64> {
        self.call.into_iter().chain(self.file)
    }
}

/// The calls that run at the same time as the one whose result is folded. Nothing in it points to their texts.
pub(crate) struct Beside<'a> {
    /// The number of the first text that came in since the call began.
    pub since: Option<u32>,
    /// Names that their results and arguments have.
    pub labels: HashSet<&'a str>,
}

impl Beside<'_> {
    /// Returns true unless a text, or another one of its name, may stand below the one that is folded.
    fn is_surely_above(&self, source: &Source) -> bool {
        self.since.is_none_or(|since| source.id < since) && !self.labels.contains(&*source.label)
    }
}

impl Source {
    /// The number of its first line, which no other source has.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.hidden.is_empty()
    }

    /// The first line that is not shown, from this one on; the number of lines if all are.
    pub(crate) fn shown_until(&self, line: usize) -> usize {
        let next = self.hidden.partition_point(|&(_, to)| to <= line);
        self.hidden.get(next).map_or(self.hashes.len(), |&(from, _)| from.max(line))
    }

    /// The first line of the shown stretch that a line is in.
    pub(crate) fn shown_from(&self, line: usize) -> usize {
        let next = self.hidden.partition_point(|&(_, to)| to <= line);
        next.checked_sub(1).map_or(0, |before| self.hidden[before].1)
    }

    fn windows(&self) -> impl Iterator<Item = usize> + '_ {
        let last = (self.hashes.len() + 1).saturating_sub(WINDOW);
        (0..last).filter(|&at| self.shown_until(at) >= at + WINDOW)
    }

    fn bytes(&self) -> usize {
        self.hashes.len() * 12 + self.label.len() * 2 + self.hidden.len() * 16 + size_of::<Source>()
    }
}

pub(crate) struct Index {
    hasher: RandomState,
    max_bytes: usize,
    /// By the number of their first line.
    sources: BTreeMap<u32, Source>,
    /// The last result of each call, and the last text of each file, that is shown whole.
    repeats: HashMap<u64, u32>,
    /// The newest calls of each label of a source, oldest first.
    labels: HashMap<String, Vec<u32>>,
    table: Vec<u32>,
    entries: usize,
    next: u32,
    held: usize,
    clock: u64,
}

impl Index {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Index {
            hasher: RandomState::new(),
            max_bytes,
            sources: BTreeMap::new(),
            repeats: HashMap::new(),
            labels: HashMap::new(),
            table: Vec::new(),
            entries: 0,
            next: 0,
            held: 0,
            clock: 0,
        }
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    pub(crate) fn bytes(&self) -> usize {
        self.held + self.table.len() * size_of::<u32>()
    }

    pub(crate) fn lines(&self) -> usize {
        self.sources.values().map(|source| source.hashes.len()).sum()
    }

    pub(crate) fn clear(&mut self) {
        let (hasher, clock) = (self.hasher.clone(), self.clock);
        *self = Index { hasher, clock, ..Index::new(self.max_bytes) };
    }

    /// The place where a window was shown last.
    pub(crate) fn find(&self, window: &[u64], beside: &Beside<'_>) -> Option<(&Source, usize)> {
        if self.table.is_empty() {
            return None;
        }
        let position = self.table[self.slot(window)];
        let found = (position != EMPTY).then(|| self.place(position));
        found.filter(|(source, _)| beside.is_surely_above(source))
    }

    /// The last result of the same call that is shown whole, else the last text of the same file.
    pub(crate) fn repeated(&self, keys: Keys, beside: &Beside<'_>) -> Option<&Source> {
        let base = keys.iter().find_map(|key| self.repeats.get(&key))?;
        self.sources.get(base).filter(|source| beside.is_surely_above(source))
    }

    /// The name of a source. Among calls of one label it is counted from the newest one: what was there before this index, and
    /// what leaves the context from its start, changes no such number.
    pub(crate) fn name_of(&self, source: &Source) -> String {
        let which = match self.later(source).len() {
            0 if self.labels.get(&source.label).is_none_or(|calls| calls.len() == 1) => {
                return source.label.clone();
            }
            0 => "newest".to_owned(),
            later => format!("{} newest", ordinal(later + 1)),
        };
        source.label.replacen("the ", &format!("the {which} "), 1)
    }

    /// The calls of its label that came later.
    fn later(&self, source: &Source) -> &[u32] {
        let calls = self.labels.get(&source.label).map_or(&[][..], Vec::as_slice);
        let at = calls.iter().position(|&call| call == source.call);
        at.map_or(&[], |at| &calls[at + 1..])
    }

    /// The calls that the names of these sources count.
    pub(crate) fn counted(&self, ids: &HashSet<u32>) -> Vec<u32> {
        let named = self.sources.values().filter(|source| ids.contains(&source.id));
        let mut calls: Vec<u32> = named.flat_map(|source| self.later(source)).copied().collect();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// Counts a call of this label. Returns false if the label is that of no source, so that no pointer can name such a call.
    pub(crate) fn count(&mut self, label: &str, call: u32) -> bool {
        let Some(calls) = self.labels.get_mut(label) else { return false };
        // Its arguments may be several texts.
        if calls.last() != Some(&call) {
            calls.push(call);
        }
        if calls.len() > MAX_COUNTED {
            let far = calls.remove(0);
            self.remove_where(|source| source.call == far && source.label == label);
        }
        true
    }

    /// Says that a pointer names this source: what is named stays longest.
    pub(crate) fn touch(&mut self, id: u32) {
        self.clock += 1;
        let clock = self.clock;
        if let Some(source) = self.sources.values_mut().rev().find(|source| source.id == id) {
            source.used = clock;
        }
    }

    /// Adds a text. Only the start of a text that takes more than half of the index is known.
    pub(crate) fn add(
        &mut self,
        (id, call): (u32, u32),
        label: String,
        keys: Keys,
        lines: Lines<'_>,
        hidden: Vec<(usize, usize)>,
    ) {
        let most = self.max_bytes / 2 / 24;
        let known = lines.len().min(most);
        if u64::from(self.next) + known as u64 >= u64::from(EMPTY) {
            self.clear();
        }
        if known >= WINDOW {
            self.labels.entry(label.clone()).or_default();
        }
        // Also a call whose result no pointer can name.
        self.count(&label, call);
        if known < WINDOW {
            return;
        }
        let is_complete = known == lines.len();
        let Lines { mut hashes, mut marks, .. } = lines;
        hashes.truncate(known);
        marks.truncate(known);
        self.clock += 1;
        let source = Source {
            id,
            call,
            label,
            base: self.next,
            hashes: hashes.into(),
            marks: marks.into(),
            hidden,
            keys,
            used: self.clock,
        };
        self.next += known as u32;
        self.held += source.bytes();
        if source.is_whole() && is_complete {
            self.repeats.extend(keys.iter().map(|key| (key, source.base)));
        }
        let (base, windows): (u32, Vec<usize>) = (source.base, source.windows().collect());
        self.sources.insert(base, source);
        for at in windows {
            self.insert(base + at as u32);
        }
        self.evict();
    }

    /// Forgets sources, and their calls if these left the context, too.
    pub(crate) fn forget(&mut self, ids: &HashSet<u32>, calls_stay: bool) {
        self.remove_where(|source| {
            ids.contains(&source.id) || !calls_stay && ids.contains(&source.call)
        });
        if !calls_stay {
            for calls in self.labels.values_mut() {
                calls.retain(|call| !ids.contains(call));
            }
        }
        self.drop_labels();
    }

    fn remove_where(&mut self, is_gone: impl Fn(&Source) -> bool) {
        let sources = self.sources.values().filter(|source| is_gone(source));
        let gone: Vec<u32> = sources.map(|source| source.base).collect();
        gone.into_iter().for_each(|base| self.remove(base));
    }

    /// Drops the labels that no source has any more.
    fn drop_labels(&mut self) {
        let named: HashSet<&str> = self.sources.values().map(|source| &*source.label).collect();
        self.labels.retain(|label, _| named.contains(&**label));
    }

    fn evict(&mut self) {
        if self.bytes() <= self.max_bytes {
            return;
        }
        // In one go down to seven eighths: the table is made again once, and the order is found once.
        let mut by_use: Vec<(u64, u32)> =
            self.sources.values().map(|source| (source.used, source.base)).collect();
        by_use.sort_unstable();
        let goal = self.max_bytes / 8 * 7;
        let mut held = self.held;
        let mut windows: usize = self.sources.values().map(|source| source.hashes.len()).sum();
        for (_, base) in by_use {
            if held + table_size(windows) * size_of::<u32>() <= goal {
                break;
            }
            if let Some(source) = self.sources.remove(&base) {
                held -= source.bytes();
                windows -= source.hashes.len();
            }
        }
        self.held = held;
        self.repeats.retain(|_, base| self.sources.contains_key(base));
        self.drop_labels();
        self.rebuild(table_size(windows));
    }

    fn remove(&mut self, base: u32) {
        let Some(source) = self.sources.get(&base) else { return };
        let end = base + source.hashes.len() as u32;
        let windows: Vec<usize> = source.windows().collect();
        for at in windows {
            let slot = self.slot(self.window(base + at as u32));
            // Another source may have the entry of an equal window.
            if (base..end).contains(&self.table[slot]) {
                self.delete(slot);
            }
        }
        let Some(source) = self.sources.remove(&base) else { return };
        self.held -= source.bytes();
        for key in source
            .keys
            .iter()
            .filter(|key| self.repeats.get(key) == Some(&base))
            .collect::<Vec<_>>()
        {
            self.repeats.remove(&key);
        }
    }

    fn rebuild(&mut self, size: usize) {
        self.table = vec![EMPTY; size];
        self.entries = 0;
        let positions: Vec<u32> = self
            .sources
            .values()
            .flat_map(|source| source.windows().map(|at| source.base + at as u32))
            .collect();
        for position in positions {
            self.insert(position);
        }
    }

    fn place(&self, position: u32) -> (&Source, usize) {
        let (&base, source) = self
            .sources
            .range(..=position)
            .next_back()
            .unwrap_or_else(|| unreachable!("an entry of the table names a source"));
        (source, (position - base) as usize)
    }

    fn window(&self, position: u32) -> &[u64] {
        let (source, at) = self.place(position);
        &source.hashes[at..at + WINDOW]
    }

    /// The slot of a window: where it is, or where it would be.
    fn slot(&self, window: &[u64]) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = home(window) & mask;
        while self.table[slot] != EMPTY && self.window(self.table[slot]) != window {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Adds a window. The entry is the newest source that has it, and the first place in that source.
    fn insert(&mut self, position: u32) {
        if (self.entries + 1) * 4 > self.table.len() * 3 {
            let old = std::mem::take(&mut self.table);
            self.table = vec![EMPTY; (old.len() * 2).max(64)];
            for position in old.into_iter().filter(|&position| position != EMPTY) {
                let slot = self.slot(self.window(position));
                self.table[slot] = position;
            }
        }
        let slot = self.slot(self.window(position));
        let there = self.table[slot];
        if there == EMPTY {
            self.entries += 1;
        } else if self.place(there).0.base == self.place(position).0.base {
            return;
        }
        self.table[slot] = position;
    }

    /// Empties a slot and moves up what comes after it only because it was taken.
    fn delete(&mut self, slot: usize) {
        let mask = self.table.len() - 1;
        let (mut hole, mut at) = (slot, slot);
        loop {
            at = (at + 1) & mask;
            let position = self.table[at];
            if position == EMPTY {
                break;
            }
            let from_home = at.wrapping_sub(home(self.window(position))) & mask;
            if from_home >= at.wrapping_sub(hole) & mask {
                self.table[hole] = position;
                hole = at;
            }
        }
        self.table[hole] = EMPTY;
        self.entries -= 1;
    }
}

/// Calls of one name among which a pointer may name one: a model does not count further back.
const MAX_COUNTED: usize = 100;

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn table_size(entries: usize) -> usize {
    (entries * 4 / 3 + 1).next_power_of_two().max(64)
}

fn home(window: &[u64]) -> usize {
    let mixed = window
        .iter()
        .fold(0u64, |sum, &hash| (sum.rotate_left(23) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (mixed >> 24) as usize
}
