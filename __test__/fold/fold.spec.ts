import fc from 'fast-check'
import {
  ContextManager,
  compactHistory,
  guardTool,
  HistoryPruner,
  MemoryStorage,
  recoverFromOverflow,
  SpillwayError,
  simplifyOutdatedTerminalResults,
  type Tool,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import { type FoldEvent, type FoldOptions, type FoldRecord, FoldSession } from 'spillway/fold'
import { compactionStep } from 'spillway/history'
import { projectToolResults, truncateOversizedToolResultsInMessages } from 'spillway/overflow'
import { entriesOnBranch, MemorySession, truncateOversizedToolResultsInSession } from 'spillway/session'
import { file, foldedText } from '../support/folded'

const read = (toolCallId: string) => ({ toolName: 'read', toolCallId, args: { path: 'src/a.ts' } })
const bash = (toolCallId: string, command = 'cat src/a.ts') => ({ toolName: 'bash', toolCallId, args: { command } })

describe('FoldSession', () => {
  test('keeps its index within its bound for a text of thousands of pointers, and other texts in it', () => {
    const session = new FoldSession({ maxIndexBytes: 65_536 })
    session.fold(file(100, 160, 'other'), { ...read('o'), args: { path: 'src/o.ts' } })
    session.fold(file(0, 12), read('a'))
    const times = Array.from({ length: 3000 }, (_, at) => `separator ${at}\n${file(0, 12)}`)
    const { record } = session.fold(times.join('\n'), bash('b'))
    expect(record?.edits.length).toBeGreaterThan(2000)
    expect(session.report().index.bytes).toBeLessThanOrEqual(65_536)
    expect(session.fold(file(100, 160, 'other'), bash('c')).record).toBeDefined()
  })

  test('finds a text again after a newer equal one was forgotten', () => {
    const session = new FoldSession({ tools: { raw: false } })
    session.fold(file(0, 60), read('a'))
    session.fold(file(0, 60), { ...bash('b'), toolName: 'raw' })
    session.forget(['b'])
    expect(session.fold(file(0, 60), bash('c')).record?.edits).toMatchObject([{ toolCallId: 'a' }])
  })

  test('replaces lines that an earlier result shows', () => {
    const session = new FoldSession()
    const text = file(0, 60)
    expect(session.fold(text, read('a'))).toEqual({ content: text })
    const { content, record } = session.fold(text, bash('b'))
    expect(content.split('\n').slice(2, 5)).toEqual([
      text.split('\n')[2],
      '[lines 4-57: same as lines 4-57 of the read of src/a.ts above]',
      text.split('\n')[57],
    ])
    expect(record?.saved).toBe(text.length - content.length)
    expect(record?.edits).toMatchObject([{ fromLine: 3, toLine: 57, toolCallId: 'a', line: 3 }])
    expect(session.report()).toMatchObject({ results: 2, folded: 1, savedBytes: text.length - content.length })
    expect(session.report().savedTokens).toBeGreaterThan(500)
    expect(session.explain()).toMatch(/about \d+ tokens.* of the last one, of bash/)
  })

  test.each<[string, (session: FoldSession) => void]>([
    ['forgotten', (session) => session.forget(['a'])],
    ['cleared', (session) => session.clear()],
    ['overwritten by another result of the same id', (session) => void session.fold(file(900, 960), read('a'))],
    ['overwritten by a small result of the same id', (session) => void session.fold('no such file', read('a'))],
  ])('does not point to a result that was %s', (_, remove) => {
    const session = new FoldSession()
    session.fold(file(0, 60), read('a'))
    remove(session)
    expect(session.fold(file(0, 60), bash('b')).record).toBeUndefined()
  })

  test.each([
    ['a small text', 'x'.repeat(300), bash('b')],
    ['a result without an id', file(0, 60), { toolName: 'bash' }],
    ['a protected result', file(0, 60), { ...bash('b'), protect: true }],
    ['a tool that is switched off', file(0, 60), { ...bash('b'), toolName: 'off' }],
    ['a text with a lone surrogate', `${file(0, 60)}\ud800`, bash('b')],
  ])('leaves %s as it is', (_, text, call) => {
    const session = new FoldSession({ tools: { off: false } })
    session.fold(file(0, 60), read('a'))
    expect(session.fold(text, call)).toEqual({ content: text })
  })

  test('refuses wrong options and calls by name', () => {
    expect(() => new FoldSession({ minLines: 3 })).toThrow(/minLines/)
    expect(() => new FoldSession({ minLine: 8 } as never)).toThrow(/minLine/)
    expect(() => new FoldSession().fold('x'.repeat(400), {} as never)).toThrow(/toolName/)
    expect(() => new FoldSession().fold(1 as never, bash('b'))).toThrow(/text/)
    for (const [field, fault] of [
      ['call.toolCallId', { toolCallId: 5 }],
      ['call.protect', { protect: 'yes' }],
      ['call.keep', { keep: 'text' }],
      ['call.keep', { keep: [5] }],
    ] as const) {
      const fold = () => new FoldSession().fold('x'.repeat(400), { ...bash('b'), ...fault } as never)
      expect(fold).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
    }
  })

  test('a tool has limits of its own', () => {
    const fold = (tools: FoldOptions['tools']) => {
      const session = new FoldSession({ minLines: 100, tools: { other: { minLines: 100 }, ...tools } })
      session.fold(file(0, 60), read('a'))
      return session.fold(file(0, 60), bash('b', 'npm run show')).record?.edits.length
    }
    expect(fold({})).toBeUndefined()
    expect(fold({ bash: true })).toBeUndefined()
    expect(fold({ bash: { minLines: 8 } })).toBe(1)
    expect(fold({ bash: { minLines: 8, minBytes: 100_000 } })).toBeUndefined()
    for (const [field, tools] of [
      ['options.tools.bash.minLines', { bash: { minLines: 3 } }],
      ['options.tools.bash.minByte', { bash: { minByte: 3 } }],
      ['options.tools', { bash: 8 }],
    ] as const)
      expect(() => fold(tools as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  })

  test('says what it folded to a listener, which may throw', () => {
    const events: FoldEvent[] = []
    const session = new FoldSession({
      onFold: (event) => {
        events.push(event)
        throw new Error('planted')
      },
    })
    const emit = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    session.fold(file(0, 60), read('a'))
    const { content } = session.fold(file(0, 60), bash('b', 'npm run show'))
    expect(emit.mock.calls.map(([message]) => message)).toEqual(['onFold: planted'])
    emit.mockRestore()
    const { savedBytes, savedTokens } = session.report()
    const bytes = Buffer.byteLength(file(0, 60))
    expect(events).toEqual([{ toolName: 'bash', toolCallId: 'b', bytes, savedBytes, savedTokens, pointers: 1 }])
    expect(bytes - Buffer.byteLength(content)).toBe(savedBytes)
  })

  test('keeps no line that no text has', () => {
    const session = new FoldSession()
    const text = Array.from({ length: 60 }, (_, at) => `const value${at} = compute(${at})`).join('\n')
    session.fold(text, bash('a'))
    const { content } = session.fold(text, { ...bash('b'), keep: ['\ud800'] })
    expect(content.length).toBeLessThan(text.length)
  })

  test('names nothing by arguments that cannot be read', () => {
    const text = Array.from({ length: 60 }, (_, at) => `const value${at} = compute(${at})`).join('\n')
    const refuse = () => {
      throw new Error('planted')
    }
    const getter = Object.defineProperty({}, 'path', { enumerable: true, get: refuse })
    for (const args of [getter, new Proxy({}, { ownKeys: refuse, get: refuse })]) {
      const session = new FoldSession()
      session.fold(text, { ...bash('a'), args })
      expect(session.fold(text, { ...bash('b'), args }).record).toBeDefined()
    }
  })

  test('takes its limits', () => {
    const session = new FoldSession({ minLines: 100 })
    session.fold(file(0, 60), read('a'))
    expect(session.fold(file(0, 60), bash('b', 'npm run show')).record).toBeUndefined()
  })
})

describe('lines that stay', () => {
  const plain = (name: string) => Array.from({ length: 12 }, (_, at) => `plain line ${at} of the output of ${name}`)

  test.each([
    'src/ledger.c:88:12: 错误：‘hdr’未声明',
    'src/l.c:88:12: Fehler: nicht deklariert',
    'src/l.c:8:1: erreur: non déclaré',
    'src/l.c:8:1: ошибка: не описан',
    '  1) cart adds two items:',
    'E: Unable to locate package',
    'E1128 10:31:07.000001 controller.go:1] boom',
    'W: GPG error: http://deb.example InRelease: NO_PUBKEY 3B4F',
    'W: Failed to fetch http://deb.example/dists',
    'Err:5 http://deb.example focal InRelease',
    'Killed',
    'bash: line 1:  4012 Killed                  python train.py',
    'make: *** [all] Terminated',
    'Segmentation fault (core dumped)',
    'Illegal instruction',
    'Floating point exception',
    'Trace/breakpoint trap',
    'signal: killed',
    'command ended by SIGSEGV',
    "terminate called after throwing an instance of 'std::bad_alloc'",
    'ENOSPC: no space left on device, write',
    'tar: a: Cannot write: No space left on device',
    'cp: b: Disk quota exceeded',
    'accept: Too many open files',
    'fork: Cannot allocate memory',
    'yes: standard output: Broken pipe',
    'connect ETIMEDOUT 10.0.0.1:443',
    'connect ECONNREFUSED 127.0.0.1:80',
    'ld: symbol(s) not found for architecture arm64',
    'p30/a.go:5:41: cannot use n (variable of type int) as type string in return statement',
    '    a_test.go:18:3: ttl = 30, want 60',
    'a.c:9:4: runtime error: signed integer overflow',
    'AH00534: apache2: Configuration error: No MPM loaded.',
    '#   Failed test at t/a14.t line 9.',
    '1) ATest::testMergesTags',
  ])('%s', (line) => {
    const session = new FoldSession()
    const text = [...plain('a'), line, ...plain('b')].join('\n')
    session.fold(text, bash('a', 'run it'))
    const { content, record } = session.fold(`first\n${text}`, bash('b', 'run again'))
    expect(record).toBeDefined()
    expect(content.split('\n')).toContain(line)
  })

  const body = Array.from({ length: 40 }, (_, at) => `  const value${at} = compute(${at}) // a line of the file`)
  test.each<[string, string[]]>([
    ['a merge', ['diff --cc a.ts', 'index 1,2..3', '--- a/a.ts', '+++ b/a.ts', '@@@ -1,40 -1,40 +1,40 @@@', ...body]],
    ['a context diff', ['*** a.ts', '--- b.ts', '***************', '*** 1,40 ****', ...body, '--- 1,41 ----']],
    ['an indented diff', ['    text', '    @@ -1,40 +1,40 @@', ...body.map((line) => `     ${line}`)]],
    [
      'renames only',
      Array.from({ length: 15 }, (_, at) => [
        `diff --git a/old${at}.ts b/new${at}.ts`,
        'similarity index 100%',
        `rename from old${at}.ts`,
        `rename to new${at}.ts`,
      ]).flat(),
    ],
  ])('%s', (_, lines) => {
    const session = new FoldSession()
    session.fold([...lines, ...body].join('\n'), bash('a', 'cat it'))
    const { record } = session.fold(['a', 'b', 'c', 'd', ...lines, 'x', 'y', 'z'].join('\n'), bash('b', 'git show x'))
    expect(record).toBeUndefined()
  })
})

describe('the same file again', () => {
  const failing = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) =>
      (from + at) % 6 === 0
        ? `Error: ENOENT: no such file or directory, failed to read value ${from + at}`
        : `  const value${from + at} = ${from + at}`,
    )
  const call = (toolName: string, id: string, args: object) => ({ toolName, toolCallId: id, args: { ...args } })

  test.each<[string, object, number]>([
    ['a command that prints it', { command: "sed -n '1,60p' src/a.ts" }, 1],
    ['a pipe that only numbers and cuts', { command: 'nl -ba src/a.ts | head -60' }, 1],
    ['a command that does more', { command: 'npm test -- src/a.ts' }, 0],
    ['a log', { command: 'cat build.log' }, 0],
  ])('%s: lines of source are no errors of a run', (_, args, whole) => {
    const session = new FoldSession()
    const text = failing(0, 60).join('\n')
    session.fold(text, call('read', 'a', { path: 'src/a.ts' }))
    const { content } = session.fold(text, call('bash', 'b', args))
    expect(content.includes('failed to read value 30')).toBe(whole === 0)
  })

  test('the echo of an edit and a read of what was written need shorter runs', () => {
    const session = new FoldSession()
    const text = file(0, 60)
    session.fold('Written.'.padEnd(301), call('write', 'a', { path: 'src/a.ts', content: text }))
    const lines = text.split('\n')
    const edited = lines.map((line, at) => (at % 7 === 5 ? `${line} // changed` : line)).join('\n')
    const { content, record } = session.fold(edited, call('read', 'b', { path: './src/a.ts' }))
    expect(content).toMatch(/lines differ from the arguments of write src\/a\.ts above, to which "as there" points\]/)
    expect(content.match(/as there\]/g)?.length).toBeGreaterThan(4)
    expect(new Set(record?.edits.map(({ toolCallId, argument }) => `${toolCallId} ${argument}`))).toEqual(
      new Set(['a content']),
    )
    const other = new FoldSession()
    other.fold('Written.'.padEnd(301), call('write', 'a', { path: 'src/a.ts', content: text }))
    expect(other.fold(edited, call('read', 'b', { path: 'src/other.ts' })).record).toBeUndefined()
  })
})

