/** True if calls still have their results. */

import type { ReadViews } from '../history/formats'
import { pairsOf } from '../history/tool-pairs'

/** The results without a call and the calls without a result, by their ids as far as they have any, and how many. */
export function alone(messages: readonly unknown[], { format, views }: ReadViews): Map<string, number> {
  const counts = new Map<string, number>()
  if (format === undefined) return counts
  const pairs = pairsOf(format, messages, views)
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const { message, place, call } of pairs.results) {
    if (call === undefined) add(`result ${views[message]?.results[place]?.callId ?? ''}`)
  }
  for (const { call } of pairs.open()) {
    const { message, place } = pairs.calls[call] ?? {}
    if (message !== undefined && place !== undefined) add(`call ${views[message]?.calls[place]?.id ?? ''}`)
  }
  return counts
}

/** True if a call or a result is alone that was not before. */
export function breaksPairs(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean {
  return [...after].some(([name, count]) => count > (before.get(name) ?? 0))
}
