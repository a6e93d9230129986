//! Chooses the words of a result that stay in its placeholder, as an index of the result.
//!
//! An old result is seldom needed again, but a name out of it often is. A word is kept if it is specific (a path, an
//! identifier, a number), is nowhere else in view, and is worth its length: by the share of such words that agents
//! used later in recorded sessions.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use spillway_base::text::specific_words::{is_camel, specific_words};

use crate::tools;

/// Limits of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum length in bytes.
    max_bytes: usize,
    /// Chance of later use, for each byte, at which a word is kept.
    min_worth: f64,
}

impl Limits {
    /// A few names.
    pub const SHORT: Limits = Limits { max_bytes: 2000, min_worth: 0.003 };
    /// Most of what agents used again.
    pub const LONG: Limits = Limits { max_bytes: 6000, min_worth: 0.0012 };
}

/// A result with more different words is a listing, of which hardly any word is used again.
const LISTING: usize = 512;
const LISTING_WEIGHT: f64 = 0.1;

/// Weight of a word by its number of occurrences in the result.
const REPEATED: [f64; 6] = [0.78, 1.24, 1.6, 1.7, 1.8, 2.4];

/// Weights of a word that no earlier result had, and of one that an earlier result had.
const NEW: f64 = 0.7;
const KNOWN: f64 = 1.5;

/// Shape of a word, with the chance that an agent uses a word of this shape after the result is old.
fn chance(word: &[u8]) -> f64 {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    if has(|byte| *byte == b'/') {
        0.052
    } else if word.iter().all(|byte| byte.is_ascii_digit() || b".:-".contains(byte)) {
        0.069
    } else if has_extension(word) {
        0.109
    } else if has(|byte| *byte == b'_') {
        0.098
    } else if is_camel(word) {
        0.161
    } else if has(|byte| *byte == b'.') {
        0.184
    } else if has(|byte| *byte == b':') {
        0.052
    } else {
        0.029
    }
}

/// Returns true for `name.ts` and `name.ts:12`.
fn has_extension(word: &[u8]) -> bool {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = word.get(..word.len() - digits).unwrap_or_default();
    let name = match rest.strip_suffix(b":") {
        Some(name) if digits > 0 => name,
        _ => word,
    };
    let letters = name.iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
    (1..=4).contains(&letters) && name.iter().rev().nth(letters) == Some(&b'.')
}

/// Facts about a word of the history.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// It is in a text that stays.
    said: bool,
    /// It is in an index.
    listed: bool,
    /// Number of results that have it.
    results: u32,
    /// The newest of them.
    newest: u32,
}

impl Seen {
    fn stays(self) -> bool {
        self.said || self.listed
    }
}

/// A change of [`Seen`], to be undone when the history is read again.
#[derive(Debug, Clone, Copy)]
enum Change {
    Said(u64),
    Listed(u64),
    /// A result has it; the newest one before.
    Result(u64, u32),
    /// A result with this text; the newest one before.
    Text(u64, Option<usize>),
}

/// The words of one history.
#[derive(Debug)]
pub struct WordIndex {
    limits: Limits,
    seen: HashMap<u64, Seen>,
    /// The newest result with each text.
    texts: HashMap<u64, usize>,
    changes: Vec<Change>,
    /// Number of changes and of results before each message.
    messages: Vec<(usize, u32)>,
    /// Number of results so far.
    results: u32,
    hasher: RandomState,
}

/// The facts that an index finds about a result.
#[derive(Debug)]
pub struct IndexedResult {
    /// The words that stay of it, separated by spaces.
    pub words: String,
    /// The number of results since the last one with the same text.
    pub last_seen: Option<u32>,
}

/// A word of a result.
struct Candidate<'a> {
    word: &'a str,
    hash: u64,
    times: usize,
}

impl WordIndex {
    /// Creates an index of a history without messages.
    pub fn new(limits: Limits) -> Self {
        let (seen, texts, changes, messages, results, hasher) = Default::default();
        WordIndex { limits, seen, texts, changes, messages, results, hasher }
    }

