/** Reads the files of a user's folder with care: an unreadable one is reported, and the others are used. */

import { constants } from 'node:fs'
import { lstat, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../util/message-of'

/** A problem with a file in a folder of extensions. */
export interface ExtensionProblem {
  /** `error`: the file was left out. `warning`: it is used without the field that the message names. */
  severity: 'error' | 'warning'
  /** The file, or the folder itself. */
  path: string
  /** A sentence. */
  message: string
  /** The field of a front matter. */
  field?: string
  /** From 1. */
  line?: number
}

/** Maximum number of files read. */
const MAX_FILES = 1000

/** Names that match and do not begin with a dot, in the order of their code units. A folder that is not there is empty. */
export async function namesIn(dir: string, pattern: RegExp, problems: ExtensionProblem[]): Promise<string[]> {
  let names: string[]
  try {
    names = await readdir(dir)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') {
      problems.push({ severity: 'error', path: dir, message: `the folder cannot be read: ${reasonOf(error)}` })
    }
    return []
  }
  const found = names.filter((name) => pattern.test(name) && !name.startsWith('.')).sort()
  for (const name of found.slice(MAX_FILES)) {
    const message = `is not looked at: the folder has more than ${MAX_FILES} files of this kind`
    problems.push({ severity: 'error', path: join(dir, name), message })
  }
  return found.slice(0, MAX_FILES)
}

const LINK = 'is a link, and links are not followed here'

/** Flags for opening a file: a pipe would wait for a writer, and a link may lead anywhere. */
function flags(followLinks: boolean): number {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants
  return O_RDONLY | O_NONBLOCK | (followLinks ? 0 : O_NOFOLLOW)
}

/**
 * Refuses everything except files of the folder itself.
 * @throws Refusal with a sentence
 */
export async function checkFile(path: string, followLinks: boolean): Promise<void> {
  try {
    const facts = await (followLinks ? stat : lstat)(path)
    if (facts.isSymbolicLink()) throw new Refusal(LINK)
    if (!facts.isFile()) throw new Refusal('is not a file')
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(`cannot be read: ${reasonOf(error)}`)
  }
}

/**
 * Returns the bytes of a file, at most `maxBytes`.
 * @throws Refusal with a sentence
 */
export async function bytesOf(path: string, maxBytes: number, followLinks: boolean): Promise<Buffer> {
  await checkFile(path, followLinks)
  try {
    const file = await open(path, flags(followLinks))
    try {
      if (!(await file.stat()).isFile()) throw new Refusal('is not a file')
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(maxBytes + 1), 0, maxBytes + 1, 0)
      if (bytesRead > maxBytes) throw new Refusal(`has more than ${maxBytes} bytes`)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(codeOf(error) === 'ELOOP' && !followLinks ? LINK : `cannot be read: ${reasonOf(error)}`)
  }
}

/** A sentence that says why a file is left out. */
export class Refusal extends Error {}

/** The stable code of an error, if it has one that can be read. */
export function codeOf(error: unknown): string | undefined {
  try {
    return (error as NodeJS.ErrnoException | null)?.code
  } catch {
    return undefined
  }
}

/** Returns only the reason of a system error: the path is reported separately. */
function reasonOf(error: unknown): string {
  return messageOf(error).split(',')[0]!
}
