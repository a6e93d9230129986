//! Chooses the runs of lines to replace, and the texts that replace them.
//!
//! A run must be longer than its pointer. Compared with the last result of the same call, shorter runs are replaced too, because
//! one line at the top names that result, and the pointers need not.

use std::collections::{HashMap, HashSet};

use super::guards::{self, guarded};
use super::index::{Beside, Index, Keys, Source, WINDOW};
use super::line::{Lines, Mark};
use super::{Edit, Numbering, Target};
use crate::text::line_hash::{form, line_hash};
use crate::truncation::smart::rules::Rules;

/// Lines and bytes of a run that repeats the last result of the same call.
const REPEATED: (usize, usize) = (WINDOW, 48);

pub(crate) struct Find<'a> {
    pub lines: &'a Lines<'a>,
    pub min_lines: usize,
    pub min_bytes: usize,
    pub rules: Option<&'a Rules>,
    pub keep: &'a [String],
    pub beside: &'a Beside<'a>,
}

/// A run of lines that is elsewhere, too.
struct Run {
    from: usize,
    to: usize,
    target: Target,
    /// Pointers to the last result of the call need no name of it.
    pointer: String,
}

/// How a text differs from another, in lines.
struct Changes {
    /// Lines that the other one does not have.
    new: usize,
    /// Those of them that it has with other numbers.
    numbers: usize,
    /// Lines of the other one that this one has not, beyond those that others have replaced.
    gone: usize,
}

/// Counts the lines before lines that they follow in the source.
fn moved(runs: &[Run], id: u32) -> usize {
    let mut end = 0;
    let mut moved = 0;
    for run in runs.iter().filter(|run| run.target.id == id) {
        let lines = run.to - run.from;
        if run.target.line < end {
            moved += lines;
        } else {
            end = run.target.line + lines;
        }
    }
    moved
}

/// Compares lines with those of another text, by their hashes, wherever they are and however they are numbered.
fn changes(own: &[u64], others: &[u64]) -> Changes {
    let mut there: HashMap<u64, usize> = HashMap::new();
    others.iter().for_each(|hash| *there.entry(*hash).or_default() += 1);
    let mut take = |hash: &u64| match there.get_mut(hash) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let new: Vec<u64> = own.iter().filter(|hash| !take(hash)).copied().collect();
    let mut forms: HashMap<u16, usize> = HashMap::new();
    for (hash, count) in there {
        *forms.entry(form(hash)).or_default() += count;
    }
    let mut numbers = 0;
    for hash in &new {
        if let Some(count) = forms.get_mut(&form(*hash)).filter(|count| **count > 0) {
            *count -= 1;
            numbers += 1;
        }
    }
    let replaced = new.len() - numbers;
    let gone = forms.values().sum::<usize>().saturating_sub(replaced);
    Changes { new: new.len(), numbers, gone }
}

