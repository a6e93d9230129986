//! Columns of secrets in tables whose first row names them: CSV, also with semicolons or tabs, columns between bars, and
//! columns that blanks align below names in capitals.

use std::ops::Range;

use super::LOOK_BEHIND;
use super::contexts::run;
use super::secret_names::{Kind, kind_of};
use super::secret_values::{self, Form};
use crate::text::terminal::{at_column, columns_of};

/// Maximum number of columns, of bytes of a row and of the name of a column.
const MAX_COLUMNS: usize = 64;
const MAX_ROW_LENGTH: usize = 16 * 1024;
const MAX_COLUMN_LENGTH: usize = 48;

/// Number of rows of another length in a row after which a table has ended.
const MAX_OTHERS: u8 = 3;

/// A table with columns of secrets, which may continue in the next window.
#[derive(Debug, Clone)]
pub(in crate::redaction) struct Table {
    /// Start of the next row.
    pub(in crate::redaction) at: usize,
    delimiter: u8,
    columns: usize,
    /// The place of each name, where blanks align the columns.
    starts: Vec<Start>,
    secrets: Vec<(usize, Kind)>,
    others: u8,
}

/// The number of characters and of columns of a terminal before a name. Programs align by the one or by the other.
#[derive(Debug, Clone, Copy)]
struct Start {
    characters: usize,
    columns: usize,
}

impl Table {
    /// Returns a table without a first row, with tabs between its columns.
    pub(super) fn of_columns(at: usize, columns: usize, secrets: Vec<(usize, Kind)>) -> Table {
        Table { at, delimiter: b'\t', columns, starts: Vec::new(), secrets, others: 0 }
    }

    /// Returns the table whose first row has the name of a secret at `name`.
    pub(super) fn headed(text: &[u8], name: Range<usize>) -> Option<Table> {
        let next = text.get(name.end..text.len().min(name.end + MAX_COLUMN_LENGTH))?;
        let is_aligned =
            next.starts_with(b"  ") && !text.get(name.clone())?.iter().any(u8::is_ascii_lowercase);
        let next = next.get(run(next, |byte| b"\" \r".contains(&byte))..)?;
        if !matches!(next.first(), None | Some(b',' | b';' | b'\t' | b'|' | b'\n')) && !is_aligned {
            return None;
        }
        let before = text.get(name.start.saturating_sub(LOOK_BEHIND)..name.start)?;
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. \"".contains(byte);
        let beside = before.iter().rev().find(|byte| !is_of_name(byte));
        if beside.is_some_and(|byte| byte.is_ascii() && !b",;\t|\n".contains(byte)) {
            return None;
        }
        let start = match before.iter().rposition(|byte| *byte == b'\n') {
            Some(line) => name.start - before.len() + line + 1,
            None => (before.len() < LOOK_BEHIND).then_some(0)?,
        };
        let rest = text.get(start..text.len().min(start + MAX_ROW_LENGTH))?;
        let line = rest.get(..run(rest, |byte| byte != b'\n'))?;
        let marks = [b'\t', b'|', b';', b','];
        let delimiter = marks.into_iter().find(|one| line.contains(one)).unwrap_or(b' ');
        if delimiter == b' ' && line.iter().any(u8::is_ascii_lowercase) {
            return None;
        }
        // A row among others does not name the columns.
        let count = |line: &[u8]| line.iter().filter(|byte| **byte == delimiter).count();
        let above = before.get(..(start + before.len()).checked_sub(name.start)?)?;
        let above = above.strip_suffix(b"\n").unwrap_or(above);
        if delimiter != b' ' && count(above.rsplit(|byte| *byte == b'\n').next()?) == count(line) {
            return None;
        }
        let (fields, at) = row(text, start, delimiter)?;
        let mut secrets = Vec::new();
        for (column, field) in fields.iter().enumerate() {
            let name = std::str::from_utf8(text.get(field.clone())?).ok()?;
            // The bars at both ends of a row.
            let is_edge = delimiter == b'|' && (column == 0 || column + 1 == fields.len());
            if is_edge && name.trim().is_empty() {
                continue;
            }
            // A space after a comma is one of a sentence, and so are words that do not begin like a title.
            let is_sentence = name.starts_with(' ')
                || name.contains(' ')
                    && name.starts_with(|letter: char| letter.is_ascii_lowercase());
            let name = name.trim();
            if matches!(delimiter, b',' | b';') && is_sentence || !is_name(name) {
                return None;
            }
            let kind = kind_of(name).filter(|_| !name.eq_ignore_ascii_case("pass"));
            if let Some(kind @ (Kind::Password | Kind::Secret | Kind::Token)) = kind {
                secrets.push((column, kind));
            }
        }
        let columns = fields.len();
        let before = |field: &Range<usize>| {
            let names = text.get(start..field.start).unwrap_or_default();
            let characters = names.iter().filter(|byte| begins_character(**byte)).count();
            Start { characters, columns: columns_of(names) }
        };
        let fields = fields.iter().filter(|_| delimiter == b' ');
        let starts = fields.map(before).collect();
        (columns > 1 && !secrets.is_empty()).then_some(Table {
            at,
            delimiter,
            columns,
            starts,
            secrets,
            others: 0,
        })
    }

