import {
  AuditLog,
  ContextManager,
  createOutputTools,
  createTruncation,
  createTruncationMiddleware,
  HistoryPruner,
  type ITruncationStorage,
  MemoryStorage,
  runCommand,
  SpillwayError,
  type SpillwayErrorCode,
  type ToolTruncationConfig,
  type TruncationContent,
  type TruncationContext,
  TruncationService,
  type TruncationServiceConfig,
  TruncationStorage,
  type TruncationStrategy,
} from 'spillway'
import { compactionStep } from 'spillway/history'
import { containsTruncationMarker, DEFAULT_TRUNCATION_CONFIG, DefaultTruncationStrategy } from 'spillway/truncation'
import { runChild } from '../support/child'
import { everything } from '../support/everything'
import {
  bytesOf,
  cut,
  makeListening,
  makeService,
  memoryStorage,
  numbered,
  rejection,
  thrown,
  turn,
} from '../support/outputs'
import { filesIn, overrideDefaultDir, tempDir } from '../support/temp'

const tool: TruncationContext = { toolName: 'x' }

/** A fault, the field that the error must name, and the expected message. */
type Row = [value: unknown, field: string, says: (string | RegExp)[]]

function expectError(error: unknown, code: SpillwayErrorCode, field: string, says: (string | RegExp)[]): void {
  expect(error).toBeInstanceOf(SpillwayError)
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'SpillwayError', code, field })
  const { message } = error as Error
  expect(message).toMatch(/^(Invalid|Unknown) option "/)
  expect(message.split('"')[1]).toBe(field.replace(/^options\./, ''))
  for (const part of says) expect(message).toMatch(part instanceof RegExp ? part : escaped(part))
}

const escaped = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))

// A value that is accepted by mistake must not save into the user's home folder.
beforeEach(() => overrideDefaultDir(`${tempDir()}/never`))

const WHOLE = 'a whole number of at least 1'
const DAYS = 'a number of days above 0, or Infinity'
const FOLDER = 'the path of a folder that is not the root'
const HOME = 'set it in'

const limits = (prefix: string): Row[] =>
  ['maxLines', 'maxBytes'].flatMap((key) => [
    ...[0, -1, 1.5, 2 ** 53].map((value): Row => [{ [key]: value }, `${prefix}.${key}`, [`received ${value}`, WHOLE]]),
    [{ [key]: Number.NaN }, `${prefix}.${key}`, ['received NaN', WHOLE]],
    [{ [key]: Number.POSITIVE_INFINITY }, `${prefix}.${key}`, ['received Infinity', WHOLE]],
    [{ [key]: '10' }, `${prefix}.${key}`, ['received "10"', WHOLE]],
    [{ [key]: 10n }, `${prefix}.${key}`, ['received 10n', WHOLE]],
    [{ [key]: null }, `${prefix}.${key}`, ['received null', WHOLE]],
    [{ [key]: [5] }, `${prefix}.${key}`, ['received an array', WHOLE]],
  ])

const switches = (prefix: string): Row[] => [
  [{ direction: 'up' }, `${prefix}.direction`, ['received "up"', "one of 'head', 'tail', 'both'"]],
  [{ direction: 5 }, `${prefix}.direction`, ['received 5', "one of 'head', 'tail', 'both'"]],
  [{ maxLine: 5 }, `${prefix}.maxLine`, ['Unknown option', 'did you mean maxLines?']],
  [{ colour: 5 }, `${prefix}.colour`, ['Unknown option', 'expected one of', 'maxLines']],
]

const entries = (prefix: string): Row[] => [
  ...limits(prefix),
  ...switches(prefix),
  [{ enabled: 1 }, `${prefix}.enabled`, ['received 1', 'true or false']],
  [{ enabled: 'yes' }, `${prefix}.enabled`, ['received "yes"', 'true or false']],
  [{ strategy: 'clever' }, `${prefix}.strategy`, ['received "clever"', "'default', 'auto', 'line', 'byte'"]],
  [{ skip: true }, `${prefix}.skip`, ['Unknown option']],
]

const ofTheService = (prefix: string): Row[] => [
  [{ retentionDays: 3 }, `${prefix}.retentionDays`, [HOME, 'global']],
  [{ storageDir: '/tmp/x' }, `${prefix}.storageDir`, [HOME, 'global']],
  [{ storageDirs: [] }, `${prefix}.storageDirs`, [HOME, 'TruncationService']],
  [{ maxStoreBytes: 3 }, `${prefix}.maxStoreBytes`, [HOME, 'TruncationService']],
  [{ durability: 'full' }, `${prefix}.durability`, [HOME, 'TruncationService']],
]

const globals = (prefix: string): Row[] => [
  ...entries(prefix),
  ...[0, -1].map((value): Row => [{ retentionDays: value }, `${prefix}.retentionDays`, [`received ${value}`, DAYS]]),
  [{ retentionDays: Number.NaN }, `${prefix}.retentionDays`, ['received NaN', DAYS]],
  [{ retentionDays: '7' }, `${prefix}.retentionDays`, ['received "7"', DAYS]],
  [{ storageDir: '' }, `${prefix}.storageDir`, ['received ""', FOLDER]],
  [{ storageDir: '/' }, `${prefix}.storageDir`, ['received "/"', FOLDER]],
  [{ storageDir: 5 }, `${prefix}.storageDir`, ['received 5', 'a string']],
]

const title = ([value, field]: Row) =>
  `${field} of ${JSON.stringify(value, (_key, inner) => (typeof inner === 'object' && inner !== null ? inner : String(inner)))?.slice(0, 60)}`

const named = (rows: Row[]) => rows.map((row): [string, ...Row] => [title(row), ...row])

