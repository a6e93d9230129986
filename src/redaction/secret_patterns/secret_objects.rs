//! All values of a Secret of Kubernetes in JSON, also in JSON that is a text of JSON.

use std::ops::Range;

use memchr::memmem;

use super::contexts::run;
use super::secret_values;

/// Maximum number of bytes of the values of a Secret, and of those between its kind and its values.
const MAX_DATA_LENGTH: usize = 60 * 1024;
const MAX_BETWEEN: usize = 16 * 1024;

/// An object of JSON, in which each quote has this number of escapes before it.
struct Object<'t> {
    text: &'t [u8],
    escapes: usize,
}

/// Finds the values of the Secret whose `"kind` ends at `at`, in the members that follow. Returns the number of bytes read.
pub(super) fn of_kind(text: &[u8], at: usize, found: &mut impl FnMut(Range<usize>)) -> usize {
    let Some((object, at)) = Object::of_member(text, at) else { return 0 };
    let Some(kind) = object.quoted(at, text.len().min(at + 64)) else { return 0 };
    if text.get(kind.clone()) != Some(b"Secret") {
        return 0;
    }
    let limit = text.len().min(at + MAX_BETWEEN);
    let is_plain = is_of_kubernetes(text, at);
    let mut read = 0;
    let end = object.siblings(kind.end + object.escapes + 1, limit, &mut |name, value| {
        if matches!(name, b"data" | b"stringData") {
            let is_plain = is_plain || name == b"stringData";
            read += object.secrets(value, is_plain, found) - value;
        }
        false
    });
    read + end - at
}

/// Finds the values of the object after the `data` or `stringData` that ends at `at`, if they are those of a Secret, whose kind or
/// type follows. Returns the number of bytes read.
pub(super) fn of_data(text: &[u8], at: usize, found: &mut impl FnMut(Range<usize>)) -> usize {
    let before = text.get(at.saturating_sub(11)..at).unwrap_or_default();
    if !before.ends_with(b"\"data") && !before.ends_with(b"\"stringData") {
        return 0;
    }
    let Some((object, at)) = Object::of_member(text, at) else { return 0 };
    let (is_whole, end) = object.values(at, &mut |_| ());
    if !is_whole {
        return end - at;
    }
    let mut is_secret = false;
    let last = object.siblings(end, text.len().min(end + MAX_BETWEEN), &mut |name, value| {
        let value = object.quoted(value, text.len().min(value + 64));
        let value = value.and_then(|value| text.get(value)).unwrap_or_default();
        is_secret = match name {
            b"kind" => value == b"Secret",
            b"type" => value == b"Opaque" || value.starts_with(b"kubernetes.io/"),
            _ => false,
        };
        is_secret || name == b"kind"
    });
    if is_secret {
        let is_plain = before.ends_with(b"stringData")
            || is_of_kubernetes(text, at)
            || is_of_kubernetes(text, last);
        object.secrets(at, is_plain, found);
    }
    last - at
}

/// Returns true if an object of Kubernetes names its version or its metadata near a position.
fn is_of_kubernetes(text: &[u8], at: usize) -> bool {
    const AROUND: usize = 256;
    let around = text.get(at.saturating_sub(AROUND)..text.len().min(at + AROUND));
    let around = around.unwrap_or_default();
    [&b"\"apiVersion"[..], b"\"metadata"].iter().any(|name| memmem::find(around, name).is_some())
}

impl<'t> Object<'t> {
    /// Returns the object with the name that ends at `at`, and where its value begins.
    fn of_member(text: &'t [u8], at: usize) -> Option<(Object<'t>, usize)> {
        let escapes = run(text.get(at..text.len().min(at + 16))?, |byte| byte == b'\\');
        let object = Object { text, escapes };
        let colon = object.blanks(at + escapes + 1);
        let is_name = text.get(at + escapes) == Some(&b'"') && text.get(colon) == Some(&b':');
        is_name.then(|| object.blanks(colon + 1)).map(|value| (object, value))
    }

    /// Skips white space, also in the form of an escape in a text.
    fn blanks(&self, at: usize) -> usize {
        const MOST: usize = 256;
        let mut at = at;
        let limit = at + MOST;
        while at < limit {
            at += match self.text.get(at) {
                Some(byte) if byte.is_ascii_whitespace() => 1,
                Some(b'\\') if self.escapes > 0 => {
                    let rest = self.text.get(at..).unwrap_or_default();
                    let escapes = run(rest.get(..rest.len().min(16)).unwrap_or_default(), |byte| {
                        byte == b'\\'
                    });
                    match rest.get(escapes) {
                        Some(b'n' | b'r' | b't') => escapes + 1,
                        _ => return at,
                    }
                }
                _ => return at,
            };
        }
        at
    }

