import fc from 'fast-check'
import { compactHistory } from 'spillway'
import { cutPoints, detectFormat } from 'spillway/history'
import { conversations, type Happening, hostile, pairedFormats, written } from '../history/histories'
import { deepFreeze, formatNamed, formats } from '../history/support'

const RUNS = Math.ceil(Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 200) / 2)

/** Conversations that are as long as small windows, in which everything has a size. */
const long: fc.Arbitrary<Happening[]> = fc
  .array(fc.tuple(conversations, fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 5 })
  .map((all) =>
    all.flatMap(([conversation, times]) =>
      conversation.map((one): Happening => {
        const grown = (text: string) => `${text} some words`.repeat(times)
        if (one.kind === 'results')
          return { kind: 'results', results: one.results.map((result) => ({ ...result, text: grown(result.text) })) }
        return { ...one, text: grown(one.text) }
      }),
    ),
  )
const window = fc.oneof(fc.integer({ min: 1000, max: 4000 }), fc.integer({ min: 1000, max: 60_000 }))
const format = fc.constantFrom(...pairedFormats)

interface OpenCall {
  id: string | undefined
  name: string | undefined
  message: number
}

/** How many results answer no call before them, by the rules of pairing: an id says more than a name, a newer message more than an older. */
function alone(name: (typeof pairedFormats)[number], messages: readonly object[]): number {
  const open: OpenCall[] = []
  let orphans = 0
  for (const [message, { calls, results }] of messages.map((one) => formatNamed(name).view(one)).entries()) {
    for (const { callId, toolName } of results) {
      const rules: ((call: OpenCall) => boolean)[] =
        callId === undefined
          ? [(call) => call.id === undefined && call.name === toolName, (call) => call.name === toolName]
          : [(call) => call.id === callId, (call) => call.id === undefined && call.name === toolName]
      const fitting = rules.map((fits) => open.filter(fits)).find((found) => found.length > 0) ?? []
      const newest = Math.max(...fitting.map((call) => call.message))
      const answered = fitting.find((call) => call.message === newest)
      if (answered === undefined) orphans++
      else open.splice(open.indexOf(answered), 1)
    }
    open.push(...calls.map(({ id, name }) => ({ id, name, message })))
  }
  return orphans
}

describe('for any history, format and window', () => {
  test('no call throws, no result loses its call, and kept messages are unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        format,
        long,
        window,
        fc.integer({ min: 0, max: 4 }),
        fc.boolean(),
        async (name, conversation, contextWindow, recentTurns, force) => {
          const messages = deepFreeze(written(name, conversation))
          const { messages: after, report } = await compactHistory(messages, {
            contextWindow,
            recentTurns,
            force,
            summarize: () => 'short',
          })
          expect(alone(name, after)).toBeLessThanOrEqual(alone(name, messages))
          const { kept, action } = report
          if (action === 'none') expect(after).toBe(messages)
          if (action === 'summary') {
            const stays = [
              ...messages.slice(0, kept.first),
              ...messages.slice(...kept.head),
              ...messages.slice(kept.from),
            ]
            const others = after.toSpliced(report.summary?.index as number, 1)
            expect(others).toHaveLength(stays.length)
            if (report.replacedMedia === 0)
              for (const [at, message] of others.entries()) expect(message).toBe(stays[at])
            expect(report.sizeAfter).toBeLessThanOrEqual(0.9 * report.sizeBefore)
            const legal = cutPoints(messages).map(({ index }) => index)
            expect([...legal, messages.length]).toContain(kept.from)
          }
          if (action === 'outputs') expect(after).toHaveLength(messages.length)
          const newest = messages.findLast((message) => formatNamed(name).view(message).role === 'user')
          if (newest !== undefined) expect(after).toContain(newest)
          expect(report.messagesAfter).toBe(after.length)
        },
      ),
      { numRuns: RUNS },
    )
  })

  test('no cut is between a call and its result', () => {
    fc.assert(
      fc.property(format, conversations, (name, conversation) => {
        const messages = written(name, conversation)
        if (detectFormat(messages) !== name) return
        for (const { index } of cutPoints(messages)) {
          expect(alone(name, messages.slice(index)) + alone(name, messages.slice(0, index))).toBeLessThanOrEqual(
            alone(name, messages),
          )
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('a larger window never keeps less', async () => {
    await fc.assert(
      fc.asyncProperty(
        format,
        long,
        window,
        fc.integer({ min: 0, max: 10_000 }),
        fc.boolean(),
        async (name, conversation, small, more, writes) => {
          const messages = written(name, conversation)
          const kept = async (contextWindow: number) => {
            const options = { contextWindow, ...(writes && { summarize: () => 'short' }) }
            return (await compactHistory(messages, options)).report
          }
          const [less, greater] = [await kept(small), await kept(small + more)]
          // If no step helps, the history is unchanged.
          if (!less.fits) return
          expect(greater.sizeAfter).toBeGreaterThanOrEqual(less.sizeAfter)
          if (less.action === 'summary' && greater.action === 'summary')
            expect(greater.kept.from).toBeLessThanOrEqual(less.kept.from)
        },
      ),
      { numRuns: RUNS },
    )
  })

  test('compacting again with nothing new does nothing', async () => {
    await fc.assert(
      fc.asyncProperty(format, long, window, async (name, conversation, contextWindow) => {
        const messages = written(name, conversation)
        const options = { contextWindow, summarize: () => 'short' }
        const first = await compactHistory(messages, options)
        if (first.report.action !== 'summary') return
        const second = await compactHistory(deepFreeze(first.messages), { ...options, state: first.report.state })
        expect(second.report.action).not.toBe('summary')
      }),
      { numRuns: RUNS },
    )
  })

  test('hostile messages are compacted, or left alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 6 }), fc.boolean(), async (messages, force) => {
        cutPoints(messages)
        compactHistory.plan(messages, { contextWindow: 1000 })
        const { report } = await compactHistory(messages, { contextWindow: 1000, force, summarize: () => 'x' })
        expect(report.messagesBefore).toBe(messages.length)
      }),
      { numRuns: RUNS },
    )
  })
})

