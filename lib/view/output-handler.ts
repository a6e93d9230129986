/** HTTP handler that serves outputs, approvals and audit logs to the components of `spillway/ui`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Check, checkOptions, flag, string, strings } from '../validation/options'
import { wrong } from '../validation/validate'
import { bearerOf, isOwnHost, isOwnOrigin, newToken, Tokens } from './request-checks'
import { refuse, sendError, sendJson, setHeaders } from './responses'
import { ROUTES, type Served } from './routes'
import { approvalSource, auditSource, outputSource } from './source-checks'
import type { ApprovalSource, AuditSource, OutputSource } from './sources'

/** Options of {@link createOutputHandler}. */
export interface OutputHandlerOptions {
  /** The outputs to serve, such as a `TruncationStorage`. */
  outputs: OutputSource
  /** Questions to show and to answer, such as a `PermissionGate`. @default none */
  approvals?: ApprovalSource
  /** @default none */
  audit?: AuditSource
  /** Serves only the outputs of this session. @default all */
  sessionId?: string
  /** Lets pages remove outputs and sweep the store. @default false */
  allowRemove?: boolean
  /**
   * Token that requests bring in `Authorization: Bearer …`: 16 to 512 letters, digits or `.~+/=_-`.
   * @default a random one
   */
  token?: string
  /** Path prefix of the handler's addresses. @default '/spillway' */
  base?: string
  /**
   * Accepted values of the `Host` header, such as `desk.example:8443`; others are refused to prevent DNS rebinding.
   * @default 127.0.0.1, localhost and [::1] with any port
   */
  hosts?: readonly string[]
  /** Other origins whose pages may call the handler, such as `http://localhost:5173`. @default none but the handler's own */
  origins?: readonly string[]
}

/** A handler for `http.createServer`, Express or Connect. */
export interface OutputHandler {
  /** Answers a request. Requests outside `base` are passed to `next`, or answered with 404. */
  (request: IncomingMessage, response: ServerResponse, next?: () => void): void
  /** The token that requests must bring. */
  readonly token: string
  /**
   * Makes a one-time token: `POST {base}/session` with it answers `{ token }`, once and within 10 minutes. A URL with it can be
   * printed or opened, and is useless afterwards.
   */
  issueLogin(): string
}

const OPTIONS: Readonly<Record<string, Check>> = {
  outputs: outputSource,
  approvals: approvalSource,
  audit: auditSource,
  sessionId: string,
  allowRemove: flag,
  token: [
    '16 to 512 letters, digits or .~+/=_-',
    (value) => typeof value === 'string' && /^[\w.~+/=-]{16,512}$/.test(value),
  ],
  base: ['a path such as /spillway', (value) => typeof value === 'string' && /^(\/[\w.-]+)+$/.test(value)],
  hosts: strings,
  origins: strings,
}

const LOGIN_MS = 600_000

/**
 * Creates a handler that serves saved outputs, and on request approvals and audit logs, to `connect` of `spillway/ui`.
 *
 * Every request needs a host of `hosts`, no foreign origin, and the token. Paths are checked by
 * the source: a `TruncationStorage` reads only files that it saved, links resolved. Answers are JSON in UTF-8, errors
 * `{ error: { code, message } }`. The handler does not listen by itself: bind the server to 127.0.0.1.
 *
 * @example
 * const handler = createOutputHandler({ outputs: new TruncationStorage() })
 * createServer(handler).listen(0, '127.0.0.1')
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export function createOutputHandler(options: OutputHandlerOptions): OutputHandler {
  checkOptions('options', options, OPTIONS)
  if (options.outputs === undefined) throw wrong('options.outputs', undefined, outputSource[0])
  const { base = '/spillway', hosts, origins = [], token = newToken(), ...sources } = options
  const tokens = new Tokens(token)
  const served: Served = { ...sources, base, tokens }

  const answer = async (request: IncomingMessage, response: ServerResponse, next?: () => void): Promise<void> => {
    const url = addressOf(request)
    const name = url?.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length + 1) : undefined
    if (url === undefined || name === undefined) {
      if (next) next()
      else refuse(response, 'NOT_FOUND', 'There is nothing at this address.')
      return
    }
    setHeaders(response)
    if (!isOwnHost(request, hosts)) return refuse(response, 'FORBIDDEN', 'This host is not served.')
    if (!isOwnOrigin(request, origins)) return refuse(response, 'FORBIDDEN', 'This origin is not served.')
    if (allowOrigin(request, response, origins)) return
    if (request.method === 'POST' && name === 'session') {
      if (!tokens.redeem(bearerOf(request), 'login'))
        return refuse(response, 'UNAUTHORIZED', 'This one-time token is used or expired.')
      return sendJson(response, { token })
    }
    const isTicket = name === 'download' && request.method === 'GET'
    if (!isTicket && !tokens.isIn(request)) return refuse(response, 'UNAUTHORIZED', 'The token is missing or wrong.')
    const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined
    if (route === undefined) return refuse(response, 'NOT_FOUND', 'There is nothing at this address.')
    const act = request.method === 'GET' ? route.get : request.method === 'POST' ? route.post : undefined
    if (act === undefined) return refuse(response, 'METHOD_NOT_ALLOWED', 'This method is not served.')
    await act(served, { request, response, query: url.searchParams })
  }

  const handler = (request: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    answer(request, response, next).catch((error) => sendError(response, error))
  }
  return Object.assign(handler, { token, issueLogin: () => tokens.issue(LOGIN_MS, 'login') })
}

/** The address of a request; undefined if it cannot be read. */
function addressOf({ url = '' }: IncomingMessage): URL | undefined {
  // An address with a host of its own is one for a proxy.
  return url.startsWith('/') && !url.startsWith('//') && URL.canParse(url, 'http://localhost')
    ? new URL(url, 'http://localhost')
    : undefined
}

/** Lets a page of another allowed origin read the answer. Returns true if the request only asked whether it may. */
function allowOrigin(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  const { origin } = request.headers
  if (origin !== undefined && origins.includes(origin)) {
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-allow-headers', 'authorization, content-type')
    response.setHeader('cross-origin-resource-policy', 'cross-origin')
    response.setHeader('vary', 'origin')
  }
  if (request.method !== 'OPTIONS') return false
  response.writeHead(204).end()
  return true
}
