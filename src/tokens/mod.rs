//! Estimates how many tokens a text has, without a tokenizer.
//!
//! A tokenizer joins the letters of a word and digits by threes, but little of random text and of scripts that it was
//! hardly trained on. The model is a sum over pairs: the cost of a character depends on its class and on the class of
//! the one before it. The sum is as fast as reading, and independent of how a text is split. Two lower-case letters in
//! a row cost little, but a change of case or of a letter to a digit costs much, so that a hash is not taken for prose.
//!
//! A character is classified by the first byte of its UTF-8, which identifies ASCII exactly and scripts approximately.
//!
//! ```
//! use spillway_base::tokens::{Mode, longest_start, of_text};
//!
//! let text = "Read the first failing test, then fix it.";
//! assert!((8..=12).contains(&of_text(text, Mode::Typical)));
//! assert!(of_text(text, Mode::Upper) >= of_text(text, Mode::Typical));
//! assert!(longest_start(text, 3, Mode::Typical) < text.len());
//! ```

mod calibration;
mod pair_weights;
mod weights;

pub use calibration::factor;

use pair_weights::{AsciiTable, MAX_WEIGHT, Table};

use crate::text::utf16;

/// The purpose of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As close as possible, with errors in both directions.
    #[default]
    Typical,
    /// An upper bound that tokenizers hardly ever exceed: for decisions that must not fail.
    Upper,
}

/// The size of a text, exact in bytes and estimated in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Length in bytes as UTF-8.
    pub bytes: u64,
    pub tokens: u64,
}

/// Returns the size of a text.
pub fn cost(text: &[u16]) -> Cost {
    let bytes = utf16::measure(text).bytes as u64;
    Cost { bytes, tokens: of_units(text, Mode::Typical) }
}

/// Weights are in thousandths of a token.
const SCALE: u64 = 1000;

/// A text costs what it costs after a line feed, so that texts joined by one cost their sum.
const START: u8 = b'\n';

/// Adds up the cost of a text that may come in chunks.
#[derive(Debug, Clone, Copy)]
pub struct Meter {
    mode: Mode,
    before: u8,
    sum: u64,
}

/// Number of characters classified at a time: few enough that the sum of their weights fits 32 bits.
const BLOCK: usize = 512;

impl Meter {
    /// Creates a meter at 0 tokens.
    pub fn new(mode: Mode) -> Self {
        Meter { mode, before: START, sum: 0 }
    }

    /// Adds characters by their first bytes, at most [`BLOCK`].
    fn take_firsts(&mut self, firsts: &[u8]) {
        let table = Table::of(self.mode);
        let (Some(&first), Some(&last)) = (firsts.first(), firsts.last()) else { return };
        // Each byte is read twice, so that no step waits for the one before.
        let pairs = firsts.iter().zip(firsts.get(1..).unwrap_or_default());
        let start = u32::from(table.weight(self.before, first));
        let sum = pairs.fold(start, |sum, (&before, &byte)| {
            sum.wrapping_add(u32::from(table.weight(before, byte)))
        });
        self.sum += u64::from(sum);
        self.before = last;
    }

    /// Adds characters that are all ASCII.
    fn take_ascii(&mut self, text: &[u8]) {
        let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return };
        let table = AsciiTable::of(self.mode);
        // The previous character need not be ASCII.
        let mut sum = u32::from(Table::of(self.mode).weight(self.before, first));
        let mut at = 0;
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let pairs = [0, 8, 16, 24, 32, 40, 48].map(|bits| table.weight(eight >> bits));
            sum = pairs.iter().fold(sum, |sum, weight| sum.wrapping_add(*weight));
            at += 7;
        }
        let rest = text.get(at..).unwrap_or_default().windows(2).filter_map(|pair| match pair {
            &[before, byte] => Some(table.weight(u64::from(u16::from_le_bytes([before, byte])))),
            _ => None,
        });
        self.sum += u64::from(rest.fold(sum, u32::wrapping_add));
        self.before = last;
    }

    /// Adds bytes; a character may be split between two chunks.
    pub fn take(&mut self, bytes: &[u8]) {
        bytes.chunks(BLOCK).for_each(|block| self.take_bytes(block));
    }

    /// Adds at most [`BLOCK`] bytes.
    fn take_bytes(&mut self, bytes: &[u8]) {
        if bytes.is_ascii() {
            return self.take_ascii(bytes);
        }
        let (mut firsts, mut count) = ([0; BLOCK], 0);
        for &byte in bytes {
            if let Some(first) = firsts.get_mut(count) {
                *first = byte;
            }
            count += usize::from(!is_inside(byte));
        }
        self.take_firsts(firsts.get(..count).unwrap_or_default());
    }

    /// Returns the number of tokens so far.
    pub fn tokens(&self) -> u64 {
        self.sum.div_ceil(SCALE)
    }
}

