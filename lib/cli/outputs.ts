/** Saved outputs as they are named on the command line: by path, or counted from the newest. */

import { dirname, join, resolve } from 'node:path'
import { type OutputAccess, type SavedOutput, SpillwayError, TruncationStorage } from 'spillway'
import { forgetPreviews } from '../storage/printed-previews'
import { isStoreUrl } from '../util/store-url'
import { type Parsed, UsageError } from './command'
import { forgetCommands, type RecordedCommand, recordedCommands } from './command-log'
import { isLocal, type OutputStorage, openOutputs } from './output-storage'
import { text } from './parse-values'

/** A saved output, and what made it if `spillway run` did. */
export type RecordedOutput = SavedOutput & Partial<Omit<RecordedCommand, 'path'>>

/** The outputs of a store, or of one session in it, the newest first. */
export async function recordedOutputs(storage: OutputStorage, sessionId?: string): Promise<RecordedOutput[]> {
  const outputs = await storage.list(sessionId === undefined ? {} : { sessionId })
  const commands = recordedCommands(await dirsOf(storage))
  return outputs.map((output) => ({ ...commands.get(output.path), ...output }))
}

/** Returns the folder in which questions of sessions wait for `spillway view`. */
export function approvalsFolder(storage: OutputStorage): string {
  return join(isLocal(storage) ? storage.getStorageDir() : localFolder(), 'approvals')
}

/** The folder of this machine's own store, which keeps what belongs to outputs in a bucket. */
export function localFolder(): string {
  return new TruncationStorage().getStorageDir()
}

/** The folder of a store that an output is in, which keeps the logs: that of a session is removed with its last output. */
export function storeFolderOf(values: Parsed['values'], path: string): string {
  if (isStoreUrl(path)) return localFolder()
  return text(values, 'session') === undefined ? dirname(path) : dirname(dirname(path))
}

/** The folders of a store, which have its logs. */
export async function dirsOf(storage: OutputStorage): Promise<string[]> {
  if (!isLocal(storage)) return [localFolder()]
  const { dirs } = await storage.usage()
  return dirs.map(({ dir }) => dir)
}

/** Forgets the commands and the previews of outputs that were removed. */
export async function forgetRemoved(storage: OutputStorage): Promise<void> {
  // No request is made only to shorten a log: outputs in a bucket are not looked for.
  if (!isLocal(storage)) return
  const dirs = await dirsOf(storage)
  forgetCommands(dirs)
  forgetPreviews(dirs)
}

/** A saved output that was asked for, and where it may be read. */
export interface AskedOutput {
  storage: OutputStorage
  path: string
  access: OutputAccess
}

/** Returns the output that an argument names in the store of the options; the newest without an argument. */
export async function askedOutput(values: Parsed['values'], given = '-1'): Promise<AskedOutput> {
  const storage = await openOutputs(values, given)
  const sessionId = text(values, 'session')
  return {
    storage,
    path: await outputPath(storage, given, sessionId),
    access: sessionId === undefined ? {} : { sessionId },
  }
}

/** Says that a store has no output, and where that is. */
export function nothingIn(storage: OutputStorage, sessionId?: string): string {
  const session = sessionId === undefined ? '' : ` of session ${JSON.stringify(sessionId)}`
  return `no output${session} is saved in ${storage.getStorageDir()}`
}

const FROM_NEWEST = /^-(\d+)$/

/**
 * Returns the output that an argument names: `-1` is the newest, `-2` the one before, everything else a path.
 * @throws SpillwayError `STORAGE_NOT_FOUND` if there is none, UsageError if there are fewer
 */
export async function outputOf(storage: OutputStorage, given: string, sessionId?: string): Promise<RecordedOutput> {
  const [, number] = FROM_NEWEST.exec(given) ?? []
  const listed = await recordedOutputs(storage, sessionId)
  if (number === undefined) {
    const path = pathOf(given)
    return listed.find((output) => output.path === path) ?? { path, toolName: '', savedAt: 0, bytes: 0 }
  }
  const output = listed[Number(number) - 1]
  if (output !== undefined) return output
  // Without an argument the newest is meant: `-1` is then nothing that the user wrote.
  if (listed.length === 0) throw new SpillwayError('STORAGE_NOT_FOUND', nothingIn(storage, sessionId))
  const many = listed.length === 1 ? '1 is saved' : `${listed.length} are saved`
  throw new UsageError(`${given}: expected an output, such as -1 for the newest; ${many}`)
}

/** The path of the output that an argument names, found without a list where it is a path. */
export async function outputPath(storage: OutputStorage, given: string, sessionId?: string): Promise<string> {
  return FROM_NEWEST.test(given) ? (await outputOf(storage, given, sessionId)).path : pathOf(given)
}

function pathOf(given: string): string {
  return isStoreUrl(given) ? given : resolve(given)
}
