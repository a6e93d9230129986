/** Recognizes results that are truncated already: those of `runCommand` and of a service, as they are or in an object. */

import { isParts, textsOf } from './content'
import { type Preview, previewOf } from './previews'

const outputs = new WeakSet<object>()

/** Remembers the output of a command, so that its text can be put in its place. */
export function rememberBounded<R extends object>(output: R): R {
  outputs.add(output)
  return output
}

/** A value in which bounded outputs are replaced by their contents. */
export interface Opened {
  /** The value itself if there is nothing to replace. */
  value: unknown
  /** The first preview in it. */
  made?: Preview
}

/** So deep is looked for outputs: `{ output: await runCommand(…) }` has one in its second object. */
const MAX_DEPTH = 3
const MAX_MEMBERS = 64

/** Puts the contents of bounded outputs into their places: an object like that says the same text twice. */
export function opened(value: unknown): Opened {
  if (typeof value !== 'object' || value === null) return { value }
  try {
    return openedTo(MAX_DEPTH, value)
  } catch {
    // A getter or a proxy that throws: none of ours does.
    return { value }
  }
}

function openedTo(depth: number, value: unknown): Opened {
  if (typeof value === 'string') {
    const made = previewOf(value)
    return made === undefined ? { value } : { value, made }
  }
  if (typeof value !== 'object' || value === null) return { value }
  const content = contentOf(value)
  if (content !== undefined) {
    const made = (value as { truncated?: unknown }).truncated === true ? madeOf(content) : undefined
    return made === undefined ? { value: content } : { value: content, made }
  }
  if (depth === 0 || !isPlain(value)) return { value }
  const entries = Object.entries(value)
  if (entries.length > MAX_MEMBERS) return { value }
  let made: Preview | undefined
  let isChanged = false
  const others = entries.map(([key, inner]) => {
    const one = openedTo(depth - 1, inner)
    isChanged ||= one.value !== inner
    made ??= one.made
    return [key, one.value] as const
  })
  const shown = isChanged ? Object.fromEntries(others) : value
  return made === undefined ? { value: shown } : { value: shown, made }
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return (prototype === null || prototype === Object.prototype) && !('toJSON' in value)
}

/** The content of a bounded output: one that a command gave, or one whose content is a preview that was made here. */
function contentOf(value: object): unknown {
  const { content, truncated } = value as { content?: unknown; truncated?: unknown }
  if (outputs.has(value)) return content
  if (truncated !== true) return undefined
  const { outputPath } = value as { outputPath?: unknown }
  return madeOf(content)?.outputPath === outputPath ? content : undefined
}

function madeOf(content: unknown): Preview | undefined {
  if (typeof content === 'string') return previewOf(content)
  return isParts(content) ? previewOf(textsOf(content).join('\n')) : undefined
}
