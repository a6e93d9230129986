/** Opens text files, and reports the kind of all others. */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { isNeverText, signatureOf } from '../../util/file-signatures'
import { messageOf } from '../../util/message-of'
import { ToolError } from '../definition'

const SNIFFED_BYTES = 8192

/** A file as it was when it was looked at: another stamp means other content. */
export interface FileState {
  bytes: number
  mode: number
  links: number
  stamp: string
}

/** Opens a regular file. Never waits for the other end of a pipe. @throws ToolError that says why it cannot be read */
export async function openFile(path: string): Promise<{ file: FileHandle; state: FileState }> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    throw new ToolError(`${path} ${reasonOf(error)}`)
  }
  try {
    const facts = await file.stat({ bigint: true })
    if (facts.isDirectory()) throw new ToolError(`${path} is a folder, not a file.`)
    if (!facts.isFile()) throw new ToolError(`${path} is a device or a pipe, not a file.`)
    const stamp = [facts.dev, facts.ino, facts.size, facts.mtimeNs].join(':')
    const state = { bytes: Number(facts.size), mode: Number(facts.mode & 0o7777n), links: Number(facts.nlink), stamp }
    return { file, state }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Explains an error of the file system. */
export function reasonOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown }
  if (code === 'ENOENT') return 'does not exist.'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be opened: permission denied.'
  if (code === 'EISDIR') return 'is a folder, not a file.'
  if (code === 'ENOTDIR') return 'has a file where a folder is expected.'
  if (code === 'ELOOP') return 'is a link that leads back to itself.'
  return `cannot be opened: ${messageOf(error)}`
}

/** @throws ToolError if a file is not text */
export async function checkText(file: FileHandle, path: string, bytes: number): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0)
  const start = buffer.subarray(0, bytesRead)
  const isText = !start.includes(0)
  const found = signatureOf(start)
  // Text may begin with the letters of a kind as well.
  const name = found && (!isText || isNeverText(found)) ? found.name : undefined
  if (name !== undefined)
    throw new ToolError(`${path} is ${name} of ${bytes} bytes. This tool takes text in UTF-8 only.`)
  if (!isText) throw new ToolError(`${path} is binary, ${bytes} bytes. This tool takes text in UTF-8 only.`)
}