impl Find<'_> {
    /// The edits of a text; `keys` say which call it is the result of, and of which file it is.
    pub(crate) fn edits(&self, index: &mut Index, keys: Keys) -> Vec<Edit> {
        if self.lines.len() < guards::ENDS * 2 + WINDOW.min(self.min_lines) {
            return Vec::new();
        }
        let repeated = index.repeated(keys, self.beside).map(|source| source.id);
        if !self.has_candidate(index, repeated.is_some()) {
            return Vec::new();
        }
        let stays = guarded(self.lines, self.rules, self.keep);
        let plain = self.runs(index, &stays, None);
        let runs = match index.repeated(keys, self.beside) {
            Some(base) => self.shorter(plain, self.against(index, &stays, base)),
            None => plain,
        };
        let named: HashSet<u32> = runs.iter().map(|run| run.target.id).chain(repeated).collect();
        if !runs.is_empty() {
            named.into_iter().for_each(|id| index.touch(id));
        }
        runs.into_iter().map(edit).collect()
    }

    fn has_candidate(&self, index: &Index, is_repeated: bool) -> bool {
        // A run of that many lines has a window at one of these places.
        let shortest = if is_repeated { REPEATED.0 } else { self.min_lines };
        let mut windows =
            self.lines.hashes.windows(WINDOW).step_by(shortest.saturating_sub(WINDOW) + 1);
        windows.any(|window| index.find(window, self.beside).is_some())
    }

    /// The runs against the last result of the call, the first with the sentence that names it.
    fn against(&self, index: &Index, stays: &[bool], base: &Source) -> Vec<Run> {
        let mut runs = self.runs(index, stays, Some(base.base()));
        let moved = moved(&runs, base.id);
        let Some(first) = runs.iter_mut().find(|run| run.target.id == base.id) else { return runs };
        // No line begins after a line feed at the end, which one of two equal texts may lack.
        let end = line_hash(b"", index.hasher());
        let without_end = |hashes| <[u64]>::strip_suffix(hashes, &[end]).unwrap_or(hashes);
        let (own, there) = (without_end(&self.lines.hashes), without_end(&base.hashes));
        let Changes { new, numbers, gone } = changes(own, there);
        let name = index.name_of(base);
        let total = own.len();
        let verb = if new == 1 { "differs" } else { "differ" };
        let counts = [
            (numbers, "only in numbers"),
            (moved, if moved == 1 { "is in another place" } else { "are in another place" }),
            (gone, if gone == 1 { "of its lines is gone" } else { "of its lines are gone" }),
        ];
        let more: String = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("; {count} {words}"))
            .collect();
        first.pointer = format!(
            "[{new} of {total} lines {verb} from {name} above, to which \"as there\" points{more}]\n{}",
            first.pointer
        );
        runs
    }

    /// The runs that take more away.
    fn shorter(&self, plain: Vec<Run>, against: Vec<Run>) -> Vec<Run> {
        let saved = |runs: &[Run]| -> isize {
            runs.iter()
                .map(|run| self.lines.bytes(run.from, run.to) as isize - run.pointer.len() as isize)
                .sum()
        };
        if saved(&against) > saved(&plain) { against } else { plain }
    }

    fn runs(&self, index: &Index, stays: &[bool], base: Option<u32>) -> Vec<Run> {
        let Lines { hashes, .. } = self.lines;
        let mut runs: Vec<Run> = Vec::new();
        let mut done = 0;
        let mut at = 0;
        while at + WINDOW <= hashes.len() {
            if let Some(blocked) = (at..at + WINDOW).rev().find(|&line| stays[line]) {
                at = blocked + 1;
                continue;
            }
            let Some((source, line)) = index.find(&hashes[at..at + WINDOW], self.beside) else {
                at += 1;
                continue;
            };
            let (from, to, found) = self.extend(source, line, at, done, stays);
            let is_base = base == Some(source.base());
            match self.run(index, source, (from, to, found), is_base) {
                Some(run) => {
                    done = to;
                    at = to;
                    runs.push(run);
                }
                // Windows inside of a run that is too short find the same one.
                None => at += (to.saturating_sub(at + WINDOW - 1)).max(1),
            }
        }
        runs
    }

    /// How far the lines around a window are the same; where it begins and ends here, and where it begins there.
    fn extend(
        &self,
        source: &Source,
        line: usize,
        at: usize,
        done: usize,
        stays: &[bool],
    ) -> (usize, usize, usize) {
        let Lines { hashes, marks, .. } = self.lines;
        let first = source.shown_from(line);
        let mut back = 0;
        while at - back > done
            && line - back > first
            && !stays[at - back - 1]
            && hashes[at - back - 1] == source.hashes[line - back - 1]
        {
            back += 1;
        }
        let (mut from, mut there) = (at - back, line - back);
        let until = source.shown_until(line);
        let mut to = at + WINDOW;
        while to < hashes.len()
            && there + (to - from) < until
            && !stays[to]
            && hashes[to] == source.hashes[there + (to - from)]
        {
            to += 1;
        }
        // Where stretches are numbered in different ways, the one that begins with the window is taken.
        let is_uniform = |from: usize, there: usize, line: usize| {
            marks[line] == source.marks[there + (line - from)]
                || follows(marks[from], marks[line], line - from)
        };
        if (from..to).any(|line| !is_uniform(from, there, line)) {
            (from, there) = (at, line);
            to = (from..to).find(|&line| !is_uniform(from, there, line)).unwrap_or(to);
            let exact = (from..to).take_while(|&at| marks[at] == source.marks[there + (at - from)]);
            let counted = (from..to).take_while(|&at| follows(marks[from], marks[at], at - from));
            to = from + exact.count().max(counted.count());
        }
        (from, to, there)
    }

    fn run(
        &self,
        index: &Index,
        source: &Source,
        (from, to, line): (usize, usize, usize),
        is_base: bool,
    ) -> Option<Run> {
        // A blank line beside numbered ones: the pointer would count places in place of their numbers.
        let is_numbered = |at: &usize| self.lines.marks[*at].number().is_some();
        let (from, to, line) = match ((from..to).find(is_numbered), (from..to).rfind(is_numbered)) {
            (Some(first), Some(last)) => (first, last + 1, line + first - from),
            _ => (from, to, line),
        };
        let (min_lines, min_bytes) =
            if is_base { REPEATED } else { (self.min_lines, self.min_bytes) };
        let (count, bytes) = (to - from, self.lines.bytes(from, to));
        if count < min_lines || bytes < min_bytes {
            return None;
        }
        let there = &source.marks[line..line + count];
        let here = &self.lines.marks[from..to];
        let numbering = if here == there {
            None
        } else if here.iter().all(|mark| mark.number().is_none()) {
            Some(Numbering::None)
        } else if (0..count).all(|at| follows(here[0], here[at], at)) {
            Some(Numbering::From(here[0].0))
        } else {
            return None;
        };
        let (own, theirs) = (range(here, from), range(there, line));
        let pointer = match (is_base, own == theirs) {
            (true, true) => format!("[lines {own}: as there]"),
            (true, false) => format!("[lines {own}: as lines {theirs} there]"),
            (false, _) => {
                let name = index.name_of(source);
                format!("[lines {own}: same as lines {theirs} of {name} above]")
            }
        };
        let target = Target { id: source.id, line, numbering };
        (pointer.len() < bytes).then_some(Run { from, to, target, pointer })
    }
}

/// Returns true if a mark is that of the line `lines` lines later, or if both lines have none.
fn follows(first: Mark, mark: Mark, lines: usize) -> bool {
    match first.number() {
        None => mark.number().is_none(),
        Some(_) => first.later(lines as u32) == Some(mark),
    }
}

/// How a range of lines is called: by the numbers that the lines have, or by their places.
fn range(marks: &[Mark], line: usize) -> String {
    let places = (line as u32 + 1, (line + marks.len()) as u32);
    let (from, to) = match (marks[0].number(), marks[marks.len() - 1].number()) {
        (Some(first), Some(last)) if last.checked_sub(first) == Some(places.1 - places.0) => {
            (first, last)
        }
        _ => places,
    };
    format!("{from}-{to}")
}

fn edit(Run { from, to, target, pointer }: Run) -> Edit {
    Edit { from_line: from, to_line: to, from: 0, to: 0, text: pointer, target: Some(target) }
}
