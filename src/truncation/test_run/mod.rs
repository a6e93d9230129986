//! Previews of test runs: the totals, and the name of every failure before anything else.
//!
//! While the text streams through, [`scan`] finds the lines that the rules of known [`runners`] recognize, a [`record`]
//! of each runner collects its totals and failures, and [`retained`] keeps the lines that name and explain them, in
//! bounded memory. At the end [`select`] shares the budget among the failures, and [`line_preview`] writes them. Reports
//! in XML are read by [`xml`] and shown by [`tag_preview`]. The same scan gives the run as data.
//!
//! | module | contents |
//! | --- | --- |
//! | [`runners`] | the meaning of a line, by runner |
//! | [`rules`] | the possible meanings of a line |
//! | [`counts`] | the numbers in a line of totals |
//! | [`scan`] | recognizing the runner that printed a line |
//! | [`xml`] | reading reports in XML |
//! | [`xml_text`] | attributes and entities in it |
//! | [`record`] | the totals and failures of a runner |
//! | [`entries`] | merging equal failures |
//! | [`report`] | the result as data |
//! | [`retained`] | lines that are kept in memory |
//! | [`select`] | lines that the preview shows |
//! | [`line_preview`] | writing lines |
//! | [`tag_preview`] | writing tags of a report |
//!
//! ```
//! use spillway_core::truncation::test_run::read;
//!
//! let output = b"test a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
//! let run = read(output).expect("a run of cargo test");
//! assert_eq!((run.passed, run.failed), (Some(1), 1));
//! assert_eq!(run.failures[0].id, "b");
//! ```

mod counts;
mod entries;
mod line_preview;
mod record;
mod report;
mod retained;
mod rules;
mod runners;
mod scan;
mod select;
mod tag_preview;
#[cfg(test)]
mod tests;
mod xml;
mod xml_text;

pub use report::{Failure, TestRun};
pub use scan::Scanner;

use scan::{Parts, Scanned};

use super::limits::Limits;
use super::lines::Selection;
use super::notice::Wording;
use super::preview_buffer::Window;
use super::strategies::Preview;
use crate::text::lossy::Source;

/// Maximum number of failures of a run that are distinguished.
pub const MAX_FAILURES: usize = 10_000;
/// Separates the names of nested groups.
const WITHIN: &str = " > ";
/// Maximum length of a name in bytes.
const MAX_ID: usize = 1_000;
/// Maximum length of a message in bytes.
const MAX_MESSAGE: usize = 500;

/// Reads a test run from the output of its runner. Returns `None` if no known runner printed it.
pub fn read(text: &[u8]) -> Option<TestRun> {
    let mut scanner = Scanner::new(0);
    scanner.push(text);
    scanner.test_run()
}

impl Scanner {
    /// Returns the run if the text so far is the output of a known runner.
    pub fn test_run(&self) -> Option<TestRun> {
        self.finish().map(|scanned| scanned.run)
    }
}

/// Returns a preview within the limits, or `None` if the text is not the output of a test runner, nothing failed, nothing
/// fits, or it would not say why.
pub fn preview(
    window: &Window,
    scanner: &Scanner,
    source: Source,
    limits: &Limits,
    wording: &Wording,
) -> Option<Preview> {
    let Scanned { run, parts } = scanner.finish()?;
    let total = run.failures.len() as u64;
    let (shown, text, cut) = match parts {
        // Why they failed is somewhere else in the text.
        Parts::Lines { entries, .. } if entries.iter().all(|entry| entry.is_bare) => return None,
        Parts::Lines { entries, kept } => {
            let (shown, Selection { text, cut }) =
                line_preview::preview(&entries, &kept, window, source, limits, wording)?;
            (shown, text, cut)
        }
        Parts::Tags(failures) => tag_preview::preview(&failures, window, source, limits)?,
    };
    Some(Preview { text, cut, missing: wording.tests(shown, total) })
}
