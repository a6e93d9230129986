//! Reads attributes, entities and stack traces in the text of a report in XML.

use memchr::memchr;

/// Returns the value of an attribute in a tag.
pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let mut from = 0;
    while let Some(at) = tag.get(from..)?.find(name) {
        let start = from + at;
        from = start + name.len();
        let is_start = tag.get(..start)?.ends_with([' ', '\t', '\n', '\r']);
        let rest = tag.get(from..)?.trim_start();
        let Some(rest) = rest.strip_prefix('=').filter(|_| is_start) else { continue };
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let value = rest.get(1..)?;
        return Some(unescaped(value.split(quote).next().unwrap_or(value)));
    }
    None
}

/// Replaces the entities of XML.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        let end = entity.find(';').filter(|end| *end <= 8);
        let letter = end.and_then(|end| entity.get(1..end)).and_then(letter);
        match (letter, end) {
            (Some(letter), Some(end)) => {
                out.push(letter);
                rest = entity.get(end + 1..).unwrap_or_default();
            }
            _ => {
                out.push('&');
                rest = entity.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn letter(entity: &str) -> Option<char> {
    match entity {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)
        }
    }
}

/// Returns the place in a line of a stack trace: `file.ext:12`, or `in file.ext:line 12`.
pub(super) fn place(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split([' ', '(', ')', '\t', '"', '\'']).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        // A drive letter of Windows is followed by a colon, too.
        let (colon, _) = word.match_indices(':').find(|(colon, _)| *colon > 1)?;
        let (file, number) = (word.get(..colon)?, word.get(colon + 1..)?);
        let number = if number == "line" { *words.get(at + 1)? } else { number };
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let has_extension = file.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        (has_extension && !digits.is_empty() && !file.contains("node_modules"))
            .then(|| format!("{file}:{digits}"))
    })
}
