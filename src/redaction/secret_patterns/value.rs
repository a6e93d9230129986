//! Values next to the name of a secret: where they end.

use std::ops::Range;

use super::before_value::lines;
use super::contexts::{line_before, run};
use super::secret_values::{Form, case_changes};

/// Maximum number of bytes examined of a value.
pub(super) const MAX_VALUE_LENGTH: usize = 4096;

/// A value without its quotes.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    /// Offset after the value and its quote.
    pub(super) end: usize,
}

/// Returns the number of escape bytes before the quote at `at`, if there is one: 0 in plain text, 1 in JSON of a text,
/// 3 in JSON of that.
fn quote_at(text: &[u8], at: usize) -> Option<(usize, u8)> {
    let escapes = text.get(at..)?.iter().take(16).take_while(|byte| **byte == b'\\').count();
    let quote = *text.get(at + escapes)?;
    matches!(quote, b'"' | b'\'' | b'`').then_some((escapes, quote))
}

/// Returns the quoted value that begins at `at`.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Value> {
    let (escapes, quote) = quote_at(text, at)?;
    let is_tripled = escapes == 0 && text.get(at + 1..at + 3) == Some(&[quote, quote]);
    let from = at + escapes + if is_tripled { 3 } else { 1 };
    let max = text.len().min(from + MAX_VALUE_LENGTH);
    let mut run = 0;
    let mut to = from;
    // A quote inside is written twice in SQL, YAML and CSV. If the second one does not close, the first one did.
    let mut first_end = None;
    while to < max {
        match text.get(to).copied()? {
            b'\\' => run += 1,
            b'\n' => break,
            byte if byte == quote => {
                // An escaped quote has more backslashes before it than the opening quote: twice as many and one more.
                let closes = run >= escapes && (run - escapes).is_multiple_of(2 * (escapes + 1));
                if closes || quote == b'\'' && escapes == 0 && run.is_multiple_of(2) {
                    let value = Value { range: from..to - run.min(escapes), end: to + 1 };
                    let is_doubled = escapes == 0 && !is_tripled && to > from;
                    if !is_doubled || text.get(to + 1) != Some(&quote) {
                        return Some(value);
                    }
                    first_end.get_or_insert(value);
                    to += 1;
                }
                run = 0;
            }
            _ => run = 0,
        }
        to += 1;
    }
    if first_end.is_some() {
        return first_end;
    }
    // It does not end on its line: truncated, or not a quote at all.
    let rest = text.get(from..to)?;
    let word = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    (word == rest.len() && word > 0).then_some(Value { range: from..to, end: to })
}

/// Returns the unquoted value that begins at `at`: up to white space, a quote, or its end in code, in a query or in a
/// list.
pub(super) fn bare(text: &[u8], at: usize, is_query: bool) -> Option<Value> {
    bare_within(text, at, is_query, MAX_VALUE_LENGTH)
}

