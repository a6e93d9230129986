//! Expands words as far as the command itself determines their values. Expansions only add denials, so that a guess may
//! be wrong.

use std::borrow::Cow;

use super::analyzer::Walker;
use super::expand_parameters::changed;
use super::known_values::Fact;
use super::word::Word;
use crate::permission::glob_overlap::can_meet;

/// Maximum number of values of one word.
pub(super) const MAX_TEXTS: usize = 16;
/// Maximum length of a value in bytes.
pub(super) const MAX_BYTES: usize = 4096;

/// Maximum number of letters of a range.
const MAX_RANGE: usize = 26;

/// The values of an expansion, unless they are unknown, and what follows it.
type Expansion<'r> = (Option<Vec<String>>, &'r str);

/// Expands raw words.
pub(super) struct Expander<'w, 'a> {
    walker: &'w mut Walker<'a>,
    found: Vec<String>,
    /// True if variables that nothing in the command sets are taken for empty.
    unset_is_empty: bool,
}

impl<'w, 'a> Expander<'w, 'a> {
    pub(crate) fn new(walker: &'w mut Walker<'a>) -> Self {
        Expander { walker, found: Vec::new(), unset_is_empty: false }
    }

    /// Takes variables that nothing in the command sets for empty.
    pub(crate) fn with_unset_empty(mut self) -> Self {
        self.unset_is_empty = true;
        self
    }

    /// Returns the possible values of a raw word; none if it is unknown.
    pub(crate) fn texts(mut self, raw: &str) -> Vec<String> {
        if raw.len() > MAX_BYTES || self.walker.depth > 5 {
            return Vec::new();
        }
        if raw.is_empty() {
            return vec![String::new()];
        }
        for raw in braces(raw) {
            let values = self.word(&raw);
            self.found.extend(values);
        }
        self.found.truncate(MAX_TEXTS * 2);
        self.found
    }

