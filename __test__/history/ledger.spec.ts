import fc from 'fast-check'
import {
  createTruncationMiddleware,
  HistoryPruner,
  MemoryStorage,
  SpillwayError,
  simplifyOutdatedTerminalResults,
  ToolRegistry,
  ToolResultLedger,
  type ToolResultRecord,
  TruncationService,
} from 'spillway'
import { deepFreeze, type Fields } from './support'

const NOW = 1_769_824_800_000
const MINUTE = 60_000
const entry = (more: Partial<ToolResultRecord> = {}): ToolResultRecord => ({
  toolCallId: 'a',
  toolName: 'bash',
  endedAt: NOW,
  isError: false,
  bytes: 2,
  ...more,
})

describe('ToolResultLedger', () => {
  test('remembers a call, and nothing of what the caller does to the record later', () => {
    const ledger = new ToolResultLedger()
    const given = entry({ args: { paths: ['a.ts'] }, exitCode: 0 })
    ledger.record(given)
    ;(given.args as { paths: string[] }).paths.push('b.ts')
    given.toolName = 'other'
    expect(ledger.get('a')).toEqual(entry({ args: { paths: ['a.ts'] }, exitCode: 0 }))
    expect(ledger.get('b')).toBeUndefined()
    expect(ledger.size).toBe(1)
  })

  test('keeps what it knows and adds what it did not', () => {
    const ledger = new ToolResultLedger()
    ledger.record(entry())
    ledger.record(entry({ endedAt: NOW + 5, toolName: 'other', outputPath: '/tmp/full.txt', lines: 3 }))
    expect(ledger.get('a')).toEqual(entry({ outputPath: '/tmp/full.txt', lines: 3 }))
  })

  test('a call and its tool are enough; what is only assumed gives way to what a later record says', () => {
    const ledger = new ToolResultLedger()
    const before = Date.now()
    ledger.record({ toolCallId: 'a', toolName: 'bash' })
    expect(ledger.get('a')).toMatchObject({ isError: false, bytes: 0 })
    expect(ledger.get('a')?.endedAt).toBeGreaterThanOrEqual(before)
    ledger.record({ toolCallId: 'a', toolName: 'bash', exitCode: 1 })
    expect(ledger.get('a')).toMatchObject({ isError: true, bytes: 0, exitCode: 1 })
    ledger.record(entry())
    expect(ledger.get('a')).toEqual(entry({ exitCode: 1 }))
    ledger.record(entry({ isError: true, bytes: 9, endedAt: NOW + 1 }))
    expect(ledger.get('a')).toEqual(entry({ exitCode: 1 }))
    ledger.record({ toolCallId: 'b', toolName: 'bash', exitCode: 2 })
    expect(ledger.get('b')?.isError).toBe(true)
  })

  test('recording twice, in any order afterwards, changes nothing', () => {
    const record = fc.record(
      {
        toolCallId: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
        toolName: fc.string(),
        endedAt: fc.integer(),
        isError: fc.boolean(),
        bytes: fc.nat(),
        exitCode: fc.integer(),
        hasStderr: fc.boolean(),
        lines: fc.nat(),
        outputPath: fc.string({ minLength: 1 }),
        args: fc.dictionary(fc.string(), fc.json()),
      },
      { requiredKeys: ['toolCallId', 'toolName', 'endedAt', 'isError', 'bytes'] },
    )
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const ledger = new ToolResultLedger()
        for (const one of deepFreeze(records)) ledger.record(one)
        const once = JSON.stringify(ledger)
        for (const one of [...records].reverse()) ledger.record(one)
        expect(JSON.stringify(ledger)).toBe(once)
        expect(JSON.stringify(ToolResultLedger.fromJSON(once))).toBe(once)
        expect(ToolResultLedger.fromJSON(JSON.parse(once)).toJSON()).toEqual(ledger.toJSON())
      }),
    )
  })

  test('forgets the calls that were recorded first', () => {
    const ledger = new ToolResultLedger({ maxEntries: 2 })
    for (const toolCallId of ['a', 'b', 'a', 'c']) ledger.record(entry({ toolCallId }))
    expect(ledger.toJSON().entries.map(({ toolCallId }) => toolCallId)).toEqual(['b', 'c'])
    expect(ToolResultLedger.fromJSON(ledger.toJSON(), { maxEntries: 1 }).get('b')).toBeUndefined()
    const usual = new ToolResultLedger()
    for (let n = 0; n <= 10_000; n++) usual.record(entry({ toolCallId: `${n}` }))
    expect([usual.size, usual.get('0'), usual.get('1')?.bytes]).toEqual([10_000, undefined, 2])
  })

  test('does not keep large arguments', () => {
    const ledger = new ToolResultLedger()
    ledger.record(entry({ args: { content: 'x'.repeat(5000) } }))
    expect(ledger.get('a')).toEqual(entry())
  })

  test('names what is wrong', () => {
    const cyclic: Fields = {}
    cyclic.self = cyclic
    const refused: [unknown, string][] = [
      [null, 'entry'],
      [{ ...entry(), toolCallId: '' }, 'entry.toolCallId'],
      [{ ...entry(), toolName: 1 }, 'entry.toolName'],
      [{ ...entry(), endedAt: Number.NaN }, 'entry.endedAt'],
      [{ ...entry(), isError: 1 }, 'entry.isError'],
      [{ ...entry(), bytes: -1 }, 'entry.bytes'],
      [{ ...entry(), exitCode: 1.5 }, 'entry.exitCode'],
      [{ ...entry(), outputPath: '' }, 'entry.outputPath'],
      [{ ...entry(), args: [] }, 'entry.args'],
      [{ ...entry(), args: cyclic }, 'entry.args'],
      [{ ...entry(), size: 1 }, 'entry.size'],
    ]
    const ledger = new ToolResultLedger()
    for (const [value, field] of refused) {
      const record = () => ledger.record(value as never)
      expect(record).toThrow(SpillwayError)
      expect(record).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
    }
    expect(ledger.size).toBe(0)
    for (const [state, field] of [
      ['{', 'state'],
      [null, 'state'],
      [{ version: 2, entries: [] }, 'state.version'],
      [{ version: 1 }, 'state.entries'],
      [{ version: 1, entries: [{ ...entry(), bytes: 'x' }] }, 'state.entries[0].bytes'],
    ] as const) {
      expect(() => ToolResultLedger.fromJSON(state as never)).toThrow(expect.objectContaining({ field }))
    }
    for (const options of [null, { maxEntries: 0 }, { maxEntries: 1.5 }, { maxEntry: 1 }]) {
      expect(() => new ToolResultLedger(options as never)).toThrow(SpillwayError)
    }
  })
})

