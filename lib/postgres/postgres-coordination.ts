/** Shared state in PostgreSQL. */

import { CheckedCoordination, type CoordinationSteps } from '../coordination/checked-coordination'
import { type Coordination, checkKey, type Lease, type ListedValue } from '../coordination/coordination'
import { callServer, FolderListeners } from '../coordination/server-calls'
import { asText } from '../util/guards'
import { startTimer } from '../util/timer'
import { loadPeer } from '../validation/load-peer'
import { type Check, checkOptions, positiveMilliseconds } from '../validation/options'
import { wrong } from '../validation/validate'
import { statementsIn, tablesIn } from './statements'

type Row = Record<string, unknown>

/** A connection of the package `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  on(event: 'notification', listener: (notification: { payload?: string }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  release(destroy?: boolean): void
}

/** The parts of a `Pool` of the package `pg` that are used, so that its types need not be installed. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  connect(): Promise<PostgresClient>
  on?(event: 'error', listener: () => void): unknown
  off?(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

/** Options of {@link postgresCoordination}. */
export interface PostgresCoordinationOptions {
  /** Your own pool, `new Pool({ … })` of `pg`. `close` leaves it open. */
  pool?: PostgresPool
  /** The URL of the server: `postgres://user:password@host:5432/database`. @default that of `pool` */
  url?: string
  /** The schema of the tables, which are created if they are missing. @default 'spillway' */
  schema?: string
  /** Milliseconds after which a call has failed. @default 5000 */
  requestTimeoutMs?: number
}

