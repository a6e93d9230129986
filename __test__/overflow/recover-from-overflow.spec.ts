import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type OverflowReport,
  type RecoverOptions,
  recoverFromOverflow,
  SpillwayError,
  ToolResultLedger,
  TruncationStorage,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import {
  calculateMaxToolResultChars,
  GUARD_TRUNCATION_SUFFIX,
  HARD_MAX_TOOL_RESULT_CHARS,
  isContextFull,
  MAX_OVERFLOW_COMPACTION_ATTEMPTS,
  MAX_TOOL_RESULT_CONTEXT_SHARE,
  MIN_KEEP_CHARS,
  OVERFLOW_TRANSITIONS,
  type OverflowStep,
  projectToolResults,
  sessionLikelyHasOversizedToolResults,
  truncateOversizedToolResultsInMessages,
  usableTokens,
} from 'spillway/overflow'
import ts from 'typescript'
import { foldedText } from '../support/folded'
import { deepFreeze, formats, type Message } from '../support/histories'
import { tempDir } from '../support/temp'

const root = resolve(__dirname, '..', '..')
const pi = formats.pi as (typeof formats)[string]
const OVERFLOW = { overflow: true, kind: 'overflow' }

const history = (results: string[], answer?: string): Message[] =>
  deepFreeze(pi.build([{ user: 'go on', results, answer }]))
const turnsWith = (results: string[]): Message[] =>
  deepFreeze(pi.build(results.map((text) => ({ user: 'more', results: [text], answer: 'ok' }))))
const talk = (turns: number): Message[] =>
  deepFreeze(
    Array.from({ length: turns }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: 'word '.repeat(200) })),
  )
const resultsOf = (messages: Message[]) => [...pi.results(messages).values()]

async function failureOf(options: RecoverOptions<Message>): Promise<SpillwayError & { report: OverflowReport }> {
  const error = await recoverFromOverflow(options).then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(SpillwayError)
  return error
}

describe("the document's constants", () => {
  it('have their values', () => {
    expect(HARD_MAX_TOOL_RESULT_CHARS).toBe(400_000)
    expect(MIN_KEEP_CHARS).toBe(2_000)
    expect(MAX_TOOL_RESULT_CONTEXT_SHARE).toBe(0.3)
    expect(MAX_OVERFLOW_COMPACTION_ATTEMPTS).toBe(3)
    expect(GUARD_TRUNCATION_SUFFIX).toBe(
      '\n\n⚠️ [Content truncated during persistence — original exceeded size limit. ' +
        'Use offset/limit parameters or request specific sections for large content.]',
    )
    expect(calculateMaxToolResultChars(128_000)).toBe(153_600)
  })
})

describe('the tokens that the input may have', () => {
  test.each<[object, number | undefined, number | undefined]>([
    // The limit of an answer is unknown.
    [{ context: 100_000 }, undefined, 80_000],
    [{ context: 100_000 }, 50_000, 50_000],
    [{ context: 100_000 }, 0, 100_000],
    [{ context: 100_000, output: 0 }, 16_384, 83_616],
    // An answer that is longer than what is reserved needs its room all the same.
    [{ context: 100_000, output: 32_000 }, undefined, 68_000],
    [{ context: 100_000, output: 32_000 }, 10_000, 68_000],
    [{ context: 100_000, output: 32_000 }, 50_000, 50_000],
    [{ context: 100_000, output: 4_000 }, undefined, 96_000],
    [{ context: 400_000, output: 128_000, input: 272_000 }, undefined, 252_000],
    [{ context: 400_000, output: 128_000, input: 272_000 }, 50_000, 222_000],
    // The default leaves something of a small window.
    [{ context: 8_000 }, undefined, 6_400],
    [{ context: 8_000 }, 8_000, undefined],
    [{ context: 0 }, 5, undefined],
  ])('%j with %j reserved: %j', (model, reserved, usable) => {
    expect(usableTokens(model as never, reserved)).toBe(usable)
    const full = (total: number) =>
      isContextFull({
        model: model as never,
        usage: { total },
        ...(reserved !== undefined && { reservedTokens: reserved }),
      })
    expect(full((usable ?? 1e9) + 1)).toBe(usable !== undefined)
    expect(full((usable ?? 1e9) - 1)).toBe(false)
  })
})

