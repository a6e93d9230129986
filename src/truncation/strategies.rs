//! Strategies that keep a structure: JSON, diffs, tables, test runs.
//!
//! Each structure has a scanner that the text streams through. It makes a preview from what it retained, or returns
//! `None` if the text does not have the structure, or nothing of it fits.

use memchr::memchr;

use super::limits::{Limits, Unit};
use super::notice::Wording;
use super::preview_buffer::Window;
use super::result::{Cut, Piece};
use super::smart::Keep;
use super::test_run::TestRun;
use super::{csv, diff, json, test_run};
use crate::text::lossy::Source;

/// A preview, and the parts of the text that it shows.
#[derive(Debug)]
pub struct Preview {
    /// A text of the same structure; a diff and a test run have a line in every gap.
    pub text: String,
    pub cut: Cut<'static>,
    /// A sentence about the parts missing; empty if there are none.
    pub missing: String,
}

/// The scanner for an expected structure.
#[derive(Debug, Clone)]
pub enum Structured {
    Json(Box<json::Scanner>),
    Diff(Box<diff::Scanner>),
    /// CSV or TSV.
    Csv(Box<csv::Scanner>),
    Tests(Box<test_run::Scanner>),
}

impl Structured {
    /// Creates the scanner for the strategy in `limits`, if it keeps a structure.
    pub fn new(limits: &Limits) -> Option<Self> {
        let max_bytes = limits.max_bytes;
        match limits.keep {
            Keep::Ends | Keep::Auto | Keep::Smart(_) => None,
            Keep::Json(_) => Some(Structured::Json(Box::new(json::Scanner::new(max_bytes)))),
            Keep::Diff(_) => Some(Structured::Diff(Box::new(diff::Scanner::new(max_bytes)))),
            Keep::Csv(_) => Some(Structured::Csv(Box::new(csv::Scanner::new(max_bytes)))),
            Keep::Tests(_) => Some(Structured::Tests(Box::new(test_run::Scanner::new(max_bytes)))),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Structured::Json(scanner) => scanner.push(bytes),
            Structured::Diff(scanner) => scanner.push(bytes),
            Structured::Csv(scanner) => scanner.push(bytes),
            Structured::Tests(scanner) => scanner.push(bytes),
        }
    }

    /// Returns the test run, if it looks for one and the text is the output of a known runner.
    pub fn test_run(&self) -> Option<TestRun> {
        match self {
            Structured::Tests(scanner) => scanner.test_run(),
            Structured::Json(_) | Structured::Diff(_) | Structured::Csv(_) => None,
        }
    }

    /// Returns a preview within the limits if the text has the structure.
    pub fn preview(
        &self,
        window: &Window,
        source: Source,
        limits: &Limits,
        wording: &Wording,
    ) -> Option<Preview> {
        match self {
            Structured::Json(scanner) => json::preview(window, scanner, source, limits, wording),
            Structured::Diff(scanner) => diff::preview(window, scanner, source, limits, wording),
            Structured::Csv(scanner) => csv::preview(window, scanner, source, limits, wording),
            Structured::Tests(scanner) => {
                test_run::preview(window, scanner, source, limits, wording)
            }
        }
    }
}

/// Bytes of a document on one line that are read: reading its values takes several times as long as looking for lines.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// Looks for a document on one line, which has no lines to choose from: JSON, or a report of a test run in XML.
#[derive(Debug, Clone)]
pub struct OneLineDocument {
    limits: Limits,
    /// Bytes so far.
    bytes: u64,
    has_begun: bool,
    /// A line ended within the limits. Unless the text ends with it, lines are chosen by what they say.
    line_ended: bool,
    is_over: bool,
}

impl OneLineDocument {
    pub fn new(limits: &Limits) -> Option<Self> {
        matches!(limits.keep, Keep::Auto | Keep::Smart(_)).then(|| OneLineDocument {
            limits: *limits,
            bytes: 0,
            has_begun: false,
            line_ended: false,
            is_over: false,
        })
    }

    /// Returns true if the text is no such document.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Lets the scanner of the document read the next bytes. Returns the scanner as long as the text may be one.
    pub fn read(
        &mut self,
        scanner: Option<Structured>,
        so_far: &[u8],
        bytes: &[u8],
    ) -> Option<Structured> {
        let mut scanner = scanner;
        let start = match self.has_begun {
            true => 0,
            false => match bytes.iter().position(|byte| !is_before_document(*byte)) {
                Some(start) => {
                    self.has_begun = true;
                    scanner = bytes.get(start).and_then(|first| self.scanner(*first));
                    if let Some(scanner) = &mut scanner {
                        scanner.push(so_far);
                    }
                    start
                }
                None => bytes.len(),
            },
        };
        let rest = bytes.get(start..).unwrap_or_default();
        let at = self.bytes + start as u64;
        self.bytes += bytes.len() as u64;
        self.is_over = self.has_begun && (scanner.is_none() || self.ends(rest, at));
        scanner.filter(|_| !self.is_over).map(|mut scanner| {
            scanner.push(bytes);
            scanner
        })
    }

    fn scanner(&self, first: u8) -> Option<Structured> {
        let max_bytes = self.limits.max_bytes;
        match first {
            b'{' | b'[' => Some(Structured::Json(Box::new(json::Scanner::new(max_bytes)))),
            b'<' => Some(Structured::Tests(Box::new(test_run::Scanner::new(max_bytes)))),
            _ => None,
        }
    }

    /// Returns true if the text is too long, or continues after a line within the limits.
    fn ends(&mut self, bytes: &[u8], at: u64) -> bool {
        if self.bytes > MAX_DOCUMENT {
            return true;
        }
        let room = usize::try_from(self.limits.max_bytes.saturating_sub(at));
        let mut rest = bytes;
        if !self.line_ended {
            let within = bytes.get(..room.unwrap_or(usize::MAX)).unwrap_or(bytes);
            let Some(end) = memchr(b'\n', within) else { return false };
            self.line_ended = true;
            rest = bytes.get(end..).unwrap_or_default();
        }
        rest.iter().any(|byte| !byte.is_ascii_whitespace())
    }
}

/// White space, and a byte order mark.
fn is_before_document(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)
}

/// Converts the pieces shown to a cut, with source positions for terminal output.
pub(super) fn cut_of(
    pieces: Vec<Piece<'static>>,
    is_short_of_lines: bool,
    window: &Window,
    limits: &Limits,
) -> Cut<'static> {
    let limited_by = if is_short_of_lines { Unit::Lines } else { Unit::Bytes };
    let cut = Cut::of_pieces(pieces, limited_by, window, limits);
    match window.screen() {
        Some(screen) => screen.trace(cut, limits.line_rule),
        None => cut,
    }
}

/// Maximum number of ranges listed.
const RANGES: usize = 6;

/// Formats ascending numbers as ranges: `0-9, 17, 90-99`.
pub(super) fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => ranges.push((number, number)),
        }
    }
    if ranges.is_empty() {
        return "-".to_owned();
    }
    let is_long = ranges.len() > RANGES;
    if is_long {
        let last = ranges.len() - RANGES / 2;
        ranges.drain(RANGES / 2..last);
    }
    let mut words: Vec<String> = ranges
        .into_iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") })
        .collect();
    if is_long {
        words.insert(RANGES / 2, "\u{2026}".to_owned());
    }
    words.join(", ")
}
