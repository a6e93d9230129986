/** Helpers of the adapters' specs; the real frameworks are in the folders beside. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HistoryPruner, TruncationService } from 'spillway'
import { tempDir } from '../support/temp'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of a framework, made by hand
export type Any = any

export const LONG = Array.from({ length: 300 }, (_, at) => `line ${at + 1} of some length`).join('\n')

/** A service with small limits, and the files that it saved. */
export function smallService(): { service: TruncationService; files: () => string[] } {
  const dir = tempDir()
  const service = new TruncationService({ global: { maxLines: 10, maxBytes: 2000, storageDir: dir } })
  const files = () =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.txt'))
      .map((name) => readFileSync(join(dir, name), 'utf8'))
  return { service, files }
}

export function eagerPruner(keepRecent = 0): HistoryPruner {
  return new HistoryPruner({ schedule: 'always', keepRecent })
}

export function overflowError(): Error {
  return Object.assign(new Error('prompt is too long: 213462 tokens > 200000 maximum'), { status: 400 })
}

/** Makes a value and everything in it unchangeable. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}
