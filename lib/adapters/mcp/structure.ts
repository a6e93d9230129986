/**
 * Finds the parts of a `structuredContent` that the texts of the same result lack, because servers send both, for clients that
 * read only one.
 */

import { isRecord } from '../../validation/validate'
import { parseLeniently } from './lenient-json'

/** A value that the texts say as well. */
const SAID = Symbol('said')
/** Values that are nested deeper are compared as a whole, or not at all. */
const DEEPEST = 64
/** Containers are compared with texts that are JSON only so far down: servers wrap a value once or twice. */
const DEEPEST_WRAP = 3

/**
 * Returns what a structure says besides the texts; `undefined` if that is nothing. The texts say a string that is one of them, or all
 * of them joined, and a value that is the JSON in one of them.
 */
export function besideTexts(texts: readonly string[], structure: unknown): unknown {
  if (structure === undefined) return undefined
  const strings = new Set([...texts, texts.join('\n'), texts.join('')].map((text) => text.trimEnd()))
  const values = new Set(texts.map(canonicalText).filter((json) => json !== ''))
  const rest = (value: unknown, depth: number, isOnly: boolean): unknown => {
    if (typeof value === 'string') return strings.has(value.trimEnd()) || values.has(canonical(value)) ? SAID : value
    if (value === null) return isOnly ? SAID : value
    if (typeof value !== 'object' || !(isRecord(value) || Array.isArray(value))) {
      return isOnly && values.has(canonical(value)) ? SAID : value
    }
    if (depth <= DEEPEST_WRAP && values.size > 0 && values.has(canonical(value))) return SAID
    if (depth > DEEPEST) return value
    if (Array.isArray(value)) {
      return value.every((item) => rest(item, depth + 1, true) === SAID) ? SAID : value
    }
    const members = Object.entries(value)
    const left = members.flatMap(([name, member]) => {
      const more = rest(member, depth + 1, members.length === 1 || member === null)
      return more === SAID ? [] : [[name, more] as const]
    })
    if (left.every(([, more]) => more === null)) return SAID
    return left.length === members.length ? value : Object.fromEntries(left)
  }
  const left = rest(structure, 0, true)
  return left === SAID ? undefined : left
}

/** JSON with the members of objects in one order; empty for what is nested too deep. */
function canonical(value: unknown): string {
  try {
    const json: string | undefined = JSON.stringify(value, (_name, inner: unknown) =>
      isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
    )
    return json ?? ''
  } catch {
    return ''
  }
}

function canonicalText(text: string): string {
  try {
    return canonical(parseLeniently(text).value)
  } catch {
    return ''
  }
}
