//! The forms of runs of Ruby and PHP.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{RUNNER, Runner, rule, within};

pub(super) const RSPEC: Runner = Runner {
    name: "rspec",
    rules: &[
        rule(
            r"^\d+ examples?, \d+ failures?(?:, \d+ pending)?(?:, \d+ errors? occurred outside of examples)?$",
            Totals(NumberFirst),
        ),
        rule(r"^Failures:$", Section(1)),
        rule(r"^(?:Pending:.*|Finished in .*)$", Section(0)),
        within(1, r"^  \d+\) (?P<id>\S.*)$", Fails(Explanation)),
        rule(r"^\s*Failure/Error: ", MessageFollows),
        rule(r"^\s+# (?P<file>[^\s:]+_spec\.rb):(?P<line>\d+):in ", Place),
        rule(r"^rspec (?P<file>[^\s\[:]+):(?P<line>\d+) # (?P<id>.+)$", Fails(Nothing)),
        rule(r"^rspec (?P<file>[^\s\[:]+)\[[\d:,]+\] # (?P<id>.+)$", Fails(Nothing)),
        rule(
            r"^An error occurred (?:while loading|in an? `[a-z(:]+\)` hook for) (?P<id>\S.*?)\.$",
            Fails(Explanation),
        ),
    ],
    ..RUNNER
};

pub(super) const MINITEST: Runner = Runner {
    name: "minitest",
    rules: &[
        rule(
            r"^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors(?:, \d+ (?:skips|pendings|omissions))?",
            Totals(NumberFirst),
        ),
        rule(r"^Run options: .*--seed \d+", Section(2)),
        rule(r"^Run options: .*--seed \d+", Announces),
        rule(r"^(?P<id>[A-Z][\w:]*#\S.*?) = [\d.]+ s = ", Settles),
        within(2, r"^(?P<id>[A-Z][\w:]*#\S+) = (?P<message>.*)$", Begins),
        rule(r"^(?:  \d+\) )?(?:Failure|Error):$", Section(1)),
        rule(r"^(?:  \d+\) )?Skipped:$", Section(0)),
        within(
            1,
            r"^(?P<id>[A-Z][\w:]*#\S.*?) +\[(?P<file>[^\]]+):(?P<line>\d+)\]:?$",
            Fails(MessageFirst),
        ),
        within(1, r"^(?P<id>[A-Z][\w:]*#\S.*?):$", Fails(MessageFirst)),
        within(1, r"^ {4}(?P<file>[^\s:]+\.rb):(?P<line>\d+):in ", Place),
    ],
    ..RUNNER
};

pub(super) const PHPUNIT: Runner = Runner {
    name: "phpunit",
    rules: &[
        rule(r"^PHPUnit \d+\.\S+ by Sebastian Bergmann", Section(3)),
        rule(r"^PHPUnit \d+\.\S+ by Sebastian Bergmann", Starts),
        rule(r"^(?:Tests: \d+, Assertions: |OK \()\d", Section(0)),
        rule(r"^Tests: \d+, Assertions: \d+(?:, [A-Z][A-Za-z ]+: \d+)*\.$", Totals(WordFirst)),
        rule(r"^OK \(\d+ tests?, \d+ assertions?\)$", Totals(NumberFirst)),
        within(
            3,
            r"^(?: ✔ .*|[.FEWSIRND]+(?:\s+\d+ / \d+ .*|(?:PHP )?Fatal error: .*)?)$",
            Announces,
        ),
        rule(r"^There (?:was|were) \d+ .*:$", Section(2)),
        rule(r"^There (?:was|were) \d+ (?:errors?|failures?):$", Section(1)),
        within(1, r"^\d+\) (?P<id>\S.*)$", Fails(MessageFirst)),
        rule(r"^(?P<file>(?:/|[A-Z]:\\)\S+\.php):(?P<line>\d+)$", Place),
        rule(r"^ ✘ (?P<id>\S.*?)(?: *\[[\d.]+ ms\])?$", Fails(Explanation)),
        rule(r"^ ✔ \S", Ends),
        rule(r"^ +(?:│|├|╵|┊) (?P<file>(?:/|[A-Z]:\\)\S+\.php):(?P<line>\d+)$", Place),
        rule(r"^ +(?:│|├|┊) (?P<message>\S.*)$", Message),
    ],
    ..RUNNER
};
