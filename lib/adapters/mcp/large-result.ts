/** A tool's result that is too long for memory: its texts are copied from file to file, and a preview is sent to the host. */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { TruncationContext, TruncationService } from 'spillway'
import { stringifyLossless } from '../../util/lossless-json'
import { isRecord } from '../../validation/validate'
import { isBase64, itemsOf, type Look, Several } from './items'
import { spliced } from './json-rpc-stream'
import type { Skimmer } from './json-skeleton'
import { Unescaper } from './json-string-decoder'
import type { TempFile } from './temp-file'
import { membersOf, metaOf, type StructuredContent, textBlock, withText } from './truncate-result'
import type { McpContentBlock } from './types'

/** A message that was skimmed. */
export interface Skimmed {
  spool: TempFile
  skim: Skimmer
}

/** How a result that was skimmed is bounded. */
export interface SkimmedBounds {
  service: TruncationService
  structured: StructuredContent
  restBytes: number
  /** The options of the call, by the bytes that go out beside the text. */
  optionsFor(context: TruncationContext, besides: number): TruncationContext
  /** The text that is added to a truncated text. */
  finish(text: string, facts: { truncated: boolean; hint?: string; outputPath?: string }): string
}

/** Values of a message that was skimmed, measured with what their stand-ins stand for. */
export function lookAt({ spool, skim }: Skimmed): Look {
  const sizeOf = (value: unknown) => {
    const json = stringifyLossless(value) ?? ''
    let size = Buffer.byteLength(json)
    for (const { length, range } of skim.standIns(json)) size += range.to - range.from - length
    return size
  }
  const isLongBase64 = (from: number, to: number) => {
    for (const piece of spool.read(from, to)) if (!isBase64(piece.toString('latin1').replace(/=+$/, ''))) return false
    return true
  }
  return {
    sizeOf,
    isBase64: (value) => {
      const range = skim.rangeOf(value)
      return range ? isLongBase64(range.from, range.to) : isBase64(value)
    },
  }
}

/**
 * Returns the result, bounded, with stand-ins for what stays and is long; nothing if it stays as it is. All texts become one, where
 * the first of them was.
 */
export async function boundSkimmed(
  result: unknown,
  line: Skimmed,
  bounds: SkimmedBounds,
  context: TruncationContext,
): Promise<Record<string, unknown> | undefined> {
  const { service, structured, restBytes } = bounds
  const look = lookAt(line)
  const given = isRecord(result) ? result : {}
  const content = Array.isArray(given.content) ? given.content : undefined
  const { items, besides, isStripped } = itemsOf(content ?? [], look, restBytes)
  const { rest, meta, long } = membersOf(given, look, restBytes)
  const failed = given.isError === true
  const texts: unknown[] = items.flatMap((item) => ('text' in item ? [item.text] : []))
  if (content === undefined) texts.push(given.content ?? result)
  else texts.push(...long)
  const { structuredContent } = given
  const isBeside = structured === 'drop' && content !== undefined && structuredContent !== undefined
  if (isBeside && !isSaidBy(structuredContent, texts, line)) texts.push(structuredContent)
  const about = { ...context, ...(failed && { failed }) }
  const capture = service.capture(bounds.optionsFor(about, besides + look.sizeOf(rest)))
  const write = async (piece: Buffer | string) => {
    if (!capture.write(piece)) await once(capture, 'drain')
  }
  try {
    for (const [index, part] of texts.entries()) {
      if (index > 0) await write('\n')
      for (const piece of piecesOf(part, line)) await write(piece)
    }
  } catch (error) {
    capture.destroy()
    throw error
  }
  capture.end()
  const answer = await capture.result
  const { outputPath } = (answer.truncated ? answer : answer.raw) ?? {}
  if (outputPath === undefined && !isStripped) return undefined
  const removed = answer.truncated && {
    truncationRemovedLines: answer.removedLines,
    truncationRemovedBytes: answer.removedBytes,
  }
  const metadata = { truncationPath: outputPath, ...removed }
  const text = bounds.finish(answer.content, answer)
  const first = items.find((item) => 'text' in item)
  const shown = first?.block ? withText(first.block as McpContentBlock, text) : textBlock(text)
  const blocks = items.flatMap((item) => ('stays' in item ? [item.stays] : item === first ? [shown] : []))
  return {
    // A result without content is text as a whole.
    ...(content === undefined ? { ...(failed && { isError: true }) } : rest),
    content: first === undefined ? [shown, ...blocks] : blocks,
    ...(structured === 'keep' && content !== undefined && structuredContent !== undefined && { structuredContent }),
    ...(outputPath === undefined ? meta && { _meta: meta } : { _meta: metaOf(meta, { metadata }) }),
  }
}

/** True if a structure says no more than the texts: a string that is one of them, or the JSON in one of them. */
function isSaidBy(structure: unknown, texts: readonly unknown[], line: Skimmed): boolean {
  const strings = new Set<string>()
  const values = new Set<string>()
  for (const text of texts) {
    if (typeof text !== 'string') return false
    strings.add(digestOf(piecesOf(text, line), false))
    values.add(digestOf(piecesOf(text, line), true))
  }
  const isSaid = (value: unknown, depth: number): boolean => {
    if (depth > 3 || strings.size === 0) return false
    const isText = typeof value === 'string' && line.skim.rangeOf(value)?.kind !== 'value'
    if (isText && strings.has(digestOf(piecesOf(value, line), false))) return true
    if (!isText && values.has(digestOf(rawPieces(value, line), true))) return true
    if (Array.isArray(value)) return value.every((item) => isSaid(item, depth + 1))
    return isRecord(value) && Object.values(value).every((member) => isSaid(member, depth + 1))
  }
  return isSaid(structure, 0)
}

/** The JSON of a value, from the message. */
function* rawPieces(value: unknown, line: Skimmed): Generator<Buffer> {
  yield* spliced(value, line)
}

/** A digest of a text; of a JSON without the blanks between its tokens, and with its escapes read. */
function digestOf(pieces: Iterable<Buffer>, isJson: boolean): string {
  const hash = createHash('sha256')
  if (!isJson) {
    for (const piece of pieces) hash.update(piece)
    return hash.digest('base64')
  }
  const unescaper = new Unescaper()
  let [inString, isEscaped] = [false, false]
  for (const piece of pieces) {
    const out = Buffer.allocUnsafe(piece.length)
    let length = 0
    for (const byte of piece) {
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === 0x5c) isEscaped = true
        else if (byte === 0x22) inString = false
      } else if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) {
        continue
      } else if (byte === 0x22) {
        inString = true
      }
      out[length] = byte
      length += 1
    }
    hash.update(unescaper.push(out.subarray(0, length)))
  }
  return hash.update(unescaper.end()).digest('base64')
}

/** The text of a stand-in, or of any value. */
export function* piecesOf(text: unknown, line: Skimmed): Generator<Buffer> {
  if (text instanceof Several) {
    for (const [index, one] of text.texts.entries()) {
      if (index > 0) yield Buffer.from('\n')
      yield* piecesOf(one, line)
    }
    return
  }
  const range = line.skim.rangeOf(text)
  if (range?.kind === 'string') {
    const unescaper = new Unescaper()
    for (const piece of line.spool.read(range.from, range.to)) yield unescaper.push(piece)
    yield unescaper.end()
  } else if (range) {
    // A piece is read over by the next.
    for (const piece of line.spool.read(range.from, range.to)) yield Buffer.from(piece)
  } else if (typeof text === 'string') {
    yield Buffer.from(text)
  } else {
    for (const piece of spliced(text, line)) yield Buffer.from(piece)
  }
}
