import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import {
  createTruncationMiddleware,
  type OutputService,
  type ToolResultLike,
  type TruncationContext,
  type TruncationEvent,
  type TruncationMiddlewareConfig,
  type TruncationOptions,
  type TruncationServiceConfig,
} from 'spillway'
import type { ContentPart } from 'spillway/truncation'
import { bytesOf, makeListening, makeService, numbered, turn } from '../support/outputs'
import { filesIn, overrideDefaultDir, tempDir } from '../support/temp'

const context: TruncationContext = { toolName: 'x' }
const image = { type: 'image', data: 'abc' }
const LONE = 'a\ud800b'

type Result = ToolResultLike & { extra?: unknown }

/** Middleware over a service of the test's own, and what it reports. */
function make(
  options: Omit<TruncationMiddlewareConfig<Result>, 'service'> & { config?: TruncationServiceConfig } = {},
) {
  const { config = {}, ...others } = options
  const { service, events } = makeListening({ global: { maxLines: 3 }, ...config })
  return { run: createTruncationMiddleware<Result>({ service, ...others }), service, events }
}

/** The whole output of a truncated result, as it was saved. */
const savedText = (result: Result) => readFileSync(String(result.metadata?.truncationPath), 'utf8')

describe('results', () => {
  test('within limits keep their output and are stamped', async () => {
    const output = numbered(3)
    const result = Object.freeze({ success: true, output, extra: 1, metadata: Object.freeze({ mine: 2 }) })
    expect(await make().run('x', result, context)).toStrictEqual({
      success: true,
      output,
      extra: 1,
      metadata: { mine: 2, truncated: false },
    })
  })

  test('over limits get a preview, and metadata says where the rest is', async () => {
    const result = await make().run('x', { success: true, output: numbered(9), metadata: { mine: 2 } }, context)
    expect(result.output).toMatch(/^line 1\nline 2\nline 3\n\n\.\.\.6 lines truncated\.\.\.\n/)
    expect(result.metadata).toEqual({
      mine: 2,
      truncated: true,
      truncationPath: expect.stringContaining('x_'),
      truncationRemovedLines: 6,
      truncationRemovedBytes: 42,
    })
    expect(savedText(result)).toBe(numbered(9))
  })

  test.each([undefined, null, ''])('without output are left alone: %p', async (output) => {
    const { run, events } = make()
    const result = { success: true, output }
    expect(await run('x', result, context)).toBe(result)
    const empty = {}
    expect(await run('x', empty, context)).toBe(empty)
    expect(events).toEqual([])
  })

  test('that are none are given back', async () => {
    const { run } = make()
    for (const result of [undefined, null, 5, 'text']) {
      expect(await run('x', result as unknown as Result, context)).toBe(result)
    }
  })

  test('that failed are bounded from their end, and the notice does not claim success', async () => {
    const { run } = make()
    for (const failure of [{ success: false }, { isError: true }]) {
      const { output } = await run('x', { ...failure, output: numbered(9) }, context)
      expect(output).toMatch(/^\.\.\.6 lines truncated\.\.\.\n\nThe tool call failed[\s\S]*\n\nline 7\nline 8\nline 9$/)
    }
    const asked = await run('x', { success: false, output: numbered(9) }, { ...context, failed: false })
    expect(asked.output).toMatch(/^line 1\n/)
  })

  test('that say that truncation was dealt with are the same object up to the hard ceiling', async () => {
    const { run } = make({ config: { global: { maxLines: 3, maxBytes: 100 } } })
    for (const truncated of [true, false]) {
      const result = { success: true, output: `${'x'.repeat(39)}\n`.repeat(10), metadata: { truncated } }
      expect(await run('x', result, context)).toBe(result)
      const over = await run('x', { ...result, output: `${result.output}y` }, context)
      expect(over.metadata).toMatchObject({ truncated: true, truncationRemovedLines: 9 })
      expect(over.output).toContain('it is over 400 bytes')
    }
    const undecided = await run('x', { output: numbered(9), metadata: { truncated: undefined } }, context)
    expect(undecided.metadata).toMatchObject({ truncated: true })
  })

  test('are bounded for the tool that is named, with any other context', async () => {
    const { run, events } = make({ config: { global: {}, tools: { mine: { maxLines: 2 } } } })
    const bounded = await run('mine', { output: numbered(9) }, { toolName: 'mine', sessionId: 's', toolCallId: 'c' })
    expect(bounded.metadata).toMatchObject({ truncationRemovedLines: 7 })
    expect(events).toEqual([expect.objectContaining({ toolName: 'mine', sessionId: 's', toolCallId: 'c' })])
    for (const without of [undefined, null, {}]) {
      const result = await run('mine', { output: numbered(9) }, without as unknown as TruncationContext)
      expect(result.metadata).toMatchObject({ truncationRemovedLines: 7 })
    }
  })

  test('tell when nothing could be saved', async () => {
    const { run } = make({ config: { global: { maxLines: 3 }, storageDirs: ['/dev/null/x'] } })
    const { metadata } = await run('x', { output: numbered(9) }, context)
    expect(metadata).toMatchObject({ truncated: true, truncationPath: '' })
  })
})

