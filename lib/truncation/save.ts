/** Saves a full output: in the built-in store, or in a custom storage that has to answer in time. */

import { SpillwayError } from '../errors'
import type { Outcome } from '../ingest/ingest'
import { fileStorage, placeOf, type TruncationStorage } from '../storage/file-storage'
import { isPlace, RECEIPT, type Receipt } from '../storage/receipt'
import type { ITruncationStorage, SavedPart, SaveError, TruncationContext } from '../types'
import { messageOf } from '../util/message-of'
import { withTimeout } from '../util/with-timeout'
import { describe } from '../validation/validate'
import type { Client } from './request'

function receiptOf(storage: ITruncationStorage, path: string): Receipt | undefined {
  return (storage as { [RECEIPT]?: (path: string) => Receipt | undefined })[RECEIPT]?.(path)
}

/** Where the whole output is, or why it is nowhere. */
export interface Kept {
  path: string
  saveError?: SaveError
  part?: SavedPart
  redactions?: number
  /** Folders and storages that failed before one did not. `code` is `STORAGE_WRITE` if it is absent. */
  attempts: { dir: string; error: string; code?: string }[]
}

export function keptByUs({ saved, saveError }: Outcome): Kept {
  const { path = '', part, redactions } = saved ?? {}
  return { path, part, redactions, saveError, attempts: saved?.attempts ?? saveError?.attempts ?? [] }
}

/** How an output is given to a storage of the caller's, and to one of ours. */
export interface Handover {
  /** Calls the methods of a storage that may be any. The signal is aborted when the answer is late. */
  toCaller: (storage: ITruncationStorage, late: AbortSignal) => Promise<string>
  /** Saves what the caller's storage would have got. */
  toFiles: (storage: TruncationStorage) => Promise<string>
}

/**
 * Saves an output in the first storage that takes it in time; if only one of the caller's was given and it fails, in the default
 * folders, because it may be the only copy.
 * @param given how what is handed over differs from the output
 * @param signal aborts the call, which then rejects with its reason
 */
export async function keptBy(service: Client, given: Receipt, to: Handover, signal?: AbortSignal): Promise<Kept> {
  const failed: { dir: string; error: string; code: string }[] = []
  for (const storage of [...service.storages, ...defaultStorages(service)]) {
    try {
      const path = await answerOf(service, storage, to, signal)
      const receipt = receiptOf(storage, path)
      const known = [given.redactions, receipt?.redactions].filter((count) => count !== undefined)
      const total = known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : undefined
      return { path, part: receipt?.part ?? given.part, redactions: total, attempts: failed }
    } catch (error) {
      signal?.throwIfAborted()
      const code = error instanceof SpillwayError ? error.code : 'STORAGE_WRITE'
      failed.push({ dir: placeName(storage), error: messageOf(error), code })
    }
  }
  const [first] = failed
  // One failure is the error, and not also an attempt before it.
  const attempts = failed.length > 1 ? failed : []
  const named = attempts.map(({ dir, error }) => ({ dir, error }))
  return { path: '', attempts, saveError: { code: first!.code, message: first!.error, attempts: named } }
}

async function answerOf(
  service: Client,
  storage: ITruncationStorage,
  to: Handover,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (placeOf(storage) !== undefined) return to.toFiles(storage as TruncationStorage)
  const { storageTimeoutMs } = service.settings.facts
  const path = await inTime((late) => to.toCaller(storage, late), storageTimeoutMs, signal)
  if (isPlace(path)) return path
  throw new SpillwayError('STORAGE_WRITE', `the storage answered ${describe(path)} instead of a path that fits a line`)
}

/** Storages in the default folders, for services whose only storage is the caller's. */
const defaults = new WeakMap<Client, TruncationStorage[]>()

/** Those of a service that were needed, which end with it. */
export function openedDefaults(service: Client): readonly TruncationStorage[] {
  return defaults.get(service) ?? []
}

function* defaultStorages(service: Client): Generator<TruncationStorage> {
  const { storages, options, settings } = service
  // A list is tried as it is.
  if (Array.isArray(options.storage) || storages.some((storage) => placeOf(storage) !== undefined)) return
  const known = defaults.get(service) ?? [fileStorage(settings)]
  defaults.set(service, known)
  yield* known
}

function placeName(storage: ITruncationStorage): string {
  try {
    return String(storage.getStorageDir()).toWellFormed()
  } catch {
    return 'the storage'
  }
}

/** A context whose signal is also aborted when the storage is late. */
export function withSignal(context: TruncationContext, late: AbortSignal): TruncationContext {
  const { signal = late } = context
  if (signal === late || !(signal instanceof AbortSignal)) return { ...context, signal }
  return { ...context, signal: AbortSignal.any([signal, late]) }
}

/** Milliseconds in which a storage that is late may still say that it has the output, or that it has dropped it. */
const GRACE_MS = 50

async function inTime<T>(
  work: (late: AbortSignal) => Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const late = new AbortController()
  const problem = new SpillwayError('STORAGE_TIMEOUT', `the storage did not answer within ${ms} ms`)
  signal?.throwIfAborted()
  const answer = Promise.resolve(work(late.signal))
  // After an abort nothing waits for it.
  answer.catch(() => {})
  try {
    return await withTimeout(ms, () => answer, { signal, onLate: () => late.abort(problem) })
  } catch (error) {
    if (!late.signal.aborted) throw error
    return await withTimeout(GRACE_MS, () => answer, { signal }).catch(() => {
      throw problem
    })
  }
}
