import fc from 'fast-check'
import {
  compactHistory,
  estimateTokens,
  HistoryPruner,
  type HistoryPrunerOptions,
  type PruneReport,
  SpillwayError,
  ToolResultLedger,
} from 'spillway'
import { detectFormat, type HistoryFormatName, type PrunePolicy } from 'spillway/history'
import { conversations, hostile, pairedFormats, written } from '../history/histories'
import { deepFreeze, formats } from '../history/support'

const runs = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 100)

type Message = Record<string, unknown>

let calls = 0
beforeEach(() => {
  calls = 0
})

const user = (content = 'go on'): Message => ({ role: 'user', content })
const said = (content = 'done'): Message => ({ role: 'assistant', content })

/** A message of the model with a call for each of `sizes`, and results of that many tokens. */
function turn(...sizes: number[]): Message[] {
  const ids = sizes.map(() => `call-${calls++}`)
  return [
    {
      role: 'assistant',
      content: '',
      tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } })),
    },
    ...ids.map((id, at) => ({ role: 'tool', tool_call_id: id, content: 'word'.repeat(sizes[at] as number) })),
  ]
}

/** By default it prunes histories of any size. */
const pruner = (options: HistoryPrunerOptions = {}) =>
  new HistoryPruner({
    ...(!options.profile && { policies: [{ type: 'results', minTokens: 0 }] }),
    estimateTokens: (text) => text.length / 4,
    onError: (error) => {
      throw error
    },
    ...options,
  })

const PLACEHOLDER = '[Old result left out; its call has already been made]'

const contents = (messages: readonly Message[]) => messages.map(({ content }) => content)

/** Which messages are not the ones that were given. */
const changed = (before: readonly unknown[], after: readonly unknown[]) =>
  before.flatMap((message, at) => (after[at] === message ? [] : [at]))

test.each([[{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }], [[]], [[null]]])(
  'a message without text after others that were measured is measured, too: %j',
  async (content) => {
    const messages: Message[] = [user(), ...turn(20_000, 20_000), ...turn(20_000)]
    const options = { contextWindow: 8000, force: true, summarize: async () => 'a summary' }
    const before = await compactHistory(messages, options)
    messages.push({ role: 'user', content: Array.isArray(content) ? content : [content] })
    const after = await compactHistory(messages, options)
    expect(after.report.sizeBefore).toBeGreaterThanOrEqual(before.report.sizeBefore)
    expect(new HistoryPruner().prune(messages, { now: Date.now() }).report.reason).not.toBe('unreadable')
  },
)

