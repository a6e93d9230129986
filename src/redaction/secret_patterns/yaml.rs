//! Values of YAML that go on in the next lines, and all values of a Secret of Kubernetes.

use std::ops::Range;

use super::contexts::{line_before, run};
use super::secret_values;

/// Maximum number of bytes of a value over several lines, and of a document.
const MAX_VALUE_LENGTH: usize = 1024;
const MAX_DOCUMENT_LENGTH: usize = 16 * 1024;
/// Maximum number of bytes of a line before a name or an item.
const MAX_LINE_LENGTH: usize = 128;
/// Maximum number of lines between the values of a Secret and its kind.
const MAX_LINES: usize = 64;

/// A line without its end.
struct Line {
    range: Range<usize>,
    /// Number of spaces and dashes before its content.
    indent: usize,
    /// True if it begins an item of a list.
    is_item: bool,
    next: usize,
}

impl Line {
    fn at(text: &[u8], from: usize) -> Option<Line> {
        let rest = text
            .get(from..text.len().min(from + MAX_DOCUMENT_LENGTH))
            .filter(|rest| !rest.is_empty())?;
        let length = run(rest, |byte| byte != b'\n');
        let line = rest.get(..length)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let indent = run(line, |byte| byte == b' ');
        let dashes = if line.get(indent..)?.starts_with(b"- ") {
            indent + 2 + run(line.get(indent + 2..)?, |byte| byte == b' ')
        } else {
            indent
        };
        Some(Line {
            range: from..from + line.len(),
            indent: dashes,
            is_item: dashes > indent,
            next: from + length + 1,
        })
    }

    fn content<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.range.start + self.indent..self.range.end)
            .unwrap_or_default()
            .trim_ascii_end()
    }

    /// Returns true for a line that is a part of what a line with this indentation opens.
    fn is_within(&self, text: &[u8], indent: usize) -> bool {
        self.content(text).is_empty() || self.indent > indent
    }
}

/// Returns the column of a position, if only spaces and the dash of a list precede it in its line.
fn column(text: &[u8], at: usize) -> Option<usize> {
    let line = line_before(text, at, MAX_LINE_LENGTH);
    line.iter().all(|byte| matches!(byte, b' ' | b'-')).then_some(line.len())
}

/// Returns the end of a value without quotes that ends its line at `end`, and of the lines that continue it. Each is one
/// word: more may be a sentence about the value.
pub(super) fn continued(text: &[u8], name: usize, end: usize) -> usize {
    let Some(indent) = column(text, name) else { return end };
    let mut to = end;
    let Some(mut at) = Line::at(text, end).map(|line| line.next) else { return end };
    while let Some(line) = Line::at(text, at).filter(|line| line.next < end + MAX_VALUE_LENGTH) {
        let word = line.content(text);
        let is_word = word.len() >= 4
            && line.indent > indent
            && word.iter().all(u8::is_ascii_graphic)
            && !word.ends_with(b":")
            && !word.starts_with(b"#")
            && !secret_values::is_reference(word);
        if !is_word {
            break;
        }
        to = line.range.start + line.indent + word.len();
        at = line.next;
    }
    to
}

/// Returns the only word of the line after its name, if it is further to the right and has a digit.
pub(super) fn below(text: &[u8], name: usize, at: usize) -> Option<usize> {
    let indent = column(text, name)?;
    let line = Line::at(text, at + run(text.get(at..)?, |byte| matches!(byte, b'\r' | b'\n')))?;
    let word = line.content(text);
    let is_word = line.indent > indent
        && word.iter().all(|byte| byte.is_ascii_graphic() && *byte != b':')
        && word.iter().any(u8::is_ascii_digit);
    is_word.then_some(line.range.start + line.indent)
}

