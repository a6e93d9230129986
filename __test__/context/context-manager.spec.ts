import {
  ContextManager,
  type ContextManagerOptions,
  type ContextManagerState,
  type ListedMessage,
  ToolResultLedger,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import type { CompactionState } from 'spillway/history'
import { isWhole, type Message, talk, words } from '../compaction/talk'
import { type Happening, pairedFormats, written } from '../history/histories'
import { deepFreeze } from '../history/support'
import { foldedText } from '../support/folded'
import { png } from '../support/images'

const summarize = async () => 'They talked.'
const now = 1_000_000_000

/** Turns with outputs, and results of distinct calls. */
const work = (count: number, size = 200, from = 0) =>
  talk(
    Array.from({ length: count }, (_, at) => ({
      user: `question ${from + at}`,
      steps: [{ output: words(size / 4) }],
      answer: words(size),
    })),
  )
    .slice(1)
    .map((message) => JSON.parse(JSON.stringify(message).replaceAll('"call_', `"call_${from}_`)) as Message)
const system: Message = { role: 'system', content: 'You are a coding agent.' }

describe('the state of each message', () => {
  const sum = (states: readonly ListedMessage[], which: 'tokensBefore' | 'tokensAfter') =>
    states.reduce((all, state) => all + state[which], 0)

  test('has its tokens, before and after', async () => {
    const budget = { protectTokens: 100, minTokens: 0, protectTurns: 1 }
    const manager = new ContextManager<Message>({ budget, pruning: { schedule: 'always' } })
    const history = [system, ...work(4)]
    const prepared = await manager.prepare(history, { now })
    const states = manager.listMessages(prepared)
    expect(states.map(({ role }) => role)).toEqual(history.map(({ role }) => role))
    expect(states.flatMap(({ state }, at) => (state === 'pruned' ? [at] : []))).toEqual(
      prepared.report.pruning.pruned.map(({ index }) => index),
    )
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['kept', 'pruned']))
    expect([sum(states, 'tokensBefore'), sum(states, 'tokensAfter')]).toEqual([
      prepared.report.tokensBefore,
      prepared.report.tokensAfter,
    ])
    expect(states[0]).toEqual({
      role: 'system',
      text: system.content,
      tokensBefore: 10,
      tokensAfter: 10,
      state: 'kept',
    })
    expect(states[2]?.text).toBe('read {"path":"src/0.ts"}')
    expect(states[3]?.text).toHaveLength(200)
  })

  test.each(['stored', 'taken over'])('is right after a compaction whose history is %s', async (way) => {
    const manager = new ContextManager<Message>({ contextWindow: 12_000, compaction: { summarize }, budget: false })
    const history = [system, ...work(12, 800)]
    const prepared = await manager.prepare(history, { now })
    const states = manager.listMessages(prepared)
    const at = states.findIndex(({ state }) => state === 'summary')
    const gone = states.filter(({ state }) => state === 'compacted')
    expect(states[at]).toMatchObject({ tokensBefore: 0, text: expect.stringContaining('They talked.') })
    expect(states).toHaveLength(history.length + 1)
    expect(gone).toHaveLength(history.length + 1 - prepared.messages.length)
    expect(gone.every(({ tokensAfter, tokensBefore }) => tokensAfter === 0 && tokensBefore > 0)).toBe(true)
    const { tokensBefore, tokensAfter } = prepared.report
    expect([sum(states, 'tokensBefore'), sum(states, 'tokensAfter')]).toEqual([tokensBefore, tokensAfter])
    const next = [...(way === 'stored' ? history : prepared.history), ...work(1, 20, 100)]
    const later = manager.listMessages(await manager.prepare(next, { now }))
    expect(later.filter(({ state }) => state === 'summary')).toHaveLength(1)
    expect(later.some(({ state }) => state === 'compacted')).toBe(way === 'stored')
  })

  test('has the lines that are folded in what was before', async () => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const output = Array.from({ length: 60 }, (_, at) => `line ${at} of a long file, unlike all others`).join('\n')
    const history = talk([{ user: 'look', steps: [{ output }, { output }] }])
    for (const message of history.filter(({ role }) => role === 'tool')) {
      const toolCallId = message.tool_call_id as string
      message.content = foldedText(output, { toolName: 'read', toolCallId }, { fold, ledger })
    }
    const manager = new ContextManager<Message>({ ledger })
    const [first, second] = manager
      .listMessages(await manager.prepare(history, { now }))
      .filter(({ role }) => role === 'tool')
    expect([first?.state, second?.state]).toEqual(['kept', 'folded'])
    expect(second?.tokensBefore).toBe(first?.tokensBefore)
    expect(second?.tokensAfter).toBeLessThan(100)
  })

  test('has lines that are written out again, because their target was pruned', async () => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const output = Array.from({ length: 60 }, (_, at) => `line ${at} of a long file, unlike all others`).join('\n')
    const history = talk([
      { user: 'look', steps: [{ output }] },
      { user: 'again', steps: [{ output }] },
      { user: 'go on', steps: [{ output: 'done' }] },
    ])
    for (const message of history.filter(({ role }) => role === 'tool')) {
      const toolCallId = message.tool_call_id as string
      message.content = foldedText(message.content as string, { toolName: 'read', toolCallId }, { fold, ledger })
    }
    const budget = { protectTokens: 500, minTokens: 0, protectTurns: 1 }
    const manager = new ContextManager<Message>({ ledger, budget, pruning: { schedule: 'always' } })
    const prepared = await manager.prepare(history, { now })
    const [first, second] = manager.listMessages(prepared).filter(({ role }) => role === 'tool')
    expect([first?.state, second?.state]).toEqual(['pruned', 'kept'])
    expect(second?.tokensAfter).toBe(second?.tokensBefore)
  })

  test('has lines that are written out again beside an image that is smaller than the note in its place', async () => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const data = png(2, 2)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const output = Array.from({ length: 60 }, (_, at) => `line ${at} of a long file, unlike all others`).join('\n')
    const history = ['a', 'b', 'c'].flatMap((id) => {
      const call = { toolName: 'read', toolCallId: id }
      const text = foldedText(id === 'c' ? 'done' : output, call, { fold, ledger })
      const content = [{ type: 'text', text }, ...(id === 'a' ? [] : [image])]
      return [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
      ]
    })
    const budget = { protectTokens: 500, minTokens: 0, protectTurns: 1 }
    const manager = new ContextManager<object>({ ledger, budget, maxImages: 1, pruning: { schedule: 'always' } })
    const prepared = await manager.prepare(history, { now })
    expect(JSON.stringify(prepared.messages[5])).toMatch(/line 30 of/)
    const listed = manager.listMessages(prepared)
    expect(listed[5]?.tokensAfter).toBeGreaterThan(listed[5]?.tokensBefore ?? 0)
    expect([listed[2]?.state, listed[5]?.state]).toEqual(['pruned', 'pruned'])
  })

  test('is that of the request, also after later messages and requests', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 12_000, compaction: { summarize }, budget: false })
    const history = [system, ...work(2)]
    const prepared = await manager.prepare(history, { now })
    const listed = manager.listMessages(prepared)
    history.push(...work(12, 800, 10))
    await manager.prepare(history, { now })
    expect(manager.listMessages(prepared)).toEqual(listed)
  })

  test.each([undefined, { messages: [system] }])('is refused for what prepare did not return: %j', (prepared) => {
    expect(() => new ContextManager<Message>().listMessages(prepared as never)).toThrow('"prepared"')
  })

  test('is refused for what another manager prepared', async () => {
    const prepared = await new ContextManager<Message>().prepare([system], { now })
    expect(() => new ContextManager<Message>().listMessages(prepared)).toThrow(
      'expected the object that prepare of this manager returned',
    )
  })
})

