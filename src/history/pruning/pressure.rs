//! Prunes results by how full the context window is.
//!
//! When the window fills up, long results are trimmed: their start and their end are often enough. If that does not
//! help, and enough can be freed, whole results are pruned, oldest first, until the window is no longer too full.

use serde::Deserialize;

use super::policies::{Form, View};

/// Thresholds for the context window.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pressure {
    /// Size of the window in tokens.
    pub context_window: f64,
    /// Share of the window from which on long results are trimmed.
    pub trim_at: f64,
    /// Share of the window from which on results are pruned, if trimming did not help.
    pub clear_at: f64,
    /// Minimum total of prunable results in tokens.
    pub min_tokens: f64,
}

/// Returns the new forms of these results, which are in the order of their messages. Unchanged ones are omitted.
pub fn under_pressure(
    view: &View<'_>,
    results: &[usize],
    movable: &[bool],
    rule: &Pressure,
) -> Vec<(usize, Form)> {
    let mut total = view.tokens;
    if total < rule.trim_at * rule.context_window {
        return Vec::new();
    }
    let open = results.iter().filter(|at| movable.get(**at) == Some(&true));
    let open = open.filter_map(|&at| Some((at, view.items.get(at)?)));
    let mut goals: Vec<_> = open
        .map(|(at, item)| {
            let now = view.form(at);
            let trims = now == Form::Whole && item.size(Form::Trimmed) < item.tokens;
            let goal = if trims { Form::Trimmed } else { now };
            total -= item.size(now) - item.size(goal);
            (at, item, goal)
        })
        .collect();
    let limit = rule.clear_at * rule.context_window;
    let gain: f64 = goals.iter().map(|(_, item, goal)| item.size(*goal)).sum();
    if gain >= rule.min_tokens {
        for (_, item, goal) in &mut goals {
            if total < limit {
                break;
            }
            let freed = item.size(*goal) - item.placeholder;
            if freed > 0.0 {
                total -= freed;
                *goal = Form::Gone;
            }
        }
    }
    let changed = goals.into_iter().filter(|(at, _, goal)| *goal != view.form(*at));
    changed.map(|(at, _, goal)| (at, goal)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::policies::Item;
    use super::super::policies::tests::{result, view};
    use super::*;
    use Form::{Gone, Trimmed, Whole};
    use proptest::prelude::*;

    const RULE: Pressure =
        Pressure { context_window: 10_000.0, trim_at: 0.3, clear_at: 0.5, min_tokens: 0.0 };

    /// Returns the forms of results with these sizes, beside `around` other tokens.
    fn forms(tokens: &[f64], around: f64, rule: &Pressure) -> Vec<Form> {
        next(tokens, &vec![Whole; tokens.len()], around, rule)
    }

    fn next(tokens: &[f64], before: &[Form], around: f64, rule: &Pressure) -> Vec<Form> {
        let items: Vec<Item> =
            tokens.iter().enumerate().map(|(at, tokens)| result(at, *tokens)).collect();
        let mut view = view(&items, before, &[99]);
        view.tokens += around;
        let results: Vec<usize> = (0..items.len()).collect();
        let movable: Vec<bool> = before.iter().map(|form| *form != Gone).collect();
        let mut forms = before.to_vec();
        for (at, form) in under_pressure(&view, &results, &movable, rule) {
            assert!(form > forms[at], "only what changes appears");
            forms[at] = form;
        }
        forms
    }

    #[test]
    fn trimming_begins_at_its_share_and_may_be_enough() {
        assert_eq!(forms(&[2000.0, 500.0], 499.0, &RULE), [Whole, Whole]);
        assert_eq!(forms(&[2000.0, 500.0], 500.0, &RULE), [Trimmed, Whole]);
        // 5,500 are 4,300 when the first is trimmed.
        assert_eq!(forms(&[2000.0, 500.0], 3000.0, &RULE), [Trimmed, Whole]);
    }

    #[test]
    fn the_oldest_go_until_the_window_is_no_longer_so_full() {
        // Trimmed they are 800, 500 and 800.
        let tokens = [2000.0, 500.0, 2000.0];
        assert_eq!(forms(&tokens, 2899.0, &RULE), [Trimmed, Whole, Trimmed]);
        assert_eq!(forms(&tokens, 2900.0, &RULE), [Gone, Whole, Trimmed]);
        assert_eq!(forms(&tokens, 3689.0, &RULE), [Gone, Whole, Trimmed]);
        assert_eq!(forms(&tokens, 3690.0, &RULE), [Gone, Gone, Trimmed]);
        assert_eq!(forms(&tokens, 9000.0, &RULE), [Gone, Gone, Gone]);
    }

    #[test]
    fn too_little_to_gain_is_left_alone() {
        let rule = Pressure { min_tokens: 1300.0, ..RULE };
        assert_eq!(forms(&[2000.0, 500.0], 9000.0, &rule), [Gone, Gone]);
        let rule = Pressure { min_tokens: 1300.1, ..RULE };
        assert_eq!(forms(&[2000.0, 500.0], 9000.0, &rule), [Trimmed, Whole]);
    }

    #[test]
    fn what_was_trimmed_stays_so_when_there_is_room_again() {
        assert_eq!(next(&[2000.0], &[Trimmed], 0.0, &RULE), [Trimmed]);
        assert_eq!(next(&[2000.0], &[Trimmed], 3000.0, &RULE), [Trimmed]);
        assert_eq!(next(&[2000.0], &[Trimmed], 4200.0, &RULE), [Gone]);
        assert_eq!(next(&[2000.0], &[Gone], 9000.0, &RULE), [Gone]);
    }

    proptest! {
        #[test]
        fn asked_twice_it_answers_the_same(
            tokens in prop::collection::vec(20.0..5000.0f64, 0..12),
            around in 0.0..9000.0f64,
            min_tokens in 0.0..4000.0f64,
        ) {
            let rule = Pressure { min_tokens, ..RULE };
            let first = forms(&tokens, around, &rule);
            let second = next(&tokens, &first, around, &rule);
            prop_assert!(second.iter().zip(&first).all(|(second, first)| second >= first));
            // Pruned results no longer count as savings, so nothing more is pruned unless the window is still too full.
            let kept: f64 = tokens.iter().zip(&first).map(|(tokens, form)| result(0, *tokens).size(*form)).sum();
            if around + kept < 5000.0 {
                prop_assert_eq!(second, first);
            }
        }
    }
}