describe('a misspelt option is refused by its name', () => {
  const storage = new MemoryStorage()
  const service = new TruncationService({ storage })
  const calls: [string, () => unknown, string][] = [
    ['createOutputTools', () => createOutputTools(storage, { session: 'A' } as never), 'options.session'],
    ['runCommand', () => runCommand('true', [], { timeout: 5 } as never), 'options.timeout'],
    ['capture', () => service.capture({ toolName: 'x' }, { onabort: 'keep' } as never), 'options.onabort'],
    ['sweep', () => storage.sweep({ days: 1 } as never), 'options.days'],
  ]
  test.each(calls)('%s', async (_, call, field) => {
    const work = async () => call()
    expect(await rejection(work())).toMatchObject({ code: 'INVALID_ARGUMENT', field })
  })

  test.each([
    ['null for folders', () => new TruncationStorage({ storageDirs: null as never }), 'storageDirs'],
    ['a storage that cannot be read', () => new TruncationService({ storage: unreadableStorage() }), undefined],
  ])('%s is refused too', (_, call, field) => {
    expect(thrown(call)).toMatchObject({ name: 'SpillwayError', code: 'INVALID_CONFIG', ...(field && { field }) })
  })
})

function unreadableStorage(): ITruncationStorage {
  return {
    ...new MemoryStorage(),
    get save(): never {
      throw new Error('planted')
    },
  } as never
}

describe('options of a service', () => {
  const options: Row[] = [
    [{ globl: {} }, 'globl', ['Unknown option', 'did you mean global?']],
    [{ global: 5 }, 'global', ['received 5', 'an object']],
    [{ global: [] }, 'global', ['received an array', 'an object']],
    [{ global: null }, 'global', ['received null', 'an object']],
    [{ tools: [] }, 'tools', ['received an array', 'an object']],
    [{ tools: { bash: 5 } }, 'tools.bash', ['received 5', 'an object']],
    [{ tools: { bash: null } }, 'tools.bash', ['received null', 'an object']],
    [{ onEvent: 'log' }, 'onEvent', ['received "log"', 'a function']],
    [{ onEvent: null }, 'onEvent', ['received null', 'a function']],
    [{ formatNotice: {} }, 'formatNotice', ['received an object', 'a function']],
    [{ strategy: 'clever' }, 'strategy', ['received "clever"', "'default', 'auto', 'line', 'byte'"]],
    [{ strategy: {} }, 'strategy', ['received an object', 'a strategy or the name of one']],
    [{ strategy: { name: 'x', truncate() {} } }, 'strategy', ['a strategy or the name of one']],
    [{ strategy: () => {} }, 'strategy', ['received function', 'a strategy or the name of one']],
    [{ storage: {} }, 'storage', ['received an object', 'save, read, cleanup and getStorageDir']],
    [{ storage: '/tmp/x' }, 'storage', ['received "/tmp/x"', 'save, read, cleanup and getStorageDir']],
    [{ storageDirs: '/tmp/x' }, 'storageDirs', ['received "/tmp/x"', 'an array of strings']],
    [{ storageDirs: ['/tmp/x', 5] }, 'storageDirs[1]', ['received 5', 'a string']],
    [{ storageDirs: ['/tmp/x', ''] }, 'storageDirs[1]', ['received ""', FOLDER]],
    [{ storageDirs: ['/'] }, 'storageDirs[0]', ['received "/"', FOLDER]],
    [{ storageDirs: ['a\0b'] }, 'storageDirs[0]', [FOLDER]],
    [{ durability: 'always' }, 'durability', ['received "always"', "'process', 'file', 'full'"]],
    [{ hardCeilingBytes: 0 }, 'hardCeilingBytes', ['received 0', WHOLE]],
    [{ hardCeilingBytes: Number.POSITIVE_INFINITY }, 'hardCeilingBytes', ['received Infinity', WHOLE]],
    [{ noticeInside: 'yes' }, 'noticeInside', ['received "yes"', 'true or false']],
    [{ language: 'de' }, 'language', ['received "de"', "'en', 'zh-CN'"]],
    [{ availableTools: 'grep' }, 'availableTools', ['received "grep"', 'an array of strings']],
    [{ availableTools: ['grep', null] }, 'availableTools[1]', ['received null', 'a string']],
    [{ storageTimeoutMs: -5 }, 'storageTimeoutMs', ['received -5', WHOLE]],
    [{ profile: 'mine' }, 'profile', ['received "mine"', "'opencode'"]],
    [{ language: 'x'.repeat(1000) }, 'language', [/received "x{60}…"/]],
  ]
  const inner = globals('global').map(([value, ...rest]): Row => [{ global: value }, ...rest])
  const perTool = [...entries('tools.bash'), ...ofTheService('tools.bash')].map(
    ([value, ...rest]): Row => [{ tools: { bash: value } }, ...rest],
  )

  test.each(named([...options, ...inner, ...perTool]))('%s', (_title, value, field, says) => {
    expectError(
      thrown(() => new TruncationService(value as TruncationServiceConfig)),
      'INVALID_CONFIG',
      field,
      says,
    )
  })

  test.each([null, 5, 'text', true, [], () => {}])('are an object: %p', (options) => {
    const error = thrown(() => new TruncationService(options as never))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_CONFIG', field: 'options' })
  })

  test('that cannot be read are a SpillwayError too', () => {
    const cyclic: { tools?: unknown } = {}
    cyclic.tools = { bash: cyclic }
    const throwing = {
      get global(): never {
        throw new Error('no')
      },
    }
    for (const options of [
      cyclic,
      throwing,
      {
        global: {
          get maxLines(): never {
            throw new Error('no')
          },
        },
      },
    ]) {
      const error = thrown(() => new TruncationService(options as TruncationServiceConfig))
      expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_CONFIG' })
    }
  })

  test('the internal form of an option is rejected', () => {
    for (const options of [{ storage: { $type: 'storage' } }, { strategy: { $type: 'strategy' } }]) {
      expect(thrown(() => new TruncationService(options as never))).toMatchObject({ code: 'INVALID_CONFIG' })
    }
  })

  test('a wrong value of one field is found among many right ones', () => {
    const error = thrown(
      () => new TruncationService({ global: { maxLines: 5 }, tools: { a: {}, b: { maxBytes: -1 } } }),
    )
    expectError(error, 'INVALID_CONFIG', 'tools.b.maxBytes', ['received -1'])
  })
})

