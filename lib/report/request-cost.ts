/**
 * The cost of requests: a prefix that the last request had is read from the cache, and everything after the first change
 * is paid as if it were new.
 */

/** A part of a request: something that names it, the text if it is not the original one, and its tokens. */
export interface RequestPart {
  of: object
  text?: string
  tokens: number
}

/** Why a token was paid in full: it is new, the cache had expired, or something before it changed. */
export type PaidAs = 'cached' | 'new' | 'expired' | 'rewritten'

/** Counts the tokens of one request after another, by how they are paid. */
export class RequestMeter {
  readonly tokens: Record<PaidAs, number> = { cached: 0, new: 0, expired: 0, rewritten: 0 }
  requests = 0
  /** Requests whose beginning differs from the request before. */
  breaks = 0
  private last: readonly RequestPart[] = []

  /** @param lifetimeMs how long the provider's cache lives */
  constructor(private readonly lifetimeMs: number) {}

  /** Counts a request; `book` receives each part and how it is paid. */
  request(parts: readonly RequestPart[], pause: number, book?: (part: RequestPart, as: PaidAs) => void): void {
    const { last, tokens } = this
    const isCold = pause > this.lifetimeMs
    let isSame = true
    let same = 0
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as RequestPart
      isSame &&= at < last.length && isEqual(part, last[at] as RequestPart)
      if (isSame) same++
      const as = at >= last.length ? 'new' : isCold ? 'expired' : isSame ? 'cached' : 'rewritten'
      tokens[as] += part.tokens
      book?.(part, as)
    }
    if (same < last.length) this.breaks++
    this.requests++
    this.last = parts
  }

  /** Tokens of all requests. */
  get total(): number {
    const { cached } = this.tokens
    return cached + this.paid
  }

  /** Tokens that were not read from the cache. */
  get paid(): number {
    const { new: fresh, expired, rewritten } = this.tokens
    return fresh + expired + rewritten
  }

  /** Priced tokens of all requests. */
  cost({ read, write }: { read: number; write: number }): number {
    return read * this.tokens.cached + write * this.paid
  }
}

function isEqual(a: RequestPart, b: RequestPart): boolean {
  return a.of === b.of && a.text === b.text
}
