//! Texts of a form that a preview keeps: JSON, diffs, tables.
//!
//! Each form has a scanner that the text streams past, and makes a preview of what that remembers; nothing if the text is not
//! of that form, or there is no room for any of it.

use super::head_tail::{Cut, Piece};
use super::limits::{Limits, Unit};
use super::notice::Wording;
use super::preview_buffer::Window;
use super::smart::Keep;
use super::{csv, diff, json};
use crate::text::lossy::Source;

/// A preview and what it shows of the text.
#[derive(Debug)]
pub struct Preview {
    /// A text of the same form; of a diff, with a line in every gap.
    pub text: String,
    /// What of the text is shown.
    pub cut: Cut<'static>,
    /// What is missing, in a sentence; empty if nothing is.
    pub missing: String,
}

/// A text that should be of one form, on its way past.
#[derive(Debug, Clone)]
pub enum Structured {
    /// It should be JSON.
    Json(Box<json::Scanner>),
    /// It should be a diff.
    Diff(Box<diff::Scanner>),
    /// It should be CSV or TSV.
    Csv(Box<csv::Scanner>),
}

impl Structured {
    /// What looks for the form that is to be kept, if one is.
    pub fn new(limits: &Limits) -> Option<Self> {
        let most = limits.max_bytes;
        match limits.keep {
            Keep::Ends | Keep::Smart(_) => None,
            Keep::Json(_) => Some(Structured::Json(Box::new(json::Scanner::new(most)))),
            Keep::Diff(_) => Some(Structured::Diff(Box::new(diff::Scanner::new(most)))),
            Keep::Csv(_) => Some(Structured::Csv(Box::new(csv::Scanner::new(most)))),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Structured::Json(scanner) => scanner.push(bytes),
            Structured::Diff(scanner) => scanner.push(bytes),
            Structured::Csv(scanner) => scanner.push(bytes),
        }
    }

    /// A preview within these limits, if the text that went past is of the form.
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
        }
    }
}

/// What chosen stretches of a text show of it, or of the output that it is what a terminal would show of.
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

/// Ranges of numbers that are named.
const RANGES: usize = 6;

/// Numbers as ranges: `0-9, 17, 90-99`.
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
