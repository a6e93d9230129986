/** Saves the files of an audit log in an object store, where the process that writes them cannot change them. */

import { promises } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AuditLog } from '../audit/audit-log'
import { checkNeeded, sessionName } from '../coordination/options'
import { SpillwayError } from '../errors'
import type { ObjectStore } from '../remote/object-store'
import { objectStore } from '../remote/options'
import { asyncDispose } from '../util/async-dispose'
import { randomBytes } from '../util/crypto'
import { messageOf } from '../util/message-of'
import { startTimer, type Timer } from '../util/timer'
import { tellCaller, warn } from '../util/warn'
import { type Check, checkOptions, fn, positiveMilliseconds } from '../validation/options'
import { auditKey, auditPrefix, fileNumber, parseAuditKey } from './audit-keys'
import { storeRequest } from './store-request'

/** Options of {@link AuditShipper}. */
export interface AuditShipperOptions {
  /** The log. Each file is read into memory, so keep its `maxFileBytes` small: 16 MiB is the default. */
  log: AuditLog
  sessionId: string
  /**
   * Where the files are saved, below `audit/`: a bucket or a prefix whose objects the worker cannot remove. `s3Objects` locks them with
   * its option `lock`.
   */
  objects: ObjectStore
  /** Milliseconds between two looks for files that are full. @default 60000 */
  intervalMs?: number
  /** Receives the error of a look; the next one tries again. @default a warning of the process */
  onError?: (error: SpillwayError) => void
}

const CHECKS: Readonly<Record<keyof AuditShipperOptions, Check>> = {
  log: ['an AuditLog', (value) => value instanceof AuditLog],
  sessionId: sessionName,
  objects: objectStore,
  intervalMs: positiveMilliseconds,
  onError: fn,
}

/**
 * Saves each file of a log once it is full, and the rest of the log when it is closed. Several processes that write to one folder may each
 * have a shipper.
 *
 * @example
 * const shipper = new AuditShipper({ log, sessionId: 's1', objects: s3Objects({ bucket: 'audit', lock: { days: 365 } }) })
 * await shipper.close() // at the end, before the disk is gone
 */
export class AuditShipper {
  private readonly options: AuditShipperOptions
  private readonly dir: string
  private readonly stem: string
  /** Keys that the store has. */
  private known: Set<string> | undefined
  private shipping: Promise<unknown> = Promise.resolve()
  private timer: Timer | undefined
  private isClosed = false

  /** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
  constructor(options: AuditShipperOptions) {
    checkOptions('options', options, CHECKS)
    checkNeeded(options, CHECKS, 'log', 'sessionId', 'objects')
    this.options = { ...options }
    this.dir = dirname(options.log.path)
    this.stem = basename(options.log.path, '.jsonl')
    void this.run(options.intervalMs ?? 60_000)
  }

  private async run(intervalMs: number): Promise<void> {
    while (!this.isClosed) {
      this.timer = startTimer(intervalMs)
      if (!(await this.timer.done) || this.isClosed) return
      await this.ship().catch((error) => this.report(error))
    }
  }

  private report(error: SpillwayError): void {
    const { onError } = this.options
    if (onError === undefined) warn('audit', error)
    else tellCaller('onError', onError, error)
  }

  /**
   * Saves the files that are full and not in the store yet, and returns their URLs.
   * @param current also saves what the current file has by now, as an object of its own
   * @throws SpillwayError `STORAGE_WRITE` if a file could not be saved, `STORAGE_READ` if it could not be read
   */
  ship({ current = false }: { current?: boolean } = {}): Promise<string[]> {
    const shipped = this.shipping.then(() => this.shipNow(current))
    this.shipping = shipped.catch(() => {})
    return shipped
  }

  /** Saves everything that the log has, and stops. Append nothing afterwards. @throws as {@link ship} */
  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.options.log.flush()
    await this.ship({ current: true })
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }

  private async shipNow(withCurrent: boolean): Promise<string[]> {
    const numbers = await this.numbers()
    const current = withCurrent ? await this.current() : undefined
    if (numbers.length === 0 && current === undefined) return []
    const log = await this.id()
    const { sessionId, objects } = this.options
    const urls: string[] = []
    const save = async (key: string, read: () => Promise<Uint8Array>) => {
      const known = await this.keys()
      if (known.has(key)) return
      const body = await read()
      await storeRequest(objects, 'STORAGE_WRITE', () => objects.put(key, body))
      known.add(key)
      urls.push(`${objects.url}/${key}`)
    }
    for (const number of numbers) await save(auditKey(sessionId, log, number), () => this.read(this.fileOf(number)))
    if (current !== undefined) {
      const { number, bytes } = current
      await save(auditKey(sessionId, log, number, bytes.length), async () => bytes)
    }
    return urls
  }

  /** The numbers of the files that are full. */
  private async numbers(): Promise<number[]> {
    const names = await promises.readdir(this.dir).catch((error) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw unreadable(this.dir, error)
    })
    const found = names.flatMap((name) => {
      const digits = name.startsWith(`${this.stem}.`) && /^(\d{6,15})\.jsonl$/.exec(name.slice(this.stem.length + 1))
      return digits ? [Number(digits[1])] : []
    })
    return found.sort((a, b) => a - b)
  }

  private fileOf(number: number): string {
    return join(this.dir, `${this.stem}.${fileNumber(number)}.jsonl`)
  }

  /** Reads the current file, and finds the number that it will get. */
  private async current(): Promise<{ number: number; bytes: Uint8Array } | undefined> {
    for (;;) {
      const before = (await this.numbers()).at(-1) ?? 0
      const bytes = await promises.readFile(this.options.log.path).catch((error) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
        throw unreadable(this.options.log.path, error)
      })
      // It may have become full, and got its number, in the meantime.
      const after = (await this.numbers()).at(-1) ?? 0
      if (before === after) return bytes.length === 0 ? undefined : { number: before + 1, bytes }
    }
  }

  private async read(path: string): Promise<Uint8Array> {
    return promises.readFile(path).catch((error) => {
      throw unreadable(path, error)
    })
  }

  /** The id of the log, which a file beside it remembers. */
  private async id(): Promise<string> {
    const path = join(this.dir, `${this.stem}.id`)
    const draft = `${path}.${randomBytes(8).toString('hex')}`
    try {
      await promises.writeFile(draft, randomBytes(16).toString('hex'), { mode: 0o600, flag: 'wx' })
      // Another process may have been first.
      await promises.link(draft, path).catch((error) => {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      })
      const id = await promises.readFile(path, 'utf8')
      if (!/^[0-9a-f]{32}$/.test(id)) throw new Error('is not the id of a log')
      return id
    } catch (error) {
      throw unreadable(path, error)
    } finally {
      await promises.rm(draft, { force: true })
    }
  }

  private async keys(): Promise<Set<string>> {
    const { objects, sessionId } = this.options
    const prefix = auditPrefix(sessionId)
    this.known ??= await storeRequest(objects, 'STORAGE_READ', async () => {
      const keys = new Set<string>()
      for await (const { key } of objects.list(prefix)) if (parseAuditKey(prefix, key)) keys.add(key)
      return keys
    })
    return this.known
  }
}

function unreadable(path: string, cause: unknown): SpillwayError {
  return new SpillwayError('STORAGE_READ', `${JSON.stringify(path)}: ${messageOf(cause)}`, { cause })
}