describe('results that left the request', () => {
  const told = () => {
    const calls: string[][] = []
    const options: unknown[] = []
    return {
      calls,
      options,
      forget: (...[ids, given]: [readonly string[], unknown?]) => options.push(given) && calls.push([...ids]),
    }
  }

  test('are named to the detector of loops and to the folds, once each', async () => {
    const [doomLoop, fold] = [told(), told()]
    const budget = { protectTokens: 100, minTokens: 0, protectTurns: 1 }
    const manager = new ContextManager<Message>({ budget, pruning: { schedule: 'always' }, doomLoop, fold })
    const { report } = await manager.prepare(work(4), { now })
    expect(report.left).toEqual(report.pruning.pruned.map(({ toolCallId }) => toolCallId))
    expect(report.left.length).toBeGreaterThan(0)
    expect((await manager.prepare(work(4), { now })).report.left).toEqual([])
    expect([doomLoop.calls, fold.calls]).toEqual([[report.left], [report.left]])
    expect([report.leftCalls, fold.options]).toEqual([[], [{ callsStay: true }]])
  })

  test('after a compaction are those that the summary replaced', async () => {
    const [doomLoop, fold] = [told(), told()]
    const manager = new ContextManager<Message>({
      contextWindow: 12_000,
      compaction: { summarize },
      budget: false,
      doomLoop,
      fold,
    })
    const history = [system, ...work(12, 800)]
    const { report, messages } = await manager.prepare(history, { now })
    expect(report.compaction?.action).toBe('summary')
    const ids = (some: readonly Message[]) => some.flatMap((one) => ('tool_call_id' in one ? [one.tool_call_id] : []))
    expect(report.left.toSorted()).toEqual(
      ids(history)
        .filter((id) => !ids(messages).includes(id))
        .toSorted(),
    )
    expect([doomLoop.calls, fold.calls]).toEqual([[report.left], [report.left]])
    expect([report.leftCalls, fold.options]).toEqual([report.left, [undefined]])
  })

  test('by what the provider says are named as well, and a listener that throws is reported', async () => {
    const errors: string[] = []
    const fold = told()
    const doomLoop = {
      forget() {
        throw new Error('closed')
      },
    }
    const manager = new ContextManager<Message>({ doomLoop, fold, onError: ({ message }) => errors.push(message) })
    await manager.prepare(work(4), { now })
    const edits = manager.accept({ context_management: { applied_edits: [{ cleared_tool_uses: 2 }] } })
    expect(fold.calls).toEqual([edits?.toolCallIds])
    expect(edits?.toolCallIds).toHaveLength(2)
    expect(errors).toEqual(['doomLoop: closed'])
  })
})

