/** Where a whole output went: into a store of ours, or to a storage of the caller's that has to answer in time. */

import { messageOf, SpillwayError } from '../errors'
import type { ITruncationStorage, SavedPart, SaveError } from '../types'
import { alarm, keepAlive } from '../util/timer'
import { describe } from '../validation/validate'
import type { Outcome } from './ingest'
import type { Client } from './request'

/** Under this name a storage of ours says how what it just saved differs from the output. */
export const RECEIPT = Symbol('receipt')

/** How what was saved differs from the output. */
export interface Receipt {
  part?: SavedPart
  redactions?: number
}

function receiptOf(storage: ITruncationStorage, path: string): Receipt | undefined {
  return (storage as { [RECEIPT]?: (path: string) => Receipt | undefined })[RECEIPT]?.(path)
}

/** No path or URL is longer; what goes into a notice must leave room for the text. */
const MAX_PLACE_UNITS = 4096

/** What ends a line, or hides or turns what follows. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f]/u

/** Whether what a storage answered can stand in one line of a notice. */
export function isPlace(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && path.length <= MAX_PLACE_UNITS && !UNPRINTABLE.test(path)
}

/** Where the whole output is, or why it is nowhere. */
export interface Kept {
  path: string
  saveError?: SaveError
  part?: SavedPart
  redactions?: number
  /** Folders that failed before one did not. */
  attempts: { dir: string; error: string }[]
}

export function keptByUs({ saved, saveError }: Outcome): Kept {
  const { path = '', part, redactions } = saved ?? {}
  return { path, part, redactions, saveError, attempts: saved?.attempts ?? saveError?.attempts ?? [] }
}

/** What a storage of the caller's answers, in time. */
export async function keptBy(
  service: Client,
  redactions: number | undefined,
  save: () => Promise<string>,
): Promise<Kept> {
  const { storageTimeoutMs } = service.settings.facts
  try {
    const path = await withTimeout(save(), storageTimeoutMs)
    if (!isPlace(path)) {
      throw new SpillwayError(
        'STORAGE_WRITE',
        `the storage answered ${describe(path)} instead of a path that fits a line`,
      )
    }
    const receipt = receiptOf(service.storage, path)
    const known = [redactions, receipt?.redactions].filter((count) => count !== undefined)
    const total = known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : undefined
    return { path, part: receipt?.part, redactions: total, attempts: [] }
  } catch (error) {
    const code = error instanceof SpillwayError ? error.code : 'STORAGE_WRITE'
    return { path: '', attempts: [], saveError: { code, message: messageOf(error), attempts: [] } }
  }
}

const LATE = Symbol('late')

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  const { rings, cancel } = alarm(ms)
  const late = rings.then(() => LATE)
  const letGo = keepAlive()
  try {
    const first = await Promise.race([work, late])
    if (first !== LATE) return first as T
    throw new SpillwayError('STORAGE_TIMEOUT', `the storage did not answer within ${ms} ms`)
  } finally {
    letGo()
    cancel()
  }
}
