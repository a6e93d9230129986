import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AuditLog,
  createOutputTools,
  createTruncation,
  createTruncationMiddleware,
  DoomLoopDetector,
  guardTool,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  type RefusedResult,
  runCommand,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
  verifyAudit,
} from 'spillway'
import { ModeController } from 'spillway/permission'
import { createEditTool, createGrepTool, createReadTool, createShellTool } from 'spillway/tools'

type Step = [string, unknown?]

const echo = (steps: Step[] = []) => ({
  name: 'bash',
  execute(args: { command: string; cwd?: string }) {
    steps.push(['tool', args])
    return args.command
  },
})
const allowed = () =>
  new PermissionPolicy({ rules: [{ domain: 'bash', pattern: '*', decision: 'allow' }], vault: '/x' })
const service = (maxLines: number) => new TruncationService({ global: { maxLines }, storage: new MemoryStorage() })
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')

test.each([
  [undefined, 'tool', 'an object with name and execute, received undefined'],
  [{ execute: () => 1 }, 'tool.name', 'a string, received undefined'],
  [{ name: 'x', run: () => 1 }, 'tool.execute', 'a function, received undefined'],
])('rejects an invalid tool and names the missing part: %j', (tool, field, problem) => {
  const message = `Invalid option "${field}": expected ${problem}`
  expect(() => guardTool(tool as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field, message }))
})

test('an output of a command is replaced by its text, as the type of the result says', async () => {
  const run = () => runCommand(process.execPath, ['-p', '7'])
  const truncation = service(2)
  const whole = await guardTool({ name: 'bash', execute: run }, { truncation }).execute({} as never)
  if ('kind' in whole) throw new Error(whole.output)
  const { exitCode, output } = whole
  // Without the cast of a caller: a text, or the output of a guard without `truncation`.
  const text: string = typeof output === 'string' ? output : output.content
  expect([exitCode, output, text]).toEqual([0, '7\n', '7\n'])
  const bare = guardTool({ name: 'bash', execute: async () => (await run()).output }, { truncation })
  const shown = await bare.execute({} as never)
  if (typeof shown !== 'string') throw new Error('the output was not replaced')
  expect(shown).toBe('7\n')
})

test('everything runs in the documented order, on the merged arguments', async () => {
  const steps: Step[] = []
  const note = (name: string) => (call: { args?: unknown; result?: unknown }) => {
    steps.push([name, call.result ?? call.args])
    return undefined
  }
  const did = <T>(step: Step, answer: T): T => {
    steps.push(step)
    return answer
  }
  const policy = allowed()
  const detector = new DoomLoopDetector()
  const ledger = new ToolResultLedger()
  const bound = createTruncationMiddleware({ service: service(2) })
  const tool = guardTool(
    { name: 'bash', execute: (args: { command: string }) => did(['tool', args], lines(9)) },
    {
      hooks: {
        'tool.before': [() => ({ mergeInput: { timeout: 9, command: 'not this' } }), note('before')],
        'tool.after': note('after'),
        'tool.final': [note('final'), () => ({ append: '!' })],
      },
      permission: { evaluate: (call) => did(['permission', call.args], policy.evaluate(call)) },
      doomLoop: {
        check: (call) => did(['loop', call.args], detector.check(call)),
        record: (result) => did(['record', result.result], detector.record(result)),
        approve: () => false,
      },
      audit: { append: (event) => void steps.push(['audit', event.type]) },
      truncation: async (name, result, context) => {
        steps.push(['truncation', result.output])
        return bound(name, result, context)
      },
      ledger,
    },
  )
  const given = Object.freeze({ command: 'ls' })
  const result = await tool.execute(given, { toolCallId: 'c1', sessionId: 's' })
  const merged = { timeout: 9, command: 'ls' }
  const short = expect.stringMatching(/^line 0\n[\s\S]*The tool call succeeded but the output was truncated/)
  expect(steps).toEqual([
    ['before', merged],
    ['permission', merged],
    ['loop', merged],
    ['audit', 'decision'],
    ['tool', merged],
    ['record', lines(9)],
    ['after', lines(9)],
    ['truncation', lines(9)],
    ['final', short],
    ['audit', 'outcome'],
  ])
  expect(result).toMatch(/^line 0\n[\s\S]*!$/)
  expect(ledger.get('c1')).toMatchObject({ toolName: 'bash', isError: false })
})

test('without controls the very value of the tool comes back', async () => {
  const value = { anything: new Map() }
  expect(await guardTool({ name: 't', execute: () => value }).execute({} as never)).toBe(value)
  for (const given of [undefined, null, 3, '', [1], { output: 'x', success: true }]) {
    expect(
      await guardTool({ name: 't', execute: () => given }, { truncation: service(5) }).execute({} as never),
    ).toEqual(
      given === undefined
        ? undefined
        : given && typeof given === 'object' && 'output' in given
          ? { ...given, metadata: { truncated: false } }
          : given,
    )
  }
})

