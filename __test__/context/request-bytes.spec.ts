// Bytes of a request, and what `fits` says of it.

import fc from 'fast-check'
import { ContextManager, type ContextManagerOptions } from 'spillway'
import { png } from '../support/images'
import { bytesOf, copyOf, historyOf, PLACES, sentJson } from '../support/media-shapes'

const options = { contextWindow: 1_000_000, budget: false, compaction: false } as const

async function prepared(messages: object[], more: ContextManagerOptions) {
  const { messages: sent, report } = await new ContextManager({ ...options, ...more }).prepare(messages, { now: 0 })
  const media = report.steps.find(({ step }) => step === 'media')
  return { sent, fits: report.fits, items: media?.items, reason: media?.reason ?? '' }
}

const image = (at: number, bytes = 10_000) => png(1280, 800, bytes, at)
const shots = (count: number) => historyOf('anthropic', 'a result', count, (at) => image(at))
const claudeImage = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
const said = (content: unknown) => ({ role: 'assistant', content })

test.each<[string, object]>([
  ['a text that JSON escapes', said('"\n'.repeat(20_000))],
  ['control characters', said('\u0001'.repeat(14_000))],
  ['reasoning', said([{ type: 'thinking', thinking: 'x'.repeat(80_000), signature: 's' }])],
  ['a signature', said([{ type: 'thinking', thinking: 'x', signature: 's'.repeat(80_000) }])],
  [
    "a result of the provider's",
    said([
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [{ encrypted_content: 'x'.repeat(80_000) }] },
    ]),
  ],
  ['many parts', said(Array.from({ length: 3000 }, () => ({ type: 'text', text: '' })))],
  ['a message of no known format', { role: 'nobody', content: 'x'.repeat(80_000) }],
])('%s takes its bytes', async (_name, message) => {
  const messages = [...shots(4), message, said('Done')]
  expect(bytesOf(messages)).toBeGreaterThan(130_000)
  const { sent, fits, items } = await prepared(messages, { maxRequestBytes: 130_000 })
  expect(items).toBeGreaterThan(0)
  expect(bytesOf(sent)).toBeLessThan(130_000)
  expect(fits).toBe(true)
})

test('system prompt and tools take their bytes', async () => {
  const environment = { systemPrompt: '"'.repeat(20_000), tools: [{ name: 'shot', description: 'x'.repeat(20_000) }] }
  const { sent, fits } = await prepared(shots(5), { maxRequestBytes: 100_000, environment })
  expect(bytesOf(sent) + bytesOf(environment)).toBeLessThan(100_000)
  expect(fits).toBe(true)
})

test('does not count fields that only the host keeps', async () => {
  const { messages } = { messages: historyOf('pi', 'a result', 4, (at) => image(at)) }
  const kept = messages.map((message) => ({ ...message, details: { raw: 'x'.repeat(100_000) } }))
  const { sent, items } = await prepared(kept, { maxRequestBytes: 100_000 })
  expect([sent, items]).toEqual([kept, 0])
})

test.each<[string, ContextManagerOptions, (bytes: number) => string]>([
  [
    'bytes',
    { maxRequestBytes: 100_000 },
    (bytes) => `The request has ${bytes.toLocaleString('en-US')} bytes and may have 100,000.`,
  ],
  ['images', { maxImages: 5 }, () => 'The request has 10 images and may have 5.'],
])('a request with too many %s after all that can leave has left does not fit', async (_name, limit, words) => {
  const asked = { role: 'user', content: Array.from({ length: 10 }, (_, at) => claudeImage(image(at))) }
  const { sent, fits, reason } = await prepared([...shots(2), asked], limit)
  expect(sent.at(-1)).toBe(asked)
  expect(fits).toBe(false)
  expect(reason).toBe(`2 images and files were replaced by notes. ${words(bytesOf(sent))}`)
})