describe('decisions of the host', () => {
  test('skipTools are never touched, with any output', async () => {
    const { run, events } = make({ skipTools: ['free', 'other'] })
    for (const output of [numbered(100_000), { big: numbered(100_000) }]) {
      const result = { output }
      expect(await run('free', result, { toolName: 'free' })).toBe(result)
    }
    expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncated: true })
    expect(events.map(({ type }) => type)).toEqual(['truncated'])
  })

  test('shouldTruncate is asked with the name and the result, and its false is obeyed', async () => {
    const shouldTruncate = jest.fn(() => false)
    const { run } = make({ shouldTruncate })
    const result = { output: numbered(100_000) }
    expect(await run('x', result, context)).toBe(result)
    expect(shouldTruncate.mock.calls).toEqual([['x', result]])
  })

  test('shouldTruncate may give options for the call', async () => {
    const options: TruncationOptions[] = [{ maxLines: 5 }, { direction: 'tail' }, { skip: true }]
    const { run } = make({ shouldTruncate: () => options.shift() ?? true })
    const removed = async () => (await run('x', { output: numbered(9) }, context)).metadata?.truncationRemovedLines
    expect(await removed()).toBe(4)
    expect((await run('x', { output: numbered(9) }, context)).output).toMatch(/line 9$/)
    expect(await removed()).toBeUndefined()
    expect(await removed()).toBe(6)
  })

  test('shouldTruncate is not asked about results that were dealt with or skipped', async () => {
    const shouldTruncate = jest.fn(() => true)
    const { run } = make({ shouldTruncate, skipTools: ['free'] })
    await run('x', { output: 'short', metadata: { truncated: true } }, context)
    await run('free', { output: 'short' }, context)
    expect(shouldTruncate).not.toHaveBeenCalled()
  })

  test.each([null, undefined, 0, 1, 'no', {}, [], Symbol('x'), Promise.resolve(false)])(
    'an invalid answer of shouldTruncate leaves the result bounded: %p',
    async (answer) => {
      const { run } = make({ shouldTruncate: () => answer as boolean })
      expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncationRemovedLines: 6 })
    },
  )

  test('options of shouldTruncate that are wrong are reported, and the result is bounded without them', async () => {
    const { run, events } = make({ shouldTruncate: () => ({ maxLines: -1 }) })
    expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncationRemovedLines: 6 })
    expect(events.map(({ type, errorCode }) => [type, errorCode])).toEqual([
      ['error', 'INVALID_ARGUMENT'],
      ['truncated', undefined],
    ])
  })

  test('a shouldTruncate that throws is reported, and the result is bounded', async () => {
    const { run, events } = make({
      shouldTruncate: () => {
        throw new Error('undecided')
      },
    })
    expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncationRemovedLines: 6 })
    expect(events.map(({ type, errorCode, error }) => [type, errorCode, error])).toEqual([
      ['error', 'CALLBACK', 'undecided'],
      ['truncated', undefined, undefined],
    ])
  })

  test('a shouldTruncate that is asynchronous and fails breaks nothing', async () => {
    const { run } = make({ shouldTruncate: (async () => Promise.reject(new Error('undecided'))) as never })
    expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncated: true })
    await turn()
  })
})

