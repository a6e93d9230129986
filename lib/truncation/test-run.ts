/** Test runs as data. */

import { types } from 'node:util'
import { call, native } from '../native/native'
import type { TestFailure, TestRun, TestRunChange } from '../types'
import { isRecord, wrong } from '../validation/validate'

/**
 * Reads a test run from what its runner printed: pytest, unittest, Jest, Vitest, Mocha, `node:test`, AVA, `cargo test`,
 * nextest, `go test` (also with `-json`), RSpec, Minitest, PHPUnit, Maven Surefire, Gradle, CTest, `dotnet test`, and TAP of
 * any program; or a report in XML (JUnit, TRX, xUnit.net, NUnit). Colours and the time that CI services write before each line
 * are ignored. Returns `undefined` for any other text.
 *
 * Pass the full output: the numbers and failures in a missing part cannot be known. Time is linear; of each line the first 4 KiB
 * are read.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if `output` is neither a string nor bytes
 */
export function readTestRun(output: string | Uint8Array): TestRun | undefined {
  if (typeof output !== 'string' && !types.isUint8Array(output)) {
    throw wrong('output', output, 'a string or a Uint8Array')
  }
  const run = call(() => native.testRunOf(output))
  return run == null ? undefined : (JSON.parse(run) as TestRun)
}

/**
 * Compares a test run with an earlier one of the same tests, by the names of the failures. A name that several failures share
 * counts as often as it occurs.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if one of them is not a test run
 */
export function compareTestRuns(earlier: TestRun, later: TestRun): TestRunChange {
  const before = countsOf(failuresOf('earlier', earlier))
  const change: TestRunChange = { fixed: [], failing: [], stillFailing: [] }
  for (const failure of failuresOf('later', later)) {
    const left = before.get(failure.id) ?? 0
    before.set(failure.id, left - 1)
    if (left > 0) change.stillFailing.push({ ...failure })
    else change.failing.push({ ...failure })
  }
  // If a name occurs several times, the last failures of that name are the fixed ones.
  for (const failure of [...failuresOf('earlier', earlier)].reverse()) {
    const left = before.get(failure.id) ?? 0
    if (left <= 0) continue
    before.set(failure.id, left - 1)
    change.fixed.push({ ...failure })
  }
  change.fixed.reverse()
  if (earlier.unfinished || later.unfinished) change.unfinished = true
  return change
}

function countsOf(failures: readonly TestFailure[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { id } of failures) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

function failuresOf(field: string, run: unknown): readonly TestFailure[] {
  const failures: unknown = isRecord(run) ? run.failures : undefined
  if (!Array.isArray(failures) || !failures.every((failure) => isRecord(failure) && typeof failure.id === 'string')) {
    throw wrong(field, run, 'a test run as readTestRun returns it')
  }
  return failures
}
