//! The output of test runners as data: for each runner the forms of its lines, and the meaning of a line of each form.
//!
//! Patterns see a line without colours, without a time stamp before it, and without its break. Their named groups are
//! `id`, `message`, `file`, `line` and `indent`. If several rules of a runner match a line, the first whose
//! section is the current one applies.

use super::rules::Form::*;
use super::rules::Says::*;
use super::rules::Then::*;
use super::rules::{Inside, RUNNER, Runner, rule, within};

/// The last line of a Python traceback.
const PYTHON_ERROR: &str = r"^(?P<message>(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Failure|Failed))(?:: .*)?)$";
/// A frame of a stack trace of V8, outside of installed packages and of Node itself.
const JS_FRAME: &str =
    r"^\s+at (?:.*\()?(?:file://)?(?P<file>(?:/|\.|[A-Za-z]:\\)?[^\s():]+):(?P<line>\d+):\d+\)?$";

/// An error that Node reports beside the tests, in its own form and in TAP: the test that caused it has passed.
const LATE_ERROR: [&str; 2] = [
    r#"^ℹ (?:Error|Warning): Test "(?P<id>.+?)" at (?P<file>.+?):(?P<line>\d+):\d+ (?P<message>generated asynchronous activity after the test ended.*)$"#,
    r#"^# (?:Error|Warning): Test "(?P<id>.+?)" at (?P<file>.+?):(?P<line>\d+):\d+ (?P<message>generated asynchronous activity after the test ended.*)$"#,
];

/// A file of tests in the summary of prove, one of which no test failed, and why it failed all the same.
const PROVE_FILE: &str = r"^(?P<id>\S+) +\(Wstat: \d+ .*Tests: \d+ Failed: \d+\)$";
const PROVE_WITHOUT_FAILURES: &str = r"^(?P<id>\S+) +\(Wstat: \d+ .*Tests: \d+ Failed: 0\)$";
const PROVE_REASON: &str = r"^  (?P<message>(?:Non-zero (?:exit|wait) status|Parse errors): .*)$";

/// The rule of 79 dashes around a heading of Catch2, and the first or next line of the heading.
const DASHES: &str = r"^-{79}$";
/// The heading of a failed test of Playwright.
const PLAYWRIGHT_FAILED: &str =
    r"^  \d+\) (?P<scope>(?:\[[^\]]+\] › )?[^\s:].*?):\d+:\d+ › (?P<id>\S.*?) ─+$";
/// A test in one of the lists at the end of a run of Playwright.
const PLAYWRIGHT_LISTED: &str =
    r"^    (?P<scope>(?:\[[^\]]+\] › )?(?P<file>[^\s:].*?)):(?P<line>\d+):\d+ › (?P<id>\S.*?) ─*$";
const HEADING: &str = r"^ *(?P<id>-{0,9}[^\s-].*?) *$";

