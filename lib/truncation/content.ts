/** The kinds of output: text, bytes, parts of a message, or any other value. */

import { types } from 'node:util'
import type { TruncationFacts } from '../ingest/ingest'
import { wellFormed } from '../settings/settings'
import type { ContentPart, OutputService, TextContentPart, TruncationContext, TruncationResult } from '../types'
import { isArray } from '../util/guards'
import { safeStringify } from '../util/safe-stringify'
import { decodeBytes } from '../validation/bytes'
import { textOfStreams } from './command-text'

/** True if a value is a list of objects that say what they are, which is what a caller calls parts. */
export function isParts(value: unknown): value is readonly ContentPart[] {
  if (!isArray(value)) return false
  // Not `every`, which skips holes.
  for (let index = 0; index < value.length; index += 1) if (!isPart(value[index])) return false
  return true
}

function isPart(value: unknown): value is ContentPart {
  return typeof value === 'object' && value !== null && typeof (value as ContentPart).type === 'string'
}

/** The types of parts that hold media by agents' and providers' conventions: their content is not text to truncate. */
const MEDIA = /^(?:(?:input|output)_)?(?:image|audio|video|file|media|document)(?:_url|-data|-url)?$|^resource_link$/

/** True if a value is what a model would read as a message: text and media, and not just any list of typed records. */
function isMessage(value: unknown): value is readonly ContentPart[] {
  return isParts(value) && value.every((part) => isTextPart(part) || MEDIA.test(part.type))
}

export function isTextPart(part: ContentPart): part is TextContentPart {
  return part.type === 'text' && typeof part.text === 'string'
}

/** The texts of a message's parts. */
export function textsOf(parts: readonly ContentPart[]): string[] {
  return parts.filter(isTextPart).map((part) => part.text)
}

/**
 * Puts a preview back into the parts it came from. The shown text of a part stays in that part; parts without shown text are
 * removed; everything else keeps its place. The binary saw the texts joined by line feeds.
 */
export function replaceTexts(parts: readonly ContentPart[], content: string, facts: TruncationFacts): ContentPart[] {
  const texts = textsOf(parts)
  const { preview, direction, pieceUnits } = facts
  const [first = 0, last = 0] = pieceUnits
  const ends = direction === 'tail' ? [tailOf(texts, facts, first)] : [[0, first] as Range]
  if (direction === 'both') ends.push(tailOf(texts, facts, last))
  const gap = direction === 'both' ? content.slice(preview.from + first, preview.to - last) : ''

  let start = 0
  const shown = texts.map((text) => {
    const pieces = ends.map(([from, to]) => text.slice(Math.max(from - start, 0), Math.max(to - start, 0)))
    start += text.length + 1
    return pieces
  })
  // The gap ends the part in which the first end stops; if that shows nothing, it begins the part of the other end.
  const headEnd = shown.findLastIndex(([head]) => head !== '')
  const gapAt =
    headEnd >= 0
      ? headEnd
      : Math.max(
          shown.findIndex(([, tail]) => tail !== undefined && tail !== ''),
          0,
        )
  const filled = shown.map(([head = '', tail = ''], index) => {
    if (gap === '' || index !== gapAt) return head + tail
    return head + (tail === '' ? gap.trimEnd() : gap) + tail
  })
  const isShown = (text: string) => text !== ''
  const firstShown = Math.max(filled.findIndex(isShown), 0)
  const lastShown = Math.max(filled.findLastIndex(isShown), 0)

  let index = -1
  return parts.flatMap((part) => {
    if (!isTextPart(part)) return [part]
    index += 1
    let text = filled[index]!
    if (index === firstShown) text = content.slice(0, preview.from) + text
    if (index === lastShown) text += content.slice(preview.to)
    return text === '' ? [] : [{ ...part, text: wellFormed(text) }]
  })
}

type Range = [from: number, to: number]

/** The UTF-16 range of the joined text that the end of a preview shows. A preview has as many units as what it shows. */
function tailOf(texts: readonly string[], facts: TruncationFacts, units: number): Range {
  const joined = texts.reduce((total, text) => total + text.length, 0) + Math.max(texts.length - 1, 0)
  // Only a line break can follow, and that has as many units as bytes.
  const after = facts.totalBytes - (facts.ranges.at(-1)?.toByte ?? facts.totalBytes)
  return [joined - after - units, joined - after]
}

