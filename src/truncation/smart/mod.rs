//! Previews that keep the lines a developer would look for: errors and their context, totals and exit codes, the two ends.
//!
//! While the text streams through, [`scan`] judges its lines by the rules of [`table`] and remembers the ones that matter and the
//! lines around them, in bounded memory. At the end [`select`] chooses, within the budget, and [`render`] writes the
//! chosen lines in their order with the exact gap at every cut.
//!
//! | module | contents |
//! | --- | --- |
//! | [`table`] | the words and patterns of lines that matter |
//! | [`rules`] | matching of these rules |
//! | [`words`] | the kinds of words in a line |
//! | [`stack_trace`] | lines of a stack trace |
//! | [`line_fingerprint`] | recognizing lines that differ in numbers and names only |
//! | [`scan`] | the candidates for the preview |
//! | [`retained`] | candidates that are kept in memory |
//! | [`surroundings`] | the place of a line in the output |
//! | [`features`] | the description of a line that is ranked |
//! | [`ranking`] | the learned rank of a description |
//! | [`query`] | lines that answer a question |
//! | [`sections`] | sections of a test runner |
//! | [`blocks`] | lines that explain the same failure |
//! | [`select`] | blocks that the preview shows |
//! | [`render`] | writing the blocks |
//!
//! ```
//! use spillway_core::tools::{Printed, printed_by};
//! use spillway_core::truncation::smart::Keep;
//!
//! // Strategies are chosen by name; other names keep the two ends.
//! assert!(Keep::of("smart", printed_by("bash")).is_smart());
//! assert!(!Keep::of("head-tail", printed_by("bash")).is_smart());
//! // A command may say more than its tool.
//! let smart = Keep::of("smart", printed_by("bash"));
//! assert_eq!(smart.knowing(Printed::Diff), Keep::of("diff", printed_by("bash")));
//! ```

mod blocks;
mod features;
pub(super) mod line_fingerprint;
mod query;
pub mod ranking;
mod render;
mod retained;
pub mod rules;
pub mod scan;
mod sections;
mod select;
mod stack_trace;
mod surroundings;
pub mod table;
mod words;

use serde::{Deserialize, Serialize};

use crate::tools::Printed;

pub use features::{FEATURES, Row};
pub use query::Query;
pub use render::{describe, preview};

/// The part of a text that is kept. A text in another form than the named one is shown as by `Smart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// One end or both, as the direction says.
    #[default]
    Ends,
    /// One end or both, as the direction says. A document on one line, which has no end worth showing, is shown as by `Json` or
    /// `Tests`.
    Auto,
    /// The lines that matter, and both ends.
    Smart(Lean),
    /// The parts of JSON that keep it JSON.
    Json(Lean),
    /// The files and hunks of a diff.
    Diff(Lean),
    /// The header and rows of a table in CSV or TSV.
    Csv(Lean),
    /// The failures of a test run.
    Tests(Lean),
}

/// Which end counts more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lean {
    /// The end: of what commands, builds and tests print.
    Late,
    /// The start: of files and search results.
    Early,
}

impl Lean {
    fn of(printed: Printed) -> Self {
        if printed == Printed::Listing { Lean::Early } else { Lean::Late }
    }
}

impl Keep {
    /// Returns the part that a strategy keeps of what was printed.
    pub fn of(strategy: &str, printed: Printed) -> Self {
        let lean = Lean::of(printed);
        match strategy {
            "auto" => Keep::Auto,
            "smart" => Keep::Smart(lean),
            "json" => Keep::Json(lean),
            "diff" => Keep::Diff(lean),
            "csv" => Keep::Csv(lean),
            "tests" => Keep::Tests(lean),
            _ => Keep::Ends,
        }
    }

    /// Returns the part that is kept if it is known what was printed. A strategy that was asked for by its form is kept.
    pub fn knowing(self, printed: Printed) -> Self {
        match (self, printed) {
            (Keep::Smart(lean), Printed::Diff) => Keep::Diff(lean),
            (Keep::Smart(_), Printed::Listing) => Keep::Smart(Lean::of(printed)),
            _ => self,
        }
    }

    /// Returns true if the start counts more than the end.
    fn is_early(self) -> bool {
        match self {
            Keep::Ends | Keep::Auto => false,
            Keep::Smart(lean)
            | Keep::Json(lean)
            | Keep::Diff(lean)
            | Keep::Csv(lean)
            | Keep::Tests(lean) => lean == Lean::Early,
        }
    }

    /// Returns true if it is `smart`, or a form that falls back to it.
    pub fn is_smart(self) -> bool {
        !matches!(self, Keep::Ends | Keep::Auto)
    }

    /// Shares of the budget in percent that the head and the tail get before anything else.
    fn reserved(self) -> (u64, u64) {
        if self.is_early() { (50, 12) } else { (2, 12) }
    }

    /// The head's share in percent of the budget that is left after all important lines.
    fn head_share(self) -> u64 {
        if self.is_early() { 60 } else { 30 }
    }
}
