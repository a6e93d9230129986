import fc from 'fast-check'
import { DoomLoopDetector, type DoomLoopOptions, type DoomLoopVerdict } from 'spillway'
import { folded, inWords } from '../conformance/actions/doom-loop'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 50)

/** A run with one call after the other. */
function agent(options: DoomLoopOptions = {}) {
  const detector = new DoomLoopDetector(options)
  let number = 0
  return {
    detector,
    call(tool: string, args: unknown, result?: unknown, isError?: boolean): DoomLoopVerdict {
      number += 1
      const toolCallId = `call_${number}`
      const verdict = detector.check({ toolCallId, tool, args })
      if (verdict.action === 'allow' && result !== undefined) detector.record({ toolCallId, result, isError })
      return verdict
    },
    again(times: number, tool: string, args: unknown, result?: unknown): string[] {
      return folded(Array.from({ length: times }, () => inWords(this.call(tool, args, result))))
    },
  }
}

describe('a call that is repeated', () => {
  test('is asked about the fifth time, with a sentence for the user', () => {
    const run = agent()
    expect(run.again(4, 'read', { path: 'a' })).toEqual(['allow*2', 'warn same_tool*2'])
    expect(run.call('read', { path: 'a' })).toEqual({
      action: 'ask',
      reason: 'same_tool',
      count: 5,
      toolCallId: 'call_5',
      message: 'read was called 5 times with the same arguments and nothing changed.',
      language: 'en',
    })
    expect(run.detector.pending()).toEqual(['call_5'])
  })

  test('starts again after another call', () => {
    const run = agent()
    expect(run.again(4, 'read', 1).at(-1)).toBe('warn same_tool*2')
    expect(run.call('read', 2)).toEqual({ action: 'allow' })
    expect(run.again(4, 'read', 1)).toEqual(['allow*2', 'warn same_tool*2'])
  })

  test('is the same call with any order of its keys, and as a text', () => {
    const run = agent()
    const forms = [{ a: 1, b: [2] }, { b: [2], a: 1 }, '{"b":[2],"a":1}', '{ "a": 1.0, "b": [2] }', { a: 1, b: [2] }]
    expect(forms.map((args) => run.call('t', args).action)).toEqual(['allow', 'allow', 'allow', 'allow', 'ask'])
  })

  describe('after its result left the context', () => {
    /** Repeats a few calls, and forgets the result of each at once. */
    const forgetting = (calls: [tool: string, args: object, isError?: boolean][], rounds: number, forgets: boolean) => {
      const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
      const seen: string[] = []
      for (let round = 0, number = 0; round < rounds; round++) {
        for (const [tool, args, isError = false] of calls) {
          number++
          seen.push(inWords(run.call(tool, args, isError ? 'Error: no such file' : 'the same text', isError)))
          if (forgets) run.detector.forget([`call_${number}`])
        }
      }
      return { seen, detector: run.detector }
    }
    const read: [string, object] = ['read', { path: 'a' }]
    const search: [string, object] = ['grep', { pattern: 'b' }]

    test.each<[string, [string, object, boolean?][], number]>([
      ['one read', [read], 30],
      ['two reads in turn', [read, search], 20],
      ['a command that only looks', [['bash', { command: 'cat a.txt' }]], 30],
    ])('%s is no loop', (_, calls, rounds) => {
      expect(new Set(forgetting(calls, rounds, true).seen)).toEqual(new Set(['allow']))
      expect(new Set(forgetting(calls, rounds, false).seen).size).toBeGreaterThan(1)
    })

    test.each<[string, [string, object, boolean?][]]>([
      ['a call that changes something', [['write', { path: 'a', content: 'b' }]]],
      ['a call that failed', [['read', { path: 'gone' }, true]]],
    ])('%s stays counted', (_, calls) => {
      expect(forgetting(calls, 12, true).seen).toEqual(forgetting(calls, 12, false).seen)
    })

    test('another detector continues with what was forgotten', () => {
      const run = agent()
      expect(run.again(4, 'read', 1, 'text')).toEqual(['allow*2', 'warn same_tool*2'])
      run.detector.forget(['call_4', 'of nobody'])
      const resumed = DoomLoopDetector.fromJSON(JSON.stringify(run.detector))
      expect(resumed.check({ toolCallId: 'call_5', tool: 'read', args: 1 })).toEqual({ action: 'allow' })
    })

    test.each<[string, unknown]>([
      ['toolCallIds', 'call_1'],
      ['toolCallIds[1]', ['call_1', 7]],
    ])('%s is checked', (name, ids) => {
      expect(() => new DoomLoopDetector().forget(ids as string[])).toThrow(`"${name}"`)
    })
  })

  test('is no loop while its results change, for however long', () => {
    const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
    for (let i = 0; i < 500; i++) expect(run.call('status', { id: 1 }, `${i} of 500 done`)).toEqual({ action: 'allow' })
  })

  test('is no loop when something was changed in between', () => {
    const run = agent()
    for (let i = 0; i < 10; i++) {
      expect(run.call('bash', { command: 'npm test' }, '1 failed', true).action).toBe('allow')
      expect(run.call('edit', { path: 'a.ts', text: `try ${i}` }, 'edited').action).toBe('allow')
    }
  })

  test('is no loop while another call shows progress', () => {
    const run = agent()
    for (let i = 0; i < 14; i++) {
      expect(run.call('list', {}, 'a b c').action).toBe('allow')
      expect(run.call('read', { path: 'log' }, `line ${i}`).action).toBe('allow')
    }
  })

  test('known by its results, is noticed even if the next call varies', () => {
    const run = agent()
    expect(run.again(4, 'submit', 'flag{x}', 'Wrong flag!')).toEqual(['allow*2', 'warn same_tool*2'])
    expect(run.call('submit', "'flag{x}'")).toMatchObject({ action: 'ask', reason: 'same_tool', count: 4 })
  })

  test('side by side in one turn says nothing', () => {
    const run = agent()
    run.call('read', 'something', 'else')
    const ids = Array.from({ length: 8 }, (_, i) => `side_${i}`)
    const verdicts = ids.map((toolCallId) =>
      run.detector.check({ toolCallId, tool: 'bash', args: { command: "printf ''" } }),
    )
    expect(verdicts).toEqual(ids.map(() => ({ action: 'allow' })))
    const named = agent()
    for (let i = 0; i < 8; i++) {
      const check = { toolCallId: `${i}`, tool: 'bash', args: 'true', turn: 7 }
      expect(named.detector.check(check).action).toBe('allow')
      named.detector.record({ toolCallId: `${i}`, result: '' })
    }
  })

  test('is noticed although the host stops recording', () => {
    const run = agent()
    run.call('read', 1, 'text')
    expect(run.again(40, 'read', 2).join()).toContain('ask same_tool')
  })

  test('fields that the caller calls volatile do not tell calls apart', () => {
    const counted = (volatileFields: DoomLoopOptions['volatileFields']) => {
      const run = agent({ volatileFields })
      return Array.from({ length: 5 }, (_, i) => run.call('http', { url: 'x', nonce: i }, { body: 'y', at: i }).action)
    }
    expect(counted(['nonce', 'at']).at(-1)).toBe('ask')
    expect(counted({ http: ['nonce'], '*': ['at'] }).at(-1)).toBe('ask')
    expect(counted({ other: ['nonce', 'at'] }).at(-1)).toBe('allow')
    expect(counted(['nonce']).at(-1)).toBe('allow')
  })

  test('a tool can say itself what tells its calls apart', () => {
    const options: DoomLoopOptions = {
      identity: ({ tool, args }) => (tool === 'open' ? (args as { path: string }).path : undefined),
    }
    const run = agent(options)
    for (let i = 0; i < 4; i++) expect(run.call('open', { path: 'a', attempt: i }).action).toBe('allow')
    expect(run.call('open', { path: 'a', attempt: 5 }).action).toBe('ask')
    const throwing = agent({
      identity: () => {
        throw new Error('no')
      },
    })
    expect(throwing.again(5, 'open', 1).at(-1)).toBe('ask same_tool')
  })

  test('how long a run of tests took does not tell two apart, nor what the model says about the command', () => {
    const run = agent()
    const output = (time: number) =>
      `✕ adds (${time} ms)\nTests: 1 failed, 3 passed\nTime:        1.${time} s, estimated 2 s`
    const said = Array.from({ length: 5 }, (_, i) =>
      inWords(run.call('bash', { command: 'npx jest', description: `Try ${i}` }, output(i + 1))),
    )
    expect(folded(said)).toEqual(['allow*2', 'warn same_tool*2', 'ask same_tool'])
    const other = agent()
    for (let i = 0; i < 40; i++) {
      expect(other.call('bash', { command: 'make wait' }, `still running (${i}s)`)).toEqual({ action: 'allow' })
    }
  })

  test('may return the same for long if it looks at something after a wait', () => {
    const run = agent()
    for (let i = 0; i < 9; i++) {
      expect(run.call('bash', { command: 'sleep 30' }, '').action).toBe('allow')
      expect(run.call('bash', { command: 'gh run view 7' }, 'in progress').action).toBe('allow')
    }
  })

  test('a tool that waits is asked about much later', () => {
    const run = agent({ pollTools: ['watch_ci'] })
    expect(run.again(20, 'watch_ci', {}, 'pending').at(-1)).toBe('ask same_tool')
    expect(run.detector.pending()).toEqual(['call_20'])
  })
})