/** A bounded value. */
export interface BoundValue {
  /** The value itself if nothing had to be cut. */
  value: unknown
  /** The answer of the service; `undefined` for values that cannot be too long. */
  result?: TruncationResult<unknown>
}

/** Bounds any value: text, bytes and parts as they are, everything else by its JSON. */
export async function boundValue(
  service: OutputService,
  value: unknown,
  context: TruncationContext,
): Promise<BoundValue> {
  if (typeof value === 'string') return fromResult(await service.output(value, context))
  if (types.isUint8Array(value) || isMessage(value)) {
    const result = await service.output(value as Uint8Array, context)
    return fromResult(result)
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value !== 'bigint') return { value }
    return fromResult(await service.output(String(value), context), value)
  }
  const parts = (value as { content?: unknown }).content
  if (isParts(parts)) return boundHolder(service, value, parts, context)
  const line = toJson(value)
  const written = laidOut(service, value, line, context)
  const result = await service.output(written, context)
  // A text that is a preview and little else is left alone.
  const isSame = !result.truncated || result.content === written
  return { value: isSame ? soundJson(value, line) : result.content, result }
}

/** The part of a service of the package that says how JSON is best laid out; a service of the caller's may lack it. */
interface LineFitter {
  fits(content: string, context: TruncationContext): boolean
  longestLine(context: TruncationContext): number | undefined
}

/** Bytes of a line of JSON that a service of the caller's can do without. */
const MAX_LINE_LENGTH = 12_800

/**
 * The text of a value as it can be cut: what a command printed, or the JSON, on one line if that fits, else on lines of its own. It
 * stays one line, too, where one of them is so long (a text inside, say) that a cut between lines would show nothing of what matters.
 */
function laidOut(service: OutputService, value: unknown, line: string, context: TruncationContext): string {
  const printed = textOfStreams(value)
  if (printed !== undefined) return printed
  const own = 'fits' in service ? (service as OutputService & LineFitter) : undefined
  if (own?.fits(line, context)) return line
  return cuttable(line, () => indented(line), own?.longestLine(context))
}

/** Levels of nesting that are indented at most: every level adds two spaces to each line within it. */
const MAX_LEVELS = 100

/**
 * The JSON that a cut between lines shows more of: that on lines of its own, unless one of them is longer or it is nested so
 * deep that it would be mostly spaces.
 *
 * @param line the JSON on one line
 * @param lines makes the same on lines of its own
 */
export function cuttable(line: string, lines: () => string, longestBytes = MAX_LINE_LENGTH): string {
  if (isNestedDeep(line)) return line
  const indented = lines()
  return hasLineOver(indented, longestBytes) ? line : indented
}

function isNestedDeep(json: string): boolean {
  let levels = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfText(json, at)
    else if (code === BRACKET || code === BRACE) {
      levels++
      if (levels > MAX_LEVELS) return true
    } else if (code === BRACKET + 2 || code === BRACE + 2) levels--
  }
  return false
}

const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b]

/** Index of the quote that ends a text of JSON. */
function endOfText(json: string, start: number): number {
  let end = start
  let isEscaped = true
  while (isEscaped) {
    end = json.indexOf('"', end + 1)
    if (end === -1) return json.length
    let before = end - 1
    while (json.charCodeAt(before) === BACKSLASH) before--
    isEscaped = (end - before) % 2 === 0
  }
  return end
}

function hasLineOver(text: string, bytes: number): boolean {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    // A unit is at most three bytes.
    if ((end - start) * 3 > bytes && Buffer.byteLength(text.slice(start, end)) > bytes) return true
    start = end + 1
  }
  return false
}

/** Result of a service for a value; its content is the value itself unless that was not text. */
export function fromResult(result: TruncationResult<unknown>, untouched: unknown = result.content): BoundValue {
  return { value: result.truncated ? result.content : sound(untouched), result }
}

/**
 * The value with every text that a model would read made well-formed: one lone surrogate in a request makes providers
 * refuse the whole session. The value itself if there is nothing to mend.
 */