describe('candidates', () => {
  test('the newest result stays, and everything else is the same object', () => {
    const history = deepFreeze([user(), ...[1, 2, 3, 4, 5, 6, 7].flatMap(() => turn(1000)), said()])
    const { messages, report } = pruner().prune(history, { now: 0 })
    expect(changed(history, messages)).toEqual([2, 4, 6, 8, 10, 12])
    expect(messages[2]).toEqual({ ...history[2], content: PLACEHOLDER })
    expect(report).toMatchObject({ reason: 'free', cold: true, total: 6, format: 'openai-chat' })
    expect(report.pruned).toEqual(
      [0, 1, 2, 3, 4, 5].map((at) => {
        const about = { kind: 'result', toolName: 'bash', tokens: 1000, policy: 'results' }
        return { ...about, index: 2 + 2 * at, toolCallId: `call-${at}` }
      }),
    )
    // Roles and delimiters take something, too.
    expect(report.tokensBefore).toBeCloseTo(7100, -2)
    expect(report.tokensBefore - report.tokensAfter).toBe(6 * (1000 - PLACEHOLDER.length / 4))
  })

  test.each(pairedFormats)(
    'a session in %s that begins with one word of the user is read as what it becomes',
    (name) => {
      const results = (at: number) => [{ id: `c${at}`, name: 'bash', text: 'word '.repeat(900), isError: false }]
      const conversation = Array.from({ length: 9 }, (_, at) => [
        { kind: 'calls', text: 'so', calls: results(at) },
        { kind: 'results', results: results(at) },
      ]).flat()
      const history = [user(), ...written(name, [...conversation, { kind: 'assistant', text: 'done' }] as never)]
      const one = new HistoryPruner()
      for (let end = 1; end < history.length; end++) one.prune(history.slice(0, end), { now: end })
      const again = HistoryPruner.fromJSON(JSON.stringify(one)).prune(history, { now: history.length }).report
      const { report } = one.prune(history, { now: history.length })
      expect(report.format).toBe(detectFormat(history))
      expect(report).toEqual(again)
      expect(report.tokensBefore).toBe(new HistoryPruner().prune(history, { now: 0 }).report.tokensBefore)
    },
  )

  test('an unknown option is reported, and the messages are sent', () => {
    const told: (string | undefined)[] = []
    const one = new HistoryPruner({ onError: ({ field }) => told.push(field) })
    const history = [user(), said()]
    for (const wrongOne of [{ nwo: 1 }, 5, null]) {
      expect(one.prune(history, wrongOne as never).messages).toBe(history)
    }
    expect(told).toEqual(['options.nwo', 'options', 'options'])
  })

  test('with nothing to leave out the very array comes back', () => {
    const history = [user(), ...turn(1000), said()]
    const { messages, report } = pruner().prune(history, { now: 0 })
    expect(messages).toBe(history)
    expect(report.reason).toBe('nothing-to-free')
  })

  test('results that the model has not seen yet stay, be they seventeen of one turn', () => {
    const sizes = Array.from({ length: 17 }, () => 9000)
    const history = [user(), ...turn(...sizes)]
    const one = pruner({ schedule: 'always' })
    expect(one.prune(history, { now: 0 }).messages).toBe(history)
    const later = [...history, said(), user()]
    expect(changed(later, one.prune(later, { now: 1 }).messages)).toHaveLength(16)
  })

  test('keeps a result whose call is not in view and one no longer than its placeholder, and prunes one with an image', () => {
    const orphan = { role: 'tool', tool_call_id: 'lost', content: 'x'.repeat(9000) }
    const [called, answered] = turn(9000) as [Message, Message]
    const image = {
      ...answered,
      content: [
        { type: 'text', text: 'x'.repeat(9000) },
        { type: 'image_url', image_url: {} },
      ],
    }
    const history = [user(), orphan, called, image, ...turn(13), ...turn(14), said()]
    const { messages } = pruner({ keepRecent: 0, schedule: 'always' }).prune(history, { now: 0 })
    expect(changed(history, messages)).toEqual([3, 7])
  })

  test('protected tools and, if wanted, errors stay', () => {
    const [called, answered] = turn(900) as [Message, Message]
    const history = [user(), called, { ...answered, content: 'Error: no such file'.padEnd(3600) }, ...turn(900), said()]
    const left = (options: HistoryPrunerOptions) =>
      changed(history, pruner({ keepRecent: 0, schedule: 'always', ...options }).prune(history, { now: 0 }).messages)
    expect(left({})).toEqual([2, 4])
    expect(left({ keepErrors: true })).toEqual([4])
    expect(left({ protectedTools: ['Bash'] })).toEqual([])
  })

  test('the rule of fifteen minutes is a policy', () => {
    const now = 1_000_000_000
    const at = (age: number) => turn(900).map((message) => ({ ...message, timestamp: now - age }))
    const history = [user(), ...at(900_001), ...at(900_000), said()]
    const { messages } = pruner({ policies: ['outdated'], keepRecent: 0, schedule: 'always' }).prune(history, { now })
    expect(changed(history, messages)).toEqual([2])
  })

  test('a budget with a target lets the largest go first, or the oldest', () => {
    const history = [user(), ...turn(3000), ...turn(9000), ...turn(2000), said(), user(), said(), user()]
    const left = (order: 'oldest' | 'largest') =>
      changed(
        history,
        pruner({
          policies: [{ type: 'budget', protectTokens: 0, minTokens: 0, targetTokens: 5000, order }],
          schedule: 'always',
        }).prune(history, { now: 0 }).messages,
      )
    expect(left('largest')).toEqual([4])
    expect(left('oldest')).toEqual([2, 4])
  })

  test('long arguments of old writes are left out, and short ones stay', () => {
    const args = { path: 'a.ts', edits: [{ text: 'x'.repeat(4000) }], content: 'y'.repeat(4000) }
    const write = [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'w', type: 'function', function: { name: 'write_file', arguments: JSON.stringify(args) } }],
      },
      { role: 'tool', tool_call_id: 'w', content: 'ok' },
    ]
    const history = deepFreeze([user(), ...write, ...turn(10), said()])
    const one = pruner({ policies: ['arguments'], keepRecent: 0, schedule: 'always' })
    const { messages, report } = one.prune<Message>(history, { now: 0 })
    const [call] = (messages[1] as { tool_calls: [{ id: string; function: { arguments: string } }] }).tool_calls
    const text = '[Long argument left out]'
    expect(call.id).toBe('w')
    expect(JSON.parse(call.function.arguments)).toEqual({ path: 'a.ts', edits: [{ text }], content: text })
    expect(report.pruned).toMatchObject([{ kind: 'arguments', toolName: 'write_file' }])
    expect(messages[2]).toBe(history[2])
  })
})

describe('under pressure', () => {
  const options: HistoryPrunerOptions = {
    policies: [{ type: 'pressure', minTokens: 0 }],
    keepRecent: 1,
    contextWindow: 10_000,
    schedule: 'always',
  }
  const small = () => turn(10)

  test('long results are trimmed first, keep those bytes, and go when that no longer helps', () => {
    const long = turn(2000)
    const history = [user(), ...long, ...small(), said()]
    let one = pruner(options)
    expect(one.prune(history, { now: 0 }).messages).toBe(history)
    history.push(user('x'.repeat(8000)))
    const trimmed = one.prune(history, { now: 1 })
    const text = 'word'.repeat(375)
    const expected = `${text}\n...\n${text}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 8000 chars.]`
    expect(contents(trimmed.messages)[2]).toBe(expected)
    expect(trimmed.report.pruned).toMatchObject([{ index: 2, tokens: 2000, trimmed: true }])
    expect(trimmed.report.tokensAfter).toBe(trimmed.report.tokensBefore - 2000 + expected.length / 4)

    one = HistoryPruner.fromJSON(JSON.stringify(one), { ...options, estimateTokens: (text) => text.length / 4 })
    expect(contents(one.prune(history, { now: 2 }).messages)[2]).toBe(expected)

    history.push(said(), user('x'.repeat(12_000)))
    const cleared = one.prune(history, { now: 3 })
    expect(contents(cleared.messages)[2]).toBe(PLACEHOLDER)
    expect(cleared.report).toMatchObject({ total: 1, pruned: [{ index: 2 }] })
    expect(cleared.report.pruned[0]).not.toHaveProperty('trimmed')
    expect(cleared.report.freed).toBe((expected.length - PLACEHOLDER.length) / 4)
  })

  test('the oldest go first, and only until the window is no longer so full', () => {
    const history = [user(), ...turn(900), ...turn(900), ...turn(900), ...turn(3000), said(), user()]
    expect(changed(history, pruner(options).prune(history, { now: 0 }).messages)).toEqual([2])
  })

  test('characters stay whole, and the file with the full output is named', () => {
    const [called, answered] = turn(1) as [Message, Message]
    const emoji = { ...answered, content: `a${'😀'.repeat(4000)}b`, metadata: { outputPath: '/tmp/full.txt' } }
    const history = [user('x'.repeat(8000)), called, emoji, ...small(), said()]
    const one = pruner({ ...options, language: 'zh-CN', policies: [{ type: 'pressure', headChars: 4, tailChars: 4 }] })
    expect(contents(one.prune(history, { now: 0 }).messages)[2]).toBe(
      'a😀\n...\n😀b\n\n[工具结果已裁剪：保留前 3 个和后 3 个字符，共 8002 个字符，全文见 /tmp/full.txt]',
    )
  })

  test('a placeholder of the caller never makes a trimmed result longer', () => {
    const history = [user('x'.repeat(8000)), ...turn(2000), ...small(), said()]
    const one = pruner({ ...options, placeholder: () => 'y'.repeat(7000) })
    expect(one.prune(history, { now: 0 }).report.pruned).toMatchObject([{ trimmed: true }])
    const { messages } = one.prune([...history, user('x'.repeat(12_000)), said()], { now: 1 })
    expect(contents(messages)[2]).toBe(PLACEHOLDER)
  })
})

