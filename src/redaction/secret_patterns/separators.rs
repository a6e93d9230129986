//! Finds the value of a name after an equals sign, a colon, a type, an arrow or a tag.

use super::before_value::{blanks, coded_quote, colours, lines};
use super::contexts::line_before;
use super::name_value_pairs::{Name, is_letter};
use super::secret_names::Kind;
use super::secret_values::Form;
use super::value;
use super::yaml;

/// Returns where a value begins after blanks and colours, and after a line that the next one continues, `NAME=\\`.
fn begin(text: &[u8], at: usize) -> usize {
    let at = colours(text, blanks(text, colours(text, at), 16));
    match text.get(at..) {
        Some([b'\\', b'\n', ..] | [b'\\', b'\r', b'\n', ..]) => lines(text, at + 1),
        _ => at,
    }
}

/// Returns where a value that is assigned begins. One in quotes can be in the next line.
fn assigned(text: &[u8], at: usize) -> usize {
    let at = begin(text, at);
    if !matches!(text.get(at), Some(b'\n' | b'\r')) {
        return at;
    }
    let next = lines(text, at);
    let breaks = text.get(at..next).unwrap_or_default().iter().filter(|byte| **byte == b'\n');
    if breaks.count() == 1 && value::quoted(text, next).is_some() { next } else { at }
}

/// Returns the length of a word or a mark between a name and its value in languages without blanks, 0 if there is none.
pub(super) fn linking_word(text: &[u8]) -> usize {
    const WORDS: [&str; 6] = ["：", "是", "为", "為", "は", "는"];
    let word = WORDS.iter().find(|word| text.starts_with(word.as_bytes()));
    word.map_or(0, |word| word.len())
}

/// Returns the length of an arrow, 0 if there is none.
fn arrow(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..text.len().min(at + 3)).unwrap_or_default();
    match rest {
        [b'=' | b'-', b'>', ..] => 2,
        rest if rest == "→".as_bytes() => 3,
        _ => 0,
    }
}

/// Returns where the value begins that replaces the one which ends at `at`: `old -> new`.
pub(super) fn replacement(text: &[u8], at: usize) -> Option<usize> {
    let end = at + 1 + arrow(text, at + 1);
    let is_blank = |at: usize| text.get(at) == Some(&b' ');
    (end > at + 1 && is_blank(at) && is_blank(end)).then_some(end + 1)
}

/// Returns the length of a verb between a name and its value, 0 if there is none.
fn verb(text: &[u8], at: usize) -> usize {
    const WORDS: [&[u8]; 6] = [b"is ", b"is:", b"ist ", b"lautet ", b"est ", b"es "];
    let rest = text.get(at..).unwrap_or_default();
    WORDS.iter().find(|word| rest.starts_with(word)).map_or(0, |word| word.len())
}

/// Returns where a value begins after the words that say what a secret is for: `for alice is`, `of the admin:`.
fn owner(text: &[u8], at: usize) -> Option<usize> {
    const MAX_WORDS: usize = 4;
    let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.@'\"`".contains(byte);
    let mut at = at;
    for count in 0..=MAX_WORDS {
        let word = text.get(at..)?;
        let length = word.iter().take(48).take_while(is_of_word).count();
        match (count, word.get(..length)?) {
            (_, b"") => return None,
            (0, b"for" | b"of") => {}
            (0, _) => return None,
            (_, b"is") => return (text.get(at + length) == Some(&b' ')).then_some(at + length),
            _ => {}
        }
        at += length;
        match text.get(at..)? {
            [b':', b' ', ..] if count > 0 => return Some(at + 1),
            [b' ', ..] => at += 1,
            _ => return None,
        }
    }
    None
}

/// Returns where a value begins after an equals sign or a colon in an address that is encoded as a whole: `%3D`, `%22%3A%22`.
fn coded(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    let mut is_after = false;
    while let Some([b'%', high, low]) = text.get(at..at + 3) {
        match (high, low) {
            (b'3', b'D' | b'd' | b'A' | b'a') if !is_after => is_after = true,
            (b'2', b'2' | b'7' | b'0') | (b'5', b'C' | b'c') => {}
            _ => break,
        }
        at += 3;
        at += usize::from(is_after && text.get(at) == Some(&b'+'));
    }
    is_after.then_some(at)
}

