// Everything that the package gives or throws must belong to the realm of the code that calls it. Jest and Vitest's vm
// pools run tests in a realm of their own, in which values made by a binary fail `instanceof`, `toThrow(Error)` and
// `toStrictEqual`. The same file runs under each runner: the globals `describe`, `test` and `expect` are the runner's.

import assert from 'node:assert'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import {
  createTruncation,
  createTruncationMiddleware,
  SpillwayError,
  ToolRegistry,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  containsTruncationMarker,
  createTruncationPlugin,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  LineBasedStrategy,
  TOOL_TRUNCATION_CONFIGS,
  truncationPlugin,
} from 'spillway/truncation'

const storageDir = mkdtempSync(join(process.env.SPILLWAY_STORAGE_DIR, 'realm-'))
afterAll(() => rmSync(storageDir, { recursive: true, force: true }))

const SHORT = 'one\ntwo\n'
const LONG = 'a line of some length\n'.repeat(5000)
const context = { toolName: 'test' }

// Node 20 has the symbol only in its main realm; compilers of `await using` then look for the registered one.
const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

/** Node 20 keeps `await using` from these files; this is what it does. */
const dispose = (resource) => resource[asyncDispose]()

/** A plain object or array of this realm, and so is all that it holds. */
function expectOwn(value, path = 'value') {
  if (typeof value !== 'object' || value === null) return
  const kind = Array.isArray(value) ? Array : Object
  if (Object.getPrototypeOf(value) !== kind.prototype) throw new Error(`${path} is no ${kind.name} of this realm`)
  expect(value).toBeInstanceOf(kind)
  expect(value).toBeInstanceOf(Object)
  for (const key of Reflect.ownKeys(value)) expectOwn(value[key], `${path}.${String(key)}`)
}

/** Same values and same prototypes, as both ways of asking see it. */
function expectSame(value, expected) {
  expectOwn(value)
  expect(value).toStrictEqual(expected)
  assert.deepStrictEqual(value, expected)
}

function expectOwnPromise(promise) {
  expect(promise).toBeInstanceOf(Promise)
  expect(Object.getPrototypeOf(promise)).toBe(Promise.prototype)
  return promise
}

function makeService(options = {}) {
  const { global, ...others } = options
  return new TruncationService({ global: { storageDir, ...global }, ...others })
}

