import type { TruncationEvent } from '../../lib/types'

type Facts = Record<string, unknown>

/** Outcome of one action, in the terms of the expectations. */
export interface Outcome {
  /** The very value that was handed in. */
  given: unknown
  /** Expected content of the saved file. */
  givenText: string
  /** The very value that came back. */
  returned?: unknown
  thrown?: unknown
  /** The text that the model would read. */
  text?: string
  /** `truncated`, `outputPath`, the counts: whatever the result says about itself, under the names of `TruncationResult`. */
  facts: Facts
  events: TruncationEvent[]
  dir: string
  /** Regular files below `dir` that the action left there, by relative path. */
  files: string[]
}