describe('other loops', () => {
  test.each([2, 3, 4, 5])('a cycle of %i calls is asked about with its third round', (period) => {
    const run = agent()
    const verdicts = Array.from({ length: 3 * period }, (_, i) => run.call('step', i % period).action)
    expect(verdicts.filter((action) => action === 'ask')).toHaveLength(1)
    expect(verdicts.at(-1)).toBe('ask')
  })

  test('the same error in four turns, after any calls', () => {
    const run = agent()
    for (let i = 0; i < 4; i++) {
      expect(run.call(i % 2 ? 'grep' : 'glob', { i }, 'spawn /opt/tool ENOENT: no such file', true).action).toBe(
        'allow',
      )
    }
    expect(run.call('ls', {})).toMatchObject({ action: 'ask', reason: 'same_error', count: 4 })
  })

  test('an error that says nothing, and errors of one turn, are none', () => {
    const run = agent()
    for (let i = 0; i < 10; i++) expect(run.call('grep', { i }, 'exit code 1', true).action).toBe('allow')
    for (let i = 0; i < 9; i++)
      expect(run.detector.check({ toolCallId: `s${i}`, tool: 'edit', args: i }).action).toBe('allow')
    for (let i = 0; i < 9; i++)
      run.detector.record({
        toolCallId: `s${i}`,
        result: 'a sibling call failed, so this one did not run',
        isError: true,
      })
    expect(run.call('read', 1).action).toBe('allow')
  })

  test('answers without a call to the same reminder', () => {
    const { detector } = agent()
    const verdicts: string[] = []
    for (let i = 0; i < 4; i++) {
      verdicts.push(inWords(detector.observe({ role: 'user', text: 'You did not call a tool.' })))
      verdicts.push(inWords(detector.observe({ role: 'assistant', text: i % 2 ? '' : `I am done (${i}).` })))
    }
    expect(folded(verdicts)).toEqual(['allow*6', 'ask no_tool_call', 'allow'])
    expect(detector.pending()).toEqual(['exchange-1'])
    expect(detector.approve('exchange-1', 'once')).toBe(true)
    expect(detector.observe({ role: 'user', text: 'You did not call a tool.' }).action).toBe('allow')
  })

  test('a person who says the same and is obeyed is none', () => {
    const run = agent()
    for (let i = 0; i < 8; i++) {
      expect(run.detector.observe({ role: 'user', text: 'commit and continue' }).action).toBe('allow')
      run.call('bash', { command: `git commit -m ${i}` }, `[main ${i}]`)
      expect(run.detector.observe({ role: 'assistant', text: 'Done.' }).action).toBe('allow')
    }
  })
})

