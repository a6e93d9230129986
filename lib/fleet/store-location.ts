/** The URL of a bucket, as `SPILLWAY_STORE` has it, and the paths of outputs below it. */

import { SpillwayError } from '../errors'
import type { S3ObjectsOptions } from '../s3/s3-objects'
import { wrong } from '../validation/validate'

/** How a bucket is written. */
export const STORE_FORM = 's3://bucket/prefix?endpoint=https://host&region=name'

const PARAMETERS = ['endpoint', 'region'] as const

/**
 * Reads the URL of a bucket.
 * @throws SpillwayError `INVALID_CONFIG` that names the setting
 */
export function bucketOf(url: string, setting: string): S3ObjectsOptions {
  const parsed = url.startsWith('s3://') && URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.hostname === '') throw notAStore(setting, `expected ${STORE_FORM}`)
  if (parsed.username !== '' || parsed.password !== '') {
    throw notAStore(setting, 'credentials do not belong in it: the AWS SDK finds them in the environment')
  }
  if (parsed.port !== '' || parsed.hash !== '') throw notAStore(setting, `expected ${STORE_FORM}`)
  for (const name of parsed.searchParams.keys()) {
    if (!(PARAMETERS as readonly string[]).includes(name)) {
      throw notAStore(setting, `unknown parameter ${JSON.stringify(name)}; known are ${PARAMETERS.join(' and ')}`)
    }
  }
  const given = PARAMETERS.flatMap((name) => {
    const value = parsed.searchParams.get(name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  return { bucket: parsed.hostname, prefix: decoded(parsed.pathname, setting), ...Object.fromEntries(given) }
}

function decoded(path: string, setting: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw notAStore(setting, `${JSON.stringify(path)} has a % that encodes nothing`)
  }
}

/** Returns the URL of the store that a path of an output is below, or nothing if it is not such a path. */
export function storeOfPath(path: string): string | undefined {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
  return /^(s3:\/\/.+?)\/o\/[^?#]+$/.exec(path)?.[1]
}

function notAStore(setting: string, problem: string): SpillwayError {
  return new SpillwayError('INVALID_CONFIG', `${setting}: ${problem}`, { field: setting })
}
