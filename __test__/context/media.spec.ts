// Images and files of a request: how many bytes it may have, and what becomes of those that leave.

import { readFileSync } from 'node:fs'
import { ContextManager, type ContextManagerOptions, estimateTokens, MemoryStorage, TruncationStorage } from 'spillway'
import { classifyOverflow, recoverFromOverflow } from 'spillway/overflow'
import { png } from '../support/images'
import { tempDir } from '../support/temp'

type Format = (at: number, data: string) => object[]

const result = (data: string) => [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }]

/** A call and its screenshot, in each format. */
const shots: Record<string, Format> = {
  anthropic: (at, data) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `${at}`, name: 'shot', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `${at}`, content: result(data) }] },
  ],
  'openai-chat': (at, data) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `${at}`, type: 'function', function: { name: 'shot', arguments: '{}' } }],
    },
    {
      role: 'tool',
      tool_call_id: `${at}`,
      content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
    },
  ],
  'openai-responses': (at, data) => [
    { type: 'function_call', call_id: `${at}`, name: 'shot', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: `${at}`,
      output: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }],
    },
  ],
  'ai-sdk': (at, data) => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `${at}`, toolName: 'shot', input: {} }] },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: `${at}`,
          toolName: 'shot',
          output: { type: 'content', value: [{ type: 'media', mediaType: 'image/png', data }] },
        },
      ],
    },
  ],
  gemini: (_at, data) => [
    { role: 'model', parts: [{ text: 'Look' }] },
    { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }] },
  ],
  pi: (at, data) => [
    { role: 'assistant', content: [{ type: 'toolCall', id: `${at}`, name: 'shot', arguments: {} }] },
    {
      role: 'toolResult',
      toolCallId: `${at}`,
      toolName: 'shot',
      isError: false,
      content: [{ type: 'image', mimeType: 'image/png', data }],
    },
  ],
}

