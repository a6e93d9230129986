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
use super::used_results::{Use, unused};
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
    /// Every result but the newest `keep_recent`, if all results together have more tokens than `min_tokens`.
    Results {
        /// Tokens of all results, those that are gone included.
        min_tokens: f64,
    },
    /// Results of terminals that are older than `max_age_ms`, by the rule of outdated results.
    Outdated {
        /// Age in milliseconds.
        max_age_ms: f64,
    },
    /// Reads of a file that `keep_reads` newer ones cover, and commands that were run again as often.
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
            Policy::Results { min_tokens } => {
                let all: f64 =
                    results.iter().filter_map(|&at| Some(view.items.get(at)?.tokens)).sum();
                if all > *min_tokens { old.clone() } else { Vec::new() }
            }
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
pub(super) mod tests;
