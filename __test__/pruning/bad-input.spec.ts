// Histories that no provider would write: a pruner never throws because of one, and no message is lost.

import { ContextManager, HistoryPruner } from 'spillway'

type Message = Record<string, unknown>

const LONG = 'word '.repeat(4000)

const asked: Message = { role: 'user', content: 'Mend the build.' }
const goOn: Message = { role: 'user', content: 'Go on.' }

const called = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'read', input: { path: id } }],
})

const answered = (id: string, content: unknown): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content }],
})

const pruned = (messages: readonly Message[]) =>
  new HistoryPruner({ schedule: 'always', keepRecent: 0 }).prune(messages, { now: 1e12 })

describe('signatures', () => {
  const signedBy = (signature: unknown) => [
    asked,
    called('a'),
    answered('a', LONG),
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'So.', signature },
        { type: 'text', text: 'I see.' },
      ],
    },
    goOn,
  ]

  test.each([
    ['empty', ''],
    ['missing', undefined],
    ['null', null],
    ['no text', 5],
  ] as const)('one that is %s binds nothing', (_name, signature) => {
    const { messages, report } = pruned(signedBy(signature))
    expect(report).toMatchObject({ total: 1, format: 'anthropic' })
    expect(report.bound).toBeUndefined()
    expect(messages).toHaveLength(5)
  })

  test('one of another provider is taken for one that binds, as it cannot be checked here', () => {
    const history = signedBy('made by somebody else')
    const { messages, report } = pruned(history)
    expect(report).toMatchObject({ total: 0, bound: 4 })
    expect(messages).toBe(history)
  })
})

describe('media', () => {
  const SOURCES: [name: string, source: unknown][] = [
    ['without a source', null],
    ['without data', { type: 'base64', media_type: 'image/png' }],
    ['with empty data', { type: 'base64', media_type: 'image/png', data: '' }],
    ['with data that is no base64', { type: 'base64', media_type: 'image/png', data: '%%% no base64' }],
    ['with data that is no text', { type: 'base64', data: 5 }],
    ['without a size in its data', { type: 'base64', media_type: 'image/png', data: 'AAAA' }],
    ['at no address', { type: 'url', url: '' }],
  ]
  const shown = (source: unknown) => [
    asked,
    called('a'),
    answered('a', [{ type: 'image', source }]),
    called('b'),
    answered('b', [
      { type: 'image', source },
      { type: 'text', text: LONG },
    ]),
    { role: 'assistant', content: 'I see.' },
    goOn,
  ]

  test.each(SOURCES)('an image %s counts, and leaves with the text beside it', (_name, source) => {
    const { messages, report } = pruned(shown(source))
    expect(Number.isFinite(report.tokensBefore)).toBe(true)
    expect(report.tokensAfter).toBeLessThan(report.tokensBefore)
    expect(messages).toHaveLength(7)
    expect(JSON.stringify(messages[4])).toContain('[image removed: image')
  })

  test.each(SOURCES)('an image %s is described where a request has more images than it may', async (_name, source) => {
    const manager = new ContextManager({ contextWindow: 100_000, maxImages: 1 })
    const { messages } = await manager.prepare(shown(source), { now: 1e12 })
    expect(messages).toHaveLength(7)
    const sent = JSON.stringify(messages)
    expect(sent).not.toContain('"type":"image"')
    expect(sent.match(/\[image[^\]]*, left out\]/g)).toHaveLength(2)
  })
})

describe('a history of several formats', () => {
  const mixed: Message[] = [
    asked,
    called('a'),
    answered('a', LONG),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'b', type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'b', content: LONG },
    { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output: LONG } } }] },
    { role: 'unknown', body: LONG },
    { role: 'assistant', content: 'I see.' },
    goOn,
  ]

  test('is read message by message; what no format reads stays as it is and counts', () => {
    const { messages, report } = pruned(mixed)
    expect(report.pruned.map(({ index }) => index)).toEqual([2, 4, 6])
    expect(messages).toHaveLength(mixed.length)
    expect(messages[7]).toBe(mixed[7])
    expect(report.tokensAfter).toBeGreaterThan(LONG.length / 5)
  })

  test('sends the same bytes again, also after a restart', () => {
    const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 0 })
    const sent = JSON.stringify(pruner.prune(mixed, { now: 1e12 }).messages)
    expect(JSON.stringify(pruner.prune(mixed, { now: 1e12 }).messages)).toBe(sent)
    const again = HistoryPruner.fromJSON(JSON.stringify(pruner), { schedule: 'always', keepRecent: 0 })
    expect(JSON.stringify(again.prune(mixed, { now: 1e12 }).messages)).toBe(sent)
  })
})