describe('a passage that one answer repeats', () => {
  const paragraph = 'Let me read the file once more, because the test still fails and I do not know why.\n\n'
  const said = (text: string, options: DoomLoopOptions = {}) =>
    new DoomLoopDetector(options).observe({ role: 'assistant', text })
  const rows = (row: (n: number) => string, times = 200) => Array.from({ length: times }, (_, n) => row(n)).join('\n')

  test.each<[string, string]>([
    ['a paragraph two hundred times', paragraph.repeat(200)],
    ['after something else', `${rows((n) => `Step ${n}: ${'ab'.repeat(n % 23)}`, 50)}\n\n${paragraph.repeat(20)}`],
    ['a sentence without line feeds', 'I will try again now. '.repeat(60)],
    ['with another number each time', rows((n) => `Attempt (${n}): I will run the tests again.`, 60)],
    ['with a list in it', `${paragraph}- one\n- two\n\n`.repeat(40)],
    ['Chinese', '我再看一下这个文件，因为测试仍然失败，原因不明。'.repeat(40)],
    ['words', 'no no '.repeat(200)],
  ])('%s', (_title, text) => {
    const verdict = said(text)
    expect(verdict).toMatchObject({ action: 'ask', reason: 'repeated_text', toolCallId: 'exchange-1' })
    expect(verdict.count).toBeGreaterThanOrEqual(10)
    expect(said(text, { headless: true }).action).toBe('stop')
    expect(said(text, { sameAnswerThreshold: Number.POSITIVE_INFINITY }).action).toBe('allow')
  })

  test.each<[string, string]>([
    ['a paragraph five times', paragraph.repeat(5)],
    ['a table', rows((n) => `| ${n} | ok | ok | ok |`)],
    ['a table without numbers', rows(() => '| passed | passed | passed |')],
    ['a list', rows(() => '- [ ] check the next item of the list')],
    ['a numbered list', rows((n) => `${n}. the same item of the list`)],
    ['code', `\`\`\`ts\n${rows(() => 'expect(value).toBe(true)')}\n\`\`\``],
    ['code without fences', rows((n) => `assert_eq!(f(${n}), true);`)],
    ['JSON', rows((n) => `{"id": ${n}, "name": "x"},`)],
    ['a line', '='.repeat(5_000)],
    ['columns', rows((n) => `${n}\tpassed\tpassed`)],
    [
      'prose',
      rows((n) => `The file number ${n} has ${'many '.repeat(n % 13)}lines and ${'few '.repeat(n % 11)}words.`),
    ],
    ['nothing', ''],
  ])('is none: %s', (_title, text) => {
    expect(said(text)).toEqual({ action: 'allow' })
  })

  test('takes linear time', () => {
    const text = rows(
      (n) => `The file number ${n} has ${'many '.repeat(n % 13)}lines and ${'few '.repeat(n % 11)}words.`,
      30_000,
    )
    const began = process.hrtime.bigint()
    said(text)
    expect(Number(process.hrtime.bigint() - began) / 1e9).toBeLessThan(5)
  })
})

