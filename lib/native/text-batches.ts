/** Many texts into the binary at once: a crossing costs as much as a short text. */

/** Texts that cross together, one after the other in one string. */
export interface Batch {
  readonly joined: string
  /** UTF-16 units of each. */
  readonly lengths: Uint32Array
  /** The place of the first among all. */
  readonly from: number
  /** No unit is above 0xff. */
  readonly latin1: boolean
}

/** Joining costs V8 four times as much per unit for a string that is too large for its young generation. */
const MAX_UNITS = 2 ** 16

/** The texts in their order, a longer one than usual by itself. */
export function* batchesOf(texts: readonly string[]): Generator<Batch> {
  for (let from = 0; from < texts.length; ) {
    let units = 0
    let to = from
    for (; to < texts.length; to++) {
      units += (texts[to] as string).length
      if (units > MAX_UNITS && to > from) break
    }
    const some = to - from === texts.length ? texts : texts.slice(from, to)
    const joined = some.length === 1 ? (some[0] as string) : some.join('')
    const lengths = new Uint32Array(some.length)
    for (let at = 0; at < some.length; at++) lengths[at] = (some[at] as string).length
    yield { joined, lengths, from, latin1: isLatin1(joined) }
    from = to
  }
}

const BEYOND_LATIN1 = /[\u0100-\uffff]/

/** V8 keeps most texts with a byte per unit, and answers for those without a look at them. */
export function isLatin1(text: string): boolean {
  return !BEYOND_LATIN1.test(text)
}
