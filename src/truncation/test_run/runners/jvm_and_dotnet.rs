//! The forms of runs on the JVM and .NET.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{RUNNER, Runner, rule, within};

pub(super) const MAVEN: Runner = Runner {
    name: "maven",
    abbreviates: true,
    rules: &[
        rule(r"^\[(?:INFO|ERROR|WARNING)\] (?:Tests are run|T E S T S| +T E S T S)", Starts),
        rule(
            r"^\[(?:INFO|ERROR|WARNING)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$",
            Totals(WordFirst),
        ),
        rule(r"^Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$", Totals(WordFirst)),
        rule(r"^(?:\[ERROR\] )?(?:Failures|Errors|Failed tests|Tests in error): *$", Section(1)),
        rule(
            r"^(?:\[ERROR\] )?(?P<id>\w[\w.$]*\([\w.$]+\)) +(?:-- )?Time elapsed: [\d.]+ s(?:ec)? +<<< (?:FAILURE|ERROR)!$",
            Fails(MessageFirst),
        ),
        rule(
            r"^(?:\[ERROR\] )?(?P<id>[\w.$]+(?:\[.*\])?(?:\(.*\))?(?:\[.*\])?) +(?:-- )?Time elapsed: [\d.]+ s(?:ec)? +<<< (?:FAILURE|ERROR)!$",
            Fails(MessageFirst),
        ),
        within(
            1,
            r"^\[ERROR\]   (?P<id>[\w$.]+(?:\(.*?\))?(?:\[.*?\])?):(?P<line>\d+)(?:->\S+)? (?P<message>.*)$",
            Fails(Nothing),
        ),
        within(
            1,
            r"^\[ERROR\]   (?P<id>[\w$.]+(?:\(.*?\))?(?:\[.*?\])?)(?::\d+)?(?:->\S+)? ?(?:»|:) (?P<message>.*)$",
            Fails(Nothing),
        ),
        rule(r"^\sat .*\((?P<file>\w*Tests?\w*\.(?:java|kt|groovy|scala)):(?P<line>\d+)\)$", Place),
        rule(r"^\[(?:INFO|ERROR)\] *$", Ends),
    ],
    ..RUNNER
};

pub(super) const GRADLE: Runner = Runner {
    name: "gradle",
    rules: &[
        rule(r"^> Task .*:\w*[tT]est\w*(?: FAILED)?$", Starts),
        rule(r"^\d+ tests? completed(?:, \d+ failed)?(?:, \d+ skipped)?$", Totals(NumberFirst)),
        rule(r"^(?P<id>[\w.$]+(?: > .+?)+) FAILED$", Fails(MessageFirst)),
        rule(r"^[\w.$]+(?: > .+?)+ PASSED$", Passed),
        rule(r"^[\w.$]+(?: > .+?)+ SKIPPED$", Skipped),
        rule(r"^\s+at .*\b(?P<file>\w+\.(?:java|kt|groovy|scala)):(?P<line>\d+)\)?$", Place),
    ],
    ..RUNNER
};

pub(super) const DOTNET: Runner = Runner {
    name: "dotnet",
    rules: &[
        rule(
            r"^(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+, Skipped: +\d+, Total: +\d+",
            Totals(WordFirst),
        ),
        rule(
            r"^Total tests: \d+(?:\. Passed: \d+\. Failed: \d+\. Skipped: \d+\.)?$",
            Totals(WordFirst),
        ),
        rule(r"^ +(?:Passed|Failed|Skipped): \d+$", Totals(WordFirst)),
        rule(r"^(?:  Failed|Failed  ) (?P<id>\S.*?)(?: \[.*\])?$", Fails(Explanation)),
        rule(r"^\[xUnit\.net \S+\] +(?P<id>\S.*) \[FAIL\]$", Fails(Nothing)),
        rule(r"^ *Error Message:$", MessageFollows),
        rule(r"^ *at .* in (?P<file>.+):line (?P<line>\d+)$", Place),
        rule(r"^  (?:Passed|Skipped) \S", Ends),
    ],
    ..RUNNER
};