describe('answers that differ by a number', () => {
  const observe = (texts: string[]) => {
    const detector = new DoomLoopDetector()
    return texts.map((text) => detector.observe({ role: 'assistant', text }).action)
  }

  test('are a loop after twice as many', () => {
    const actions = observe(Array.from({ length: 20 }, (_, n) => `I am still working on it (${n + 1}).`))
    expect(actions.slice(0, 6)).toEqual(Array(6).fill('allow'))
    expect(actions[6]).toBe('ask')
  })

  test('are none when they say nothing else, or something else', () => {
    expect(observe(Array.from({ length: 20 }, (_, n) => `${n}`))).not.toContain('ask')
    expect(observe(Array.from({ length: 20 }, (_, n) => `Step ${n}: ${'x'.repeat(n)}`))).not.toContain('ask')
  })

  test('are none when each answers another question, or something was done', () => {
    const detector = new DoomLoopDetector()
    for (let n = 0; n < 20; n++) {
      expect(detector.observe({ role: 'user', text: `What is ${'one plus '.repeat(n)}one?` }).action).toBe('allow')
      expect(detector.observe({ role: 'assistant', text: `The answer is ${n + 1}.` }).action).toBe('allow')
    }
    const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
    for (let n = 0; n < 20; n++) {
      expect(run.detector.observe({ role: 'assistant', text: `Reading file ${n}` }).action).toBe('allow')
      expect(run.call('read', { n }, `text ${n}`).action).toBe('allow')
    }
  })
})

