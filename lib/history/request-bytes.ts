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

/** Number of values in a message: more of them are no message, and those in a cycle have no end. */
const MAX_VALUES = 2 ** 20

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
    return new Count().of(value, kept)
  } catch {
    // Whatever has no JSON is not sent.
    return 0
  }
}

/** Counts the bytes of a value as JSON. Throws if JSON has no form of it. */
class Count {
  private left = MAX_VALUES

  of(value: unknown, kept?: ReadonlySet<string>): number {
    if (this.left-- === 0) throw new RangeError('too many values')
    if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value))
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0
    if (value instanceof Uint8Array || value instanceof ArrayBuffer) return Math.ceil(value.byteLength / 3) * 4 + 2
    if (Array.isArray(value)) return this.ofList(value)
    const { toJSON } = value as { toJSON?: unknown }
    // Messages of a framework write themselves in another form than they are sent.
    if (kept === undefined && typeof toJSON === 'function') return this.of(toJSON.call(value, ''))
    return this.ofFields(value as Record<string, unknown>, kept)
  }

  private ofList(list: readonly unknown[]): number {
    if (list.length > this.left) throw new RangeError('too many values')
    let bytes = 1
    // Each element is followed by a comma or by the end, and one without JSON is null.
    for (const element of list) bytes += (this.of(element) || NULL) + 1
    return Math.max(bytes, 2)
  }

  private ofFields(holder: Readonly<Record<string, unknown>>, kept?: ReadonlySet<string>): number {
    let bytes = 1
    for (const key of Object.keys(holder)) {
      const size = kept?.has(key) ? 0 : this.of(holder[key])
      if (size > 0) bytes += Buffer.byteLength(JSON.stringify(key)) + size + 2
    }
    return Math.max(bytes, 2)
  }
}

/** Bytes of `null`. */
const NULL = 4
