//! Strategies that keep a structure: JSON, diffs, tables, test runs.
//!
//! Each structure has a scanner that the text streams through. It makes a preview from what it retained, or returns
//! `None` if the text does not have the structure, or nothing of it fits.

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
        let most = limits.max_bytes;
        match limits.keep {
            Keep::Ends | Keep::Smart(_) => None,
            Keep::Json(_) => Some(Structured::Json(Box::new(json::Scanner::new(most)))),
            Keep::Diff(_) => Some(Structured::Diff(Box::new(diff::Scanner::new(most)))),
            Keep::Csv(_) => Some(Structured::Csv(Box::new(csv::Scanner::new(most)))),
            Keep::Tests(_) => Some(Structured::Tests(Box::new(test_run::Scanner::new(most)))),
        }
    }

    /// Creates the scanner for a text that is asked for its important lines, and may be a document on one line: of JSON, or a report
    /// of a test run in XML. Its first byte says which.
    pub fn of_document(first: u8, limits: &Limits) -> Option<Self> {
        let most = limits.max_bytes;
        match (limits.keep, first) {
            (Keep::Smart(_), b'{' | b'[') => {
                Some(Structured::Json(Box::new(json::Scanner::new(most))))
            }
            (Keep::Smart(_), b'<') => {
                Some(Structured::Tests(Box::new(test_run::Scanner::new(most))))
            }
            _ => None,
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