describe('changes of settings', () => {
  test.each(named([...entries('config'), ...ofTheService('config')]))(
    'updateConfig: %s',
    (_title, value, field, says) => {
      expectError(
        thrown(() => makeService().updateConfig(value as object)),
        'INVALID_CONFIG',
        field,
        says,
      )
    },
  )

  test.each(named([...entries('tools.bash'), ...ofTheService('tools.bash')]))(
    'setToolConfig: %s',
    (_title, value, field, says) => {
      const error = thrown(() => makeService().setToolConfig('bash', value as ToolTruncationConfig))
      expectError(error, 'INVALID_CONFIG', field, says)
    },
  )

  test.each([undefined, null, 5, 'text', [], () => {}, Symbol('x')])('are objects: %p', (wrong) => {
    const service = makeService()
    for (const change of [
      () => service.updateConfig(wrong as object),
      () => service.setToolConfig('bash', wrong as object),
    ]) {
      const error = thrown(change)
      expect(error).toMatchObject({
        name: 'SpillwayError',
        code: 'INVALID_CONFIG',
        message: expect.stringContaining('an object'),
      })
    }
  })

  test.each([undefined, null, 5, {}, ['bash']])('are for tools with a name: %p', (wrong) => {
    const error = thrown(() => makeService().setToolConfig(wrong as string, {}))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_ARGUMENT', field: 'toolName' })
  })
})

describe('arguments of a call', () => {
  const callRows = [
    ...limits('options'),
    ...switches('options'),
    [{ skip: 'yes' }, 'options.skip', ['received "yes"', 'true or false']] as Row,
    [{ enabled: false }, 'options.enabled', ['Unknown option']] as Row,
    ...ofTheService('options'),
  ]

  test.each(named(callRows))('options: %s', async (_title, value, field, says) => {
    const { service, events } = makeListening()
    await service.output('warm', tool)
    for (const content of ['short', numbered(5000)]) {
      const error = await rejection(service.output(content, { ...tool, options: value as object }))
      expectError(error, 'INVALID_ARGUMENT', field, says)
    }
    expect(events.map(({ type }) => type)).toEqual(['skipped'])
  })

  test.each(named([...entries('declared'), ...ofTheService('declared')]))(
    'declared: %s',
    async (_title, value, field, says) => {
      const error = await rejection(makeService().output('short', { ...tool, declared: value as object }))
      expectError(error, 'INVALID_CONFIG', field, says)
    },
  )

  const contexts: [string, unknown, string][] = [
    ['nothing', undefined, 'context'],
    ['null', null, 'context'],
    ['a string', 'bash', 'context'],
    ['no toolName', {}, 'context.toolName'],
    ['a toolName in an array', { toolName: ['../x'] }, 'context.toolName'],
    ['a toolName with toString', { toolName: { toString: () => 'x' } }, 'context.toolName'],
    ['a toolName of null', { toolName: null }, 'context.toolName'],
    ['a toolName that is a symbol', { toolName: Symbol('x') }, 'context.toolName'],
    ['a sessionId that is a number', { toolName: 'x', sessionId: 5 }, 'context.sessionId'],
    ['a sessionId of null', { toolName: 'x', sessionId: null }, 'context.sessionId'],
    ['a messageId that is an object', { toolName: 'x', messageId: {} }, 'context.messageId'],
    ['a toolCallId that is a number', { toolName: 'x', toolCallId: 5 }, 'context.toolCallId'],
    ['failed that is a string', { toolName: 'x', failed: 'no' }, 'context.failed'],
    ['handled that is a number', { toolName: 'x', handled: 1 }, 'context.handled'],
    ['a signal that is none', { toolName: 'x', signal: {} }, 'context.signal'],
    ['options that are a number', { toolName: 'x', options: 5 }, 'options'],
    ['options of null', { toolName: 'x', options: null }, 'options'],
    ['declared that is a string', { toolName: 'x', declared: 'off' }, 'declared'],
  ]

  test('a misspelt field of a context is warned of once; other fields are those of a custom storage', async () => {
    const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const service = makeService()
    const misspelt = { ...tool, toolcallId: 'c1', Messageid: 'm1', tenant: 't', priority: 1 }
    for (const text of [numbered(5000), numbered(5000)]) await service.output(text, misspelt)
    const messages = warnings.mock.calls.map(([message]) => message)
    warnings.mockRestore()
    expect(messages).toEqual([
      'output: Unknown option "context.toolcallId": did you mean toolCallId?',
      'output: Unknown option "context.Messageid": did you mean messageId?',
    ])
  })

  test.each(contexts)('a context is wrong at any length: %s', async (_what, context, field) => {
    const service = makeService()
    // A second call of the same tool may go another way inside; it must be as strict.
    await service.output('warm', tool)
    for (const content of ['short', numbered(5000), '']) {
      const error = await rejection(service.output(content, context as TruncationContext))
      expect(error).toMatchObject({ name: 'SpillwayError', field: expect.stringMatching(new RegExp(`${field}$`)) })
      expect(['INVALID_ARGUMENT', 'INVALID_CONFIG']).toContain((error as SpillwayError).code)
    }
  })

  test.each(contexts.filter(([, , field]) => field !== 'context.signal'))(
    'effectiveConfig with a wrong context: %s',
    (_what, context) => {
      const error = thrown(() => makeService().effectiveConfig(context as TruncationContext))
      expect(error).toMatchObject({ name: 'SpillwayError', code: expect.stringMatching(/^INVALID_/) })
    },
  )

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['NaN', Number.NaN],
    ['a bigint', 5n],
    ['a boolean', true],
    ['a symbol', Symbol('x')],
    ['a function', () => 'text'],
    ['an object', { text: 'x' }],
    ['a String object', Object('text')],
    ['a promise', Promise.resolve('text')],
    ['an ArrayBuffer', new ArrayBuffer(8)],
    ['a DataView', new DataView(new ArrayBuffer(8))],
    ['other numbers', new Float64Array(8)],
    ['an array of strings', ['a', 'b']],
    ['an array with a hole', [{ type: 'text', text: 'a' }, undefined]],
    ['parts without a type', [{ text: 'a' }]],
    ['a type that is no string', [{ type: 5 }]],
  ])('content is wrong: %s', async (_what, content) => {
    const { service, events } = makeListening()
    await service.output('warm', tool)
    const error = await rejection(service.output(content as TruncationContent as string, tool))
    expectError(error, 'INVALID_ARGUMENT', 'content', [
      'received ',
      'a string, a Uint8Array or an array of message parts',
    ])
    expect(events).toHaveLength(1)
  })

  test('wrong content is named by its kind and never printed', async () => {
    const secret = { toString: () => 'SECRET', toJSON: () => 'SECRET' }
    const error = await rejection(makeService().output(secret as unknown as string, tool))
    expect((error as Error).message).not.toContain('SECRET')
  })

  test('parts with odd texts are parts', async () => {
    const parts = [{ type: 'text' }, { type: 'text', text: 5 }, { type: '', text: 'x' }]
    expect((await makeService().output(parts, tool)).content).toBe(parts)
  })
})

