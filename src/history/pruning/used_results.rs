//! Which old results are kept because the model has used them lately.
//!
//! A result is used when the model says a word of it that was not said before: see
//! [`WordIndex::say`](super::word_index::WordIndex::say). An edit of the file that a read shows does not count as a use: keeping the
//! newest read of a file that is being edited cost 0.4 to 1.3 % of the input of recorded sessions, and a missing name in
//! 0.1 % fewer of the turns. Nor is dropping the result of a call that was made again: it changed a hundredth of that.

use super::policies::View;

/// A use of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Index of the message of the model.
    pub message: usize,
    /// Number of the result among all results of the history.
    pub result: usize,
}

/// Returns the places of `old` results that were not used while there were fewer than `keep` newer results since.
/// `results` are the places of all results.
pub fn unused(view: &View<'_>, results: &[usize], old: &[usize], keep: usize) -> Vec<usize> {
    let message_of = |at: &usize| view.items.get(*at).map_or(0, |item| item.message);
    let since =
        |used: &Use| results.len() - results.partition_point(|at| message_of(at) < used.message);
    let mut is_used = vec![false; old.len()];
    for used in view.uses.iter().rev().take_while(|used| since(used) < keep) {
        if let Some(is_used) = is_used.get_mut(used.result) {
            *is_used = true;
        }
    }
    let unused = old.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    unused.map(|(at, _)| *at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::policies::{Form, Policy, goals, tests as fixture};
    use super::*;

    #[test]
    fn a_result_stays_for_some_results_after_its_last_use() {
        let items: Vec<_> = (1..=6).map(|at| fixture::result(2 * at, 100.0)).collect();
        let forms = [Form::Whole; 6];
        let uses = [Use { message: 5, result: 0 }, Use { message: 9, result: 1 }];
        let view = View { uses: &uses, ..fixture::view(&items, &forms, &[1, 3, 5, 7, 9, 11, 13]) };
        for (keep_used, expected) in [
            (0, &[0, 1, 2, 3, 4][..]),
            (2, &[0, 1, 2, 3, 4]),
            (3, &[0, 2, 3, 4]),
            (4, &[0, 2, 3, 4]),
            (5, &[2, 3, 4]),
            (usize::MAX, &[2, 3, 4]),
        ] {
            let rules = fixture::rules(&[Policy::Results]);
            let rules = super::super::policies::Rules { keep_used, keep_recent: 1, ..rules };
            let goals = goals(&view, &rules);
            let gone: Vec<usize> = (0..6)
                .filter(|&at| goals.get(at).is_some_and(|goal| goal.form == Form::Gone))
                .collect();
            assert_eq!(gone, expected, "{keep_used}");
        }
    }
}
