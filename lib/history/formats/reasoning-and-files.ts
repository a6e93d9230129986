/** Content that takes tokens but is neither text nor a call: reasoning of the model, and text files. */

import { imageTypeOfBase64 } from '../../util/file-signatures'
import { asText } from '../../util/guards'
import { type Edit, REMOVED } from './immutable-edit'
import { elements, get, isJsonObject, isObject, nonEmpty, watched } from './safe-read'

/** Reasoning: its texts, and how many characters of it only the provider can read. */
export interface Thinking {
  readonly thinking: readonly string[]
  readonly sealed: number
  /** The signature of a block that its provider accepts only after the very messages it was made after. */
  readonly bound?: string | undefined
}

/** Where the text of a part is that holds reasoning. If several have the same text, one counts. */
const TEXTS = ['thinking', 'reasoning', 'reasoningText', 'text', 'content', 'summary', 'rawContent'] as const

/** Fields with the reasoning of messages that do not have it in a part. If several have the same text, one counts. */
const BESIDE = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text', 'reasoning_details'] as const

/** Fields that only the provider can read: signatures, and reasoning that was encrypted or redacted. */
const SEALED = /signature|encrypted|redacted|opaque/i

/** Signatures are not nested deeper than this below a part. */
const MAX_DEPTH = 5

/** Reads a part or an item that holds reasoning, in whatever format. */
export function thinkingOf(part: unknown): Thinking {
  const thinking: string[] = []
  for (const key of TEXTS) {
    if (get(part, key) === undefined) continue
    const texts: string[] = []
    addTexts(watched(part, key), texts)
    if (texts.some((text) => !thinking.includes(text))) thinking.push(...texts)
  }
  const data = get(part, 'data')
  return { thinking, sealed: sealedIn(part) + (typeof data === 'string' ? data.length : 0), bound: signatureOf(part) }
}

/**
 * The signature by which Claude's reasoning is bound to its prefix, in whatever format. Encrypted reasoning of OpenAI's is bound to an
 * organisation and signatures of Gemini's to a call, so neither counts. An empty signature does not count.
 */
function signatureOf(part: unknown): string | undefined {
  switch (get(part, 'type')) {
    case 'redacted_thinking':
      return nonEmpty(get(part, 'data'))
    case 'thinking':
      return nonEmpty(get(part, 'signature')) ?? signatureOfPi(get(part, 'thinkingSignature'))
    case 'reasoning_content':
      return signatureIn(get(part, 'reasoningText')) ?? signatureIn(part)
    case 'reasoning':
      return signatureIn(part) ?? signatureIn(get(part, 'extras')) ?? signatureOfProvider(part)
    case 'reasoning.text':
    case 'reasoning.encrypted':
      return signatureOfDetail(part)
    default:
      return undefined
  }
}

/** Fields with a signature of Claude's, or with reasoning that only Claude can read. */
const SIGNATURES = ['signature', 'redactedData', 'redactedContent'] as const

function signatureIn(holder: unknown): string | undefined {
  for (const key of SIGNATURES) {
    const signature = nonEmpty(get(holder, key))
    if (signature !== undefined) return signature
  }
  return undefined
}

/** Where parts and items have what their provider said beside the text, under its name. */
const PROVIDER_FIELDS = ['providerOptions', 'providerMetadata', 'providerData'] as const

/** Signatures of OpenAI's and Google's have other names than Claude's, whichever provider sends it. */
function signatureOfProvider(part: unknown): string | undefined {
  for (const key of PROVIDER_FIELDS) {
    const holder = get(part, key)
    if (!isJsonObject(holder)) continue
    for (const said of Object.values(holder)) {
      const signature = signatureIn(said) ?? signatureOfDetails(get(said, DETAILS))
      if (signature !== undefined) return signature
    }
  }
  return undefined
}

/** Reasoning as OpenRouter writes it, for several providers. */
const DETAILS = 'reasoning_details'

function signatureOfDetails(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const signature = signatureOfDetail(detail)
    if (signature !== undefined) return signature
  }
  return undefined
}

function signatureOfDetail(detail: unknown): string | undefined {
  // Without a format it is Claude's.
  const format = get(detail, 'format') ?? 'anthropic'
  if (typeof format !== 'string' || !format.startsWith('anthropic')) return undefined
  return nonEmpty(get(detail, get(detail, 'type') === 'reasoning.encrypted' ? 'data' : 'signature'))
}

