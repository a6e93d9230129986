//! The findings of benches, as lines of JSON that the script prints and stores.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use super::Result;

/// A figure with its name, such as `(0, "torn")`.
pub(crate) type Figure = (Value, &'static str);

/// The verdict of a bench.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The property holds.
    Passed,
    /// The property does not hold; this is the first case.
    Failed(String),
    /// It could not be tested, for this reason.
    Skipped(String),
    /// Other programs were measured for comparison.
    Compared,
}

/// The findings of a bench.
#[derive(Debug)]
pub(crate) struct Finding {
    pub verdict: Verdict,
    pub figures: Vec<Figure>,
}

impl Finding {
    /// Returns a passed finding, unless there is a problem.
    pub(crate) fn new(figures: Vec<Figure>, wrong: Option<String>) -> Self {
        Finding { verdict: wrong.map_or(Verdict::Passed, Verdict::Failed), figures }
    }

    /// Returns a skipped finding.
    pub(crate) fn skipped(reason: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Skipped(reason.into()), figures: Vec::new() }
    }

    /// Returns figures of other programs.
    pub(crate) fn compared(figures: Vec<Figure>) -> Self {
        Finding { verdict: Verdict::Compared, figures }
    }
}

/// The report of all benches.
#[derive(Debug, Default)]
pub(crate) struct Report {
    only: Vec<String>,
    is_bad: bool,
}

impl Report {
    /// Creates a report of the benches whose names contain one of the words, or of all without words.
    pub(crate) fn new(only: Vec<String>) -> Self {
        Report { only, is_bad: false }
    }

    /// Returns true if a bench failed.
    pub(crate) fn is_bad(&self) -> bool {
        self.is_bad
    }

    /// Runs one bench, if it is selected, and reports its findings.
    pub(crate) fn bench(&mut self, bars: &str, name: &str, work: impl FnOnce() -> Result<Finding>) {
        if !self.only.is_empty() && !self.only.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        let started = Instant::now();
        let finding = work().unwrap_or_else(|error| Finding {
            verdict: Verdict::Failed(error.to_string()),
            figures: Vec::new(),
        });
        let (status, reason) = match &finding.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(case) => ("failed", Some(case)),
            Verdict::Skipped(reason) => ("skipped", Some(reason)),
            Verdict::Compared => ("compared", None),
        };
        self.is_bad |= status == "failed";
        let figures: Vec<Value> =
            finding.figures.iter().map(|(value, name)| json!([value, name])).collect();
        let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let row = json!({
            "bars": bars, "name": name, "status": status, "reason": reason, "figures": figures,
            "seconds": seconds,
        });
        let _ = writeln!(std::io::stdout(), "{row}");
    }
}
