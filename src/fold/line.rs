//! A line as its body and its number, because different tools print the same line of a file with different numbers, or with none.

use std::hash::RandomState;

use super::{Edit, Numbering};
use crate::text::line_hash::line_hash;

/// The separators between the number of a line and the line. A longer one comes before its own beginning.
const SEPARATORS: [&[u8]; 6] = [b"\t", b":", "→".as_bytes(), b"| ", b"|", b" | "];

const NUMBER_BITS: u32 = 22;
const MAX_NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const MAX_WIDTH: usize = 31;
/// Bytes at the start of a line in which its number is looked for.
const MAX_PREFIX: usize = 40;

/// The exact prefix of a line: number, width, padding and separator. 0 means that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) struct Mark(pub u32);

impl Mark {
    fn new(number: u32, width: usize, zeros: bool, separator: usize) -> Self {
        let rest = (width as u32) << 4 | u32::from(zeros) << 3 | (separator as u32 + 1);
        Mark(number << 9 | rest)
    }

    /// The number of the line; nothing if it has none.
    pub(crate) fn number(self) -> Option<u32> {
        (self.0 != 0).then_some(self.0 >> 9)
    }

    fn separator(self) -> &'static [u8] {
        ((self.0 & 7) as usize).checked_sub(1).map_or(b"", |at| SEPARATORS[at])
    }

    fn zeros(self) -> bool {
        self.0 & 8 != 0
    }

    fn width(self) -> usize {
        (self.0 >> 4) as usize & MAX_WIDTH
    }

    /// The mark of the line that comes `lines` lines later in a numbered text.
    pub(crate) fn later(self, lines: u32) -> Option<Mark> {
        let number = self.number()?.checked_add(lines).filter(|&number| number <= MAX_NUMBER)?;
        let width = self.width().max(digits(number));
        let zeros = self.zeros() && digits(number) < width;
        Some(Mark::new(number, width, zeros, (self.0 & 7) as usize - 1))
    }

    /// How it is written.
    pub(crate) fn written(self) -> String {
        let Some(number) = self.number() else { return String::new() };
        let width = self.width();
        let number =
            if self.zeros() { format!("{number:0width$}") } else { format!("{number:width$}") };
        number + &String::from_utf8_lossy(self.separator())
    }
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Returns the mark of a line, and where its body begins.
pub(crate) fn parse(line: &[u8]) -> (Mark, usize) {
    let start = &line[..line.len().min(MAX_PREFIX)];
    let spaces = start.iter().take_while(|&&byte| byte == b' ').count();
    let counted = start[spaces..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = spaces + counted;
    if counted == 0 || counted > 9 || end > MAX_WIDTH {
        return (Mark::default(), 0);
    }
    let after = &line[end..];
    let Some(separator) = separator_of(after) else { return (Mark::default(), 0) };
    let number =
        start[spaces..end].iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let zeros = counted > 1 && start[spaces] == b'0';
    // A number is padded in one way.
    if number > MAX_NUMBER || (zeros && spaces > 0) {
        return (Mark::default(), 0);
    }
    (Mark::new(number, end, zeros, separator), end + SEPARATORS[separator].len())
}

fn separator_of(after: &[u8]) -> Option<usize> {
    match after.first()? {
        b'\t' => Some(0),
        b':' => Some(1),
        b'|' => Some(if after.starts_with(SEPARATORS[3]) { 3 } else { 4 }),
        b' ' => after.starts_with(SEPARATORS[5]).then_some(5),
        _ => after.starts_with(SEPARATORS[2]).then_some(2),
    }
}

/// The lines of a text: everything between two line feeds, also what follows the last.
pub(crate) struct Lines<'a> {
    pub text: &'a [u8],
    /// The start of each line, and after the last the start of one more.
    starts: Vec<usize>,
    /// The body of each line, as a number.
    pub hashes: Vec<u64>,
    pub marks: Vec<Mark>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a [u8], hasher: &RandomState) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        let count = starts.len();
        starts.push(text.len() + 1);
        let mut lines = Lines {
            text,
            starts,
            hashes: Vec::with_capacity(count),
            marks: Vec::with_capacity(count),
        };
        for at in 0..count {
            let line = lines.line(at);
            let (mark, body) = parse(line);
            lines.hashes.push(line_hash(&line[body..], hasher));
            lines.marks.push(mark);
        }
        lines
    }

    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// A line without its line feed.
    pub(crate) fn line(&self, at: usize) -> &'a [u8] {
        &self.text[self.starts[at]..self.starts[at + 1] - 1]
    }

    /// Bytes of lines with the line feeds between them.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> usize {
        self.starts[to] - 1 - self.starts[from]
    }

    /// The line that has a byte.
    pub(crate) fn at_byte(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start <= byte) - 1
    }

    pub(crate) fn start(&self, at: usize) -> usize {
        self.starts[at]
    }
}

/// The lines of a target with the numbers that a numbering gives them.
pub(crate) fn renumbered(lines: &[&str], numbering: Option<Numbering>) -> String {
    let Some(numbering) = numbering else { return lines.join("\n") };
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if let Numbering::From(first) = numbering {
            out += &Mark(first).later(at as u32).unwrap_or_default().written();
        }
        out += &line[parse(line.as_bytes()).1..];
    }
    out
}

/// Writes into edits where they are in UTF-16 units.
pub(crate) fn measure(text: &str, lines: &Lines<'_>, edits: &mut [Edit]) {
    let (mut byte, mut unit) = (0, 0);
    let mut unit_at = |to: usize| {
        let passed = &text.as_bytes()[byte..to];
        // A lead of four bytes is two units, any other character one.
        unit += passed.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        unit += passed.iter().filter(|&&byte| byte >= 0xf0).count();
        byte = to;
        unit
    };
    for edit in edits {
        edit.from = unit_at(lines.start(edit.from_line));
        edit.to = unit_at(lines.start(edit.to_line) - 1);
    }
}
