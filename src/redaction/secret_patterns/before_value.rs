//! Skips what may come between a name and its value: white space, terminal colours, types, and letters before a quote.

use super::escapes;
use super::name_value_pairs::is_letter;
use super::value;

/// Skips at most `max` spaces and tabs.
pub(super) fn blanks(text: &[u8], at: usize, max: usize) -> usize {
    let rest = text.get(at..text.len().min(at + max)).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips white space, line breaks included.
pub(super) fn lines(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..text.len().min(at + 64)).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Skips terminal colours.
pub(super) fn colours(text: &[u8], at: usize) -> usize {
    (0..8).fold(at, |at, _| at + escapes::length(text, at))
}

/// Returns the length of a quote as HTML or JSON write it, 0 if there is none.
pub(super) fn coded_quote(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..text.len().min(at + 7)).unwrap_or_default();
    let is = |quote: &[u8]| rest.starts_with(quote);
    [&b"&quot;"[..], b"&#34;", b"&#39;", b"\\u0022", b"\\u0027"]
        .iter()
        .find(|quote| is(quote))
        .map_or(0, |quote| quote.len())
}

/// Returns the start of a value after its type or the beginning of a list: `!!str x`, `&a x`, `[ "x"`,
/// `string(3) "x"`, and three quotes at the end of their line.
fn behind_mark(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..text.len().min(at + 40)).unwrap_or_default();
    let blank = rest.iter().position(|byte| *byte == b' ');
    let word = &rest[..blank.unwrap_or(rest.len())];
    let is_mark = match word {
        [b'!', b'!', name @ ..] => name.iter().all(u8::is_ascii_alphabetic),
        [b'&', name @ ..] => !name.is_empty() && name.iter().all(|byte| is_letter(*byte)),
        [b's', b't', b'r', b'i', b'n', b'g', b'(', .., b')'] => true,
        _ => false,
    };
    if let Some(blank) = blank.filter(|_| is_mark) {
        return at + blank + 1;
    }
    match rest {
        [b'[', b' ', ..] if matches!(rest.get(2), Some(b'"' | b'\'')) => at + 2,
        [b'[', b'"' | b'\'', ..] => at + 1,
        [b'"', b'"', b'"', b'\n', ..] | [b'\'', b'\'', b'\'', b'\n', ..] => lines(text, at + 3),
        _ => at,
    }
}

/// Skips the text that may precede a quote: `b"…"`, `N'…'`, `new Secret("…")`.
pub(super) fn literal(text: &[u8], at: usize) -> usize {
    let at = at + coded_quote(text, at);
    let at = behind_mark(text, at);
    let rest = text.get(at..text.len().min(at + 40)).unwrap_or_default();
    let word = rest.iter().take_while(|byte| is_letter(**byte) || b".: ".contains(byte)).count();
    match rest.get(word) {
        // `@"…"` of C#, and a text of a shell.
        Some(b'@' | b'$') if word == 0 && matches!(rest.get(1), Some(b'"' | b'\'')) => at + 1,
        // `r#"…"#` of Rust.
        Some(b'#') if word == 1 && rest.starts_with(b"r#\"") => at + 2,
        Some(b'"' | b'\'' | b'\\')
            if word == 1
                && (rest.get(1) != Some(&b'\\')
                    || matches!(rest.get(2), Some(b'"' | b'\'' | b'\\')))
                && matches!(rest.first(), Some(b'b' | b'r' | b'u' | b'f' | b'N' | b'L')) =>
        {
            at + 1
        }
        // One text in brackets, which may be in the next line: `("…")`.
        Some(b'(') if word == 0 => {
            let from = lines(text, at + 1);
            let next = value::quoted(text, from).map(|value| lines(text, value.end));
            let is_alone = next.is_some_and(|next| {
                let next = next + usize::from(text.get(next..next + 2) == Some(b",)"));
                matches!(text.get(next), Some(b')' | b'"' | b'\''))
            });
            if is_alone { from } else { at }
        }
        Some(b'(') if word > 0 => {
            let name = rest.get(..word).unwrap_or_default().to_ascii_lowercase();
            let name = name.rsplit(|byte| matches!(byte, b'.' | b':')).next().unwrap_or_default();
            let holds = [&b"secret"[..], b"some", b"string", b"from", b"password"]
                .iter()
                .any(|known| name.windows(known.len()).any(|part| part == *known));
            if holds && matches!(rest.get(word + 1), Some(b'"' | b'\'')) {
                at + word + 1
            } else {
                at
            }
        }
        _ => at,
    }
}