describe('a ledger', () => {
  const record = { toolCallId: 'call-0', toolName: 'bash', endedAt: 5, isError: false, bytes: 1 }
  const ledgerWith = (entry: object) => {
    const ledger = new ToolResultLedger()
    ledger.record({ ...record, ...entry })
    return ledger
  }
  const run = (options: HistoryPrunerOptions, more: Message = {}, now = 10) => {
    calls = 0
    const [called, answered] = turn(900) as [Message, Message]
    const history = [user(), called, { ...answered, ...more }, said()]
    return pruner({ keepRecent: 0, schedule: 'always', ...options }).prune<Message>(history, { now })
  }

  test('counts more than the message: failure, exit code, tool, path and time', () => {
    const keepErrors = true
    const failed = { content: 'Error: no such file'.padEnd(3600), messageStatus: 'error' }
    expect(run({ keepErrors }, failed).report.total).toBe(0)
    expect(run({ keepErrors, ledger: ledgerWith({ exitCode: 0 }) }, failed).report.total).toBe(1)
    expect(run({ keepErrors }).report.total).toBe(1)
    expect(run({ keepErrors, ledger: ledgerWith({ isError: true }) }).report.total).toBe(0)
    expect(run({ keepErrors, ledger: ledgerWith({ exitCode: 2 }) }).report.total).toBe(0)
    expect(run({ protectedTools: ['deploy'], ledger: ledgerWith({ toolName: 'deploy' }) }).report.total).toBe(0)
    const { messages, report } = run({ ledger: ledgerWith({ outputPath: '/tmp/saved' }) }, { outputPath: '/tmp/other' })
    expect(messages[2]?.content).toBe('[Old result left out; all of it is in /tmp/saved]')
    expect(report.pruned).toMatchObject([{ toolName: 'bash', outputPath: '/tmp/saved' }])
    const old = (endedAt: number) =>
      run({ policies: ['outdated'], ledger: ledgerWith({ endedAt }) }, { timestamp: 7 }, 900_010)
    expect(old(9).report.total).toBe(1)
    expect(old(10).report.total).toBe(0)
  })

  test('a ledger that throws has no facts, and the error is reported', () => {
    const errors: SpillwayError[] = []
    const ledger = {
      get() {
        throw new Error('closed')
      },
    }
    expect(run({ ledger, onError: (error) => errors.push(error) }).report.total).toBe(1)
    expect(errors).toEqual([expect.objectContaining({ code: 'CALLBACK', message: 'ledger: closed' })])
  })
})

describe('a placeholder', () => {
  const history = [user(), ...turn(1000), ...turn(1000), said()]

  test.each([
    ['/tmp/full.txt', undefined, '[Old result left out; all of it is in /tmp/full.txt]'],
    ['/tmp/a.partial.txt', undefined, '[Old result left out; its first and last parts are in /tmp/a.partial.txt]'],
    ['/tmp/full.txt', 'zh-CN', '[旧的工具结果已略去，全文见 /tmp/full.txt]'],
    ['/tmp/a.partial.txt', 'zh-CN', '[旧的工具结果已略去，开头和结尾部分见 /tmp/a.partial.txt]'],
  ] as const)('the file with the output is named: %s, %s', (outputPath, language, expected) => {
    const saved = { ...(history[2] as Message), metadata: { outputPath } }
    const options = { keepRecent: 1, ...(language && { language }) }
    const { messages } = pruner(options).prune([user(), history[1], saved, ...turn(1), said()], { now: 0 })
    expect((messages[2] as Message).content).toBe(expected)
  })

  test('Chinese, a text of the caller, and a function', () => {
    const first = (options: HistoryPrunerOptions) =>
      contents(pruner({ keepRecent: 1, ...options }).prune(history, { now: 0 }).messages)[2]
    expect(first({ language: 'zh-CN' })).toBe('[旧的工具结果已略去，该调用已经执行过]')
    expect(first({ placeholder: '[gone]' })).toBe('[gone]')
    expect(first({ placeholder: ({ toolName, tokens }) => `[${toolName}: ${tokens} tokens]` })).toBe(
      '[bash: 1000 tokens]',
    )
  })

  test("the length of a caller's placeholder counts: the report is true and the loss bounded", () => {
    const one = pruner({
      cacheLifetimeMs: Number.POSITIVE_INFINITY,
      placeholder: ({ tokens }) => 'y'.repeat(3.6 * tokens),
    })
    const size = (messages: readonly Message[]) =>
      messages.reduce((sum, { content }) => sum + String(content).length, 0)
    const history = [user('x'.repeat(400))]
    for (let at = 0; at < 40; at++) {
      history.push(...turn(375), said())
      const { messages, report } = one.prune(history, { now: at })
      const saved = report.tokensBefore - report.tokensAfter
      expect(saved).toBeCloseTo((size(history) - size(messages)) / 4)
      expect(report.cost.paid).toBeLessThanOrEqual(1.1 * report.cost.unpruned)
    }
  })

  test('a function that throws, answers nonsense or too much is reported, and the default is used', () => {
    for (const placeholder of [
      () => {
        throw new Error('no idea')
      },
      () => 7 as never,
      () => 'x'.repeat(9000),
    ]) {
      const errors: SpillwayError[] = []
      const one = pruner({ keepRecent: 1, placeholder, onError: (error) => errors.push(error) })
      expect(contents(one.prune(history, { now: 0 }).messages)[2]).toBe(PLACEHOLDER)
      expect(errors.every(({ code }) => code === 'CALLBACK')).toBe(true)
    }
  })
})