    fn word(&mut self, raw: &str) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut rest = raw;
        let mut in_quotes = false;
        let put = |texts: &mut Vec<String>, text: &str| {
            texts.iter_mut().for_each(|one| one.push_str(text))
        };
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            rest = match letter {
                '"' => {
                    in_quotes = !in_quotes;
                    after
                }
                '\'' if !in_quotes => {
                    let end = after.find('\'').unwrap_or(after.len());
                    put(&mut texts, &after[..end]);
                    after.get(end + 1..).unwrap_or_default()
                }
                '\\' => {
                    let Some(next) = after.chars().next() else { return texts };
                    // In quotes it stays before most letters.
                    if in_quotes && !"\"\\$`\n".contains(next) {
                        put(&mut texts, "\\");
                    }
                    put(&mut texts, next.encode_utf8(&mut [0; 4]));
                    &after[next.len_utf8()..]
                }
                '$' if after.starts_with('\'') && !in_quotes => {
                    let (text, rest) = decoded(&after[1..]);
                    put(&mut texts, &text);
                    rest
                }
                '$' | '`' => {
                    let Some((values, behind)) = self.value(letter, after) else {
                        return Vec::new();
                    };
                    let values = match values {
                        Some(values) => values,
                        // An unknown value that is a part of a name may be empty.
                        None if is_within_name(&texts, behind) => vec![String::new()],
                        None => return Vec::new(),
                    };
                    texts = texts
                        .iter()
                        .flat_map(|text| {
                            values.iter().map(move |value| [text, value.as_str()].concat())
                        })
                        .filter(|text| text.len() <= MAX_BYTES)
                        .take(MAX_TEXTS)
                        .collect();
                    behind
                }
                _ => {
                    put(&mut texts, letter.encode_utf8(&mut [0; 4]));
                    after
                }
            };
        }
        texts
    }

    /// Returns the values of the expansion after a dollar or a backquote, unless they are unknown, and the rest. `None`
    /// if it has no end.
    fn value<'r>(&mut self, opener: char, after: &'r str) -> Option<Expansion<'r>> {
        if opener == '`' {
            let end = after.find('`')?;
            return Some((self.output(&after[..end]), &after[end + 1..]));
        }
        if let Some(inner) = after.strip_prefix('(').filter(|inner| !inner.starts_with('(')) {
            let end = closing(inner, '(', ')')?;
            return Some((self.output(&inner[..end]), &inner[end + 1..]));
        }
        if let Some(inner) = after.strip_prefix('{') {
            let end = closing(inner, '{', '}')?;
            return Some((self.parameter(&inner[..end]), &inner[end + 1..]));
        }
        let length = after
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(after.len());
        let first = after.chars().next()?;
        let length = match first {
            '0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-' => 1,
            _ if length == 0 => return Some((Some(vec!["$".to_owned()]), after)),
            _ => length,
        };
        let (name, rest) = after.split_at(length);
        Some((self.variable(name), rest))
    }

    /// Returns the values of the content of `${…}`.
    fn parameter(&mut self, inner: &str) -> Option<Vec<String>> {
        if let Some(name) = inner.strip_prefix('!') {
            return self.indirect(name);
        }
        let length = inner
            .find(|letter: char| {
                !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '@' | '*')
            })
            .unwrap_or(inner.len());
        let (name, rest) = inner.split_at(length);
        let mut known = self.variable(name);
        let rest = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((_, rest)) => {
                known = known.map(with_elements);
                rest
            }
            None => rest,
        };
        if rest.is_empty() {
            return known;
        }
        let other = rest.strip_prefix(':').unwrap_or(rest);
        let is_empty = known.as_deref() == Some(&[String::new()]);
        if self.unset_is_empty && is_empty {
            // Without a value the first two take the other one, and the shell stops at the third.
            match other.chars().next() {
                Some('-' | '=') => return Some(self.word(&other[1..])),
                Some('+') => return Some(vec![String::new()]),
                Some('?') => return None,
                _ => {}
            }
        }
        if let Some(value) = other.strip_prefix(['-', '=', '+']) {
            let mut all = known.unwrap_or_default();
            all.extend(self.word(value));
            return Some(all);
        }
        // The first character of a path.
        let is_first =
            matches!(rest, ":0:1" | "::1") || (rest.starts_with("%%[") && rest.ends_with("]*"));
        if is_first && matches!(name, "HOME" | "PWD" | "PATH" | "SHELL" | "OLDPWD" | "BASH") {
            return Some(vec!["/".to_owned()]);
        }
        let mut all = known?;
        let changed = all.iter().map(|value| changed(value, rest)).collect::<Option<Vec<_>>>()?;
        all.extend(changed);
        Some(all)
    }

    /// Returns the values of the variable whose name is the value of another one, and that value.
    fn indirect(&mut self, name: &str) -> Option<Vec<String>> {
        if name == "#" {
            let all = self.variable("@")?;
            return Some(
                all.iter().filter_map(|all| all.rsplit(' ').next().map(str::to_owned)).collect(),
            );
        }
        let names = self.variable(name.trim_end_matches(['@', '*']))?;
        let values: Vec<String> =
            names.iter().filter_map(|name| self.variable(name)).flatten().collect();
        Some(names.into_iter().chain(values).collect())
    }

    fn variable(&mut self, name: &str) -> Option<Vec<String>> {
        let mut known: Vec<String> = self.walker.values_of(name).map(str::to_owned).collect();
        for other in self.walker.other_names(name) {
            known.extend(self.walker.values_of(&other).map(str::to_owned));
        }
        if !known.is_empty() {
            return Some(known);
        }
        match name {
            "HOME" => {
                Some(vec![self.walker.folders.home.clone().unwrap_or_else(|| "~".to_owned())])
            }
            "PWD" => Some(self.walker.places.clone()),
            "SHELL" | "BASH" => Some(vec!["/bin/sh".to_owned()]),
            "IFS" => Some(vec![" ".to_owned()]),
            _ => {
                let of_any = |(own, value): &(Fact, String)| {
                    (*own == Fact::ValueOfAny).then(|| value.clone())
                };
                let values: Vec<String> = self.walker.facts.iter().filter_map(of_any).collect();
                let is_empty =
                    values.is_empty() && self.unset_is_empty && self.walker.is_unset(name);
                match is_empty {
                    true => Some(vec![String::new()]),
                    false => Some(values).filter(|values| !values.is_empty()),
                }
            }
        }
    }

    /// Returns the output of a command that only prints its arguments.
    pub(crate) fn output(&mut self, text: &str) -> Option<Vec<String>> {
        if matches!(text.trim(), "" | ":" | "true" | "false" | "cat /dev/null") {
            return Some(vec![String::new()]);
        }
        self.walker.left = self.walker.left.checked_sub(text.len())?;
        let program = self.walker.parse(text).ok()?;
        let outer = (self.walker.piped.take(), self.walker.places.clone());
        self.walker.depth += 1;
        let found = program
            .complete_commands
            .iter()
            .filter_map(|list| self.walker.printed(list))
            .collect::<Vec<_>>();
        self.walker.depth -= 1;
        (self.walker.piped, self.walker.places) = outer;
        (!found.is_empty()).then(|| vec![found.concat().trim_end().to_owned()])
    }
}

/// Returns values with the elements of those that are lists.
fn with_elements(values: Vec<String>) -> Vec<String> {
    let of_list = |value: &String| value.contains([' ', '[']);
    let element = |part: &str| match part.strip_prefix('[').and_then(|part| part.split_once("]=")) {
        Some((_, value)) => value.to_owned(),
        None => part.to_owned(),
    };
    let lists: Vec<&String> = values.iter().filter(|value| of_list(value)).collect();
    let elements: Vec<String> = lists
        .iter()
        .flat_map(|value| value.split_whitespace().map(element))
        .take(MAX_TEXTS)
        .collect();
    values.iter().cloned().chain(elements).collect()
}

/// Returns true if text without a slash is before or after an expansion.
fn is_within_name(before: &[String], behind: &str) -> bool {
    let is_begun = before.iter().any(|text| !text.is_empty());
    let continues = behind.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    (is_begun || continues)
        && !behind.starts_with('/')
        && before.iter().all(|text| !text.contains('/'))
}

