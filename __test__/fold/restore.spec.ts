import fc from 'fast-check'
import {
  ContextManager,
  HistoryPruner,
  SpillwayError,
  simplifyOutdatedTerminalResults,
  ToolResultLedger,
} from 'spillway'
import { type FoldCall, type FoldOptions, type FoldRecord, FoldSession } from 'spillway/fold'
import { truncateOversizedToolResultsInMessages } from 'spillway/overflow'
import { isPointerLine, withoutPointers } from '../../lib/history/fold-records'
import { type Happening, pairedFormats, type Result, written } from '../history/histories'
import { deepFreeze } from '../history/support'
import { file, foldedText } from '../support/folded'

type Call = FoldCall & { toolCallId: string; args: Readonly<Record<string, unknown>> }
type Message = { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string }

const read = (toolCallId: string, path = 'src/a.ts'): Call => ({ toolName: 'read', toolCallId, args: { path } })
const bash = (toolCallId: string, command = 'make'): Call => ({ toolName: 'bash', toolCallId, args: { command } })

const called = ({ toolName, toolCallId, args }: Call): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: toolCallId, type: 'function', function: { name: toolName, arguments: JSON.stringify(args) } }],
})
const answered = ({ toolCallId }: Call, content: unknown): Message => ({
  role: 'tool',
  tool_call_id: toolCallId,
  content,
})
const turn = (call: Call, content: unknown) => [called(call), answered(call, content)]

/** A session that begins with a history. */
function restored(messages: readonly unknown[], ledger?: ToolResultLedger, options?: FoldOptions): FoldSession {
  const session = new FoldSession(options)
  const known = ledger && ToolResultLedger.fromJSON(JSON.stringify(ledger))
  session.restore(messages, known && { ledger: known })
  return session
}

/** A host that folds results and stores them. */
class Host {
  readonly ledger = new ToolResultLedger()
  readonly fold = new FoldSession()
  readonly messages: Message[] = [{ role: 'user', content: 'go' }]

  add(text: string, call: Call): string {
    const content = foldedText(text, call, this)
    this.messages.push(...turn(call, content))
    return content
  }
}

const POINTER = /same as lines (\d+-\d+ of .+?) above/
const pointerIn = (text: string) => POINTER.exec(text)?.[1]