describe('results', () => {
  test('an untouched text', async () => {
    const service = makeService()
    expectSame(await expectOwnPromise(service.output(SHORT, context)), { content: SHORT, truncated: false })
  })

  test('a text within the limits that has to be counted', async () => {
    const text = 'x\n'.repeat(1500)
    expectSame(await makeService({ global: { maxBytes: 4000 } }).output(text, context), {
      content: text,
      truncated: false,
    })
  })

  test.each(['head', 'tail', 'both'])('a text cut to its %s', async (direction) => {
    const service = makeService({ global: { direction } })
    const result = await expectOwnPromise(service.output(LONG, context))
    expectOwn(result)
    expect(result.ranges).toBeInstanceOf(Array)
    // A copy made by the test is of its realm, so this fails if any part of the original is not.
    expectSame(result, {
      ...result,
      truncated: true,
      limitedBy: 'lines',
      totalLines: 5000,
      ranges: result.ranges.map((range) => ({ ...range })),
    })
    expect(readFileSync(result.outputPath, 'utf8')).toBe(LONG)
  })

  test('a line that is cut inside', async () => {
    const service = makeService({ global: { maxBytes: 10 } })
    const result = await service.output('x'.repeat(100), context)
    expectOwn(result)
    expectSame(result.partialLines, [{ line: 1, shownBytes: 10, totalBytes: 100 }])
  })

  test('an output above the hard ceiling', async () => {
    const result = await makeService({ hardCeilingBytes: 1000 }).output(LONG, { toolName: 'read' })
    expectOwn(result)
    expect(result.ceilingReached).toBe(true)
  })

  test('an output that nothing could save', async () => {
    const service = new TruncationService({ storageDirs: [join(process.execPath, 'below-a-file')] })
    const result = await service.output(LONG, context)
    expectOwn(result)
    expect(result.outputPath).toBe('')
    expectSame(result.saveError, { ...result.saveError, code: 'STORAGE_WRITE' })
    expect(result.saveError.attempts.length).toBeGreaterThan(0)
  })

  const encoded = Buffer.from(LONG)
  const file = join(storageDir, 'a-file')
  writeFileSync(file, encoded)
  test.each([
    ['a Buffer', encoded],
    ['a Uint8Array', new Uint8Array(encoded)],
    ['a view into a larger buffer', new Uint8Array(encoded).subarray(7, -7)],
    ['shared memory', new Uint8Array(new SharedArrayBuffer(encoded.length)).fill(10)],
    ['a Uint8Array of another realm', runInNewContext('Uint8Array.from(bytes)', { bytes: encoded })],
    ['what a file gave', readFileSync(file)],
  ])('bytes: %s', async (_name, bytes) => {
    const service = makeService()
    expectSame(await service.output(bytes.subarray(0, 20), context), {
      content: Buffer.from(bytes.subarray(0, 20)).toString('utf8'),
      truncated: false,
    })
    const result = await expectOwnPromise(service.output(bytes, context))
    expectOwn(result)
    expect(result.truncated).toBe(true)
    expect(Buffer.compare(readFileSync(result.outputPath), Buffer.from(bytes))).toBe(0)
    const path = await expectOwnPromise(service.storage.saveBytes(bytes, context))
    expect(Buffer.compare(readFileSync(path), Buffer.from(bytes))).toBe(0)
  })

  test('parts of a message', async () => {
    const image = { type: 'image', data: 'x' }
    const parts = [{ type: 'text', text: SHORT }, image, { type: 'text', text: LONG }]
    const { content } = await makeService().output([image], context)
    expectSame(content, [image])
    const result = await expectOwnPromise(makeService().output(parts, context))
    expectOwn(result)
    expectSame(result.content, [{ type: 'text', text: SHORT }, image, result.content[2]])
  })

  test('values of strategies and their helpers', () => {
    class Helpers extends BaseTruncationStrategy {
      name = 'helpers'
      ask = () => [this.truncateHead(SHORT, 1), this.truncateTail(SHORT, 1), this.countLines(SHORT)]
    }
    expectSame(new Helpers().ask(), [['one'], ['two'], 2])
    const config = { ...DEFAULT_TRUNCATION_CONFIG, maxLines: 1 }
    for (const Strategy of [DefaultTruncationStrategy, LineBasedStrategy, Helpers]) {
      expect(new Strategy()).toBeInstanceOf(BaseTruncationStrategy)
      expectSame(new Strategy().truncate(SHORT, config), { content: 'one', removedLines: 1, removedBytes: 5 })
    }
    expectOwn(new ByteBasedStrategy().truncate(LONG, config))
  })

  test('settings and constants', () => {
    const service = makeService({ tools: { bash: { maxLines: 7 } } })
    const effective = service.effectiveConfig({ toolName: 'bash' })
    expectOwn(effective)
    expectSame(effective, {
      config: { ...effective.config, maxLines: 7, direction: 'tail', storageDir },
      sources: { ...effective.sources, maxLines: 'tool', direction: 'built-in tool' },
    })
    expectOwn(DEFAULT_TRUNCATION_CONFIG)
    expectSame(TOOL_TRUNCATION_CONFIGS.bash, { direction: 'tail', maxLines: 500 })
    expectOwn(TOOL_TRUNCATION_CONFIGS)
  })

  test('storage', async () => {
    const storage = new TruncationStorage(storageDir)
    const path = await expectOwnPromise(storage.save(LONG, context))
    expect(await expectOwnPromise(storage.read(path))).toBe(LONG)
    expect(await expectOwnPromise(storage.cleanup(7))).toBe(0)
    expect(storage.owns(path)).toBe(true)
    expect(storage.getStorageDir()).toBe(storageDir)
    expect(await expectOwnPromise(storage.close())).toBeUndefined()
    expect(await expectOwnPromise(dispose(storage))).toBeUndefined()
  })

  test('a service is closed by await using', async () => {
    const service = makeService()
    expect(await expectOwnPromise(dispose(service))).toBeUndefined()
    await expect(service.output(SHORT, context)).rejects.toMatchObject({ code: 'CLOSED' })
    expect(Object.getOwnPropertyNames(TruncationService.prototype)).not.toContain('undefined')
  })

  test('middleware', async () => {
    const { service, middleware } = createTruncation({ storageDir })
    expect(service).toBeInstanceOf(TruncationService)
    const short = await expectOwnPromise(middleware('test', { output: SHORT, exitCode: 0 }, context))
    expectSame(short, { output: SHORT, exitCode: 0, metadata: { truncated: false } })
    const long = await middleware('test', { output: LONG, metadata: { kept: [1] } }, context)
    expectSame(long, { output: long.output, metadata: { ...long.metadata, kept: [1], truncated: true } })
    const structured = await middleware('test', { output: { rows: LONG.split('\n') } }, context)
    expectOwn(structured)
    expect(await expectOwnPromise(service.cleanup())).toBe(0)
  })

  test('the registry', async () => {
    const registry = new ToolRegistry()
    registry.setTruncationMiddleware(createTruncation({ storageDir }).middleware)
    registry.register([
      { name: 'echo', execute: ({ text }) => text },
      {
        name: 'fail',
        execute: () => {
          throw new TypeError('no')
        },
      },
    ])
    const results = await expectOwnPromise(
      registry.execute([
        { id: '1', function: { name: 'echo', arguments: '{"text":"hello"}' } },
        { id: '2', name: 'fail', arguments: {} },
      ]),
    )
    expectSame(results, [
      {
        tool_call_id: '1',
        name: 'echo',
        arguments: '{"text":"hello"}',
        result: { success: true, output: 'hello', metadata: { truncated: false } },
      },
      {
        tool_call_id: '2',
        name: 'fail',
        arguments: '{}',
        result: { success: false, output: 'no', error: 'no', metadata: { truncated: false } },
      },
    ])
  })

  test('the plugins', async () => {
    const own = createTruncationPlugin({ service: makeService() })
    for (const plugin of [own, truncationPlugin]) {
      const short = await expectOwnPromise(plugin.toolResult({ llmContent: SHORT }))
      expectSame(short, { llmContent: SHORT, truncated: false })
      const long = await plugin.toolResult({ llmContent: [{ type: 'text', text: LONG }] })
      expectOwn(long)
      expect(existsSync(long.outputPath)).toBe(true)
    }
  })
})

