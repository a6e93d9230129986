/** The options for the place of saved outputs and for the settings. They load nothing: a hook that has nothing to do stays fast. */

import { hasCredentials, isOtherUrl, NO_CREDENTIALS, STORE_SCHEMES, wrongScheme } from '../util/store-url'
import type { Option } from './command'

const BUCKETS = 's3://bucket/prefix or azblob://account/container/prefix'

/** Refuses a URL that is no store of outputs, or that has a password in it. */
const expecting = (stores: string, schemes: readonly string[]) => (value: string) => {
  if (isOtherUrl(value)) return `expected ${stores}${wrongScheme(value, schemes)}`
  return hasCredentials(value) ? NO_CREDENTIALS : undefined
}

export const STORE: Readonly<Record<string, Option>> = {
  store: {
    type: 'string',
    value: 'DIR',
    help: 'The folder of saved outputs. Default: $SPILLWAY_STORAGE_DIR, else the data folder of the user.',
    problem: expecting('a folder', []),
  },
}

export const CONFIG: Readonly<Record<string, Option>> = {
  config: { type: 'string', value: 'FILE', help: 'Settings, as JSON with comments.' },
}

/** The place of outputs, and the settings, which may name it. */
export const STORE_OR_BUCKET: Readonly<Record<string, Option>> = {
  ...CONFIG,
  store: {
    type: 'string',
    value: 'STORE',
    help: `The folder of saved outputs, ${BUCKETS}. Default: $SPILLWAY_STORE, else fleet.store of --config, else $SPILLWAY_STORAGE_DIR, else the data folder of the user.`,
    problem: expecting(`a folder, ${BUCKETS}`, STORE_SCHEMES),
  },
}

/** The option of a command that saves. */
export const SPOOL: Readonly<Record<string, Option>> = {
  'spool-dir': {
    type: 'string',
    value: 'DIR',
    help: 'With a bucket: the folder that holds outputs until the bucket has them. Default: $SPILLWAY_SPOOL_DIR, else fleet.spoolDir of --config, else none.',
  },
}

/** The option of a command that shows questions, or asks them. */
export const COORDINATION: Readonly<Record<string, Option>> = {
  coordination: {
    type: 'string',
    value: 'URL',
    help: 'The server where questions wait: redis://host or postgres://host/database. Default: $SPILLWAY_COORDINATION, else fleet.coordination of --config, else a folder on this machine.',
  },
}
