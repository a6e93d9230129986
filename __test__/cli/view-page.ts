/** `spillway view` as a process, and the requests of its page. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { PendingRequest } from 'spillway'
import { CLI, start } from './support'

export interface Viewed {
  child: ChildProcess
  origin: string
  /** Parameters behind the # of the address. */
  given: URLSearchParams
}

export async function view(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Viewed> {
  const child = start(process.execPath, [CLI, 'view', '--print', ...args], { env })
  const [line] = await once(child.stdout!, 'data')
  const { origin, hash } = new URL(String(line).trim())
  return { child, origin, given: new URLSearchParams(hash.slice(1)) }
}

export async function login({ origin, given }: Viewed): Promise<Response> {
  return fetch(`${origin}/spillway/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${given.get('login')}`, 'content-type': 'application/json' },
    body: '{}',
  })
}

/** Reads the questions that the page shows, or sends an answer. */
export async function approvalsOn(viewed: Viewed): Promise<(answer?: object) => Promise<unknown>> {
  const { token } = (await (await login(viewed)).json()) as { token: string }
  return async (answer) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = answer === undefined ? {} : { method: 'POST', body: JSON.stringify(answer) }
    return (await fetch(`${viewed.origin}/spillway/approvals`, { headers, ...init })).json()
  }
}

/** Waits until the page shows a question. */
export async function questionsOn(send: (answer?: object) => Promise<unknown>): Promise<PendingRequest[]> {
  for (;;) {
    const pending = (await send()) as PendingRequest[]
    if (pending.length > 0) return pending
  }
}
