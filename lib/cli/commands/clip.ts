/** `spillway clip`: the same for what comes through a pipe, or is in a file. */

import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { CONFIG, configOf, LIMITS, limitsOf, STORE, serviceOf, shownOf, WORDING } from '../bounding'
import { type Command, type Parsed, UsageError } from '../command'
import { EXIT, Progress, print, printJson } from '../terminal'
import { sizeOf, text } from '../values'

const command: Command = {
  name: 'clip',
  summary: 'Prints a bounded part of what it reads, and keeps the whole in a file.',
  usage: '[options] [file]',
  about: `Reads standard input, or the file. What is within the limits (2,000 lines and 50 KiB) is printed as it is.
Ctrl-C ends the reading; what came until then is shown and kept.`,
  options: {
    ...LIMITS,
    failed: { type: 'boolean', help: 'It is the output of something that failed: the end is shown.' },
    tool: { type: 'string', value: 'NAME', help: 'The tool whose settings hold. Default: clip.' },
    session: { type: 'string', value: 'ID', help: 'Keep the output with those of this session.' },
    ...STORE,
    ...CONFIG,
    ...WORDING,
  },
  positionals: [0, 1],
  exits: [
    ['0', 'done'],
    ['2', 'wrong usage'],
    ['3', 'it could not be done'],
    ['130', 'Ctrl-C'],
  ],
  examples: [
    ['kubectl logs app | spillway clip --direction tail', 'the end of a log'],
    ['spillway clip --strategy smart build.log', 'errors and their context'],
    ['curl -s "$url" | spillway clip --max-tokens 2000', 'no more than a model should read'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [path] = positionals
  const isPipe = path === undefined || path === '-'
  if (isPipe && process.stdin.isTTY === true) {
    throw new UsageError('standard input is a terminal; give a file, or pipe something in: make | spillway clip')
  }
  const service = serviceOf(values, configOf(values))
  const capture = service.capture(
    {
      toolName: text(values, 'tool') ?? 'clip',
      sessionId: text(values, 'session'),
      options: limitsOf(values),
      ...(values.failed === true && { failed: true }),
    },
    { onAbort: 'keep' },
  )
  const source = isPipe ? process.stdin : createReadStream(path, { highWaterMark: 2 ** 18 })
  const progress = new Progress()
  const timer = setInterval(() => {
    progress.show(`» ${sizeOf(source.bytesRead)}`)
  }, 250)
  let wasInterrupted = false
  const interrupt = () => {
    wasInterrupted = true
    capture.destroy()
    source.destroy()
  }
  process.once('SIGINT', interrupt)
  try {
    await pipeline(source, capture).catch((error: unknown) => {
      if (!wasInterrupted) throw error
    })
    const result = await capture.result
    progress.clear()
    if (json) await printJson(result)
    else await print(shownOf(result))
    await service.close()
    return wasInterrupted ? EXIT.interrupted : EXIT.ok
  } finally {
    clearInterval(timer)
    progress.clear()
    process.off('SIGINT', interrupt)
  }
}
