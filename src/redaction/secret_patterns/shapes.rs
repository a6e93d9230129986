//! Tokens of vendors with a structure after their prefix, one line of a table each.

use std::ops::Range;

use super::contexts::run;
use super::is_start;

/// Prefixes and the parts that follow. A part is a letter for its bytes with their number or the least and the most of them,
/// a mark, or `uuid`. After `@` the prefix is that of an address, and only what follows it is secret.
///
/// | letter | bytes |
/// | --- | --- |
/// | `d` | digits |
/// | `h` | hexadecimal digits |
/// | `U` | capitals and digits |
/// | `a` | letters and digits |
/// | `s` | small letters, digits and `-` |
/// | `n` | small letters and digits, some of both |
/// | `m` | letters of both cases and digits, some of each |
/// | `w` | like `m`, also with `_` and `-` |
/// | `b` | base64, in either alphabet |
const SHAPES: &str = "\
pat m14 . h64
pk_ d6-12 _ U32
2/ d10-20 / d10-20 : h32
1/ d10-20 : h32
api- uuid
pa- w40-46
ak- m22
as- m22
st. uuid . h32 . h32
re_ a8 _ m24
0. uuid . m30 : b22-28
A3- U6 - U6 - U5 - U5 - U5 - U5
A3- U6 - U11 - U5 - U5 - U5
st. h24 . h32 . h32
access_token$production$ n16 $ h32
access_token$sandbox$ n16 $ h32
retool_01 n24
sgamp_user_ U26-30 _ h64
EAA m80-400
EAAA w60
pat. w22 . a24 . a20
sat. w22 . a24 . a20
t1. w20-400 . w86
00D a12 ! b60-200
00D a15 ! b60-200
secret- m40-50
sk_ w43
sk_ uuid
sk- w40-200
pk_ n34
ghs_ d1-20 _ b60-2000
dt0 s3 . U24 . U64
BSA w24-40
db- m29
cog_ n52
PRD- h8-12 - h4 - h4 - h4 - h4-12
SBX- h8-12 - h4 - h4 - h4 - h4-12
EXO m24-30
na1. m20-400
eu1. m20-400
lip_ m20-60
m0- m24-44
Mid-server- w10-30
pina_ w20-400
akab- n16 - n16
t1. w20-400 = . w86
t1. w20-400 = = . w86
api_live. w24-80
api_live_us. w24-80
api_live_ca. w24-80
api_sandbox. w24-80
prf_ w30-80
KEY w55
tss_ w20-80
da2- n26
1000. h32 . h32
1001. h32 . h32
1003. h32-64
IGAA m80-400
prod: s5-48 | b20-400
dev: s5-48 | b20-400
@ hc-ping.com/ uuid
@ /webhook/ uuid
@ /webhook-test/ uuid
@ /hooks/ n26
@ hook.eu1.make.com/ n32
@ hook.eu2.make.com/ n32
@ hook.us1.make.com/ n32
@ hook.us2.make.com/ n32";

/// Marks in the middle of a key, each with the part before it and the one after it, as above.
const MARKS: &str = "\
AZDO a76 a4
JQQJ99 a52 a16-28
AzSe a42 a6
AzFu w44 b6-8
+ACR b42 a6
ACDb b76 b6-8
FFFFNRAL h32 a0";

/// A key with a mark in its middle.
#[derive(Debug)]
pub(super) struct Marked {
    pub(super) mark: &'static str,
    before: Part,
    length: usize,
    after: Part,
}

/// Returns all keys with a mark.
pub(super) fn marked() -> impl Iterator<Item = Marked> {
    MARKS.lines().filter_map(|line| {
        let mut parts = line.split(' ');
        let (mark, before, after) =
            (parts.next()?, Part::new(parts.next()?)?, Part::new(parts.next()?)?);
        let Part::Run(_, length, _) = before else { return None };
        Some(Marked { mark, before, length, after })
    })
}

impl Marked {
    /// Returns the key whose mark is at `at`.
    pub(super) fn key(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let end = at + self.mark.len();
        if text.get(at..end)? != self.mark.as_bytes() {
            return None;
        }
        let from = at.checked_sub(self.length)?;
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_begun = from.checked_sub(1).and_then(|before| text.get(before));
        let begins = is_begun.is_none_or(|byte| !is_of_word(*byte) && !b"+/".contains(byte));
        let is_before = self.before.end(text.get(..at)?, from) == Some(at);
        let to = self.after.end(text, end).filter(|_| begins && is_before)?;
        let goes_on = text.get(to).is_some_and(|byte| is_of_word(*byte) || b"+/".contains(byte));
        let key = text.get(from..to)?;
        let has = |is: fn(&u8) -> bool| key.iter().any(is);
        let is_random =
            has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        (!goes_on && is_random).then_some(from..to)
    }
}

/// A token of several parts.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    parts: Vec<Part>,
    is_address: bool,
}

#[derive(Debug)]
enum Part {
    Mark(u8),
    Uuid,
    /// The letter of a class of bytes, with the least and the most of them.
    Run(u8, usize, usize),
}

/// Returns all shapes.
pub(super) fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.lines().filter_map(|line| {
        let (is_address, line) = line.strip_prefix("@ ").map_or((false, line), |line| (true, line));
        let (prefix, parts) = line.split_once(' ')?;
        let parts: Option<Vec<Part>> = parts.split(' ').map(Part::new).collect();
        Some(Shape { prefix, parts: parts?, is_address })
    })
}

