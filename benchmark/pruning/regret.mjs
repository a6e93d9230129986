// The names that an agent used next and would not have had: the session went on with everything in view, so its next message
// shows what a model would have missed.

const WORD = /[A-Za-z0-9_$@#%+~./:\\-]{8,}/g
/** Paths, identifiers, numbers and hashes; not plain words. */
const SPECIFIC = /[0-9_./:]|[a-z][A-Z]/

function namesIn(text) {
  const words = (text.match(WORD) ?? []).map((word) => word.replace(/^[./:-]+|[./:-]+$/g, ''))
  return words.filter((word) => word.length >= 8 && SPECIFIC.test(word))
}

const known = new WeakMap()

/** The names in a message of the log. */
export function namesOf(message) {
  if (!known.has(message)) {
    const args = (message.tool_calls ?? []).map((call) => call.function.arguments.replace(/\\[nt"]/g, '\n'))
    known.set(message, new Set(namesIn([message.content, ...args].join('\n'))))
  }
  return known.get(message)
}

/** For each request: the names that its answer uses and a result has, each with the places of all messages that have it. */
export function references(requests) {
  return requests.map(({ messages, answer }) => {
    const all = messages.map(namesOf)
    const used = [...namesOf(answer)]
    const found = used.flatMap((name) => {
      const places = all.flatMap((names, at) => (names.has(name) ? [at] : []))
      return places.some((at) => messages[at].role === 'tool') ? [{ name, places }] : []
    })
    return { refers: used.length > 0, found }
  })
}

/** True if one of the names stands nowhere in what was sent. */
export function loses(found, parts) {
  return found.some(({ name, places }) => !places.some((at) => has(parts[at], name)))
}

const shown = new WeakMap()

function has(part, name) {
  // A part without a text of its own is the whole message, which may have been shortened when it entered.
  const text = part.text ?? part.of.says
  if (text === undefined) return true
  if (!shown.has(part)) shown.set(part, new Set(namesIn(text.replace(/\\+[nt"]/g, '\n'))))
  return shown.get(part).has(name)
}