test("keeps members of a tool's class, and binds its methods to their object", async () => {
  class Base {
    get description() {
      return `does ${this.name}`
    }
    get name() {
      return 'bash'
    }
    get broken(): string {
      throw new Error('not to be read')
    }
    help() {
      return this.description
    }
  }
  class Bash extends Base {
    readonly #answer = 'done'
    readonly inputSchema = { type: 'object' }
    execute() {
      return this.answered()
    }
    answered() {
      return this.#answer
    }
  }
  const safe = guardTool(new Bash(), {})
  expect(safe).toMatchObject({ name: 'bash', description: 'does bash', inputSchema: { type: 'object' } })
  expect(safe.help()).toBe('does bash')
  expect(safe.answered()).toBe('done')
  expect(await safe.execute({} as never)).toBe('done')
  expect(Object.keys(guardTool({ name: 'a', execute: () => 1 }, {}))).toEqual(['name', 'execute'])
})

test('a tool receives the session that its controls use', async () => {
  const told: unknown[] = []
  const tool = guardTool({ name: 't', execute: (_, context) => told.push(context) }, { sessionId: 's' })
  await tool.execute({} as never, { toolCallId: 'c' })
  await tool.execute({} as never, { toolCallId: 'd', sessionId: 'own', workingDirectory: '/w' })
  expect(told).toEqual([
    { toolCallId: 'c', sessionId: 's' },
    { toolCallId: 'd', sessionId: 'own', workingDirectory: '/w' },
  ])
})

const fail = (): never => {
  throw new Error('no')
}

const throwingGetter = (name: string) => Object.defineProperty({}, name, { enumerable: true, get: fail })

