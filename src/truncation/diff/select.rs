//! Selects the lines of a diff to show: commits, file names and hunk headers first, then whole hunks, then parts of
//! hunks.

use std::collections::BTreeSet;

use super::retained::{Part, RetainedLine};
use crate::truncation::lines::{Budget, Chosen, Lines};
use crate::util::sort::sort_by_key;

/// Percentages of the remaining budget for commits, file names and hunk headers.
const COMMITS: u64 = 50;
const FILES: u64 = 85;
const HEADS: u64 = 50;
/// A hunk that takes a larger percentage of the remaining budget is postponed.
const MODEST: u64 = 12;
/// Gaps of at most this many lines are filled if there is room.
const SMALL: u64 = 3;

/// Returns the numbers of the lines to show.
pub(super) fn choose(
    kept: &[RetainedLine],
    lines: &Lines,
    total: u64,
    budget: Budget,
) -> BTreeSet<u64> {
    let mut chosen = Chosen::new(lines, total, budget);
    let of = |part: Part| kept.iter().filter(move |kept| kept.part == part);
    for (part, share) in [(Part::Commit, COMMITS), (Part::File, FILES), (Part::Note, FILES)] {
        let limit = chosen.share(share);
        for line in of(part) {
            chosen.add(line.number, limit);
        }
    }
    // The first hunk of every file, then the second, and so on: each file gets its turn.
    let mut heads: Vec<&RetainedLine> = of(Part::Head).collect();
    sort_by_key(&mut heads, |head| (head.round, head.number));
    let limit = chosen.share(HEADS);
    for head in &heads {
        chosen.add(head.number, limit);
    }
    let body = |head: &RetainedLine| {
        let from = kept.partition_point(|line| line.number <= head.number);
        let hunk = head.hunk;
        let lines = kept.get(from..).unwrap_or_default().iter();
        lines
            .take_while(move |line| line.hunk == hunk && line.part == Part::Body)
            .map(|line| line.number)
    };
    let all = chosen.all();
    for share in [MODEST, 100] {
        for head in &heads {
            let limit = chosen.share(share);
            chosen.add_all(std::iter::once(head.number).chain(body(head)), limit);
        }
    }
    for head in &heads {
        if !std::iter::once(head.number).chain(body(head)).all(|line| chosen.add(line, all)) {
            break;
        }
    }
    for line in kept {
        if !chosen.add(line.number, all) {
            break;
        }
    }
    chosen.close_gaps(SMALL);
    chosen.numbers
}
