/** Opens shared outputs and shared state by URL, from options, the environment or a file of settings. */

import type { FleetConfig } from '../config/config-file'
import type { Coordination } from '../coordination/coordination'
import { SpillwayError } from '../errors'
import { postgresCoordination } from '../postgres/postgres-coordination'
import { redisCoordination } from '../redis/redis-coordination'
import { REMOTE_OPTION_NAMES, type RemoteStorageOptions } from '../remote/options'
import { RemoteStorage } from '../remote/remote-storage'
import { wrongScheme } from '../util/store-url'
import { type Check, checkOptions } from '../validation/options'
import { checkKeys, isRecord, readable, wrong } from '../validation/validate'
import { objectsAt, STORE_FORM } from './store-location'

/** Options of {@link openStore}. */
export interface OpenStoreOptions extends Omit<RemoteStorageOptions, 'objects'> {
  /**
   * The bucket, `s3://bucket/prefix?endpoint=https://host&region=name`, or the container, `azblob://account/container/prefix`.
   * @default $SPILLWAY_STORE, else that of {@link config}
   */
  url?: string
  /** As of `RemoteStorage`. @default $SPILLWAY_SPOOL_DIR, else that of {@link config}, else none */
  spoolDir?: string
  /** Settings of a file, `options.fleet` of `loadConfig`: used if neither the options nor the environment set a value. */
  config?: FleetConfig
}

const STORE_OPTIONS = [
  ...['url', 'spoolDir', 'config'],
  ...REMOTE_OPTION_NAMES.filter((name) => name !== 'objects' && name !== 'spoolDir'),
]

/**
 * Opens the store of outputs at a URL.
 *
 * @example
 * const service = new TruncationService({ storage: [openStore(), new TruncationStorage()] })
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, or the package to install
 */
export function openStore(options: OpenStoreOptions = {}): RemoteStorage {
  if (!isRecord(options as unknown)) throw wrong('options', options, 'an object')
  const { url, spoolDir, config, ...others } = readable('options', () => ({ ...options }))
  // Else a misspelt `url` would read as a variable that is not set.
  checkKeys('', others, STORE_OPTIONS, 'INVALID_CONFIG')
  const [setting, asked] = settingOf('url', url, 'SPILLWAY_STORE', config, 'store')
  const [, folder] = settingOf('spoolDir', spoolDir, 'SPILLWAY_SPOOL_DIR', config, 'spoolDir')
  if (typeof asked !== 'string') throw missing(setting, STORE_FORM)
  const objects = inSetting(setting, () => objectsAt(asked, setting))
  return new RemoteStorage({ ...others, objects, spoolDir: folder as string | undefined })
}

/** Options of {@link openCoordination}. */
export interface OpenCoordinationOptions {
  /**
   * The server: `redis://host:6379/0?prefix=tenant-42`, `rediss://…` with TLS, or `postgres://host/database?schema=tenant_42`.
   * @default $SPILLWAY_COORDINATION, else that of {@link config}
   */
  url?: string
  /** Settings of a file, `options.fleet` of `loadConfig`: used if neither the options nor the environment set a value. */
  config?: FleetConfig
  /** Milliseconds after which a call has failed. @default 5000 */
  requestTimeoutMs?: number
}

const CONFIG: Check = ['an object, options.fleet of loadConfig', isRecord]
const COORDINATION_SCHEMES = ['redis', 'rediss', 'postgres', 'postgresql']
const COORDINATION_FORM = 'redis://host:6379/0, rediss://host:6379/0 or postgres://host/database'

/**
 * Opens the shared state on the server at a URL. The connection is made by the first call.
 *
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, or the package to install
 */
export function openCoordination(options: OpenCoordinationOptions = {}): Coordination {
  checkOptions('options', options, OPTIONS)
  const { url, requestTimeoutMs, config } = options
  const [setting, asked] = settingOf('url', url, 'SPILLWAY_COORDINATION', config, 'coordination')
  if (typeof asked !== 'string') throw missing(setting, COORDINATION_FORM)
  return inSetting(setting, () => {
    if (/^rediss?:\/\//.test(asked)) return redisCoordination({ ...takenOut(asked, 'prefix'), requestTimeoutMs })
    if (/^postgres(ql)?:\/\//.test(asked))
      return postgresCoordination({ ...takenOut(asked, 'schema'), requestTimeoutMs })
    throw missing(setting, COORDINATION_FORM, wrongScheme(asked, COORDINATION_SCHEMES))
  })
}

const OPTIONS = {
  url: ['a URL', (value: unknown) => typeof value === 'string'],
  config: CONFIG,
  // The server's own reader says what is allowed.
  requestTimeoutMs: ['a number of milliseconds', (value: unknown) => typeof value === 'number'],
} as const

/** Takes a parameter that only we know out of a URL. */
function takenOut<Name extends string>(url: string, name: Name): { url: string } & Partial<Record<Name, string>> {
  if (!URL.canParse(url)) return { url } as ReturnType<typeof takenOut<Name>>
  const parsed = new URL(url)
  const value = parsed.searchParams.get(name)
  if (value === null) return { url } as ReturnType<typeof takenOut<Name>>
  parsed.searchParams.delete(name)
  return { url: parsed.href, [name]: value } as ReturnType<typeof takenOut<Name>>
}

/**
 * The option, else the variable, else the setting of the file: the name of the one that counts, and its value. An empty variable is one
 * that is not set.
 */
function settingOf(
  option: string,
  given: unknown,
  variable: string,
  config: unknown,
  key: keyof FleetConfig,
): [setting: string, value: unknown] {
  if (config !== undefined && !CONFIG[1](config)) throw wrong('config', config, CONFIG[0])
  if (given !== undefined) return [option, given]
  const value = process.env[variable] || undefined
  if (value !== undefined) return [variable, value]
  const set = (config as FleetConfig | undefined)?.[key]
  return set === undefined ? [variable, undefined] : [`agents.runtime.fleet.${key}`, set]
}

function missing(setting: string, form: string, received = ''): SpillwayError {
  return new SpillwayError('INVALID_CONFIG', `${setting}: expected ${form}${received}`, { field: setting })
}

/** Says which setting a part of the URL is from. */
function inSetting<T>(setting: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof SpillwayError) || error.code === 'INVALID_CONFIG') throw error
    throw new SpillwayError('INVALID_CONFIG', `${setting}: ${error.message}`, { field: setting, cause: error })
  }
}