describe('the source of a fact', () => {
  const service = () => new TruncationService({ storage: new MemoryStorage(), global: { maxLines: 2 } })

  test('is the middleware, before anything is cut', async () => {
    const ledger = new ToolResultLedger()
    const middleware = createTruncationMiddleware({ service: service(), ledger })
    const output = JSON.stringify({ stdout: 'é\n'.repeat(100), stderr: 'no', exitCode: 3 }, null, 1)
    const bounded = await middleware('bash', { output, success: true }, { toolName: 'bash', toolCallId: 'a' })
    expect(bounded.metadata?.truncated).toBe(true)
    expect(ledger.get('a')).toEqual({
      toolCallId: 'a',
      toolName: 'bash',
      endedAt: expect.any(Number),
      isError: true,
      exitCode: 3,
      hasStderr: true,
      bytes: Buffer.byteLength(output),
      outputPath: bounded.metadata?.truncationPath,
    })
    await middleware('bash', { output: 'x' }, { toolName: 'bash' })
    await middleware('read', { output: 'x', isError: true }, { toolName: 'read', toolCallId: 'b' })
    await middleware('read', { output: 'x' }, { toolName: 'read', toolCallId: 'c', failed: true })
    await middleware('bash', { output: 'x', metadata: { exitCode: 0 } }, { toolName: 'bash', toolCallId: 'd' })
    expect(ledger.size).toBe(4)
    expect(['b', 'c', 'd'].map((id) => ledger.get(id)?.isError)).toEqual([true, true, false])
    expect(ledger.get('d')?.exitCode).toBe(0)
  })

  test('is the registry, with the arguments', async () => {
    const ledger = new ToolResultLedger()
    const registry = new ToolRegistry({ ledger })
    registry.register({ name: 'read', execute: () => 'ok' })
    await registry.execute([
      { id: 'a', name: 'read', arguments: '{"path":"a.ts"}' },
      { id: 'b', name: 'ghost' },
    ])
    expect(ledger.get('a')).toMatchObject({ toolName: 'read', args: { path: 'a.ts' }, bytes: 2, isError: false })
    expect(ledger.get('b')).toMatchObject({ toolName: 'ghost', isError: true })
    registry.setTruncationMiddleware(createTruncationMiddleware({ service: service(), ledger }))
    await registry.execute([{ id: 'c', name: 'read', arguments: { path: 'c.ts' } }])
    expect(ledger.get('c')).toMatchObject({ toolName: 'read', args: { path: 'c.ts' } })
    expect(() => new ToolRegistry({ ledger: {} as never })).toThrow(SpillwayError)
  })

  test('does not disturb a call when it fails', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const ledger = {
      record() {
        throw new Error('full')
      },
    }
    const middleware = createTruncationMiddleware({ service: service(), ledger })
    const result = await middleware('bash', { output: 'ok' }, { toolName: 'bash', toolCallId: 'a' })
    expect(result.output).toBe('ok')
    expect(warned).toHaveBeenCalledWith('ledger.record: full', 'SpillwayWarning')
    warned.mockRestore()
    expect(() => createTruncationMiddleware({ service: service(), ledger: 1 as never })).toThrow(SpillwayError)
  })
})

