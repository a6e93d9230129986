import { inspect } from 'node:util'
import { createTruncation, MemoryStorage, SpillwayError, TruncationService } from 'spillway'
import { runChild } from '../support/child'

describe('a limit for all tools that raises the one of a tool', () => {
  const warnings = (body: string) =>
    runChild<{ message: string; code: string }[]>(
      `const warnings = []
       process.on('warning', ({ message, code }) => warnings.push({ message, code }))
       ${body}
       await new Promise((done) => setImmediate(done))
       answer(warnings)`,
    )

  test.each([
    ['createTruncation', 'createTruncation({ maxLines })'],
    ['a service', 'new TruncationService({ global: { maxLines } })'],
    ['a service with the flat form', 'new TruncationService({ maxLines })'],
    ['updateConfig', 'new TruncationService().updateConfig({ maxLines })'],
  ])('is said once, with a code: %s', (_, code) => {
    const said = warnings(`
      const { createTruncation, TruncationService } = spillway
      for (const maxLines of [2000, 1500]) ${code}`)
    expect(said).toEqual([
      { code: 'SPILLWAY_TOOL_LIMIT', message: expect.stringMatching(/2000 .*bash, which is 500 lines/) },
    ])
  })

  test('is not said where nothing is raised, or where it is meant', () => {
    const said = warnings(`
      spillway.createTruncation()
      spillway.createTruncation({ maxBytes: 9000 })
      spillway.createTruncation({ maxLines: 500 })
      spillway.createTruncation({ maxLines: 2000, tools: { bash: { maxLines: 500 } } })
      spillway.createTruncation({ maxLines: 2000, tools: { shell: { maxLines: 2000 } } })
      const service = new spillway.TruncationService({ tools: { bash: { maxLines: 500 } } })
      service.updateConfig({ maxLines: 2000 })
      service.setToolConfig('bash', { maxLines: 3000 })`)
    expect(said).toEqual([])
  })

  test('still goes before the setting of the tool', () => {
    const { service } = createTruncation({ maxLines: 400 })
    expect(service.effectiveConfig({ toolName: 'bash' })).toMatchObject({
      config: { maxLines: 400 },
      sources: { maxLines: 'global' },
    })
  })
})

test('an error prints the fields that it has', () => {
  const bare = new SpillwayError('ABORTED', 'it was ended')
  expect(Object.keys(bare).sort()).toEqual(['code', 'name'])
  expect(inspect(bare)).not.toContain('undefined')
  const { field, report } = new SpillwayError('INVALID_CONFIG', 'x', { field: 'a.b', report: { tried: 1 } })
  expect([field, report, bare.field, bare.report]).toEqual(['a.b', { tried: 1 }, undefined, undefined])
})

describe('settings for all tools beside the options of a service', () => {
  const toolName = 'fetch_log'

  test('are those of `global`, and win over it', () => {
    const service = new TruncationService({ maxLines: 7, terminal: false, global: { maxLines: 9, maxBytes: 5000 } })
    expect(service.effectiveConfig({ toolName })).toMatchObject({
      config: { maxLines: 7, maxBytes: 5000 },
      sources: { maxLines: 'global', maxBytes: 'global' },
    })
  })

  test.each([
    [{ maxLines: 0 }, 'maxLines', 'Invalid option "maxLines": '],
    [{ direction: 'up' }, 'direction', 'Invalid option "direction": '],
    [{ global: { maxLines: 0 } }, 'global.maxLines', 'Invalid option "global.maxLines": '],
    [{ global: 7, maxLines: 3 }, 'global', 'Invalid option "global": '],
    [{ maxLinse: 3 }, 'maxLinse', 'maxLinse'],
  ])('an error calls them what they were called: %j', (options, field, start) => {
    const make = () => new TruncationService(options as object)
    expect(make).toThrow(SpillwayError)
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }))
    expect(make).toThrow(start)
  })
})

test.each([
  ['maxlines', 'maxLines'],
  ['max_bytes', 'maxBytes'],
  ['maxToken', 'maxTokens'],
  ['storagedir', 'storageDir'],
  ['retentionDay', 'retentionDays'],
  ['avaliableTools', 'availableTools'],
  ['stratgy', 'strategy'],
])('%s is refused with the name that is meant: %s', (name, meant) => {
  const error = expect.objectContaining({
    code: 'INVALID_CONFIG',
    field: name,
    message: `Unknown option "${name}": did you mean ${meant}?`,
  })
  for (const make of [(options: object) => new TruncationService(options), createTruncation]) {
    expect(() => make({ [name]: 3 })).toThrow(error)
  }
})

test('a name like no other is refused with all that are allowed', () => {
  const refused = (make: () => unknown) => {
    try {
      return make()
    } catch (error) {
      return String(error)
    }
  }
  const service = refused(() => new TruncationService({ foo: 1 } as object))
  const both = refused(() => createTruncation({ foo: 1 } as object))
  for (const name of ['maxLines', 'maxTokens', 'storageDir', 'storage', 'strategy']) {
    expect([service, both]).toEqual(Array(2).fill(expect.stringMatching(`[ ,]${name}(,|$)`)))
  }
  expect(both).toContain('skipTools')
})

describe('middleware', () => {
  const long = 'line\n'.repeat(50)

  test('needs no context, and keeps the type of the result', async () => {
    const storage = new MemoryStorage()
    const { middleware } = createTruncation({ maxLines: 5, storage, tools: { fetch_log: { maxLines: 3 } } })
    const result = await middleware('fetch_log', { output: long, n: 1 })
    const output: string = result.output
    const n: number = result.n
    expect([output.startsWith('line\nline\nline\n\n'), n, result.metadata?.truncated]).toEqual([true, 1, true])
  })

  test('takes the name of the tool from its first argument', async () => {
    const storage = new MemoryStorage()
    const { middleware } = createTruncation({ storage, tools: { fetch_log: { maxLines: 3 } } })
    const result = await middleware('fetch_log', { output: long }, { sessionId: 's' })
    expect(result.metadata).toMatchObject({ truncated: true, truncationRemovedLines: 47 })
    expect(String(result.metadata?.truncationPath)).toContain('fetch_log')
  })
})