describe('arguments that are not allowed', () => {
  const messages = history(['a'])
  const recover = (options: object) => recoverFromOverflow({ messages, contextWindowTokens: 1000, ...options })
  const bad: [string, () => unknown, string][] = [
    [
      'no array',
      () => truncateOversizedToolResultsInMessages('x' as never, 1),
      'Invalid option "messages": expected an array, received a string',
    ],
    ['a window below 0', () => calculateMaxToolResultChars(-1), 'Invalid option "contextWindowTokens": expected'],
    [
      'a window as text',
      () => calculateMaxToolResultChars('1' as never),
      'Invalid option "contextWindowTokens": expected',
    ],
    [
      'a misspelt option',
      () => truncateOversizedToolResultsInMessages([], 1, { maxChar: 5 } as never),
      'did you mean maxChars?',
    ],
    [
      'another profile',
      () => truncateOversizedToolResultsInMessages([], 1, { profile: 'snow' as never }),
      "one of 'openclaw', 'openclaw-2026-02'",
    ],
    [
      'no parameters',
      () => sessionLikelyHasOversizedToolResults(undefined as never),
      'Invalid option "params": expected',
    ],
    [
      'a state of another kind',
      () => projectToolResults([], { contextWindowTokens: 1, state: { version: 2 } as never }),
      'Invalid option "state.version": expected',
    ],
    [
      'a model without numbers',
      () => usableTokens({ context: 'x' as never }),
      'Invalid option "model.context": expected',
    ],
    ['a model without a context', () => usableTokens({} as never), 'Invalid option "model.context": expected'],
    [
      'reserved tokens that are no number',
      () => usableTokens({ context: 1 }, 'x' as never),
      'Invalid option "reservedTokens": expected',
    ],
    [
      'usage below 0',
      () => isContextFull({ model: { context: 1 }, usage: { total: -1 } }),
      'Invalid option "usage.total": expected',
    ],
    [
      'a plan for no array',
      () => recoverFromOverflow.plan({ messages: 1 as never, contextWindowTokens: 1 }),
      'Invalid option "messages": expected',
    ],
  ]
  test.each(bad)('%s', (_, work, message) => {
    let thrown: unknown
    try {
      work()
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(SpillwayError)
    expect(thrown).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) })
  })

  const rejected: [string, object, string][] = [
    ['an unknown window', { contextWindowTokens: Number.NaN }, 'Invalid option "contextWindowTokens": expected'],
    [
      'an error of another kind',
      { overflow: { overflow: false, kind: 'rate' } },
      'expected an overflow, received an error of kind rate',
    ],
    ['half an attempt', { maxAttempts: 1.5 }, 'Invalid option "maxAttempts": expected'],
    ['a callback that is none', { compact: {} }, 'Invalid option "compact": expected a function, received an object'],
    ['a state that is none', { state: { attempts: -1 } }, 'Invalid option "state.attempts": expected'],
  ]
  test.each(rejected)('%s', async (_, options, message) => {
    await expect(recover(options)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    })
  })
})

/** For histories that are made of one word: four characters to a token. */
const quarter = (text: string) => text.length / 4

