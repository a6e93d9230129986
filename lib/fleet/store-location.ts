/** The URL of an object store, as `SPILLWAY_STORE` has it, and the paths of outputs below it. */

import { type AzureObjectsOptions, azureObjects } from '../azure/azure-objects'
import { SpillwayError } from '../errors'
import type { ObjectStore } from '../remote/object-store'
import { type S3ObjectsOptions, s3Objects } from '../s3/s3-objects'
import { hasCredentials, isStoreUrl, NO_CREDENTIALS, STORE_SCHEMES, wrongScheme } from '../util/store-url'
import { wrong } from '../validation/validate'

/** How an object store is written. */
export const STORE_FORM = 's3://bucket/prefix?endpoint=https://host&region=name or azblob://account/container/prefix'

const PARAMETERS: Readonly<Record<string, readonly string[]>> = { 's3:': ['endpoint', 'region'], 'azblob:': [] }
const CONNECTION = 'AZURE_STORAGE_CONNECTION_STRING'

/**
 * Opens the object store that a URL names.
 * @throws SpillwayError `INVALID_CONFIG` that names the setting
 */
export function objectsAt(url: string, setting: string): ObjectStore {
  if (hasCredentials(url)) throw notAStore(setting, NO_CREDENTIALS)
  const parsed = isStoreUrl(url) && URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.hostname === '') {
    throw notAStore(setting, `expected ${STORE_FORM}${wrongScheme(url, STORE_SCHEMES)}`)
  }
  if (parsed.port !== '' || parsed.hash !== '') throw notAStore(setting, `expected ${STORE_FORM}`)
  const given = parametersOf(parsed, setting)
  const path = decoded(parsed.pathname, setting)
  if (parsed.protocol === 's3:') return s3Objects({ bucket: parsed.hostname, prefix: path, ...given })
  return azureAt(parsed.hostname, path, setting)
}

function azureAt(account: string, path: string, setting: string): ObjectStore {
  const [, container, prefix = ''] = /^\/([^/]+)(?:\/(.*))?$/s.exec(path) ?? []
  if (container === undefined) throw notAStore(setting, `expected ${STORE_FORM}`)
  if (!process.env[CONNECTION]) throw notAStore(CONNECTION, `expected the connection string of the account ${account}`)
  const objects = azureObjects({ container, prefix } satisfies AzureObjectsOptions)
  // Paths begin with the account, so that another one would never own them.
  if (objects.url.startsWith(`azblob://${account}/`)) return objects
  throw notAStore(setting, `${CONNECTION} is that of another account than ${account}`)
}

function parametersOf(url: URL, setting: string): Pick<S3ObjectsOptions, 'endpoint' | 'region'> {
  const known = PARAMETERS[url.protocol] ?? []
  for (const name of url.searchParams.keys()) {
    if (known.includes(name)) continue
    const list = known.length === 0 ? `${url.protocol}// has none` : `known are ${known.join(' and ')}`
    throw notAStore(setting, `unknown parameter ${JSON.stringify(name)}; ${list}`)
  }
  return Object.fromEntries(
    known.flatMap((name) => {
      const value = url.searchParams.get(name)
      return value === null || value === '' ? [] : [[name, value] as const]
    }),
  )
}

function decoded(path: string, setting: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw notAStore(setting, `${JSON.stringify(path)} has a % that encodes nothing`)
  }
}

/** Returns the URL of the store that the path of an output belongs to, or `undefined` for any other path. */
export function storeOfPath(path: string): string | undefined {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
  return isStoreUrl(path) ? /^(.+?:\/\/.+?)\/o\/[^?#]+$/.exec(path)?.[1] : undefined
}

function notAStore(setting: string, problem: string): SpillwayError {
  return new SpillwayError('INVALID_CONFIG', `${setting}: ${problem}`, { field: setting })
}