describe('arguments of the rest', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'service'],
    ['no service', {}, 'service'],
    ['a service without output', { service: {} }, 'service'],
    ['skipTools that are a string', { service: makeService(), skipTools: 'x' }, 'skipTools'],
    ['skipTools with a number', { service: makeService(), skipTools: [5] }, 'skipTools'],
    ['shouldTruncate that is a boolean', { service: makeService(), shouldTruncate: true }, 'shouldTruncate'],
    ['an option that is none', { service: makeService(), skipTool: [] }, 'skipTool'],
  ])('createTruncationMiddleware: %s', (_what, config, field) => {
    const error = thrown(() => createTruncationMiddleware(config as never))
    expectError(error, 'INVALID_CONFIG', field, [/expected .*, received|expected one of|did you mean/])
  })

  test.each(named(globals('').map(([value, field, says]): Row => [value, field.slice(1), says])))(
    'createTruncation: %s',
    (_title, value, field, says) => {
      expectError(
        thrown(() => createTruncation(value as object)),
        'INVALID_CONFIG',
        field,
        says,
      )
    },
  )

  test.each<[unknown, string]>([
    [{ maxLnes: 5 }, 'maxLnes'],
    [{ service: {} }, 'service'],
    [{ global: { maxLines: 5 } }, 'global'],
    [{ tools: { bash: { maxLines: 0 } } }, 'tools.bash.maxLines'],
    [{ skipTools: 'x' }, 'skipTools'],
    [{ onEvent: 5 }, 'onEvent'],
    [null, 'truncation'],
    [5, 'truncation'],
    ['off', 'truncation'],
    [[], 'truncation'],
  ])('createTruncation: %j', (config, field) => {
    expect(thrown(() => createTruncation(config as object))).toMatchObject({
      name: 'SpillwayError',
      code: 'INVALID_CONFIG',
      field,
    })
  })

  test.each([null, 5, true, [], () => {}])('TruncationStorage: %p', (options) => {
    expect(thrown(() => new TruncationStorage(options as never))).toMatchObject({
      name: 'SpillwayError',
      code: 'INVALID_CONFIG',
    })
  })

  test('TruncationStorage: options of a service', () => {
    for (const options of [{ language: 'en' }, { onEvent: 5 }, { global: {} }, { storageDir: '/tmp/x' }]) {
      const error = thrown(() => new TruncationStorage(options as never))
      expect(error).toMatchObject({ code: 'INVALID_CONFIG', field: Object.keys(options)[0] })
    }
  })

  test.each<[string, unknown, unknown, string]>([
    ['content that is a number', 5, tool, 'content'],
    ['content of null', null, tool, 'content'],
    ['bytes for a text', new Uint8Array(3), tool, 'content'],
    ['no context', 'x', undefined, 'context'],
    ['no toolName', 'x', {}, 'context.toolName'],
    ['a sessionId that is a number', 'x', { toolName: 'x', sessionId: 5 }, 'context.sessionId'],
    ['a sessionId of null', 'x', { toolName: 'x', sessionId: null }, 'context.sessionId'],
    ['a signal that is none', 'x', { toolName: 'x', signal: 5 }, 'context.signal'],
  ])('save: %s', async (_what, content, context, field) => {
    const dir = tempDir()
    const error = await rejection(new TruncationStorage(dir).save(content as string, context as TruncationContext))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_ARGUMENT' })
    expect((error as SpillwayError).field?.startsWith(field)).toBe(true)
    expect(filesIn(dir)).toEqual([])
  })

  test('saveBytes, read and owns', async () => {
    const storage = new TruncationStorage(tempDir())
    for (const wrong of ['text', null, 5, [1], new ArrayBuffer(3)]) {
      const error = await rejection(storage.saveBytes(wrong as unknown as Uint8Array, tool))
      expectError(error, 'INVALID_ARGUMENT', 'content', ['a Uint8Array'])
    }
    for (const wrong of [undefined, null, 5, {}, ['/x'], Buffer.from('/x')]) {
      expectError(await rejection(storage.read(wrong as string)), 'INVALID_ARGUMENT', 'path', ['a string'])
      expectError(
        thrown(() => storage.owns(wrong as string)),
        'INVALID_ARGUMENT',
        'path',
        ['a string'],
      )
    }
  })

  test('strategies and containsTruncationMarker', () => {
    const strategy = new DefaultTruncationStrategy()
    for (const wrong of [undefined, null, 5, {}, Buffer.from('x')]) {
      for (const ask of [
        () => strategy.needsTruncation(wrong as string, DEFAULT_TRUNCATION_CONFIG),
        () => strategy.truncate(wrong as string, DEFAULT_TRUNCATION_CONFIG),
      ]) {
        expectError(thrown(ask), 'INVALID_ARGUMENT', 'content', ['a string'])
      }
      expectError(
        thrown(() => containsTruncationMarker(wrong as string)),
        'INVALID_ARGUMENT',
        'text',
        ['a string'],
      )
    }
    const config = { ...DEFAULT_TRUNCATION_CONFIG, maxLines: 0 }
    expectError(
      thrown(() => strategy.truncate('x', config)),
      'INVALID_ARGUMENT',
      'config.maxLines',
      [WHOLE],
    )
    for (const wrong of [undefined, null, 5]) {
      expect(thrown(() => strategy.truncate('x', wrong as never))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
  })
})

