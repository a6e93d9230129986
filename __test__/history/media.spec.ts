import { estimateTokens, HistoryPruner } from 'spillway'
import { jpeg, png as pngOf } from '../support/images'

/** A result with an image goes as a whole, and its placeholder says what was there. */

const png = 'iVBORw0KGgo'
const call = { id: 'a', name: 'shot', args: {} }
const user = { role: 'user', content: 'Go' }
const done = { role: 'assistant', content: 'Done' }
const chatCall = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'shot', arguments: '{}' } }],
}

const histories: Record<string, { messages: object[]; kind: string; size?: string }> = {
  'openai-chat': {
    messages: [
      user,
      chatCall,
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
      done,
    ],
    kind: 'image/png',
  },
  anthropic: {
    messages: [
      user,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'shot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
              { type: 'text', text: 'seen' },
            ],
          },
        ],
      },
      done,
    ],
    kind: 'image/png',
  },
  'ai-sdk': {
    messages: [
      user,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'shot', input: {} }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'shot',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'seen' },
                { type: 'media', mediaType: 'image/png', data: png },
              ],
            },
          },
        ],
      },
      done,
    ],
    kind: 'image/png',
  },
  'openai-responses': {
    messages: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
      { type: 'function_call', call_id: 'a', name: 'shot', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }] },
    ],
    kind: 'image/png',
  },
  'openai-agents': {
    messages: [
      { role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
      { type: 'function_call', callId: 'a', name: 'shot', arguments: '{}' },
      {
        type: 'function_call_result',
        callId: 'a',
        name: 'shot',
        status: 'completed',
        output: { type: 'image', image: 'x' },
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Done' }], status: 'completed' },
    ],
    kind: 'image',
    size: '0 B',
  },
  gemini: {
    messages: [
      { role: 'user', parts: [{ text: 'Go' }] },
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'shot', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'a',
              name: 'shot',
              response: { output: 'seen' },
              parts: [{ inlineData: { mimeType: 'image/png', data: png } }],
            },
          },
        ],
      },
      { role: 'model', parts: [{ text: 'Done' }] },
    ],
    kind: 'image/png',
  },
  langchain: {
    messages: [
      { type: 'human', content: 'Go' },
      { type: 'ai', content: '', tool_calls: [{ ...call, type: 'tool_call' }] },
      {
        type: 'tool',
        tool_call_id: 'a',
        name: 'shot',
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image', mimeType: 'image/png', data: png },
        ],
      },
      { type: 'ai', content: 'Done' },
    ],
    kind: 'image/png',
  },
  pi: {
    messages: [
      user,
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'shot', arguments: {} }] },
      {
        role: 'toolResult',
        toolCallId: 'a',
        toolName: 'shot',
        isError: false,
        content: [
          { type: 'text', text: 'seen' },
          { type: 'image', mimeType: 'image/png', data: png },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
    ],
    kind: 'image/png',
  },
}

describe.each(Object.entries(histories))('%s', (_format, { messages, kind, size = '8 B' }) => {
  test('a result with an image is left out as a whole', () => {
    const { messages: sent, report } = new HistoryPruner({ keepRecent: 0, schedule: 'always' }).prune(messages, {
      now: 0,
    })
    const json = JSON.stringify(sent[2])
    expect(json).toMatch(/\[(image|media) removed: /)
    expect(json).toContain(`removed: ${kind}, ${size}] `)
    expect(json).toContain('Old result left out')
    expect(json).not.toContain(png)
    expect(json).not.toContain('seen')
    expect(json).not.toContain('"image":"x"')
    expect(sent.filter((_, at) => at !== 2)).toEqual(messages.filter((_, at) => at !== 2))
    expect(report.pruned).toHaveLength(1)
    expect(report.tokensBefore - report.tokensAfter).toBeGreaterThan(1_400)
  })

  test('the same bytes come again, also from another process', () => {
    const options = { keepRecent: 0, schedule: 'always' as const }
    const pruner = new HistoryPruner(options)
    const before = pruner.prune(messages, { now: 0 }).messages
    const again = HistoryPruner.fromJSON(JSON.stringify(pruner.toJSON()), options).prune(structuredClone(messages), {
      now: 1,
    })
    expect(again.messages).toEqual(before)
  })
})

test('sixty screenshots make room in the profile openclaw', () => {
  const messages = [
    user,
    ...Array.from({ length: 60 }, (_, at) => [
      { role: 'assistant', content: [{ type: 'toolCall', id: `${at}`, name: 'shot', arguments: {} }] },
      {
        role: 'toolResult',
        toolCallId: `${at}`,
        toolName: 'shot',
        isError: false,
        content: [{ type: 'image', mimeType: 'image/png', data: png }],
      },
    ]).flat(),
  ]
  const pruner = new HistoryPruner({ profile: 'openclaw', contextWindow: 100_000 })
  const { report } = pruner.prune(messages, { now: 0 })
  expect(report.tokensBefore).toBeGreaterThan(90_000)
  expect(report.pruned.length).toBeGreaterThan(10)
})

test('in Chinese, with several kinds', () => {
  const content = [
    { type: 'image', mimeType: 'image/png', data: png },
    { type: 'image', mimeType: 'image/png', data: png },
    { type: 'audio', mimeType: 'audio/wav', data: png },
  ]
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'shot', arguments: {} }] },
    { role: 'toolResult', toolCallId: 'a', toolName: 'shot', isError: false, content },
    { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
  ]
  const { messages: sent } = new HistoryPruner({ keepRecent: 0, schedule: 'always', language: 'zh-CN' }).prune(
    messages,
    { now: 0 },
  )
  expect(JSON.stringify(sent[2])).toContain('[文件已移除：2 × image/png, 8 B; audio/wav, 8 B] [旧的工具结果已略去')
  expect(estimateTokens(JSON.stringify(sent[2]))).toBeLessThan(150)
})

