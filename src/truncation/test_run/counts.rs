//! Reads numbers of tests from a line of totals.

use super::report::Counts;
use super::rules::Form;

/// The kind of tests that a word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Total,
    Passed,
    Failed,
    Skipped,
}

/// The words of all runners, in lower case. A number next to any other word is not a number of tests.
const WORDS: &[(Kind, &[&str])] = &[
    (
        Kind::Total,
        &["tests", "test", "specs", "spec", "examples", "example", "runs", "total", "of"],
    ),
    (Kind::Passed, &["passed", "passing", "pass", "xpassed", "flaky"]),
    (
        Kind::Failed,
        &[
            "failed",
            "failing",
            "fail",
            "failures",
            "failure",
            "errors",
            "error",
            "timed",
            "cancelled",
            "uncaught",
            "unhandled",
            "unexpected",
            "interrupted",
        ],
    ),
    (
        Kind::Skipped,
        &[
            "skipped",
            "skip",
            "skips",
            "pending",
            "pendings",
            "todo",
            "ignored",
            "xfailed",
            "disabled",
            "omissions",
            "incomplete",
            "known",
            "expected",
            "did",
        ],
    ),
];

fn kind(word: &str) -> Option<Kind> {
    let word = word.to_ascii_lowercase();
    WORDS.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(kind, _)| *kind)
}

/// Reads the numbers of a line.
pub(super) fn read(line: &str, form: Form) -> Counts {
    let mut counts = Counts::default();
    let ends_part = |letter: char| match form {
        Form::NumberFirst => ",;|():".contains(letter),
        Form::WordFirst => ",;|()-".contains(letter),
    };
    for part in line.split(ends_part) {
        let words: Vec<&str> =
            part.split([' ', '\t', ':', '=', '.']).filter(|word| !word.is_empty()).collect();
        for (at, word) in words.iter().enumerate() {
            let Ok(number) = word.parse::<u64>() else { continue };
            let (before, after) =
                (words.get(..at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default());
            let kind = match form {
                Form::NumberFirst => before_of(before).or_else(|| counted(after)),
                Form::WordFirst => before.iter().find_map(|word| kind(word)),
            };
            match kind {
                Some(Kind::Total) => counts.total = Some(number),
                Some(Kind::Passed) => {
                    counts.passed = Some(counts.passed.unwrap_or(0).saturating_add(number))
                }
                Some(Kind::Failed) => counts.failed = counts.failed.saturating_add(number),
                Some(Kind::Skipped) => counts.skipped = counts.skipped.saturating_add(number),
                None => {}
            }
        }
    }
    counts
}

/// Returns the kind of the number in `out of 6`.
fn before_of(before: &[&str]) -> Option<Kind> {
    before.last().filter(|word| **word == "of").and_then(|word| kind(word))
}

/// Returns the kind that the words after a number say: `2 failed`, `2 tests failed`.
fn counted(after: &[&str]) -> Option<Kind> {
    if after.ends_with(&["failed", "as", "expected"]) {
        return Some(Kind::Skipped);
    }
    let first = after.first().and_then(|word| kind(word))?;
    let second = after.get(1).and_then(|word| kind(word));
    Some(if first == Kind::Total { second.unwrap_or(first) } else { first })
}

#[cfg(test)]
mod tests {
    use super::Form::{NumberFirst, WordFirst};
    use super::*;

    #[test]
    fn numbers_of_every_runner() {
        // Line, form, total, passed, failed, skipped.
        let cases = [
            (
                "== 3 failed, 3 passed, 1 skipped, 1 xfailed, 1 error in 0.03s ==",
                NumberFirst,
                None,
                Some(3),
                4,
                2,
            ),
            ("Ran 6 tests in 0.001s", NumberFirst, Some(6), None, 0, 0),
            (
                "FAILED (failures=3, errors=1, skipped=1, expected failures=1)",
                WordFirst,
                None,
                None,
                4,
                2,
            ),
            (
                "Tests:       2 failed, 1 skipped, 3 passed, 6 total",
                NumberFirst,
                Some(6),
                Some(3),
                2,
                1,
            ),
            ("      Tests  2 failed | 2 passed | 1 skipped (5)", NumberFirst, None, Some(2), 2, 1),
            ("  2 passing (6ms)", NumberFirst, None, Some(2), 0, 0),
            ("ℹ cancelled 1", WordFirst, None, None, 1, 0),
            ("  3 tests failed", NumberFirst, None, None, 3, 0),
            ("  1 known failure", NumberFirst, None, None, 0, 1),
            (
                "     Summary [   0.137s] 7 tests run: 2 passed (1 slow), 5 failed, 1 skipped",
                NumberFirst,
                Some(7),
                Some(2),
                5,
                1,
            ),
            (
                "test result: FAILED. 1 passed; 4 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.07s",
                NumberFirst,
                None,
                Some(1),
                4,
                1,
            ),
            ("5 examples, 3 failures, 1 pending", NumberFirst, Some(5), None, 3, 1),
            (
                "0 examples, 0 failures, 1 error occurred outside of examples",
                NumberFirst,
                Some(0),
                None,
                1,
                0,
            ),
            (
                "5 runs, 3 assertions, 2 failures, 1 errors, 1 skips",
                NumberFirst,
                Some(5),
                None,
                3,
                1,
            ),
            (
                "Tests: 7, Assertions: 5, Errors: 1, Failures: 3, Skipped: 1.",
                WordFirst,
                Some(7),
                None,
                4,
                1,
            ),
            ("OK (7 tests, 9 assertions)", NumberFirst, Some(7), None, 0, 0),
            (
                "[ERROR] Tests run: 5, Failures: 2, Errors: 1, Skipped: 1",
                WordFirst,
                Some(5),
                None,
                3,
                1,
            ),
            ("5 tests completed, 2 failed, 1 skipped", NumberFirst, Some(5), None, 2, 1),
            ("33% tests passed, 4 tests failed out of 6", NumberFirst, Some(6), None, 4, 0),
            (
                "Failed!  - Failed:     2, Passed:     3, Skipped:     1, Total:     6, Duration: 12 ms",
                WordFirst,
                Some(6),
                Some(3),
                2,
                1,
            ),
            ("# pass  1", WordFirst, None, Some(1), 0, 0),
            ("[  FAILED  ] 3 tests, listed below:", WordFirst, None, None, 3, 0),
            ("[  PASSED  ] 4 tests.", WordFirst, None, Some(4), 0, 0),
            (
                "test cases:  419 |  327 passed |  71 failed | 7 skipped | 14 failed as expected",
                NumberFirst,
                None,
                Some(327),
                71,
                21,
            ),
            ("All tests passed (7 assertions in 3 test cases)", NumberFirst, Some(3), None, 0, 0),
            ("  3 did not run", NumberFirst, None, None, 0, 3),
            ("  1 flaky", NumberFirst, None, Some(1), 0, 0),
            ("8 specs, 5 failures, 2 pending specs", NumberFirst, Some(8), None, 5, 2),
            (
                "  1 error was not a part of any test, see above for details",
                NumberFirst,
                None,
                None,
                1,
                0,
            ),
            ("Files=7, Tests=8,  1 wallclock secs ( 0.02 usr)", WordFirst, Some(8), None, 0, 0),
        ];
        for (line, form, total, passed, failed, skipped) in cases {
            assert_eq!(read(line, form), Counts { total, passed, failed, skipped }, "{line}");
        }
    }
}