describe('any value', () => {
  const big = Array.from({ length: 2000 }, (_, index) => ({ id: index, name: `item ${index}` }))
  const cyclic: Record<string, unknown> = { list: big }
  cyclic.self = cyclic

  test.each<[string, unknown]>([
    ['an object', { a: 1, b: [2, { c: 'd' }] }],
    ['an array', [1, 'two', null]],
    ['an empty array', []],
    ['a number', 42],
    ['zero', 0],
    ['false', false],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint', 10n ** 20n],
    ['a Date', new Date(0)],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['an Error', Object.assign(new Error('short'), { stack: 'Error: short' })],
    ['a RegExp', /x/],
    ['nothing but a prototype', Object.create(null)],
    [
      'a class of the host',
      new (class Host {
        value = 1
      })(),
    ],
    [
      'a cycle',
      (() => {
        const a: { self?: unknown } = {}
        a.self = a
        return a
      })(),
    ],
    ['parts', [{ type: 'text', text: 'short' }, image]],
    ['a result of MCP', { content: [{ type: 'text', text: 'short' }, image], isError: false }],
  ])('within limits comes back itself: %s', async (_what, output) => {
    const result = await make({ config: { global: {} } }).run('x', { output }, context)
    expect(result.output).toBe(output)
    expect(result.metadata).toEqual({ truncated: false })
  })

  test.each<[string, unknown, string]>([
    ['an object', { list: big }, JSON.stringify({ list: big }, null, 2)],
    ['an array', big, JSON.stringify(big, null, 2)],
    ['a bigint', 10n ** 90_000n, String(10n ** 90_000n)],
    ['something with toJSON', { toJSON: () => big }, JSON.stringify(big, null, 2)],
    ['bigints inside', { list: big, id: 12345678901234567890n }, '"id": "12345678901234567890"'],
    ['a cycle', cyclic, '"self": "[Circular]"'],
    ['Dates inside', { list: big, at: new Date(0) }, '"at": "1970-01-01T00:00:00.000Z"'],
    ['an Error', Object.assign(new Error('boom '.repeat(20_000)), { code: 'E1' }), '"code":"E1"'],
    ['Errors inside', { list: big, error: new TypeError('inner') }, '"message": "inner"'],
    ['lone surrogates inside', { list: big, text: LONE }, 'a\\ud800b'],
  ])('over limits becomes a preview of its JSON, and that is saved: %s', async (_what, output, expected) => {
    const result = await make({ config: { global: {} } }).run('x', { output }, context)
    expect(result.metadata).toMatchObject({ truncated: true })
    expect(typeof result.output).toBe('string')
    expect(bytesOf(result.output as string)).toBeLessThan(52_000)
    expect(savedText(result).includes(expected)).toBe(true)
  })

  test.each([
    ['head', undefined, 12_000],
    ['tail', undefined, 12_000],
    ['head', 1000, 1000],
  ] as const)('a long text inside is shown, from its %s, within %s tokens', async (direction, maxTokens, least) => {
    const ran = { command: 'make', stdout: numbered(20_000), exitCode: 0 }
    const { run } = make({ config: { global: { direction, maxTokens } } })
    for (const output of [ran, { content: [{ type: 'text', text: 'x' }], details: ran }]) {
      const result = await run('x', { output }, context)
      const text = JSON.stringify(result.output)
      expect(text).toContain(direction === 'head' ? 'line 1\\' : 'line 20000')
      expect(text.match(/line \d+/g)!.length * 'line 1000\\n'.length).toBeGreaterThan(least)
      expect(JSON.parse(savedText(result))).toEqual(output)
    }
  })

  test.each<[string, object, string]>([
    ['exec', { stdout: numbered(3000), stderr: 'a warning' }, `${numbered(3000)}\na warning`],
    ['a code', { stdout: numbered(3000), stderr: '', exitCode: 2 }, `${numbered(3000)}\n[Exit code 2]`],
    ['no failure', { stdout: `${numbered(3000)}\n`, exit_code: 0 }, `${numbered(3000)}\n`],
    ['only errors', { stdout: '', stderr: numbered(3000), code: 1 }, `${numbered(3000)}\n[Exit code 1]`],
    [
      'spawnSync',
      spawnSync(process.execPath, [
        '-e',
        "for (let i = 1; i <= 3000; i++) console.log('line ' + i); process.exitCode = 3",
      ]),
      `${numbered(3000)}\n[Exit code 3]`,
    ],
    [
      'a signal',
      { status: null, signal: 'SIGKILL', stdout: Buffer.from(numbered(3000)), stderr: Buffer.from('') },
      `${numbered(3000)}\n[Ended by SIGKILL]`,
    ],
  ])('the streams of a command are bounded as their text, with how it ended: %s', async (what, output, expected) => {
    const result = await make({ config: { global: {} } }).run('x', { output }, context)
    expect(savedText(result)).toBe(expected)
    const isFine = ['exec', 'no failure'].includes(what)
    expect(result.output).toContain(isFine ? 'The tool call succeeded' : 'The tool call failed')
    expect(result.output).toMatch(isFine ? /line 1\n/ : /\nline 2999\nline 3000\n/)
  })

  test('the streams of a command beside anything else, and within the limits, stay what they are', async () => {
    const { run } = make({ config: { global: {} } })
    const more = { stdout: numbered(20_000), stderr: '', exitCode: 2, command: 'make' }
    expect(JSON.parse(savedText(await run('x', { output: more }, context)))).toEqual(more)
    const short = { stdout: 'a', stderr: 'b', exitCode: 2 }
    expect((await run('x', { output: short }, context)).output).toBe(short)
  })

  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  test.each([
    ['many levels', { deep: nested(2000), list: big }],
    ['more levels than the stack has', { deep: nested(20_000), list: big }],
    ['brackets in its texts', { text: '[{"\\'.repeat(200), list: big }],
  ])('a structure with %s is not saved as spaces', async (_what, output) => {
    const result = await make({ config: { global: {} } }).run('x', { output }, context)
    const saved = savedText(result)
    expect(saved.startsWith('{\n')).toBe('text' in output)
    expect(saved.length).toBeLessThan(300_000 + 2 * JSON.stringify(big).length)
    expect(saved.trimEnd()).toMatch(/\]\s*\}$/)
  })

  test('a thing that is met twice is no cycle', async () => {
    const shared = { name: 'shared' }
    const result = await make().run('x', { output: { one: shared, two: [shared, shared], three: big } }, context)
    expect(savedText(result)).not.toContain('Circular')
  })

  test('that has no JSON form passes unchanged', async () => {
    const { run } = make()
    const throwing = {
      get secret() {
        throw new Error('no')
      },
    }
    const hostile = {
      toJSON() {
        throw new Error('no')
      },
    }
    for (const output of [throwing, hostile]) expect((await run('x', { output }, context)).output).toBe(output)
  })

  test('bytes become text', async () => {
    const { run } = make()
    expect((await run('x', { output: Buffer.from('a\nb') }, context)).output).toBe('a\nb')
    const result = await run('x', { output: Buffer.from([...Buffer.from(numbered(9)), 0xff]) }, context)
    expect(result.metadata).toMatchObject({ truncationRemovedLines: 6 })
    expect(readFileSync(String(result.metadata?.truncationPath)).at(-1)).toBe(0xff)
  })

  test('parts share a budget, and media keep their place', async () => {
    const parts: ContentPart[] = [{ type: 'text', text: numbered(2) }, image, { type: 'text', text: numbered(5, 3) }]
    const { output } = await make().run('x', { output: parts }, context)
    expect(output).toEqual([
      { type: 'text', text: numbered(2) },
      image,
      { type: 'text', text: expect.stringMatching(/^line 3\n\n\.\.\.4 lines truncated/) },
    ])
    expect((output as ContentPart[])[1]).toBe(image)
  })

  test('a structure beside the parts is turned into JSON once', async () => {
    for (const text of ['short', numbered(9000)]) {
      let asked = 0
      const toJSON = () => {
        asked += 1
        return { text }
      }
      await make().run('x', { output: { content: [{ type: 'text', text }], structuredContent: { toJSON } } }, context)
      expect(asked).toBe(1)
    }
  })

  test('a result of MCP keeps its shape', async () => {
    const output = { content: [{ type: 'text', text: numbered(9) }, image], isError: false, _meta: { a: 1 } }
    const copy = structuredClone(output)
    const result = await make().run('x', { output }, context)
    expect(result.output).toEqual({
      content: [{ type: 'text', text: expect.stringMatching(/^line 1\nline 2\nline 3\n\n\.\.\.6 lines/) }, image],
      isError: false,
      _meta: { a: 1 },
    })
    expect(output).toEqual(copy)
  })

  test.each(['structured', 'structuredContent'])(
    'a result of MCP that says the same once more in %s is cut as a whole',
    async (key) => {
      const output = { content: [{ type: 'text', text: JSON.stringify(big) }, image], [key]: { list: big } }
      const result = await make({ config: { global: {} } }).run('x', { output }, context)
      const { content, [key]: structure } = result.output as { content: ContentPart[]; [key: string]: unknown }
      expect(content).toEqual([{ type: 'text', text: expect.stringContaining('truncated...') }, image])
      expect(JSON.stringify(structure)).toBe('{}')
      expect(savedText(result)).toContain('"item 1999"')
      expect(bytesOf(JSON.stringify(result.output))).toBeLessThan(2 * 51_200)
    },
  )
})

