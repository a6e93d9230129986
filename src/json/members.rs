//! Reads the members of a JSON object without building a tree.
//!
//! [`members`] reads a whole text and accepts exactly what `JSON.parse` accepts, however deeply it is nested: an open
//! bracket costs one bit, and nothing recurses. [`LastMembers`] walks backwards from the end of a text whose start is
//! not known, on the assumption that the whole is valid.
//!
//! Both work on bytes of which only ASCII is significant. Every other character is a sequence of bytes from 0x80 up,
//! which JSON allows inside strings only.
//!
//! ```
//! use spillway_core::json::members::{Value, members};
//!
//! let mut output = None;
//! assert!(members(br#"{"id": 7, "output": "ok"}"#, |key, value| {
//!     if let (true, Value::Text(text)) = (key.is("output"), value) {
//!         output = Some(text);
//!     }
//! }));
//! assert_eq!(output, Some(&b"ok"[..]));
//! assert!(!members(b"[1, 2", |_, _| {}));
//! ```

use memchr::{memchr, memchr2, memrchr};

use crate::text::simd::{self, u8x16};

/// The value of a member. Strings and numbers are given as written; nested values are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// The bytes between the quotes, escapes included.
    Text(&'a [u8]),
    Number(&'a [u8]),
    /// `true`, `false` or `null`.
    Word,
    Nested {
        /// True if the object or array has no elements.
        empty: bool,
    },
}

/// The key of a member: the bytes between the quotes, escapes included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a>(pub &'a [u8]);

impl Key<'_> {
    /// Returns true if the key spells `name`, which must be ASCII.
    pub fn is(self, name: &str) -> bool {
        if !self.0.contains(&b'\\') {
            return self.0 == name.as_bytes();
        }
        let mut rest = self.0;
        for expected in name.bytes() {
            let Some(length) = spells(rest, expected) else { return false };
            rest = rest.get(length..).unwrap_or_default();
        }
        rest.is_empty()
    }
}

/// Returns the number of bytes at the start of `raw` that spell `expected`, escaped or not.
fn spells(raw: &[u8], expected: u8) -> Option<usize> {
    match raw {
        [b'\\', b'u', digits @ ..] => {
            // `from_str_radix` would accept a sign.
            let digits =
                digits.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            (code == u32::from(expected)).then_some(6)
        }
        // None of the short escapes denotes a character that occurs in names.
        [byte, ..] if *byte == expected && *byte != b'\\' => Some(1),
        _ => None,
    }
}

/// Calls `each` with every member of the object in `text`, in order, and returns whether `text` is valid JSON. JSON
/// that is not an object has no members. If the result is `false`, `each` may have been called already.
pub fn members<'a>(text: &'a [u8], each: impl FnMut(Key<'a>, Value<'a>)) -> bool {
    // One pass for control characters is fast, and most JSON is on one line, so that strings need no check of their
    // own.
    let strings = if has_control(text) { Strings::Checked } else { Strings::WithoutControls };
    Reader { text, at: 0, open: Open::default(), strings }.document(each).is_some()
}

