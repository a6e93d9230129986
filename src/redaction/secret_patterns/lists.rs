//! Lists of secrets: `passwords: ["…", "…"]`, objects of them: `"secrets": { "a": "…" }`, and what YAML writes in the lines below such a name.

use std::ops::Range;

use super::before_value::{blanks, lines};
use super::contexts::run;
use super::headers;
use super::name_value_pairs::{is_letter, named};
use super::secret_names::Kind;
use super::secret_values::{self, Form};
use super::value;
use super::yaml;

/// Maximum number of bytes of a list.
const MAX_LIST_LENGTH: usize = 16 * 1024;

/// The meaning of a list's name for its items.
#[derive(Debug, Clone, Copy)]
struct About {
    kind: Kind,
    /// True for a name in the plural. Such lists can hold the names of secrets, too.
    is_plural: bool,
}

/// Finds the items of the list whose name contains the word at `hit`.
pub(super) fn items(text: &[u8], hit: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    let byte = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let adds_letter = byte(hit.end).eq_ignore_ascii_case(&b's');
    let end = hit.end + usize::from(adds_letter);
    let quotes = text.get(end..text.len().min(end + 4)).unwrap_or_default();
    let at = blanks(text, end + run(quotes, |byte| b"\\\"'".contains(&byte)), 16);
    if is_letter(byte(end)) || !matches!(byte(at), b':' | b'=') {
        return;
    }
    let at = blanks(text, at + 1, 16);
    if !matches!(byte(at), b'[' | b'{' | b'\n' | b'\r') {
        return;
    }
    let word = text.get(hit.clone()).unwrap_or_default();
    let is_plural = adds_letter || word.ends_with(b"s") && word != b"pass";
    let Some((kind, begin)) = named(text, hit) else { return };
    // The headers of a request: `"Authorization": ["Basic …"]`.
    if let (Kind::Authorization | Kind::Cookie, b'[') = (kind, byte(at)) {
        let at = lines(text, at + 1);
        let secret = match kind {
            Kind::Authorization => headers::authorization(text, at),
            _ if value::quoted(text, at).is_some() => headers::cookie(text, at, Form::Colon),
            _ => None,
        };
        secret.into_iter().for_each(found);
        return;
    }
    if !matches!(kind, Kind::Password | Kind::Secret | Kind::Token) {
        return;
    }
    let about = About { kind, is_plural };
    match byte(at) {
        b'[' => about.within(text, at + 1, false, found),
        b'{' if is_plural => about.within(text, at + 1, true, found),
        b'{' => {}
        _ => yaml::below_name(text, begin, at, MAX_LIST_LENGTH, &mut |range, is_member| {
            if !is_member || is_plural {
                about.item(text, range, found);
            }
        }),
    }
}

impl About {
    /// Finds the items of a list, or the values of an object, from its first one on.
    fn within(
        self,
        text: &[u8],
        from: usize,
        is_object: bool,
        found: &mut impl FnMut(Range<usize>),
    ) {
        let mut at = from;
        while at < from + MAX_LIST_LENGTH {
            at = lines(text, at);
            if is_object {
                let Some(value) = member(text, at) else { return };
                at = value;
            }
            let rest = text.get(at..text.len().min(at + MAX_LIST_LENGTH)).unwrap_or_default();
            let length = match value::quoted(text, at) {
                Some(quoted) => quoted.end - at,
                None => run(rest, |byte| !b",]}{[(|<\n".contains(&byte)),
            };
            self.item(text, at..at + length, found);
            at = lines(text, at + length);
            if text.get(at) != Some(&b',') {
                return;
            }
            at += 1;
        }
    }

    /// Finds the secret that an item is, with its quotes if it has some.
    fn item(self, text: &[u8], range: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
        let quoted = value::quoted(text, range.start).filter(|quoted| quoted.end <= range.end);
        let is_quoted = quoted.is_some();
        let range = quoted.map_or(range, |quoted| quoted.range);
        let bytes = text.get(range.clone()).unwrap_or_default();
        let length = bytes.trim_ascii_end().len();
        let bytes = bytes.get(..length).unwrap_or_default();
        let is_secret = match self.kind {
            Kind::Secret | Kind::Token if self.is_plural => {
                secret_values::is_entropic(bytes) && !secret_values::is_reference(bytes)
            }
            kind => secret_values::is_secret(kind, Form::Colon, bytes, is_quoted, false),
        };
        // A class of a regular expression is no list: `password=[A-Za-z0-9]+`.
        let from = range.start.saturating_sub(1);
        let is_class = || text.get(from..range.end).is_some_and(secret_values::is_reference);
        if is_secret && (is_quoted || !bytes.contains(&b' ') && !is_class()) {
            found(range.start..range.start + length);
        }
    }
}

/// Returns where the value of a member of an object begins.
fn member(text: &[u8], at: usize) -> Option<usize> {
    let end = match value::quoted(text, at) {
        Some(quoted) => quoted.end,
        None => at + run(text.get(at..)?, is_letter),
    };
    let colon = blanks(text, end, 16);
    (end > at && text.get(colon) == Some(&b':')).then(|| lines(text, colon + 1))
}