describe('text that is not well-formed', () => {
  const parts = () => [{ type: 'text', text: LONE }, image]

  test.each([
    ['a string', LONE, 'a\ufffdb'],
    ['parts', parts(), [{ type: 'text', text: 'a\ufffdb' }, image]],
  ])('is made so in %s even where nothing is cut', async (_what, given, expected) => {
    const { run } = make({ skipTools: ['free'], shouldTruncate: (name) => name !== 'no' })
    const copy = structuredClone(given)
    for (const [toolName, metadata] of [
      ['x', undefined],
      ['free', undefined],
      ['no', undefined],
      ['x', { truncated: true }],
    ] as const) {
      const { output } = await run(toolName, { output: given, metadata }, { toolName })
      expect([toolName, metadata, output]).toEqual([toolName, metadata, expected])
    }
    expect(given).toEqual(copy)
  })

  test('is made so in results of MCP too', async () => {
    const { output } = await make().run('x', { output: { content: parts(), isError: false } }, context)
    expect(output).toEqual({ content: [{ type: 'text', text: 'a\ufffdb' }, image], isError: false })
  })

  test('is saved exactly', async () => {
    const { run, service } = make()
    const text = `${LONE}\n`.repeat(9)
    const result = await run('x', { output: text }, context)
    expect((result.output as string).isWellFormed()).toBe(true)
    const { TruncationStorage } = await import('spillway')
    const dir = service.effectiveConfig(context).config.storageDir!
    expect(await new TruncationStorage(dir).read(String(result.metadata?.truncationPath))).toBe(text)
  })
})

