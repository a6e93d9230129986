//! Secrets recognized by their context: passwords in URLs, keys between header and footer lines, tokens of several
//! parts.

use std::ops::Range;

use super::shapes::uuid_end;
use super::tokens::{Runs, Tail};
use super::{secret_values, value};

fn digits(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the number of bytes at the start of `text` that satisfy `is`.
pub(super) fn run(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| is(**byte)).count()
}

/// Returns the text of a line before a position in it, at most its last `limit` bytes.
pub(super) fn line_before(text: &[u8], at: usize, limit: usize) -> &[u8] {
    let before = text.get(at.saturating_sub(limit)..at).unwrap_or_default();
    before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Returns the password of the URL whose `://` is at `at`, or the token in its place.
pub(super) fn address(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at + 3;
    let rest = text.get(from..text.len().min(from + 2048))?;
    let length =
        run(rest, |byte| byte.is_ascii_graphic() && !b"\"'`<>\\".contains(&byte) || byte >= 0x80);
    let rest = rest.get(..length)?;
    let authority = run(rest, |byte| !b"/?#".contains(&byte));
    let first = rest.get(..authority)?;
    // Without a user the first part is a host with its port: an `@` after it belongs to the path.
    if !first.contains(&b'@') {
        let port =
            first.iter().rposition(|byte| *byte == b':').and_then(|colon| first.get(colon + 1..));
        let is_port = port
            .is_none_or(|port| port.iter().all(u8::is_ascii_digit) || port.first() == Some(&b'$'));
        if is_port || first.starts_with(b"[") || first.starts_with(b"$") || first.starts_with(b"{")
        {
            return None;
        }
    }
    let scheme = text.get(at.saturating_sub(12)..at)?;
    let is_web = scheme.ends_with(b"http") || scheme.ends_with(b"https");
    // The last `@` that precedes a host ends the password; in a web address the first one, because the path may have
    // more.
    let mut ends = rest
        .iter()
        .enumerate()
        .filter(|(place, byte)| {
            **byte == b'@' && is_host(rest.get(place + 1..).unwrap_or_default(), is_web)
        })
        .map(|(place, _)| place);
    let end = if is_web { ends.next() } else { ends.next_back() };
    let end = end.or_else(|| first.iter().rposition(|byte| *byte == b'@'))?;
    let user_info = rest.get(..end)?;
    let colon = user_info.iter().position(|byte| *byte == b':');
    let (user, password) = match colon {
        Some(colon) => (user_info.get(..colon)?, user_info.get(colon + 1..)?),
        None => (user_info, &b""[..]),
    };
    let is_token = |part: &[u8]| {
        part.len() >= 16 && digits(part) && !secret_values::is_reference(part)
            || part.len() >= 32 && part.iter().all(u8::is_ascii_alphanumeric)
    };
    let secret = from + user.len() + 1..from + end;
    if is_token(user) {
        let is_more = password.len() > 2 && password != b"x-oauth-basic";
        return Some(from..from + if is_more { end } else { user.len() });
    }
    if colon.is_none() {
        return (user.len() >= 8
            && digits(user)
            && user.iter().any(u8::is_ascii_uppercase)
            && !user.contains(&b'.')
            && !secret_values::is_reference(user))
        .then_some(from..from + end);
    }
    // `x` and `x-oauth-basic` are placeholders for a password.
    let is_secret = password.len() >= 3
        && !is_variable(password)
        && password != b"x-oauth-basic"
        && !password.starts_with(b"//");
    is_secret.then_some(secret)
}

/// Returns the password of the Oracle address whose driver begins at `at`: `thin:user/password@host`.
pub(super) fn oracle(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..text.len().min(at + 512))?;
    let length = run(rest, |byte| byte.is_ascii_graphic() && !b"\"'`<>\\".contains(&byte));
    let rest = rest.get(..length)?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let end = rest.iter().rposition(|byte| *byte == b'@')?;
    let password = rest.get(slash + 1..end)?;
    (password.len() >= 3 && !is_variable(password)).then_some(at + slash + 1..at + end)
}

/// `$PASSWORD`, `${PASSWORD}`, `<password>`, `{password}`, `****`.
fn is_variable(value: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|byte| is_word(*byte));
    match value {
        [b'$', rest @ ..] => is_name(rest) || rest.starts_with(b"{") || rest.starts_with(b"("),
        [b'%', inner @ .., b'%'] | [b'{', inner @ .., b'}'] => inner.len() < 64,
        _ => {
            value.iter().all(|byte| *byte == b'*')
                || value.starts_with(b"${")
                || value.starts_with(b"{{")
        }
    }
}