/// Returns the lines of a block, `|` or `>`, whose first one is at `at`, without the white space at both ends.
pub(super) fn block(text: &[u8], name: usize, at: usize) -> Option<Range<usize>> {
    let indent = column(text, name)?;
    let mut next = at - line_before(text, at, at).len();
    let mut range = None;
    while let Some(line) = Line::at(text, next).filter(|line| line.next < at + MAX_VALUE_LENGTH) {
        let spaces = run(text.get(line.range.clone())?, |byte| byte == b' ');
        let content = text.get(line.range.start + spaces..line.range.end)?.trim_ascii_end();
        if !content.is_empty() {
            if spaces <= indent {
                break;
            }
            let from = line.range.start + spaces;
            range.get_or_insert(from..from).end = from + content.len();
        }
        next = line.next;
    }
    range
}

/// Passes on the items of the list, or the values of the members, in the lines after the name at `name`, and whether they
/// are members.
pub(super) fn below_name(
    text: &[u8],
    name: usize,
    at: usize,
    max: usize,
    each: &mut impl FnMut(Range<usize>, bool),
) {
    let Some(indent) = column(text, name) else { return };
    let Some(mut next) = Line::at(text, at).map(|line| line.next) else { return };
    let mut own = None;
    while let Some(line) = Line::at(text, next).filter(|line| line.next < at + max) {
        next = line.next;
        let content = line.content(text);
        if content.is_empty() {
            continue;
        }
        // The dash of an item may be below the name.
        let is_within = line.indent > indent;
        let own = *own.get_or_insert(line.indent);
        if !is_within || line.indent < own {
            return;
        }
        let from = line.range.start + line.indent;
        let whole = from..from + content.len();
        let colon = content.windows(2).position(|pair| pair == b": ");
        match colon {
            _ if line.indent > own => {}
            Some(colon) if !line.is_item => {
                let gap = run(content.get(colon + 1..).unwrap_or_default(), |byte| byte == b' ');
                each(from + colon + 1 + gap..whole.end, true);
            }
            None if line.is_item => each(whole, false),
            _ => {}
        }
    }
}

/// Returns the start of the item in the line after the one that ends at `at`, if both are items of one list.
pub(super) fn next_item(text: &[u8], at: usize) -> Option<usize> {
    let start = at - line_before(text, at, MAX_LINE_LENGTH).len();
    let item = Line::at(text, start).filter(|line| line.is_item)?;
    let next = Line::at(text, item.next).filter(|line| line.is_item)?;
    (item.indent == next.indent).then_some(next.range.start + next.indent)
}

/// Passes on the names and the values of the members in the lines after the name at `name`.
pub(super) fn members(
    text: &[u8],
    name: usize,
    at: usize,
    max: usize,
    each: &mut impl FnMut(&[u8], Range<usize>),
) {
    below_name(text, name, at, max, &mut |value, is_member| {
        let line = line_before(text, value.start, value.start).trim_ascii();
        if let Some(key) = line.strip_suffix(b":").filter(|_| is_member) {
            each(key, value);
        }
    });
}

/// Returns a value in quotes that is closed in one of the next lines.
pub(super) fn quoted(text: &[u8], name: usize, at: usize) -> Option<Range<usize>> {
    let indent = column(text, name)?;
    let quote = *text.get(at).filter(|quote| matches!(quote, b'"' | b'\''))?;
    let first = Line::at(text, at)?;
    if text.get(at + 1..first.range.end)?.contains(&quote) {
        return None;
    }
    let mut next = first.next;
    loop {
        let line = Line::at(text, next).filter(|line| line.next < at + MAX_VALUE_LENGTH)?;
        if !line.is_within(text, indent) {
            return None;
        }
        let content = line.content(text);
        if let Some(end) = content.iter().position(|byte| *byte == quote) {
            let to = line.range.start + line.indent + end;
            return (end + 1 == content.len()).then_some(at + 1..to);
        }
        next = line.next;
    }
}