/// Like [`members`], but several times as fast: the content of strings is not checked, so the result may be `true` for
/// a text that is not JSON. It is never `false` for valid JSON, and the members are right then.
pub fn members_on_trust<'a>(text: &'a [u8], each: impl FnMut(Key<'a>, Value<'a>)) -> bool {
    Reader { text, at: 0, open: Open::default(), strings: Strings::Trusted }
        .document(each)
        .is_some()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strings {
    /// Only the ends of strings are looked for.
    Trusted,
    /// Escapes are checked; the text is known to have no control characters.
    WithoutControls,
    /// Escapes and control characters are checked.
    Checked,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    open: Open,
    strings: Strings,
}

impl<'a> Reader<'a> {
    /// Returns `None` if the text is not JSON, as do the functions below.
    fn document(&mut self, mut each: impl FnMut(Key<'a>, Value<'a>)) -> Option<()> {
        loop {
            let key = if self.open.in_object() { Some(self.key()?) } else { None };
            let depth = self.open.depth;
            let value = self.value_or_its_start()?;
            if let (Some(key), 1) = (key, depth) {
                each(key, value);
            }
            // A bracket was opened: its first member or element comes next.
            if self.open.depth > depth {
                continue;
            }
            loop {
                self.space();
                if self.open.depth == 0 {
                    return (self.at == self.text.len()).then_some(());
                }
                match self.take()? {
                    b',' => break,
                    b'}' if self.open.in_object() => self.open.pop(),
                    b']' if !self.open.in_object() => self.open.pop(),
                    _ => return None,
                }
            }
        }
    }

    fn key(&mut self) -> Option<Key<'a>> {
        self.space();
        if self.take()? != b'"' {
            return None;
        }
        let key = Key(self.string()?);
        self.space();
        (self.take()? == b':').then_some(key)
    }

    /// Reads a value, or only the opening bracket of a nested value that is not empty.
    fn value_or_its_start(&mut self) -> Option<Value<'a>> {
        self.space();
        match self.take()? {
            b'"' => Some(Value::Text(self.string()?)),
            b'{' => Some(self.bracket(true, b'}')),
            b'[' => Some(self.bracket(false, b']')),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            first => self.number(first),
        }
    }

    fn bracket(&mut self, object: bool, close: u8) -> Value<'a> {
        self.space();
        let empty = self.peek() == Some(close);
        if empty {
            self.at += 1;
        } else {
            self.open.push(object);
        }
        Value::Nested { empty }
    }

    fn word(&mut self, rest: &[u8]) -> Option<Value<'a>> {
        self.text.get(self.at..)?.starts_with(rest).then(|| {
            self.at += rest.len();
            Value::Word
        })
    }

    fn number(&mut self, first: u8) -> Option<Value<'a>> {
        let start = self.at - 1;
        let first = if first == b'-' { self.take()? } else { first };
        match first {
            // A leading 0 has no digits after it.
            b'0' => {}
            b'1'..=b'9' => {
                self.digits();
            }
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Some(Value::Number(self.text.get(start..self.at)?))
    }

    fn some_digits(&mut self) -> Option<()> {
        (self.digits() > 0).then_some(())
    }

    fn digits(&mut self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    /// Reads the rest of a string whose opening quote has been read.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let end = if self.strings == Strings::Trusted {
            self.trusted_end()?
        } else {
            self.checked_end()?
        };
        self.at = end + 1;
        self.text.get(start..end)
    }

    fn checked_end(&self) -> Option<usize> {
        let mut at = self.at;
        loop {
            let (plain, found) = {
                let rest = self.text.get(at..)?;
                rest.split_at(memchr2(b'"', b'\\', rest)?)
            };
            if self.strings == Strings::Checked && has_control(plain) {
                return None;
            }
            at += plain.len();
            at += match found {
                [b'"', ..] => return Some(at),
                [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                [_, b'u', digits @ ..] if digits.get(..4)?.iter().all(u8::is_ascii_hexdigit) => 6,
                _ => return None,
            };
        }
    }

    fn trusted_end(&self) -> Option<usize> {
        let mut from = self.at;
        loop {
            let quote = from + memchr(b'"', self.text.get(from..)?)?;
            // A quote is escaped by an odd number of backslashes. They are counted back to the last quote at most, so
            // that none is counted twice.
            let backslashes =
                self.text.get(from..quote)?.iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                return Some(quote);
            }
            from = quote + 1;
        }
    }

    fn space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

/// Returns true if the text has a control character, which strings must not contain unescaped.
pub(crate) fn has_control(text: &[u8]) -> bool {
    simd::any_byte(text, b' ', |bytes| bytes.simd_lt(u8x16::splat(0x20)))
}

/// Returns true for JSON white space, which is a subset of JavaScript's.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// The stack of open brackets, one bit each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Open {
    depth: usize,
    /// A set bit is an object.
    bits: Vec<u64>,
}