describe('permission', () => {
  test.each([
    ['read', createReadTool, { path: 'x.txt' }],
    ['edit', createEditTool, { path: 'x.txt', old_text: 'in', new_text: 'out' }],
    ['grep', createGrepTool, { pattern: 'inside' }],
    ['bash', createShellTool, { command: 'cat x.txt' }],
  ] as const)('paths of %s are judged in the folder of the tool', async (_, create, args) => {
    const [vault, other] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'spillway-guard-'))) as [string, string]
    const rules = [{ domain: 'bash', pattern: 'cat *', decision: 'allow' }] as const
    const permission = new PermissionPolicy({ vault, rules })
    const call = (cwd: string, context = {}) => {
      for (const dir of [vault, other]) writeFileSync(join(dir, 'x.txt'), 'inside\n')
      return guardTool(create({ cwd }), { permission }).execute(args, { toolCallId: 'c', ...context })
    }
    expect(await call(vault)).toMatchObject({ success: true })
    expect(await call(other)).toMatchObject({ kind: 'permission_denied', output: expect.stringContaining(other) })
    expect(await call(other, { workingDirectory: vault })).toMatchObject({ success: true })
    const registry = new ToolRegistry()
    registry.register(guardTool(create({ cwd: other }), { permission }))
    const [answer] = await registry.execute([{ id: 'c', name: create({}).name, input: args }])
    expect(answer?.result).toMatchObject({ success: false, output: expect.stringContaining(other) })
    for (const dir of [vault, other]) rmSync(dir, { recursive: true })
  })

  test('a tool that names its folder gets it with the call', async () => {
    const tool = { name: 't', workingDirectory: '/w', execute: (_: unknown, context: object) => context }
    expect(await guardTool(tool).execute({}, { toolCallId: 'c' })).toMatchObject({ workingDirectory: '/w' })
    const registry = new ToolRegistry()
    registry.register(tool)
    const [answer] = await registry.execute([{ id: 'c', name: 't' }])
    expect(answer?.result.output).toMatchObject({ workingDirectory: '/w' })
  })

  test('a denied call does not run, and says so to people and models', async () => {
    const steps: Step[] = []
    const ledger = new ToolResultLedger()
    const policy = new PermissionPolicy()
    const tool = guardTool(echo(steps), { permission: policy, ledger })
    const result = (await tool.execute({ command: 'rm -rf x' }, { toolCallId: 'c' })) as RefusedResult
    expect(steps).toEqual([])
    expect(result).toMatchObject({
      kind: 'permission_denied',
      success: false,
      isError: true,
      domain: 'bash',
      targets: expect.arrayContaining(['shell:rm -rf x']),
    })
    expect(result.output).toMatch(/^The call of bash was denied and did not run: .*no person can be asked/)
    expect(result.message).toBe(result.output)
    expect(ledger.get('c')?.isError).toBe(true)
    expect(await guardTool(echo(), { permission: policy, refusal: 'text' }).execute({ command: 'x' })).toBe(
      result.output.replace('rm -rf x', 'x'),
    )
    expect(await guardTool(echo(), { permission: policy, refusal: 'mcp' }).execute({ command: 'x' })).toEqual({
      content: [{ type: 'text', text: expect.stringContaining('was denied') }],
      isError: true,
    })
  })

  test('a gate asks, and what was allowed is what runs', async () => {
    const steps: Step[] = []
    const gate = new PermissionGate(new PermissionPolicy())
    const args = { command: 'make' }
    const answer = guardTool(echo(steps), { permission: gate }).execute(args, { toolCallId: 'c' })
    await new Promise(setImmediate)
    args.command = 'rm -rf /'
    await gate.respond(gate.pending()[0]?.id ?? '', 'once')
    expect(await answer).toBe('make')
    const rejected = guardTool(echo(steps), { permission: gate }).execute({ command: 'x' }, { toolCallId: 'd' })
    await new Promise(setImmediate)
    await gate.respond(gate.pending()[0]?.id ?? '', { reject: 'use make' })
    expect(((await rejected) as RefusedResult).output).toBe(
      'The call of bash was denied and did not run: the user rejected it; use make.',
    )
    expect(steps).toHaveLength(1)
  })

  test('a question that the host does not answer is no rejection of the user', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const ask = () => Promise.reject(new Error('no terminal'))
    const guarded = guardTool(echo(), { permission: new PermissionGate({ ask }), refusal: 'text' })
    expect(await guarded.execute({ command: 'make' }, { toolCallId: 'c' })).toBe(
      'The call of bash was denied and did not run: the user could not be asked.',
    )
    expect(warned.mock.calls.map(([text]) => text)).toEqual(['ask: no terminal'])
    warned.mockRestore()
  })

  test('an aborted question is a cancelled call', async () => {
    const controller = new AbortController()
    const gate = new PermissionGate(new PermissionPolicy())
    const answer = guardTool(echo(), { permission: gate }).execute(
      { command: 'x' },
      { toolCallId: 'c', signal: controller.signal },
    )
    await new Promise(setImmediate)
    controller.abort()
    expect(await answer).toMatchObject({ kind: 'aborted', isError: true })
    expect(await guardTool(echo(), {}).execute({ command: 'x' }, { signal: controller.signal })).toMatchObject({
      kind: 'aborted',
    })
  })

  test('full access is silent and audited', async () => {
    const modes = new ModeController({ default: 'full_access' })
    const events: Record<string, unknown>[] = []
    const tool = guardTool(echo(), {
      permission: new PermissionGate(new PermissionPolicy(), { modes }),
      audit: { append: (event) => void events.push(event) },
      sessionId: 's',
    })
    expect(await tool.execute({ command: 'x' })).toBe('x')
    expect(events[0]).toMatchObject({
      type: 'decision',
      decision: 'allow',
      mode: 'full_access',
      approver: 'full_access',
      sessionId: 's',
      targets: ['shell:x'],
    })
    await tool.execute({ command: 'sudo rm -rf /' }, { sessionId: 's' })
    expect(events.at(-1)).toMatchObject({ decision: 'deny', mode: 'full_access', approver: 'rule' })
  })
})

describe('an unreadable call does not run, and is reported:', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const throwing = () => new Proxy({ command: 'x' }, { get: fail })
  test.each<[string, () => [args: unknown, context?: unknown]]>([
    ['a revoked proxy', () => [revoked()]],
    ['a proxy that throws', () => [throwing()]],
    ['a context that throws', () => [{ command: 'x' }, throwingGetter('toolCallId')]],
    ['a signal that throws', () => [{ command: 'x' }, throwingGetter('signal')]],
    ['a folder that throws', () => [{ command: 'x' }, throwingGetter('workingDirectory')]],
    ['a member that throws', () => [{ command: 'x' }, throwingGetter('mine')]],
    ['a revoked context', () => [{ command: 'x' }, revoked()]],
    ['an id that is no text', () => [{ command: 'x' }, { toolCallId: 5 }]],
  ])('%s', async (_, given) => {
    const steps: Step[] = []
    const events: Record<string, unknown>[] = []
    for (const hooks of [undefined, { 'tool.before': () => undefined }]) {
      const tool = guardTool(echo(steps), {
        permission: allowed(),
        doomLoop: new DoomLoopDetector(),
        audit: { append: (event) => void events.push(event) },
        ...(hooks && { hooks }),
      })
      const [args, context] = given()
      expect(await tool.execute(args as never, context as never)).toMatchObject({
        kind: 'tool_failed',
        isError: true,
        output: expect.stringMatching(/^The call could not be read and did not run: /),
      })
    }
    expect(steps).toEqual([])
    expect(events.map(({ type, decision }) => [type, decision])).toEqual([
      ['decision', 'deny'],
      ['decision', 'deny'],
    ])
  })
})

