import fc from 'fast-check'
import { recoverFromOverflow, SpillwayError } from 'spillway'
import {
  calculateMaxToolResultChars,
  type OverflowProfile,
  type ProjectionState,
  projectToolResults,
  truncateOversizedToolResultsInMessages,
} from 'spillway/overflow'
import { deepFreeze, formats, type Message, type Turn } from '../support/histories'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 200)

/** A text of any length that is short to describe. */
const text = fc
  .tuple(
    fc.array(
      fc.constantFrom('abc', '\n', 'line of text\n', '你好世界', '😀', '\ud800', '\udc00', 'Error: total', '}', '  '),
      { maxLength: 12 },
    ),
    fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3000 })),
  )
  .map(([pieces, times]) => pieces.join('').repeat(times))
const turn: fc.Arbitrary<Turn> = fc.record({
  user: fc.constantFrom('go on', 'what?', '继续'),
  results: fc.array(text, { maxLength: 4 }),
  answer: fc.option(fc.constantFrom('done', 'a longer answer than that'), { nil: undefined }),
})
const turns = fc.array(turn, { maxLength: 8 })
const format = fc.constantFrom(...Object.keys(formats))
const window = fc.oneof(
  fc.integer({ min: 0, max: 2000 }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: 2_000_000 }),
)
const profile = fc.constantFrom<OverflowProfile>('openclaw', 'openclaw-2026-02')

const DENSE = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/
const weight = (text: string, profile: OverflowProfile) =>
  profile === 'openclaw' ? [...text].reduce((sum, c) => sum + (DENSE.test(c) ? 4 : c.length), 0) : text.length

const formatOf = (name: string) => formats[name] as (typeof formats)[string]
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

function weights(name: string, messages: readonly Message[], profile: OverflowProfile): number[] {
  return [...formatOf(name).results(messages).values()].map((text) => weight(text, profile))
}

describe('shortening results of any history', () => {
  it('keeps the cap and the budget, says the same again, and changes nothing else', () => {
    const budget = fc.option(fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100_000 })), {
      nil: false as const,
    })
    fc.assert(
      fc.property(format, turns, window, profile, budget, (name, turns, window, profile, maxTotalChars) => {
        const messages = deepFreeze(formatOf(name).build(turns))
        const options = { profile, maxTotalChars }
        const { messages: after, truncatedCount } = truncateOversizedToolResultsInMessages(messages, window, options)

        const cap = calculateMaxToolResultChars(window, { profile })
        const lengths = weights(name, after, profile)
        for (const length of lengths) expect(length).toBeLessThanOrEqual(cap)
        if (maxTotalChars !== false) expect(sum(lengths)).toBeLessThanOrEqual(maxTotalChars)

        const before = formatOf(name).results(messages)
        const changed = [...formatOf(name).results(after)].filter(([id, text]) => before.get(id) !== text)
        expect(changed).toHaveLength(truncatedCount)
        for (const [, text] of changed) expect(text.isWellFormed()).toBe(true)
        expect(after).toHaveLength(messages.length)
        if (truncatedCount === 0) expect(after).toBe(messages)
        expect(formatOf(name).calls(after)).toEqual(formatOf(name).calls(messages))

        const again = truncateOversizedToolResultsInMessages(deepFreeze(after), window, options)
        expect(again.messages).toBe(after)
      }),
      { numRuns: RUNS },
    )
  })

  it('leaves something of every text that has room for a character', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 5000 }), profile, (text, maxChars, profile) => {
        fc.pre(text !== '')
        const messages = formatOf('pi').build([{ user: 'x', results: [text], answer: undefined }])
        const options = { profile, maxChars, maxTotalChars: false as const }
        const { messages: after } = truncateOversizedToolResultsInMessages(messages, 2_000_000, options)
        expect([...formatOf('pi').results(after).values()][0]).not.toBe('')
      }),
      { numRuns: RUNS },
    )
  })
})

