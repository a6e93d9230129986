//! Reads texts of several lines in JSON: files and outputs that a tool returns. Near a word for a secret their lines are searched
//! like those of other texts.

use std::ops::Range;

use super::escapes::Plain;

/// Number of bytes that are read before and after such a word.
const BEFORE: usize = 1024;
const AFTER: usize = 2048;

/// Finds secrets in the part of a text in JSON around the word at `word`, not before `low`, and returns where the part ends.
pub(super) fn around(
    text: &[u8],
    word: &Range<usize>,
    low: usize,
    found: &mut dyn FnMut(Range<usize>),
) -> usize {
    let from = begin(text, low.max(word.start.saturating_sub(BEFORE)), word.start);
    let to = end(text, word.end);
    let part = text.get(from..to).unwrap_or_default();
    if memchr::memmem::find(part, br"\n").is_some() {
        let plain = Plain::unescaped(part);
        super::search(&plain.text, 0..plain.text.len(), &mut None, &mut |secret| {
            let secret = plain.range(&secret);
            found(from + secret.start..from + secret.end);
        });
    }
    to
}

/// Returns where the part begins that is read before a word: at the quote of its text, or with a line.
fn begin(text: &[u8], low: usize, word: usize) -> usize {
    let before = text.get(low..word).unwrap_or_default();
    let is_open = |at: usize| at == 0 || before.get(at - 1) != Some(&b'\\');
    let mut quotes = memchr::memrchr_iter(b'"', before);
    let quote = quotes.find(|at| is_open(*at)).map(|at| at + 1);
    let line = || memchr::memmem::find(before, br"\n").map(|at| at + 2);
    low + quote.or_else(line).unwrap_or(0)
}

/// Returns where the part ends that is read after a word: at the quote that ends its text.
fn end(text: &[u8], word: usize) -> usize {
    let limit = text.len().min(word + AFTER);
    let mut at = word;
    while let Some(next) = text.get(at..limit).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if text.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    limit
}
