/** The options for the place of saved outputs and for the settings. They load nothing: a hook that has nothing to do stays fast. */

import { isOtherUrl } from '../util/store-url'
import type { Option } from './command'

/** Refuses a URL that is no store of outputs. */
const expecting = (stores: string) => (value: string) => (isOtherUrl(value) ? stores : undefined)

export const STORE: Readonly<Record<string, Option>> = {
  store: {
    type: 'string',
    value: 'DIR',
    help: 'The folder of saved outputs. Default: $SPILLWAY_STORAGE_DIR, else the data folder of the user.',
    expected: expecting('a folder'),
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
    help: 'The folder of saved outputs, s3://bucket/prefix or azblob://account/container/prefix. Default: $SPILLWAY_STORE, else fleet.store of --config, else $SPILLWAY_STORAGE_DIR, else the data folder of the user.',
    expected: expecting('a folder, s3://bucket/prefix or azblob://account/container/prefix'),
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