describe('before each request', () => {
  test('returns the same array if there is nothing to do', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 100_000 })
    const history = deepFreeze([system, ...work(3)])
    const { messages, history: kept, report } = await manager.prepare(history, { now })
    expect(messages).toBe(history)
    expect(kept).toBe(history)
    expect(report).toMatchObject({ fits: true, usable: 95_904, environmentTokens: 0 })
    expect(report.tokensBefore).toBe(report.tokensAfter)
    expect(report.steps.map(({ step, outcome }) => `${step}: ${outcome}`)).toEqual([
      'ledger: off',
      'media: nothing',
      'outdated: nothing',
      'superseded: nothing',
      'budget: nothing',
      'compaction: nothing',
      'overflow: nothing',
    ])
    expect(manager.explain()).toMatch(/compaction: There is room\.\n.*overflow: It fits\./s)
  })

  test.each([
    ['with a window', { contextWindow: 12_000 }, {}],
    ['by characters', {}, { maxChars: 20_000 }],
  ])('the figures are of what is stored, %s', async (_, options, limits) => {
    const count = async (history: Message[]) =>
      (await new ContextManager<Message>({ contextWindow: 1e7 }).prepare(history, { now })).report.tokensBefore
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize, ...limits } })
    let history = [system, ...work(8, 600)]
    for (let round = 0; round < 3; round++) {
      const { report } = await manager.prepare(deepFreeze(history), { now })
      expect(report.compaction?.action ?? 'none').toBe(round === 1 ? 'none' : 'summary')
      expect(report.tokensBefore).toBe(await count(history))
      if (round === 0) {
        const freed = report.steps.reduce((sum, step) => sum + step.freed, 0)
        expect(report.tokensBefore - freed).toBe(report.tokensAfter)
      }
      history = [...history, ...work(round === 0 ? 0 : 1, 600, 100 * (round + 1))]
      if (round === 1) history = [...history, ...work(8, 600, 500)]
    }
  })

  test('each step says what it did', async () => {
    const ledger = new ToolResultLedger()
    const read = { tool: 'read', args: { path: 'a.ts' }, output: words(300) }
    const history = talk([
      {
        user: 'a',
        steps: [{ tool: 'bash', output: words(900) }, ...Array(3).fill(read), ...Array(6).fill({ output: words(50) })],
        answer: 'x',
      },
      { user: 'b' },
    ])
    ledger.record({ toolCallId: 'call_0', toolName: 'bash', endedAt: now - 3_600_000, isError: false, bytes: 1 })
    const options = {
      contextWindow: 100_000,
      ledger,
      superseded: { keepReads: 1 },
      pruning: { schedule: 'always' as const },
    }
    const { messages, report } = await new ContextManager<Message>(options).prepare(deepFreeze(history), { now })
    const steps = Object.fromEntries(report.steps.map((step) => [step.step, step]))
    expect(steps.ledger).toMatchObject({ outcome: 'done', items: 1 })
    expect(steps.outdated).toMatchObject({ outcome: 'done', items: 1 })
    expect(steps.superseded).toMatchObject({ outcome: 'done', items: 2 })
    expect(steps.budget).toMatchObject({ outcome: 'nothing', items: 0 })
    expect(report.pruning.pruned.map(({ policy }) => policy)).toEqual(['outdated', 'superseded', 'superseded'])
    expect(report.tokensBefore - report.tokensAfter).toBeGreaterThan(2000)
    expect(isWhole(messages)).toBe(true)
    const off = new ContextManager<Message>({
      ...options,
      outdated: false,
      superseded: false,
      budget: false,
      compaction: false,
      overflow: false,
    })
    const plain = await off.prepare(history, { now })
    expect(plain.messages).toBe(history)
    expect(plain.report.steps.slice(2).every(({ outcome }) => outcome === 'off')).toBe(true)
  })
})

