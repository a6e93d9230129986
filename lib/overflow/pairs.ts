/** Whether calls still have their results. */

import { detectFormat, viewsOf } from '../history/formats'
import { ToolPairs } from '../history/pairs'

/** The results without a call and the calls without a result, by their ids as far as they have any, and how many. */
function alone(messages: readonly unknown[]): Map<string, number> {
  const counts = new Map<string, number>()
  const format = detectFormat(messages)
  if (format === undefined) return counts
  const views = viewsOf(messages)
  const pairs = new ToolPairs(format)
  pairs.extend(messages)
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

/** Whether a call or a result is alone that was not before. */
export function breaksPairs(before: readonly unknown[], after: readonly unknown[]): boolean {
  const known = alone(before)
  return [...alone(after)].some(([name, count]) => count > (known.get(name) ?? 0))
}
