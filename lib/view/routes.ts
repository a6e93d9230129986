/** The addresses of the handler. */

import { constants, createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { GateResponse } from '../approval/gate-options'
import { SpillwayError } from '../errors'
import type { SuggestedRule } from '../permission/types'
import { canSay, isSavedOutput } from '../storage/saved-outputs'
import { wrong } from '../validation/validate'
import {
  numberIn,
  parametersOf,
  pathParameter,
  RANGE_PARAMETERS,
  rangeIn,
  SEARCH_PARAMETERS,
  searchIn,
} from './parameters'
import type { Tokens } from './request-checks'
import { readBody, refuse, sendEvents, sendJson } from './responses'
import type { ApprovalSource, AuditSource, OutputSource } from './sources'

/** The sources of a handler. */
export interface Served {
  outputs: OutputSource
  approvals?: ApprovalSource
  audit?: AuditSource
  sessionId?: string
  allowRemove?: boolean
  base: string
  tokens: Tokens
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  query: URLSearchParams
}

type Act = (served: Served, exchange: Exchange) => void | Promise<void>

/** Milliseconds within which a download must begin. */
const TICKET_MS = 60_000
/** Milliseconds between two looks at the questions of a source that tells no listener. */
const PENDING_MS = 250

export const ROUTES: Readonly<Record<string, { get?: Act; post?: Act }>> = {
  about: { get: about },
  outputs: { get: list },
  range: { get: range },
  search: { get: search },
  follow: { get: follow },
  download: { get: download, post: allowDownload },
  open: { post: openOutput },
  usage: { get: usage },
  remove: { post: remove },
  sweep: { post: sweep },
  approvals: { get: pending, post: respond },
  'approvals/follow': { get: followApprovals },
  audit: { get: auditLogs },
  'audit/records': { get: auditRecords },
}

/** The features that the client may use. */
function about({ outputs, approvals, audit, allowRemove }: Served, { response }: Exchange): void {
  sendJson(response, {
    list: outputs.list !== undefined,
    search: outputs.search !== undefined,
    follow: outputs.follow !== undefined,
    open: outputs.open !== undefined,
    download: canSay(outputs),
    usage: outputs.usage !== undefined,
    remove: allowRemove === true && outputs.remove !== undefined,
    sweep: allowRemove === true && outputs.sweep !== undefined,
    approvals: approvals !== undefined,
    audit: audit !== undefined,
  })
}

const accessOf = ({ sessionId }: Served) => (sessionId === undefined ? {} : { sessionId })

async function list(served: Served, { response, query }: Exchange): Promise<void> {
  parametersOf(query, [])
  const { outputs } = served
  if (outputs.list === undefined) return missing(response)
  sendJson(response, await outputs.list(accessOf(served)))
}

async function range(served: Served, { response, query }: Exchange): Promise<void> {
  const parameters = parametersOf(query, RANGE_PARAMETERS)
  sendJson(response, await served.outputs.readRange(pathParameter(parameters), rangeIn(parameters), accessOf(served)))
}

async function search(served: Served, { response, query }: Exchange): Promise<void> {
  const parameters = parametersOf(query, SEARCH_PARAMETERS)
  const { outputs } = served
  if (outputs.search === undefined) return missing(response)
  // A search that the page has given up stops.
  const stop = new AbortController()
  response.on('close', () => stop.abort())
  const options = { ...searchIn(parameters), ...accessOf(served), signal: stop.signal }
  try {
    sendJson(response, await outputs.search(pathParameter(parameters), parameters.get('pattern') ?? '', options))
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
}

async function follow(served: Served, { response, query }: Exchange): Promise<void> {
  const path = pathParameter(parametersOf(query, ['path']))
  const { outputs } = served
  if (outputs.follow === undefined) return missing(response)
  await checkReadable(served, path)
  sendEvents(response, (send, end) =>
    outputs.follow!(path, (progress) => {
      send(progress)
      if (progress.isFinished) end()
    }),
  )
}

/** Answers with the source's own error for a path that may not be read. */
async function checkReadable(served: Served, path: string): Promise<void> {
  await served.outputs.readRange(path, { fromByte: 0, byteCount: 1 }, accessOf(served))
}

/** A browser saves a file from an address alone, so the address has a ticket, which is valid once. */
async function allowDownload(served: Served, { request, response }: Exchange): Promise<void> {
  const { path } = textsOf(await readBody(request), 'path')
  if (!canSay(served.outputs)) return missing(response)
  await checkReadable(served, path)
  const ticket = served.tokens.issue(TICKET_MS, `download ${path}`)
  const query = new URLSearchParams({ path, ticket })
  sendJson(response, { url: `${served.base}/download?${query}` })
}

async function download(served: Served, { response, query }: Exchange): Promise<void> {
  const parameters = parametersOf(query, ['path', 'ticket'])
  const path = pathParameter(parameters)
  const { outputs, tokens } = served
  if (!canSay(outputs)) return missing(response)
  if (!tokens.redeem(parameters.get('ticket'), `download ${path}`)) {
    return refuse(response, 'UNAUTHORIZED', 'This address was used or has expired.')
  }
  if (!isSavedOutput(path, outputs)) {
    throw new SpillwayError('STORAGE_NOT_OWNED', `${path}: is not a saved output of this store`, { field: 'path' })
  }
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((cause) => {
    throw new SpillwayError('STORAGE_NOT_FOUND', `${path}: is not a file`, { field: 'path', cause })
  })
  const { size } = await file.stat()
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': size,
    'content-disposition': `attachment; filename="${basename(path).replace(/[^\w.-]/g, '_')}"`,
  })
  // Not more than was announced: an output may still grow.
  const end = Math.max(0, size - 1)
  const bytes = createReadStream('', { fd: file, start: 0, end, highWaterMark: 2 ** 18 })
  await pipeline(bytes, response).catch(() => response.destroy())
}

