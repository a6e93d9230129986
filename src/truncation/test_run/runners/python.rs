//! The forms of runs of Python.

use crate::truncation::test_run::rules::Form::*;
use crate::truncation::test_run::rules::LineEvent::*;
use crate::truncation::test_run::rules::Then::*;
use crate::truncation::test_run::rules::{RUNNER, Runner, rule, within};

/// The last line of a Python traceback.
const PYTHON_ERROR: &str = r"^(?P<message>(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Failed))(?:: .*)?)$";

pub(super) const PYTEST: Runner = Runner {
    name: "pytest",
    abbreviates: true,
    rules: &[
        rule(r"^=+ test session starts =+$", Section(6)),
        rule(r"^=+ test session starts =+$", Starts),
        rule(r"^=+ (?:no tests ran|(?:no|\d+(?:/\d+)?) tests? collected)\b", Starts),
        rule(r"^(?:(?:collecting \.\.\. )?collected [1-9]|\d+ workers? \[[1-9])", Announces),
        rule(
            r"^(?:!+ (?:_pytest\.outcomes\.Exit|KeyboardInterrupt)\b|INTERNALERROR> )",
            Interrupts,
        ),
        rule(r"^=+ (?:FAILURES|ERRORS) =+$", Section(1)),
        rule(r"^=+ short test summary info =+$", Section(2)),
        rule(r"^=+ (?:warnings summary|PASSES|slowest .*) =+$", Section(3)),
        rule(r"^=+ (?:\d+ [a-z]+(?:, )?)+ in [\d.]+ ?s.*=+$", Totals(NumberFirst)),
        rule(
            r"^(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(?:, )?)+ in [\d.]+s",
            Totals(NumberFirst),
        ),
        within(
            1,
            r"^_{3,} ERROR (?:at (?:setup|teardown) of|collecting) (?P<id>.+?) _{3,}$",
            Fails(Explanation),
        ),
        within(1, r"^_{3,} (?P<id>.+?) _{3,}$", Fails(Explanation)),
        within(1, r"^E\s{3}(?P<message>.*\S)", Message),
        within(
            1,
            r"^(?P<file>[^\s:]+\.py):(?P<line>\d+): ?(?:[A-Za-z_][\w.]*(?:: .*)?|in \S+)?$",
            Place,
        ),
        rule(
            r"^(?:FAILED|ERROR) (?P<id>\S+\.py::[^\s\[]+\[.*?\])(?: - (?P<message>.*))?$",
            Fails(Nothing),
        ),
        rule(
            r"^(?:FAILED|ERROR) (?P<id>\S+\.py(?:::.+?)?)(?: - (?P<message>.*))?$",
            Fails(Nothing),
        ),
        rule(
            r"^(?:\[gw\d+\] \[ *\d+%\] )?(?:FAILED|ERROR) (?P<id>\S+\.py::.+?)\s*$",
            Fails(Nothing),
        ),
        rule(r"^(?P<id>\S+\.py::.+?) (?:FAILED|ERROR)\s+\[ *\d+%\]$", Fails(Nothing)),
        rule(r"^\[gw\d+\] \[ *\d+%\] [A-Z]+ (?P<id>\S+\.py::.+?)\s*$", Settles),
        // Output of a test may precede its result.
        rule(
            r"^(?:(?P<id>\S+\.py::[^\s\[]+(?:\[.*\])?) .*)?(?:PASSED|SKIPPED|XFAIL|XPASS|FAILED|ERROR)(?: \(.*\))?(?:\s+\[ *\d+%\])?$",
            Settles,
        ),
        rule(r"^Fatal Python error: (?P<message>.*)$", Section(4)),
        // Only this runner prints a letter for each test.
        rule(
            r"^(?:[\w./-]+\.py [.sFExX]*|[.sFExX]+)(?:Fatal Python error: |\+{3,} )(?P<message>[^+]*?)(?: \++)?$",
            Section(5),
        ),
        rule(r"^\S+\.py::.+? Fatal Python error: ", Section(4)),
        rule(r"^(?P<id>\S+\.py::.+?) Fatal Python error: (?P<message>.*)$", Aborts),
        within(
            4,
            r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<id>test\w*)$"#,
            Fails(Nothing),
        ),
        within(5, r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<id>test\w*)$"#, Aborts),
        within(6, r"^(?P<id>\S+\.py::[^\s\[]+(?:\[.*\])?) (?P<message>.*)$", Begins),
    ],
    ..RUNNER
};

pub(super) const UNITTEST: Runner = Runner {
    name: "unittest",
    rules: &[
        rule(r"^Ran \d+ tests? in [\d.]+s$", Section(1)),
        rule(r"^Ran \d+ tests? in [\d.]+s$", Totals(NumberFirst)),
        within(1, r"^(?:FAILED|OK)(?: \((?:[a-z ]+=\d+(?:, )?)+\))?$", Section(0)),
        rule(r"^(?:FAILED|OK) \((?:[a-z ]+=\d+(?:, )?)+\)$", Totals(WordFirst)),
        rule(r"^(?P<id>\w+ \([\w.]+\)) \.\.\. (?P<message>Fatal Python error: .*)$", Aborts),
        rule(r"^(?P<id>\w+ \([\w.]+\)) \.\.\. (?:FAIL|ERROR)$", Fails(Nothing)),
        rule(r"^(?P<id>\w+ \([\w.]+\)) \.\.\. ok$", Passed),
        rule(
            r"^(?:\w+ \([\w.]+\) \.\.\. )?(?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$",
            Settles,
        ),
        rule(r"^(?P<id>test\w* \(\w+(?:\.\w+)+\)) \.\.\. (?P<message>.*)$", Begins),
        rule(r"^(?:FAIL|ERROR): (?P<id>\S+ \(.+\)(?: .*)?)$", Fails(Explanation)),
        rule(r"^(?:FAIL|ERROR): (?P<id>setUp\w+ \(.+\))$", Fails(Explanation)),
        rule(r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+), in "#, LastPlace),
        rule(r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+) in test\w*$"#, Place),
        rule(PYTHON_ERROR, Message),
    ],
    ..RUNNER
};

pub(super) const ROBOT: Runner = Runner {
    name: "robot",
    // `Suite setup failed:`, `Parent suite setup failed:`
    fails_itself: Some("etup failed:"),
    rules: &[
        rule(r"^[^\s|].{69}\| (?:PASS|SKIP) \|$", Announces),
        rule(r"^(?P<id>[^\s|].*?) +\| FAIL \|$", Fails(MessageFirst)),
        // A test that prints, in the line of its name and below.
        within(0, r"^={78}$", Section(2)),
        within(2, r"^(?P<id>[^\s|=-].{67}  )[^\s|]", Prints),
        within(2, r"^(?P<id>)\| FAIL \|$", Fails(MessageFirst)),
        rule(r"^\d+ tests?, \d+ passed, \d+ failed(?:, \d+ skipped)?$", Subtotals(NumberFirst)),
        rule(r"^(?P<id>\S.{76} )$", Scope),
        rule(r"^(?:-{78}|={78})$", Ends),
        rule(r"^Output:  \S", TotalsEnd),
        within(1, r"^FAIL: (?P<id>\S.*)$", Fails(MessageFirst)),
        rule(r"^Running suite '.*' with [1-9]\d* tests?\.$", Section(1)),
        rule(r"^Running suite '.*' with [1-9]\d* tests?\.$", Announces),
        rule(r"^Run suite '.*' with \d+ tests? in ", Ends),
    ],
    ..RUNNER
};
