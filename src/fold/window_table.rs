//! A table from the hash of a window to the position where it begins, of 5 bytes a slot.
//!
//! Robin Hood hashing: an entry that is farther from its home takes the slot of one that is nearer. The distance is kept beside each
//! entry with two bits of its hash, so only entries of the same home and the same bits are compared, and one is removed without a
//! hash of those after it. A map of the standard library takes twice the bytes, and its removed entries make it double where an
//! index is full.

/// Bits of a hash. The lowest name the slot of an entry, the highest [`TAG_BITS`] are kept beside it.
pub(crate) const HASH_BITS: u32 = 40;

/// A byte of each slot: 0 if it is empty, else 1 and the slots between the entry and its home, above [`TAG_BITS`] of the hash.
type Control = u8;

/// Each bit halves how often an entry is compared with another window, which means a read of memory that is not in a cache.
const TAG_BITS: u32 = 2;
const ONE_SLOT: Control = 1 << TAG_BITS;

/// The largest distance that is kept. With half a million entries in seven eighths of the slots, the farthest is 34 to 43 away.
const FARTHEST: Control = Control::MAX >> TAG_BITS;

#[derive(Default)]
pub(crate) struct WindowTable {
    positions: Box<[u32]>,
    controls: Box<[Control]>,
    entries: usize,
}

impl WindowTable {
    /// A table that takes this number of entries without growing.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        let slots = slots_for(entries);
        WindowTable {
            positions: vec![0; slots].into(),
            controls: vec![0; slots].into(),
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

    /// Reads the slots of hashes that are looked up next: the processor waits for many of them at a time. The slots of a full index are
    /// in no cache.
    pub(crate) fn read_ahead(&self, hashes: impl Iterator<Item = u64>) {
        let Some(mask) = self.positions.len().checked_sub(1) else { return };
        let slots = hashes.map(|hash| hash as usize & mask);
        let read = |slot: usize| self.positions[slot] ^ u32::from(self.controls[slot]);
        std::hint::black_box(slots.fold(0, |all, slot| all ^ read(slot)));
    }

    pub(crate) fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        self.slot_of(hash, is_same).map(|slot| self.positions[slot])
    }

    /// Adds a position, or puts it in the place of the same one if `replaces` says so. Returns true if it did. The table must have
    /// room.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
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
        let (mut slot, mut position, mut control) =
            (hash as usize & mask, position, control_at_home(hash));
        self.entries += 1;
        while self.controls[slot] != 0 {
            if distance(self.controls[slot]) < distance(control) {
                std::mem::swap(&mut self.positions[slot], &mut position);
                std::mem::swap(&mut self.controls[slot], &mut control);
            }
            if distance(control) == FARTHEST {
                self.entries -= 1;
                return false;
            }
            control += ONE_SLOT;
            slot = (slot + 1) & mask;
        }
        self.positions[slot] = position;
        self.controls[slot] = control;
        false
    }

    /// Removes exactly this position, if it has an entry.
    pub(crate) fn remove(&mut self, hash: u64, position: u32) {
        let Some(mut hole) = self.slot_of(hash, |other| other == position) else { return };
        let mask = self.positions.len() - 1;
        loop {
            let next = (hole + 1) & mask;
            if distance(self.controls[next]) <= 1 {
                break;
            }
            self.positions[hole] = self.positions[next];
            self.controls[hole] = self.controls[next] - ONE_SLOT;
            hole = next;
        }
        self.controls[hole] = 0;
        self.entries -= 1;
    }

    fn slot_of(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<usize> {
        let mask = self.positions.len().checked_sub(1)?;
        let (mut slot, mut control) = (hash as usize & mask, control_at_home(hash));
        // Behind an entry that is nearer to its home, or an empty slot, there is none of this home.
        while distance(self.controls[slot]) >= distance(control) {
            if self.controls[slot] == control && is_same(self.positions[slot]) {
                return Some(slot);
            }
            control = control.checked_add(ONE_SLOT)?;
            slot = (slot + 1) & mask;
        }
        None
    }
}

/// Returns what an entry has in the slot that its hash names.
fn control_at_home(hash: u64) -> Control {
    ONE_SLOT | (hash >> (HASH_BITS - TAG_BITS)) as Control
}

/// 1 in the slot that the hash names, 0 for an empty slot.
fn distance(control: Control) -> Control {
    control >> TAG_BITS
}

/// At most seven eighths are taken.
fn slots_for(entries: usize) -> usize {
    (entries * 8 / 7 + 1).next_power_of_two().max(64)
}

fn bytes_of(slots: usize) -> usize {
    slots * (size_of::<u32>() + size_of::<Control>())
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
        /// Values are the positions' lowest byte; those that share a home are many, with four tags.
        #[test]
        fn finds_what_a_map_finds(steps in steps(), homes in 16u64..64) {
            let tag = |value: u8| u64::from(value % 4) << (HASH_BITS - TAG_BITS);
            let hash = |value: u8| tag(value) | (u64::from(value) % homes * 977);
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
