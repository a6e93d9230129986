//! The forms of runs of Rust and Go.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{RUNNER, Runner, rule, within};

pub(super) const NEXTEST: Runner = Runner {
    name: "nextest",
    rules: &[
        rule(r"^ *Nextest run ID ", Starts),
        rule(r"^ +Starting [1-9]\d* tests? across \d+ binar", Announces),
        rule(r"^ *Summary \[ *[\d.]+s\] .*\d+ tests? run:", Totals(NumberFirst)),
        rule(
            r"^ *(?:TRY \d+ )?(?:FAIL|ABORT|TIMEOUT|TMT|SIG[A-Z]+|XFAIL|LEAK-FAIL)\s+\[ *>?[\d.]+s\] (?:\( *\d+/\d+\) )?(?P<id>\S.*)$",
            Fails(Explanation),
        ),
        rule(r"^ *(?:PASS|SLOW|LEAK)\s+\[ *>?[\d.]+s\]", Ends),
        rule(
            r"^\s+thread '.*' (?:\(\d+\) )?panicked at (?P<file>[^:]+):(?P<line>\d+):\d+:$",
            MessageFollows,
        ),
        rule(r"^\s+(?P<message>Error: .*)$", Message),
        rule(
            r"^\s+(?:note: )?(?P<message>test did not panic as expected)(?: at (?P<file>[^:]+):(?P<line>\d+):\d+)?$",
            Message,
        ),
        rule(r"^\s+\((?P<message>test (?:aborted|timed out|failed).*)\)$", Message),
    ],
    ..RUNNER
};

pub(super) const CARGO: Runner = Runner {
    name: "cargo",
    rules: &[
        rule(r"^     Running (?P<id>.+)$", Scope),
        rule(r"^   Doc-tests (?P<id>.+)$", Scope),
        rule(r"^(?:test result|error): ", Section(0)),
        rule(r"^running \d+ tests?$", Announces),
        rule(
            r"^test (?P<id>\S.*?)(?: - should panic)? \.\.\. (?P<message>error: test failed)\b",
            Aborts,
        ),
        rule(
            r"^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed; \d+ ignored;",
            Totals(NumberFirst),
        ),
        rule(r"^test (?P<id>\S.*?)(?: - should panic)? \.\.\. FAILED$", Fails(Nothing)),
        rule(r"^---- (?P<id>\S.*?) stdout ----$", Fails(Explanation)),
        rule(r"^failures:$", Section(1)),
        within(1, r"^    (?P<id>\S.*)$", Fails(Nothing)),
        rule(
            r"^thread '.*' (?:\(\d+\) )?panicked at (?P<file>[^:]+):(?P<line>\d+):\d+:$",
            MessageFollows,
        ),
        rule(
            r"^thread '.*' panicked at '(?P<message>.*)', (?P<file>[^:]+):(?P<line>\d+):\d+$",
            Message,
        ),
        rule(r"^(?P<message>Error: .*)$", Message),
        rule(
            r"^(?:note: )?(?P<message>test did not panic as expected)(?: at (?P<file>[^:]+):(?P<line>\d+):\d+)?$",
            Message,
        ),
        rule(r"^error: test failed, to rerun pass `(?P<id>[^`]+)`$", Scope),
        rule(
            // Failed tests exit with 101.
            r"^  process didn't exit successfully: `.*` \((?P<message>signal: .*|exit (?:status|code): (?:\d\d?|10[02-9]|1[1-9]\d|[2-9]\d\d|0x.*))\)$",
            ScopeFails,
        ),
    ],
    ..RUNNER
};

pub(super) const GO: Runner = Runner {
    name: "go",
    has_subtests: true,
    needs_sign: false,
    rules: &[
        rule(r"^=== RUN +(?P<id>\S+)$", Begins),
        rule(r"^=== (?:CONT|NAME) +(?P<id>\S+)$", Runs),
        rule(r"^ *--- FAIL: (?P<id>\S+) \([\d.]+s\)$", Fails(Explanation)),
        rule(r"^ *--- PASS: (?P<id>\S+) \([\d.]+s\)$", Passed),
        rule(r"^ *--- SKIP: (?P<id>\S+) \([\d.]+s\)$", Skipped),
        rule(r"^(?:ok|\?) +\t\S+|^(?:PASS|FAIL)$", Concludes),
        rule(r"^(?P<message>panic: test timed out after .*)$", Section(1)),
        within(1, r"^\t\t(?P<id>Test\S*) \([\w.]+\)$", Aborts),
        rule(r"^\s+Error:\s+(?P<message>\S.*)$", Message),
        rule(r"^FAIL\t(?P<id>\S+) \[(?P<message>(?:build|setup) failed)\]$", Fails(Nothing)),
        rule(r"^FAIL\t(?P<id>\S+)\t[\d.]+s$", Stops),
        rule(r"^(?P<message>(?:panic|fatal error): .*)$", Message),
        rule(r"^(?P<message>(?:panic|fatal error): .*)$", Panics),
        rule(r"^\s+(?P<file>[\w.-]+\.go):(?P<line>\d+): (?P<message>.*)$", Message),
        rule(r"^\t(?P<file>\S+_test\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$", Place),
        rule(r"^\s+(?:Error Trace:\s+)(?P<file>\S+\.go):(?P<line>\d+)$", Place),
    ],
    ..RUNNER
};