describe('a recovery', () => {
  it('gives back what fits already', async () => {
    const messages = history(['short'])
    const { messages: after, report } = await recoverFromOverflow({ messages, contextWindowTokens: 10_000 })
    expect(after).toBe(messages)
    expect(report).toMatchObject({ steps: [], targetTokens: 8000, state: { attempts: 0 }, resume: 'transcript' })
  })

  it('takes the window from the error if it is unknown, or if it is less', async () => {
    const messages = history(['x'.repeat(100_000)])
    for (const contextWindowTokens of [Number.NaN, 1_000_000]) {
      const overflow = { ...OVERFLOW, actualTokens: 30_000, limitTokens: 20_000 }
      const { report } = await recoverFromOverflow({ messages, contextWindowTokens, overflow })
      expect(report).toMatchObject({ contextWindowTokens: 20_000, tokensBefore: 30_000 })
    }
  })

  it('shortens single results first, and touches nothing else', async () => {
    const messages = history(['x'.repeat(500_000), 'short'])
    const { messages: after, report } = await recoverFromOverflow({
      messages,
      contextWindowTokens: 128_000,
      overflow: { ...OVERFLOW, actualTokens: 140_000 },
    })
    expect(report.steps).toMatchObject([{ step: 'oversized', event: 'fits', tokensBefore: 140_000, results: 1 }])
    expect(resultsOf(after)[0]).toHaveLength(32_000)
    expect(resultsOf(after)[0]).toMatch(
      /x\n\n\[\.\.\. \d+ more characters truncated; rerun with narrower args if needed\]$/,
    )
    expect(after.filter((message, at) => message !== messages[at])).toHaveLength(1)
  })

  it('holds many medium results to what fits, the newest first', async () => {
    const turns = Array.from({ length: 40 }, (_, n) => ({
      user: 'more',
      results: [`${n} `.repeat(5_000)],
      answer: 'ok',
    }))
    const messages = deepFreeze(
      pi.build([...turns, { user: 'last', results: ['the newest '.repeat(500)], answer: undefined }]),
    )
    const { messages: after, report } = await recoverFromOverflow({
      messages,
      contextWindowTokens: 100_000,
      overflow: OVERFLOW,
      estimateTokens: quarter,
    })
    expect(report.steps.map(({ step, event }) => [step, event])).toEqual([
      ['oversized', 'nothing'],
      ['aggregate', 'fits'],
    ])
    expect(resultsOf(after).at(-1)).toBe(resultsOf(messages).at(-1))
    expect(report.tokensAfter).toBeLessThanOrEqual(report.targetTokens)
  })

  it.each([
    ['digits', (n: number) => `${n}`.padStart(9, '0')],
    ['words', (n: number) => `word${n % 7} and another`],
  ])('leaves as much of old results as fits, by what they are made of: %s', async (_, line) => {
    const text = Array.from({ length: 5_000 }, (_, n) => line(n)).join('\n')
    const messages = history(Array<string>(6).fill(text), 'read')
    const { messages: after, report } = await recoverFromOverflow({ messages, contextWindowTokens: 20_000 })
    expect(report.steps.map(({ step, event }) => [step, event])).toEqual([
      ['oversized', 'smaller'],
      ['aggregate', 'fits'],
    ])
    expect(report.tokensAfter).toBeGreaterThan(report.targetTokens / 2)
    for (const left of resultsOf(after)) {
      const [, removed = ''] = /(\d+) more characters truncated[^\]]*\]$/.exec(left) ?? []
      const shown = left.slice(0, left.lastIndexOf('\n\n['))
      expect(text.startsWith(shown) && shown !== '').toBe(true)
      // Cut twice, and told once.
      expect(shown.length + Number(removed)).toBe(text.length)
    }
  })

  const repeated = (line: (n: number) => string) => Array.from({ length: 5_000 }, (_, n) => line(n)).join('\n')
  const digits = repeated((n) => `${n}`.padStart(9, '0'))
  it.each([
    ['long words', repeated((n) => `${'internationalization '.repeat(3)}${n % 7}`), []],
    ['lines, and digits at the end', repeated((n) => `${'-'.repeat(60)} ${n % 7}`), [digits]],
  ])('keeps as much as fits of texts of more than four characters a token: %s', async (_, text, newest) => {
    const messages = history([...Array<string>(30).fill(text), ...newest], 'read')
    const { report } = await recoverFromOverflow({ messages, contextWindowTokens: 8_000 })
    expect(report.steps.at(-1)).toMatchObject({ step: 'aggregate', event: 'fits' })
    expect(report.tokensAfter).toBeGreaterThan(report.targetTokens / 3)
  })

  it('leaves a line of each old result where nothing more fits', async () => {
    const messages = deepFreeze([...history(Array<string>(6).fill('x'.repeat(9_000)), 'read'), ...talk(24)])
    const estimateTokens = (text: string) => text.length / 4
    const contextWindowTokens = 8_000
    const { messages: after } = await recoverFromOverflow({ messages, contextWindowTokens, estimateTokens })
    for (const left of resultsOf(after)) expect(left).toMatch(/elided/)
  })

  it('names the saved file of what it cut, if the model has seen the path', async () => {
    const storage = new TruncationStorage(tempDir())
    const path = await storage.save('everything', { toolName: 'bash' })
    const text = `Full output saved to: ${path}\n\n${'x'.repeat(500_000)}`
    for (const [more, named] of [
      [{ storage }, true],
      [{}, true],
      [{ outputExists: () => false }, false],
      // A tool can print the path of any file.
      [{ storage: new TruncationStorage(tempDir()) }, false],
    ] as const) {
      const { messages } = await recoverFromOverflow({
        messages: history([text]),
        contextWindowTokens: 128_000,
        overflow: OVERFLOW,
        ...more,
      })
      expect(resultsOf(messages)[0]?.endsWith(`truncated; full output: ${path}]`)).toBe(named)
    }
  })

  it.each([7_000, 5_000, 4_000])('keeps the path of each saved output in a window of %d tokens', async (window) => {
    const storage = new TruncationStorage(tempDir())
    const texts = Array.from({ length: 30 }, async (_, at) => {
      const path = await storage.save('everything', { toolName: 'bash' })
      return `Full output saved to: ${path}\n\n${`run ${at} warning 7919 in file_${at}.ts\n`.repeat(1000)}`
    })
    const messages = turnsWith(await Promise.all(texts))
    const { messages: after, report } = await recoverFromOverflow({ messages, contextWindowTokens: window, storage })
    expect(report.tokensAfter).toBeGreaterThan(report.targetTokens / 2)
    for (const left of resultsOf(after)) expect(left).toContain('bash_')
  })

  it('shortens results that point to one that is too long as it shortens those that do not', async () => {
    const text = Array.from({ length: 2200 }, (_, at) => `export const value${at} = compute(${at})`).join('\n')
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const texts = pi
      .calls(turnsWith(Array(6).fill('')))
      .map((toolCallId) => foldedText(text, { toolName: 'read', toolCallId, args: { path: 'a.ts' } }, { fold, ledger }))
    expect(texts.at(-1)?.length).toBeLessThan(2000)
    const { report } = await recoverFromOverflow({ messages: turnsWith(texts), contextWindowTokens: 20_000, ledger })
    expect(report.steps.map(({ step, event }) => [step, event])).toEqual([
      ['oversized', 'nothing'],
      ['aggregate', 'fits'],
    ])
    expect(report.tokensAfter).toBeGreaterThan(report.targetTokens / 2)
  })

  it('asks for compaction when results are not the cause, and only as often as it brings something', async () => {
    const messages = talk(600)
    const asked: unknown[] = []
    const { messages: after, report } = await recoverFromOverflow({
      messages,
      contextWindowTokens: 64_000,
      compact(given, info) {
        asked.push([given.length, info.attempt])
        return { messages: given.slice(-given.length / 2) }
      },
    })
    expect(asked).toEqual([
      [600, 1],
      [300, 2],
    ])
    expect(after).toHaveLength(150)
    expect(report.state).toEqual({ attempts: 5, compactions: 2, truncated: false })

    const error = await failureOf({
      messages,
      contextWindowTokens: 64_000,
      compact: () => {
        throw new Error('the summary has a fault')
      },
    })
    expect(error.message).toContain('compaction: the summary has a fault')
    expect((error.cause as Error).message).toBe('the summary has a fault')
    expect(error.report.state.compactions).toBe(1)
  })

  it('says what was tried, and the sizes', async () => {
    const error = await failureOf({ messages: talk(600), contextWindowTokens: 64_000 })
    expect(error.code).toBe('OVERFLOW')
    expect(error.message).toBe(
      `the history has about ${error.report.tokensAfter} tokens (${error.report.tokensBefore} at first) and may have 59904 of a ` +
        'window of 64000. Tried: oversized: no result is too long; aggregate: the results are within their budget; nothing could ' +
        'be compacted, because no compact was given. Start a new session, or use a model with a larger context window.',
    )
  })

  it.each<[string, Partial<RecoverOptions<Message>>, string]>([
    [
      'a compaction overflowed',
      { duringCompaction: true },
      'nothing was compacted, because the request was a compaction',
    ],
    [
      'there were enough',
      { state: { attempts: 2, compactions: 3, truncated: false } },
      'all 3 compactions are used up',
    ],
    ['none may be made', { maxCompactions: 0 }, 'nothing was compacted, because maxCompactions is 0'],
  ])('says why nothing was compacted if %s', async (_what, more, reason) => {
    const compact = () => []
    const { message } = await failureOf({ messages: talk(600), contextWindowTokens: 64_000, compact, ...more })
    expect(message).toContain(`aggregate: the results are within their budget; ${reason}`)
  })

  it('throws away what would part a call from its result', async () => {
    const messages = deepFreeze([...talk(600), ...history(['a result'])])
    const error = await failureOf({ messages, contextWindowTokens: 64_000, compact: (given) => given.slice(-1) })
    expect(error.report.steps).toContainEqual(expect.objectContaining({ step: 'compaction', event: 'refused' }))
  })

  it('throws away a compaction that leaves nothing', async () => {
    const messages = deepFreeze(talk(600))
    const error = await failureOf({ messages, contextWindowTokens: 64_000, compact: () => [] })
    expect(error.report.steps).toContainEqual(
      expect.objectContaining({ step: 'compaction', event: 'refused', reason: 'no message would be left' }),
    )
  })

  it('throws away what saves too little', async () => {
    const messages = deepFreeze([...talk(600), ...history(['x'.repeat(33_000)])])
    const options = {
      messages,
      contextWindowTokens: 128_000,
      minProgressTokens: 1000,
      compact: () => talk(2) as Message[],
    }
    const { report } = await recoverFromOverflow({ ...options, contextWindowTokens: 100_000 })
    expect(report.steps[0]).toMatchObject({
      step: 'oversized',
      event: 'nothing',
      reason: expect.stringMatching(/^it saves \d+ tokens/),
    })
  })

  it('leaves a fresh result readable when nothing else is left', async () => {
    const messages = deepFreeze([...talk(19), ...history(['the answer '.repeat(2_000)])])
    const { messages: after, report } = await recoverFromOverflow({
      messages,
      contextWindowTokens: 7_000,
      estimateTokens: quarter,
    })
    expect(report.steps.at(-1)).toMatchObject({ step: 'aggregate', event: 'fits' })
    expect(resultsOf(after)[0]?.length).toBeGreaterThan(1_900)
    // With less room than that, an error is better than a model that cannot read what it asked for.
    const error = await failureOf({ messages, contextWindowTokens: 5_000, estimateTokens: quarter })
    expect(error.report.steps.at(-1)).toMatchObject({ step: 'aggregate' })
  })

  it('does not take the remains of a failed request for an answer', async () => {
    const failed = {
      role: 'assistant',
      content: [],
      stopReason: 'error',
      errorMessage: 'prompt is too long',
      timestamp: 9,
    }
    const options = { contextWindowTokens: 7_000, estimateTokens: quarter }
    const messages = [...talk(19), ...history(['the answer '.repeat(2_000)])]
    const without = await recoverFromOverflow({ ...options, messages })
    const withIt = await recoverFromOverflow({ ...options, messages: deepFreeze([...messages, failed]) })
    expect(resultsOf(withIt.messages)[0]?.length).toBeGreaterThan(1_900)
    expect([withIt.report.resume, without.report.resume]).toEqual(['transcript', 'transcript'])
    const asked = [...talk(2), { role: 'user', content: 'and now?' }, failed]
    expect((await recoverFromOverflow({ ...options, messages: asked })).report.resume).toBe('prompt')
    expect((await recoverFromOverflow({ ...options, messages: talk(2) })).report.resume).toBe('ended')
  })

  it('believes the estimate of the caller, and no nonsense', async () => {
    const messages = history(['the answer '.repeat(1_000)])
    const exact = await recoverFromOverflow({
      messages,
      contextWindowTokens: 8_000,
      estimateTokens: (text) => text.length / 10,
    })
    expect(exact.messages).toBe(messages)
    const nonsense = await recoverFromOverflow({
      messages,
      contextWindowTokens: 2_000,
      estimateTokens: () => Number.NaN,
    })
    expect(nonsense.report.steps).not.toEqual([])
  })

  it('does not believe a provider that it would have fitted, and ends', async () => {
    const overflow = { ...OVERFLOW, actualTokens: 900, limitTokens: 20_000 }
    let messages: Message[] = history(['x'.repeat(1000)], 'read')
    let state: RecoverOptions<Message>['state']
    let rounds = 0
    const again = async () => {
      for (; rounds < 50; rounds++) {
        const options = { messages, contextWindowTokens: 20_000, overflow, ...(state && { state }) }
        const recovered = await recoverFromOverflow(options)
        messages = recovered.messages
        state = recovered.report.state
        expect(recovered.report.tokensBefore).toBeGreaterThan(20_000)
      }
    }
    await expect(again()).rejects.toMatchObject({ code: 'OVERFLOW' })
    expect(rounds).toBeLessThan(16)
  })

  it('tells of each step, and a listener that throws changes nothing', async () => {
    const warnings: string[] = []
    const warned = jest
      .spyOn(process, 'emitWarning')
      .mockImplementation((warning) => void warnings.push(String(warning)))
    const steps: OverflowStep[] = []
    const { report } = await recoverFromOverflow({
      messages: history(['x'.repeat(500_000)]),
      contextWindowTokens: 128_000,
      overflow: OVERFLOW,
      onStep(step) {
        steps.push(step)
        throw new Error('no ears')
      },
    })
    warned.mockRestore()
    expect(steps).toEqual(report.steps)
    expect(warnings).toEqual(['onStep: no ears'])
  })

  it('ends at once when it is aborted, although compaction hangs and clocks are faked', async () => {
    jest.useFakeTimers()
    try {
      const controller = new AbortController()
      const pending = recoverFromOverflow({
        messages: talk(600),
        contextWindowTokens: 64_000,
        signal: controller.signal,
        compact: () => {
          controller.abort(new Error('the user went away'))
          return new Promise<undefined>(() => {})
        },
      })
      await expect(pending).rejects.toMatchObject({ code: 'ABORTED', cause: { message: 'the user went away' } })
      await expect(
        recoverFromOverflow({ messages: [], contextWindowTokens: 1, signal: controller.signal }),
      ).rejects.toMatchObject({
        code: 'ABORTED',
      })
    } finally {
      jest.useRealTimers()
    }
  })

  it('ends although every retry overflows again, in either order', async () => {
    for (const profile of ['openclaw', 'openclaw-2026-02'] as const) {
      let messages: Message[] = deepFreeze([...talk(300), ...history(['x'.repeat(2_000_000)])])
      let state: OverflowReport['state'] | undefined
      let recoveries = 0
      let failure: unknown
      while (failure === undefined && recoveries < 100) {
        try {
          const recovered = await recoverFromOverflow({
            messages,
            contextWindowTokens: 128_000,
            overflow: OVERFLOW,
            profile,
            compact: (given) => given.slice(Math.ceil(given.length / 20)),
            ...(state && { state }),
          })
          messages = recovered.messages
          state = recovered.report.state
          recoveries++
        } catch (error) {
          failure = error
        }
      }
      expect(failure).toMatchObject({ code: 'OVERFLOW' })
      expect(recoveries).toBeGreaterThan(1)
      expect((failure as { report: OverflowReport }).report.state.attempts).toBeLessThanOrEqual(16)
    }
  })
})

