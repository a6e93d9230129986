//! A streaming JSON parser that validates the text and passes the values that may be shown to a [`Sketch`].
//!
//! Accepts the JSON of `JSON.parse` with two additions: a byte order mark at the start, and any number of values if
//! each begins on a line of its own (JSON Lines). Nothing recurses, and an open bracket costs one bit.

use memchr::memchr2;

use super::sampled_tree::{Key, Mark, Scalar, Sketch, Text};
use crate::json::members::{Open, has_control, is_space};

/// Maximum nesting: deeper input is treated as an attack. Open brackets take 2 MiB by then.
const DEEPEST: usize = 1 << 24;
/// Maximum length of numbers and names that are shown, because they cannot be shortened.
pub(super) const MAX_TOKEN_LENGTH: usize = 1024;
const BOM: &[u8] = "\u{feff}".as_bytes();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start; holds the number of bytes of a byte order mark so far.
    Start(usize),
    /// Expects a value: at the start, after a colon or a comma.
    Value,
    /// Expects a value or the end of an array.
    ValueOrEnd,
    /// Expects a name or the end of an object.
    KeyOrEnd,
    Key,
    Colon,
    /// After a value.
    After,
    /// After a top-level value and its line break.
    Between,
    Text(Inside),
    Number(Digits),
    /// The remaining bytes of `true`, `false` or `null`.
    Word(&'static [u8]),
    Wrong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Plain,
    Escape,
    /// Number of hexadecimal digits still expected.
    Hex(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Digits {
    /// Returns the state after the next byte, or `None` if the byte is not part of the number.
    fn next(self, byte: u8) -> Option<Digits> {
        use Digits::{Exponent, Fraction, Minus, Point, Power, Sign, Whole, Zero};
        Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
            (Zero | Whole, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => Sign,
            (Exponent | Sign | Power, b'0'..=b'9') => Power,
            _ => return None,
        })
    }

    fn is_whole_number(self) -> bool {
        matches!(self, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power)
    }
}

/// JSON that is being parsed.
#[derive(Debug, Clone)]
pub struct Scanner {
    state: State,
    open: Open,
    /// Position of the next byte.
    here: Mark,
    /// True if the current string is a name.
    is_key: bool,
    token: Token,
    word: &'static str,
    key: Option<Key>,
    sketch: Sketch,
}

/// The text of a string, a name or a number, as far as it may be shown.
#[derive(Debug, Clone, Default)]
struct Token {
    start: Mark,
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
    /// Maximum number of bytes kept of either end.
    max_bytes: usize,
}

impl Token {
    fn begin(&mut self, start: Mark, max_bytes: usize) {
        self.start = start;
        self.max_bytes = max_bytes;
        self.bytes = 0;
        self.head.clear();
        self.tail.clear();
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.max_bytes - self.head.len()));
        self.head.extend_from_slice(first);
        let last = rest.get(rest.len().saturating_sub(self.max_bytes)..).unwrap_or_default();
        self.tail.extend_from_slice(last);
        if self.tail.len() > 2 * self.max_bytes {
            self.tail.drain(..self.tail.len() - self.max_bytes);
        }
    }

    fn is_whole(&self) -> bool {
        self.bytes == self.head.len() as u64
    }

    fn text(&self) -> Text {
        let from = self.tail.len().saturating_sub(self.max_bytes);
        let tail = self.tail.get(from..).unwrap_or_default();
        Text { head: self.head.as_slice().into(), tail: tail.into(), bytes: self.bytes }
    }
}