/// Returns true for a continuation byte, which costs nothing.
fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the tokens of a text.
pub fn of_text(text: &str, mode: Mode) -> u64 {
    let mut meter = Meter::new(mode);
    meter.take(text.as_bytes());
    meter.tokens()
}

/// Returns the tokens of a Latin-1 text.
pub fn of_latin1(text: &[u8], mode: Mode) -> u64 {
    let mut meter = Meter::new(mode);
    let mut firsts = [0; BLOCK];
    for block in text.chunks(BLOCK) {
        if block.is_ascii() {
            meter.take_ascii(block);
            continue;
        }
        for (first, &byte) in firsts.iter_mut().zip(block) {
            *first = if byte.is_ascii() { byte } else { 0xc0 | (byte >> 6) };
        }
        meter.take_firsts(firsts.get(..block.len()).unwrap_or_default());
    }
    meter.tokens()
}

/// Returns the tokens of a UTF-16 text. A lone surrogate costs as much as the U+FFFD that is shown for it.
pub fn of_units(text: &[u16], mode: Mode) -> u64 {
    let mut meter = Meter::new(mode);
    let mut firsts = [0; BLOCK];
    // True if the previous block ended with a high surrogate.
    let mut is_paired = false;
    for (at, block) in text.chunks(BLOCK).enumerate() {
        if !is_paired && block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            firsts.iter_mut().zip(block).for_each(|(first, &unit)| *first = unit as u8);
            meter.take_ascii(firsts.get(..block.len()).unwrap_or_default());
            continue;
        }
        let following = text.get(at * BLOCK + 1..).unwrap_or_default().iter().copied().chain([0]);
        let mut count = 0;
        for (&unit, next) in block.iter().zip(following) {
            let first = match unit {
                0..0x80 => unit as u8,
                0x80..0x800 => 0xc0 | (unit >> 6) as u8,
                0xd800..0xdc00 if next & 0xfc00 == 0xdc00 => 0xf0,
                0xdc00..0xe000 if is_paired => 0x80,
                0xd800..0xe000 => 0xef,
                _ => 0xe0 | (unit >> 12) as u8,
            };
            is_paired = first == 0xf0;
            if let Some(place) = firsts.get_mut(count) {
                *place = first;
            }
            count += usize::from(!is_inside(first));
        }
        meter.take_firsts(firsts.get(..count).unwrap_or_default());
    }
    meter.tokens()
}

/// Returns the end of the longest prefix with at most `max_tokens` tokens.
pub fn longest_start(text: &str, max_tokens: u64, mode: Mode) -> usize {
    let budget = max_tokens.saturating_mul(SCALE);
    let mut meter = Meter::new(mode);
    // Whole blocks while they fit, then single characters.
    let mut at = 0;
    for block in text.as_bytes().chunks(BLOCK) {
        let mut next = meter;
        next.take_bytes(block);
        if next.sum > budget {
            break;
        }
        (meter, at) = (next, at + block.len());
    }
    let table = Table::of(mode);
    for &byte in text.as_bytes().get(at..).unwrap_or_default() {
        if !is_inside(byte) {
            meter.sum += u64::from(table.weight(meter.before, byte));
            meter.before = byte;
            if meter.sum > budget {
                break;
            }
        }
        at += 1;
    }
    at
}

/// Returns the start of the longest suffix with at most `max_tokens` tokens.
pub fn longest_end(text: &str, max_tokens: u64, mode: Mode) -> usize {
    let budget = max_tokens.saturating_mul(SCALE);
    let table = Table::of(mode);
    let mut start = text.len();
    // The cost after the current character, without the first one, whose cost depends on its predecessor.
    let (mut rest, mut first) = (0, None);
    for (at, &byte) in text.as_bytes().iter().enumerate().rev() {
        if is_inside(byte) {
            continue;
        }
        rest += first.map_or(0, |first| u64::from(table.weight(byte, first)));
        first = Some(byte);
        if rest > budget {
            break;
        }
        if rest + u64::from(table.weight(START, byte)) <= budget {
            start = at;
        }
    }
    start
}

