/** Helpers of the tests of all adapters. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { HistoryPruner, type ToolResultLedger, TruncationService } from 'spillway'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of a framework that change from version to version
export type Any = any

/** Returns a long text in which every line differs. */
export function longText(lines: number, word = 'line'): string {
  return Array.from({ length: lines }, (_, at) => `${word} ${at + 1} of some length`).join('\n')
}

/** A folder of a test's own, gone when all tests have run. */
export function tempDir(): string {
  const dir = mkdtempSync(join(process.env.SPILLWAY_STORAGE_DIR ?? '.', 'test-'))
  after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A service with small limits and its own folder. */
export function smallService(maxLines = 10): { service: TruncationService; dir: string; files: () => string[] } {
  const dir = tempDir()
  const service = new TruncationService({ global: { maxLines, maxBytes: 2000, storageDir: dir } })
  const files = () =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.txt'))
      .map((name) => readFileSync(join(dir, name), 'utf8'))
  return { service, dir, files }
}

/** Returns a pruner that prunes everything it may at once, except the newest results. */
export function eagerPruner(keepRecent = 0, ledger?: ToolResultLedger): HistoryPruner {
  return new HistoryPruner({ schedule: 'always', keepRecent, ...(ledger && { ledger }) })
}

/** A deep copy, to compare with what a value has become. */
export function snapshot<T>(value: T): string {
  return JSON.stringify(value)
}

/** Freezes a value and everything in it, so that a write throws. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}