describe('never throws', () => {
  const warnings = () => jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  let warned: ReturnType<typeof warnings>

  beforeEach(() => {
    warned = warnings()
    overrideDefaultDir(tempDir())
  })
  afterEach(() => warned.mockRestore())

  const long = 'x'.repeat(500_000)

  test.each<[string, OutputService['output']]>([
    ['rejects', () => Promise.reject(new Error('down'))],
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['answers nothing', (() => Promise.resolve(undefined)) as never],
  ])('when the service %s: the result is truncated, and an event says so', async (_what, output) => {
    const run = createTruncationMiddleware<Result>({ service: { output } })
    const bounded = await run('x', { output: long, extra: 1 }, context)
    expect(bytesOf(bounded.output as string)).toBeLessThan(52_000)
    expect(bounded).toMatchObject({ extra: 1, metadata: { truncated: true } })
    expect((await run('x', { output: 'short' }, context)).output).toBe('short')
    expect(warned).toHaveBeenCalled()
  })

  test('when the service was closed', async () => {
    const { run, service, events } = make()
    await service.close()
    const { output, metadata } = await run('x', { output: long }, context)
    expect(bytesOf(output as string)).toBeLessThan(52_000)
    expect(metadata).toMatchObject({ truncated: true })
    expect(events[0]).toMatchObject({ type: 'error', errorCode: 'CLOSED' })
  })

  test('and saves nothing where the service would not, and nothing that it would redact', async () => {
    const elsewhere = tempDir()
    overrideDefaultDir(elsewhere)
    const { run, service } = make({ config: { redact: { values: ['hunter22'] } } })
    await service.close()
    const parts = [{ type: 'text', text: `${long} hunter22` }, image]
    for (const output of [`${long} hunter22`, parts]) {
      const result = await run('x', { output }, context)
      expect(result.metadata).toMatchObject({ truncated: true, truncationPath: '' })
      expect(JSON.stringify(result.output)).toContain('was not kept')
      expect(JSON.stringify(result.output).includes('abc')).toBe(output === parts)
    }
    expect(filesIn(elsewhere)).toEqual([])
  })

  test.each<[string, unknown]>([
    ['a toolName that is no string', { toolName: ['../x'] }],
    ['a toolName that is a symbol', { toolName: Symbol('x') }],
    [
      'a toolName that is an object',
      {
        toolName: {
          toString: () => {
            throw new Error('no')
          },
        },
      },
    ],
    ['a toolName of null', { toolName: null }],
    ['a sessionId that is no string', { toolName: 'x', sessionId: 5 }],
    ['wrong options', { toolName: 'x', options: { maxLines: 'many' } }],
    ['a wrong declaration', { toolName: 'x', declared: { maxLines: 0 } }],
    ['a signal that is none', { toolName: 'x', signal: {} }],
    ['failed that is no boolean', { toolName: 'x', failed: 'yes' }],
    ['a string', 'context'],
  ])('when the context is wrong: %s', async (_what, wrong) => {
    const { run } = make()
    const result = await run('x', { output: numbered(9) }, wrong as TruncationContext)
    expect(result.metadata).toMatchObject({ truncated: true })
    expect((result.output as string).length).toBeLessThan(1000)
  })

  test('a name that is no string is one error event, and no code of the caller runs twice', async () => {
    const called = jest.fn(() => 'x')
    const { run, events } = make()
    await run('x', { output: numbered(9) }, { toolName: { toString: called } as unknown as string })
    expect(called).not.toHaveBeenCalled()
    expect(events.map(({ type }) => type)).toEqual(['error', 'truncated'])
    expect(events[0]).toMatchObject({ errorCode: 'INVALID_ARGUMENT', error: expect.stringContaining('toolName') })
  })

  test.each<[string, () => Result]>([
    [
      'output',
      () => ({
        get output(): unknown {
          throw new Error('no output')
        },
      }),
    ],
    [
      'success',
      () => ({
        output: numbered(9),
        get success(): boolean {
          throw new Error('no success')
        },
      }),
    ],
    [
      'metadata',
      () => ({
        output: numbered(9),
        get metadata(): Record<string, unknown> {
          throw new Error('no metadata')
        },
      }),
    ],
  ])('when reading %s of the result throws', async (_what, make_) => {
    const { run, events } = make()
    const result = make_()
    const outcome = await run('x', result, context).then(
      () => 'settled',
      (error: Error) => error.message,
    )
    expect(outcome).toBe('settled')
    expect(events.some(({ type }: TruncationEvent) => type === 'error')).toBe(true)
  })

  test.each<[string, unknown]>([
    ['text', long],
    ['parts', [{ type: 'text', text: long }, image]],
    ['an object', { text: long }],
    ['bytes', Buffer.from(long)],
  ])('when the call was aborted, the result is bounded, and saved as any other: %s', async (_what, output) => {
    const dir = tempDir()
    const { run } = make({ config: { storageDirs: [dir] } })
    const result = await run('x', { output }, { ...context, signal: AbortSignal.abort(new Error('stop')) })
    expect(bytesOf(JSON.stringify(result.output))).toBeLessThan(60_000)
    expect(result.metadata?.truncated).toBe(true)
    expect(filesIn(dir)).toHaveLength(1)
  })

  test('when the call was aborted, a short result passes', async () => {
    const { output } = await make().run('x', { output: 'short' }, { ...context, signal: AbortSignal.abort() })
    expect(output).toBe('short')
  })
})

