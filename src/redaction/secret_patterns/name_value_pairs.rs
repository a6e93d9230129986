//! Named secrets: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `Authorization: …`, `<password>…</password>`, `{ name:
//! 'DB_PASSWORD', value: '…' }`.

use std::ops::Range;

use super::before_value::{blanks, coded_quote, colours, lines, literal};
use super::contexts::run;
use super::headers::{authorization, cookie};
use super::secret_names::{Kind, kind_of};
use super::value::{self, Form, Value};
use super::yaml;

/// Number of bytes of a name that are examined before its last word.
const MAX_NAME_LENGTH: usize = 64;
/// Maximum distance in bytes between the name of a pair and its value.
const PAIR: usize = 256;
/// Maximum number of members of an object before its value.
const MAX_MEMBERS: usize = 8;
/// Maximum number of bytes and of lines of a here-document.
const MAX_DOCUMENT_LENGTH: usize = 4096;
const MAX_LINES: usize = 16;

/// Returns the secret whose name contains the word at `hit`.
pub(super) fn secret(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = name_end(text, hit.end)?;
    let begin = name_begin(text, hit.start);
    let name = Name::new(text, begin, end)?;
    if let Some(found) = name.pair(text).or_else(|| name.described(text)) {
        return Some(found);
    }
    let (form, at) = name.separator(text)?;
    match name.kind {
        Kind::Authorization => authorization(text, at),
        Kind::Cookie => cookie(text, at, form),
        _ => name.value(text, form, at),
    }
}

/// Returns the kind of the secret whose name ends with the word at `hit`, and where the name begins.
pub(super) fn named(text: &[u8], hit: Range<usize>) -> Option<(Kind, usize)> {
    let name = Name::new(text, name_begin(text, hit.start), hit.end)?;
    Some((name.kind, name.begin))
}

/// Returns the end of the name whose last word ends at `at`, a suffix such as `_2` included, or `None` if the name
/// continues differently.
fn name_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + 24)).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_letter(**byte)).count();
    let length = if rest.starts_with("：".as_bytes()) { 0 } else { length };
    match (rest.first(), length) {
        (_, 0) => Some(at),
        (Some(b'_' | b'0'..=b'9'), _) => Some(at + length),
        // `passwordHash` is a different name, `passwordB64` is not.
        (Some(b'A'..=b'Z'), _) => Some(at + length),
        _ => None,
    }
    .map(|end| {
        // `client-key-data` and `password-2`.
        let rest = text.get(end..text.len().min(end + 8)).unwrap_or_default();
        match rest {
            [b'-', b'd', b'a', b't', b'a', after, ..] if !is_letter(*after) => end + 5,
            [b'-', b'0'..=b'9', after, ..] if !is_letter(*after) => end + 2,
            _ => end,
        }
    })
}

pub(super) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the start of the name that has a word at `at`.
fn name_begin(text: &[u8], at: usize) -> usize {
    let before = text.get(at.saturating_sub(MAX_NAME_LENGTH)..at).unwrap_or_default();
    let length = before
        .iter()
        .rev()
        .take_while(|byte| is_letter(**byte) || matches!(byte, b'-' | b'.'))
        .count();
    let mut begin = at - length;
    // `\n` and `\u001b[1m` in JSON text end in a letter.
    if length > 0 && begin > 0 && text.get(begin - 1) == Some(&b'\\') {
        begin += match text.get(begin) {
            Some(b'n' | b'r' | b't' | b'b' | b'f') => 1,
            Some(b'u') => 5,
            _ => 0,
        };
    }
    // A colour, `ESC [ 1 m`, and `%20`.
    if let Some(colour) = text.get(begin.saturating_sub(8)..(begin + 4).min(at))
        && let Some(escape) = colour.iter().rposition(|byte| *byte == b'[')
        && let Some(length) =
            colour.get(escape + 1..).and_then(|rest| rest.iter().position(|byte| *byte == b'm'))
        && colour
            .get(escape + 1..escape + 1 + length)
            .is_some_and(|codes| codes.iter().all(|byte| byte.is_ascii_digit() || *byte == b';'))
    {
        begin = begin.max(begin.saturating_sub(8) + escape + 2 + length);
    }
    // Preceding words: `Secret access key`.
    begin.min(at)
}