describe('a compaction', () => {
  const options = { contextWindow: 8000, pruning: { schedule: 'always' as const } }
  const stored = deepFreeze([system, ...work(20)])

  test('holds for the requests that follow, and the stored history keeps everything', async () => {
    let asked = 0
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize: () => `summary ${++asked}` } })
    const first = await manager.prepare(stored, { now })
    expect(first.report.compaction).toMatchObject({ action: 'summary', fits: true })
    expect(first.messages[1]?.content).toMatch(/^\[Session Summary\]\nsummary 1/)
    expect(first.report.tokensBefore).toBeGreaterThan(first.report.tokensAfter + 4000)
    const more = [...stored, ...work(2, 200, 100)]
    const second = await manager.prepare(more, { now: now + 1 })
    expect(asked).toBe(1)
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages)
    second.messages.slice(0, first.messages.length).forEach((message, at) => {
      expect(message).toBe(first.messages[at])
    })
    expect(second.report.compaction).toBeUndefined()
    expect(second.report.tokensBefore).toBeGreaterThan(first.report.tokensBefore)
    // It is full again: the summary is brought up to date, over what the first one stands for as well.
    const third = await manager.prepare([...more, ...work(12, 200, 200)], { now: now + 2 })
    expect(third.report.compaction).toMatchObject({ action: 'summary', summary: { updated: true } })
    expect(third.messages.filter(({ content }) => content.startsWith('[Session Summary]'))).toHaveLength(1)
    const fourth = await manager.prepare([...more, ...work(12, 200, 200), ...work(1, 10, 900)], { now: now + 3 })
    expect(fourth.messages.slice(0, third.messages.length)).toEqual(third.messages)
    expect(asked).toBe(2)
  })

  test('continues in another process with the same bytes', async () => {
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize } })
    await manager.prepare(stored, { now })
    const state = JSON.stringify(manager)
    const more = [...stored, ...work(2, 200, 100)]
    const again = ContextManager.fromJSON<Message>(state, options)
    // Also one that makes no request.
    expect(JSON.stringify(again)).toBe(state)
    const here = await manager.prepare(more, { now: now + 1 })
    const there = await again.prepare(JSON.parse(JSON.stringify(more)) as Message[], { now: now + 1 })
    expect(JSON.stringify(there.messages)).toBe(JSON.stringify(here.messages))
    expect(JSON.stringify(again)).toBe(JSON.stringify(manager))
  })

  test('continues in another process before the model has seen results that were truncated', async () => {
    const options = { contextWindow: 4000, compaction: false } as const
    const manager = new ContextManager<Message>(options)
    const ids = ['call_1', 'call_2']
    const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } }))
    const unseen = deepFreeze([
      system,
      { role: 'user', content: 'go on' },
      { role: 'assistant', content: null, tool_calls: calls },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: words(8_000) })),
    ] as Message[])
    const { report } = await manager.prepare(unseen, { now })
    expect(report.steps.at(-1)).toMatchObject({ step: 'overflow', outcome: 'done', items: 2 })
    const again = ContextManager.fromJSON<Message>(JSON.stringify(manager), options)
    for (const history of [[...unseen, { role: 'user', content: words(500) } as Message], unseen]) {
      const here = await manager.prepare(history, { now: now + 1 })
      const there = await again.prepare(history, { now: now + 1 })
      expect(JSON.stringify(there.messages)).toBe(JSON.stringify(here.messages))
    }
  })

  test('a host that stores the compacted history continues with it', async () => {
    let asked = 0
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize: () => `${++asked}` } })
    const { history, messages } = await manager.prepare(stored, { now })
    expect(history[1]?.content).toMatch(/^\[Session Summary\]/)
    const next = await manager.prepare(deepFreeze([...history, ...work(1, 10, 100)]), { now: now + 1 })
    expect(next.messages.slice(0, messages.length)).toEqual(messages)
    expect(next.history).toHaveLength(history.length + 3 + 1)
    expect(asked).toBe(1)
  })

  test('is forgotten when the history is another one', async () => {
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize } })
    await manager.prepare(stored, { now })
    const other = [system, ...work(2, 30, 500)]
    const { messages } = await manager.prepare(other, { now: now + 1 })
    expect(messages).toBe(other)
  })

  test('placeholders of messages that are gone are forgotten, and nothing is pruned a second time', async () => {
    const manager = new ContextManager<Message>({
      contextWindow: 12_000,
      budget: { protectTokens: 300, minTokens: 100, protectTurns: 1 },
      pruning: { schedule: 'cold' },
      compaction: { summarize },
    })
    let history = [system, ...work(14)]
    await manager.prepare(history, { now })
    expect((JSON.parse(JSON.stringify(manager)) as ContextManagerState).pruner.placeholders.length).toBeGreaterThan(3)
    history = [...history, ...work(3, 600, 100), ...work(20, 300, 200)]
    const { report, messages } = await manager.prepare(history, { now: now + 1 })
    expect(report.compaction?.action).toBe('summary')
    const { pruner } = manager.toJSON()
    const shown = new Set(messages.map(({ tool_call_id }) => tool_call_id))
    for (const [key] of pruner.placeholders) expect(shown).toContain(key.split('#')[0])
    const next = await manager.prepare([...history, { role: 'user', content: 'go on' }], { now: now + 2 })
    expect(next.report.pruning.pruned).toEqual([])
    expect(next.messages.slice(0, messages.length)).toEqual(messages)
  })

  test('leaves every step with its own reason', async () => {
    const budget = { protectTokens: 300, minTokens: 100, protectTurns: 1 }
    const manager = new ContextManager<Message>({ contextWindow: 12_000, budget, compaction: { summarize } })
    const { report } = await manager.prepare([system, ...work(14), ...work(23, 600, 100)], { now })
    expect(report.compaction?.action).toBe('summary')
    const went = report.steps.find(({ step }) => step === 'budget')
    expect(went).toMatchObject({
      outcome: 'done',
      reason: expect.stringMatching(/^\d+ results were pruned: the change cost nothing\.$/),
    })
    expect(manager.explain()).toContain(`budget: ${went?.reason}`)
  })

  test('explains a request in sentences that agree with their numbers', async () => {
    const ledger = new ToolResultLedger()
    ledger.record({ toolCallId: 'c', toolName: 'bash' })
    const manager = new ContextManager<object>({ contextWindow: 12_000, ledger })
    const call = { id: 'c', type: 'function', function: { name: 'bash', arguments: '{}' } }
    const history = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ]
    await manager.prepare(history, { now })
    expect(manager.explain()).toMatch(
      new RegExp(
        [
          '^ledger: 1 new result was found in the ledger\\.',
          'media: No image or file was replaced by a note\\.',
          'outdated: No result was pruned: there was nothing to free\\.',
          'superseded: No result was pruned: there was nothing to free\\.',
          'budget: No result was pruned: there was nothing to free\\.',
          'compaction: There is room\\.',
          'overflow: It fits\\.',
          'By estimate, the history has (\\d+) tokens, and the request \\1 of them\\.$',
        ].join('\n'),
      ),
    )
  })

  test('without a summary is remembered as well', async () => {
    const manager = new ContextManager<Message>({ ...options, budget: false, compaction: {} })
    const stored = talk(Array(12).fill({ user: 'look', steps: [{ output: words(300) }], answer: 'so' }))
    const first = await manager.prepare(deepFreeze(stored), { now })
    expect(first.report.compaction).toMatchObject({ action: 'outputs', reason: 'no-summarizer' })
    expect(first.report.fits).toBe(true)
    const second = await manager.prepare([...stored, { role: 'user', content: 'go on' }], { now: now + 1 })
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages)
    expect(second.report.compaction).toBeUndefined()
  })

  test('by hand', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 100_000, compaction: { summarize } })
    const { report } = await manager.prepare(stored, { now, force: true })
    expect(report.compaction).toMatchObject({ action: 'summary' })
  })

  test('results are shortened where a provider refused what seems to fit, and nothing is old', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 40_000, compaction: { summarize } })
    const turn = talk([{ user: 'look', steps: Array(8).fill({ output: words(2_000) }), answer: 'so' }]).slice(0, -1)
    const first = await manager.prepare(deepFreeze(turn), { now })
    expect(first.report).toMatchObject({ fits: true, steps: expect.not.arrayContaining([{ outcome: 'done' }]) })
    const { messages, report } = await manager.prepare(turn, { now, force: true })
    expect(report.steps.at(-1)).toMatchObject({ step: 'overflow', outcome: 'done' })
    expect(report.tokensAfter).toBeLessThan(0.9 * first.report.tokensAfter)
    expect(isWhole(messages)).toBe(true)
    // The next request continues from there: the provider's cache holds.
    const next = await manager.prepare([...turn, { role: 'user', content: 'go on' }], { now })
    expect(next.messages.slice(0, messages.length)).toEqual(messages)
  })

  test('that does not help is an error', async () => {
    const manager = new ContextManager<Message>({
      contextWindow: 6000,
      overflow: false,
      budget: false,
      compaction: { summarize, recentTurns: 1 },
    })
    let history = [system]
    const grow = () => {
      history = [...history, { role: 'user', content: 'more' }, { role: 'assistant', content: words(3400) }]
      return manager.prepare(history, { now })
    }
    const work = async () => {
      for (let times = 0; times < 8; times++) await grow()
    }
    await expect(work()).rejects.toMatchObject({ code: 'COMPACTION' })
  })

  test('that does not help is no error as long as results can be shortened', async () => {
    const manager = new ContextManager<Message>({
      contextWindow: 6000,
      budget: false,
      compaction: { summarize, recentTurns: 1 },
    })
    const reasons = new Set<unknown>()
    let history: Message[] = [system, { role: 'user', content: 'go on' }]
    for (let times = 0; times < 12; times++) {
      history = [...history, ...talk([{ user: '', steps: [{ output: words(1900) }] }]).slice(2)]
      history = history.map((message) => JSON.parse(JSON.stringify(message).replace('"call_0"', `"call_${times}"`)))
      const { messages, report } = await manager.prepare(deepFreeze(history), { now })
      expect(report.fits).toBe(true)
      expect(isWhole(messages)).toBe(true)
      expect(messages).toContainEqual({ role: 'user', content: 'go on' })
      reasons.add(report.compaction?.reason)
    }
    expect(reasons).toContain('thrash')
    expect(reasons).toContain('summarized')
  })

  test('does not wait indefinitely, and two concurrent requests do not ask twice', async () => {
    const control = new AbortController()
    const manager = new ContextManager<Message>({ ...options, compaction: { summarize: () => new Promise(() => {}) } })
    const hanging = manager.prepare(stored, { now, signal: control.signal })
    control.abort()
    await expect(hanging).rejects.toMatchObject({ code: 'ABORTED' })
    let asked = 0
    const other = new ContextManager<Message>({ ...options, compaction: { summarize: () => `${++asked}` } })
    const [one, two] = await Promise.all([other.prepare(stored, { now }), other.prepare(stored, { now })])
    expect(asked).toBe(1)
    expect(one.messages).toEqual(two.messages)
  })
})