    /// Forgets all messages from `shared` on.
    pub fn keep(&mut self, shared: usize) {
        let Some(&(changes, results)) = self.messages.get(shared) else { return };
        // The newest first: each change holds what was there before it.
        for change in self.changes.drain(changes..).rev() {
            match change {
                Change::Said(hash) => self.seen.entry(hash).or_default().said = false,
                Change::Listed(hash) => self.seen.entry(hash).or_default().listed = false,
                Change::Result(hash, newest) => {
                    let seen = self.seen.entry(hash).or_default();
                    (seen.results, seen.newest) = (seen.results - 1, newest);
                }
                Change::Text(hash, Some(newest)) => _ = self.texts.insert(hash, newest),
                Change::Text(hash, None) => _ = self.texts.remove(&hash),
            }
        }
        self.results = results;
        self.messages.truncate(shared);
    }

    /// Begins the next message.
    pub fn message(&mut self) {
        self.messages.push((self.changes.len(), self.results));
    }

    /// Number of messages so far.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// Number of results so far.
    pub fn results(&self) -> u32 {
        self.results
    }

    /// Reads a text that stays in the history, in any encoding that continues ASCII. Returns the results, by their numbers, that have a word of it that was
    /// not said before: of each word the newest one.
    pub fn say(&mut self, text: &[u8], escaped: bool) -> Vec<u32> {
        let mut used = Vec::new();
        specific_words(text, escaped, &mut |word| {
            let hash = self.hash(word.as_bytes());
            let seen = self.seen.entry(hash).or_default();
            if seen.said {
                return;
            }
            seen.said = true;
            if seen.results > 0 && !used.contains(&seen.newest) {
                used.push(seen.newest);
            }
            self.changes.push(Change::Said(hash));
        });
        used
    }

    /// Reads the text of a result.
    pub fn index(&mut self, text: &[u8]) -> IndexedResult {
        let last_seen = self.remember(text);
        IndexedResult { words: self.index_words(text), last_seen }
    }

    /// Remembers the text of the next result. Returns how many results ago it was one.
    fn remember(&mut self, text: &[u8]) -> Option<u32> {
        let hash = self.hash(text);
        let before = self.texts.insert(hash, self.results as usize);
        self.changes.push(Change::Text(hash, before));
        before.map(|before| self.results - before as u32)
    }

    /// Returns the words that stay of a result, separated by spaces.
    fn index_words(&mut self, text: &[u8]) -> String {
        let candidates = self.candidates(text);
        let is_listing = candidates.len() > LISTING;
        let mut chosen: Vec<(f64, usize)> = Vec::new();
        for (place, candidate) in candidates.iter().enumerate() {
            let seen = self.seen.get(&candidate.hash).copied().unwrap_or_default();
            let worth = worth(candidate, seen, is_listing);
            if seen.stays() || worth < self.limits.min_worth {
                continue;
            }
            // Notices of ours name these tools, which the model knows.
            if !tools::reads_saved_outputs(candidate.word) {
                chosen.push((worth, place));
            }
        }
        chosen.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut room = self.limits.max_bytes.min(text.len());
        chosen.retain(|&(_, place)| {
            let length = candidates.get(place).map_or(0, |candidate| candidate.word.len() + 1);
            let fits = length <= room;
            room -= if fits { length } else { 0 };
            fits
        });
        chosen.sort_by_key(|&(_, place)| place);
        for candidate in &candidates {
            let seen = self.seen.entry(candidate.hash).or_default();
            self.changes.push(Change::Result(candidate.hash, seen.newest));
            (seen.results, seen.newest) = (seen.results + 1, self.results);
        }
        self.results += 1;
        let kept: Vec<&Candidate<'_>> =
            chosen.iter().filter_map(|&(_, place)| candidates.get(place)).collect();
        for candidate in &kept {
            let seen = self.seen.entry(candidate.hash).or_default();
            if !seen.listed {
                seen.listed = true;
                self.changes.push(Change::Listed(candidate.hash));
            }
        }
        kept.iter().map(|candidate| candidate.word).collect::<Vec<_>>().join(" ")
    }

