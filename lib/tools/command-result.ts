/** Results of `runCommand` where a framework would show the model their JSON. */

import { type Ending, endingOf, withEnding } from '../truncation/command-text'
import { previewOf, rememberPreview } from '../truncation/previews'
import { parsedJson } from '../util/json'
import { isRecord } from '../validation/validate'

type CommandLike = Ending & { output: unknown }

/** True for what `runCommand` returns, also after its output was bounded, and as a copy from JSON. */
function isCommand(value: unknown): value is CommandLike {
  if (!isRecord(value)) return false
  const { exitCode, signal, timedOut, aborted, durationMs, totalBytes } = value
  return (
    (exitCode === null || typeof exitCode === 'number') &&
    (signal === null || typeof signal === 'string') &&
    [timedOut, aborted].every((each) => typeof each === 'boolean') &&
    [durationMs, totalBytes].every((each) => typeof each === 'number')
  )
}

/**
 * Returns the text of the result of a command, where a framework would show the model its JSON; `undefined` for any other value. A
 * preview stays one with the line below it: nothing cuts it again.
 */
export function textOfCommand(value: unknown): string | undefined {
  try {
    if (!isCommand(value)) return undefined
    const { output } = value
    const content = isRecord(output) ? output.content : output
    if (typeof content !== 'string') return undefined
    const text = withEnding(content, endingOf(value))
    const preview = text === content ? undefined : previewOf(content)
    if (preview !== undefined) rememberPreview({ ...preview, content: text })
    return text
  } catch {
    // A result may be anything, also what cannot be read.
    return undefined
  }
}

/** The result of a command in a text of JSON, as frameworks write what is no text. */
export function commandIn(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== 'string' || !text.startsWith('{"exitCode":')) return undefined
  const value = parsedJson(text)
  return isCommand(value) ? { ...value } : undefined
}
