//! The lines of a diff that may be shown, in bounded memory.
//!
//! When memory runs out, the amount kept of every hunk is reduced, step by step, and the lines kept so far are thinned
//! out by the same rule. The result therefore depends on the text alone, not on how it is split into chunks.

use std::ops::Range;

use crate::truncation::notice::Tally;
use crate::truncation::retained::{Held, Rule, Thinned};

/// Minimum and maximum of the memory used, in bytes.
const ROOM: (u64, u64) = (1 << 19, 1 << 22);

/// The role of a line in a diff, most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Hash and subject of a commit.
    Commit,
    /// The name of a file.
    File,
    /// A change of a whole file: new, deleted, renamed, binary.
    Note,
    /// The header of a hunk.
    Head,
    /// A line of a hunk.
    Body,
    /// Any other line.
    Other,
}

/// A line that may be shown.
#[derive(Debug, Clone)]
pub(super) struct RetainedLine {
    /// Line number, from 1.
    pub number: u64,
    /// Byte range in the text.
    pub bytes: Range<u64>,
    /// The start of the line, without its break.
    pub text: Box<[u8]>,
    pub part: Part,
    /// Index of its hunk in the whole text.
    pub hunk: u64,
    /// Index of its hunk in the file.
    pub round: u32,
    /// Number of bytes of the hunk before the line.
    pub depth: u64,
    /// Changes in the text before the line.
    pub before: Tally,
    /// Changes in the line itself.
    pub own: Tally,
}

impl RetainedLine {
    pub(crate) fn after(&self) -> Tally {
        let Tally { files, added, removed } = self.own;
        Tally {
            files: self.before.files + files,
            added: self.before.added + added,
            removed: self.before.removed + removed,
        }
    }

    pub(crate) fn begins_file(&self) -> bool {
        self.own.files > 0
    }

    pub(crate) fn begins_hunk(&self) -> bool {
        self.part == Part::Head
    }
}

impl Held for RetainedLine {
    fn held(&self) -> usize {
        size_of::<RetainedLine>() + self.text.len()
    }
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Caps {
    /// Number of bytes per hunk.
    body: u64,
    /// Number of hunk headers per file.
    heads: u32,
    /// True if lines of other roles are kept.
    others: bool,
}

fn caps(level: usize, room: u64) -> Caps {
    let row = |body, heads, others| Caps { body, heads, others };
    match level {
        0 => row(room, u32::MAX, true),
        1 => row(64 << 10, u32::MAX, true),
        2 => row(16 << 10, u32::MAX, true),
        3 => row(4 << 10, u32::MAX, false),
        4 => row(1 << 10, 1 << 10, false),
        5 => row(1 << 10, 1 << 9, false),
        6 => row(1 << 10, 1 << 8, false),
        7 => row(256, 1 << 6, false),
        8 => row(0, 1 << 4, false),
        9 => row(0, 1 << 2, false),
        10 => row(0, 1, false),
        _ => row(0, 0, false),
    }
}
/// The level from which on nothing new is kept.
const LAST_LEVEL: usize = 11;

/// The rule by which hunks are thinned out.
#[derive(Debug, Clone)]
struct Level {
    number: usize,
    room: u64,
}

impl Rule<RetainedLine> for Level {
    fn keeps(&self, line: &RetainedLine) -> bool {
        let caps = caps(self.number, self.room);
        match line.part {
            Part::Commit | Part::File | Part::Note => true,
            Part::Head => line.round < caps.heads,
            Part::Body => line.round < caps.heads && line.depth < caps.body,
            Part::Other => caps.others,
        }
    }

    fn tighten(&mut self) -> bool {
        let is_last = self.number == LAST_LEVEL;
        self.number += usize::from(!is_last);
        !is_last
    }
}

#[derive(Debug, Clone)]
pub(super) struct RetainedLines {
    kept: Thinned<RetainedLine, Level>,
    all: Tally,
    hunks: u64,
}

impl RetainedLines {
    /// Creates storage that suffices for a preview of `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let room = max_bytes.saturating_mul(16).clamp(ROOM.0, ROOM.1);
        let kept = Thinned::new(room, Level { number: 0, room });
        RetainedLines { kept, all: Tally::default(), hunks: 0 }
    }

    pub(crate) fn kept(&self) -> &[RetainedLine] {
        self.kept.items()
    }

    /// Returns the changes in the whole text.
    pub(crate) fn all(&self) -> Tally {
        self.all
    }

    pub(crate) fn hunks(&self) -> u64 {
        self.hunks
    }

    /// Adds the next line. `line.before` holds the changes before it.
    pub(crate) fn take(&mut self, mut line: RetainedLine, text: &[u8]) {
        line.before = self.all;
        self.all = line.after();
        self.hunks += u64::from(line.begins_hunk());
        if self.kept.rule().is_some_and(|level| level.keeps(&line)) {
            line.text = text.into();
            self.kept.extend([line]);
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.kept.held()
    }
}
