//! Reading a table on its way past: where its rows begin and end, and which of them differ.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use memchr::memchr_iter;

use super::retained::{Memory, Row};
use crate::truncation::anomaly::{COLUMNS, Cell, Columns, NEW_SHAPE, Signal, hash, of_cell};

/// What separates columns is told by so many bytes of the start.
const SAMPLE: usize = 64 * 1024;
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];
/// So many rows of a hundred in the start have as many fields as the header, or else it is no table.
const ALIKE: usize = 90;
/// Of a field only the start is judged.
const FIELD: usize = 256;
/// Before so many rows nothing is news.
const FEW: u64 = 8;
const BOM: &[u8] = "\u{feff}".as_bytes();

/// A table on its way past.
#[derive(Debug, Clone)]
pub struct Scanner {
    state: State,
    longest: usize,
    memory: Memory,
}

#[derive(Debug, Clone)]
enum State {
    /// What came so far, until it can be told what separates columns.
    Sample(Vec<u8>),
    Table(Box<Table>),
    /// It is no table.
    Wrong,
}

/// What is known of the columns, and the row that is under way.
#[derive(Debug, Clone)]
struct Table {
    reader: Reader,
    /// The names of the columns.
    names: Vec<Box<[u8]>>,
    /// For each column, the kinds of values that were in it.
    kinds: Vec<u8>,
    columns: Columns,
    signals: Signal,
    /// Rows from the first on that does not have as many fields as the header.
    ragged: u64,
    rows: u64,
    row: UnderWay,
    field: [u8; FIELD],
    filled: usize,
    /// Bytes of the field beyond what is kept of it, at least.
    beyond: u64,
}

/// The row that is under way.
#[derive(Debug, Clone, Default)]
struct UnderWay {
    /// Where it begins, and how many line feeds came before that.
    at: u64,
    breaks: u64,
    /// Its bytes so far, and the line feeds among them.
    length: u64,
    breaks_inside: u64,
    /// As much of it as may be shown.
    text: Vec<u8>,
    fields: usize,
    signal: Signal,
    news: u16,
}

impl UnderWay {
    /// Takes what comes next. Blank lines before a row are no part of it, nor is the rest of the break before.
    fn take(&mut self, bytes: &[u8], longest: usize) {
        let breaks = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
        let blank = match self.length {
            0 => bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count(),
            _ => 0,
        };
        let (before, bytes) = bytes.split_at(blank);
        self.at += blank as u64;
        self.breaks += breaks(before);
        self.length += bytes.len() as u64;
        self.breaks_inside += breaks(bytes);
        // With the break behind it.
        let room = longest.saturating_add(1).saturating_sub(self.text.len());
        self.text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Where the next row begins.
    fn next_place(&self) -> UnderWay {
        UnderWay {
            at: self.at + self.length,
            breaks: self.breaks + self.breaks_inside,
            ..UnderWay::default()
        }
    }
}

impl Scanner {
    /// Remembers enough for a preview of so many bytes.
    pub fn new(max_bytes: u64) -> Self {
        Scanner {
            state: State::Sample(Vec::new()),
            longest: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            memory: Memory::new(max_bytes),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let State::Sample(sample) = &mut self.state {
            let (first, after) = rest.split_at(rest.len().min(SAMPLE - sample.len()));
            sample.extend_from_slice(first);
            if sample.len() < SAMPLE {
                return;
            }
            rest = after;
            self.begin(false);
        }
        self.feed(rest);
        if matches!(&self.state, State::Table(table) if table.is_wrong()) {
            self.state = State::Wrong;
        }
        if matches!(self.state, State::Wrong) {
            self.memory = Memory::new(0);
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        if let State::Table(table) = &mut self.state {
            table.feed(bytes, self.longest, &mut self.memory);
        }
    }

    /// Tells what separates columns, and reads what came so far.
    fn begin(&mut self, is_all: bool) {
        let State::Sample(sample) = std::mem::replace(&mut self.state, State::Wrong) else {
            return;
        };
        let text = sample.strip_prefix(BOM).unwrap_or(&sample);
        if let Some(delimiter) = delimiter(text, is_all) {
            let at = sample.len() - text.len();
            self.state = State::Table(Box::new(Table::new(delimiter, at as u64)));
            self.feed(text);
        }
    }

    /// Bytes of what is remembered.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.finish().map_or(0, |memory| memory.held())
    }

    /// What is remembered, if the text that ends here is a table.
    pub(super) fn finish(&self) -> Option<Memory> {
        let mut end = self.clone();
        if matches!(end.state, State::Sample(_)) {
            end.begin(true);
        }
        let State::Table(table) = &mut end.state else { return None };
        table.end(end.longest, &mut end.memory);
        let is_table = !table.is_wrong() && table.rows >= 2 && end.memory.header().is_some();
        is_table.then_some(end.memory)
    }
}

/// What separates the columns of a table that begins like this.
fn delimiter(sample: &[u8], is_all: bool) -> Option<u8> {
    let ranked = DELIMITERS.iter().filter_map(|&delimiter| {
        let rows = fields(sample, delimiter, is_all);
        let columns = *rows.first().filter(|fields| **fields >= 2)?;
        let alike = rows.iter().filter(|fields| **fields == columns).count();
        (alike * 100 >= rows.len() * ALIKE).then_some((
            alike * 1000 / rows.len(),
            columns,
            delimiter,
        ))
    });
    ranked.max_by_key(|(alike, columns, _)| (*alike, *columns)).map(|(_, _, delimiter)| delimiter)
}

fn reader(delimiter: u8) -> Reader {
    ReaderBuilder::new().delimiter(delimiter).build()
}

/// How many fields each row has; the last one counts only if it is whole.
fn fields(sample: &[u8], delimiter: u8, is_all: bool) -> Vec<usize> {
    let (mut reader, mut rest, mut out) = (reader(delimiter), sample, [0; FIELD]);
    let (mut rows, mut count) = (Vec::new(), 0);
    loop {
        let (result, read, _) = reader.read_field(rest, &mut out);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            ReadFieldResult::Field { record_end } => {
                count += 1;
                if record_end {
                    rows.push(count);
                    count = 0;
                }
            }
            ReadFieldResult::OutputFull => {}
            // An empty input is the end of the text.
            ReadFieldResult::InputEmpty if is_all && read > 0 => {}
            ReadFieldResult::InputEmpty | ReadFieldResult::End => return rows,
        }
    }
}

impl Table {
    /// A table that begins at this byte.
    fn new(delimiter: u8, at: u64) -> Self {
        Table {
            reader: reader(delimiter),
            names: Vec::new(),
            kinds: Vec::new(),
            columns: Columns::default(),
            signals: Signal::default(),
            ragged: 0,
            rows: 0,
            row: UnderWay { at, ..UnderWay::default() },
            field: [0; FIELD],
            filled: 0,
            beyond: 0,
        }
    }

