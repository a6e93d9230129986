//! Tells what `xargs` and `parallel` destroy: their command with its input put in.

use std::ops::Range;

use super::destroyed_places::expanded_word;
use super::destroying_commands::{LOCAL_WRAPPERS, MAX_TAILS, may_destroy};
use crate::permission::shell::Concern;
use crate::permission::shell::analyzer::{TOO_MUCH, Walker};
use crate::permission::shell::program_names::base;
use crate::permission::shell::shells::runs_texts;
use crate::permission::shell::word::Word;
use crate::util::words::has_word;

/// Maximum bytes of a text with its input put in: each place could take a whole input.
const MAX_PUT_IN: usize = 64 * 1024;

/// Maximum number of words of the input that are read.
const MAX_GIVEN_WORDS: usize = 64;

/// Maximum bytes of a word of the input that is put in. No system opens a longer path.
const MAX_GIVEN: usize = 4096;

/// Maximum number of words of an input that are put in on their own.
const MAX_PARTS: usize = 16;

impl Walker<'_> {
    /// Returns what `xargs` destroys with its words and its input.
    pub(super) fn xargs_destroys(&mut self, words: &[Word], read: &[String]) -> Vec<&'static str> {
        let at = words
            .iter()
            .position(|word| matches!(&*base(&word.text), "xargs" | "gxargs" | "parallel"));
        let Some(at) = at else { return Vec::new() };
        let mark = replaced_mark(&words[at..]);
        let mut texts: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
        texts.extend(arguments_of_parallel(&words[at..]));
        // Each word is put in on its own as well.
        let is_split = words[at..].iter().any(|word| word.text.contains(&mark));
        let mut is_cut =
            is_split && texts.iter().any(|text| text.split_whitespace().nth(MAX_PARTS).is_some());
        let parts: Vec<String> = texts
            .iter()
            .filter(|text| is_split && text.trim().contains(char::is_whitespace))
            .flat_map(|text| text.split_whitespace().take(MAX_PARTS).map(str::to_owned))
            .collect();
        texts.extend(parts);
        let is_local = at == 0 || has_word(LOCAL_WRAPPERS, &base(&words[0].text));
        let mut found = Vec::new();
        // More input than is read does no harm to a command that destroys nothing.
        let can_destroy = may_destroy_with(&words[at + 1..]);
        for text in texts {
            let mut parts = text
                .split(|letter: char| letter.is_whitespace() || letter == '\0')
                .map(|part| part.trim_matches(['"', '\'']))
                .filter(|part| !part.is_empty());
            let read: Vec<&str> = (&mut parts).take(MAX_GIVEN_WORDS).collect();
            is_cut |= parts.next().is_some() || read.iter().any(|part| part.len() > MAX_GIVEN);
            let short = read.into_iter().filter(|part| part.len() <= MAX_GIVEN);
            let given: Vec<Word> = short.map(expanded_word).collect();
            let joined = given.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let first = given.first().map_or("", |word| word.text.as_str());
            let mut with_input = |text: &str, places: &[Range<usize>]| {
                put_in(text, places, &joined).unwrap_or_else(|| {
                    is_cut = true;
                    put_in(text, places, first).unwrap_or_else(|| text.to_owned())
                })
            };
            for start in at + 1..words.len().min(at + MAX_TAILS) {
                let inner = base(&words[start].text);
                let mut all: Vec<Word> = words[start..].to_vec();
                for word in &mut all {
                    let marks = word.text.match_indices(&mark);
                    let marks: Vec<_> = marks.map(|(at, mark)| at..at + mark.len()).collect();
                    word.text = with_input(&word.text, &marks);
                    word.glob |= word.text.contains('*');
                }
                let inner_texts: Vec<String> = all
                    .iter()
                    .filter(|word| word.text.contains(' '))
                    .map(|word| with_input(&word.text, &parameters(&word.text)))
                    .collect();
                all.extend(given.iter().cloned());
                found.extend(self.destroys_by(&inner, &all, is_local));
                found.extend(self.script_changes_given(&all));
                for text in inner_texts {
                    found.extend(self.text_destroys(&text));
                }
            }
        }
        if is_cut && can_destroy {
            self.add_concern("xargs", Concern::unread(TOO_MUCH));
        }
        found
    }
}

/// Returns true if a command can destroy what it is given, or run it.
fn may_destroy_with(words: &[Word]) -> bool {
    let told = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    words.is_empty() || may_destroy(&told) || words.iter().any(|word| runs_texts(&base(&word.text)))
}

/// Returns the arguments that `parallel` gives to its command: those after `:::`.
fn arguments_of_parallel(words: &[Word]) -> Option<String> {
    let at = words.iter().position(|word| word.text.starts_with(":::"))?;
    Some(words[at + 1..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// Returns the text that `xargs` and `parallel` replace with their input.
fn replaced_mark(words: &[Word]) -> String {
    let mut words = words.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        let mark = match word.strip_prefix("-I") {
            Some("") => words.next(),
            Some(mark) => Some(mark),
            None => word.strip_prefix("--replace="),
        };
        if let Some(mark) = mark.filter(|mark| !mark.is_empty()) {
            return mark.to_owned();
        }
    }
    "{}".to_owned()
}

/// Returns a text with another one in these places; `None` if that is too long to be read.
fn put_in(text: &str, places: &[Range<usize>], given: &str) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    for place in places {
        out.push_str(text.get(done..place.start)?);
        out.push_str(given);
        done = place.end;
        if out.len() > MAX_PUT_IN {
            return None;
        }
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

/// Returns the places of the first parameters of a shell in its text: `"$@"`, `$1`.
fn parameters(text: &str) -> Vec<Range<usize>> {
    let mut end = 0;
    let dollars = text.match_indices('$').filter_map(|(at, _)| {
        let name = text[at + 1..].chars().next().filter(|name| "@*01".contains(*name))?;
        // The quote behind one place does not open the next.
        let is_quoted =
            name == '@' && text[end..at].ends_with('"') && text[at + 2..].starts_with('"');
        let place = if is_quoted { at - 1..at + 3 } else { at..at + 2 };
        end = place.end;
        Some(place)
    });
    dollars.collect()
}
