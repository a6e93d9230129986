/** Checks the audit logs of a session in an object store. */

import { createReadStream, promises } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type AuditReport, verifyAudit } from '../audit/audit-log'
import { checkNeeded, sessionName } from '../coordination/options'
import { SpillwayError } from '../errors'
import type { ObjectStore } from '../remote/object-store'
import { objectStore } from '../remote/options'
import { isArray } from '../util/guards'
import { type Check, checkOptions, signal as signalCheck } from '../validation/options'
import { type AuditFileKey, auditKey, auditPrefix, fileNumber, parseAuditKey } from './audit-keys'
import { storeRequest } from './store-request'

/** Options of {@link verifyShippedAudit}. */
export interface VerifyShippedAuditOptions {
  objects: ObjectStore
  sessionId: string
  /** The key that the logs were written with. */
  key?: string | Uint8Array
  /** Hashes of records that must be there, `await heads.list()` of an `AuditHeads`: without them, a missing end is not found. */
  heads?: readonly string[]
  signal?: AbortSignal
}

/** The logs of a session, one for each folder that a shipper saved. */
export interface ShippedAuditReport {
  /** True if there is a log, no record was changed, and no file and no head is missing. */
  ok: boolean
  /** With the URLs of the objects in place of files. */
  logs: AuditReport[]
  /** URLs of files before the last of a log that are not there. At most 1,000. */
  missingFiles: string[]
  /** The heads that no log has: records were removed from an end, or were not shipped yet. */
  missingHeads: string[]
}

const CHECKS: Readonly<Record<keyof VerifyShippedAuditOptions, Check>> = {
  objects: objectStore,
  sessionId: sessionName,
  // The reader of the logs says what is allowed.
  key: ['a string or a Uint8Array', () => true],
  heads: ['an array of hashes', (value) => isArray(value) && value.every((hash) => typeof hash === 'string')],
  signal: signalCheck,
}

/** Missing files that a report names. */
const MAX_MISSING = 1000

/** Bytes of one request. */
const WINDOW_BYTES = 8 * 2 ** 20

/**
 * Fetches the audit logs of a session from an object store into a temporary folder, and checks them as `verifyAudit` does.
 *
 * @example
 * const { ok, missingHeads } = await verifyShippedAudit({ objects, sessionId: 's1', heads: await heads.list() })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `STORAGE_READ`; the reason of an aborted signal
 */
export async function verifyShippedAudit(options: VerifyShippedAuditOptions): Promise<ShippedAuditReport> {
  checkOptions('options', options, CHECKS)
  checkNeeded(options, CHECKS, 'objects', 'sessionId')
  const { objects, sessionId, key, heads = [], signal } = options
  const missing = new Set(heads)
  const logs: AuditReport[] = []
  const missingFiles: string[] = []
  for (const files of await storeRequest(
    objects,
    'STORAGE_READ',
    () => logsOf(objects, auditPrefix(sessionId)),
    signal,
  )) {
    const numbers = new Set(files.map(({ number }) => number))
    const { log, number: last } = files.at(-1)!
    for (let number = 1; number < last && missingFiles.length < MAX_MISSING; number += 1) {
      if (!numbers.has(number)) missingFiles.push(`${objects.url}/${auditKey(sessionId, log, number)}`)
    }
    const dir = await promises.mkdtemp(join(tmpdir(), 'spillway-audit-'))
    try {
      const paths = new Map<string, string>()
      for (const file of files) {
        const path = join(dir, nameOf(file, files))
        await fetchFile(objects, file.key, path, signal)
        paths.set(path, `${objects.url}/${file.key}`)
      }
      const newest = [...paths.keys()].at(-1)!
      logs.push(withUrls(await verifyAudit(newest, { key, signal }), paths))
      for (const path of paths.keys()) if (missing.size > 0) await takeOut(missing, path)
    } finally {
      await promises.rm(dir, { recursive: true, force: true })
    }
  }
  const isWhole = missing.size === 0 && missingFiles.length === 0
  const ok = logs.length > 0 && logs.every((report) => report.ok) && isWhole
  return { ok, logs, missingFiles, missingHeads: [...missing] }
}

/** The files of each log, oldest first: the full ones, and the longest state of the one after them. */
async function logsOf(objects: ObjectStore, prefix: string): Promise<AuditFileKey[][]> {
  const logs = new Map<string, AuditFileKey[]>()
  for await (const { key } of objects.list(prefix)) {
    const file = parseAuditKey(prefix, key)
    if (file !== undefined) logs.set(file.log, [...(logs.get(file.log) ?? []), file])
  }
  return [...logs.values()].map((files) => {
    const full = files.filter(({ open }) => open === undefined).sort((a, b) => a.number - b.number)
    const last = full.at(-1)?.number ?? 0
    const open = files.filter((file) => file.open !== undefined && file.number > last)
    const [longest] = open.sort((a, b) => b.number - a.number || b.open! - a.open!)
    return longest === undefined ? full : [...full, longest]
  })
}

/** The name under which `verifyAudit` reads a file with those before it. */
function nameOf({ number, open }: AuditFileKey, files: readonly AuditFileKey[]): string {
  const isNewest = files.at(-1)!.number === number
  return open !== undefined && isNewest ? 'log.jsonl' : `log.${fileNumber(number)}.jsonl`
}

async function fetchFile(objects: ObjectStore, key: string, path: string, signal?: AbortSignal): Promise<void> {
  const file = await promises.open(path, 'wx', 0o600)
  try {
    for (let from = 0, total = 1; from < total; from += WINDOW_BYTES) {
      const get = () => objects.get(key, from, from + WINDOW_BYTES, signal)
      const range = await storeRequest(objects, 'STORAGE_READ', get, signal)
      if (range === undefined)
        throw new SpillwayError('STORAGE_READ', `${objects.url}/${key}: was removed while it was read`)
      await file.writeFile(range.bytes)
      total = range.total
    }
  } finally {
    await file.close()
  }
}

/** Takes the hashes of the records of a file out of a set. */
async function takeOut(hashes: Set<string>, path: string): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    try {
      hashes.delete((JSON.parse(line) as { hash: string }).hash)
    } catch {
      // A torn or changed line, which the report names.
    }
  }
}

function withUrls(report: AuditReport, urls: ReadonlyMap<string, string>): AuditReport {
  const renamed = <T extends { file: string }>(place: T): T => ({ ...place, file: urls.get(place.file) ?? place.file })
  return {
    ...report,
    files: report.files.map((file) => urls.get(file) ?? file),
    ...(report.firstBad && { firstBad: renamed(report.firstBad) }),
    ...(report.torn && { torn: renamed(report.torn) }),
  }
}
