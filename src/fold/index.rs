//! The index of the lines in the context: for each result the numbers of its lines, and a table from windows of four lines to
//! their positions.
//! At most 24 bytes a line: 8 for the body, 4 for the mark, 5.7 to 11.4 in the table. A stretch that is not shown takes 16 more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::RandomState;

use super::line::{Lines, Mark};
use super::window_table::{HASH_BITS, WindowTable};

/// Lines of a window.
pub(crate) const WINDOW: usize = 4;

/// Windows whose entries are read at a time: their slots fit into the fastest cache.
const READ_AHEAD: usize = 256;

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
    /// It has the entry of a window that an older source has as well.
    covers: bool,
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

    /// The first lines of the windows that are shown, with their hashes.
    fn windows(&self) -> Vec<(usize, u64)> {
        let windows = self.hashes.windows(WINDOW).enumerate();
        let shown = windows.filter(|&(at, _)| self.shown_until(at) >= at + WINDOW);
        shown.map(|(at, window)| (at, hash_of(window))).collect()
    }

    fn bytes(&self) -> usize {
        self.hashes.len() * 12 + self.label.len() * 2 + self.hidden.len() * 16 + size_of::<Source>()
    }
}

/// The calls of one label.
#[derive(Default)]
struct Calls {
    /// The newest ones, oldest first.
    newest: Vec<u32>,
    /// The number of sources with this label.
    sources: usize,
}

