/** `spillway tail`: prints the end of a saved output. */

import type { OutputAccess } from 'spillway'
import { type Command, type Parsed, UsageError } from '../command'
import { followNewest } from '../live-socket'
import type { OutputStorage } from '../output-storage'
import { askedOutput, dirsOf } from '../outputs'
import { whole } from '../parse-values'
import { openStorage } from '../shared-options'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printJson } from '../terminal'

const LINES = 40
const BYTES = 32 * 1024

const command: Command = {
  name: 'tail',
  summary: 'Prints the last lines of a saved output.',
  usage: '[options] [output]',
  about: `An output is a path, or -1 for the newest, -2 for the one before. Default: -1. At most ${BYTES / 1024} KiB are printed.
With --follow, follows the command that spillway run started last, from its last ${BYTES / 1024} KiB until it ends.`,
  options: {
    lines: { type: 'string', short: 'n', value: 'N', help: `Number of lines. Default: ${LINES}.` },
    follow: { type: 'boolean', short: 'f', help: 'Print the output of a running command as it arrives.' },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, 1],
  takesOutputs: true,
  exits: [
    ['0', 'done'],
    ['1', 'with --follow: no command is running'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway tail', 'how the newest output ends'],
    ['spillway tail -f', 'the output of a command in another terminal'],
    ['spillway tail -n 200 -2', 'more lines of the one before it'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  if (values.follow === true) return follow(values, positionals, json)
  const { storage, path, access } = await askedOutput(values, positionals[0])
  const { text, lines, totalBytes } = await lastLines(storage, path, access, whole(values, 'lines') ?? LINES)
  if (json) await printJson({ path, text, lines, totalBytes })
  else await print(text)
  return EXIT.ok
}

async function follow(values: Parsed['values'], positionals: readonly string[], json: boolean): Promise<number> {
  if (json) throw new UsageError('--follow and --json cannot be combined')
  if (positionals.length > 0) throw new UsageError('--follow takes no output: it follows the newest running command')
  if (await followNewest(await dirsOf(openStorage(values)), print)) return EXIT.ok
  note('spillway: no command is running; without --follow, tail prints the end of the newest output')
  return EXIT.no
}

/** The last lines of an output. */
export async function lastLines(storage: OutputStorage, path: string, access: OutputAccess, maxLines: number) {
  const { totalBytes } = await storage.readRange(path, { fromByte: 0, byteCount: 1 }, access)
  const fromByte = Math.max(0, totalBytes - BYTES)
  const { text: end, partial } = await storage.readRange(path, { fromByte, byteCount: BYTES }, access)
  const lines = end.split('\n')
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length
  // The first may be the end of a line: it is left out if there is another.
  const skipped = fromByte > 0 && partial && last > 1 ? 1 : 0
  const first = Math.max(skipped, last - maxLines)
  return { text: lines.slice(first).join('\n'), lines: last - first, totalBytes }
}
