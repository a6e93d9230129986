//! Prunes results in excess of a token budget.

use serde::Deserialize;

use super::policies::{Form, View};
use crate::util::sort::sort_by;

/// A budget for results in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// The newest results are kept up to this total.
    pub protect_tokens: f64,
    /// Results are pruned only if more than this can be freed.
    pub min_tokens: f64,
    /// Number of newest turns of the user whose results are kept.
    pub protect_turns: usize,
    /// Target for the total of all results. `None` prunes everything that is not protected.
    pub target_tokens: Option<f64>,
    /// The order in which results are pruned to reach the target.
    pub order: Order,
}

/// The order of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Oldest first.
    Oldest,
    /// Largest savings first.
    Largest,
}

/// Returns the results to prune, of those that are `movable`.
pub fn over_budget(
    view: &View<'_>,
    results: &[usize],
    movable: &[bool],
    budget: &Budget,
) -> Vec<usize> {
    let turns = view.turns.len();
    let protected_from = match turns.checked_sub(budget.protect_turns) {
        _ if budget.protect_turns == 0 => usize::MAX,
        // There are fewer turns.
        None | Some(0) => return Vec::new(),
        Some(at) => view.turns.get(at).copied().unwrap_or(usize::MAX),
    };
    let counted = |at: &&usize| {
        view.items.get(**at).is_some_and(|item| {
            !item.failed && item.message >= view.budget_from && item.message < protected_from
        })
    };
    let size = |at: usize| view.size(at);
    let (mut protected, mut open, mut total) = (0.0, Vec::new(), 0.0);
    for &at in results.iter().rev().filter(counted) {
        if view.form(at) == Form::Gone {
            continue;
        }
        total += size(at);
        if !movable.get(at).copied().unwrap_or(false) {
            continue;
        }
        protected += size(at);
        if protected > budget.protect_tokens {
            open.push(at);
        }
    }
    let gone = match budget.target_tokens {
        Some(target) => down_to(target, budget.order, open, total, size),
        None => open,
    };
    let freed: f64 = gone.iter().map(|&at| size(at)).sum();
    if freed > budget.min_tokens { gone } else { Vec::new() }
}

/// Returns as many of the `open` results, given newest first, as must be pruned to bring `total` down to the target.
fn down_to(
    target: f64,
    order: Order,
    mut open: Vec<usize>,
    mut total: f64,
    size: impl Fn(usize) -> f64,
) -> Vec<usize> {
    match order {
        Order::Oldest => open.reverse(),
        Order::Largest => {
            sort_by(&mut open, |a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
        }
    }
    open.into_iter()
        .take_while(|&at| {
            let over = total > target;
            total -= size(at);
            over
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::policies::tests::{result, view};
    use super::super::policies::{Form, Item};
    use super::*;

    const ALL: Budget = Budget {
        protect_tokens: 0.0,
        min_tokens: 0.0,
        protect_turns: 0,
        target_tokens: None,
        order: Order::Oldest,
    };

    fn items(tokens: &[f64]) -> Vec<Item> {
        tokens.iter().enumerate().map(|(at, tokens)| result(2 * at + 2, *tokens)).collect()
    }

    fn goes(items: &[Item], turns: &[usize], budget: &Budget) -> Vec<usize> {
        let forms = vec![Form::Whole; items.len()];
        let view = View { turns, ..view(items, &forms, &[99]) };
        let results: Vec<usize> = (0..items.len()).collect();
        let movable = vec![true; items.len()];
        let mut goes = over_budget(&view, &results, &movable, budget);
        goes.sort_unstable();
        goes
    }

    const NOTHING: [usize; 0] = [];

    #[test]
    fn the_newest_are_protected_and_little_is_not_worth_it() {
        let items = items(&[20.0, 30.0, 40.0]);
        for (protect_tokens, min_tokens, expected) in [
            (0.0, 0.0, &[0, 1, 2][..]),
            (39.0, 0.0, &[0, 1, 2]),
            (40.0, 0.0, &[0, 1]),
            (69.0, 49.0, &[0, 1]),
            (69.0, 50.0, &[]),
            (90.0, 0.0, &[]),
        ] {
            let budget = Budget { protect_tokens, min_tokens, ..ALL };
            assert_eq!(goes(&items, &[0], &budget), expected, "{protect_tokens} {min_tokens}");
        }
    }

    #[test]
    fn the_newest_turns_are_protected() {
        let items = items(&[20.0, 30.0, 40.0]);
        for (turns, protect_turns, expected) in [
            (&[0, 3, 5][..], 1, &[0, 1][..]),
            (&[0, 3, 5], 2, &[0]),
            (&[0, 3, 5], 3, &[]),
            (&[0, 3, 5], 4, &[]),
            (&[], 1, &[]),
            (&[], 0, &[0, 1, 2]),
        ] {
            let budget = Budget { protect_turns, ..ALL };
            assert_eq!(goes(&items, turns, &budget), expected, "{turns:?} {protect_turns}");
        }
    }

    #[test]
    fn failures_and_what_a_summary_tells_do_not_count() {
        let mut items = items(&[20.0, 30.0, 40.0]);
        items[2].failed = true;
        assert_eq!(goes(&items, &[0], &Budget { protect_tokens: 30.0, ..ALL }), [0]);
        let forms = [Form::Whole; 3];
        let view = View { budget_from: 3, ..view(&items, &forms, &[99]) };
        assert_eq!(over_budget(&view, &[0, 1, 2], &[true; 3], &ALL), [1]);
    }

    #[test]
    fn a_target_is_reached_from_the_oldest_or_from_the_largest_on() {
        let items = items(&[20.0, 50.0, 30.0, 50.0]);
        for (order, target, expected) in [
            (Order::Oldest, 150.0, &[][..]),
            (Order::Oldest, 149.0, &[0]),
            (Order::Oldest, 130.0, &[0]),
            (Order::Oldest, 129.0, &[0, 1]),
            (Order::Oldest, 0.0, &[0, 1, 2, 3]),
            (Order::Largest, 149.0, &[1]),
            (Order::Largest, 99.0, &[1, 3]),
            (Order::Largest, 49.0, &[1, 2, 3]),
        ] {
            let budget = Budget { target_tokens: Some(target), order, ..ALL };
            assert_eq!(goes(&items, &[0], &budget), expected, "{order:?} {target}");
        }
    }

    #[test]
    fn what_must_stay_counts_for_the_target_and_is_not_chosen() {
        let items = items(&[20.0, 50.0]);
        let forms = [Form::Whole; 2];
        let view = view(&items, &forms, &[99]);
        let budget = Budget { target_tokens: Some(0.0), ..ALL };
        assert_eq!(over_budget(&view, &[0, 1], &[true, false], &budget), [0]);
        assert_eq!(over_budget(&view, &[0, 1], &[false, false], &budget), NOTHING);
    }
}
