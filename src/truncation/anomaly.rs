//! What stands out among many alike: values that say that something went wrong, and elements that differ from the others.

use super::smart::line_fingerprint::template;
use super::smart::rules::Rules;

/// A value without others in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    /// `true`, `false`, `null`; a cell of a table that is empty.
    Word(&'a str),
    /// Its digits; none if there are too many to be looked at.
    Number(&'a [u8]),
    /// Its start, and how many bytes it has.
    Text(&'a [u8], u64),
}

/// Of a string only the start is judged.
const JUDGED: usize = 256;
/// An element of a kind that was not there before.
pub(super) const NEW_SHAPE: u16 = 500;
/// A value that was not there before, where others repeat.
const NEW_VALUE: u16 = 400;
/// A number that is far from the others.
const OUTLIER: u16 = 300;
/// Kinds of elements, of columns, and of values in a column that are told apart.
const SHAPES: usize = 32;
pub(super) const COLUMNS: usize = 32;
const VALUES: usize = 6;
const KINDS: usize = 64;

/// Values that say that it went wrong, whatever they are the value of.
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
/// Names of what is only there, or not empty, when it went wrong.
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
/// Names of numbers that are 0 when all is well.
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
/// Names of the code of an answer.
const CODES: [&[u8]; 6] =
    [b"status", b"statuscode", b"status_code", b"http_status", b"httpstatus", b"code"];
/// Names of what is true when all is well, and of what is false then.
const GOOD: [&[u8]; 7] =
    [b"ok", b"success", b"passed", b"succeeded", b"healthy", b"valid", b"successful"];
const ILL: [&[u8]; 7] =
    [b"failed", b"error", b"is_error", b"iserror", b"timed_out", b"timedout", b"crashed"];

/// How much of what is in a container says that it went wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Signal {
    weight: u16,
    kind: u64,
    /// Of the elements: how many there were of each kind.
    kinds: Vec<(u64, u16)>,
}

impl Signal {
    /// Notes what an element says; answers how much that stands out.
    pub fn take(&mut self, other: Signal) -> u16 {
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

    /// What a container says of itself when it ends.
    pub fn close(&mut self, name: Option<&[u8]>, total: u64) {
        self.weight = self.weight.saturating_sub(self.weight / 50);
        if total > 0 && self.weight < 800 && is_one_of(name, &CAUSES) {
            (self.weight, self.kind) = (800, 1);
        }
    }
}

fn is_one_of(name: Option<&[u8]>, names: &[&[u8]]) -> bool {
    name.is_some_and(|name| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// What a value says by itself and by its name.
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
        return (900, hash(text));
    }
    if !text.is_empty() && is_one_of(name, &CAUSES) {
        return (900, template(text));
    }
    let Some(rules) = Rules::built_in() else { return (0, 0) };
    let text = text.get(..JUDGED).unwrap_or(text);
    if rules.next_word(text, 0).is_none() {
        return (0, 0);
    }
    match rules.judge(text) {
        Some(verdict) if verdict.weight >= 600 => (verdict.weight / 10 * 8, template(text)),
        _ => (0, 0),
    }
}

/// What the elements of a container have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    shapes: Vec<u64>,
    columns: Vec<(u64, Column)>,
}

#[derive(Debug, Clone, Default)]
struct Column {
    values: Vec<u64>,
    /// There are too many values for one of them to be news.
    is_varied: bool,
    count: f64,
    mean: f64,
    squares: f64,
}

impl Columns {
    /// How much an element differs from those before it by what it is made of.
    pub fn shape(&mut self, shape: u64) -> u16 {
        if self.shapes.len() == SHAPES || self.shapes.contains(&shape) {
            return 0;
        }
        self.shapes.push(shape);
        if self.shapes.len() > 1 { NEW_SHAPE } else { 0 }
    }

    /// How much a value differs from those before it of the same name.
    pub fn cell(&mut self, name: u64, cell: Cell<'_>, ordinal: u64) -> u16 {
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
            Cell::Word(word) => hash(word.as_bytes()),
            Cell::Text(text, bytes) if bytes <= 32 => hash(text),
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
        // Numbers that count up are never so far from their mean.
        let is_far = self.count >= 30.0 && away.abs() > 6.0 * deviation && away != 0.0;
        self.count += 1.0;
        self.mean += away / self.count;
        self.squares += away * (number - self.mean);
        if is_far { OUTLIER } else { 0 }
    }
}

impl Cell<'_> {
    /// What kind of value it is, as a part of a shape.
    pub fn kind(self) -> u64 {
        match self {
            Cell::Text(..) => 1,
            Cell::Number(_) => 2,
            Cell::Word("null") => 3,
            Cell::Word(_) => 4,
        }
    }
}

/// FNV-1a.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