describe('a session that is restored', () => {
  test('points to what the history shows', () => {
    const host = new Host()
    host.add(file(0, 60), read('a'))
    const session = restored(deepFreeze(structuredClone(host.messages)))
    const { content, record } = session.fold(file(0, 60), bash('b'))
    expect(pointerIn(content)).toBe('4-57 of the read of src/a.ts')
    expect(record?.edits).toMatchObject([{ fromLine: 3, toLine: 57, toolCallId: 'a', line: 3 }])
    expect(session.report()).toMatchObject({ results: 1, folded: 1 })
    expect(session.report().index.lines).toBe(120)
  })

  test('knows nothing else any more', () => {
    const session = new FoldSession()
    session.fold(file(0, 60), read('a'))
    session.restore([{ role: 'user', content: 'go' }])
    expect(session.fold(file(0, 60), bash('b')).record).toBeUndefined()
  })

  test('is compared with a whole read, not with one that shows a part of it', () => {
    const lines = file(0, 60).split('\n')
    const version = (name: string) => lines.map((line, at) => (at % 7 === 0 ? `${line} // ${name}` : line)).join('\n')
    const host = new Host()
    host.add(version('one'), read('a'))
    host.add(version('two'), read('b'))
    const session = restored(host.messages, host.ledger)
    const [first, second] = [host.fold, session].map((fold) => fold.fold(version('three'), read('c')))
    expect(second).toEqual(first)
    expect(second?.content).toMatch(/differ from the 2nd newest read of src\/a\.ts above/)
  })

  test('points to arguments, too', () => {
    const written = file(0, 40, 'written')
    const edit = { toolName: 'write', toolCallId: 'w', args: { path: 'b.ts', content: written } }
    const session = restored(turn(edit, file(0, 20, 'said')))
    const { content, record } = session.fold(written, bash('b'))
    expect(pointerIn(content)).toBe('4-37 of the arguments of write b.ts')
    expect(record?.edits).toMatchObject([{ toolCallId: 'w', argument: 'content' }])
  })

  test('without a ledger, lines count as they are shown, and no pointer is the target of another', () => {
    const host = new Host()
    host.add(file(0, 60), read('a'))
    const shown = host.add(`${file(0, 60)}\n${file(0, 30, 'more')}`, bash('b'))
    const lines = shown.split('\n')
    const session = restored([...turn(read('a'), 'gone'), ...turn(bash('b'), shown)])
    const { content, record } = session.fold(`${file(70, 80)}\n${shown}`, bash('c', 'cat log'))
    const [edit] = record?.edits ?? []
    const pointer = 'same as lines 5-31 of the output of `make` above]'
    expect(edit).toMatchObject({ toolCallId: 'b', text: expect.stringContaining(pointer) })
    expect(edit!.line).toBe(lines.findIndex((line) => line.startsWith('[lines')) + 1)
    expect(content).toContain(lines.find((line) => line.startsWith('[lines')))
  })

  test('never points from a call that still runs to one beside it', () => {
    const [a, b] = [read('a'), bash('b')]
    const both = {
      ...called(a),
      tool_calls: [called(b), called(a)].flatMap(({ tool_calls }) => tool_calls as object[]),
    }
    const messages = [...turn(read('0', 'src/0.ts'), file(0, 60, 'first')), both, answered(a, file(0, 60))]
    const session = restored(messages)
    const { content } = session.fold(`${file(0, 60)}\n${file(0, 60, 'first')}`, b)
    expect(pointerIn(content)).toBe('1-57 of the read of src/0.ts')
    expect(content).toContain('const value30')
    expect(pointerIn(session.fold(file(0, 60), bash('c', 'ls')).content)).toBe('4-57 of the output of `make`')
  })

  test('counts calls that no pointer leads to', () => {
    const messages = [
      ...turn(read('a'), file(0, 60)),
      ...turn(read('b'), 'no'),
      ...turn(read('c'), [
        { type: 'text', text: file(0, 60, 'seen') },
        { type: 'image_url', image_url: {} },
      ]),
    ]
    const { content, record } = restored(messages).fold(file(0, 60), bash('d'))
    expect(pointerIn(content)).toBe('4-57 of the 3rd newest read of src/a.ts')
    expect(record?.counts).toEqual(['b', 'c'])
  })

  const shown = [{ type: 'text', text: file(0, 60) }]
  const ago = 1
  const withoutId = (message: Message) => ({ ...message, tool_call_id: undefined })
  test.each<[string, readonly unknown[]]>([
    ['media', turn(read('a'), [...shown, { type: 'image_url', image_url: { url: 'x' } }])],
    ['without an id', [{ role: 'assistant', content: null }, withoutId(answered(read('a'), file(0, 60)))]],
    ['without its call', [answered(read('a'), file(0, 60))]],
    ['whose id was used again', [...turn(read('a'), file(0, 60)), ...turn(read('a'), file(0, 60, 'other'))]],
    [
      'pruned',
      new HistoryPruner({ policies: ['results'], keepRecent: 0, schedule: 'always' }).prune(
        [...turn(read('a'), file(0, 60)), { role: 'assistant', content: 'done' }],
        { now: 0 },
      ).messages,
    ],
    ['shortened later', truncateOversizedToolResultsInMessages(turn(read('a'), file(0, 4000)), 20_000).messages],
    [
      'outdated',
      simplifyOutdatedTerminalResults(
        turn(bash('a'), file(0, 60)).map((message) => ({ ...message, timestamp: ago })),
        { now: 2e12, maxAgeMs: 1, keepRecent: 0 },
      ),
    ],
  ])('does not point to a result that is %s', (_, messages) => {
    expect(restored(messages).fold(file(0, 60), bash('x')).record).toBeUndefined()
  })

  test('knows the newest results of a history that is longer than the index, also if some are folded', () => {
    const host = new Host()
    host.add(file(0, 60), read('a'))
    host.add(`${file(0, 60)}\n${file(60, 80)}`, bash('early'))
    for (let at = 0; at < 33; at += 1) host.add(file(0, 100, `other${at}_`), bash(`o${at}`, `make ${at}`))
    host.add(`${file(0, 100, 'other32_')}\n${file(0, 60, 'late')}`, bash('late', 'make late'))
    const session = restored(host.messages, host.ledger, { maxIndexBytes: 65_536 })
    expect(session.fold(file(0, 60, 'late'), read('x')).record?.edits).toMatchObject([{ toolCallId: 'late' }])
  })

  test('points to a result that got its text back', () => {
    const host = new Host()
    host.add(file(0, 60), read('a'))
    host.add(file(0, 60), bash('b'))
    host.messages.push({ role: 'assistant', content: 'done' })
    const rules = { ledger: host.ledger, policies: ['results' as const], keepRecent: 1, schedule: 'always' as const }
    const { messages } = new HistoryPruner(rules).prune(host.messages, { now: 0 })
    const { content, record } = restored(messages, host.ledger).fold(file(0, 60), read('c'))
    expect(pointerIn(content)).toBe('4-57 of the output of `make`')
    expect(record?.edits).toMatchObject([{ toolCallId: 'b', line: 3 }])
  })
})

