//! Texts of several lines in JSON: files and outputs that a tool returns. What belongs to a line or to a column is found in them as
//! in other texts.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::escapes::Plain;

/// Words near which lines are read. Most texts have none.
const WORDS: [&str; 9] = [
    "password",
    "passwd",
    "requirepass",
    "masterauth",
    "_auth",
    ":543",
    "*:*:",
    "kind: secret",
    "secrets:",
];

/// Number of bytes that are read before and after such a word, up to the ends of their lines.
const BEFORE: usize = 1024;
const AFTER: usize = 2048;

/// Maximum number of texts in one another that are read.
const MAX_DEPTH: usize = 2;

static HINTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(WORDS)
        .unwrap_or_else(|_| unreachable!("the words make an automaton"))
});

/// Passes on what is found in each text that begins in `text`.
pub(super) fn search(text: &[u8], depth: usize, found: &mut dyn FnMut(Range<usize>)) {
    let mut done = 0;
    while let Some(at) = memchr::memmem::find(&text[done..], br"\n").map(|at| done + at) {
        let begin = memchr::memrchr(b'"', &text[done..at]).map_or(done, |quote| done + quote + 1);
        let end = end(text, begin);
        if let Some(content) = text.get(begin..end)
            && HINTS.is_match(content)
        {
            let plain = Plain::unescaped(content);
            let mut each = |secret: Range<usize>| {
                let secret = plain.range(&secret);
                found(begin + secret.start..begin + secret.end);
            };
            for part in parts(&plain.text) {
                let lines = plain.text.get(part.clone()).unwrap_or_default();
                super::search_text(lines, 0..lines.len(), &mut None, &mut |secret| {
                    each(part.start + secret.start..part.start + secret.end);
                });
            }
            if depth < MAX_DEPTH {
                search(&plain.text, depth + 1, &mut each);
            }
        }
        done = end.max(at + 2);
        if done >= text.len() {
            return;
        }
    }
}

/// Returns the lines around the words of a text.
fn parts(text: &[u8]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for word in HINTS.find_iter(text) {
        let before = text.get(..word.start().saturating_sub(BEFORE)).unwrap_or_default();
        let from = memchr::memrchr(b'\n', before).map_or(0, |line| line + 1);
        let to = text.len().min(word.end() + AFTER);
        let rest = text.get(to..).unwrap_or_default();
        let to = to + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        match parts.last_mut().filter(|last| from <= last.end) {
            Some(last) => last.end = to,
            None => parts.push(from..to),
        }
    }
    parts
}

/// Returns where the quote is that ends a text.
fn end(text: &[u8], begin: usize) -> usize {
    let mut at = begin;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if text.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    text.len()
}
