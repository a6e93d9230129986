//! Sorting for short slices and cold paths, where code size matters more than speed: every type that is sorted with the
//! standard library adds 5 to 8 KB to the binary.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// Collects members into a JSON object; of members with the same name the last one counts. They are inserted one by
/// one, because `collect` would sort them first.
pub fn object(members: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut object = Map::new();
    members.for_each(|(name, value)| {
        object.insert(name, value);
    });
    object
}

/// Sorts by a key. The sort is stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a comparison. The sort is stable.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort(&mut order, &|a, b| compare(&items[a], &items[b]));
    // Follows each cycle of the permutation: an element moves to its place, the one it displaces to its own.
    for start in 0..items.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

fn sort(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(numbers: Vec<u8>) {
            let mut ours: Vec<(usize, u8)> = numbers.into_iter().enumerate().collect();
            let mut theirs = ours.clone();
            sort_by_key(&mut ours, |(_, number)| number / 16);
            theirs.sort_by_key(|(_, number)| number / 16);
            prop_assert_eq!(ours, theirs);
        }
    }
}
