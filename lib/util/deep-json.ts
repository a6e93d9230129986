/** JSON of what is nested deeper than the stack. */

/** The JSON of a value; without `indent` if it is nested deeper than the stack. */
export function deepJsonOf(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, null, indent)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return deepJson(value)
  }
}

/**
 * `JSON.parse` reads what is nested deeper than the stack, and `JSON.stringify` does not write it: this does, for what was
 * read.
 */
function deepJson(value: unknown): string {
  const parts: string[] = []
  /** Stack of texts and values still to be written; the next one is last. */
  const todo: { text?: string; value?: unknown }[] = [{ value }]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { text, value } = next
    if (text !== undefined) parts.push(text)
    else if (!isHolder(value)) parts.push(JSON.stringify(value) ?? 'null')
    else {
      const isList = Array.isArray(value)
      todo.push({ text: isList ? ']' : '}' })
      const members = Object.entries(value).filter(([, member]) => isList || member !== undefined)
      for (let at = members.length - 1; at >= 0; at--) {
        const [name, member] = members[at]!
        todo.push({ value: member }, { text: `${at > 0 ? ',' : ''}${isList ? '' : `${JSON.stringify(name)}:`}` })
      }
      parts.push(isList ? '[' : '{')
    }
  }
  return parts.join('')
}

/** True for a value with members; what has a JSON of its own is one text. */
function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function'
}