describe('the profile openclaw', () => {
  const stopAt = (tools: string[], result: (n: number) => string = () => 'same') => {
    const run = agent({ profile: 'openclaw' })
    for (let n = 1; n <= 59; n++) {
      const tool = tools[(n - 1) % tools.length] as string
      if (run.call(tool, {}, result(n)).action === 'stop') return n
    }
    return undefined
  }

  test('stops a few calls in any order at the 30th', () => {
    expect(stopAt(['a', 'b', 'a'])).toBe(30)
    expect(stopAt(['a', 'b', 'c'])).toBe(30)
    expect(stopAt(['a', 'a', 'b', 'c', 'b'])).toBe(30)
  })

  test('but not calls whose results change, nor many different ones', () => {
    expect(stopAt(['a', 'b', 'c'], (n) => `${n}`)).toBeUndefined()
    expect(stopAt(Array.from({ length: 30 }, (_, n) => `tool${n}`))).toBeUndefined()
  })
})

describe('approvals', () => {
  test('once lets a cool-down pass and then counts from zero, three times a run', () => {
    const run = agent()
    const asked: number[] = []
    for (let i = 1; i <= 40; i++) {
      const verdict = run.call('read', 'a')
      if (verdict.action === 'ask') {
        asked.push(i)
        run.detector.approve(verdict.toolCallId as string, 'once')
      }
      if (verdict.action === 'stop') {
        expect(verdict).toMatchObject({ reason: 'max_attempts', detector: 'same_tool' })
        expect(verdict.message).toMatch(/nothing changed.*allowed to continue 3 times.*was not run/)
        asked.push(-i)
        break
      }
    }
    expect(asked).toEqual([5, 12, 19, -26])
    run.detector.startRun()
    expect(run.call('read', 'a').action).toBe('allow')
  })

  test('always silences this loop for the session, and no other', () => {
    const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
    run.again(4, 'read', 'a')
    run.call('read', 'a')
    expect(run.detector.approve('call_5', 'always')).toBe(true)
    expect(run.detector.approve('call_5', 'always')).toBe(false)
    expect(run.again(300, 'read', 'a')).toEqual(['allow*300'])
    run.detector.startRun()
    expect(run.again(300, 'read', 'a').join()).not.toContain('ask')
    expect(run.again(5, 'read', 'b').at(-1)).toBe('ask same_tool')
  })

  test.each(['once', 'always'] as const)(
    'a run in which everything is approved %s ends at the hard cap',
    (approval) => {
      const run = agent()
      for (let i = 1; i <= 300; i++) {
        const verdict = run.call('read', i, `text ${i}`)
        if (verdict.action === 'ask') run.detector.approve(verdict.toolCallId as string, approval)
        expect(verdict.action === 'stop').toBe(i === 300)
        if (i === 60) expect(verdict).toMatchObject({ action: 'ask', reason: 'max_tool_calls', count: 60 })
        if (i === 300) expect(verdict).toMatchObject({ reason: 'hard_cap', count: 300 })
      }
      run.detector.startRun()
      expect(run.call('read', 0).action).toBe('allow')
    },
  )

  test('words without calls end there too', () => {
    const { detector } = agent()
    let verdict: DoomLoopVerdict = { action: 'allow' }
    let said = 0
    while (verdict.action !== 'stop' && said < 1000) {
      said += 1
      verdict = detector.observe({ role: 'user', text: 'go on' })
      if (verdict.action === 'ask') detector.approve(verdict.toolCallId as string, 'always')
    }
    expect(verdict.reason).toBe('hard_cap')
    expect(said).toBeLessThanOrEqual(301)
  })

  test.each([1, 2, 3])('a loop of %d that is not allowed is not allowed later', (period) => {
    for (const headless of [true, false]) {
      const run = agent({ headless, maxToolCalls: Number.POSITIVE_INFINITY })
      const actions = Array.from({ length: 150 }, (_, i) => run.call('read', i % period, 'same').action)
      const ran = actions.lastIndexOf('allow') + 1
      expect(ran).toBeLessThan(15)
      expect(new Set(actions.slice(ran))).toEqual(new Set([headless ? 'stop' : 'ask']))
    }
    // Nor when what it was allowed is used up.
    const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
    const actions = Array.from({ length: 250 }, (_, i) => {
      const verdict = run.call('read', i % period, 'same')
      if (verdict.action === 'ask') run.detector.approve(verdict.toolCallId as string, 'once')
      return verdict.action
    })
    expect(new Set(actions.slice(actions.indexOf('stop')))).toEqual(new Set(['stop']))
  })

  test('without a user a question is a stop that people can read', () => {
    const run = agent({ headless: true })
    run.again(4, 'read', 'a')
    expect(run.call('read', 'a')).toMatchObject({
      action: 'stop',
      reason: 'same_tool',
      message: expect.stringMatching(/Tell it what to do differently/),
    })
    expect(run.detector.pending()).toEqual([])
    const chinese = agent({ headless: true, language: 'zh-CN' })
    chinese.again(4, 'read', 'a')
    expect(chinese.call('read', 'a').message).toBe(
      'read 已用相同参数调用 5 次，结果没有变化。本次调用没有执行：智能体似乎陷入循环。请调整指令后重试。',
    )
  })

  test('asking again about a call counts nothing', () => {
    const { detector } = agent()
    const check = () => detector.check({ toolCallId: 'one', tool: 'read', args: {} })
    for (let i = 0; i < 100; i++) expect(check().action).toBe('allow')
    detector.record({ toolCallId: 'one', result: 'x' })
    for (let i = 0; i < 3; i++) {
      detector.check({ toolCallId: `more ${i}`, tool: 'read', args: {} })
      detector.record({ toolCallId: `more ${i}`, result: 'x' })
    }
    const asked = () => detector.check({ toolCallId: 'last', tool: 'read', args: {} })
    expect(asked()).toEqual(asked())
    expect(asked().action).toBe('ask')
    detector.approve('last', 'once')
    expect(asked()).toEqual({ action: 'allow' })
  })

  test('a provider that gives every call the same id hides no loop', () => {
    const { detector } = agent()
    const verdicts = Array.from({ length: 5 }, () => {
      const { action } = detector.check({ toolCallId: 'call_0', tool: 'read', args: {} })
      detector.record({ toolCallId: 'call_0', result: 'x' })
      return action
    })
    expect(verdicts).toEqual(['allow', 'allow', 'allow', 'allow', 'ask'])
  })
})

