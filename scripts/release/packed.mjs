// The package as users have it: exactly the files that a release publishes, put into a folder's `node_modules`.

import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../build/run.mjs'
import { mainFiles } from './pack.mjs'

/** Puts the built package into `node_modules` of a folder. */
export function installPacked(folder) {
  // Published packages get the binary from one of its own for each platform; here it lies where the loader looks first.
  const binaries = readdirSync(ROOT).filter((name) => name.endsWith('.node'))
  if (binaries.length === 0) throw new Error('Nothing is built: run npm run build')
  const installed = join(folder, 'node_modules', 'spillway')
  for (const path of new Set([...mainFiles(), ...binaries])) cpSync(join(ROOT, path), join(installed, path))
}