/// Returns true if a glob can match a name.
pub(super) fn can_be_name(glob: &str, name: &str) -> bool {
    can_meet(glob, false, name)
}

/// Returns the offset of the closing bracket for one that was opened before.
pub(super) fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, letter)| {
        depth += i32::from(letter == open) - i32::from(letter == close);
        (depth == 0).then_some(at)
    })
}

/// Expands braces with commas.
fn braces(raw: &str) -> Vec<String> {
    let mut words = vec![raw.to_owned()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for word in &words {
            // Not the braces of a variable.
            let open = word
                .char_indices()
                .find(|(at, letter)| *letter == '{' && !word[..*at].ends_with('$'))
                .map(|(at, _)| at);
            let group = open.and_then(|open| {
                let end = closing(&word[open + 1..], '{', '}')?;
                let group = &word[open + 1..open + 1 + end];
                let group = match group.contains(',') {
                    true => group.split(',').map(str::to_owned).collect(),
                    false => range(group)?,
                };
                Some((&word[..open], group, &word[open + end + 2..]))
            });
            match group {
                Some((before, group, behind)) => {
                    next.extend(group.iter().map(|one| [before, one.as_str(), behind].concat()));
                }
                None => next.push(word.clone()),
            }
        }
        next.truncate(32);
        words = next;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the letters of a range in braces: `{a..e}`.
fn range(group: &str) -> Option<Vec<String>> {
    let (from, to) = group.split_once("..")?;
    let (from, to) = (from.parse::<char>().ok()?, to.parse::<char>().ok()?);
    Some((from.min(to)..=from.max(to)).take(MAX_RANGE).map(String::from).collect())
}

/// Decodes a word that is `$'…'` as a whole.
pub(super) fn whole_decoded(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix("$'")?;
    let (text, rest) = decoded(inner);
    let is_closed = rest.is_empty() && inner.len() > 1 && inner.ends_with('\'');
    (is_closed && !text.is_empty()).then_some(text)
}

/// Decodes `$'…'` after its opening quote, and returns the rest.
fn decoded(text: &str) -> (String, &str) {
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != b'\'' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    let end = at.min(text.len());
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (decoded_all(&text[..end]), text.get(end + 1..).unwrap_or_default())
}

/// Decodes the escapes of a text.
pub(super) fn decoded_all(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let number = |digits: &str, radix: u32, max: usize| {
            let length =
                digits.chars().take(max).take_while(|letter| letter.is_digit(radix)).count();
            let letter =
                u32::from_str_radix(&digits[..length], radix).ok().and_then(char::from_u32);
            letter.map(|letter| (letter, length))
        };
        let first = after.chars().next();
        rest = match first {
            Some('n' | 'r' | 'f' | 'v') => {
                out.push('\n');
                &after[1..]
            }
            Some('t') => {
                out.push('\t');
                &after[1..]
            }
            Some(kind @ ('x' | 'u' | 'U')) => {
                match number(&after[1..], 16, if kind == 'x' { 2 } else { 8 }) {
                    Some((letter, length)) => {
                        out.push(letter);
                        &after[1 + length..]
                    }
                    None => &after[1..],
                }
            }
            Some('0'..='7') => match number(after, 8, 4) {
                Some((letter, length)) => {
                    out.push(if letter == '\0' { '\n' } else { letter });
                    &after[length..]
                }
                None => &after[1..],
            },
            Some(letter) => {
                out.push(letter);
                &after[letter.len_utf8()..]
            }
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// Returns the text in the double quotes around a word that is not known beforehand, as another shell reads it. Single quotes in
/// it do not keep the first shell from putting values in.
pub(super) fn in_double_quotes(word: &Word) -> Vec<String> {
    let inner = word.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let Some(inner) = inner.filter(|_| !word.known) else { return Vec::new() };
    let mut made = String::new();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && "\"\\$`".contains(*next));
        made.push(escaped.unwrap_or(letter));
    }
    let mut found = Vec::new();
    if made.contains('\'') {
        found.push(made.replace('\'', "\""));
    }
    if made != inner {
        found.push(made);
    }
    found
}

/// Returns a text with a star in place of the patterns that bash has beside the usual ones: `@(a|b)`, `!(a)`.
pub(super) fn without_patterns(text: &str) -> Cow<'_, str> {
    let Some(last) = text.rfind(')') else { return Cow::Borrowed(text) };
    let is_opener = |at: usize| at < last && text[..at].ends_with(['?', '*', '+', '@', '!']);
    if !text.match_indices('(').any(|(at, _)| is_opener(at)) {
        return Cow::Borrowed(text);
    }
    let mut made = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('(').filter(|(at, _)| is_opener(*at)) {
        if at < from {
            continue;
        }
        made.push_str(&text[from..at - 1]);
        made.push('*');
        from = at + 1 + text[at + 1..].find(')').unwrap_or(0) + 1;
    }
    made.push_str(&text[from..]);
    Cow::Owned(made)
}
