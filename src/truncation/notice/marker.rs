//! Recognizes notices, however they were copied: after the prefix of a comment, a quote or a diff, joined to one line,
//! or in a JSON string.
//!
//! A document may use the same words about truncation, so most sentences count only together with another one. A few
//! are unmistakable: a gap line with line numbers, the outcome of a call before the lines shown, the name of a saved
//! output.

use std::borrow::Cow;

use memchr::memmem;

use super::messages::{ALL, Advice, Wording};
use crate::text::graphemes;

/// Maximum distance in bytes between sentences of the same notice.
const REACH: usize = 2048;

/// Maximum length in bytes of a path or reason in a notice.
const MAX_VALUE_LENGTH: usize = 4096;

/// The fact that a sentence states. Two sentences that state different facts make a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkerField {
    /// This line makes a notice by itself.
    All,
    Outcome,
    Missing,
    Shown,
    Place,
    Advice,
}

/// Returns true if a text contains a notice of Spillway, in any language and profile. Tools that write files use this
/// to refuse a preview that was mistaken for the whole content.
pub fn contains_marker(text: &str) -> bool {
    if !may_contain(text) {
        return false;
    }
    has_notice(text) || unescaped(text).is_some_and(|text| has_notice(&text))
}

/// Returns true if a text contains a line that replaces missing text, which is all that a very small preview has room
/// for.
pub fn contains_bare_marker(text: &str) -> bool {
    ALL.iter().any(|it| {
        [it.lines, it.bytes, it.tokens].iter().any(|template| !find(text, template).is_empty())
    }) || contains_marker(text)
}

/// Returns true if a preview of a test run says that it names all failures, which are `count`.
pub fn names_all_failures(text: &str, count: u64) -> bool {
    ALL.iter().any(|it| text.contains(&it.tests(count, count)))
}

