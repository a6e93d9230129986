//! The cost of a character after another, for lookup: [`weights`](super::weights) by classes of characters, in thousandths
//! of a token.

use std::sync::LazyLock;

use super::Mode;
use super::weights::{TYPICAL, UPPER, Weights};

/// Number of classes with weights of their own.
pub(super) const CLASSES: usize = 25;

/// Rows have a power of two of entries, so that an index is a shift and needs no bounds check.
const ROW: usize = 32;

const CONTROL: u8 = 0;
const SPACE: u8 = 1;
const FEED: u8 = 2;
const TAB: u8 = 3;
const VOWEL: u8 = 4;
const CONSONANT: u8 = 5;
const RARE: u8 = 6;
const CAPITAL: u8 = 7;
const DIGIT: u8 = 8;
const JOINING: u8 = 9;
const SYMBOL: u8 = 10;
const LATIN: u8 = 11;
const GREEK: u8 = 12;
const CYRILLIC: u8 = 13;
const HEBREW: u8 = 14;
const ARABIC: u8 = 15;
const INDIC: u8 = 16;
const ETHIOPIC: u8 = 17;
const PUNCTUATION: u8 = 18;
const KANA: u8 = 19;
const HAN: u8 = 20;
const HANGUL: u8 = 21;
const FULL_WIDTH: u8 = 22;
const EMOJI: u8 = 23;
const SELDOM: u8 = 24;
/// The class of carriage returns. The sample has too few of them to fit weights: they cost as much as line feeds, apart
/// from [`RUNS`] and [`UPPER_RUNS`].
const RETURN: u8 = CLASSES as u8;
const ALL_CLASSES: usize = CLASSES + 1;

/// Returns the class of a character by the first byte of its UTF-8.
const fn class_of(byte: u8) -> u8 {
    match byte {
        b' ' => SPACE,
        b'\n' => FEED,
        b'\t' => TAB,
        b'\r' => RETURN,
        b'a' | b'e' | b'i' | b'o' | b'u' => VOWEL,
        b'j' | b'k' | b'q' | b'v' | b'w' | b'x' | b'z' => RARE,
        b'b'..=b'd' | b'f'..=b'h' | b'l'..=b'n' | b'p' | b'r'..=b't' | b'y' => CONSONANT,
        b'A'..=b'Z' => CAPITAL,
        b'0'..=b'9' => DIGIT,
        b'.' | b',' | b'_' | b'-' | b'/' => JOINING,
        0..=8 | 11 | 12 | 14..=31 | 127 => CONTROL,
        33..=43 | 58..=64 | 91..=94 | 96 | 123..=126 => SYMBOL,
        // A continuation byte, which is never looked up.
        0x80..=0xbf => CONTROL,
        0xc0..=0xc9 => LATIN,
        0xcd..=0xcf => GREEK,
        0xd0..=0xd4 => CYRILLIC,
        0xd5..=0xd7 => HEBREW,
        0xd8..=0xdb => ARABIC,
        0xca..=0xcc | 0xdc..=0xdf => SELDOM,
        0xe0 => INDIC,
        0xe1 => ETHIOPIC,
        0xe2 => PUNCTUATION,
        0xe3 => KANA,
        0xe4..=0xe9 => HAN,
        0xea..=0xed => HANGUL,
        0xee..=0xef => FULL_WIDTH,
        0xf0..=0xff => EMOJI,
    }
}

const CLASS: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class_of(byte as u8);
        byte += 1;
    }
    classes
};

/// Weights for lookup: by the previous class and the class, and by the class alone for a repeated character.
pub(super) struct Table([u16; 2 * ROW * ROW]);

const REPEATED: usize = ROW * ROW;

/// The minimum cost of a class after another.
type Least = (u8, u8, u16);

/// Characters that do not occur in runs in the sample and that tokenizers encode byte by byte, or nearly so: rare
/// scripts, half-width and full-width forms, private-use symbols, and carriage returns.
const RUNS: &[Least] =
    &[(SELDOM, SELDOM, 2000), (FULL_WIDTH, FULL_WIDTH, 1800), (RETURN, SYMBOL, 1000)];

