/** Audit logs in a folder, verified and read from their end. */

import { open, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { verifyAudit } from '../audit/audit-log'
import { SpillwayError } from '../errors'
import { jsonRecord } from '../util/json'
import { type Check, checkGiven, checkOptions, folder, wholeBetween, wholeFrom } from '../validation/options'
import { wrong } from '../validation/validate'
import type { AuditRecords, AuditSource, ListedAuditLog } from './sources'

/** Options of {@link createAuditSource}. */
export interface AuditSourceOptions {
  /** The folder of the logs, as given to `AuditLog`. */
  dir: string
  /** The key that the logs were written with. @default none */
  key?: string | Uint8Array
}

const OPTIONS: Readonly<Record<string, Check>> = {
  dir: folder,
  key: ['a string or a Uint8Array', (value) => typeof value === 'string' || value instanceof Uint8Array],
}

const [MAX_COUNT, DEFAULT_COUNT] = [1000, 100]
/** Bytes read from the end of a file at a time. */
const BLOCK = 64 * 1024
/** Bytes of the end of a file in which records are looked for. */
const MAX_BYTES = 16 * 2 ** 20

/** The current file of a log; earlier ones have a number of six digits before their ending. */
const CURRENT = /^(?!.*\.\d{6}\.jsonl$).+\.jsonl$/

/**
 * Creates a source of the audit logs in a folder. Its `list` verifies each log completely; its `read` reads only the current file
 * of a log, from the end, up to 16 MiB.
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export function createAuditSource(options: AuditSourceOptions): AuditSource {
  checkOptions('options', options, OPTIONS)
  if (options.dir === undefined) throw wrong('options.dir', undefined, folder[0])
  const { dir, key } = options
  const files = async () => {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
    // A link could lead to any file of the user.
    const logs = entries.filter((entry) => entry.isFile() && CURRENT.test(entry.name))
    return logs.map(({ name }) => resolve(join(dir, name))).sort()
  }
  return {
    async list() {
      const listed: ListedAuditLog[] = []
      for (const file of await files()) {
        listed.push({ file, report: await verifyAudit(file, key === undefined ? {} : { key }) })
      }
      return listed
    },
    async read(file, { skip = 0, count = DEFAULT_COUNT } = {}) {
      checkGiven('skip', skip, wholeFrom(0))
      checkGiven('count', count, wholeBetween(1, MAX_COUNT))
      if (!(await files()).includes(file)) {
        throw new SpillwayError('STORAGE_NOT_OWNED', `${file}: is not a log of this folder`, { field: 'file' })
      }
      return readRecords(file, skip, count)
    },
  }
}

async function readRecords(file: string, skip: number, count: number): Promise<AuditRecords> {
  const found: Record<string, unknown>[] = []
  let [seen, isMore] = [0, false]
  for await (const line of linesFromEnd(file)) {
    const record = jsonRecord(line)
    if (record === undefined) continue
    if (found.length === count) {
      isMore = true
      break
    }
    seen += 1
    if (seen > skip) found.push(record)
  }
  return { records: found, ...(isMore && { next: seen }) }
}

/** The lines of a file, the last one first. */
async function* linesFromEnd(file: string): AsyncGenerator<string> {
  const handle = await open(file)
  try {
    let { size: at } = await handle.stat()
    const end = Math.max(0, at - MAX_BYTES)
    let rest = Buffer.alloc(0)
    while (at > end) {
      const start = Math.max(end, at - BLOCK)
      const block = Buffer.alloc(at - start)
      const { bytesRead } = await handle.read(block, 0, block.length, start)
      rest = Buffer.concat([block.subarray(0, bytesRead), rest])
      at = start
      for (let from = rest.lastIndexOf(10); from >= 0; from = rest.lastIndexOf(10)) {
        const line = rest.subarray(from + 1).toString('utf8')
        rest = rest.subarray(0, from)
        if (line !== '') yield line
      }
    }
    if (end === 0 && rest.length > 0) yield rest.toString('utf8')
  } finally {
    await handle.close()
  }
}
