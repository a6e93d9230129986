//! Escape sequences of a terminal, such as colours, and the escaped slashes of JSON: they may stand in the middle of a name or of a
//! secret.

use std::ops::Range;

/// Maximum number of bytes between the start of a sequence and the letter that ends it.
const MAX_CODES: usize = 32;

/// How the start of a sequence is written: as a byte, and in texts of JSON, Python, C and shells.
const STARTS: [&[u8]; 6] = [b"\x1b[", b"\\u001b[", b"\\u001B[", b"\\x1b[", b"\\033[", b"\\e["];

/// Returns the length of the codes and the letter of a sequence, `01;31m` or `K`, at the start of a text.
fn codes(text: &[u8]) -> Option<usize> {
    let rest = text.get(..text.len().min(MAX_CODES))?;
    let length = rest.iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
    matches!(rest.get(length), Some(b'@'..=b'~')).then_some(length + 1)
}

/// Returns the length of the sequence at `at`, 0 if there is none.
pub(super) fn length(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..text.len().min(at + 8 + MAX_CODES)).unwrap_or_default();
    let start = match rest.first() {
        Some(b'\x1b' | b'\\') => STARTS.iter().find(|start| rest.starts_with(start)),
        // A colour whose first byte was lost.
        Some(b'[') if is_colour(rest) => Some(&&b"["[..]),
        _ => None,
    };
    let length = |start: &&[u8]| codes(rest.get(start.len()..)?).map(|codes| start.len() + codes);
    start.and_then(length).unwrap_or(0)
}

fn is_colour(text: &[u8]) -> bool {
    let codes = text.iter().skip(1).take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let length = codes.count();
    length > 0 && text.get(length + 1) == Some(&b'm')
}

/// Returns the end of the last sequence that begins in a range and ends in it too.
pub(super) fn last_end(text: &[u8], range: Range<usize>) -> Option<usize> {
    let mut starts =
        range.clone().rev().filter(|at| matches!(text.get(*at), Some(b'\x1b' | b'\\' | b'[')));
    starts.find_map(|at| {
        let length = length(text, at);
        (length > 0 && at + length <= range.end).then_some(at + length)
    })
}

/// A text without its sequences, and without the backslash in `https:\/\/`.
pub(super) struct Plain {
    pub(super) text: Vec<u8>,
    /// Each place after a sequence, in this text and in the original one.
    places: Vec<(usize, usize)>,
}

impl Plain {
    /// Returns the text without its sequences, if it has any.
    pub(super) fn new(text: &[u8]) -> Option<Plain> {
        let mut plain = Plain { text: Vec::new(), places: Vec::new() };
        let mut done = 0;
        // Texts with backslashes and no such slash are frequent.
        let has_slashes = memchr::memmem::find(text, br"\/").is_some();
        let start = if has_slashes { b'\\' } else { b'\x1b' };
        for at in memchr::memchr2_iter(b'\x1b', start, text) {
            let rest = text.get(at..).unwrap_or_default();
            let length = match rest {
                [b'\\', b'/', ..]
                    if at.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\\') =>
                {
                    1
                }
                [b'\x1b', b'[', rest @ ..] => codes(rest).map_or(0, |codes| codes + 2),
                _ => 0,
            };
            if length == 0 {
                continue;
            }
            plain.text.extend_from_slice(text.get(done..at).unwrap_or_default());
            done = at + length;
            plain.places.push((plain.text.len(), done));
        }
        if plain.places.is_empty() {
            return None;
        }
        plain.text.extend_from_slice(text.get(done..).unwrap_or_default());
        Some(plain)
    }

    /// Returns the text that a string of JSON holds. Escapes of characters by their number remain.
    pub(super) fn unescaped(text: &[u8]) -> Plain {
        let mut plain = Plain { text: Vec::with_capacity(text.len()), places: Vec::new() };
        let mut done = 0;
        while let Some(at) = text.get(done..).and_then(|rest| memchr::memchr(b'\\', rest)) {
            let at = done + at;
            let byte = match text.get(at + 1) {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
                _ => {
                    let next = text.len().min(at + 1);
                    plain.text.extend_from_slice(text.get(done..next).unwrap_or_default());
                    done = next;
                    continue;
                }
            };
            plain.text.extend_from_slice(text.get(done..at).unwrap_or_default());
            plain.places.push((plain.text.len(), at + 1));
            plain.text.push(byte);
            done = at + 2;
        }
        plain.text.extend_from_slice(text.get(done..).unwrap_or_default());
        plain
    }

    /// Returns the place in this text of one in the original text. Within a sequence it is the place after it.
    pub(super) fn place(&self, original: usize) -> usize {
        let after = self.places.partition_point(|(_, place)| *place <= original);
        let next = self.places.get(after).map_or(self.text.len(), |(place, _)| *place);
        match after.checked_sub(1).and_then(|before| self.places.get(before)) {
            Some((plain, place)) => (plain + original - place).min(next),
            None => original.min(next),
        }
    }

    /// Returns the place in the original text of a byte of this one.
    pub(super) fn original(&self, place: usize) -> usize {
        let after = self.places.partition_point(|(plain, _)| *plain <= place);
        match after.checked_sub(1).and_then(|before| self.places.get(before)) {
            Some((plain, original)) => original + place - plain,
            None => place,
        }
    }

    /// Returns the range in the original text, without the sequences around it.
    pub(super) fn range(&self, range: &Range<usize>) -> Range<usize> {
        let begin = self.original(range.start);
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start);
        begin..last.map_or(begin, |last| self.original(last) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_text_with_its_sequences() {
        let text = b"a\x1b[1;31mbc\x1b[m\x1b[Kd\x1b[";
        let plain = Plain::new(text).unwrap();
        assert_eq!(plain.text, b"abcd\x1b[");
        for (place, byte) in plain.text.iter().enumerate() {
            assert_eq!(text[plain.original(place)], *byte);
            assert_eq!(plain.place(plain.original(place)), place);
        }
        assert_eq!([1, 4, 11, 16].map(|at| plain.place(at)), [1, 1, 3, 3]);
        assert_eq!(plain.place(text.len()), plain.text.len());
        assert_eq!(text[plain.range(&(1..3))], *b"bc");
        assert!(Plain::new(b"no [1m, \x1b]0;x\x07, \\n, \\\\/").is_none());
        let text = br#"a\nb\"c\\d\u0041e"#;
        let plain = Plain::unescaped(text);
        assert_eq!(plain.text, b"a\nb\"c\\d\\u0041e");
        assert_eq!(text[plain.range(&(2..5))], *br#"b\"c"#);
        let text = b"http:\\/\\/a";
        let plain = Plain::new(text).unwrap();
        assert_eq!(plain.text, b"http://a");
        assert_eq!(text[plain.range(&(4..7))], *b":\\/\\/");
    }

    #[test]
    fn a_sequence_ends_with_its_letter() {
        let lengths = [
            "\x1b[K",
            "\\u001b[01;31mx",
            "\\033[?25l",
            "\x1b[38:5:1m",
            "[1;31m",
            "[K",
            "\x1b[1",
            "\x1b]0",
        ];
        let lengths = lengths.map(|text| length(text.as_bytes(), 0));
        assert_eq!(lengths, [3, 13, 9, 9, 6, 0, 0, 0]);
    }
}
