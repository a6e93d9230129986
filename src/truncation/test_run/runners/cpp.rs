//! The forms of runs of C and C++.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{Inside, RUNNER, Runner, rule, within};

/// The rule of 79 dashes around a heading of Catch2, and the first or next line of the heading.
const DASHES: &str = r"^-{79}$";

const HEADING: &str = r"^ *(?P<id>-{0,9}[^\s-].*?) *$";

pub(super) const CTEST: Runner = Runner {
    name: "ctest",
    rules: &[
        rule(r"^Test project /", Section(3)),
        rule(r"^Test project /", Starts),
        rule(r"^\d+% tests passed, \d+ tests? failed out of \d+$", Totals(NumberFirst)),
        rule(
            r"^ *\d+/\d+ Test +#\d+: (?P<id>\S.*?) \.*(?: +)?\*\*\*(?:Skipped|Not Run \(Disabled\))",
            Skipped,
        ),
        rule(
            r"^ *\d+/\d+ Test +#\d+: (?P<id>\S.*?) \.*(?: +)?(?:[A-Z][a-z ]+)?\*\*\*(?P<message>[A-Z][A-Za-z]*(?: Run|: \S+)?)",
            Fails(Explanation),
        ),
        rule(r"^ *\d+/\d+ Test +#\d+: (?P<id>\S.*?) \.*(?: +)?Passed +[\d.]+ sec", Passed),
        within(3, r"^ *Start +\d+: (?P<id>\S.*)$", Begins),
        rule(r"^The following tests FAILED:$", Section(1)),
        rule(r"^The following tests did not run:$", Section(2)),
        within(1, r"^\t *\d+ - (?P<id>\S.*) \((?P<message>[^)]+)\)", Fails(Nothing)),
        rule(r"^(?P<file>[^\s:]+\.(?:c|cc|cpp|cxx|h|hpp)):(?P<line>\d+): (?P<message>.*)$", Place),
    ],
    ..RUNNER
};

pub(super) const GOOGLETEST: Runner = Runner {
    name: "googletest",
    inside: Inside::Of("ctest"),
    lists_all: true,
    rules: &[
        rule(r"^\[==========\] Running [1-9]\d* tests? from ", Announces),
        // A failure between the tests is that of setting up a suite or all of them.
        rule(r"^\[----------\] ", Section(1)),
        rule(r"^\[ RUN      \] ", Section(2)),
        rule(r"^\[ RUN      \] (?P<id>\S+)$", BeginsNext),
        rule(r"^\[       OK \] (?P<id>\S+?)(?:, where .*)? \(\d+ ms\)$", Passed),
        rule(r"^\[  SKIPPED \] (?P<id>\S+?)(?:, where .*)? \(\d+ ms\)$", Skipped),
        rule(
            r"^\[  FAILED  \] (?P<id>\S+?): (?P<message>SetUp\w+ or TearDown\w+)$",
            Fails(Nothing),
        ),
        rule(r"^\[  FAILED  \] (?P<id>[^\s,]+)(?:, where .*?)?(?: \(\d+ ms\))?$", Fails(Nothing)),
        rule(r"^\[  (?:PASSED  |FAILED  |SKIPPED )\] \d+ tests?\b", Totals(WordFirst)),
        within(1, r"^(?P<id>(?P<file>\S.*?):(?P<line>\d+)): Failure$", Fails(MessageFirst)),
        rule(r"^Failed$", MessageFollows),
        rule(r"^(?:unknown file|(?P<file>\S.*?):(?P<line>\d+)): Failure$", MessageFollows),
    ],
    ..RUNNER
};

pub(super) const CATCH2: Runner = Runner {
    name: "catch2",
    inside: Inside::Of("ctest"),
    rules: &[
        rule(r"^\S.* is a Catch2? v\S+ host application\.$", Announces),
        within(2, DASHES, Section(1)),
        within(0, DASHES, Section(1)),
        within(3, DASHES, Section(2)),
        within(4, DASHES, Section(2)),
        within(4, HEADING, Section(3)),
        within(1, HEADING, Section(4)),
        within(4, HEADING, Scope),
        within(3, r"^(?P<indent> *)(?P<id>-{0,9}[^\s-].*?) *$", ScopeContinues),
        within(2, r"^(?P<file>\S.*?):(?P<line>\d+): FAILED:$", ScopeFails),
        within(2, r"^\S.*:\d+: (?:SKIPPED|PASSED|warning):$", Ends),
        rule(r"^={79}$", Ends),
        rule(
            r"^test cases: +\d+(?: \| +\d+ (?:passed|failed|skipped|failed as expected))+$",
            Totals(NumberFirst),
        ),
        rule(
            r"^All tests passed \((?:\d+|no) assertions? in \d+ test cases?\)$",
            Totals(NumberFirst),
        ),
    ],
    ..RUNNER
};