/// Like [`bare`], but reads at most `max` bytes.
pub(super) fn bare_within(text: &[u8], at: usize, is_query: bool, max: usize) -> Option<Value> {
    let rest = text.get(at..text.len().min(at + max))?;
    let is_end = |place: usize, byte: u8| {
        let next = rest.get(place + 1).copied().unwrap_or(b' ');
        let escapes_space = |at: usize| {
            rest.get(at) == Some(&b'\\')
                && rest.get(at + 1) == Some(&b' ')
                && at.checked_sub(1).and_then(|before| rest.get(before)) != Some(&b'\\')
                && rest.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
        };
        // The shell takes a backslash at the end of a line away, together with the end.
        let continues = |at: usize| {
            rest.get(at..at + 2) == Some(b"\\\n")
                && at > 0
                && rest.get(at + 2).is_some_and(u8::is_ascii_alphanumeric)
        };
        match byte {
            b' ' if place > 1 && escapes_space(place - 1) => false,
            b'\\' if continues(place) => false,
            b'\n' if place > 1 && continues(place - 1) => false,
            b'"' | b'\'' | b'`' | b'|' | b';' | 0..=b' ' | 0x7f => true,
            b'<' => place > 0,
            b'\\' if place > 0 && escapes_space(place) => false,
            b'\\' => matches!(
                next,
                b'n' | b'r' | b't' | b'u' | b'x' | b'"' | b'\'' | b'\\' | b' ' | b'\n'
            ),
            b'&' if is_query => true,
            b'&' if rest
                .get(place..)
                .is_some_and(|rest| rest.starts_with(b"&quot;") || rest.starts_with(b"&#3")) =>
            {
                true
            }
            b',' | b'&' => {
                let mut after = rest.iter().skip(place + 1).copied();
                let name = after.by_ref().take(40).find(|byte| !is_name(*byte));
                !is_name(next) || matches!(name, Some(b'=' | b':'))
            }
            _ => false,
        }
    };
    let mut length = 0;
    while let Some(byte) = rest.get(length) {
        if !byte.is_ascii_alphanumeric() && is_end(length, *byte) {
            break;
        }
        length += 1;
    }
    let mut value = rest.get(..length)?;
    // The closing bracket of a call, a list or a sentence is not a part of the value, unless the value opens it.
    loop {
        let opens = |open: u8| value.contains(&open);
        value = match value {
            [shorter @ .., b')'] if !opens(b'(') => shorter,
            [shorter @ .., b']'] if !opens(b'[') => shorter,
            [shorter @ .., b'}'] if !opens(b'{') => shorter,
            [shorter @ .., b'>'] if !opens(b'<') => shorter,
            [shorter @ .., b',' | b'.' | b':'] => shorter,
            _ => break,
        };
    }
    let range = at..at + value.len();
    (!value.is_empty()).then_some(Value { end: range.end, range })
}

/// Returns the end of the texts after one in brackets that begins at `at` and ends at `end`, as Python joins them: `("…" "…")`.
pub(super) fn end_in_brackets(text: &[u8], at: usize, end: usize) -> usize {
    let before = text.get(at.saturating_sub(32)..at).unwrap_or_default().trim_ascii_end();
    let (mut to, mut end) = (0, end);
    while before.ends_with(b"(")
        && end < at + MAX_VALUE_LENGTH
        && let Some(next) = quoted(text, lines(text, end)).filter(|next| next.end > next.range.end)
    {
        (to, end) = (next.range.end, next.end);
    }
    to
}

/// Returns the maximum length of a value without quotes that begins at `at`, up to `limit`. A mark ends it in a part of an address that
/// is encoded as a whole, `%26`, `%22`, and a letter of another script after a word of a sentence.
pub(super) fn max_length(text: &[u8], at: usize, limit: usize, form: Form) -> usize {
    const ENDS: [&[u8]; 11] =
        [b"%26", b"%22", b"%27", b"%2C", b"%2c", b"%7D", b"%7d", b"%3B", b"%3b", b"%0A", b"%0D"];
    let rest = text.get(at..text.len().min(at + limit)).unwrap_or_default();
    let mark = text.get(at.saturating_sub(3)..at);
    let is_coded = matches!(mark, Some([b'%', b'2' | b'3', byte]) if byte.is_ascii_hexdigit());
    let end = match form {
        Form::Sentence => rest.iter().position(|byte| !byte.is_ascii()),
        _ if is_coded => rest.windows(3).position(|part| ENDS.contains(&part)),
        _ => None,
    };
    end.unwrap_or(limit)
}