struct Name {
    kind: Kind,
    /// Start of the name, without the dashes of an option.
    begin: usize,
    end: usize,
    /// True for an option of a command, `--name`.
    is_option: bool,
    /// True for a name in capitals, as environment variables have.
    is_upper: bool,
}

impl Name {
    fn new(text: &[u8], begin: usize, end: usize) -> Option<Name> {
        let whole = text.get(begin..end)?;
        let dashes = whole.iter().take_while(|byte| **byte == b'-').count();
        let begin = begin + whole.iter().take_while(|byte| matches!(byte, b'-' | b'.')).count();
        let begin = spaced(text, begin);
        let name = std::str::from_utf8(text.get(begin..end)?).ok()?;
        let kind = kind_of(name)?;
        Some(Name {
            kind,
            begin,
            end,
            is_option: dashes > 0,
            is_upper: name.bytes().any(|byte| byte.is_ascii_uppercase())
                && !name.bytes().any(|byte| byte.is_ascii_lowercase()),
        })
    }

    /// Returns how a value is attached to the name, and where the value begins.
    fn separator(&self, text: &[u8]) -> Option<(Form, usize)> {
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let mut at = colours(text, self.end);
        let mut has_quote = false;
        for _ in 0..8 {
            match byte(at) {
                b'"' | b'\'' | b'`' => has_quote = true,
                b'&' | b'\\' if coded_quote(text, at) > 0 => {
                    has_quote = true;
                    at += coded_quote(text, at) - 1;
                }
                b'\\' if matches!(byte(at + 1), b'"' | b'\'' | b'\\') => {}
                b']' if at > self.end || self.is_in_brackets(text) => {}
                b'*' => {}
                _ => break,
            }
            at += 1;
        }
        at = colours(text, at);
        let after = blanks(text, at, 64);
        let gap = after - at;
        let begin = |at: usize| colours(text, blanks(text, colours(text, at), 16));
        match byte(after) {
            b'?' | b'+' | b'!' if byte(after + 1) == b'=' && byte(after + 2) != b'=' => {
                Some((Form::Assigned, begin(after + 2)))
            }
            // Set unless it is set already.
            b'|' | b'?' | b'/' if byte(after + 1) == byte(after) && byte(after + 2) == b'=' => {
                Some((Form::Assigned, begin(after + 3)))
            }
            // The value of a name that is not set: `apiKey ?? '…'`.
            b'|' | b'?' if byte(after + 1) == byte(after) => {
                let at = begin(after + 2);
                value::quoted(text, at).map(|_| (Form::Colon, at))
            }
            // TypeScript: `password?: string`.
            b'?' if byte(after + 1) == b':' => self.typed(text, begin(after + 2)),
            b'=' if matches!(byte(after + 1), b'=' | b'~') => None,
            b'=' if byte(after + 1) == b'>' => {
                let at = begin(after + 2);
                // PHP prints the value in the next line.
                let at = if matches!(byte(at), b'\n' | b'\r') { lines(text, at) } else { at };
                Some((Form::Assigned, at))
            }
            // R, and what PHP stores: `s:8:"password";s:9:"…"`.
            b'<' if byte(after + 1) == b'-' && gap > 0 => Some((Form::Assigned, begin(after + 2))),
            b';' if has_quote && byte(after + 1) == b's' && byte(after + 2) == b':' => {
                let rest = text.get(after + 3..text.len().min(after + 12))?;
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (digits > 0 && rest.get(digits) == Some(&b':'))
                    .then_some((Form::Call, after + 4 + digits))
            }
            b'=' => {
                let at = begin(after + 1);
                let is_tight = gap == 0 && at == after + 1;
                let form = if self.is_option {
                    Form::Option
                } else if self.is_upper && is_tight || self.is_environment(text) {
                    Form::Variable
                } else if is_tight && self.fills_line(text, at) {
                    Form::Property
                } else {
                    Form::Assigned
                };
                Some((form, at))
            }
            b'-' if byte(after + 1) == b'>' && gap > 0 => Some((Form::Assigned, begin(after + 2))),
            // An equals sign in a form that is encoded for a URL.
            b'%' if matches!((byte(after + 1), byte(after + 2)), (b'3', b'D' | b'd')) => {
                Some((Form::Assigned, after + 3))
            }
            // LDIF has two colons before base64.
            b':' if byte(after + 1) == b':' => {
                (gap == 0 && byte(after + 2) == b' ' && self.kind == Kind::Password)
                    .then_some((Form::Colon, after + 3))
            }
            b':' if byte(after + 1) == b'=' => Some((Form::Assigned, begin(after + 2))),
            // The user of a URL.
            b':' if text.get(..self.begin).is_some_and(|before| before.ends_with(b"//")) => None,
            b':' => self.typed(text, begin(after + 1)),
            0xef if text.get(after..after + 3) == Some("：".as_bytes()) => {
                Some((Form::Colon, begin(after + 3)))
            }
            b'>' if !has_quote && self.is_element(text) => Some((Form::Element, after + 1)),
            b'|' if gap > 0 => Some((Form::Column, begin(after + 1))),
            0xe2 if text.get(after..after + 3) == Some("│".as_bytes()) => {
                Some((Form::Column, begin(after + 3)))
            }
            b',' if has_quote => {
                let at = lines(text, after + 1);
                let value = value::quoted(text, at)?;
                if self.is_option {
                    return Some((Form::Pair, at));
                }
                // The first of two, not one of a list of words.
                let is_first = matches!(
                    self.begin.checked_sub(2).and_then(|at| text.get(at)),
                    Some(b'(' | b'[')
                );
                let behind = lines(text, value.end);
                // A further argument that is a number: `setenv("TOKEN", "…", 1)`.
                let rest = text.get(behind..text.len().min(behind + 4)).unwrap_or_default();
                let is_last = matches!(rest, [b')' | b']', ..] | [b',', b' ', b'0'..=b'9', b')']);
                (is_first && is_last).then_some((Form::Call, at))
            }
            // In a list of properties of macOS the value is the next element.
            b'<' if text.get(after..after + 6) == Some(b"</key>") => {
                let at = lines(text, after + 6);
                text.get(at..at + 8)
                    .is_some_and(|start| start == b"<string>")
                    .then_some((Form::Element, at))
            }
            b'(' | b'{' if gap == 0 => {
                let at = begin(after + 1);
                value::quoted(text, at).map(|_| (Form::Call, at))
            }
            b'\n' | b'\r' => None,
            _ if gap == 0 => None,
            b'i' if text
                .get(after..after + 3)
                .is_some_and(|word| matches!(word, b"is " | b"is:")) =>
            {
                Some((Form::Call, begin(after + 3)))
            }
            // `CREATE USER me PASSWORD 'x'`
            b'\'' | b'"'
                if matches!(self.kind, Kind::Password | Kind::Authorization) && !self.is_option =>
            {
                Some((Form::Call, after))
            }
            // A constant of Elixir.
            b'"' if self.begin.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'@') => {
                Some((Form::Call, after))
            }
            // `secret "x";` of a name server, `SECRET 'x')` of DuckDB
            b'\'' | b'"' if self.kind == Kind::Secret && self.is_argument(text, after) => {
                Some((Form::Call, after))
            }
            _ if self.is_option => Some((Form::OptionWord, colours(text, after))),
            // The type stands behind the name: `var dbPassword string = "…"`.
            b'A'..=b'Z' | b'a'..=b'z'
                if let Some(found) = declared(text, after).filter(|(_, at)| {
                    gap == 1 && is_type(text, after) && value::quoted(text, *at).is_some()
                }) =>
            {
                Some(found)
            }
            _ if self.is_element(text) => {
                let rest = text.get(after..text.len().min(after + 128))?;
                let end = rest.iter().position(|byte| matches!(byte, b'<' | b'>'))?;
                let opens = rest.get(end) == Some(&b'>') && !rest.get(..end)?.ends_with(b"/");
                opens.then_some((Form::Element, after + end + 1))
            }
            _ if self.is_netrc(text) || self.is_setting(text) => Some((Form::OptionWord, after)),
            _ if (gap > 1 || text.get(at) == Some(&b'\t')) && self.kind != Kind::Token => {
                Some((Form::Column, colours(text, after)))
            }
            _ => None,
        }
    }

    /// Returns true for a value in quotes that ends a statement and is no name.
    fn is_argument(&self, text: &[u8], at: usize) -> bool {
        let Some(value) = value::quoted(text, at).filter(|_| !self.is_option) else { return false };
        let is_name = text.get(value.range.clone()).is_none_or(|bytes| bytes.contains(&b'-'));
        value.range.len() >= 12 && !is_name && matches!(text.get(value.end), Some(b';' | b')'))
    }

    /// Returns true for the name of an element in what PHP prints: `[password] => …`.
    fn is_in_brackets(&self, text: &[u8]) -> bool {
        self.begin.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'[')
    }

    /// Returns the value after a colon, or after the equals sign if the colon introduces a type.
    fn typed(&self, text: &[u8], at: usize) -> Option<(Form, usize)> {
        if let Some(found) = declared(text, at) {
            return Some(found);
        }
        let rest = text.get(at..text.len().min(at + 64)).unwrap_or_default();
        // A block of YAML, `|` or `>-`, and JSON with the value on the next line.
        let mut at = at;
        if let Some(b'|' | b'>') = text.get(at) {
            let marks = rest.iter().take_while(|byte| b"|>+-0123456789".contains(byte)).count();
            if text.get(at + marks) == Some(&b'\n') {
                return Some((Form::Block, lines(text, at + marks)));
            }
        } else if matches!(text.get(at), Some(b'\n' | b'\r')) {
            let next = lines(text, at);
            at = match value::quoted(text, next) {
                Some(_) => next,
                None => yaml::below(text, self.begin, at)?,
            };
        }
        Some((Form::Colon, at))
    }

    fn value(&self, text: &[u8], form: Form, at: usize) -> Option<Range<usize>> {
        let form = match form {
            Form::Block => match self.block(text, at) {
                Some(range) => return Some(range),
                None => Form::Colon,
            },
            form => form,
        };
        if let Some(range) = here_document(text, at) {
            let lines = text.get(range.clone())?;
            let is_word = !lines.iter().any(u8::is_ascii_whitespace);
            return value::is_secret(self.kind, Form::Pair, lines, true, is_word).then_some(range);
        }
        let at = literal(text, at);
        let (value, is_quoted) = match form {
            Form::Element => (element(text, at)?, false),
            _ => match self.in_quotes(text, form, at) {
                Some(value) => (value, true),
                None => match self.in_connection_string(text, form, at) {
                    Some(value) => (value, true),
                    None => {
                        let value = value::bare(text, at, self.is_query(text))?;
                        // An escaped space does what quotes do.
                        let has_space = text.get(value.range.clone())?.contains(&b' ');
                        (value, has_space)
                    }
                },
            },
        };
        let Value { range, end, .. } = value;
        let bytes = text.get(range.clone())?;
        let after = text.get(end).copied().unwrap_or(b'\n');
        if !is_quoted && form != Form::Element {
            let is_open = matches!(after, b'(' | b'[' | b'{');
            let is_code =
                !matches!(form, Form::Variable | Form::Property | Form::Option | Form::OptionWord)
                    && value::is_code(bytes);
            // `<your password>`, and the start of a list.
            let is_group = matches!(bytes.first(), Some(b'(' | b'['))
                && form != Form::Variable
                && self.kind != Kind::Key;
            if is_open
                || is_group
                || is_code
                || value::is_code(bytes) && !bytes.iter().any(u8::is_ascii_digit)
            {
                return None;
            }
        }
        // `PASS: 12 tests`, `pass=12`.
        let name = text.get(self.begin..self.end)?;
        let is_count = form == Form::Call
            || (!is_quoted && bytes.iter().all(|byte| !byte.is_ascii_alphabetic()));
        let word = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"pass") && is_count {
            return None;
        }
        let mut form = form;
        if self.kind == Kind::Key && self.is_query(text) {
            form = Form::Option;
        }
        // `auth=("me", "password")`
        if self.kind == Kind::Key && bytes.first() == Some(&b'(') {
            let user = value::quoted(text, range.start + 1)?;
            let at = text
                .get(user.end)
                .filter(|byte| **byte == b',')
                .map(|_| lines(text, user.end + 1))?;
            let password = value::quoted(text, at)?;
            let bytes = text.get(password.range.clone())?;
            return (bytes.len() >= 3 && !value::is_reference(bytes)).then_some(password.range);
        }
        let is_auth = word.to_ascii_lowercase().ends_with(b"auth");
        if is_auth && (is_quoted || name.first() == Some(&b'_')) && value::is_base64_text(bytes) {
            return Some(range);
        }
        let is_header = form == Form::Colon && name.contains(&b'-') && value::is_mixed(bytes);
        if is_header && self.kind != Kind::Key {
            return Some(range);
        }
        let is_whole_line = matches!(after, b'\n' | b'\r')
            || text.get(end..end + 2).is_some_and(|next| matches!(next, b"\\n" | b"\\r" | b" #"));
        let goes_on = form == Form::Colon && !is_quoted && matches!(after, b'\n' | b'\r');
        value::is_secret(self.kind, form, bytes, is_quoted, is_whole_line).then(|| match goes_on {
            true => range.start..yaml::continued(text, self.begin, range.end),
            false => range,
        })
    }

    /// Returns the words of a passphrase in a block of YAML.
    fn block(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let range = yaml::block(text, self.begin, at)?;
        let words = text.get(range.clone())?.split(u8::is_ascii_whitespace);
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        let is_secret = value::is_secret(self.kind, Form::Pair, &words.join(&b' '), true, true);
        (words.len() > 1 && is_secret).then_some(range)
    }

    /// Returns a value in quotes, in YAML also one over several lines.
    fn in_quotes(&self, text: &[u8], form: Form, at: usize) -> Option<Value> {
        value::quoted(text, at).or_else(|| {
            let range = yaml::quoted(text, self.begin, at).filter(|_| form == Form::Colon)?;
            Some(Value { end: range.end + 1, range })
        })
    }

    /// Returns a password with spaces among settings with semicolons between them: `Server=x;Password=two words;`.
    fn in_connection_string(&self, text: &[u8], form: Form, at: usize) -> Option<Value> {
        let before = text.get(..self.begin)?.trim_ascii_end();
        let is_one_of_many = self.kind == Kind::Password
            && matches!(form, Form::Property | Form::Assigned | Form::Variable)
            && before.last() == Some(&b';');
        let rest = text.get(at..text.len().min(at + 128)).filter(|_| is_one_of_many)?;
        let length = rest.iter().position(|byte| b";\"'`=<>(){}\r\n".contains(byte))?;
        let value = rest.get(..length)?;
        let is_closed = rest.get(length) == Some(&b';') && value.contains(&b' ');
        is_closed.then_some(Value { range: at..at + length, end: at + length })
    }

    /// Returns true if the name begins its line, and its value at `at` ends it.
    fn fills_line(&self, text: &[u8], at: usize) -> bool {
        let rest = text.get(at..text.len().min(at + 256)).unwrap_or_default();
        let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || b"(),;".contains(byte));
        let is_end = end.map_or(at + rest.len() >= text.len(), |end| {
            matches!(rest.get(end), Some(b'\n' | b'\r'))
        });
        is_end && (self.begin == 0 || matches!(text.get(self.begin - 1), Some(b'\n' | b';')))
    }

    /// Returns true for the name of a parameter in a URL or a form: `?token=…&password=…`.
    fn is_query(&self, text: &[u8]) -> bool {
        matches!(self.begin.checked_sub(1).and_then(|at| text.get(at)), Some(b'?' | b'&'))
    }

    /// `export NAME = …`, `$env:NAME = …`, `process.env.NAME = …`, `ENV NAME=…`.
    fn is_environment(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(12)..self.begin).unwrap_or_default();
        let lower = before.to_ascii_lowercase();
        [&b"$env:"[..], b"process.env.", b"export "].iter().any(|start| lower.ends_with(start))
    }

    /// Returns true for the name of an element: `<password>`, `<ns:password>`, `<string name="password">`.
    fn is_element(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(32)..self.begin).unwrap_or_default();
        let name =
            before.iter().rev().take_while(|byte| is_letter(**byte) || **byte == b':').count();
        before.len() > name && before.get(before.len() - name - 1) == Some(&b'<')
    }

    /// `machine example.com login me password …`
    fn is_netrc(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(128)..self.begin).unwrap_or_default();
        self.kind == Kind::Password
            && (before.windows(6).any(|word| word == b"login ")
                || before.windows(8).any(|word| word == b"machine "))
    }

    /// `ENV NAME …`, `setx NAME …`, `set -gx NAME …`, `aws configure set name …`, `(setq name …)`.
    fn is_setting(&self, text: &[u8]) -> bool {
        const WORDS: [&[u8]; 6] =
            [b"setx ", b"setenv ", b"ENV ", b"g set ", b"env:set ", b"(setq "];
        let before = text.get(self.begin.saturating_sub(64)..self.begin).unwrap_or_default();
        let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let command = line.strip_suffix(b"\"").unwrap_or(line);
        let mut words = command.split(|byte| *byte == b' ').rev().filter(|word| !word.is_empty());
        // The options of fish.
        let is_exported = |word: &[u8]| match word {
            [b'-', b'-', name @ ..] => name == b"export",
            [b'-', letters @ ..] => letters.contains(&b'x'),
            _ => false,
        };
        let sets = |word: Option<&[u8]>| word == Some(b"set");
        command.ends_with(b" set ")
            || words.next().is_some_and(is_exported)
                && sets(words.find(|word| !word.starts_with(b"-")))
            || WORDS.iter().any(|word| line.windows(word.len()).any(|part| part == *word))
            || line.windows(15).any(|part| part == b"aws configure s")
    }

    /// Returns the value of a pair with this name: `name: DB_PASSWORD`, then `value: …`.
    fn pair(&self, text: &[u8]) -> Option<Range<usize>> {
        const NAMES: [&str; 12] = [
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
                    let is_word = at == 0
                        || window.get(at - 1).is_some_and(|byte| !byte.is_ascii_alphanumeric());
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
    fn described(&self, text: &[u8]) -> Option<Range<usize>> {
        const NAMES: [&[u8]; 4] = [b"value", b"default", b"defaultvalue", b"plaintext"];
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let quotes = |at: usize| {
            let rest = text.get(at..text.len().min(at + 4)).unwrap_or_default();
            at + run(rest, |byte| b"\\\"'".contains(&byte))
        };
        let after = blanks(text, quotes(self.end), 16);
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
                let range = value?.range;
                let bytes = text.get(range.clone())?;
                return value::is_secret(self.kind, Form::Colon, bytes, true, false)
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

    fn judged(&self, text: &[u8], value: Value) -> Option<Range<usize>> {
        let bytes = text.get(value.range.clone())?;
        value::is_secret(self.kind, Form::Pair, bytes, true, true).then_some(value.range)
    }
}

/// Returns the value after the equals sign behind a type.
fn declared(text: &[u8], at: usize) -> Option<(Form, usize)> {
    let rest = text.get(at..text.len().min(at + 64)).unwrap_or_default();
    // Rust: `name: &'static str`.
    let is_reference = rest.first() == Some(&b'&');
    let length = rest
        .iter()
        .take_while(|byte| {
            is_letter(**byte) || b".<>[]|?& ".contains(byte) || (**byte == b'\'' && is_reference)
        })
        .count();
    let first = rest.iter().find(|byte| !is_reference || !matches!(byte, b'&' | b'\''));
    let is_declared = length > 0
        && first.is_some_and(u8::is_ascii_alphabetic)
        && rest.get(length) == Some(&b'=')
        && rest.get(length + 1).is_some_and(|next| !matches!(next, b'=' | b'>'))
        && rest.get(length - 1) == Some(&b' ');
    is_declared.then(|| (Form::Assigned, blanks(text, at + length + 1, 16)))
}

/// Returns true for one word before an equals sign, or for two in Visual Basic: `As String`.
fn is_type(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..text.len().min(at + 64)).unwrap_or_default();
    let words: Vec<&[u8]> = rest.split(|byte| *byte == b' ').take(3).collect();
    matches!(words[..], [_, b"=", ..]) || words.first().is_some_and(|word| *word == b"As")
}

/// Returns the start of a name with words before it: `Secret access key`, `API key`.
fn spaced(text: &[u8], begin: usize) -> usize {
    const WORDS: [&str; 20] = [
        "api",
        "access",
        "secret",
        "private",
        "auth",
        "client",
        "encryption",
        "shared",
        "account",
        "master",
        "signing",
        "session",
        "storage",
        "security",
        "personal",
        "refresh",
        "bearer",
        "bot",
        "app",
        "recovery",
    ];
    let mut begin = begin;
    for _ in 0..3 {
        let Some(b' ') = begin.checked_sub(1).and_then(|at| text.get(at)) else { break };
        let before = text.get(begin.saturating_sub(16)..begin - 1).unwrap_or_default();
        let length = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = before.get(before.len() - length..).unwrap_or_default();
        if !WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
            break;
        }
        begin -= 1 + length;
    }
    begin
}