async function openOutput(served: Served, { request, response }: Exchange): Promise<void> {
  const { path } = textsOf(await readBody(request), 'path')
  const { outputs } = served
  if (outputs.open === undefined) return missing(response)
  await checkReadable(served, path)
  await outputs.open(path)
  sendJson(response, null)
}

async function usage({ outputs }: Served, { response }: Exchange): Promise<void> {
  if (outputs.usage === undefined) return missing(response)
  sendJson(response, await outputs.usage())
}

async function remove(served: Served, { request, response }: Exchange): Promise<void> {
  const { path } = textsOf(await readBody(request), 'path')
  const { outputs, allowRemove } = served
  if (allowRemove !== true || outputs.remove === undefined) return missing(response)
  await checkReadable(served, path)
  sendJson(response, { removed: await outputs.remove(path) })
}

async function sweep({ outputs, allowRemove }: Served, { request, response }: Exchange): Promise<void> {
  await readBody(request)
  if (allowRemove !== true || outputs.sweep === undefined) return missing(response)
  sendJson(response, await outputs.sweep())
}

async function pending({ approvals }: Served, { response }: Exchange): Promise<void> {
  if (approvals === undefined) return missing(response)
  sendJson(response, await approvals.pending())
}

async function respond({ approvals }: Served, { request, response }: Exchange): Promise<void> {
  if (approvals === undefined) return missing(response)
  const { id, response: said, rule } = await readBody(request)
  if (typeof id !== 'string') throw wrong('id', id, 'the id of a question that waits')
  await approvals.respond(id, said as GateResponse, rule as SuggestedRule | undefined)
  sendJson(response, null)
}

async function followApprovals({ approvals }: Served, { response }: Exchange): Promise<void> {
  if (approvals === undefined) return missing(response)
  sendEvents(response, (send) => {
    if (approvals.listen) return approvals.listen(() => send({}))
    let known = ''
    const asked = async () => approvals.pending()
    const timer = setInterval(async () => {
      const questions = await asked().catch(() => [])
      const ids = questions.map(({ id }) => id).join('\n')
      if (ids !== known) send({})
      known = ids
    }, PENDING_MS)
    return () => clearInterval(timer)
  })
}

async function auditLogs({ audit }: Served, { response }: Exchange): Promise<void> {
  if (audit === undefined) return missing(response)
  sendJson(response, await audit.list())
}

async function auditRecords({ audit }: Served, { response, query }: Exchange): Promise<void> {
  if (audit === undefined) return missing(response)
  const parameters = parametersOf(query, ['file', 'skip', 'count'])
  const file = parameters.get('file') ?? ''
  const [skip, count] = [numberIn(parameters, 'skip'), numberIn(parameters, 'count')]
  sendJson(response, await audit.read(file, { skip, count }))
}

function missing(response: ServerResponse): void {
  refuse(response, 'NOT_OFFERED', 'This server does not offer it.')
}

function textsOf<Name extends string>(body: Record<string, unknown>, ...names: Name[]): Record<Name, string> {
  for (const name of names) if (typeof body[name] !== 'string') throw wrong(name, body[name], 'a string')
  return body as Record<Name, string>
}
