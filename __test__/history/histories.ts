import fc from 'fast-check'
import type { HistoryFormatName } from 'spillway/history'
import type { Fields } from './support'

/** Events of a conversation, in any format. */
export type Happening =
  | { kind: 'user' | 'assistant'; text: string }
  | { kind: 'calls'; text: string; calls: { id: string; name: string }[] }
  | { kind: 'results'; results: Result[]; said?: string }

export interface Result {
  id: string
  name: string
  text: string
  isError: boolean
  image: boolean
}

const ids = ['a', 'b', 'c', 'd', '__proto__']
const tools = ['read', 'bash', 'constructor']
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('', '你好 😀', '{"stdout":"x"}', '\ud800', 'a 😀 and a line\n'.repeat(40)),
)

const call = fc.record({ id: fc.constantFrom(...ids), name: fc.constantFrom(...tools) })
const result = fc.record({
  id: fc.constantFrom(...ids),
  name: fc.constantFrom(...tools),
  text,
  isError: fc.boolean(),
  image: fc.boolean(),
})

/** Conversations in which calls and results have lost each other as often as not. */
export const conversations: fc.Arbitrary<Happening[]> = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('user' as const, 'assistant' as const), text }),
      fc.record({ kind: fc.constant('calls' as const), text, calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
      fc.record({ kind: fc.constant('results' as const), results: fc.array(result, { minLength: 1, maxLength: 3 }) }),
      // A turn that is whole.
      fc
        .tuple(
          fc.uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
          text,
          fc.option(fc.constantFrom('stop', 'remember the tests'), { nil: undefined, freq: 3 }),
        )
        .map(([calls, text, said]): Happening[] => [
          { kind: 'calls', text, calls },
          {
            kind: 'results',
            results: calls.map((one) => ({ ...one, text, isError: false, image: false })),
            ...(said !== undefined && { said }),
          },
        ]),
    ),
    { maxLength: 12 },
  )
  .map((all) => all.flat())

const ARGS = { path: 'a.ts' }
const image = { type: 'image', data: 'x', mimeType: 'image/png' }

interface Writer {
  say(role: 'user' | 'assistant', text: string): object
  calls(text: string, calls: { id: string; name: string }[]): object[]
  results(results: Result[]): object[]
}

const chat = (more: (result: Result) => Fields): Writer => ({
  say: (role, text) => ({ role, content: text }),
  calls: (text, calls) => [
    {
      role: 'assistant',
      content: text,
      tool_calls: calls.map(({ id, name }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(ARGS) },
      })),
    },
  ],
  results: (results) =>
    results.map((result) => ({
      role: 'tool',
      tool_call_id: result.id,
      content: result.image
        ? [
            { type: 'text', text: result.text },
            { type: 'image_url', image_url: {} },
          ]
        : result.text,
      ...more(result),
    })),
})

const items = (id: 'call_id' | 'callId', type: string, more: (result: { name: string }) => Fields): Writer => ({
  say: (role, text) => ({
    type: 'message',
    role,
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
  }),
  calls: (text, calls) => [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
    ...calls.map((call) => ({ type: 'function_call', [id]: call.id, name: call.name, arguments: '{}' })),
  ],
  results: (results) =>
    results.map((result) => ({
      type,
      [id]: result.id,
      ...more(result),
      output: result.image
        ? [
            { type: 'input_text', text: result.text },
            { type: 'input_image', image_url: 'x' },
          ]
        : result.text,
    })),
})

