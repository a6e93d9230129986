/** Text from a file or from standard input. */

import { promises } from 'node:fs'
import { UsageError } from './command'

/** @throws UsageError if standard input is a terminal, because the user would not know that the command waits */
export async function inputOf(path: string, what: string): Promise<string> {
  // Looked up here: Node loads it then, and a run that reads no file starts a millisecond earlier.
  if (path !== '-') return promises.readFile(path, 'utf8')
  if (process.stdin.isTTY === true)
    throw new UsageError(`standard input is a terminal; give ${what} as an argument, or pipe it in`)
  const { text } = await import('node:stream/consumers')
  return text(process.stdin)
}