describe('a fact about an outdated result', () => {
  const old = (more: Fields) => ({
    role: 'tool',
    tool_call_id: 'a',
    timestamp: NOW - 60 * MINUTE,
    content: 'x',
    ...more,
  })
  const replaced = (message: object, record: Partial<ToolResultRecord> | undefined, options: object = {}) => {
    const ledger = new ToolResultLedger()
    if (record) ledger.record(entry({ endedAt: NOW - 60 * MINUTE, ...record }))
    const messages = deepFreeze([message])
    return simplifyOutdatedTerminalResults(messages, { now: NOW, keepRecent: 0, ledger, ...options })[0] !== message
  }

  test('is the tool', () => {
    expect(replaced(old({}), undefined)).toBe(false)
    expect(replaced(old({}), { toolName: 'bash' })).toBe(true)
    expect(replaced(old({ name: 'bash' }), { toolName: 'read' })).toBe(false)
    expect(replaced(old({}), { toolName: 'own' }, { terminalTools: ['own'] })).toBe(true)
    // Facts from one ledger must not be cached with the message.
    const message = old({ name: 'bash' })
    expect([replaced(message, { toolName: 'read' }), replaced(message, undefined)]).toEqual([false, true])
  })

  test('is the failure', () => {
    expect(replaced(old({}), { isError: true })).toBe(false)
    expect(replaced(old({}), { exitCode: 1 })).toBe(false)
    expect(replaced(old({}), { hasStderr: true })).toBe(false)
    expect(replaced(old({}), { hasStderr: true }, { stderrIsError: false })).toBe(true)
  })

  test('is the success, with any text', () => {
    const like = old({ content: 'Error: so begins a line of a log' })
    expect(replaced(like, {})).toBe(false)
    expect(replaced(like, { exitCode: 0 })).toBe(true)
    const shown = old({ content: '{"stdout":"","stderr":"warning","exitCode":0}' })
    expect(replaced(shown, { exitCode: 0 })).toBe(false)
    expect(replaced(shown, { exitCode: 0 }, { stderrIsError: false })).toBe(true)
  })

  test('is the time, where the message has none', () => {
    expect(replaced(old({ timestamp: undefined }), {})).toBe(true)
    expect(replaced(old({ timestamp: undefined }), { endedAt: NOW })).toBe(false)
    expect(replaced(old({ timestamp: NOW }), {})).toBe(false)
  })

  test('is the saved file', () => {
    const ledger = new ToolResultLedger()
    ledger.record(entry({ outputPath: '/tmp/full.txt' }))
    const placeholder = jest.fn(() => 'gone')
    simplifyOutdatedTerminalResults([old({})], { now: NOW, keepRecent: 0, ledger, placeholder })
    expect(placeholder).toHaveBeenCalledWith(
      expect.objectContaining({ toolName: 'bash', outputPath: '/tmp/full.txt', toolCallId: 'a' }),
    )
  })

  test('accepts facts from any object of the right shape, and from no other', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const ledger = {
      get(): never {
        throw new Error('lost')
      },
    }
    expect(replaced(old({ name: 'bash' }), undefined, { ledger })).toBe(true)
    expect(warned).toHaveBeenCalled()
    warned.mockRestore()
    expect(() => simplifyOutdatedTerminalResults([], { ledger: {} as never })).toThrow(
      expect.objectContaining({ field: 'options.ledger' }),
    )
  })
})

