/** Answers of the handler: JSON, streams of events, files. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { SpillwayError } from '../errors'
import { deepJsonOf } from '../util/deep-json'
import { invalid, isRecord } from '../validation/validate'

const MAX_BODY_BYTES = 64 * 1024
/** Milliseconds between two comments in a stream, so that nothing on the way closes it. */
const HEARTBEAT_MS = 15_000

/** The headers of every answer. */
export function setHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('x-content-type-options', 'nosniff')
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  // Arguments and records of others may be nested deeper than the stack.
  const text = deepJsonOf(value ?? null)
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(text)
}

/** Why a request is refused, with the status of the answer. */
const REFUSALS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  NOT_OFFERED: 404,
  METHOD_NOT_ALLOWED: 405,
} as const

/** Refuses a request. */
export function refuse(response: ServerResponse, code: keyof typeof REFUSALS, message: string): void {
  sendJson(response, { error: { code, message } }, REFUSALS[code])
}

const STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  STORAGE_NOT_OWNED: 403,
  STORAGE_NOT_FOUND: 404,
}

/** Sends an error as data. The message of an error of another kind may name what the page need not know. */
export function sendError(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const isOurs = thrown instanceof SpillwayError
  const { code, message, field } = isOurs
    ? thrown
    : { code: 'INTERNAL', message: 'The server failed.', field: undefined }
  sendJson(response, { error: { code, message, ...(field !== undefined && { field }) } }, STATUS[code] ?? 500)
}

/** Reads the JSON object in the body of a request. */
export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  // A page of another origin can send this type only after the server allowed it.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    throw invalid('body', 'expected the type application/json')
  }
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MAX_BODY_BYTES) throw invalid('body', `expected at most ${MAX_BODY_BYTES} bytes`)
    pieces.push(piece)
  }
  let body: unknown
  try {
    body = JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch (cause) {
    throw invalid('body', 'expected JSON', { cause })
  }
  if (!isRecord(body)) throw invalid('body', 'expected an object')
  return body
}

/** Bytes of events that wait for a reader. One that is slower loses the stream, and may open it again. */
const MAX_UNREAD_BYTES = 2 ** 20

/**
 * Sends a stream of events until the client closes it or `start` calls `end`.
 * @param start begins to send, and returns a function that stops it
 */
export function sendEvents(
  response: ServerResponse,
  start: (send: (event: unknown) => void, end: () => void) => () => void,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(':\n\n')
  const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS)
  heartbeat.unref()
  let stop: (() => void) | undefined
  const close = () => {
    clearInterval(heartbeat)
    stop?.()
    stop = undefined
  }
  response.on('close', close)
  stop = start(
    (event) => {
      response.write(`data: ${JSON.stringify(event)}\n\n`)
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
    },
    () => response.end(),
  )
  if (response.destroyed) close()
}
