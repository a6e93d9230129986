import fc from 'fast-check'
import { classifyOverflow, SpillwayError } from 'spillway'
import fixtures from './fixtures.json'
import { type Fixture, SHAPES } from './shapes'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 100)

beforeAll(() => {
  jest.useFakeTimers()
})
afterAll(() => {
  jest.useRealTimers()
})

describe('errors of providers', () => {
  for (const [shape, make] of Object.entries(SHAPES)) {
    test.each(fixtures as Fixture[])(`${shape}: $id`, (row) => {
      const found = classifyOverflow(make(row))
      const { kind, actual, limit, output } = row
      expect(found).toMatchObject({ kind, overflow: kind === 'overflow' })
      expect(found.actualTokens ?? found.actualLength).toBe(actual)
      expect(found.limitTokens ?? found.limitLength).toBe(limit)
      if (output !== undefined) expect(found.outputTokens).toBe(output)
    })
  }

  test.each<[unknown, object | undefined, string]>([
    ['413 status code (no body)', undefined, 'overflow'],
    ['400 status code (no body)', undefined, 'overflow'],
    [new Error('400 status code (no body)'), undefined, 'overflow'],
    [{ status: 400, message: '400 status code (no body)' }, undefined, 'overflow'],
    [
      { status: 400, message: '400 status code (no body)' },
      { contextWindow: 100_000, estimatedTokens: 10_000 },
      'other',
    ],
    [
      { status: 400, message: '400 status code (no body)' },
      { contextWindow: 100_000, estimatedTokens: 95_000 },
      'overflow',
    ],
    [{ status: 400, message: '' }, undefined, 'other'],
    ['Error: 413 (no body)', undefined, 'overflow'],
    ['413', undefined, 'overflow'],
    ['400', undefined, 'other'],
    ['500 status code (no body)', undefined, 'other'],
    ['401 status code (no body)', undefined, 'other'],
    ['413 status code (no body)', { contextWindow: 100_000, estimatedTokens: 10_000 }, 'other'],
    ['400 status code (no body)', { contextWindow: 100_000, estimatedTokens: 95_000 }, 'overflow'],
  ])('an answer without a body: %s with %j', (error, options, kind) => {
    expect(classifyOverflow(error, options as never).kind).toBe(kind)
  })

  test('the numbers of a field are no tokens', () => {
    const row = fixtures.find(({ id }) => id === 'openai-string-too-long') as Fixture
    expect(classifyOverflow({ error: row })).toEqual({
      overflow: false,
      kind: 'field',
      confidence: 'high',
      actualLength: 11_300_112,
      limitLength: 10_485_760,
      provider: 'openai',
      matched: 'string_above_max_length',
    })
  })

  test('a wording is named with its provider', () => {
    expect(classifyOverflow('prompt is too long: 213,462 tokens > 200,000 maximum')).toEqual({
      overflow: true,
      kind: 'overflow',
      confidence: 'high',
      actualTokens: 213_462,
      limitTokens: 200_000,
      provider: 'anthropic',
      matched: 'anthropic-prompt-too-long',
    })
  })

  test('llama.cpp gives its numbers in fields', () => {
    const error = {
      code: 400,
      type: 'exceed_context_size_error',
      message: 'too long',
      n_prompt_tokens: 9000,
      n_ctx: 4096,
    }
    expect(classifyOverflow({ error })).toMatchObject({ overflow: true, actualTokens: 9000, limitTokens: 4096 })
  })

  test('an excess is added to the window', () => {
    const error = new Error('prompt too long; exceeded max context length by 1200 tokens')
    expect(classifyOverflow(error, { contextWindow: 8192 })).toMatchObject({ actualTokens: 9392 })
  })

  test('AWS names its errors, also in a header', () => {
    const name = { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 }, message: 'Too many tokens' }
    expect(classifyOverflow(name).kind).toBe('rate')
    const header = { statusCode: 400, message: 'no', responseHeaders: { 'x-amzn-errortype': 'ThrottlingException' } }
    expect(classifyOverflow(header).kind).toBe('rate')
    expect(classifyOverflow({ message: 'Too many tokens', $metadata: { httpStatusCode: 429 } }).kind).toBe('rate')
  })

  test.each([
    'Output token limit reached',
    'The response exceeded the maximum output tokens',
    'Completion token limit exceeded',
    'API Error: output limit was reached',
  ])('the length of the answer is not that of the request: %s', (text) => {
    for (const error of [text, new Error(text), { status: 400, message: text }]) {
      expect(classifyOverflow(error)).toMatchObject({ overflow: false, kind: 'other', matched: 'output-limit-reached' })
    }
  })

  test('the last of several errors with a meaning counts', () => {
    const overflow = new Error('prompt is too long: 3 tokens > 2 maximum')
    const rate = Object.assign(new Error('slow down'), { status: 429 })
    expect(classifyOverflow(new AggregateError([rate, overflow, new Error('socket hang up')])).kind).toBe('overflow')
    expect(classifyOverflow(new AggregateError([overflow, rate])).kind).toBe('rate')
  })
})

