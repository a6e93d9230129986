/** Sizes in options. */

import { parseSize } from 'spillway/config'
import { badValue, type Parsed } from './command'
import { text } from './parse-values'

type Values = Parsed['values']

/** Bytes: `51200`, `50k`, `1.5MiB`, `infinity`; a unit is 1,024 of the one before. */
export function bytes(values: Values, name: string): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  if (/^inf(inity)?$/i.test(value)) return Number.POSITIVE_INFINITY
  const size = parseSize(value)
  if (size !== undefined) return size
  throw badValue(name, value, 'a size of at least 1, such as 51200, 50k or 1.5MiB')
}

/** @throws UsageError unless it is a size that has an end */
export function finiteBytes(values: Values, name: string): number | undefined {
  const size = bytes(values, name)
  if (size === undefined || Number.isFinite(size)) return size
  throw badValue(name, text(values, name) ?? '', 'a finite size, such as 50k')
}