describe('in every format', () => {
  const result = (more: Partial<Result> = {}): Result[] => [
    { id: 'c', name: 'read', text: file(0, 60), isError: false, image: false, ...more },
  ]
  const conversation = (results: Result[]): Happening[] => [
    { kind: 'user', text: 'go' },
    { kind: 'calls', text: 'I read.', calls: [{ id: 'c', name: 'read' }] },
    { kind: 'results', results },
    { kind: 'assistant', text: 'done' },
  ]

  test.each(pairedFormats)('%s', (name) => {
    const session = restored(deepFreeze(written(name, conversation(result()))))
    const { content, record } = session.fold(file(0, 60), bash('b'))
    expect(pointerIn(content)).toMatch(/^4-57 of the (read of a\.ts|result of read)$/)
    expect(record?.edits).toMatchObject([{ toolCallId: 'c', line: 3 }])
    for (const short of [result({ text: 'no' }), []])
      expect(restored(written(name, conversation(short))).fold(file(0, 60), bash('b')).record).toBeUndefined()
  })

  test('mcp, whose results name no call', () => {
    const session = restored([{ content: [{ type: 'text', text: file(0, 60) }] }])
    expect(session.fold(file(0, 60), bash('b')).record).toBeUndefined()
  })
})

describe('faulty arguments', () => {
  test.each<[string, unknown, unknown, RegExp]>([
    ['messages', 'text', undefined, /messages/],
    ['messages', undefined, undefined, /messages/],
    ['options', [], 5, /options/],
    ['a ledger', [], { ledger: {} }, /ledger.*ToolResultLedger/],
    ['an unknown option', [], { legder: undefined }, /ledger/],
  ])('%s', (_, messages, options, message) => {
    const restore = () => new FoldSession().restore(messages as never, options as never)
    expect(restore).toThrow(SpillwayError)
    expect(restore).toThrow(message)
  })

  test('an unknown format is one warning', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (let run = 0; run < 2; run++) restored([{ role: 'user', parts: [{ type: 'unknown' }], toolInvocations: [] }])
    expect(warned.mock.calls.filter(([text]) => String(text).startsWith('FoldSession.restore:'))).toHaveLength(1)
    warned.mockRestore()
  })

  test('a ledger that throws is one that knows nothing', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const get = () => {
      throw new Error('no')
    }
    const session = new FoldSession()
    session.restore(turn(read('a'), file(0, 60)), { ledger: { get } })
    expect(pointerIn(session.fold(file(0, 60), bash('b')).content)).toBe('4-57 of the read of src/a.ts')
    warned.mockRestore()
  })
})