describe('the same test run again', () => {
  const pytest = (passed: number, failed: readonly string[], seconds = '1.20') =>
    [
      '============================= test session starts ==============================',
      `collected ${passed + failed.length} items`,
      '',
      ...Array.from(
        { length: 40 },
        (_, at) => `tests/test_module${at}.py ...........                                    [ 5%]`,
      ),
      '',
      '=========================== short test summary info ============================',
      ...failed.map((name) => `FAILED tests/test_a.py::${name} - assert 1 == 2`),
      `================== ${failed.length > 0 ? `${failed.length} failed, ` : ''}${passed} passed in ${seconds}s ===================`,
    ].join('\n')
  // More tests ran in it than in the others.
  const killed = [
    ...pytest(60, []).split('\n').slice(0, -3),
    ...Array.from({ length: 42 }, (_, at) => `tests/test_b.py::test_${at} PASSED                 [  5%]`),
    'Killed',
  ].join('\n')
  const run = (id: string, command = 'pytest -q') => ({ toolName: 'bash', toolCallId: id, args: { command } })
  const lineOf = (content: string) => /^\[test failures .*\]$/m.exec(content)?.[0]
  const name = (test: string) => `tests/test_a.py::${test}`

  test('says what is fixed, new and still failing', () => {
    const session = new FoldSession()
    session.fold(pytest(38, ['test_one', 'test_two']), run('a'))
    const text = pytest(38, ['test_two', 'test_three'])
    const { content, record } = session.fold(text, run('b'))
    expect(lineOf(content)).toBe(
      `[test failures since the last run of this call: fixed ${name('test_one')}; new ${name('test_three')}; still failing ${name('test_two')}]`,
    )
    expect(record?.edits[0]?.text).toMatch(/^\[test failures .*\]\n\[/)
    expect(record?.saved).toBe(text.length - content.length)
  })

  test.each<[string, (fold: FoldSession) => (text: string, folder: string, id: string) => Promise<unknown>]>([
    [
      'FoldSession',
      (fold) => async (text, workingDirectory, id) => fold.fold(text, { ...run(id), workingDirectory }).content,
    ],
    [
      'guardTool',
      (fold) => async (text, workingDirectory, toolCallId) =>
        guardTool({ name: 'bash', execute: () => text }, { fold }).execute(run('').args, {
          toolCallId,
          workingDirectory,
        }),
    ],
    [
      'ToolRegistry',
      (fold) => async (text, workingDirectory, id) => {
        const registry = new ToolRegistry({ fold, workingDirectory })
        registry.register({ name: 'bash', execute: () => text })
        const [done] = await registry.execute([{ id, name: 'bash', input: run('').args }])
        return done?.result.output
      },
    ],
  ])('is one in the same folder, with %s', async (_, host) => {
    const fold = host(new FoldSession())
    await fold(pytest(38, ['test_one']), '/a', '1')
    expect(lineOf(String(await fold(pytest(38, ['test_two']), '/b', '2')))).toBeUndefined()
    const again = pytest(37, ['test_one', 'test_three'])
    expect(lineOf(String(await fold(again, '/a', '3')))).toContain(
      `new ${name('test_three')}; still failing ${name('test_one')}`,
    )
  })

  test('two concurrent runs have no last one', () => {
    const session = new FoldSession()
    session.fold(pytest(38, ['test_one']), run('a'))
    for (const id of ['b', 'c']) session.begin(run(id))
    for (const id of ['b', 'c']) expect(lineOf(session.fold(pytest(39, []), run(id)).content)).toBeUndefined()
    expect(lineOf(session.fold(pytest(38, ['test_one']), run('d')).content)).toBeUndefined()
  })

  test.each<[string, string, string, string | undefined]>([
    [
      'all fixed',
      pytest(38, ['test_one', 'test_two']),
      pytest(40, []),
      `fixed ${name('test_one')}, ${name('test_two')}]`,
    ],
    ['nothing failed', pytest(40, []), pytest(40, [], '1.31'), undefined],
    ['fewer tests ran', pytest(38, ['test_one']), pytest(3, ['test_two']), `fixed or not run ${name('test_one')}; new`],
    [
      'many names',
      pytest(40, []),
      pytest(
        10,
        Array.from({ length: 12 }, (_, at) => `test_${at}`),
      ),
      `${name('test_9')} and 2 more]`,
    ],
    [
      'a preview that lacks failures',
      pytest(38, ['test_one']),
      pytest(38, ['test_two']).replace('1 failed', '3 failed'),
      undefined,
    ],
    ['a run that ended early', pytest(38, ['test_one']), killed, `fixed or not run ${name('test_one')}]`],
    [
      'a run after one that ended early',
      killed,
      pytest(38, ['test_one']),
      `new or not run before ${name('test_one')}]`,
    ],
    ['no run', pytest(38, ['test_one']), pytest(38, ['test_one']).replace(/^(=|FAILED|collected).*$/gm, ''), undefined],
  ])('%s', (_, first, second, expected) => {
    const session = new FoldSession()
    session.fold(first, run('a'))
    const line = lineOf(session.fold(second, run('b')).content)
    if (expected === undefined) expect(line).toBeUndefined()
    else expect(line).toContain(expected)
  })

  const go = (passed: number) =>
    [
      '--- FAIL: TestAlpha (0.00s)',
      ...Array.from({ length: passed }, (_, at) => `--- PASS: TestOk${at} (0.00s)`),
      '--- FAIL: TestOmega (0.00s)',
      'FAIL',
    ].join('\n')
  test.each<[string, object, boolean]>([
    ['a preview of the start', { direction: 'head' }, false],
    ['a preview of the end', { direction: 'tail' }, false],
    ['a preview with the failures', { strategy: 'tests' }, true],
  ])('%s: what it lacks is not fixed', async (_, options, isCompared) => {
    const truncation = new TruncationService({ ...options, maxBytes: 9000, storage: new MemoryStorage() } as never)
    const texts = [go(400), go(900), go(901).replace('TestOmega', 'TestOther')]
    const controls = { fold: new FoldSession(), truncation, ledger: new ToolResultLedger() }
    const tool = guardTool({ name: 'bash', execute: async () => texts.shift() }, controls)
    const shown: string[] = []
    for (const toolCallId of ['a', 'b', 'c'])
      shown.push((await tool.execute({ command: 'go test -v ./...' }, { toolCallId })) as string)
    for (const text of shown) expect(lineOf(text) ?? '').not.toContain('TestAlpha, TestOmega')
    if (!isCompared) expect(shown.map((text) => lineOf(text))).toEqual([undefined, undefined, undefined])
  })

  test('compares with the last run, however little that printed', () => {
    const session = new FoldSession()
    session.fold(pytest(39, ['test_one']), run('a'))
    session.fold('============ 40 passed in 0.40s ============', run('b'))
    expect(lineOf(session.fold(pytest(39, ['test_one']), run('c')).content)).toContain(`: new ${name('test_one')}]`)
  })

  test.each<[string, object]>([
    ['another call', run('b', 'pytest -q tests/test_a.py')],
    ['a protected result', { ...run('b'), protect: true }],
  ])('says nothing about %s', (_, call) => {
    const session = new FoldSession()
    session.fold(pytest(39, ['test_one']), run('a'))
    expect(lineOf(session.fold(pytest(39, ['test_two']), call as never).content)).toBeUndefined()
  })

  test('is forgotten with everything else', () => {
    const session = new FoldSession()
    session.fold(pytest(39, ['test_one']), run('a'))
    session.clear()
    session.fold(pytest(39, ['test_one']), { toolName: 'cat', toolCallId: 'x', args: { path: 'log' } })
    expect(lineOf(session.fold(pytest(39, ['test_two']), run('b')).content)).toBeUndefined()
  })

  test('comes back to the text that it was, with any failed tests', async () => {
    const names = fc.uniqueArray(fc.constantFrom('test_a', 'test_b', 'test_ü', 'test_d[x y]'), { maxLength: 4 })
    const runs = fc.array(names, { minLength: 2, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(runs, async (all) => {
        const ledger = new ToolResultLedger()
        const fold = new FoldSession()
        const texts = all.map((failed) => pytest(40, failed))
        const results: { id: string; content: string }[] = []
        for (const [at, text] of texts.entries()) {
          const tool = guardTool({ name: 'bash', execute: async () => text }, { fold, ledger })
          const content = (await tool.execute({ command: 'pytest' }, { toolCallId: `r${at}` })) as string
          expect(content.length).toBeLessThanOrEqual(text.length)
          results.push({ id: `r${at}`, content })
        }
        // Without the first result every pointer to it is replaced by the text.
        const options = {
          ledger,
          policies: ['results' as const],
          keepRecent: results.length - 1,
          schedule: 'always' as const,
        }
        const { messages } = new HistoryPruner(options).prune(conversation(results), { now: 0 })
        const shown = contentOf(messages, 'r1') as string
        if (results[1]?.content.includes('`pytest` above')) expect(shown).toBe(texts[1])
      }),
      { numRuns: 30 },
    )
  })
})

/** A conversation of chat completions with these results. */
const conversation = (results: { id: string; content: string }[]) => [
  { role: 'user', content: 'go' },
  ...results.flatMap(({ id, content }) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ]),
  { role: 'assistant', content: 'done' },
]

const contentOf = (messages: readonly unknown[], id: string) =>
  (messages as { tool_call_id?: string; content: string }[]).find((message) => message.tool_call_id === id)?.content

describe('with a pruner', () => {
  async function run(texts: Record<string, string>) {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const results: { id: string; content: string }[] = []
    for (const [id, text] of Object.entries(texts)) {
      const tool = guardTool({ name: 'bash', execute: async () => text }, { fold, ledger })
      results.push({ id, content: (await tool.execute({ command: `run ${id}` }, { toolCallId: id })) as string })
    }
    return { ledger, results }
  }

  test('a result gets its text back when its target is left out', async () => {
    const { ledger, results } = await run({ a: file(0, 80), b: file(0, 80), c: file(20, 80) })
    expect(results[1]!.content).toContain('[lines 4-77: same as lines 4-77 of the output of `run a` above]')
    const options = { ledger, policies: ['results' as const], keepRecent: 2, schedule: 'always' as const }
    const pruner = new HistoryPruner(options)
    const messages = conversation(results)
    const { messages: sent, report } = pruner.prune(messages, { now: 0 })
    expect(contentOf(sent, 'a')).not.toContain('const')
    expect([contentOf(sent, 'b'), contentOf(sent, 'c')]).toEqual([file(0, 80), file(20, 80)])
    expect(report.total).toBe(1)
    expect(JSON.stringify(pruner.prune(messages, { now: 1 }).messages)).toBe(JSON.stringify(sent))
    const [state, known] = [JSON.stringify(pruner), JSON.stringify(ledger)]
    const later = HistoryPruner.fromJSON(state, { ...options, ledger: ToolResultLedger.fromJSON(known) })
    expect(JSON.stringify(later.prune(messages, { now: 1 }).messages)).toBe(JSON.stringify(sent))
  })

  test('a trimmed result has no pointer to a trimmed one, also in another process', async () => {
    const { ledger, results } = await run({
      a: file(0, 150),
      b: `${file(0, 30, 'own')}\n${file(0, 150)}\n${file(0, 150, 'end')}`,
      c: file(0, 400, 'other'),
      d: 'x',
    })
    expect(results[1]!.content).toContain('same as lines 1-150')
    const rules = { policies: ['pressure' as const], schedule: 'always' as const, contextWindow: 8000, keepRecent: 0 }
    const pruner = new HistoryPruner({ ledger, ...rules })
    const messages = conversation(results)
    const { messages: sent, report } = pruner.prune(messages, { now: 0 })
    expect(contentOf(sent, 'b')).toContain('[150 lines are not in view any more')
    expect(contentOf(sent, 'b')).not.toContain('same as')
    expect(report.tokensAfter).toBeLessThan(report.tokensBefore)
    expect(JSON.stringify(pruner.prune(messages, { now: 1 }).messages)).toBe(JSON.stringify(sent))
    const later = HistoryPruner.fromJSON(JSON.stringify(pruner), { ledger, ...rules })
    expect(JSON.stringify(later.prune(messages, { now: 1 }).messages)).toBe(JSON.stringify(sent))
  })

  test('a pointer whose target was shortened before becomes a sentence', async () => {
    const { ledger, results } = await run({ a: file(0, 3000), b: file(0, 2990), c: file(2900, 3000) })
    const { messages } = truncateOversizedToolResultsInMessages(conversation(results), 20_000)
    const sent = new HistoryPruner({ ledger, policies: ['outdated'] }).prune(messages, { now: 0 }).messages
    for (const id of ['b', 'c']) expect([id, contentOf(sent, id)]).toEqual([id, expect.stringMatching(/not in view/)])
  })

  test('a line of the tool that is equal to its pointer does not keep the pointer', async () => {
    const lines = file(0, 60).split('\n')
    lines[1] = '[lines 4-57: same as lines 4-57 of the output of `run a` above]'
    const { ledger, results } = await run({ a: file(0, 60), b: lines.join('\n') })
    const sent = new HistoryPruner({ ledger }).prune(conversation(results.slice(1)), { now: 0 }).messages
    expect(contentOf(sent, 'b')).toContain('[54 lines are not in view any more')
    expect(contentOf(sent, 'b')).not.toContain('same as')
  })

  test('a pointer whose target the host removed becomes a sentence, or the text if it was known', async () => {
    const { ledger, results } = await run({ a: file(0, 80), b: file(0, 80) })
    const pruner = new HistoryPruner({ ledger })
    pruner.prune(conversation(results), { now: 0 })
    const rest = conversation(results.slice(1))
    expect(contentOf(pruner.prune(rest, { now: 1 }).messages, 'b')).toBe(file(0, 80))
    const other = contentOf(new HistoryPruner({ ledger }).prune(rest, { now: 1 }).messages, 'b')
    expect(other).toContain('[74 lines are not in view any more: call the tool again to read them]')
    expect(other).not.toContain('same as')
  })

  test('an image stays with a result that gets its lines back', () => {
    const [fold, ledger] = [new FoldSession(), new ToolResultLedger()]
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
    const messages = ['a', 'b'].flatMap((id) => {
      const args = { path: `${id}.ts` }
      const text = foldedText(file(0, 80), { toolName: 'read', toolCallId: id, args }, { fold, ledger })
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: args }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }, image] }] },
      ]
    })
    const pruner = new HistoryPruner({ ledger })
    pruner.prune(messages, { now: 0 })
    const sent = pruner.prune(messages.slice(2), { now: 1 }).messages
    expect(sent.at(-1)).toMatchObject({ content: [{ content: [{ type: 'text', text: file(0, 80) }, image] }] })
  })

  test('folds lines that the model wrote itself, and shows them again if the arguments are left out', () => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const written = { path: 'src/a.ts', content: file(0, 60) }
    const results = [
      { id: 'w', name: 'write_file', args: written, content: 'ok' },
      { id: 'r', name: 'read', args: { path: 'src/a.ts' }, content: file(0, 60) },
      { id: 'x', name: 'bash', args: {}, content: 'other' },
    ].map(({ id, name, args, content: text }) => {
      fold.fold(JSON.stringify(args), { toolName: 'none', toolCallId: `${id} before` })
      const call = { toolName: name, toolCallId: id, args }
      return { id, name, args, content: foldedText(text.padEnd(301), call, { fold, ledger }) }
    })
    expect(results[1]!.content).toContain('of the arguments of write_file src/a.ts above]')
    const messages = [
      { role: 'user', content: 'go' },
      ...results.flatMap(({ id, name, args, content }) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        },
        { role: 'tool', tool_call_id: id, content },
      ]),
      { role: 'assistant', content: 'done' },
    ]
    const keep = new HistoryPruner({ ledger, policies: ['outdated'] })
    expect(keep.prune(messages, { now: 0 }).messages).toBe(messages)
    const pruner = new HistoryPruner({ ledger, policies: ['arguments'], keepRecent: 0, schedule: 'always' })
    const sent = pruner.prune(messages, { now: 0 }).messages
    expect(JSON.stringify(sent[1])).not.toContain('const value30')
    expect(contentOf(sent, 'r')).toBe(file(0, 60))
  })

  test('the lines that say how a saved output is read stay', async () => {
    const truncation = new TruncationService({
      direction: 'tail',
      storage: new MemoryStorage(),
      availableTools: ['read_output', 'search_output'],
    })
    const controls = { fold: new FoldSession(), truncation, ledger: new ToolResultLedger() }
    const texts = [0, 1].map((run) => [...file(0, 3000).split('\n'), ...Array(20).fill(`run ${run}`)].join('\n'))
    const tool = guardTool({ name: 'bash', execute: async (_: { command: string }) => texts.shift() }, controls)
    await tool.execute({ command: 'one' }, { toolCallId: 'a' })
    const shown = await tool.execute({ command: 'two' }, { toolCallId: 'b' })
    expect(shown).toMatch(/saved to: \S+\nUse search_output .*\n.*\[lines \d+-\d+: same as/s)
  })

  test.each(['head', 'tail', 'both'] as const)('a session keeps the lines of a notice: %s', async (direction) => {
    const keeps: (readonly string[] | undefined)[] = []
    const fold = {
      fold(content: string, { keep }: { keep?: readonly string[] | undefined }) {
        keeps.push(keep)
        return { content }
      },
    }
    const truncation = new TruncationService({
      direction,
      storage: new MemoryStorage(),
      availableTools: ['read_output', 'search_output'],
    })
    const tool = guardTool({ name: 'bash', execute: async (_: object) => file(0, 3000) }, { fold, truncation })
    const shown = String(await tool.execute({}, { toolCallId: 'a' }))
    const notice = shown.split('\n').filter((line) => /saved to: |^Use search_output/.test(line))
    expect(notice).toHaveLength(2)
    for (const line of notice) expect(keeps[0]?.some((kept) => kept !== '' && line.includes(kept))).toBe(true)
    for (const line of notice.slice(1)) expect(keeps[0]).toContain(line)
  })

  describe('a pointer to one of several calls of a name counts from the newest', () => {
    const texts: Record<string, string> = { v1: file(0, 60, 'one'), v2: file(0, 60, 'two'), v3: file(0, 60, 'three') }
    const POINTER = /same as lines \d+-\d+ of (.+?) above/
    type Step = string | ((session: FoldSession) => void)
    const named = (session: FoldSession, steps: readonly Step[]) =>
      steps.map((step, at) => {
        if (typeof step !== 'string') return step(session)
        const { content } = session.fold(texts[step] ?? step, read(`c${at}`))
        return POINTER.exec(content)?.[1] ?? /differs? from (.+?) above/.exec(content)?.[1]
      })
    const forget =
      (ids: string[], callsStay?: boolean): Step =>
      (session) =>
        session.forget(ids, callsStay === undefined ? {} : { callsStay })
    const run =
      (command: string): Step =>
      (session) =>
        void session.fold('done', bash(command, command))

    test.each<[string, Step[], string | undefined]>([
      ['the only one', ['v1', 'v1'], 'the read of src/a.ts'],
      ['the newest', ['v1', 'v2', 'v2'], 'the newest read of src/a.ts'],
      ['an older one', ['v1', 'v2', 'v3', 'v2'], 'the 2nd newest read of src/a.ts'],
      ['after a short result', ['v1', 'removed', 'v1'], 'the 2nd newest read of src/a.ts'],
      [
        'after a call was made again',
        ['v1', 'no', (session) => session.fold('no', read('c1')), 'v1'],
        'the 2nd newest read of src/a.ts',
      ],
      ['after a result without lines', ['v1', `${'x'.repeat(400)}`, 'v1'], 'the 2nd newest read of src/a.ts'],
      ['after others left', ['v1', 'v2', 'no', forget(['c1', 'c2']), 'v1'], 'the read of src/a.ts'],
      ['after one of several left', ['v1', 'v2', 'v3', forget(['c2']), 'v1'], 'the 2nd newest read of src/a.ts'],
      [
        'after results of others left',
        ['v1', 'v2', 'no', forget(['c1', 'c2'], true), 'v1'],
        'the 3rd newest read of src/a.ts',
      ],
      ['after both left, one by one', ['v1', 'v2', forget(['c1'], true), forget(['c1']), 'v1'], 'the read of src/a.ts'],
      ['after calls of other names', ['v1', 'v2', run('a'), run('b'), 'v1'], 'the 2nd newest read of src/a.ts'],
      ['too far back for a model to count', ['v1', ...Array(100).fill('no'), 'v1'], undefined],
    ])('%s', (_, steps, name) => {
      expect(named(new FoldSession(), steps).at(-1)).toBe(name)
    })

    test('records the calls that it counts', () => {
      const session = new FoldSession()
      for (const [id, text] of Object.entries({ c0: file(0, 60), c1: 'no', c2: file(60, 90) })) {
        session.fold(text, read(id))
        session.fold('done', bash(`between ${id}`))
      }
      const [older, newest] = [session.fold(file(0, 60), bash('x')), session.fold(file(60, 90), bash('y', 'cat b'))]
      expect([older.record?.counts, newest.record?.counts]).toEqual([['c1', 'c2'], undefined])
      expect(() => session.forget(['c1'], { callStays: true } as never)).toThrow('did you mean callsStay?')
      const ledger = new ToolResultLedger()
      ledger.record({ toolCallId: 'x', toolName: 'bash', folds: older.record! })
      expect(ToolResultLedger.fromJSON(JSON.stringify(ledger)).get('x')?.folds).toEqual(older.record)
      for (const counts of ['c1', [5]])
        expect(() =>
          ledger.record({ toolCallId: 'x', toolName: 'bash', folds: { ...older.record!, counts } as never }),
        ).toThrow('folds')
    })

    test('a record may save bytes and no UTF-16 units', () => {
      const lines = Array.from({ length: 8 }, (_, at) => `第${at}行是这个文件的一行文字`)
      const text = (name: string) => [file(0, 4, name), ...lines, file(4, 8, name)].join('\n')
      const [fold, ledger] = [new FoldSession(), new ToolResultLedger()]
      const path = `src/${'x'.repeat(56)}`
      fold.fold(text('one'), { ...read('a'), args: { path } })
      const { record } = fold.fold(text('two'), bash('b'))
      expect(record?.saved).toBeLessThan(0)
      ledger.record({ toolCallId: 'b', toolName: 'bash', folds: record! })
      expect(ledger.get('b')?.folds).toEqual(record)
    })

    test('many short commands do not make it forget what it may point to', () => {
      const session = new FoldSession()
      session.fold(file(0, 60), read('a'))
      for (let at = 0; at < 10_500; at++) session.fold('done', bash(`call ${at}`, `echo ${at}`))
      expect(session.fold(file(0, 60), bash('b')).record?.edits).toHaveLength(1)
    })

    test('also of arguments, and each call once', () => {
      const session = new FoldSession()
      const edit = (toolCallId: string, from: string, to: string) =>
        session.fold('edited\n'.repeat(60), {
          toolName: 'edit',
          toolCallId,
          args: { path: 'src/a.ts', old_string: from, new_string: to },
        })
      edit('e1', file(0, 30, 'old'), file(0, 30, 'new'))
      edit('e2', file(0, 30, 'more'), file(0, 30, 'other'))
      edit('e3', 'a', 'b')
      const { content } = session.fold(file(0, 30, 'new'), bash('r'))
      expect(POINTER.exec(content)?.[1]).toBe('the 3rd newest arguments of edit src/a.ts')
    })

    /** Only a summary takes something out of the context. */
    const SUMMARY_ONLY = {
      superseded: false,
      budget: false,
      pruning: { keepRecent: Number.POSITIVE_INFINITY },
      compaction: { summarize: () => 'what was done', recentTurns: 1 },
    } as const

    const history = (steps: readonly string[], said: readonly number[] = [], path = 'src/a.ts') => {
      const ledger = new ToolResultLedger()
      const fold = new FoldSession()
      const messages = steps.flatMap((step, at) => {
        const [id, name] = [`c${at}`, step.startsWith('$') ? 'bash' : 'read']
        const args = name === 'read' ? { path } : { command: step }
        const content = foldedText(texts[step] ?? step, { toolName: name, toolCallId: id, args }, { fold, ledger })
        const result = { type: 'tool_result', tool_use_id: id, content }
        return [
          { role: 'assistant', content: [{ type: 'tool_use', id, name, input: args }] },
          { role: 'user', content: said.includes(at) ? [result, { type: 'text', text: 'go on' }] : [result] },
        ]
      })
      return { ledger, fold, messages: [{ role: 'user', content: 'first' }, ...messages] }
    }

    test('its name holds after a summary of what was there before, and its bytes do not change', async () => {
      const { ledger, fold, messages } = history(['v1', 'v2', 'v3', 'v2'])
      const stored = [
        ...messages.slice(0, 3),
        { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
        { role: 'user', content: 'second' },
        ...messages.slice(3),
      ]
      const manager = new ContextManager({ contextWindow: 200_000, ledger, fold, ...SUMMARY_ONLY })
      for (const force of [true, false]) {
        const { messages: sent } = await manager.prepare(stored, { force })
        expect(JSON.stringify(sent)).not.toContain('const one30')
        expect(sent.at(-1)).toBe(stored.at(-1))
        expect(JSON.stringify(sent.at(-1))).toContain('of the 2nd newest read of src/a.ts above]')
      }
    })

    test('its lines come back if calls between the two leave the context', async () => {
      const { ledger, fold, messages } = history(['v1', 'v2', 'v3', 'v3', 'v3', 'v3', 'v1'], [0])
      const manager = new ContextManager({ contextWindow: 3000, ledger, fold, ...SUMMARY_ONLY, overflow: false })
      for (const force of [true, false]) {
        const { messages: sent } = await manager.prepare(messages, { force })
        const all = JSON.stringify(sent)
        expect(all).toContain('go on')
        expect(all).toContain('what was done')
        expect(all).not.toContain('const two30')
        expect(all).not.toContain('newest read of')
        expect(JSON.stringify(sent.at(-1))).toContain('const one30')
      }
    })

    test.each<[string, string[], number[], string | undefined]>([
      ['no call', ['v1', 'v2', 'no', 'v1'], [], 'the 3rd newest read'],
      ['one of those that it counts', ['v1', 'v2', 'no', 'v1'], [2], undefined],
      ['its target', ['v1', 'v2', 'no', 'v1'], [0], undefined],
      ['a call of another name', ['v1', '$ make', 'v2', '$ make', 'v1'], [1, 3], 'the 2nd newest read'],
      ['a call before its target', ['v3', 'v1', 'v2', 'v1'], [0], 'the 2nd newest read'],
      ['a call of another name, and it counts none', ['v1', '$ make', '$ make', 'v1'], [1], 'the read'],
    ])('in a process that sees the history first after %s left', (_, steps, gone, name) => {
      const path = 'docs/the last page of the newest read.md'
      const { ledger, messages } = history(steps, [], path)
      const left = messages.filter((_, at) => !gone.includes(Math.floor((at - 1) / 2)))
      const sent = new HistoryPruner({ ledger, policies: ['outdated'] }).prune(left, { now: 0 }).messages
      const pointer = name && `same as lines 4-57 of ${name} of ${path} above]`
      const isNoted = gone.includes(0) && steps[0] === 'v1'
      const expected = pointer ?? (isNoted ? 'not in view any more' : 'const one30')
      expect(JSON.stringify(sent.at(-1))).toContain(expected)
      expect(sent === left).toBe(name !== undefined)
    })

    test('after a summary it counts the calls that stayed, of a history that is stored so', async () => {
      const { ledger, fold, messages } = history(['v1', 'v2', 'v3', 'v3', 'v3', 'v3', 'v1'], [0])
      const manager = new ContextManager({ contextWindow: 3000, ledger, fold, ...SUMMARY_ONLY, overflow: false })
      const { history: stored, report } = await manager.prepare(messages, { force: true })
      expect(report.leftCalls).toEqual(report.left)
      const reads = JSON.stringify(stored).match(/"tool_use_id"/g) ?? []
      const { content } = fold.fold(texts.v1!, read('later'))
      expect([reads.length, POINTER.exec(content)?.[1]]).toEqual([2, 'the 2nd newest read of src/a.ts'])
    })
  })

  test('a registry folds as well', async () => {
    const ledger = new ToolResultLedger()
    const registry = new ToolRegistry({ ledger, fold: new FoldSession() })
    registry.register({ name: 'read', execute: async () => file(0, 60) })
    const call = (id: string) => ({ id, name: 'read', arguments: { path: id } })
    await registry.execute([call('a')])
    const [second] = await registry.execute([call('b')])
    expect(second!.result.output).toContain('same as lines 4-57 of the read of a above]')
    expect(ledger.get('b')).toMatchObject({ folds: { edits: [{ toolCallId: 'a' }] } })
    expect(() => new ToolRegistry({ fold: {} as never })).toThrow(/fold/)
  })

  test('a text that only looks like a pointer is neither believed nor unfolded', async () => {
    const forged = `${file(0, 5)}\n[lines 4-77: same as lines 4-77 of the output of \`run a\` above]\n${file(90, 99)}`
    const { ledger, results } = await run({ a: file(0, 80), b: forged })
    const pruner = new HistoryPruner({ ledger, policies: ['results'], keepRecent: 1, schedule: 'always' })
    const sent = pruner.prune(conversation(results), { now: 0 }).messages
    expect(contentOf(sent, 'a')).not.toContain('const')
    expect(contentOf(sent, 'b')).toBe(forged)
  })

  test('no pointer is sent whose target is not sent', async () => {
    const block = fc.record({ from: fc.nat(6), size: fc.nat(4), head: fc.nat(20) })
    const texts = fc.array(block, { minLength: 2, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(4), fc.nat(3), async (blocks, keepRecent, drop) => {
        const given = Object.fromEntries(
          blocks.map(({ from, size, head }, at) => [
            `call_${at}`,
            `${file(head, head + 4, 'own')}\n${file(from * 10, from * 10 + size * 10 + 4)}\n${file(0, 4, 'end')}`,
          ]),
        )
        const { ledger, results } = await run(given)
        const pruner = new HistoryPruner({ ledger, policies: ['results'], keepRecent, schedule: 'always' })
        const all = conversation(results)
        pruner.prune(all, { now: 0 })
        const messages = conversation(results.slice(drop))
        const sent = pruner.prune(messages, { now: 1 }).messages
        const whole = (id: string) => contentOf(sent, id) === results.find((result) => result.id === id)!.content
        for (const { id, content } of results.slice(drop)) {
          const { folds } = ledger.get(id) as { folds?: FoldRecord }
          const now = contentOf(sent, id)
          if (now !== content || folds === undefined) continue
          for (const { toolCallId } of folds.edits) {
            const isSent = whole(toolCallId!) || contentOf(sent, toolCallId!) === given[toolCallId!]
            expect([id, toolCallId, isSent]).toEqual([id, toolCallId, true])
          }
        }
      }),
      { numRuns: Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 60) },
    )
  })
})

