//! Contents to save: ranges of one large block of bytes that every process can generate, so that a short tag in a file
//! name determines the file's content.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use super::Result;

/// Maximum length of a content.
pub(crate) const MAX_LENGTH: u64 = 8 << 20;
const SIZE: usize = 2 * MAX_LENGTH as usize;

/// A generator of reproducible pseudo-random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator for a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// Returns the next number (SplitMix64).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns a length from 1 to a bound, with equal probability for each order of magnitude.
    pub(crate) fn length(&mut self, longest: u64) -> u64 {
        let bits = self.below(u64::from(longest.max(1).ilog2()) + 1);
        (1 + self.below(1 << bits) + (1 << bits) - 1).min(longest)
    }
}

/// Identifies a content and its save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tag {
    /// The process that saves it.
    pub worker: u64,
    /// Number of the save of that process.
    pub number: u64,
    /// Length in bytes.
    pub length: u64,
    /// Offset in the block.
    pub start: u64,
}

impl Tag {
    /// Returns the tag of the next save of a process, with a random length.
    pub(crate) fn random(worker: u64, number: u64, longest: u64, random: &mut Random) -> Self {
        let length = random.length(longest);
        Tag { worker, number, length, start: random.below(MAX_LENGTH) }
    }

    /// Parses a tag at the beginning of a file name.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let tag = name.split(['_', '.']).next()?.strip_prefix('w')?;
        let mut parts = tag.split('-').map(|part| part.parse().ok());
        let mut next = || parts.next().flatten();
        Some(Tag { worker: next()?, number: next()?, length: next()?, start: next()? })
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "w{}-{}-{}-{}", self.worker, self.number, self.length, self.start)
    }
}

/// The block.
#[derive(Debug)]
pub(crate) struct Block(Vec<u8>);

impl Block {
    /// Generates the block and writes it to a file for the other processes.
    pub(crate) fn make(path: &Path) -> Result<Self> {
        let mut random = Random::new(1);
        let bytes: Vec<u8> = (0..SIZE / 8).flat_map(|_| random.next().to_le_bytes()).collect();
        File::create(path)?.write_all(&bytes)?;
        Ok(Block(bytes))
    }

    /// Reads the block from that file.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        Ok(Block(std::fs::read(path)?))
    }

    /// Returns the content for a tag.
    pub(crate) fn of(&self, tag: &Tag) -> &[u8] {
        let start = usize::try_from(tag.start).unwrap_or(SIZE).min(SIZE);
        let length = usize::try_from(tag.length).unwrap_or(0).min(SIZE - start);
        &self.0[start..start + length]
    }

    /// Returns true if a file has exactly that content.
    pub(crate) fn is_in(&self, tag: &Tag, path: &Path) -> bool {
        let expected = self.of(tag);
        let mut found = Vec::with_capacity(expected.len() + 1);
        File::open(path).and_then(|file| file.take(tag.length + 1).read_to_end(&mut found)).is_ok()
            && found == expected
    }
}

/// Reads one content from the file of the block.
pub(crate) fn stretch(path: &Path, tag: &Tag) -> Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; usize::try_from(tag.length)?];
    File::open(path)?.read_exact_at(&mut bytes, tag.start)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_survives_as_the_name_of_a_file() {
        let tag = Tag { worker: 3, number: 7, length: 100, start: 5 };
        assert_eq!(Tag::read(&format!("{tag}_1700000000000_abcdefghijklm.txt")), Some(tag));
        assert_eq!(Tag::read(&format!("{tag}.txt")), Some(tag));
        assert_eq!(Tag::read(".spillway_1_a.tmp"), None);
    }

    #[test]
    fn lengths_are_of_every_order_of_size() {
        let mut random = Random::new(2);
        let lengths: Vec<u64> = (0..10_000).map(|_| random.length(MAX_LENGTH)).collect();
        assert!(lengths.iter().all(|length| (1..=MAX_LENGTH).contains(length)));
        assert!(lengths.contains(&1) && lengths.iter().any(|length| *length > MAX_LENGTH / 2));
    }
}