    /// Finds the secrets in the rows that begin before `end`. Returns false if the table has ended.
    pub(super) fn rows(
        &mut self,
        text: &[u8],
        end: usize,
        found: &mut impl FnMut(Range<usize>),
    ) -> bool {
        while self.at < end {
            let Some((fields, next)) = row(text, self.at, self.delimiter) else { return false };
            let line = text.get(self.at..next).unwrap_or_default();
            let is_rule = line.iter().all(|byte| b"-+|:= \r\n".contains(byte)) && line.len() > 2;
            let start = std::mem::replace(&mut self.at, next);
            if line.trim_ascii().is_empty() {
                return false;
            }
            // In a row with a cell without text only the places of the columns tell which cells are there.
            let cells = |(column, _): &(usize, Kind)| match fields.len() == self.columns {
                true => fields.get(*column).cloned().into_iter().collect(),
                false => self.cells_below(line, start, *column),
            };
            let cells: Vec<Vec<Range<usize>>> = self.secrets.iter().map(cells).collect();
            if cells.iter().any(Vec::is_empty) {
                self.others += u8::from(!is_rule);
                if self.others >= MAX_OTHERS {
                    return false;
                }
                continue;
            }
            self.others = 0;
            let cells = self.secrets.iter().zip(cells);
            let cells = cells
                .flat_map(|((_, kind), cells)| cells.into_iter().map(move |cell| (kind, cell)));
            for (kind, field) in cells {
                let bytes = text.get(field.clone()).unwrap_or_default();
                let spaces = run(bytes, |byte| byte == b' ');
                if spaces > 0 && matches!(self.delimiter, b',' | b';') {
                    continue;
                }
                let from = field.start + spaces;
                let bytes = bytes.trim_ascii();
                let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
                // Names of objects have no capitals.
                let is_other = match (self.delimiter, kind) {
                    (b' ', Kind::Password) => !has(u8::is_ascii_digit),
                    (b' ', _) => !secret_values::is_entropic(bytes) || !has(u8::is_ascii_uppercase),
                    (_, kind) => *kind == Kind::Token && !secret_values::is_entropic(bytes),
                };
                let is_secret =
                    !is_other && secret_values::is_secret(*kind, Form::Element, bytes, true, true);
                if is_secret {
                    found(from..from + bytes.len());
                }
            }
        }
        true
    }