describe('arguments of callbacks', () => {
  test('events', async () => {
    const events = []
    const storageDirs = [join(process.execPath, 'below-a-file'), storageDir]
    const service = new TruncationService({ storageDirs, onEvent: (event) => events.push(event) })
    await service.output(SHORT, { ...context, sessionId: 's', toolCallId: 'c' })
    await service.output(LONG, context)
    expectOwn(events)
    const [skipped] = events
    expectSame(skipped, {
      type: 'skipped',
      toolName: 'test',
      sessionId: 's',
      toolCallId: 'c',
      originalSize: 8,
      truncatedSize: 8,
      timestamp: skipped.timestamp,
    })
    expect(events.map(({ type }) => type)).toStrictEqual(['skipped', 'error', 'truncated'])
  })

  test('notices', async () => {
    const infos = []
    const formatNotice = (info) => {
      infos.push(info)
      return 'the rest is kept'
    }
    const result = await makeService({ formatNotice, availableTools: ['grep'] }).output(LONG, context)
    expect(result.content).toContain('the rest is kept')
    expectOwn(infos)
    expect(infos[0].ranges).toStrictEqual(result.ranges)
  })

  test('strategies', async () => {
    const configs = []
    class Mine extends BaseTruncationStrategy {
      name = 'mine'
      truncate(text, config) {
        configs.push(config)
        return super.truncate(text, config)
      }
    }
    expectOwn(await makeService({ strategy: new Mine() }).output(LONG, context))
    expectOwn(configs)
    expect(configs.length).toBeGreaterThan(0)
  })

  test('storages', async () => {
    const calls = []
    const storage = {
      save: (...args) => {
        calls.push(args)
        return Promise.resolve('id:1')
      },
      read: async () => LONG,
      cleanup: async () => 0,
      getStorageDir: () => 'memory',
    }
    const result = await new TruncationService({ storage }).output(LONG, context)
    expectOwn(result)
    expect(result.outputPath).toBe('id:1')
    // The signal is one of the host's.
    const [, given] = calls[0]
    expect(given.signal.aborted).toBe(false)
    delete given.signal
    expectSame(calls, [[LONG, context]])
  })

  test('a storage that fails says why in the words of the system', async () => {
    const missing = join(storageDir, 'missing')
    const storage = {
      save: () => readFile(missing, 'utf8'),
      read: async () => LONG,
      cleanup: async () => 0,
      getStorageDir: () => 'memory',
    }
    const result = await new TruncationService({ storage: [storage] }).output(LONG, context)
    expectOwn(result)
    expect(result.saveError.message).toMatch(/^ENOENT: /)
  })

  test('a tool that fails with an error of the system says so in its words', async () => {
    const registry = new ToolRegistry()
    registry.register({ name: 'read', execute: () => readFile(join(storageDir, 'missing')) })
    const [{ result }] = await registry.execute([{ id: '1', name: 'read' }])
    expectOwn(result)
    expect(result.output).toMatch(/^ENOENT: /)
  })
})

