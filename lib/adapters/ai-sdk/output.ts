/** Text of a result for the model, in the AI SDK's shape. */

import { describeMedium, mediumOf } from '../../history/media'
import { textOfCommand } from '../../tools/command-result'
import { hasFailed, isMcp } from '../../tools/tool-result'
import { isArray } from '../../util/guards'
import { safeStringify } from '../../util/safe-stringify'
import { isRecord } from '../../validation/validate'
import type { TruncateValue } from '../shared/truncate-value'

/** The SDK's `ToolResultOutput`, as far as it matters here. */
export interface ModelOutput {
  type: string
  value?: unknown
  [more: string]: unknown
}

/** A value as the SDK itself would say it to a model, but a command says what it printed, and long images and sounds in a result of MCP become words. */
export function modelOutput(value: unknown): ModelOutput {
  const text = typeof value === 'string' ? value : textOfCommand(value)
  return text === undefined ? { type: 'json', value: jsonOf(value) } : { type: 'text', value: text }
}

/** Units of data up to which words in its place would save little. */
const SMALL_DATA_UNITS = 1024

/** Images and sounds in JSON are text to a model, by the megabyte; the application has them. */
function withoutMedia(value: unknown): unknown {
  if (!isMcp(value)) return value
  const described = (part: unknown): unknown => {
    if (!isRecord(part) || (part.type !== 'image' && part.type !== 'audio')) return part
    const isLong = typeof part.data === 'string' && part.data.length > SMALL_DATA_UNITS
    return isLong ? { ...part, data: `[${describeMedium(mediumOf(part))}]` } : part
  }
  return { ...value, content: value.content.map(described) }
}

function jsonOf(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(withoutMedia(value)) ?? 'null')
  } catch {
    // A cycle, or a number that JSON has no name for, would end the whole request.
    return JSON.parse(safeStringify(value))
  }
}

/** An output of the tool's own making, bounded. */
export async function boundOutput(
  output: ModelOutput,
  bound: TruncateValue,
  call: { toolName: string; toolCallId?: string; sessionId?: string | undefined },
): Promise<ModelOutput> {
  const { type, value } = output ?? {}
  const isError = type === 'error-text' || type === 'error-json'
  const failed = isError || hasFailed(value)
  const context = { ...call, failed }
  switch (type) {
    case 'text':
    case 'error-text': {
      const { value: text } = await bound(value, context)
      return text === value ? output : { ...output, value: text }
    }
    case 'json':
    case 'error-json': {
      const { value: shown } = await bound(value, context)
      if (shown === value) return output
      // A truncated value is a text.
      return { ...output, type: typeof shown === 'string' ? `${isError ? 'error-' : ''}text` : type, value: shown }
    }
    case 'content': {
      const parts = isArray(value) ? value.map(textOfFile) : value
      const { value: shown } = await bound(parts, context)
      if (shown === parts) return output
      return { ...output, value: isArray(shown) ? shown.map(fileOfText) : [{ type: 'text', text: shown }] }
    }
    default:
      return output
  }
}

const FILE = Symbol('file')

/** A file that holds a text is read like any other text. */
function textOfFile(part: unknown): unknown {
  const { type, data } = Object(part) as { type?: unknown; data?: unknown }
  const text = type === 'file' && isRecord(data) && data.type === 'text' ? data.text : undefined
  return typeof text === 'string' ? { type: 'text', text, [FILE]: part } : part
}

function fileOfText(part: unknown): unknown {
  const { [FILE]: file, text } = Object(part) as { [FILE]?: { data: object }; text?: unknown }
  return file === undefined ? part : { ...file, data: { ...file.data, text } }
}
