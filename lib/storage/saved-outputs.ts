/**
 * The saved outputs that this process knows: a path is that of a saved output only if a storage answered it. Nothing that a tool
 * prints can claim it.
 */

import type { ITruncationStorage } from '../types'

/** The oldest of more paths are forgotten, with their notices. */
const MAX_PATHS = 10_000

/** Each path with its notice, if that is remembered. The oldest first. */
const paths = new Map<string, string>()

/** Remembers that a storage, or the host itself, answered a path. */
export function rememberOutput(path: unknown, notice = ''): void {
  if (typeof path !== 'string' || path === '') return
  paths.delete(path)
  paths.set(path, notice)
  if (paths.size > MAX_PATHS) paths.delete(paths.keys().next().value as string)
}

/** The notice that named a path; empty if there was none. */
export function noticeOfOutput(path: string): string {
  return paths.get(path) ?? ''
}

/** A storage that can be asked whether a path is that of an output which it saved. */
export interface OutputOwner {
  /** True if a path is that of an output that this store saved. */
  owns(path: string): boolean
}

/** True if a path is that of a saved output: the storage says so, or without one this process saved it. */
export function isSavedOutput(path: string, storage?: OutputOwner): boolean {
  if (storage === undefined) return paths.has(path)
  try {
    return storage.owns(path) === true
  } catch {
    return false
  }
}

/** True if a storage of the caller's can be asked who owns a path. */
export function isOwner(storage: ITruncationStorage | OutputOwner | undefined): storage is OutputOwner {
  return typeof (storage as Partial<OutputOwner> | undefined)?.owns === 'function'
}
