/** Answers to requests other than calls, because lists, prompts and resources reach the model, too. */

import { isRecord } from '../../validation/validate'
import type { Look } from './items'
import type { McpContentBlock } from './types'

/** Maximum bytes of all entries of a list, and of one of them. */
const LIST_BYTES = 2 ** 19
const ENTRY_BYTES = 2 ** 16
/** Characters of one string in a list. */
const LIST_CAP = 8192
/** More items of an array, or members of an object, are not truncated but left out: part of an `enum` would forbid the rest. */
const MAX_ITEMS = 256
const IDENTITY_BYTES = 4096
const META_BYTES = 2 ** 14
const INSTRUCTIONS = 8192
/** A page of an app that a host shows in a frame: it is not text for the model. */
const APP_BYTES = 2 ** 22
const MAX_COMPLETIONS = 100

const LISTS: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
])
/** Members of an entry of a list that hosts show, to users or to models. */
const SHOWN = new Set(['description', 'title', 'inputSchema', 'outputSchema', 'arguments', 'annotations', 'mimeType'])
const IDENTITY = ['name', 'uri', 'uriTemplate']

/** How values of a message are read. */
export interface Reader extends Look {
  /** The first characters of a string. */
  headOf(value: string, characters: number): string
  /** UTF-16 units of a string. */
  lengthOf(value: string): number
  /** True if a value represents one that is not here. */
  isStandIn(value: unknown): boolean
}

/** Returns a result of a method that is not a call, with long texts truncated; the same object (`===`) if none is long. */
export function truncateMethodResult(method: string, result: unknown, reader: Reader): unknown {
  if (!isRecord(result)) return result
  const key = listOf(method)
  if (key !== undefined) return truncateList(withoutLongMembers(result, key, reader), key, reader)
  if (method === 'initialize' || method === 'server/discover') {
    const capped = capMembers(result, new Set(['instructions']), INSTRUCTIONS, reader)
    return withoutLongMeta(capMembers(capped, new Set(['serverInfo', '_meta']), 1024, reader), reader)
  }
  if (method === 'completion/complete' && isRecord(result.completion)) {
    const short = picked(result, (name) => name === 'completion' || reader.sizeOf(result[name]) <= META_BYTES)
    const { completion } = result
    const capped = capDeep(completion, 1024, reader)
    const values = isRecord(capped) && Array.isArray(capped.values) ? capped.values : []
    if (capped === completion && values.length <= MAX_COMPLETIONS) return short
    return { ...short, completion: { ...(capped as object), values: values.slice(0, MAX_COMPLETIONS) } }
  }
  return result
}

/** The member of a result that is a list. */
export function listOf(method: string): string | undefined {
  return LISTS.get(method)
}

/** Losses of an entry of a list, in this order, until the entry has room, and then the whole list. */
const LOSSES: readonly ((entry: Record<string, unknown>, reader: Reader) => Record<string, unknown>)[] = [
  (entry, reader) => {
    const isShort = (name: string) => SHOWN.has(name) || IDENTITY.includes(name) || reader.sizeOf(entry[name]) <= 1024
    return picked(entry, isShort)
  },
  (entry, reader) => capMembers(entry, SHOWN, 1024, reader),
  (entry) => mapMembers(entry, (member, name) => (SHOWN.has(name) ? withoutMany(member) : member)),
  (entry, reader) => capMembers(entry, SHOWN, 128, reader),
  ({ outputSchema: _, ...entry }) => (entry.inputSchema ? { ...entry, inputSchema: { type: 'object' } } : entry),
  (entry) => picked(entry, (name) => IDENTITY.includes(name) || name === 'description' || name === 'inputSchema'),
]

/** The entries of a list in one budget. The last entries are left out if no other part can be. */
function truncateList(result: Record<string, unknown>, key: string, reader: Reader): Record<string, unknown> {
  const entries = result[key]
  if (!Array.isArray(entries)) return result
  const isKnown = (entry: unknown) =>
    reader.sizeOf(isRecord(entry) ? picked(entry, (name) => IDENTITY.includes(name)) : entry) <= IDENTITY_BYTES
  const known = entries.every(isKnown) ? entries : entries.filter(isKnown)
  const capped = mapSame(known, (entry) => (isRecord(entry) ? capMembers(entry, SHOWN, LIST_CAP, reader) : entry))
  let shown = mapSame(capped, (entry) => {
    let short: unknown = entry
    for (const lose of LOSSES) {
      if (!isRecord(short) || reader.sizeOf(short) <= ENTRY_BYTES) break
      short = lose(short, reader)
    }
    return short
  })
  for (const lose of LOSSES) {
    if (sizeOfAll(shown, reader) <= LIST_BYTES) break
    shown = mapSame(shown, (entry) => (isRecord(entry) ? lose(entry, reader) : entry))
  }
  let room = LIST_BYTES
  const firstOver = shown.findIndex((entry) => {
    room -= reader.sizeOf(entry) + 1
    return room < 0
  })
  if (firstOver !== -1) shown = shown.slice(0, firstOver)
  return shown === entries ? result : { ...result, [key]: shown }
}

function sizeOfAll(entries: readonly unknown[], reader: Reader): number {
  return entries.reduce<number>((total, entry) => total + reader.sizeOf(entry) + 1, 0)
}

/** The schema without its long lists; an object with too many properties is any object. */
function withoutMany(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) {
    return value.length > MAX_ITEMS ? undefined : mapSame(value, (item) => withoutMany(item, depth + 1))
  }
  if (!isRecord(value) || depth > 100) return value
  if (Object.keys(value).length > MAX_ITEMS) return undefined
  const { properties } = value
  if (isRecord(properties) && Object.keys(properties).length > MAX_ITEMS) return { type: 'object' }
  return mapMembers(value, (member) => withoutMany(member, depth + 1))
}

