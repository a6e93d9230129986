//! Reads the output of test runners line by line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, PatternSet, meta};
use serde::Deserialize;

use super::entries::Entry;
use super::record::{Found, Mark, Record};
use super::report::{Counts, Failure, TestRun};
use super::retained::{RetainedTest, RetainedTests};
use super::rules::{Inside, LineEvent, Rule};
use super::runners::RUNNERS;
use super::xml::{XmlFailure, XmlScanner};
use crate::truncation::lazy_regex::LazyRegex;
use crate::truncation::line_buffer::{LineBuffer, RawLine};
use crate::truncation::smart::scan::plain;

/// The rules of all runners in one table, with the index of their runner.
static RULES: LazyLock<Vec<(usize, &'static Rule)>> = LazyLock::new(|| {
    let of = |(at, runner): (usize, &'static super::rules::Runner)| {
        runner.rules.iter().map(move |rule| (at, rule))
    };
    RUNNERS.iter().enumerate().flat_map(of).collect()
});

/// Finds the rules that match a line in one pass, from its start: most lines match none, which shows after a few bytes. A
/// table that does not compile recognizes nothing; a test compiles it.
static SET: LazyLock<Option<meta::Regex>> = LazyLock::new(|| {
    let patterns: Vec<&str> = RULES.iter().map(|(_, rule)| rule.pattern).collect();
    let config = meta::Config::new().match_kind(MatchKind::All).utf8_empty(false);
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    meta::Regex::builder().configure(config).syntax(syntax).build_many(&patterns).ok()
});

/// Returns the indices of the rules that match a line.
fn matches(line: &[u8]) -> PatternSet {
    let mut set = PatternSet::new(RULES.len());
    if let Some(regex) = SET.as_ref() {
        regex.which_overlapping_matches(&Input::new(line).anchored(Anchored::Yes), &mut set);
    }
    set
}

/// The patterns with their groups, compiled when a line matches them first.
static PATTERNS: LazyLock<Vec<LazyRegex>> =
    LazyLock::new(|| RULES.iter().map(|(_, rule)| LazyRegex::new(rule.pattern)).collect());

fn pattern(rule: usize) -> Option<&'static Regex> {
    PATTERNS.get(rule)?.get()
}

/// An event of `go test -json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

/// The output of a test run that is being scanned.
#[derive(Debug, Clone)]
pub struct Scanner {
    lines: LineBuffer,
    /// The record of each runner, by its index in the table.
    records: BTreeMap<usize, Record>,
    blocks: u32,
    memory: RetainedTests,
    xml: XmlScanner,
}

/// A run that was recognized, with what may be shown of it.
#[derive(Debug)]
pub(super) struct Scanned {
    pub run: TestRun,
    pub parts: Parts,
}

#[derive(Debug)]
pub(super) enum Parts {
    /// Lines that runners printed.
    Lines { entries: Vec<Entry>, kept: Vec<RetainedTest> },
    /// Tags of a report in XML.
    Tags(Vec<XmlFailure>),
}

impl Scanner {
    /// Creates a scanner that retains enough for a preview of `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        Scanner {
            lines: LineBuffer::default(),
            records: BTreeMap::new(),
            blocks: 0,
            memory: RetainedTests::new(max_bytes),
            xml: XmlScanner::new(),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        self.xml.push(bytes);
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line| self.read(line));
        self.lines = lines;
    }

    /// Returns the number of bytes retained.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.memory.held()
    }

    /// Returns the run if the text, ending here, is the output of a test runner.
    pub(super) fn finish(&self) -> Option<Scanned> {
        if let Some((dialect, counts, failures)) = self.xml.finish() {
            let failed = failures.iter().map(|failed| &failed.failure);
            let run = run(vec![dialect], counts, failed, false);
            return Some(Scanned { run, parts: Parts::Tags(failures.to_vec()) });
        }
        let mut end = self.clone();
        if let Some(line) = self.lines.last() {
            end.read(line);
        }
        let mut runners = Vec::new();
        let mut counts = Counts::default();
        let mut entries = Vec::new();
        let mut unfinished = false;
        let finished: Vec<_> = end.records.into_values().filter_map(Record::finish).collect();
        let names: Vec<&str> = finished.iter().map(|(runner, ..)| runner.name).collect();
        for (runner, own, failed, is_unfinished) in finished {
            let is_counted_by_other = match runner.inside {
                Inside::No => false,
                Inside::Of(outer) => names.contains(&outer),
                Inside::OfAny => names.len() > 1,
            };
            if is_counted_by_other {
                continue;
            }
            unfinished |= is_unfinished;
            runners.push(runner.name);
            counts.add(Counts { passed: own.passed(), ..own });
            entries.extend(failed);
        }
        if runners.is_empty() {
            return None;
        }
        let run = run(runners, counts, entries.iter().map(|entry| &entry.failure), unfinished);
        let kept = end.memory.kept().to_vec();
        Some(Scanned { run, parts: Parts::Lines { entries, kept } })
    }

    fn read(&mut self, RawLine { number, at, length, text }: RawLine<'_>) {
        let cleaned: Cow<'_, [u8]> = plain(text);
        let marks = match go_event(&cleaned) {
            Some(event) => self.read_event(&event),
            None => self.marks(without_time(&cleaned)),
        };
        if !marks.is_empty() {
            self.memory.take(number, at..at + length, text, &marks);
        }
    }

    fn read_event(&mut self, event: &GoEvent) -> Vec<Mark> {
        let Some(go) = RUNNERS.iter().position(|runner| runner.name == "go") else {
            return Vec::new();
        };
        let record = self.records.entry(go).or_insert_with(|| Record::new(&RUNNERS[go]));
        if !event.package.is_empty() {
            record.at(&event.package, &event.test, &mut self.blocks);
        }
        let line = event.output.strip_suffix('\n').unwrap_or(&event.output);
        self.marks(line.as_bytes())
    }

    /// Lets every runner read the line. Returns what it is to each of them.
    fn marks(&mut self, line: &[u8]) -> Vec<Mark> {
        let matches = matches(line);
        if matches.is_empty() && self.records.is_empty() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(line);
        let mut marks = Vec::new();
        let mut spoken = Vec::new();
        for at in matches.iter().map(|at| at.as_usize()) {
            let Some((runner, rule)) = RULES.get(at) else { continue };
            if spoken.contains(runner) {
                continue;
            }
            let record =
                self.records.entry(*runner).or_insert_with(|| Record::new(&RUNNERS[*runner]));
            let groups = pattern(at).and_then(|pattern| pattern.captures(line));
            let group = |name: &str| {
                let group = groups.as_ref().and_then(|groups| groups.name(name));
                group.map_or(Cow::Borrowed(""), |group| String::from_utf8_lossy(group.as_bytes()))
            };
            if !record.can_apply(rule, &group("id")) {
                continue;
            }
            let (scope, file, number) = (group("scope"), group("file"), group("line"));
            let named = |name: &str| match RUNNERS[*runner].escapes {
                true => Cow::Owned(without_escapes(&group(name))),
                false => group(name),
            };
            let (id, message) = (named("id"), named("message"));
            let indent = group("indent").len();
            let found = Found {
                id: &id,
                scope: &scope,
                message: &message,
                file: &file,
                line: &number,
                indent,
            };
            marks.extend(record.apply(rule.event, &text, &found, &mut self.blocks));
            // The line that begins a section may say something else as well.
            if !matches!(rule.event, LineEvent::Section(_)) {
                spoken.push(*runner);
            }
        }
        for (runner, record) in &mut self.records {
            if !spoken.contains(runner) {
                marks.extend(record.go_on(&text));
            }
        }
        marks
    }
}

