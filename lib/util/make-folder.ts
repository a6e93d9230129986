/** Makes folders. */

import { existsSync, mkdirSync, promises, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Only this user can read it. */
const PRIVATE = 0o700

/**
 * Makes a folder with those above it. Node's own `recursive` never ends where a folder cannot be made although the one above it is there,
 * such as in `/proc`.
 * @throws the error of the system
 */
export function makeFolder(path: string, mode = PRIVATE): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    if (!lacksParent(path, error)) throw error
    makeFolder(dirname(path), mode)
    makeFolder(path, mode)
  }
}

/** The same without blocking. */
export async function makeFolderLater(path: string, mode = PRIVATE): Promise<void> {
  try {
    await promises.mkdir(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    if (!lacksParent(path, error)) throw error
    await makeFolderLater(dirname(path), mode)
    await makeFolderLater(path, mode)
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const lacksParent = (path: string, error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(dirname(path))
