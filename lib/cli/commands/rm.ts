/** `spillway rm`: removes saved outputs. */

import { countText } from '../../util/format'
import { type Command, type Parsed, UsageError } from '../command'
import { openOutputs } from '../output-storage'
import { forgetRemoved, outputPath } from '../outputs'
import { text } from '../parse-values'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, print, printJson } from '../terminal'

const command: Command = {
  name: 'rm',
  summary: 'Removes saved outputs.',
  usage: '[options] <output>... | --session ID',
  about:
    'An output is a path, or -1 for the newest, -2 for the one before. Only files that the store saved are removed.',
  options: {
    session: {
      type: 'string',
      value: 'ID',
      help: 'Remove all outputs of this session; with outputs given, -1 and -2 count only those of this session.',
    },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  takesOutputs: true,
  exits: [
    ['0', 'done'],
    ['1', 'an output does not exist'],
    ['2', 'wrong usage'],
    ['3', 'an output could not be removed'],
  ],
  examples: [
    ['spillway rm -1', 'the newest'],
    ['spillway rm --session "$id"', 'all of a session'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const storage = await openOutputs(values, positionals[0])
  const session = text(values, 'session')
  if (positionals.length === 0 && session === undefined) {
    throw new UsageError('missing argument <output>; usage: spillway rm [options] <output>... | --session ID')
  }
  let [removed, missing] = [0, 0]
  if (positionals.length === 0) {
    removed = await storage.deleteSession(session!)
  } else {
    // All are found before one is removed: the count from the newest would change.
    const paths = await Promise.all(positionals.map((given) => outputPath(storage, given, session)))
    for (const path of new Set(paths)) {
      if (await storage.remove(path)) removed += 1
      else missing += 1
    }
  }
  await forgetRemoved(storage)
  if (json) await printJson({ removed, missing })
  else await print(`removed ${countText(removed, 'output')}${missing > 0 ? `; ${missing} not there` : ''}\n`)
  return missing > 0 ? EXIT.no : EXIT.ok
}