    /// Returns the text in quotes that begins at `at`. Without its end it ends with its line, or at the limit.
    fn quoted(&self, at: usize, limit: usize) -> Option<Range<usize>> {
        let begin = self.text.get(at..limit)?;
        if run(begin, |byte| byte == b'\\') != self.escapes
            || begin.get(self.escapes) != Some(&b'"')
        {
            return None;
        }
        let from = at + self.escapes + 1;
        let mut run = 0;
        for (place, byte) in self.text.get(from..limit)?.iter().enumerate() {
            match byte {
                b'\\' => run += 1,
                b'"' if run >= self.escapes
                    && (run - self.escapes).is_multiple_of(2 * (self.escapes + 1)) =>
                {
                    return Some(from..from + place - self.escapes);
                }
                b'\n' => return Some(from..from + place),
                _ => run = 0,
            }
        }
        Some(from..limit)
    }

    /// Finds the values of the object at `at`, all of which are texts. Returns if it is whole, and where it ends.
    fn values(&self, at: usize, found: &mut impl FnMut(Range<usize>)) -> (bool, usize) {
        let limit = self.text.len().min(at + MAX_DATA_LENGTH);
        if self.text.get(at) != Some(&b'{') {
            return (false, at);
        }
        let mut at = self.blanks(at + 1);
        if self.text.get(at) == Some(&b'}') {
            return (true, at + 1);
        }
        while let Some(value) = self.member(at, limit).and_then(|(_, at)| self.quoted(at, limit)) {
            at = self.blanks(value.end + self.escapes + 1);
            let bytes = self.text.get(value.clone()).unwrap_or_default();
            if !bytes.is_empty() && !secret_values::is_reference(bytes) {
                found(value);
            }
            match self.text.get(at) {
                Some(b',') => at = self.blanks(at + 1),
                Some(b'}') => return (true, at + 1),
                _ => break,
            }
        }
        (false, at)
    }

    /// Finds the values of the object at `at`, if they are in base64 or can be plain. Returns where it ends.
    fn secrets(&self, at: usize, is_plain: bool, found: &mut impl FnMut(Range<usize>)) -> usize {
        let (mut is_coded, mut is_mixed, mut odd) = (true, false, 0);
        let (is_whole, end) = self.values(at, &mut |value| {
            let bytes = self.text.get(value).unwrap_or_default();
            let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
            is_coded &= !has(|byte| !byte.is_ascii_alphanumeric() && !b"+/=".contains(byte));
            is_mixed |= has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
                || bytes.len() >= 16 && has(u8::is_ascii_digit);
            odd += usize::from(!bytes.len().is_multiple_of(4));
        });
        // The last value of an object that is cut off may be cut off too.
        if is_plain || is_coded && is_mixed && odd <= usize::from(!is_whole) {
            self.values(at, found);
        }
        end
    }

    /// Returns the name of the member at `at`, and where its value begins.
    fn member(&self, at: usize, limit: usize) -> Option<(&'t [u8], usize)> {
        let name = self.quoted(at, limit)?;
        let (_, value) = Object::of_member(self.text, name.end)?;
        Some((self.text.get(name)?, value))
    }

    /// Passes on the members of the same object from `at` on, where a value ends, until one is the last that is wanted. Returns
    /// where that was.
    fn siblings(
        &self,
        at: usize,
        limit: usize,
        each: &mut impl FnMut(&[u8], usize) -> bool,
    ) -> usize {
        let mut at = self.blanks(at);
        while self.text.get(at) == Some(&b',') {
            let member = self.member(self.blanks(at + 1), limit);
            let Some((_, value)) = member.filter(|(name, value)| !each(name, *value)) else {
                break;
            };
            let Some(end) = self.end(value, limit) else { return limit.max(at) };
            at = self.blanks(end);
        }
        at
    }

    /// Returns the end of the value that begins at `at`.
    fn end(&self, at: usize, limit: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = at;
        while at < limit {
            match self.text.get(at)? {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => return Some(at),
                b'}' | b']' => depth -= 1,
                b',' if depth == 0 => return Some(at),
                b'"' | b'\\' => {
                    if let Some(quoted) = self.quoted(at, limit) {
                        at = quoted.end + self.escapes;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}
