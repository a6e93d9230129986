//! Finds the lines of an output that contain the words of a question, so that a preview can keep one fact of a listing.
//!
//! A line is ranked by the rarity of the words in it. The rarity of a word is only known at the end, so until then lines are
//! remembered by the set of words that they contain: the first and the last ones of each set.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::retained::{Counts, Finding};
use super::scan::Findings;
use crate::truncation::lines::Chosen;
use crate::util::sort::sort_by_key;
use crate::util::words::has_word;

/// Only the start of a longer question is read, in bytes.
const MAX_QUESTION_BYTES: usize = 4096;
/// Maximum number of words that are looked for, one for each bit of a set; further ones are left out.
const MAX_WORDS: usize = u64::BITS as usize;
/// Only the start of a longer line is searched, in bytes.
const SEARCHED: usize = 4096;
/// Lines before and after a match that are remembered with it.
pub(super) const BEFORE: u16 = 2;
pub(super) const AFTER: u16 = 12;
/// A line must be worth this percentage of the best one.
const MIN: u64 = 60;
/// A word in more than one of `COMMON` lines is ignored.
const COMMON: u64 = 8;
/// Percentage of the remaining budget for matching lines, and the same for files and search results.
const SHARE: u64 = 25;
const SHARE_OF_LISTING: u64 = 60;
/// If more lines than this have the same value, the lines around them are left out.
const FEW: usize = 8;

/// Words that are in every question.
const STOP_WORDS: &str = "a about after all also an and any are as at be been before but by can could did do does done for \
    from get give given had has have here how i if in into is it its just like make many me more most much my no not of \
    on one only or other our out over please s see she should show so some such t tell than that the their them then \
    there these they this those to up us use used using was we were what when where which while who why will with would \
    you your";

/// The words of a question.
#[derive(Debug)]
pub struct Query {
    automaton: AhoCorasick,
    count: usize,
}

/// A line that holds words of the question.
struct Match {
    worth: u64,
    line: u64,
}

impl Query {
    /// Reads a question; `None` if it has no word that can be looked for.
    pub fn new(question: &str) -> Option<Arc<Query>> {
        let words = words(question);
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok()?;
        (!words.is_empty()).then(|| Arc::new(Query { automaton, count: words.len() }))
    }

    /// The end of the first word in these bytes, from an offset on.
    pub(super) fn next_word(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let input = Input::new(bytes).range(from.min(bytes.len())..).earliest(true);
        self.automaton.find(input).map(|found| found.end())
    }

    /// The set of words that a line holds, a bit for each.
    pub(super) fn words_in(&self, line: &[u8]) -> u64 {
        let line = line.get(..SEARCHED).unwrap_or(line);
        let found = self.automaton.find_overlapping_iter(line);
        let whole = found.filter(|found| is_whole_word(line, found.range()));
        whole.fold(0, |set, found| set | 1 << (found.pattern().as_u32() % u64::BITS))
    }

    /// Adds the lines that match the question best, and the lines around them if there is room.
    pub(super) fn add(
        &self,
        chosen: &mut Chosen<'_>,
        (matches, sets): &Findings,
        total: u64,
        is_early: bool,
    ) {
        let ranked = self.rank(matches, sets, total);
        let limit = chosen.share(if is_early { SHARE_OF_LISTING } else { SHARE });
        let remembered: BTreeSet<u64> = matches.iter().map(|finding| finding.line).collect();
        // A long line can take a quarter of the budget; the best one is shown in any case.
        if let Some(best) = ranked.first() {
            chosen.add(best.line, chosen.all());
        }
        for equals in ranked.chunk_by(|a, b| a.worth == b.worth) {
            for found in equals {
                chosen.add(found.line, limit);
            }
            // None of many equal lines is the answer, so their surroundings are worth less than other lines.
            let few = if equals.len() <= FEW { equals } else { &[] };
            for found in few {
                let from = found.line.saturating_sub(BEFORE.into());
                for line in remembered.range(from..=found.line + u64::from(AFTER)) {
                    chosen.add(*line, limit);
                }
            }
        }
    }