/// Returns a length in UTF-16 code units whose texts are guaranteed to have at most `max_tokens` tokens.
pub fn units_within(max_tokens: u64) -> u64 {
    max_tokens.saturating_mul(SCALE) / MAX_WEIGHT
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn kinds_of_text_differ() {
        // Texts and their counts by o200k_base.
        for (text, tokens) in [
            ("", 0),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("function add(a, b) {\n  return a + b\n}\n", 15),
            ("0123456789012345678901234567890123456789", 14),
            ("d41d8cd98f00b204e9800998ecf8427e", 20),
            ("人工智能正在改变世界", 6),
            ("Быстрая коричневая лиса", 8),
        ] {
            let [typical, upper] = [Mode::Typical, Mode::Upper].map(|mode| of_text(text, mode));
            assert!(typical.abs_diff(tokens) * 10 <= tokens * 7, "{text}: {typical} of {tokens}");
            assert!(upper >= tokens && upper >= typical, "{text}: {upper} of {tokens}");
        }
    }

    #[test]
    fn half_a_pair_costs_as_much_as_its_mark() {
        for halves in [
            &[0xd800u16][..],
            &[0xdc00],
            &[0xdc00, 0xd800],
            &[0x61, 0xd83d, 0x62],
            &[0xd83d, 0xd83d, 0xde00],
        ] {
            let shown = String::from_utf16_lossy(halves);
            assert_eq!(of_units(halves, Mode::Upper), of_text(&shown, Mode::Upper), "{halves:x?}");
        }
    }

    proptest! {
        #[test]
        fn the_encoding_does_not_matter(text in ".{0,200}", latin in "[\u{20}-\u{ff}\n]{0,80}") {
            for mode in [Mode::Typical, Mode::Upper] {
                prop_assert_eq!(of_text(&text, mode), of_units(&units(&text), mode));
                let bytes: Vec<u8> = latin.chars().map(|char| char as u8).collect();
                prop_assert_eq!(of_text(&latin, mode), of_latin1(&bytes, mode));
            }
            let [typical, upper] = [Mode::Typical, Mode::Upper].map(|mode| of_text(&text, mode));
            prop_assert!(upper >= typical, "{} {}", typical, upper);
        }

        #[test]
        fn joined_by_a_line_feed_they_cost_at_most_their_sum_and_it(a in "(?s).{0,50}", b in "(?s).{0,50}") {
            let mode = Mode::Upper;
            let joined = of_text(&format!("{a}\n{b}"), mode);
            let apart = of_text(&format!("{a}\n"), mode) + of_text(&b, mode);
            prop_assert!(joined <= apart);
        }

        #[test]
        fn ends_are_the_longest_within_the_budget(text in "(?s)[a-zA-Z0-9 \n=.你é😀]{0,80}", max_tokens in 0u64..40) {
            let mode = Mode::Upper;
            let borders: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let fits = |part: &str| of_text(part, mode) <= max_tokens;
            let start = borders.iter().rev().find(|at| fits(&text[..**at]));
            prop_assert_eq!(Some(&longest_start(&text, max_tokens, mode)), start);
            let end = borders.iter().find(|at| fits(&text[**at..]));
            prop_assert_eq!(Some(&longest_end(&text, max_tokens, mode)), end);
        }

        #[test]
        fn what_is_sure_is_sure(text in "(?s).{0,200}") {
            let length = units(&text).len() as u64;
            let tokens = of_text(&text, Mode::Upper);
            prop_assert!(tokens == 0 || units_within(tokens - 1) < length);
        }
    }

    #[test]
    fn a_long_text_is_cut_where_a_short_one_is() {
        let text = "some words 123 and 你好\n".repeat(2000);
        for max_tokens in [0, 1, 2000, 1 << 40] {
            let end = longest_start(&text, max_tokens, Mode::Upper);
            assert!(of_text(&text[..end], Mode::Upper) <= max_tokens);
            let more = text.ceil_char_boundary(text.len().min(end + 1));
            assert!(end == text.len() || of_text(&text[..more], Mode::Upper) > max_tokens);
        }
    }
}
