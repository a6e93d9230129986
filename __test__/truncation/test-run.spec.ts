/**
 * Test runs: outputs of real runners on a small shop with two or more failures each, in `test-runs/`; what they say is in
 * `test-runs/runs.json`, checked by hand.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  compareTestRuns,
  DEFAULT_TRUNCATION_CONFIG,
  readTestRun,
  type TestRun,
  TestsStrategy,
  type TruncationStrategyName,
} from 'spillway/truncation'
import { cut, makeService } from '../support/outputs'

const FOLDER = join(__dirname, 'test-runs')
const RUNS = JSON.parse(readFileSync(join(FOLDER, 'runs.json'), 'utf8')) as Record<string, TestRun>
const text = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
/** The output as a strategy shows it. */
const shorten = (output: string, maxBytes: number, strategy: TruncationStrategyName = 'tests') =>
  makeService({ strategy, global: { maxBytes } }).output(output, { toolName: 'bash' })
const failing = Object.entries(RUNS).filter(([, run]) => run.failures.length > 0)

/** The parts of a name, which are on one line each. */
const partsOf = (id: string) => id.split(' > ')

describe('readTestRun', () => {
  it('has an expectation for every output', () => {
    expect(Object.keys(RUNS).sort()).toEqual(
      readdirSync(FOLDER)
        .filter((name) => name !== 'runs.json')
        .sort(),
    )
  })

  it.each(Object.entries(RUNS))('reads %s', (name, run) => {
    expect(readTestRun(text(name))).toEqual(run)
  })

  it.each(failing)('reads %s in colours, after times of a CI service, and with line breaks of Windows', (name, run) => {
    if (name.endsWith('.xml') || name === 'go-json.txt') return
    const lines = text(name).split('\n')
    const coloured = lines.map((line) => `\u001b[31m${line}\u001b[0m\u001b[K`).join('\n')
    const timed = lines.map((line) => `2026-01-31T23:59:59.1234567Z ${line}`).join('\n')
    for (const variant of [coloured, timed, lines.join('\r\n')]) expect(readTestRun(variant)).toEqual(run)
  })

  // Ends of processes, failures beside the tests, and other spellings.
  const PYTEST = '============================= test session starts =============================='
  it.each<[name: string, lines: string[], failures: [id: string, message: string, where: string][]]>([
    [
      'a pytest that is aborted, with names',
      [
        PYTEST,
        't.py::test_a FAILED    [ 50%]',
        't.py::test_b Fatal Python error: Aborted',
        '',
        'Current thread 0x1 (most recent call first):',
        '  File "/p/t.py", line 3 in test_b',
      ],
      [
        ['t.py::test_a', '', ''],
        ['t.py::test_b', 'Aborted', '/p/t.py:3'],
      ],
    ],
    ...['t.py ..', 't.py ', '..F.'].map((letters): [string, string[], [string, string, string][]] => [
      `a pytest that dies after ${letters}`,
      [
        `${letters}Fatal Python error: Segmentation fault`,
        '',
        'Current thread 0x1 (most recent call first):',
        '  File "/p/lib.py", line 9 in call',
        '  File "/p/t.py", line 3 in test_b',
        '  File "/p/_pytest/python.py", line 195 in pytest_pyfunc_call',
        'Segmentation fault (core dumped)',
      ],
      [['test_b', 'Segmentation fault', '/p/t.py:3']],
    ]),
    [
      'parameters of pytest with a dash',
      [PYTEST, '____ test_x[a - b] ____', 'FAILED t.py::test_x[a - b] - assert x[1] == 2', '== 1 failed in 0.1s =='],
      [['t.py::test_x[a - b]', 'assert x[1] == 2', '']],
    ],
    [
      'a unittest that is aborted',
      [
        'test_a (t.A.test_a) ... ok',
        'test_b (t.A.test_b) ... FAIL',
        'test_c (t.A.test_c) ... Fatal Python error: Aborted',
        '',
        '  File "/p/t.py", line 65 in test_c',
      ],
      [
        ['test_b (t.A.test_b)', '', ''],
        ['test_c (t.A.test_c)', 'Fatal Python error: Aborted', '/p/t.py:65'],
      ],
    ],
    [
      'an error of Vitest outside of the tests',
      [
        ' RUN  v4.1.12 /p',
        '⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯',
        '⎯⎯⎯⎯⎯ Uncaught Exception ⎯⎯⎯⎯⎯',
        'Error: late boom from a timer',
        ' ❯ Timeout._onTimeout a.test.js:64:48',
        '⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯',
        '      Tests  2 passed (2)',
      ],
      [['Uncaught Exception', 'Error: late boom from a timer', 'a.test.js:64']],
    ],
    [
      'an AVA file that exits',
      ['  ✘ Exiting due to process.exit() when running b.test.mjs', '  ✔ cart › adds', '  1 test failed'],
      [['b.test.mjs', 'Exiting due to process.exit()', '']],
    ],
    [
      'an error of Node after a test',
      [
        '✔ leaks (0.2ms)',
        'ℹ Error: Test "leaks" at a.test.mjs:65:1 generated asynchronous activity after the test ended. It threw.',
        'ℹ tests 1',
        'ℹ pass 1',
        'ℹ fail 0',
      ],
      [['leaks', 'generated asynchronous activity after the test ended. It threw.', 'a.test.mjs:65']],
    ],
    [
      'what a program of Node prints',
      [
        'TAP version 13',
        '# took 730 ms',
        '# Subtest: saves',
        'not ok 1 - saves',
        '# done',
        '# Subtest: loads',
        'not ok 2 - loads',
      ],
      [
        ['saves', '', ''],
        ['loads', '', ''],
      ],
    ],
    [
      'times and suites of Vitest in TAP',
      [
        'TAP version 13',
        '1..1',
        'not ok 1 - cart.test.js # time=47.25ms {',
        '    1..2',
        '    ok 1 - adds # time=2.91ms',
        '    not ok 2 - refunds # time=0.63ms',
        '}',
      ],
      [['cart.test.js > refunds', '', '']],
    ],
    [
      'times of tap',
      [
        'TAP version 14',
        '# Subtest: cart.test.mjs',
        '    # Subtest: sums',
        '        not ok 1 - should be equal',
        '        1..1',
        '    not ok 1 - sums # time=21.003ms',
        'not ok 1 - cart.test.mjs # time=84.232ms',
        '# { total: 3, pass: 2, fail: 1 }',
      ],
      [['cart.test.mjs > sums > should be equal', '', '']],
    ],
    [
      'TAP without a version',
      ['1..3', 'ok 1 - a', 'not ok 2 - b', "#   Failed test 'b'", '#   at t.t line 3.', '# a note', 'not ok 3 - c'],
      [
        ['b', '', 't.t:3'],
        ['c', '', ''],
      ],
    ],
    [
      'prove',
      [
        "#   Failed test 'sums the total'",
        '#   at ./cart.t line 3.',
        './crash.t (Wstat: 9 (Signal: KILL) Tests: 1 Failed: 0)',
        'Result: FAIL',
      ],
      [
        ['sums the total', '', './cart.t:3'],
        ['./crash.t', '9 (Signal: KILL)', ''],
      ],
    ],
    [
      'prove without the names of tests',
      [
        't/a.t (Wstat: 512 (exited 2) Tests: 1 Failed: 0)',
        '  Non-zero exit status: 2',
        '  Parse errors: Bad plan.  You planned 5 tests but ran 1.',
        't/b.t (Wstat: 256 (exited 1) Tests: 3 Failed: 2)',
        '  Failed tests:  1, 3',
        '  Non-zero exit status: 1',
        't/c.t (Wstat: 0 Tests: 2 Failed: 0)',
        '  TODO passed:   2',
        't/d.t (Wstat: 0 Tests: 1 Failed: 0)',
        '  Parse errors: No plan found in TAP output',
        'Files=4, Tests=7,  0 wallclock secs ( 0.02 usr)',
        'Result: FAIL',
      ],
      [
        ['t/a.t', 'Non-zero exit status: 2', ''],
        ['t/b.t', '', ''],
        ['t/d.t', 'Parse errors: No plan found in TAP output', ''],
      ],
    ],
    [
      'a go test that panics beside its tests',
      [
        'ok  \texample.org/a\t0.002s',
        'panic: boom',
        '',
        'goroutine 7 [running]:',
        'example.org/shop.TestA.func1()',
        '\t/p/a_test.go:8 +0x2c',
        'FAIL\texample.org/shop\t0.005s',
        'FAIL',
      ],
      [['example.org/shop', 'panic: boom', '/p/a_test.go:8']],
    ],
    [
      'packages of go that fail without a test, before one whose test fails',
      [
        'cannot open the till',
        'FAIL\tshop\t0.005s',
        'fatal error: all goroutines are asleep - deadlock!',
        'FAIL\tcart\t0.005s',
        '--- FAIL: TestB (0.00s)',
        '    b_test.go:3: no',
        'FAIL',
        'FAIL\tstock\t0.003s',
      ],
      [
        ['shop', '', ''],
        ['cart', 'fatal error: all goroutines are asleep - deadlock!', ''],
        ['TestB', 'no', 'b_test.go:3'],
      ],
    ],
    ...(
      [
        ['panic: boom', 'TestA', 'FAIL\tshop\t0.1s', ['TestA', 'panic: boom', '']],
        ['panic: boom', undefined, 'FAIL\tshop\t0.1s', ['shop', 'panic: boom', '']],
        ['# shop', undefined, 'FAIL\tshop [build failed]', ['shop', 'build failed', '']],
      ] as const
    ).map(([first, Test, last, failure]): [string, string[], [string, string, string][]] => [
      `events of go: ${first}, ${last}`,
      [...(Test ? [`=== RUN   ${Test}`] : []), first, last].map((line) =>
        JSON.stringify({ Action: 'output', Package: 'shop', Test, Output: `${line}\n` }),
      ),
      [[...failure]],
    ]),
    [
      'names of Catch2 that are broken',
      [
        '~'.repeat(79),
        'cart is a Catch2 v3.5.2 host application.',
        '-'.repeat(79),
        'A TEMPLATE_PRODUCT_TEST_CASE_METHOD based test run that fails - std::vector',
        '<float>',
        '  a section',
        '-'.repeat(79),
        'Class.tests.cpp:93',
        '.'.repeat(79),
        '',
        'Class.tests.cpp:94: FAILED:',
        '  REQUIRE( m_a.size() == 1 )',
        'with expansion:',
        '  0 == 1',
        '',
        '-'.repeat(79),
        '- a dash first',
        '-'.repeat(79),
        'Skip.tests.cpp:5',
        '.'.repeat(79),
        '',
        'Skip.tests.cpp:6: SKIPPED:',
        'explicitly with message:',
        '  not yet',
        '',
        '='.repeat(79),
        'test cases: 2 | 1 failed | 1 skipped',
        'assertions: 1 | 1 failed',
      ],
      [
        [
          'A TEMPLATE_PRODUCT_TEST_CASE_METHOD based test run that fails - std::vector <float> > a section',
          'REQUIRE( m_a.size() == 1 )',
          'Class.tests.cpp:94',
        ],
      ],
    ],
    [
      'a test of googletest in CTest once',
      [
        'Test project /p/b',
        '    Start 1: Cart.Sums',
        '1/1 Test #1: Cart.Sums ................***Failed    0.01 sec',
        '[==========] Running 1 test from 1 test suite.',
        '[ RUN      ] Cart.Sums',
        'g.cc:6: Failure',
        'Value of: false',
        '[  FAILED  ] Cart.Sums (0 ms)',
        '[==========] 1 test from 1 test suite ran. (0 ms total)',
        '[  PASSED  ] 0 tests.',
        '[  FAILED  ] 1 test, listed below:',
        '[  FAILED  ] Cart.Sums',
        '0% tests passed, 1 tests failed out of 1',
      ],
      [['Cart.Sums', 'Failed', 'g.cc:6']],
    ],
    [
      'values of TeamCity in any order, and escaped',
      [
        "##teamcity[testStarted name='it|'s a |[cart|]' flowId='1']",
        "##teamcity[testFailed details='at x' message='|n|0x00e4 || b|nmore' name='it|'s a |[cart|]' flowId='1']",
        "##teamcity[testFinished name='it|'s a |[cart|]' duration='1']",
        "  ##teamcity[testFailed name='two' message='no' details='name=|'three|'']",
      ],
      [
        ["it's a [cart]", 'ä | b', ''],
        ['two', 'no', ''],
      ],
    ],
  ])('reads %s', (_, lines, failures) => {
    const run = readTestRun(lines.join('\n'))
    expect(run?.failures.map(({ id, message, where }) => [id, message, where])).toEqual(failures)
  })

  // Real outputs of runs that were killed, exited in the middle of a test, or were interrupted.
  const PHPUNIT = 'PHPUnit 9.6.7 by Sebastian Bergmann and contributors.'
  it.each<[name: string, lines: string[], passed: number | undefined, failures: [id: string, message: string][]]>([
    ['a pytest that is killed', [PYTEST, 'collected 4 items', '', 'test_a.py ..Killed'], undefined, []],
    [
      'a pytest that is killed, with names',
      [
        PYTEST,
        'collecting ... collected 4 items',
        '',
        'test_a.py::test_one PASSED                                 [ 25%]',
        'test_a.py::TestX::test_kill[a - b] Killed',
      ],
      undefined,
      [['test_a.py::TestX::test_kill[a - b]', 'Killed']],
    ],
    [
      'a pytest whose test exits',
      [PYTEST, 'collecting ... collected 3 items', '', 'test_c.py::test_one PASSED [ 33%]', 'test_c.py::test_exit '],
      undefined,
      [['test_c.py::test_exit', '']],
    ],
    [
      'a pytest that is interrupted',
      [
        PYTEST,
        'collecting ... collected 3 items',
        '',
        'test_f.py::test_one PASSED [ 33%]',
        'test_f.py::test_int ',
        '',
        '!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!',
        '/p/test_f.py:2: KeyboardInterrupt',
        '========== 1 passed in 0.40s ==========',
      ],
      1,
      [['test_f.py::test_int', '']],
    ],
    [
      'a pytest that a test ends',
      [
        PYTEST,
        'collecting ... collected 3 items',
        'test_e.py::test_one PASSED [ 33%]',
        'test_e.py::test_exit ',
        '========== 1 passed in 0.18s ==========',
        '!!!!!!!!!! _pytest.outcomes.Exit: no more !!!!!!!!!!',
      ],
      1,
      [['test_e.py::test_exit', '']],
    ],
    [
      'a pytest that runs into a timeout',
      [
        PYTEST,
        'collected 3 items',
        '',
        'test_d.py .+++++++++++++ Timeout +++++++++++++',
        '~~~~~~~~~~ Stack of MainThread (140498468031360) ~~~~~~~~~~',
        '  File "/p/_pytest/python.py", line 187, in pytest_pyfunc_call',
        '  File "/p/test_d.py", line 4, in test_slow',
      ],
      undefined,
      [['test_slow', 'Timeout']],
    ],
    [
      'a pytest on two workers that is killed',
      [
        PYTEST,
        'created: 2/2 workers',
        '2 workers [3 items]',
        '',
        'scheduling tests via LoadScheduling',
        '',
        'test_a.py::test_one ',
        'test_a.py::test_two ',
        '[gw0] [ 33%] PASSED test_a.py::test_one ',
        'test_a.py::test_three ',
        '[gw1] [ 66%] PASSED test_a.py::test_two ',
      ],
      undefined,
      [['test_a.py::test_three', '']],
    ],
    [
      'a pytest whose tests print',
      [PYTEST, 'collecting ... collected 2 items', '', 'test_a.py::test_one one', 'PASSED', 'test_a.py::test_two two'],
      undefined,
      [['test_a.py::test_two', 'two']],
    ],
    [
      'a unittest that is killed',
      ['test_a (ut.T.test_a) ... ok', 'test_b (ut.T.test_b) ... '],
      1,
      [['test_b (ut.T.test_b)', '']],
    ],
    [
      'a Jest that a test ends',
      [
        '  ●  process.exit called with "1"',
        '',
        "    > 1 | test('exits', () => { process.exit(1) })",
        '        |                               ^',
        '',
        '      at Object.exit (c.test.js:1:55)',
      ],
      undefined,
      [['process.exit called', 'with "1"']],
    ],
    ['a Vitest that is killed', [' RUN  v4.1.12 /p', '', ' ✓ b.test.js (2 tests) 3ms'], undefined, []],
    [
      'a Mocha that a test ends',
      ['> shop@1.0.0 test', '> mocha', '', '', '  cart', '    ✔ adds', '    ✔ removes', '    late'],
      2,
      [],
    ],
    [
      'a Mocha that cannot load a file',
      ['', ' Exception during run: Error: cannot load the fixture', '    at Object.<anonymous> (/p/e.js:1:7)'],
      undefined,
      [['Exception during run', 'Error: cannot load the fixture']],
    ],
    ['a cargo test that is killed', ['running 3 tests', 'test tests::adds ... ok'], undefined, []],
    [
      'a cargo test that crashes on one thread',
      [
        '     Running unittests src/lib.rs (target/debug/deps/t4-c2fc)',
        '',
        'running 3 tests',
        'test tests::adds ... ok',
        'test tests::crashes ... error: test failed, to rerun pass `--lib`',
        '',
        'Caused by:',
        "  process didn't exit successfully: `/p/t4-c2fc --test-threads=1` (signal: 11, SIGSEGV: invalid memory reference)",
      ],
      undefined,
      [
        ['tests::crashes', 'error: test failed'],
        ['unittests src/lib.rs (target/debug/deps/t4-c2fc)', 'signal: 11, SIGSEGV: invalid memory reference'],
      ],
    ],
    [
      'a cargo test whose test exits',
      [
        '     Running unittests src/lib.rs (target/debug/deps/t4-c2fc)',
        '',
        'running 1 test',
        'error: test failed, to rerun pass `--lib`',
        '',
        'Caused by:',
        "  process didn't exit successfully: `/p/t4-c2fc exits` (exit status: 7)",
      ],
      undefined,
      [['--lib', 'exit status: 7']],
    ],
    [
      'a nextest that is killed',
      [
        ' Nextest run ID 7b4be9ee with nextest profile: default',
        '    Starting 3 tests across 1 binary',
        '        PASS [   0.026s] (1/3) t4 tests::adds',
      ],
      undefined,
      [],
    ],
    [
      'a go test that times out',
      [
        '=== RUN   TestA',
        '--- PASS: TestA (0.00s)',
        '=== RUN   TestB',
        'panic: test timed out after 1s',
        '\trunning tests:',
        '\t\tTestB (1s)',
        '',
        'FAIL\texample.org/shop\t1.006s',
      ],
      1,
      [['TestB', 'panic: test timed out after 1s']],
    ],
    [
      'a go test of which one package exits',
      [
        '=== RUN   TestB',
        'exit status 3',
        'FAIL\tshop\t0.006s',
        '=== RUN   TestC',
        '--- FAIL: TestC (0.00s)',
        'FAIL',
        'FAIL\tcart\t0.01s',
        'FAIL',
      ],
      undefined,
      [
        ['TestC', ''],
        ['TestB', ''],
      ],
    ],
    [
      'a go test that exits',
      [
        '=== RUN   TestA',
        '--- PASS: TestA (0.00s)',
        '=== RUN   TestB',
        'exit status 3',
        'FAIL\texample.org/shop\t0.006s',
      ],
      1,
      [['TestB', '']],
    ],
    [
      'a Minitest that is killed',
      ['Run options: -v --seed 14143', '', '# Running:', '', 'T#test_a = 0.00 s = .', 'T#test_b = '],
      undefined,
      [['T#test_b', '']],
    ],
    ['a PHPUnit whose test exits', [PHPUNIT, '', '.'], undefined, []],
    [
      'a googletest that exits',
      [
        '[==========] Running 2 tests from 1 test suite.',
        '[ RUN      ] Cart.Adds',
        'no line break[       OK ] Cart.Adds (0 ms)',
        '[ RUN      ] Cart.Exits',
      ],
      undefined,
      [['Cart.Exits', '']],
    ],
    [
      'a Catch2 that exits before a failure is printed',
      ['cart is a Catch v2.13.10 host application.', 'Run with -? for options'],
      undefined,
      [],
    ],
    [
      'a Playwright that is killed',
      [
        'Running 3 tests using 1 worker',
        '',
        '  ✓  1 [unit] › a.spec.ts:2:1 › adds (9ms)',
        '  ✘  2 [unit] › a.spec.ts:4:3 › sums (8ms)',
      ],
      1,
      [],
    ],
    ['a Jasmine that is killed', ['Randomized with seed 13107', 'Started', '.F'], undefined, []],
    [
      'a Robot Framework that is killed',
      [
        '='.repeat(78),
        'Cart'.padEnd(78),
        '='.repeat(78),
        `${'Adds'.padEnd(70)}| PASS |`,
        '-'.repeat(78),
        `${'Sums'.padEnd(70)}| FAIL |`,
        '0.4 != 0.3',
        '-'.repeat(78),
        'Loads'.padEnd(70),
      ],
      undefined,
      [['Sums', '0.4 != 0.3']],
    ],
    [
      'a TeamCity service whose test has no end',
      [
        "##teamcity[testStarted name='adds']",
        "##teamcity[testFinished name='adds']",
        "##teamcity[testStarted name='loads']",
      ],
      1,
      [['loads', '']],
    ],
    [
      'a PHPUnit that runs out of memory',
      [PHPUNIT, '', '.PHP Fatal error:  Allowed memory size of 41943040 bytes exhausted in /p/CTest.php on line 3'],
      undefined,
      [],
    ],
    [
      'a CTest that is killed',
      [
        'Test project /p/b',
        '    Start 1: ok',
        '1/3 Test #1: ok ...............................   Passed    0.01 sec',
        '    Start 2: aborts',
        '2/3 Test #2: aborts ...........................Subprocess aborted***Exception:   0.01 sec',
        '    Start 3: slow',
      ],
      1,
      [
        ['aborts', 'Exception'],
        ['slow', ''],
      ],
    ],
  ])('says that %s is unfinished', (_, lines, passed, failures) => {
    const run = readTestRun(lines.join('\n'))
    expect(run).toMatchObject({ unfinished: true })
    expect(run?.passed).toBe(passed)
    expect(run?.failures.map(({ id, message }) => [id, message])).toEqual(failures)
  })

  it.each([
    [PYTEST, 'collected 0 items', '', '========== no tests ran in 0.01s =========='],
    [PYTEST, 'collected 2 items', '', 't.py .. [100%]', '====== 2 passed in 0.01s ======'],
    [PYTEST, 'collected 2 items', 't.py F', '!!!!! stopping after 1 failures !!!!!', '====== 1 failed in 0.01s ======'],
    ['=== RUN   TestA', 'no line break--- PASS: TestA (0.00s)', 'PASS', 'ok  \texample.org/shop\t0.006s'],
    ['Test project /p/b', '    Start 1: ok', '100% tests passed, 0 tests failed out of 1'],
    ['running 0 tests', '', 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'],
    [PYTEST, 'collected 2 items', '', '<Module t.py>', '  <Function test_a>', '===== 2 tests collected in 0.01s ====='],
    [PYTEST, 'collected 1 item', '', 't.py::test_a onePASSED', '', '====== 1 passed in 0.01s ======'],
    ['=== RUN   TestA', 'x--- PASS: TestA (0.00s)', '--- FAIL: TestB (0.00s)', 'FAIL', 'FAIL\tshop\t0.01s', 'FAIL'],
    [
      ...['=== RUN   TestA', '--- PASS: TestA (0.00s)', '    a_test.go:5: late', '--- FAIL: TestB (0.00s)'].map(
        (line) =>
          JSON.stringify({
            Action: 'output',
            Package: 'p',
            Test: line.match(/Test./)?.[0] ?? 'TestA',
            Output: `${line}\n`,
          }),
      ),
      JSON.stringify({ Action: 'output', Package: 'p', Output: 'FAIL\tp\t0.01s\n' }),
    ],
    [
      ' RUN  v4.1.12 /p',
      '',
      ' FAIL  a.test.js [ a.test.js ]',
      '',
      ' Test Files  1 failed (1)',
      '      Tests  no tests',
    ],
    [' RUN  v4.1.12 /p', '', 'No test files found, exiting with code 1'],
    [' RUN  v4.1.12 /p', '', ' BENCH  Summary', '', '  x - b.bench.js'],
    ['> shop@1.0.0 test', '> mocha --reporter tap', '', 'ok 1 adds', '# tests 1', '# pass 1', '# fail 0', '1..1'],
    ['> mocha', '', '  cart', '    ✔ adds', '', '  1 passing (3ms)', '', '> lint', '', '  all good'],
    ['Run options: --seed 1', '', '# Running:', '', '0 runs, 0 assertions, 0 failures, 0 errors, 0 skips'],
    // Not the output of a test runner.
    ['Randomized with seed 12', '..', '2 examples, 0 failures', 'Randomized with seed 12'],
    ['='.repeat(78), 'A title'.padEnd(78), '='.repeat(78), '| unit tests | PASS |', 'checks     | FAIL |'],
    ['-'.repeat(79), 'a heading', '-'.repeat(79), 'a.c:5: FAILED: to open'],
    ['  4 failed', '  2 passed', '    attempts at work', 'Running late'],
    ['goroutine says', 'panic: boom', '', 'goroutine 1 [running]:', 'exit status 2'],
    ['Compiling (x86_64) ... done', 'Linking (lib.a) ... '],
    ['Issue#12 = fixed', 'C::D#e = 1'],
    ['Start 1: boil water', '   Starting 3 tests of the new engine'],
    ['s+ one', '  File "/p/test_d.py", line 4, in test_slow'],
    ['> mocha-notes@1.0.0 build', '', '  done'],
  ])('does not say so of a run with a result: %j', (...lines) => {
    expect(readTestRun(lines.join('\n'))?.unfinished).toBeUndefined()
  })

  it('reads bytes as it reads text', () => {
    expect(readTestRun(readFileSync(join(FOLDER, 'pytest.txt')))).toEqual(RUNS['pytest.txt'])
  })

  it('adds the numbers of several runs in one output', () => {
    const run = readTestRun(`${text('pytest.txt')}\n${text('go-v.txt')}`)
    expect(run).toMatchObject({ runners: ['pytest', 'go'], passed: 6, failed: 6, skipped: 3 })
    expect(run?.failures.map(({ id }) => id)).toEqual(
      [RUNS['pytest.txt'], RUNS['go-v.txt']].flatMap((each) => each?.failures.map(({ id }) => id) ?? []),
    )
  })

  it.each([
    '',
    'ok',
    'OK\nFAILED\n',
    '1) one\n2) two\n',
    '<?xml version="1.0"?><html><test name="x"/></html>',
    '{"a":1}',
    '# Tests 3',
    '  4 failed\n  2 skipped\n    a.ts:4:3 › b',
    `${'x'.padEnd(70)}| FAIL |\nno\n`,
    'panic: boom\n\ngoroutine 1 [running]:\nexit status 2\n',
    'Failures:\n1) one\n  Message:\n    no\n',
    '[  FAILED  ] to open',
    '[----------] 1 test from Cart\na.cc:5: Failure\nno',
    `${'-'.repeat(79)}\na\n${'-'.repeat(79)}\n`,
    "##teamcity[message text='testFailed name=|'x|'']",
    't/a.t (Wstat: 0 Tests: 3 Failed: 0)\n  TODO passed: 2\nResult: PASS\n',
  ])('knows nothing of %j', (other) => expect(readTestRun(other)).toBeUndefined())

  it.each([undefined, null, 1, {}, []])('refuses %j', (wrong) => {
    expect(() => readTestRun(wrong as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('output') }),
    )
  })

  it('tells tests of the same name in different files apart', () => {
    const block = (file: string) =>
      `FAIL ${file}\n  ● adds\n\n    expect(1).toBe(2)\n\n      at Object.toBe (${file}:3:1)\n\n`
    const output = `${block('a.test.js')}${block('b.test.js')}Tests:       2 failed, 2 total\n`
    expect(readTestRun(output)?.failures).toEqual([
      { id: 'adds', message: 'expect(1).toBe(2)', where: 'a.test.js:3' },
      { id: 'adds', message: 'expect(1).toBe(2)', where: 'b.test.js:3' },
    ])
  })

  it('gives failures of pytest the file that their summary names, also if several have one name', () => {
    const block = (file: string) =>
      `_____ test_x _____\n\nE   assert ${file.length} == 0\n\n${file}:2: AssertionError\n`
    const output = [
      '===== test session starts =====\n\n===== FAILURES =====\n',
      block('a.py'),
      block('long.py'),
      '===== short test summary info =====\nFAILED a.py::test_x - assert 4 == 0\nFAILED long.py::test_x - assert 7 == 0\n',
      '===== 2 failed in 0.02s =====\n',
    ].join('')
    expect(readTestRun(output)?.failures).toEqual([
      { id: 'a.py::test_x', message: 'assert 4 == 0', where: 'a.py:2' },
      { id: 'long.py::test_x', message: 'assert 7 == 0', where: 'long.py:2' },
    ])
  })

  it('throws nothing on any text, and returns what it promises', () => {
    const lines = Object.keys(RUNS).flatMap((name) => text(name).split('\n'))
    const line = fc.oneof(fc.constantFrom(...lines), fc.string(), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (some) => {
        const run = readTestRun(some.join('\n'))
        if (!run) return
        expect(run.runners.length).toBeGreaterThan(0)
        for (const count of [run.passed ?? 0, run.failed, run.skipped]) expect(count).toBeGreaterThanOrEqual(0)
        for (const { id, message, where } of run.failures) {
          expect(Buffer.byteLength(id)).toBeLessThanOrEqual(1_000)
          expect(Buffer.byteLength(message)).toBeLessThanOrEqual(500)
          expect(typeof where).toBe('string')
        }
      }),
    )
  })

  it('takes linear time for hostile outputs', () => {
    const hostile = [
      (n: number) => `=== RUN   TestX\n`.repeat(n),
      (n: number) => `--- FAIL: TestX/${'a/'.repeat(100)} (0.00s)\n`.repeat(n / 10),
      (n: number) => Array.from({ length: n / 4 }, (_, at) => `--- FAIL: Test${at} (0.00s)`).join('\n'),
      (n: number) => `TAP version 13\n${'    # Subtest: a\n'.repeat(n)}`,
      (n: number) => `<testsuite>${'<testcase name="'.repeat(n)}`,
      (n: number) =>
        `<testsuite>${`<testcase name="x"><failure message="${'>'.repeat(200)}"/></testcase>`.repeat(n / 20)}`,
      (n: number) => `  1 failing\n${'  1) a\n'.repeat(n)}`,
      (n: number) => 'FAIL\tp\t0s\n'.repeat(n),
      (n: number) => Array.from({ length: n / 4 }, (_, at) => `panic: x\nFAIL\tp${at}\t0s`).join('\n'),
      (n: number) => `##teamcity[testFailed ${"name='".repeat(100)}\n`.repeat(n / 50),
      (n: number) => `${'-'.repeat(79)}\na b\n`.repeat(n / 8),
      (n: number) => `${'='.repeat(78)}\n${'x'.padEnd(70)}y\n`.repeat(n / 10),
      (n: number) => `[==========] Running 1 test from 1\n${'[ RUN      ] A.b\n'.repeat(n)}`,
      (n: number) => `  1) a.ts:1:1 › ${'─'.repeat(60)}\n`.repeat(n / 10),
    ]
    for (const make of hostile) {
      // The best of three: other processes may hold up any of them.
      const time = (n: number) => {
        const output = make(n)
        const times = [1, 2, 3].map(() => {
          const from = process.hrtime.bigint()
          readTestRun(output)
          return Number(process.hrtime.bigint() - from)
        })
        return Math.min(...times)
      }
      const [short, long] = [time(10_000), time(40_000)]
      expect(long / Math.max(short, 2e6)).toBeLessThan(16)
    }
  })
})

