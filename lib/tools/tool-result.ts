/** Result of a tool in any shape: a plain value, an object with `output`, or an MCP result. */

import { types } from 'node:util'
import { SpillwayError } from '../errors'
import { failureOf } from '../truncation/call-outcome'
import type { ToolResultLike } from '../types'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { safeStringify } from '../util/safe-stringify'
import { isRecord } from '../validation/validate'

/** The text of a call whose signal was aborted before its tool could start. */
export const CANCELLED = 'The call was cancelled before the tool ran.'

/** True if this is a result of MCP, which keeps its text in parts. */
export function isMcp(value: unknown): value is Record<string, unknown> & { content: readonly unknown[] } {
  return isRecord(value) && isArray(value.content)
}

/** Returns the text of a result that the model reads. */
export function bodyOf(result: unknown): unknown {
  if (isMcp(result)) {
    const texts = result.content.map((part) => (isTextPart(part) ? (part as { text: string }).text : ''))
    return texts.join('\n')
  }
  return isRecord(result) && 'output' in result ? result.output : result
}

function isTextPart(part: unknown): boolean {
  return isRecord(part) && typeof part.text === 'string'
}

/** True if a result says of itself that the tool failed, also by the exit code of its command. */
export function hasFailed(result: unknown): boolean {
  return failureOf(result) === true
}

/** The result with its error as `output`, if it failed and has no other text for the model; JSON has nothing of an `Error`. */
export function withErrorText(result: unknown): unknown {
  if (!isRecord(result) || isMcp(result) || !hasFailed(result)) return result
  const { output, stdout, stderr, error } = result
  if (isEmpty(error)) return result
  if ([output, stdout, stderr].every(isEmpty)) return { ...result, output: messageOf(error) }
  return types.isNativeError(error) && typeof output !== 'string' ? { ...result, error: messageOf(error) } : result
}

/** True for nothing, and for the streams of a command that printed nothing, as `spawnSync` has them. */
function isEmpty(value: unknown): boolean {
  if (isArray(value)) return value.every(isEmpty)
  return value === undefined || value === null || value === '' || (value instanceof Uint8Array && value.length === 0)
}

/** The result of a tool as an object with `success` and `output`; a value that is no such object becomes the `output`. */
export function toolResultOf(value: unknown): ToolResultLike & { success: boolean; output: unknown } {
  const result = withErrorText(value)
  const success = !hasFailed(result)
  if (isRecord(result) && 'output' in result)
    return { ...result, success, output: result.output === undefined ? '' : result.output }
  // The error of MCP is a text in parts; parts that are no text stay in their holder.
  if (!success && isMcp(result) && result.content.every(isTextPart)) {
    const text = bodyOf(result) as string
    return { success, output: text, error: text }
  }
  return { success, output: result === undefined ? '' : result }
}

/**
 * Reads a result as everybody after the tool does, so that a getter or a proxy that throws, throws here.
 * @throws SpillwayError `CALLBACK` if it does
 */
export function checkReadable(result: unknown): void {
  try {
    bodyOf(result)
    // The rest of it, copied by a change of the text.
    hasFailed(result)
    if (isRecord(result)) void [{ ...result }, result.metadata]
  } catch (cause) {
    throw new SpillwayError('CALLBACK', `the result of the tool cannot be read: ${messageOf(cause)}`, { cause })
  }
}

/** A text in place of another, and texts around it. */
export interface TextEdit {
  output?: unknown
  prepend?: string
  append?: string
}

/**
 * The result with its text changed; its shape stays, and so does anything that is not text. The result itself if there is no text that
 * anything could be put around.
 */
export function editText(result: unknown, edit: TextEdit): unknown {
  if (isMcp(result)) return withTextOfMcp(result, edit)
  const { output, prepend, append } = edit
  const around = (text: unknown) => {
    const base = output === undefined ? text : output
    return typeof base === 'string' ? `${prepend ?? ''}${base}${append ?? ''}` : base
  }
  if (!isRecord(result) || !('output' in result)) return around(result)
  const text = around(result.output)
  if (text === result.output) return result
  // Executors put the message of an error into both fields.
  return { ...result, output: text, ...(result.error === result.output && 'error' in result ? { error: text } : {}) }
}

function withTextOfMcp(
  result: Record<string, unknown> & { content: readonly unknown[] },
  { output, prepend, append }: TextEdit,
): unknown {
  const blockOf = (text: string) => ({ type: 'text', text })
  let content = [...result.content]
  let rest: Record<string, unknown> = result
  if (output !== undefined) {
    const isText = (part: unknown) =>
      isRecord(part) && (part.type === 'text' || (isRecord(part.resource) && typeof part.resource.text === 'string'))
    const place = Math.max(content.findIndex(isText), 0)
    const block = blockOf(typeof output === 'string' ? output : safeStringify(output))
    content = [...content.slice(0, place), block, ...content.slice(place).filter((part) => !isText(part))]
    // It says what the texts said before.
    const { structuredContent: _, ...others } = result
    rest = others
  }
  if (prepend) content.unshift(blockOf(prepend))
  if (append) content.push(blockOf(append))
  return { ...rest, content }
}
