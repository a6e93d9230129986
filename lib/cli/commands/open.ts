/** `spillway open`: opens a saved output in another program. */

import { spawnSync } from 'node:child_process'
import { SpillwayError } from 'spillway'
import { exitCodeOf } from '../../util/exit-code'
import { type Command, type Parsed, UsageError } from '../command'
import { isLocal } from '../output-storage'
import { askedOutput } from '../outputs'
import { text } from '../parse-values'
import { STORE } from '../store-options'
import { EXIT, printJson } from '../terminal'

const command: Command = {
  name: 'open',
  summary: 'Opens a saved output in the pager or in another program.',
  usage: '[options] [output]',
  about: `An output is a path, or -1 for the newest, -2 for the one before. Default: -1. The program is --with, else $PAGER, else less -R.
The shell starts it with the path as the last argument.`,
  options: {
    with: { type: 'string', value: 'COMMAND', help: "The program, such as 'code --wait'." },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE,
  },
  positionals: [0, 1],
  takesOutputs: true,
  exits: [
    ['N', 'the exit code of the program; 128 plus the number of the signal that ended it'],
    ['2', 'wrong usage'],
    ['3', 'it could not be opened'],
  ],
  examples: [
    ['spillway open', 'the newest in the pager'],
    ["spillway open --with 'vim -R' -2", 'the one before in an editor'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const { storage, path, access } = await askedOutput(values, positionals[0])
  if (!isLocal(storage)) throw new UsageError(`${path}: is in a bucket; use spillway read --all '${path}' | less`)
  await storage.readRange(path, { fromByte: 0, byteCount: 1 }, access)
  const program = text(values, 'with') ?? (process.env.PAGER || 'less -R')
  if (json) {
    await printJson({ path, program })
    return EXIT.ok
  }
  const { status, signal, error } =
    process.platform === 'win32'
      ? spawnSync(`${program} "${path}"`, { stdio: 'inherit', shell: true })
      : spawnSync('/bin/sh', ['-c', `${program} "$1"`, 'sh', path], { stdio: 'inherit' })
  if (error) throw new SpillwayError('COMMAND', `${program} cannot be started: ${error.message}`, { cause: error })
  return exitCodeOf(status, signal)
}