/// The most expensive of them, runs of tabs, and bytes that were classified as letters.
const UPPER_RUNS: &[Least] = &[
    (SELDOM, SELDOM, 2000),
    (SELDOM, LATIN, 2000),
    (SELDOM, GREEK, 2000),
    (LATIN, LATIN, 2000),
    (LATIN, SELDOM, 2000),
    (GREEK, SELDOM, 2000),
    (FULL_WIDTH, FULL_WIDTH, 3000),
    (RETURN, RETURN, 1000),
    (RETURN, SYMBOL, 1150),
    (RETURN, JOINING, 1150),
    (RETURN, SPACE, 1750),
    (TAB, TAB, 150),
    (TAB, SYMBOL, 1150),
];

/// Builds the table: the maximum of `weights` and `min_weights`.
const fn table(weights: &Weights, min_weights: &Weights, runs: &[Least]) -> Table {
    let mut table = [0; 2 * ROW * ROW];
    let mut before = 0;
    while before < ALL_CLASSES {
        let row = fitted(before);
        let mut class = 0;
        while class < ALL_CLASSES {
            let column = fitted(class);
            let (weight, min_weight) = (weights.pairs[row][column], min_weights.pairs[row][column]);
            table[before * ROW + class] = greater(weight, min_weight);
            class += 1;
        }
        table[REPEATED + before * ROW + before] = greater(weights.same[row], min_weights.same[row]);
        before += 1;
    }
    let mut at = 0;
    while at < runs.len() {
        let (before, class, min_weight) = runs[at];
        let pair = before as usize * ROW + class as usize;
        table[pair] = greater(table[pair], min_weight);
        if before == class {
            table[REPEATED + pair] = greater(table[REPEATED + pair], min_weight);
        }
        at += 1;
    }
    Table(table)
}

/// Returns the class whose weights a class uses.
const fn fitted(class: usize) -> usize {
    if class == RETURN as usize { FEED as usize } else { class }
}

const fn greater(a: u16, b: u16) -> u16 {
    if a > b { a } else { b }
}

static TYPICAL_TABLE: Table = table(&TYPICAL, &TYPICAL, RUNS);
// Fitted independently, a few of the upper weights are less than the typical ones.
static UPPER_TABLE: Table = table(&UPPER, &TYPICAL, UPPER_RUNS);

/// Upper bound for the cost of one UTF-16 code unit.
pub(super) const MAX_WEIGHT: u64 = UPPER_TABLE.max() as u64;

impl Table {
    pub(super) fn of(mode: Mode) -> &'static Table {
        match mode {
            Mode::Typical => &TYPICAL_TABLE,
            Mode::Upper => &UPPER_TABLE,
        }
    }

    /// Returns the cost of a character after another, both given by their first byte. Without a branch, because
    /// repetition is unpredictable.
    #[inline]
    pub(super) fn weight(&self, before: u8, byte: u8) -> u16 {
        let row = usize::from(CLASS[usize::from(before)]) % ROW;
        let class = usize::from(CLASS[usize::from(byte)]) % ROW;
        self.0[usize::from(before == byte) * REPEATED + row * ROW + class]
    }

    const fn max(&self) -> u16 {
        let (mut max, mut at) = (0, 0);
        while at < self.0.len() {
            if self.0[at] > max {
                max = self.0[at];
            }
            at += 1;
        }
        max
    }
}

/// Weights of pairs of ASCII characters as they are in memory, the first in the lower byte.
pub(super) struct AsciiTable([u16; ASCII_PAIRS]);

const ASCII_PAIRS: usize = 1 << 15;

impl AsciiTable {
    /// Returns the table, which is built on first use: it is larger than the code.
    pub(super) fn of(mode: Mode) -> &'static AsciiTable {
        static TYPICAL: LazyLock<Box<AsciiTable>> =
            LazyLock::new(|| AsciiTable::new(Mode::Typical));
        static UPPER: LazyLock<Box<AsciiTable>> = LazyLock::new(|| AsciiTable::new(Mode::Upper));
        match mode {
            Mode::Typical => &TYPICAL,
            Mode::Upper => &UPPER,
        }
    }

    fn new(mode: Mode) -> Box<AsciiTable> {
        let weights = Table::of(mode);
        let mut table = Box::new(AsciiTable([0; ASCII_PAIRS]));
        for (pair, weight) in table.0.iter_mut().enumerate() {
            let [before, byte] = (pair as u16).to_le_bytes();
            if before < 0x80 {
                *weight = weights.weight(before, byte);
            }
        }
        table
    }

    /// Returns the cost of the second character of the pair in the lower half.
    #[inline]
    pub(super) fn weight(&self, pair: u64) -> u32 {
        u32::from(self.0[(pair & 0x7f7f) as usize % ASCII_PAIRS])
    }
}
