/** The headers that every request to a server over HTTP has besides its message. */

import type { IncomingMessage } from 'node:http'
import { isRecord } from '../../../validation/validate'
import { type Message, PROTOCOL_VERSION } from '../types'

/** The revision that has no sessions, and in which headers repeat what a message is about. */
const FIRST_WITH_NAMES = '2026-07-28'
/** The member of the parameters that says what a method is about. */
const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

export class HttpSession {
  /** The id that the server gave. */
  id: string | undefined
  /** The version that `initialize` agreed on. */
  version: string | undefined

  /** Takes the id from the answer to `initialize`. */
  begin({ headers }: IncomingMessage): void {
    const id = headers['mcp-session-id']
    this.id = typeof id === 'string' && /^[\x21-\x7e]+$/.test(id) ? id : undefined
  }

  /** The headers of a request about a message; of one about none, such as the stream of the server. */
  headersFor(message: Message = {}): Record<string, string> {
    if (message.method === 'initialize') return {}
    const own = versionOf(message)
    const version = own ?? this.version
    return {
      ...(this.id !== undefined && own === undefined && { 'mcp-session-id': this.id }),
      ...(version !== undefined && { 'mcp-protocol-version': version }),
      ...(own !== undefined && own >= FIRST_WITH_NAMES && namesOf(message)),
    }
  }
}

/** The version that a message names itself, as those without a session do. */
export function versionOf({ params }: Message): string | undefined {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
  const version = meta[PROTOCOL_VERSION]
  return typeof version === 'string' && /^[\w.-]{1,64}$/.test(version) ? version : undefined
}

function namesOf({ method, params }: Message): Record<string, string> {
  if (typeof method !== 'string') return {}
  const name = isRecord(params) ? params[NAMED_BY.get(method) ?? ''] : undefined
  return { 'mcp-method': encoded(method), ...(typeof name === 'string' && { 'mcp-name': encoded(name) }) }
}

/** Headers can contain printable ASCII; other text is sent as marked base64. */
function encoded(value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !value.startsWith('=?base64?')
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