test('a history of 100,000 results takes as much as its newest', () => {
  const messages = Array.from({ length: 100_000 }, (_, at) =>
    turn(read(`c${at}`, `src/${at % 997}.ts`), file(at, at + 12)),
  ).flat()
  const session = new FoldSession({ maxIndexBytes: 1 << 20 })
  const started = performance.now()
  session.restore(messages)
  expect(performance.now() - started).toBeLessThan(30_000)
  expect(session.report().index.bytes).toBeLessThanOrEqual(1 << 20)
  expect(session.fold(file(99_999, 100_011), bash('x')).record).toBeUndefined()
  expect(
    pointerIn(session.fold(`${file(0, 6)}\n${file(99_980, 99_992)}\n${file(0, 6)}`, bash('y')).content),
  ).toBeDefined()
  expect(session.fold(`${file(0, 6)}\n${file(500, 512)}\n${file(0, 6)}`, bash('z')).record?.edits ?? []).toEqual([])
}, 60_000)

describe('random sessions', () => {
  const numbered = (text: string, from: number) =>
    text
      .split('\n')
      .map((line, at) => `${String(from + at).padStart(6)}\t${line}`)
      .join('\n')
  const hits = (text: string) =>
    text
      .split('\n')
      .map((line, at) => `src/some/long/path/of/a.ts:${at + 1}:${line}`)
      .join('\n')

  const paths = fc.constantFrom('src/a.ts', 'src/b.ts')
  const block = fc.record({ from: fc.nat(8), size: fc.nat(8), head: fc.nat(20), kind: fc.nat(6), path: paths })
  type Block = { from: number; size: number; head: number; kind: number; path: string }

  function step({ from, size, head, kind, path }: Block, at: number): [text: string, call: Call] {
    const own = file(from * 10, from * 10 + size * 8)
    const text = [file(head, head + 4, 'own'), own, file(0, 4, 'end')].filter((part) => part !== '').join('\n')
    const id = `call_${at}`
    const steps: [string, Call][] = [
      [text, read(id, path)],
      [numbered(text, from), read(id, path)],
      [text, bash(id, `cat ${path}`)],
      [text, bash(id, 'make')],
      [hits(own), { toolName: 'grep', toolCallId: id, args: { pattern: 'value' } }],
      ['done', read(id, path)],
      [`${text}\n`, { toolName: 'write', toolCallId: id, args: { path, content: text } }],
    ]
    return steps[kind]!
  }

  const runs = { numRuns: Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 150) }
  const sessions = fc.array(block, { minLength: 2, maxLength: 14 })

  test('go on as they would without a restart', () => {
    fc.assert(
      fc.property(sessions, fc.nat(100), (blocks, share) => {
        const host = new Host()
        const at = Math.floor((share / 101) * blocks.length)
        let session: FoldSession | undefined
        for (const [index, each] of blocks.entries()) {
          const [text, call] = step(each, index)
          if (index === at) session = restored(deepFreeze(structuredClone(host.messages)), host.ledger)
          const next = session?.fold(text, call)
          const content = host.add(text, call)
          if (next !== undefined) expect(next).toEqual({ content, ...recordOf(host.ledger, call) })
        }
      }),
      runs,
    )
  })

  const recordOf = (ledger: ToolResultLedger, { toolCallId }: Call) => {
    const folds = ledger.get(toolCallId)?.folds
    return folds === undefined ? {} : { record: folds }
  }

  const NAME = /(?:same as lines (\d+)-(\d+) of|differs? from) (the .+?) above/
  const nameOf = ({ toolName, args }: Call, isArgument: boolean) => {
    const subject = String(args.command ?? args.path ?? args.pattern)
    if (isArgument) return `the arguments of ${toolName} ${subject}`
    if (toolName === 'read') return `the read of ${subject}`
    return toolName === 'bash' ? `the output of \`${subject}\`` : `the result of ${toolName} ${subject}`
  }

  /** Each pointer of a call names the call that it means, among those in view, and each target is in view. */
  function expectTruth(record: FoldRecord, own: Call, earlier: readonly Call[]): void {
    for (const { text, toolCallId, argument } of record.edits) {
      if (toolCallId === undefined) continue
      const above = argument === undefined ? earlier : [...earlier, own]
      const target = above.find((call) => call.toolCallId === toolCallId)
      expect(target).toBeDefined()
      for (const line of text.split('\n')) {
        const [, , , given] = NAME.exec(line) ?? []
        if (given === undefined) continue
        const [, nth = '1', rest] = /^the (?:(?:(\d+)\w\w )?newest )?(.+)$/.exec(given)!
        const name = nameOf(target!, argument !== undefined)
        expect(`the ${rest}`).toBe(name)
        const same = above.filter((call) => nameOf(call, argument !== undefined) === name)
        expect(same.at(-Number(nth))?.toolCallId).toBe(toolCallId)
      }
    }
  }

  test('have true pointers after the start of their history has left', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, fc.nat(100), fc.nat(4), fc.boolean(), async (blocks, share, drop, knows) => {
        const host = new Host()
        const at = Math.floor((share / 101) * blocks.length)
        const steps = blocks.map(step)
        for (const [text, call] of steps.slice(0, at)) host.add(text, call)
        // A compaction gives results their text back.
        const rules = { ledger: host.ledger, policies: ['results' as const], schedule: 'always' as const }
        const { messages } = new HistoryPruner({ ...rules, keepRecent: Math.max(at - drop, 0) }).prune(host.messages, {
          now: 0,
        })
        const { ledger } = host
        const view: unknown[] = [...messages]
        const session = restored(view, knows ? ledger : undefined)
        const above = steps.slice(0, at).map(([, call]) => call)
        for (const [text, call] of steps.slice(at)) {
          const { content, record } = session.fold(text, call)
          view.push(...turn(call, content))
          if (record !== undefined) expectTruth(record, call, above)
          if (knows)
            ledger.record({ toolCallId: call.toolCallId, toolName: call.toolName, ...(record && { folds: record }) })
          above.push(call)
        }
        if (!knows) return
        // Without their targets, all results have their text.
        const alone = new HistoryPruner({ ...rules, keepRecent: 1 }).prune(
          [...view, { role: 'assistant', content: '' }],
          {
            now: 1,
          },
        )
        const last = alone.messages.findLast((message) => (message as Message).role === 'tool') as Message
        if (steps.length === at || last.content === steps.at(-1)![0]) return
        // It keeps its pointers only if all of their targets are sent as they were, or with their whole text.
        const wholeOf = (id: string) => steps.find(([, call]) => call.toolCallId === id)?.[0]
        const contentOf = (messages: readonly unknown[], id: string) =>
          (messages as Message[]).find(({ tool_call_id }) => tool_call_id === id)?.content
        for (const { toolCallId, argument } of ledger.get(String(last.tool_call_id))?.folds?.edits ?? []) {
          if (toolCallId !== undefined && argument === undefined)
            expect([contentOf(view, toolCallId), wholeOf(toolCallId)]).toContain(contentOf(alone.messages, toolCallId))
        }
      }),
      runs,
    )
  })
})

