//! Named secrets: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `Authorization: …`, `<password>…</password>`, `{ name:
//! 'DB_PASSWORD', value: '…' }`.

use std::ops::Range;

use memchr::memmem;

use super::before_value::{lines, literal};
use super::contexts::{line_before, run};
use super::escapes;
use super::headers::{authorization, cookie};
use super::secret_names::{Kind, kind_of};
use super::secret_values::{self, Form};
use super::separators::{linking_word, replacement};
use super::value::{self, Value};
use super::yaml;

/// Number of bytes of a name that are examined before its last word.
pub(super) const MAX_NAME_LENGTH: usize = 64;
/// Number of bytes of a value without quotes that decide if it is a secret.
const BEGINNING: usize = 128;
/// Maximum number of bytes and of lines of a here-document.
const MAX_DOCUMENT_LENGTH: usize = 4096;
const MAX_LINES: usize = 16;

/// Returns the secret whose name contains the word at `hit`.
pub(super) fn secret(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = name_end(text, hit.end)?;
    let begin = name_begin(text, hit.start);
    let name = Name::new(text, begin, end).filter(|name| !name.is_not_a_name(text))?;
    if let Some(found) = name.pair(text).or_else(|| name.described(text)) {
        return Some(found);
    }
    let (form, at) = name.separator(text)?;
    match name.kind {
        Kind::Authorization => authorization(text, at),
        Kind::Cookie => cookie(text, at, form),
        _ => name.value(text, form, at).or_else(|| name.changed(text, at)),
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
    let length = if linking_word(rest) > 0 { 0 } else { length };
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
    if begin > 0
        && text.get(begin - 1) == Some(&b'%')
        && text.get(begin..at).is_some_and(
            |name| matches!(name, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()),
        )
    {
        begin += 2;
    }
    if let Some(end) = escapes::last_end(text, begin.saturating_sub(24)..(begin + 4).min(at)) {
        begin = begin.max(end);
    }
    // Arrows, lines of frames and quotes of languages are no letters: `12→NAME`. Their first byte in UTF-8 is this one.
    let name = text.get(begin..at).unwrap_or_default();
    if let Some(mark) = name.iter().rposition(|byte| *byte == 0xe2) {
        begin += mark + 3;
    }
    begin.min(at)
}

pub(super) struct Name {
    pub(super) kind: Kind,
    /// Start of the name, without the dashes of an option.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// True for an option of a command, `--name`.
    pub(super) is_option: bool,
    /// True for a name in capitals, as environment variables have.
    pub(super) is_upper: bool,
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

    /// Returns the value at `at`, if it is a secret. Many names can share one long value: its beginning decides.
    fn value(&self, text: &[u8], form: Form, at: usize) -> Option<Range<usize>> {
        let beginning = self.value_within(text, form, at, BEGINNING)?;
        if beginning.len() < BEGINNING / 2 {
            return Some(beginning);
        }
        self.value_within(text, form, at, value::MAX_VALUE_LENGTH).or(Some(beginning))
    }

    /// Returns the same, of a value without quotes at most this number of bytes.
    fn value_within(&self, text: &[u8], form: Form, at: usize, max: usize) -> Option<Range<usize>> {
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
            return secret_values::is_secret(self.kind, Form::Pair, lines, true, is_word)
                .then_some(range);
        }
        let at = literal(text, at);
        let (value, is_quoted) = match form {
            Form::Element => (element(text, at)?, false),
            _ => match self.in_quotes(text, form, at) {
                Some(value) => (value, true),
                None => match self.in_connection_string(text, form, at) {
                    Some(value) => (value, true),
                    None => {
                        let is_query = self.is_query(text);
                        let max = value::max_length(text, at, max, form);
                        let value = value::bare_within(text, at, is_query, max)?;
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
                    && secret_values::is_code(bytes);
            // `<your password>`, and the start of a list.
            let is_group = matches!(bytes.first(), Some(b'(' | b'['))
                && form != Form::Variable
                && self.kind != Kind::Key;
            if is_open
                || is_group
                || is_code
                || secret_values::is_code(bytes) && !bytes.iter().any(u8::is_ascii_digit)
            {
                return None;
            }
        }
        // `PASS: 12 tests`, `pass=12`.
        let name = text.get(self.begin..self.end)?;
        let is_count = matches!(form, Form::Call | Form::Sentence)
            || (!is_quoted && bytes.iter().all(|byte| !byte.is_ascii_alphabetic()));
        let word = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"pass") && (is_count || self.is_result(text, bytes)) {
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
            return (bytes.len() >= 3 && !secret_values::is_reference(bytes))
                .then_some(password.range);
        }
        let is_auth = word.to_ascii_lowercase().ends_with(b"auth");
        let is_of_npm = name.starts_with(b"_") || name.ends_with(b"__auth");
        if is_auth && (is_quoted || is_of_npm) && secret_values::is_base64_text(bytes) {
            return Some(range);
        }
        if is_quoted && name == b"key" && secret_values::is_hex(bytes) && self.is_beside_user(text)
        {
            return Some(range);
        }
        let is_header =
            form == Form::Colon && name.contains(&b'-') && secret_values::is_mixed(bytes);
        if is_header && self.kind != Kind::Key {
            return Some(range);
        }
        let is_whole_line = matches!(after, b'\n' | b'\r')
            || text.get(end..end + 2).is_some_and(|next| matches!(next, b"\\n" | b"\\r" | b" #"));
        let goes_on = form == Form::Colon && !is_quoted && matches!(after, b'\n' | b'\r');
        let is_of_shell = matches!(form, Form::Variable | Form::Option | Form::Property);
        let is_tight = self.kind == Kind::Password && text.get(..range.start)?.ends_with(b"=");
        let to = if goes_on {
            yaml::continued(text, self.begin, range.end)
        } else if is_of_shell && is_quoted && end > range.end {
            value::joined(text, &range, end)
        } else if (is_of_shell || is_tight) && !is_quoted && self.begins_line(text) {
            value::end_of_unquoted(text, range.end)
        } else {
            range.end
        };
        // The first of several parts can be short.
        let has_parts = is_quoted || is_of_shell && !secret_values::is_reference(bytes);
        let judged = if has_parts { text.get(range.start..to)? } else { bytes };
        secret_values::is_secret(self.kind, form, judged, is_quoted, is_whole_line)
            .then(|| range.start..to.max(value::end_in_brackets(text, at, end)))
    }

    /// Returns true for the result of a test, `--- PASS: TestName`, and for the message of one.
    fn is_result(&self, text: &[u8], value: &[u8]) -> bool {
        let is_test = self.is_upper && memmem::find(value, b"est").is_some();
        let is_message = value.contains(&b' ')
            && value.first().is_some_and(u8::is_ascii_uppercase)
            && !value.iter().any(u8::is_ascii_digit);
        let before = text.get(..self.begin).unwrap_or_default();
        is_test || is_message || before.ends_with(b"--- ") || before.ends_with(b"tests ")
    }

    /// Returns the value that replaces one which is no secret: `"" -> "…"`.
    fn changed(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let end = match text.get(at..at + 4) {
            Some(b"null") => at + 4,
            _ => value::quoted(text, at)?.end,
        };
        let new = value::quoted(text, replacement(text, end)?)?.range;
        let bytes = text.get(new.clone())?;
        secret_values::is_secret(self.kind, Form::Assigned, bytes, true, false).then_some(new)
    }

    /// Returns true for a word of a parser, `unexpected token: …`, and for a part of a name of AWS, `arn:…:secret:…`.
    fn is_not_a_name(&self, text: &[u8]) -> bool {
        const EXPECTED: &[u8] = b"expected ";
        let before = text.get(self.begin.saturating_sub(MAX_NAME_LENGTH)..self.begin);
        let before = before.unwrap_or_default();
        let word = before.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let end = before.get(before.len().saturating_sub(EXPECTED.len())..).unwrap_or_default();
        self.kind == Kind::Token && end.eq_ignore_ascii_case(EXPECTED)
            || word.ends_with(b":")
                && [&b"arn:"[..], b"AWS::"].iter().any(|part| memmem::find(word, part).is_some())
    }

    /// Returns true for a variable or a setting that begins its line, also after `export` or the dash of a list.
    fn begins_line(&self, text: &[u8]) -> bool {
        matches!(line_before(text, self.begin, 32).trim_ascii(), b"" | b"-" | b"export")
    }

    /// Returns true for a member after the name of a user: `{"username":"me","key":"…"}`.
    fn is_beside_user(&self, text: &[u8]) -> bool {
        const USER: &[u8] = b"\"username\"";
        let before = text.get(self.begin.saturating_sub(MAX_NAME_LENGTH)..self.begin);
        let member =
            before.and_then(|before| before.rsplit(|byte| matches!(byte, b'{' | b'}')).next());
        member.is_some_and(|member| member.windows(USER.len()).any(|part| part == USER))
    }

    /// Returns the words of a passphrase in a block of YAML.
    fn block(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let range = yaml::block(text, self.begin, at)?;
        let words = text.get(range.clone())?.split(u8::is_ascii_whitespace);
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        let is_secret =
            secret_values::is_secret(self.kind, Form::Pair, &words.join(&b' '), true, true);
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

    /// Returns true for the name of a parameter in a URL or a form: `?token=…&password=…`.
    fn is_query(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(5)..self.begin).unwrap_or_default();
        matches!(before.last(), Some(b'?' | b'&')) || before == b"&amp;"
    }

    /// Returns true for the name of an element: `<password>`, `<ns:password>`, `<string name="password">`.
    pub(super) fn is_element(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(32)..self.begin).unwrap_or_default();
        let name =
            before.iter().rev().take_while(|byte| is_letter(**byte) || **byte == b':').count();
        before.len() > name && before.get(before.len() - name - 1) == Some(&b'<')
    }
}

/// Returns the start of a name with words before it: `Secret access key`, `API key`.
fn spaced(text: &[u8], begin: usize) -> usize {
    const WORDS: &str = "\
        api access secret private auth client encryption shared account master signing session storage security personal \
        refresh bearer bot app recovery";
    let mut begin = begin;
    for _ in 0..3 {
        let Some(b' ') = begin.checked_sub(1).and_then(|at| text.get(at)) else { break };
        let before = text.get(begin.saturating_sub(16)..begin - 1).unwrap_or_default();
        let length = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = before.get(before.len() - length..).unwrap_or_default();
        if !WORDS.split(' ').any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
            break;
        }
        begin -= 1 + length;
    }
    begin
}

/// Returns the lines of the here-document that begins at `at`: `<<EOT`, `<<-'EOT'` and `<<<EOT` of PHP.
pub(super) fn here_document(text: &[u8], at: usize) -> Option<Range<usize>> {
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
pub(super) fn element(text: &[u8], at: usize) -> Option<Value> {
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
