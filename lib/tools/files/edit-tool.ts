/** A tool that replaces one text in a file. */

import { access, constants, link, open, realpath, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { containsTruncationMarker } from '../../truncation/notice'
import { randomUUID } from '../../util/crypto'
import { linesFrom } from '../../util/format'
import { nonEmptyString } from '../../validation/options'
import {
  type Argument,
  checkToolOptions,
  type FolderOptions,
  type Given,
  PATH,
  pathIn,
  type ReadyTool,
  readyTool,
  ToolError,
} from '../definition'
import type { FileReads } from './file-reads'
import { READS } from './read-tool'
import { checkText, type FileState, openFile, reasonOf } from './text-file'

/** Options of {@link createEditTool}. */
export interface EditToolOptions extends FolderOptions {
  /** @default 'edit' */
  name?: string
  /** Refuses to edit a file that was not read, or has changed since: see {@link FileReads}. @default every file may be edited */
  reads?: FileReads
}

const MAX_BYTES = 10 * 1024 * 1024

const text = (description: string, ...aliases: string[]): Argument => ({
  schema: { type: 'string', description },
  check: ['a string that is well-formed', (value) => typeof value === 'string' && value.isWellFormed()],
  isRequired: true,
  aliases,
})
const PARAMETERS = {
  path: PATH,
  old_text: text(
    'The text to replace, exactly as it is in the file, once only; empty for a new file.',
    'old_string',
    'oldText',
  ),
  new_text: text('The text that takes its place.', 'new_string', 'newText'),
}

/**
 * Makes the tool `edit`: replaces `old_text`, which must occur exactly once, by `new_text`, or writes a new file if `old_text` is empty.
 * Line endings (CRLF), a byte order mark and the mode of a file are kept; links are followed. The file is replaced atomically: a
 * reader never sees half an edit, and the file is unchanged if anything fails.
 *
 * @example
 * const reads = new FileReads()
 * const tools = [createReadTool({ reads }), createEditTool({ reads })]
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed
 */
export function createEditTool(options: EditToolOptions = {}): ReadyTool {
  checkToolOptions(options, { name: nonEmptyString, reads: READS })
  const { name = 'edit', reads } = options
  const description =
    'Replaces a text in a file. old_text must be in the file exactly once, without line numbers; an empty old_text writes a new file.'
  return readyTool({ ...options, name, description }, PARAMETERS, async (args, context) => {
    const { path, old_text, new_text } = args as Given & { path: string; old_text: string; new_text: string }
    const asked = pathIn(context, path)
    const said =
      old_text === '' ? await create(asked, new_text, reads) : await replace(asked, old_text, new_text, reads)
    return { success: true, output: said, metadata: { truncated: false } }
  })
}

/** Two at once do not overwrite each other: the name is taken by a link, which fails if there is one. */
async function create(path: string, content: string, reads: FileReads | undefined): Promise<string> {
  checkWhole(content)
  const made = await written(path, content, 0o666 & ~process.umask())
  try {
    await link(made, path)
  } catch (error) {
    const exists = Object(error).code === 'EEXIST'
    throw new ToolError(exists ? `${path} exists: give the text to replace as old_text.` : `${path} ${reasonOf(error)}`)
  } finally {
    await unlink(made)
  }
  await noteWritten(path, reads)
  return `Wrote ${path}.`
}

async function replace(path: string, old: string, fresh: string, reads: FileReads | undefined): Promise<string> {
  const { content, state } = await contentOf(path)
  const target = await realpath(path)
  checkRead(path, reads, target, state)
  const { before, after, found, put } = placeOf(content, old, fresh, path)
  if (found === put) throw new ToolError('old_text and new_text are the same: nothing to change.')
  // A file that has a notice already, such as a page about them, may be edited around it.
  if (!containsTruncationMarker(content)) checkWhole(fresh)
  await access(target, constants.W_OK).catch(() => {
    throw new ToolError(`${path} is read-only.`)
  })
  // A new file in its place would part it from its other names.
  if (state.links > 1) throw new ToolError(`${path} has ${state.links} names (hard links): edit it by a command.`)
  const made = await written(target, before + put + after, state.mode)
  try {
    if ((await stateOf(target)).stamp !== state.stamp)
      throw new ToolError(`${path} has changed just now: read it again.`)
    await rename(made, target)
  } catch (error) {
    await unlink(made)
    throw error instanceof ToolError ? error : new ToolError(`${path} ${reasonOf(error)}`)
  }
  await noteWritten(target, reads)
  const line = before.split('\n').length
  const last = line + put.split('\n').length - 1
  return `Edited ${path}: ${linesFrom(line, last)}.`
}

/** Refuses a preview that the model takes for the whole: the lines that it never saw would be lost. */
function checkWhole(text: string): void {
  if (!containsTruncationMarker(text)) return
  throw new ToolError(
    'new_text has the notice of a truncated output in it: read the lines that are missing, and write those in its place; copy a whole file by a command.',
  )
}

async function contentOf(path: string): Promise<{ content: string; state: FileState }> {
  const { file, state } = await openFile(path)
  try {
    if (state.bytes > MAX_BYTES) throw new ToolError(`${path} has ${state.bytes} bytes: edit it by a command.`)
    await checkText(file, path, state.bytes)
    const bytes = await file.readFile()
    try {
      return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), state }
    } catch {
      throw new ToolError(`${path} is not UTF-8 throughout: an edit would damage it.`)
    }
  } finally {
    await file.close()
  }
}

async function stateOf(path: string): Promise<FileState> {
  const { file, state } = await openFile(path)
  await file.close()
  return state
}

function checkRead(path: string, reads: FileReads | undefined, target: string, { stamp }: FileState): void {
  if (reads === undefined) return
  const known = reads.stampOf(target)
  if (known === undefined) throw new ToolError(`${path} was not read yet: read it before you edit it.`)
  if (known !== stamp) throw new ToolError(`${path} has changed since it was read: read it again.`)
}

/** The one place of a text, in the line ends of the file. */
function placeOf(content: string, old: string, fresh: string, path: string) {
  const isCrlf = /\r\n/.test(content) && !/(?:^|[^\r])\n/.test(content)
  const inFile = (text: string) => (isCrlf ? text.replaceAll(/\r?\n/g, '\r\n') : text)
  const found = inFile(old)
  const at = content.indexOf(found)
  if (at === -1)
    throw new ToolError(`old_text is not in ${path}: read the file and copy the text exactly, with its spaces.`)
  if (content.indexOf(found, at + 1) !== -1) {
    throw new ToolError(`old_text is in ${path} more than once: add lines around it until it is the only one.`)
  }
  return { before: content.slice(0, at), after: content.slice(at + found.length), found, put: inFile(fresh) }
}

/** A complete file beside the one that it will replace. */
async function written(path: string, content: string, mode: number): Promise<string> {
  const made = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID().slice(0, 8)}.tmp`)
  try {
    const file = await open(made, 'wx', mode)
    try {
      await file.writeFile(content)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    return made
  } catch (error) {
    await unlink(made).catch(() => {})
    throw new ToolError(`${path} cannot be written: its folder ${reasonOf(error)}`)
  }
}

/** The model knows what it has written. */
async function noteWritten(path: string, reads: FileReads | undefined): Promise<void> {
  if (reads !== undefined) reads.remember(await realpath(path), (await stateOf(path)).stamp)
}
