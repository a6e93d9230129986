//! Columns of secrets in rows of SQL: `INSERT INTO users (name, password) VALUES ('me', '…')`, and `COPY … FROM stdin`.

use std::ops::Range;

use super::before_value::lines;
use super::contexts::run;
use super::secret_names::{Kind, kind_of};
use super::secret_values::{self, Form};
use super::tables::Table;
use super::value;
use crate::redaction::redactor::MAX_MATCH_LENGTH;

/// Maximum number of bytes before the names of the columns, of the names, and of a value without quotes.
const MAX_TARGET_LENGTH: usize = 256;
const MAX_NAMES_LENGTH: usize = 4096;
const MAX_EXPRESSION_LENGTH: usize = 8192;

/// The columns that a statement names.
struct Columns {
    count: usize,
    secrets: Vec<(usize, Kind)>,
    /// Offset after the closing bracket.
    end: usize,
}

impl Columns {
    /// Returns the columns after the name of the table that begins at `at`, if some hold secrets.
    fn at(text: &[u8], at: usize) -> Option<Columns> {
        let rest = text.get(at..text.len().min(at + MAX_TARGET_LENGTH))?;
        let is_of_target =
            |byte: u8| byte.is_ascii_alphanumeric() || b"_.\"`[]$ \\".contains(&byte);
        let open = at + run(rest, is_of_target);
        let rest = text.get(open + 1..text.len().min(open + MAX_NAMES_LENGTH))?;
        let names = rest.get(..run(rest, |byte| !b"();'".contains(&byte)))?;
        if text.get(open) != Some(&b'(') || rest.get(names.len()) != Some(&b')') {
            return None;
        }
        let words = std::str::from_utf8(names).ok()?.split(',');
        let columns: Vec<&str> =
            words.map(|name| name.trim_matches(|letter: char| !letter.is_alphanumeric())).collect();
        let is_secret = |(column, name): (usize, &&str)| match kind_of(name) {
            Some(kind @ (Kind::Password | Kind::Secret | Kind::Token)) => Some((column, kind)),
            _ => None,
        };
        let secrets: Vec<(usize, Kind)> =
            columns.iter().enumerate().filter_map(is_secret).collect();
        let end = open + 2 + names.len();
        (!secrets.is_empty()).then_some(Columns { count: columns.len(), secrets, end })
    }
}

/// Finds the secrets in the rows of the `INSERT INTO` that ends at `at`, and returns the end of what was read.
pub(super) fn inserted(text: &[u8], at: usize, found: &mut impl FnMut(Range<usize>)) -> usize {
    let Some(columns) = Columns::at(text, at) else { return at };
    let from = lines(text, columns.end);
    let is_values = |word: &[u8]| word.eq_ignore_ascii_case(b"values");
    if !text.get(from..from + 6).is_some_and(is_values) {
        return at;
    }
    let mut at = lines(text, from + 6);
    let limit = at + MAX_MATCH_LENGTH;
    while text.get(at) == Some(&b'(') && at < limit {
        at += 1;
        if !row(text, &mut at, &columns, found) {
            return at;
        }
        let comma = lines(text, at);
        if text.get(comma) != Some(&b',') {
            return at;
        }
        at = lines(text, comma + 1);
    }
    at
}

/// Finds the secrets in the row that begins at `at`, and advances to its end. Returns false if it does not end well.
fn row(
    text: &[u8],
    at: &mut usize,
    columns: &Columns,
    found: &mut impl FnMut(Range<usize>),
) -> bool {
    for column in 0..columns.count {
        *at = lines(text, *at);
        // The quoted text of a value is its secret, also within a function that hashes it.
        let (mut secret, mut depth, limit) = (None, 0_usize, *at + MAX_EXPRESSION_LENGTH);
        loop {
            let byte = text.get(*at).copied().unwrap_or(b';');
            match byte {
                b'\'' | b'"' => {
                    let Some(quoted) = value::quoted(text, *at) else { return false };
                    *at = quoted.end;
                    secret.get_or_insert(quoted.range);
                    continue;
                }
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b',' | b')' if depth == 0 => break,
                _ if byte == b';' || *at > limit => return false,
                _ => {}
            }
            *at += 1;
        }
        let kind = columns.secrets.iter().find(|(secret, _)| *secret == column);
        if let (Some(secret), Some((_, kind))) = (secret, kind)
            && let Some(bytes) = text.get(secret.clone())
            && secret_values::is_secret(*kind, Form::Element, bytes, true, true)
        {
            found(secret);
        }
        let is_last = column + 1 == columns.count;
        if (text.get(*at) == Some(&b')')) != is_last {
            return false;
        }
        *at += 1;
    }
    true
}

/// Returns the table that follows the `COPY` that ends at `at`.
pub(super) fn copied(text: &[u8], at: usize) -> Option<Table> {
    let Columns { count, secrets, end } = Columns::at(text, at)?;
    let rest = text.get(end..text.len().min(end + MAX_TARGET_LENGTH))?;
    let line = rest.get(..run(rest, |byte| byte != b'\n'))?;
    let is_copy = line
        .trim_ascii_start()
        .get(..10)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"from stdin"));
    (is_copy && count > 1).then(|| Table::of_columns(end + line.len() + 1, count, secrets))
}