describe.each(pairedFormats)('%s', (name) => {
  test("keeps a user's words beside a result, and the call of the result", async () => {
    const steps = Array.from({ length: 8 }, (_, at): Happening[] => [
      { kind: 'calls', text: 'a plan of what to do '.repeat(90), calls: [{ id: `c${at}`, name: 'bash' }] },
      {
        kind: 'results',
        results: [{ id: `c${at}`, name: 'bash', text: 'a b '.repeat(1000), isError: false, image: false }],
        ...(at === 2 && { said: 'stop: use make -j' }),
      },
    ])
    const messages = deepFreeze(written(name, [{ kind: 'user', text: 'start' }, ...steps.flat()]))
    const { messages: after, report } = await compactHistory(messages, { contextWindow: 6000, summarize: () => 'S' })
    expect(report.action).toBe('summary')
    expect(JSON.stringify(after)).toContain('use make -j')
    expect(alone(name, after)).toBe(0)
  })

  const conversation: Happening[] = Array.from({ length: 12 }, (_, at): Happening[] => [
    { kind: 'user', text: `question ${at}` },
    { kind: 'calls', text: 'I look', calls: [{ id: `c${at}`, name: 'edit' }] },
    {
      kind: 'results',
      results: [
        {
          id: `c${at}`,
          name: 'edit',
          text: 'done '.repeat(200),
          isError: false,
          image: at % 2 === 0 && name !== 'gemini',
        },
      ],
    },
    { kind: 'assistant', text: 'so it is '.repeat(30) },
  ]).flat()

  test('has a summary that is known again, also when it was stored, and no images if there is no room', async () => {
    const messages = deepFreeze(written(name, conversation))
    const options = { contextWindow: 3500, summarize: () => 'They talked.' }
    const { messages: after, report } = await compactHistory(messages, options)
    expect(report).toMatchObject({ action: 'summary', reason: 'summarized', format: name, fits: true })
    expect(report.summary?.text).toContain('They talked.')
    for (const history of [after, JSON.parse(JSON.stringify(after)) as object[]]) {
      const longer = [
        ...history,
        ...written(
          name,
          [...conversation, ...conversation].map(
            (one) => JSON.parse(JSON.stringify(one).replaceAll('"c', '"d')) as Happening,
          ),
        ),
      ]
      const asked: (string | undefined)[] = []
      const again = await compactHistory(longer, {
        ...options,
        summarize: ({ previousSummary }) => `${asked.push(previousSummary)}`,
      })
      expect(asked[0]).toBe('They talked.')
      expect(again.report.summary).toMatchObject({ updated: true, index: report.summary?.index })
      expect(again.messages.filter((message) => JSON.stringify(message).includes('[Session Summary]'))).toHaveLength(1)
      expect(formats.viewOf(name, again.messages[0])).toMatchObject({ calls: [], results: [] })
    }
  })
})
