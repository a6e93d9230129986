// Nothing of a run outlives it: its temporary folder and the processes that it started end with it, also at Ctrl-C.

import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const isWindows = process.platform === 'win32'
const children = new Set()
const folders = new Set()
let isWatched = false

function watch() {
  if (isWatched) return
  isWatched = true
  // A signal ends a process without the event `exit`, unless it is handled.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(name, () => process.exit(128 + constants.signals[name]))
  }
  process.once('exit', () => {
    for (const child of children) endGroup(child)
    // Processes that were ended may still be closing their files.
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
}

/** Makes a temporary folder for this process and all that it starts. It is removed when this process ends. */
export function useOwnTemporaryFolder(name) {
  watch()
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `spillway-${name}-`))
  folders.add(folder)
  // Other users' processes save there as well.
  chmodSync(folder, 0o755)
  for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = folder
  return folder
}

/** Lets a child process end with this one. */
export function endWithThis(child) {
  watch()
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** Starts a process in a group of its own, which ends with this process. */
export const spawnGroup = (command, args, options) =>
  endWithThis(spawn(command, args, { ...options, detached: !isWindows }))

/** Ends a process with everything that it started. */
export function endGroup(child) {
  try {
    if (isWindows) child.kill()
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has no group of its own, or has just ended.
    child.kill('SIGKILL')
  }
}
