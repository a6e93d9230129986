//! A table from the hash of a window to the position where it begins, of 5 bytes a slot.
//!
//! Robin Hood hashing: an entry that is farther from its home takes the slot of one that is nearer. The distance is kept beside each
//! entry, so only entries of the same home are compared, and one is removed without a hash of those after it. A map of the standard
//! library takes twice the bytes, and its removed entries make it double where an index is full.

/// The largest distance that is kept. At seven eighths of a full table, none in 10^30 is farther away.
const FARTHEST: u8 = u8::MAX - 1;

#[derive(Default)]
pub(crate) struct WindowTable {
    positions: Box<[u32]>,
    /// 0 for an empty slot, else 1 and the slots between an entry and its home.
    distances: Box<[u8]>,
    entries: usize,
}

impl WindowTable {
    /// A table that takes this number of entries without growing.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        let slots = slots_for(entries);
        WindowTable {
            positions: vec![0; slots].into(),
            distances: vec![0; slots].into(),
            entries: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    pub(crate) fn bytes(&self) -> usize {
        bytes_of(self.positions.len())
    }

    pub(crate) fn has_room(&self, more: usize) -> bool {
        slots_for(self.entries + more) <= self.positions.len()
    }

    /// The bytes that it takes with more entries.
    pub(crate) fn bytes_with(&self, more: usize) -> usize {
        bytes_of(slots_for(self.entries + more).max(self.positions.len()))
    }

    pub(crate) fn find(&self, hash: usize, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        self.slot_of(hash, is_same).map(|slot| self.positions[slot])
    }

    /// Adds a position, or puts it in the place of the same one if `replaces` says so. Returns true if it did. The table must have
    /// room.
    pub(crate) fn insert(
        &mut self,
        hash: usize,
        position: u32,
        is_same: impl Fn(u32) -> bool,
        replaces: impl Fn(u32) -> bool,
    ) -> bool {
        if let Some(slot) = self.slot_of(hash, is_same) {
            let is_replaced = replaces(self.positions[slot]);
            if is_replaced {
                self.positions[slot] = position;
            }
            return is_replaced;
        }
        let mask = self.positions.len() - 1;
        let (mut slot, mut position, mut distance) = (hash & mask, position, 1);
        self.entries += 1;
        while self.distances[slot] != 0 {
            if self.distances[slot] < distance {
                std::mem::swap(&mut self.positions[slot], &mut position);
                std::mem::swap(&mut self.distances[slot], &mut distance);
            }
            if distance == FARTHEST {
                self.entries -= 1;
                return false;
            }
            distance += 1;
            slot = (slot + 1) & mask;
        }
        self.positions[slot] = position;
        self.distances[slot] = distance;
        false
    }

    /// Removes exactly this position, if it has an entry.
    pub(crate) fn remove(&mut self, hash: usize, position: u32) {
        let Some(mut hole) = self.slot_of(hash, |other| other == position) else { return };
        let mask = self.positions.len() - 1;
        loop {
            let next = (hole + 1) & mask;
            if self.distances[next] <= 1 {
                break;
            }
            self.positions[hole] = self.positions[next];
            self.distances[hole] = self.distances[next] - 1;
            hole = next;
        }
        self.distances[hole] = 0;
        self.entries -= 1;
    }

    fn slot_of(&self, hash: usize, is_same: impl Fn(u32) -> bool) -> Option<usize> {
        let mask = self.positions.len().checked_sub(1)?;
        let (mut slot, mut distance) = (hash & mask, 1);
        // Behind an entry that is nearer to its home, or an empty slot, there is none of this home.
        while self.distances[slot] >= distance {
            if self.distances[slot] == distance && is_same(self.positions[slot]) {
                return Some(slot);
            }
            distance = distance.checked_add(1)?;
            slot = (slot + 1) & mask;
        }
        None
    }
}

/// At most seven eighths are taken.
fn slots_for(entries: usize) -> usize {
    (entries * 8 / 7 + 1).next_power_of_two().max(64)
}

fn bytes_of(slots: usize) -> usize {
    slots * (size_of::<u32>() + size_of::<u8>())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u8),
        Remove(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![3 => any::<u8>().prop_map(Step::Insert), 1 => any::<u8>().prop_map(Step::Remove)];
        prop::collection::vec(step, 0..600)
    }

    proptest! {
        /// Values are the positions' lowest byte; those that share a home are many.
        #[test]
        fn finds_what_a_map_finds(steps in steps(), homes in 1usize..64) {
            let hash = |value: u8| usize::from(value) % homes * 977;
            let mut table = WindowTable::with_capacity(256);
            let mut map: HashMap<u8, u32> = HashMap::new();
            for (count, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(value) => {
                        let position = (count as u32) << 8 | u32::from(value);
                        table.insert(hash(value), position, |other| other as u8 == value, |_| true);
                        map.insert(value, position);
                    }
                    Step::Remove(value) => {
                        let position = map.remove(&value).unwrap_or(u32::from(value));
                        table.remove(hash(value), position);
                    }
                }
                prop_assert_eq!(table.len(), map.len());
            }
            for value in 0..=u8::MAX {
                let found = table.find(hash(value), |position| position as u8 == value);
                prop_assert_eq!(found, map.get(&value).copied());
            }
        }
    }

    #[test]
    fn leaves_out_what_is_too_far_from_its_home() {
        let mut table = WindowTable::with_capacity(1000);
        for position in 0..400 {
            table.insert(7, position, |other| other == position, |_| true);
        }
        assert_eq!(table.len(), usize::from(FARTHEST));
        assert_eq!(table.find(7, |position| position == 399), None);
        for position in 0..400 {
            table.remove(7, position);
        }
        assert_eq!(table.len(), 0);
    }
}
