/** Requests of the host that wait for the server, found again by the id of an answer, and the ids that an unreadable line names. */

import { isExactNumber } from '../../util/lossless-json'
import type { Line } from './json-rpc-stream'

/** Maximum number of remembered requests whose answer never came. */
const MAX_PENDING = 10_000
/** Where an id is looked for in a message that cannot be read. */
const LOOKED_AT = 2 ** 16

/** A request of the host that the server has not answered. */
export interface Pending {
  method: string
  /** The `tools/call` request. */
  tool?: string
  id: string
  /** The id itself. */
  given: unknown
  /** The command that the call runs, if its tool is a shell. */
  command?: string | undefined
  /** The call as it was judged. */
  judged?: string
}

/** Kept by the value of the id: hosts take the text of a number for the number, however it is written. */
export class PendingRequests {
  private readonly waiting = new Map<string, Pending[]>()
  private size = 0

  get count(): number {
    return this.size
  }

  /** The request that waits, if it is the only one. */
  only(): Pending | undefined {
    return this.size === 1 ? [...this.waiting.values()][0]?.[0] : undefined
  }

  /** The request that an id answers. */
  find(id: unknown): Pending | undefined {
    const waiting = this.waiting.get(valueKey(id) ?? '')
    const exact = keyOf(id)
    return waiting?.find((one) => one.id === exact) ?? waiting?.[0]
  }

  take(id: unknown): Pending | undefined {
    const found = this.find(id)
    if (found === undefined) return undefined
    const value = valueKey(found.given)!
    const left = this.waiting.get(value)!.filter((one) => one !== found)
    if (left.length > 0) this.waiting.set(value, left)
    else this.waiting.delete(value)
    this.size -= 1
    return found
  }

  /** Takes all that wait. */
  takeAll(): Pending[] {
    const all = [...this.waiting.values()].flat()
    this.waiting.clear()
    this.size = 0
    return all
  }

  add(pending: Pending): void {
    const value = valueKey(pending.given)!
    const known = this.waiting.get(value)
    this.waiting.set(value, [...(known?.filter(({ id }) => id !== pending.id) ?? []), pending])
    if (known?.some(({ id }) => id === pending.id) !== true) this.size += 1
    if (this.size <= MAX_PENDING) return
    const [oldest] = this.waiting.values()
    this.take(oldest?.[0]?.given)
  }
}

export function keyOf(id: unknown): string | undefined {
  if (typeof id === 'string') return `s${id}`
  return typeof id === 'number' || isExactNumber(id) ? `n${id}` : undefined
}

/** The value of an id: clients take `"05"`, `" 5 "`, `"0x5"` and `5.0` for 5, each its own of these. */
function valueKey(id: unknown): string | undefined {
  if (typeof id !== 'string' && typeof id !== 'number' && !isExactNumber(id)) return undefined
  const text = String(id).trim()
  const value = Number(text)
  return Number.isFinite(value) ? `n${value}` : `s${text}`
}

/** Finds the ids in an unreadable line, and reports if it looks like a message at all. */
export function idsIn(line: Line): { isMessage: boolean; ids: unknown[] } {
  let [head, tail] = ['', '']
  if (line.bytes) {
    head = line.bytes.toString('utf8', 0, LOOKED_AT)
    tail = line.bytes.toString('utf8', Math.max(0, line.bytes.length - LOOKED_AT))
  } else {
    const { spool } = line
    for (const piece of spool.read(0, LOOKED_AT)) head += piece.toString()
    for (const piece of spool.read(Math.max(0, spool.length - LOOKED_AT))) tail += piece.toString()
  }
  const found = [...`${head}\n${tail}`.matchAll(/"id"\s*:\s*(?:"([^"\\]{0,200})"|(-?[0-9][0-9.eE+-]{0,40}))/g)]
  const ids = found.map(([, text, number]) => text ?? Number(number))
  return { isMessage: /^\s*[{[]/.test(head), ids }
}
