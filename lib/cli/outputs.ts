/** Saved outputs as they are named on the command line: by path, or counted from the newest. */

import { resolve } from 'node:path'
import type { SavedOutput, TruncationStorage } from 'spillway'
import { UsageError } from './command'
import { type RecordedCommand, recordedCommands } from './command-log'

/** A saved output, and what made it if `spillway run` did. */
export type ListedOutput = SavedOutput & Partial<Omit<RecordedCommand, 'path'>>

/** The outputs of a store, or of one session in it, the newest first. */
export async function listedOutputs(storage: TruncationStorage, sessionId?: string): Promise<ListedOutput[]> {
  const outputs = await storage.list(sessionId === undefined ? {} : { sessionId })
  const { dirs } = await storage.usage()
  const commands = recordedCommands(dirs.map(({ dir }) => dir))
  return outputs.map((output) => ({ ...commands.get(output.path), ...output }))
}

const FROM_NEWEST = /^-(\d+)$/

/**
 * Returns the output that an argument names: `-1` is the newest, `-2` the one before, everything else a path.
 * @throws UsageError where there are not so many
 */
export async function outputOf(storage: TruncationStorage, given: string, sessionId?: string): Promise<ListedOutput> {
  const [, number] = FROM_NEWEST.exec(given) ?? []
  const listed = await listedOutputs(storage, sessionId)
  if (number === undefined) {
    const path = resolve(given)
    return listed.find((output) => output.path === path) ?? { path, toolName: '', savedAt: 0, bytes: 0 }
  }
  const output = listed[Number(number) - 1]
  if (output !== undefined) return output
  const many = listed.length === 0 ? 'no output is saved' : `${listed.length} are saved`
  throw new UsageError(`${given}: expected an output, -1 for the newest; ${many}`)
}

/** The path of the output that an argument names, found without a list where it is a path. */
export async function pathOf(storage: TruncationStorage, given: string, sessionId?: string): Promise<string> {
  return FROM_NEWEST.test(given) ? (await outputOf(storage, given, sessionId)).path : resolve(given)
}