/// Returns the end of a token that continues in the next lines, because it was wrapped where its line was full.
pub(super) fn wrapped(text: &[u8], token: &Range<usize>) -> usize {
    const MIN_LINE: usize = 60;
    const MIN_REST: usize = 16;
    const MAX_LINES: usize = 32;
    let mut to = token.end;
    let is_full = token.len() >= MIN_LINE / 2 && line_before(text, to, MIN_LINE).len() >= MIN_LINE;
    if !is_full {
        return to;
    }
    // Only tokens of JSON have dots. A line that is shorter than the first part is the last one.
    let first = text.get(token.clone()).unwrap_or_default();
    let is_of_token = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || b"_-+/=".contains(&byte)
            || byte == b'.' && first.starts_with(b"eyJ")
    };
    let mut last = first.len();
    for _ in 0..MAX_LINES {
        if last < first.len() {
            break;
        }
        let rest = text.get(to..text.len().min(to + 1024)).unwrap_or_default();
        let gap = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => break,
        };
        let line = rest.get(gap..).unwrap_or_default();
        let length = run(line, is_of_token);
        let word = line.get(..length).unwrap_or_default();
        let has = |is: fn(&u8) -> bool| word.iter().any(is);
        let is_rest = length >= MIN_REST
            && has(u8::is_ascii_digit)
            && case_changes(word) * 4 >= length
            && matches!(line.get(length), None | Some(b'\n' | b'\r' | b'"' | b'\''));
        if !is_rest {
            break;
        }
        to += gap + length;
        last = length;
    }
    to
}

/// Returns the end of a word of a shell whose part in quotes ends at `end`, offset after the quote: `'it'\\''s'`, `"a"'b'`.
pub(super) fn joined(text: &[u8], range: &Range<usize>, end: usize) -> usize {
    let mut to = range.end;
    let mut at = end;
    loop {
        let rest = text.get(at..text.len().min(at + MAX_VALUE_LENGTH)).unwrap_or_default();
        let escape = match rest {
            [b'\\', b'\'', b'\'', ..] => 2,
            [b'"', b'\'', b'"', b'\'', ..] => 3,
            [b'"' | b'\'', ..] => 0,
            _ => return to,
        };
        let Some(part) = quoted(text, at + escape).filter(|part| part.end > part.range.end) else {
            return to;
        };
        let bytes = text.get(part.range.clone()).unwrap_or_default();
        let is_part = bytes.iter().any(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|byte| byte.is_ascii_graphic() && !b",=:".contains(byte));
        if escape == 0 && !is_part || bytes.is_empty() {
            return to;
        }
        (to, at) = (part.range.end, part.end);
    }
}

/// Returns the end of a value without quotes that continues after a mark which ends values in code, up to the end of its line,
/// or of its setting in a list of these: `a|b`, `a'b;Server=x`.
pub(super) fn end_of_unquoted(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..text.len().min(end + MAX_VALUE_LENGTH)).unwrap_or_default();
    let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    // Nothing follows it in its line but a comment.
    let after = rest.get(length..).unwrap_or_default();
    let after = after.get(run(after, |byte| matches!(byte, b' ' | b'\t'))..).unwrap_or_default();
    let ends = matches!(after.first(), None | Some(b'\n' | b'\r' | b'#'));
    let word = rest.get(..length).unwrap_or_default();
    let setting = word.iter().position(|byte| *byte == b'=').unwrap_or(length);
    let to = match word.get(..setting).and_then(|word| word.iter().rposition(|byte| *byte == b';'))
    {
        Some(mark) if setting < length => mark,
        _ if setting < length => return end,
        _ => length,
    };
    let more = word.get(..to).unwrap_or_default();
    let is_mark = matches!(more.first(), Some(b'|' | b';' | b'<' | b'"' | b'\'' | b'`' | b'\\'));
    let is_text = more.iter().any(u8::is_ascii_alphanumeric)
        && more.last().is_some_and(u8::is_ascii_alphanumeric)
        && !more
            .windows(2)
            .any(|pair| matches!(pair, b"</" | b"<<" | b"$(" | b"${" | b"||" | b";;"));
    if ends && is_mark && is_text { end + to } else { end }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
