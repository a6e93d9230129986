//! The result of a test run as data.

use serde::Serialize;

/// The result of a test run, as far as its output states it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRun {
    /// Names of the programs whose output was recognized, in the order of the table of runners.
    pub runners: Vec<&'static str>,
    /// Number of tests that passed; absent if the output does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Number of tests that failed, those that ended with an error included.
    pub failed: u64,
    /// Number of tests that were skipped, or failed as expected.
    pub skipped: u64,
    /// True if the output ends before the run does: the process died, or was stopped. The tests that were running are among
    /// the failures if the output names them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// The failures in the order in which the output names them first, at most [`super::MAX_FAILURES`].
    pub failures: Vec<Failure>,
}

/// A test that failed, or a file of tests that could not be run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The name of the test as its runner prints it. Names of nested groups are joined by ` > ` where the runner
    /// prints them on lines of their own.
    pub id: String,
    /// The first line of the message; empty if there is none.
    pub message: String,
    /// The place as `file:line`; empty if the output does not say.
    #[serde(rename = "where")]
    pub place: String,
}

/// Returns the start of a text of at most `max_bytes` bytes.
pub(super) fn bounded(text: &str, max_bytes: usize) -> String {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text).to_owned()
}

/// Numbers of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub total: Option<u64>,
    pub passed: Option<u64>,
    pub failed: u64,
    pub skipped: u64,
}

impl Counts {
    /// Adds the numbers of another part of the run.
    pub(crate) fn add(&mut self, other: Counts) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.total = sum(self.total, other.total);
        self.passed = sum(self.passed, other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }

    /// Returns the number of tests that passed: as printed, or else what remains of the total.
    pub(crate) fn passed(&self) -> Option<u64> {
        let rest = |total: u64| total.saturating_sub(self.failed).saturating_sub(self.skipped);
        self.passed.or_else(|| self.total.map(rest))
    }
}
