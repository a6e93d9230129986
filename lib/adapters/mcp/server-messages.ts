/** Messages of the server in the form for the host: with the required members, and within the limits. */

import { isRecord } from '../../validation/validate'
import { capDeep, mapMembers, mapSame } from './answers'
import type { Line } from './json-rpc-stream'
import { lengthOf, readerOf } from './line-reader'
import type { McpServerExit } from './options'
import { META_KEY, type Message } from './types'

/** Most bytes of the unknown members of an answer. */
const ODD_BYTES = 1024
/** Hosts read no metadata that lies deeper. */
const MAX_DEPTH = 100

/** Returns the sentence about a server that has ended. */
export const endText = (name: string, { code, signal }: McpServerExit): string =>
  `the server "${name}" has ended (${signal ?? `code ${code}`})`

/** Methods whose results are looked at. */
export function isKnown(method: string): boolean {
  return (
    method === 'initialize' ||
    method === 'server/discover' ||
    method === 'completion/complete' ||
    method.endsWith('/list')
  )
}

/** The capabilities of a server, with the promise to report changes: our tools may be offered here later. */
export function withChanges(result: unknown): unknown {
  if (!isRecord(result) || !isRecord(result.capabilities) || !isRecord(result.capabilities.tools)) return result
  const { capabilities } = result
  const { tools } = capabilities
  if (!isRecord(tools) || tools.listChanged === true) return result
  return { ...result, capabilities: { ...capabilities, tools: { ...tools, listChanged: true } } }
}

export function isList(result: unknown): boolean {
  return isRecord(result) && Array.isArray(result.tools)
}

/** Returns an answer with the members of answers only; the same object (`===`) if it has no others. */
export function plainAnswer(line: Line, message: Message): Message {
  const { jsonrpc, id, result, error, ...odd } = message as Message & Record<string, unknown>
  const isFailure = error !== undefined && error !== null
  const isBoth = isFailure && result !== undefined
  const isSmall = odd.method === undefined && readerOf(line).sizeOf({ ...odd, jsonrpc }) <= ODD_BYTES
  if (isSmall && !isBoth && !('error' in message && error === null)) return line.isMended ? { ...message } : message
  const said = isFailure
    ? { error: result === undefined || result === null ? error : withResult(error, result) }
    : { result }
  return { jsonrpc: '2.0', id, ...said }
}

/** An answer with both a result and an error counts as failed. Its result becomes data of the error, so that the limits apply to it. */
function withResult(error: unknown, result: unknown): object {
  return isRecord(error)
    ? { ...error, data: { data: error.data, result } }
    : { code: -32603, message: error, data: { result } }
}

export function failedAnswer({ id }: Message): Message {
  return { jsonrpc: '2.0', id, error: { code: -32603, message: 'Spillway could not bound the answer of the server.' } }
}

/** Returns the message without the facts about a truncation that only we may state; the same object (`===`) if it states none. */
export function withoutOurMeta(message: Message): Message {
  return withoutFacts(message, 0) as Message
}

/** @param isMeta whether the value is metadata */
function withoutFacts(value: unknown, depth: number, isMeta = false): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return mapSame(value, (item) => withoutFacts(item, depth + 1))
  if (!isRecord(value)) return value
  return mapMembers(value, (member, name) =>
    isMeta && name === META_KEY ? undefined : withoutFacts(member, depth + 1, name === '_meta'),
  )
}

/** Logs and progress of a server must keep the limits, too. */
export function shortNotification(line: Line, { method, params }: Message, maxBytes: number): Message {
  const reader = readerOf(line)
  let shown: unknown = params
  for (const cap of [4096, 256]) {
    shown = capDeep(params, cap, reader)
    if (reader.sizeOf(shown) <= maxBytes) break
    if (cap !== 256) continue
    const { level, logger, progressToken, progress, total } = isRecord(params) ? params : ({} as never)
    const left = `${lengthOf(line)} bytes left out by Spillway`
    shown = capDeep({ level, logger, progressToken, progress, total, message: left, data: left }, cap, reader)
  }
  return { jsonrpc: '2.0', method, params: shown }
}
