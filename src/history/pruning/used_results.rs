//! Which old results are kept because the model has used them lately.
//!
//! A result is used when the model says a word of it that was not said before: see
//! [`WordIndex::say`](super::word_index::WordIndex::say). An edit of the file that a read shows does not count as a use: keeping the
//! newest read of a file that is being edited cost 0.4 to 1.3 % of the input of recorded sessions, and a missing name in
//! 0.1 % fewer of the turns. Nor is dropping the result of a call that was made again: it changed a hundredth of that.

use super::policies::{Form, View};

/// A use of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Index of the message of the model, or of the one that has the result.
    pub message: usize,
    /// Number of the result among all results of the history.
    pub result: usize,
    /// How many results ago the same text was one; nothing for a word of it.
    pub last_seen: Option<usize>,
}

/// A text that was a result longer ago was not missed: agents read files again in the course of their work.
const MOST: usize = 10;

/// Returns the places of `old` results that were not used while there were fewer than `keep` newer results since.
/// `results` are the places of all results.
///
/// A result that is left out, was not among the newest and comes in again was missed. If it was one `n` results ago, the new one
/// stays for `2 n` results, or a model that compares several files would fetch one after the other and never see them together.
pub fn unused(view: &View<'_>, results: &[usize], old: &[usize], keep: usize) -> Vec<usize> {
    if keep == 0 {
        return old.to_vec();
    }
    let message_of = |at: &usize| view.items.get(*at).map_or(0, |item| item.message);
    // A result that came in again is one of those since; some formats have several results in a message.
    let since = |used: &Use| match used.last_seen {
        Some(_) => results.len().saturating_sub(used.result),
        None => results.len() - results.partition_point(|at| message_of(at) < used.message),
    };
    let keep_recent = results.len() - old.len();
    let stays_for = |used: &Use| {
        let Some(last_seen) = used.last_seen else { return keep };
        let before = used.result.checked_sub(last_seen).and_then(|before| results.get(before));
        let was_missed = before.is_some_and(|&at| view.forms.get(at) == Some(&Form::Gone));
        // The newest ones were in view when the model asked.
        if was_missed && last_seen > keep_recent && last_seen <= MOST {
            (2 * last_seen).max(keep).saturating_add(1)
        } else {
            0
        }
    };
    let mut is_used = vec![false; old.len()];
    let mut came_in_again = vec![false; results.len()];
    for used in view.uses.iter().rev().take_while(|used| since(used) <= keep.max(2 * MOST)) {
        // The newest one of equal texts is enough.
        let is_newest = used.last_seen.is_none() || came_in_again.get(used.result) != Some(&true);
        let before = used.last_seen.and_then(|last_seen| used.result.checked_sub(last_seen));
        if let Some(comes) = before.and_then(|before| came_in_again.get_mut(before)) {
            *comes = true;
        }
        if is_newest
            && since(used) < stays_for(used)
            && let Some(is_used) = is_used.get_mut(used.result)
        {
            *is_used = true;
        }
    }
    let unused = old.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    unused.map(|(at, _)| *at).collect()
}

#[cfg(test)]
mod tests {
    use super::super::policies::{Policy, Rules, goals, tests as fixture};
    use super::*;

    #[test]
    fn a_result_stays_for_some_results_after_its_last_use() {
        let items: Vec<_> = (1..=6).map(|at| fixture::result(2 * at, 100.0)).collect();
        let forms = [Form::Whole; 6];
        let said = |message, result| Use { message, result, last_seen: None };
        let uses = [said(5, 0), said(9, 1)];
        let view = View { uses: &uses, ..fixture::view(&items, &forms, &[1, 3, 5, 7, 9, 11, 13]) };
        for (keep_used, expected) in [
            (0, &[0, 1, 2, 3, 4][..]),
            (2, &[0, 1, 2, 3, 4]),
            (3, &[0, 2, 3, 4]),
            (4, &[0, 2, 3, 4]),
            (5, &[2, 3, 4]),
            (usize::MAX, &[2, 3, 4]),
        ] {
            let rules = fixture::rules(&[Policy::Results { min_tokens: 0.0 }]);
            let rules = Rules { keep_used, keep_recent: 1, ..rules };
            let goals = goals(&view, &rules);
            let gone: Vec<usize> = (0..6)
                .filter(|&at| goals.get(at).is_some_and(|goal| goal.form == Form::Gone))
                .collect();
            assert_eq!(gone, expected, "{keep_used}");
        }
    }

    #[test]
    fn what_was_missed_stays_for_twice_its_distance() {
        let items: Vec<_> = (1..=40).map(|at| fixture::result(2 * at, 100.0)).collect();
        let answers: Vec<usize> = (0..41).map(|at| 2 * at + 1).collect();
        let mut forms = [Form::Whole; 40];
        forms[0] = Form::Gone;
        let stays = |last_seen: usize, keep_used| {
            let again =
                Use { message: 2 * (last_seen + 1), result: last_seen, last_seen: Some(last_seen) };
            let lasts = |until: usize| {
                let uses = [again];
                let view = View {
                    uses: &uses,
                    ..fixture::view(&items[..until], &forms[..until], &answers)
                };
                let rules = Rules {
                    keep_used,
                    keep_recent: 1,
                    ..fixture::rules(&[Policy::Results { min_tokens: 0.0 }])
                };
                goals(&view, &rules).get(last_seen).is_some_and(|goal| goal.form == Form::Whole)
            };
            (last_seen + 1..=40).filter(|&until| lasts(until)).count()
        };
        // At first it is the newest one.
        assert_eq!([1, 2, 4].map(|last_seen| stays(last_seen, 3)), [1, 4, 8]);
        assert_eq!(stays(4, 0), 1);
        assert_eq!(stays(5, 12), 12);
        assert_eq!(stays(10, 3), 20);
        assert_eq!(stays(11, 3), 1);
        assert_eq!(stays(2, usize::MAX), 38);
        forms[0] = Form::Whole;
        let again = [Use { message: 6, result: 2, last_seen: Some(2) }];
        let view = View { uses: &again, ..fixture::view(&items[..4], &forms[..4], &answers) };
        let rules = Rules {
            keep_used: 3,
            keep_recent: 1,
            ..fixture::rules(&[Policy::Results { min_tokens: 0.0 }])
        };
        assert_eq!(goals(&view, &rules)[2].form, Form::Gone, "the model had it");
    }
}