/// Returns true if the text may contain a notice: every sentence has one of these words, or is Chinese, which JSON may
/// write in ASCII.
fn may_contain(text: &str) -> bool {
    [
        "truncated",
        "saved to",
        "that file",
        "not be saved",
        "full content",
        "\u{622a}",
        "\u{8be5}",
        "\\u",
    ]
    .iter()
    .any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

fn has_notice(text: &str) -> bool {
    let mut fields: Vec<(usize, MarkerField)> = Vec::new();
    for wording in ALL {
        for (at, field) in sentences(wording, text) {
            if field == MarkerField::All {
                return true;
            }
            fields.push((at, field));
        }
    }
    fields.sort_by_key(|(at, _)| *at);
    fields.iter().enumerate().any(|(index, (at, field))| {
        let near = fields.iter().skip(index + 1).take_while(|(other, _)| other - at <= REACH);
        near.into_iter().any(|(_, other)| other != field)
    })
}

fn sentences(wording: &Wording, text: &str) -> Vec<(usize, MarkerField)> {
    let mut fields = Vec::new();
    let mut all = |template: &str, field: MarkerField| {
        fields.extend(find(text, template).into_iter().map(|(at, _)| (at, field)));
    };
    for template in
        [wording.gap, wording.repeats, wording.changes[0], wording.changes[1], wording.lost]
    {
        all(template, MarkerField::All);
    }
    all(wording.lines, MarkerField::Missing);
    for template in shown(wording) {
        all(template, MarkerField::Shown);
    }
    if let Advice::Available(templates) = &wording.advice {
        for template in templates {
            all(template, MarkerField::Advice);
        }
    }
    // On a line of its own no other text has this form.
    for template in [wording.bytes, wording.tokens] {
        let found = find(text, template);
        fields.extend(found.into_iter().map(|(at, end)| {
            (at, if is_line(text, at, end) { MarkerField::All } else { MarkerField::Missing })
        }));
    }
    if let Advice::Fixed { plain, delegate } = &wording.advice {
        for sentence in [Some(*plain), *delegate].into_iter().flatten() {
            fields.extend(memmem::find_iter(text.as_bytes(), sentence).map(|at| {
                let line = is_line(text, at, at + sentence.len());
                (at, if line { MarkerField::All } else { MarkerField::Advice })
            }));
        }
    }
    for sentence in wording.outcome.iter().filter(|sentence| !sentence.is_empty()) {
        fields.extend(memmem::find_iter(text.as_bytes(), sentence).map(|at| {
            let end = at + sentence.len();
            let goes_on = text.get(end..).is_some_and(|rest| goes_on(wording, rest));
            (
                at,
                if goes_on || is_line(text, at, end) {
                    MarkerField::All
                } else {
                    MarkerField::Outcome
                },
            )
        }));
    }
    for template in [wording.saved, wording.part, wording.compact, wording.compact_part] {
        fields.extend(find(text, template).into_iter().filter_map(|(at, end)| {
            let line = text.get(at..end)?;
            if names_output(line) || (template.starts_with("...") && is_line(text, at, end)) {
                return Some((at, MarkerField::All));
            }
            (line.contains('/') || line.contains(":\\")).then_some((at, MarkerField::Place))
        }));
    }
    fields
}

/// Returns the sentences about the part of a text that is shown.
fn shown(wording: &Wording) -> [&'static str; 7] {
    let Wording { shown, partial, scattered, diff, csv, tests, unfinished, .. } = *wording;
    [shown, partial, scattered, diff, csv, tests, unfinished]
}

/// Returns true if the text after the outcome of a call continues as a notice does.
fn goes_on(wording: &Wording, rest: &str) -> bool {
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let others = [wording.json.shown, wording.ceiling, wording.saved, wording.part];
    let next = shown(wording).into_iter().chain(others);
    next.filter(|template| !template.is_empty()).any(|template| {
        let head = template.split('{').next().unwrap_or_default();
        let begins = rest.get(head.len()..).and_then(|rest| rest.chars().next());
        rest.starts_with(head) && (head.len() > 8 || begins.is_some_and(|it| it.is_ascii_digit()))
    })
}

/// Returns true if a line contains the name of a saved output: `…_<13 digits>_<letters and digits>.txt`.
fn names_output(line: &str) -> bool {
    memmem::find_iter(line.as_bytes(), ".txt").any(|end| {
        let name = line.get(..end).unwrap_or_default();
        let name = name.strip_suffix(".partial").unwrap_or(name);
        let Some((before, random)) = name.rsplit_once('_') else { return false };
        let Some((_, time)) = before.rsplit_once('_') else { return false };
        random.len() >= 10
            && random.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && time.len() == 13
            && time.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns true if a line contains nothing else, apart from the punctuation of comments, quotes, lists, diffs and JSON,
/// and line numbers.
fn is_line(text: &str, at: usize, end: usize) -> bool {
    let before = line_before(text.get(..at).unwrap_or_default(), BESIDE);
    let after = line_after(text.get(end..).unwrap_or_default(), BESIDE);
    let is_sign = |char: char| !char.is_alphanumeric() && char != '(' && char != ')';
    let lead = before.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
    let is_short = before.len() < BESIDE - 4 && after.len() < BESIDE - 4;
    is_short && lead.chars().all(is_sign) && after.chars().all(is_sign)
}

/// Maximum number of such bytes on either side.
const BESIDE: usize = 128;

/// Returns up to `max_bytes` bytes that follow on the same line.
fn line_after(text: &str, max_bytes: usize) -> &str {
    let near = text.get(..graphemes::floor_char(text, max_bytes)).unwrap_or_default();
    near.split(['\n', '\r']).next().unwrap_or_default()
}

/// Returns up to `max_bytes` bytes that precede on the same line.
fn line_before(text: &str, max_bytes: usize) -> &str {
    let from = graphemes::floor_char(text, text.len().saturating_sub(max_bytes));
    text.get(from..).unwrap_or_default().rsplit(['\n', '\r']).next().unwrap_or_default()
}

/// Finds all occurrences of a template with its placeholders filled in.
fn find(text: &str, template: &str) -> Vec<(usize, usize)> {
    let parts = parts(template);
    let longest = parts.iter().enumerate().filter_map(|(index, part)| match part {
        Part::Words(words) => Some((index, *words)),
        Part::Number | Part::Value => None,
    });
    let Some((anchor, words)) = longest.max_by_key(|(_, words)| words.len()) else {
        return Vec::new();
    };
    if words.trim().is_empty() {
        return Vec::new();
    }
    memmem::find_iter(text.as_bytes(), words)
        .filter_map(|at| {
            let start = before(text.get(..at)?, parts.get(..anchor)?)?;
            let end = after(text.get(at + words.len()..)?, parts.get(anchor + 1..)?)?;
            Some((start, at + words.len() + end))
        })
        .collect()
}

/// A part of a template.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Words(&'a str),
    Number,
    Value,
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((words, after)) = rest.split_once('{') {
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
        let Some((name, after)) = after.split_once('}') else { break };
        let is_text = matches!(name, "path" | "reason" | "tool" | "lines" | "list");
        parts.push(if is_text { Part::Value } else { Part::Number });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Words(rest));
    }
    parts
}

/// Returns the start of these parts, given that they end at the end of the text.
fn before(text: &str, parts: &[Part<'_>]) -> Option<usize> {
    let Some((last, others)) = parts.split_last() else { return Some(text.len()) };
    match last {
        Part::Words(words) => before(text.strip_suffix(words)?, others),
        Part::Number => {
            let left = text.trim_end_matches(|char: char| char.is_ascii_digit());
            if left.len() == text.len() { None } else { before(left, others) }
        }
        Part::Value => {
            let words = others.last().and_then(|part| match part {
                Part::Words(words) => Some(*words),
                Part::Number | Part::Value => None,
            })?;
            let line = line_before(text, MAX_VALUE_LENGTH);
            let found = line.rfind(words)?;
            let value = line.get(found + words.len()..)?;
            if value.is_empty() {
                return None;
            }
            before(text.get(..text.len() - value.len())?, others)
        }
    }
}

/// Returns the end of these parts, given that they begin at the start of the text.
fn after(text: &str, parts: &[Part<'_>]) -> Option<usize> {
    let Some((first, others)) = parts.split_first() else { return Some(0) };
    let (used, rest) = match first {
        Part::Words(words) => (words.len(), text.strip_prefix(words)?),
        Part::Number => {
            let left = text.trim_start_matches(|char: char| char.is_ascii_digit());
            (text.len() - left.len(), left)
        }
        Part::Value => {
            let line = line_after(text, MAX_VALUE_LENGTH);
            let end = match others.first() {
                Some(Part::Words(words)) => line.find(words)?,
                _ => line.len(),
            };
            (end, text.get(end..)?)
        }
    };
    if used == 0 {
        return None;
    }
    Some(used + after(rest, others)?)
}

/// Unescapes the text of a JSON string, or of one inside another. Returns `None` if nothing is escaped.
fn unescaped(text: &str) -> Option<String> {
    let mut out = Cow::Borrowed(text);
    for _ in 0..3 {
        if !out.contains('\\') {
            break;
        }
        out = Cow::Owned(unescaped_once(&out));
    }
    match out {
        Cow::Owned(out) => Some(out),
        Cow::Borrowed(_) => None,
    }
}

fn unescaped_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut characters = after.chars();
        match characters.next() {
            Some('n' | 'r') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let code = after.get(1..5).and_then(|code| u32::from_str_radix(code, 16).ok());
                if let Some(char) = code.and_then(char::from_u32) {
                    out.push(char);
                    characters = after.get(5..).unwrap_or_default().chars();
                }
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out
}
