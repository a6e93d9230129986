//! The learned part of the ranking: trees over the features of a line, as a table of integers.
//!
//! `scripts/build/ranking.mjs` makes the table. Nothing here depends on the machine: there is no floating point.

use std::sync::{Arc, LazyLock};

use super::features::Row;

/// The table that is used. See [`Ranking::read`] for its form.
static TABLE: &[u8] = include_bytes!("ranking.bin");

static BUILT_IN: LazyLock<Ranking> = LazyLock::new(|| Ranking::read(TABLE));

/// Trees that together say how likely a line is to explain a failure.
#[derive(Debug, Clone)]
pub struct Ranking(Arc<Trees>);

#[derive(Debug, Default)]
struct Trees {
    base: i32,
    /// The first node of each tree.
    roots: Vec<Place>,
    nodes: Vec<Node>,
    leaves: Vec<i16>,
}

/// Where to go on: a node, or a leaf if it is negative, counted from -1 down.
type Place = i32;

#[derive(Debug, Clone, Copy)]
struct Node {
    feature: u8,
    threshold: u16,
    below: Place,
    above: Place,
}

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
        BUILT_IN.clone()
    }

    /// Reads trees from a table: the base score (2 bytes), then each tree as its number of nodes, its nodes, and a leaf
    /// more than it has nodes (2 bytes each). Numbers are little-endian; scores are 256ths of log-odds. Children come
    /// after their parents. A tree that is cut off, or has a child before its parent, is left out with all after it.
    pub fn read(table: &[u8]) -> Self {
        let mut trees = Trees::default();
        if let Some((base, mut rest)) = table.split_first_chunk() {
            trees.base = i16::from_le_bytes(*base).into();
            while let Some(after) = trees.read(rest) {
                rest = after;
            }
        }
        Ranking(Arc::new(trees))
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
        let Trees { base, roots, nodes, leaves } = &*self.0;
        let mut score = *base;
        for root in roots {
            let mut place = *root;
            while let Some(node) = usize::try_from(place).ok().and_then(|at| nodes.get(at)) {
                let value = row.get(usize::from(node.feature)).copied().unwrap_or_default();
                place = if value < node.threshold { node.below } else { node.above };
            }
            let leaf = usize::try_from(-1 - place).ok().and_then(|at| leaves.get(at));
            score = score.saturating_add(leaf.copied().unwrap_or_default().into());
        }
        score
    }
}

impl Trees {
    /// Reads the first tree of a table and returns what follows it.
    fn read<'a>(&mut self, table: &'a [u8]) -> Option<&'a [u8]> {
        let (count, rest) = table.split_first()?;
        let count = usize::from(*count);
        let (nodes, rest) = rest.split_at_checked(count * NODE)?;
        let (leaves, rest) = rest.split_at_checked((count + 1) * 2)?;
        let (first_node, first_leaf) = (self.nodes.len() as Place, self.leaves.len() as Place);
        let mut own = Vec::new();
        for (at, node) in nodes.chunks_exact(NODE).enumerate() {
            let [feature, low, high, below, above] = *node.first_chunk()?;
            // Parents come first, so that no way through a tree is endless.
            let place = |to: u8| match to.checked_sub(LEAF) {
                Some(leaf) => Some(-1 - first_leaf - Place::from(leaf)),
                None if usize::from(to) > at => Some(first_node + Place::from(to)),
                None => None,
            };
            let (below, above) = (place(below)?, place(above)?);
            own.push(Node { feature, threshold: u16::from_le_bytes([low, high]), below, above });
        }
        self.roots.push(if own.is_empty() { -1 - first_leaf } else { first_node });
        self.nodes.extend(own);
        let score = |pair: &[u8]| pair.first_chunk().map(|pair| i16::from_le_bytes(*pair));
        self.leaves.extend(leaves.chunks_exact(2).filter_map(score));
        Some(rest)
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
        let leaf = |score: i16| Ranking::read(&score.to_le_bytes()).probability(&[0; FEATURES]);
        let all: Vec<u32> = (-2500..2500).step_by(10).map(leaf).collect();
        assert!(all.is_sorted());
        assert!(all.iter().all(|probability| *probability <= 10_000));
        assert!(leaf(0) == 5000 && leaf(-2500) < 10 && leaf(2500) > 9900);
    }

    #[test]
    fn a_faulty_table_has_the_trees_before_the_fault() {
        let tree = |low: u8, high: u8| vec![1, 0, 5, 0, low, high, 10, 0, 20, 0];
        let score = |table: &[u8], value: u16| {
            Ranking::read(table).score(&std::array::from_fn(|at| if at == 0 { value } else { 0 }))
        };
        let good: Vec<u8> = [vec![1, 0], tree(128, 129), tree(128, 129)].concat();
        assert_eq!((score(&good, 4), score(&good, 5)), (21, 41));
        let cut = good.get(..good.len() - 1).unwrap();
        assert_eq!((score(cut, 4), score(cut, 5)), (11, 21));
        let circle: Vec<u8> = [vec![1, 0], tree(128, 129), tree(0, 129)].concat();
        assert_eq!((score(&circle, 4), score(&circle, 5)), (11, 21));
        assert_eq!(score(&[], 0), 0);
    }
}
