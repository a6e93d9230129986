//! Texts that a command has encoded, as far as programs that are everywhere decode them.

/// Longer texts are not decoded.
const MAX_BYTES: usize = 16 * 1024;

/// Decodes base64 to text, with or without padding, in the usual alphabet or in that of URLs.
pub(super) fn base64(text: &str) -> Option<String> {
    by_bits(text, 6, |byte| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        })
    })
}

/// Decodes base32 to text.
pub(super) fn base32(text: &str) -> Option<String> {
    by_bits(text, 5, |byte| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            _ => return None,
        })
    })
}

/// Decodes the path of an address: `%2e` is a dot. Returns the path itself if that makes no text.
pub(super) fn percent(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        // `from_str_radix` would accept a sign.
        let digits =
            after.get(..2).filter(|two| *first == b'%' && two.iter().all(u8::is_ascii_hexdigit));
        let byte =
            digits.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Decodes hexadecimal digits to text.
pub(super) fn hex(text: &str) -> Option<String> {
    by_bits(text, 4, |byte| {
        Some(match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        })
    })
}

/// Returns the output of `tr` for a text, if its sets are the letters or are written out.
pub(super) fn translated(text: &str, from: &str, to: &str) -> String {
    let (from, to) = (set(from), set(to));
    let Some(last) = to.last().copied() else { return text.to_owned() };
    let put = |letter: char| match from.iter().position(|known| *known == letter) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => letter,
    };
    text.chars().take(MAX_BYTES).map(put).collect()
}

/// The letters of a set of `tr`.
fn set(text: &str) -> Vec<char> {
    let text = text
        .replace("[:upper:]", "A-Z")
        .replace("[:lower:]", "a-z")
        .replace("[:digit:]", "0-9")
        .replace("[:alpha:]", "A-Za-z");
    let letters: Vec<char> = text.trim_matches(['[', ']']).chars().take(256).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(end)) if end >= letter => {
                found.extend(*letter..=*end);
                at += 3;
            }
            _ => {
                found.push(*letter);
                at += 1;
            }
        }
        found.truncate(512);
    }
    found
}

fn by_bits(text: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for byte in
        text.trim_end().trim_end_matches('=').bytes().filter(|byte| !byte.is_ascii_whitespace())
    {
        bits = (bits << width | u32::from(value(byte)?)) & 0xffff;
        count += width;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    // UTF-16, as PowerShell encodes commands.
    if bytes.len() > 3 && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0) {
        bytes.retain(|byte| *byte != 0);
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_text = !text.is_empty()
        && text.chars().all(|letter| !letter.is_control() || letter.is_ascii_whitespace());
    is_text.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded() {
        assert_eq!(base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("cm0gLXJmIC8").as_deref(), Some("rm -rf /"));
        assert_eq!(base64("cm0gLXJmIC8=\n").as_deref(), Some("rm -rf /"));
        assert_eq!(base32("OJWSALLSMYQC6===").as_deref(), Some("rm -rf /"));
        assert_eq!(hex("726d202d 7266202f").as_deref(), Some("rm -rf /"));
        assert_eq!((base64("a b!"), hex("zz"), base64("")), (None, None, None));
        assert_eq!(translated("RM -RF /", "A-Z", "a-z"), "rm -rf /");
        assert_eq!(translated("RM", "[:upper:]", "[:lower:]"), "rm");
        assert_eq!(translated("ez -es /", "n-za-m", "a-z"), "rm -rf /");
    }
}