impl Name {
    /// Returns how a value is attached to the name, and where the value begins.
    pub(super) fn separator(&self, text: &[u8]) -> Option<(Form, usize)> {
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let (at, has_quote) = self.after_quotes(text);
        let after = blanks(text, at, 64);
        let gap = after - at;
        let begin = |at: usize| begin(text, at);
        match byte(after) {
            b'?' | b'+' | b'!' if byte(after + 1) == b'=' && byte(after + 2) != b'=' => {
                Some((Form::Assigned, assigned(text, after + 2)))
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
            sign @ (b'=' | b'-' | 0xe2) if arrow(text, after) > 0 && (gap > 0 || sign == b'=') => {
                let at = begin(after + arrow(text, after));
                // PHP prints the value in the next line.
                let is_below = sign == b'=' && matches!(byte(at), b'\n' | b'\r');
                Some((Form::Assigned, if is_below { lines(text, at) } else { at }))
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
                let at = assigned(text, after + 1);
                let is_tight = gap == 0 && at == after + 1;
                Some((self.assigned_form(text, at, is_tight), at))
            }
            // An equals sign in a form that is encoded for a URL.
            b'%' => coded(text, after).map(|at| (Form::Assigned, at)),
            // A setting of Java.
            b'\\' if gap == 0 && matches!(byte(after + 1), b'=' | b':') => {
                Some((Form::Assigned, begin(after + 2)))
            }
            // LDIF has two colons before base64.
            b':' if byte(after + 1) == b':' => {
                (gap == 0 && byte(after + 2) == b' ' && self.kind == Kind::Password)
                    .then_some((Form::Colon, after + 3))
            }
            b':' if byte(after + 1) == b'=' => Some((Form::Assigned, assigned(text, after + 2))),
            // The user of a URL.
            b':' if text.get(..self.begin).is_some_and(|before| before.ends_with(b"//")) => None,
            // The end of a name with its mark: `name:`
            b':' if byte(after + 1) == b'`'
                && self.begin.checked_sub(1).is_some_and(|at| byte(at) == b'`') =>
            {
                None
            }
            // `**Password:** x`
            b':' if text.get(after + 1..after + 4) == Some(b"** ") => {
                Some((Form::Colon, begin(after + 4)))
            }
            b':' => self.typed(text, begin(after + 1)),
            0xe3.. if linking_word(text.get(after..)?) > 0 => {
                let at = begin(after + linking_word(text.get(after..)?));
                let at = begin(at + linking_word(text.get(at..)?));
                Some((said(text, after, at), at))
            }
            b'>' if !has_quote && self.is_element(text) => Some((Form::Element, after + 1)),
            b'|' if gap > 0 => Some((Form::Column, begin(after + 1))),
            0xe2 => {
                let is = |mark: &str| text.get(after..after + 3) == Some(mark.as_bytes());
                (is("│") || is("┃")).then(|| (Form::Column, begin(after + 3)))
            }
            b',' if has_quote => self.next_argument(text, after),
            // In a list of properties of macOS the value is the next element.
            b'<' if text.get(after..after + 6) == Some(b"</key>") => {
                let at = lines(text, after + 6);
                text.get(at..at + 8)
                    .is_some_and(|start| start == b"<string>")
                    .then_some((Form::Element, at))
            }
            b')' if has_quote => fallback_value(text, after + 1),
            b'<' => after_element(text, after),
            b'(' | b'{' if gap == 0 => {
                let at = begin(after + 1);
                value::quoted(text, at).map(|_| (Form::Call, at))
            }
            b'\n' | b'\r' if !self.is_option => None,
            b'\n' | b'\r' => yaml::next_item(text, after).map(|at| (Form::OptionWord, at)),
            b',' if self.is_option && self.is_in_list(text) => {
                Some((Form::OptionWord, begin(after + 1)))
            }
            _ if gap == 0 => None,
            _ => self.after_blanks(text, at, after),
        }
    }

    /// Returns where the quotes and brackets after the name end, and if there are quotes.
    fn after_quotes(&self, text: &[u8]) -> (usize, bool) {
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
        (colours(text, at), has_quote)
    }

    fn assigned_form(&self, text: &[u8], at: usize, is_tight: bool) -> Form {
        if self.is_option {
            Form::Option
        } else if self.is_upper && is_tight || self.is_environment(text) {
            Form::Variable
        } else if is_tight && self.fills_line(text, at) {
            Form::Property
        } else {
            Form::Assigned
        }
    }

    /// Returns the argument after the name in a call, or the other one of a pair.
    fn next_argument(&self, text: &[u8], comma: usize) -> Option<(Form, usize)> {
        let mut at = lines(text, comma + 1);
        if self.is_option && text.get(at..)?.starts_with(b"default=") {
            at += 8;
        }
        let value = value::quoted(text, at)?;
        if self.is_option {
            return Some((Form::Pair, at));
        }
        // The first of two, not one of a list of words.
        let before = text.get(..self.begin)?;
        let before = before.strip_suffix(b"#").unwrap_or(before);
        let before = before.split_last().map_or(before, |(_, before)| before);
        let escapes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_first = matches!(before.get(..before.len() - escapes), Some([.., b'(' | b'[']));
        let end = lines(text, value.end);
        // A further argument that is a number: `setenv("TOKEN", "…", 1)`.
        let rest = text.get(end..text.len().min(end + 4)).unwrap_or_default();
        let is_last = matches!(rest, [b')' | b']', ..] | [b',', b' ', b'0'..=b'9', b')']);
        (is_first && is_last).then_some((Form::Call, at))
    }

    /// Returns the value after blanks alone, at `after`.
    fn after_blanks(&self, text: &[u8], at: usize, after: usize) -> Option<(Form, usize)> {
        let gap = after - at;
        match text.get(after).copied().unwrap_or(b'\n') {
            b'i' | b'e' | b'l' if verb(text, after) > 0 => {
                Some((Form::Sentence, begin(text, after + verb(text, after))))
            }
            b'f' | b'o' if gap > 0 && self.kind == Kind::Password => {
                Some((Form::Sentence, begin(text, owner(text, after)?)))
            }
            // `CREATE USER me PASSWORD 'x'`
            b'\'' | b'"' | b'\\'
                if matches!(self.kind, Kind::Password | Kind::Authorization)
                    && !self.is_option
                    && value::quoted(text, after).is_some() =>
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
            _ if self.is_option => Some((Form::OptionWord, begin(text, after))),
            // The type follows the name: `var dbPassword string = "…"`.
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
                let attributes = rest.get(..end)?;
                let opens = rest.get(end) == Some(&b'>')
                    && attributes.contains(&b'=')
                    && !attributes.ends_with(b"/");
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
    pub(super) fn is_argument(&self, text: &[u8], at: usize) -> bool {
        let Some(value) = value::quoted(text, at).filter(|_| !self.is_option) else { return false };
        let is_name = text.get(value.range.clone()).is_none_or(|bytes| bytes.contains(&b'-'));
        value.range.len() >= 12 && !is_name && matches!(text.get(value.end), Some(b';' | b')'))
    }

    /// Returns true for the name of an element in what PHP prints: `[password] => …`.
    pub(super) fn is_in_brackets(&self, text: &[u8]) -> bool {
        self.begin.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'[')
    }

    /// Returns true for an item of a list in brackets, `[--password, …]`.
    fn is_in_list(&self, text: &[u8]) -> bool {
        let line = line_before(text, self.begin, 64);
        line.iter().rev().find(|byte| matches!(byte, b'[' | b']')) == Some(&b'[')
    }

    /// Returns the value after a colon, or after the equals sign if the colon introduces a type.
    pub(super) fn typed(&self, text: &[u8], at: usize) -> Option<(Form, usize)> {
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

    /// `machine example.com login me password …`
    pub(super) fn is_netrc(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(128)..self.begin).unwrap_or_default();
        text.get(self.begin..self.end) == Some(b"password")
            && (before.windows(6).any(|word| word == b"login ")
                || before.windows(8).any(|word| word == b"machine "))
    }

    /// `ENV NAME …`, `setx NAME …`, `set -gx NAME …`, `aws configure set name …`, `(setq name …)`.
    pub(super) fn is_setting(&self, text: &[u8]) -> bool {
        const WORDS: [&[u8]; 6] =
            [b"setx ", b"setenv ", b"ENV ", b"g set ", b"env:set ", b"(setq "];
        let line = line_before(text, self.begin, 64);
        let command = line.strip_suffix(b"\"").unwrap_or(line);
        let mut words = command.split(|byte| *byte == b' ').rev().filter(|word| !word.is_empty());
        // The options of fish.
        let is_exported = |word: &[u8]| match word {
            [b'-', b'-', name @ ..] => name == b"export",
            [b'-', letters @ ..] => letters.contains(&b'x'),
            _ => false,
        };
        let sets = |word: Option<&[u8]>| {
            let before = word.and_then(|word| word.strip_suffix(b"set"));
            before.is_some_and(|before| {
                !before
                    .last()
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
            })
        };
        command.ends_with(b" set ")
            || words.next().is_some_and(is_exported)
                && sets(words.find(|word| !word.starts_with(b"-")))
            || WORDS.iter().any(|word| line.windows(word.len()).any(|part| part == *word))
            || line.windows(15).any(|part| part == b"aws configure s")
    }

    /// `export NAME = …`, `$env:NAME = …`, `process.env.NAME = …`, `ENV NAME=…`.
    fn is_environment(&self, text: &[u8]) -> bool {
        let before = text.get(self.begin.saturating_sub(12)..self.begin).unwrap_or_default();
        let lower = before.to_ascii_lowercase();
        [&b"$env:"[..], b"process.env.", b"export "].iter().any(|start| lower.ends_with(start))
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
}

/// Returns the form of a value after a word or a mark of a language without blanks.
fn said(text: &[u8], word: usize, at: usize) -> Form {
    let is_mark = text.get(word) == "：".as_bytes().first();
    let rest = text.get(at..text.len().min(at + 128)).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if is_mark && line.is_ascii() { Form::Colon } else { Form::Sentence }
}

/// Returns the value in place of a variable that is not set: `getenv("NAME") or "…"`.
fn fallback_value(text: &[u8], at: usize) -> Option<(Form, usize)> {
    const WORDS: [&[u8]; 7] = [b"or ", b"|| ", b"?? ", b"?: ", b"{ ", b".unwrap_or(", b".orElse("];
    let at = blanks(text, at, 16);
    let rest = text.get(at..text.len().min(at + 16))?;
    let word = WORDS.iter().find(|word| rest.starts_with(word))?;
    value::quoted(text, at + word.len()).map(|_| (Form::Call, at + word.len()))
}

/// Returns the value in the element after the one with the name: `<name>…</name><value>`, `<td>…</td><td>`.
fn after_element(text: &[u8], at: usize) -> Option<(Form, usize)> {
    let rest = text.get(at..text.len().min(at + 16))?;
    let is = |end: &[u8]| rest.starts_with(end);
    if is(b"</name>") {
        let at = lines(text, at + 7);
        return text.get(at..)?.starts_with(b"<value>").then_some((Form::Element, at));
    }
    if !is(b"</td>") && !is(b"</th>") && !is(b"</dt>") {
        return None;
    }
    let at = lines(text, at + 5);
    let tag = text.get(at..text.len().min(at + 128))?;
    let end = tag.iter().position(|byte| *byte == b'>')?;
    (tag.starts_with(b"<td") || tag.starts_with(b"<dd")).then_some((Form::Column, at + end + 1))
}

/// Returns the value after a type and an equals sign.
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
    is_declared.then(|| (Form::Assigned, assigned(text, at + length + 1)))
}

/// Returns true for one word before an equals sign, or for two in Visual Basic: `As String`.
fn is_type(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..text.len().min(at + 64)).unwrap_or_default();
    let words: Vec<&[u8]> = rest.split(|byte| *byte == b' ').take(3).collect();
    matches!(words[..], [_, b"=", ..]) || words.first().is_some_and(|word| *word == b"As")
}
