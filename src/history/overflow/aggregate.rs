//! Decides which of many results are shortened so that all of them fit.
//!
//! Results of the newest turn are fresh: a quarter of the budget is theirs whatever the others take, because a model
//! that cannot read what it just requested requests it again, indefinitely. The others are shortened by size, largest
//! first; when all of them are short, the oldest are replaced by a line that says so. Results that were sent before
//! keep the form in which they were sent, because a provider's prompt cache holds only for an unchanged prefix. That
//! form is given up only if the fresh results would not get their share, and then by enough that it does not recur at
//! once.

use super::limits::MIN_KEEP_CHARS;
use crate::util::sort::sort_by_key;

/// The facts about one result. All lengths are weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// Length of its text.
    pub weight: u64,
    /// True if it belongs to the newest turn.
    pub fresh: bool,
    /// Length in which it was sent before, if it was.
    pub frozen: Option<u64>,
    /// Length of the line that can replace it.
    pub marker: u64,
    /// Length of the shortest such line.
    pub compact: u64,
}

/// The form in which a result is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Complete.
    Whole,
    /// As it was sent before.
    Frozen,
    /// Truncated to at most this length.
    Cut(u64),
    /// Replaced by a line.
    Marker,
    /// Replaced by the shortest line.
    Compact,
}

/// The forms of all results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// One form per result, in their order.
    pub forms: Vec<Form>,
    /// Upper bound of the total length.
    pub total: u64,
    /// True if the form of a result that was sent before has changed: the provider's prompt cache is lost from there
    /// on.
    pub rebaselined: bool,
}

/// Makes a plan for results from the oldest to the newest: at most `cap` each, and at most `budget` in total.
pub fn plan(entries: &[Entry], cap: u64, budget: Option<u64>) -> Plan {
    let mut draft = Draft::new(entries, cap);
    if let Some(budget) = budget.filter(|budget| draft.total(|_| true) > *budget) {
        draft.fit(budget);
    }
    draft.finish()
}

struct Draft<'a> {
    entries: &'a [Entry],
    forms: Vec<(u64, Form)>,
}

impl<'a> Draft<'a> {
    fn new(entries: &'a [Entry], cap: u64) -> Self {
        let form = |entry: &Entry| match entry.frozen {
            Some(frozen) if frozen <= cap => (frozen, Form::Frozen),
            _ if entry.weight <= cap => (entry.weight, Form::Whole),
            _ => (cap, Form::Cut(cap)),
        };
        Draft { entries, forms: entries.iter().map(form).collect() }
    }

    fn fit(&mut self, budget: u64) {
        let reserve = budget.div_ceil(4);
        let fresh = self.total(|entry| entry.fresh);
        let newest = self.places(|entry| entry.fresh).last().map_or(0, |&at| self.size(at));
        let allowed = budget - fresh.max(reserve).min(budget);
        let new = |entry: &Entry| !entry.fresh && entry.frozen.is_none();
        let frozen = self.total(|entry| !entry.fresh && entry.frozen.is_some());
        self.shrink(
            &self.places(new),
            allowed.saturating_sub(frozen),
            budget.saturating_sub(frozen + reserve),
        );

        let promised = fresh.min(newest.max(reserve));
        let others = |entry: &Entry| !entry.fresh;
        if self.total(others) > budget.saturating_sub(promised) {
            // From their full texts again, as if nothing had been sent.
            self.shrink(&self.places(others), allowed, budget - reserve);
        }
        self.shrink_fresh(budget.saturating_sub(self.total(others)));
    }

    /// Shortens these results, oldest first, to `allowed` in total, or as far as lines can replace them; and to `hard`
    /// whatever that leaves of them.
    fn shrink(&mut self, places: &[usize], allowed: u64, hard: u64) {
        if self.sum(places) <= allowed {
            return;
        }
        let level = self.level(places, allowed).max(MIN_KEEP_CHARS);
        self.cut_to(places, level);
        for (form, length) in [
            (Form::Marker, (|entry| entry.marker) as fn(&Entry) -> u64),
            (Form::Compact, |entry| entry.compact),
        ] {
            let mut sum = self.sum(places);
            for &at in places {
                if sum <= allowed {
                    return;
                }
                let (before, after) = (self.size(at), self.entries.get(at).map_or(0, length));
                if after < before {
                    self.set(at, after, form);
                    sum -= before - after;
                }
            }
        }
        if self.sum(places) > hard.max(allowed) {
            let level = self.level(places, hard);
            self.cut_to(places, level);
        }
    }

    fn shrink_fresh(&mut self, allowed: u64) {
        let places = self.places(|entry| entry.fresh);
        let Some((&newest, others)) = places.split_last() else { return };
        if self.sum(&places) <= allowed {
            return;
        }
        let size = self.size(newest);
        // The others together keep a quarter.
        let promised = if others.is_empty() { allowed } else { allowed - allowed / 4 };
        let level = self.level(others, allowed - size.min(promised));
        self.cut_to(others, level);
        self.cut_to(&[newest], allowed - self.sum(others));
    }

    /// Returns the greatest length to which all of these can be truncated so that their total is at most `allowed`.
    fn level(&self, places: &[usize], allowed: u64) -> u64 {
        let mut sizes: Vec<u64> = places.iter().map(|&at| self.size(at)).collect();
        sort_by_key(&mut sizes, |size| *size);
        let mut left = allowed;
        for (done, &size) in sizes.iter().enumerate() {
            let share = left / (sizes.len() - done) as u64;
            if size > share {
                return share;
            }
            left -= size;
        }
        u64::MAX
    }