pub(super) const RUNNERS: &[Runner] = &[
    Runner {
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
            rule(r"^(?P<id>\S+\.py::.+?) Fatal Python error: (?P<message>.*)$", Dies),
            within(
                4,
                r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<id>test\w*)$"#,
                Fails(Nothing),
            ),
            within(
                5,
                r#"^  File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<id>test\w*)$"#,
                Dies,
            ),
            within(6, r"^(?P<id>\S+\.py::[^\s\[]+(?:\[.*\])?) (?P<message>.*)$", Begins),
        ],
        ..RUNNER
    },
    Runner {
        name: "unittest",
        rules: &[
            rule(r"^Ran \d+ tests? in [\d.]+s$", Section(1)),
            rule(r"^Ran \d+ tests? in [\d.]+s$", Totals(NumberFirst)),
            within(1, r"^(?:FAILED|OK)(?: \((?:[a-z ]+=\d+(?:, )?)+\))?$", Section(0)),
            rule(r"^(?:FAILED|OK) \((?:[a-z ]+=\d+(?:, )?)+\)$", Totals(WordFirst)),
            rule(r"^(?P<id>\w+ \([\w.]+\)) \.\.\. (?P<message>Fatal Python error: .*)$", Dies),
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
    },
    Runner {
        name: "jest",
        rules: &[
            rule(r"^Tests: +(?:\d+ [a-z]+, )*\d+ total$", Totals(NumberFirst)),
            rule(r"^Test Suites: +", Ends),
            rule(r"^(?:FAIL|PASS)(?: \w+)? +(?P<id>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$", Scope),
            rule(r"^  ● Test suite failed to run$", ScopeFails),
            rule(r"^  ● (?:Console|Cannot log after tests are done.*)$", Ends),
            rule(r"^  ● (?P<id>\S.*)$", Fails(MessageFirst)),
            rule(r"^  ●  (?P<id>process\.exit called) (?P<message>with .*)$", Dies),
            rule(JS_FRAME, Place),
        ],
        ..RUNNER
    },
    Runner {
        name: "vitest",
        rules: &[
            rule(r"^ (?:RUN|DEV)  v\d", Announces),
            rule(r"^(?:No test files found| +BENCH  Summary)", Starts),
            rule(r"^ *Tests  (?:no tests|(?:\d+ [a-z]+(?: \| | ))+\(\d+\))$", Totals(NumberFirst)),
            rule(r"^ *Test Files  ", Ends),
            rule(r"^ ?FAIL  (?P<id>\S.*?) \[ [^\]]+ \]$", Fails(MessageFirst)),
            rule(r"^ ?FAIL  (?P<id>\S.*)$", Fails(MessageFirst)),
            rule(r"^⎯+ (?P<id>Uncaught Exception|Unhandled (?:Error|Rejection)) ⎯+$", Dies),
            rule(r"^ ❯ (?:.* )?(?P<file>[^\s:]+):(?P<line>\d+):\d+$", Place),
            rule(r"^⎯+(?:\[\d+/\d+\]⎯+)?$", Ends),
        ],
        ..RUNNER
    },
    Runner {
        name: "mocha",
        rules: &[
            // Before its totals, the runner prints nothing that others do not print too; some reporters print none.
            rule(r"^[>$] (?:\S+=\S+ )*(?:\S*/)?_?mocha(?: |$)", Section(2)),
            rule(r"^[>$] (?:\S+=\S+ )*(?:\S*/)?_?mocha(?: |$)", Starts),
            within(2, r"^ {4,}(?:✔|✓) \S", Passed),
            rule(r"^ ?(?P<id>Exception during run): (?P<message>.*)$", Dies),
            rule(r"^  \d+ passing\b", Section(0)),
            rule(r"^  \d+ passing\b", Totals(NumberFirst)),
            rule(r"^  \d+ pending$", Totals(NumberFirst)),
            rule(r"^  \d+ failing$", Section(1)),
            rule(r"^  \d+ failing$", Totals(NumberFirst)),
            within(1, r"^  \d+\) (?P<id>\S.*)$", NameBegins),
            within(1, r"^ {5,}(?P<id>\S.*)$", NameGoesOn),
            within(1, JS_FRAME, Place),
            within(2, r"^  [^\s<{}\[\]]", Announces),
        ],
        ..RUNNER
    },
    Runner {
        name: "node",
        abbreviates: true,
        rules: &[
            rule(r"^ℹ (?:tests|pass|fail|cancelled|skipped|todo) \d+$", Totals(WordFirst)),
            rule(r"^✖ failing tests:$", Section(1)),
            rule(LATE_ERROR[0], Dies),
            within(1, r"^test at (?P<file>.+):(?P<line>\d+):\d+$", PlaceAhead),
            within(1, r"^✖ (?P<id>\S.*?) \([\d.]+m?s\)$", Fails(MessageFirst)),
            within(0, r"^(?P<indent> *)▶ (?P<id>\S.*?)(?: \([\d.]+m?s\))?$", Group),
            within(0, r"^(?P<indent> *)✖ (?P<id>\S.*?) \([\d.]+m?s\)(?: # .*)?$", Fails(Nothing)),
            within(0, r"^ *✔ \S.* \([\d.]+m?s\)(?: # .*)?$", Passed),
            within(0, r"^ *﹣ \S.* \([\d.]+m?s\) # (?:SKIP|TODO)", Skipped),
            rule(JS_FRAME, Place),
        ],
        ..RUNNER
    },
    Runner {
        name: "ava",
        rules: &[
            rule(r"^ +(?:✘|✖) \[fail\]: (?P<id>\S.*)$", Fails(Nothing)),
            rule(
                r"^ +(?:✘|✖) (?P<message>Exiting due to process\.exit\(\)) when running (?P<id>\S+)$",
                Dies,
            ),
            rule(r"^ +(?:✘|✖) (?P<id>\S+) (?P<message>exited (?:with|due) .*)$", Dies),
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
    },
    Runner {
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
    },
    Runner {
        name: "cargo",
        rules: &[
            rule(r"^     Running (?P<id>.+)$", Scope),
            rule(r"^   Doc-tests (?P<id>.+)$", Scope),
            rule(r"^(?:test result|error): ", Section(0)),
            rule(r"^running \d+ tests?$", Announces),
            rule(
                r"^test (?P<id>\S.*?)(?: - should panic)? \.\.\. (?P<message>error: test failed)\b",
                Dies,
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
    },
    Runner {
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
            within(1, r"^\t\t(?P<id>Test\S*) \([\w.]+\)$", Dies),
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
    },
    Runner {
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
    },
    Runner {
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
    },
    Runner {
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
    },
    Runner {
        name: "maven",
        abbreviates: true,
        rules: &[
            rule(r"^\[(?:INFO|ERROR|WARNING)\] (?:Tests are run|T E S T S| +T E S T S)", Starts),
            rule(
                r"^\[(?:INFO|ERROR|WARNING)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$",
                Totals(WordFirst),
            ),
            rule(r"^Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$", Totals(WordFirst)),
            rule(
                r"^(?:\[ERROR\] )?(?:Failures|Errors|Failed tests|Tests in error): *$",
                Section(1),
            ),
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
            rule(
                r"^\sat .*\((?P<file>\w*Tests?\w*\.(?:java|kt|groovy|scala)):(?P<line>\d+)\)$",
                Place,
            ),
            rule(r"^\[(?:INFO|ERROR)\] *$", Ends),
        ],
        ..RUNNER
    },
    Runner {
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
    },
    Runner {
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
            rule(
                r"^(?P<file>[^\s:]+\.(?:c|cc|cpp|cxx|h|hpp)):(?P<line>\d+): (?P<message>.*)$",
                Place,
            ),
        ],
        ..RUNNER
    },
    Runner {
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
    },
    Runner {
        name: "tap",
        rules: &[
            // Titles are those of tape, which has no subtests: elsewhere such a line is what a program printed.
            rule(r"^TAP version \d+$", Section(1)),
            rule(r"^(?:TAP version \d+|1\.\.\d+(?: # .*)?|Result: (?:PASS|FAIL))$", Starts),
            rule(r"^# (?:tests|pass|fail|skipped|skip|todo|cancelled) +\d+$", Totals(WordFirst)),
            rule(
                r"^# \{ total: \d+, pass: \d+(?:, (?:fail|skip|todo): \d+)* \}$",
                Totals(WordFirst),
            ),
            rule(r"^ *# Subtest: ", Section(2)),
            rule(r"^(?P<indent> *)# Subtest: (?P<id>\S.*)$", Group),
            rule(LATE_ERROR[1], Dies),
            within(0, r"^(?:# +Failed test |not ok \d)", Section(3)),
            rule(r"^# +Failed test '(?P<id>.+)'$", Fails(Explanation)),
            rule(r"^(?P<id>\S+\.t) +\(Wstat: (?P<message>\d+ \(Signal: \w+\)).*\)$", Dies),
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
    },
    Runner {
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
            rule(
                r"^\[  FAILED  \] (?P<id>[^\s,]+)(?:, where .*?)?(?: \(\d+ ms\))?$",
                Fails(Nothing),
            ),
            rule(r"^\[  (?:PASSED  |FAILED  |SKIPPED )\] \d+ tests?\b", Totals(WordFirst)),
            within(1, r"^(?P<id>(?P<file>\S.*?):(?P<line>\d+)): Failure$", Fails(MessageFirst)),
            rule(r"^Failed$", MessageFollows),
            rule(r"^(?:unknown file|(?P<file>\S.*?):(?P<line>\d+)): Failure$", MessageFollows),
        ],
        ..RUNNER
    },
    Runner {
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
            within(3, r"^(?P<indent> *)(?P<id>-{0,9}[^\s-].*?) *$", ScopeGoesOn),
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
    },
    Runner {
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
    },
    Runner {
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
    },
    Runner {
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
    },
    Runner {
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
            rule(
                r"^ *##teamcity\[testFailed (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'",
                Fails(Nothing),
            ),
            rule(r"^ *##teamcity\[testIgnored (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Skipped),
            rule(r"^ *##teamcity\[testFinished (?:.* )?name='(?P<id>(?:[^'|]|\|.)*)'", Finishes),
        ],
        ..RUNNER
    },
];
