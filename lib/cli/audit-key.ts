/** The key that audit logs were written with. */

import { readFileSync } from 'node:fs'
import type { Option, Parsed } from './command'
import { text } from './parse-values'

/** The option; `where` says where it counts. */
export function keyFile(where: string): Readonly<Record<string, Option>> {
  const help = `${where}: the file with the key that the audit logs were written with, taken byte for byte.`
  return { 'key-file': { type: 'string', value: 'FILE', help } }
}

export function keyFromFile(values: Parsed['values']): { key?: Uint8Array } {
  const file = text(values, 'key-file')
  return file === undefined ? {} : { key: readFileSync(file) }
}
