/** A tool's result that is too long for memory: its texts go from one file into another, and a part of them to the host. */

import { once } from 'node:events'
import type { TruncationContext, TruncationService } from 'spillway'
import { isRecord } from '../../context'
import { toJson } from '../../exact-json'
import { spliced } from './lines'
import {
  isLongText,
  isMedia,
  metaOf,
  type StructuredContent,
  textBlock,
  textOf,
  withDescriptionsApart,
  withText,
} from './result'
import type { Skimmer } from './skim'
import type { Spool } from './spool'
import type { McpContentBlock } from './types'
import { Unescaper } from './unescape'

/** A message that was skimmed. */
interface Skimmed {
  spool: Spool
  skim: Skimmer
}

/**
 * The result, bounded, with stand-ins for what stays and is long; nothing if it stays as it is. All texts become one, where
 * the first of them was.
 */
export async function boundSkimmed(
  result: unknown,
  line: Skimmed,
  service: TruncationService,
  context: TruncationContext,
  structured: StructuredContent,
): Promise<Record<string, unknown> | undefined> {
  const given = isRecord(result) ? result : {}
  const content = Array.isArray(given.content) ? given.content : undefined
  const blocks = withDescriptionsApart(content ?? [], (description) => isLongDescription(description, line))
  const failed = given.isError === true
  const capture = service.capture({ ...context, ...(failed && { failed }) })
  const write = async (piece: Buffer | string) => {
    if (!capture.write(piece)) await once(capture, 'drain')
  }
  const texts = blocks.filter((block) => isText(block, line))
  if (content === undefined) texts.push(given.content ?? result)
  else if (structured === 'drop' && given.structuredContent !== undefined) texts.push(given.structuredContent)
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
  if (outputPath === undefined) return undefined
  const removed = answer.truncated && {
    truncationRemovedLines: answer.removedLines,
    truncationRemovedBytes: answer.removedBytes,
  }
  const metadata = { truncationPath: outputPath, ...removed }
  const first = blocks.find((block) => isText(block, line))
  const shown = isRecord(first) ? withText(first as McpContentBlock, answer.content) : textBlock(answer.content)
  const kept = blocks.filter((block) => block === first || !isText(block, line))
  const { content: _content, structuredContent, _meta, ...others } = given
  return {
    // What has no content is text as a whole.
    ...(content === undefined ? { ...(failed && { isError: true }) } : others),
    content: first === undefined ? [shown, ...kept] : kept.map((block) => (block === first ? shown : block)),
    ...(structured === 'keep' && content !== undefined && structuredContent !== undefined && { structuredContent }),
    _meta: metaOf(_meta, { metadata }),
  }
}

function isLongDescription(description: string, { skim }: Skimmed): boolean {
  return skim.rangeOf(description) !== undefined || isLongText(description)
}

/** Whether a block is bounded: a text, or what is long, no media, and of no type that is known. */
function isText(block: unknown, { skim }: Skimmed): boolean {
  return textOf(block) !== undefined || (!isMedia(block) && !skim.standIns(toJson(block) ?? '').next().done)
}

/** The text of a block, of a stand-in or of any value. */
function* piecesOf(part: unknown, line: Skimmed): Generator<Buffer> {
  const text = textOf(part) ?? part
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