describe('the strategy `tests`', () => {
  it('shows the text of a failure in XML that has no message', async () => {
    const passed = (from: number) =>
      Array.from({ length: 300 }, (_, at) => `<testcase classname="a" name="adds ${from + at}" time="0"/>`).join('\n')
    const failed = (texts: string) =>
      `<testcase classname="a" name="carries" time="0"><failure>${texts}</failure></testcase>`
    const shown = 'vault 7 is sealed\n    at m050.js:44'
    for (const texts of [shown, `<![CDATA[${shown}]]>`, `\n\n  <!-- x -->\n<![CDATA[\n${shown}]]>`]) {
      const output = `<testsuite name="x">\n${passed(0)}\n${failed(texts)}\n${passed(300)}\n</testsuite>\n`
      const result = cut(await shorten(output, 4096))
      expect(result.preview).toContain('vault 7 is sealed')
      expect(result.testRun?.failures.map(({ message }) => message)).toEqual(['vault 7 is sealed'])
    }
  })

  it.each(failing)('names every failure of %s at 4 KB, and has the run as data', async (name, run) => {
    // Passed tests and noise, as of a larger suite.
    const noise = Array.from({ length: 400 }, (_, at) => `debug: request ${at} took ${at % 7} ms`).join('\n')
    const output = name.endsWith('.xml') ? `${text(name)}\n<!--${noise}-->` : `${noise}\n${text(name)}`
    const result = cut(await shorten(output, 4096))
    expect(result.testRun).toEqual(run)
    for (const { id } of run.failures) {
      for (const part of partsOf(id)) {
        expect(result.preview).toContain(name.endsWith('.xml') ? part.replaceAll('"', '&quot;') : part)
      }
    }
    expect(Buffer.byteLength(result.preview)).toBeLessThanOrEqual(4096)
    expect(result.hint).toContain(`Shown: ${run.failures.length} of ${run.failures.length} failures of a test run.`)
  })

  it('shows a failure although a package that was named before it is named again', async () => {
    const noise = (what: string) => Array.from({ length: 200 }, (_, at) => `${what} ${at}`)
    const log = 'a long line of a log that says nothing about any test'
    const steps = noise('    step').slice(0, 20)
    const failed = ['--- FAIL: TestTotal (0.00s)', ...steps, 'FAIL', 'FAIL\texample.com/shop\t0.01s']
    const again = 'FAIL\texample.com/cart\t0.01s'
    const output = [...noise(log), again, ...noise(log), ...failed, again, ...noise(log)].join('\n')
    expect(cut(await shorten(output, 800)).preview).toContain('    step 9\n')
  })

  it('names forty failures with long explanations, and shares the rest among them', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `test_case_${at}`)
    const block = (name: string) =>
      `____________ ${name} ____________\n\n    def ${name}():\n${'        step()\n'.repeat(20)}>       assert f() == 1\nE       assert 0 == 1\n\ntests/test_a.py:9: AssertionError\n`
    const output = [
      '============ test session starts ============\n',
      '============ FAILURES ============\n',
      ...names.map(block),
      '============ short test summary info ============\n',
      ...names.map((name) => `FAILED tests/test_a.py::${name} - assert 0 == 1\n`),
      '============ 40 failed, 3 passed in 0.12s ============\n',
    ].join('')
    const result = cut(await shorten(output, 4096))
    for (const name of names) expect(result.preview).toContain(name)
    expect(result.preview).toContain('40 failed, 3 passed')
    expect(result.testRun?.failures).toHaveLength(40)
  })

  it('shows a run without failures, and any other text, as `smart` does', async () => {
    const passed = `${'ok\n'.repeat(3000)}${text('pytest-passed.txt')}`
    for (const output of [passed, 'line\n'.repeat(5000)]) {
      const [tests, smart] = [cut(await shorten(output, 2000)), cut(await shorten(output, 2000, 'smart'))]
      expect(tests.preview).toBe(smart.preview)
      expect(smart.testRun).toBeUndefined()
    }
    expect(cut(await shorten(passed, 2000)).testRun).toEqual(RUNS['pytest-passed.txt'])
    expect(cut(await shorten('line\n'.repeat(5000), 2000)).testRun).toBeUndefined()
  })

  it('is the same whether the output comes whole or in pieces', async () => {
    const output = `${'noise\n'.repeat(2000)}${text('jest.txt')}${text('pytest.xml')}`
    const service = makeService({ strategy: 'tests', global: { maxBytes: 3000 } })
    const whole = cut(await service.output(output, { toolName: 'bash' }))
    const capture = service.capture({ toolName: 'bash' })
    for (let at = 0; at < output.length; at += 7) capture.write(output.slice(at, at + 7))
    capture.end()
    const streamed = cut(await capture.result)
    expect(streamed.preview).toBe(whole.preview)
    expect(streamed.testRun).toEqual(whole.testRun)
  })

  it('can be an object', () => {
    const { content } = new TestsStrategy().truncate(
      `${'noise\n'.repeat(5000)}${text('go.txt')}`,
      DEFAULT_TRUNCATION_CONFIG,
    )
    expect(content).toContain('--- FAIL: TestSumsPrices')
  })
})

