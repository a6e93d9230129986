/** Values of options: numbers, sizes, times; and how such things are written for people. */

import { shellQuote } from '../util/shell-quote'
import { listed } from '../validation/validate'
import { badValue, type Parsed } from './command'

type Values = Parsed['values']

/** The text of an option. */
export function text(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** The texts of an option that can be given more than once. */
export function texts(values: Values, name: string): string[] | undefined {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : undefined
}

/** @throws UsageError unless it is one of them */
export function choice<T extends string>(values: Values, name: string, allowed: readonly T[]): T | undefined {
  const value = text(values, name)
  return value === undefined ? undefined : chosen(name, value, allowed)
}

/** @throws UsageError unless each is one of them */
export function choices<T extends string>(values: Values, name: string, allowed: readonly T[]): T[] | undefined {
  return texts(values, name)?.map((value) => chosen(name, value, allowed))
}

function chosen<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(value)) return value as T
  throw badValue(name, value, listed(allowed), allowed)
}

/** @throws UsageError unless it is a whole number of at least so much */
export function whole(values: Values, name: string, min = 1): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number) && number >= min) return number
  throw badValue(name, value, `a whole number of at least ${min}`)
}

/** @throws UsageError unless it is a number above 0, or `infinity` */
export function positive(values: Values, name: string): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  const number = /^inf(inity)?$/i.test(value) ? Number.POSITIVE_INFINITY : value.trim() === '' ? 0 : Number(value)
  if (number > 0) return number
  throw badValue(name, value, 'a number above 0, or infinity')
}

const TIMES: Readonly<Record<string, number>> = { ms: 1, '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds: `500ms`, `30` and `30s`, `5m`, `2h`, `1d`. */
export function duration(values: Values, name: string): number | undefined {
  const value = text(values, name)
  if (value === undefined) return undefined
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/i.exec(value) ?? []
  const ms = Number(number) * (TIMES[unit.toLowerCase()] ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 1) return ms
  throw badValue(name, value, 'a time of at least 1ms, such as 500ms, 30s, 5m or 2h')
}

const AGES = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** A time that has passed, in its largest unit. */
export function ageText(ms: number): string {
  const [unit, size] = AGES.find(([, min]) => ms >= min) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word)
}
