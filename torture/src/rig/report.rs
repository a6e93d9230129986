//! What a bench found, as a line of JSON that the script prints and keeps.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use super::Result;

/// A figure with its name, such as `(0, "torn")`.
pub type Figure = (Value, &'static str);

/// How a bench ended.
#[derive(Debug)]
pub enum Verdict {
    /// The promise was kept.
    Passed,
    /// It was not, and this is the first case of it.
    Failed(String),
    /// It could not be tried, for this reason.
    Skipped(String),
    /// Others were measured for comparison; there is nothing to keep.
    Compared,
}

/// What a bench found.
#[derive(Debug)]
pub struct Finding {
    /// How it ended.
    pub verdict: Verdict,
    /// What was counted.
    pub figures: Vec<Figure>,
}

impl Finding {
    /// Passed, unless something is wrong.
    pub fn new(figures: Vec<Figure>, wrong: Option<String>) -> Self {
        Finding { verdict: wrong.map_or(Verdict::Passed, Verdict::Failed), figures }
    }

    /// Not tried.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Skipped(reason.into()), figures: Vec::new() }
    }

    /// Somebody else's figures.
    pub fn compared(figures: Vec<Figure>) -> Self {
        Finding { verdict: Verdict::Compared, figures }
    }
}

/// Where findings go.
#[derive(Debug, Default)]
pub struct Report {
    only: Vec<String>,
    is_bad: bool,
}

impl Report {
    /// A report of the benches whose names contain one of the words; of all without any.
    pub fn new(only: Vec<String>) -> Self {
        Report { only, is_bad: false }
    }

    /// Whether a bench failed.
    pub fn is_bad(&self) -> bool {
        self.is_bad
    }

    /// Runs one bench, if it is asked for, and reports what it found.
    pub fn bench(&mut self, bars: &str, name: &str, work: impl FnOnce() -> Result<Finding>) {
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