describe('time of pruning', () => {
  /** A session that reads something of 2,000 tokens and says a word, again and again. */
  function session(one: HistoryPruner, requests: number, pause: number) {
    const history = [user('x'.repeat(20_000))]
    return Array.from({ length: requests }, (_, at) => {
      history.push(...turn(2000), said())
      return one.prune(history, { now: at * pause }).report
    })
  }

  test('with a warm cache it waits until it pays, and says why', () => {
    const one = pruner({ keepRecent: 4, prices: { read: 0.1, write: 1.25, miss: 1.25 } })
    const reports = session(one, 40, 1000)
    expect(reports[0]?.reason).toBe('nothing-to-free')
    expect(reports.some(({ reason }) => reason === 'too-early')).toBe(true)
    const paid = reports.filter(({ reason }) => reason === 'pays')
    expect(paid.length).toBeGreaterThan(2)
    expect(paid.length).toBeLessThan(15)
    for (const { price, carried, savings } of paid) {
      expect(carried).toBeGreaterThanOrEqual(0.2 * price)
      expect(savings).toBeGreaterThanOrEqual(price)
    }
    const { cost } = reports[39] as PruneReport
    expect(cost.paid / cost.unpruned).toBeLessThan(0.8)
    expect(one.explain()).toMatch(/tokens .* So far the session has cost \d+\.\d % of what it would have cost/)
  })

  test('prunes at once with a cold cache', () => {
    const reports = session(pruner({ keepRecent: 1, cacheLifetimeMs: 1000 }), 5, 1001)
    expect(reports.slice(1).map(({ reason }) => reason)).toEqual(['free', 'free', 'free', 'free'])
  })

  test('prunes at once without a cache', () => {
    const prices = { read: 1, write: 1, miss: 1 }
    const reports = session(pruner({ keepRecent: 1, prices }), 5, 1)
    expect(reports.slice(1).map(({ reason }) => reason)).toEqual(['free', 'free', 'free', 'free'])
  })

  test('small savings make it wait', () => {
    const reports = session(pruner({ keepRecent: 4, maxLoss: 0 }), 30, 1)
    expect(reports.some(({ reason }) => reason === 'savings-too-small')).toBe(true)
    for (const { cost } of reports) expect(cost.paid).toBeLessThanOrEqual(cost.unpruned * (1 + 1e-9))
  })

  test('a history that continues after a short pause in a new process counts as warm, after a long one as cold', () => {
    const spoken = 1_000_000_000
    const history = [user(), ...turn(9000), ...turn(9000), { ...said(), timestamp: spoken }, user()]
    const first = (now: number) => pruner({ keepRecent: 1 }).prune(history, { now }).report
    expect(first(spoken + 60_000)).toMatchObject({ cold: false, reason: 'too-early' })
    expect(first(spoken + 600_000)).toMatchObject({ cold: true, reason: 'free' })
  })
})

