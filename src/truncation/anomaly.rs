//! Anomaly scores: values that report a failure, and elements that differ from the others.

use super::smart::line_fingerprint::template;
use super::smart::rules::Rules;
use crate::util::hash::fnv1a;

/// A value that contains no other values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    /// `true`, `false`, `null`, or an empty cell of a table.
    Word(&'a str),
    /// The digits; empty if there are too many to examine.
    Number(&'a [u8]),
    /// The start of a string, and its full length in bytes.
    Text(&'a [u8], u64),
}

/// Number of bytes of a string that are examined.
const JUDGED: usize = 256;
/// Score of an element of a kind that did not occur before.
pub(super) const NEW_SHAPE: u16 = 500;
/// Score of a value that did not occur before, where values repeat.
const NEW_VALUE: u16 = 400;
/// Score of a number far from the others.
const OUTLIER: u16 = 300;
/// Maximum number of kinds of elements, of columns, and of values in a column that are distinguished.
const SHAPES: usize = 32;
pub(super) const COLUMNS: usize = 32;
const VALUES: usize = 6;
const KINDS: usize = 64;

/// Values that report a failure, whatever their name is.
const BAD: [&[u8]; 24] = [
    b"error",
    b"errored",
    b"err",
    b"fatal",
    b"critical",
    b"crit",
    b"failed",
    b"failure",
    b"fail",
    b"panic",
    b"exception",
    b"severe",
    b"emergency",
    b"emerg",
    b"alert",
    b"aborted",
    b"crashed",
    b"killed",
    b"timed_out",
    b"timedout",
    b"denied",
    b"rejected",
    b"unhealthy",
    b"broken",
];
/// Names of values that are present, or not empty, only after a failure.
const CAUSES: [&[u8]; 12] = [
    b"error",
    b"errors",
    b"err",
    b"exception",
    b"stack",
    b"stacktrace",
    b"traceback",
    b"failure",
    b"failures",
    b"errormessage",
    b"error_message",
    b"panic",
];
/// Names of counts that are 0 without failures.
const COUNTS: [&[u8]; 12] = [
    b"exitcode",
    b"exit_code",
    b"returncode",
    b"return_code",
    b"errors",
    b"failures",
    b"failed",
    b"errorcount",
    b"error_count",
    b"numfailedtests",
    b"numfailedtestsuites",
    b"signal",
];
/// Names of status codes.
const CODES: [&[u8]; 6] =
    [b"status", b"statuscode", b"status_code", b"http_status", b"httpstatus", b"code"];
/// Names of values that are true on success and false on failure.
const GOOD: [&[u8]; 7] =
    [b"ok", b"success", b"passed", b"succeeded", b"healthy", b"valid", b"successful"];
const ILL: [&[u8]; 7] =
    [b"failed", b"error", b"is_error", b"iserror", b"timed_out", b"timedout", b"crashed"];

/// The evidence of failure in a container.
#[derive(Debug, Clone, Default)]
pub(super) struct Signal {
    weight: u16,
    kind: u64,
    /// Number of elements of each kind.
    kinds: Vec<(u64, u16)>,
}

impl Signal {
    /// Adds the evidence of an element, and returns the element's score.
    pub(crate) fn take(&mut self, other: Signal) -> u16 {
        if other.weight == 0 {
            return 0;
        }
        if other.weight > self.weight {
            (self.weight, self.kind) = (other.weight, other.kind);
        }
        let before = match self.kinds.iter_mut().find(|(kind, _)| *kind == other.kind) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count - 1
            }
            None => {
                if self.kinds.len() < KINDS {
                    self.kinds.push((other.kind, 1));
                }
                0
            }
        };
        other.weight - (other.weight / 2).min(before.saturating_mul(20))
    }

    /// Evaluates the container as a whole when it ends.
    pub(crate) fn close(&mut self, name: Option<&[u8]>, total: u64) {
        self.weight = self.weight.saturating_sub(self.weight / 50);
        if total > 0 && self.weight < 800 && is_one_of(name, &CAUSES) {
            (self.weight, self.kind) = (800, 1);
        }
    }
}

