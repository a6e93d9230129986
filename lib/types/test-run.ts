/** The test runs that the strategy `tests` recognizes. */

/** A test that failed, or a file of tests that could not be run. */
export interface TestFailure {
  /**
   * The name of the test as its runner prints it, at most 1,000 bytes. Names of nested groups on lines of their own
   * are joined by ` > `.
   */
  id: string
  /** The first line of the message, at most 500 bytes; `''` if there is none. */
  message: string
  /** The place as `file:line`; `''` if the output does not say. */
  where: string
}

/** A test run, as far as the output of its runner states it. */
export interface TestRun {
  /** Whose output it is, such as `['pytest']`; several if the output holds several runs, whose numbers are added up. */
  runners: string[]
  /** Number of tests that passed. Absent if the output does not say, as that of `go test` without `-v`. */
  passed?: number
  /** Number of tests that failed, those with an error included. */
  failed: number
  /** Number of tests that were skipped, or failed as expected. */
  skipped: number
  /**
   * True if the output ends before the run does: the process died or was stopped, or is still at work. The tests that were
   * running are among the failures if the output names them. Absent otherwise.
   */
  unfinished?: boolean
  /**
   * The failures in the order of the output, at most 10,000. A file that could not be loaded is included although it is not a
   * test, so there may be more failures than `failed`.
   */
  failures: TestFailure[]
}

/** How a test run differs from an earlier one, by the names of its failures. */
export interface TestRunChange {
  /** Failures of the earlier run that the later one does not have. If the later run is unfinished, they may not have run in it. */
  fixed: TestFailure[]
  /** Failures that the earlier run did not have. If the earlier run is unfinished, they may not have run in it. */
  failing: TestFailure[]
  /** Failures of both runs. */
  stillFailing: TestFailure[]
  /** Present if one of the runs is unfinished: tests that it did not reach are not compared. */
  unfinished?: true
}
