// The cost of requests: a prefix that the last request had is read from the cache, everything after the first change is
// paid as if it were new.

export const PRICES = { read: 0.1, write: 1.25 }

/** The cost of one request after another; `lifetime` is how long the cache lives, in milliseconds. */
export class Meter {
  cost = 0
  tokens = 0
  breaks = 0
  #last

  constructor(lifetime, prices = PRICES) {
    this.lifetime = lifetime
    this.prices = prices
  }

  /** Books a request of these parts: each has something that names it, and its tokens. */
  request(parts, pause) {
    const total = parts.reduce((sum, { tokens }) => sum + tokens, 0)
    const { same, count } = this.#prefix(parts)
    const cached = pause > this.lifetime ? 0 : same
    if (this.#last !== undefined && count < this.#last.length) this.breaks++
    this.cost += this.prices.read * cached + this.prices.write * (total - cached)
    this.tokens += total
    this.#last = parts
  }

  #prefix(parts) {
    const last = this.#last ?? []
    let same = 0
    let count = 0
    while (count < parts.length && count < last.length && isSame(parts[count], last[count]))
      same += parts[count++].tokens
    return { same, count }
  }
}

const isSame = (a, b) => a.of === b.of && a.text === b.text