describe('errors', () => {
  class Open extends BaseTruncationStrategy {
    name = 'open'
    count = (text) => this.countLines(text)
  }
  const cyclic = {}
  cyclic.self = cyclic
  const closed = makeService()
  const strategy = new DefaultTruncationStrategy()
  const stored = () => new TruncationStorage(storageDir)
  const nowhere = new TruncationStorage({ storageDirs: [join(process.execPath, 'below-a-file')] })

  beforeAll(() => closed.close())

  const thrown = [
    ['a limit', 'INVALID_CONFIG', 'global.maxLines', () => makeService({ global: { maxLines: 0 } })],
    ['an unknown option', 'INVALID_CONFIG', 'maxLine', () => makeService({ maxLine: 1 })],
    ['no options', 'INVALID_CONFIG', 'options', () => new TruncationService(null)],
    ['a wrong strategy', 'INVALID_CONFIG', 'strategy', () => makeService({ strategy: 'best' })],
    ['a wrong storage', 'INVALID_CONFIG', 'storage', () => makeService({ storage: {} })],
    ['cyclic options', 'INVALID_CONFIG', undefined, () => makeService({ tools: cyclic })],
    ['updateConfig', 'INVALID_CONFIG', 'config.retentionDays', () => makeService().updateConfig({ retentionDays: 1 })],
    ['setToolConfig', 'INVALID_CONFIG', 'tools.x.maxBytes', () => makeService().setToolConfig('x', { maxBytes: -1 })],
    ['setToolConfig for no tool', 'INVALID_ARGUMENT', 'toolName', () => makeService().setToolConfig(1, {})],
    ['effectiveConfig', 'INVALID_ARGUMENT', 'context', () => makeService().effectiveConfig()],
    ['a user setting', 'INVALID_CONFIG', 'maxLines', () => createTruncation({ maxLines: 1.5 })],
    ['no user settings', 'INVALID_CONFIG', 'truncation', () => createTruncation(null)],
    ['middleware', 'INVALID_CONFIG', 'service', () => createTruncationMiddleware({})],
    ['registering', 'INVALID_ARGUMENT', 'tools[0].name', () => new ToolRegistry().register({})],
    ['a folder', 'INVALID_CONFIG', 'storageDirs[0]', () => new TruncationStorage({ storageDirs: [1] })],
    ['owns', 'INVALID_ARGUMENT', 'path', () => stored().owns(1)],
    ['needsTruncation', 'INVALID_ARGUMENT', 'content', () => strategy.needsTruncation(1, DEFAULT_TRUNCATION_CONFIG)],
    ['truncate', 'INVALID_ARGUMENT', 'content', () => strategy.truncate(1, DEFAULT_TRUNCATION_CONFIG)],
    ['a marker in no text', 'INVALID_ARGUMENT', 'text', () => containsTruncationMarker(1)],
    ['lines of no text', 'INVALID_ARGUMENT', 'content', () => new Open().count(1)],
  ]

  const rejected = [
    ['content', 'INVALID_ARGUMENT', 'content', () => makeService().output(1, context)],
    ['no context', 'INVALID_ARGUMENT', 'context', () => makeService().output(SHORT)],
    ['a tool name', 'INVALID_ARGUMENT', 'context.toolName', () => makeService().output(SHORT, { toolName: 1 })],
    [
      'an option of the call',
      'INVALID_ARGUMENT',
      'options.maxLines',
      () => makeService().output(SHORT, { ...context, options: { maxLines: 0 } }),
    ],
    ['a closed service', 'CLOSED', undefined, () => closed.output(SHORT, context)],
    ['saving no text', 'INVALID_ARGUMENT', 'content', () => stored().save(1, context)],
    ['saving no bytes', 'INVALID_ARGUMENT', 'content', () => stored().saveBytes('x', context)],
    ['saving for no tool', 'INVALID_ARGUMENT', 'context.toolName', () => stored().save('x', {})],
    ['saving where nothing can be', 'STORAGE_WRITE', undefined, () => nowhere.save('x', context)],
    ['reading no path', 'INVALID_ARGUMENT', 'path', () => stored().read(1)],
    ["reading another's file", 'STORAGE_NOT_OWNED', undefined, () => stored().read(process.execPath)],
    ['reading a swept file', 'STORAGE_NOT_FOUND', undefined, () => readSwept()],
    ['cleaning up', 'INVALID_CONFIG', undefined, () => stored().cleanup(0)],
    ['executing no calls', 'INVALID_ARGUMENT', 'toolCalls', () => new ToolRegistry().execute(1)],
  ]

  async function readSwept() {
    const storage = stored()
    const path = await storage.save('x', context)
    rmSync(path)
    return storage.read(path)
  }

  function expectError(error, code, field) {
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toBeInstanceOf(Object)
    expect(Object.getPrototypeOf(error)).toBe(SpillwayError.prototype)
    expect(Object.getPrototypeOf(SpillwayError.prototype)).toBe(Error.prototype)
    expect([error.name, error.code]).toStrictEqual(['SpillwayError', code])
    if (field !== undefined) expect(error.field).toBe(field)
    expect(typeof error.message).toBe('string')
    expect(error.stack).toContain('SpillwayError')
  }

  test.each(thrown)('thrown by %s', (_name, code, field, work) => {
    expect(work).toThrow(Error)
    expect(work).toThrow(SpillwayError)
    assert.throws(work, SpillwayError)
    assert.throws(work, { name: 'SpillwayError', code })
    let error
    try {
      work()
    } catch (caught) {
      error = caught
    }
    expectError(error, code, field)
  })

  test.each(rejected)('rejected by %s', async (_name, code, field, work) => {
    await expect(work()).rejects.toThrow(Error)
    await expect(expectOwnPromise(work())).rejects.toThrow(SpillwayError)
    await expect(work()).rejects.toBeInstanceOf(SpillwayError)
    await expect(work()).rejects.toMatchObject({ code })
    await assert.rejects(work(), { name: 'SpillwayError', code })
    expectError(await work().catch((caught) => caught), code, field)
  })

  test('a cause is of this realm', () => {
    try {
      makeService({ tools: cyclic })
    } catch ({ cause }) {
      expect(cause).toBeInstanceOf(TypeError)
    }
    expect.assertions(1)
  })

  test("an aborted call rejects with the caller's reason", async () => {
    const before = new AbortController()
    const reason = new RangeError('enough')
    before.abort(reason)
    await expect(makeService().output(LONG, { ...context, signal: before.signal })).rejects.toBe(reason)
    const during = new AbortController()
    const work = makeService().output(LONG.repeat(20), { ...context, signal: during.signal })
    during.abort()
    await expect(work).rejects.toBe(during.signal.reason)
  })

  test('other errors are none of ours', () => {
    class Mine extends SpillwayError {}
    expect(new Error('x')).not.toBeInstanceOf(SpillwayError)
    expect(new SpillwayError('INTERNAL', 'x')).not.toBeInstanceOf(Mine)
    expect(new Mine('INTERNAL', 'x')).toBeInstanceOf(SpillwayError)
  })
})