describe('compareTestRuns', () => {
  const run = (...ids: string[]): TestRun => ({
    runners: ['go'],
    failed: ids.length,
    skipped: 0,
    failures: ids.map((id) => ({ id, message: '', where: '' })),
  })
  const names = (list: readonly { id: string }[]) => list.map(({ id }) => id)

  it('says what is fixed, what fails now, and what still fails', () => {
    const change = compareTestRuns(run('a', 'b', 'b', 'c'), run('b', 'd'))
    expect(names(change.fixed)).toEqual(['a', 'b', 'c'])
    expect(names(change.failing)).toEqual(['d'])
    expect(names(change.stillFailing)).toEqual(['b'])
  })

  it('accounts for every failure of both runs', () => {
    const ids = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 8 })
    fc.assert(
      fc.property(ids, ids, (earlier, later) => {
        const change = compareTestRuns(run(...earlier), run(...later))
        const [fixed, failing, still] = [change.fixed, change.failing, change.stillFailing].map(names)
        expect([...(fixed ?? []), ...(still ?? [])].sort()).toEqual(earlier.sort())
        expect([...(failing ?? []), ...(still ?? [])].sort()).toEqual(later.sort())
      }),
    )
  })

  it.each([
    [undefined, run()],
    [run(), {}],
    [run(), { failures: [1] }],
  ])('rejects a text that is no run: %j, %j', (a, b) => {
    expect(() => compareTestRuns(a as never, b as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/earlier|later/) }),
    )
  })
})
