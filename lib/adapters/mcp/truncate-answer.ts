/**
 * Truncates answers to the limits of the host: the whole text, notice included, in the units that the host
 * counts.
 */

import type { ToolResultLike, TruncationContext, TruncationService, TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { createTruncation } from '../../service/create-truncation'
import { boundSafely } from '../../service/middleware'
import { withoutWarning } from '../../service/raised-limits'
import { printedPreviewOf } from '../../storage/printed-previews'
import { withCallDefaults } from '../../tools/command-of'
import { type HostProfile, isUnknown } from './hosts'
import type { SkimmedBounds } from './large-result'
import type { McpTruncation } from './options'
import { type ResultBounds, type StructuredContent, textOf } from './truncate-result'

/** The least that is left for a text beside what stays in its result. */
const MIN_BYTES = 256
/** Below these limits a notice is shown at one end only. */
const TWO_NOTICES_BYTES = 2000
const TWO_NOTICES_LINES = 20
/** Bytes of a notice without its path. */
const NOTICE_BYTES = 320
/** Bytes by which the place of a cut may be off. */
const ATTEMPTS = 4

export interface Limits {
  maxBytes: number
  maxLines: number
  counts: 'text' | 'json'
  /** True if nothing is known of the host and no limits were given: then a preview that another process printed passes whole. */
  isGuess: boolean
}

/** Settings by which a user says how much of a result is shown, or which part. */
const LIMITING = ['maxBytes', 'maxLines', 'maxTokens', 'direction', 'strategy', 'tools', 'global'] as const

/** Settings that are given win over what is known of a host. */
export function limitsOf(host: HostProfile, given: McpTruncation = {}): Limits {
  const { maxBytes = host.maxBytes, maxLines = host.maxLines ?? DEFAULT_LINES } = given
  return {
    maxBytes,
    maxLines,
    counts: given.maxBytes === undefined && host.counts === 'json' ? 'json' : 'text',
    isGuess: isUnknown(host) && LIMITING.every((name) => (given as Record<string, unknown>)[name] === undefined),
  }
}

const DEFAULT_LINES = 2000

/** Facts about a text that the service has bounded. */
interface BoundedFacts {
  truncated: boolean
  hint?: string
  outputPath?: string
}

/** Texts to go before and after another. */
interface Around {
  first: string
  last: string
}

export class Bounding implements ResultBounds, SkimmedBounds {
  readonly service: TruncationService
  readonly restBytes: number

  constructor(
    readonly limits: Limits,
    readonly structured: StructuredContent,
    truncation: McpTruncation,
    storage: TruncationStorage | RemoteStorage,
    availableTools: readonly string[],
  ) {
    const { maxBytes, maxLines } = limits
    this.restBytes = Math.max(Math.floor(maxBytes / 4), MIN_BYTES)
    const settings = { noticeInside: true, ...truncation, maxBytes, maxLines, storage, availableTools }
    const made = () => createTruncation(settings as Parameters<typeof createTruncation>[0])
    this.service = withoutWarning(made).service
  }

  /** As a middleware, with a second notice at the other end of what was cut. */
  readonly bound = async (
    _toolName: string,
    given: ToolResultLike,
    call: TruncationContext,
    besides = 0,
  ): Promise<ToolResultLike> => {
    const { output } = given
    if (this.limits.isGuess && printedPreviewOf(this.service.storage, textsIn(output).join('\n')) !== undefined)
      return { ...given, metadata: { truncated: false } }
    const context = withCallDefaults(call)
    const { maxBytes, maxLines } = this.service.effectiveConfig(context).config
    const maxSize = maxBytes - besides
    const isShort = this.sizeOf(output) <= maxSize && linesOf(output) <= maxLines
    const whole = { ...context, options: { ...context.options, maxBytes: maxSize } }
    let scale = 1
    for (let attempt = 1; ; attempt += 1) {
      const about = isShort ? whole : this.withRoom(context, besides, scale)
      const { value, result } = await boundSafely(this.service, output, about)
      if (!result?.truncated) {
        const size = this.sizeOf(value)
        if (size <= maxSize || this.limits.counts === 'text' || attempt > ATTEMPTS || !this.isBounded(context)) {
          const raw = result?.raw?.outputPath
          return { ...given, output: value, metadata: { truncated: false, ...(raw && { truncationPath: raw }) } }
        }
        scale *= Math.min(0.9, maxSize / size)
        continue
      }
      const finished = surrounded(value, (text) => this.linesAround(text, result))
      const size = this.sizeOf(finished)
      if (size > maxSize && attempt <= ATTEMPTS && this.limits.counts === 'json') {
        scale *= Math.min(0.95, (maxSize / size) * 0.98)
        continue
      }
      const metadata = {
        truncated: true,
        truncationPath: result.outputPath,
        truncationRemovedLines: result.removedLines,
        truncationRemovedBytes: result.removedBytes,
      }
      return { ...given, output: finished, metadata }
    }
  }

  /** The call with limits that leave room for the parts beside the text, and for the second notice. */
  optionsFor(call: TruncationContext, besides: number): TruncationContext {
    return this.withRoom(withCallDefaults(call), besides)
  }

  private withRoom(context: TruncationContext, besides: number, scale = 1): TruncationContext {
    const { maxBytes, maxLines, direction } = this.service.effectiveConfig(context).config
    const isDouble = this.hasTwoNotices(maxBytes, maxLines)
    // The notice of an end begins with a line that has no path, so the lines before and after it are both added.
    const added = isDouble ? (direction === 'tail' ? 2 : 1) : 0
    const notice = added * (NOTICE_BYTES + Buffer.byteLength(this.service.storage.getStorageDir()))
    const room = Math.floor((maxBytes - besides) * scale) - notice
    const options = { maxBytes: Math.max(room, MIN_BYTES), maxLines: maxLines - 2 * added }
    if (!Number.isFinite(maxBytes)) return context
    return { ...context, options: { ...context.options, ...options } }
  }

  /**
   * Returns the text with the path of the saved output at both ends: hosts that truncate keep one of them. The notice
   * says how to continue reading; the first line, and the last one unless the notice is there, have the numbers and the path.
   */
  finish(text: string, facts: BoundedFacts): string {
    const { first, last } = this.linesAround(text, facts)
    return `${first}${text}${last}`
  }

  private linesAround(text: string, { truncated, hint = '', outputPath }: BoundedFacts): Around {
    const { maxBytes, maxLines } = this.limits
    const end = outputPath ? hint.indexOf(outputPath) : -1
    if (!truncated || end === -1 || !this.hasTwoNotices(maxBytes, maxLines)) return { first: '', last: '' }
    const line = hint.slice(0, end + outputPath!.length).replaceAll('\n', ' ')
    return { first: `${line}\n\n`, last: text.trimEnd().endsWith(hint.trimEnd()) ? '' : `\n\n${line}` }
  }

  /** Units of a text, or of the texts of parts, as the host counts them. */
  private sizeOf(output: unknown): number {
    const texts = textsIn(output)
    const count =
      this.limits.counts === 'json' ? (text: string) => JSON.stringify(text).length + JSON_BLOCK : Buffer.byteLength
    return texts.reduce((total, text) => total + count(text), 0)
  }

  private isBounded(context: TruncationContext): boolean {
    return this.service.effectiveConfig(context).config.enabled
  }

  private hasTwoNotices(maxBytes: number, maxLines: number): boolean {
    return maxBytes >= TWO_NOTICES_BYTES && maxLines >= TWO_NOTICES_LINES
  }
}

function textsIn(output: unknown): string[] {
  if (typeof output === 'string') return [output]
  return Array.isArray(output) ? output.map((part) => textOf(part) ?? '') : []
}

function linesOf(output: unknown): number {
  const texts = textsIn(output)
  let count = 0
  for (const text of texts) {
    count += 1
    for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count += 1
  }
  return count
}

/** The JSON of a block around its text, on lines of their own. */
const JSON_BLOCK = 48

/** The output with lines before its first text and after its last one. */
function surrounded(output: unknown, around: (text: string) => Around): unknown {
  if (typeof output === 'string') {
    const { first, last } = around(output)
    return `${first}${output}${last}`
  }
  if (!Array.isArray(output)) return output
  const parts = [...output]
  const texts = parts.map(textOf)
  const places = [...texts.keys()].filter((at) => texts[at] !== undefined)
  if (places.length === 0) return output
  const { first, last } = around(texts.map((text) => text ?? '').join('\n'))
  const [start, end] = [places[0]!, places.at(-1)!]
  parts[start] = { ...parts[start], text: `${first}${texts[start]}` }
  parts[end] = { ...parts[end], text: `${parts[end].text}${last}` }
  return parts
}
