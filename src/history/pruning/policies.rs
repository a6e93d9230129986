//! Decides which items of a history may be pruned.
//!
//! Policies combine: an item may be pruned if any of them selects it. Some items are always kept: those the model has
//! not seen yet, those in its newest messages or before the first user message if the rules keep these, results whose
//! call is not in the history, items with more than text, results of protected tools, and items no longer than their
//! placeholder.

use std::ops::Range;

use serde::Deserialize;

use super::budget::{Budget, over_budget};
use super::pressure::{Pressure, under_pressure};
use super::superseded::{Read, superseded};
use super::used::{Use, unused};
use crate::history::outdated::{Answer, Rule as OutdatedRule, outdated};
use crate::history::result_facts::Facts;

/// Kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The result of a call.
    Result,
    /// The arguments of a call.
    Arguments,
}

/// The form in which an item is sent. Forms only ever become shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Form {
    /// Complete.
    #[default]
    Whole,
    /// Its start and its end.
    Trimmed,
    /// A placeholder.
    Gone,
}

/// A part of a history that can be replaced by a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Index of the message that contains it.
    pub message: usize,
    pub kind: Kind,
    /// Size in tokens.
    pub tokens: f64,
    /// Size in tokens once trimmed, if it is long enough for that.
    pub trimmed: Option<f64>,
    /// Size of its placeholder in tokens.
    pub placeholder: f64,
    /// True if it must be kept, whatever the policies say.
    pub fixed: bool,
    /// True if the call is known to have failed.
    pub failed: bool,
    /// True if it comes from a terminal.
    pub terminal: bool,
    /// True if the call wrote or edited a file.
    pub writes: bool,
    /// Time at which the tool finished, in milliseconds since the epoch; not finite if unknown.
    pub time: f64,
    /// The file that was read, if it is a read. Boxed, because most items are not, and every item is examined before
    /// each request.
    pub read: Option<Box<Read>>,
}

impl Item {
    /// Returns the size in tokens in a form.
    pub fn size(&self, form: Form) -> f64 {
        match form {
            Form::Whole => self.tokens,
            Form::Trimmed => self.trimmed.unwrap_or(self.tokens),
            Form::Gone => self.placeholder,
        }
    }
}

/// A rule that selects items.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Policy {
    /// Every result but the newest `keep_recent`.
    Results,
    /// Results of terminals that are older than `max_age_ms`, by the rule of outdated results.
    Outdated {
        /// Age in milliseconds.
        max_age_ms: f64,
    },
    /// Reads of a file that `keep_reads` newer ones cover.
    Superseded {
        /// Number of reads per file.
        keep_reads: usize,
    },
    /// Results in excess of a budget.
    Budget(Budget),
    /// Results but the newest `keep_recent`, by how full the context window is.
    Pressure(Pressure),
    /// Arguments of writes and edits, in messages before the newest `keep_recent` results.
    Arguments {
        /// Minimum size in tokens.
        min_tokens: f64,
    },
}

/// The rules for what may be pruned.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// True if signed reasoning after a change is removed with it.
    pub removes_thinking: bool,
    /// An item is selected by any of them.
    pub policies: Vec<Policy>,
    /// Number of newest results that are kept.
    pub keep_recent: usize,
    /// Number of newest messages of the model that are kept, with everything after the first of them.
    pub keep_messages: usize,
    /// True if everything before the first user message is kept.
    pub keep_preamble: bool,
    /// True if results of failed calls are kept.
    pub keep_errors: bool,
    /// Number of newest results after the last use of a result in which it is kept.
    pub keep_used: usize,
}

/// The view of a history that policies evaluate.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// In the order of their messages.
    pub items: &'a [Item],
    /// The current form of each item.
    pub forms: &'a [Form],
    /// Tokens of the request in its current form.
    pub tokens: f64,
    /// Indexes of user messages, ascending.
    pub turns: &'a [usize],
    /// Indexes of the model's messages, ascending.
    pub answers: &'a [usize],
    /// Nothing in front of this message may change.
    pub bound_to: usize,
    /// The model has not seen this message and those after it.
    pub unseen_from: usize,
    /// Budgets ignore messages before this one, which are replaced by a summary.
    pub budget_from: usize,
    /// Current time in milliseconds since the epoch.
    pub now: f64,
    /// Messages of the model that use a result, ascending.
    pub uses: &'a [Use],
}