describe('loops', () => {
  const calls = async (tool: { execute(args: never, context: object): Promise<unknown> }, count: number) => {
    const results: unknown[] = []
    for (let n = 0; n < count; n += 1)
      results.push(await tool.execute({ command: 'ls' } as never, { toolCallId: `c${n}` }))
    return results
  }

  test('without a user to ask a loop is stopped with a sentence', async () => {
    const results = await calls(guardTool(echo(), { doomLoop: new DoomLoopDetector() }), 5)
    expect(results[4]).toMatchObject({ kind: 'doom_loop', output: expect.stringMatching(/\w+ \w+/) })
    // The model is warned before that.
    expect(results[3]).toMatch(/^ls\n\n\w+/)
  })

  test.each(['truncationPath', 'outputPath', 'fullOutputPath', 'persistedOutputPath'])(
    'an output that is saved under another name each time, as %s says, is the same',
    async (name) => {
      let saved = 0
      const execute = () => {
        const path = `/outputs/bash_${saved++}.txt`
        return { output: `line\n\nFull output saved to: ${path}`, metadata: { truncated: true, [name]: path } }
      }
      const results = await calls(guardTool({ name: 'bash', execute }, { doomLoop: new DoomLoopDetector() }), 5)
      expect(results[4]).toMatchObject({ kind: 'doom_loop' })
    },
  )

  test('the sentence says that the call did not run, and what to do', async () => {
    const [english] = (await calls(guardTool(echo(), { doomLoop: new DoomLoopDetector() }), 5)).slice(4) as {
      output: string
    }[]
    expect(english?.output).toMatch(/not run.*something else/)
    const chinese = new DoomLoopDetector({ language: 'zh-CN' })
    const [told] = (await calls(guardTool(echo(), { doomLoop: chinese }), 5)).slice(4) as { output: string }[]
    expect(told?.output).toContain('没有执行')
  })

  test('a call that is denied again and again is a loop', async () => {
    const denying = { evaluate: () => ({ decision: 'deny' as const, targets: [], reasons: ['no rule allows it'] }) }
    const detector = new DoomLoopDetector()
    const results = (await calls(guardTool(echo(), { permission: denying as never, doomLoop: detector }), 6)) as {
      kind: string
      output: string
    }[]
    expect(results.slice(0, 2).map(({ kind }) => kind)).toEqual(['permission_denied', 'permission_denied'])
    expect(results[0]?.output).toContain('no rule allows it')
    expect(results[2]?.output).toMatch(/no rule allows it.*\b(3 times|repeat)/)
    expect(results[5]?.kind).toBe('doom_loop')
    expect(results[5]?.output).toMatch(/no rule allows it.*not run/)
    const others = guardTool(echo(), { permission: denying as never, doomLoop: new DoomLoopDetector() })
    expect(await others.execute({ command: 'a' }, { toolCallId: 'x' })).toMatchObject({ kind: 'permission_denied' })
  })

  test('a call that the user could not be asked about is no loop', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const permission = new PermissionGate({ ask: () => Promise.reject(new Error('no window')) })
    const results = await calls(guardTool(echo(), { permission, doomLoop: new DoomLoopDetector() }), 6)
    for (const result of results) {
      expect(result).toMatchObject({
        kind: 'permission_denied',
        output: expect.stringMatching(/the user could not be asked\.$/),
      })
    }
    warned.mockRestore()
  })

  test('the answer of the user decides', async () => {
    const asked: string[] = []
    const always = guardTool(echo(), {
      doomLoop: new DoomLoopDetector(),
      askDoomLoop: ({ verdict }) => {
        asked.push(verdict.reason ?? '')
        return 'always'
      },
    })
    expect(await calls(always, 12)).not.toContainEqual(expect.objectContaining({ kind: 'doom_loop' }))
    expect(asked).toEqual(['same_tool'])
    const throws = guardTool(echo(), {
      doomLoop: new DoomLoopDetector(),
      askDoomLoop: () => Promise.reject(new Error('no window')),
    })
    expect((await calls(throws, 5))[4]).toMatchObject({ kind: 'doom_loop' })
  })

  test.each([
    ['while permission is asked', { permission: 'asked' }],
    ['by the one who is asked about permission', { permission: 'allowed' }],
    ['by the one who is asked about the loop', { loop: 'aborted' }],
  ] as Array<[string, { permission?: string; loop?: string }]>)(
    'a signal that is aborted %s ends the call',
    async (_when, { permission, loop }) => {
      const stop = new AbortController()
      const steps: Step[] = []
      const asked: string[] = []
      const doomLoop = new DoomLoopDetector()
      const repeated = guardTool(echo(), { doomLoop })
      await calls(repeated, 4)
      const tool = guardTool(echo(steps), {
        doomLoop,
        ...(permission && {
          permission: {
            request: async () => {
              stop.abort()
              const verdict = { decision: 'allow', targets: [], reasons: [] } as never
              return { decision: 'allow', by: permission === 'asked' ? 'once' : 'rule', mode: 'agent', verdict }
            },
          },
        }),
        askDoomLoop: () => {
          asked.push('loop')
          if (loop === 'aborted') stop.abort()
          return new Promise<never>(() => {})
        },
      })
      const result = await tool.execute({ command: 'a' }, { toolCallId: 'last', signal: stop.signal })
      expect(result).toMatchObject({ kind: 'aborted' })
      expect([steps, asked]).toEqual([[], loop ? ['loop'] : []])
    },
  )
})

