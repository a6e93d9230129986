/** The options for the place of saved outputs and for the settings. They load nothing: a hook that has nothing to do stays fast. */

import type { Option } from './command'

export const STORE: Readonly<Record<string, Option>> = {
  store: {
    type: 'string',
    value: 'DIR',
    help: 'The folder of saved outputs. Default: $SPILLWAY_STORAGE_DIR, else that of the user.',
  },
}

export const STORE_OR_BUCKET: Readonly<Record<string, Option>> = {
  store: {
    type: 'string',
    value: 'STORE',
    help: 'The folder of saved outputs, s3://bucket/prefix or azblob://account/container/prefix. Default: $SPILLWAY_STORE, else $SPILLWAY_STORAGE_DIR, else the folder of the user.',
  },
}

/** The option of a command that saves. */
export const SPOOL: Readonly<Record<string, Option>> = {
  'spool-dir': {
    type: 'string',
    value: 'DIR',
    help: 'With a bucket: the folder that keeps outputs until it has them. Default: $SPILLWAY_SPOOL_DIR, else none.',
  },
}

/** The option of a command that shows questions. */
export const COORDINATION: Readonly<Record<string, Option>> = {
  coordination: {
    type: 'string',
    value: 'URL',
    help: 'The server whose questions are shown: redis://host or postgres://host/database. Default: $SPILLWAY_COORDINATION, else those of this machine.',
  },
}

export const CONFIG: Readonly<Record<string, Option>> = {
  config: { type: 'string', value: 'FILE', help: 'Settings, as JSON with comments.' },
}
