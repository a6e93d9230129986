//! What a text takes of a context.

use crate::text::utf16;

/// The size of a text, exact in bytes and estimated in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Bytes as UTF-8.
    pub bytes: u64,
    /// Tokens, estimated.
    pub tokens: u64,
}

// Counters of 16 bits stay in the lanes of the vector registers; a block this long cannot overflow them.
const BLOCK: usize = 16 * 1024;

/// Four characters of ASCII make a token, and every other character makes one: the common tokenizers take four letters
/// of English together, and six to ten tenths of a token for a Chinese character.
pub fn cost(text: &[u16]) -> Cost {
    let (mut wide, mut halves) = (0usize, 0usize);
    for block in text.chunks(BLOCK) {
        let (mut above_ascii, mut second_halves) = (0u16, 0u16);
        for &unit in block {
            above_ascii = above_ascii.wrapping_add(u16::from(unit >= 0x80));
            // The second half of a pair belongs to the character of the first.
            second_halves = second_halves.wrapping_add(u16::from(unit & 0xfc00 == 0xdc00));
        }
        wide += usize::from(above_ascii);
        halves += usize::from(second_halves);
    }
    let tokens = (text.len() - wide).div_ceil(4) + (wide - halves);
    Cost { bytes: utf16::measure(text).bytes as u64, tokens: tokens as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_exact_and_tokens_follow_the_script() {
        for (text, bytes, tokens) in
            [("", 0, 0), ("abcd", 4, 1), ("abcde", 5, 2), ("你好", 6, 2), ("a😀", 5, 2)]
        {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(cost(&units), Cost { bytes, tokens }, "{text}");
        }
    }
}
