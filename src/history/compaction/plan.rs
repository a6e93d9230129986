//! Plans a compaction: which outputs are replaced, and where the kept part of the history begins.
//!
//! The newest turns are kept unchanged while they fit. Among the messages before them, outputs are replaced first; if that
//! is not enough, all of these messages are replaced by a summary. If the newest turns alone do not fit, the kept part
//! begins at a legal position within the oldest of them, or of the next one, and at most half of the usable size is
//! kept of turns that are split, so that there is room to work; turns that fit stay whole. The newest user message is
//! always kept.
//!
//! A larger window never keeps less: every limit grows with it, and of all positions that fit the earliest is taken.

use serde::{Deserialize, Serialize};

use super::acceptance::is_progress;
use super::cut_points::{Cut, Role, begins_turn, cuts};
use super::limits::CompactionLimits;

/// A message.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub role: Role,
    /// Size of the message with everything in it.
    pub size: f64,
}

/// The output of a tool that can be replaced.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Index of the message that contains it.
    pub message: usize,
    pub size: f64,
    /// Size of the placeholder.
    pub placeholder: f64,
}

/// The request for a plan.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wanted {
    /// Size of everything that is sent beside the history.
    pub environment: f64,
    /// Number of newest turns that are protected.
    pub recent_turns: usize,
    /// The newest outputs before them are kept up to this total size.
    pub protect_output: f64,
    /// Outputs are replaced only if their total size exceeds this.
    pub min_output: f64,
    /// True if a size equal to the limit is too large.
    pub inclusive: bool,
    /// Compact whatever the size is.
    pub force: bool,
    /// True if a summarizer is available.
    pub can_summarize: bool,
}

/// The first step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    None,
    /// Replace outputs.
    Outputs,
    /// Request a summary; if that fails, replace outputs.
    Summary,
}

/// The reason for doing nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompactionReason {
    /// The history fits.
    NotNeeded,
    /// Everything is protected, or was replaced already.
    NothingOld,
    /// Too little would be freed.
    NoProgress,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionPlan {
    pub step: Step,
    /// The reason if `step` is `None`.
    pub reason: Option<CompactionReason>,
    /// Total size, including everything that is sent beside the history.
    pub total: f64,
    /// Messages before this index are kept: instructions.
    pub first: usize,
    /// Messages from this index on are kept.
    pub from: usize,
    /// Start of the turn that is split; equal to `from` if none is.
    pub turn: usize,
    /// Range of messages that are kept before it, because they have the newest words of the user: they begin that turn. If
    /// they have results as well, the range begins with the calls.
    pub head: (usize, usize),
    /// Indexes of the outputs to replace.
    pub outputs: Vec<usize>,
    /// Size of the history after replacing them.
    pub after_outputs: f64,
    /// Size of the history without the replaced messages, and without the summary.
    pub after_cut: f64,
    /// Maximum size of the summary.
    pub room: f64,
}

/// Positions at which the kept part may begin.
struct Places {
    /// Positions from the start of the protected turns to `whole`, or to the end.
    all: Vec<usize>,
    /// The earliest turn that fits together with everything after it.
    whole: Option<usize>,
}

/// A summary is requested if it could take this fraction of the messages it replaces and still free enough.
const SUMMARY_OF_NEWS: f64 = 0.1;

/// Makes a plan. `pairs` is as in [`cuts`]; `outputs` are in the order of their messages.
pub fn plan(
    messages: &[Message],
    pairs: &[(usize, usize)],
    outputs: &[Output],
    limits: &CompactionLimits,
    wanted: &Wanted,
) -> CompactionPlan {
    History::new(messages, pairs, outputs, limits, wanted).plan()
}

struct History<'a> {
    limits: &'a CompactionLimits,
    wanted: &'a Wanted,
    roles: Vec<Role>,
    /// Cumulative size before each message, and the total.
    starts: Vec<f64>,
    cuts: Vec<Cut>,
    outputs: &'a [Output],
    /// Cumulative sizes of outputs, and of the savings from replacing them.
    sizes: Vec<f64>,
    freed: Vec<f64>,
    first: usize,
    /// The first message after the initial instructions and an earlier summary.
    body: usize,
    /// Starts of turns.
    turns: Vec<usize>,
}