    fn cut_to(&mut self, places: &[usize], level: u64) {
        for &at in places {
            if self.size(at) > level {
                self.set(at, level, Form::Cut(level));
            }
        }
    }

    fn set(&mut self, at: usize, size: u64, form: Form) {
        if let Some(place) = self.forms.get_mut(at) {
            *place = (size, form);
        }
    }

    fn size(&self, at: usize) -> u64 {
        self.forms.get(at).map_or(0, |(size, _)| *size)
    }

    fn sum(&self, places: &[usize]) -> u64 {
        places.iter().map(|&at| self.size(at)).sum()
    }

    fn places(&self, which: impl Fn(&Entry) -> bool) -> Vec<usize> {
        let found = self.entries.iter().enumerate().filter(|(_, entry)| which(entry));
        found.map(|(at, _)| at).collect()
    }

    fn total(&self, which: impl Fn(&Entry) -> bool) -> u64 {
        self.sum(&self.places(which))
    }

    fn finish(self) -> Plan {
        let total = self.total(|_| true);
        let changed = |(entry, (_, form)): (&Entry, &(u64, Form))| {
            entry.frozen.is_some() && *form != Form::Frozen
        };
        let rebaselined = self.entries.iter().zip(&self.forms).any(changed);
        Plan { forms: self.forms.into_iter().map(|(_, form)| form).collect(), total, rebaselined }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn old(weight: u64) -> Entry {
        Entry { weight, marker: 100, compact: 20, ..Entry::default() }
    }

    fn fresh(weight: u64) -> Entry {
        Entry { fresh: true, ..old(weight) }
    }

    #[test]
    fn what_fits_stays() {
        let plan = plan(&[old(10), fresh(500)], 400, Some(1_000));
        assert_eq!(plan.forms, [Form::Whole, Form::Cut(400)]);
        assert_eq!((plan.total, plan.rebaselined), (410, false));
    }

    #[test]
    fn the_largest_shrink_first_and_then_the_oldest_go() {
        let entries = [old(9_000), old(1_000), old(6_000), fresh(2_000)];
        let some = plan(&entries, 9_000, Some(12_000));
        assert_eq!(some.forms, [Form::Cut(4_000), Form::Whole, Form::Cut(4_000), Form::Whole]);
        let less = plan(&entries, 9_000, Some(6_000));
        assert_eq!(less.forms, [Form::Marker, Form::Whole, Form::Cut(2_000), Form::Whole]);
        let little = plan(&entries, 9_000, Some(1_000));
        assert_eq!(little.forms, [Form::Compact, Form::Compact, Form::Compact, Form::Cut(940)]);
    }

    #[test]
    fn the_newest_result_comes_first() {
        let five = plan(&[fresh(8_000); 5], 32_000, Some(32_000));
        assert_eq!(five.forms[4], Form::Whole);
        assert_eq!(five.forms[0], Form::Cut(6_000));
        assert_eq!(plan(&[fresh(50)], 100, Some(8)).forms, [Form::Cut(8)]);
    }

    #[test]
    fn what_was_sent_stays_as_long_as_the_fresh_have_their_share() {
        let sent = |weight, frozen| Entry { frozen: Some(frozen), ..old(weight) };
        let entries = [sent(9_000, 5_000), sent(2_000, 2_000), fresh(2_000), fresh(2_000)];
        let kept = plan(&entries, 9_000, Some(10_000));
        assert_eq!(kept.forms, [Form::Frozen, Form::Frozen, Form::Cut(1_000), Form::Whole]);
        assert!(!kept.rebaselined);
        let moved = plan(&entries, 9_000, Some(7_000));
        assert!(moved.rebaselined);
        assert_eq!(moved.forms[2], Form::Whole);
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let length = prop_oneof![0u64..50, 0u64..20_000, 0u64..1_000_000];
        (length, any::<bool>(), prop::option::of(0u64..20_000), 0u64..200, 0u64..60).prop_map(
            |(weight, fresh, frozen, marker, compact)| {
                let frozen = frozen.map(|frozen| frozen.min(weight));
                Entry { weight, fresh, frozen, marker, compact: compact.min(marker) }
            },
        )
    }

    proptest! {
        #[test]
        fn everything_keeps_its_bounds(
            entries in prop::collection::vec(entry(), 0..30),
            cap in 0u64..100_000,
            budget in prop::option::of(prop_oneof![0u64..100, 0u64..300_000]),
        ) {
            let plan = plan(&entries, cap, budget);
            prop_assert_eq!(plan.forms.len(), entries.len());
            let mut total = 0;
            for (entry, form) in entries.iter().zip(&plan.forms) {
                let size = match *form {
                    Form::Whole => entry.weight,
                    Form::Frozen => entry.frozen.unwrap_or(u64::MAX),
                    Form::Cut(at) => at,
                    Form::Marker => entry.marker,
                    Form::Compact => entry.compact,
                };
                prop_assert!(size <= cap.max(entry.compact), "{form:?}");
                if let Some(frozen) = entry.frozen {
                    prop_assert!(size <= frozen, "grown: {form:?}");
                }
                total += size;
            }
            prop_assert!(budget.is_none_or(|budget| total <= budget));
            prop_assert!(total <= plan.total);
        }
    }
}