describe('the host learns from a warning what it does wrong, and the model reads plain words:', () => {
  const verdict = { action: 'ask', message: 'A loop.' }
  const loop = (more: object) => ({ check: () => verdict, record: () => {}, approve: () => true, ...more })
  test.each<[string, object, object, RegExp | undefined]>([
    [
      'a permission without a decision',
      { permission: { request: async () => true } },
      { kind: 'permission_denied', output: 'The call was not judged and did not run.' },
      /^permission: Invalid option "decision": expected the decision of a PermissionGate, received true/,
    ],
    [
      'a denial without a verdict',
      { permission: { request: async () => ({ decision: 'deny', by: 'rule' }) } },
      { kind: 'permission_denied', output: 'The call was not judged and did not run.' },
      /^permission: Invalid option "decision"/,
    ],
    [
      'a permission that throws',
      { permission: { evaluate: fail } },
      { kind: 'permission_denied', output: 'The call was not judged and did not run.' },
      /^permission: no$/,
    ],
    [
      'an ask with a wrong answer',
      { permission: new PermissionGate({ ask: (() => true) as never }) },
      {
        kind: 'permission_denied',
        output: 'The call of bash was denied and did not run: the user could not be asked.',
      },
      /^ask: Invalid option "response"/,
    ],
    [
      'a detector that throws',
      { doomLoop: loop({ check: fail }) },
      { kind: 'doom_loop', output: 'The call could not be checked for a loop and did not run.' },
      /^doomLoop: no$/,
    ],
    [
      'a wrong answer about a loop',
      { doomLoop: loop({}), askDoomLoop: () => true },
      { kind: 'doom_loop', output: 'A loop. The call was not run. Do not repeat it: try something else.' },
      /^askDoomLoop: Invalid option "answer": expected one of 'once', 'always', 'stop', received true/,
    ],
    [
      'nothing, where a user stops a loop',
      { doomLoop: loop({}), askDoomLoop: () => 'stop' },
      { kind: 'doom_loop', output: 'A loop. The call was not run. Do not repeat it: try something else.' },
      undefined,
    ],
    [
      'nothing, where a detector speaks English about a tool with a Chinese name',
      { doomLoop: loop({ check: () => ({ ...verdict, message: '读取 was called 5 times.', language: 'en' }) }) },
      {
        kind: 'doom_loop',
        output:
          '读取 was called 5 times. The call was not run. Do not repeat it: try something else, or ask the user how to go on.',
      },
      undefined,
    ],
    [
      'nothing, where a detector speaks Chinese and has no message',
      { doomLoop: loop({ check: () => ({ ...verdict, message: undefined, language: 'zh-CN' }) }) },
      { kind: 'doom_loop', output: '本次调用重复了之前的调用，没有进展，因此没有执行。' },
      undefined,
    ],
    ...[
      { message: Object.assign(Object.create(null), { message: 'Non.' }) },
      { message: 'Non.', language: 'fr' },
      { message: 'Non.', language: null },
      { message: { toString: () => 'Non.' } },
    ].map((said): [string, object, object, undefined] => [
      `nothing, where a detector of the caller's says ${JSON.stringify(said)}`,
      { doomLoop: loop({ check: () => ({ ...verdict, ...said }) as never }) },
      {
        kind: 'doom_loop',
        output: 'Non. The call was not run. Do not repeat it: try something else, or ask the user how to go on.',
      },
      undefined,
    ]),
  ])('%s', async (_, controls, refused, warning) => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const result = await guardTool(echo(), controls as never).execute({ command: 'make' }, { toolCallId: 'c' })
    const told = warned.mock.calls.map(([text]) => text)
    warned.mockRestore()
    expect(result).toMatchObject(refused)
    expect(told).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)])
  })
})