/** Places of images that few tools use. */
Object.assign(shots, {
  'anthropic: in a document': (at, data) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `${at}`, name: 'shot', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `${at}`,
          content: [
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }, ...result(data)] } },
          ],
        },
      ],
    },
  ],
  'gemini: beside a response': (at, data) => [
    { role: 'model', parts: [{ functionCall: { id: `${at}`, name: 'shot', args: {} } }] },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: `${at}`,
            name: 'shot',
            response: { output: 'ok' },
            parts: [{ inlineData: { mimeType: 'image/png', data } }],
          },
        },
      ],
    },
  ],
  mcp: (_at, data) => [
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data, mimeType: 'image/png' },
      ],
    },
  ],
  'mcp: a resource': (at, blob) => [
    { content: [{ type: 'resource', resource: { uri: `file:///${at}.png`, mimeType: 'image/png', blob } }] },
  ],
  'openai-responses: a computer': (at, data) => [
    { type: 'computer_call', call_id: `${at}`, id: `i${at}`, action: { type: 'screenshot' }, status: 'completed' },
    {
      type: 'computer_call_output',
      call_id: `${at}`,
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${data}` },
    },
  ],
  'openai-responses: a generated image': (at, data) => [
    { type: 'image_generation_call', id: `${at}`, status: 'completed', result: data },
  ],
  'openai-agents: a computer': (at, data) => [
    { type: 'computer_call', callId: `${at}`, status: 'completed', action: { type: 'screenshot' } },
    {
      type: 'computer_call_result',
      callId: `${at}`,
      output: { type: 'computer_screenshot', data: `data:image/png;base64,${data}` },
    },
  ],
} satisfies Record<string, Format>)

const PIXELS = png(1280, 800, 1_000_000, 1)

/** A history of `count` screenshots, and an answer after them. */
function history(format: string, count: number, dataOf: (at: number) => string): object[] {
  const shot = shots[format] as Format
  const isGemini = format.startsWith('gemini')
  const first = isGemini ? { role: 'user', parts: [{ text: 'Go' }] } : { role: 'user', content: 'Go' }
  const last = isGemini ? { role: 'model', parts: [{ text: 'Done' }] } : { role: 'assistant', content: 'Done' }
  const all = Array.from({ length: count }, (_, at) => shot(at, dataOf(at))).flat()
  if (format.startsWith('mcp')) return all
  if (!/^openai-(responses|agents)/.test(format)) return [first, ...all, last]
  return [
    { type: 'message', ...first },
    ...all,
    { type: 'message', ...last, content: [{ type: 'output_text', text: 'Done' }] },
  ]
}

const options = { contextWindow: 1_000_000, budget: false, compaction: false } as const
const bytesOf = (messages: unknown) => Buffer.byteLength(JSON.stringify(messages))
/** The first characters of a blank image, where an item must have one. */
const BLANK = 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQ'
const count = (messages: unknown, text: string) => JSON.stringify(messages).split(text).length - 1
const imagesIn = (messages: unknown) => count(messages, 'iVBORw0K') - count(messages, BLANK)

/** Prepares twice, the second time in another process, and expects the same bytes. */
async function prepared(messages: object[], more: ContextManagerOptions): Promise<{ sent: unknown[]; items: number }> {
  const manager = new ContextManager({ ...options, ...more })
  const { messages: sent, report } = await manager.prepare(messages, { now: 0 })
  const again = ContextManager.fromJSON(JSON.stringify(manager), { ...options, ...more })
  expect((await again.prepare(structuredClone(messages), { now: 1 })).messages).toEqual(sent)
  return { sent, items: report.steps.find(({ step }) => step === 'media')?.items ?? 0 }
}

test('forty screenshots of a megabyte fit into a request of Anthropic', async () => {
  const messages = history('anthropic', 40, (at) => png(1280, 800, 1_000_000, at))
  const { sent, items } = await prepared(messages, {})
  expect(bytesOf(messages)).toBeGreaterThan(50e6)
  expect(bytesOf(sent)).toBeLessThan(32e6)
  expect(imagesIn(sent)).toBe(40 - items)
  expect(JSON.stringify(sent)).toContain('[image/png 1280×800, 1.0 MB, left out]')
  // The oldest leave, and the newest stays.
  expect(imagesIn(sent.slice(0, 2 * items))).toBe(0)
  expect(imagesIn(sent.slice(-3))).toBe(1)
})

describe.each(Object.keys(shots))('%s', (format) => {
  test('of a hundred images three quarters of the limit stay', async () => {
    const messages = history(format, 100, (at) => png(8, 8, 100, at))
    const { sent } = await prepared(messages, { maxImages: 20 })
    expect(imagesIn(sent)).toBe(15)
    expect(sent).toHaveLength(messages.length)
  })

  test('after a refusal of its size half of the bytes are sent', async () => {
    const messages = history(format, 20, (at) => png(8, 8, 300_000, at))
    const { messages: sent, report } = await recoverFromOverflow({
      messages,
      contextWindowTokens: 1_000_000,
      overflow: classifyOverflow({ status: 413, error: { type: 'request_too_large', message: 'Request too large' } }),
    })
    expect(report.steps).toMatchObject([{ step: 'media', event: 'fits' }])
    expect(bytesOf(sent)).toBeLessThan(bytesOf(messages) / 2 + 20_000)
    expect(sent).toHaveLength(messages.length)
  })

  test('within the limits nothing changes', async () => {
    const messages = history(format, 10, (at) => png(8, 8, 100, at))
    const { sent, items } = await prepared(messages, { maxImages: 10, maxRequestBytes: 1e6 })
    expect([sent, items]).toEqual([messages, 0])
  })
})

const TEXT = 'A word of a long text. '.repeat(1000)

test.each<[string, object[], number]>([
  [
    'a document with an image',
    [
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: {
              type: 'content',
              content: [{ type: 'text', text: TEXT }, ...result(png(750, 100, 100, 1))],
            },
          },
        ],
      },
    ],
    100,
  ],
  [
    'a text beside a response',
    [
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'x', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'a',
              name: 'x',
              response: { output: 'r' },
              parts: [
                {
                  inlineData: { mimeType: 'text/plain', data: Buffer.from(TEXT).toString('base64') },
                },
              ],
            },
          },
        ],
      },
    ],
    0,
  ],
])('%s counts as its text', async (_name, messages, others) => {
  const { report } = await new ContextManager(options).prepare(messages, { now: 0 })
  expect(Math.abs(report.tokensBefore - estimateTokens(TEXT) - others)).toBeLessThan(30)
})

test('what leaves is saved, once if it is equal', async () => {
  const storage = new TruncationStorage({ storageDirs: [tempDir()] })
  const messages = history('anthropic', 10, (at) => png(8, 8, 1000, at % 2))
  const { sent } = await prepared(messages, { storage, maxImages: 4 })
  const paths = new Set(JSON.stringify(sent).match(/(?<=saved in )[^\]]+/g))
  expect(paths.size).toBe(2)
  const saved = [...paths].map((path) => readFileSync(path).toString('base64'))
  expect(saved.toSorted()).toEqual([png(8, 8, 1000, 0), png(8, 8, 1000, 1)].toSorted())
})

test('equal images leave before older ones', async () => {
  const messages = history('anthropic', 8, (at) => png(8, 8, 100, at < 4 ? at : 9))
  const { sent } = await prepared(messages, { maxImages: 7 })
  for (const seed of [0, 1, 2, 3, 9]) expect(JSON.stringify(sent)).toContain(png(8, 8, 100, seed))
})

test.each<[string, object, string]>([
  [
    'a file that is no base64',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: '***' } },
    'application/pdf',
  ],
  ['an image elsewhere', { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }, 'image'],
  [
    'an image that is broken',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw==' } },
    'image/png, 0.0 kB',
  ],
  [
    'pages of a PDF',
    {
      type: 'document',
      source: {
        type: 'base64',
        media_type: 'application/pdf',
        data: Buffer.from('%PDF-1.4 /Type /Pages /Type /Page /Type/Page').toString('base64'),
      },
    },
    'application/pdf of 2 pages',
  ],
])('%s is described', async (_name, part, words) => {
  const messages = [
    { role: 'user', content: [part, { type: 'text', text: 'x'.repeat(2000) }] },
    { role: 'assistant', content: 'I see' },
  ]
  const { sent } = await prepared(messages, { maxRequestBytes: 100 })
  expect(JSON.stringify(sent)).toContain(`[${words}`)
})

test.each<[string, object]>([
  ['maxRequestBytes', { maxRequestBytes: 0 }],
  ['maxImages', { maxImages: -1 }],
])('%s is checked', (name, wrong) => {
  expect(() => new ContextManager(wrong)).toThrow(name)
})

test('a storage without bytes is no obstacle', async () => {
  const storage = new MemoryStorage()
  const { sent } = await prepared(
    history('pi', 4, (at) => png(8, 8, 100, at)),
    { storage, maxImages: 2 },
  )
  expect(imagesIn(sent)).toBe(1)
})

describe('a request that had too many bytes', () => {
  const overflow = classifyOverflow({
    status: 413,
    error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  })

  test('is sent with half of its images', async () => {
    const messages = history('openai-chat', 40, () => PIXELS)
    const { messages: sent, report } = await recoverFromOverflow({ messages, contextWindowTokens: 1_000_000, overflow })
    expect(overflow.overflow).toBe(true)
    expect(bytesOf(sent)).toBeLessThan(bytesOf(messages) / 2 + 10_000)
    expect(report.steps).toMatchObject([{ step: 'media', event: 'fits', results: 21 }])
    const again = await recoverFromOverflow({ messages: sent, contextWindowTokens: 1_000_000, overflow })
    expect(imagesIn(again.messages)).toBeLessThan(imagesIn(sent) / 2 + 1)
  })

  test('is made shorter in the usual way if it had few', async () => {
    const text = 'word '.repeat(50_000)
    const messages = [...history('openai-chat', 1, () => png(8, 8, 100, 1)), { role: 'user', content: text }]
    const recovered = recoverFromOverflow({ messages, contextWindowTokens: 1_000_000, overflow })
    await expect(recovered).rejects.toMatchObject({
      code: 'OVERFLOW',
      message: expect.stringMatching(
        /^the provider refused the size of the request, which has about \d+ tokens by estimate/,
      ),
    })
  })
})