    /// Returns the different words of a text in the order of their first occurrence.
    fn candidates<'a>(&self, text: &'a [u8]) -> Vec<Candidate<'a>> {
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut candidates: Vec<Candidate<'a>> = Vec::new();
        specific_words(text, false, &mut |word| {
            let hash = self.hash(word.as_bytes());
            let place = *places.entry(hash).or_insert(candidates.len());
            match candidates.get_mut(place) {
                Some(known) => known.times += 1,
                None => candidates.push(Candidate { word, hash, times: 1 }),
            }
        });
        candidates
    }

    fn hash(&self, text: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text);
        hasher.finish()
    }
}

/// Returns the chance that a word is used later, for each of its bytes and a space.
fn worth(candidate: &Candidate<'_>, seen: Seen, is_listing: bool) -> f64 {
    let repeated = REPEATED.get(candidate.times - 1).or(REPEATED.last()).copied().unwrap_or(1.0);
    let known = if seen.results > 0 { KNOWN } else { NEW };
    let listing = if is_listing { LISTING_WEIGHT } else { 1.0 };
    chance(candidate.word.as_bytes()) * repeated * known * listing
        / (candidate.word.len() + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_stand_elsewhere_are_left_out_of_an_index() {
        let mut index = WordIndex::new(Limits::SHORT);
        index.message();
        index.say(b"Look at parseConfig", false);
        index.message();
        let mut words = |text: &[u8]| index.index(text).words;
        assert_eq!(words(b"parseConfig calls readSettings, readSettings"), "readSettings");
        assert_eq!(words(b"readSettings and writeSettings and writeSettings"), "writeSettings");
        index.keep(1);
        index.message();
        let again = index.index(b"parseConfig, readSettings, readSettings");
        assert_eq!(again.words, "readSettings");
        index.keep(0);
        assert_eq!(index.index(b"parseConfig, parseConfig").words, "parseConfig");
    }

    #[test]
    fn a_text_is_known_again_until_its_message_is_forgotten() {
        let mut index = WordIndex::new(Limits::SHORT);
        let add = |index: &mut WordIndex, text: &[u8]| {
            index.message();
            index.index(text).last_seen
        };
        let all = [&b"a"[..], b"b", b"a", b"a"].map(|text| add(&mut index, text));
        assert_eq!(all, [None, None, Some(2), Some(1)]);
        index.keep(2);
        assert_eq!(add(&mut index, b"a"), Some(2));
        index.keep(0);
        assert_eq!(add(&mut index, b"a"), None);
    }

    #[test]
    fn an_index_has_no_tools_that_a_notice_names() {
        let mut index = WordIndex::new(Limits::LONG);
        index.message();
        let text =
            b"openStore. Use mcp__x__search_output to search and read_output to read, read_output";
        assert_eq!(index.index(text).words, "openStore");
    }

    #[test]
    fn an_index_is_bounded_and_a_listing_has_hardly_any() {
        let mut index = WordIndex::new(Limits::SHORT);
        let many: String = (0..400).map(|at| format!("someName{at:03} ").repeat(2)).collect();
        let chosen = index.index(many.as_bytes()).words;
        assert!((1000..=2000).contains(&chosen.len()), "{}", chosen.len());
        let listing: String = (0..600).map(|at| format!("src/listed/file{at}.ts\n")).collect();
        assert_eq!(index.index(listing.as_bytes()).words, "");
    }

    proptest! {
        #[test]
        fn an_index_has_only_words_of_the_text_and_no_more_bytes(texts in prop::collection::vec("[a-zA-Z_./: \\\\é]{0,200}", 1..8)) {
            let mut index = WordIndex::new(Limits::SHORT);
            for text in &texts {
                index.message();
                let chosen = index.index(text.as_bytes()).words;
                prop_assert!(chosen.len() <= text.len());
                let mut all = Vec::new();
                specific_words(text.as_bytes(), false, &mut |word| all.push(word));
                prop_assert!(chosen.split(' ').filter(|word| !word.is_empty()).all(|word| all.contains(&word)));
            }
            let before = index.changes.len();
            index.message();
            index.index(texts.join(" ").as_bytes());
            index.keep(texts.len());
            prop_assert_eq!(index.changes.len(), before);
        }
    }
}
