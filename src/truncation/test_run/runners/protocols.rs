//! The forms of protocols that many runners print.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{Inside, RUNNER, Runner, rule, within};

/// A file of tests in the summary of prove, one of which no test failed, and why it failed all the same.
const PROVE_FILE: &str = r"^(?P<id>\S+) +\(Wstat: \d+ .*Tests: \d+ Failed: \d+\)$";

const PROVE_WITHOUT_FAILURES: &str = r"^(?P<id>\S+) +\(Wstat: \d+ .*Tests: \d+ Failed: 0\)$";

const PROVE_REASON: &str = r"^  (?P<message>(?:Non-zero (?:exit|wait) status|Parse errors): .*)$";

/// An error that Node reports beside the tests, in TAP: the test that caused it has passed.
const LATE_ERROR: &str = r#"^# (?:Error|Warning): Test "(?P<id>.+?)" at (?P<file>.+?):(?P<line>\d+):\d+ (?P<message>generated asynchronous activity after the test ended.*)$"#;

pub(super) const TAP: Runner = Runner {
    name: "tap",
    rules: &[
        // Titles are those of tape, which has no subtests: elsewhere such a line is what a program printed.
        rule(r"^TAP version \d+$", Section(1)),
        rule(r"^(?:TAP version \d+|1\.\.\d+(?: # .*)?|Result: (?:PASS|FAIL))$", Starts),
        rule(r"^# (?:tests|pass|fail|skipped|skip|todo|cancelled) +\d+$", Totals(WordFirst)),
        rule(r"^# \{ total: \d+, pass: \d+(?:, (?:fail|skip|todo): \d+)* \}$", Totals(WordFirst)),
        rule(r"^ *# Subtest: ", Section(2)),
        rule(r"^(?P<indent> *)# Subtest: (?P<id>\S.*)$", Group),
        rule(LATE_ERROR, Aborts),
        within(0, r"^(?:# +Failed test |not ok \d)", Section(3)),
        rule(r"^# +Failed test '(?P<id>.+)'$", Fails(Explanation)),
        rule(r"^(?P<id>\S+\.t) +\(Wstat: (?P<message>\d+ \(Signal: \w+\)).*\)$", Aborts),
        // The summary of prove. A file whose failed tests were named is no failure of its own.
        within(1, r"^Test Summary Report$", Section(3)),
        within(2, r"^Test Summary Report$", Section(3)),
        within(4, PROVE_FILE, Section(0)),
        within(5, PROVE_FILE, Section(3)),
        within(0, PROVE_WITHOUT_FAILURES, Section(4)),
        within(3, PROVE_WITHOUT_FAILURES, Section(5)),
        within(4, PROVE_WITHOUT_FAILURES, Scope),
        within(5, PROVE_WITHOUT_FAILURES, Scope),
        within(0, PROVE_FILE, Fails(Explanation)),
        within(4, PROVE_REASON, ScopeFails),
        within(5, PROVE_REASON, ScopeFails),
        rule(r"^All tests successful\.$", Section(6)),
        within(6, r"^Files=\d+, Tests=\d+,", Totals(WordFirst)),
        within(1, r"^# (?P<id>[^\s(`].*)$", Title),
        rule(
            r"^(?P<indent> *)(?:not )?ok \d+(?: -)? (?P<id>\S.*?)(?: # time=[\d.]+m?s)? \{$",
            Group,
        ),
        rule(r"^ *not ok \d+.*# (?i:todo)\b", Skipped),
        rule(
            r"^(?P<indent> *)not ok \d+(?: -)? (?P<id>\S.*?)(?: # time=[\d.]+m?s)?$",
            Fails(Explanation),
        ),
        rule(r"^ *ok \d+.*# (?i:skip|todo)\b", Skipped),
        rule(r"^ *ok \d+\b", Passed),
        rule(r#"^\s+(?:error|message): ['"]?(?P<message>[^|>'"\s].*?)['"]?$"#, Message),
        rule(r"^\s+(?:error|message): [|>][-+]?$", MessageFollows),
        rule(r"^\s+location: '?(?P<file>.+):(?P<line>\d+):\d+'?$", Place),
        rule(r"^\s+at: .*\((?P<file>[^()]+):(?P<line>\d+):\d+\)$", Place),
        rule(r#"^\s+at: "(?P<file>[^"]+):(?P<line>\d+):\d+"$"#, Place),
        rule(r"^#\s+at (?P<file>\S+) line (?P<line>\d+)\.?$", Place),
        rule(r"^# \(in test file (?P<file>\S+), line (?P<line>\d+)\)$", Place),
    ],
    ..RUNNER
};

pub(super) const TEAMCITY: Runner = Runner {
    name: "teamcity",
    inside: Inside::OfAny,
    needs_sign: false,
    escapes: true,
    rules: &[
        rule(r"^ *##teamcity\[testStarted (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Begins),
        rule(
            r"^ *##teamcity\[testFailed (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)' (?:.* )?message='(?P<message>(?:[^'|]|\|.)*)'",
            Fails(Nothing),
        ),
        rule(
            r"^ *##teamcity\[testFailed (?:.* )?message='(?P<message>(?:[^'|]|\|.)*)' (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'",
            Fails(Nothing),
        ),
        rule(r"^ *##teamcity\[testFailed (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Fails(Nothing)),
        rule(r"^ *##teamcity\[testIgnored (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Skipped),
        rule(r"^ *##teamcity\[testFinished (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Finishes),
    ],
    ..RUNNER
};
