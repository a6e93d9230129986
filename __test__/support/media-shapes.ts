/** Every place where a format of histories has images and files. */

/** A call with its result, or a question with its answer, around a medium in base64. */
type Shape = (at: number, data: string) => object[]

const url = (data: string) => `data:image/png;base64,${data}`
const bytes = (data: string) => new Uint8Array(Buffer.from(data, 'base64'))

const openaiCall = (at: number) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'shot', arguments: '{}' } }],
})
const openaiResult = (at: number, part: object, more: object = {}) => [
  openaiCall(at),
  { role: 'tool', tool_call_id: `c${at}`, content: [part], ...more },
]

const claudeImage = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const claudePdf = (data: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data },
})
const claudeResult = (at: number, content: object[]) => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `c${at}`, name: 'shot', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${at}`, content }] },
]

const sdkCall = (at: number) => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: `c${at}`, toolName: 'shot', input: {} }],
})
const sdkResult = (at: number, more: object) => [
  sdkCall(at),
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: `c${at}`, toolName: 'shot', ...more }] },
]
const sdkOutput = (at: number, part: object) => sdkResult(at, { output: { type: 'content', value: [part] } })
const sdkAsked = (part: object) => [
  { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
  { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] },
]

const itemCall = (at: number) => ({ type: 'function_call', call_id: `c${at}`, name: 'shot', arguments: '{}' })
const itemSaid = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] }
const itemAsked = (part: object) => [{ type: 'message', role: 'user', content: [part] }, itemSaid]
const agentsCall = (at: number) => ({
  type: 'function_call',
  callId: `c${at}`,
  name: 'shot',
  status: 'completed',
  arguments: '{}',
})
const agentsResult = (at: number, output: unknown) => [
  agentsCall(at),
  { type: 'function_call_result', callId: `c${at}`, name: 'shot', status: 'completed', output },
]
const agentsAsked = (part: object) => [
  { type: 'message', role: 'user', content: [part], providerData: {} },
  { ...itemSaid, status: 'completed', providerData: {} },
]

/** Messages of LangChain are instances of its classes. */
class Message {
  readonly lc_namespace = ['langchain_core', 'messages']

  constructor(
    readonly type: string,
    fields: object,
  ) {
    Object.assign(this, fields)
  }
}
const chainCall = (at: number) =>
  new Message('ai', { content: '', tool_calls: [{ id: `c${at}`, name: 'shot', args: {}, type: 'tool_call' }] })
const chainResult = (at: number, part: object) => [
  chainCall(at),
  new Message('tool', { content: [part], tool_call_id: `c${at}`, name: 'shot', status: 'success' }),
]
const chainAsked = (part: object) => [
  new Message('human', { content: [{ type: 'text', text: 'Look' }, part] }),
  new Message('ai', { content: 'Yes', tool_calls: [] }),
]

const geminiAsked = (part: object) => [
  { role: 'user', parts: [part] },
  { role: 'model', parts: [{ text: 'Yes' }] },
]
const geminiResult = (at: number, response: object) => [
  { role: 'model', parts: [{ functionCall: { id: `c${at}`, name: 'shot', args: {} } }] },
  { role: 'user', parts: [{ functionResponse: { id: `c${at}`, name: 'shot', ...response } }] },
]

const converseResult = (at: number, block: object) => [
  { role: 'assistant', content: [{ toolUse: { toolUseId: `c${at}`, name: 'shot', input: {} } }] },
  { role: 'user', content: [{ toolResult: { toolUseId: `c${at}`, content: [block], status: 'success' } }] },
]
const converseAsked = (block: object) => [
  { role: 'user', content: [{ text: 'Look' }, block] },
  { role: 'assistant', content: [{ text: 'Yes' }] },
]

const piCall = (at: number) => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id: `c${at}`, name: 'shot', arguments: {} }],
})
const piResult = (at: number, part: object) => ({
  role: 'toolResult',
  toolCallId: `c${at}`,
  toolName: 'shot',
  isError: false,
  content: [part],
})
const piImage = (data: string) => ({ type: 'image', data, mimeType: 'image/png' })
const piSaid = { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] }

/** By the name of the format, and the place. */
export const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  'openai-chat': {
    'a result': (at, data) => openaiResult(at, { type: 'image_url', image_url: { url: url(data), detail: 'high' } }),
    'a question with an address': (_at, data) => [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: url(data) } },
        ],
      },
      { role: 'assistant', content: 'Yes' },
    ],
    'a question with a file': (_at, data) => [
      { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: url(data) } }] },
      { role: 'assistant', content: 'Yes' },
    ],
    'a question with sound': (_at, data) => [
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] },
      { role: 'assistant', content: 'Yes' },
    ],
    'an answer with images': (at, data) => [
      { role: 'assistant', content: 'Here', images: [{ type: 'image_url', image_url: { url: url(data) } }] },
      ...openaiResult(at, { type: 'text', text: 'ok' }),
    ],
  },
  snow: {
    'a result': (at, data) =>
      openaiResult(
        at,
        { type: 'image_url', image_url: { url: url(data) } },
        { timestamp: 1, messageStatus: 'success' },
      ),
  },
  'openai-responses': {
    'a result': (at, data) => [
      itemCall(at),
      { type: 'function_call_output', call_id: `c${at}`, output: [{ type: 'input_image', image_url: url(data) }] },
    ],
    'a result with a file': (at, data) => [
      itemCall(at),
      {
        type: 'function_call_output',
        call_id: `c${at}`,
        output: [{ type: 'input_file', filename: 'a.pdf', file_data: url(data) }],
      },
    ],
    'a result of a custom tool': (at, data) => [
      { type: 'custom_tool_call', call_id: `c${at}`, name: 'shot', input: '' },
      { type: 'custom_tool_call_output', call_id: `c${at}`, output: [{ type: 'input_image', image_url: url(data) }] },
    ],
    'a question': (_at, data) => itemAsked({ type: 'input_image', image_url: url(data) }),
    'a computer': (at, data) => [
      { type: 'computer_call', call_id: `c${at}`, id: `i${at}`, action: { type: 'screenshot' }, status: 'completed' },
      {
        type: 'computer_call_output',
        call_id: `c${at}`,
        output: { type: 'computer_screenshot', image_url: url(data) },
      },
    ],
    'a generated image': (at, data) => [
      { type: 'image_generation_call', id: `i${at}`, status: 'completed', result: data },
    ],
    'code that draws': (at, data) => [
      itemCall(at),
      { type: 'function_call_output', call_id: `c${at}`, output: 'ok' },
      {
        type: 'code_interpreter_call',
        id: `i${at}`,
        container_id: 'c',
        code: 'plot()',
        status: 'completed',
        outputs: [{ type: 'image', url: url(data) }],
      },
    ],
    'a log of Codex': (at, data) =>
      [
        itemCall(at),
        { type: 'function_call_output', call_id: `c${at}`, output: [{ type: 'input_image', image_url: url(data) }] },
      ].map((payload) => ({ type: 'response_item', timestamp: '2026-01-01T00:00:00Z', payload })),
  },
  'openai-agents': {
    'a result': (at, data) => agentsResult(at, [{ type: 'input_image', image: url(data) }]),
    'a result of one part': (at, data) => agentsResult(at, { type: 'image', image: url(data) }),
    'a result with data': (at, data) => agentsResult(at, { type: 'image', image: { data, mediaType: 'image/png' } }),
    'a result with bytes': (at, data) =>
      agentsResult(at, { type: 'image', image: { data: bytes(data), mediaType: 'image/png' } }),
    'a result with a file': (at, data) =>
      agentsResult(at, { type: 'file', file: { data: bytes(data), mediaType: 'application/pdf', filename: 'a.pdf' } }),
    'a question': (_at, data) => agentsAsked({ type: 'input_image', image: url(data) }),
    'a question with a file': (_at, data) => agentsAsked({ type: 'input_file', file: url(data), filename: 'a.pdf' }),
    'a computer': (at, data) => [
      { type: 'computer_call', callId: `c${at}`, status: 'completed', action: { type: 'screenshot' } },
      {
        type: 'computer_call_result',
        callId: `c${at}`,
        output: { type: 'computer_screenshot', data: url(data) },
      },
    ],
  },
  anthropic: {
    'a result': (at, data) => claudeResult(at, [claudeImage(data)]),
    'a result with a PDF': (at, data) => claudeResult(at, [claudePdf(data)]),
    'a document in a result': (at, data) =>
      claudeResult(at, [
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }, claudeImage(data)] } },
      ]),
    'a question': (_at, data) => [
      { role: 'user', content: [claudeImage(data), { type: 'text', text: 'Look' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] },
    ],
    'a fetched PDF': (at, data) => [
      ...claudeResult(at, [{ type: 'text', text: 'ok' }]),
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: `s${at}`, name: 'web_fetch', input: { url: 'https://example.org' } },
          {
            type: 'web_fetch_tool_result',
            tool_use_id: `s${at}`,
            content: { type: 'web_fetch_result', url: 'https://example.org', content: claudePdf(data) },
          },
        ],
      },
    ],
    'a log of Claude Code': (at, data) =>
      claudeResult(at, [claudeImage(data)]).map((message) => ({
        type: message.role,
        uuid: `u${at}`,
        timestamp: '2026-01-01T00:00:00Z',
        message,
      })),
  },
  'ai-sdk': {
    'a result': (at, data) => sdkOutput(at, { type: 'media', mediaType: 'image/png', data }),
    'a result with image-data': (at, data) => sdkOutput(at, { type: 'image-data', mediaType: 'image/png', data }),
    'a result with file-data': (at, data) =>
      sdkOutput(at, { type: 'file-data', mediaType: 'application/pdf', data, filename: 'a.pdf' }),
    'a result with a file of data': (at, data) =>
      sdkOutput(at, { type: 'file', mediaType: 'image/png', data: { type: 'data', data } }),
    'a result with a file of bytes': (at, data) =>
      sdkOutput(at, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes(data) } }),
    'a result with an address': (at, data) => sdkOutput(at, { type: 'image-url', url: url(data) }),
    'a result of version 4': (at, data) =>
      sdkResult(at, {
        result: 'ok',
        experimental_content: [
          { type: 'text', text: 'ok' },
          { type: 'image', data, mimeType: 'image/png' },
        ],
      }),
    'a question with base64': (_at, data) => sdkAsked({ type: 'image', image: data, mediaType: 'image/png' }),
    'a question with bytes': (_at, data) => sdkAsked({ type: 'image', image: bytes(data) }),
    'a question with a buffer': (_at, data) =>
      sdkAsked({ type: 'file', data: bytes(data).buffer, mediaType: 'image/png' }),
    'a question with an address': (_at, data) => sdkAsked({ type: 'image', image: new URL(url(data)) }),
    'a question with a file': (_at, data) => sdkAsked({ type: 'file', data: url(data), mediaType: 'image/png' }),
    'an answer with a file': (_at, data) => [
      { role: 'user', content: [{ type: 'text', text: 'Draw' }] },
      { role: 'assistant', content: [{ type: 'file', data, mediaType: 'image/png' }] },
    ],
  },
  langchain: {
    'a result': (at, data) => chainResult(at, { type: 'image_url', image_url: { url: url(data) } }),
    'a result with a bare address': (at, data) => chainResult(at, { type: 'image_url', image_url: url(data) }),
    'a result of version 0': (at, data) =>
      chainResult(at, { type: 'image', source_type: 'base64', mime_type: 'image/png', data }),
    'a result with a file of version 0': (at, data) =>
      chainResult(at, { type: 'file', source_type: 'base64', mime_type: 'application/pdf', data }),
    'a result of version 1': (at, data) => chainResult(at, { type: 'image', mimeType: 'image/png', data }),
    'a result with bytes': (at, data) => chainResult(at, { type: 'image', mimeType: 'image/png', data: bytes(data) }),
    "a result with Anthropic's image": (at, data) => chainResult(at, claudeImage(data)),
    "a result with a provider's block": (at, data) =>
      chainResult(at, { type: 'non_standard', value: claudeImage(data) }),
    'a question with an address': (_at, data) => chainAsked({ type: 'image_url', image_url: { url: url(data) } }),
    'a question of version 0': (_at, data) =>
      chainAsked({ type: 'image', source_type: 'base64', mime_type: 'image/png', data }),
    'a question of version 1': (_at, data) => chainAsked({ type: 'image', url: url(data) }),
    "a question with a provider's block": (_at, data) => chainAsked({ type: 'non_standard', value: claudeImage(data) }),
  },
  gemini: {
    'a question': (_at, data) => geminiAsked({ inlineData: { mimeType: 'image/png', data } }),
    'a question in snake case': (_at, data) => geminiAsked({ inline_data: { mime_type: 'image/png', data } }),
    'a file beside a response': (at, data) =>
      geminiResult(at, { response: { output: 'ok' }, parts: [{ inlineData: { mimeType: 'image/png', data } }] }),
    'a drawing': (at, data) => [
      ...geminiResult(at, { response: { output: 'ok' } }),
      { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] },
    ],
  },
  bedrock: {
    'a result': (at, data) => converseResult(at, { image: { format: 'png', source: { bytes: bytes(data) } } }),
    'a result with a buffer': (at, data) =>
      converseResult(at, { image: { format: 'png', source: { bytes: Buffer.from(data, 'base64') } } }),
    'a result with base64': (at, data) => converseResult(at, { image: { format: 'png', source: { bytes: data } } }),
    'a result with a document': (at, data) =>
      converseResult(at, { document: { format: 'pdf', name: 'a', source: { bytes: bytes(data) } } }),
    'a result with a video': (at, data) =>
      converseResult(at, { video: { format: 'mp4', source: { bytes: bytes(data) } } }),
    'a question': (_at, data) => converseAsked({ image: { format: 'png', source: { bytes: bytes(data) } } }),
  },
  pi: {
    'a result': (at, data) => [piCall(at), piResult(at, piImage(data))],
    'a question': (_at, data) => [{ role: 'user', content: [piImage(data)], timestamp: 1 }, piSaid],
    'a message of an extension': (at, data) => [
      { role: 'custom', customType: 'shot', content: [piImage(data)], display: true, timestamp: 1 },
      piCall(at),
      piResult(at, { type: 'text', text: 'ok' }),
    ],
    'an entry of a session': (at, data) =>
      [piCall(at), piResult(at, piImage(data))].map((message, place) => ({
        type: 'message',
        id: `m${at}${place}`,
        parentId: null,
        message,
      })),
  },
  mcp: {
    'an image': (_at, data) => [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data, mimeType: 'image/png' },
        ],
      },
    ],
    'a resource': (at, blob) => [
      { content: [{ type: 'resource', resource: { uri: `file:///${at}.png`, mimeType: 'image/png', blob } }] },
    ],
    sound: (_at, data) => [{ content: [{ type: 'audio', data, mimeType: 'audio/wav' }] }],
  },
}