/** OpenRouter's provider of the AI SDK repeats the reasoning in the options of calls and messages: where, and its signature. */
export function repeatedThinking(holder: unknown): { path: readonly string[]; signature: string } | undefined {
  for (const key of PROVIDER_FIELDS) {
    const signature = signatureOfDetails(get(get(get(holder, key), 'openrouter'), DETAILS))
    if (signature !== undefined) return { path: [key, 'openrouter', DETAILS], signature }
  }
  return undefined
}

/** pi has an item of OpenAI's as JSON, or the name of a field, in the same place. */
function signatureOfPi(signature: unknown): string | undefined {
  const text = nonEmpty(signature)
  return text === undefined || text.startsWith('{') || /^[a-z_]{1,32}$/.test(text) ? undefined : text
}

/** Reasoning that is a field of a message. */
export interface ThinkingBeside extends Omit<Thinking, 'bound'> {
  readonly bound?: readonly string[] | undefined
}

/** Reads the reasoning that is a field of a message; `undefined` if there is none. */
export function thinkingBeside(message: unknown): ThinkingBeside | undefined {
  let found: { thinking: readonly string[]; sealed: number; bound?: readonly string[] } | undefined
  for (const key of BESIDE) {
    if (get(message, key) === undefined) continue
    const value = watched(message, key)
    const parts = Array.isArray(value) ? elements(value) : isJsonObject(value) ? [value] : [{ text: value }]
    found ??= { thinking: [], sealed: 0 }
    const read = parts.map(thinkingOf)
    if (found.thinking.length === 0) found.thinking = read.flatMap(({ thinking }) => thinking)
    found.sealed += read.reduce((sum, { sealed }) => sum + sealed, 0)
    const bound = read.flatMap(({ bound = [] }) => bound)
    if (bound.length > 0) found.bound = [...(found.bound ?? []), ...bound]
  }
  const opaque = get(message, 'reasoning_opaque')
  if (typeof opaque !== 'string') return found
  return { ...found, thinking: found?.thinking ?? [], sealed: (found?.sealed ?? 0) + opaque.length }
}

/** The changes that take out the reasoning that is a field of a message. */
export function withoutThinkingBeside(message: unknown, path: readonly PropertyKey[] = []): readonly Edit[] {
  return BESIDE.filter((key) => get(message, key) !== undefined).map((key): Edit => [[...path, key], REMOVED])
}

/** A text, or a list of texts or of parts with a text. */
function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    if (value !== '') texts.push(value)
    return
  }
  for (const part of isJsonObject(value) ? [value] : elements(value)) {
    const text = typeof part === 'string' ? part : watched(part, 'text')
    if (typeof text === 'string' && text !== '') texts.push(text)
  }
}

/** Characters of everything below a value that only the provider can read. */
export function sealedIn(value: unknown, isSealed = false, depth = 0): number {
  if (typeof value === 'string') return isSealed ? value.length : 0
  if (!isObject(value) || depth > MAX_DEPTH || ArrayBuffer.isView(value)) return 0
  let sealed = 0
  for (const key of Object.keys(value)) {
    const inner = get(value, key)
    const isInner = isSealed || SEALED.test(key)
    sealed += sealedIn(inner, isInner, depth + 1)
  }
  return sealed
}

/** Media types whose files are texts that a model reads as they are. */
const TEXT_TYPE =
  /^(text\/|application\/(json|xml|javascript|typescript|x-?(sh|yaml|javascript|typescript|python|ndjson)|ya?ml|toml|sql|graphql)\b)|\+(json|xml|yaml)\b/i

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i

/** The text of a file, document or search result; `undefined` for images, PDF, references, and whatever else is not text. */
export function attachedText(part: unknown): string | undefined {
  if (!isJsonObject(part)) return undefined
  const type = get(part, 'type')
  if (type === 'search_result') return searchResultText(part)
  if (type === 'image' || type === 'image_url' || type === 'input_image') return undefined
  const { source, file, resource } = part
  if (isJsonObject(source)) return sourceText(source)
  if (isJsonObject(file)) return textOfData(watched(file, 'file_data'), mediaTypeOf(file))
  if (isJsonObject(resource)) return textOfData(watched(resource, 'blob'), mediaTypeOf(resource))
  if (type === 'input_file') return textOfData(watched(part, 'file_data'), undefined)
  const plain = type === 'text-plain' || get(part, 'source_type') === 'text' ? watched(part, 'text') : undefined
  if (typeof plain === 'string') return plain
  return textOfData(watched(part, 'data'), mediaTypeOf(part) ?? (type === 'text-plain' ? 'text/plain' : undefined))
}