describe('the results that a request shows, turn by turn', () => {
  it('is the same bytes again, keeps its bounds, and never grows', () => {
    const request = fc.record({ add: fc.array(turn, { maxLength: 2 }), window, again: fc.boolean() })
    fc.assert(
      fc.property(format, fc.array(request, { maxLength: 6 }), (name, requests) => {
        const { build, results } = formatOf(name)
        let turns: Turn[] = []
        let state: ProjectionState | undefined
        let shown = new Map<string, string>()
        for (const { add, window, again } of requests) {
          turns = [...turns, ...add]
          const messages = deepFreeze(build(turns))
          const options = { contextWindowTokens: window, ...(state && { state }) }
          const projected = projectToolResults(messages, options)
          const texts = results(projected.messages)
          for (const [id, text] of shown) {
            expect(weight(texts.get(id) as string, 'openclaw')).toBeLessThanOrEqual(weight(text, 'openclaw'))
          }
          const cap = calculateMaxToolResultChars(window, { profile: 'openclaw' })
          const lengths = weights(name, projected.messages, 'openclaw')
          for (const length of lengths) expect(length).toBeLessThanOrEqual(Math.min(cap, 32_000))
          expect(sum(lengths)).toBeLessThanOrEqual(Math.min(Math.max(window, cap), 256_000))
          expect(sum(lengths)).toBe(projected.report.charsAfter)

          state = JSON.parse(JSON.stringify(projected.state)) as ProjectionState
          shown = texts
          if (!again) continue
          const twice = projectToolResults(messages, { ...options, state })
          expect(results(twice.messages)).toEqual(texts)
          expect(twice.state).toEqual(state)
          expect(twice.report.rebaselined).toBe(false)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

describe('a recovery with any result of compaction', () => {
  const compaction = fc.constantFrom('halves', 'nothing', 'throws', 'parts a pair', 'garbage', 'grows')

  function compacted(how: string, messages: Message[]): unknown {
    if (how === 'throws') throw new Error('no summary')
    if (how === 'garbage') return 17
    if (how === 'grows') return [...messages, { role: 'user', content: 'x'.repeat(10_000) }]
    if (how === 'parts a pair') return messages.slice(0, -1)
    if (how === 'nothing') return undefined
    return messages.slice(messages.length)
  }

  it('ends within its attempts, with a history that fits and is whole, or says what it tried', async () => {
    const counts = { maxAttempts: fc.integer({ min: 0, max: 12 }), maxCompactions: fc.integer({ min: 0, max: 4 }) }
    const options = fc.record({
      ...counts,
      profile,
      contextWindowTokens: window,
      actualTokens: fc.option(fc.integer({ min: 0, max: 3_000_000 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(format, turns, options, fc.array(compaction), async (name, turns, options, compactions) => {
        const { actualTokens, ...rest } = options
        const messages = deepFreeze(formatOf(name).build(turns))
        let calls = 0
        const steps: string[] = []
        const all = {
          ...rest,
          messages,
          overflow: { overflow: true, kind: 'overflow', actualTokens },
          compact: (given: Message[]) => compacted(compactions[calls++] ?? 'nothing', given) as Message[],
          onStep: ({ step }: { step: string }) => void steps.push(step),
        }
        const plan = recoverFromOverflow.plan(all)
        expect(calls).toBe(0)
        let report: typeof plan
        let after: Message[] | undefined
        try {
          const recovered = await recoverFromOverflow(all)
          after = recovered.messages
          report = { ...recovered.report, outcome: 'retry' }
        } catch (error) {
          expect(error).toBeInstanceOf(SpillwayError)
          expect((error as SpillwayError).code).toBe('OVERFLOW')
          report = (error as SpillwayError).report as typeof plan
        }
        expect(report.steps.map(({ step }) => step)).toEqual(steps)
        expect(steps.length).toBeLessThanOrEqual(options.maxAttempts)
        expect(calls).toBeLessThanOrEqual(options.maxCompactions)
        expect(report.tokensAfter).toBeLessThanOrEqual(report.tokensBefore)
        // All messages before compaction are known by then.
        const local = plan.steps.map((step) => step.tokensAfter)
        expect(report.steps.map((step) => step.tokensAfter).slice(0, local.length)).toEqual(local)
        if (after === undefined) return
        if (rest.profile === 'openclaw') expect(report.tokensAfter).toBeLessThanOrEqual(report.targetTokens)
        const { results, calls: callsOf } = formatOf(name)
        expect(new Set(results(after).keys())).toEqual(new Set(callsOf(after)))
      }),
      { numRuns: RUNS },
    )
  })
})