describe('the error', () => {
  test('is an Error with a code, and can be recognised by instanceof', () => {
    const error = new SpillwayError('INTERNAL', 'text', { field: 'a.b', cause: 5 })
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INTERNAL', message: 'text', field: 'a.b', cause: 5 })
    expect(error instanceof Error && error instanceof SpillwayError).toBe(true)
    expect(new SpillwayError('INTERNAL', 'text').field).toBeUndefined()
    for (const other of [
      new Error('x'),
      { name: 'SpillwayError', code: 'INTERNAL' },
      null,
      undefined,
      'SpillwayError',
    ]) {
      expect((other as unknown) instanceof SpillwayError).toBe(false)
    }
  })

  test('is recognized if it is of another copy of the package', () => {
    const told = runChild<boolean[]>(
      `const first = spillway.SpillwayError
       for (const key of Object.keys(require.cache)) if (!key.endsWith('.node')) delete require.cache[key]
       const second = require(input).SpillwayError
       answer([first !== second, new first('INTERNAL', 'x') instanceof second, new Error('x') instanceof second])`,
      { input: require.resolve('../../index.js') },
    )
    expect(told).toEqual([true, true, false])
  })
})

describe('storages of the host', () => {
  const ask = async (storage: ITruncationStorage, options: TruncationServiceConfig = {}) => {
    const { service, events } = makeListening({ global: { maxLines: 3 }, storage: [storage], ...options })
    const result = cut(await service.output(numbered(9), tool))
    await turn()
    return { result, events }
  }

  test.each<[string, () => unknown, string, string]>([
    ['rejects', () => Promise.reject(new Error('bucket is gone')), 'STORAGE_WRITE', 'bucket is gone'],
    [
      'throws',
      () => {
        throw new Error('no bucket')
      },
      'STORAGE_WRITE',
      'no bucket',
    ],
    ['rejects with nothing', () => Promise.reject(undefined), 'STORAGE_WRITE', 'undefined'],
    ['rejects with a value', () => Promise.reject({ code: 5 }), 'STORAGE_WRITE', '{"code":5}'],
    ['answers nothing', () => undefined, 'STORAGE_WRITE', 'undefined instead of a path'],
    ['answers a number', () => 5, 'STORAGE_WRITE', '5 instead of a path'],
    ['answers an object', () => ({ path: '/x' }), 'STORAGE_WRITE', 'an object instead of a path'],
    ['answers an empty string', () => '', 'STORAGE_WRITE', 'instead of a path'],
    ['never answers', () => new Promise(() => {}), 'STORAGE_TIMEOUT', 'did not answer within 20 ms'],
  ])(
    'one that %s: the preview is returned, and says that the rest was not kept',
    async (_what, save, code, message) => {
      const { result, events } = await ask(memoryStorage(save), { storageTimeoutMs: 20 })
      expect(result.preview).toBe(numbered(3))
      expect(result.outputPath).toBe('')
      expect(result.saveError).toEqual({ code, message: expect.stringContaining(message), attempts: [] })
      expect(result.hint).toContain('could not be saved and was not kept')
      expect(events.map(({ type, errorCode }) => [type, errorCode])).toEqual([
        ['error', code],
        ['truncated', undefined],
      ])
    },
  )

  test('one that throws before it makes a promise', async () => {
    const storage: ITruncationStorage = {
      ...memoryStorage(),
      save: () => {
        throw new Error('at once')
      },
    }
    expect((await ask(storage)).result.saveError).toMatchObject({ code: 'STORAGE_WRITE', message: 'at once' })
  })

  test('one that fails after it was given up breaks nothing', async () => {
    let fail = (_error: Error) => {}
    const { result } = await ask(
      memoryStorage(
        () =>
          new Promise((_resolve, reject) => {
            fail = reject
          }),
      ),
      { storageTimeoutMs: 1 },
    )
    expect(result.saveError.code).toBe('STORAGE_TIMEOUT')
    fail(new Error('too late'))
    await turn()
  })

  test('one that takes its time is waited for, however long the wait may be', async () => {
    const late = () => new Promise((resolve) => setImmediate(() => setTimeout(() => resolve('late:1'), 5)))
    for (const storageTimeoutMs of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      const { result } = await ask(memoryStorage(late), { storageTimeoutMs })
      warned.mockRestore()
      expect([storageTimeoutMs, result.outputPath]).toEqual([storageTimeoutMs, 'late:1'])
    }
  })

  test('one that answers with an odd path gets it back, well-formed in the text', async () => {
    const { result } = await ask(memoryStorage(() => 'odd:\ud800/{n}/$&'))
    expect(result.outputPath).toBe('odd:\ud800/{n}/$&')
    expect(result.content).toContain('Full output saved to: odd:\ufffd/{n}/$&')
    expect(result.content.isWellFormed()).toBe(true)
  })

  test('one gets bytes as bytes if it takes them, and a failure of that is a failure', async () => {
    const taken: Uint8Array[] = []
    const storage = {
      ...memoryStorage(() => 'as text'),
      saveBytes: async (content: Uint8Array) => {
        taken.push(content)
        return 'as bytes'
      },
    }
    const service = makeService({ global: { maxLines: 3 }, storage })
    const bytes = Buffer.from(numbered(9))
    expect(cut(await service.output(bytes, tool)).outputPath).toBe('as bytes')
    expect(cut(await service.output(numbered(9), tool)).outputPath).toBe('as text')
    expect(taken).toEqual([bytes])
    const failing = { ...storage, saveBytes: () => Promise.reject(new Error('no bytes')) }
    const result = cut(await makeService({ global: { maxLines: 3 }, storage: [failing] }).output(bytes, tool))
    expect(result.saveError.message).toBe('no bytes')
  })

  test('one is asked once, with the whole text and the context', async () => {
    const save = jest.fn(async () => 'somewhere')
    const service = makeService({ global: { maxLines: 3 }, storage: { ...memoryStorage(), save } })
    const context = { toolName: 'x', sessionId: 's', toolCallId: 'c' }
    await service.output('short\n', context)
    await service.output(
      [
        { type: 'text', text: 'a\nb\n\ud800' },
        { type: 'text', text: 'c' },
      ],
      context,
    )
    expect(save.mock.calls).toEqual([['a\nb\n\ud800\nc', { ...context, signal: expect.anything() }]])
  })

  test('a cleanup that fails is the caller’s to see', async () => {
    const storage = { ...memoryStorage(), cleanup: () => Promise.reject(new Error('no')) }
    expect(await rejection(makeService({ storage }).cleanup())).toMatchObject({ message: 'no' })
  })
})