/** A document of Anthropic's whose content has parts that are not text: its texts, and the places of those parts. */
export function mixedDocument(part: unknown): { attached: string; media: readonly number[] } | undefined {
  const source = get(part, 'source')
  if (get(source, 'type') !== 'content') return undefined
  const content = watched(source, 'content')
  const media = elements(content).flatMap((inner, at) => (typeof get(inner, 'text') === 'string' ? [] : [at]))
  if (media.length === 0) return undefined
  const texts: string[] = []
  addTexts(content, texts)
  return { attached: texts.join('\n'), media }
}

/** Search results, with the address and title that the model reads. */
function searchResultText(part: object): string | undefined {
  const texts: string[] = []
  for (const key of ['title', 'source', 'content']) addTexts(watched(part, key), texts)
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** The source of a document of Anthropic's. */
function sourceText(source: object): string | undefined {
  const type = get(source, 'type')
  if (type === 'base64') return textOfData(watched(source, 'data'), mediaTypeOf(source))
  if (type === 'text') {
    const data = watched(source, 'data')
    return typeof data === 'string' ? data : undefined
  }
  if (type !== 'content') return undefined
  const content = watched(source, 'content')
  const parts = elements(content)
  if (parts.some((part) => typeof get(part, 'text') !== 'string')) return undefined
  const texts: string[] = []
  addTexts(content, texts)
  return texts.join('\n')
}

export function mediaTypeOf(holder: object): string | undefined {
  for (const key of ['mediaType', 'media_type', 'mimeType', 'mime_type']) {
    const type = get(holder, key)
    if (typeof type === 'string') return type
  }
  return undefined
}

/** The text of data in base64, in bytes, or at an address that has them in it. */
export function textOfData(data: unknown, mediaType: string | undefined): string | undefined {
  if (isJsonObject(data) && get(data, 'type') === 'text') {
    const text = watched(data, 'text')
    return typeof text === 'string' ? text : undefined
  }
  if (isJsonObject(data) && get(data, 'type') === 'data') return textOfData(watched(data, 'data'), mediaType)
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) {
    return isText(mediaType) ? Buffer.from(data as Uint8Array).toString() : undefined
  }
  const text = data instanceof URL ? data.href : data
  if (typeof text !== 'string') return undefined
  const [head, type, parameters] = DATA_URL.exec(text.slice(0, 256)) ?? []
  if (head === undefined) {
    const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 32))
    return isText(mediaType) && !isAddress ? Buffer.from(text, 'base64').toString() : undefined
  }
  if (!isText(type === '' ? (mediaType ?? 'text/plain') : type)) return undefined
  const body = text.slice(head.length)
  return /;base64$/i.test(parameters ?? '') ? Buffer.from(body, 'base64').toString() : decoded(body)
}

/** Kind of a part that is not text: its media type, or a word for it. */
export function kindOfMedia(part: unknown): string {
  if (typeof part === 'string') {
    return imageTypeOfBase64(part) ?? 'file'
  }
  if (!isJsonObject(part)) return 'file'
  if (get(part, 'type') === 'non_standard') return kindOfMedia(part.value)
  for (const holder of [
    part,
    part.source,
    part.inlineData,
    part.inline_data,
    part.fileData,
    part.resource,
    part.data,
    part.image,
    part.file,
  ]) {
    const type = isObject(holder) ? mediaTypeOf(holder) : undefined
    if (type !== undefined) return plainType(type)
  }
  const converse = converseType(part)
  if (converse !== undefined) return plainType(converse)
  const type = asText(get(part, 'type'))
  const { image_url: image, file, url, data } = part
  const files = [get(file, 'file_data'), part.file_data, file]
  for (const address of [get(image, 'url'), image, part.image, url, data, ...files]) {
    const text = address instanceof URL ? address.href : address
    const found = typeof text === 'string' ? DATA_URL.exec(text.slice(0, 256))?.[1] : undefined
    if (found) return plainType(found)
  }
  return ['image', 'audio', 'video', 'document'].find((word) => type.includes(word)) ?? 'file'
}

/** The media type of a block of Amazon Bedrock's Converse, which names the ending of a file. */
function converseType(part: object): string | undefined {
  for (const kind of ['image', 'document', 'video', 'audio']) {
    const format = nonEmpty(get(get(part, kind), 'format'))
    if (format !== undefined) return `${kind === 'document' ? 'application' : kind}/${format}`
  }
  return undefined
}

/** A media type comes from a tool, and is part of a text for a model. */
function plainType(type: string): string {
  return /^[\w.+-]+\/[\w.+*-]+$/.test(type) ? type.slice(0, 80) : 'file'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isText(mediaType: string | undefined): boolean {
  return mediaType !== undefined && TEXT_TYPE.test(mediaType)
}
