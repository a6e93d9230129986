/** `spillway tail`: the end of a saved output. */

import type { Command, Parsed } from '../command'
import { askedOutput } from '../outputs'
import { whole } from '../parse-values'
import { STORE } from '../shared-options'
import { EXIT, print, printJson } from '../terminal'

const LINES = 40
const BYTES = 32 * 1024

const command: Command = {
  name: 'tail',
  summary: 'Prints the last lines of a saved output.',
  usage: '[options] [output]',
  about: `An output is a path, or -1 for the newest, -2 for the one before. Default: -1. At most ${BYTES / 1024} KiB are printed.`,
  options: {
    lines: { type: 'string', short: 'n', value: 'N', help: `How many lines. Default: ${LINES}.` },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE,
  },
  positionals: [0, 1],
  takesOutputs: true,
  examples: [
    ['spillway tail', 'how the newest output ends'],
    ['spillway tail -n 200 -2', 'more of the one before'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const { storage, path, access } = await askedOutput(values, positionals[0])
  const { totalBytes } = await storage.readRange(path, { fromByte: 0, byteCount: 1 }, access)
  const fromByte = Math.max(0, totalBytes - BYTES)
  const { text: end, partial } = await storage.readRange(path, { fromByte, byteCount: BYTES }, access)
  const lines = end.split('\n')
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length
  // The first may be the end of a line: it is left out if there is another.
  const skipped = fromByte > 0 && partial && last > 1 ? 1 : 0
  const first = Math.max(skipped, last - (whole(values, 'lines') ?? LINES))
  const shown = lines.slice(first).join('\n')
  if (json) await printJson({ path, text: shown, lines: last - first, totalBytes })
  else await print(shown)
  return EXIT.ok
}
