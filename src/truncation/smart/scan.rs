//! Finds the lines that matter, and the lines around them, while a text streams through.
//!
//! Lines are judged one after the other, so the result does not depend on how the text was split. Memory is bounded: of similar
//! lines only the first and the last are remembered, and when the memory is full, the least important lines are dropped.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::line_fingerprint::{template, what_failed, without_names};
use super::query::{self, Query};
use super::retained::{Counts, FIRST, Finding, LAST, Memory, place_of};
use super::rules::{Rules, Verdict};
use super::stack_trace::{Owner, frame, indent, is_continuation};
use crate::text::terminal::clean_line;
use crate::text::terminal::source_map::{Mark, Origins};
use crate::util::sort::sort_by_key;

/// Bytes that are collected before lines are judged.
const BATCH: usize = 128 * 1024;
/// Only the start of a longer line is read.
const MAX_LENGTH: usize = 16 * 1024;
/// How far back the lines before a finding are looked for, in bytes. Less than [`MAX_LENGTH`], so that a long line that was
/// not kept looks like one that was.
const BACK: usize = 15 * 1024;
/// How many lines back the one is looked for that indented lines belong to.
const HEADER_LINES: usize = 64;
/// Lines of a trace that are followed.
const TRACE: u16 = 48;
/// Lines on each side of a grave finding that are remembered for the ranking to choose from.
const CONTEXT: u16 = 160;
/// How much less a line is worth that is only near a finding, and again for each finding of the same kind before.
const FAR: u16 = 500;
/// Weight of a line for each word of the question in it, when some must be forgotten.
const WORD: u16 = 100;
/// Maximum number of kinds of lines that are distinguished; all further ones count as one.
const KINDS: usize = 8 * 1024;

/// Reads an output line by line.
#[derive(Debug, Clone)]
pub struct Scanner {
    rules: Arc<Rules>,
    /// The recent lines that may still be needed as context, and the lines that are not judged yet.
    buffer: Vec<u8>,
    /// Where the first line begins that is not judged yet.
    next: usize,
    /// Where the buffer begins in the text.
    base: u64,
    lines: u64,
    /// The rest of a long line goes past.
    is_skipping: bool,
    follow: Follow,
    wide: Wide,
    memory: Memory,
    asked: Option<Asked>,
    /// The first and the last line of the latest stretch that is remembered without a gap.
    covered: (u64, u64),
    /// Where the lines in the buffer come from.
    origins: Origins,
}

/// The lines that hold words of a question, remembered by the set of those words.
#[derive(Debug, Clone)]
struct Asked {
    query: Arc<Query>,
    memory: Memory,
    /// The latest match, and how many lines after it are still remembered.
    set: u64,
    ordinal: u32,
    steps_left: u16,
}

/// Lines that were found, and how many of each kind there were.
pub(super) type Findings = (Vec<Finding>, Counts);

/// Everything that was found in an output.
pub(super) struct Found {
    pub findings: Vec<Finding>,
    /// How many lines of each kind there were.
    pub counts: Counts,
    /// The question, and the lines that hold words of it.
    pub asked: Option<(Arc<Query>, Findings)>,
}

/// The lines after a finding.
#[derive(Debug, Clone, Copy, Default)]
struct Follow {
    is_on: bool,
    verdict: Option<Verdict>,
    kind: u64,
    ordinal: u32,
    steps: u16,
    frames: u16,
}

/// The lines after a grave finding that are remembered for the ranking to choose from, whatever is found among them.
#[derive(Debug, Clone, Copy, Default)]
struct Wide {
    weight: u16,
    kind: u64,
    ordinal: u32,
    steps_left: u16,
}

impl Scanner {
    /// Judges by these rules, and looks for the words of a question.
    pub fn new(rules: Arc<Rules>, query: Option<Arc<Query>>) -> Self {
        let asked = query.map(|query| Asked {
            query,
            memory: Memory::default(),
            set: 0,
            ordinal: 0,
            steps_left: 0,
        });
        Scanner {
            rules,
            asked,
            buffer: Vec::new(),
            next: 0,
            base: 0,
            lines: 0,
            is_skipping: false,
            follow: Follow::default(),
            wide: Wide::default(),
            memory: Memory::default(),
            covered: (0, 0),
            origins: Origins::default(),
        }
    }

