/**
 * Truncates answers to the limits of the host: the whole text, notice included, in the units that the host
 * counts.
 */

import type { ToolResultLike, TruncationContext, TruncationService, TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { makeTruncation } from '../../service/create-truncation'
import { boundSafely } from '../../service/middleware'
import type { HostProfile } from './hosts'
import type { SkimmedBounds } from './large-result'
import type { McpTruncation } from './options'
import { type ResultBounds, type StructuredContent, textOf } from './truncate-result'

/** The least that is left for a text beside what stays in its result. */
const LEAST_BYTES = 256
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
}

/** Settings that are given win over what is known of a host. */
export function limitsOf(host: HostProfile, given: McpTruncation = {}): Limits {
  const { maxBytes = host.maxBytes, maxLines = host.maxLines ?? DEFAULT_LINES } = given
  return { maxBytes, maxLines, counts: given.maxBytes === undefined && host.counts === 'json' ? 'json' : 'text' }
}

const DEFAULT_LINES = 2000

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
    this.restBytes = Math.max(Math.floor(maxBytes / 4), LEAST_BYTES)
    const settings = { noticeInside: true, ...truncation, maxBytes, maxLines, storage, availableTools }
    this.service = makeTruncation(settings as Parameters<typeof makeTruncation>[0]).service
  }

  /** As a middleware, with a second notice at the other end of what was cut. */
  readonly bound = async (
    _toolName: string,
    given: ToolResultLike,
    context: TruncationContext,
    besides = 0,
  ): Promise<ToolResultLike> => {
    const { output } = given
    const { maxBytes, maxLines } = this.service.effectiveConfig(context).config
    const most = maxBytes - besides
    const isShort = this.sizeOf(output) <= most && linesOf(output) <= maxLines
    const whole = { ...context, options: { ...context.options, maxBytes: most } }
    let scale = 1
    for (let attempt = 1; ; attempt += 1) {
      const about = isShort ? whole : this.optionsFor(context, besides, scale)
      const { value, result } = await boundSafely(this.service, output, about)
      if (!result?.truncated) {
        const size = this.sizeOf(value)
        if (size <= most || this.limits.counts === 'text' || attempt > ATTEMPTS || !this.isBounded(context)) {
          const raw = result?.raw?.outputPath
          return { ...given, output: value, metadata: { truncated: false, ...(raw && { truncationPath: raw }) } }
        }
        scale *= Math.min(0.9, most / size)
        continue
      }
      const finished = mapText(value, (text) => this.finish(text, result))
      const size = this.sizeOf(finished)
      if (size > most && attempt <= ATTEMPTS && this.limits.counts === 'json') {
        scale *= Math.min(0.95, (most / size) * 0.98)
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
  optionsFor(context: TruncationContext, besides: number, scale = 1): TruncationContext {
    const { maxBytes, maxLines } = this.service.effectiveConfig(context).config
    const isDouble = this.hasTwoNotices(maxBytes, maxLines)
    const notice = isDouble ? NOTICE_BYTES + Buffer.byteLength(this.service.storage.getStorageDir()) : 0
    const room = Math.floor((maxBytes - besides) * scale) - notice
    const options = { maxBytes: Math.max(room, LEAST_BYTES), maxLines: isDouble ? maxLines - 2 : maxLines }
    if (!Number.isFinite(maxBytes)) return context
    return { ...context, options: { ...context.options, ...options } }
  }

  /**
   * Returns the text with the path of the saved output at both ends: hosts that truncate keep one of them. The notice at the end
   * says how to continue reading; the line at the other end has the numbers and the path.
   */
  finish(
    text: string,
    { truncated, hint, outputPath }: { truncated: boolean; hint?: string; outputPath?: string },
  ): string {
    const { maxBytes, maxLines } = this.limits
    if (!truncated || !outputPath || !this.hasTwoNotices(maxBytes, maxLines)) return text
    const said = hint?.includes(outputPath) ? hint.slice(0, hint.indexOf(outputPath) + outputPath.length) : undefined
    if (said === undefined) return text
    const line = said.replaceAll('\n', ' ')
    return text.trimEnd().endsWith((hint ?? '').trimEnd()) ? `${line}\n\n${text}` : `${text}\n\n${line}`
  }

  /** Units of a text, or of the texts of parts, as the host counts them. */
  private sizeOf(output: unknown): number {
    const texts =
      typeof output === 'string' ? [output] : Array.isArray(output) ? output.map((part) => textOf(part) ?? '') : []
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

function linesOf(output: unknown): number {
  const texts =
    typeof output === 'string' ? [output] : Array.isArray(output) ? output.map((part) => textOf(part) ?? '') : []
  let count = 0
  for (const text of texts) {
    count += 1
    for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count += 1
  }
  return count
}

/** The JSON of a block around its text, on lines of their own. */
const JSON_BLOCK = 48

/** The output with its first text changed, or its last one where a notice is to go there. */
function mapText(output: unknown, change: (text: string) => string): unknown {
  if (typeof output === 'string') return change(output)
  if (!Array.isArray(output)) return output
  const parts = [...output]
  const isText = (part: unknown) => textOf(part) !== undefined
  const [first, last] = [parts.findIndex(isText), parts.findLastIndex(isText)]
  if (first === -1) return output
  const whole = parts.map((part) => textOf(part) ?? '').join('\n')
  const changed = change(whole)
  if (changed === whole) return output
  const isAtStart = changed.endsWith(whole)
  const at = isAtStart ? first : last
  const text = textOf(parts[at]) as string
  const added = isAtStart ? changed.slice(0, changed.length - whole.length) : changed.slice(whole.length)
  parts[at] = { ...parts[at], text: isAtStart ? `${added}${text}` : `${text}${added}` }
  return parts
}