    /// Returns the cells of a line below the name of a column, however the table is aligned; none if no cell of one word begins
    /// there. The line begins at `line_start`.
    fn cells_below(&self, line: &[u8], line_start: usize, column: usize) -> Vec<Range<usize>> {
        let Some(start) = self.starts.get(column) else { return Vec::new() };
        let next = self.starts.get(column + 1);
        let by_columns =
            (at_column(line, start.columns), next.map(|next| at_column(line, next.columns)));
        let by_characters = (
            after_characters(line, start.characters),
            next.map(|next| after_characters(line, next.characters)),
        );
        let cell = |(from, to): (usize, Option<usize>)| {
            let rest = line.get(from..to.unwrap_or(line.len()))?;
            let begins = from == 0 || line.get(from - 1).is_some_and(u8::is_ascii_whitespace);
            let cell = rest.get(..cell_length(rest))?;
            // Words are those of a sentence that follows the table.
            let from = line_start + from;
            (begins && !cell.contains(&b' ')).then(|| from..from + cell.len())
        };
        let mut cells: Vec<Range<usize>> =
            [by_columns, by_characters].into_iter().filter_map(cell).collect();
        cells.dedup();
        cells
    }
}

fn begins_character(byte: u8) -> bool {
    !matches!(byte, 0x80..=0xbf)
}

/// Returns the offset after a number of characters, at most the length of the text.
fn after_characters(text: &[u8], count: usize) -> usize {
    let mut begins = text.iter().enumerate().filter(|(_, byte)| begins_character(**byte));
    begins.nth(count).map_or(text.len(), |(at, _)| at)
}

/// Returns true if a text looks like the name of a column.
fn is_name(name: &str) -> bool {
    let spaces = name.bytes().filter(|byte| *byte == b' ').count();
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte) || byte >= 0x80;
    let begins = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit() && byte != b'-');
    begins && name.len() <= MAX_COLUMN_LENGTH && spaces < 3 && name.bytes().all(is_letter)
}

/// Returns the fields of the row at `at`, without their quotes, and the start of the next row.
fn row(text: &[u8], at: usize, delimiter: u8) -> Option<(Vec<Range<usize>>, usize)> {
    let limit = text.len().min(at + MAX_ROW_LENGTH);
    let mut fields = Vec::new();
    let indent = if delimiter == b' ' { run(text.get(at..limit)?, |byte| byte == b' ') } else { 0 };
    let mut from = at + indent;
    loop {
        let rest = text.get(from..limit)?;
        let quoted = rest.strip_prefix(b"\"").filter(|_| delimiter != b'|').and_then(closing);
        let mut field = match quoted {
            Some(length) => from + 1..from + 1 + length,
            None if delimiter == b' ' => from..from + cell_length(rest),
            None => from..from + run(rest, |byte| byte != delimiter && byte != b'\n'),
        };
        let mut end = field.end + usize::from(quoted.is_some());
        end += usize::from(quoted.is_some() && text.get(end) == Some(&b'\r'));
        if quoted.is_none() && text.get(field.start..field.end)?.ends_with(b"\r") {
            field.end -= 1;
        }
        fields.push(field);
        if delimiter == b' ' {
            end += run(text.get(end..limit)?, |byte| byte == b' ');
            if fields.len() < MAX_COLUMNS && !matches!(text.get(end), None | Some(b'\n' | b'\r')) {
                from = end;
                continue;
            }
            end += usize::from(text.get(end) == Some(&b'\r'));
        }
        match text.get(end) {
            Some(byte) if *byte == delimiter && fields.len() < MAX_COLUMNS => from = end + 1,
            Some(b'\n') => return Some((fields, end + 1)),
            None => return Some((fields, end)),
            Some(_) => return None,
        }
    }
}

/// Returns the length of a cell that ends at two blanks or at the end of its line.
fn cell_length(text: &[u8]) -> usize {
    let line = text.get(..run(text, |byte| byte != b'\n')).unwrap_or_default();
    let gap = line.windows(2).position(|pair| pair == b"  ");
    line.get(..gap.unwrap_or(line.len())).map_or(0, |cell| cell.trim_ascii_end().len())
}

/// Returns the length of a text in quotes, in which a quote is written twice.
fn closing(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.iter().position(|byte| *byte == b'"')?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
