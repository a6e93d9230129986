//! Tokens of vendors with a structure after their prefix, one line of a table each.

use std::ops::Range;

use super::contexts::run;

/// Prefixes and the parts that follow. A part is a letter for its bytes with their number or the least and the most of them,
/// a mark, or `uuid`. Only what follows an address is secret.
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
0. uuid . m30 : b22-28
A3- U6 - U6 - U5 - U5 - U5 - U5
A3- U6 - U11 - U5 - U5 - U5
00D a12 ! b60-200
00D a15 ! b60-200
secret- m40-50
sk_ w43
prod: s5-48 | b20-400
dev: s5-48 | b20-400
hc-ping.com/ uuid
/webhook/ uuid
/webhook-test/ uuid
/hooks/ n26
hook.eu1.make.com/ n32
hook.eu2.make.com/ n32
hook.us1.make.com/ n32
hook.us2.make.com/ n32";

const UUID: [&str; 9] = ["h8", "-", "h4", "-", "h4", "-", "h4", "-", "h12"];

/// Returns all shapes with their prefixes.
pub(super) fn shapes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SHAPES.lines().filter_map(|shape| Some((shape.split(' ').next()?, shape)))
}

/// Returns the token in a shape whose prefix is at `at`.
pub(super) fn token(shape: &str, text: &[u8], at: usize) -> Option<Range<usize>> {
    let (prefix, parts) = shape.split_once(' ')?;
    let from = at + prefix.len();
    let is_address = prefix.contains(['.', '/']) && prefix.ends_with('/') && prefix.len() > 2;
    if !is_address && text.get(at..from)? != prefix.as_bytes() {
        return None;
    }
    let mut to = from;
    for part in parts.split(' ') {
        to = match part {
            "uuid" => UUID.iter().try_fold(to, |to, part| after(part, text, to))?,
            part => after(part, text, to)?,
        };
    }
    let next = text.get(to).copied().unwrap_or(b' ');
    let goes_on = next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-');
    (!goes_on).then_some(if is_address { from } else { at }..to)
}

/// Returns true for a prefix that is found inside of an address.
pub(super) fn is_in_address(shape: &str) -> bool {
    shape.starts_with('/')
}

/// Returns the end of a part that begins at `at`.
fn after(part: &str, text: &[u8], at: usize) -> Option<usize> {
    let (letter, count) = part.split_at(1);
    if count.is_empty() {
        return text.get(at..)?.starts_with(letter.as_bytes()).then_some(at + 1);
    }
    let (least, most) = count.split_once('-').unwrap_or((count, count));
    let (least, most): (usize, usize) = (least.parse().ok()?, most.parse().ok()?);
    let is_of_part = |byte: u8| match (letter, byte) {
        (_, b'0'..=b'9') => true,
        ("h", b'a'..=b'f') | ("a" | "s" | "n" | "m" | "w" | "b", b'a'..=b'z') => true,
        ("U" | "a" | "m" | "w" | "b", b'A'..=b'Z') | ("s", b'-') | ("w", b'_' | b'-') => true,
        ("b", byte) => b"_-+/=.".contains(&byte),
        _ => false,
    };
    let rest = text.get(at..text.len().min(at + most + 1))?;
    let length = run(rest, is_of_part);
    let bytes = rest.get(..length)?;
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    let is_mixed = match letter {
        "n" => has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase),
        "m" | "w" => {
            has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
        }
        _ => true,
    };
    (is_mixed && (least..=most).contains(&length)).then_some(at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text in a shape.
    fn example(shape: &str) -> String {
        let fill = |part: &str| -> String {
            let (letter, count) = part.split_at(1);
            let Ok(count) = count.split('-').next().unwrap_or_default().parse::<usize>() else {
                return part.to_owned();
            };
            let letters = match letter {
                "d" => "0123456789",
                "h" => "0f1e2d3c4b5a6978",
                "U" => "A1B2C3D4E5F6G7",
                "s" | "n" => "a1b2c3d4e5f6g7h8",
                _ => "aB1cD2eF3gH4iJ5k",
            };
            letters.chars().cycle().take(count).collect()
        };
        let (prefix, parts) = shape.split_once(' ').unwrap();
        let parts = parts.split(' ').map(|part| match part {
            "uuid" => UUID.iter().map(|part| fill(part)).collect(),
            part => fill(part),
        });
        parts.fold(prefix.to_owned(), |all, part| all + &part)
    }

    #[test]
    fn every_shape_is_found_and_nothing_that_looks_like_it() {
        for (prefix, shape) in shapes() {
            let whole = example(shape);
            let found =
                |text: &str| token(shape, text.as_bytes(), 0).map(|range| text[range].to_owned());
            let secret = if prefix.ends_with('/') && prefix.len() > 2 {
                whole[prefix.len()..].to_owned()
            } else {
                whole.clone()
            };
            for after in ["", "\n", "\"", " x", "&a=b", ",", ")", "<"] {
                assert_eq!(found(&format!("{whole}{after}")).as_ref(), Some(&secret), "{whole}");
            }
            assert_eq!(found(&whole[..whole.len() - 1]), None, "{whole}: one byte less");
            let words = prefix.to_owned() + &"x".repeat(whole.len() - prefix.len());
            assert_eq!(found(&words), None, "{words}");
        }
    }
}
