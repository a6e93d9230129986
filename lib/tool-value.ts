/** What a tool gave back, whatever its shape: a bare value, an object with `output`, or a result of MCP. */

import { isArray, isRecord } from './context'
import { plainJson } from './plain-json'

/** Whether this is a result of MCP, which keeps its text in parts. */
export function isMcp(value: unknown): value is Record<string, unknown> & { content: readonly unknown[] } {
  return isRecord(value) && isArray(value.content)
}

/** What the model would read of a result. */
export function bodyOf(result: unknown): unknown {
  if (isMcp(result)) {
    const texts = result.content.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : ''))
    return texts.join('\n')
  }
  return isRecord(result) && 'output' in result ? result.output : result
}

/** Whether a result says of itself that the tool failed. */
export function hasFailed(result: unknown): boolean {
  return isRecord(result) && (result.isError === true || result.success === false)
}

/** A text in the place of another, and texts around it. */
export interface TextEdit {
  output?: unknown
  prepend?: string
  append?: string
}

/** The result with its text changed; its shape stays. */
export function withText(result: unknown, { output, prepend, append }: TextEdit): unknown {
  const around = (text: unknown) => {
    const base = output === undefined ? text : output
    return typeof base === 'string' ? `${prepend ?? ''}${base}${append ?? ''}` : base
  }
  if (isMcp(result)) {
    const content =
      output === undefined
        ? [...result.content]
        : [{ type: 'text', text: typeof output === 'string' ? output : plainJson(output) }]
    if (prepend) content.unshift({ type: 'text', text: prepend })
    if (append) content.push({ type: 'text', text: append })
    return { ...result, content }
  }
  if (!isRecord(result) || !('output' in result)) return around(result)
  const text = around(result.output)
  // Executors put the message of an error into both fields.
  return { ...result, output: text, ...(result.error === result.output && 'error' in result ? { error: text } : {}) }
}