describe('strategies of the host', () => {
  const nothing = { needsTruncation: () => true, truncate: () => ({ content: 'x' }) }
  const text = numbered(9)

  test.each<[string, object]>([
    [
      'throws when asked',
      {
        needsTruncation: () => {
          throw new Error('no')
        },
      },
    ],
    [
      'throws when it cuts',
      {
        truncate: () => {
          throw new Error('no')
        },
      },
    ],
    [
      'throws nothing',
      {
        truncate: () => {
          throw undefined
        },
      },
    ],
    ['answers a number', { needsTruncation: () => 1 }],
    ['answers nothing', { needsTruncation: () => undefined }],
    ['promises', { needsTruncation: async () => true }],
    [
      'promises and fails',
      {
        needsTruncation: async () => {
          throw new Error('no')
        },
      },
    ],
    ['gives back nothing', { truncate: () => undefined }],
    ['gives back a string', { truncate: () => 'x' }],
    ['gives back no content', { truncate: () => ({ removedLines: 1 }) }],
    ['gives back content that is a number', { truncate: () => ({ content: 5 }) }],
    ['promises to cut', { truncate: async () => ({ content: 'x' }) }],
    [
      'promises to cut and fails',
      {
        truncate: async () => {
          throw new Error('no')
        },
      },
    ],
    ['removes less than nothing', { truncate: () => ({ content: 'x', removedLines: -1 }) }],
    ['removes half a line', { truncate: () => ({ content: 'x', removedLines: 0.5 }) }],
    ['removes NaN', { truncate: () => ({ content: 'x', removedBytes: Number.NaN }) }],
    ['removes text', { truncate: () => ({ content: 'x', removedBytes: '5' }) }],
  ])('one that %s gives way to the default', async (_what, methods) => {
    const strategy = { name: 'odd', ...nothing, ...methods } as TruncationStrategy
    const { service, events } = makeListening({ global: { maxLines: 3 }, strategy })
    const result = cut(await service.output(text, tool))
    expect([result.preview, result.removedLines]).toEqual([numbered(3), 6])
    expect(events.map(({ type, errorCode }) => [type, errorCode])).toEqual([
      ['error', 'STRATEGY'],
      ['truncated', undefined],
    ])
    expect(await makeService({ strategy }).output('short', tool)).toBeDefined()
    await turn()
  })

  test('one that gives back broken text is shown well-formed', async () => {
    const strategy = { name: 'odd', ...nothing, truncate: () => ({ content: 'a\ud800' }) }
    const result = cut(await makeService({ global: { maxLines: 3 }, strategy }).output(text, tool))
    expect([result.preview, result.content.isWellFormed()]).toEqual(['a\ufffd', true])
  })

  test('one that gives back nothing at all still leaves a notice', async () => {
    const strategy = { name: 'odd', ...nothing, truncate: () => ({ content: '' }) }
    const result = cut(await makeService({ global: { maxLines: 3 }, strategy }).output(text, tool))
    expect(result.preview).toBe('')
    expect(containsTruncationMarker(result.content)).toBe(true)
  })

  test('one whose counts cannot be true makes no negative ones', async () => {
    const strategy = {
      name: 'odd',
      ...nothing,
      truncate: () => ({ content: 'x', removedLines: 1e9, removedBytes: 1e9 }),
    }
    const { keptLines, keptBytes } = cut(await makeService({ global: { maxLines: 3 }, strategy }).output(text, tool))
    expect(keptLines).toBeGreaterThanOrEqual(0)
    expect(keptBytes).toBeGreaterThanOrEqual(0)
  })
})