/// Returns true if a text begins with a host: in a web address a name with a dot or a port, otherwise any name.
fn is_host(text: &[u8], is_web: bool) -> bool {
    let length =
        run(text, |byte| byte.is_ascii_alphanumeric() || b".-_[]".contains(&byte) || byte >= 0x80);
    let host = text.get(..length).unwrap_or_default();
    let rest = text.get(length..).unwrap_or_default();
    let port = match rest.first() {
        Some(b':') => run(rest.get(1..).unwrap_or_default(), |byte| byte.is_ascii_digit()),
        _ => 0,
    };
    let after = if port > 0 { rest.get(port + 1..).unwrap_or_default() } else { rest };
    let ends = matches!(
        after.first(),
        None | Some(
            b'/' | b'?'
                | b'#'
                | b','
                | b')'
                | b';'
                | b']'
                | b'}'
                | b':'
                | b'.'
                | b'$'
                | b'*'
                | b'{'
                | b'|'
        )
    );
    let is_known = !is_web || port > 0 || host.contains(&b'.') || host == b"localhost";
    (ends && !host.is_empty() && is_known)
        || text.starts_with(b"[")
        || matches!(text.first(), Some(b'$' | b'{' | b'<' | b'('))
}

/// Returns a private key whose `-----BEGIN ` is at `at`: up to its last line, or as far as lines look like one.
pub(super) fn private_key(
    text: &[u8],
    at: usize,
    last: &mut Option<usize>,
) -> Option<Range<usize>> {
    let dashes = run(text.get(at..)?, |byte| byte == b'-');
    let label = text.get(at..text.len().min(at + 80))?;
    let title = label.get(dashes..)?;
    let length = title.windows(4).position(|four| four == b"----")?;
    let name = title.get(..length)?;
    let is_private = name.windows(11).any(|part| part == b"PRIVATE KEY")
        && !name.iter().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_control());
    if !is_private && !name.windows(8).any(|part| part == b"OpenVPN ") {
        return None;
    }
    let body = at + dashes + length;
    let body = body + run(text.get(body..)?, |byte| byte == b'-');
    let limit = text.len().min(at + crate::redaction::redactor::MAX_MATCH_LENGTH);
    // The position of the next last line is computed once for all first lines before it.
    let known = last.filter(|last| *last >= body);
    let end = known.unwrap_or_else(|| {
        let rest = text.get(body..).unwrap_or_default();
        rest.windows(8)
            .position(|part| part == b"----END " || part == b"--- END ")
            .map_or(text.len(), |end| body + end)
    });
    *last = Some(end);
    // A last line that follows another first line belongs to that one.
    let next = text.get(body..end)?.windows(6).position(|part| part == b"BEGIN ");
    if end < limit && next.is_none() {
        let rest = text.get(end..limit)?;
        let line = run(rest, |byte| byte != b'\n' && byte != b'\\');
        // The body of a key, not two lines of code that contain the first and the last line.
        let names = [b"PRIVATE", b"private", b"OpenVPN"];
        if let Some(name) =
            rest.get(..line)?.windows(7).position(|part| names.iter().any(|name| part == *name))
        {
            let close = rest.get(name..line)?;
            let tail = close.windows(4).position(|four| four == b"----");
            let dashes = tail.map_or(0, |tail| {
                tail + run(close.get(tail..).unwrap_or_default(), |byte| byte == b'-')
            });
            return has_body(text.get(body..end)?).then_some(at..end + name + dashes);
        }
    }
    // The last line is missing: lines of base64 and their headers, after any prefix of the lines, up to another first line.
    let limit = next.map_or(limit, |next| limit.min(body + next)).max(body);
    let rest = text.get(body..limit)?;
    let dashes = rest.iter().rev().take_while(|byte| **byte == b'-').count();
    let rest = if next.is_some() { rest.get(..rest.len() - dashes)? } else { rest };
    let mut length = 0;
    loop {
        let line = rest.get(length..)?;
        let end =
            run(line, |byte| byte.is_ascii_alphanumeric() || b"+/=:,.()>|#* \t-".contains(&byte));
        let prefix = run(line, |byte| byte.is_ascii_digit() || b">|#*: \t+-".contains(&byte));
        let content = line.get(prefix.min(end)..end)?;
        if content.contains(&b' ') && !content.contains(&b':') {
            break;
        }
        length += end;
        length += match line.get(end..).unwrap_or_default() {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] | [b'\\', b'n' | b'r', ..] => 2,
            _ => break,
        };
    }
    has_body(rest.get(..length)?).then_some(at..body + length)
}