impl Open {
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn push(&mut self, object: bool) {
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if word == self.bits.len() {
            self.bits.push(0);
        }
        if let Some(bits) = self.bits.get_mut(word) {
            *bits = if object { *bits | bit } else { *bits & !bit };
        }
        self.depth += 1;
    }

    pub(crate) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(crate) fn in_object(&self) -> bool {
        let Some(top) = self.depth.checked_sub(1) else { return false };
        self.bits.get(top / 64).is_some_and(|bits| bits >> (top % 64) & 1 == 1)
    }
}

/// Iterates over the last members of an object, last first, given only the end of its text.
///
/// If the whole text is JSON, every member returned is a member of the top-level object: the closing brace at the end
/// is outside of any string, and going backwards from there every quote is known to open or to close a string. The
/// iteration ends at a nested value and wherever more of the text would be needed.
///
/// If the whole text is not JSON, the members mean nothing; only the bytes of [`LastMember::marker`] are guaranteed to
/// be there.
#[derive(Debug)]
pub struct LastMembers<'a> {
    rest: &'a [u8],
}

/// A member returned by [`LastMembers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMember<'a> {
    pub key: Key<'a>,
    /// The value, which is never nested.
    pub value: Value<'a>,
    /// True if the colon follows the key's closing quote directly, as in `"key":`.
    pub marker: bool,
}

impl<'a> LastMembers<'a> {
    /// Returns an iterator over the members before the end of `tail`, or `None` if no object ends there.
    pub fn of(tail: &'a [u8]) -> Option<Self> {
        Some(LastMembers { rest: before_space(tail).strip_suffix(b"}")? })
    }
}

impl<'a> Iterator for LastMembers<'a> {
    type Item = LastMember<'a>;

    fn next(&mut self) -> Option<LastMember<'a>> {
        let (rest, value) = last_value(before_space(self.rest))?;
        let rest = before_space(rest).strip_suffix(b":")?;
        let (rest, key) = last_string(before_space(rest))?;
        // Both slices begin at the same byte: this is the byte after the key's closing quote.
        let marker = self.rest.get(rest.len() + key.len() + 2) == Some(&b':');
        // The preceding byte shows that the key's opening quote is not an escaped one.
        self.rest = match before_space(rest).split_last()? {
            (b',', rest) => rest,
            // The object begins here.
            (b'{', _) => &[],
            _ => return None,
        };
        Some(LastMember { key: Key(key), value, marker })
    }
}

fn before_space(text: &[u8]) -> &[u8] {
    let spaces = text.iter().rev().take_while(|byte| is_space(**byte)).count();
    text.get(..text.len() - spaces).unwrap_or_default()
}

fn last_value(text: &[u8]) -> Option<(&[u8], Value<'_>)> {
    if text.ends_with(b"\"") {
        return last_string(text).map(|(rest, raw)| (rest, Value::Text(raw)));
    }
    let length = text
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.'))
        .count();
    let (rest, raw) = text.split_at_checked(text.len() - length)?;
    let value = match raw.first()? {
        b't' | b'f' | b'n' => Value::Word,
        _ => Value::Number(raw),
    };
    Some((rest, value))
}

/// Splits off the string at the end of `text`: returns its content and the text before it.
fn last_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let body = text.strip_suffix(b"\"")?;
    let mut end = body.len();
    loop {
        let quote = memrchr(b'"', body.get(..end)?)?;
        let front = body.get(..quote)?;
        let backslashes = front.iter().rev().take_while(|byte| **byte == b'\\').count();
        // Inside a string every quote has an odd number of backslashes before it; the opening quote has a colon, a
        // comma, a brace or white space there, which the caller checks.
        if backslashes % 2 == 0 {
            return Some((front, body.get(quote + 1..)?));
        }
        end = quote;
    }
}

#[cfg(test)]
pub(crate) mod tests;
