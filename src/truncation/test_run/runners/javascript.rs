//! The forms of runs of JavaScript.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{RUNNER, Runner, rule, within};

/// A frame of a stack trace of V8, outside of installed packages and of Node itself.
const JS_FRAME: &str =
    r"^\s+at (?:.*\()?(?:file://)?(?P<file>(?:/|\.|[A-Za-z]:\\)?[^\s():]+):(?P<line>\d+):\d+\)?$";

/// The heading of a failed test of Playwright.
const PLAYWRIGHT_FAILED: &str =
    r"^  \d+\) (?P<scope>(?:\[[^\]]+\] › )?[^\s:].*?):\d+:\d+ › (?P<id>\S.*?) ─+$";

/// A test in one of the lists at the end of a run of Playwright.
const PLAYWRIGHT_LISTED: &str =
    r"^    (?P<scope>(?:\[[^\]]+\] › )?(?P<file>[^\s:].*?)):(?P<line>\d+):\d+ › (?P<id>\S.*?) ─*$";

/// An error that Node reports beside the tests: the test that caused it has passed.
const LATE_ERROR: &str = r#"^ℹ (?:Error|Warning): Test "(?P<id>.+?)" at (?P<file>.+?):(?P<line>\d+):\d+ (?P<message>generated asynchronous activity after the test ended.*)$"#;

pub(super) const JEST: Runner = Runner {
    name: "jest",
    rules: &[
        rule(r"^Tests: +(?:\d+ [a-z]+, )*\d+ total$", Totals(NumberFirst)),
        rule(r"^Test Suites: +", Ends),
        rule(r"^(?:FAIL|PASS)(?: \w+)? +(?P<id>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$", Scope),
        rule(r"^  ● Test suite failed to run$", ScopeFails),
        rule(r"^  ● (?:Console|Cannot log after tests are done.*)$", Ends),
        rule(r"^  ● (?P<id>\S.*)$", Fails(MessageFirst)),
        rule(r"^  ●  (?P<id>process\.exit called) (?P<message>with .*)$", Aborts),
        rule(JS_FRAME, Place),
    ],
    ..RUNNER
};

pub(super) const VITEST: Runner = Runner {
    name: "vitest",
    rules: &[
        rule(r"^ (?:RUN|DEV)  v\d", Announces),
        rule(r"^(?:No test files found| +BENCH  Summary)", Starts),
        rule(r"^ *Tests  (?:no tests|(?:\d+ [a-z]+(?: \| | ))+\(\d+\))$", Totals(NumberFirst)),
        rule(r"^ *Test Files  ", Ends),
        rule(r"^ ?FAIL  (?P<id>\S.*?) \[ [^\]]+ \]$", Fails(MessageFirst)),
        rule(r"^ ?FAIL  (?P<id>\S.*)$", Fails(MessageFirst)),
        rule(r"^⎯+ (?P<id>Uncaught Exception|Unhandled (?:Error|Rejection)) ⎯+$", Aborts),
        rule(r"^ ❯ (?:.* )?(?P<file>[^\s:]+):(?P<line>\d+):\d+$", Place),
        rule(r"^⎯+(?:\[\d+/\d+\]⎯+)?$", Ends),
    ],
    ..RUNNER
};

pub(super) const MOCHA: Runner = Runner {
    name: "mocha",
    rules: &[
        // Before its totals, the runner prints nothing that others do not print too; some reporters print none.
        rule(r"^[>$] (?:\S+=\S+ )*(?:\S*/)?_?mocha(?: |$)", Section(2)),
        rule(r"^[>$] (?:\S+=\S+ )*(?:\S*/)?_?mocha(?: |$)", Starts),
        within(2, r"^ {4,}(?:✔|✓) \S", Passed),
        rule(r"^ ?(?P<id>Exception during run): (?P<message>.*)$", Aborts),
        rule(r"^  \d+ passing\b", Section(0)),
        rule(r"^  \d+ passing\b", Totals(NumberFirst)),
        rule(r"^  \d+ pending$", Totals(NumberFirst)),
        rule(r"^  \d+ failing$", Section(1)),
        rule(r"^  \d+ failing$", Totals(NumberFirst)),
        within(1, r"^  \d+\) (?P<id>\S.*)$", NameBegins),
        within(1, r"^ {5,}(?P<id>\S.*)$", NameContinues),
        within(1, JS_FRAME, Place),
        within(2, r"^  [^\s<{}\[\]]", Announces),
    ],
    ..RUNNER
};