test('removes the oldest media of a message first', async () => {
  const content = Array.from({ length: 40 }, (_, at) => claudeImage(image(at)))
  const { sent, items } = await prepared([{ role: 'user', content }, said('Yes')], { maxRequestBytes: 300_000 })
  const stayed = (sent[0] as { content: { type: string }[] }).content.map(({ type }) => type)
  expect(stayed).toEqual([...Array(items).fill('text'), ...Array(40 - (items ?? 0)).fill('image')])
  expect(bytesOf(sent)).toBeLessThan(300_000)
  expect(bytesOf(sent)).toBeGreaterThan(200_000)
})

test('more of a message leaves later, with the same bytes in another process', async () => {
  const content = Array.from({ length: 10 }, (_, at) => claudeImage(image(at)))
  const grown = [{ role: 'user', content }, said('Yes')]
  const more = { ...options, maxRequestBytes: 100_000 }
  let manager = new ContextManager(more)
  for (let at = 0; at < 12; at++) {
    const { messages: sent, report } = await manager.prepare(grown, { now: 0 })
    expect(report.fits).toBe(true)
    expect(bytesOf(sent)).toBeLessThan(100_000)
    manager = ContextManager.fromJSON(JSON.stringify(manager), more)
    const again = await manager.prepare(copyOf(grown), { now: 0 })
    expect(again.messages).toEqual(sent)
    grown.push({ role: 'user', content: [claudeImage(image(10 + at))] }, said('Yes'))
  }
})

test('images of pruned results do not count', async () => {
  const all = {
    budget: { protectTokens: 3000, minTokens: 0, protectTurns: 0 },
    pruning: { schedule: 'always' },
  } as const
  const { sent, items } = await prepared(shots(10), { ...all, maxRequestBytes: 60_000 })
  expect(items).toBe(0)
  expect(sentJson(sent)).not.toContain('left out]')
  expect(bytesOf(sent)).toBeLessThan(60_000)
})

test('keeps media with fewer bytes than their note', async () => {
  const url = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }
  const messages = [{ role: 'user', content: [url, { type: 'text', text: 'x'.repeat(2000) }] }, said('Yes')]
  const { sent, fits } = await prepared(messages, { maxRequestBytes: 1000 })
  expect(sent).toEqual(messages)
  expect(fits).toBe(false)
})

const place = fc.constantFrom(...PLACES)
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('"\n'.repeat(500)), fc.constant('词'.repeat(500)))

test('a request is within its limit whenever everything else fits', async () => {
  await fc.assert(
    fc.asyncProperty(
      place,
      fc.array(fc.integer({ min: 300, max: 20_000 }), { minLength: 1, maxLength: 12 }),
      fc.array(text, { maxLength: 3 }),
      fc.integer({ min: 20_000, max: 200_000 }),
      async ([format, where], sizes, texts, maxRequestBytes) => {
        const messages = historyOf(format, where, sizes.length, (at) => png(8, 8, sizes[at], at))
        const words = texts.map((content) => ({ ...(messages.at(-1) as object), content }))
        const isText = !/^an entry|^a log/.test(where)
        const all = format === 'anthropic' && isText ? [...words, ...messages] : messages
        const { sent, fits } = await prepared(all, { maxRequestBytes, maxImages: Number.POSITIVE_INFINITY })
        // Everything that is not the newest medium: without it nothing more can leave.
        const rest = bytesOf(historyOf(format, where, sizes.length, () => png(8, 8, 0))) + 300 * sizes.length
        const newest = Math.max(...sizes) * 1.34
        // Lines of a log and classes have fields that are not sent.
        const beside = isText && format !== 'langchain' ? 0 : 200 * messages.length
        if (fits) expect(bytesOf(sent)).toBeLessThanOrEqual(maxRequestBytes + beside)
        if (rest + newest + bytesOf(texts) < maxRequestBytes) expect(fits).toBe(true)
      },
    ),
    { numRuns: 150 },
  )
})

