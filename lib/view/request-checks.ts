/** Checks of a request before it is answered: its host, its origin, its token. */

import type { IncomingMessage } from 'node:http'
import { randomBytes, sha256 } from '../util/crypto'

/** Names under which a server on the loopback interface may be addressed. Any other is a name that was made to point here. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/** True if the request names one of our hosts: a page of another name that resolves to this address is refused. */
export function isOwnHost({ headers }: IncomingMessage, hosts: readonly string[] | undefined): boolean {
  const { host } = headers
  if (host === undefined) return false
  if (hosts !== undefined) return hosts.includes(host)
  return LOOPBACK.includes(host.replace(/:\d{1,5}$/, ''))
}

/** True if the request comes from a page of this server, of an allowed origin, or from no page. */
export function isOwnOrigin({ headers, socket }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (origin !== undefined) {
    const scheme = 'encrypted' in socket ? 'https' : 'http'
    return origin === `${scheme}://${host}` || origins.includes(origin)
  }
  // Browsers send no origin with a plain GET; where they say that it comes from another site or port, it is refused.
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Tokens of a handler. Only hashes are compared, so that the time of a comparison says nothing. */
export class Tokens {
  private readonly hash: string
  /** Hashes of one-time tokens, and when they expire, in milliseconds since the epoch. */
  private readonly oneTime = new Map<string, number>()

  constructor(readonly token: string) {
    this.hash = sha256(token)
  }

  /** True if the request has the token in its header `Authorization: Bearer …`. */
  isIn(request: IncomingMessage): boolean {
    const token = bearerOf(request)
    return token !== undefined && sha256(token) === this.hash
  }

  /** Makes a token that can be exchanged once, within `ms` milliseconds, for what it is issued for. */
  issue(ms: number, purpose: string): string {
    const token = newToken()
    for (const [known, until] of this.oneTime) if (until < Date.now()) this.oneTime.delete(known)
    this.oneTime.set(sha256(`${purpose}\n${token}`), Date.now() + ms)
    return token
  }

  /** Takes a one-time token. Returns true the first time, if it has not expired. */
  redeem(token: string | undefined, purpose: string): boolean {
    if (token === undefined) return false
    const hash = sha256(`${purpose}\n${token}`)
    const until = this.oneTime.get(hash)
    this.oneTime.delete(hash)
    return until !== undefined && until >= Date.now()
  }
}

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The token of the header `Authorization: Bearer …`. */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer ([\w.~+/=-]{1,512})$/.exec(headers.authorization ?? '')?.[1]
}