pub(crate) struct Index {
    hasher: RandomState,
    max_bytes: usize,
    /// By the number of their first line.
    sources: BTreeMap<u32, Source>,
    /// The last result of each call, and the last text of each file, that is shown whole.
    repeats: HashMap<u64, u32>,
    /// The labels of the sources.
    labels: HashMap<String, Calls>,
    /// The first line of each source, those that were named or added last behind the others.
    by_use: BTreeMap<u64, u32>,
    table: WindowTable,
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
            by_use: BTreeMap::new(),
            table: WindowTable::default(),
            next: 0,
            held: 0,
            clock: 0,
        }
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    pub(crate) fn bytes(&self) -> usize {
        self.held + self.table.bytes()
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
        let position = self.table.find(hash_of(window), |other| self.window(other) == window)?;
        Some(self.place(position)).filter(|(source, _)| beside.is_surely_above(source))
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
            0 if self.labels.get(&source.label).is_none_or(|calls| calls.newest.len() == 1) => {
                return source.label.clone();
            }
            0 => "newest".to_owned(),
            later => format!("{} newest", ordinal(later + 1)),
        };
        source.label.replacen("the ", &format!("the {which} "), 1)
    }

    /// The calls of its label that came later.
    fn later(&self, source: &Source) -> &[u32] {
        let calls = self.labels.get(&source.label).map_or(&[][..], |calls| &calls.newest);
        let at = calls.iter().position(|&call| call == source.call);
        at.map_or(&[], |at| &calls[at + 1..])
    }

    /// The calls that the names of these sources count.
    pub(crate) fn counted(&self, ids: &HashSet<u32>) -> Vec<u32> {
        if ids.is_empty() {
            return Vec::new();
        }
        let named = self.sources.values().filter(|source| ids.contains(&source.id));
        let mut calls: Vec<u32> = named.flat_map(|source| self.later(source)).copied().collect();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// Counts a call of this label. Returns false if the label is that of no source, so that no pointer can name such a call.
    pub(crate) fn count(&mut self, label: &str, call: u32) -> bool {
        let Some(Calls { newest, .. }) = self.labels.get_mut(label) else { return false };
        // Its arguments may be several texts.
        if newest.last() != Some(&call) {
            newest.push(call);
        }
        if newest.len() > MAX_COUNTED {
            let far = newest.remove(0);
            self.remove_where(|source| source.call == far && source.label == label);
        }
        true
    }

    /// Says that a pointer names this source: what is named stays longest.
    pub(crate) fn touch(&mut self, id: u32) {
        self.clock += 1;
        if let Some(source) = self.sources.values_mut().rev().find(|source| source.id == id) {
            self.by_use.remove(&source.used);
            source.used = self.clock;
            self.by_use.insert(source.used, source.base);
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
        let max = self.max_bytes / 2 / 24;
        let known = lines.len().min(max);
        if u64::from(self.next) + known as u64 > u64::from(u32::MAX) {
            self.clear();
        }
        if known >= WINDOW {
            self.labels.entry(label.clone()).or_default().sources += 1;
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
        let mut source = Source {
            id,
            call,
            label,
            base: self.next,
            hashes: hashes.into(),
            marks: marks.into(),
            hidden: within(hidden, known),
            keys,
            used: self.clock,
            covers: false,
        };
        self.next += known as u32;
        self.make_room(&source);
        self.held += source.bytes();
        if source.is_whole() && is_complete {
            self.repeats.extend(keys.iter().map(|key| (key, source.base)));
        }
        self.by_use.insert(source.used, source.base);
        source.covers = enter(&mut self.table, &self.sources, &source);
        self.sources.insert(source.base, source);
    }

    /// Forgets sources, and their calls if these left the context, too.
    pub(crate) fn forget(&mut self, ids: &HashSet<u32>, calls_stay: bool) {
        let covered = self.remove_where(|source| {
            ids.contains(&source.id) || !calls_stay && ids.contains(&source.call)
        });
        // Windows that they covered are found again.
        let more = self.lines().saturating_sub(self.table.len());
        if covered && self.held + self.table.bytes_with(more) <= self.max_bytes {
            if !self.table.has_room(more) {
                self.table = WindowTable::with_capacity(self.table.len() + more);
            }
            for source in self.sources.values() {
                enter(&mut self.table, &self.sources, source);
            }
        }
        if !calls_stay {
            for calls in self.labels.values_mut() {
                calls.newest.retain(|call| !ids.contains(call));
            }
        }
    }

    /// Returns true if one of them covered another.
    fn remove_where(&mut self, is_gone: impl Fn(&Source) -> bool) -> bool {
        let sources = self.sources.values().filter(|source| is_gone(source));
        let gone: Vec<(u32, bool)> = sources.map(|source| (source.base, source.covers)).collect();
        gone.iter().for_each(|&(base, _)| self.remove(base));
        gone.iter().any(|&(_, covers)| covers)
    }

    /// Removes the sources that were not used longest, until this one fits in. Never makes the table again for that: it would be made
    /// again with each text.
    fn make_room(&mut self, source: &Source) {
        let lines = source.hashes.len();
        while self.held + source.bytes() + self.table.bytes_with(lines) > self.max_bytes {
            let Some((_, &base)) = self.by_use.first_key_value() else { break };
            self.remove(base);
        }
        if !self.table.has_room(lines) {
            let mut table = WindowTable::with_capacity(self.table.len() + lines);
            for source in self.sources.values() {
                enter(&mut table, &self.sources, source);
            }
            self.table = table;
        }
    }

    fn remove(&mut self, base: u32) {
        let Some(source) = self.sources.remove(&base) else { return };
        for windows in source.windows().chunks(READ_AHEAD) {
            self.table.read_ahead(windows.iter().map(|&(_, hash)| hash));
            for &(at, hash) in windows {
                // Another source may have the entry of an equal window.
                self.table.remove(hash, base + at as u32);
            }
        }
        self.held -= source.bytes();
        self.by_use.remove(&source.used);
        for key in source.keys.iter() {
            if self.repeats.get(&key) == Some(&base) {
                self.repeats.remove(&key);
            }
        }
        if let Some(calls) = self.labels.get_mut(&source.label) {
            calls.sources -= 1;
            if calls.sources == 0 {
                self.labels.remove(&source.label);
            }
        }
    }

    fn place(&self, position: u32) -> (&Source, usize) {
        place(&self.sources, position)
    }

    fn window(&self, position: u32) -> &[u64] {
        window(&self.sources, position)
    }
}

/// Enters the windows of a source. The entry of equal windows is the newest source that has it, and the first place in that source.
/// Returns true if one was that of an older source.
fn enter(table: &mut WindowTable, sources: &BTreeMap<u32, Source>, source: &Source) -> bool {
    let mut covers = false;
    let is_older = |other| other < source.base;
    for windows in source.windows().chunks(READ_AHEAD) {
        table.read_ahead(windows.iter().map(|&(_, hash)| hash));
        for &(at, hash) in windows {
            let lines = &source.hashes[at..at + WINDOW];
            // It may not be among the sources yet.
            let is_same = |other: u32| {
                let own = other.checked_sub(source.base).map(|at| at as usize);
                match own.filter(|at| *at < source.hashes.len()) {
                    Some(at) => source.hashes[at..][..WINDOW] == *lines,
                    None => window(sources, other) == lines,
                }
            };
            covers |= table.insert(hash, source.base + at as u32, is_same, is_older);
        }
    }
    covers
}

/// The stretches of the first lines, without those that touch each other.
fn within(stretches: Vec<(usize, usize)>, lines: usize) -> Vec<(usize, usize)> {
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (from, to) in stretches.into_iter().filter(|&(from, _)| from < lines) {
        match kept.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to.min(lines)),
            _ => kept.push((from, to.min(lines))),
        }
    }
    kept
}

fn place(sources: &BTreeMap<u32, Source>, position: u32) -> (&Source, usize) {
    let (&base, source) = sources
        .range(..=position)
        .next_back()
        .unwrap_or_else(|| unreachable!("an entry of the table names a source"));
    (source, (position - base) as usize)
}

fn window(sources: &BTreeMap<u32, Source>, position: u32) -> &[u64] {
    let (source, at) = place(sources, position);
    &source.hashes[at..at + WINDOW]
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

fn hash_of(window: &[u64]) -> u64 {
    let mixed = window
        .iter()
        .fold(0u64, |sum, &hash| (sum.rotate_left(23) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed >> (64 - HASH_BITS)
}