    /// Says that a line, or the rest of one, that comes next is from there.
    pub fn note(&mut self, line: u64, byte: u64, mark: Mark) {
        self.origins.note(line, byte, mark);
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(BATCH) {
            let bytes = self.skip(bytes);
            self.buffer.extend_from_slice(bytes);
            if self.buffer.len() - self.next >= BATCH {
                self.judge_lines();
            }
        }
    }

    /// The rules that lines are judged by.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Everything that was found, as if the text ended here.
    pub(super) fn findings(&self) -> Found {
        let without_findings = |asked: &Asked| Asked {
            query: Arc::clone(&asked.query),
            memory: asked.memory.counts_alone(),
            ..*asked
        };
        let mut end = Scanner {
            rules: Arc::clone(&self.rules),
            buffer: self.buffer.clone(),
            follow: self.follow,
            memory: self.memory.counts_alone(),
            asked: self.asked.as_ref().map(without_findings),
            origins: self.origins.clone(),
            ..*self
        };
        end.judge_lines();
        end.judge_rest();
        let (findings, counts) = self.together(&self.memory, &end.memory);
        let asked = self.asked.as_ref().zip(end.asked.as_ref()).map(|(asked, end)| {
            (Arc::clone(&asked.query), self.together(&asked.memory, &end.memory))
        });
        Found { findings, counts, asked }
    }

    /// Returns all that is remembered, with the findings at the end.
    fn together(&self, memory: &Memory, end: &Memory) -> Findings {
        let is_kept = |finding: &&Finding| {
            let count = end.kinds.get(&finding.kind).map_or(0, |kind| kind.count);
            finding.ordinal < FIRST || finding.ordinal + LAST as u32 >= count
        };
        let mut findings: Vec<Finding> =
            memory.all().chain(end.all()).filter(is_kept).cloned().collect();
        if self.is_skipping {
            let under_way = findings.iter_mut().filter(|finding| finding.line == self.lines + 1);
            under_way.for_each(|finding| finding.lengthen(self.base, &self.origins));
        }
        sort_by_key(&mut findings, |it| (it.line, it.less, it.kind, it.ordinal));
        let mut counts = Counts::new();
        counts.extend(end.kinds.iter().map(|(kind, known)| (*kind, known.count)));
        (findings, counts)
    }