describe('a signal that is aborted', () => {
  test('by the time the tool answers takes nothing from the result', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-guard-'))
    const truncation = new TruncationService({ storageDirs: [dir], global: { maxLines: 3 } })
    const stop = new AbortController()
    const execute = () => {
      stop.abort()
      return { output: lines(50) }
    }
    const guarded = guardTool({ name: 'bash', execute }, { truncation })
    const result = (await guarded.execute({} as never, { signal: stop.signal })) as { metadata?: object }
    const { truncationPath } = result.metadata as { truncationPath: string }
    expect(readFileSync(truncationPath, 'utf8')).toBe(lines(50))
    rmSync(dir, { recursive: true })
  })

  test('already calls no hook', async () => {
    const before = jest.fn()
    const tool = guardTool(echo(), { hooks: { 'tool.before': before } })
    const signal = AbortSignal.abort()
    expect(await tool.execute({ command: 'x' }, { signal })).toMatchObject({ kind: 'aborted' })
    expect(before).not.toHaveBeenCalled()
  })

  test('while the decision is recorded does not start the tool', async () => {
    const [stop, steps, events] = [new AbortController(), [] as Step[], [] as object[]]
    const append = async (event: object) => {
      events.push(event)
      stop.abort()
    }
    const result = await guardTool(echo(steps), { audit: { append } }).execute(
      { command: 'x' },
      { signal: stop.signal },
    )
    expect(result).toMatchObject({ kind: 'aborted', output: 'The call was cancelled before the tool ran.' })
    expect(events).toMatchObject([{ decision: 'allow' }, { outcome: 'aborted' }])
    expect(steps).toEqual([])
  })
})

describe('results', () => {
  test('are bounded in their parts if they are of MCP', async () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const mcp = { content: [{ type: 'text', text: lines(50) }, image], isError: false, structuredContent: { a: 1 } }
    const result = (await guardTool({ name: 'm', execute: () => mcp }, { truncation: service(3) }).execute(
      {} as never,
    )) as typeof mcp
    expect(result.structuredContent).toEqual({ a: 1 })
    expect(result.content.find(({ type }) => type === 'image')).toEqual(image)
    const text = result.content.map((part) => ('text' in part ? part.text : '')).join('\n')
    expect(text).toContain('line 2')
    expect(text.split('\n').length).toBeLessThan(15)
  })

  test('are bounded with long members beside the parts of MCP, which are read as well', async () => {
    const rows = lines(5000).split('\n')
    const text = { type: 'text', text: 'see the rows' }
    const image = { type: 'image', data: 'A'.repeat(100_000), mimeType: 'image/png' }
    const storage = new MemoryStorage()
    const truncation = new TruncationService({ storage })
    const run = (result: object) => guardTool({ name: 'm', execute: () => result }, { truncation }).execute({} as never)
    for (const result of [
      { content: [text, image], structuredContent: { rows } },
      { content: [{ type: 'text', text: JSON.stringify({ rows }) }, image], structuredContent: { rows } },
      { content: [], structuredContent: { rows }, isError: true },
      { content: [], rows },
    ]) {
      const shown = (await run(result)) as Record<string, unknown> & { content: object[] }
      const { truncationPath } = shown._meta as { truncationPath: string }
      expect(JSON.stringify({ ...shown, content: shown.content.filter((part) => part !== image) }).length).toBeLessThan(
        120_000,
      )
      expect(shown.content.includes(image)).toBe((result.content as object[]).includes(image))
      expect(shown.isError).toBe((result as { isError?: boolean }).isError)
      expect(await storage.read(truncationPath)).toContain('line 4999')
    }
    const short = { content: [text], structuredContent: { rows: rows.slice(0, 300) } }
    expect(await run(short)).toBe(short)
  })

  test.each([
    ...['output', 'success', 'isError', 'metadata', 'content', 'mine'].map(
      (name) => [name, throwingGetter(name)] as const,
    ),
    ['everything', new Proxy({}, { ownKeys: () => [], has: () => fail(), getPrototypeOf: () => fail() })] as const,
  ])('that cannot be read are failed results, and the call is recorded: %s', async (_name, result) => {
    const events: Record<string, unknown>[] = []
    const ledger = new ToolResultLedger()
    const tool = guardTool(
      { name: 'bash', execute: async () => result },
      {
        truncation: service(5),
        doomLoop: new DoomLoopDetector(),
        audit: { append: (event) => void events.push(event) },
        ledger,
        hooks: { 'tool.after': () => undefined },
      },
    )
    expect(await tool.execute({ command: 'ls' } as never, { toolCallId: 'c1' })).toMatchObject({
      kind: 'tool_failed',
      output: expect.stringMatching(/^the result of the tool cannot be read: /),
    })
    expect(events.map(({ type, outcome }) => [type, outcome])).toEqual([
      ['decision', undefined],
      ['outcome', 'error'],
    ])
    expect(ledger.get('c1')).toMatchObject({ isError: true })
  })

  test('that a hook made unreadable are failed results', async () => {
    const hooks = {
      toolBefore: async (call: { args: unknown }) => call.args,
      toolFinal: async () => throwingGetter('output'),
    }
    const tool = guardTool(echo(), { hooks: { ...hooks, toolAfter: hooks.toolFinal } as never, audit: { append() {} } })
    expect(await tool.execute({ command: 'ls' } as never)).toMatchObject({ kind: 'tool_failed', isError: true })
  })

  test('are not lost where the detector of loops throws', async () => {
    const doomLoop = { check: () => ({ action: 'allow' }), approve: () => true, record: () => fail() }
    const tool = guardTool({ name: 'bash', execute: async () => 'done' }, { doomLoop: doomLoop as never })
    expect(await tool.execute({} as never)).toBe('done')
  })

  test('are failed results, bounded in the same way, if a tool throws', async () => {
    const seen: unknown[] = []
    const tool = { name: 'bash', execute: () => Promise.reject(new Error(lines(5000))) }
    const result = (await guardTool(tool, {
      truncation: service(5),
      hooks: {
        'tool.after': ({ isError }) => {
          seen.push(isError)
          return { prepend: 'seen: ' }
        },
      },
    }).execute({} as never)) as RefusedResult
    expect(result).toMatchObject({ kind: 'tool_failed', isError: true, success: false })
    expect(result.output.split('\n').length).toBeLessThan(20)
    expect(result.output).toContain('line 4999')
    expect(result.error.length).toBeLessThan(2000)
    expect(seen).toEqual([true])
  })
})