describe('a request that still does not fit', () => {
  const history = deepFreeze(talk([{ user: 'look', steps: [{ output: words(30_000) }] }]))

  test('has its results shortened, at this request and with the same bytes at the next', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 16_000, compaction: { summarize } })
    const { messages, report } = await manager.prepare(history, { now })
    expect(report.fits).toBe(true)
    expect(report.steps.at(-1)).toMatchObject({ step: 'overflow', outcome: 'done', items: 1 })
    expect(isWhole(messages)).toBe(true)
    const next = await manager.prepare(
      [...history, { role: 'assistant', content: 'seen' }, { role: 'user', content: 'and?' }],
      { now: now + 1 },
    )
    expect(next.messages.slice(0, messages.length)).toEqual(messages)
    expect(next.report.fits).toBe(true)
  })

  test('shortens what it can if the answer gets less room for it and the request is not refused', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 4000 })
    const history = deepFreeze(talk([{ user: words(1850), steps: [{ output: words(3000) }, { output: words(2000) }] }]))
    const { messages, report } = await manager.prepare(history, { now })
    expect(report.fits).toBe(false)
    expect(report.steps.at(-1)).toMatchObject({ step: 'overflow', outcome: 'done', items: 2 })
    expect(report.steps.at(-1)?.reason).toMatch(/^2 results were truncated; .*may have 3200/s)
    expect(messages.map(({ content }) => content.length > 1500)).toEqual([false, true, false, false, false, false])
    expect(messages[1]).toBe(history[1])
    expect(report.tokensAfter).toBeGreaterThan(3200)
    expect(report.tokensAfter).toBeLessThanOrEqual(4000)
  })

  test('if nothing helps, it is sent, and the report says so', async () => {
    const manager = new ContextManager<Message>({ contextWindow: 4000 })
    const huge = [{ role: 'user', content: words(9000) }]
    const { messages, report } = await manager.prepare(huge, { now })
    expect(messages).toBe(huge)
    expect(report.fits).toBe(false)
    expect(report.steps.at(-1)?.reason).toMatch(/may have 3200 of a window of 4000/)
  })

  test.each<[string, ContextManagerOptions<Message>['compaction'], string]>([
    [
      'failed',
      { summarize: () => Promise.reject(new Error('the model is overloaded')) },
      'compaction failed (summary-failed): summarize: the model is overloaded.',
    ],
    ['is switched off', false, 'compaction is switched off.'],
    ['brought nothing', {}, 'nothing was compacted (no-progress).'],
  ])('has the outcome of the compaction in its reason: it %s', async (_what, compaction, outcome) => {
    const manager = new ContextManager<Message>({ contextWindow: 4000, compaction })
    const long = [0, 1, 2, 3].flatMap((at) => [
      { role: 'user' as const, content: `${at} ${words(3000)}` },
      { role: 'assistant' as const, content: words(3000) },
    ])
    const { report } = await manager.prepare([...long, { role: 'user', content: words(9000) }], { now })
    const { reason } = report.steps.at(-1)!
    expect(reason).toContain(`the results are within their budget; ${outcome} Start a new session`)
  })
})