impl Scanner {
    /// Creates a scanner that retains enough for a preview of `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        Scanner {
            state: State::Start(0),
            open: Open::default(),
            here: Mark::default(),
            is_key: false,
            token: Token::default(),
            word: "",
            key: None,
            sketch: Sketch::new(max_bytes),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, _)) = rest.split_first() {
            if self.state == State::Wrong {
                return;
            }
            let taken = self.step(byte, rest);
            rest = rest.get(taken..).unwrap_or_default();
            self.here.at += taken as u64;
        }
        if self.state == State::Wrong {
            self.sketch = Sketch::new(0);
        }
    }

    /// Returns the sample if the text, ending here, is JSON.
    pub(super) fn finish(&self) -> Option<Sketch> {
        match self.state {
            State::After | State::Between if self.open.depth() == 0 => {
                (!self.sketch.is_empty()).then(|| self.sketch.clone())
            }
            State::Number(digits) if self.open.depth() == 0 && digits.is_whole_number() => {
                let mut end = self.clone();
                end.end_number();
                Some(end.sketch)
            }
            _ => None,
        }
    }

    /// Returns the number of bytes retained.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.sketch.held()
    }

    /// Processes the next bytes, at least one unless a number ends before it. Returns the number processed.
    fn step(&mut self, byte: u8, rest: &[u8]) -> usize {
        match self.state {
            State::Text(inside) => return self.text(inside, byte, rest),
            State::Number(digits) => return self.number(digits, rest),
            State::Word(missing) => return self.word(missing, byte),
            State::Start(seen) if BOM.get(seen) == Some(&byte) => {
                self.state =
                    if seen + 1 == BOM.len() { State::Value } else { State::Start(seen + 1) };
                return 1;
            }
            State::Start(0) => self.state = State::Value,
            _ => {}
        }
        if is_space(byte) {
            return self.space(rest);
        }
        match self.state {
            State::Value => self.value(byte),
            // JSON Lines: the next value begins on a line of its own.
            State::Between => self.value(byte),
            State::ValueOrEnd if byte == b']' => self.close(),
            State::ValueOrEnd => self.value(byte),
            State::KeyOrEnd if byte == b'}' => self.close(),
            State::KeyOrEnd | State::Key if byte == b'"' => self.begin_text(true),
            State::Colon if byte == b':' => self.state = State::Value,
            State::After if self.open.depth() > 0 => match byte {
                b',' if self.open.in_object() => self.state = State::Key,
                b',' => self.state = State::Value,
                b'}' if self.open.in_object() => self.close(),
                b']' if !self.open.in_object() => self.close(),
                _ => self.state = State::Wrong,
            },
            _ => self.state = State::Wrong,
        }
        1
    }

    fn space(&mut self, rest: &[u8]) -> usize {
        let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
        let breaks = memchr::memchr_iter(b'\n', rest.get(..spaces).unwrap_or_default()).count();
        self.here.line += breaks as u64;
        if breaks > 0 && self.state == State::After && self.open.depth() == 0 {
            self.state = State::Between;
        }
        spaces
    }

    fn value(&mut self, first: u8) {
        match first {
            b'"' => self.begin_text(false),
            b'{' | b'[' => {
                let is_object = first == b'{';
                if self.open.depth() == DEEPEST {
                    self.state = State::Wrong;
                    return;
                }
                self.open.push(is_object);
                self.sketch.open(is_object, self.key.take(), self.here);
                self.state = if is_object { State::KeyOrEnd } else { State::ValueOrEnd };
            }
            b't' => self.begin_word("true"),
            b'f' => self.begin_word("false"),
            b'n' => self.begin_word("null"),
            b'-' | b'0'..=b'9' => {
                self.token.begin(self.here, MAX_TOKEN_LENGTH);
                self.token.add(&[first]);
                self.state = State::Number(match first {
                    b'-' => Digits::Minus,
                    b'0' => Digits::Zero,
                    _ => Digits::Whole,
                });
            }
            _ => self.state = State::Wrong,
        }
    }

    fn close(&mut self) {
        self.open.pop();
        self.sketch.close(self.after_this());
        self.state = State::After;
    }

    fn after_this(&self) -> Mark {
        Mark { at: self.here.at + 1, ..self.here }
    }

    fn begin_word(&mut self, word: &'static str) {
        self.token.begin(self.here, MAX_TOKEN_LENGTH);
        self.word = word;
        self.state = State::Word(word.as_bytes().get(1..).unwrap_or_default());
    }

    fn word(&mut self, missing: &'static [u8], byte: u8) -> usize {
        match missing.split_first() {
            Some((&expected, more)) if expected == byte => {
                self.state = State::Word(more);
                if more.is_empty() {
                    let (start, end) = (self.token.start, self.after_this());
                    self.sketch.scalar(Scalar::Word(self.word), self.key.take(), start, end);
                    self.state = State::After;
                }
                1
            }
            _ => {
                self.state = State::Wrong;
                1
            }
        }
    }

    fn number(&mut self, mut digits: Digits, rest: &[u8]) -> usize {
        let mut taken = 0;
        for &byte in rest {
            let Some(next) = digits.next(byte) else {
                self.token.add(rest.get(..taken).unwrap_or_default());
                if !digits.is_whole_number() {
                    self.state = State::Wrong;
                    return taken;
                }
                self.here.at += taken as u64;
                self.end_number();
                self.here.at -= taken as u64;
                return taken;
            };
            digits = next;
            taken += 1;
        }
        self.token.add(rest);
        self.state = State::Number(digits);
        taken
    }

    fn end_number(&mut self) {
        let digits = self.token.is_whole().then(|| self.token.head.as_slice().into());
        let (start, end) = (self.token.start, self.here);
        self.sketch.scalar(Scalar::Number(digits), self.key.take(), start, end);
        self.state = State::After;
    }

    fn begin_text(&mut self, is_key: bool) {
        self.is_key = is_key;
        let max_bytes = if !self.sketch.is_listening() {
            0
        } else if is_key {
            MAX_TOKEN_LENGTH
        } else {
            self.sketch.longest_text()
        };
        self.token.begin(self.here, max_bytes);
        self.state = State::Text(Inside::Plain);
    }

    fn text(&mut self, inside: Inside, byte: u8, rest: &[u8]) -> usize {
        match inside {
            Inside::Plain => {
                let found = memchr2(b'"', b'\\', rest);
                let plain = rest.get(..found.unwrap_or(rest.len())).unwrap_or_default();
                if has_control(plain) {
                    self.state = State::Wrong;
                    return rest.len();
                }
                self.token.add(plain);
                match found {
                    None => rest.len(),
                    Some(at) if rest.get(at) == Some(&b'"') => {
                        self.here.at += at as u64;
                        self.end_text();
                        self.here.at -= at as u64;
                        at + 1
                    }
                    Some(at) => {
                        self.token.add(b"\\");
                        self.state = State::Text(Inside::Escape);
                        at + 1
                    }
                }
            }
            Inside::Escape => {
                self.token.add(&[byte]);
                self.state = match byte {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                        State::Text(Inside::Plain)
                    }
                    b'u' => State::Text(Inside::Hex(4)),
                    _ => State::Wrong,
                };
                1
            }
            Inside::Hex(missing) => {
                self.token.add(&[byte]);
                self.state = match (byte.is_ascii_hexdigit(), missing) {
                    (false, _) => State::Wrong,
                    (true, 1) => State::Text(Inside::Plain),
                    (true, _) => State::Text(Inside::Hex(missing - 1)),
                };
                1
            }
        }
    }

    fn end_text(&mut self) {
        let (start, end) = (self.token.start, self.after_this());
        if self.is_key {
            let name = self.token.is_whole().then(|| self.token.head.as_slice().into());
            self.key = Some(Key { name, start });
            self.state = State::Colon;
        } else {
            let text = Scalar::Text(self.token.text());
            self.sketch.scalar(text, self.key.take(), start, end);
            self.state = State::After;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_json(text: &[u8], piece: usize) -> bool {
        let mut scanner = Scanner::new(1000);
        text.chunks(piece.max(1)).for_each(|piece| scanner.push(piece));
        scanner.finish().is_some()
    }

    #[test]
    fn one_value_a_line_is_json_lines_and_anything_else_behind_a_value_is_not() {
        for text in
            ["{}\n[]\n", "1\n2", " {\"a\":\n1}\n\n{}", "\u{feff}{}", "-0.5e+3", "\"\\ud800\""]
        {
            assert!(is_json(text.as_bytes(), 3), "{text:?}");
        }
        for text in [
            "", " \n", "{} {}", "1 2", "{}x", "{}\nx", "\u{feff}", "[1,]", "01", "-", "1e",
            "\"\n\"", "tru", "[}",
        ] {
            assert!(!is_json(text.as_bytes(), 3), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_serde_takes_for_json(
            text in prop_oneof![crate::json::members::tests::almost_json(), crate::json::members::tests::json()],
            piece in 1usize..9,
        ) {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            let found = is_json(text.as_bytes(), piece);
            // More than one value is JSON Lines.
            let lines: Result<Vec<_>, _> = serde_json::Deserializer::from_str(&text).into_iter::<serde::de::IgnoredAny>().collect();
            let is_lines = lines.is_ok_and(|lines| lines.len() > 1);
            prop_assert!(found == expected || found && is_lines, "{:?}", text);
        }
    }
}
