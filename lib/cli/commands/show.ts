/** `spillway show`: shows the command and the facts of a saved output. */

import { countText, sizeText } from '../../util/format'
import type { Command, Parsed } from '../command'
import { openOutputs } from '../output-storage'
import { outputOf, type RecordedOutput } from '../outputs'
import { text } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, print, printable, printJson } from '../terminal'

const command: Command = {
  name: 'show',
  summary: 'Shows the command of a saved output, its folder, its time and its exit code.',
  usage: '[options] [output]',
  about: 'An output is a path, or -1 for the newest, -2 for the one before. Default: -1.',
  options: {
    path: { type: 'boolean', help: 'Print the path only.' },
    session: { type: 'string', value: 'ID', help: 'Only outputs of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, 1],
  takesOutputs: true,
  examples: [
    ['spillway show', 'the newest'],
    ['less "$(spillway show --path -2)"', 'the one before, in a pager'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const storage = await openOutputs(values, positionals[0])
  const [given = '-1'] = positionals
  const output = await outputOf(storage, given, text(values, 'session'))
  // It reports the error of a path that is not an output.
  await storage.readRange(output.path, { fromByte: 0, byteCount: 1 })
  if (json) {
    await printJson(output)
    return EXIT.ok
  }
  if (values.path === true) {
    await print(`${output.path}\n`)
    return EXIT.ok
  }
  for (const line of outputFacts(output)) await print(line)
  return EXIT.ok
}

/** Returns the facts about an output, as lines. */
export function outputFacts(output: RecordedOutput): string[] {
  const { path, toolName, savedAt, bytes, partial, command, cwd, exitCode, durationMs, lines } = output
  const size = `${sizeText(bytes)}${lines === undefined ? '' : `, ${countText(lines, 'line')}`}`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['path', path],
    ['command', command],
    ['folder', cwd],
    ['exit code', exitCode === undefined ? undefined : String(exitCode)],
    ['tool', command === undefined ? toolName : undefined],
    ['saved', new Date(savedAt).toISOString()],
    ['took', durationMs === undefined ? undefined : `${(durationMs / 1000).toFixed(1)} s`],
    ['size', partial === true ? `${size}, the first and the last part of it` : size],
  ]
  return facts.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name.padEnd(10)}${printable(value)}\n`],
  )
}
