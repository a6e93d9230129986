//! The learned part of the ranking: trees over the features of a line, as a table of integers.
//!
//! `scripts/build/ranking.mjs` makes the table. Nothing here depends on the machine: there is no floating point.

use super::features::Row;

/// The table that is used. See [`Ranking::read`] for its form.
static TABLE: &[u8] = include_bytes!("ranking.bin");

/// Trees that together say how likely a line is to explain a failure.
#[derive(Debug, Clone)]
pub struct Ranking(&'static [u8]);

/// Bytes of a node: feature, threshold (2), and where to go on if the value is below it and if not. A place of
/// [`LEAF`] or more is a leaf.
const NODE: usize = 5;
const LEAF: u8 = 128;

/// Probabilities in thousandths of log-odds from -8 to 8, in steps of a half.
static ODDS: [u16; 33] = [
    0, 1, 1, 1, 2, 4, 7, 11, 18, 29, 47, 76, 119, 182, 269, 378, 500, 622, 731, 818, 881, 924, 953,
    971, 982, 989, 993, 996, 998, 999, 999, 999, 1000,
];

impl Ranking {
    /// The trees that the package comes with.
    pub fn built_in() -> Self {
        Ranking(TABLE)
    }

    /// Trees in another table: the base score (2 bytes), then each tree as its number of nodes, its nodes, and a leaf
    /// more than it has nodes (2 bytes each). Numbers are little-endian; scores are 256ths of log-odds.
    pub fn read(table: &'static [u8]) -> Self {
        Ranking(table)
    }

    /// How likely it is that a line explains a failure, in ten thousandths.
    pub fn probability(&self, row: &Row) -> u32 {
        let score = self.score(row).clamp(-2048, 2047) + 2048;
        let (step, part) = ((score / 128) as usize, (score % 128) as u32);
        let odds = |step: usize| u32::from(ODDS.get(step).copied().unwrap_or_default());
        (odds(step) * (128 - part) + odds(step + 1) * part) * 10 / 128
    }

    /// The log-odds in 256ths.
    pub fn score(&self, row: &Row) -> i32 {
        let number = |at: usize| {
            let low = self.0.get(at).copied().unwrap_or_default();
            u16::from_le_bytes([low, self.0.get(at + 1).copied().unwrap_or_default()])
        };
        let mut score = i32::from(number(0) as i16);
        let mut at = 2;
        while let Some(nodes) = self.0.get(at).copied().map(usize::from) {
            let leaves = at + 1 + nodes * NODE;
            let mut place = 0u8;
            for _ in 0..nodes {
                let node = self.0.get(at + 1 + usize::from(place) * NODE..).unwrap_or_default();
                let [feature, low, high, below, above, ..] = node else { break };
                let value = row.get(usize::from(*feature)).copied().unwrap_or_default();
                place = if value < u16::from_le_bytes([*low, *high]) { *below } else { *above };
                if place >= LEAF {
                    break;
                }
            }
            let leaf = usize::from(place.saturating_sub(LEAF));
            score = score.saturating_add(i32::from(number(leaves + 2 * leaf) as i16));
            at = leaves + 2 * (nodes + 1);
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncation::smart::FEATURES;

    #[test]
    fn the_table_is_whole_and_small() {
        assert!(TABLE.len() <= 64 * 1024);
        let mut at = 2;
        while at < TABLE.len() {
            let nodes = usize::from(TABLE[at]);
            let tree = &TABLE[at + 1..at + 1 + nodes * NODE];
            let mut places = vec![0u32; 2 * nodes + 1];
            for (own, node) in tree.chunks(NODE).enumerate() {
                assert!(usize::from(node[0]) < FEATURES);
                for place in [node[3], node[4]] {
                    let is_leaf = place >= LEAF;
                    let index = usize::from(if is_leaf { place - LEAF } else { place });
                    assert!(if is_leaf { index <= nodes } else { index > own && index < nodes });
                    places[if is_leaf { nodes + index } else { index }] += 1;
                }
            }
            // The root has no parent, every other node and leaf has one.
            assert!(nodes == 0 || places.iter().skip(1).all(|parents| *parents == 1));
            at += 1 + nodes * NODE + 2 * (nodes + 1);
        }
        assert_eq!(at, TABLE.len());
    }

    #[test]
    fn probabilities_grow_with_the_score_and_stay_in_range() {
        let leaf = |score: i16| {
            let table = score.to_le_bytes().to_vec();
            Ranking(table.leak()).probability(&[0; FEATURES])
        };
        let all: Vec<u32> = (-2500..2500).step_by(10).map(leaf).collect();
        assert!(all.is_sorted());
        assert!(all.iter().all(|probability| *probability <= 10_000));
        assert!(leaf(0) == 5000 && leaf(-2500) < 10 && leaf(2500) > 9900);
    }
}
