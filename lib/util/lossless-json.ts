/** Reads and writes JSON without changing numbers that JavaScript cannot represent. */

import { randomUUID } from './crypto'
import { deepJsonOf } from './deep-json'

/** Prefix that no string of a message has. */
const MARK = `spillway:number:${randomUUID()}:`
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g')

/** Without one of these every number is exact. */
const MAYBE_LONG = /\d[\d.]{15}|\d[eE]/
/** A string, whether it ends or not (each of its quotes would be looked at again), or a number. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Number of significant digits that every double preserves. */
const SAFE_DIGITS = 15
const SMALLEST = 1e-300

/** A number that JavaScript has no value for. */
class ExactNumber {
  constructor(readonly digits: string) {}

  toJSON(): string {
    return MARK + this.digits
  }

  toString(): string {
    return this.digits
  }
}

export function isExactNumber(value: unknown): boolean {
  return value instanceof ExactNumber
}

/** Reads JSON. A number that JavaScript cannot represent becomes an object that `stringifyLossless` writes unchanged. */
export function parseLossless(json: string): unknown {
  if (!MAYBE_LONG.test(json)) return JSON.parse(json)
  const marked = json.replace(TOKENS, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${MARK}${token}"`,
  )
  if (marked.length === json.length) return JSON.parse(json)
  const root: object = { value: JSON.parse(marked) }
  // A reviver would be called for the innermost value first, and what is nested deeper than the stack has none.
  const todo = [root]
  for (let holder = todo.pop(); holder !== undefined; holder = todo.pop()) {
    for (const [name, value] of Object.entries(holder)) {
      if (isObject(value)) todo.push(value)
      else if (typeof value === 'string' && value.startsWith(MARK)) {
        const exact = new ExactNumber(value.slice(MARK.length))
        // Not by an assignment, with which the name `__proto__` means something else.
        Object.defineProperty(holder, name, { ...OWN, value: exact })
      }
    }
  }
  return (root as { value: unknown }).value
}

const OWN = { configurable: true, enumerable: true, writable: true }

/** The JSON of a value that may hold numbers of `parseLossless`; without `indent` if it is nested deeper than the stack. */
export function stringifyLossless(value: unknown, indent?: number): string | undefined {
  const json = deepJsonOf(value, indent)
  return json?.includes(MARK) ? json.replace(MARKED, '$1') : json
}

/** The value with the numbers that JavaScript has, for those who calculate with them. */
export function plainly(value: unknown): unknown {
  const json: string | undefined = JSON.stringify(value)
  return json?.includes(MARK) ? JSON.parse(json.replace(MARKED, '$1')) : value
}

/**
 * Returns a value derived from that of `JSON.parse`, with the numbers that stayed in their places as they were written.
 *
 * @param before the value of `JSON.parse`
 * @param exact the value of `parseLossless` for the same text
 */
export function withExactNumbers(value: unknown, before: unknown, exact: unknown): unknown {
  if (Object.is(value, before)) return exact
  if (!isObject(value) || !isObject(before) || !isObject(exact)) return value
  if (Array.isArray(value)) {
    if (!Array.isArray(before)) return value
    const isAligned = value.length === before.length
    return value.map((item, index) => {
      // Two numbers may be one for JavaScript, so only an object identifies its place.
      const from = isAligned ? index : isObject(item) ? before.indexOf(item) : -1
      return from < 0 ? item : withExactNumbers(item, before[from], exact[from])
    })
  }
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    Object.hasOwn(before, name) ? withExactNumbers(item, before[name], exact[name]) : item,
  ])
  return Object.fromEntries(entries)
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null
}

function isExact(token: string): boolean {
  const value = Number(token)
  if (String(value) === token) return true
  const digits = token.replace(/[eE].*$/, '').replace(/^-?[0.]*|\./g, '')
  if (digits === '') return true
  return digits.length <= SAFE_DIGITS && Number.isFinite(value) && Math.abs(value) > SMALLEST
}
