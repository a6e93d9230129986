/** Text from a file or from standard input. */

import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { UsageError } from './command'

/** @throws UsageError where standard input is a terminal and nobody knows that it is waited for */
export async function inputOf(path: string, what: string): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8')
  if (process.stdin.isTTY === true) throw new UsageError(`standard input is a terminal; give ${what}, or pipe it in`)
  return text(process.stdin)
}
