// Images and files of a request: how many bytes it may have, and what becomes of those that leave.

import { readFileSync } from 'node:fs'
import { ContextManager, type ContextManagerOptions, estimateTokens, MemoryStorage, TruncationStorage } from 'spillway'
import { classifyOverflow, recoverFromOverflow } from 'spillway/overflow'
import { png } from '../support/images'
import { bytesOf, copyOf, historyOf, PLACES, sentJson } from '../support/media-shapes'
import { tempDir } from '../support/temp'

const result = (data: string) => [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }]

const PIXELS = png(1280, 800, 1_000_000, 1)

const history = (format: string, count: number, dataOf: (at: number) => string) =>
  historyOf(format, 'a result', count, dataOf)

const options = { contextWindow: 1_000_000, budget: false, compaction: false } as const
/** The first characters of a blank image, where an item must have one. */
const BLANK = 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQ'
const count = (messages: unknown, text: string) => sentJson(messages).split(text).length - 1
const imagesIn = (messages: unknown) => count(messages, 'iVBORw0K') - count(messages, BLANK)

/** Prepares twice, the second time in another process, and expects the same bytes. */
async function prepared(messages: object[], more: ContextManagerOptions): Promise<{ sent: unknown[]; items: number }> {
  const manager = new ContextManager({ ...options, ...more })
  const { messages: sent, report } = await manager.prepare(messages, { now: 0 })
  const again = ContextManager.fromJSON(JSON.stringify(manager), { ...options, ...more })
  expect((await again.prepare(copyOf(messages), { now: 1 })).messages).toEqual(sent)
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

/** Limits of images do not count PDFs, sound and videos. */
const IMAGES = PLACES.filter(([, place]) => !/file|PDF|sound|document|video/.test(place))

/** Places that take no text: a blank image there is an image, too. */
const BLANKED = /^(a computer|a generated image|code that draws|an answer with images)$/
const REMOVABLE = IMAGES.filter(([, place]) => !BLANKED.test(place))

test.each(REMOVABLE)('%s, %s: of a hundred images three quarters of the limit stay', async (format, place) => {
  const messages = historyOf(format, place, 100, (at) => png(8, 8, 100, at))
  const { sent } = await prepared(messages, { maxImages: 20 })
  expect(imagesIn(sent)).toBe(15)
  expect(sent).toHaveLength(messages.length)
})

describe.each(PLACES)('%s, %s', (format, place) => {
  test('after a refusal of its size half of the bytes are sent', async () => {
    const messages = historyOf(format, place, 20, (at) => png(8, 8, 300_000, at))
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
    const messages = historyOf(format, place, 10, (at) => png(8, 8, 100, at))
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

test('saves removed media, each distinct file once', async () => {
  const storage = new TruncationStorage({ storageDirs: [tempDir()] })
  const messages = history('anthropic', 10, (at) => png(8, 8, 1000, at % 2))
  const { sent } = await prepared(messages, { storage, maxImages: 4 })
  const paths = new Set(JSON.stringify(sent).match(/(?<=saved in )[^\]]+/g))
  expect(paths.size).toBe(2)
  const saved = [...paths].map((path) => readFileSync(path).toString('base64'))
  expect(saved.toSorted()).toEqual([png(8, 8, 1000, 0), png(8, 8, 1000, 1)].toSorted())
})

test('files that differ in a few bytes are both saved', async () => {
  const storage = new TruncationStorage({ storageDirs: [tempDir()] })
  const pdf = (total: string) =>
    Buffer.from(`%PDF-1.4\n${'x'.repeat(5000)}${total}${'y'.repeat(200_000)}`).toString('base64')
  const messages = ['total 100', 'total 999'].flatMap((total) => [
    {
      role: 'user',
      content: [
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf(total) } },
        { type: 'text', text: 'And this?' },
      ],
    },
    { role: 'assistant', content: 'Read.' },
  ])
  const { sent } = await prepared([...messages, { role: 'user', content: 'Compare.' }], {
    storage,
    maxRequestBytes: 100_000,
  })
  const paths = new Set(JSON.stringify(sent).match(/(?<=saved in )[^\]]+/g))
  const saved = [...paths].map((path) => /total \d+/.exec(readFileSync(path, 'latin1'))?.[0])
  expect(saved.toSorted()).toEqual(['total 100', 'total 999'])
})

test('equal images leave before older ones', async () => {
  const messages = history('anthropic', 8, (at) => png(8, 8, 100, at < 4 ? at : 9))
  const { sent } = await prepared(messages, { maxImages: 7 })
  for (const seed of [0, 1, 2, 3, 9]) expect(JSON.stringify(sent)).toContain(png(8, 8, 100, seed))
})

test.each<[string, object, string]>([
  [
    'a file that is no base64',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: '*'.repeat(1000) } },
    'application/pdf',
  ],
  ['an image elsewhere', { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }, 'image'],
  [
    'an image that is broken',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw==' } },
    'image/png, 4 B',
  ],
  [
    'pages of a PDF',
    {
      type: 'document',
      source: {
        type: 'base64',
        media_type: 'application/pdf',
        data: Buffer.from(`%PDF-1.4 /Type /Pages /Type /Page /Type/Page${' '.repeat(1000)}`).toString('base64'),
      },
    },
    'application/pdf of 2 pages',
  ],
])('%s is described', async (_name, part, words) => {
  const messages = [
    { role: 'user', content: [part, { type: 'text', text: 'x'.repeat(2000) }] },
    { role: 'assistant', content: 'I see' },
  ]
  const { sent } = await prepared(messages, { maxRequestBytes: 100, maxImages: 0.5 })
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

describe('a host that cuts the start off its history', () => {
  const asked = (at: number) => ({
    role: 'user',
    content: result(png(1280, 800, 20_000, at)),
  })
  const said = { role: 'assistant', content: 'Yes' }
  const pairs = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => [asked(from + at), said]).flat()

  test('loses no image within the limit', async () => {
    const manager = new ContextManager({ ...options, maxImages: 8 })
    await manager.prepare(pairs(0, 10), { now: 0 })
    const messages = [...pairs(6, 10), asked(10)]
    const { messages: sent, report } = await manager.prepare(messages, { now: 1 })
    expect(sent).toEqual(messages)
    expect(report.fits).toBe(true)
  })

  test('loses none after a restart either', async () => {
    const manager = new ContextManager({ ...options, maxImages: 8 })
    await manager.prepare(pairs(0, 10), { now: 0 })
    const again = ContextManager.fromJSON(JSON.stringify(manager), { ...options, maxImages: 8 })
    const messages = copyOf([...pairs(6, 10), asked(10)])
    expect((await again.prepare(messages, { now: 1 })).messages).toEqual(messages)
  })
})

test('a request whose images leave is priced and pruned once', async () => {
  const messages = Array.from({ length: 12 }, (_, at) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${at}`, name: 'read', input: { at } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: `c${at}`, content: `text ${at}\n`.repeat(1000) },
        ...result(png(1280, 800, 10_000, at)),
      ],
    },
  ]).flat()
  const all = {
    ...options,
    budget: { protectTokens: 5000, minTokens: 0, protectTurns: 0 },
    pruning: { schedule: 'always' },
  } as const
  const reportOf = async (more: ContextManagerOptions) =>
    (
      await new ContextManager({ ...all, ...more }).prepare([...messages, { role: 'assistant', content: 'ok' }], {
        now: 0,
      })
    ).report
  const whole = await reportOf({})
  const bounded = await reportOf({ maxImages: 4 })
  expect(bounded.steps.find(({ step }) => step === 'media')?.items).toBeGreaterThan(0)
  expect(whole.pruning.pruned.length).toBeGreaterThan(0)
  expect(bounded.pruning.pruned).toEqual(whole.pruning.pruned)
  expect(bounded.savings.pricedTokens).toBe(whole.savings.pricedTokens)
  expect(bounded.left).toEqual(whole.left)
})

test('saves and describes media removed by compaction in the same words and bytes at every request', async () => {
  const storage = new TruncationStorage({ storageDirs: [tempDir()] })
  const messages = history('anthropic', 20, (at) => png(1000, 750, 1000, at % 4))
  // Twenty images of 1,000 tokens.
  const { sent } = await prepared(messages, { storage, contextWindow: 16_000, compaction: {} })
  const notes = sentJson(sent).match(/\[image\/png[^\]]*\]/g) ?? []
  expect(notes.length).toBe(20 - imagesIn(sent))
  expect(notes.length).toBeGreaterThan(5)
  const paths = notes.map((note) => /^\[image\/png 1000×750, 1\.0 kB, left out; saved in (.+)\]$/.exec(note)?.[1] ?? '')
  expect(paths.map((path) => readFileSync(path).toString('base64'))).toEqual(
    paths.map((_, at) => png(1000, 750, 1000, at % 4)),
  )
  expect(new Set(paths).size).toBe(4)
})
