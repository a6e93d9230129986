//! The lines that matter, in bounded memory.

use std::collections::{BTreeMap, VecDeque};

use crate::text::terminal::source_map::{Origins, RawRange, Stretch};
use crate::truncation::retained::{Best, Held};

/// Number of the first lines of a kind that are kept with their surroundings.
pub(super) const FIRST: u32 = 24;
/// Number of the last lines of a kind that are kept beside the first ones.
pub(super) const LAST: usize = 48;
/// Bytes of the lines that are remembered with their surroundings.
const MAX: usize = 1280 * 1024;
/// Bytes that are left of them when some must be forgotten.
const KEPT: usize = 960 * 1024;
/// Bytes of the last lines of all kinds.
const MAX_LAST_BYTES: usize = 512 * 1024;

/// A line that was remembered.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// Its number; lines count from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub start: u64,
    /// Its bytes without the break, as far as they are looked at.
    pub text: Box<[u8]>,
    /// Where it ends.
    pub end: u64,
    /// The kind that it, or the line it explains, is of.
    pub kind: u64,
    /// How many of that kind came before.
    pub ordinal: u32,
    /// Its weight, or that of the line it explains.
    pub weight: u16,
    /// How much less it is worth, because it only explains.
    pub less: u16,
    /// Where it comes from, if the text is what a terminal would show.
    pub place: Option<RawRange>,
}

impl Finding {
    /// Says where a long line ended.
    pub(crate) fn lengthen(&mut self, end: u64, origins: &Origins) {
        self.end = end;
        let place = self.place.as_mut().zip(place_of(origins, self.line, end, end));
        if let Some((place, whole)) = place {
            place.to_byte = whole.to_byte;
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Memory {
    findings: Best<Finding>,
    pub kinds: BTreeMap<u64, KindOfLine>,
    last_bytes: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct KindOfLine {
    pub count: u32,
    last: VecDeque<Finding>,
}

/// How many lines of each kind there were.
pub(super) type Counts = BTreeMap<u64, u32>;

impl Default for Memory {
    fn default() -> Self {
        Memory { findings: Best::new(MAX, KEPT), kinds: BTreeMap::new(), last_bytes: 0 }
    }
}

impl Memory {
    /// No lines, but counts that go on from where they are.
    pub(crate) fn counts_alone(&self) -> Memory {
        let mut counts = Memory::default();
        for (kind, known) in &self.kinds {
            let counted = KindOfLine { count: known.count, ..Default::default() };
            counts.kinds.insert(*kind, counted);
        }
        counts
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Finding> {
        self.findings.items().iter().chain(self.kinds.values().flat_map(|kind| &kind.last))
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        self.findings.push(finding, |finding| {
            let often = finding.ordinal.min(FIRST) as i64;
            (finding.less as i64 + 20 * often - finding.weight as i64, finding.line)
        });
    }

    /// Says where a line ended that was remembered before it did.
    pub(crate) fn lengthen(&mut self, line: u64, end: u64, origins: &Origins) {
        let last = self.kinds.values_mut().filter_map(|kind| kind.last.back_mut());
        for finding in self.findings.newest_mut(4).chain(last) {
            if finding.line == line {
                finding.lengthen(end, origins);
            }
        }
    }

    pub(crate) fn remember_last(&mut self, finding: Finding) {
        let Some(kind) = self.kinds.get_mut(&finding.kind) else { return };
        self.last_bytes += finding.held();
        kind.last.push_back(finding);
        if kind.last.len() > LAST
            && let Some(oldest) = kind.last.pop_front()
        {
            self.last_bytes -= oldest.held();
        }
        if self.last_bytes > MAX_LAST_BYTES {
            self.last_bytes = 0;
            for kind in self.kinds.values_mut() {
                let half = kind.last.len() / 2;
                kind.last.drain(..half);
                self.last_bytes += kind.last.iter().map(Finding::held).sum::<usize>();
            }
        }
    }
}

/// Where a stretch of a line comes from, if anything was noted of the text.
pub(super) fn place_of(origins: &Origins, line: u64, start: u64, end: u64) -> Option<RawRange> {
    if origins.is_empty() {
        return None;
    }
    origins.ranges(Stretch { line, last_line: line, start, end }).pop()
}

impl Held for Finding {
    fn held(&self) -> usize {
        self.text.len() + size_of::<Finding>()
    }
}