impl Shape {
    /// Returns the token whose prefix is at `at`.
    pub(super) fn token(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let from = at + self.prefix.len();
        // Prefixes are found in any case but must match exactly, if they are not those of an address. A path is found inside of
        // an address.
        if !self.is_address && text.get(at..from)? != self.prefix.as_bytes()
            || !self.prefix.starts_with('/') && !is_start(text, at)
        {
            return None;
        }
        let to = self.parts.iter().try_fold(from, |to, part| part.end(text, to))?;
        let next = text.get(to).copied().unwrap_or(b' ');
        let goes_on = next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-');
        (!goes_on).then_some(if self.is_address { from } else { at }..to)
    }
}

impl Part {
    fn new(part: &str) -> Option<Part> {
        let (letter, count) = part.split_at_checked(1)?;
        let letter = *letter.as_bytes().first()?;
        if part == "uuid" || count.is_empty() {
            return Some(if count.is_empty() { Part::Mark(letter) } else { Part::Uuid });
        }
        let (min, max) = count.split_once('-').unwrap_or((count, count));
        Some(Part::Run(letter, min.parse().ok()?, max.parse().ok()?))
    }

    /// Returns the end of the part that begins at `at`.
    fn end(&self, text: &[u8], at: usize) -> Option<usize> {
        let (letter, min, max) = match *self {
            Part::Mark(mark) => return (text.get(at) == Some(&mark)).then_some(at + 1),
            Part::Uuid => return uuid_end(text, at),
            Part::Run(letter, min, max) => (letter, min, max),
        };
        let is_of_part = |byte: u8| match (letter, byte) {
            (_, b'0'..=b'9') => true,
            (b'h', b'a'..=b'f') | (b'a' | b's' | b'n' | b'm' | b'w' | b'b', b'a'..=b'z') => true,
            (b'U' | b'a' | b'm' | b'w' | b'b', b'A'..=b'Z') => true,
            (b's', b'-') | (b'w', b'_' | b'-') => true,
            (b'b', byte) => b"_-+/=.".contains(&byte),
            _ => false,
        };
        let rest = text.get(at..text.len().min(at + max + 1))?;
        let length = run(rest, is_of_part);
        let bytes = rest.get(..length)?;
        let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
        let is_mixed = match letter {
            b'n' => has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase),
            b'm' | b'w' => {
                has(u8::is_ascii_digit)
                    && has(u8::is_ascii_lowercase)
                    && has(u8::is_ascii_uppercase)
            }
            _ => true,
        };
        (is_mixed && (min..=max).contains(&length)).then_some(at + length)
    }
}

/// Returns the end of the UUID at `at`.
pub(super) fn uuid_end(text: &[u8], at: usize) -> Option<usize> {
    const LENGTH: usize = 36;
    let is_of_uuid = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.get(at..at + LENGTH)?.iter().enumerate().all(is_of_uuid).then_some(at + LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text in a shape.
    fn example(shape: &Shape) -> String {
        let parts = shape.parts.iter().map(|part| {
            let (letters, count) = match *part {
                Part::Mark(mark) => return char::from(mark).to_string(),
                Part::Uuid => return "01234567-89ab-cdef-0123-456789abcdef".to_owned(),
                Part::Run(b'd', min, _) => ("0123456789", min),
                Part::Run(b'h', min, _) => ("0f1e2d3c4b5a6978", min),
                Part::Run(b'U', min, _) => ("A1B2C3D4E5F6G7", min),
                Part::Run(b's' | b'n', min, _) => ("a1b2c3d4e5f6g7h8", min),
                Part::Run(_, min, _) => ("aB1cD2eF3gH4iJ5k", min),
            };
            letters.chars().cycle().take(count).collect()
        });
        parts.fold(shape.prefix.to_owned(), |all, part| all + &part)
    }

    #[test]
    fn every_key_with_a_mark_is_found_and_nothing_that_looks_like_it() {
        assert_eq!(marked().count(), MARKS.lines().count());
        for row in marked() {
            let part = |part: &Part| match *part {
                Part::Run(b'h', min, _) => "0f1e2d3c4b5a6978".chars().cycle().take(min).collect(),
                Part::Run(_, min, _) => "aB1cD2eF3gH4iJ5k".chars().cycle().take(min).collect(),
                _ => String::new(),
            };
            let whole = part(&row.before) + row.mark + &part(&row.after);
            let found = |text: &str| row.key(text.as_bytes(), text.find(row.mark)?);
            assert_eq!(found(&whole), Some(0..whole.len()), "{whole}");
            assert_eq!(found(&format!("key={whole}; x")), Some(4..4 + whole.len()), "{whole}");
            assert_eq!(found(&whole[1..]), None, "{whole}: one byte less");
            assert_eq!(found(&format!("x{whole}")), None, "{whole}: one byte more");
            assert_eq!(found(&format!("{whole}x/x4x/x/xx")), None, "{whole}: more after it");
        }
    }

    #[test]
    fn every_shape_is_found_and_nothing_that_looks_like_it() {
        assert_eq!(shapes().count(), SHAPES.lines().count());
        for shape in shapes() {
            let whole = example(&shape);
            let found =
                |text: &str| shape.token(text.as_bytes(), 0).map(|range| text[range].to_owned());
            let secret = if shape.is_address { &whole[shape.prefix.len()..] } else { &whole };
            for after in ["", "\n", "\"", " x", "&a=b", ",", ")", "<"] {
                assert_eq!(found(&format!("{whole}{after}")).as_deref(), Some(secret), "{whole}");
            }
            assert_eq!(found(&whole[..whole.len() - 1]), None, "{whole}: one byte less");
            let words = shape.prefix.to_owned() + &"x".repeat(whole.len() - shape.prefix.len());
            assert_eq!(found(&words), None, "{words}");
        }
    }
}