test('middleware asks nothing of a service but its output', async () => {
  const service = makeService({ global: { maxLines: 3 } })
  const run = createTruncationMiddleware<Result>({
    service: { output: (content, ctx) => service.output(content, ctx) },
  })
  expect((await run('x', { output: numbered(9) }, context)).metadata).toMatchObject({ truncationRemovedLines: 6 })
})

describe('values that only look like parts', () => {
  const records = Array.from({ length: 5000 }, (_, index) => ({ type: 'dir', name: `d${index}` }))

  test.each<[string, unknown]>([
    ['a list of typed records', records],
    ['a holder of typed records', { content: records }],
    ['a list with holes', new Array(100_000)],
    ['an embedded resource', [{ type: 'resource', resource: { uri: 'x', text: numbered(50_000) } }]],
    ['a large structure beside parts', { content: [{ type: 'text', text: 'short' }], data: records }],
    ['large metadata beside parts', { content: [image], _meta: { records } }],
  ])('%s is bounded', async (_what, output) => {
    const { output: shown, metadata } = await make({ config: { global: { maxBytes: 1000 } } }).run(
      'x',
      { output },
      context,
    )
    expect(metadata?.truncated).toBe(true)
    expect(bytesOf(JSON.stringify(shown))).toBeLessThan(3000)
  })

  test('media of a holder keep their place, and its small fields stay', async () => {
    const output = { content: [image, { type: 'text', text: 'x' }], isError: false, data: records }
    const { output: shown } = await make().run('x', { output }, context)
    expect(shown).toMatchObject({ isError: false, content: [{ type: 'text' }, image] })
    expect(shown).not.toHaveProperty('data')
  })
})

