/** Recognises this package in the settings of an agent, wherever it is or was installed. */

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the package. */
export const PACKAGE = join(__dirname, '..', '..')
export const MAIN = join(PACKAGE, 'dist', 'cli', 'main.js')

/** Returns the words that start this command, by paths that hold in any folder. */
export const program = (): string[] => [process.execPath, MAIN]

/** True for a folder with a package of this name. */
export function isOwnPackage(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === 'spillway'
  } catch {
    return false
  }
}

/** True for the path of a program that is this command. A path that does not exist is judged by its names alone. */
function isOwnProgram(word = ''): boolean {
  const isMain = /[\\/]dist[\\/]cli[\\/]main\.js$/.test(word)
  const isCommand = /(^|[\\/])spillway(\.cmd)?$/.test(word)
  if (!isMain && !isCommand) return false
  if (!existsSync(word)) return true
  // A command is a link to the main file, or on Windows a script that starts it.
  const file = realpathSync(word)
  return /\.cmd$/.test(file) || isOwnPackage(dirname(dirname(dirname(file))))
}

/** True for a plugin that is this package, by its name or its folder. */
export function isOwnPlugin(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (value === 'spillway' || value === PACKAGE) return true
  return existsSync(value) ? isOwnPackage(value) : /[\\/]node_modules[\\/]spillway$/.test(value)
}

/** True for words that run a subcommand of this package: the command itself, or a runtime before it. */
export function runsOwn(words: readonly string[], subcommand: string): boolean {
  const at = words.indexOf(subcommand)
  const isStarted = at === 1 || (at === 2 && /(^|[\\/])(node|bun|deno)[\w.-]*$/i.test(words[0] ?? ''))
  return isStarted && isOwnProgram(words[at - 1])
}

const WORD = /'(?:[^']|'\\'')*'|"[^"]*"|\S+/g

/** The words of a command line that `init` wrote, or a user like it. */
export function wordsOfLine(line: string): string[] {
  const words = line.match(WORD) ?? []
  return words.map((word) => (/^['"]/.test(word) ? word.slice(1, -1).replaceAll("'\\''", "'") : word))
}