/** A history of this many media, between a question and an answer. */
export function historyOf(format: string, place: string, count: number, dataOf: (at: number) => string): object[] {
  const shape = SHAPES[format]?.[place] as Shape
  const all = Array.from({ length: count }, (_, at) => shape(at, dataOf(at))).flat()
  const [first, last] = endsOf(format, place)
  return [...first, ...all, ...last]
}

function endsOf(format: string, place: string): [object[], object[]] {
  const chat = (content: (text: string) => unknown): [object[], object[]] => [
    [{ role: 'user', content: content('Go') }],
    [{ role: 'assistant', content: content('Done') }],
  ]
  const items = (more: object): [object[], object[]] => [
    [{ type: 'message', role: 'user', content: 'Go' }],
    [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Done' }],
        ...more,
      },
    ],
  ]
  if (place.startsWith('a log') || place.startsWith('an entry') || format === 'mcp') return [[], []]
  switch (format) {
    case 'openai-responses':
      return items({})
    case 'openai-agents':
      return items({ status: 'completed' })
    case 'gemini':
      return [[{ role: 'user', parts: [{ text: 'Go' }] }], [{ role: 'model', parts: [{ text: 'Done' }] }]]
    case 'bedrock':
      return chat((text) => [{ text }])
    case 'langchain':
      return [[new Message('human', { content: 'Go' })], [new Message('ai', { content: 'Done', tool_calls: [] })]]
    default:
      return chat((text) => text)
  }
}

/** Every format with every place. */
export const PLACES: readonly (readonly [format: string, place: string])[] = Object.entries(SHAPES).flatMap(
  ([format, places]) => Object.keys(places).map((place) => [format, place] as const),
)

/** The same in other objects, as in another process. */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T
  const isPlain = typeof value === 'object' && value !== null && !(value instanceof URL)
  if (!isPlain || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value
  const copy = Object.create(Object.getPrototypeOf(value))
  return Object.assign(copy, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)])))
}

/** The JSON that a client sends: whatever is binary is base64. */
export function sentJson(messages: unknown): string {
  return JSON.stringify(messages, (_key, value) => {
    const { type, data } = Object(value) as { type?: unknown; data?: unknown }
    if (type === 'Buffer' && Array.isArray(data)) return Buffer.from(data).toString('base64')
    return value instanceof Uint8Array || value instanceof ArrayBuffer
      ? Buffer.from(value as Uint8Array).toString('base64')
      : value
  })
}

export function bytesOf(messages: unknown): number {
  return Buffer.byteLength(sentJson(messages))
}
