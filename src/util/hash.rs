//! A short hash that is the same in every process.

use std::hash::{BuildHasherDefault, Hasher};

/// Start and factor of FNV-1a with 64 bits.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0100_0000_01b3;

/// Returns the FNV-1a hash of bytes or UTF-16 units. Collisions are easy to construct: an attacker must gain nothing by
/// one.
///
/// ```
/// use spillway_base::util::hash::fnv1a;
///
/// assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn fnv1a<T: Copy + Into<u64>>(units: &[T]) -> u64 {
    units.iter().fold(START, |hash, &unit| mix(hash, unit.into()))
}

/// A map from names that are written in the program: no caller can choose some that collide.
pub type NameMap<V> = std::collections::HashMap<&'static str, V, BuildHasherDefault<NameHasher>>;

/// The hash of [`fnv1a`] for maps: a tenth of the time of the usual one for a short name.
#[derive(Debug, Clone, Copy)]
pub struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        NameHasher(START)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the hash with one more unit.
pub fn mix(hash: u64, unit: u64) -> u64 {
    (hash ^ unit).wrapping_mul(FACTOR)
}