describe('any other value', () => {
  test('is measured as it is sent, on one line', async () => {
    const rows = { rows: Array.from({ length: 2000 }, (_, index) => index) }
    const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`)
    const { run } = make({ config: { global: {} } })
    for (const output of [rows, deep]) expect((await run('x', { output }, context)).output).toBe(output)
    const long = { rows: Array.from({ length: 20_000 }, (_, index) => index) }
    const result = await run('x', { output: long }, context)
    expect(String(result.output)).toMatch(/^\{\n {2}"rows": \[\n {4}0,\n/)
    expect(savedText(result)).toBe(JSON.stringify(long, null, 2))
  })

  test('is well-formed in every name and text of it, and else the very value', async () => {
    const { run } = make({ config: { global: {} } })
    const torn = { [`${LONE}k`]: [LONE, { deep: LONE }], escape: '\\ud800', pair: '😀' }
    const whole = { 'a\ufffdbk': ['a\ufffdb', { deep: 'a\ufffdb' }], escape: '\\ud800', pair: '😀' }
    expect((await run('x', { output: torn }, context)).output).toEqual(whole)
    const structured = { content: [{ type: 'text', text: 'ok' }], structuredContent: torn }
    expect((await run('x', { output: structured }, context)).output).toEqual({
      ...structured,
      structuredContent: whole,
    })
    expect((await run('x', { output: { ok: '\\ud800' } }, context)).output).toEqual({ ok: '\\ud800' })
    expect(await run('x', { error: LONE }, context)).toEqual({ error: 'a\ufffdb' })
  })

  test('is bounded although a part of it cannot be read', async () => {
    const output = {
      get broken() {
        throw new Error('no')
      },
      text: 'line\n'.repeat(20_000),
    }
    const result = await make().run('x', { output }, context)
    expect(result.metadata).toMatchObject({ truncated: true })
    expect(String(result.output).length).toBeLessThan(60_000)
  })
})

describe('the error of a result', () => {
  test('is the bounded output where it was the output', async () => {
    const message = numbered(50_000)
    const result = await make().run('x', { success: false, output: message, error: message }, context)
    expect(result.error).toBe(result.output)
    expect(String(result.error)).toContain('line 50000')
  })

  test('is bounded above the hard ceiling where truncation was dealt with', async () => {
    for (const output of ['', 'short']) {
      const handled = { success: false, output, metadata: { truncated: true } }
      const within = { ...handled, error: numbered(9000) }
      expect(await make().run('x', within, context)).toBe(within)
      const result = await make().run('x', { ...handled, error: numbered(50_000) }, context)
      expect(bytesOf(String(result.error))).toBeLessThan(60_000)
      expect([result.output, result.error]).toEqual([output, expect.stringContaining('line 50000')])
    }
  })

  test('is truncated if it is alone, and saved whole', async () => {
    const error = numbered(50_000)
    for (const output of ['', undefined, 'short']) {
      const result = await make().run('x', { success: false, output, error }, context)
      expect(bytesOf(String(result.error))).toBeLessThan(2000)
    }
    const { metadata } = await make().run('x', { success: false, output: '', error }, context)
    expect(readFileSync(String(metadata?.truncationPath), 'utf8')).toBe(error)
  })
})