describe('a plan', () => {
  it('shows the steps and sizes, and does nothing', async () => {
    const messages = history(['x'.repeat(500_000)])
    const compact = jest.fn()
    const onStep = jest.fn()
    const options = { messages, contextWindowTokens: 128_000, overflow: OVERFLOW, compact, onStep }
    const plan = recoverFromOverflow.plan(options)
    expect(plan).toMatchObject({
      outcome: 'retry',
      steps: [{ step: 'oversized', event: 'fits' }],
      state: { attempts: 0 },
    })
    expect(onStep).not.toHaveBeenCalled()
    const { report } = await recoverFromOverflow(options)
    expect(plan.steps).toEqual(report.steps)
    expect(recoverFromOverflow.plan({ ...options, messages: talk(2000) }).outcome).toBe('compaction')
    expect(recoverFromOverflow.plan({ messages: talk(2000), contextWindowTokens: 128_000 }).outcome).toBe('failed')
    expect(compact).not.toHaveBeenCalled()
  })
})

describe('the page about overflows', () => {
  const page = readFileSync(join(root, 'docs/overflow.md'), 'utf8')

  it('has every transition and no other', () => {
    const rows = page
      .split('\n')
      .filter((line) => /^\| (cheapest|compaction)-first \|/.test(line.replaceAll(/ +/g, ' ')))
    const cells = rows.map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
    const expected = OVERFLOW_TRANSITIONS.map(({ order, from, on, when, to, why, resetsCompactions }) => [
      order,
      from,
      on.join(', '),
      when,
      to,
      `${why}${resetsCompactions ? ' (resets the count)' : ''}`,
    ])
    expect(cells).toEqual(expected)
    expect(Object.isFrozen(OVERFLOW_TRANSITIONS[0])).toBe(true)
  })

  it('has an example that works', () => {
    const source = /```ts\n([\s\S]*?)```/.exec(page)?.[1] as string
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    const code = ts.transpileModule(source, { compilerOptions }).outputText
    const file = join(tempDir(), 'example.mjs')
    const use = `
      const history = [
        { role: 'user', content: 'go on' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'bash', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: 'x'.repeat(900000) },
      ]
      const provider = async (messages) => {
        if (JSON.stringify(messages).length < 400000) return 'fine'
        throw new Error('prompt is too long: 200000 tokens > 128000 maximum')
      }
      const { messages, answer } = await send(history, 128000, provider)
      console.log(answer, messages[2].content.length)`
    writeFileSync(
      file,
      code.replace(/['"]spillway['"]/, JSON.stringify(pathToFileURL(join(root, 'index.mjs')).href)) + use,
    )
    expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('fine 32000\n')
  })
})

describe('a state of a projection that was not kept as it was', () => {
  const messages = history(['a'.repeat(300_000)])
  const options = { contextWindowTokens: 100_000 }
  const { state, messages: shown } = projectToolResults(messages, options)
  const [[key, sent]] = Object.entries(state.sent) as [[string, (typeof state.sent)[string]]]

  it.each([
    ['a cut of less than nothing', [{ head: -5, tail: 1, middle: '', suffix: '' }]],
    ['a cut that leaves more than there is', [{ head: 1e9, tail: 1e9, middle: '', suffix: '' }]],
    ['no cut of a text that is too long', [null]],
    ['no cuts', []],
    ['a suffix of its own', [{ head: 1, tail: 0, middle: '', suffix: 'b'.repeat(300_000) }]],
  ])('sends nothing that is too long: %s', (_, cuts) => {
    const broken = { version: 1, sent: { [key]: { ...sent, cuts } } } as const
    expect(projectToolResults(messages, { ...options, state: broken }).messages).toEqual(shown)
    const line = { ...sent, cuts: undefined, line: 'b'.repeat(300_000) }
    expect(projectToolResults(messages, { ...options, state: { version: 1, sent: { [key]: line } } }).messages).toEqual(
      shown,
    )
  })
})
