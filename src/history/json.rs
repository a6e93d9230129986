//! The members of a JSON object, without building it.
//!
//! [`members`] reads a whole text and accepts exactly what `JSON.parse` accepts, however deep it is nested: open
//! brackets cost one bit each, and nothing recurses. [`LastMembers`] walks backwards from the end of a text of which
//! nothing else is seen, on the assumption that the whole is valid.
//!
//! Both work on bytes in which only ASCII has a meaning. Every other character stands for itself as a byte from 0x80 up,
//! which JSON allows inside strings and nowhere else.

use memchr::{memchr, memchr2, memrchr};

/// The value of a member, as far as its kind can be told without looking into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A string: what is between the quotes, escapes and all.
    Text(&'a [u8]),
    /// A number, as it is written.
    Number(&'a [u8]),
    /// `true`, `false` or `null`.
    Word,
    /// An object or array.
    Nested {
        /// Nothing is in it.
        empty: bool,
    },
}

/// The key of a member: what is between the quotes, escapes and all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a>(pub &'a [u8]);

impl Key<'_> {
    /// Whether the key spells `name`, which is ASCII.
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

/// How many bytes of `raw` spell this character, if they do.
fn spells(raw: &[u8], expected: u8) -> Option<usize> {
    match raw {
        [b'\\', b'u', digits @ ..] => {
            // The parser would take a sign in front.
            let digits =
                digits.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            (code == u32::from(expected)).then_some(6)
        }
        // None of the short escapes stands for a character that names are made of.
        [byte, ..] if *byte == expected && *byte != b'\\' => Some(1),
        _ => None,
    }
}

/// Calls `each` with every member of the object that `text` is, in order, and answers whether `text` is JSON at all.
/// What is JSON but no object has no members. If the answer is `false`, `each` may have been called.
pub fn members<'a>(text: &'a [u8], each: impl FnMut(Key<'a>, Value<'a>)) -> bool {
    // One pass over all of it, without a way out, becomes vector code; most JSON is on one line and needs no other look.
    let strings = if has_control(text) { Strings::Checked } else { Strings::WithoutControls };
    Reader { text, at: 0, open: Open::default(), strings }.document(each).is_some()
}