/// Finds the values of a Secret whose kind is at `at`, in what follows.
pub(super) fn secret_of_kind(text: &[u8], at: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    let Some(indent) = column(text, at.start) else { return };
    let Some(first) = Line::at(text, at.start) else { return };
    if !text.get(at.start..first.range.end).is_some_and(is_secret_kind) {
        return;
    }
    let mut next = first.next;
    while let Some(line) =
        Line::at(text, next).filter(|line| line.next < at.end + MAX_DOCUMENT_LENGTH)
    {
        let content = line.content(text);
        if !content.is_empty() && (line.indent < indent || is_other(&line, content, indent)) {
            return;
        }
        next = match line.indent == indent && is_block(content) {
            true => values(text, line.next, indent, found),
            false => line.next,
        };
    }
}

/// Finds the values after the `data:` at `at`, if they are those of a Secret, whose kind follows.
pub(super) fn secret_of_data(text: &[u8], at: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    let before = text.get(at.start.saturating_sub(6)..at.start).unwrap_or_default();
    let start = at.start - if before.ends_with(b"string") { 6 } else { 0 };
    let (Some(indent), Some(first)) = (column(text, start), Line::at(text, start)) else { return };
    if !text.get(start..first.range.end).is_some_and(|line| is_block(line.trim_ascii_end())) {
        return;
    }
    let mut next = values(text, first.next, indent, &mut |_| ());
    for _ in 0..MAX_LINES {
        let Some(line) = Line::at(text, next) else { return };
        let content = line.content(text);
        if line.indent == indent && is_secret_kind(content) {
            values(text, first.next, indent, found);
            return;
        }
        let ends = line.indent < indent || is_other(&line, content, indent) || is_block(content);
        if !content.is_empty() && ends {
            return;
        }
        next = line.next;
    }
}

/// Returns true for the line that says that an object is a Secret, also with quotes and a comment.
fn is_secret_kind(line: &[u8]) -> bool {
    let kind = line.strip_prefix(b"kind:").map(without_comment).unwrap_or_default();
    matches!(kind, b"Secret" | b"\"Secret\"" | b"'Secret'")
}

fn is_block(content: &[u8]) -> bool {
    matches!(without_comment(content), b"data:" | b"stringData:")
}

/// Returns a line without the spaces around it and the comment at its end.
fn without_comment(line: &[u8]) -> &[u8] {
    let end = line.windows(2).position(|pair| pair == b" #").unwrap_or(line.len());
    line.get(..end).unwrap_or_default().trim_ascii()
}

/// Returns true for a line that begins another document or object, or that is not YAML.
fn is_other(line: &Line, content: &[u8], indent: usize) -> bool {
    let key = run(content, |byte| byte.is_ascii_graphic() && byte != b':');
    let is_key = key > 0 && content.get(key) == Some(&b':');
    line.indent <= indent && (line.is_item || !is_key || content.starts_with(b"kind:"))
}

/// Finds the values in the lines from `at` on that are further to the right, and returns where these end.
fn values(text: &[u8], at: usize, indent: usize, found: &mut impl FnMut(Range<usize>)) -> usize {
    let mut next = at;
    // The indentation of the name whose value the lines are, `key: |`.
    let mut name = usize::MAX;
    while let Some(line) = Line::at(text, next)
        .filter(|line| line.next < at + MAX_DOCUMENT_LENGTH && line.is_within(text, indent))
    {
        next = line.next;
        let content = line.content(text);
        if content.is_empty() {
            continue;
        }
        let from = line.range.start + line.indent;
        if line.indent > name {
            found(from..from + content.len());
            continue;
        }
        name = line.indent;
        let Some(colon) = content.windows(2).position(|pair| pair == b": ") else { continue };
        let gap = run(content.get(colon + 1..).unwrap_or_default(), |byte| byte == b' ');
        let value = content.get(colon + 1 + gap..).unwrap_or_default();
        let is_mark = matches!(value.first(), Some(b'|' | b'>'))
            && value.iter().all(|byte| b"|>+-0123456789".contains(byte));
        let from = from + colon + 1 + gap;
        let quotes = usize::from(value.len() > 1 && matches!(value.first(), Some(b'"' | b'\'')));
        let bare = value.get(quotes..value.len() - quotes).unwrap_or_default();
        if !is_mark && !secret_values::is_reference(bare) {
            found(from + quotes..from + quotes + bare.len());
        }
    }
    next
}
