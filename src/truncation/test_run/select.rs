//! Selects the lines of a test run to show: the totals, a line with the name of every failure, the messages, and then the
//! explanations line by line, so that every failure gets its share.

use std::collections::{BTreeSet, HashMap};

use memchr::memmem;

use super::WITHIN;
use super::entries::Entry;
use super::record::Role;
use super::retained::RetainedTest;
use crate::truncation::lines::{Budget, Chosen, Lines};
use crate::util::sort::sort_by_key;

/// Percentage of the budget for totals.
const TOTALS: u64 = 25;
/// Gaps of at most this many lines are filled if there is room.
const SMALL: u64 = 3;

/// The lines of one failure.
#[derive(Debug, Default)]
struct Parts<'a> {
    names: Vec<&'a RetainedTest>,
    headings: Vec<&'a RetainedTest>,
    messages: Vec<&'a RetainedTest>,
    /// The lines that explain it, those next to the message first.
    explanation: Vec<&'a RetainedTest>,
}

impl Parts<'_> {
    /// Sorts the explanation. A name above it is shown with it, also if another line has more of the name.
    fn order(&mut self) {
        let message = self.messages.first().map_or(0, |line| line.number);
        sort_by_key(&mut self.explanation, |line| (line.number.abs_diff(message), line.number));
        let above: Vec<&RetainedTest> =
            self.names.iter().copied().filter(|name| self.is_explained_below(name)).collect();
        self.explanation.splice(0..0, above);
    }

    /// Returns true if the lines after a name explain the failure.
    fn is_explained_below(&self, name: &RetainedTest) -> bool {
        let mut lines = self.explanation.iter().chain(&self.messages);
        lines.any(|line| line.mark.block == name.mark.block && line.number != name.number)
    }

    /// Returns the line that names the failure, of those that have the most of its name: the one above its explanation, or
    /// the last one, which is usually in a list.
    fn name(&self, id: &str, place: Place) -> Option<u64> {
        let last_part = id.rsplit(WITHIN).next().unwrap_or(id);
        let has = |part: &str| {
            let finder = memmem::Finder::new(part);
            let all = self.names.iter().filter(|name| finder.find(&name.text).is_some());
            Some(all.copied().collect::<Vec<_>>()).filter(|all| !all.is_empty())
        };
        let names = has(id).or_else(|| has(last_part)).unwrap_or_else(|| self.names.clone());
        let last = names.last();
        let name = match place {
            Place::AboveExplanation => {
                names.iter().find(|name| self.is_explained_below(name)).or(last)
            }
            Place::InList => last,
        };
        name.map(|name| name.number)
    }
}

/// Which of the lines that name a failure is shown.
#[derive(Debug, Clone, Copy)]
enum Place {
    AboveExplanation,
    InList,
}

/// Returns the numbers of the lines to show, and the number of failures that they name.
pub(super) fn choose(
    entries: &[Entry],
    kept: &[RetainedTest],
    lines: &Lines,
    total: u64,
    budget: Budget,
) -> (BTreeSet<u64>, u64) {
    let parts = parts(entries, kept);
    let mut best: Option<(Chosen<'_>, u64)> = None;
    // The lines of a list follow each other, and need no gap line each.
    for place in [Place::AboveExplanation, Place::InList] {
        let mut chosen = Chosen::new(lines, total, budget);
        let limit = chosen.share(TOTALS);
        for line in kept.iter().rev().filter(|line| line.mark.role == Role::Totals) {
            chosen.add(line.number, limit);
        }
        let all = chosen.all();
        let pairs = parts.iter().zip(entries);
        let names = pairs.filter_map(|(parts, entry)| parts.name(&entry.failure.id, place));
        let named = names.filter(|name| chosen.add(*name, all)).count() as u64;
        if best.as_ref().is_none_or(|(_, max_named)| named > *max_named) {
            best = Some((chosen, named));
        }
        if named == entries.len() as u64 {
            break;
        }
    }
    let Some((mut chosen, named)) = best else { return (BTreeSet::new(), 0) };
    let all = chosen.all();
    for line in parts.iter().flat_map(|parts| parts.headings.iter().chain(&parts.messages)) {
        chosen.add(line.number, all);
    }
    let deepest = parts.iter().map(|parts| parts.explanation.len()).max().unwrap_or(0);
    for depth in 0..deepest {
        for line in parts.iter().filter_map(|parts| parts.explanation.get(depth)) {
            chosen.add(line.number, all);
        }
    }
    chosen.close_gaps(SMALL);
    (chosen.numbers, named)
}

fn parts<'a>(entries: &[Entry], kept: &'a [RetainedTest]) -> Vec<Parts<'a>> {
    let mut owners = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        for block in &entry.blocks {
            // The first failure of a group is shown below its heading.
            owners.entry(*block).or_insert(at);
        }
    }
    let mut parts: Vec<Parts<'a>> = entries.iter().map(|_| Parts::default()).collect();
    for line in kept {
        let Some(own) = owners.get(&line.mark.block).and_then(|at| parts.get_mut(*at)) else {
            continue;
        };
        match line.mark.role {
            Role::Name => own.names.push(line),
            Role::Heading => own.headings.push(line),
            Role::Message => own.messages.push(line),
            // A blank line fills a gap at best.
            Role::Explanation if line.text.trim_ascii().is_empty() => {}
            Role::Explanation => own.explanation.push(line),
            Role::Totals => {}
        }
    }
    for own in &mut parts {
        // The line that names a test without a result only says that it begins.
        if own.names.is_empty() {
            own.names.extend(own.explanation.first());
        }
        own.order();
    }
    parts
}