fn run<'a>(
    runners: Vec<&'static str>,
    counts: Counts,
    failures: impl Iterator<Item = &'a Failure>,
    unfinished: bool,
) -> TestRun {
    TestRun {
        runners,
        passed: counts.passed(),
        failed: counts.failed,
        skipped: counts.skipped,
        unfinished,
        failures: failures.cloned().collect(),
    }
}

/// Returns the first line of a value of TeamCity that is not blank, without its escapes.
fn without_escapes(value: &str) -> String {
    let mut out = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '|') {
            (_, false) => out.push(letter),
            _ => match letters.next() {
                Some('n' | 'r' | 'x' | 'l' | 'p') if out.trim().is_empty() => out.clear(),
                Some('n' | 'r' | 'x' | 'l' | 'p') => break,
                // `|0x00e4` is a character.
                Some('0') => {
                    let code: String = letters.by_ref().take(5).skip(1).collect();
                    out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                escaped => out.extend(escaped),
            },
        }
    }
    out
}

/// Returns the event of a line of `go test -json` that carries output.
fn go_event(line: &[u8]) -> Option<GoEvent> {
    if !line.starts_with(b"{\"") {
        return None;
    }
    let event: GoEvent = serde_json::from_slice(line).ok()?;
    matches!(event.action.as_str(), "output" | "build-output").then_some(event)
}

/// Length of the date and time that CI services write before each line: `2026-01-31T23:59:59.1234567Z `.
const TIME: std::ops::Range<usize> = 21..32;

/// Returns a line without the time that a CI service wrote before it.
fn without_time(line: &[u8]) -> &[u8] {
    let is_time = line.get(4) == Some(&b'-')
        && line.get(10) == Some(&b'T')
        && line.first().is_some_and(u8::is_ascii_digit);
    if !is_time {
        return line;
    }
    let end = line
        .iter()
        .take(TIME.end)
        .position(|byte| *byte == b' ')
        .filter(|end| TIME.contains(&(end + 1)));
    match end {
        Some(end) if line.get(end - 1) == Some(&b'Z') => line.get(end + 1..).unwrap_or_default(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_compile() {
        assert_eq!(SET.as_ref().map(meta::Regex::pattern_len), Some(RULES.len()));
        for (at, (_, rule)) in RULES.iter().enumerate() {
            assert!(pattern(at).is_some(), "{}", rule.pattern);
        }
    }

    #[test]
    fn values_of_teamcity_are_read_up_to_their_first_break() {
        let cases = [
            ("it|'s |[total|] || x|nmore", "it's [total] | x"),
            ("|n|r|n  first|nsecond", "  first"),
            ("|0x00e4 |0x2713 ab", "ä ✓ ab"),
            ("|0x", ""),
            ("|", ""),
        ];
        for (value, expected) in cases {
            assert_eq!(without_escapes(value), expected);
        }
    }

    #[test]
    fn times_of_ci_services_are_left_out() {
        let cases = [
            ("2026-01-31T23:59:59.1234567Z ok", "ok"),
            ("2026-01-31T23:59:59Z   ok", "  ok"),
            ("2026-01-31T23:59:59 ok", "2026-01-31T23:59:59 ok"),
            ("ok", "ok"),
        ];
        for (line, expected) in cases {
            assert_eq!(without_time(line.as_bytes()), expected.as_bytes());
        }
    }
}