/// Returns the lines of the here-document that begins at `at`: `<<EOT`, `<<-'EOT'` and `<<<EOT` of PHP.
fn here_document(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..text.len().min(at + MAX_DOCUMENT_LENGTH))?;
    if !rest.starts_with(b"<<") {
        return None;
    }
    let (first, body) = rest.split_at(rest.iter().position(|byte| *byte == b'\n')? + 1);
    let marks = run(first, |byte| b"<-~'\"".contains(&byte));
    let label = first.get(marks..)?;
    let label = label.get(..run(label, is_letter))?;
    if label.is_empty() || marks > 4 {
        return None;
    }
    let mut length = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n').take(MAX_LINES) {
        let word = line.trim_ascii();
        if word.strip_suffix(b";").unwrap_or(word) == label {
            let lines = body.get(..length)?;
            let from = at + first.len() + run(lines, |byte| byte.is_ascii_whitespace());
            let to = at + first.len() + lines.trim_ascii_end().len();
            return (from < to).then_some(from..to);
        }
        length += line.len();
    }
    None
}

/// Returns the text of an element that begins at `at`, also within `<value>` and `<![CDATA[`.
fn element(text: &[u8], at: usize) -> Option<Value> {
    let mut at = lines(text, at);
    for start in [&b"<value>"[..], b"<string>", b"<![CDATA["] {
        if text.get(at..).is_some_and(|rest| rest.starts_with(start)) {
            at += start.len();
        }
    }
    let rest = text.get(at..text.len().min(at + 1024))?;
    let length = rest.iter().position(|byte| matches!(byte, b'<' | b'\n'))?;
    let is_cdata = rest.get(..length)?.ends_with(b"]]>");
    let to = at + length - if is_cdata { 3 } else { 0 };
    (rest.get(length) == Some(&b'<') && to > at)
        .then_some(Value { range: at..to, end: at + length })
}
