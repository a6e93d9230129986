/** Folders of a test's own, gone when it ends. */

import { mkdtempSync, readdirSync, realpathSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
})

/** A new, empty folder that is removed after the test. */
export function tempDir(): string {
  // The real path, so that a test can compare it with what a store says even where the temporary folder is a link.
  const dir = mkdtempSync(join(realpathSync(tmpdir()), 'spillway-test-'))
  made.push(dir)
  return dir
}

/** The names of all files under a folder, with their folders, sorted; without what a store puts beside outputs. */
export function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => !entry.isDirectory() && !['.lease', '.sweep.lock', '.gitignore', 'CACHEDIR.TAG'].includes(entry.name),
    )
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort()
}

/** Makes a file look as if it had last been written `hours` ago. */
export function age(path: string, hours: number): void {
  const then = new Date(Date.now() - hours * 3_600_000)
  utimesSync(path, then, then)
}

/** The name of a file as a store could have saved it. */
export function ownName(letter: string, toolName = 'bash'): string {
  return `${toolName}_1700000000000_${letter.repeat(13)}.txt`
}

/** Creates a file that was last written `hours` ago. */
export function putOld(dir: string, name: string, hours: number, bytes = 3): string {
  const path = join(dir, name)
  writeFileSync(path, '')
  // However long, it takes no room.
  truncateSync(path, bytes)
  age(path, hours)
  return path
}

/** The shape of a saved file's name. */
export const OUTPUT_NAME = /^[A-Za-z0-9_-]{1,48}_\d{13}_[a-z0-9]{13,}\.txt$/

/** Sets where stores without a folder of their own save, for one test, so that no test writes into a user's home. */
export function overrideDefaultDir(dir: string): void {
  beforeDir ??= { value: process.env.SPILLWAY_STORAGE_DIR }
  process.env.SPILLWAY_STORAGE_DIR = dir
}

let beforeDir: { value: string | undefined } | undefined

afterEach(() => {
  if (!beforeDir) return
  if (beforeDir.value === undefined) delete process.env.SPILLWAY_STORAGE_DIR
  else process.env.SPILLWAY_STORAGE_DIR = beforeDir.value
  beforeDir = undefined
})