describe('callbacks', () => {
  let warned: jest.SpyInstance
  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warned.mockRestore())

  test.each<[string, () => unknown]>([
    [
      'an error',
      () => {
        throw new Error('my fault')
      },
    ],
    [
      'nothing',
      () => {
        throw undefined
      },
    ],
    [
      'what cannot be shown',
      () => {
        throw Object.create(null)
      },
    ],
    [
      'a frozen thing',
      () => {
        throw Object.freeze({
          toString: () => {
            throw new Error('twice')
          },
        })
      },
    ],
  ])('onEvent that throws %s is a warning', async (_what, onEvent) => {
    const service = makeService({ global: { maxLines: 3 }, onEvent: onEvent as () => void })
    expect(await service.output('short', tool)).toEqual({ content: 'short', truncated: false })
    expect(cut(await service.output(numbered(9), tool)).outputPath).not.toBe('')
    expect(warned.mock.calls.map(([text]) => String(text).startsWith('onEvent: '))).toEqual([true, true])
  })

  test('onEvent that is asynchronous and fails is a warning', async () => {
    const service = makeService({ onEvent: (async () => Promise.reject(new Error('later'))) as () => void })
    await service.output('short', tool)
    await turn()
    expect(warned.mock.calls.map(([text]) => text)).toEqual(['onEvent: later'])
  })

  test('formatNotice that is asynchronous and fails gives way to ours', async () => {
    const formatNotice = (async () => Promise.reject(new Error('later'))) as unknown as () => string
    const result = cut(await makeService({ global: { maxLines: 3 }, formatNotice }).output(numbered(9), tool))
    await turn()
    expect(result.hint).toMatch(/^The tool call succeeded/)
    expect(warned).toHaveBeenCalled()
  })

  test('formatNotice that changes its argument changes nothing', async () => {
    const formatNotice = (info: { ranges: unknown[]; removedLines: number }): string => {
      info.ranges.length = 0
      info.removedLines = -1
      throw new Error('and fails')
    }
    const result = cut(await makeService({ global: { maxLines: 3 }, formatNotice }).output(numbered(9), tool))
    expect([result.ranges.length, result.removedLines]).toEqual([1, 6])
  })
})

test('a limit of one and the largest number are limits', async () => {
  const service = makeService({ global: { maxLines: 1, maxBytes: Number.MAX_SAFE_INTEGER } })
  expect(cut(await service.output(numbered(9), tool)).preview).toBe('line 1')
  const tiny = makeService({ global: { maxBytes: 1 }, storageTimeoutMs: 1 })
  expect(bytesOf(cut(await tiny.output(numbered(9), tool)).preview)).toBe(1)
})

describe('thrown values', () => {
  const odd: [string, () => unknown][] = [
    ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { code: 5 } })],
    ['an error whose message is a symbol', () => Object.assign(new Error('x'), { message: Symbol('x') })],
    [
      'a proxy that refuses',
      () =>
        new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error('no')
            },
          },
        ),
    ],
    ['an object without a prototype', () => Object.create(null)],
  ]

  test.each(odd)('may be %s', async (_what, make) => {
    const storage = memoryStorage(() => Promise.reject(make()))
    const result = await makeService({ storage: [storage] }).output(numbered(5000), tool)
    expect(result).toMatchObject({ truncated: true, outputPath: '', saveError: { message: expect.any(String) } })
  })
})

test.each([Number.POSITIVE_INFINITY, 1e300, -1, 0.5, Number.NaN])(
  'a clock that says %p stops nothing',
  async (time) => {
    const spy = jest.spyOn(Date, 'now').mockReturnValue(time)
    const result = await makeService()
      .output(numbered(5000), tool)
      .finally(() => spy.mockRestore())
    expect(result).toMatchObject({ truncated: true, outputPath: expect.stringContaining('.txt') })
  },
)

test.each<[string, string]>([
  ['lines', 'a\n'.repeat(10_000)],
  ['no end', 'x'.repeat(1_000_000)],
  ['escapes', '\u001b[31mred'],
])('a path of a storage with %s is no path', async (_what, path) => {
  const result = await makeService({ storage: [memoryStorage(() => path)] }).output(numbered(5000), tool)
  expect(result).toMatchObject({ truncated: true, outputPath: '', saveError: { code: 'STORAGE_WRITE' } })
})

