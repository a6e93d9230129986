//! Parts of a text that a preview may show, kept in bounded memory while the text streams through.
//!
//! | type | contents when memory runs out |
//! | --- | --- |
//! | [`Thinned`] | the items that pass a rule, which gets stricter step by step |
//! | [`Best`] | the items with the highest rank |
//!
//! Both depend on the items alone, not on how the text is split into chunks.

use crate::util::sort::sort_by_key;

/// An item that knows the memory it takes.
pub(super) trait Held {
    /// Returns the memory of the item in bytes.
    fn held(&self) -> usize;
}

/// A rule that says which items stay.
pub(super) trait Rule<T> {
    fn keeps(&self, item: &T) -> bool;

    /// Makes the rule stricter. Returns false if it is as strict as it gets; from then on nothing new is kept.
    fn tighten(&mut self) -> bool;
}

/// Items that a rule keeps. Items that were kept before the rule got stricter are judged again, so that early and late
/// ones are treated alike.
#[derive(Debug, Clone)]
pub(super) struct Thinned<T, R> {
    items: Vec<T>,
    held: usize,
    room: u64,
    rule: R,
    is_full: bool,
}

impl<T: Held, R: Rule<T>> Thinned<T, R> {
    /// Creates storage for `room` bytes.
    pub(crate) fn new(room: u64, rule: R) -> Self {
        Thinned { items: Vec::new(), held: 0, room, rule, is_full: false }
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the rule, or nothing if no item is kept any more.
    pub(crate) fn rule(&self) -> Option<&R> {
        (!self.is_full).then_some(&self.rule)
    }

    /// Adds items, which the caller has filtered by [`Self::rule`], then makes the rule stricter until all items fit. Not
    /// called once there is no rule.
    pub(crate) fn extend(&mut self, items: impl IntoIterator<Item = T>) {
        for item in items {
            self.held += item.held();
            self.items.push(item);
        }
        while self.held as u64 > self.room {
            if !self.rule.tighten() {
                self.is_full = true;
                return;
            }
            let rule = &self.rule;
            self.items.retain(|item| rule.keeps(item));
            self.held = self.items.iter().map(T::held).sum();
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

/// The items with the lowest keys. When they take more than `limit` bytes, those with the highest keys are removed until
/// `target` bytes are left, so that sorting is rare.
#[derive(Debug, Clone)]
pub(super) struct Best<T> {
    items: Vec<T>,
    held: usize,
    limit: usize,
    target: usize,
}

impl<T: Held> Best<T> {
    pub(crate) fn new(limit: usize, target: usize) -> Self {
        Best { items: Vec::new(), held: 0, limit, target }
    }

    /// Returns the items in no particular order.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the `count` items that were added last, the newest first, as far as none was removed since.
    pub(crate) fn newest_mut(&mut self, count: usize) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().rev().take(count)
    }

    /// Adds an item. The key must be different for each item.
    pub(crate) fn push<K: Ord>(&mut self, item: T, key: impl Fn(&T) -> K) {
        self.held += item.held();
        self.items.push(item);
        if self.held <= self.limit {
            return;
        }
        sort_by_key(&mut self.items, key);
        let mut held = 0;
        let fits = self.items.iter().take_while(|item| {
            held += item.held();
            held <= self.target
        });
        let count = fits.count();
        self.items.truncate(count);
        self.held = self.items.iter().map(T::held).sum();
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Held for u8 {
        fn held(&self) -> usize {
            10
        }
    }

    /// Keeps numbers below a limit, which is halved.
    #[derive(Debug, Clone)]
    struct Below(u16);

    impl Rule<u8> for Below {
        fn keeps(&self, item: &u8) -> bool {
            u16::from(*item) < self.0
        }

        fn tighten(&mut self) -> bool {
            self.0 /= 2;
            self.0 > 0
        }
    }

    fn thinned<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Thinned<u8, Below> {
        let mut kept = Thinned::new(100, Below(256));
        for chunk in chunks {
            for item in chunk {
                if kept.rule().is_some_and(|rule| rule.keeps(item)) {
                    kept.extend([*item]);
                }
            }
        }
        kept
    }

    proptest! {
        #[test]
        fn a_rule_judges_early_and_late_items_alike(items: Vec<u8>) {
            let kept = thinned(std::iter::once(&items[..]));
            if let Some(rule) = kept.rule() {
                let expected: Vec<u8> = items.iter().copied().filter(|item| rule.keeps(item)).collect();
                prop_assert_eq!(kept.items(), expected);
                prop_assert!(kept.held() <= 100);
            }
        }

        #[test]
        fn the_best_items_stay(count in 0usize..200, limit in 1usize..50) {
            let items: Vec<u8> = (0..count).map(|at| (at * 97 % 251) as u8).collect();
            let mut best = Best::new(limit * 10, limit * 5);
            items.iter().for_each(|item| best.push(*item, |item| *item));
            prop_assert!(best.held() <= limit * 10);
            prop_assert_eq!(best.held(), best.items().len() * 10);
            let lowest = items.iter().min().copied();
            prop_assert!(limit < 2 || best.items().iter().min().copied() == lowest);
        }
    }
}
