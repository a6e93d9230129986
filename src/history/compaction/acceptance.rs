//! Decides whether a summary is accepted, and whether another compaction makes sense.

use serde::{Deserialize, Serialize};

/// Minimum share of the history that a step must free. A smaller gain is not worth the loss of the provider's cache and
/// the model's time.
pub const MIN_PROGRESS: f64 = 0.1;

/// Sizes before and after a compaction.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Size of the history before.
    pub before: f64,
    /// Size of the history with the summary.
    pub after: f64,
    /// Size of the messages that the summary replaces.
    pub input: f64,
    /// Size of the summary.
    pub summary: f64,
}

/// The decision about a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is used.
    Taken,
    /// It is larger than the messages that it replaces.
    SummaryTooLarge,
    /// It frees too little.
    NoProgress,
}

/// Decides whether a summary is used.
pub fn judge(outcome: &Outcome) -> Verdict {
    let Outcome { before, after, input, summary } = *outcome;
    if summary >= input {
        Verdict::SummaryTooLarge
    } else if !is_progress(before, after) {
        Verdict::NoProgress
    } else {
        Verdict::Taken
    }
}

/// Returns true if a step frees enough.
pub fn is_progress(before: f64, after: f64) -> bool {
    before > 0.0 && before - after >= MIN_PROGRESS * before
}

/// This number of compactions in as many answers of the model means that compacting does not help.
pub const MAX_COMPACTIONS: usize = 3;

/// Number of consecutive failures after which summaries pause.
pub const MAX_FAILURES: u32 = 3;

/// Number of answers of the model that the pause lasts.
pub const PAUSE: u64 = 10;

/// The compactions of a session so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionLog {
    /// Number of answers of the model that were replaced by summaries.
    pub answers: u64,
    /// For each of the newest compactions the number of answers after which it was made.
    pub recent: Vec<u64>,
    /// Number of failed summaries since the last success.
    pub failures: u32,
    /// Number of answers after which the last one failed.
    #[serde(default)]
    pub failed_at: u64,
}

/// The decision whether to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompactionDecision {
    /// Compact.
    Go,
    /// Compact without a summary, because too many have failed.
    Blocked,
    /// Do not compact: it does not help.
    Thrash,
}

impl CompactionLog {
    /// Decides whether to compact a history with `answers` answers of the model. An explicit request (`force`) is never
    /// refused.
    pub fn decide(&self, answers: u64, force: bool) -> CompactionDecision {
        if force {
            return CompactionDecision::Go;
        }
        let now = self.answers.saturating_add(answers);
        let first = self.recent.len().checked_sub(MAX_COMPACTIONS);
        let newest = first.and_then(|first| Some((*self.recent.get(first)?, *self.recent.last()?)));
        let turns = MAX_COMPACTIONS as u64;
        if let Some((first, last)) = newest
            && last.saturating_sub(first) < turns
            && now.saturating_sub(last) < turns
        {
            return CompactionDecision::Thrash;
        }
        let pauses = now.saturating_sub(self.failed_at) < PAUSE;
        if self.failures >= MAX_FAILURES && pauses {
            CompactionDecision::Blocked
        } else {
            CompactionDecision::Go
        }
    }

    /// Records a compaction of a history with `answers` answers, of which `dropped` were replaced.
    #[must_use]
    pub fn compacted(mut self, answers: u64, dropped: u64) -> CompactionLog {
        self.recent.push(self.answers.saturating_add(answers));
        let surplus = self.recent.len().saturating_sub(MAX_COMPACTIONS);
        self.recent.drain(..surplus);
        self.answers = self.answers.saturating_add(dropped);
        self.failures = 0;
        self
    }

    /// Records a failed summary of a history with `answers` answers.
    #[must_use]
    pub fn failed(mut self, answers: u64) -> CompactionLog {
        self.failures = self.failures.saturating_add(1);
        self.failed_at = self.answers.saturating_add(answers);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_must_be_worth_it() {
        let of = |before: f64, after: f64, input: f64, summary: f64| {
            judge(&Outcome { before, after, input, summary })
        };
        assert_eq!(of(100.0, 90.0, 20.0, 10.0), Verdict::Taken);
        assert_eq!(of(100.0, 90.1, 20.0, 10.1), Verdict::NoProgress);
        assert_eq!(of(100.0, 100.0, 20.0, 20.0), Verdict::SummaryTooLarge);
        assert_eq!(of(0.0, 0.0, 1.0, 0.0), Verdict::NoProgress);
    }

    #[test]
    fn three_in_three_turns_are_enough() {
        let past = CompactionLog::default().compacted(10, 8).compacted(3, 2).compacted(2, 1);
        assert_eq!((past.answers, past.recent.as_slice()), (11, [10, 11, 12].as_slice()));
        assert_eq!(past.decide(2, false), CompactionDecision::Thrash);
        assert_eq!(past.decide(2, true), CompactionDecision::Go);
        assert_eq!(past.decide(4, false), CompactionDecision::Go, "three more answers");
        let slow = CompactionLog::default().compacted(10, 8).compacted(3, 2).compacted(4, 1);
        assert_eq!(slow.decide(3, false), CompactionDecision::Go);
    }

    #[test]
    fn three_failures_block_all_but_explicit_requests() {
        let past = CompactionLog::default().failed(1).failed(2);
        assert_eq!(past.decide(0, false), CompactionDecision::Go);
        let past = past.failed(3);
        assert_eq!(past.decide(3, false), CompactionDecision::Blocked);
        assert_eq!(
            past.decide(13, false),
            CompactionDecision::Go,
            "ten answers later it may work again"
        );
        assert_eq!(past.decide(0, true), CompactionDecision::Go);
        assert_eq!(past.compacted(1, 1).decide(9, false), CompactionDecision::Go);
    }
}
