/** A model of the SDK's own mocks that answers in turn, in the shapes of the version that is installed. */

import { readFileSync } from 'node:fs'
import { APICallError, type wrapLanguageModel } from 'ai'
import * as mocks from 'ai/test'
import type { Any } from './support.ts'

export const VERSION = Number(JSON.parse(readFileSync('node_modules/ai/package.json', 'utf8')).version.split('.')[0])

const Mock = (mocks as Any)[{ 5: 'MockLanguageModelV2', 6: 'MockLanguageModelV3' }[VERSION] ?? 'MockLanguageModelV4']

/** The behaviour of a mock when it is called. */
export type Turn =
  | { text: string }
  | { calls: { id: string; name: string; input: object }[] }
  | { error: unknown }
  /** A stream that begins with this error. */
  | { streamError: unknown }
  | { full: true }

/** A model, and the prompts that it was sent. */
export interface Mocked {
  model: Parameters<typeof wrapLanguageModel>[0]['model']
  prompts: Any[][]
}

const ended = (unified: string, raw = unified) => (VERSION === 5 ? unified : { unified, raw })
const usage =
  VERSION === 5
    ? { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
    : { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 5, text: 5 } }

function contentOf(turn: Turn): Any[] {
  if ('text' in turn) return [{ type: 'text', text: turn.text }]
  if (!('calls' in turn)) return []
  return turn.calls.map(({ id, name, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(input),
  }))
}

function endOf(turn: Turn): unknown {
  if ('full' in turn) return ended('length', 'model_context_window_exceeded')
  return ended('calls' in turn ? 'tool-calls' : 'stop')
}

/** Events that a provider sends before an answer: Anthropic's `message_start` and `ping`. */
const beforehand = VERSION === 7 ? [{ type: 'custom', kind: 'anthropic.message_start' }, { type: 'ping' }] : []

function partsOf(turn: Turn): Any[] {
  const start = { type: 'stream-start', warnings: [] }
  if ('streamError' in turn) return [start, ...beforehand, { type: 'error', error: turn.streamError }]
  const content = contentOf(turn).flatMap((part) =>
    part.type === 'text'
      ? [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: part.text },
          { type: 'text-end', id: '1' },
        ]
      : [part],
  )
  return [
    start,
    { type: 'response-metadata', id: 'r' },
    ...('full' in turn ? beforehand : []),
    ...content,
    { type: 'finish', finishReason: endOf(turn), usage },
  ]
}

/** A model that takes one turn after the other, and the last one again and again. */
export function mocked(...turns: Turn[]): Mocked {
  const prompts: Any[][] = []
  let at = 0
  const next = (options: Any): Turn => {
    prompts.push(structuredClone(options.prompt))
    const turn = turns[Math.min(at++, turns.length - 1)] as Turn
    if ('error' in turn) throw turn.error
    return turn
  }
  const model = new Mock({
    doGenerate: async (options: Any) => {
      const turn = next(options)
      return { content: contentOf(turn), finishReason: endOf(turn), usage, warnings: [] }
    },
    doStream: async (options: Any) => {
      const parts = partsOf(next(options))
      return { stream: (mocks as Any).convertArrayToReadableStream(parts) }
    },
  })
  return { model, prompts }
}

/** The refusal of a provider, as its package throws it. */
export function overflowError(): APICallError {
  const message = 'prompt is too long: 213462 tokens > 200000 maximum'
  return new APICallError({
    message,
    url: 'https://example.invalid',
    requestBodyValues: {},
    statusCode: 400,
    responseBody: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
    isRetryable: false,
  })
}

/** The tool results of a prompt, in order. */
export function resultsOf(prompt: Any[] | undefined): Any[] {
  return (prompt ?? [])
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) => content)
    .filter(({ type }) => type === 'tool-result')
}