/** How each format keeps a conversation. */
export const writers: Record<Exclude<HistoryFormatName, 'mcp'>, Writer> = {
  'openai-chat': chat(() => ({})),
  snow: chat(({ isError }) => ({ timestamp: 5, messageStatus: isError ? 'error' : 'success' })),
  'openai-responses': items('call_id', 'function_call_output', () => ({})),
  'openai-agents': items('callId', 'function_call_result', ({ name }) => ({ name, status: 'completed' })),
  anthropic: {
    say: (role, text) => ({ role, content: [{ type: 'text', text }] }),
    calls: (text, calls) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          ...calls.map(({ id, name }) => ({ type: 'tool_use', id, name, input: ARGS })),
        ],
      },
    ],
    results: (results) => [
      {
        role: 'user',
        content: results.map((result) => ({
          type: 'tool_result',
          tool_use_id: result.id,
          is_error: result.isError,
          content: result.image ? [{ type: 'text', text: result.text }, image] : result.text,
        })),
      },
    ],
  },
  'ai-sdk': {
    say: (role, text) => ({ role, content: [{ type: 'text', text }] }),
    calls: (text, calls) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          ...calls.map(({ id, name }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: ARGS })),
        ],
      },
    ],
    results: (results) => [
      {
        role: 'tool',
        content: results.map((result) => ({
          type: 'tool-result',
          toolCallId: result.id,
          toolName: result.name,
          output: outputOf(result),
        })),
      },
    ],
  },
  langchain: {
    say: (role, text) => ({ type: role === 'user' ? 'human' : 'ai', content: text }),
    calls: (text, calls) => [
      { type: 'ai', content: text, tool_calls: calls.map((call) => ({ ...call, args: ARGS, type: 'tool_call' })) },
    ],
    results: (results) =>
      results.map((result) => ({
        type: 'tool',
        tool_call_id: result.id,
        name: result.name,
        status: result.isError ? 'error' : 'success',
        content: result.image ? [{ type: 'text', text: result.text }, image] : result.text,
      })),
  },
  // Half of the calls and results have an id.
  gemini: {
    say: (role, text) => ({ role: role === 'user' ? 'user' : 'model', parts: [{ text }] }),
    calls: (text, calls) => [
      {
        role: 'model',
        parts: [
          { text },
          ...calls.map(({ id, name }) => ({ functionCall: { ...(id > 'b' && { id }), name, args: ARGS } })),
        ],
      },
    ],
    results: (results) => [
      {
        role: 'user',
        parts: results.map((result) => ({
          functionResponse: {
            ...(result.id > 'b' && { id: result.id }),
            name: result.name,
            response: { [result.isError ? 'error' : 'output']: result.text },
          },
        })),
      },
    ],
  },
  bedrock: {
    say: (role, text) => ({ role, content: [{ text }] }),
    calls: (text, calls) => [
      {
        role: 'assistant',
        content: [{ text }, ...calls.map(({ id, name }) => ({ toolUse: { toolUseId: id, name, input: ARGS } }))],
      },
    ],
    results: (results) => [
      {
        role: 'user',
        content: results.map((result) => ({
          toolResult: {
            toolUseId: result.id,
            status: result.isError ? 'error' : 'success',
            content: [
              { text: result.text },
              ...(result.image ? [{ image: { format: 'png', source: { bytes: 'x' } } }] : []),
            ],
          },
        })),
      },
    ],
  },
  pi: {
    say: (role, text) => ({ role, content: [{ type: 'text', text }], timestamp: 5 }),
    calls: (text, calls) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          ...calls.map(({ id, name }) => ({ type: 'toolCall', id, name, arguments: ARGS })),
        ],
        timestamp: 5,
      },
    ],
    results: (results) =>
      results.map((result) => ({
        role: 'toolResult',
        toolCallId: result.id,
        toolName: result.name,
        isError: result.isError,
        content: result.image ? [{ type: 'text', text: result.text }, image] : result.text,
        timestamp: 6,
      })),
  },
}

function outputOf({ text, isError, image: hasImage }: Result): object {
  if (isError) return { type: 'error-text', value: text }
  if (!hasImage) return { type: 'text', value: text }
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      { type: 'file', mediaType: 'image/png', data: { type: 'data' } },
    ],
  }
}

export const pairedFormats = Object.keys(writers) as (keyof typeof writers)[]

/** The conversation in a format. */
export function written(name: keyof typeof writers, conversation: readonly Happening[]): object[] {
  const writer = writers[name]
  return conversation.flatMap((one) => {
    if (one.kind === 'calls') return writer.calls(one.text, one.calls)
    if (one.kind !== 'results') return [writer.say(one.kind, one.text)]
    const results = writer.results(one.results)
    return one.said === undefined ? results : withWords(results, writer.say('user', one.said) as Fields)
  })
}

/** Adds what the user says with results: in the same message, if the format has both in messages of the user. */
function withWords(results: object[], words: Fields): object[] {
  const [first, ...more] = results as Fields[]
  if (more.length > 0 || first?.role !== 'user') return [...results, words]
  const both = Object.entries(words).map(([key, value]) => {
    const before = first[key]
    return [key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value]
  })
  return [{ ...first, ...Object.fromEntries(both) }]
}

const KEYS = [
  ...[
    'role',
    'type',
    'content',
    'parts',
    'message',
    'payload',
    'output',
    'text',
    'value',
    'input',
    'arguments',
    'args',
  ],
  ...['tool_calls', 'tool_call_id', 'toolCallId', 'call_id', 'callId', 'tool_use_id', 'id', 'name', 'function'],
  ...['functionCall', 'functionResponse', 'response', 'timestamp', 'length', 'structuredContent', 'metadata'],
]

/** Things that no history should hold and some do. */
export const hostile: fc.Arbitrary<unknown> = fc.letrec<{ thing: unknown }>((tie) => ({
  thing: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, undefined, 1, Number.NaN, 'text', Symbol('s'), 10n, () => {}, new Date(Number.NaN)),
    fc.constantFrom('tool', 'user', 'assistant', 'toolResult', 'model', 'function_call', 'tool_result', 'text'),
    fc.constant(null).map(cyclic),
    fc.constant(null).map(throwing),
    fc.constant(null).map(() => new Array(4_000_000_000)),
    fc.array(tie('thing'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('thing'), { maxKeys: 5 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('thing'), { maxKeys: 5 }).map((fields) => {
      return JSON.parse('{"__proto__":{"role":"tool"}}', (_key, value) =>
        value?.role ? { ...value, ...fields } : value,
      )
    }),
  ),
})).thing

function cyclic(): object {
  const value: Fields = { role: 'tool', type: 'tool-result' }
  Object.assign(value, { content: [value], output: value, parts: value, args: value })
  return value
}

function throwing(): object {
  const trap = (): never => {
    throw new Error('not to be read')
  }
  return Object.defineProperties(
    {},
    Object.fromEntries(KEYS.map((key) => [key, { get: trap, enumerable: true, configurable: true }])),
  )
}