describe('ContextManager', () => {
  test('restores a session that was not used yet from its first request', async () => {
    const host = new Host()
    host.add(file(0, 60), read('a'))
    const stored = [...host.messages, { role: 'assistant', content: 'done' }, { role: 'user', content: 'go on' }]
    const options = { contextWindow: 200_000, ledger: host.ledger }
    for (const [fold, name] of [
      [new FoldSession(), '4-57 of the read of src/a.ts'],
      [host.fold, '4-57 of the read of src/a.ts'],
    ] as const) {
      await new ContextManager<unknown>({ ...options, fold }).prepare(stored)
      expect(pointerIn(fold.fold(file(0, 60), bash('b')).content)).toBe(name)
    }
  })

  test('restores a session in which a call runs, or has ended, before the first request', async () => {
    const ended = [turn(read('a'), file(0, 60)), turn(bash('x'), file(100, 160))].flat()
    for (const before of ['runs', 'has ended']) {
      const fold = new FoldSession()
      fold.begin(bash('x'))
      if (before === 'has ended') fold.fold(file(100, 160), bash('x'))
      const history = before === 'runs' ? turn(read('a'), file(0, 60)) : ended
      await new ContextManager<unknown>({ contextWindow: 200_000, fold }).prepare(history)
      expect(pointerIn(fold.fold(file(0, 60), bash('b')).content)).toBe('4-57 of the read of src/a.ts')
    }
  })

  test('leaves a session alone that knows all of the first request, and with every later one', async () => {
    const fold = new FoldSession()
    const manager = new ContextManager<unknown>({ contextWindow: 200_000, fold })
    expect(fold.fold(file(0, 60), read('a')).record).toBeUndefined()
    fold.fold(file(200, 260), bash('not sent'))
    await manager.prepare(turn(read('a'), file(0, 60)))
    expect(fold.fold(file(200, 260), bash('c')).record).toBeDefined()
    await manager.prepare([turn(read('a'), file(0, 60)), turn(read('other'), file(300, 360))].flat())
    expect(fold.fold(file(300, 360), bash('d')).record).toBeUndefined()
  })

  test('leaves a session alone that knows a result too short to be folded', async () => {
    const fold = new FoldSession()
    const manager = new ContextManager<unknown>({ contextWindow: 200_000, fold })
    fold.fold('ok', bash('a'))
    fold.fold(file(200, 260), bash('not sent'))
    await manager.prepare(turn(bash('a'), 'ok'))
    expect(fold.fold(file(200, 260), bash('c')).record).toBeDefined()
  })
})

