//! Reads values in another member than their names: `{ name: 'DB_PASSWORD', value: '…' }`, `"adminPassword": { "value": … }`.

use std::ops::Range;

use super::MAX_BEFORE;
use super::before_value::{blanks, lines};
use super::contexts::run;
use super::name_value_pairs::{MAX_NAME_LENGTH, Name, element, here_document, is_letter};
use super::secret_values::{self, Form};
use super::value::{self, Value};
use super::yaml;

/// Maximum distance in bytes between the name of a pair and its value.
const PAIR: usize = 256;

/// Maximum number of members of an object before its value.
const MAX_MEMBERS: usize = 8;

impl Name {
    /// Returns the value of a pair with this name: `name: DB_PASSWORD`, then `value: …`.
    pub(super) fn pair(&self, text: &[u8]) -> Option<Range<usize>> {
        const NAMES: [&str; 16] = [
            "name",
            "key",
            "variable",
            "var",
            "env",
            "id",
            "field",
            "header",
            "param",
            "parameter",
            "parametername",
            "parameterkey",
            "optionname",
            "settingname",
            "propertyname",
            "variablename",
        ];
        // The name can be the last part of a path.
        let path = text.get(self.begin.saturating_sub(MAX_NAME_LENGTH)..self.begin)?;
        let is_of_path = |byte: &&u8| is_letter(**byte) || b"/-.".contains(byte);
        let path = match path.last() {
            Some(b'/') => path.iter().rev().take_while(is_of_path).count(),
            _ => 0,
        };
        let begin = self.begin - path;
        let before = text.get(begin.saturating_sub(32)..begin)?;
        let is_blank = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'\t' | b'`');
        let rest = before.len() - before.iter().rev().take_while(is_blank).count();
        let (b'=' | b':') = before.get(rest.checked_sub(1)?)? else { return None };
        let rest = before.get(..rest - 1)?;
        let rest = rest.get(..rest.len() - rest.iter().rev().take_while(is_blank).count())?;
        let length = rest.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = std::str::from_utf8(rest.get(rest.len() - length..)?).ok()?.to_lowercase();
        if !NAMES.contains(&word.as_str()) {
            return None;
        }
        self.value_behind(text).or_else(|| self.value_before(text))
    }

    /// Returns the value of a pair that is before its name: `"value": …, "name": "DB_PASSWORD"`.
    fn value_before(&self, text: &[u8]) -> Option<Range<usize>> {
        let start = self.begin.saturating_sub(MAX_BEFORE);
        let window = text.get(start..self.begin)?;
        let object = window.iter().rposition(|byte| b"{}[".contains(byte)).map_or(0, |at| at + 1);
        let is_key = |part: &[u8]| part.eq_ignore_ascii_case(b"value");
        let key = object + window.get(object..)?.windows(5).rposition(is_key)?;
        let quotes = run(window.get(key + 5..)?, |byte| b"\\\"' ".contains(&byte));
        let sign = key + 5 + quotes;
        if !matches!(window.get(sign), Some(b':' | b'=')) {
            return None;
        }
        let at = lines(text, start + sign + 1);
        let value = value::quoted(text, at).or_else(|| value::bare(text, at, false))?;
        self.judged(text, value).filter(|secret| secret.end < self.begin)
    }

    /// Returns the value of a pair that is after its name.
    fn value_behind(&self, text: &[u8]) -> Option<Range<usize>> {
        let is_blank = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ' | b'\t' | b'`');
        let window = text.get(self.end..text.len().min(self.end + PAIR))?;
        let mut at = 0;
        while at < window.len() {
            match window.get(at)? {
                b'}' | b'{' | b'[' => return None,
                b'<' if window.get(at + 1) == Some(&b'/') => return None,
                b'-' if window.get(at + 1) == Some(&b' ')
                    && at > 0
                    && matches!(window.get(at - 1), Some(b' ' | b'\n')) =>
                {
                    return None;
                }
                b'>' if !matches!(window.get(at.saturating_sub(1)), Some(b'=' | b'/')) => {
                    let at = self.end + at + 1;
                    return self.judged(text, element(text, at)?);
                }
                b'v' | b'V'
                    if window
                        .get(at..at + 5)
                        .is_some_and(|word| word.eq_ignore_ascii_case(b"value")) =>
                {
                    // `ParameterValue` belongs to `ParameterKey`.
                    let is_capital = window.get(at) == Some(&b'V');
                    let is_word = at == 0
                        || window.get(at - 1).is_some_and(|byte| {
                            !byte.is_ascii_alphanumeric() || is_capital && byte.is_ascii_lowercase()
                        });
                    let rest = window.get(at + 5..)?;
                    let gap = rest.iter().take_while(is_blank).count();
                    let separator = rest.get(gap).copied();
                    if is_word && matches!(separator, Some(b'=' | b':')) {
                        let arrow = usize::from(rest.get(gap + 1) == Some(&b'>'));
                        let at = lines(text, self.end + at + 5 + gap + 1 + arrow);
                        let value =
                            value::quoted(text, at).or_else(|| value::bare(text, at, false))?;
                        return self.judged(text, value);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the value that an object with this name holds: `"adminPassword": { "value": … }`, `variable "db_password" {
    /// default = … }`.
    pub(super) fn described(&self, text: &[u8]) -> Option<Range<usize>> {
        const NAMES: [&[u8]; 4] = [b"value", b"default", b"defaultvalue", b"plaintext"];
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let quotes = |at: usize| {
            let rest = text.get(at..text.len().min(at + 4)).unwrap_or_default();
            at + run(rest, |byte| b"\\\"'".contains(&byte))
        };
        let after = blanks(text, quotes(self.end), 16);
        const MAX_LENGTH: usize = 512;
        let colon = blanks(text, after + 1, 16);
        if byte(after) == b':' && matches!(byte(colon), b'\n' | b'\r') {
            let mut found = None;
            yaml::members(text, self.begin, colon, MAX_LENGTH, &mut |key, range| {
                let value = value::quoted(text, range.start).map_or(range, |value| value.range);
                let bytes = text.get(value.clone()).unwrap_or_default();
                let is_value = NAMES.contains(&key.to_ascii_lowercase().as_slice());
                if is_value && secret_values::is_secret(self.kind, Form::Colon, bytes, false, true)
                {
                    found = Some(value);
                }
            });
            return found;
        }
        let open = match byte(after) {
            b':' | b'=' => lines(text, after + 1),
            _ if after > self.end => after,
            _ => return None,
        };
        if byte(open) != b'{' {
            return None;
        }
        let mut at = open + 1;
        for _ in 0..MAX_MEMBERS {
            let name = quotes(lines(text, at));
            let rest = text.get(name..text.len().min(name + 32))?;
            let length = run(rest, is_letter);
            let word = rest.get(..length)?.to_ascii_lowercase();
            let sign = blanks(text, quotes(name + length), 16);
            if length == 0 || !matches!(byte(sign), b':' | b'=') {
                return None;
            }
            let from = lines(text, sign + 1);
            let value = value::quoted(text, from);
            if NAMES.contains(&word.as_slice()) {
                let range = here_document(text, from).or(value.map(|value| value.range))?;
                let bytes = text.get(range.clone())?;
                return secret_values::is_secret(self.kind, Form::Colon, bytes, true, false)
                    .then_some(range);
            }
            let rest = text.get(from..text.len().min(from + PAIR))?;
            let end = value.map_or_else(
                || from + run(rest, |byte| !b",}{[\n".contains(&byte)),
                |value| value.end,
            );
            at = lines(text, end);
            at += usize::from(byte(at) == b',');
        }
        None
    }

    pub(super) fn judged(&self, text: &[u8], value: Value) -> Option<Range<usize>> {
        let bytes = text.get(value.range.clone())?;
        secret_values::is_secret(self.kind, Form::Pair, bytes, true, true).then_some(value.range)
    }
}
