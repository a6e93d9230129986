/** Contents of Gemini's API: `{ role, parts }`. Calls usually have no ids. */

import type { ResultText } from '../message-cache'
import type { MessageRole } from '../message-view'
import { reasoningOf, withoutMedia } from './content-blocks'
import { defineFormat } from './define-format'
import type { CallReading, ResultReading } from './format-rules'
import { type Edit, REMOVED } from './immutable-edit'
import { mediaTypeOf, sealedIn, textOfData } from './reasoning-and-files'
import {
  asideOf,
  elements,
  get,
  isJsonObject,
  isUnnamed,
  jsonText,
  nonEmpty,
  outputPathOf,
  resultText,
  timeOf,
  watched,
} from './safe-read'

const ROLES: Readonly<Record<string, MessageRole>> = {
  user: 'user',
  model: 'assistant',
  function: 'tool',
  tool: 'tool',
  system: 'system',
}

const MEDIA = ['inlineData', 'inline_data', 'fileData', 'file_data']

/** Code that the provider ran, and what came of it. */
const PROVIDERS = ['executableCode', 'executable_code', 'codeExecutionResult', 'code_execution_result']

export const gemini = defineFormat({
  name: 'gemini',
  recognises(message) {
    const role = get(message, 'role') ?? 'user'
    if (typeof role !== 'string' || !Object.hasOwn(ROLES, role)) return 0
    if ('content' in message || !Array.isArray(get(message, 'parts'))) return 0
    // Parts with a type or a kind are those of other protocols.
    return elements(get(message, 'parts')).some((part) => isJsonObject(part) && ('type' in part || 'kind' in part))
      ? 0
      : 2
  },
  read(message) {
    const said = ROLES[(get(message, 'role') as string | undefined) ?? 'user'] as MessageRole
    const texts: string[] = []
    const calls: CallReading[] = []
    const results: ResultReading[] = []
    const others: unknown[] = []
    const thinking: string[] = []
    let media = 0
    let sealed = 0
    for (const [at, part] of elements(watched(message, 'parts')).entries()) {
      const text = watched(part, 'text')
      if (said === 'assistant')
        sealed += sealedIn(get(part, 'thoughtSignature') ?? get(part, 'thought_signature'), true)
      const call = get(part, 'functionCall')
      const response = get(part, 'functionResponse')
      if (isJsonObject(call)) calls.push(readCall(call, at))
      else if (isJsonObject(response)) results.push(readResponse(response, at))
      else if (typeof text === 'string') (get(part, 'thought') === true ? thinking : texts).push(text)
      else if (isFile(part)) {
        const attached = attachedIn(part)
        if (attached === undefined) media++
        else texts.push(attached)
      } else if (PROVIDERS.some((key) => isJsonObject(get(part, key)))) others.push(part)
    }
    const role = results.length > 0 && texts.length === 0 && media === 0 ? 'tool' : said
    const time = timeOf(get(message, 'timestamp'))
    const noMedia = withoutMedia(['parts'], get(message, 'parts'), { kind: kindOf, make: (text) => ({ text }) })
    return {
      role,
      text: resultText(texts),
      aside: asideOf(others),
      ...reasoningOf({ thinking, sealed }),
      calls,
      results,
      media,
      time,
      withoutMedia: noMedia,
    }
  },
  // Instructions are a parameter of the request, and not in the history.
  summary: (text) => ({ role: 'user', parts: [{ text }] }),
  container: { key: 'parts', around: (parts) => ({ role: 'user', parts }) },
  missing: ({ id, name }, text) => ({
    functionResponse: { ...(id !== undefined && { id }), name: name ?? 'unknown', response: { error: text } },
  }),
})

function isFile(part: unknown): boolean {
  return MEDIA.some((key) => isJsonObject(get(part, key)))
}

function kindOf(part: unknown): 'media' | 'none' {
  return isFile(part) && attachedIn(part) === undefined ? 'media' : 'none'
}

/** The text of a file that is one. */
function attachedIn(part: unknown): string | undefined {
  const data = get(part, 'inlineData') ?? get(part, 'inline_data')
  return isJsonObject(data) ? textOfData(watched(data, 'data'), mediaTypeOf(data)) : undefined
}

function readCall(call: object, at: number): CallReading {
  return {
    id: nonEmpty(get(call, 'id')),
    name: nonEmpty(get(call, 'name')),
    args: watched(call, 'args'),
    edits: (args) => [[['parts', at, 'functionCall', 'args'], args]],
  }
}

function readResponse(holder: object, at: number): ResultReading {
  const response = watched(holder, 'response')
  const key = textKey(response)
  const failed = isJsonObject(response) && response.error !== undefined && response.error !== null
  let text: ResultText
  if (key === undefined) text = response === undefined ? '' : jsonText(response)
  else text = watched(response, key) as string
  const path = ['parts', at, 'functionResponse', 'response']
  const files = ['parts', at, 'functionResponse', 'parts']
  const beside = elements(watched(holder, 'parts'))
  const attached = beside.flatMap((part) => attachedIn(part) ?? [])
  const media = beside.filter((part) => attachedIn(part) === undefined)
  return {
    at,
    callId: nonEmpty(get(holder, 'id')),
    toolName: nonEmpty(get(holder, 'name')),
    text: attached.length === 0 ? text : [text, ...attached],
    isError: failed ? true : undefined,
    media: media.length,
    outputPath: outputPathOf(response),
    isToolsPath: true,
    blankName: isUnnamed(get(holder, 'name')) ? ['parts', at, 'functionResponse', 'name'] : undefined,
    edits: (other, alone): Edit[] => [
      key === undefined ? [path, { [failed ? 'error' : 'output']: other }] : [[...path, key], other],
      ...(beside.length > (alone ? 0 : media.length)
        ? [[files, alone || media.length === 0 ? REMOVED : media] as Edit]
        : []),
    ],
    withoutMedia: withoutMedia(files, get(holder, 'parts'), { kind: kindOf, make: textFile }),
  }
}

/** A note as a file: a response takes nothing else beside itself. */
function textFile(text: string): object {
  return { inlineData: { mimeType: 'text/plain', data: Buffer.from(text).toString('base64') } }
}

/** A response of one text says that; of all others the model reads the whole object. */
function textKey(response: unknown): string | undefined {
  if (!isJsonObject(response)) return undefined
  const keys = Object.keys(response)
  return keys.length === 1 && typeof response[keys[0] as string] === 'string' ? keys[0] : undefined
}
