import fc from 'fast-check'
import { detectFormat, repairToolPairs } from 'spillway/history'
import { conversations, hostile, pairedFormats, written } from './histories'
import { deepFreeze, type Fields, formatNamed, formats, names, plain } from './support'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 50)

/** The text of a result as one string. */
const joined = (text: string | readonly string[] | undefined) =>
  typeof text === 'string' ? text : (text ?? []).join('')

describe.each(pairedFormats)('%s', (name) => {
  const format = formatNamed(name)

  test('says what was said, and takes exactly the texts that are written', () => {
    fc.assert(
      fc.property(conversations, fc.infiniteStream(fc.option(fc.string())), (conversation, news) => {
        const messages = deepFreeze(written(name, conversation))
        const views = messages.map((message) => formats.viewOf(name, message))
        const said = conversation.flatMap((one) => (one.kind === 'results' ? one.results : []))
        const results = views.flatMap((view) => view.results)
        expect(results.map(({ text }) => joined(text))).toEqual(said.map(({ text }) => text))
        expect(views.flatMap((view) => view.calls.map((call) => call.name))).toEqual(
          conversation.flatMap((one) => (one.kind === 'calls' ? one.calls.map((call) => call.name) : [])),
        )
        for (const [at, message] of messages.entries()) {
          const before = plain(views[at]!)
          const texts = new Map<number, string>()
          for (const place of (views[at]?.results ?? []).keys()) {
            const text = news.next().value
            if (typeof text === 'string') texts.set(place, text)
          }
          const after = format.withResults(message, texts)
          expect(after === message).toBe(texts.size === 0)
          const expected = (before.results as Fields[] | undefined)?.map((result, place) => ({
            ...result,
            text: texts.get(place) ?? result.text,
          }))
          expect(plain(format.view(after as object))).toEqual({ ...before, ...(expected && { results: expected }) })
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('takes exactly the arguments that are written', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        for (const message of deepFreeze(written(name, conversation))) {
          const { calls } = format.view(message)
          if (calls.length === 0) continue
          const last = calls.length - 1
          const after = format.view(format.withArguments(message, new Map([[last, { other: 1 }]])) as object)
          expect(after.calls[last]?.args()).toEqual({ other: 1 })
          expect(after.calls.slice(0, last).map((call) => call.argsText)).toEqual(
            calls.slice(0, last).map((call) => call.argsText),
          )
        }
      }),
      { numRuns: RUNS },
    )
  })

  test.each(['keep', 'close'] as const)('has no orphan after a repair (%s)', (runningCalls) => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const messages = deepFreeze(written(name, conversation))
        const options = { format: name, runningCalls }
        const repaired = deepFreeze(repairToolPairs(messages, options))
        expectPairs(name, repaired, runningCalls)
        expect(repairToolPairs(repaired, options)).toBe(repaired)
        // Nothing else has changed: the same objects, in the same order.
        const others = (list: readonly object[]) => list.filter((message) => format.view(message).results.length === 0)
        expect(others(repaired)).toEqual(others(messages))
        others(repaired).forEach((message, at) => {
          expect(message).toBe(others(messages)[at])
        })
        // Results that stay say what they said, and are no more than there were.
        const texts = (list: readonly object[]) =>
          list.flatMap((message) => format.view(message).results.map((result) => joined(result.text)))
        const left = texts(messages)
        for (const text of texts(repaired).filter((one) => !one.startsWith('[missing tool result'))) {
          expect(left).toContain(text)
          left.splice(left.indexOf(text), 1)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

/** The rule that providers have, said once more: every result has a call before it, and every call that is over a result. */
function expectPairs(
  name: (typeof pairedFormats)[number],
  messages: readonly object[],
  runningCalls: 'keep' | 'close',
) {
  const format = formatNamed(name)
  type Open = { id?: string; name?: string }
  let open: Open[] = []
  for (const message of messages) {
    const { role, calls, results } = format.view(message)
    for (const { callId, toolName } of results) {
      const tests: ((call: Open) => boolean)[] = [
        (call) => callId !== undefined && call.id === callId,
        (call) => call.id === undefined && call.name === toolName,
        (call) => callId === undefined && call.name === toolName,
      ]
      const at = tests.map((test) => open.findIndex(test)).find((found) => found !== -1) ?? -1
      expect(at).not.toBe(-1)
      open.splice(at, 1)
    }
    if (!format.flat && (role === 'user' || role === 'assistant')) expect(open).toEqual([])
    open = [...open, ...calls]
  }
  if (runningCalls === 'close') expect(open).toEqual([])
  const spoken = messages.findLastIndex((message) => format.view(message).role === 'user')
  const last = messages.slice(spoken + 1).flatMap((message) => format.view(message).calls.map(({ id }) => id))
  expect(last).toEqual(expect.arrayContaining(open.map(({ id }) => id)))
}

describe('any history', () => {
  test('does not throw, and keeps messages that cannot be read unchanged', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 4 }), (messages) => {
        detectFormat(messages)
        for (const name of names) {
          const format = formatNamed(name)
          for (const message of messages) {
            const view = formats.viewOf(name, message)
            for (const call of view.calls) {
              expect(typeof call.argsText).toBe('string')
              call.args()
            }
            if (typeof message !== 'object' || message === null) {
              expect(view.role).toBe('other')
              continue
            }
            const own = format.view(message)
            const written = format.withResults(message, new Map([[0, 'x']]))
            format.withArguments(message, new Map([[0, { x: 1 }]]))
            if (own.results.length === 0) expect(written).toBeUndefined()
            format.missingResult(message, 0, 'x')
            format.takeResults(message, new Set([0]))
          }
          repairToolPairs(messages, { format: name, runningCalls: 'close' })
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('a proxy that refuses everything is other', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const name of names) {
      const format = formatNamed(name)
      const holders = [proxy, { role: 'user', content: proxy, parts: proxy }, { role: 'tool', content: [proxy] }]
      for (const message of holders) {
        expect(formats.viewOf(name, message).results).toEqual([])
        expect(format.withResults(message, new Map([[0, 'x']]))).toBeUndefined()
      }
      expect(repairToolPairs(holders, { format: name })).toBe(holders)
    }
    expect(detectFormat([proxy])).toBeUndefined()
  })

  test('a message with a getter that throws where it matters is other', () => {
    const message = {
      role: 'tool',
      tool_call_id: 'a',
      get content(): string {
        throw new Error('not to be read')
      },
    }
    expect(formats.viewOf('openai-chat', message).role).toBe('other')
    expect(formatNamed('openai-chat').withResults(message, new Map([[0, 'x']]))).toBeUndefined()
  })

  test('a message with a getter that throws elsewhere is read, and stays as it is', () => {
    const message = {
      role: 'tool',
      tool_call_id: 'a',
      content: 'ok',
      get usage(): string {
        throw new Error('not to be read')
      },
    }
    expect(formats.viewOf('openai-chat', message).results[0]?.text).toBe('ok')
    expect(formatNamed('openai-chat').withResults(message, new Map([[0, 'x']]))).toBeUndefined()
  })
})