describe('a ledger of the caller’s own', () => {
  const result = { role: 'tool', tool_call_id: 'a', name: 'bash', content: 'x'.repeat(500), timestamp: 0 }
  const call = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'bash', arguments: '{}' } }] }
  const throwing = new Proxy(
    {},
    {
      get() {
        throw new Error('locked')
      },
    },
  )
  const asked = (known: unknown) => {
    const ledger = { get: () => known } as never
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const [first] = simplifyOutdatedTerminalResults([result], { now: NOW, keepRecent: 0, ledger })
    const warnings = warned.mock.calls.map(([text]) => String(text))
    warned.mockRestore()
    const errors: string[] = []
    const onError = (error: SpillwayError) => errors.push(error.message)
    const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 0, ledger, onError })
    const { report } = pruner.prune([call, result, { role: 'assistant', content: 'done' }])
    return { replaced: first !== result, warnings, pruned: report.pruned.length, errors }
  }

  test('may know nothing, or have gaps', () => {
    for (const known of [undefined, null, { toolName: 'bash', exitCode: null, outputPath: null, more: 1 }]) {
      expect(asked(known)).toEqual({ replaced: true, warnings: [], pruned: 1, errors: [] })
    }
    expect(asked({ isError: true })).toMatchObject({ replaced: false, warnings: [], pruned: 1, errors: [] })
  })

  test.each([
    [5, 'Invalid option "ledger.get": expected a record, or undefined, received 5'],
    [
      { toolName: 'bash', exitCode: Number.NaN },
      'Invalid option "ledger.get.exitCode": expected a whole number, received NaN',
    ],
    [
      { toolName: 'bash', endedAt: 5n },
      'Invalid option "ledger.get.endedAt": expected a number of milliseconds since the epoch, received a bigint',
    ],
    [
      { toolName: 'bash', outputPath: 5 },
      'Invalid option "ledger.get.outputPath": expected a string that is not empty, received 5',
    ],
  ])('may answer anything, and disturbs nothing: %p', (known, message) => {
    const { warnings, errors, ...done } = asked(known)
    expect(done).toEqual({ replaced: true, pruned: 1 })
    expect(warnings).toEqual([expect.stringContaining(message)])
    expect(errors).toEqual([`ledger: ${message}`])
  })

  test('loses an error for no other field that it cannot say', () => {
    expect(asked({ toolName: Symbol('bash'), isError: true, endedAt: 'noon' })).toMatchObject({
      replaced: false,
      pruned: 1,
    })
    expect(asked(throwing)).toMatchObject({ pruned: 1 })
  })
})
