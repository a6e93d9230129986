/** Loads optional peer packages. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { SpillwayError } from '../errors'
import { messageOf } from '../util/message-of'

/**
 * Returns the module of an optional package. A package that is linked (`npm link`, `npm install /path/to/the/clone`) lies outside the
 * application, whose packages Node does not find from there: they are looked for from the application as well.
 *
 * @param load calls `require` with the name, so that bundlers see it
 * @param user the function that needs it
 * @param name the package, or a module of it
 * @throws SpillwayError `INVALID_CONFIG` that says how to install it
 */
export function loadPeer<T>(load: () => T, user: string, name: string): T {
  try {
    return load()
  } catch (cause) {
    const [first = ''] = messageOf(cause).split('\n')
    const isMissing = (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND' && first.includes(`'${name}'`)
    const path = isMissing ? pathFromApplication(name) : undefined
    if (path !== undefined) return require(path)
    const [, owner = name] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? []
    const remedy = isMissing ? `it is not installed beside Spillway: npm install ${owner}` : first
    throw new SpillwayError('INVALID_CONFIG', `${user} needs the package ${owner}: ${remedy}`, { cause })
  }
}

/** The module as the program that runs finds it, or one in the current folder. */
function pathFromApplication(name: string): string | undefined {
  const [, program] = process.argv
  for (const file of [...(program === undefined ? [] : [program]), join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(file).resolve(name)
    } catch {
      // The next one may have it.
    }
  }
  return undefined
}