test.each(pairedFormats)('works on %s', async (name) => {
  const conversation = Array.from({ length: 14 }, (_, at) => [
    { kind: 'user', text: `question ${at}` },
    { kind: 'calls', text: 'I look', calls: [{ id: `c${at}`, name: 'bash' }] },
    { kind: 'results', results: [{ id: `c${at}`, name: 'bash', text: words(150), isError: false, image: false }] },
    { kind: 'assistant', text: 'so it is' },
  ]).flat()
  const stored = deepFreeze(written(name, conversation as never))
  const manager = new ContextManager<object>({ contextWindow: 4000, budget: false, compaction: { summarize } })
  const first = await manager.prepare(stored, { now, force: true })
  expect(first.report).toMatchObject({ fits: true, compaction: { action: 'summary', format: name } })
  const more = [...stored, ...written(name, [{ kind: 'user', text: 'more' }])]
  const restored = ContextManager.fromJSON<object>(JSON.stringify(manager), { contextWindow: 4000, budget: false })
  const second = await manager.prepare(more, { now: now + 1 })
  expect(second.messages.slice(0, -1)).toEqual(first.messages)
  expect(JSON.stringify((await restored.prepare(more, { now: now + 1 })).messages)).toBe(
    JSON.stringify(second.messages),
  )
})