describe('arguments', () => {
  const cyclic: Record<string, unknown> = { name: 'x' }
  cyclic.self = cyclic
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = { deep }
  let wide: unknown = 'leaf'
  for (let i = 0; i < 60; i++) wide = [wide, wide]
  const hostile: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a BigInt', { n: 10n }],
    ['a cycle', cyclic],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no')
        },
      },
    ],
    [
      'toJSON that throws',
      {
        toJSON() {
          throw new Error('no')
        },
      },
    ],
    [
      'toJSON that is endless',
      {
        toJSON() {
          return { again: this }
        },
      },
    ],
    [
      'a proxy that refuses',
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('no')
          },
        },
      ),
    ],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return proxy
      })(),
    ],
    ['something deep', deep],
    ['something that shares its parts', wide],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['NaN and undefined', { a: Number.NaN, b: undefined, c: -0 }],
    ['an invalid date', new Date(Number.NaN)],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['a map and a set', [new Map([[1, 2]]), new Set([3])]],
    ['an error', new TypeError('x')],
    ['a lone surrogate', '\ud800'],
    ['a sparse array', Object.assign([], { length: 2 ** 32 - 1 })],
    ['broken JSON', '{"a":'],
    ['deep JSON', '['.repeat(100_000)],
    ['a long text', 'x'.repeat(1 << 22)],
    ['own members of no object', Object.assign(Object.create(null), { __proto__: 1 })],
  ]

  test.each(hostile)('%s as arguments and result is fine, and is the same the fifth time', (_, value) => {
    const run = agent()
    const actions = Array.from({ length: 5 }, () => run.call('tool', value, value ?? null, false).action)
    expect(actions).toEqual(['allow', 'allow', 'allow', 'allow', 'ask'])
  })

  test('long arguments that differ in the last character are two calls', () => {
    const run = agent()
    for (let i = 0; i < 6; i++) expect(run.call('write', `${'x'.repeat(100_000)}${i}`).action).toBe('allow')
  })

  test('errors name the field', () => {
    const { detector } = agent()
    const error = (work: () => unknown) => {
      try {
        return work()
      } catch (thrown) {
        const { name, code, field } = thrown as { name: string; code: string; field?: string }
        return [name, code, field]
      }
    }
    const none = undefined as never
    expect(error(() => detector.check(none))).toEqual(['SpillwayError', 'INVALID_ARGUMENT', 'call'])
    expect(error(() => detector.check({ toolCallId: none, tool: 'x' }))).toEqual([
      'SpillwayError',
      'INVALID_ARGUMENT',
      'call.toolCallId',
    ])
    expect(error(() => detector.check({ toolCallId: 'a', tool: 1 as never }))).toEqual([
      'SpillwayError',
      'INVALID_ARGUMENT',
      'call.tool',
    ])
    expect(error(() => detector.record({ toolCallId: 'a', isError: 'yes' as never }))).toEqual([
      'SpillwayError',
      'INVALID_ARGUMENT',
      'result.isError',
    ])
    expect(error(() => detector.approve('a', 'never' as never))).toEqual([
      'SpillwayError',
      'INVALID_ARGUMENT',
      'approval',
    ])
    expect(error(() => detector.observe({ role: 'system' as never, text: '' }))).toEqual([
      'SpillwayError',
      'INVALID_ARGUMENT',
      'message.role',
    ])
    expect(error(() => new DoomLoopDetector({ maxToolCalls: 0 }))).toEqual([
      'SpillwayError',
      'INVALID_CONFIG',
      'maxToolCalls',
    ])
    expect(error(() => new DoomLoopDetector({ maxToolCall: 3 } as never))).toEqual([
      'SpillwayError',
      'INVALID_CONFIG',
      'maxToolCall',
    ])
    expect(error(() => new DoomLoopDetector({ profile: 'x' as never }))).toEqual([
      'SpillwayError',
      'INVALID_CONFIG',
      'profile',
    ])
    expect(error(() => new DoomLoopDetector(null as never))).toEqual(['SpillwayError', 'INVALID_CONFIG', 'options'])
    for (const state of [{}, '{"version":1}', 'no JSON', null, 5]) {
      const read = () => DoomLoopDetector.fromJSON(state as never)
      expect(error(read)).toEqual(['SpillwayError', 'INVALID_ARGUMENT', 'state'])
    }
    expect(detector.approve('unknown', 'once')).toBe(false)
  })
})

