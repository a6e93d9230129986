/** The one error class. */

const BRAND = Symbol.for('spillway.error')

/** Stable codes; compare these, not messages. */
export type SpillwayErrorCode =
  /** A setting is not allowed. */
  | 'INVALID_CONFIG'
  /** An argument of a call is not allowed. */
  | 'INVALID_ARGUMENT'
  /** The file could not be written to any folder. */
  | 'STORAGE_WRITE'
  /** The file could not be read. */
  | 'STORAGE_READ'
  /** The path is not a file of the store. */
  | 'STORAGE_NOT_OWNED'
  /** The file existed and was removed, usually by a sweep. */
  | 'STORAGE_NOT_FOUND'
  /** The file is too large to become one string. */
  | 'STORAGE_TOO_LARGE'
  /** A custom storage did not answer in time. */
  | 'STORAGE_TIMEOUT'
  /** A server for shared state could not be reached, did not answer in time, or refused. */
  | 'COORDINATION'
  /** Another worker holds the session, or held it in the meantime. */
  | 'CONFLICT'
  /** The service was closed. */
  | 'CLOSED'
  /** A capture was destroyed before its end. */
  | 'ABORTED'
  /** A command could not be started. */
  | 'COMMAND'
  /** A custom strategy threw, or returned something other than a truncated text. */
  | 'STRATEGY'
  /** A history does not fit into the model's window, and no step made it fit; `report` lists the steps. */
  | 'OVERFLOW'
  /** A tool call was not allowed; `report` is the `RefusedResult`. */
  | 'REFUSED'
  /** Compacting does not help: the history was compacted three times in three turns, and is too long again. */
  | 'COMPACTION'
  /** A callback of the caller threw. */
  | 'CALLBACK'
  /** The binary is missing, does not load, or is of another version. */
  | 'NATIVE_LOAD'
  /** A bug in Spillway. */
  | 'INTERNAL'

export interface SpillwayErrorOptions {
  /** The setting or argument that is wrong, such as `tools.bash.maxLines`. */
  field?: string
  cause?: unknown
  /** Steps before the failure: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
  report?: unknown
}

/** The only error class that Spillway throws. */
export class SpillwayError extends Error {
  override readonly name = 'SpillwayError'
  readonly code: SpillwayErrorCode
  // Only declared, so that an absent field is not printed.
  declare readonly field?: string
  /** Steps before the failure: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
  declare readonly report?: unknown

  constructor(code: SpillwayErrorCode, message: string, options: SpillwayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    if (options.field !== undefined) this.field = options.field
    if (options.report !== undefined) this.report = options.report
    Object.defineProperty(this, BRAND, { value: true })
  }

  // Two copies of the package in one process, or one copy loaded twice by a test runner, recognise each other's errors.
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this method and is distinguished by `this`
    if (this !== SpillwayError) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
  }
}

/**
 * Calls a function, and reports an error of a field under the caller's name for it. `names` maps beginnings of names to
 * their replacements; the first that matches counts.
 */
export function knownAs<T>(names: Readonly<Record<string, string>>, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw renamed(names, error)
  }
}

/**
 * The same for an error that is there.
 * @internal
 */
export function renamed(names: Readonly<Record<string, string>>, error: unknown): unknown {
  if (!(error instanceof SpillwayError)) return error
  const { code, message, field = '', cause, report, stack } = error
  const fitting = Object.entries(names).find(([start]) => field.startsWith(start))
  if (fitting === undefined) return error
  const [start, known] = fitting
  const name = `${known}${field.slice(start.length)}`
  const told = message.replace(`"${field.replace(/^options\./, '')}"`, `"${name}"`)
  const made = new SpillwayError(code, told, { field: name, cause, report })
  // Where it was found, and not where it was renamed.
  if (stack !== undefined) made.stack = stack.replace(message, () => told)
  return made
}
