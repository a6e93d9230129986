//! The lines of a test run that may be shown, in bounded memory.
//!
//! When memory runs out, the number of lines kept of every block is halved, and the lines kept so far are thinned out by
//! the same rule. The result therefore depends on the text alone, not on how it is split into chunks.

use std::ops::Range;
use std::sync::Arc;

use super::record::{Mark, Role};

/// Minimum and maximum of the memory used, in bytes.
const ROOM: (u64, u64) = (1 << 19, 1 << 22);
/// Number of lines kept of a block as long as there is room.
const MAX_DEPTH: u32 = 512;

/// A line that may be shown, once for each runner that it says something to.
#[derive(Debug, Clone)]
pub(super) struct RetainedTest {
    /// Line number, from 1.
    pub number: u64,
    /// Byte range in the text.
    pub bytes: Range<u64>,
    /// The start of the line, without its break.
    pub text: Arc<[u8]>,
    pub mark: Mark,
}

impl RetainedTest {
    fn held(&self) -> usize {
        size_of::<RetainedTest>() + self.text.len()
    }
}

#[derive(Debug, Clone)]
pub(super) struct RetainedTests {
    kept: Vec<RetainedTest>,
    held: usize,
    room: u64,
    depth: u32,
    is_full: bool,
}

impl RetainedTests {
    /// Creates storage that suffices for a preview of `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let room = max_bytes.saturating_mul(16).clamp(ROOM.0, ROOM.1);
        RetainedTests { kept: Vec::new(), held: 0, room, depth: MAX_DEPTH, is_full: false }
    }

    pub(crate) fn kept(&self) -> &[RetainedTest] {
        &self.kept
    }

    /// Adds the next line.
    pub(crate) fn take(&mut self, number: u64, bytes: Range<u64>, text: &[u8], marks: &[Mark]) {
        if self.is_full || !marks.iter().any(|mark| self.is_wanted(*mark)) {
            return;
        }
        let text: Arc<[u8]> = text.into();
        for mark in marks.iter().copied().filter(|mark| self.is_wanted(*mark)).collect::<Vec<_>>() {
            let kept = RetainedTest { number, bytes: bytes.clone(), text: text.clone(), mark };
            self.held += kept.held();
            self.kept.push(kept);
        }
        while self.held as u64 > self.room {
            if self.depth == 0 {
                self.is_full = true;
                return;
            }
            self.depth /= 2;
            let mut kept = std::mem::take(&mut self.kept);
            kept.retain(|line| self.is_wanted(line.mark));
            self.held = kept.iter().map(RetainedTest::held).sum();
            self.kept = kept;
        }
    }

    fn is_wanted(&self, mark: Mark) -> bool {
        match mark.role {
            Role::Totals | Role::Name => true,
            // Runners name the groups and files of tests that pass, too.
            Role::Heading => self.depth > 0,
            Role::Message | Role::Explanation => mark.depth <= self.depth,
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}