describe.each(pairedFormats.filter((name) => name !== 'gemini'))('images of %s', (name) => {
  const steps = (from: number, count: number): Happening[] =>
    Array.from({ length: count }, (_, at): Happening[] => {
      const call = { id: `c${from + at}`, name: 'screenshot' }
      const seen = { ...call, text: `screen ${from + at}`, isError: false, image: true }
      return [
        { kind: 'calls', text: 'I look', calls: [call] },
        { kind: 'results', results: [seen] },
      ]
    }).flat()
  const stored = deepFreeze(written(name, [{ kind: 'user', text: 'look' }, ...steps(0, 12)]))
  const more = [...stored, ...written(name, steps(12, 1))]
  const notes = (messages: readonly object[]) => (JSON.stringify(messages).match(/\[[^[\]]*, left out\]/g) ?? []).length
  const options = { contextWindow: 16_000, budget: false } as const

  test('that were taken out stay out, with the same bytes, also in another process', async () => {
    const manager = new ContextManager<object>(options)
    const { messages, history, report } = await manager.prepare(stored, { now })
    expect(report).toMatchObject({ fits: true, compaction: { reason: 'media', fits: true, format: name } })
    const went = report.compaction?.replacedMedia as number
    expect(went).toBeGreaterThan(0)
    expect(went).toBeLessThan(12)
    expect(notes(messages)).toBe(went)
    expect(notes(history)).toBe(went)
    expect(report.steps[5]).toMatchObject({ step: 'compaction', outcome: 'done', items: went })
    expect(report.tokensBefore - (report.steps[5]?.freed as number)).toBe(report.tokensAfter)
    const state = JSON.stringify(manager)
    const again = ContextManager.fromJSON<object>(state, options)
    const next = await manager.prepare(more, { now: now + 1 })
    const there = await again.prepare(JSON.parse(JSON.stringify(more)) as object[], { now: now + 1 })
    for (const { messages: sent } of [next, there]) {
      expect(JSON.stringify(sent.slice(0, messages.length))).toBe(JSON.stringify(messages))
    }
    expect(JSON.stringify(again)).toBe(JSON.stringify(manager))
    const whole = await new ContextManager<object>({ contextWindow: 1e7 }).prepare(more, { now })
    expect(next.report.tokensBefore).toBe(whole.report.tokensAfter)
    // Who stores the compacted history has none of them in it.
    const other = ContextManager.fromJSON<object>(state, options)
    const taken = await other.prepare([...history, ...more.slice(stored.length)], { now: now + 1 })
    expect(JSON.stringify(taken.messages)).toBe(JSON.stringify(next.messages))
  })

  test('go beside a summary, and come back with another history', async () => {
    const manager = new ContextManager<object>({ ...options, contextWindow: 9000, compaction: { summarize } })
    // One answer whose calls cannot be separated.
    const calls = Array.from({ length: 8 }, (_, at) => ({ id: `d${at}`, name: 'screenshot' }))
    const seen = calls.map((call) => ({ ...call, text: 'a screen', isError: false, image: true }))
    const history = deepFreeze(
      written(name, [
        { kind: 'user', text: 'begin' },
        { kind: 'assistant', text: words(2000) },
        { kind: 'user', text: 'look at all' },
        { kind: 'calls', text: 'I look', calls },
        { kind: 'results', results: seen },
      ]),
    )
    const { messages, report } = await manager.prepare(history, { now })
    expect(report).toMatchObject({ fits: true, compaction: { action: 'summary' } })
    expect(report.compaction?.replacedMedia).toBeGreaterThan(0)
    expect(notes(messages)).toBe(report.compaction?.replacedMedia)
    const again = await manager.prepare([...history], { now: now + 1 })
    expect(again.messages).toEqual(messages)
    expect(again.report).toMatchObject({ fits: true, tokensBefore: report.tokensBefore })
    const other = await manager.prepare(stored.slice(0, 5), { now: now + 2 })
    expect(notes(other.messages)).toBe(0)
  })
})

