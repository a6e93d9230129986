/** File access of a call, and the form of its arguments without the long ones. */

import type { CallView } from '../history/message-view'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import type { FileRead } from './history-columns'

/** Strings in arguments that are longer are left out: UTF-16 units. Paths, commands and flags are shorter. */
const LONG_ARGUMENT = 400

/** Longer strings say nothing about which file is meant: UTF-16 units. */
const MAX_PATH_LENGTH = 4096

/** Arguments of longer commands are not compared: UTF-16 units. */
const MAX_COMMAND_LENGTH = 2 ** 16

/** As deep as the arguments of any known tool; what is deeper stays. */
const DEEPEST = 8

/** Arguments that are lists and that the core reads: a range of lines, the words of a command. */
const TELLING_LISTS = new Set(['view_range', 'command', 'cmd'])

export interface FileAccess {
  read?: FileRead
  writes?: boolean
}

export function fileAccess(tool: string, view: CallView): FileAccess {
  const args = view.args()
  if (args === undefined) return {}
  try {
    // Long arguments do not cross: they are what is written.
    const short = Object.entries(args).filter(
      ([, value]) => typeof value !== 'string' || value.length <= MAX_PATH_LENGTH,
    )
    const telling = short.filter(([key, value]) => typeof value !== 'object' || TELLING_LISTS.has(key))
    const text = JSON.stringify(Object.fromEntries(telling))
    return JSON.parse(call(() => native.fileAccess(tool, text))) as FileAccess
  } catch {
    // A proxy or a getter threw: whatever it does, it is left alone.
    return {}
  }
}

/** Returns the file that a call reads, or the command that it runs, as far as each is asked for. */
export function shownBy(
  tool: string,
  view: CallView,
  { files, commands }: { files: boolean; commands: boolean },
): FileRead | undefined {
  if (files) return fileAccess(tool, view).read
  return commands ? commandRead(tool, view) : undefined
}

/** A command as if it were a file of its own, which each run of it reads. */
function commandRead(tool: string, view: CallView): FileRead | undefined {
  if (view.argsText.length > MAX_COMMAND_LENGTH) return undefined
  try {
    const command = call(() => native.sameCommand(tool, JSON.stringify(view.args() ?? null)))
    return command === null ? undefined : [command, 1, null]
  } catch {
    // A proxy or a getter threw.
    return undefined
  }
}

/** Returns true if a call certainly changes nothing, so that a placeholder may invite to make it again. */
export function onlyReads(tool: string | undefined, view: CallView | undefined): boolean {
  if (tool === undefined || view === undefined || view.argsText.length > MAX_COMMAND_LENGTH) return false
  try {
    return call(() => native.onlyReads(tool.toWellFormed(), JSON.stringify(view.args() ?? null).toWellFormed()))
  } catch {
    // A proxy or a getter threw.
    return false
  }
}

/** The arguments with `text` in place of every long string. */
export function shortArguments(view: CallView, text: string): Readonly<Record<string, unknown>> {
  return shorten(view.args() ?? {}, text, 0) as Readonly<Record<string, unknown>>
}

function shorten(value: unknown, text: string, depth: number): unknown {
  if (typeof value === 'string') return value.length > LONG_ARGUMENT ? text : value
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (isArray(value)) return value.map((part) => shorten(part, text, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shorten(part, text, depth + 1)]))
}
