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
    help: 'The folder of saved outputs, or s3://bucket/prefix. Default: $SPILLWAY_STORE, else $SPILLWAY_STORAGE_DIR, else the folder of the user.',
  },
}

export const CONFIG: Readonly<Record<string, Option>> = {
  config: { type: 'string', value: 'FILE', help: 'Settings, as JSON with comments.' },
}