impl<'a> History<'a> {
    fn new(
        messages: &[Message],
        pairs: &[(usize, usize)],
        outputs: &'a [Output],
        limits: &'a CompactionLimits,
        wanted: &'a Wanted,
    ) -> Self {
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        let skip = |from: usize, what: &[Role]| {
            let rest = roles.iter().skip(from);
            from + rest.take_while(|role| what.contains(role)).count()
        };
        let first = skip(0, &[Role::System, Role::Other]);
        let body = skip(first, &[Role::Summary]);
        let begins = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| roles.get(before)).copied();
            // The rest of a turn that was split is a turn as well.
            at == body || roles.get(at).is_some_and(|role| begins_turn(*role, before))
        };
        let turns = (body..roles.len()).filter(|&at| begins(at)).collect();
        let placeholders = outputs.iter().map(|output| output.size - output.placeholder);
        History {
            limits,
            wanted,
            starts: sums(messages.iter().map(|message| message.size)),
            cuts: cuts(&roles, pairs),
            outputs,
            sizes: sums(outputs.iter().map(|output| output.size)),
            freed: sums(placeholders),
            first,
            body,
            turns,
            roles,
        }
    }

    fn plan(&self) -> CompactionPlan {
        let (limits, wanted) = (self.limits, self.wanted);
        let size = self.size(0, self.roles.len());
        let total = size + wanted.environment;
        if !wanted.force && !limits.is_over(total, wanted.inclusive) {
            return CompactionPlan {
                reason: Some(CompactionReason::NotNeeded),
                ..self.at(self.body, total)
            };
        }
        let places = self.places();
        let forced_summary = wanted.force && wanted.can_summarize;
        if let Some(at) = self.enough_outputs(&places, total).filter(|_| !forced_summary)
            && is_progress(size, size - self.frees(at))
        {
            return CompactionPlan { step: Step::Outputs, ..self.at(at, total) };
        }
        let from = self.from(&places);
        let plan = self.at(from, total);
        if wanted.can_summarize && self.is_worth_a_summary(from) {
            return CompactionPlan { step: Step::Summary, ..plan };
        }
        if !wanted.can_summarize && is_progress(size, plan.after_outputs) {
            return CompactionPlan { step: Step::Outputs, ..plan };
        }
        let nothing = plan.outputs.is_empty() && !self.has_news(from);
        CompactionPlan {
            reason: Some(if nothing {
                CompactionReason::NothingOld
            } else {
                CompactionReason::NoProgress
            }),
            ..plan
        }
    }

    /// Returns the positions at which the kept part may begin.
    fn places(&self) -> Places {
        let protected = self.protected();
        let later = || self.cuts.iter().map(|cut| cut.at).filter(|&at| at > protected);
        let turns = later().filter(|at| self.turns.binary_search(at).is_ok());
        let whole = std::iter::once(protected).chain(turns).find(|&at| self.fits(at));
        let end = whole.unwrap_or(usize::MAX);
        let all = std::iter::once(protected).chain(later().filter(|&at| at <= end)).collect();
        Places { all, whole }
    }

    /// Returns the first position before which replacing outputs frees enough.
    fn enough_outputs(&self, places: &Places, total: f64) -> Option<usize> {
        let CompactionLimits { trigger, cut, .. } = *self.limits;
        places.all.iter().copied().find(|&at| {
            let enough = if places.whole == Some(at) { trigger } else { cut };
            self.frees(at) > 0.0 && total - self.frees(at) <= enough
        })
    }

    /// Returns the start of the kept part.
    fn from(&self, places: &Places) -> usize {
        let last = places.all.last().copied().unwrap_or(self.body);
        if !self.wanted.can_summarize {
            return last;
        }
        let is_small = |at: &usize| self.with_summary(*at) <= self.limits.cut;
        let from = places.all.iter().copied().find(is_small).unwrap_or(last);
        if places.whole == places.all.first().copied() {
            return from;
        }
        // If the history does not fit, it is split further where the oldest turn is too small to matter.
        let mut further = self.cuts.iter().map(|cut| cut.at).filter(|&at| at >= from);
        further.find(|&at| self.is_worth_a_summary(at)).unwrap_or(from)
    }

    /// Returns true if a summary of the messages before `at` would free enough.
    fn is_worth_a_summary(&self, at: usize) -> bool {
        let head = self.head(self.turn_of(at), at);
        let expected = self.kept(at, head) + self.expected(at, head);
        self.has_news(at) && is_progress(self.size(0, self.roles.len()), expected)
    }

    /// Returns a plan without a step, with the kept part beginning at `from`.
    fn at(&self, from: usize, total: f64) -> CompactionPlan {
        let turn = self.turn_of(from);
        let head = self.head(turn, from);
        let after_cut = self.kept(from, head);
        let left = self.limits.usable - self.wanted.environment - after_cut;
        CompactionPlan {
            step: Step::None,
            reason: None,
            total,
            first: self.first,
            from,
            turn,
            head,
            outputs: (0..self.gone(from)).collect(),
            after_outputs: total - self.wanted.environment - self.frees(from),
            after_cut,
            // If nothing fits anyway, another step has to shorten the kept part; the summary gets its share.
            room: if left < self.limits.min_summary() { self.limits.summary } else { left },
        }
    }

    /// Returns the start of the protected turns.
    fn protected(&self) -> usize {
        let turns = self.wanted.recent_turns.max(1);
        let newest = self.turns.len().checked_sub(turns).and_then(|at| self.turns.get(at));
        let Some(&from) = newest else { return self.body };
        // A call that is still running, or was answered late, keeps the messages before it.
        let legal = self.cuts.iter().rev().map(|cut| cut.at).find(|&at| at <= from);
        legal.unwrap_or(self.body).max(self.body)
    }

    /// Returns the start of the turn that contains a message.
    fn turn_of(&self, at: usize) -> usize {
        let before = self.turns.partition_point(|&turn| turn <= at);
        before.checked_sub(1).and_then(|turn| self.turns.get(turn)).copied().unwrap_or(at)
    }

    /// Returns the newest user messages, if the kept part begins after them. A message that also has results is kept with
    /// their calls, and with everything between them.
    fn head(&self, turn: usize, from: usize) -> (usize, usize) {
        let newest = self.turns.iter().rev().find(|&&at| self.roles.get(at) == Some(&Role::User));
        if newest != Some(&turn) || from <= turn {
            return (turn, turn);
        }
        let said = self.roles.iter().skip(turn).take_while(|role| **role == Role::User).count();
        let cut = |place: usize| self.cuts.get(place).map(|cut| cut.at);
        let before = self.cuts.partition_point(|cut| cut.at <= turn);
        let start = before.checked_sub(1).and_then(cut).filter(|&at| at >= self.body);
        let end = cut(self.cuts.partition_point(|cut| cut.at < turn + said)).unwrap_or(from);
        (start.unwrap_or(self.body), end.min(from))
    }

    fn size(&self, from: usize, to: usize) -> f64 {
        let start = |at: usize| self.starts.get(at).copied().unwrap_or_default();
        start(to) - start(from)
    }

    /// Returns the size kept if everything before `from` is replaced.
    fn kept(&self, from: usize, (start, end): (usize, usize)) -> f64 {
        self.size(0, self.first) + self.size(start, end) + self.size(from, self.roles.len())
    }

    /// Returns that size with a summary and with everything sent beside the history.
    fn with_summary(&self, from: usize) -> f64 {
        let head = self.head(self.turn_of(from), from);
        let before = self.size(self.first, self.body);
        let summary = if self.has_news(from) { self.limits.summary } else { before };
        self.kept(from, head) + summary + self.wanted.environment
    }

    /// Returns true if all messages from `from` on fit, in addition to everything that is sent anyway.
    fn fits(&self, from: usize) -> bool {
        let before = self.size(self.first, self.body);
        let summary = if self.has_news(from) { self.limits.min_summary() } else { before };
        let head = self.head(self.turn_of(from), from);
        self.kept(from, head) + summary + self.wanted.environment <= self.limits.usable
    }

    /// Estimates the size of the summary: that of the summary it updates, or a fraction of the messages it replaces.
    fn expected(&self, from: usize, (start, end): (usize, usize)) -> f64 {
        let before = self.size(self.first, self.body);
        let news = self.size(self.body, from) - self.size(start, end);
        before.max(self.limits.summary.min(SUMMARY_OF_NEWS * news))
    }

    /// Returns true if a message before `from` is in no summary yet and is not kept.
    fn has_news(&self, from: usize) -> bool {
        let (start, end) = self.head(self.turn_of(from), from);
        let stays = |at: usize| at >= start && at < end;
        (self.body..from).any(|at| self.roles.get(at) != Some(&Role::Summary) && !stays(at))
    }

    /// Returns the number of outputs replaced if the kept part begins at `from`.
    fn gone(&self, from: usize) -> usize {
        let before = self.outputs.partition_point(|output| output.message < from);
        let all = self.sizes.get(before).copied().unwrap_or_default();
        let newest = all - self.wanted.protect_output;
        let gone = self.sizes.partition_point(|&size| size < newest).min(before);
        let size = self.sizes.get(gone).copied().unwrap_or_default();
        if size > self.wanted.min_output { gone } else { 0 }
    }

    fn frees(&self, from: usize) -> f64 {
        self.freed.get(self.gone(from)).copied().unwrap_or_default()
    }
}

fn sums(sizes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    for size in sizes {
        sum += size;
        sums.push(sum);
    }
    sums
}

#[cfg(test)]
mod tests;
