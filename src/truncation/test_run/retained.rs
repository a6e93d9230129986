//! The lines of a test run that may be shown, in bounded memory.
//!
//! When memory runs out, the number of lines kept of every block is halved, and the lines kept so far are thinned out by
//! the same rule. The result therefore depends on the text alone, not on how it is split into chunks.

use std::ops::Range;
use std::sync::Arc;

use super::record::{Mark, Role};
use crate::truncation::retained::{Held, Rule, Thinned};

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

impl Held for RetainedTest {
    fn held(&self) -> usize {
        size_of::<RetainedTest>() + self.text.len()
    }
}

/// The number of lines that are kept of a block.
#[derive(Debug, Clone)]
struct Depth(u32);

impl Depth {
    fn keeps_mark(&self, mark: Mark) -> bool {
        match mark.role {
            Role::Totals | Role::Name => true,
            // Runners name the groups and files of tests that pass, too.
            Role::Heading => self.0 > 0,
            Role::Message | Role::Explanation => mark.depth <= self.0,
        }
    }
}

impl Rule<RetainedTest> for Depth {
    fn keeps(&self, line: &RetainedTest) -> bool {
        self.keeps_mark(line.mark)
    }

    fn tighten(&mut self) -> bool {
        let is_least = self.0 == 0;
        self.0 /= 2;
        !is_least
    }
}

#[derive(Debug, Clone)]
pub(super) struct RetainedTests {
    kept: Thinned<RetainedTest, Depth>,
}

impl RetainedTests {
    /// Creates storage that suffices for a preview of `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let room = max_bytes.saturating_mul(16).clamp(ROOM.0, ROOM.1);
        RetainedTests { kept: Thinned::new(room, Depth(MAX_DEPTH)) }
    }

    pub(crate) fn kept(&self) -> &[RetainedTest] {
        self.kept.items()
    }

    /// Adds the next line.
    pub(crate) fn take(&mut self, number: u64, bytes: Range<u64>, text: &[u8], marks: &[Mark]) {
        let Some(depth) = self.kept.rule() else { return };
        let marks: Vec<Mark> =
            marks.iter().copied().filter(|mark| depth.keeps_mark(*mark)).collect();
        if marks.is_empty() {
            return;
        }
        let text: Arc<[u8]> = text.into();
        let line = |mark| RetainedTest { number, bytes: bytes.clone(), text: text.clone(), mark };
        self.kept.extend(marks.into_iter().map(line));
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.kept.held()
    }
}