/** The object with other members, without those that become undefined; the same object (`===`) if none changes. */
export function mapMembers(
  value: Record<string, unknown>,
  change: (member: unknown, name: string) => unknown,
): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value)) {
    const other = change(member, name)
    if (other === member) continue
    changed ??= { ...value }
    if (other === undefined) delete changed[name]
    else changed[name] = other
  }
  return changed ?? value
}

function picked(value: Record<string, unknown>, isKept: (name: string) => boolean): Record<string, unknown> {
  return mapMembers(value, (member, name) => (isKept(name) ? member : undefined))
}

/**
 * The result without what is long beside its list: the cursor of the next page cannot be shortened. A list that cannot be
 * read is empty.
 */
function withoutLongMembers(result: Record<string, unknown>, key: string, reader: Reader): Record<string, unknown> {
  const isList = Array.isArray(result[key])
  const isShort = (name: string) =>
    (isList && name === key) || reader.sizeOf(result[name]) <= (name === '_meta' ? META_BYTES : IDENTITY_BYTES)
  const short = Object.keys(result).length > MAX_ITEMS ? {} : picked(result, isShort)
  return Object.hasOwn(short, key) && isList ? short : { ...short, [key]: isList ? result[key] : [] }
}

function withoutLongMeta(result: Record<string, unknown>, reader: Reader): Record<string, unknown> {
  if (result._meta === undefined || reader.sizeOf(result._meta) <= META_BYTES) return result
  const { _meta, ...rest } = result
  return rest
}

/** The object with long strings shortened in some of its members. */
function capMembers(
  value: Record<string, unknown>,
  names: ReadonlySet<string>,
  cap: number,
  reader: Reader,
): Record<string, unknown> {
  return mapMembers(value, (member, name) => (names.has(name) ? capDeep(member, cap, reader) : member))
}

/** Returns the value with long strings truncated; the value itself if there are none. A missing value becomes an empty object. */
export function capDeep(value: unknown, cap: number, reader: Reader, depth = 0): unknown {
  if (typeof value === 'string') return capText(value, cap, reader)
  if (typeof value !== 'object' || value === null || depth > 100) return value
  if (Array.isArray(value)) return mapSame(value, (item) => capDeep(item, cap, reader, depth + 1))
  if (!isRecord(value)) return value
  return mapMembers(value, (member) => capDeep(member, cap, reader, depth + 1))
}

function capText(value: string, cap: number, reader: Reader): unknown {
  const length = reader.lengthOf(value)
  if (length <= cap) return value
  if (reader.isStandIn(value)) {
    const head = reader.headOf(value, cap)
    // A container that was left out is not text.
    return head === '' ? {} : `${head}… [cut by Spillway: ${length} characters in all]`
  }
  return `${value.slice(0, cap).toWellFormed()}… [cut by Spillway: ${length} characters in all]`
}

export function mapSame<T>(items: readonly T[], change: (item: T) => T): T[] {
  let isSame = true
  const changed = items.map((item) => {
    const other = change(item)
    if (other !== item) isSame = false
    return other
  })
  return isSame ? (items as T[]) : changed
}

/** Where a block has the message that it is of. */
const OF = Symbol('of')

/**
 * A prompt or the contents of a resource as the result of a tool, so that it is bounded as one, and back. `undefined` for
 * other methods.
 */
export function asToolResult(
  method: string,
  result: unknown,
): { given: Record<string, unknown>; back(bounded: Record<string, unknown>): Record<string, unknown> } | undefined {
  if (!isRecord(result)) return undefined
  if (method === 'prompts/get' && Array.isArray(result.messages)) {
    const { messages, ...rest } = result
    const content = (messages as unknown[]).flatMap((message) => {
      if (!isRecord(message)) return [message]
      const { content: blocks, ...of } = message
      const all: unknown[] = Array.isArray(blocks) ? blocks : [blocks]
      return all.map((block) => (isRecord(block) ? { ...block, [OF]: of } : block))
    })
    return {
      given: { ...rest, content },
      back: ({ content: blocks, ...others }) => ({
        ...others,
        messages: (blocks as (McpContentBlock & { [OF]?: object })[]).map((block) => ({
          role: 'user',
          ...block[OF],
          content: block,
        })),
      }),
    }
  }
  if (method === 'resources/read' && Array.isArray(result.contents)) {
    const { contents, ...rest } = result
    const [first] = contents as unknown[]
    const uri = isRecord(first) && typeof first.uri === 'string' ? first.uri.slice(0, 1024) : ''
    const apps = contents.filter(isApp)
    const content = contents.filter((each) => !isApp(each)).map((resource: unknown) => ({ type: 'resource', resource }))
    return {
      given: { ...rest, content },
      back: ({ content: blocks, ...others }) => ({
        ...others,
        contents: [
          ...apps,
          ...(blocks as McpContentBlock[]).map((block) =>
            isRecord(block.resource) ? block.resource : { uri, mimeType: 'text/plain', text: block.text },
          ),
        ],
      }),
    }
  }
  return undefined
}

function isApp(resource: unknown): boolean {
  if (!isRecord(resource)) return false
  const { uri, mimeType, text } = resource
  const isPage = typeof mimeType === 'string' && mimeType.startsWith('text/html')
  return (
    isPage && typeof uri === 'string' && uri.startsWith('ui://') && typeof text === 'string' && text.length <= APP_BYTES
  )
}
