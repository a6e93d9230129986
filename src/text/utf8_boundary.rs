//! Cuts in raw bytes at boundaries of displayed characters: a character, the three bytes of a lone surrogate, or the
//! run of malformed bytes that becomes one U+FFFD. Pieces that are cut here and decoded one by one give the same text
//! as the whole.

use super::utf16::is_surrogate;

/// Length of the longest character in bytes.
pub const MAX_LENGTH: usize = 4;

/// Returns the number of bytes from `at` on, 0 to 3, that belong to a character which begins before it. Reads three
/// bytes on either side.
pub fn overhang(bytes: &[u8], at: usize) -> usize {
    for back in 1..MAX_LENGTH {
        let Some(start) = at.checked_sub(back) else { return 0 };
        let Some(rest) = bytes.get(start..) else { return 0 };
        // Every byte except a continuation byte begins a character.
        if !matches!(rest.first(), Some(0x80..=0xbf)) {
            return unit(rest).saturating_sub(back);
        }
    }
    0
}

/// Returns the first boundary at or after `at`.
pub fn ceil(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() { bytes.len() } else { at + overhang(bytes, at) }
}

/// Returns the last boundary at or before `at`.
pub fn floor(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    if overhang(bytes, at) == 0 {
        return at;
    }
    let before = (1..MAX_LENGTH).map(|back| at.saturating_sub(back));
    before.into_iter().find(|&start| !matches!(bytes.get(start), Some(0x80..=0xbf))).unwrap_or(at)
}

/// Returns the length of the first character.
pub(super) fn unit(bytes: &[u8]) -> usize {
    if is_surrogate(bytes) {
        return 3;
    }
    let head = bytes.get(..MAX_LENGTH).unwrap_or(bytes);
    let Some(chunk) = head.utf8_chunks().next() else { return 0 };
    match chunk.valid().chars().next() {
        Some(character) => character.len_utf8(),
        None => chunk.invalid().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lossy::{Shown, Source};
    use proptest::prelude::*;

    fn decode(bytes: &[u8]) -> String {
        Shown::decode(bytes, Source::Text).text.into_owned()
    }

    #[test]
    fn a_character_is_never_torn() {
        let text = "a😀é";
        let cuts: Vec<(usize, usize)> = (0..=text.len())
            .map(|at| (floor(text.as_bytes(), at), ceil(text.as_bytes(), at)))
            .collect();
        let whole = (1, 5);
        assert_eq!(cuts, [(0, 0), (1, 1), whole, whole, whole, (5, 5), (5, 7), (7, 7)]);
    }

    proptest! {
        #[test]
        fn pieces_give_the_text_of_the_whole(
            bytes in prop::collection::vec(prop_oneof![
                Just(0xf0u8), Just(0x9f), Just(0x98), Just(0x80), Just(0xed), Just(0xa0), Just(0xe4), Just(0x61), any::<u8>()
            ], 0..40),
            at in 0usize..40,
        ) {
            for cut in [floor(&bytes, at), ceil(&bytes, at)] {
                let (before, after) = bytes.split_at(cut);
                prop_assert_eq!(decode(before) + &decode(after), decode(&bytes));
            }
        }
    }
}
