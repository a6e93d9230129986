/** Warns once about a history in which nothing can be replaced, and says what helps. */

const told = new Set<string>()

/** Emits a warning with a stable code, once per place and code in this process. */
export function warnOnce(place: string, code: string, text: string): void {
  const key = `${code} ${place}`
  if (told.has(key)) return
  told.add(key)
  process.emitWarning(`${place}: ${text}`, { type: 'SpillwayWarning', code })
}

/** True if a history has messages, but none in a known format. */
export function isUnreadable(messages: readonly unknown[], format: string | undefined): boolean {
  if (format !== undefined) return false
  try {
    return (
      messages.length > 0 && messages.slice(0, 100).some((message) => typeof message === 'object' && message !== null)
    )
  } catch {
    return false
  }
}

/** Warns of a history in which no message can be read. */
export function warnUnreadable(place: string, messages: readonly unknown[], format: string | undefined): boolean {
  if (!isUnreadable(messages, format)) return false
  warnOnce(
    place,
    'SPILLWAY_UNKNOWN_FORMAT',
    'the messages are in no format that Spillway reads, so they go out as they are. Messages of useChat (with `parts` or `toolInvocations`) have ' +
      'to be converted first, with convertToModelMessages of the AI SDK; detectFormat(messages) says what is recognised',
  )
  return true
}

/** Warns of results without a time: they cannot be recognised as outdated. */
export function warnTimeless(place: string, format: string): void {
  warnOnce(
    `${place} (${format})`,
    'SPILLWAY_NO_TIMES',
    'no tool result has a time, so none is outdated. Pass a ToolResultLedger, which knows when tools finished, as `ledger`, ' +
      'put a `timestamp` on results where the format has one, or use HistoryPruner, which uses the order of the messages',
  )
}