impl View<'_> {
    pub(super) fn form(&self, at: usize) -> Form {
        self.forms.get(at).copied().unwrap_or_default()
    }

    /// Returns the size of an item in its current form, in tokens.
    pub(super) fn size(&self, at: usize) -> f64 {
        self.items.get(at).map_or(0.0, |item| item.size(self.form(at)))
    }

    /// Returns the messages that the rules do not keep.
    fn open(&self, rules: &Rules) -> Range<usize> {
        let from = match self.turns.first() {
            _ if !rules.keep_preamble => 0,
            Some(&first) => first,
            None => usize::MAX,
        };
        let kept_from = match self.answers.len().checked_sub(rules.keep_messages) {
            Some(at) => self.answers.get(at).copied().unwrap_or(usize::MAX),
            // There are fewer.
            None => 0,
        };
        from.max(self.bound_to)..self.unseen_from.min(kept_from)
    }
}

/// The form that the policies want for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// The form: the current one, or a shorter one.
    pub form: Form,
    /// Index of the first policy that selects the item; `None` if its form does not change.
    pub policy: Option<usize>,
}

/// Returns for each item the form and the policy that wants it.
pub fn goals(view: &View<'_>, rules: &Rules) -> Vec<Goal> {
    let open = view.open(rules);
    let movable: Vec<bool> = view
        .items
        .iter()
        .zip(view.forms)
        .map(|(item, form)| {
            let kept_error = rules.keep_errors && item.failed && item.kind == Kind::Result;
            *form != Form::Gone
                && !item.fixed
                && !kept_error
                && open.contains(&item.message)
                && item.size(*form) > item.placeholder
        })
        .collect();
    let results: Vec<usize> = (0..view.items.len()).filter(|&at| is_result(view, at)).collect();
    let recent = results.len().saturating_sub(rules.keep_recent);
    let old = &unused(view, &results, results.get(..recent).unwrap_or_default(), rules.keep_used);
    let stays = view.forms.iter().map(|&form| Goal { form, policy: None });
    let mut chosen: Vec<Goal> = stays.collect();
    let mut choose = |at: usize, form: Form, policy: usize| {
        if let Some(chosen) = chosen.get_mut(at)
            && movable.get(at) == Some(&true)
            && form > chosen.form
        {
            *chosen = Goal { form, policy: Some(policy) };
        }
    };
    for (place, policy) in rules.policies.iter().enumerate() {
        let goes = match policy {
            Policy::Results => old.clone(),
            Policy::Outdated { max_age_ms } => {
                old_terminals(view, &results, *max_age_ms, rules.keep_recent)
            }
            Policy::Superseded { keep_reads } => superseded_reads(view, &results, *keep_reads),
            Policy::Budget(budget) => over_budget(view, &results, &movable, budget),
            Policy::Arguments { min_tokens } => arguments(view, old, *min_tokens),
            Policy::Pressure(pressure) => {
                for (at, form) in under_pressure(view, old, &movable, pressure) {
                    choose(at, form, place);
                }
                continue;
            }
        };
        for at in goes {
            choose(at, Form::Gone, place);
        }
    }
    chosen
}

fn is_result(view: &View<'_>, at: usize) -> bool {
    view.items.get(at).is_some_and(|item| item.kind == Kind::Result)
}

fn old_terminals(
    view: &View<'_>,
    results: &[usize],
    max_age_ms: f64,
    keep_recent: usize,
) -> Vec<usize> {
    let items = || results.iter().filter_map(|&at| view.items.get(at));
    let times: Vec<f64> = items().map(|item| item.time).collect();
    let facts: Vec<Facts> = items()
        .map(|item| {
            let origin = if item.terminal { Facts::TERMINAL_TOOL } else { Facts::OTHER_TOOL };
            let failed = if item.failed { Facts::FAILED } else { Facts::NONE };
            Facts::PLAIN.and(origin).and(failed)
        })
        .collect();
    let rule = OutdatedRule {
        now: view.now,
        max_age_ms,
        keep_recent,
        count_errors: false,
        stderr_is_error: true,
    };
    match outdated(&times, &facts, &rule) {
        Answer::Outdated(places) => {
            places.iter().filter_map(|&place| results.get(place as usize).copied()).collect()
        }
        // All facts are known, so nothing has to be read.
        Answer::Read(_) => Vec::new(),
    }
}

