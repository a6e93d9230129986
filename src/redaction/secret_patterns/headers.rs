//! Secrets in headers: credentials after `Authorization:`, and cookies.

use std::ops::Range;

use super::name_value_pairs::is_letter;
use super::secret_values::{self, Form};
use super::value;
use crate::util::words::has_word;

/// Returns the credentials in the value of an `Authorization` header: the text after the scheme, if there is one.
pub(super) fn authorization(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (range, is_quoted) = header(text, at)?;
    let value = text.get(range.clone())?;
    let scheme = value.iter().take_while(|byte| is_letter(**byte) || **byte == b'-').count();
    let gap = value.get(scheme..)?.iter().take_while(|byte| **byte == b' ').count();
    let is_scheme = scheme > 0 && gap > 0 && scheme <= 24;
    let mut from = range.start + if is_scheme { scheme + gap } else { 0 };
    let credentials = text.get(from..range.end)?;
    // `"Bearer " + token`, and the scheme alone.
    if secret_values::is_reference(credentials)
        || credentials.iter().any(|byte| matches!(byte, b'{' | b'$'))
    {
        return None;
    }
    let word = credentials.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let first = credentials.get(..word)?;
    let has = |is: fn(&u8) -> bool| first.iter().any(is);
    // The parameters of a scheme, of which the first can be short: `Hawk id="x", mac="…"`.
    let length = if first.contains(&b'=') { credentials.len() } else { first.len() };
    let is_question = first.starts_with(b"realm=")
        && !value.get(..scheme).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"digest"));
    if is_question {
        return None;
    }
    let is_token = if is_scheme {
        let is_basic =
            value.get(..scheme).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic"));
        length >= if is_basic { 6 } else { 8 }
            && (has(u8::is_ascii_digit)
                || (has(u8::is_ascii_uppercase) && (is_basic || first.len() >= 16))
                || (is_basic && first.ends_with(b"="))
                || (first.contains(&b'=') && credentials.iter().any(u8::is_ascii_digit))
                || first.len() >= 32)
    } else {
        let last = first.iter().rposition(|byte| !b",;)}".contains(byte)).unwrap_or_default();
        let is_member =
            !is_quoted && secret_values::is_member_of_code(first.get(..=last).unwrap_or_default());
        first.len() >= 8
            && (has(u8::is_ascii_digit) || first.len() >= 24)
            && !secret_values::is_code(first)
            && !is_member
    };
    if !is_token {
        return None;
    }
    let to = if credentials.contains(&b'=') && credentials.contains(&b',') {
        range.end
    } else {
        from + word
    };
    let mut to = to;
    while !is_quoted
        && to > from
        && matches!(text.get(to - 1), Some(b')' | b']' | b'}' | b',' | b';'))
    {
        to -= 1;
    }
    // `Token token=…`
    if let Some(equals) = text.get(from..to)?.iter().take(16).position(|byte| *byte == b'=')
        && !text.get(from..from + equals)?.iter().any(u8::is_ascii_digit)
        && from + equals + 2 < to
        && !text.get(from..to)?.contains(&b',')
    {
        from += equals + 1;
    }
    let to = if is_quoted { to } else { value::wrapped(text, &(from..to)) };
    Some(from..to)
}

/// Returns all cookies: nothing says which one identifies a session.
pub(super) fn cookie(text: &[u8], at: usize, form: Form) -> Option<Range<usize>> {
    if !matches!(
        form,
        Form::Colon | Form::Call | Form::Sentence | Form::Assigned | Form::Variable | Form::Pair
    ) {
        return None;
    }
    let (range, _) = header(text, at)?;
    let value = text.get(range.clone())?;
    let name = value
        .iter()
        .take(128)
        .position(|byte| !byte.is_ascii_graphic() || b"=:;,\"'\\".contains(byte))?;
    let from = range.start + name + 1;
    let secret =
        from..text.get(from..range.end).map_or(range.end, |rest| from + cookie_value_length(rest));
    let is_cookie = name > 0 && value.get(name) == Some(&b'=') && secret.len() >= 6;
    let first = text.get(secret.clone())?.split(|byte| *byte == b';').next()?;
    (is_cookie && !secret_values::is_reference(first)).then_some(secret)
}

/// Returns the length of the value of a cookie that is set, without its attributes, or of all that follows if there may be another
/// cookie in it.
fn cookie_value_length(rest: &[u8]) -> usize {
    const ATTRIBUTES: &str =
        "path domain expires max-age secure httponly samesite partitioned priority";
    let is_attribute = |part: &[u8]| {
        let name = part.trim_ascii().split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_list =
            || part.windows(2).any(|pair| pair == b", ") && !name.eq_ignore_ascii_case(b"expires");
        std::str::from_utf8(name).is_ok_and(|name| has_word(ATTRIBUTES, &name.to_lowercase()))
            && !is_list()
    };
    let mut parts = rest.split(|byte| *byte == b';');
    let length = parts.next().map_or(rest.len(), <[u8]>::len);
    if length < rest.len() && parts.all(is_attribute) { length } else { rest.len() }
}

/// Returns the value of a header: the rest of its line, or the text in its quotes.
fn header(text: &[u8], at: usize) -> Option<(Range<usize>, bool)> {
    if let Some(value) = value::quoted(text, at).filter(|value| value.end <= text.len()) {
        return Some((value.range, true));
    }
    let rest = text.get(at..text.len().min(at + 8192))?;
    let mut length = rest
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'))
        .unwrap_or(rest.len());
    // The parameters of `Digest` contain quotes themselves.
    if let Some(b'"') = rest.get(length)
        && length > 0
        && rest.get(length - 1) == Some(&b'=')
    {
        length = rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r' | b'\'' | b'\\'))
            .unwrap_or(rest.len());
    }
    (length > 0).then_some((at..at + length, false))
}