describe('a line in place of others', () => {
  const marked = (name: number) =>
    file(0, 60)
      .split('\n')
      .map((line, at) => (at % 7 === 0 ? `${line} // ${name}` : line))
      .join('\n')
  const run = (failing: string) =>
    `${file(100, 160)}\n--- FAIL: ${failing} (0.00s)\n    a_test.go:1: no\nFAIL\nFAIL\texample.com/a\t0.010s\n`

  test('is known by its beginning, in each form that a fold writes', () => {
    const fold = new FoldSession()
    const results: [string, Call][] = [
      [file(0, 60), read('a')],
      [`${file(0, 60)}\nmore`, bash('b', 'cat a')],
      ...[1, 2].map((name): [string, Call] => [marked(name), read(`v${name}`)]),
      [run('TestOne'), bash('t1', 'go test ./...')],
      [run('TestTwo'), bash('t2', 'go test ./...')],
    ]
    const lines = results.flatMap(([text, call]) => {
      const { content, record } = fold.fold(text, call)
      const pointers = record?.edits.filter(({ toolCallId }) => toolCallId !== undefined) ?? []
      const changes = content.split('\n').filter((line) => line.startsWith('[test failures'))
      const gone = record === undefined ? [] : withoutPointers(content, record).split('\n')
      return [
        ...pointers.flatMap((edit) => edit.text.split('\n').filter((line) => !text.includes(line))),
        ...changes,
        ...gone.filter((line) => line.includes('not in view')),
      ]
    })
    const forms = [
      /: same as lines /,
      /: as there/,
      /lines differ from /,
      /^\[test failures since /,
      /not in view any more/,
    ]
    expect(forms.filter((form) => !lines.some((line) => form.test(line)))).toEqual([])
    expect(lines.filter((line) => !isPointerLine(line))).toEqual([])
  })

  test.each([
    '',
    '[',
    '[lines 1-9]',
    '[lines 1-9: same]',
    '[lines a-b: same as lines 1-9 of the read of a above]',
    ' [lines 1-9: same as lines 1-9 of the read of a above]',
    'lines 1-9: same as lines 1-9 of the read of a above',
    '[2 of 40 lines are long]',
    '[info] test failures since the last run of it: none',
    `[${'1'.repeat(100_000)}`,
  ])('is none that only resembles one: %.40s', (line) => {
    expect(isPointerLine(line)).toBe(false)
  })
})
