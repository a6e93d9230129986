/** `spillway last`: shows the newest saved output, its command and its end. */

import type { Command, Parsed } from '../command'
import { openOutputs } from '../output-storage'
import { outputOf } from '../outputs'
import { text, whole } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, print, printJson } from '../terminal'
import { outputFacts } from './show'
import { lastLines } from './tail'

const LINES = 10

const command: Command = {
  name: 'last',
  summary: 'Shows the newest saved output: its command, exit code, and the end of its text.',
  usage: '[options]',
  about: 'An output that was printed in full is not saved, and its command is not shown.',
  options: {
    lines: { type: 'string', short: 'n', value: 'N', help: `Lines of the output. Default: ${LINES}.` },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, 0],
  examples: [
    ['spillway last', 'the newest output'],
    ['spillway last --json | jq .exitCode', 'the exit code of its command'],
  ],
  run,
}

export default command

async function run({ values, json }: Parsed): Promise<number> {
  const storage = await openOutputs(values)
  const sessionId = text(values, 'session')
  const output = await outputOf(storage, '-1', sessionId)
  const access = sessionId === undefined ? {} : { sessionId }
  const end = await lastLines(storage, output.path, access, whole(values, 'lines') ?? LINES)
  if (json) {
    await printJson({ ...output, end: end.text })
    return EXIT.ok
  }
  for (const line of outputFacts(output)) await print(line)
  await print(`\n${end.text}`)
  return EXIT.ok
}
