/** Bytes of messages in a request: those of their JSON, with whatever is binary in base64. */

import type { MessageView } from './message-view'

/** Fields of a message that hosts keep for themselves. */
const KEPT: ReadonlySet<string> = new Set([
  'artifact',
  'details',
  'metadata',
  'usage',
  'usage_metadata',
  'response_metadata',
  'lc_kwargs',
  'lc_namespace',
  'lc_serializable',
])

/** Values of messages are nested no deeper than this. */
const MAX_DEPTH = 100

/** Bytes of a message; `view` is its view, which remembers them. Never throws. */
export function messageBytes(message: unknown, view: MessageView): number {
  // All unreadable messages share one view.
  if (view.role === 'other') return valueBytes(message, KEPT)
  view.bytes ??= valueBytes(message, KEPT)
  return view.bytes
}

/** Bytes of a value without these fields. Never throws. */
export function valueBytes(value: unknown, kept?: ReadonlySet<string>): number {
  try {
    return typeof value === 'object' && value !== null ? objectBytes(value, 0, kept) : jsonBytes(value)
  } catch {
    // Whatever cannot be read is not sent.
    return 0
  }
}

/** Bytes of a value as JSON. Throws if JSON has no form of it. */
function jsonBytes(value: unknown, depth = 0): number {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0
  const binary = binaryBytes(value)
  if (binary !== undefined) return binary
  if (depth > MAX_DEPTH) throw new RangeError('nested too deeply')
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return jsonBytes(toJSON.call(value, ''), depth + 1)
  return objectBytes(value, depth)
}

/** Bytes of binary data in base64, with quotes. */
function binaryBytes(value: object): number | undefined {
  const isBinary = value instanceof Uint8Array || value instanceof ArrayBuffer
  return isBinary ? Math.ceil(value.byteLength / 3) * 4 + 2 : undefined
}

/** Bytes of a list or of an object with fields, without those in `kept`. */
function objectBytes(value: object, depth: number, kept?: ReadonlySet<string>): number {
  // Each element is followed by a comma or by the end.
  let bytes = 1
  if (Array.isArray(value)) {
    for (const element of value) bytes += (jsonBytes(element, depth + 1) || NULL) + 1
  } else {
    for (const key of Object.keys(value)) {
      if (kept?.has(key)) continue
      const size = jsonBytes((value as Record<string, unknown>)[key], depth + 1)
      if (size > 0) bytes += jsonBytes(key) + size + 2
    }
  }
  return Math.max(bytes, 2)
}

/** Bytes of `null`, which stands for an element that JSON has no form of. */
const NULL = 4