/// Finds the lines of private keys whose first line is missing, before their last line: the end of a file, or what `grep` found.
pub(super) fn key_bodies(text: &[u8], range: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    const MAX_LENGTH: usize = 4096;
    const MIN_LINE: usize = 40;
    const MIN_LAST: usize = 4;
    let end = text.len().min(range.end + MAX_LENGTH);
    let rest = text.get(range.start..end).unwrap_or_default();
    for place in memchr::memmem::find_iter(rest, b" PRIVATE KEY-----") {
        let at = range.start + place;
        let title = line_before(text, at, 160);
        let Some(dashes) = title.windows(8).position(|part| part == b"-----END") else { continue };
        let mut next = at - title.len();
        // The name of a file, the number of a line and the like before it.
        let prefix = run(title.get(..dashes).unwrap_or_default(), |byte| byte >= b' ');
        // Only the last line of a body is short; alone it may be any word.
        let mut last = None;
        while next > at.saturating_sub(MAX_LENGTH).max(1) && text.get(next - 1) == Some(&b'\n') {
            let line = line_before(text, next - 1, 256);
            let line_end = next - 1 - usize::from(line.ends_with(b"\r"));
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let is_of_body = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
            let length = line.iter().rev().take_while(is_of_body).count();
            let is_first = next == at - title.len();
            let min = if is_first { MIN_LAST } else { MIN_LINE };
            if length < min || line.len() - length > prefix + 2 {
                break;
            }
            next = line_end - line.len();
            let has = |is: fn(&u8) -> bool| line.iter().rev().take(length).any(is);
            let is_mixed = has(u8::is_ascii_digit)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_lowercase);
            if length < MIN_LINE && !is_mixed && !line.ends_with(b"=") {
                last = Some(line_end - length..line_end);
                continue;
            }
            found(line_end - length..line_end);
            last.take().into_iter().for_each(&mut *found);
        }
    }
}

fn has_body(text: &[u8]) -> bool {
    text.split(|byte| !byte.is_ascii_alphanumeric() && !b"+/".contains(byte))
        .any(|run| run.len() >= 8)
}

/// Returns the lines of a PuTTY private key: as many as `Private-Lines: `, which ends at `at`, says.
pub(super) fn putty(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..text.len().min(at + 16 * 1024))?;
    let count = run(rest, |byte| byte.is_ascii_digit() || byte == b' ');
    let lines: usize = std::str::from_utf8(rest.get(..count)?).ok()?.trim().parse().ok()?;
    let begin = count + run(rest.get(count..)?, |byte| byte == b'\r' || byte == b'\n');
    let mut to = begin;
    for _ in 0..lines.min(200) {
        to += run(rest.get(to..)?, |byte| byte != b'\n');
        to += usize::from(to < rest.len());
    }
    let body = rest.get(begin..to)?;
    let to = to - body.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    (to > begin).then_some(at + begin..at + to)
}

/// Bytes of the longest header of a web token, which may hold certificates.
const MAX_HEADER: usize = 16 * 1024;

/// Returns a JSON web token, signed or encrypted: header and claims are JSON, and `eyJ` encodes `{"`.
pub(super) fn web_token(text: &[u8], at: usize, runs: &mut Runs) -> Option<Range<usize>> {
    if !text.get(at..)?.starts_with(b"eyJ") {
        return None;
    }
    let mut to = at;
    let (mut parts, mut needed) = (0, 3);
    for part in 0..5 {
        let max = if part == 0 { MAX_HEADER } else { usize::MAX };
        let length = runs.end(text, to, Tail::Word) - to;
        // A token that is encrypted for a key both sides know has no key in it.
        let is_without_key = part == 1 && length == 0 && text.get(to) == Some(&b'.');
        if part < 2 && length < 8 && !is_without_key || length >= max {
            return None;
        }
        // The claims of a signed token are JSON; the second part of an encrypted one is a key, if present.
        if part == 1 && !text.get(to..)?.starts_with(b"eyJ") && length < 40 && !is_without_key {
            return None;
        }
        to += length;
        parts += 1;
        if text.get(to) != Some(&b'.') || part == 4 {
            break;
        }
        let is_key_missing = part == 0 && text.get(to + 1) == Some(&b'.');
        if !text.get(to + 1).is_some_and(|next| is_word(*next)) && part != 1 && !is_key_missing {
            break;
        }
        to += 1;
        needed = needed.max(if is_key_missing { 5 } else { 3 });
    }
    (parts >= needed).then_some(at..to)
}

