/** Files of a session that hooks share, in the store: one line of JSON for each record, removed a week after the last. */

import { readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { appendJsonLine, readJsonLines } from '../../util/json-lines'
import { makeFolder } from '../../util/make-folder'

const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000
const NAMED = /^(?:reads|shown)-[\w-]{1,100}(?:\.[\w-]{1,100})?\.jsonl$/

export interface SessionFile {
  /** `reads` for files that were read, `shown` for results. */
  kind: 'reads' | 'shown'
  sessionId: string
  /** A sub-agent, whose context is another one. */
  agentId?: string
}

const nameOf = ({ kind, sessionId, agentId }: SessionFile): string =>
  `${kind}-${sessionId}${agentId === undefined ? '' : `.${agentId}`}.jsonl`

/** Returns the size of a file in bytes. */
export function sizeIn(dir: string, file: SessionFile): number {
  return statOf(join(dir, nameOf(file)))?.size ?? 0
}

/**
 * Adds a record. Returns false where nothing can be written, such as in a home folder that is read-only: outputs are saved elsewhere
 * then, and only this is forgotten.
 */
export function addRecord(dir: string, file: SessionFile, record: object): boolean {
  try {
    makeFolder(dir)
    appendJsonLine(join(dir, nameOf(file)), record)
    return true
  } catch {
    return false
  }
}

export function recordsIn<T>(dir: string, file: SessionFile, isWhole: (read: Partial<T>) => boolean): T[] {
  return readJsonLines<T>(join(dir, nameOf(file)), isWhole).records
}

/** Removes a file. */
export function removeFile(dir: string, file: SessionFile): void {
  rmSync(join(dir, nameOf(file)), { force: true })
}

/** Removes the results of a session and of its sub-agents: the model does not have them in view any more. */
export function removeShown(dir: string, sessionId: string): void {
  for (const name of namesIn(dir)) {
    if (name === `shown-${sessionId}.jsonl` || name.startsWith(`shown-${sessionId}.`))
      rmSync(join(dir, name), { force: true })
  }
}

/** Removes the files of sessions that ended a week ago. */
export function removeOld(dir: string): void {
  for (const name of namesIn(dir)) {
    const file = join(dir, name)
    const { mtimeMs = Date.now() } = statOf(file) ?? {}
    if (Date.now() - mtimeMs > MAX_AGE_MS) rmSync(file, { force: true })
  }
}

function namesIn(dir: string): string[] {
  const names = statOf(dir) === undefined ? [] : readdirSync(dir)
  return names.filter((name) => NAMED.test(name))
}

/** The facts of a file that can be reached. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
