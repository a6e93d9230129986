/** Decides synchronously if a text is short. */

import type { Source } from '../ingest/ingest'
import { call, native } from '../native/native'
import type { Plan, TextLimits } from '../settings/settings'

/** Units up to which a text is checked synchronously: the copy takes less than a tenth of a millisecond. */
export const AT_ONCE_UNITS = 2 ** 17

/** Controls, halves of characters, and replacements of invalid bytes. A tab and a line feed are text. */
const TERMINAL_SENSITIVE = /[^\P{Cc}\t\n]|\p{Cs}|\ufffd/u

/** True if a terminal might show something else than an output, or nothing of it because it is not text. */
export function needsTerminal(source: Source): boolean {
  if (typeof source === 'string') return TERMINAL_SENSITIVE.test(source)
  // Bytes are unknown until they are read.
  return !Array.isArray(source) || source.some((text: string) => TERMINAL_SENSITIVE.test(text))
}

/** The average line is shorter than this: the number of hops that a text needs per line over the limit. */
const LINE_UNITS = 80
const MAX_HOPS = 32

/** True if a text that could be too long is short after all. */
export function isShort(content: string, plan: Plan): boolean {
  const { maxLines, maxBytes, maxTokens } = plan.limits
  const units = content.length
  if (plan.mode !== 'bound' || plan.customStrategy || units > AT_ONCE_UNITS) return false
  if (maxBytes !== null && units > maxBytes) return false
  // A unit is at most three bytes. Only the number of lines remains to be checked.
  if (maxTokens === null && (maxBytes === null || units * 3 <= maxBytes)) {
    const limit = maxLines ?? Number.POSITIVE_INFINITY
    if (units - limit < MAX_HOPS * LINE_UNITS && hasFewLines(content, limit)) return true
    if (call(() => native.breaksAtMost(content, units)) + 1 <= limit) return true
  }
  return isWithin(content, plan.limits)
}

/** Every unit that is not a break makes one line less possible: often a few breaks show that there are not too many. */
function hasFewLines(content: string, limit: number): boolean {
  let at = -1
  for (let breaks = 0; breaks < MAX_HOPS; breaks += 1) {
    if (breaks + content.length - at <= limit) return true
    at = content.indexOf('\n', at + 1)
    if (at === -1) return breaks + 1 <= limit
  }
  return false
}

export function isWithin(content: string, { maxLines, maxBytes, maxTokens, lineRule }: TextLimits): boolean {
  const unlimited = Number.POSITIVE_INFINITY
  return call(() =>
    native.within(content, maxLines ?? unlimited, maxBytes ?? unlimited, maxTokens ?? unlimited, lineRule === 'split'),
  )
}