/// Returns the token after the `bearer` that ends at `at`.
pub(super) fn bearer(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..text.len().min(at + 8192))?;
    let gap = run(rest, |byte| byte == b' ');
    let token = rest.get(gap..)?;
    let length = run(token, |byte| is_word(byte) || b".~+/%".contains(&byte));
    let length = length + run(token.get(length..)?, |byte| byte == b'=');
    let token = token.get(..length)?;
    let is_token = gap > 0
        && gap <= 8
        && length >= 16
        && (digits(token) || token.iter().any(u8::is_ascii_uppercase) || length >= 32)
        && !secret_values::is_reference(token);
    let token = at + gap..at + gap + length;
    is_token.then(|| token.start..value::wrapped(text, &token))
}

/// Returns the Azure client secret whose `Q~` is at `at`.
pub(super) fn azure(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is = |byte: u8| is_word(byte) || byte == b'.' || byte == b'~';
    let from = at.checked_sub(4)?;
    let before = text.get(from..at)?;
    let begins = from == 0 || text.get(from - 1).is_none_or(|byte| !is_word(*byte));
    let length = run(text.get(at + 2..)?, is);
    let matches = text.get(at..at + 2) == Some(b"Q~")
        && begins
        && before.iter().all(|byte| is(*byte))
        && before.last().is_some_and(u8::is_ascii_digit);
    (matches && (31..=34).contains(&length)).then_some(from..at + 2 + length)
}

/// Returns the Telegram bot token whose `:AA` is at `at`.
pub(super) fn telegram(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(at.saturating_sub(11)..at)?;
    let id = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let length = run(text.get(at + 1..)?, is_word);
    let matches = text.get(at..at + 3) == Some(b":AA")
        && (8..=10).contains(&id)
        && (33..=36).contains(&length);
    matches.then_some(at - id..at + 1 + length)
}

/// Returns the Discord bot token whose first dot is at `at`.
pub(super) fn discord(text: &[u8], at: usize) -> Option<Range<usize>> {
    if text.get(at + 7) != Some(&b'.') {
        return None;
    }
    let before = text.get(at.saturating_sub(32)..at)?;
    let id = before.iter().rev().take_while(|byte| is_word(**byte)).count();
    let from = at - id;
    let length = run(text.get(at + 8..)?, is_word);
    let matches = (23..=28).contains(&id)
        && matches!(text.get(from), Some(b'M' | b'N' | b'O'))
        && text.get(at + 1..at + 7)?.iter().all(|byte| is_word(*byte))
        && (27..=40).contains(&length)
        && digits(text.get(from..at)?);
    matches.then_some(from..at + 8 + length)
}

/// Returns the secret of the Ably key whose first dot is at `at`: `app123.key456:secret`.
pub(super) fn ably(text: &[u8], at: usize) -> Option<Range<usize>> {
    const LENGTH: usize = 43;
    if text.get(at + 7) != Some(&b':') {
        return None;
    }
    let from = at.checked_sub(6)?;
    let begins = from == 0 || text.get(from - 1).is_none_or(|byte| !is_word(*byte));
    let ids = [text.get(from..at)?, text.get(at + 1..at + 7)?];
    let secret = text.get(at + 8..text.len().min(at + 9 + LENGTH))?;
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    let matches = begins
        && ids.concat().iter().all(|byte| is_word(*byte))
        && run(secret, is_word) == LENGTH
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    matches.then_some(at + 8..at + 8 + LENGTH)
}

/// Returns the secret in hexadecimal digits whose dash is at `at`: a Mailgun key, of which the first part ends there, or the
/// second part of a key of fal.ai, whose first part is a UUID.
pub(super) fn dashed(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let hex = |range: Range<usize>| {
        text.get(range).is_some_and(|part| part.iter().all(|byte| is_hex(*byte)))
    };
    let (from, secret) = if text.get(at + 9) == Some(&b'-') {
        let from = at.checked_sub(32)?;
        (hex(from..at) && hex(at + 1..at + 9) && hex(at + 10..at + 18))
            .then_some((from, from..at + 18))?
    } else if text.get(at + 5) == Some(&b'-') {
        let from = at.checked_sub(8)?;
        let colon = uuid_end(text, from).filter(|end| text.get(*end) == Some(&b':'))?;
        hex(colon + 1..colon + 33).then_some((from, colon + 1..colon + 33))?
    } else {
        return None;
    };
    let is_end = |at: usize| text.get(at).is_none_or(|byte| !is_word(*byte));
    (from.checked_sub(1).is_none_or(is_end) && is_end(secret.end)).then_some(secret)
}

/// Returns the Mailchimp key whose data centre has its `-us` at `at`.
pub(super) fn mailchimp(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.checked_sub(32)?;
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let key = text.get(from..at)?;
    let length = run(text.get(at + 3..)?, |byte| byte.is_ascii_digit());
    let begins = from == 0 || text.get(from - 1).is_none_or(|byte| !is_word(*byte));
    (begins && key.iter().all(|byte| is_hex(*byte)) && (1..=2).contains(&length))
        .then_some(from..at + 3 + length)
}