describe('an argument that cannot be read', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy as never
  }
  const throwing = (field: string) =>
    Object.defineProperty({}, field, {
      enumerable: true,
      get: () => {
        throw new Error('a getter of the host')
      },
    }) as never

  test.each([
    ['a proxy that refuses', revoked],
    ['a getter that throws', throwing],
  ])('is a SpillwayError that names it: %s', async (_name, make) => {
    for (const storage of [new MemoryStorage(), new TruncationStorage(tempDir())]) {
      const path = await storage.save('text', tool)
      const refused: [() => Promise<unknown>, string][] = [
        [() => storage.readRange(path, make('fromLine')), 'range'],
        [() => storage.readRange(path, { fromLine: 1 }, make('sessionId')), 'access'],
        [() => storage.search(path, 'x', make('maxMatches')), 'options'],
        [() => storage.sweep(make('retentionDays')), 'options'],
      ]
      for (const [call, field] of refused)
        expectError(await rejection(call()), 'INVALID_ARGUMENT', field, [/can(not)? be read/])
      const tools = () => createOutputTools(storage, make('sessionId'))
      expectError(thrown(tools), 'INVALID_ARGUMENT', 'options', [/can(not)? be read/])
    }
    const storage = () => new TruncationStorage(make('maxFileBytes'))
    expectError(thrown(storage), 'INVALID_CONFIG', 'options', [/can(not)? be read/])
    expect(await rejection(makeService().output('text', make('toolName')))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'context',
    })
    for (const open of [
      () => new ContextManager(make('contextWindow')),
      () => new HistoryPruner(make('policies')),
      () => compactionStep(make('contextWindow')),
    ]) {
      expectError(thrown(open), 'INVALID_ARGUMENT', 'options', [/can(not)? be read/])
    }
    const run = runCommand(process.execPath, ['-v'], make('cwd'))
    expectError(await rejection(run), 'INVALID_ARGUMENT', 'options', [/can(not)? be read/])
  })
})

describe('any argument', () => {
  const planted = () => {
    throw new Error('planted')
  }
  const revoke = <T extends object>(target: T): T => {
    const { proxy, revoke } = Proxy.revocable(target, {})
    revoke()
    return proxy
  }
  const traps = {
    get: planted,
    has: planted,
    ownKeys: planted,
    getOwnPropertyDescriptor: planted,
    getPrototypeOf: planted,
  }
  const values: Record<string, unknown> = {
    undefined: undefined,
    null: null,
    number: 5,
    text: 'x',
    symbol: Symbol('x'),
    bigint: 5n,
    array: [],
    object: {},
    'an object without a prototype': Object.create(null),
    'a revoked proxy': revoke({}),
    'a list with one': [revoke({})],
    'a member that is one': { a: revoke({}) },
    'a proxy that throws': new Proxy({}, traps),
    'getters that throw': Object.defineProperties(
      {},
      Object.fromEntries(
        ['toolName', 'messages', 'role', 'content'].map((key) => [key, { get: planted, enumerable: true }]),
      ),
    ),
  }
  const make: Record<string, () => object> = {
    TruncationService: () => new TruncationService({ storage: new MemoryStorage() }),
    TruncationStorage: () => new TruncationStorage(tempDir()),
    AuditLog: () => new AuditLog({ dir: tempDir(), sessionId: 's' }),
  }
  const outside = new Set(['runCommand', 'SpillwayError'])
  /** For the package itself only. */
  const inside = new Set(['HookRunner.run', 'ToolRegistry.executeOne'])

  const problems: string[] = []
  async function attempt(title: string, work: () => unknown): Promise<void> {
    try {
      const answer = work() as { then?: unknown; result?: Promise<unknown>; destroy?: () => void } | undefined
      // A capture: it is not ended, and its result would wait.
      if (typeof answer?.destroy === 'function') {
        answer.result?.catch(() => undefined)
        answer.destroy()
      } else await answer
    } catch (error) {
      const isTheirs = error instanceof Error && error.message.includes('planted')
      if (!(error instanceof SpillwayError) && !isTheirs) problems.push(`${title}: ${error}`)
    }
  }

  async function tryAll(title: string, of: (...args: unknown[]) => unknown): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      await attempt(`${title}(${name})`, () => of(value))
      await attempt(`${title}('x', ${name})`, () => of('x', value))
      await attempt(`${title}([], ${name})`, () => of([], value))
      await attempt(`${title}({}, ${name}, ${name})`, () => of({}, value, value))
    }
  }

  const methodsOf = (type: { prototype: object }): string[] => {
    const names: string[] = []
    for (let at = type.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      names.push(
        ...Object.getOwnPropertyNames(at).filter(
          (name) => typeof Object.getOwnPropertyDescriptor(at, name)!.value === 'function',
        ),
      )
    }
    return [...new Set(names)].filter((name) => name !== 'constructor')
  }

  const all = Object.entries(everything).filter(
    ([name, value]) => typeof value === 'function' && !outside.has(name),
  ) as [string, (...args: unknown[]) => unknown][]

  const cwd = process.cwd()
  beforeEach(() => {
    // Some take 'x' for a file to write.
    process.chdir(tempDir())
    problems.length = 0
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  })
  afterEach(() => {
    process.chdir(cwd)
    jest.restoreAllMocks()
  })

  test.each(all.filter(([, of]) => !isClass(of)))('%s throws nothing but a SpillwayError', async (name, of) => {
    await tryAll(name, of)
    expect(problems).toEqual([])
  })

  test.each(all.filter(([, of]) => isClass(of)))('%s throws nothing but a SpillwayError', async (name, of) => {
    const type = of as unknown as new (...args: unknown[]) => object
    await tryAll(`new ${name}`, (...args) => void new type(...args))
    for (const key of Object.getOwnPropertyNames(type)) {
      const own = (type as unknown as Record<string, unknown>)[key]
      if (typeof own === 'function') await tryAll(`${name}.${key}`, (...args) => own.apply(type, args))
    }
    let made: object | undefined
    try {
      made = make[name]?.() ?? new type()
    } catch {
      // It cannot be made without more.
    }
    if (made !== undefined) {
      for (const key of methodsOf(type)) {
        if (inside.has(`${name}.${key}`) || key === 'close') continue
        const method = (made as Record<string, (...args: unknown[]) => unknown>)[key]!
        await tryAll(`${name}.${key}`, (...args) => method.apply(made, args))
      }
    }
    expect(problems).toEqual([])
  })
})

function isClass(of: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(of))
}
