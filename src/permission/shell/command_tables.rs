//! Tables of commands: in each line what such a command does, its programs, and its words.
//!
//! `a,b` is one of several words, `x*` and `*x` begin or end so, `_` is any, `.` is none, `-x,--long` are options of which one is
//! there, `!a,b` are words that are not, `+a,b` are words of which one occurs anywhere, and `$a,b` end a command.

use std::sync::OnceLock;

use super::programs;
use super::word::Word;
use crate::util::hash::NameMap;

/// A table, and the places of the lines of each program.
pub(super) struct CommandTable {
    text: &'static str,
    places: OnceLock<NameMap<Vec<usize>>>,
}

impl CommandTable {
    pub(super) const fn new(text: &'static str) -> Self {
        CommandTable { text, places: OnceLock::new() }
    }

    fn places(&self) -> &NameMap<Vec<usize>> {
        self.places.get_or_init(|| {
            let mut places: NameMap<Vec<usize>> = NameMap::default();
            let mut at = 0;
            for line in self.text.lines() {
                for name in line.split(' ').nth(1).unwrap_or_default().split(',') {
                    places.entry(name).or_default().push(at);
                }
                at += line.len() + 1;
            }
            places
        })
    }

    /// Returns true if a program is in the table.
    pub(super) fn has(&self, base: &str) -> bool {
        self.places().contains_key(base)
    }

    /// Returns what a command does and the words of its line, given its arguments.
    pub(super) fn find(&self, base: &str, rest: &[Word]) -> Option<(&'static str, &'static str)> {
        self.lines(base).find(|(_, pattern)| is_match(pattern, rest, rest))
    }

    /// Returns the lines of a program: what such a command does, and its words.
    pub(super) fn lines(&self, base: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let places = self.places().get(base).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| {
            let line = self.text[*place..].lines().next()?;
            let (does, line) = line.split_once(' ')?;
            Some((does, line.split_once(' ')?.1))
        })
    }
}

fn is_option(word: &Word) -> bool {
    word.text.len() > 1 && word.text.starts_with('-')
}

/// Returns true if a command has the words of a line. Options, and words that must not be there, are looked for in `valued`, in
/// which options have their values.
pub(super) fn is_match(pattern: &str, rest: &[Word], valued: &[Word]) -> bool {
    let mut at = 0;
    let mut next = |part: &str| {
        loop {
            let Some(word) = rest.get(at) else { return part == "." };
            // An option, and what may be its value, can precede each.
            let before = at.checked_sub(1).map(|at| &rest[at]);
            let may_be_value = before.is_some_and(|it| is_option(it) && !it.text.contains('='));
            at += 1;
            if !is_option(word) && is_one_of(part, &word.text) {
                return true;
            }
            if !is_option(word) && !may_be_value {
                return false;
            }
        }
    };
    let has = |part: &str, word: &Word| {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let mut texts = [&*word.text, name.trim_end(), value].into_iter();
        texts.any(|text| !text.is_empty() && is_one_of(part, text))
    };
    // The value of an option is no option: `--exclude=--check`.
    let is_option_as_value = |word: &Word| is_option(word) && word.text.contains("=-");
    pattern.split(' ').all(|part| match part.as_bytes() {
        [b'!', ..] => !valued.iter().any(|word| !is_option_as_value(word) && has(&part[1..], word)),
        [b'+', ..] => rest.iter().any(|word| has(&part[1..], word)),
        [b'$', ..] => {
            let mut words = rest.iter().flat_map(|word| word.text.split_whitespace()).peekable();
            std::iter::from_fn(|| Some((words.next()?, words.peek().copied().unwrap_or("|")))).any(
                |(word, next)| {
                    is_one_of(&part[1..], word.trim_end_matches(';'))
                        && (word.ends_with(';') || next.starts_with(['|', ';', '&', '>']))
                },
            )
        }
        [b'-', ..] => valued.iter().any(|word| part.split(',').any(|flag| is_flag(flag, word))),
        _ => next(part),
    })
}

/// Returns true if a word is an option, or abbreviates it, but not if it is another one that is a part of its name.
fn is_flag(flag: &str, word: &Word) -> bool {
    let name = word.text.split('=').next().unwrap_or_default();
    let rest = flag.strip_prefix(name).unwrap_or_default();
    programs::flag(name, &[flag]).is_some() && !rest.starts_with('-')
}

/// Returns true if a text is one of those between the commas, in any case, except for options of one letter.
fn is_one_of(list: &str, text: &str) -> bool {
    let text = text.as_bytes();
    list.as_bytes().split(|byte| *byte == b',').any(|one| {
        let end = one.strip_prefix(b"*").unwrap_or(one);
        let part = end.strip_suffix(b"*").unwrap_or(end);
        if let ([b'-', letter], [b'-', other]) = (one, text) {
            return letter == other;
        }
        let (is_open, is_cut) = (end.len() < one.len(), part.len() < end.len());
        // At most one place if both ends or one of them are fixed.
        let Some(last) = text.len().checked_sub(part.len()) else { return false };
        let from = if is_open && !is_cut { last } else { 0 };
        let to = if is_open { last } else { 0 };
        one == b"_"
            || (is_open || is_cut || last == 0)
                && (from..=to).any(|at| text[at..at + part.len()].eq_ignore_ascii_case(part))
    })
}