describe('properties', () => {
  const step = fc.record({
    tool: fc.constantFrom('read', 'edit', 'bash', 'wait'),
    args: fc.integer({ min: 0, max: 2 }),
    result: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
    isError: fc.boolean(),
    approve: fc.option(fc.constantFrom('once' as const, 'always' as const), { nil: undefined }),
  })
  const steps = fc.array(step, { maxLength: 80 })
  const options = fc.record({
    maxToolCalls: fc.integer({ min: 1, max: 12 }),
    sameToolThreshold: fc.integer({ min: 1, max: 6 }),
    maxAttempts: fc.integer({ min: 0, max: 3 }),
  })
  type Step = { tool: string; args: number; result?: number; isError: boolean; approve?: 'once' | 'always' }
  const play = (detector: DoomLoopDetector, all: readonly Step[], from = 0): DoomLoopVerdict[] =>
    all.map(({ tool, args, result, isError, approve }, at) => {
      const toolCallId = `call ${from + at}`
      const verdict = detector.check({ toolCallId, tool, args })
      if (verdict.action === 'ask' && approve) detector.approve(toolCallId, approve)
      if (result !== undefined) detector.record({ toolCallId, result: `result ${result}`, isError })
      return verdict
    })

  test('no run makes more calls than its hard cap, with any approvals', () => {
    fc.assert(
      fc.property(steps, options, (all, chosen) => {
        const ran = play(new DoomLoopDetector(chosen), all).filter(
          ({ action }, i) => action === 'allow' || (action === 'ask' && all[i]?.approve),
        )
        expect(ran.length).toBeLessThan(5 * chosen.maxToolCalls)
      }),
      { numRuns: RUNS },
    )
  })

  test('a detector that was saved in between says the same', () => {
    fc.assert(
      fc.property(steps, options, fc.nat(80), (all, chosen, at) => {
        const whole = play(new DoomLoopDetector(chosen), all)
        const first = new DoomLoopDetector(chosen)
        const before = play(first, all.slice(0, at))
        const saved = JSON.parse(JSON.stringify(first))
        const after = play(
          DoomLoopDetector.fromJSON(at % 2 ? saved : JSON.stringify(saved), chosen),
          all.slice(at),
          Math.min(at, all.length),
        )
        expect([...before, ...after]).toEqual(whole)
      }),
      { numRuns: RUNS },
    )
  })

  test('results that are new each time are never asked about by a repeat', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 200 }), (kinds) => {
        const run = agent({ maxToolCalls: Number.POSITIVE_INFINITY })
        const actions = kinds.map((kind, i) => run.call('poll', kind, `state ${i}`).action)
        expect(new Set(actions).size).toBeLessThanOrEqual(1)
        expect(actions[0] ?? 'allow').toBe('allow')
      }),
      { numRuns: RUNS },
    )
  })

  test('equal calls in a row are asked about exactly at the threshold', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.jsonValue(), fc.boolean(), (threshold, args, recorded) => {
        const run = agent({ sameToolThreshold: threshold, maxToolCalls: Number.POSITIVE_INFINITY })
        const actions = Array.from(
          { length: threshold },
          () => run.call('tool', args, recorded ? 'same' : undefined).action,
        )
        expect(actions.indexOf('ask')).toBe(threshold - 1)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('a result of many megabytes', () => {
  const log = (middle = '', end = '') =>
    `${'first line\n'.repeat(250_000)}${middle}${'one more\n'.repeat(500_000)}took (${end}12 ms)\n`
  const lines = log()

  test.each<[string, (at: number) => unknown]>([
    ['a text', () => log()],
    ['with durations', (at) => log('', String(at))],
    ['in a member', (at) => ({ stdout: log(), exitCode: 0, durationMs: at })],
    ['as JSON', (at) => JSON.stringify({ stdout: lines, exitCode: 0, durationMs: at })],
    ['as parts', () => Array.from({ length: 3 }, () => ({ type: 'text', text: log() }))],
    ['as bytes', () => Buffer.from(lines)],
  ])('is recognised when it comes again: %s', (_, result) => {
    const run = agent()
    const verdicts = Array.from({ length: 5 }, (__, at) => run.call('bash', { command: 'x' }, result(at)).action)
    expect(verdicts.at(-1)).toBe('ask')
  })

  test.each<[string, (at: number) => unknown]>([
    ['at its start', (at) => `${at}\n${lines}`],
    ['at its end', (at) => `${lines}${at}\n`],
    ['in its length', (at) => lines.repeat(2).slice(0, -9 * at)],
    ['in much of it', (at) => log(`and ${at}\n`.repeat(300_000))],
    ['beside it', (at) => ({ stdout: lines, exitCode: at })],
    ['as bytes', (at) => Buffer.from(`${lines}${at}`)],
  ])('is progress if it differs %s', (_, result) => {
    const run = agent()
    const verdicts = Array.from({ length: 6 }, (__, at) => run.call('poll', { of: 'x' }, result(at)).action)
    expect(new Set(verdicts)).toEqual(new Set(['allow']))
  })
})
