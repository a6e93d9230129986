/** `spillway browse`: the list of saved outputs and a viewer, in the terminal. */

import { createSharedApprovals } from 'spillway/view'
import { Screen } from '../browse/screen'
import type { View } from '../browse/view'
import { ListView } from '../browse/views'
import { type Command, type Parsed, UsageError } from '../command'
import { approvalsFolder, recordedOutputs } from '../outputs'
import { text } from '../parse-values'
import { openStorage } from '../shared-options'
import { STORE } from '../store-options'
import { EXIT } from '../terminal'

const command: Command = {
  name: 'browse',
  summary: 'Shows saved outputs and waiting questions in the terminal: a list, and a viewer with a search.',
  usage: '[options]',
  about: `Arrows move, Enter opens, / searches, q goes back and quits. If questions wait (spillway mcp --ask-in-view), a shows the
oldest one; press Enter and then a key to answer it. Needs a terminal; without one, use spillway ls and read.`,
  options: {
    session: { type: 'string', value: 'ID', help: 'Only outputs of this session.' },
    ...STORE,
  },
  positionals: [0, 0],
  speaks: true,
  exits: [
    ['0', 'done'],
    ['2', 'wrong usage, or no terminal'],
    ['3', 'the operation failed'],
  ],
  examples: [['spillway browse', 'all outputs, the newest first']],
  run,
}

export default command

async function run({ values, json }: Parsed): Promise<number> {
  if (json) throw new UsageError('--json: browse needs a terminal; spillway ls --json lists the outputs')
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError('browse needs a terminal; spillway ls and spillway read print the same')
  }
  const storage = openStorage(values)
  const outputs = await recordedOutputs(storage, text(values, 'session'))
  const approvals = createSharedApprovals({ dir: approvalsFolder(storage) })
  await show(new ListView(storage, outputs, process.stdout.hasColors(), approvals))
  return EXIT.ok
}

/** Milliseconds between two looks at what waits. */
const LOOK_MS = 1000

/** Shows views until the first one is left. Rejects where one fails, with the terminal given back. */
async function show(first: View): Promise<void> {
  const screen = new Screen()
  const views = [first]
  let looking: ReturnType<typeof setInterval> | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      let last = Promise.resolve()
      const draw = async () => screen.draw(await views.at(-1)!.draw(screen.columns, screen.rows))
      // One key after the other, however fast they are typed.
      const then = (work: () => Promise<void>) => {
        last = last.then(work).then(draw)
        last.catch(reject)
      }
      const press = async (key: string, seen: string | undefined) => {
        const answer = key === 'ctrl-c' ? 'quit' : await views.at(-1)!.press(key, screen.rows, seen)
        if (answer === 'quit' || (answer === 'back' && views.length === 1)) return resolve()
        if (answer === 'back') views.pop()
        else if (answer) views.push(answer)
      }
      screen.open(
        (key) => {
          const { subject } = views.at(-1)!
          then(() => press(key, subject))
        },
        () => then(async () => {}),
      )
      then(async () => {})
      // Questions come and go without a key.
      looking = setInterval(() => then(async () => {}), LOOK_MS)
    })
  } finally {
    clearInterval(looking)
    screen.close()
  }
}
