// Usage of responses: a pruner and a manager learn from it.

import fc from 'fast-check'
import { ContextManager, HistoryPruner, type HistoryPrunerOptions } from 'spillway'
import { contextMiddleware } from 'spillway/ai-sdk'
import { extension } from 'spillway/pi'

const MINUTE = 60_000

function fail(): never {
  throw new Error('not readable')
}

describe('the usage of each provider', () => {
  const expected = { promptTokens: 1000, cacheReadTokens: 700 }
  test.each<[string, object, object?]>([
    [
      'Anthropic',
      { input_tokens: 100, cache_read_input_tokens: 700, cache_creation_input_tokens: 200, output_tokens: 9 },
      { cacheWriteTokens: 200 },
    ],
    [
      'Anthropic without a cache',
      { input_tokens: 1000, cache_read_input_tokens: null },
      { cacheReadTokens: undefined },
    ],
    ['chat', { prompt_tokens: 1000, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 700 } }],
    ['DeepSeek', { prompt_tokens: 1000, prompt_cache_hit_tokens: 700, prompt_cache_miss_tokens: 300 }],
    [
      'OpenRouter',
      { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 700, cache_write_tokens: 200 } },
      { cacheWriteTokens: 200 },
    ],
    ['Responses', { input_tokens: 1000, input_tokens_details: { cached_tokens: 700 } }],
    ['Gemini', { promptTokenCount: 1000, cachedContentTokenCount: 700 }],
    [
      'LangChain',
      { input_tokens: 1000, input_token_details: { cache_read: 700, cache_creation: 200 } },
      { cacheWriteTokens: 200 },
    ],
    ['AI SDK 5', { inputTokens: 1000, cachedInputTokens: 700 }],
    [
      'AI SDK 6',
      {
        inputTokens: 1000,
        inputTokenDetails: { noCacheTokens: 300, cacheReadTokens: 700, cacheWriteTokens: undefined },
      },
    ],
    ['a model of the AI SDK', { inputTokens: { total: 1000, noCache: 300, cacheRead: 700, cacheWrite: undefined } }],
    ['Agents SDK', { inputTokens: 1000, inputTokensDetails: [{ cached_tokens: 700 }] }],
    ['Bedrock', { inputTokens: 100, cacheReadInputTokens: 700, cacheWriteInputTokens: 200 }, { cacheWriteTokens: 200 }],
    ['OpenCode', { input: 300, output: 9, reasoning: 0, cache: { read: 700, write: 0 } }, { cacheWriteTokens: 0 }],
    ['pi', { input: 300, output: 9, cacheRead: 700, cacheWrite: 0 }, { cacheWriteTokens: 0 }],
  ])('%s', (_name, usage, more = {}) => {
    expect(new HistoryPruner().observe(usage)).toEqual({ ...expected, ...more })
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'no field'],
    ['other names', { tokens: 5 }, 'no field'],
    ['a text', 'input_tokens: 5', 'no field'],
    ['a count that is none', { input_tokens: '5' }, 'no field'],
    ['negative tokens', { input_tokens: -5 }, 'its prompt tokens is -5'],
    ['negative hits', { input_tokens: 5, cache_read_input_tokens: -1 }, 'its read tokens is -1'],
    ['half a token', { input_tokens: 1.5 }, 'its prompt tokens is 1.5'],
    ['no number', { prompt_tokens: Number.NaN }, 'its prompt tokens is NaN'],
    ['no end', { promptTokenCount: Number.POSITIVE_INFINITY }, 'its prompt tokens is Infinity'],
    ['no tokens', { input_tokens: 0 }, 'has 0 tokens'],
    [
      'counts that no sum holds',
      { input_tokens: 1e308, cache_read_input_tokens: 1e308 },
      'its prompt tokens is 1e+308',
    ],
    [
      'writes that are no number',
      { input_tokens: 5, cache_creation_input_tokens: Number.NaN },
      'its write tokens is NaN',
    ],
    ['a getter that throws', Object.defineProperty({}, 'input_tokens', { get: fail }), 'not readable'],
    ['a proxy that throws', new Proxy({}, { get: fail, has: fail, getOwnPropertyDescriptor: fail }), 'not readable'],
  ])('%s teaches nothing', (_name, usage, problem) => {
    const pruner = new HistoryPruner()
    const before = JSON.stringify(pruner)
    const read = pruner.observe(usage)
    expect(read.promptTokens).toBe(0)
    expect(read.problem).toContain(problem)
    expect(JSON.stringify(pruner)).toBe(before)
  })

  test.each<[string, object, object, string]>([
    ['hits', { cached_tokens: 700 }, { cacheReadTokens: 100 }, '700'],
    ['writes', { cached_tokens: 70, cache_write_tokens: 400 }, { cacheReadTokens: 70, cacheWriteTokens: 30 }, '470'],
  ])('more %s than tokens are as many as there are tokens', (_name, prompt_tokens_details, counts, problem) => {
    const read = new HistoryPruner().observe({ prompt_tokens: 100, prompt_tokens_details })
    expect(read).toMatchObject({ promptTokens: 100, ...counts })
    expect(read.problem).toContain(problem)
  })

  test.each<[string, object]>([
    ['negative', { input: -1, cacheRead: -2, cacheWrite: -3 }],
    ['no numbers', { input: Number.NaN, cacheRead: '0.1', cacheWrite: null }],
    ['without a finite ratio', { input: 1e-320, cacheRead: 1e300, cacheWrite: 1 }],
  ])('costs that are %s are no prices, and the state can be read again', (_name, cost) => {
    const pruner = new HistoryPruner()
    pruner.prune([{ role: 'user', content: 'Mend the build.' }])
    pruner.observe({ input: 10, output: 1, cacheRead: 5, cacheWrite: 5, cost })
    const state = JSON.stringify(pruner)
    expect(JSON.parse(state).observed.prices).toBeUndefined()
    expect(JSON.stringify(HistoryPruner.fromJSON(state))).toBe(state)
  })
})