fn superseded_reads(view: &View<'_>, results: &[usize], keep: usize) -> Vec<usize> {
    let reads = results.iter().filter_map(|&at| Some((at, view.items.get(at)?.read.as_deref()?)));
    superseded(reads.collect::<Vec<_>>().into_iter(), keep)
}

fn arguments(view: &View<'_>, old: &[usize], min_tokens: f64) -> Vec<usize> {
    let Some(newest_old) = old.last().and_then(|&at| view.items.get(at)) else { return Vec::new() };
    let items = view.items.iter().enumerate();
    items
        .filter(|(_, item)| item.kind == Kind::Arguments && item.writes)
        .filter(|(_, item)| item.message <= newest_old.message && item.tokens >= min_tokens)
        .map(|(at, _)| at)
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::budget::Order;
    use super::*;

    fn may_go(view: &View<'_>, rules: &Rules) -> Vec<Form> {
        goals(view, rules).iter().map(|goal| goal.form).collect()
    }

    /// A result of this many tokens in a message; its placeholder has 10.
    pub(crate) fn result(message: usize, tokens: f64) -> Item {
        Item {
            message,
            kind: Kind::Result,
            tokens,
            trimmed: (tokens > 1000.0).then_some(800.0),
            placeholder: 10.0,
            fixed: false,
            failed: false,
            terminal: false,
            writes: false,
            time: f64::NAN,
            read: None,
        }
    }

    pub(crate) fn rules(policies: &[Policy]) -> Rules {
        Rules {
            removes_thinking: false,
            policies: policies.to_vec(),
            keep_recent: 0,
            keep_messages: 0,
            keep_preamble: false,
            keep_errors: false,
            keep_used: 0,
        }
    }

    /// A history: the user speaks in message 0, the model in each odd one up to 99, and results are in even ones.
    pub(crate) fn view<'a>(items: &'a [Item], forms: &'a [Form], answers: &'a [usize]) -> View<'a> {
        let tokens = items.iter().zip(forms).map(|(item, form)| item.size(*form)).sum();
        let unseen_from = answers.last().copied().unwrap_or(0);
        View {
            items,
            forms,
            tokens,
            turns: &[0],
            answers,
            bound_to: 0,
            unseen_from,
            budget_from: 0,
            now: 1e6,
            uses: &[],
        }
    }

    const ANSWERS: [usize; 5] = [1, 3, 5, 7, 99];

    /// Returns the indexes of the items to prune.
    fn goes(items: &[Item], rules: &Rules) -> Vec<usize> {
        let forms = vec![Form::Whole; items.len()];
        gone(&may_go(&view(items, &forms, &ANSWERS), rules))
    }

    fn gone(forms: &[Form]) -> Vec<usize> {
        let places = forms.iter().enumerate().filter(|(_, form)| **form == Form::Gone);
        places.map(|(at, _)| at).collect()
    }

    fn results(tokens: &[f64]) -> Vec<Item> {
        tokens.iter().enumerate().map(|(at, tokens)| result(2 * at + 2, *tokens)).collect()
    }

    const NOTHING: [usize; 0] = [];

    #[test]
    fn the_newest_stay_and_so_does_what_must() {
        let items = results(&[100.0, 100.0, 10.0, 100.0, 100.0]);
        assert_eq!(goes(&items, &rules(&[Policy::Results])), [0, 1, 3, 4], "no longer than 10");
        assert_eq!(goes(&items, &Rules { keep_recent: 2, ..rules(&[Policy::Results]) }), [0, 1]);
        assert_eq!(goes(&items, &rules(&[])), NOTHING);
        let mut some = items.clone();
        some[0].fixed = true;
        some[1].failed = true;
        assert_eq!(goes(&some, &rules(&[Policy::Results])), [1, 3, 4]);
        let kept = Rules { keep_errors: true, ..rules(&[Policy::Results]) };
        assert_eq!(goes(&some, &kept), [3, 4]);
    }

    #[test]
    fn what_the_model_has_not_seen_stays() {
        let items = results(&[100.0, 100.0, 100.0]);
        let forms = [Form::Whole; 3];
        for (answers, expected) in
            [(&[1, 3, 5, 7][..], &[0, 1, 2][..]), (&[1, 3, 5], &[0, 1]), (&[1], &[]), (&[], &[])]
        {
            let view = view(&items, &forms, answers);
            assert_eq!(gone(&may_go(&view, &rules(&[Policy::Results]))), expected, "{answers:?}");
        }
    }

    #[test]
    fn the_newest_messages_of_the_model_are_kept_with_all_after_them() {
        let items = results(&[100.0, 100.0, 100.0, 100.0]);
        let forms = [Form::Whole; 4];
        let view = view(&items, &forms, &[1, 3, 5, 7]);
        for (keep_messages, expected) in
            [(0, &[0, 1, 2][..]), (1, &[0, 1, 2]), (2, &[0, 1]), (3, &[0]), (4, &[]), (5, &[])]
        {
            let rules = Rules { keep_messages, ..rules(&[Policy::Results]) };
            assert_eq!(gone(&may_go(&view, &rules)), expected, "{keep_messages}");
        }
    }

    #[test]
    fn the_preamble_stays_if_it_is_to() {
        let items = results(&[100.0, 100.0]);
        let forms = [Form::Whole; 2];
        for (turns, keep_preamble, expected) in [
            (&[3, 5][..], true, &[1][..]),
            (&[3], false, &[0, 1]),
            (&[], true, &[]),
            (&[], false, &[0, 1]),
        ] {
            let view = View { turns, ..view(&items, &forms, &ANSWERS) };
            let rules = Rules { keep_preamble, ..rules(&[Policy::Results]) };
            assert_eq!(gone(&may_go(&view, &rules)), expected, "{turns:?} {keep_preamble}");
        }
    }

    #[test]
    fn policies_combine_and_nothing_comes_back() {
        let items = results(&[100.0, 2000.0, 2000.0]);
        let pressure =
            Pressure { context_window: 100.0, trim_at: 0.0, clear_at: 1e9, min_tokens: 0.0 };
        let budget = Budget {
            protect_tokens: 2000.0,
            min_tokens: 0.0,
            protect_turns: 0,
            target_tokens: None,
            order: Order::Oldest,
        };
        let rules = rules(&[Policy::Budget(budget), Policy::Pressure(pressure)]);
        let forms = may_go(&view(&items, &[Form::Whole; 3], &ANSWERS), &rules);
        assert_eq!(forms, [Form::Gone, Form::Gone, Form::Trimmed]);
        assert_eq!(may_go(&view(&items, &forms, &ANSWERS), &rules), forms);
    }

    #[test]
    fn old_results_of_terminals_go_and_those_without_a_time_stay() {
        let at = |time: f64, terminal: bool, failed: bool| Item {
            time,
            terminal,
            failed,
            ..result(2, 100.0)
        };
        // The current time is 1,000,000.
        let items = [
            at(98_999.0, true, false),
            at(99_999.0, true, false),
            at(100_000.0, true, false),
            at(98_999.0, false, false),
            at(98_999.0, true, true),
            at(f64::NAN, true, false),
            at(2e6, true, false),
        ];
        let rules = rules(&[Policy::Outdated { max_age_ms: 900_000.0 }]);
        assert_eq!(goes(&items, &rules), [0, 1]);
        // Only results of terminals with a time that did not fail are counted, as in the rule itself.
        assert_eq!(goes(&items, &Rules { keep_recent: 2, ..rules.clone() }), [0, 1]);
        assert_eq!(goes(&items, &Rules { keep_recent: 3, ..rules.clone() }), [0]);
        assert_eq!(goes(&items[..2], &Rules { keep_recent: 1, ..rules }), [0]);
    }

    #[test]
    fn long_arguments_go_in_front_of_the_newest_results() {
        let call = |message: usize, tokens: f64, writes: bool| Item {
            kind: Kind::Arguments,
            writes,
            trimmed: None,
            ..result(message, tokens)
        };
        let items = [
            call(1, 500.0, true),
            result(2, 5.0),
            call(3, 499.0, true),
            call(3, 900.0, false),
            call(3, 900.0, true),
            result(4, 5.0),
            call(5, 900.0, true),
            result(6, 5.0),
        ];
        let policy = rules(&[Policy::Arguments { min_tokens: 500.0 }]);
        assert_eq!(goes(&items, &policy), [0, 4, 6]);
        assert_eq!(goes(&items, &Rules { keep_recent: 1, ..policy.clone() }), [0, 4]);
        assert_eq!(goes(&items, &Rules { keep_recent: 2, ..policy.clone() }), [0]);
        assert_eq!(goes(&items, &Rules { keep_recent: 3, ..policy }), NOTHING);
        // Arguments are not results.
        assert_eq!(goes(&items[4..5], &rules(&[Policy::Results])), NOTHING);
    }
}
