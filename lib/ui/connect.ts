/** Sources of the components over HTTP, for a server with `createOutputHandler` of `spillway/view`. */

import type { RangeResult } from 'spillway'
import type { ApprovalSource, AuditSource, OutputProgress, OutputSource } from 'spillway/view'

/** Where a handler is, and what opens it. */
export interface ConnectOptions {
  /** Address of the handler. @default '/spillway' */
  base?: string
  /** The handler's token. */
  token?: string
  /** A one-time token of `issueLogin` instead; it is exchanged for the handler's. */
  login?: string
}

/** Sources of a server. Members of `outputs` that it does not offer are absent. */
export interface ViewConnection {
  outputs: OutputSource
  approvals?: ApprovalSource
  audit?: AuditSource
  /** The token, to connect again after a reload. */
  token: string
}

type Query = Record<string, string | number | boolean | undefined>

/** Milliseconds before a stream of events that broke is opened again. */
const AGAIN_MS = 1000

/**
 * Connects to a server with `createOutputHandler`.
 *
 * @example
 * const { outputs } = await connect({ token })
 * const view = document.querySelector('spillway-output')
 * if (view) view.source = outputs
 */
export async function connect({ base = '/spillway', token, login }: ConnectOptions): Promise<ViewConnection> {
  const known = token ?? ((await new Requests(base, login ?? '').post('session', {})) as { token: string }).token
  const requests = new Requests(base, known)
  const about = (await requests.get('about')) as Record<string, boolean>
  return {
    outputs: outputsOf(requests, about),
    ...(about.approvals && { approvals: approvalsOf(requests) }),
    ...(about.audit && { audit: auditOf(requests) }),
    token: known,
  }
}

class Requests {
  constructor(
    private readonly base: string,
    private readonly token: string,
  ) {}

  get<Answer>(name: string, parameters: Query = {}, signal?: AbortSignal): Promise<Answer> {
    return this.send(`${name}${queryOf(parameters)}`, { signal })
  }

  post<Answer>(name: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return this.send(name, { method: 'POST', body: JSON.stringify(body), headers })
  }

  private async send<Answer>(address: string, init: RequestInit): Promise<Answer> {
    const response = await this.fetch(address, init)
    const answer = await response.json()
    if (response.ok) return answer
    const { code, message, field } = answer.error
    throw Object.assign(new Error(message), { code, field })
  }

  private fetch(address: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.token}` }
    return fetch(`${this.base}/${address}`, { ...init, headers })
  }

  /**
   * Listens to a stream of events, and opens it again when it breaks; `EventSource` could not send the token. Events from before a
   * stream was open are not in it.
   */
  listen(name: string, parameters: Query, listener: (event: unknown) => boolean, opened = () => {}): () => void {
    const stop = new AbortController()
    const { signal } = stop
    const read = async () => {
      const response = await this.fetch(`${name}${queryOf(parameters)}`, { signal })
      if (!response.ok || response.body === null) return
      opened()
      let text = ''
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const events = `${text}${piece}`.split('\n\n')
        text = events.pop() ?? ''
        for (const event of events) {
          if (event.startsWith('data: ') && listener(JSON.parse(event.slice(6)))) return stop.abort()
        }
      }
    }
    const keep = async () => {
      while (!signal.aborted) {
        await read().catch(() => {})
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    void keep()
    return () => stop.abort()
  }
}

function queryOf(parameters: Query): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}

function outputsOf(requests: Requests, about: Record<string, boolean>): OutputSource {
  const all: Required<OutputSource> = {
    readRange: (path, { signal, ...range }) => requests.get<RangeResult>('range', { path, ...range }, signal),
    search: (path, pattern, { signal, sessionId: _, context, ...options } = {}) =>
      requests.get('search', { path, pattern, ...options, ...(typeof context === 'number' && { context }) }, signal),
    list: () => requests.get('outputs'),
    follow: (path, listener) =>
      requests.listen('follow', { path }, (event) => {
        const progress = event as OutputProgress
        listener(progress)
        return progress.isFinished
      }),
    open: (path) => requests.post('open', { path }),
    downloadUrl: async (path) => {
      const { url } = await requests.post<{ url: string }>('download', { path })
      return url
    },
    usage: () => requests.get('usage'),
    remove: async (path) => (await requests.post<{ removed: boolean }>('remove', { path })).removed,
    sweep: () => requests.post('sweep', {}),
  }
  const offered = { ...about, readRange: true, downloadUrl: about.download }
  const entries = Object.entries(all).filter(([name]) => offered[name as keyof typeof offered])
  return Object.fromEntries(entries) as unknown as OutputSource
}

function approvalsOf(requests: Requests): ApprovalSource {
  return {
    pending: () => requests.get('approvals'),
    respond: (id, response, rule) => requests.post('approvals', { id, response, rule }),
    listen: (listener) =>
      requests.listen(
        'approvals/follow',
        {},
        () => {
          listener()
          return false
        },
        listener,
      ),
  }
}

function auditOf(requests: Requests): AuditSource {
  return {
    list: () => requests.get('audit'),
    read: (file, range = {}) => requests.get('audit/records', { file, ...range }),
  }
}
