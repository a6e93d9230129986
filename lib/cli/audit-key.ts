/** The key that audit logs were written with. */

import { readFileSync } from 'node:fs'
import type { Option, Parsed } from './command'
import { text } from './parse-values'

export const KEY_FILE: Readonly<Record<string, Option>> = {
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'The file with the key that the audit logs were written with, taken byte for byte.',
  },
}

export function keyFromFile(values: Parsed['values']): { key?: Uint8Array } {
  const file = text(values, 'key-file')
  return file === undefined ? {} : { key: readFileSync(file) }
}
