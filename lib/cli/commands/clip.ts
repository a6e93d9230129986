/** `spillway clip`: prints a preview of a pipe or a file. */

import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { TruncationResult } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import type { Capture } from 'spillway/truncation'
import { recordPreview } from '../../storage/printed-previews'
import { exitCodeOf } from '../../util/exit-code'
import { sizeText } from '../../util/format'
import { type Command, type Parsed, UsageError } from '../command'
import { keptPreview } from '../nested-preview'
import { savingIn, withBucket } from '../output-storage'
import { storeFolderOf } from '../outputs'
import { text } from '../parse-values'
import { LIMITS, READERS, serviceOf, shownOf, truncationOptions, WORDING, withReaders } from '../shared-options'
import { SPOOL, STORE_OR_BUCKET } from '../store-options'
import { EXIT, Progress, print, printJson } from '../terminal'

const command: Command = {
  name: 'clip',
  summary: 'Prints a preview of its input, and saves the full input in a file.',
  usage: '[options] [file]',
  about: `Reads standard input, or the file. Input within the limits (2,000 lines and 50 KiB) is printed unchanged.
Ctrl-C, SIGTERM and SIGHUP end the input; the part read so far is shown and saved.`,
  options: {
    ...LIMITS,
    failed: { type: 'boolean', help: 'Treat the input as the output of a failed command: keep the end.' },
    tool: { type: 'string', value: 'NAME', help: 'The tool whose settings apply. Default: clip.' },
    session: { type: 'string', value: 'ID', help: 'Save the output in the folder of this session.' },
    ...STORE_OR_BUCKET,
    ...SPOOL,
    ...WORDING,
  },
  positionals: [0, 1],
  exits: [
    ['0', 'done'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
    ['130', 'Ctrl-C'],
    ['129, 143', 'SIGHUP, SIGTERM'],
  ],
  examples: [
    ['kubectl logs app | spillway clip --direction tail', 'the end of a log'],
    ['spillway clip --strategy smart build.log', 'errors and their context'],
    ['curl -s "$url" | spillway clip --max-tokens 2000', 'a limit in tokens'],
  ],
  run,
}

export default command

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Number of bytes buffered before the first check of the limit; doubled each time. */
const FIRST_LOOK = 2 ** 18

/** The bytes as they came, as long as they are within the limits: the text of a result is decoded. */
class Raw {
  private pieces: Buffer[] | undefined = []
  private held = 0
  private nextLook = FIRST_LOOK

  constructor(private readonly capture: Capture) {}

  /** Passes the pieces on. */
  async *through(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      this.pieces?.push(piece)
      this.held += piece.length
      yield piece
      if (this.pieces !== undefined && this.held >= this.nextLook) {
        this.nextLook = 2 * this.held
        if ((await this.capture.peek()).truncated) this.pieces = undefined
      }
    }
  }

  /** Returns the text to print. */
  shown(result: TruncationResult): string | Uint8Array {
    const isChanged = result.truncated || result.raw !== undefined
    return isChanged || this.pieces === undefined ? shownOf(result) : Buffer.concat(this.pieces)
  }
}

async function run(parsed: Parsed): Promise<number> {
  const [path] = parsed.positionals
  const isPipe = path === undefined || path === '-'
  if (isPipe && process.stdin.isTTY === true) {
    throw new UsageError('standard input is a terminal; give a file, or pipe something in: make | spillway clip')
  }
  return withBucket(parsed.values, (bucket) => clipSavingIn(bucket, isPipe ? undefined : path, parsed))
}

/** @param path the file, without one standard input */
async function clipSavingIn(
  bucket: RemoteStorage | undefined,
  path: string | undefined,
  { values, json }: Parsed,
): Promise<number> {
  const service = serviceOf(values, { availableTools: READERS, ...savingIn(bucket) })
  const capture = service.capture(
    {
      toolName: text(values, 'tool') ?? 'clip',
      sessionId: text(values, 'session'),
      options: truncationOptions(values),
      ...(values.failed === true && { failed: true }),
    },
    { onAbort: 'keep' },
  )
  const source = path === undefined ? process.stdin : createReadStream(path, { highWaterMark: 2 ** 18 })
  const progress = new Progress()
  const timer = setInterval(() => {
    progress.show(`» ${sizeText(source.bytesRead)}`)
  }, 250)
  const raw = new Raw(capture)
  let ended: NodeJS.Signals | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    ended = signal
    capture.destroy()
    source.destroy()
  }
  for (const signal of ENDING) process.once(signal, interrupt)
  try {
    await pipeline(source, (pieces: AsyncIterable<Buffer>) => raw.through(pieces), capture).catch((error: unknown) => {
      if (ended === undefined) throw error
    })
    const result = await capture.result
    progress.clear()
    const named = withReaders(await keptPreview(result, values, bucket))
    if (named.truncated && named.outputPath !== '') {
      const { outputPath } = named
      recordPreview(storeFolderOf(values, outputPath), outputPath, shownOf(named))
    }
    if (json) await printJson(named)
    else await print(raw.shown(named))
    await service.close()
    return ended === undefined ? EXIT.ok : exitCodeOf(undefined, ended)
  } finally {
    clearInterval(timer)
    progress.clear()
    for (const signal of ENDING) process.off(signal, interrupt)
  }
}
