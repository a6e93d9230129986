/** Private folders for outputs on their way to a storage of the caller's. */

import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { Settings } from '../settings/settings'
import { openPlace, type Place } from '../storage/file-storage'
import { makeFolder } from '../util/make-folder'

let passage: Place | undefined

/**
 * Private folders, beside the default ones, for outputs on their way to a storage of the caller's. They are never read from, so
 * files of a process that ended are removed after a day.
 */
export function passagePlace(): Place {
  passage ??= openPlace(
    new Settings({
      storageDirs: openPlace(new Settings({}))
        .dirs.toReversed()
        .map((dir) => join(dirname(dir), 'passage')),
      global: { retentionDays: 1 },
    }),
  )
  return passage
}

let canPass = false

/** The passage, if a file can be put there. */
export function openPassage(): Place | undefined {
  const place = passagePlace()
  canPass ||= place.dirs.some(isWritable)
  return canPass ? place : undefined
}

function isWritable(dir: string): boolean {
  try {
    makeFolder(dir)
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}
