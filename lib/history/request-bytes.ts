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

/**
 * Number of values that are counted: those that hold each other many times have no end. A message with more of them has at least the
 * bytes of these, so that it does not seem to fit.
 */
const MAX_VALUES = 2 ** 20

/** Bytes of a message; `view` is its view, which remembers them. Never throws. */
export function messageBytes(message: unknown, view: MessageView): number {
  // All unreadable messages share one view.
  if (view.role === 'other') return valueBytes(message, KEPT)
  view.bytes ??= valueBytes(message, KEPT)
  return view.bytes
}

/**
 * Bytes of a value without these fields, and without values that have no JSON: they are not sent. If there are more
 * than {@link MAX_VALUES}, the number is less than their bytes. Never throws.
 */
export function valueBytes(value: unknown, kept?: ReadonlySet<string>): number {
  return new Count().of(value, kept)
}

/** Characters that JSON may write in another way. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u

/** Counts the bytes of a value as JSON. */
class Count {
  private left = MAX_VALUES
  /** The objects around the value at hand: none of them is in it. */
  private readonly around = new Set<object>()

  of(value: unknown, kept?: ReadonlySet<string>): number {
    try {
      return this.bytesOf(value, kept)
    } catch {
      return 0
    }
  }

  private bytesOf(value: unknown, kept?: ReadonlySet<string>): number {
    this.left--
    // Asking JSON takes long where a million elements are holes.
    if (value === undefined) return 0
    if (typeof value === 'string') return textBytes(value)
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.length ?? 0
    if (value instanceof Uint8Array || value instanceof ArrayBuffer) return Math.ceil(value.byteLength / 3) * 4 + 2
    if (this.around.has(value)) return 0
    this.around.add(value)
    try {
      return this.ofObject(value, kept)
    } finally {
      this.around.delete(value)
    }
  }

  private ofObject(value: object, kept?: ReadonlySet<string>): number {
    if (Array.isArray(value)) return this.ofList(value)
    const { toJSON } = value as { toJSON?: unknown }
    // Messages of a framework write themselves in another form than they are sent.
    if (kept === undefined && typeof toJSON === 'function') return this.bytesOf(toJSON.call(value, ''))
    return this.ofFields(value as Record<string, unknown>, kept)
  }

  private ofList(list: readonly unknown[]): number {
    let bytes = 1
    for (let at = 0; at < list.length; at++) {
      if (this.left <= 0) return bytes + LEAST * (list.length - at)
      // Each element is followed by a comma or by the end, and one without JSON is null.
      bytes += (this.ofField(list, at) || NULL) + 1
    }
    return Math.max(bytes, 2)
  }

  private ofFields(holder: Readonly<Record<string, unknown>>, kept?: ReadonlySet<string>): number {
    let bytes = 1
    for (const key of Object.keys(holder)) {
      if (this.left <= 0) break
      const size = kept?.has(key) ? 0 : this.ofField(holder, key)
      if (size > 0) bytes += textBytes(key) + size + 2
    }
    return Math.max(bytes, 2)
  }

  /** One value without JSON does not hide the others: a getter may throw, and JSON has no big integers. */
  private ofField(holder: object, key: PropertyKey): number {
    try {
      return this.bytesOf((holder as Record<PropertyKey, unknown>)[key])
    } catch {
      return 0
    }
  }
}

/** Bytes of `null`. */
const NULL = 4

/** Bytes that each element of a list has at least: a digit and a comma. */
const LEAST = 2

/** Bytes of a text as JSON; base64 is not copied. */
function textBytes(text: string): number {
  return ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2
}
