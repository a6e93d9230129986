/** Which format a history is in: its messages vote. */

import type { HistoryFormatName, ViewFormat } from '../view'
import { isObject } from './read'

/** So many messages that only one format has settle which one a history is in. */
const ENOUGH = 8

/** So many elements are looked at. */
const MOST = 10_000

/** The votes of the messages of a history that may grow. */
export class Votes {
  private readonly sure: number[]
  private readonly perhaps: number[]
  private telling = 0
  /** What the shortest messages of each role vote for: most of a conversation, and all the same. */
  private readonly short = new Map<unknown, readonly number[]>()
  /** So many messages were looked at. */
  seen = 0

  constructor(private readonly formats: readonly ViewFormat[]) {
    this.sure = formats.map(() => 0)
    this.perhaps = formats.map(() => 0)
  }

  /** Looks at the messages that are new, as far as that can still change anything. */
  add(messages: readonly unknown[]): void {
    const { sure, perhaps, formats } = this
    for (; this.seen < messages.length && !this.settled; this.seen++) {
      const votes = this.votesAt(messages, this.seen)
      let told = false
      for (let place = 0; place < formats.length; place++) {
        const vote = votes?.[place] ?? 0
        if (vote === 0) continue
        perhaps[place] = (perhaps[place] as number) + 1
        if (vote === 1) continue
        sure[place] = (sure[place] as number) + 1
        told = true
      }
      if (told) this.telling++
    }
  }

  /** `undefined` if no message is in a known format. */
  get format(): HistoryFormatName | undefined {
    const votes = this.telling > 0 ? this.sure : this.perhaps
    const most = Math.max(...votes)
    return most > 0 ? this.formats[votes.indexOf(most)]?.name : undefined
  }

  /** Whatever comes behind these messages, the format stays. */
  get settled(): boolean {
    return this.telling >= ENOUGH || this.seen >= MOST
  }

  private votesAt(messages: readonly unknown[], at: number): readonly number[] | undefined {
    try {
      const message = messages[at]
      if (!isObject(message)) return undefined
      if (!isShort(message)) return this.votesOf(message)
      const { role } = message as { role: unknown }
      let votes = this.short.get(role)
      if (votes === undefined) {
        votes = this.votesOf(message)
        this.short.set(role, votes)
      }
      return votes
    } catch {
      return undefined
    }
  }

  private votesOf(message: object): number[] {
    return this.formats.map((format) => format.recognises(message))
  }
}

/** A plain object of a role and a text: nothing but the role says what it is. */
function isShort(message: object): boolean {
  if (Object.getPrototypeOf(message) !== Object.prototype) return false
  const keys = Object.keys(message)
  return (
    keys.length === 2 &&
    keys[0] === 'role' &&
    keys[1] === 'content' &&
    typeof (message as { content: unknown }).content === 'string'
  )
}