describe('a pointer never outlives its target', () => {
  type Message = ReturnType<typeof conversation>[number]
  const summarize = async () => 'We read two files.'
  const contextWindowTokens = 20_000
  const window = { contextWindow: contextWindowTokens }
  const inSession = async (messages: Message[], ledger: ToolResultLedger) => {
    const session = new MemorySession()
    for (const message of messages) session.append({ type: 'message', message })
    await truncateOversizedToolResultsInSession({ session, contextWindowTokens, ledger })
    return entriesOnBranch(session.entries(), session.leaf()).map(({ message }) => message)
  }
  const compact = { ...window, force: true, recentTurns: 1 }
  const outdated = { now: 2e12, maxAgeMs: 1, keepRecent: 1 }

  test.each<[string, (messages: Message[], ledger: ToolResultLedger) => unknown]>([
    [
      'projectToolResults',
      (messages, ledger) => projectToolResults(messages, { contextWindowTokens, ledger }).messages,
    ],
    [
      'truncateOversizedToolResultsInMessages',
      (messages, ledger) => truncateOversizedToolResultsInMessages(messages, contextWindowTokens, { ledger }).messages,
    ],
    ['truncateOversizedToolResultsInSession', inSession],
    [
      'recoverFromOverflow',
      async (messages, ledger) => (await recoverFromOverflow({ messages, contextWindowTokens, ledger })).messages,
    ],
    [
      'compactionStep',
      async (messages, ledger) => {
        const step = compactionStep<Message>({ ...window, summarize, ledger, recentTurns: 1 })
        const { messages: compacted } = (await step(messages, { targetTokens: 9000, signal: undefined })) as {
          messages: Message[]
        }
        return compacted
      },
    ],
    [
      'compactHistory',
      async (messages, ledger) => (await compactHistory(messages, { ...compact, summarize, ledger })).messages,
    ],
    [
      'compactHistory without a summary',
      async (messages, ledger) =>
        (await compactHistory(messages, { ...compact, contextWindow: 4000, ledger })).messages,
    ],
    [
      'ContextManager',
      async (messages, ledger) => (await new ContextManager<Message>({ ...window, ledger }).prepare(messages)).messages,
    ],
    [
      'simplifyOutdatedTerminalResults',
      (messages, ledger) => simplifyOutdatedTerminalResults(messages, { ...outdated, ledger }),
    ],
  ])('%s', async (_, shortened) => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const results: { id: string; content: string }[] = []
    const texts = { a: file(0, 2500), b: `${file(0, 4, 'own')}\n${file(0, 900)}\n${file(0, 4, 'end')}` }
    for (const [id, text] of Object.entries(texts)) {
      const tool = guardTool({ name: 'bash', execute: async () => text }, { fold, ledger })
      results.push({ id, content: (await tool.execute({ command: `run ${id}` }, { toolCallId: id })) as string })
    }
    expect(results[1]!.content).toContain('same as lines')
    const [first, ...rest] = conversation(results)
    const messages = [first!, ...rest.slice(0, 2), { role: 'user', content: 'more' }, ...rest.slice(2)]
    const sent = (await shortened(messages, ledger)) as Message[]
    expect(contentOf(sent, 'a')).not.toBe(texts.a)
    const text = contentOf(sent, 'b') as string
    expect(text.split('\n').slice(0, 20)).toEqual(texts.b.split('\n').slice(0, 20))
  })

  test('a manager that continues in another process sends the same text after a summary', async () => {
    const ledger = new ToolResultLedger()
    const fold = new FoldSession()
    const results: { id: string; content: string }[] = []
    for (const [id, text] of Object.entries({ a: file(0, 300), b: `${file(0, 60)}\n${file(0, 20, 'own')}` })) {
      const tool = guardTool({ name: 'bash', execute: async () => text }, { fold, ledger })
      results.push({ id, content: (await tool.execute({ command: `run ${id}` }, { toolCallId: id })) as string })
    }
    const all = conversation(results)
    const stored = [...all.slice(0, 3), { role: 'user', content: 'again' }, ...all.slice(3)]
    const options = { contextWindow: 4000, ledger, compaction: { summarize, recentTurns: 1 } }
    const manager = new ContextManager<Message>(options)
    const { messages } = await manager.prepare(stored, { now: 1, force: true })
    expect(contentOf(messages, 'a')).toBeUndefined()
    expect(contentOf(messages, 'b')).toContain('const value30 =')
    const later = ContextManager.fromJSON<Message>(JSON.stringify(manager), {
      ...options,
      ledger: ToolResultLedger.fromJSON(JSON.stringify(ledger)),
    })
    expect(JSON.stringify((await later.prepare(stored, { now: 2 })).messages)).toBe(JSON.stringify(messages))
  })

  test('a full ledger drops the records of folds last', async () => {
    const ledger = new ToolResultLedger({ maxEntries: 4 })
    const record: FoldRecord = { saved: 1, edits: [] }
    const note = (id: string, folds?: FoldRecord) =>
      ledger.record({ toolCallId: id, toolName: 'x', ...(folds && { folds }) })
    note('a')
    note('b', record)
    for (const id of ['c', 'd', 'e', 'f', 'g']) note(id)
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].filter((id) => ledger.get(id))).toEqual(['b', 'e', 'f', 'g'])
    expect(ToolResultLedger.fromJSON(JSON.stringify(ledger), { maxEntries: 2 }).get('b')).toBeDefined()
    for (const id of ['h', 'i', 'j', 'k']) note(id, record)
    expect(ledger.size).toBe(4)
  })
})

