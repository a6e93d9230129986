/** Detects the format of a history by a majority of its messages. */

import type { HistoryFormatName, ViewFormat } from '../message-view'
import { isObject } from './safe-read'

/** Number of messages that only one format has, after which the format is decided. */
const ENOUGH = 8

/** Maximum number of elements read. */
const MAX = 10_000

/** How many messages voted like this: for each format 0, 1 or 2, as it recognises them. */
interface Ballot {
  readonly votes: readonly number[]
  /** One of the formats is sure. */
  readonly tells: boolean
  times: number
}

/** The votes of the messages of a history that may grow. */
export class Votes {
  /** For each format how many are sure of it, and how many take it for possible; without those that are {@link short}. */
  private readonly sure: number[]
  private readonly perhaps: number[]
  private telling = 0
  /** Votes of the shortest messages of each role: most of a conversation, and all alike. */
  private readonly short = new Map<unknown, Ballot>()
  /** Number of messages read. */
  seen = 0

  constructor(private readonly formats: readonly ViewFormat[]) {
    this.sure = formats.map(() => 0)
    this.perhaps = formats.map(() => 0)
  }

  /** Looks at the messages that are new, as far as that can still change anything. */
  add(messages: readonly unknown[]): void {
    for (; this.seen < messages.length && !this.settled; this.seen++) this.addAt(messages, this.seen)
  }

  /** `undefined` if no message is in a known format. */
  get format(): HistoryFormatName | undefined {
    const [sure, perhaps] = [this.sure.slice(), this.perhaps.slice()]
    for (const { votes, times } of this.short.values()) count(votes, times, sure, perhaps)
    const votes = this.telling > 0 ? sure : perhaps
    const highest = Math.max(...votes)
    return highest > 0 ? this.formats[votes.indexOf(highest)]?.name : undefined
  }

  /** True if no further message can change the format. */
  get settled(): boolean {
    return this.telling >= ENOUGH || this.seen >= MAX
  }

  private addAt(messages: readonly unknown[], at: number): void {
    try {
      const message = messages[at]
      if (!isObject(message)) return
      if (!isShort(message)) {
        const { votes, tells } = this.ballotOf(message)
        count(votes, 1, this.sure, this.perhaps)
        if (tells) this.telling++
        return
      }
      const { role } = message as { role: unknown }
      let ballot = this.short.get(role)
      if (ballot === undefined) {
        ballot = this.ballotOf(message)
        this.short.set(role, ballot)
      }
      ballot.times++
      if (ballot.tells) this.telling++
    } catch {
      // It says nothing.
    }
  }

  private ballotOf(message: object): Ballot {
    const votes = this.formats.map((format) => format.recognises(message))
    return { votes, tells: votes.includes(2), times: 0 }
  }
}

function count(votes: readonly number[], times: number, sure: number[], perhaps: number[]): void {
  for (let place = 0; place < votes.length; place++) {
    if (votes[place] !== 0) perhaps[place] = (perhaps[place] as number) + times
    if (votes[place] === 2) sure[place] = (sure[place] as number) + times
  }
}

/** A plain object of a role and a text: nothing but the role says what it is. */
function isShort(message: object): boolean {
  if (Object.getPrototypeOf(message) !== Object.prototype) return false
  let keys = 0
  for (const key in message) {
    if (key !== (keys === 0 ? 'role' : 'content') || keys > 1) return false
    keys++
  }
  return keys === 2 && typeof (message as { content: unknown }).content === 'string'
}