    /// Leaves out what belongs to a long line of which enough was seen.
    fn skip<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if !self.is_skipping {
            return bytes;
        }
        let Some(at) = memchr(b'\n', bytes) else {
            self.base += bytes.len() as u64;
            self.origins.forget_before(self.base);
            return &[];
        };
        self.base += at as u64;
        self.lines += 1;
        self.is_skipping = false;
        self.memory.lengthen(self.lines, self.base, &self.origins);
        if let Some(asked) = &mut self.asked {
            asked.memory.lengthen(self.lines, self.base, &self.origins);
        }
        // The next line begins after a break, like any other.
        self.buffer.push(b'\n');
        self.next = 1;
        bytes.get(at + 1..).unwrap_or_default()
    }

    fn judge_lines(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let fresh = buffer.get(self.next..).unwrap_or_default();
        let end = memrchr(b'\n', fresh).map_or(self.next, |at| self.next + at + 1);
        self.judge_until(&buffer, end);
        self.buffer = buffer;
        if self.buffer.len() - self.next > MAX_LENGTH {
            // The start of a long line.
            let start = self.next;
            let buffer = std::mem::take(&mut self.buffer);
            self.judge(&buffer, start, buffer.len());
            self.base += buffer.len() as u64;
            self.next = 0;
            self.is_skipping = true;
        }
        let past = self.next.saturating_sub(BACK + 1);
        self.buffer.drain(..past);
        self.base += past as u64;
        self.next -= past;
        self.origins.forget_before(self.base);
    }

    fn judge_rest(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if self.next < buffer.len() {
            self.judge(&buffer, self.next, buffer.len());
        }
    }

    fn judge_until(&mut self, buffer: &[u8], end: usize) {
        let lines = buffer.get(..end).unwrap_or_default();
        let mut at = self.next;
        while at < end {
            let start = if self.is_following() {
                at
            } else {
                let Some(word) = self.next_word(lines, at) else {
                    self.lines += breaks(lines, at, end);
                    break;
                };
                let before = lines.get(at..word - 1).unwrap_or_default();
                let start = memrchr(b'\n', before).map_or(at, |found| at + found + 1);
                self.lines += breaks(lines, at, start);
                start
            };
            let rest = lines.get(start..).unwrap_or_default();
            let line_end = memchr(b'\n', rest).map_or(end, |found| start + found);
            self.judge(lines, start, line_end);
            self.lines += 1;
            at = line_end + 1;
        }
        self.next = end;
    }

    fn is_following(&self) -> bool {
        self.follow.is_on
            || self.wide.steps_left > 0
            || self.asked.as_ref().is_some_and(|asked| asked.steps_left > 0)
    }

    /// Where the first word of a rule or of the question ends.
    fn next_word(&self, lines: &[u8], at: usize) -> Option<usize> {
        let of_rule = self.rules.next_word(lines, at);
        let Some(asked) = &self.asked else { return of_rule };
        let before = of_rule.and_then(|end| lines.get(..end)).unwrap_or(lines);
        asked.query.next_word(before, at).or(of_rule)
    }

    /// Looks at one line: [`Scanner::lines`] came before it.
    fn judge(&mut self, buffer: &[u8], start: usize, end: usize) {
        let raw = buffer.get(start..end.min(start + MAX_LENGTH)).unwrap_or_default();
        let cleaned = plain(raw);
        let line = trimmed(&cleaned);
        self.look_for_words(buffer, start..end, line);
        let verdict = self.rules.judge(line);
        let is_remembered = match verdict {
            Some(verdict) => self.remember(buffer, start..end, line, verdict),
            None => self.follow.is_on && self.follow_on(buffer, start..end, line),
        };
        self.step_wide(buffer, start..end, is_remembered);
    }

    /// Remembers a line that holds words of the question, and the lines around it.
    fn look_for_words(&mut self, buffer: &[u8], place: std::ops::Range<usize>, line: &[u8]) {
        let Some(mut asked) = self.asked.take() else { return };
        let set = asked.query.words_in(line);
        let number = self.lines + 1;
        let is_known = asked.memory.kinds.len() < KINDS || asked.memory.kinds.contains_key(&set);
        if set != 0 && is_known {
            let known = asked.memory.kinds.entry(set).or_default();
            let ordinal = known.count;
            known.count = known.count.saturating_add(1);
            let weight = WORD * set.count_ones().min(8) as u16;
            let found = self.finding(buffer, place.clone(), number, set, ordinal, weight, 0);
            (asked.set, asked.ordinal, asked.steps_left) = (set, ordinal, 0);
            if ordinal < FIRST {
                asked.steps_left = query::AFTER;
                let above = self.lines_above(buffer, place.start).zip(1u16..);
                for (place, step) in above.take(query::BEFORE.into()) {
                    let line = number - u64::from(step);
                    asked.memory.add(self.finding(buffer, place, line, set, ordinal, weight, step));
                }
                asked.memory.add(found);
            } else {
                asked.memory.remember_last(found);
            }
        } else if asked.steps_left > 0 {
            let less = query::AFTER - asked.steps_left + 1;
            let near = self.finding(buffer, place, number, asked.set, asked.ordinal, WORD, less);
            asked.memory.add(near);
            asked.steps_left -= 1;
        }
        self.asked = Some(asked);
    }

    fn remember(
        &mut self,
        buffer: &[u8],
        place: std::ops::Range<usize>,
        line: &[u8],
        verdict: Verdict,
    ) -> bool {
        let mut named = Vec::new();
        without_names(what_failed(line), &mut named);
        let mut kind = template(&named) ^ u64::from(verdict.weight);
        if self.memory.kinds.len() >= KINDS && !self.memory.kinds.contains_key(&kind) {
            kind = u64::from(verdict.weight);
        }
        let known = self.memory.kinds.entry(kind).or_default();
        let ordinal = known.count;
        known.count = known.count.saturating_add(1);
        if ordinal >= FIRST {
            let weight = verdict.weight;
            let finding = self.finding(buffer, place, self.lines + 1, kind, ordinal, weight, 0);
            self.memory.remember_last(finding);
            self.follow.is_on = false;
            return false;
        }
        let header = self.header(buffer, place.start, indent(line));
        let is_quiet = header.as_ref().is_some_and(|(header, _)| {
            self.rules.is_quiet(buffer.get(header.clone()).unwrap_or_default())
        });
        let verdict = if is_quiet { verdict.quieter() } else { verdict };
        if let Some((place, steps)) = header {
            let line = self.lines - steps;
            let header = self.finding(buffer, place, line, kind, ordinal, verdict.weight, 40);
            self.memory.add(header);
        }
        self.explain_before(buffer, place.start, verdict, (kind, ordinal));
        let finding = self.finding(buffer, place, self.lines + 1, kind, ordinal, verdict.weight, 0);
        self.memory.add(finding);
        self.follow = Follow {
            is_on: verdict.after > 0 || verdict.weight >= 600,
            verdict: Some(verdict),
            kind,
            ordinal,
            ..Follow::default()
        };
        if is_wide(verdict, ordinal) {
            let weight = verdict.weight;
            self.wide = Wide { weight, kind, ordinal, steps_left: CONTEXT + 1 };
        }
        true
    }

    /// Remembers a line for the ranking if it is near a grave finding and not remembered already.
    fn step_wide(&mut self, buffer: &[u8], place: std::ops::Range<usize>, is_remembered: bool) {
        let Some(steps_left) = self.wide.steps_left.checked_sub(1) else { return };
        self.wide.steps_left = steps_left;
        let Wide { weight, kind, ordinal, .. } = self.wide;
        if !is_remembered {
            let less = far(CONTEXT - steps_left, ordinal);
            let line = self.lines + 1;
            let finding = self.finding(buffer, place, line, kind, ordinal, weight, less);
            self.memory.add(finding);
            self.cover(line);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn finding(
        &self,
        buffer: &[u8],
        place: std::ops::Range<usize>,
        line: u64,
        kind: u64,
        ordinal: u32,
        weight: u16,
        less: u16,
    ) -> Finding {
        let text =
            buffer.get(place.start..place.end.min(place.start + MAX_LENGTH)).unwrap_or_default();
        let is_whole = text.len() == place.len();
        let text = text.strip_suffix(b"\r").filter(|_| is_whole).unwrap_or(text);
        let end = if is_whole { place.start + text.len() } else { place.end };
        let (start, end) = (self.base + place.start as u64, self.base + end as u64);
        Finding {
            line,
            start,
            end,
            place: place_of(&self.origins, line, start, end),
            text: text.into(),
            kind,
            ordinal,
            weight,
            less,
        }
    }

    /// The line that an indented one belongs to, and how many lines are between them.
    fn header(
        &self,
        buffer: &[u8],
        start: usize,
        indented: usize,
    ) -> Option<(std::ops::Range<usize>, u64)> {
        if indented == 0 {
            return None;
        }
        let mut above = self.lines_above(buffer, start).take(HEADER_LINES).zip(0..);
        above.find(|(place, _)| {
            let cleaned = plain(buffer.get(place.clone()).unwrap_or_default());
            let text = trimmed(&cleaned);
            !text.is_empty() && indent(text) < indented
        })
    }

    /// The lines before a place, from the nearest back, as far as they are looked at.
    fn lines_above<'a>(
        &self,
        buffer: &'a [u8],
        start: usize,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + use<'a> {
        let floor = start.saturating_sub(BACK);
        let is_start = floor == 0 && self.base == 0;
        let mut end = start;
        std::iter::from_fn(move || {
            let last = end.checked_sub(1).filter(|last| *last >= floor)?;
            let from = match memrchr(b'\n', buffer.get(floor..last)?) {
                Some(at) => floor + at + 1,
                None if is_start => 0,
                None => return None,
            };
            end = from;
            Some(from..last)
        })
    }

    /// The lines before a finding.
    fn explain_before(
        &mut self,
        buffer: &[u8],
        start: usize,
        verdict: Verdict,
        (kind, ordinal): (u64, u32),
    ) {
        let wide = if is_wide(verdict, ordinal) { CONTEXT } else { 0 };
        let count = u16::from(verdict.before).max(wide);
        let above = self.lines_above(buffer, start).take(count.into());
        let (covered_from, covered_to) = self.covered;
        let mut first = self.lines + 1;
        for (place, step) in above.zip(0u16..) {
            // Blank lines are kept too: a gap in their place would take more room and end a block.
            let is_far = step >= u16::from(verdict.before);
            let line = self.lines - u64::from(step);
            let less = if is_far { far(step, ordinal) } else { 100 + 40 * step };
            first = line;
            if is_far && (covered_from..=covered_to).contains(&line) {
                // Remembered for an earlier finding already.
                continue;
            }
            let finding = self.finding(buffer, place, line, kind, ordinal, verdict.weight, less);
            self.memory.add(finding);
        }
        self.cover(first);
    }

    /// Notes that the lines from this one to the current one are remembered.
    fn cover(&mut self, first: u64) {
        let is_joined = first <= self.covered.1 + 1;
        self.covered = (if is_joined { first.min(self.covered.0) } else { first }, self.lines + 1);
    }

    /// Remembers a line that explains the latest finding. Returns false if the explanation ended before it.
    fn follow_on(&mut self, buffer: &[u8], place: std::ops::Range<usize>, line: &[u8]) -> bool {
        let Some(verdict) = self.follow.verdict else { return false };
        let follow = &mut self.follow;
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        let is_near = follow.steps < u16::from(verdict.after);
        let goes_on = verdict.weight >= 600
            && follow.steps < TRACE
            && !is_blank
            && (indent(line) > 0 || is_continuation(line));
        if !is_near && !goes_on {
            follow.is_on = false;
            return false;
        }
        let less = match frame(line) {
            Some(Owner::User) => {
                follow.frames += 1;
                40 + 6 * follow.frames.min(30)
            }
            Some(Owner::Library) => 320 + 4 * follow.steps,
            None if is_near => 40 + 12 * follow.steps.min(20),
            None => 160 + 8 * follow.steps,
        };
        follow.steps += 1;
        let (kind, ordinal) = (follow.kind, follow.ordinal);
        let finding =
            self.finding(buffer, place, self.lines + 1, kind, ordinal, verdict.weight, less);
        self.memory.add(finding);
        self.cover(self.lines + 1);
        true
    }
}

/// Returns how much less a line is worth that is `step` lines from a finding. The surroundings of the first of a kind stay longest.
fn far(step: u16, ordinal: u32) -> u16 {
    FAR * (1 + ordinal as u16) + 6 * step
}

/// Returns true if enough is kept around a finding for the ranking to choose from.
fn is_wide(verdict: Verdict, ordinal: u32) -> bool {
    verdict.weight >= 600 && ordinal < 6
}

fn breaks(bytes: &[u8], from: usize, to: usize) -> u64 {
    memchr_iter(b'\n', bytes.get(from..to).unwrap_or_default()).count() as u64
}

/// A line without the escapes of a terminal.
pub(in crate::truncation) fn plain(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(0x1b, 8, raw).is_none() && memchr_iter(b'\r', raw).nth(1).is_none() {
        return Cow::Borrowed(raw);
    }
    let text = String::from_utf8_lossy(raw);
    Cow::Owned(clean_line(&text).into_owned().into_bytes())
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests;