describe('hooks', () => {
  let warnings: jest.SpyInstance
  beforeEach(() => {
    warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warnings.mockRestore())

  test('that throw or hang are warned of and change nothing', async () => {
    const tool = guardTool(echo(), {
      hookTimeoutMs: 20,
      hooks: {
        'tool.before': [
          () => {
            throw new Error('broken')
          },
          () => new Promise<undefined>(() => {}),
        ],
        'tool.after': ({ args }) => {
          ;(args as { command: string }).command = 'changed'
          return Promise.reject(new Error('later'))
        },
        'tool.final': () => ({ prepend: '> ' }),
      },
    })
    expect(await tool.execute({ command: 'ls' })).toBe('> ls')
    expect(warnings.mock.calls.map(([text]) => text)).toEqual([
      'tool.before: broken',
      'tool.before: took longer than 20 ms',
      'tool.after: later',
    ])
  })

  test('arguments of the model win over those that a hook merges, in JSON text too', async () => {
    const tool = { name: 't', execute: (args: unknown) => args }
    const merge = { hooks: { 'tool.before': () => ({ mergeInput: { injected: true } }) } }
    expect(await guardTool(tool, merge).execute('{"foo":"bar"}' as never)).toBe('{"injected":true,"foo":"bar"}')
    expect(await guardTool(tool, merge).execute({ injected: 1 } as never)).toEqual({ injected: 1 })
    expect(await guardTool(tool, { hooks: { 'tool.before': () => ({ input: 3 }) } }).execute({} as never)).toBe(3)
  })
})

test('a log that cannot be written keeps the tool from running where it blocks', async () => {
  const steps: Step[] = []
  const audit = { append: () => Promise.reject(new Error('disk full')) }
  expect(await guardTool(echo(steps), { audit }).execute({ command: 'x' })).toMatchObject({ kind: 'audit_failed' })
  expect(steps).toEqual([])
})

test('the real log holds the decision and the outcome, and verifies', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-guard-'))
  const audit = new AuditLog({ dir, sessionId: 's' })
  await guardTool(echo(), { permission: new PermissionPolicy(), audit }).execute({ command: 'x' }, { toolCallId: 'c' })
  await guardTool(echo(), { audit }).execute({ command: 'y' }, { toolCallId: 'd' })
  await audit.close()
  const records = readFileSync(audit.path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.map(({ type, toolCallId, decision, outcome }) => [type, toolCallId, decision ?? outcome])).toEqual([
    ['decision', 'c', 'deny'],
    ['decision', 'd', 'allow'],
    ['outcome', 'd', 'ok'],
  ])
  expect((await verifyAudit(audit.path)).ok).toBe(true)
  rmSync(dir, { recursive: true })
})