describe('a refusal that says nothing', () => {
  const near = { estimatedTokens: 90_000, contextWindow: 100_000 }
  const far = { estimatedTokens: 10_000, contextWindow: 100_000 }

  test.each([
    ['AI SDK', { name: 'AI_APICallError', statusCode: 400, message: 'Bad Request', responseBody: '' }],
    ['a response', new Response('', { status: 400 })],
  ])('%s: counts near the window only', (_client, error) => {
    expect(classifyOverflow(error, near)).toMatchObject({ overflow: true, confidence: 'low', matched: 'near-window' })
    expect(classifyOverflow(error, far).kind).toBe('other')
    expect(classifyOverflow(error).kind).toBe('other')
  })

  test('413 says that it was too large, unless we know better', () => {
    const error = { status: 413, message: '413 status code (no body)' }
    expect(classifyOverflow(error, near).overflow).toBe(true)
    expect(classifyOverflow(error, far).overflow).toBe(false)
    expect(classifyOverflow(error)).toMatchObject({ overflow: true, confidence: 'low' })
  })

  test('one with words does not', () => {
    expect(classifyOverflow({ status: 400, message: '400 Unknown parameter: foo' }, near).kind).toBe('other')
  })
})

describe('answers', () => {
  const contextWindow = 200_000
  test.each([
    ['Anthropic', { type: 'message', stop_reason: 'model_context_window_exceeded', usage: { input_tokens: 5 } }, true],
    [
      'Anthropic, from the cache',
      { stop_reason: 'end_turn', usage: { input_tokens: 5, cache_read_input_tokens: 200_000, output_tokens: 4 } },
      true,
    ],
    [
      'OpenAI',
      {
        choices: [{ finish_reason: 'length', message: { content: '' } }],
        usage: { prompt_tokens: 199_000, completion_tokens: 0 },
      },
      true,
    ],
    [
      'OpenAI, cut off later',
      { choices: [{ finish_reason: 'length' }], usage: { prompt_tokens: 199_000, completion_tokens: 9 } },
      false,
    ],
    [
      'OpenAI, room left',
      { choices: [{ finish_reason: 'length' }], usage: { prompt_tokens: 100, completion_tokens: 0 } },
      false,
    ],
    [
      'OpenAI Responses',
      {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage: { input_tokens: 199_999, output_tokens: 0 },
      },
      true,
    ],
    [
      'Gemini',
      {
        candidates: [{ finishReason: 'MAX_TOKENS' }],
        usageMetadata: { promptTokenCount: 199_000, candidatesTokenCount: 0 },
      },
      true,
    ],
    [
      'Gemini, silently',
      { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 200_001 } },
      true,
    ],
    ['Bedrock', { stopReason: 'model_context_window_exceeded' }, true],
    ['AI SDK', { finishReason: 'length', usage: { inputTokens: 199_000, outputTokens: 0 } }, true],
    [
      'AI SDK, split',
      {
        finishReason: { unified: 'length', raw: 'max_tokens' },
        usage: { inputTokens: { total: 199_000 }, outputTokens: { total: 0 } },
      },
      true,
    ],
    [
      'LangChain',
      { response_metadata: { finish_reason: 'length' }, usage_metadata: { input_tokens: 199_000, output_tokens: 0 } },
      true,
    ],
    ['pi', { role: 'assistant', stopReason: 'length', usage: { input: 190_000, cacheRead: 9000, output: 0 } }, true],
    [
      'nothing special',
      { choices: [{ finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 3 } },
      false,
    ],
  ])('%s', (_provider, answer, overflow) => {
    expect(classifyOverflow(answer, { contextWindow }).overflow).toBe(overflow)
  })

  test('cut off before the first token, with an unknown window', () => {
    const answer = { finish_reason: 'length', usage: { prompt_tokens: 100, completion_tokens: 0 } }
    expect(classifyOverflow(answer)).toMatchObject({ overflow: true, confidence: 'medium', actualTokens: 100 })
  })

  test('the text of an answer is not taken for its error', () => {
    const text = 'prompt is too long: 213462 tokens > 200000 maximum'
    for (const answer of [
      { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: text } }] },
      { type: 'message', stop_reason: 'end_turn', content: [{ type: 'text', text }] },
      { candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] },
      { text, finishReason: 'stop', response: { messages: [{ role: 'assistant', content: text }] } },
      { message: { role: 'assistant', content: text } },
    ]) {
      expect(classifyOverflow(answer).kind).toBe('other')
    }
  })
})