/// The same, several times as fast, for whoever can do with less: what is inside of strings is taken on trust, so the
/// answer may be `true` for a text that is not JSON. It is never `false` for one that is, and then the members are right.
pub fn members_on_trust<'a>(text: &'a [u8], each: impl FnMut(Key<'a>, Value<'a>)) -> bool {
    Reader { text, at: 0, open: Open::default(), strings: Strings::Trusted }
        .document(each)
        .is_some()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strings {
    /// Only their ends are looked for.
    Trusted,
    /// Escapes are checked; there are no control characters in the text.
    WithoutControls,
    /// Escapes are checked, and that there are no control characters.
    Checked,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    open: Open,
    strings: Strings,
}

impl<'a> Reader<'a> {
    /// `None` is "not JSON", here and below.
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

    /// Reads a value, or only the bracket that opens one with something in it.
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
            // A 0 in front stands alone.
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

    /// The string whose opening quote has been taken.
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
            // An odd number of backslashes in front escapes it. They are counted back to the last quote at most, so that
            // none is counted twice.
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

fn has_control(text: &[u8]) -> bool {
    text.iter().fold(false, |any, &byte| any | (byte < 0x20))
}

/// White space between tokens, which is less than JavaScript's.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// The brackets that are open, a bit each.
#[derive(Debug, Default)]
struct Open {
    depth: usize,
    /// Set bits are objects.
    bits: Vec<u64>,
}

impl Open {
    fn push(&mut self, object: bool) {
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if word == self.bits.len() {
            self.bits.push(0);
        }
        if let Some(bits) = self.bits.get_mut(word) {
            *bits = if object { *bits | bit } else { *bits & !bit };
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn in_object(&self) -> bool {
        let Some(top) = self.depth.checked_sub(1) else { return false };
        self.bits.get(top / 64).is_some_and(|bits| bits >> (top % 64) & 1 == 1)
    }
}

/// The last members of an object, the last first, from the end of its text alone.
///
/// If the whole text is JSON, each member that comes out is a member of the object that the text is: the closing brace
/// at the end is outside of any string, and from there on backwards every quote can be told to open or to close a
/// string. The walk ends before anything that would need more of the text, and before nested values.
///
/// If the whole text is not JSON, the members mean nothing; only the bytes of [`LastMember::marker`] are really there.
#[derive(Debug)]
pub struct LastMembers<'a> {
    rest: &'a [u8],
}

/// One of [`LastMembers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastMember<'a> {
    /// Its key.
    pub key: Key<'a>,
    /// Its value; never a nested one.
    pub value: Value<'a>,
    /// The colon follows the key's closing quote at once, as in `"key":`.
    pub marker: bool,
}

impl<'a> LastMembers<'a> {
    /// The members before the end of a text, if an object ends there.
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
        // Both slices begin at the same byte: this is the one behind the key's closing quote.
        let marker = self.rest.get(rest.len() + key.len() + 2) == Some(&b':');
        // What is in front shows that the key's first quote is not an escaped one.
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

/// The string that ends at the end of `text`, and what is in front of it.
fn last_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let body = text.strip_suffix(b"\"")?;
    let mut end = body.len();
    loop {
        let quote = memrchr(b'"', body.get(..end)?)?;
        let front = body.get(..quote)?;
        let backslashes = front.iter().rev().take_while(|byte| **byte == b'\\').count();
        // Inside a string every quote has an odd number in front; the one that opens it has a colon, a comma, a brace or
        // space there, and whoever asked looks for that.
        if backslashes % 2 == 0 {
            return Some((front, body.get(quote + 1..)?));
        }
        end = quote;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Option<Vec<(String, String)>> {
        let mut found = Vec::new();
        members(text.as_bytes(), |key, value| {
            found.push((String::from_utf8_lossy(key.0).into_owned(), format!("{value:?}")));
        })
        .then_some(found)
    }

    fn keys(text: &str) -> Option<Vec<String>> {
        all(text).map(|found| found.into_iter().map(|(key, _)| key).collect())
    }

    #[test]
    fn only_the_members_of_the_object_itself_count() {
        assert_eq!(
            keys(r#" {"a":{"b":[{"c":1}]},"d":[],"e":"\"f\":"} "#),
            Some(vec!["a".into(), "d".into(), "e".into()])
        );
        assert_eq!(keys(r#"[{"a":1}]"#), Some(vec![]));
        assert_eq!(keys(r#""{\"a\":1}""#), Some(vec![]));
        assert_eq!(keys("{}"), Some(vec![]));
        assert_eq!(keys(" 12e3 "), Some(vec![]));
    }

    #[test]
    fn values_come_with_their_kind() {
        let mut kinds = Vec::new();
        let text = br#"{"a":"x\n","b":-0.5e+3,"c":null,"d":[ ],"e":{"f":1},"g":""}"#;
        assert!(members(text, |_, value| kinds.push(value)));
        assert_eq!(
            kinds,
            [
                Value::Text(br"x\n"),
                Value::Number(b"-0.5e+3"),
                Value::Word,
                Value::Nested { empty: true },
                Value::Nested { empty: false },
                Value::Text(b""),
            ]
        );
    }

    #[test]
    fn keys_may_be_escaped() {
        assert!(Key(br"stderr").is("stderr"));
        assert!(Key(br"\u0073tderr").is("stderr"));
        assert!(Key(br"stder\u0072").is("stderr"));
        assert!(!Key(br"stderr\u0020").is("stderr"));
        assert!(!Key(br"\\tderr").is("stderr"));
        assert!(!Key(br"s\tderr").is("stderr"));
        assert!(!Key(br"\u+073tderr").is("stderr"));
    }

    #[test]
    fn depth_is_no_limit() {
        let deep = 100_000;
        let text = format!(
            r#"{{"a":{}{},"b":1}}"#,
            "[{\"x\":".repeat(deep),
            "1}]".to_owned() + &"}]".repeat(deep - 1)
        );
        assert_eq!(keys(&text), Some(vec!["a".into(), "b".into()]));
        assert_eq!(keys(&"[".repeat(deep)), None);
        assert_eq!(keys(&("[".repeat(deep) + &"]".repeat(deep))), Some(vec![]));
    }

    #[test]
    fn what_json_parse_refuses_is_refused() {
        let wrong = [
            "",
            " ",
            "{",
            "}",
            "{]",
            "[}",
            "{,}",
            "[,]",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "{'a':1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "nulll",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u123",
            "\"\n\"",
            "1 2",
            "{} x",
            "\u{feff}{}",
            "\u{a0}{}",
            "NaN",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
        ];
        for text in wrong {
            assert_eq!(all(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_last_members_come_from_the_end_alone() {
        let text = br#"e \"quoted\": end\n","stderr": "","n":1.5e3, "exitCode" : 0 , "w":"a\\" }"#;
        let found: Vec<_> = LastMembers::of(text).into_iter().flatten().collect();
        let expected = [
            (&b"w"[..], Value::Text(br"a\\"), true),
            (b"exitCode", Value::Number(b"0"), false),
            (b"n", Value::Number(b"1.5e3"), true),
            (b"stderr", Value::Text(b""), true),
        ];
        let expected =
            expected.map(|(key, value, marker)| LastMember { key: Key(key), value, marker });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_key_inside_a_string_is_no_member() {
        for text in [
            r#"log \"exitCode\":0}"#,
            r#"\"exitCode\":0}"#,
            r#""exitCode":0}"#,
            r#"x"exitCode":0}"#,
            "0}",
            "}",
            "",
        ] {
            let found: Vec<_> = LastMembers::of(text.as_bytes()).into_iter().flatten().collect();
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    /// Pieces that make JSON, put together at random: sometimes right, often almost.
    pub(crate) fn almost_json() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\\"",
            "\\u0041",
            "0",
            "1",
            "-",
            ".5",
            "e9",
            "true",
            "null",
            " ",
            "\n",
            "\"a\"",
            "\"stderr\":",
            "\"\"",
            "x",
            "é",
            "\u{1f600}",
            "\u{1}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// Any JSON value, written with or without space between the tokens.
    pub(crate) fn json() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec![
            "stdout",
            "stderr",
            "exitCode",
            "a",
            "\"exitCode\":0}",
            "\\",
            "é",
        ]);
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            (-3i32..3).prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "[a-z\"\\\\\n:,{}é\u{1f600}]{0,12}".prop_map(Into::into),
            Just(serde_json::Value::String(String::new())),
        ];
        let value = leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect::<serde_json::Map<_, _>>()
                        .into()
                }),
            ]
        });
        (value, any::<bool>()).prop_map(|(value, pretty)| {
            if pretty { format!("{value:#}") } else { value.to_string() }
        })
    }

    fn expected(text: &str) -> Option<Vec<String>> {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default())
    }

    proptest! {
        #[test]
        fn json_is_read_as_serde_reads_it(text in json()) {
            let mut found = Vec::new();
            let valid = members(text.as_bytes(), |key, _| {
                found.push(serde_json::from_str::<String>(&format!("\"{}\"", String::from_utf8_lossy(key.0))).unwrap_or_default());
            });
            found.sort();
            prop_assert_eq!(valid.then_some(found), expected(&text));
        }

        #[test]
        fn almost_json_is_refused_as_serde_refuses_it(text in almost_json()) {
            let valid = members(text.as_bytes(), |_, _| ());
            prop_assert_eq!(valid, serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
        }

        #[test]
        fn trust_only_ever_accepts_more(text in prop_oneof![json(), almost_json()]) {
            let (mut checked, mut trusted) = (Vec::new(), Vec::new());
            if members(text.as_bytes(), |key, value| checked.push((key, value))) {
                prop_assert!(members_on_trust(text.as_bytes(), |key, value| trusted.push((key, value))));
                prop_assert_eq!(checked, trusted);
            }
        }

        #[test]
        fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            members(&bytes, |_, _| ());
            members_on_trust(&bytes, |_, _| ());
            LastMembers::of(&bytes).into_iter().flatten().for_each(drop);
        }

        #[test]
        fn the_last_members_are_members(text in json(), cut in any::<prop::sample::Index>()) {
            let mut forward = Vec::new();
            members(text.as_bytes(), |key, value| forward.push((key, value)));
            let tail = &text.as_bytes()[cut.index(text.len())..];
            let backward: Vec<_> = LastMembers::of(tail).into_iter().flatten().map(|last| (last.key, last.value)).collect();
            prop_assert!(backward.len() <= forward.len());
            prop_assert!(forward.iter().rev().zip(&backward).all(|(a, b)| a == b), "{:?} {:?}", forward, backward);
        }
    }
}
