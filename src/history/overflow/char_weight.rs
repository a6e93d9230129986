//! The length of a text in characters, weighted by script.
//!
//! Four characters make a token only in alphabetic scripts. A character of a dense script is about a token by itself,
//! so it counts four times; any other counts as its UTF-16 code units.

use crate::text::utf16;
use crate::util::hash::fnv1a;

/// How characters are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// As UTF-16 code units.
    Units,
    /// As UTF-16 code units, and as four for a character of a dense script.
    Script,
}

const DENSE: u64 = 4;

impl Weight {
    /// Returns the weight of a profile.
    pub fn of(weighted: bool) -> Self {
        if weighted { Weight::Script } else { Weight::Units }
    }

    /// Returns the length of a text.
    pub fn measure(self, text: &[u16]) -> u64 {
        let units = text.len() as u64;
        match self {
            Weight::Units => units,
            Weight::Script => units + extra(text),
        }
    }

    /// Returns the longest prefix with a length of at most `max`, in units. It ends between two characters.
    pub fn fit(self, text: &[u16], max: u64) -> usize {
        self.walk(max, |at| utf16::scalar_at(text, at))
    }

    /// Returns the longest suffix with a length of at most `max`, in units. It starts between two characters.
    pub fn fit_end(self, text: &[u16], max: u64) -> usize {
        self.walk(max, |kept| utf16::scalar_before(text, text.len() - kept))
    }

    fn walk(self, max: u64, next: impl Fn(usize) -> Option<(u32, usize)>) -> usize {
        let (mut at, mut left) = (0, max);
        while let Some((scalar, units)) = next(at) {
            let weight =
                if self == Weight::Script && is_dense(scalar) { DENSE } else { units as u64 };
            let Some(rest) = left.checked_sub(weight) else { break };
            left = rest;
            at += units;
        }
        at
    }
}

/// Returns the length of dense characters in excess of their units.
fn extra(text: &[u16]) -> u64 {
    // Most texts have none; examining single units is cheap, and only ideographs beyond 16 bits need pairs.
    let mut extra = 0u64;
    let mut at = 0;
    while let Some(&unit) = text.get(at) {
        if unit < 0x1100 {
            at += 1;
            continue;
        }
        let Some((scalar, units)) = utf16::scalar_at(text, at) else { break };
        if is_dense(scalar) {
            extra += DENSE - units as u64;
        }
        at += units;
    }
    extra
}

/// Chinese, Japanese and Korean characters and their punctuation.
fn is_dense(scalar: u32) -> bool {
    matches!(
        scalar,
        0x1100..=0x11ff | 0x2e80..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff
            | 0xfe30..=0xfe4f | 0xff00..=0xffef | 0x20000..=0x3ffff
    )
}

/// Returns a short hash of a text: the same for the same units in every process.
pub fn fingerprint(text: &[u16]) -> u64 {
    // A collision gains an attacker nothing but a stale preview of their own text.
    fnv1a(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn dense_scripts_count_four_times() {
        for (text, weight) in [("hello", 5), ("你好", 8), ("ab你好", 10), ("A😀", 3), ("𠀀", 4)]
        {
            assert_eq!(Weight::Script.measure(&units(text)), weight, "{text}");
        }
        assert_eq!(Weight::Units.measure(&units("你好")), 2);
    }

    #[test]
    fn cuts_are_between_characters() {
        let text = units("A😀你好B");
        assert_eq!(Weight::Script.fit(&text, 7), units("A😀你").len());
        assert_eq!(Weight::Script.fit(&units("😀"), 1), 0);
        assert_eq!(Weight::Units.fit(&units("aaa😀z"), 4), 3);
        assert_eq!(Weight::Script.fit_end(&text, 6), units("好B").len());
        assert_eq!(Weight::Units.fit_end(&units("a😀"), 1), 0);
    }

    proptest! {
        #[test]
        fn a_fit_fits_and_one_more_would_not(text in prop::collection::vec(any::<u16>(), 0..40), max in 0u64..60, script: bool) {
            let weight = Weight::of(script);
            let at = weight.fit(&text, max);
            prop_assert!(weight.measure(&text[..at]) <= max);
            if let Some((_, more)) = utf16::scalar_at(&text, at) {
                prop_assert!(weight.measure(&text[..at + more]) > max);
            }
            let end = text.len() - weight.fit_end(&text, max);
            prop_assert!(weight.measure(&text[end..]) <= max);
        }
    }
}