pub(super) const NODE: Runner = Runner {
    name: "node",
    abbreviates: true,
    rules: &[
        rule(r"^ℹ (?:tests|pass|fail|cancelled|skipped|todo) \d+$", Totals(WordFirst)),
        rule(r"^✖ failing tests:$", Section(1)),
        rule(LATE_ERROR, Aborts),
        within(1, r"^test at (?P<file>.+):(?P<line>\d+):\d+$", NextPlace),
        within(1, r"^✖ (?P<id>\S.*?) \([\d.]+m?s\)$", Fails(MessageFirst)),
        within(0, r"^(?P<indent> *)▶ (?P<id>\S.*?)(?: \([\d.]+m?s\))?$", Group),
        within(0, r"^(?P<indent> *)✖ (?P<id>\S.*?) \([\d.]+m?s\)(?: # .*)?$", Fails(Nothing)),
        within(0, r"^ *✔ \S.* \([\d.]+m?s\)(?: # .*)?$", Passed),
        within(0, r"^ *﹣ \S.* \([\d.]+m?s\) # (?:SKIP|TODO)", Skipped),
        rule(JS_FRAME, Place),
    ],
    ..RUNNER
};

pub(super) const AVA: Runner = Runner {
    name: "ava",
    rules: &[
        rule(r"^ +(?:✘|✖) \[fail\]: (?P<id>\S.*)$", Fails(Nothing)),
        rule(
            r"^ +(?:✘|✖) (?P<message>Exiting due to process\.exit\(\)) when running (?P<id>\S+)$",
            Aborts,
        ),
        rule(r"^ +(?:✘|✖) (?P<id>\S+) (?P<message>exited (?:with|due) .*)$", Aborts),
        rule(r"^ +✔ \S", Passed),
        rule(r"^ +- \[(?:skip|todo)\] \S", Skipped),
        rule(
            r"^  \d+ (?:tests? (?:failed|passed|skipped|todo)|uncaught exceptions?|unhandled rejections?|known failures?)$",
            Totals(NumberFirst),
        ),
        rule(r"^  ─+$", Section(1)),
        within(1, r"^  (?P<file>\S+\.[cm]?[jt]sx?):(?P<line>\d+)$", Place),
        within(1, r"^  (?P<id>\S.*)$", Heading),
    ],
    ..RUNNER
};

pub(super) const PLAYWRIGHT: Runner = Runner {
    name: "playwright",
    lists_all: true,
    rules: &[
        rule(r"^Running [1-9]\d* tests? using \d+ workers?\b", Section(1)),
        rule(r"^Running [1-9]\d* tests? using \d+ workers?\b", Announces),
        rule(r"^  (?:✓|ok) +\d+ .* \([\d.]+m?s\)$", Passed),
        rule(PLAYWRIGHT_FAILED, Section(1)),
        rule(PLAYWRIGHT_FAILED, Fails(MessageFirst)),
        within(1, r"^  \d+ (?:failed|interrupted)$", Section(2)),
        within(1, r"^  \d+ flaky$", Section(3)),
        within(2, r"^  \d+ flaky$", Section(3)),
        rule(r"^  \d+ passed \([\d.]+m?s\)$", Section(4)),
        within(2, r"^  \d+ (?:failed|interrupted)$", Totals(NumberFirst)),
        within(3, r"^  \d+ flaky$", Totals(NumberFirst)),
        rule(r"^  \d+ passed \([\d.]+m?s\)$", Totals(NumberFirst)),
        within(1, r"^  \d+ (?:skipped|did not run)$", Totals(NumberFirst)),
        within(2, r"^  \d+ (?:skipped|did not run)$", Totals(NumberFirst)),
        within(3, r"^  \d+ (?:skipped|did not run)$", Totals(NumberFirst)),
        rule(r"^  \d+ errors? (?:was|were) not a part of any test\b", Totals(NumberFirst)),
        within(2, PLAYWRIGHT_LISTED, Fails(Nothing)),
        within(3, PLAYWRIGHT_LISTED, Recovers),
        within(1, JS_FRAME, Place),
    ],
    ..RUNNER
};

pub(super) const JASMINE: Runner = Runner {
    name: "jasmine",
    rules: &[
        rule(r"^Randomized with seed \d+$", Section(1)),
        within(1, r"^Started$", Announces),
        rule(r"^Failures:$", Section(2)),
        rule(r"^Pending:$", Section(3)),
        rule(r"^\d+ specs?, \d+ failures?(?:, \d+ pending specs?)?$", Totals(NumberFirst)),
        within(2, r"^\d+\) (?P<id>\S.*)$", Fails(Explanation)),
        rule(r"^Suite error: (?P<id>\S.*)$", Fails(Explanation)),
        rule(r"^  Message:$", MessageFollows),
        rule(JS_FRAME, Place),
    ],
    ..RUNNER
};