test.each<[string, fits: boolean, () => object]>([
  [
    'a cycle',
    true,
    () => {
      const holder: object[] = []
      holder.push(holder, holder)
      return holder
    },
  ],
  ['a list without an end', false, () => new Array(2 ** 32 - 1)],
  [
    'values that hold each other many times',
    false,
    () => Array.from({ length: 60 }).reduce<object>((inner) => ({ a: inner, b: inner }), {}),
  ],
  ['a list of many numbers', false, () => new Array(2 ** 21).fill(7)],
  ['a getter that throws', true, () => Object.defineProperty({}, 'a', { enumerable: true, get: () => JSON.parse('') })],
])(
  '%s in a message ends the count, and a request that is too large does not fit: %p',
  async (_name, expected, make) => {
    const { fits } = await prepared([...shots(2), { role: 'nobody', content: make() }, said('Done')], {
      maxRequestBytes: 1e6,
    })
    expect(fits).toBe(expected)
  },
)

const CYCLE: Record<string, unknown> = {}
CYCLE.self = CYCLE

test.each<[string, unknown]>([
  ['a big integer', 1n],
  ['a cycle', CYCLE],
  ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: () => JSON.parse('') })],
])('%s in one field does not hide the bytes of the others', async (_name, field) => {
  const long = { role: 'user', content: 'x'.repeat(50_000), field }
  const inMessage = await prepared([...shots(1), long, said('Done')], { maxRequestBytes: 50_000 })
  const environment = { systemPrompt: 'x'.repeat(50_000), tools: [{ name: 'shot', field }] }
  const beside = await prepared([...shots(1), said('Done')], { maxRequestBytes: 50_000, environment })
  expect([inMessage.fits, beside.fits]).toEqual([false, false])
})

test('exceeding one limit takes nothing out for the other', async () => {
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: image(1, 200_000) } }
  const images = Array.from({ length: 20 }, (_, at) => [
    { role: 'user', content: [claudeImage(png(8, 8, 300, at))] },
    said('Yes'),
  ])
  const messages = [{ role: 'user', content: [pdf] }, said('Yes'), ...images.flat()]
  const { items, fits } = await prepared(messages, { maxRequestBytes: 200_000, maxImages: 20 })
  expect([items, fits]).toEqual([1, true])
})

const screenshots = (count: number) => [
  ...Array.from({ length: count }, (_, at) => [
    { type: 'computer_call', id: `i${at}`, call_id: `c${at}`, status: 'completed', action: { type: 'screenshot' } },
    {
      type: 'computer_call_output',
      call_id: `c${at}`,
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${image(at)}` },
    },
  ]).flat(),
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }] },
]

test('a blank image in place of another is an image, too', async () => {
  const many = await prepared(screenshots(20), { maxImages: 8 })
  expect(many).toMatchObject({ items: 0, fits: false })
  expect(many.reason).toContain('The request has 20 images and may have 8.')
  const large = await prepared(screenshots(20), { maxImages: 8, maxRequestBytes: 150_000 })
  expect(large.items).toBeGreaterThan(0)
  expect(large.reason).toContain('The request has 20 images and may have 8.')
})

test('one object at two places leaves at one of them', async () => {
  const same = { role: 'user', content: [claudeImage(image(1))] }
  const other = (at: number) => ({ role: 'user', content: [claudeImage(image(at))] })
  const messages = [same, said('a'), other(2), said('b'), other(3), said('c'), same]
  const { sent } = await prepared(messages, { maxImages: 3 })
  expect(sent.at(-1)).toBe(same)
  expect(sentJson(sent[0])).toContain('left out]')
})

test.each<[string, (messages: object[]) => object[]]>([
  ['the same messages', (messages) => messages],
  ['messages that are built anew', copyOf],
])('images of results that were pruned before do not count in later requests of %s', async (_name, again) => {
  const manager = new ContextManager({
    ...options,
    budget: { protectTokens: 3000, minTokens: 0, protectTurns: 0 },
    pruning: { schedule: 'always' },
    maxRequestBytes: 60_000,
  })
  const messages = shots(20)
  for (let count = 10; count <= 20; count++) {
    const { messages: sent, report } = await manager.prepare(again(messages.slice(0, 2 * count)), { now: count })
    expect(sentJson(sent)).not.toContain('left out]')
    expect(report.fits).toBe(true)
    expect(bytesOf(sent)).toBeLessThan(60_000)
  }
})