/** A history of `calls` calls; each result has `chars` characters. */
function historyOf(calls: number, chars = 12_000): object[] {
  const turns = Array.from({ length: calls }, (_, at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `${at}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `${at}`, content: `${at} `.padEnd(chars, 'word ') },
  ])
  return [{ role: 'user', content: 'Go' }, ...turns.flat()]
}

/** Sends a request after each pause; the provider reads `hits` of the prompt from its cache. Returns which were cold. */
function coldAfter(pruner: HistoryPruner, requests: readonly (readonly [pause: number, hits: boolean | undefined])[]) {
  let now = 1e12
  return requests.map(([pause, hits], at) => {
    now += pause
    const { report } = pruner.prune(historyOf(4 + at), { now })
    const prompt_tokens = Math.round(report.tokensAfter)
    const cached_tokens = hits ? prompt_tokens : 0
    pruner.observe({ prompt_tokens, ...(hits !== undefined && { prompt_tokens_details: { cached_tokens } }) })
    return report.cold
  })
}

describe('the life of the cache', () => {
  const options = { keepRecent: 50 }
  test.each<[string, [number, boolean | undefined][], boolean[]]>([
    [
      'a hit after a pause makes it longer',
      [
        [0, false],
        [10 * MINUTE, true],
        [9 * MINUTE, true],
      ],
      [true, true, false],
    ],
    [
      'one miss does not make it shorter',
      [
        [0, false],
        [MINUTE, false],
        [MINUTE, true],
      ],
      [true, false, false],
    ],
    [
      'two misses do',
      [
        [0, false],
        [MINUTE, true],
        [MINUTE, false],
        [MINUTE, false],
        [MINUTE, false],
      ],
      [true, false, false, false, true],
    ],
    [
      'zeros do not, as long as no use of a cache was reported: hosts write them for what a provider does not say',
      [
        [0, false],
        [MINUTE, false],
        [MINUTE, false],
        [MINUTE, false],
        [MINUTE, false],
      ],
      [true, false, false, false, false],
    ],
    [
      'a hit after such a pause takes back the misses',
      [
        [0, false],
        [MINUTE, false],
        [MINUTE, true],
        [MINUTE, false],
        [MINUTE, true],
      ],
      [true, false, false, false, false],
    ],
    [
      'a provider that does not say teaches nothing',
      [
        [0, undefined],
        [MINUTE, undefined],
        [MINUTE, undefined],
        [MINUTE, undefined],
      ],
      [true, false, false, false],
    ],
  ])('%s', (_name, requests, expected) => {
    expect(coldAfter(new HistoryPruner(options), requests)).toEqual(expected)
  })

  test('it is known in another process', () => {
    const pruner = new HistoryPruner(options)
    coldAfter(pruner, [
      [0, false],
      [20 * MINUTE, true],
    ])
    const again = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
    expect(again.prune(historyOf(6), { now: 1e12 + 35 * MINUTE }).report.cold).toBe(false)
    const state = { ...pruner.toJSON(), observed: { misses: [-1], estimated: 1, counted: 1 } }
    expect(() => HistoryPruner.fromJSON(state as never)).toThrow('state.observed')
  })

  test('writes for an hour', () => {
    const pruner = new HistoryPruner(options)
    pruner.prune(historyOf(4), { now: 1e12 })
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 9000 }
    pruner.observe({ input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 9000, cache_creation })
    expect(pruner.prune(historyOf(5), { now: 1e12 + 50 * MINUTE }).report.cold).toBe(false)
  })
})

describe('prices', () => {
  /** The report of a change in a long warm session, by the usage that was observed. */
  const priceOf = (options: HistoryPrunerOptions, usage: object) => {
    const pruner = new HistoryPruner({ keepRecent: 1, ...options })
    pruner.prune(historyOf(2), { now: 1e12 })
    pruner.observe(usage)
    return pruner.prune(historyOf(6), { now: 1e12 + 1000 }).report
  }
  const cost = { input: 0.001, cacheRead: 0.0025, cacheWrite: 0.00625, output: 1, total: 2 }

  test('costs of a response are its prices', () => {
    // Input 1, read 0.25, write 1.25.
    const usage = { input: 1000, output: 5, cacheRead: 10_000, cacheWrite: 5000, cost }
    const byCost = priceOf({}, usage)
    const given = priceOf({ prices: { read: 0.25, write: 1.25, miss: 1.25 } }, {})
    expect(byCost.price).toBeCloseTo(given.price, 6)
    expect(byCost.price).not.toBeCloseTo(priceOf({}, {}).price, 0)
  })

  test('costs of nothing are no prices', () => {
    const free = { input: 0, cacheRead: 0, cacheWrite: 0 }
    const usage = { input: 1000, output: 5, cacheRead: 10_000, cacheWrite: 5000, cost: free }
    expect(priceOf({}, usage).price).toBeCloseTo(priceOf({}, {}).price, 6)
  })
})

test('no session costs more than a tenth above doing nothing by the prices of the rule, for any observations', () => {
  const count = fc.oneof(fc.integer({ min: -10, max: 200_000 }), fc.constant(Number.NaN))
  const usage = fc.oneof(
    fc.record({ prompt_tokens: count, prompt_tokens_details: fc.record({ cached_tokens: count }) }),
    fc.record({ input_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count }),
  )
  const request = fc.record({ usage, pause: fc.constantFrom(1000, 2 * MINUTE, 10 * MINUTE), chars: fc.nat(40_000) })
  fc.assert(
    fc.property(fc.array(request, { minLength: 2, maxLength: 25 }), (requests) => {
      let pruner = new HistoryPruner({ keepRecent: 1 })
      let now = 1e12
      const messages = historyOf(0)
      for (const [at, { usage: observed, pause, chars }] of requests.entries()) {
        now += pause
        messages.push(
          ...historyOf(1, chars)
            .slice(1)
            .map((message) => JSON.parse(JSON.stringify(message).replaceAll('"0"', `"${at}"`))),
        )
        const { report } = pruner.prune(messages, { now })
        expect(report.cost.paid).toBeLessThanOrEqual(report.cost.unpruned * 1.1 + 1e-6)
        pruner.observe(observed)
        if (at % 5 === 4) pruner = HistoryPruner.fromJSON(JSON.stringify(pruner), { keepRecent: 1 })
      }
    }),
    { numRuns: 60 },
  )
})

describe('ContextManager', () => {
  const contextWindow = 100_000
  const fits = async (counted: number | undefined) => {
    const manager = new ContextManager({ contextWindow, budget: false, compaction: false, overflow: false })
    const { report } = await manager.prepare(historyOf(20), { now: 1e12 })
    if (counted !== undefined) manager.observe({ prompt_tokens: report.tokensAfter * counted })
    const next = await manager.prepare(historyOf(21), { now: 1e12 + 1000 })
    return next.report.fits
  }

  test('counts as the provider counts', async () => {
    expect(await fits(undefined)).toBe(true)
    expect(await fits(1)).toBe(true)
    expect(await fits(5)).toBe(false)
  })

  test('compacts by what the provider counted', async () => {
    const manager = new ContextManager({ contextWindow, budget: false, compaction: { summarize: () => 'A summary.' } })
    const { report: first } = await manager.prepare(historyOf(12), { now: 1e12 })
    expect(first.compaction).toBeUndefined()
    manager.observe({ promptTokenCount: 99_000 })
    const { report: second } = await manager.prepare(historyOf(13), { now: 1e12 + 1000 })
    expect(second.compaction?.trigger).toMatchObject({ triggered: true })
  })
})

describe('adapters hand on what their host knows', () => {
  const spied = () => {
    const seen: unknown[] = []
    const history = (_session: string | undefined, { model }: { model?: string }) => {
      seen.push(model)
      const prune = (messages: readonly unknown[]) => ({ messages })
      return { prune, observe: (usage: unknown) => seen.push(usage) }
    }
    return { seen, history }
  }

  test('pi', async () => {
    const { seen, history } = spied()
    const handlers = new Map<string, (event: unknown, context: unknown) => unknown>()
    extension({ history })({ on: (event: string, handler: never) => handlers.set(event, handler) })
    const usage = { input: 5, output: 1, cacheRead: 0, cacheWrite: 0 }
    const context = { sessionManager: { getSessionId: () => 's' }, model: { id: 'claude-opus-5-5' } }
    const messages: object[] = [{ role: 'user', content: 'Go' }]
    const send = () => handlers.get('context')?.({ messages: structuredClone(messages) }, context)
    await send()
    messages.push({ role: 'assistant', content: [], usage, timestamp: 1 })
    await send()
    await send()
    expect(seen).toEqual(['claude-opus-5-5', usage])
  })

  test('AI SDK', async () => {
    const { seen, history } = spied()
    const { transformParams, wrapGenerate, wrapStream } = contextMiddleware({ history })
    const usage = { inputTokens: { total: 5 } }
    const model = { modelId: 'gpt-5.6', doGenerate: async () => ({ usage }) }
    const params = await transformParams({ params: { prompt: [{ role: 'user', content: [] }] }, model })
    await wrapGenerate({ doGenerate: model.doGenerate, params, model })
    const parts = [
      { type: 'text-delta', delta: 'a' },
      { type: 'finish', usage: { ...usage } },
    ]
    const doStream = async () => ({ stream: ReadableStream.from(parts) as ReadableStream<object> })
    const { stream } = await wrapStream({ doStream, params, model: { doStream } })
    for await (const _part of stream as unknown as AsyncIterable<object>) {
    }
    expect(seen).toEqual(['gpt-5.6', usage, usage])
  })
})