const CHECKS: Readonly<Record<keyof PostgresCoordinationOptions, Check>> = {
  pool: ['a Pool of pg', (value) => typeof (value as Partial<PostgresPool> | null)?.connect === 'function'],
  url: ['a URL that begins with postgres:// or postgresql://', (value) => /^postgres(ql)?:\/\//.test(asText(value))],
  schema: [
    'a name of small letters, digits and _',
    (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,48}$/.test(value),
  ],
  requestTimeoutMs: positiveMilliseconds,
}

/** Wait before a connection that was lost is made again. */
const RECONNECT_MS = 500

/**
 * Returns shared state in PostgreSQL 12 or later.
 *
 * @example
 * const coordination = postgresCoordination({ url: 'postgres://127.0.0.1/agents' })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` if `pg` is not installed
 */
export function postgresCoordination(options: PostgresCoordinationOptions): Coordination {
  checkOptions('options', options, CHECKS)
  const { pool, url, schema = 'spillway', requestTimeoutMs = 5000 } = options
  if (pool === undefined && url === undefined) throw wrong('options.url', url, CHECKS.url[0])
  const own = pool === undefined ? makePool(url as string, requestTimeoutMs) : undefined
  return new CheckedCoordination(
    new PostgresSteps(pool ?? (own as PostgresPool), own !== undefined, schema, requestTimeoutMs),
  )
}

function makePool(url: string, timeoutMs: number): PostgresPool {
  const { Pool } = loadPeer(
    () => require('pg') as { Pool: new (options: object) => PostgresPool },
    'postgresCoordination',
    'pg',
  )
  return new Pool({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
}

class PostgresSteps implements CoordinationSteps {
  private readonly listeners = new FolderListeners()
  private readonly statements: ReturnType<typeof statementsIn>
  private readonly channel: string
  private tables: Promise<void> | undefined
  private isListening = false
  private listening: PostgresClient | undefined
  private isClosed = false
  /** Without a listener an idle connection that is lost ends the process; calls report it. */
  private readonly onError = () => {}

  constructor(
    private readonly pool: PostgresPool,
    private readonly isOwn: boolean,
    private readonly schema: string,
    private readonly timeoutMs: number,
  ) {
    this.statements = statementsIn(schema)
    this.channel = `${schema}_changed`
    pool.on?.('error', this.onError)
  }

  async storeFirst(key: string, value: string, ttlMs?: number): Promise<string> {
    const { insertIfAbsent, get } = this.statements
    for (;;) {
      const [stored] = await this.run(insertIfAbsent, [key, checkKey(key).folder, value, ttlMs ?? null, this.channel])
      if (stored !== undefined) return value
      const [known] = await this.run(get, [key])
      // It may have been removed between the two.
      if (known !== undefined) return known.value as string
    }
  }

  async load(key: string): Promise<string | undefined> {
    const [row] = await this.run(this.statements.get, [key])
    return row?.value as string | undefined
  }

  async store(key: string, value: string, ttlMs?: number, lease?: Lease): Promise<boolean> {
    const of = [key, checkKey(key).folder, value, ttlMs ?? null, this.channel]
    return (await this.run(this.statements.put, [...of, ...partsOf(lease)])).length > 0
  }

  async drop(key: string): Promise<void> {
    await this.run(this.statements.remove, [key, this.channel])
  }

  async listOf(folder: string): Promise<ListedValue[]> {
    return (await this.run(this.statements.list, [folder])) as unknown as ListedValue[]
  }

  listen(folder: string, listener: (key?: string) => void): () => void {
    if (!this.isListening) void this.keepListening()
    return this.listeners.add(folder, listener)
  }

  async add(log: string, at: number, entry: string, lease?: Lease): Promise<boolean | undefined> {
    const [done] = await this.run(this.statements.append, [log, at, entry, ...partsOf(lease)])
    if (done?.held !== true) return undefined
    if (done.added === true) return true
    const [known] = await this.run(this.statements.entry, [log, at])
    return known?.entry === entry
  }

  async entriesOf(log: string, from: number): Promise<string[]> {
    const rows = await this.run(this.statements.read, [log, from])
    return rows.map(({ entry }) => entry as string)
  }

  async count(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined> {
    // The statement compares with what was taken before, and the first finds nothing.
    if (amount > limit) return undefined
    const [row] = await this.run(this.statements.take, [counter, amount, limit, ttlMs])
    return row === undefined ? undefined : limit - Number(row.used_amount)
  }

  async takeLease(key: string, owner: string, ms: number): Promise<number | undefined> {
    const [row] = await this.run(this.statements.lease, [key, owner, ms])
    return row === undefined ? undefined : Number(row.fence)
  }

  async endLease(key: string, owner: string): Promise<void> {
    await this.run(this.statements.release, [key, owner])
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.listeners.clear()
    this.listening?.release(true)
    this.listening = undefined
    if (this.isOwn) await this.pool.end()
    else this.pool.off?.('error', this.onError)
  }

  private run(text: string, values: unknown[]): Promise<Row[]> {
    return callServer('PostgreSQL', this.timeoutMs, async () => {
      this.tables ??= this.makeTables()
      await this.tables.catch((error) => {
        this.tables = undefined
        throw error
      })
      return (await this.pool.query(text, values)).rows
    })
  }

  /** A server in recovery cannot make them, and may have them. */
  private async makeTables(): Promise<void> {
    const { rows } = await this.pool.query(this.statements.tablesExist)
    if (rows[0]?.found !== true) await this.pool.query(tablesIn(this.schema))
  }

  /** A subscription needs a connection of its own. Waits look again from time to time, also without it. */
  private async keepListening(): Promise<void> {
    this.isListening = true
    while (!this.isClosed) {
      try {
        await this.listenUntilLost()
      } catch {
        // The server is away, or in recovery: calls report it.
      }
      if (!this.isClosed) await startTimer(RECONNECT_MS).done
    }
  }

  private async listenUntilLost(): Promise<void> {
    const client = await this.pool.connect()
    if (this.isClosed) return client.release(true)
    const lost = new Promise<void>((resolve) => {
      client.on('error', resolve)
      client.on('end', resolve)
    })
    client.on('notification', ({ payload: key = '' }) => this.listeners.tell(checkKey(key).folder, key))
    this.listening = client
    try {
      await client.query(`listen ${this.channel}`)
      // Earlier changes were missed.
      this.listeners.tellAll()
      await lost
    } finally {
      if (this.listening === client) client.release(true)
      this.listening = undefined
    }
  }
}

/** Key and number of a lease, as parameters. */
function partsOf(lease: Lease | undefined): [string | null, number | null] {
  return [lease?.key ?? null, lease?.fence ?? null]
}