type Described = [type: string, data: string]

const bytes = (type: string, count: number): Described => [type, Buffer.alloc(count, 7).toString('base64')]
const shots = (count: number, from: number): Described[] =>
  Array.from({ length: count }, (_, at) => ['image/png', pngOf(1000 + from + at, 750, 100_000 - 24)])

/** The words of a placeholder of a result with these media. */
function wordsOf(media: readonly Described[], language: 'en' | 'zh-CN' = 'en'): string | undefined {
  const content = media.map(([mimeType, data]) => ({ type: mimeType.split('/')[0], mimeType, data }))
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'shot', arguments: {} }] },
    { role: 'toolResult', toolCallId: 'a', toolName: 'shot', isError: false, content },
    { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
  ]
  const { messages: sent } = new HistoryPruner({ keepRecent: 0, schedule: 'always', language }).prune(messages, {
    now: 0,
  })
  return /(?:removed: |已移除：)(.*?)\] /.exec(JSON.stringify(sent[2]))?.[1]
}

test.each<[name: string, media: Described[], words: string]>([
  ['one byte', [bytes('image/png', 1)], 'image/png, 1 B'],
  ['two bytes', [bytes('image/png', 2)], 'image/png, 2 B'],
  ['99 bytes', [bytes('image/png', 99)], 'image/png, 99 B'],
  ['100 bytes', [bytes('image/png', 100)], 'image/png, 0.1 kB'],
  ['base64 without its end', [['image/png', Buffer.alloc(50).toString('base64url')]], 'image/png, 50 B'],
  [
    'base64 in an address',
    [['image/png', `data:image/png;base64,${Buffer.alloc(50).toString('base64')}`]],
    'image/png, 50 B',
  ],
  ['a size behind a preview', [['image/jpeg', jpeg(600, 500, 90_000)]], 'image/jpeg 600×500, 90.0 kB'],
  ['equal ones', [...shots(1, 5), ...shots(1, 5)], '2 × image/png 1005×750, 0.1 MB'],
  [
    'five that differ',
    shots(5, 1),
    'image/png 1001×750, 0.1 MB; image/png 1002×750, 0.1 MB; image/png 1003×750, 0.1 MB; image/png 1004×750, 0.1 MB; image/png 1005×750, 0.1 MB',
  ],
  ['six that differ', shots(6, 1), '6 × image/png, 0.6 MB in all'],
  [
    'some of several types',
    [bytes('audio/wav', 3), ...shots(20, 1), bytes('image/gif', 5), bytes('image/gif', 6)],
    '20 × image/png, 2.0 MB in all; 2 × image/gif, 11 B in all; audio/wav, 3 B',
  ],
  [
    'some without a known size',
    [...shots(8, 1), ['image/png', 'https://example.org/a.png'], ['image/png', '?']],
    '8 × image/png, 0.8 MB in all; 2 × image/png',
  ],
  [
    'many types',
    [...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => bytes(`audio/${name}`, 10)), bytes('audio/f', 20)],
    '2 × audio/f, 30 B in all; audio/a, 10 B; audio/b, 10 B; audio/c, 10 B; 2 × other files, 20 B in all',
  ],
])('%s: a placeholder accounts for all media', (_name, media, words) => {
  expect(wordsOf(media)).toBe(words)
})

test('many media in Chinese', () => {
  expect(wordsOf([...shots(6, 1), bytes('audio/wav', 3)], 'zh-CN')).toBe('6 × image/png，共 0.6 MB; audio/wav, 3 B')
})