    /// Whether a row that does not have as many fields as the header is not the last one, which may have been cut off. Such a row
    /// is seldom one of a table, and what is left out of a log as no row of it may be what matters.
    fn is_wrong(&self) -> bool {
        self.ragged > 1
    }

    fn feed(&mut self, bytes: &[u8], longest: usize, memory: &mut Memory) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let out = self.field.get_mut(self.filled..).unwrap_or_default();
            let (result, read, written) = self.reader.read_field(rest, out);
            let (taken, after) = rest.split_at(read);
            rest = after;
            self.row.take(taken, longest);
            self.filled += written;
            match result {
                ReadFieldResult::OutputFull => {
                    // What is beyond what is judged is read and forgotten.
                    self.beyond += 1;
                    self.filled = FIELD - 1;
                }
                ReadFieldResult::Field { record_end } => {
                    self.end_field();
                    if record_end {
                        self.end_row(memory);
                    }
                }
                ReadFieldResult::InputEmpty | ReadFieldResult::End => {}
            }
        }
    }

    /// Reads the last row, which may have no break. One in the middle of which the text ends is no row.
    fn end(&mut self, longest: usize, memory: &mut Memory) {
        if self.row.length == 0 {
            return;
        }
        // What is not in quotes ends with its line.
        let mut whole = self.clone();
        whole.feed(b"\n", longest, &mut Memory::new(0));
        if whole.rows > self.rows {
            self.end_field();
            self.end_row(memory);
        }
    }

    fn end_field(&mut self) {
        let value = self.field.get(..self.filled).unwrap_or_default();
        let column = self.row.fields;
        self.row.fields += 1;
        if self.rows == 0 {
            self.names.push(value.trim_ascii().into());
        } else if column < COLUMNS {
            let cell = cell(value, self.filled as u64 + self.beyond);
            let name = self.names.get(column).map(|name| &**name);
            let key = hash(name.unwrap_or_default()) ^ column as u64;
            let mut news = self.columns.cell(key, cell, self.rows);
            if let Some(kinds) = self.kinds.get_mut(column) {
                let kind = 1 << cell.kind();
                news = news.max(if *kinds & kind == 0 && self.rows > FEW { NEW_SHAPE } else { 0 });
                *kinds |= kind;
            }
            self.row.news = self.row.news.max(news);
            self.row.signal.take(of_cell(name, cell));
        }
        (self.filled, self.beyond) = (0, 0);
    }

    fn end_row(&mut self, memory: &mut Memory) {
        let next = self.row.next_place();
        let row = std::mem::replace(&mut self.row, next);
        if self.rows == 0 {
            self.kinds = vec![0; row.fields];
        } else if row.fields != self.names.len() || self.ragged > 0 {
            self.ragged += 1;
            return;
        }
        let is_whole = row.length == row.text.len() as u64;
        let ended = row.text.strip_suffix(b"\n").or_else(|| row.text.strip_suffix(b"\r"));
        let text = ended.unwrap_or(&row.text);
        let breaks = memchr_iter(b'\n', text).count() as u64;
        let score = self.signals.take(row.signal).max(row.news);
        let kept = Row {
            ordinal: self.rows,
            bytes: row.at..row.at + text.len() as u64,
            first_line: row.breaks + 1,
            last_line: row.breaks + 1 + breaks,
            text: if is_whole { text.into() } else { Box::default() },
            score,
        };
        self.rows += 1;
        memory.take(kept, is_whole);
    }
}

/// A field as a value.
fn cell(value: &[u8], bytes: u64) -> Cell<'_> {
    let trimmed = value.trim_ascii();
    let first = trimmed.first().copied().unwrap_or_default();
    let is_number = (first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.'))
        && std::str::from_utf8(trimmed).is_ok_and(|text| text.parse::<f64>().is_ok());
    match std::str::from_utf8(trimmed) {
        Ok("") => Cell::Word("null"),
        _ if is_number => Cell::Number(trimmed),
        Ok(word) if word.eq_ignore_ascii_case("true") => Cell::Word("true"),
        Ok(word) if word.eq_ignore_ascii_case("false") => Cell::Word("false"),
        _ => Cell::Text(trimmed, bytes),
    }
}
