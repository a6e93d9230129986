/** The logs in folders: agents keep one per session, in folders by project or day. */

import { promises } from 'node:fs'
import { join } from 'node:path'

const NAMED_AS_LOG = /\.jsonl?(\.gz)?$/

/** The files that are named; of a folder those in it, however deep, that are named as logs are, in their order. */
export async function logFilesOf(path: string): Promise<string[]> {
  const found = await promises.stat(path)
  if (!found.isDirectory()) return [path]
  const entries = await promises.readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && NAMED_AS_LOG.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