test('callbacks that fail later are warned of', async () => {
  const warnings: string[] = []
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(`${warning}`))
  // A promise of the caller's that fails unheard would end the process.
  const later = async (what: string) => {
    throw new Error(`${what} failed`)
  }
  const manager = new ContextManager<Message>({
    contextWindow: 4000,
    estimateTokens: (() => later('the estimate')) as never,
    onError: (() => later('telling')) as never,
    pruning: { placeholder: (() => later('the placeholder')) as never, schedule: 'always' },
    budget: { protectTokens: 100, minTokens: 10, protectTurns: 1 },
  })
  await manager.prepare([system, ...work(8)], { now })
  await new Promise(setImmediate)
  warned.mockRestore()
  for (const what of ['onError: telling failed', 'placeholder: the placeholder failed']) {
    expect(warnings.some((warning) => warning.includes(what))).toBe(true)
  }
})

describe('bad arguments', () => {
  test.each([
    [{ contextwindow: 1 }, /contextWindow/],
    [{ contextWindow: 'x' }, /Invalid option "contextWindow"/],
    [{ outdated: 1 }, /option "outdated"/],
    [{ budget: { protectToken: 1 } }, /Unknown option "budget.protectToken": .*protectTokens/],
    [{ outdated: { maxAgeMs: -1 } }, /Invalid option "outdated.maxAgeMs": .*received -1/],
    [{ pruning: { schedul: 'x' } }, /Unknown option "pruning.schedul": .*schedule/],
    [{ pruning: { prices: { read: -1 } } }, /Invalid option "pruning.prices.read": .*received -1/],
    [{ compaction: { summarise: () => '' } }, /Unknown option "compaction.summarise": .*summarize/],
    [{ compaction: { maxChars: -1 } }, /Invalid option "compaction.maxChars": .*received -1/],
    [{ compaction: { hooks: { before: 1 } } }, /option "compaction.hooks.before"/],
    // Options beside a part apply to the other parts too.
    [{ compaction: { contextWindow: 5000 } }, /Unknown option "compaction.contextWindow"/],
    [{ compaction: { targetTokens: 5000 } }, /Unknown option "compaction.targetTokens"/],
    [{ compaction: { state: {} } }, /Unknown option "compaction.state"/],
    [{ pruning: { policies: [] } }, /Unknown option "pruning.policies"/],
    // Only policies that a manager does not have read it.
    [{ overflow: 'x' }, /openclaw/],
    [{ onError: 1 }, /a function/],
  ])('%j', (options, message) => {
    expect(() => new ContextManager(options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) }),
    )
  })

  test('are rejected in a request and in a state', async () => {
    const manager = new ContextManager()
    await expect(manager.prepare({} as never)).rejects.toMatchObject({ field: 'messages' })
    await expect(manager.prepare([], { now: Number.NaN })).rejects.toMatchObject({ field: 'options.now' })
    await expect(manager.prepare([], { when: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const state = manager.toJSON()
    for (const bad of [
      '{',
      {},
      { ...state, version: 2 },
      { ...state, pruner: {} },
      { ...state, appliedSummary: { from: 3 } },
      { ...state, appliedSummary: { first: 0, head: [0, 0], from: 0, sizes: [], text: '', saved: 0, format: 'nope' } },
      { ...state, compaction: { failures: -1 } as unknown as CompactionState },
    ]) {
      expect(() => ContextManager.fromJSON(bad as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    }
    expect((await ContextManager.fromJSON(state).prepare([])).messages).toEqual([])
  })
})

test('the report has the savings of all requests, net of what the changes cost', async () => {
  const manager = new ContextManager<Message>({ contextWindow: 1_000_000, pruning: { schedule: 'always' } })
  const history = [system, ...work(20, 4000)]
  let paid = 0
  for (const length of [history.length - 20, history.length - 10, history.length]) {
    const { report } = await manager.prepare(history.slice(0, length), { now })
    const { cost } = report.pruning
    expect(report.savings.pricedTokens).toBeCloseTo(cost.unpruned - cost.paid, 6)
    expect(report.savings.share).toBeCloseTo(1 - cost.paid / cost.unpruned, 6)
    expect(cost.paid).toBeGreaterThan(paid)
    paid = cost.paid
  }
})

test('a request that waits for the one before it can be aborted', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow = async () => {
    await finished
    return 'They talked.'
  }
  const manager = new ContextManager<Message>({ contextWindow: 12_000, compaction: { summarize: slow } })
  const history = [system, ...work(12, 800)]
  const first = manager.prepare(history, { now })
  const stop = new AbortController()
  const second = manager.prepare(history, { now, signal: stop.signal })
  const third = manager.prepare(history, { now })
  stop.abort(new Error('planted'))
  await expect(second).rejects.toMatchObject({ code: 'ABORTED', cause: { message: 'planted' } })
  finish()
  // The others have their turns as if it had not been there.
  expect((await third).messages).toEqual((await first).messages)
})
