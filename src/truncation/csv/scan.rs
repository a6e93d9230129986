//! A streaming parser of tables that finds the boundaries of rows and scores them.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use memchr::memchr_iter;

use super::retained::{RetainedRows, Row};
use crate::truncation::anomaly::{COLUMNS, Cell, Columns, NEW_SHAPE, Signal, of_cell};
use crate::util::hash::fnv1a;

/// Number of bytes from which the delimiter is determined.
const SAMPLE: usize = 64 * 1024;
const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];
/// Minimum percentage of rows in the sample with as many fields as the header.
const ALIKE: usize = 90;
/// Number of bytes of a field that are examined.
const FIELD: usize = 256;
/// Number of rows before which no value counts as an anomaly.
const FEW: u64 = 8;
const BOM: &[u8] = "\u{feff}".as_bytes();

/// The state of parsing a table.
#[derive(Debug, Clone)]
pub struct Scanner {
    state: State,
    longest: usize,
    memory: RetainedRows,
}

#[derive(Debug, Clone)]
enum State {
    /// The text so far, until the delimiter is determined.
    Sample(Vec<u8>),
    Table(Box<Table>),
    /// The text is not a table.
    Wrong,
}

/// The columns, and the current row.
#[derive(Debug, Clone)]
struct Table {
    reader: Reader,
    names: Vec<Box<[u8]>>,
    /// The kinds of values seen in each column, as a bit set.
    kinds: Vec<u8>,
    columns: Columns,
    signals: Signal,
    /// Number of rows since the first one whose number of fields differs from the header's.
    ragged: u64,
    rows: u64,
    row: UnderWay,
    field: [u8; FIELD],
    filled: usize,
    /// Number of bytes of the current field beyond the examined ones, at least.
    beyond: u64,
}

/// The current row.
#[derive(Debug, Clone, Default)]
struct UnderWay {
    /// Offset at which it begins, and number of line feeds before it.
    at: u64,
    breaks: u64,
    /// Its length so far, and the line feeds in it.
    length: u64,
    breaks_inside: u64,
    /// The part of it that may be shown.
    text: Vec<u8>,
    fields: usize,
    signal: Signal,
    news: u16,
}

impl UnderWay {
    /// Appends bytes. Blank lines before a row, and the rest of the previous line break, are skipped.
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
        // Including the line break after it.
        let room = longest.saturating_add(1).saturating_sub(self.text.len());
        self.text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Returns the state at the start of the next row.
    fn next_place(&self) -> UnderWay {
        UnderWay {
            at: self.at + self.length,
            breaks: self.breaks + self.breaks_inside,
            ..UnderWay::default()
        }
    }
}

impl Scanner {
    /// Creates a scanner that retains enough for a preview of `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        Scanner {
            state: State::Sample(Vec::new()),
            longest: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            memory: RetainedRows::new(max_bytes),
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
            self.memory = RetainedRows::new(0);
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        if let State::Table(table) = &mut self.state {
            table.feed(bytes, self.longest, &mut self.memory);
        }
    }

    /// Determines the delimiter and parses the text so far.
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

    /// Returns the number of bytes retained.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.finish().map_or(0, |memory| memory.held())
    }

    /// Returns the retained rows if the text, ending here, is a table.
    pub(super) fn finish(&self) -> Option<RetainedRows> {
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

/// Determines the delimiter of a table from its start.
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

/// Returns the number of fields of each row; an incomplete last row is ignored.
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
            // An empty input means the end of the text.
            ReadFieldResult::InputEmpty if is_all && read > 0 => {}
            ReadFieldResult::InputEmpty | ReadFieldResult::End => return rows,
        }
    }
}

impl Table {
    /// Creates a table that begins at an offset.
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

    /// Returns true if a row other than the last, which may be truncated, has another number of fields than the header.
    /// Such a text is probably a log, and lines of a log that the preview drops as malformed rows may be the important
    /// ones.
    fn is_wrong(&self) -> bool {
        self.ragged > 1
    }

    fn feed(&mut self, bytes: &[u8], longest: usize, memory: &mut RetainedRows) {
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
                    // Bytes beyond the examined ones are read and dropped.
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

    /// Parses the last row, which may lack a line break. A row that ends within quotes is not a row.
    fn end(&mut self, longest: usize, memory: &mut RetainedRows) {
        if self.row.length == 0 {
            return;
        }
        // A field without quotes ends with its line.
        let mut whole = self.clone();
        whole.feed(b"\n", longest, &mut RetainedRows::new(0));
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
            let key = fnv1a(name.unwrap_or_default()) ^ column as u64;
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

    fn end_row(&mut self, memory: &mut RetainedRows) {
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

/// Converts a field to a value.
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
