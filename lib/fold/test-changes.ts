/** The difference between two runs of the same tests, by the names of the failures. */

import { native } from '../native/native'
import { compareTestRuns, readTestRun } from '../truncation/test-run'
import type { TestFailure, TestRun } from '../types'
import { isArray } from '../util/guards'

/** Words of calls that run tests. Reading a run takes time, so that others are not read. */
const RUNS_TESTS =
  /\b(tests?|specs?|check|verify|jest|vitest|mocha|ava|tap|prove|pytest|tox|nox|unittest|nextest|rspec|rake|minitest|phpunit|mvn|gradlew?|surefire|ctest)\b/i

/** Calls whose last run is remembered. */
const MAX_CALLS = 200
/** Names in a list, and UTF-16 units of each. */
const MAX_NAMES = 10
const MAX_UNITS = 120

/** A run, and whether all of its failures are known. */
interface KnownRun {
  readonly run: TestRun
  readonly isWhole: boolean
}

/** The last test run of each call of a session. */
export class TestChanges {
  private readonly runs = new Map<string, KnownRun>()
  /** Texts of the calls that are known: a call with none of them is another one. */
  private readonly subjects = new Set<unknown>()

  /**
   * Returns a line that says how the run in a result differs from the last one of the same call; `undefined` if one of them is no
   * run, or not whole, or no test failed in either. Remembers the run.
   */
  describe(call: TestCall, args: string, text: string): string | undefined {
    const { toolName, args: given } = call
    if (args === '' || !(RUNS_TESTS.test(args) || RUNS_TESTS.test(toolName))) return undefined
    const key = keyOf(call, args)
    const before = this.runs.get(key)
    const run = readTestRun(text)
    this.runs.delete(key)
    if (run === undefined) return undefined
    const known = { run, isWhole: isWhole(run, text) }
    this.runs.set(key, known)
    if (this.subjects.size > 4 * MAX_CALLS) this.subjects.clear()
    for (const subject of subjectsOf(toolName, given)) this.subjects.add(subject)
    const [oldest] = this.runs.keys()
    if (this.runs.size > MAX_CALLS && oldest !== undefined) this.runs.delete(oldest)
    return before?.isWhole && known.isWhole ? changeBetween(before.run, run) : undefined
  }

  /** Forgets the last run of a call. */
  forget(call: TestCall, args: string): void {
    this.runs.delete(keyOf(call, args))
  }

  /** False if a call has certainly not run tests before. Takes next to no time, and never throws. */
  mayKnow({ toolName, args }: TestCall): boolean {
    const { subjects } = this
    if (subjects.size === 0) return false
    try {
      const given = Object(args) as Record<string, unknown>
      for (const name in given) if (subjects.has(subjectOf(given[name]))) return true
    } catch {
      // A proxy or a getter threw.
    }
    return subjects.has(toolName)
  }

  clear(): void {
    this.runs.clear()
    this.subjects.clear()
  }
}

const keyOf = ({ toolName, workingDirectory }: TestCall, args: string) =>
  JSON.stringify([toolName, args, workingDirectory])

/** A call that may have run tests. */
interface TestCall {
  readonly toolName: string
  readonly args?: unknown
  readonly workingDirectory?: string | undefined
}

/** The texts among the arguments; the tool if there are none. */
function subjectsOf(toolName: string, args: unknown): unknown[] {
  try {
    const texts = Object.values(Object(args))
      .map(subjectOf)
      .filter((text) => text !== undefined)
    return texts.length > 0 ? texts : [toolName]
  } catch {
    return []
  }
}

/** A command, also one given as a list of words. */
function subjectOf(value: unknown): unknown {
  if (typeof value === 'string') return value
  return isArray(value) ? value.at(-1) : undefined
}

/** A preview may lack failures, and also the totals that say so: what it lacks is not fixed. */
function isWhole({ failed, failures }: TestRun, text: string): boolean {
  if (failures.length < failed) return false
  return !native.containsTruncationMarker(text, true) || native.namesAllFailures(text, failures.length)
}

function changeBetween(before: TestRun, run: TestRun): string | undefined {
  const { fixed, failing, stillFailing } = compareTestRuns(before, run)
  const parts = [
    // A run that ended early has fewer tests: what it did not reach is not fixed either.
    part(countOf(run) >= countOf(before) && !run.unfinished ? 'fixed' : 'fixed or not run', fixed),
    part(before.unfinished ? 'new or not run before' : 'new', failing),
    part('still failing', stillFailing),
  ].filter((words) => words !== undefined)
  return parts.length === 0 ? undefined : `[test failures since the last run of this call: ${parts.join('; ')}]`
}

function countOf({ passed = 0, failed, skipped }: TestRun): number {
  return passed + failed + skipped
}

function part(words: string, failures: readonly TestFailure[]): string | undefined {
  if (failures.length === 0) return undefined
  const names = failures.slice(0, MAX_NAMES).map(({ id }) => oneLine(id))
  const more = failures.length - names.length
  return `${words} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** A name comes from the output of a tool. */
function oneLine(name: string): string {
  const line = name.replace(/\s+/g, ' ')
  return line.length > MAX_UNITS ? `${line.slice(0, MAX_UNITS).toWellFormed()}…` : line
}
