//! Hashes of lines, by which equal lines are found, and lines that differ only in their numbers.

use std::hash::{BuildHasher, RandomState};

/// Bits at the end of a hash that are the same for lines which differ only in their numbers.
const FORM_BITS: u32 = 16;

/// Returns the hash of a line. Its last bits are those of its [`form`].
///
/// ```
/// use spillway_base::text::line_hash::{form, line_hash};
///
/// let hasher = std::hash::RandomState::new();
/// let [one, other] = ["took 12 ms", "took 7 ms"].map(|line| line_hash(line.as_bytes(), &hasher));
/// assert_ne!(one, other);
/// assert_eq!(form(one), form(other));
/// ```
pub fn line_hash(line: &[u8], hasher: &RandomState) -> u64 {
    let hash = hasher.hash_one(line);
    match hash_without_numbers(line) {
        Some(form) => hash >> FORM_BITS << FORM_BITS | form >> (64 - FORM_BITS),
        None => hash,
    }
}

/// Returns the part of a hash that is the same for lines which differ only in their numbers.
pub fn form(hash: u64) -> u16 {
    hash as u16
}

/// Returns a hash of what is around the numbers of a line; nothing if it has no number.
fn hash_without_numbers(line: &[u8]) -> Option<u64> {
    let length_of = |bytes: &[u8], is_number: bool| {
        bytes.iter().position(|byte| byte.is_ascii_digit() != is_number).unwrap_or(bytes.len())
    };
    let mut hash = 0;
    let mut rest = line;
    loop {
        let (text, after) = rest.split_at(length_of(rest, false));
        if after.is_empty() && rest.len() == line.len() {
            return None;
        }
        for bytes in text.chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hash = mixed(hash, u64::from_le_bytes(word));
        }
        if after.is_empty() {
            return Some(hash);
        }
        rest = &after[length_of(after, true)..];
        hash = mixed(hash, 1);
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}