describe('any value', () => {
  const KINDS = ['overflow', 'rate', 'field', 'other']

  test('it answers', () => {
    const values = fc.anything({
      key: fc.constantFrom(
        'error',
        'cause',
        'errors',
        'lastError',
        'data',
        'message',
        'code',
        'status',
        'usage',
        'responseBody',
      ),
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      maxDepth: 6,
    })
    fc.assert(
      fc.property(values, (value) => {
        expect(KINDS).toContain(classifyOverflow(value).kind)
      }),
      { numRuns: 10 * RUNS },
    )
  })

  test('proxies, getters that throw, cycles', () => {
    const endless: object = new Proxy({}, { get: () => endless })
    const growing = (): object => new Proxy(() => {}, { get: growing })
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('no')
        },
        getPrototypeOf() {
          throw new Error('no')
        },
      },
    )
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    const cycle: { cause?: unknown; message: string } = { message: 'prompt is too long: 3 tokens > 2 maximum' }
    cycle.cause = { error: cycle }
    const getter = {
      get message(): string {
        throw new Error('no')
      },
      status: 429,
    }
    for (const value of [endless, growing(), hostile, proxy, { errors: proxy }]) {
      expect(classifyOverflow(value)).toEqual({ overflow: false, kind: 'other', confidence: 'low' })
    }
    expect(classifyOverflow(cycle)).toMatchObject({ overflow: true, limitTokens: 2 })
    expect(classifyOverflow(getter).kind).toBe('rate')
    expect(classifyOverflow({ message: 'prompt is too long \ud800' }).overflow).toBe(true)
  })

  test('no value is changed', () => {
    const error = { error: { message: 'no', errors: [{ cause: { data: '{}' } }] }, usage: { input_tokens: 1 } }
    const before = structuredClone(error)
    classifyOverflow(Object.freeze(error))
    expect(error).toEqual(before)
  })

  test('a chain of causes that has no end has an end', () => {
    let error: unknown = new Error('prompt is too long: 3 tokens > 2 maximum')
    for (let depth = 0; depth < 10_000; depth++) error = { cause: error }
    expect(classifyOverflow(error).kind).toBe('other')
  })

  test('a long message takes time in proportion', () => {
    const time = (message: string) => {
      const started = process.hrtime.bigint()
      for (let round = 0; round < 3; round++) classifyOverflow({ status: 400, message })
      return Number(process.hrtime.bigint() - started) / 1e6
    }
    const pieces = [
      'a',
      '{"',
      '[',
      'input (',
      'exceeds ',
      '9,',
      ' 1 + 1 > ',
      'maximum context length is 1 tokens ',
      '\\"{',
      'é',
    ]
    time('warm up')
    for (const piece of pieces) {
      const message = piece.repeat(Math.ceil(2 ** 20 / piece.length))
      expect(time(message)).toBeLessThan(3000)
    }
  })
})

test.each([
  [null, 'options'],
  [{ contextWindow: -1 }, 'options.contextWindow'],
  [{ estimatedTokens: Number.NaN }, 'options.estimatedTokens'],
  [{ estimatedTokens: '5' }, 'options.estimatedTokens'],
  [{ contextWindows: 5 }, 'options.contextWindows'],
])('options %p are refused', (options, field) => {
  const wrong = () => classifyOverflow(new Error('no'), options as object)
  expect(wrong).toThrow(SpillwayError)
  expect(wrong).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
})