describe('content made by the provider counts', () => {
  const long = 'word '.repeat(10_000)
  const hi = { role: 'user', content: 'hi' }
  const call = { type: 'function_call', call_id: 'a', name: 'x', arguments: '{}' }

  test.each<[string, object[]]>([
    [
      'anthropic',
      [
        { type: 'server_tool_use', id: 's', name: 'web_fetch', input: {} },
        { type: 'web_fetch_tool_result', tool_use_id: 's', content: { type: 'web_fetch_result', content: long } },
      ].map((block) => ({ role: 'assistant', content: [block] })),
    ],
    ['openai-responses', [{ type: 'mcp_call', id: 'm', name: 'q', arguments: '{}', output: long }, call]],
    ['openai-agents', [{ type: 'hosted_tool_call', name: 'web_search_call', output: long, status: 'completed' }]],
    [
      'ai-sdk',
      [
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 's', toolName: 'web', input: {}, providerExecuted: true },
            { type: 'tool-result', toolCallId: 's', toolName: 'web', output: { type: 'text', value: long } },
          ],
        },
      ],
    ],
    ['gemini', [{ role: 'model', parts: [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: long } }] }]],
  ])('%s', (format, messages) => {
    const history = format === 'gemini' ? messages : [hi, ...messages]
    const { report } = pruner().prune(deepFreeze(history), { now: 0 })
    expect(report.format).toBe(format)
    expect(report.tokensBefore).toBeGreaterThan(long.length / 4)
    expect(report.tokensBefore).toBeLessThan(long.length / 3.5)
  })

  test('a picture is a picture with any bytes, and its message a message of the user', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * at * 31) % 251)).toString('base64')
    const picture = { role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${bytes}` }] }
    const drawn = { type: 'image_generation_call', id: 'i', status: 'completed', result: bytes }
    for (const message of [picture, drawn]) {
      expect(pruner().prune([hi, call, message], { now: 0 }).report.tokensBefore).toBeLessThan(2000)
    }
  })
})

describe('results that the model has not seen stay', () => {
  /** Calls and their outputs as items, each output after its call. */
  const inPairs = (count: number, size: number) =>
    Array.from({ length: count }, () => `call-${calls++}`).flatMap((call_id): Message[] => [
      { type: 'function_call', call_id, name: 'bash', arguments: '{}' },
      { type: 'function_call_output', call_id, output: 'word'.repeat(size) },
    ])

  test.each([false, true])('also where each result of one response follows its call: restored %j', (restored) => {
    const options = { cacheLifetimeMs: 0 }
    let one = pruner(options)
    const history = [user(), ...inPairs(1, 1)]
    one.prune(history, { now: 0 })
    if (restored) one = HistoryPruner.fromJSON(JSON.stringify(one), options)
    const longer = [...history, ...inPairs(17, 1000)]
    expect(changed(longer, one.prune(longer, { now: 10 }).messages)).toEqual([])
    const next = [...longer, ...inPairs(1, 1)]
    expect(changed(next, one.prune(next, { now: 20 }).messages)).toHaveLength(17)
  })

  test.each([
    ['chat', { role: 'assistant', content: '' }],
    ['chat', { role: 'assistant', content: null }],
    ['chat', { role: 'assistant', content: [] }],
  ])('a message without anything in it, which a broken stream left, has seen nothing: %s %j', (_, leftover) => {
    const history = [user(), ...turn(...new Array(17).fill(1000)), leftover]
    expect(changed(history, pruner().prune(history, { now: 0 }).messages)).toEqual([])
    const next = [...history, user(), said()]
    expect(changed(next, pruner().prune(next, { now: 0 }).messages)).toHaveLength(16)
  })
})

describe('pruned results stay pruned', () => {
  test('with the same bytes in every later request, and in another process', () => {
    const history = [user()]
    let one = pruner({ keepRecent: 1, cacheLifetimeMs: 0 })
    const seen = new Map<Message, unknown>()
    for (let at = 0; at < 12; at++) {
      history.push(...turn(500), said())
      // Every message is a new object, as in agents that build each request from the start.
      const given = history.map((message) => ({ ...message }))
      const { messages } = one.prune(given, { now: at * 10 })
      for (const [index, message] of history.entries()) {
        const { content } = messages[index] as Message
        if (seen.has(message)) expect(content).toBe(seen.get(message))
        else if (content !== message.content) seen.set(message, content)
      }
      one = HistoryPruner.fromJSON(JSON.stringify(one), {
        policies: [{ type: 'results', minTokens: 0 }],
        keepRecent: 1,
        cacheLifetimeMs: 0,
      })
    }
    expect(seen.size).toBe(11)
  })

  test('a restored pruner decides as the one that went on', () => {
    const options: HistoryPrunerOptions = { keepRecent: 1, estimateTokens: (text) => text.length / 4 }
    const history = [user('x'.repeat(20_000))]
    const whole = new HistoryPruner(options)
    let restored = new HistoryPruner(options)
    for (let at = 0; at < 25; at++) {
      history.push(...turn(2000), said())
      const expected = whole.prune(history, { now: at })
      const found = restored.prune(history, { now: at })
      expect(found.report).toEqual(expected.report)
      expect(found.messages).toEqual(expected.messages)
      restored = HistoryPruner.fromJSON(JSON.parse(JSON.stringify(restored)), options)
    }
  })

  test('also when a restored pruner sees the history end where the results of a call stand', () => {
    const history = [user(), ...turn(10), ...turn(50_000)]
    let one = pruner({ keepRecent: 1 })
    one.prune(history, { now: 0 })
    const sent = one.prune([...history, ...turn(10)], { now: 1 }).messages
    expect(contents(sent)[4]).toBe(PLACEHOLDER)
    one = HistoryPruner.fromJSON(JSON.stringify(one), { keepRecent: 1 })
    // The user took the last answer back.
    const { messages } = one.prune(history, { now: 2 })
    expect(contents(messages)).toEqual(contents(sent).slice(0, history.length))
  })

  test.each([
    [{ policies: ['results'] }, 2],
    [{ policies: ['outdated'], protectedTools: ['*'] }, 2],
    [{ policies: ['budget'], onlyTools: ['nothing'], keepRecent: 9, keepMessages: 9, keepErrors: true }, 2],
    [{ policies: [], keepPreamble: true, placeholder: 'gone' }, 2],
  ] satisfies [HistoryPrunerOptions, number][])(
    'a pruner restored with other options sends the same bytes: %j',
    (other, gone) => {
      const write = {
        id: 'w',
        function: { name: 'write', arguments: JSON.stringify({ path: 'a', content: 'x'.repeat(9000) }) },
      }
      const history = [
        user(),
        { role: 'assistant', content: '', tool_calls: [write] },
        { role: 'tool', tool_call_id: 'w', content: 'written '.repeat(900) },
        ...turn(10),
        said(),
      ]
      const one = pruner({ policies: ['results', 'arguments'], keepRecent: 0, schedule: 'always' })
      const sent = one.prune(history, { now: 0 })
      const again = HistoryPruner.fromJSON(JSON.stringify(one), other).prune(history, { now: 1 })
      expect(sent.report.total).toBe(gone)
      expect(JSON.stringify(again.messages)).toBe(JSON.stringify(sent.messages))
      expect(again.report.total).toBe(gone)
    },
  )

  test.each([
    [{ policies: ['results'], protectedTools: ['bash'] }],
    [{ policies: ['pressure'], onlyTools: ['nothing'] }],
    [{ policies: [] }],
  ] satisfies [HistoryPrunerOptions][])('and what was trimmed stays trimmed: %j', (other) => {
    const history = [user(), ...turn(4000), said(), ...turn(10), said()]
    const pressure: PrunePolicy = { type: 'pressure', trimAt: 0, clearAt: 1, maxChars: 1000 }
    const one = pruner({ policies: [pressure], keepRecent: 0, schedule: 'always' })
    const sent = one.prune(history, { now: 0 })
    const again = HistoryPruner.fromJSON(JSON.stringify(one), other).prune(history, { now: 1 })
    expect(sent.report.pruned).toMatchObject([{ index: 2, trimmed: true }])
    expect(again.messages).toEqual(sent.messages)
    expect(again.report.total).toBe(1)
  })

  test('a history that was compacted is read again, and the rest of it stays unchanged', () => {
    const history = [user(), ...turn(900), ...turn(901), ...turn(10), said()]
    const one = pruner({ keepRecent: 1 })
    const first = one.prune(history, { now: 0 })
    expect(first.report.total).toBe(2)
    const compacted = [user('[Session Summary] …'), ...history.slice(3)]
    const second = one.prune(compacted, { now: 1 })
    expect(second.report.total).toBe(1)
    expect(contents(second.messages)[2]).toBe(PLACEHOLDER)
  })

  test('a message that was changed in place is read again', () => {
    const history = [user(), ...turn(900), ...turn(10), said()]
    const one = pruner({ keepRecent: 1 })
    expect(one.prune(history, { now: 0 }).report.total).toBe(1)
    ;(history[2] as Message).content = 'another result, which nobody has left out'
    const { messages } = one.prune([...history, user()], { now: 1 })
    expect(contents(messages)[2]).toBe('another result, which nobody has left out')
  })
})

test('a read that failed is not one of the newest of its file', () => {
  const reads = Array.from({ length: 7 }, (_, at) => {
    const call = { id: `r${at}`, type: 'function', function: { name: 'read', arguments: '{"path":"a.ts"}' } }
    const content = `${at === 4 ? 'Error: ENOENT ' : ''}${'x'.repeat(3000)}`
    return [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content },
    ]
  }).flat()
  const one = new HistoryPruner({ policies: ['superseded'], schedule: 'always' })
  const { pruned } = one.prune([user(), ...reads, said(), user(), said()], { now: 1 }).report
  expect(pruned.map(({ index }) => index)).toEqual([2])
})

describe('commands that were run again', () => {
  const run = (id: string, args: object, content: string, name = 'bash'): Message[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ]
  const times = (count: number, args: (at: number) => object, content: (at: number) => string, name?: string) =>
    Array.from({ length: count }, (_, at) => run(`r${at}`, args(at), content(at), name)).flat()
  const long = (words = '') => `${words} ${'some output '.repeat(300)}`
  const equal = () => ({ command: 'npm test' })
  const prunedOf = (history: Message[], policy: PrunePolicy = 'superseded', profile?: 'snow') => {
    const options = profile ? { profile } : { policies: [policy], schedule: 'always' as const }
    const { pruned } = new HistoryPruner(options).prune([user(), ...history, said(), user(), said()], { now: 1 }).report
    expect(pruned.every((item) => item.policy === 'superseded')).toBe(true)
    return pruned.map(({ index }) => index)
  }

  test.each<[string, Message[], number[], PrunePolicy?]>([
    ['with equal results', times(8, equal, () => long()), [2, 4, 6]],
    ['with results that differ', times(8, equal, (at) => long(`run ${at}`)), [2, 4, 6]],
    [
      'one newer run is enough if it says so',
      times(3, equal, () => long()),
      [2, 4],
      { type: 'superseded', keepReads: 1 },
    ],
    [
      'described otherwise, and with another timeout',
      times(
        7,
        (at) => ({ command: 'npm test', description: `Test ${at}`, timeout: 1000 * at }),
        () => long(),
      ),
      [2, 4],
    ],
    [
      'with its arguments in another order',
      times(
        7,
        (at) => (at % 2 ? { cwd: 'a', command: 'ls' } : { command: 'ls', cwd: 'a' }),
        () => long(),
      ),
      [2, 4],
    ],
    [
      'given as a list',
      times(
        7,
        () => ({ command: ['bash', '-lc', 'ls'] }),
        () => long(),
        'shell',
      ),
      [2, 4],
    ],
    ['one that failed is none of the newest', times(7, equal, (at) => long(at === 4 ? 'Error: no' : '')), [2]],
    [
      'in other folders',
      times(
        8,
        (at) => ({ command: 'ls', cwd: `dir${at}` }),
        () => long(),
      ),
      [],
    ],
    [
      'other commands',
      times(
        8,
        (at) => ({ command: `ls ${at}` }),
        () => long(),
      ),
      [],
    ],
    [
      'without a command',
      times(
        8,
        () => ({}),
        () => long(),
      ),
      [],
    ],
    ['of a tool that is no shell', times(8, equal, () => long(), 'task'), []],
    [
      'as long as a file',
      times(
        8,
        () => ({ command: 'echo '.repeat(2000) }),
        () => long(),
      ),
      [],
    ],
    ['switched off', times(8, equal, () => long()), [], { type: 'superseded', commands: false }],
  ])('%s', (...[, history, gone, policy]) => {
    expect(prunedOf(history, policy)).toEqual(gone)
  })

  test('a known agent counts reads only', () => {
    expect(
      prunedOf(
        times(8, equal, () => long()),
        'superseded',
        'snow',
      ),
    ).toEqual([])
  })
})

describe('bad input', () => {
  test.each<[string, HistoryPrunerOptions]>([
    ['options.keepRecent', { keepRecent: -1 }],
    ['options.policies[0]', { policies: ['everything' as never] }],
    ['options.policies[1].keepReads', { policies: ['results', { type: 'superseded', keepReads: 0.5 }] }],
    ['options.policies[0].commands', { policies: [{ type: 'superseded', commands: 'no' as never }] }],
    ['options.policies[0].keepRead', { policies: [{ type: 'superseded', keepRead: 1 } as never] }],
    ['options.prices.miss', { prices: { read: 1, write: 1 } as never }],
    ['options.prices', { prices: '' }],
    ['options.prices', { prices: 5 as never }],
    ['options.prices.read', { prices: { read: Number.NaN, write: 1, miss: 1 } }],
    ['options.prices.write', { prices: { read: 0.1, write: -1, miss: 1 } }],
    ['options.prices.miss', { prices: { read: 0.1, write: 1, miss: 1e300 } }],
    ['options.maxLoss', { maxLoss: Number.NaN }],
    ['options.schedule', { schedule: 'sometimes' as never }],
    ['options.keepMessages', { keepMessages: 1.5 }],
    ['options.contextWindow', { contextWindow: 0 }],
    ['options.onlyTools', { onlyTools: [7 as never] }],
    ['options.ledger', { ledger: {} as never }],
    ['options.policies[0].trimAt', { policies: [{ type: 'pressure', trimAt: Number.POSITIVE_INFINITY }] }],
    ['options.constructor', { constructor: 1 } as never],
  ])('%s is named', (field, options) => {
    expect(() => new HistoryPruner(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  })

  test.each([
    ['state', 'no JSON'],
    ['state.version', '{}'],
    ['state', null],
    ['state', []],
    ['state.placeholders', { version: 1, placeholders: [['a']], carried: [], sizes: [], account: {} }],
    ['state.carried', { version: 1, placeholders: [], carried: ['1'], sizes: [], account: {} }],
    ['state.trims', { version: 1, placeholders: [], trims: [['a', 1, 2]], carried: [], sizes: [], account: {} }],
    ['state.adopted', { version: 1, placeholders: [], carried: [], sizes: [], account: {}, adopted: [1] }],
    ['state.account', { version: 1, placeholders: [], carried: [], sizes: [], account: { savings: 'empty' } }],
  ])('%s of a state is named', (field, state) => {
    expect(() => HistoryPruner.fromJSON(state as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    )
  })

  test('a message that cannot be read is sent unchanged, and an error says why', () => {
    const errors: SpillwayError[] = []
    const one = new HistoryPruner({ onError: (error) => errors.push(error) })
    expect(one.prune('no history' as never).messages).toBe('no history')
    expect(errors).toEqual([expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'messages' })])
    const history = [user(), { role: 'tool' }]
    expect(one.prune(history, { now: Number.NaN }).messages).toBe(history)
    expect(errors[1]).toMatchObject({ field: 'options.now' })
    expect(errors[1]).toBeInstanceOf(SpillwayError)
  })

  describe('an unreadable message counts as much as its JSON', () => {
    const text = 'word '.repeat(2000)
    const cyclic: Message = { note: text }
    cyclic.self = cyclic
    const shared = Array.from({ length: 40 }).reduce<object>((inner) => ({ a: inner, b: inner }), { note: text })
    const throwing = Object.defineProperty({ note: text }, 'other', {
      enumerable: true,
      get: () => {
        throw new Error('not yours')
      },
    })
    const proxy = new Proxy({ note: text, inner: new Proxy({ note: text }, {}) }, {})

    test.each<[string, unknown]>([
      ['an object of no format', { note: text }],
      ['a text', text],
      ['a cycle', cyclic],
      ['a big number beside the text', { note: text, size: 1n }],
      ['parts that are shared without end', shared],
      ['a property that throws', throwing],
      ['proxies', proxy],
      ['bytes', new Uint8Array(7500).fill(65)],
    ])('%s', (_, strange) => {
      for (const history of [[strange], [user(), strange, said()]]) {
        const one = pruner()
        const { report } = one.prune(history as Message[], { now: 0 })
        expect(report.tokensBefore).toBeGreaterThan(2000)
        expect(report.reason).not.toBe('unreadable')
        const { report: again } = one.prune([...history, said()] as Message[], { now: 1 })
        expect(again.tokensBefore).toBeGreaterThan(report.tokensBefore)
      }
    })

    test('and is not taken for another in its place', () => {
      const one = pruner()
      one.prune([user(), { note: 'short' }, said()], { now: 0 })
      const { report } = one.prune([user(), { note: text }, said()], { now: 1 })
      expect(report.tokensBefore).toBeGreaterThan(2000)
    })
  })

  test('a callback for errors that throws changes nothing', () => {
    const warnings: unknown[] = []
    const emit = jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(warning))
    const one = new HistoryPruner({
      onError: () => {
        throw new Error('not interested')
      },
    })
    expect(one.prune(7 as never).messages).toBe(7)
    expect(warnings).toEqual([expect.stringContaining('not interested')])
    emit.mockRestore()
  })

  test('times in the future and NaN times are no trouble', () => {
    const history = [user(), ...turn(900).map((message) => ({ ...message, timestamp: Number.NaN })), said()]
    const one = pruner({ policies: ['results', 'outdated'], keepRecent: 0 })
    expect(one.prune(history, { now: -1e15 }).messages).toHaveLength(4)
    expect(one.prune(history, { now: 1e15 }).messages).toHaveLength(4)
  })
})

describe('properties', () => {
  test('many texts together have the tokens that they have alone', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
      fc.constantFrom('plain\n'.repeat(3000), 'é'.repeat(70_000), '汉字'.repeat(900), '\ud83d'.repeat(700)),
    )
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (texts) => {
        const history = texts.map((content, at) => (at % 2 === 0 ? user(content) : said(content)))
        const alone = texts.reduce((sum, content) => sum + estimateTokens(content) + 4, 0)
        expect(new HistoryPruner().prune(history, { now: 0 }).report.tokensBefore).toBe(alone)
      }),
      { numRuns: runs },
    )
  })

  const policies = fc.subarray<PrunePolicy>([
    'results',
    'outdated',
    'superseded',
    'budget',
    'arguments',
    'pressure',
    { type: 'pressure', trimAt: 0.1, clearAt: 0.6, minTokens: 3, maxChars: 20, headChars: 5, tailChars: 3 },
  ])

  test('histories of every format: nothing is lost, pairs stay whole, pruned results stay pruned, and the savings are never overdrawn', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...pairedFormats),
        fc.array(fc.tuple(conversations, fc.integer({ min: 0, max: 400_000 })), { maxLength: 6 }),
        fc.record({
          policies,
          keepRecent: fc.integer({ min: 0, max: 6 }),
          maxLoss: fc.constantFrom(0, 0.05, 0.1),
          keepMessages: fc.integer({ min: 0, max: 3 }),
          keepPreamble: fc.boolean(),
          contextWindow: fc.constantFrom(30, 300, 3000),
          schedule: fc.constantFrom<'cache' | 'cold' | 'always'>('cache', 'cold', 'always'),
          placeholder: fc.constantFrom('', '[…]', undefined),
        }),
        (name, parts, options) => {
          const all = { ...options, estimateTokens: undefined }
          const one = pruner(all)
          let restored = pruner(all)
          const gone = new Map<string, string>()
          let [history, now] = [[] as object[], 0]
          for (const [conversation, pause] of parts) {
            history = deepFreeze([...history, ...written(name, conversation)])
            now += pause
            const { messages, report } = one.prune(history, { now })
            expect(messages).toHaveLength(history.length)
            // Another process sends the same bytes.
            expect(restored.prune(history, { now }).messages).toEqual(messages)
            restored = HistoryPruner.fromJSON(JSON.stringify(restored), all)
            expectSamePairs(name, history, messages)
            for (const at of changed(history, messages)) {
              const bytes = JSON.stringify(messages[at])
              const before = gone.get(`${at}`)
              // A trimmed result may be pruned, and none ever comes back.
              for (const [part, tokens] of before === undefined ? [] : partsOf(name, messages[at]).entries()) {
                expect(tokens).toBeLessThanOrEqual(partsOf(name, JSON.parse(before as string))[part] as number)
              }
              if (report.reason === 'warm' && before !== undefined) expect(bytes).toBe(before)
              gone.set(`${at}`, bytes)
            }
            for (const at of gone.keys()) expect(messages[Number(at)]).not.toBe(history[Number(at)])
            if (options.schedule === 'cold' && !report.cold) expect(report.pruned).toEqual([])
            if (options.schedule === 'cache') {
              expect(report.cost.paid).toBeLessThanOrEqual(
                report.cost.unpruned * (1 + options.maxLoss) * (1 + 1e-9) + 1e-9,
              )
            }
            expect(report.tokensAfter).toBeLessThanOrEqual(report.tokensBefore)
          }
        },
      ),
      { numRuns: runs },
    )
  })

  test('every history is sent, with any content', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 6 }), policies, (history, chosen) => {
        const one = new HistoryPruner({ policies: chosen, schedule: 'always', onError: () => {} })
        const { messages } = one.prune(history, { now: 0 })
        expect(messages).toHaveLength(history.length)
        expect(one.prune(history, { now: 1 }).messages).toHaveLength(history.length)
      }),
      { numRuns: runs },
    )
  })

  /** The tokens of each result and of the arguments of each call. */
  function partsOf(name: HistoryFormatName, message: object | undefined): number[] {
    const { results, calls } = formats.viewOf(name, message)
    return [
      ...results.map(({ text, mediaTokens = 0 }) => estimateTokens([text].flat().join('')) + mediaTokens),
      ...calls.map(({ argsText }) => estimateTokens(argsText)),
    ]
  }

  function expectSamePairs(name: HistoryFormatName, before: readonly object[], after: readonly object[]) {
    for (const [at, message] of before.entries()) {
      const [given, sent] = [formats.viewOf(name, message), formats.viewOf(name, after[at])]
      expect(sent.role).toBe(given.role)
      expect(sent.calls.map(({ id, name }) => [id, name])).toEqual(given.calls.map(({ id, name }) => [id, name]))
      expect(sent.results.map(({ callId }) => callId)).toEqual(given.results.map(({ callId }) => callId))
      // Images stay where they are, or go with the text.
      for (const [place, { media }] of sent.results.entries()) {
        expect([0, given.results[place]?.media]).toContain(media)
        if (media !== given.results[place]?.media) expect(after[at]).not.toBe(message)
      }
    }
  }
})