/// Returns the secret next to the id of a key, recognized only by its length: 40 bytes of base64 for AWS, 32
/// hexadecimal digits for Twilio.
pub(super) fn beside(text: &[u8], at: usize, is_aws: bool) -> Option<Range<usize>> {
    let is = |byte: u8| {
        if is_aws {
            byte.is_ascii_alphanumeric() || byte == b'/' || byte == b'+'
        } else {
            matches!(byte, b'0'..=b'9' | b'a'..=b'f')
        }
    };
    let length = if is_aws { 40 } else { 32 };
    let end = text.len().min(at + 160);
    let mut place = at;
    while place < end {
        let count = run(text.get(place..)?, is);
        let part = text.get(place..place + count)?;
        let before =
            place.checked_sub(1).and_then(|before| text.get(before)).copied().unwrap_or(b' ');
        let looks = digits(part)
            && (!is_aws
                || part.iter().any(u8::is_ascii_uppercase)
                    && part.iter().any(u8::is_ascii_lowercase));
        if count == length
            && looks
            && !is_word(before)
            && text.get(place + count).is_none_or(|byte| !is_word(*byte))
        {
            return Some(place..place + count);
        }
        place += count.max(1);
    }
    None
}

/// Returns the password of a `.pgpass` line, whose port is at `at`: `host:5432:database:user:password`.
pub(super) fn pgpass(text: &[u8], at: usize, to: usize) -> Option<Range<usize>> {
    let rest = text.get(to..text.len().min(at + 512))?;
    let line = rest.get(..run(rest, |byte| byte.is_ascii_graphic() || byte == b' '))?;
    let mut parts = line.splitn(3, |byte| *byte == b':');
    let (database, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    let is_name = |part: &[u8]| {
        !part.is_empty() && part.iter().all(|byte| is_word(*byte) || matches!(byte, b'*' | b'.'))
    };
    let from = to + database.len() + user.len() + 2;
    let is_password = is_name(database)
        && is_name(user)
        && password.len() >= 4
        && !password.contains(&b' ')
        && !password.split(|byte| *byte == b':').rev().skip(1).any(|part| !part.ends_with(b"\\"));
    (is_password && !secret_values::is_reference(password)).then_some(from..from + password.len())
}

/// Returns the password after the `IDENTIFIED BY` or the `IDENTIFIED WITH` that ends at `at`.
pub(super) fn identified(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_with = text.get(at - 4..at).is_some_and(|word| word.eq_ignore_ascii_case(b"with"));
    let at = if is_with { plugin_end(text, at)? } else { at };
    let gap = run(text.get(at..text.len().min(at + 32))?, |byte| byte.is_ascii_whitespace());
    let Some(value) = value::quoted(text, at + gap) else {
        return identified_bare(text, at).filter(|_| gap > 0);
    };
    if text.get(at + gap) == Some(&b'`') {
        return None;
    }
    let bytes = text.get(value.range.clone())?;
    (bytes.len() >= 3 && !secret_values::is_reference(bytes)).then_some(value.range)
}

/// Returns the end of the name of a plugin and of the `BY` or `AS` after it.
fn plugin_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + 64))?;
    let blanks = |from: usize| {
        let rest = rest.get(from..).unwrap_or_default();
        from + run(rest, |byte| byte.is_ascii_whitespace())
    };
    let from = blanks(0);
    let length = run(rest.get(from..)?, |byte| is_word(byte) || b"'\"`".contains(&byte));
    let word = blanks(from + length);
    let by = rest.get(word..word + 2)?;
    let is_by = by.eq_ignore_ascii_case(b"by") || by.eq_ignore_ascii_case(b"as");
    (length > 0 && is_by).then_some(at + word + 2)
}

/// Returns the password of a statement of Oracle, which needs no quotes: `CONNECT TO me IDENTIFIED BY PASSWORD;`.
fn identified_bare(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(at.saturating_sub(128)..at)?.to_ascii_lowercase();
    let starts: [&[u8]; 3] = [b" user ", b" role ", b"connect to "];
    let is_statement =
        starts.iter().any(|start| before.windows(start.len()).any(|part| part == *start));
    let range = value::bare(text, at + 1, false).filter(|_| is_statement)?.range;
    let bytes = text.get(range.clone())?;
    (bytes.len() >= 6 && digits(bytes) && !secret_values::is_reference(bytes)).then_some(range)
}