    /// The lines that hold the rarest words, the best first.
    fn rank(&self, matches: &[Finding], sets: &Counts, total: u64) -> Vec<Match> {
        let frequency = |word: usize| -> u64 {
            let with = sets.iter().filter(|(set, _)| **set & (1 << word) != 0);
            with.map(|(_, count)| u64::from(*count)).sum()
        };
        let rarities: Vec<u64> =
            (0..self.count).map(|word| rarity(frequency(word), total)).collect();
        let worth = |set: u64| -> u64 {
            let words = rarities.iter().enumerate();
            words.filter(|(word, _)| set & (1 << word) != 0).map(|(_, rarity)| rarity).sum()
        };
        let best = sets.keys().map(|set| worth(*set)).max().unwrap_or_default();
        let mut ranked: Vec<Match> = matches
            .iter()
            .filter(|finding| finding.less == 0)
            .map(|finding| Match { worth: worth(finding.kind), line: finding.line })
            .filter(|found| found.worth > 0 && found.worth * 100 >= best * MIN)
            .collect();
        sort_by_key(&mut ranked, |found| (u64::MAX - found.worth, found.line));
        ranked
    }
}

/// Returns the rarity of a word that `with` of `total` lines hold, in quarters of a bit: 0 for one that is everywhere.
fn rarity(with: u64, total: u64) -> u64 {
    if with == 0 || with * COMMON > total.max(COMMON * 2) {
        return 0;
    }
    let ratio = u128::from((total / with).clamp(1, 1 << 31));
    u64::from(ratio.pow(4).max(2).ilog2())
}

/// Returns true if no ASCII letter or digit is beside one at an end of the match.
fn is_whole_word(line: &[u8], place: Range<usize>) -> bool {
    let is_letter =
        |at: Option<usize>| at.and_then(|at| line.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let is_joined =
        |inside: Option<usize>, outside: Option<usize>| is_letter(inside) && is_letter(outside);
    !is_joined(Some(place.start), place.start.checked_sub(1))
        && !is_joined(place.end.checked_sub(1), Some(place.end))
}

/// The words to look for: names as they are, with their inner punctuation, and Chinese, Japanese or Korean text in pairs, too.
fn words(question: &str) -> Vec<String> {
    let end = question.floor_char_boundary(MAX_QUESTION_BYTES);
    let question = question.get(..end).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        let word = word.to_ascii_lowercase();
        let is_stop_word = has_word(STOP_WORDS, &word);
        if word.len() > 1 && !is_stop_word && found.len() < MAX_WORDS && !found.contains(&word) {
            found.push(word);
        }
    };
    for run in question.split(|it: char| !is_in_name(it)).flat_map(split_by_script) {
        let name = run.trim_matches(|it: char| it.is_ascii_punctuation() && it != '_');
        add(name);
        if let Some((_, file)) = name.rsplit_once(['/', '\\']) {
            add(file);
        }
        if name.starts_with(is_without_spaces) {
            let mut places = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            let ends: Vec<usize> = places.by_ref().collect();
            for (start, end) in ends.iter().zip(ends.iter().skip(2)) {
                add(name.get(*start..*end).unwrap_or_default());
            }
        }
    }
    found
}

fn is_in_name(it: char) -> bool {
    it.is_alphanumeric() || "_-./\\:@#%+~=$".contains(it)
}

/// Returns true for the scripts that are written without spaces between words.
fn is_without_spaces(it: char) -> bool {
    matches!(it, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits between a script without spaces and the others.
fn split_by_script(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_other = |it: char| is_without_spaces(it) != is_without_spaces(first);
        let (run, after) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_without_what_every_question_has() {
        for (question, expected) in [
            ("Where is the airport ORD?", vec!["airport", "ord"]),
            (
                "What did release 4.17.12 change in src/_safeGet.js?",
                vec!["release", "4.17.12", "change", "src/_safeget.js", "_safeget.js"],
            ),
            (
                "package.json \u{6587}\u{4ef6}\u{5728}\u{54ea}",
                vec![
                    "package.json",
                    "\u{6587}\u{4ef6}\u{5728}\u{54ea}",
                    "\u{6587}\u{4ef6}",
                    "\u{4ef6}\u{5728}",
                    "\u{5728}\u{54ea}",
                ],
            ),
            ("what is it?", vec![]),
            ("... --- ///", vec![]),
        ] {
            assert_eq!(words(question), expected, "{question}");
        }
    }

    #[test]
    fn a_word_counts_only_as_a_whole() {
        let query = Query::new("ord x-sqlite3").unwrap();
        for (line, expected) in [
            ("ORD,Chicago", 1),
            ("Medford,OR", 0),
            ("a record of it", 0),
            ("application/x-sqlite3 ord", 3),
            ("max-sqlite3", 0),
        ] {
            assert_eq!(query.words_in(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn rare_words_are_worth_more_and_common_ones_nothing() {
        let worth = [1, 10, 100, 1000, 20_000].map(|with| rarity(with, 100_000));
        assert!(worth.is_sorted_by(|a, b| a > b), "{worth:?}");
        assert_eq!(rarity(0, 100), 0);
        assert!(rarity(1, 3) > 0);
    }
}
