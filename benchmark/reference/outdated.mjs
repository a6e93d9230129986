/**
 * The pseudo code of the document on outdated terminal results, in plain JavaScript. The pseudo code writes into the
 * messages although its text forbids it; here it works on shallow copies, as its text says. "Not among the newest five"
 * is read as the rank by time, which is what the document's examples mean.
 */
export const REFERENCE_PLACEHOLDER = '此命令返回内容已过时'
const MAX_AGE_MS = 15 * 60 * 1000
const KEEP_RECENT = 5

export function referenceSimplify(messages, now = Date.now()) {
  const copies = messages.map((message) => ({ ...message }))

  const results = []
  for (let index = 0; index < copies.length; index++) {
    const message = copies[index]
    if (message.role === 'tool' && message.timestamp) {
      results.push({
        index,
        timestamp: message.timestamp,
        isError: isError(message),
        isTerminal: isTerminal(message),
      })
    }
  }

  results.sort((a, b) => b.timestamp - a.timestamp)

  const outdated = []
  for (let rank = KEEP_RECENT; rank < results.length; rank++) {
    const result = results[rank]
    if (result.isError) continue
    if (!result.isTerminal) continue
    if (now - result.timestamp > MAX_AGE_MS) outdated.push(result.index)
  }

  for (const index of outdated) copies[index].content = REFERENCE_PLACEHOLDER
  return copies
}

function isTerminal(message) {
  const { content } = message
  if (!content) return false
  return content.includes('"stdout":') || content.includes('"stderr":') || content.includes('"exitCode":')
}

function isError(message) {
  if (message.content.startsWith('Error:')) return true
  if (message.messageStatus === 'error') return true
  if (isTerminal(message)) {
    try {
      const result = JSON.parse(message.content)
      if (result.stderr && result.stderr.length > 0) return true
    } catch {
      // Not JSON: the document decides by the marker alone.
    }
  }
  return false
}