test('names invalid tools and controls', () => {
  const refused = (field: string, controls: unknown) =>
    expect(() => guardTool(echo(), controls as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    )
  refused('controls.permision', { permision: {} })
  refused('controls.permission', { permission: {} })
  refused('controls.doomLoop', { doomLoop: {} })
  refused('controls.hooks.tool.before', { hooks: { 'tool.before': [3] } })
  refused('controls.hooks.tool.done', { hooks: { 'tool.done': () => {} } })
  refused('controls.hookTimeoutMs', { hookTimeoutMs: 0 })
  refused('controls.sessionId', { sessionId: 5 })
})

test('the options of truncation, or all that createTruncation returns, are refused with the value that is meant', () => {
  const tool = { name: 'bash', execute: () => '' }
  for (const truncation of [createTruncation(), { maxLines: 5 }]) {
    expect(() => guardTool(tool, { truncation } as never)).toThrow(/such as the `service` of createTruncation/)
    expect(() => createOutputTools(truncation as never)).toThrow(/such as the `service` of createTruncation/)
  }
})

test('runs the arguments that were judged, even if they read differently the second time', async () => {
  const permission = new PermissionPolicy({
    rules: [{ domain: 'bash', pattern: 'ls', decision: 'allow' }],
    vault: '/x',
  })
  class Parsed {
    command = 'evil'
    toJSON() {
      return { command: 'ls' }
    }
  }
  const flipping = (answers: string[]) => ({
    get command() {
      return answers.length > 1 ? answers.shift() : answers[0]
    },
  })
  class Flipping {
    constructor() {
      Object.defineProperty(this, 'command', {
        enumerable: true,
        ...Object.getOwnPropertyDescriptor(flipping(['ls', 'evil']), 'command'),
      })
    }
  }
  const proxy = () => {
    const answers = ['ls', 'evil']
    return new Proxy(
      { command: '' },
      { get: (_, key) => (key === 'command' ? (answers.shift() ?? 'evil') : undefined) },
    )
  }
  for (const args of [
    { command: 'evil', toJSON: () => ({ command: 'ls' }) },
    new Parsed(),
    flipping(['ls', 'evil']),
    new Flipping(),
    proxy(),
    {
      command: 'ls',
      list: [1],
      toJSON() {
        return this
      },
    },
  ]) {
    const steps: Step[] = []
    const result = await guardTool(echo(steps), { permission }).execute(args as never)
    expect(
      steps.map(([, given]) => (given as { command: string }).command).filter((command) => command !== 'ls'),
    ).toEqual([])
    if (steps.length === 0) expect(result).toMatchObject({ kind: 'permission_denied' })
  }
})

test.each([
  ['a question', ({ args }: { args: unknown }) => (args as { description: string }).description, 'needle here'],
  ['none', () => undefined, undefined],
  [
    'a function that throws',
    () => {
      throw new Error('no')
    },
    undefined,
  ],
  ['no text', () => 5 as unknown as string, undefined],
])('the question of a call decides about the preview: %s', async (_, query, expected) => {
  const text = `${lines(20_000)}\nneedle here\n${lines(20_000)}`
  const truncation = new TruncationService({
    strategy: 'smart',
    global: { maxLines: 20 },
    storage: new MemoryStorage(),
  })
  const bash = { name: 'bash', execute: (_: { description: string }) => text }
  const result = await guardTool(bash, { truncation, query }).execute({ description: 'find the needle' })
  expect(String(result).includes('needle here')).toBe(expected !== undefined)
})

describe('the result of a command', () => {
  const SCRIPT = 'for (let at = 1; at <= 900; at++) console.log(at); process.exitCode = Number(process.argv[1])'

  test.each([
    [0, 'ok', false],
    [3, 'error', true],
  ])('that ended with %i is one preview for every control', async (code, outcome, isError) => {
    const storage = new MemoryStorage()
    const truncation = new TruncationService({ global: { maxLines: 10 }, storage })
    const events: unknown[] = []
    const recorded: unknown[] = []
    const ledger = new ToolResultLedger()
    const detector = new DoomLoopDetector()
    const tool = guardTool(
      { name: 'bash', execute: () => runCommand(process.execPath, ['-e', SCRIPT, `${code}`], { service: truncation }) },
      {
        truncation,
        ledger,
        audit: { append: (event: unknown) => events.push(event) },
        doomLoop: {
          check: (call) => detector.check(call),
          record: (result) => {
            recorded.push(result.isError)
            detector.record(result)
          },
          approve: () => false,
        },
      },
    )
    const result = await tool.execute(undefined as never, { toolCallId: 'c1' })
    expect(result).toMatchObject({ exitCode: code, totalLines: 900, timedOut: false })
    const text = String(result.output)
    expect(text.match(/lines truncated/g)).toHaveLength(1)
    const { outputPath = '' } = ledger.get('c1') ?? {}
    expect(text).toContain(outputPath)
    expect(await storage.read(outputPath)).toBe(Array.from({ length: 900 }, (_, at) => `${at + 1}\n`).join(''))
    expect(ledger.get('c1')).toMatchObject({ exitCode: code, isError })
    expect(recorded).toEqual([isError])
    expect(events.at(-1)).toMatchObject({ type: 'outcome', outcome, outputPath })
  })
})
