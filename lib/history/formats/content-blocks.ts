/** Contents that are a text or a list of parts, and replacing their text. */

import type { ResultText } from '../message-cache'
import type { MediaEdits } from './format-rules'
import { type Edit, edited } from './immutable-edit'
import { attachedText, mixedDocument, type Thinking } from './reasoning-and-files'
import { carriesMore, elements, get, isObject, resultText, watched } from './safe-read'

/** A text that can be replaced, and the keys that lead to it. */
type TextPart = readonly [path: readonly string[], text: string]

/** A file that is a text: it counts as one, and another text takes its place as a part of its own. */
export interface Attachment {
  readonly attached: string
  /** Places in the content of its source that are not text. */
  readonly media?: readonly number[]
}

/** A part of a content: a text, a file with a text, reasoning, something that is not text, or nothing that counts. */
export type PartKind = TextPart | Attachment | Thinking | 'media' | 'none'

/** Text, calls and results in a content. */
export interface Content {
  text: ResultText
  media: number
  /** The model's reasoning; `undefined` if there is none. */
  thinking?: ResultText | undefined
  /** Characters of reasoning that only the provider can read; `undefined` if there are none. */
  sealed?: number | undefined
  /** Signatures of blocks that are bound to the messages in front of them; `undefined` if there are none. */
  bound?: readonly string[] | undefined
}

/** How a format writes parts. */
export interface PartRules {
  kind(part: unknown): PartKind
  /** A part with this text, for a content that has none. */
  make(text: string): object
}

/** A part that is not text and nothing else: a file that is a text, or media. */
export function fileOrMedia(part: unknown): Attachment | 'media' {
  const attached = attachedText(part)
  return attached === undefined ? (mixedDocument(part) ?? 'media') : { attached }
}

/** Most formats have `{ type: 'text', text }`, some with another word for the type. */
export function textParts(types: readonly string[], others: (part: object, type: unknown) => PartKind): PartRules {
  const [first] = types
  return {
    kind(part) {
      if (!isObject(part)) return 'none'
      const type = get(part, 'type')
      if (!types.includes(type as string)) return others(part, type)
      const text = watched(part, 'text')
      return typeof text === 'string' ? [['text'], text] : 'none'
    },
    make: (text) => ({ type: first, text }),
  }
}

export const plainParts: PartRules = textParts(['text'], fileOrMedia)

/**
 * Reads a content. A value that is neither a text nor a list is empty. `parts` are the elements of the list if the caller has
 * them already: elements that are read twice would be compared twice before every request.
 */
export function readContent(content: unknown, rules: PartRules, parts = elements(content)): Content {
  if (typeof content === 'string') return { text: content, media: 0 }
  if (!Array.isArray(content)) return { text: '', media: 0 }
  const texts: string[] = []
  let media = 0
  let thinking: string[] | undefined
  let sealed = 0
  let bound: string[] | undefined
  for (let at = 0; at < parts.length; at++) {
    const kind = rules.kind(parts[at])
    if (kind === 'media') media++
    else if (kind === 'none') continue
    else if (isText(kind)) texts.push(kind[1])
    else if ('attached' in kind) {
      if (kind.attached !== '' || kind.media === undefined) texts.push(kind.attached)
      media += kind.media?.length ?? 0
    } else {
      thinking ??= []
      thinking.push(...kind.thinking)
      sealed += kind.sealed
      if (kind.bound !== undefined) {
        bound ??= []
        bound.push(kind.bound)
      }
    }
  }
  if (thinking === undefined) return { text: resultText(texts), media }
  return { text: resultText(texts), media, ...reasoningOf({ thinking, sealed }), ...(bound && { bound }) }
}

/** The reasoning of a message; fields that it lacks are absent. */
export function reasoningOf({
  thinking,
  sealed,
}: Pick<Thinking, 'thinking' | 'sealed'>): Pick<Content, 'thinking' | 'sealed'> {
  return {
    ...(thinking.length > 0 && { thinking: resultText(thinking) }),
    ...(sealed > 0 && { sealed }),
  }
}

function isText(kind: PartKind): kind is TextPart {
  return Array.isArray(kind)
}

/** Where a document has the parts of its content. */
const DOCUMENT = ['source', 'content']

/** The changes that put a note in place of everything in a content that is not text; none if it is all text. */
export function withoutMedia(
  holder: readonly PropertyKey[],
  content: unknown,
  rules: PartRules,
): MediaEdits | undefined {
  if (!Array.isArray(content)) return undefined
  return (note) =>
    content.flatMap((part, at): Edit[] => {
      const kind = rules.kind(part)
      if (kind === 'media') return [[[...holder, at], rules.make(note)]]
      const inner = typeof kind === 'object' && 'attached' in kind ? (kind.media ?? []) : []
      return inner.map((place): Edit => [[...holder, at, ...DOCUMENT, place], { type: 'text', text: note }])
    })
}

/** Stands for reasoning where a message had nothing else: providers refuse an empty one. */
export const NO_THINKING = '[Reasoning left out]'

/** The changes that take the blocks out of a content that are bound to the messages in front of them. */
export function withoutThinking(
  holder: readonly PropertyKey[],
  content: unknown,
  rules: PartRules,
): (() => readonly Edit[]) | undefined {
  if (!Array.isArray(content)) return undefined
  return () => {
    const rest = content.filter((part) => !isBound(rules.kind(part)))
    if (rest.length === content.length) return []
    return [[holder, rest.length > 0 ? rest : [rules.make(NO_THINKING)]]]
  }
}

function isBound(kind: PartKind): boolean {
  return typeof kind === 'object' && 'bound' in kind && kind.bound !== undefined
}

/**
 * The content with this text in place of all its texts. One part takes it: the last that carries more than a text, such
 * as a mark for the provider's cache, else the first. Other parts of text and files that are texts go, a resource keeps
 * its place without its text, and anything that is not text stays unless the text is to be `alone`.
 */
export function contentWithText(content: unknown, text: string, rules: PartRules, alone = false): unknown {
  if (!Array.isArray(content)) return text
  const kinds = elements(content).map((part) => rules.kind(part))
  const texts = [...kinds.keys()].filter((at) => isText(kinds[at] as PartKind))
  const chosen = texts.findLast((at) => carriesMore(content[at])) ?? texts[0]
  const parts: unknown[] = chosen === undefined ? [rules.make(text)] : []
  for (let at = 0; at < content.length; at++) {
    const kind = kinds[at] as PartKind
    if (!isText(kind)) {
      const stays = typeof kind === 'string' ? !(alone && kind === 'media') : 'thinking' in kind
      if (stays) parts.push(content[at])
      else if (typeof kind === 'object' && 'media' in kind && !alone) {
        const media = kind.media?.map((place) => get(get(get(content[at], 'source'), 'content'), place))
        parts.push(edited(content[at], [[DOCUMENT, media]]))
      }
    } else if (at === chosen) parts.push(edited(content[at], [[kind[0], text]]))
    else if (kind[0].length > 1 && !alone) parts.push(edited(content[at], [[kind[0], '']]))
  }
  return parts
}