fn is_one_of(name: Option<&[u8]>, names: &[&[u8]]) -> bool {
    name.is_some_and(|name| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// Returns the evidence of a value and its name.
pub(super) fn of_cell(name: Option<&[u8]>, cell: Cell<'_>) -> Signal {
    let (weight, kind) = match cell {
        Cell::Word("false") if is_one_of(name, &GOOD) => (850, 2),
        Cell::Word("true") if is_one_of(name, &ILL) => (850, 3),
        Cell::Word(_) => (0, 0),
        Cell::Number(digits) => {
            let is_zero = digits.iter().all(|byte| matches!(byte, b'0' | b'-' | b'.' | b'+'));
            match digits {
                _ if is_zero => (0, 0),
                [b'5', _, _] if is_one_of(name, &CODES) => (850, 4),
                [b'4', _, _] if is_one_of(name, &CODES) => (650, 5),
                _ if is_one_of(name, &COUNTS) => (850, 6),
                _ => (0, 0),
            }
        }
        Cell::Text(text, _) => of_text(name, text),
    };
    Signal { weight, kind, kinds: Vec::new() }
}

fn of_text(name: Option<&[u8]>, text: &[u8]) -> (u16, u64) {
    if text.len() <= 12 && BAD.iter().any(|bad| bad.eq_ignore_ascii_case(text)) {
        return (900, fnv1a(text));
    }
    if !text.is_empty() && is_one_of(name, &CAUSES) {
        return (900, template(text));
    }
    let rules = Rules::built_in();
    let text = text.get(..JUDGED).unwrap_or(text);
    if rules.next_word(text, 0).is_none() {
        return (0, 0);
    }
    match rules.judge(text) {
        Some(verdict) if verdict.weight >= 600 => (verdict.weight / 10 * 8, template(text)),
        _ => (0, 0),
    }
}

/// Statistics of the elements of a container, by column.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    shapes: Vec<u64>,
    columns: Vec<(u64, Column)>,
}

#[derive(Debug, Clone, Default)]
struct Column {
    values: Vec<u64>,
    /// True if the values vary so much that a new one is not an anomaly.
    is_varied: bool,
    count: f64,
    mean: f64,
    squares: f64,
}

impl Columns {
    /// Returns the score of an element's structure compared with the elements before it.
    pub(crate) fn shape(&mut self, shape: u64) -> u16 {
        if self.shapes.len() == SHAPES || self.shapes.contains(&shape) {
            return 0;
        }
        self.shapes.push(shape);
        if self.shapes.len() > 1 { NEW_SHAPE } else { 0 }
    }

    /// Returns the score of a value compared with earlier values of the same name.
    pub(crate) fn cell(&mut self, name: u64, cell: Cell<'_>, ordinal: u64) -> u16 {
        let at = match self.columns.iter().position(|(known, _)| *known == name) {
            Some(at) => at,
            None if self.columns.len() < COLUMNS => {
                self.columns.push((name, Column::default()));
                self.columns.len() - 1
            }
            None => return 0,
        };
        let Some((_, column)) = self.columns.get_mut(at) else { return 0 };
        let value = match cell {
            Cell::Number(digits) => return column.number(digits),
            Cell::Word(word) => fnv1a(word.as_bytes()),
            Cell::Text(text, bytes) if bytes <= 32 => fnv1a(text),
            Cell::Text(..) => return 0,
        };
        if column.is_varied || column.values.contains(&value) {
            return 0;
        }
        column.is_varied = column.values.len() == VALUES;
        column.values.push(value);
        if ordinal >= 8 && !column.is_varied { NEW_VALUE } else { 0 }
    }
}

impl Column {
    fn number(&mut self, digits: &[u8]) -> u16 {
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        let Some(number) = number.filter(|number: &f64| number.is_finite()) else { return 0 };
        let away = number - self.mean;
        let deviation = (self.squares / self.count.max(1.0)).sqrt();
        // Numbers that count up are never this far from their mean.
        let is_far = self.count >= 30.0 && away.abs() > 6.0 * deviation && away != 0.0;
        self.count += 1.0;
        self.mean += away / self.count;
        self.squares += away * (number - self.mean);
        if is_far { OUTLIER } else { 0 }
    }
}

impl Cell<'_> {
    /// Returns the kind of the value as a part of a structure hash.
    pub(crate) fn kind(self) -> u64 {
        match self {
            Cell::Text(..) => 1,
            Cell::Number(_) => 2,
            Cell::Word("null") => 3,
            Cell::Word(_) => 4,
        }
    }
}
