/**
 * The saved outputs that this process knows: a path is that of a saved output only if a storage answered it. Nothing that a tool
 * prints can claim it.
 */

import type { ITruncationStorage } from '../types'
import type { Check } from '../validation/options'

/** The oldest of more paths are forgotten, with their notices. */
const MAX_PATHS = 10_000

/** Each path with its notice, if that is remembered. The oldest first. */
const paths = new Map<string, string>()

/** Remembers that a storage, or the host itself, answered a path, and the notice that names it. */
export function rememberOutput(path: unknown, notice?: string): void {
  if (typeof path !== 'string' || path === '') return
  notice ??= noticeOfOutput(path)
  paths.delete(path)
  paths.set(path, notice)
  if (paths.size > MAX_PATHS) paths.delete(paths.keys().next().value as string)
}

/** The notice that named a path; empty if there was none. */
export function noticeOfOutput(path: string): string {
  return paths.get(path) ?? ''
}

/** A storage, or anything else that can say whether a path is that of a saved output. */
export type OutputOwner = ITruncationStorage | { owns(path: string): boolean }

/** The option that takes an {@link OutputOwner}. */
export const owner: Check = [
  'a storage, or an object with a function owns',
  (value) => {
    const { owns, save } = Object(value) as { owns?: unknown; save?: unknown }
    return typeof (owns ?? save) === 'function'
  },
]

/** True if a path is that of a saved output: the storage says so, or else, if it cannot be asked, this process saved it. */
export function isSavedOutput(path: string, storage?: OutputOwner): boolean {
  if (!canSay(storage)) return paths.has(path)
  try {
    return storage.owns(path) === true
  } catch {
    return false
  }
}

/** True if this can be asked which paths it owns. */
export function canSay<T>(storage: T): storage is T & { owns(path: string): boolean } {
  return typeof (storage as { owns?: unknown } | null | undefined)?.owns === 'function'
}
