/** The messages of one side, processed one after the other. */

import { Readable } from 'node:stream'
import { stringifyLossless } from '../../util/lossless-json'
import { warn } from '../../util/warn'
import { asMessage, type Line, linesOf, partsOf, spliced } from './json-rpc-stream'
import type { MessageWriter } from './message-writer'
import type { Message } from './types'

/** Elements of a batch that are looked at. */
const MAX_IN_BATCH = 10_000

export type OnLine = (line: Line) => Promise<void> | undefined

export interface StreamOptions {
  /** Where long messages may be kept on their way. */
  folders: readonly string[]
  /** A text that no message contains. */
  mark: string
  /** Drops members that mean nothing from a message that has too many. @default false */
  dropsMembers?: boolean
}

/** Calls `onLine` for each line of a stream, and for each message of a batch; waits where it answers a promise. */
export async function forEachLine(
  source: AsyncIterable<Buffer | string>,
  options: StreamOptions,
  onLine: OnLine,
  isBatch = false,
): Promise<void> {
  const { folders, mark, dropsMembers = false } = options
  for await (const line of linesOf(source, { folders, mark, dropsMembers })) {
    const { value } = line
    const isMany = Array.isArray(value) && value.length > 0
    if (isMany && isBatch) {
      drop(line)
      continue
    }
    const done = isMany ? forEachOfBatch(line, value as unknown[], options, onLine) : onLine(line)
    if (done) await done
  }
}

/**
 * A batch (protocol of March 2025): several messages in one. They are passed on one by one. A batch in a batch is not a message,
 * and neither are elements beyond the number that any host sends.
 */
async function forEachOfBatch(
  line: Line,
  elements: readonly unknown[],
  { folders, mark }: StreamOptions,
  onLine: OnLine,
): Promise<void> {
  const isOne = (element: unknown) => asMessage(element) !== undefined || line.skim?.rangeOf(element) !== undefined
  const messages = elements.filter(isOne)
  if (messages.length > MAX_IN_BATCH) warnOfProxy(`${messages.length - MAX_IN_BATCH} messages of a batch were dropped`)
  if (messages.length < elements.length)
    warnOfProxy(`${elements.length - messages.length} parts of a batch are no messages`)
  try {
    const parts = Readable.from(partsOf(messages.slice(0, MAX_IN_BATCH), line))
    await forEachLine(parts, { folders, mark }, onLine, true)
  } finally {
    drop(line)
  }
}

/** Hands a message on as it came. */
export function pass(line: Line, to: MessageWriter): Promise<void> | undefined {
  if (line.bytes) return to.write(line.bytes)
  const { spool } = line
  return to.writePieces(spool.read()).finally(() => spool.close())
}

/** Hands a changed message on, with what its stand-ins stand for. */
export async function send(line: Line, message: Message, to: MessageWriter): Promise<void> {
  if (line.spool === undefined) {
    await to.write(`${stringifyLossless(message)}\n`)
    return
  }
  const { spool } = line
  await to.writePieces(withLineFeed(spliced(message, line))).finally(() => spool.close())
}

export function drop(line: Line): undefined {
  line.spool?.close()
}

export function warnOfProxy(error: unknown): void {
  warn('mcp', error)
}

function* withLineFeed(pieces: Iterable<Buffer>): Generator<Buffer> {
  yield* pieces
  yield Buffer.from('\n')
}