export function sound(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null || types.isUint8Array(value)) return value
  if (isParts(value)) {
    const mended = value.map((part) => {
      if (MEDIA.test(part.type)) return part
      if (!isTextPart(part)) return sound(part)
      const text = wellFormed(part.text)
      return text === part.text ? part : { ...part, text }
    })
    return mended.some((part, index) => part !== value[index]) ? mended : value
  }
  if (!isParts((value as { content?: unknown }).content)) return soundJson(value, toJson(value))
  const entries = Object.entries(value).map(([key, inner]) => [key, sound(inner)] as const)
  return entries.some(([key, inner]) => inner !== value[key as keyof object]) ? Object.fromEntries(entries) : value
}

/** JSON writes a half of a character as an escape, and everything else as it is. */
const HALF = '\\ud'
const HALVES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g

/** The value of which this is the JSON, with names and texts in it made well-formed. */
function soundJson(value: unknown, json: string): unknown {
  if (!json.includes(HALF)) return value
  const mended = json.replace(HALVES, (written, half) => (half === undefined ? written : '\ufffd'))
  return mended === json ? value : JSON.parse(mended)
}

/** The text of any value, as it would be bounded. */
export function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (types.isUint8Array(value)) return decodeBytes(value)
  return isParts(value) ? textsOf(value).join('\n') : toJson(value, 2)
}

/** Size above which other fields of a result count as text too. */
const SMALL_UNITS = 1024

/** The keys under which hosts keep the structured form of a result beside its parts. */
const STRUCTURED_KEYS = ['structured', 'structuredContent']

/** A tool result in the shape of MCP: parts, and perhaps the same once more as a structure. */
async function boundHolder(
  service: OutputService,
  value: object,
  parts: readonly ContentPart[],
  context: TruncationContext,
): Promise<BoundValue> {
  const beside = Object.entries(value).filter(([key, inner]) => key !== 'content' && inner !== undefined)
  const isSmall = ([, inner]: [string, unknown]) => toJson(inner, 2).length <= SMALL_UNITS
  const isStructured = ([key]: [string, unknown]) => STRUCTURED_KEYS.includes(key)
  // Structured content can be as long as the text; its length is computed once at most.
  const kept = beside.filter((entry) => !isStructured(entry) && isSmall(entry))
  if (isMessage(parts) && kept.length === beside.length) {
    const result = await service.output(parts, context)
    const isSame = result.content === parts
    return { value: isSame ? sound(value) : { ...value, content: sound(result.content) }, result }
  }
  // A structure usually says the same as the text, so cutting only one of them saves nothing. Media are not text.
  const media = parts.filter((part) => MEDIA.test(part.type))
  const texts = parts.filter((part) => !MEDIA.test(part.type))
  const line = toJson({ ...value, content: texts })
  const written = laidOut(service, undefined, line, context)
  const result = await service.output(written, context)
  if (!result.truncated || result.content === written)
    return { value: line.includes(HALF) ? sound(value) : value, result }
  const emptied = beside.filter(isStructured).map(([key]) => [key, {}])
  const content = [{ type: 'text', text: result.content }, ...media]
  return { value: { ...Object.fromEntries([...kept, ...emptied]), content }, result }
}

/** The same JSON on lines of its own, at which it can be cut. */
function indented(line: string): string {
  try {
    return JSON.stringify(JSON.parse(line), null, 2)
  } catch {
    // No JSON: a text of the value's own, or one that is nested deeper than the stack.
    return line
  }
}

/**
 * JSON that never throws: cycles, big integers, errors and throwing getters have a form too. A value that is nested deep is not
 * indented.
 */
export function toJson(value: unknown, indent?: 2): string {
  const ancestors: object[] = []
  try {
    const json = JSON.stringify(
      value,
      function (this: unknown, _key, inner: unknown) {
        if (typeof inner === 'bigint') return String(inner)
        if (typeof inner !== 'object' || inner === null) return inner
        // `this` holds the value: everything above it on the path is what a cycle can lead back to.
        while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop()
        if (indent !== undefined && ancestors.length > MAX_LEVELS)
          throw new RangeError('nested too deep to be indented')
        if (ancestors.includes(inner)) return '[Circular]'
        if (types.isNativeError(inner)) {
          const { name, message, stack } = inner
          const described = { ...inner, name, message, stack }
          ancestors.push(described)
          return described
        }
        ancestors.push(inner)
        return inner
      },
      indent,
    )
    return json ?? String(value)
  } catch {
    return indent === undefined ? safeStringify(value, { proxies: true }) : toJson(value)
  }
}