describe('calls of one answer', () => {
  const linesOf = (version: string) =>
    Array.from({ length: 40 }, (_, at) => `export const ${version}${at} = ${at} // of it`)
  const text = (version: string, more = 0) => [...linesOf(version), ...Array(more).fill('// more')].join('\n')

  /** A host that runs calls at the same time, each until it is released. */
  const hosts: [string, (fold: FoldSession, read: Tool) => (id: string, path: string) => Promise<string>][] = [
    [
      'ToolRegistry',
      (fold, read) => {
        const registry = new ToolRegistry({ fold })
        registry.register(read)
        return async (id, path) => {
          const [done] = await registry.execute([
            { id, function: { name: 'read', arguments: JSON.stringify({ path }) } },
          ])
          return String(done!.result.output)
        }
      },
    ],
    [
      'guardTool',
      (fold, read) => {
        const tool = guardTool(read, { fold })
        return async (toolCallId, path) => String(await tool.execute({ path } as never, { toolCallId }))
      },
    ],
  ]

  test.each(hosts)('do not point to each other, in any order of their ends, with %s', async (_, host) => {
    const files: Record<string, string> = { a: text('fresh', 9), b: text('old') }
    const ends = new Map<string, () => void>()
    const execute = async ({ path }: { path: string }) => {
      const shown = files[path]!
      await new Promise<void>((end) => ends.set(path, end))
      return shown
    }
    const run = host(new FoldSession(), { name: 'read', execute })
    const release = async (...paths: string[]) => {
      for (const path of paths) {
        while (!ends.has(path)) await new Promise((next) => setImmediate(next))
        ends.get(path)!()
        ends.delete(path)
        // Its result comes in before the next one.
        for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
      }
    }
    const first = run('1', 'b')
    await release('b')
    expect(await first).toBe(files.b)
    files.b = text('fresh')
    const both = [run('2', 'a'), run('3', 'b')]
    await release('b', 'a')
    expect(await Promise.all(both)).toEqual([files.a, files.b])
    // Later calls find all of them above.
    const later = run('4', 'a')
    await release('a')
    expect(await later).toMatch(/of the read of a above|of the newest read of [ab] above/)
  })

  test.each(['begin', 'end'] as const)('keep their results if %s of a folder throws or fails later', async (name) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const fail of [
      () => {
        throw new Error('no')
      },
      async () => Promise.reject(new Error('no')),
    ]) {
      const fold = { fold: (content: string) => ({ content }), begin: () => {}, end: () => {}, [name]: fail }
      const registry = new ToolRegistry({ fold })
      registry.register({ name: 'read', execute: async () => 'text' })
      const [done] = await registry.execute([{ id: '1', function: { name: 'read', arguments: '{}' } }])
      expect(done!.result.output).toBe('text')
      const guarded = guardTool({ name: 'read', execute: async () => 'text' }, { fold })
      expect(await guarded.execute({}, { toolCallId: '1' })).toBe('text')
    }
    await new Promise((next) => setImmediate(next))
    expect(warned).toHaveBeenCalledTimes(4)
    warned.mockRestore()
  })

  test('begin and end with the arguments that a hook gave them', async () => {
    const fold = { begin: jest.fn(), fold: jest.fn((content: string) => ({ content })) }
    const hooks = { 'tool.before': () => ({ overrideInput: { path: 'b' } }) }
    const guarded = guardTool({ name: 'read', execute: async () => 'text' }, { fold, hooks })
    await guarded.execute({ path: 'a' }, { toolCallId: '1' })
    const ran = { toolName: 'read', toolCallId: '1', args: { path: 'b' } }
    expect(fold.begin.mock.lastCall).toEqual([ran])
    expect(fold.fold).toHaveBeenCalledWith('text', expect.objectContaining(ran))
  })

  test('that are begun once more began where they did at first', () => {
    const fold = new FoldSession()
    const call = { toolName: 'bash', toolCallId: '1', args: { command: 'cat a' } }
    const beside = { toolName: 'read', toolCallId: '2', args: { path: 'a' } }
    for (const one of [call, beside]) fold.begin(one)
    fold.fold(text('x'), beside)
    fold.begin({ ...call, args: { command: 'cat b' } })
    // Which of the two stands above is not known.
    expect(fold.fold(text('x'), call).content).toBe(text('x'))
  })

  test('that ended without a result count no more', () => {
    const fold = new FoldSession()
    fold.fold(text('x'), { toolName: 'read', toolCallId: '0', args: { path: 'a' } })
    const [first, second] = [
      { toolName: 'read', toolCallId: '1', args: { path: 'a' } },
      { toolName: 'bash', toolCallId: '2', args: { command: 'x' } },
    ]
    fold.begin(first)
    fold.end('1')
    fold.begin(second)
    const { content } = fold.fold(text('x'), second)
    expect(content).toContain('of the read of a above')
    // One that still runs may be the newest of its name.
    for (const call of [first, second]) fold.begin({ ...call, toolCallId: `${call.toolCallId} again` })
    expect(fold.fold(text('x'), { ...second, toolCallId: '2 again' }).content).toBe(text('x'))
    expect(() => fold.begin({ toolName: 5 } as never)).toThrow(SpillwayError)
    expect(() => fold.end(5 as never)).toThrow(SpillwayError)
  })
})
