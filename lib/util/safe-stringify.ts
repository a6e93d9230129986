/**
 * Any value as JSON, whatever it is: what a model or a tool hands over must never make a call throw or hang. Equal values
 * give equal texts but for the order of members; the binary sorts those.
 */

import { types } from 'node:util'

/** Deeper values, longer lists and further branches are not read; the binary's parser ends at 128. */
const DEEPEST = 100
/** Values that are read at most: shared parts of a value can make it look endless. */
const MAX_VALUES = 200_000

interface Walk {
  readonly proxies: boolean
  readonly bytes: boolean
  readonly textOf: ((text: string) => string) | undefined
  /** UTF-16 units of texts that may still be written. */
  units: number
  /** The objects that are being written, from the outermost in. */
  readonly path: object[]
  left: number
}

/**
 * Returns the JSON of a value. A string becomes a JSON string; `undefined` is `null`. Proxies are read only with `proxies`, and
 * reading ends when its texts have `units` in total: one shared text could be written without end. Without
 * `bytes`, binary data is represented by its length only. `textOf` returns the form in which a text is written.
 */
export function safeStringify(
  value: unknown,
  {
    proxies = false,
    bytes = true,
    units = Number.POSITIVE_INFINITY,
    textOf,
  }: { proxies?: boolean; bytes?: boolean; units?: number; textOf?: (text: string) => string } = {},
): string {
  return write(value, { proxies, bytes, textOf, units, path: [], left: MAX_VALUES }) ?? 'null'
}

function write(value: unknown, walk: Walk): string | undefined {
  walk.left -= 1
  switch (typeof value) {
    case 'string':
      walk.units -= value.length
      if (walk.units <= 0) walk.left = 0
      return JSON.stringify((walk.textOf?.(value) ?? value).toWellFormed())
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : named(String(value))
    case 'boolean':
      return String(value)
    case 'bigint':
      return named(`${value}n`)
    case 'symbol':
      return named('a symbol')
    case 'function':
      return named('a function')
    case 'object':
      return value === null ? 'null' : writeObject(value, walk)
    default:
      return undefined
  }
}

/** Values that JSON cannot represent. */
function named(what: string): string {
  return JSON.stringify({ $value: what })
}

function writeObject(value: object, walk: Walk): string {
  const cycle = walk.path.indexOf(value)
  if (cycle >= 0) return named(`the value ${walk.path.length - cycle} above`)
  if (walk.path.length >= DEEPEST || walk.left <= 0) return named('not read any further')
  walk.path.push(value)
  try {
    return writeMembers(value, walk)
  } catch {
    // A getter, a proxy or `toJSON` that throws.
    return named('a value that cannot be read')
  } finally {
    walk.path.pop()
  }
}

function writeMembers(value: object, walk: Walk): string {
  if (!walk.proxies && types.isProxy(value)) return named('a proxy')
  if (ArrayBuffer.isView(value)) {
    if (!walk.bytes) return JSON.stringify(`<${value.byteLength} bytes>`)
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return `{"$bytes":${write(bytes.toString('base64'), walk)}}`
  }
  if (types.isNativeError(value)) return writeRecord({ name: value.name, message: value.message }, walk)
  if (types.isMap(value)) return `{"$map":${writeList([...value], walk)}}`
  if (types.isSet(value)) return `{"$set":${writeList([...value], walk)}}`
  if (types.isBoxedPrimitive(value)) return write(value.valueOf(), walk) ?? 'null'
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return write(toJSON.call(value), walk) ?? 'null'
  return Array.isArray(value) ? writeList(value, walk) : writeRecord(value as Record<string, unknown>, walk)
}

function writeList(items: readonly unknown[], walk: Walk): string {
  const parts: string[] = []
  // A sparse array can be longer than any memory.
  const length = Math.min(items.length, Math.max(walk.left, 0))
  for (let at = 0; at < length && walk.left > 0; at++) parts.push(write(items[at], walk) ?? 'null')
  if (parts.length < items.length) parts.push(named(`${items.length - parts.length} more`))
  return `[${parts.join(',')}]`
}

function writeRecord(record: Record<string, unknown>, walk: Walk): string {
  const parts: string[] = []
  for (const key of Object.keys(record)) {
    if (walk.left <= 0) {
      parts.push(`"$more":${named('not read any further')}`)
      break
    }
    const text = writeMember(record, key, walk)
    if (text !== undefined) parts.push(`${JSON.stringify(key.toWellFormed())}:${text}`)
  }
  return `{${parts.join(',')}}`
}

function writeMember(record: Record<string, unknown>, key: string, walk: Walk): string | undefined {
  let member: unknown
  try {
    member = record[key]
  } catch {
    return named('a value that cannot be read')
  }
  return write(member, walk)
}
