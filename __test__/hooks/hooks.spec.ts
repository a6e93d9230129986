import { compactHistory, guardTool, PermissionPolicy } from 'spillway'
import { HookRunner, type HookRunnerOptions, type Hooks, type ToolHookResult } from 'spillway/extensions'

/** A runner, and what it reports. */
function watched(options: HookRunnerOptions) {
  const problems: string[] = []
  const onProblem: HookRunnerOptions['onProblem'] = ({ hook, source, message }) =>
    problems.push(`${source} ${hook}: ${message}`)
  return { hooks: new HookRunner({ onProblem, ...options }), problems }
}
const user = (hooks: Hooks) => watched({ user: hooks })
const call = { tool: 'bash', toolCallId: 'c' }

describe('order', () => {
  test('is built-in first, then the user, each in the order of its list, each seeing what was changed', async () => {
    const say =
      (letter: string) =>
      ({ system }: { system: string }) => {
        expect(system.endsWith(`\n\n${letter}`)).toBe(false)
        return letter
      }
    const { hooks, problems } = watched({
      user: [{ 'chat.system': [say('3'), say('4')] }, { 'chat.system': say('5') }],
      builtIn: [{ 'chat.system': say('1') }, { 'chat.system': [say('2')] }],
    })
    expect(await hooks.chatSystem('base')).toBe('base\n\n1\n\n2\n\n3\n\n4\n\n5')
    expect(problems).toEqual([])
    expect(hooks.has('chat.system')).toBe(true)
    expect(hooks.has('tool.before')).toBe(false)
  })

  test('holds however long each takes', async () => {
    const slow = (text: string, turns: number) => async () => {
      for (let n = 0; n < turns; n += 1) await new Promise(setImmediate)
      return { text }
    }
    const { hooks } = user({ 'chat.system': [slow('a', 5), slow('b', 1), slow('c', 3)] })
    expect(await hooks.chatSystem('')).toBe('a\n\nb\n\nc')
  })
})

describe('chat.params', () => {
  test('changes what is known and right, and nothing else', async () => {
    const { hooks, problems } = user({
      'chat.params': () => ({ temperature: 0.2, topP: 1.5, foo: 1, maxTokens: null, seed: undefined }) as never,
    })
    const params = Object.freeze({ temperature: 0.7, maxTokens: 100, hostOwn: 'kept' })
    expect(await hooks.chatParams(params)).toEqual({ temperature: 0.2, hostOwn: 'kept' })
    expect(problems).toEqual([
      'user chat.params: Invalid option "params.topP": expected a number from 0 to 1, received 1.5',
      expect.stringContaining('user chat.params: Unknown option "params.foo": expected one of temperature, topP'),
    ])
  })

  test('changes a setting with two names under the one that the host uses', async () => {
    const answer = async (change: object, params: object) =>
      user({ 'chat.params': () => change as never }).hooks.chatParams(params)
    expect(await answer({ maxTokens: 5 }, { maxOutputTokens: 9 })).toEqual({ maxOutputTokens: 5 })
    expect(await answer({ maxOutputTokens: 5 }, { maxTokens: 9 })).toEqual({ maxTokens: 5 })
    expect(await answer({ maxTokens: null }, { maxOutputTokens: 9 })).toEqual({})
    expect(await answer({ maxTokens: 5, maxOutputTokens: 6 }, { maxOutputTokens: 9 })).toEqual({
      maxTokens: 5,
      maxOutputTokens: 6,
    })
    expect(await answer({ maxTokens: 5 }, {})).toEqual({ maxTokens: 5 })
  })

  test("keeps the host's settings for a provider beside those of a hook", async () => {
    const set = JSON.parse('{"openai":{"serviceTier":"flex","user":{"id":1}},"__proto__":{"x":1}}')
    const { hooks } = user({ 'chat.params': () => ({ providerOptions: set }) })
    const params = {
      providerOptions: { openai: { reasoningEffort: 'low', user: { id: 0, name: 'u' } }, other: { a: 1 } },
    }
    const { providerOptions } = await hooks.chatParams(params)
    expect(providerOptions).toEqual({
      openai: { reasoningEffort: 'low', serviceTier: 'flex', user: { id: 1 } },
      other: { a: 1 },
      ['__proto__']: { x: 1 },
    })
    expect(Object.getPrototypeOf(providerOptions)).toBe(Object.prototype)
  })

  test('puts nested parameters together', async () => {
    const { hooks } = user({ 'chat.params': [() => ({ reasoning: { effort: 'low' } }), () => ({ store: false })] })
    expect(await hooks.chatParams({ reasoning: { effort: 'high', summary: 'auto' } })).toEqual({
      reasoning: { effort: 'low', summary: 'auto' },
      store: false,
    })
  })

  test('receives the caller and copies', async () => {
    const params = { reasoning: { effort: 'high' } }
    const { hooks } = user({
      'chat.params': ({ agent, model, sessionId, params: told }) => {
        expect([agent, model, sessionId]).toEqual(['writer', 'm', 's'])
        ;(told.reasoning as { effort: string }).effort = 'changed'
        return undefined
      },
    })
    expect(await hooks.chatParams(params, { agent: 'writer', model: 'm', sessionId: 's' })).toBe(params)
    expect(params.reasoning.effort).toBe('high')
  })
})

describe('chat.system', () => {
  test.each([
    ['tail', 'base\n\ntail'],
    [{ text: ' tail\n' }, 'base\n\ntail'],
    [{ mode: 'prepend', text: 'head' }, 'head\n\nbase'],
    [{ mode: 'replace', text: 'only' }, 'only'],
    [{ mode: 'replace', text: ' \n' }, 'base'],
    ['', 'base'],
    [null, 'base'],
    [undefined, 'base'],
    ['a\ud800', 'base\n\na\ufffd'],
  ])('%j gives %j', async (answer, expected) => {
    const { hooks, problems } = user({ 'chat.system': () => answer as never })
    expect(await hooks.chatSystem('base')).toBe(expected)
    expect(problems).toEqual([])
  })

  test.each([
    [3, 'invalid answer: expected a text, or { text, mode } or nothing, received 3'],
    [{ text: 3 }, 'Invalid option "text": expected a string, received 3'],
    [
      { text: 'a', mode: 'insert' },
      "Invalid option \"mode\": expected one of 'append', 'prepend', 'replace', received \"insert\"",
    ],
    [{ texts: 'a' }, 'Unknown option "texts": did you mean text?'],
    [['a'], 'invalid answer: expected a text, or { text, mode } or nothing, received an array'],
  ])('%j changes nothing and is reported', async (answer, message) => {
    const { hooks, problems } = user({ 'chat.system': () => answer as never })
    expect(await hooks.chatSystem('base')).toBe('base')
    expect(problems).toEqual([`user chat.system: ${message}`])
  })
})

describe('tool.before', () => {
  const merged = async (answer: object, args: unknown) => {
    const { hooks, problems } = user({ 'tool.before': () => answer })
    return [await hooks.toolBefore({ ...call, args }), ...problems]
  }

  test('fills in, overrides or replaces, in objects and in JSON text', async () => {
    const defaults = { mergeInput: { cwd: '/d', limit: 1 } }
    expect(await merged(defaults, { limit: 9 })).toEqual([{ cwd: '/d', limit: 9 }])
    expect(await merged(defaults, '{"limit":9}')).toEqual(['{"cwd":"/d","limit":9}'])
    expect(await merged(defaults, '')).toEqual(['{"cwd":"/d","limit":1}'])
    expect(await merged(defaults, undefined)).toEqual([{ cwd: '/d', limit: 1 }])
    const overrides = { overrideInput: { limit: 1 } }
    const problem =
      'user tool.before: mergeInput, overrideInput: the arguments are not an object; return { input } instead'
    for (const args of ['not json', '[1]', [1], 3]) {
      expect(await merged(defaults, args)).toEqual([args, problem])
      expect(await merged(overrides, args)).toEqual([args, problem])
    }
    expect(await merged({ input: undefined }, { limit: 9 })).toEqual([{ limit: 9 }])
    expect(await merged(overrides, { limit: 9, a: 1 })).toEqual([{ limit: 1, a: 1 }])
    expect(await merged(overrides, '{"limit":9}')).toEqual(['{"limit":1}'])
    expect(await merged({ ...defaults, ...overrides, input: { limit: 7 } }, {})).toEqual([{ cwd: '/d', limit: 1 }])
    expect(await merged({ mergeInput: 3 }, { a: 1 })).toEqual([
      { a: 1 },
      'user tool.before: Invalid option "mergeInput": expected an object, received 3',
    ])
  })

  test('permission judges the arguments that a hook returns, and refuses them', async () => {
    const hooks = new HookRunner({ user: { 'tool.before': () => ({ overrideInput: { command: 'rm -rf /' } }) } })
    const policy = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'ls', decision: 'allow' }], vault: '/x' })
    const ran: unknown[] = []
    const bash = { name: 'bash', execute: (args: { command: string }) => ran.push(args) }
    const tool = guardTool(bash, { hooks, permission: policy })
    expect(await tool.execute({ command: 'ls' })).toMatchObject({
      kind: 'permission_denied',
      targets: ['shell:rm -rf /', 'fs:/'],
    })
    expect(ran).toEqual([])
  })
})

describe('tool.after and tool.final', () => {
  test('keep the shape of any result', async () => {
    const { hooks, problems } = user({ 'tool.after': () => ({ prepend: '<', append: '>' }) })
    const edited = (result: unknown) => hooks.toolAfter({ ...call, args: {}, result, isError: false })
    expect(await edited('text')).toBe('<text>')
    expect(await edited({ output: 'x', success: true })).toEqual({ output: '<x>', success: true })
    expect(await edited({ output: 'e', error: 'e', success: false })).toMatchObject({ output: '<e>', error: '<e>' })
    const image = { type: 'image', data: 'AA', mimeType: 'image/png' }
    expect(await edited({ content: [image], isError: false })).toEqual({
      content: [{ type: 'text', text: '<' }, image, { type: 'text', text: '>' }],
      isError: false,
    })
    expect(await edited(undefined)).toBeUndefined()
    expect(problems).toEqual([])
    for (const result of [42, { data: 'x' }, { output: { a: 1 } }]) expect(await edited(result)).toBe(result)
    expect(problems).toEqual(
      Array(3).fill(expect.stringContaining('the result has no text; return { output } instead')),
    )
  })

  test('take the place of all texts, and leave nothing that says the same', async () => {
    const { hooks } = user({ 'tool.after': () => ({ output: '[redacted]' }) })
    const [image, text] = [
      { type: 'image', data: 'AA', mimeType: 'image/png' },
      { type: 'text', text: 'secret' },
    ]
    const file = { type: 'resource', resource: { uri: 'file:///a', text: 'secret' } }
    const result = { content: [image, text, file, text], structuredContent: { key: 'secret' }, isError: false }
    expect(await hooks.toolAfter({ ...call, args: {}, result, isError: false })).toEqual({
      content: [image, { type: 'text', text: '[redacted]' }],
      isError: false,
    })
  })

  test('one runner serves the guard of every tool, for thrown errors too', async () => {
    const seen: unknown[] = []
    const note =
      (name: string) =>
      ({ tool, isError }: ToolHookResult) => {
        seen.push([name, tool, isError])
        return { append: `|${name}` }
      }
    const hooks = new HookRunner({ builtIn: { 'tool.after': note('after') }, user: { 'tool.final': note('final') } })
    const ok = guardTool({ name: 'a', execute: () => 'out' }, { hooks })
    const bad = guardTool({ name: 'b', execute: () => Promise.reject(new Error('broke')) }, { hooks, refusal: 'text' })
    expect(await ok.execute({} as never)).toBe('out|after|final')
    expect(await bad.execute({} as never)).toBe('broke|after|final')
    expect(seen).toEqual([
      ['after', 'a', false],
      ['final', 'a', false],
      ['after', 'b', true],
      ['final', 'b', true],
    ])
  })

  test('a set with hooks of requests is taken where only those of tools are run', async () => {
    const set: Hooks = { 'chat.system': () => 'x', 'tool.final': () => ({ append: '!' }) }
    expect(await guardTool({ name: 'a', execute: () => 'out' }, { hooks: set }).execute({} as never)).toBe('out!')
    expect(() => guardTool({ name: 'a', execute: () => 1 }, { hooks: new HookRunner(), hookTimeoutMs: 5 })).toThrow(
      expect.objectContaining({ field: 'controls.hookTimeoutMs' }),
    )
  })
})

describe('compaction', () => {
  test('`before` changes the prompt of the summariser, `after` is notified', async () => {
    const told: unknown[] = []
    const { hooks, problems } = user({
      'compaction.before': [
        (call) => void told.push(call),
        () => ({ context: 'Name every file.' }),
        (call) => {
          told.push(call)
          return { instructions: `Be brief. ${call.instructions}`, context: 'And tests.' }
        },
      ],
      'compaction.after': [(report) => void told.push(report), () => 'not read', () => Promise.reject(new Error('no'))],
    })
    const call = { instructions: 'Sum up.', prompt: 'Sum up. <all>', messages: [1, 2] }
    expect(await hooks.compactionBefore(call)).toEqual({
      instructions: 'Be brief. Sum up.\n\nName every file.\n\nAnd tests.',
    })
    await hooks.compactionAfter({ tokensBefore: 9 })
    expect(told).toEqual([call, { instructions: 'Sum up.\n\nName every file.', messages: [1, 2] }, { tokensBefore: 9 }])
    expect(problems).toEqual(['user compaction.after: no'])
  })

  test('a runner is what a compaction takes, and its hooks have their own time', async () => {
    const told: string[] = []
    const { hooks, problems } = watched({
      timeoutMs: 30,
      builtIn: { 'compaction.before': () => new Promise<never>(() => {}) },
      user: {
        'compaction.before': () => ({ context: 'Name every file.' }),
        'compaction.after': ({ reason, action }) => void told.push(`${action} ${reason}`),
      },
    })
    const words = (at: number) => `${at} `.repeat(400)
    const messages = Array.from({ length: 12 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: words(at),
    }))
    const { messages: compacted } = await compactHistory(messages, {
      hooks,
      hookTimeoutMs: 10,
      contextWindow: 3000,
      recentTurns: 1,
      language: 'en',
      summarize: ({ prompt, instructions }) => {
        told.push(`${instructions.endsWith('Name every file.')} ${prompt.includes('Name every file.')}`)
        return 'Done: a. Next: b.'
      },
    })
    expect(JSON.stringify(compacted)).toContain('Done: a. Next: b.')
    expect(told).toEqual(['true true', 'summary summarized'])
    expect(problems).toEqual(['builtIn compaction.before: took longer than 30 ms'])
  })

  test('a runner is a set of these hooks itself', async () => {
    const { hooks, problems } = user({
      'compaction.before': [() => ({ prompt: 'All.' }), () => ({ contexts: 'x' }) as never],
    })
    expect(await hooks['compaction.before']({ instructions: 'i' })).toEqual({ prompt: 'All.' })
    expect(problems).toEqual(['user compaction.before: Unknown option "contexts": did you mean context?'])
    expect(Object.keys(hooks)).toEqual([])
    expect(await new HookRunner()['compaction.before']({ instructions: 'i' })).toBeUndefined()
    expect(await new HookRunner()['compaction.after']({})).toBeUndefined()
  })
})

describe('problems', () => {
  test('change nothing, of any kind, for any hook', async () => {
    const throws = () => {
      throw new Error('broken')
    }
    const hangs = () => new Promise<never>(() => {})
    const thenThrows = () => ({
      // biome-ignore lint/suspicious/noThenProperty: what a hook answers may be anything
      get then() {
        throw new Error('no then')
      },
    })
    const unreadable = () => new Proxy({}, { ownKeys: throws, get: throws, has: throws, getPrototypeOf: throws })
    const all = [throws, () => Promise.reject(new Error('later')), hangs, thenThrows, unreadable, () => 0] as never
    const { hooks, problems } = watched({
      timeoutMs: 5,
      builtIn: {
        'chat.params': all,
        'chat.system': all,
        'tool.before': all,
        'tool.after': all,
        'tool.final': all,
        'compaction.before': all,
      },
    })
    const params = { temperature: 1 }
    expect(await hooks.chatParams(params)).toBe(params)
    expect(await hooks.chatSystem('base')).toBe('base')
    const told = { ...call, args: { a: 1 }, result: 'r', isError: false }
    expect(await hooks.toolBefore(told)).toBe(told.args)
    expect(await hooks.toolAfter(told)).toBe('r')
    expect(await hooks.toolFinal(told)).toBe('r')
    expect(await hooks.compactionBefore({ instructions: 'i' })).toBeUndefined()
    expect(problems).toHaveLength(36)
    expect(problems.slice(0, 3)).toEqual([
      'builtIn chat.params: broken',
      'builtIn chat.params: later',
      'builtIn chat.params: took longer than 5 ms',
    ])
  })

  test('are warnings without `onProblem`; `onProblem` may throw', async () => {
    const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const bad = { 'chat.system': () => 3 as never }
    await new HookRunner({ user: bad }).chatSystem('')
    const onProblem = () => {
      throw new Error('twice')
    }
    await new HookRunner({ user: bad, onProblem }).chatSystem('')
    expect(warnings.mock.calls.map(([text]) => text)).toEqual([
      'chat.system: invalid answer: expected a text, or { text, mode } or nothing, received 3',
      'onProblem: twice',
    ])
    warnings.mockRestore()
  })

  test('hooks that hang end under a faked clock', async () => {
    jest.useFakeTimers()
    const { hooks, problems } = watched({ timeoutMs: 5, user: { 'chat.system': () => new Promise<never>(() => {}) } })
    expect(await hooks.chatSystem('base')).toBe('base')
    expect(problems).toHaveLength(1)
    jest.useRealTimers()
  })
})

test('names values that are no hook', () => {
  const refused = (field: string, options: unknown) =>
    expect(() => new HookRunner(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  refused('options', 3)
  refused('options.users', { users: {} })
  refused('options.user', { user: 3 })
  refused('options.user.chat.parms', { user: { 'chat.parms': () => {} } })
  refused('options.builtIn.tool.after', { builtIn: [{}, { 'tool.after': [() => {}, 3] }] })
  refused('options.timeoutMs', { timeoutMs: -1 })
  refused('options.onProblem', { onProblem: 3 })
})

test('arguments that refer to one value many times, or to themselves, are copied once and for all', async () => {
  let shared: unknown = { leaf: true }
  for (let level = 0; level < 60; level += 1) shared = { a: shared, b: shared }
  const round: Record<string, unknown> = { shared }
  round.a = round
  round.b = [round, round]
  const seen: Record<string, unknown>[] = []
  const { hooks } = user({
    'tool.before': ({ args }) => {
      seen.push(args as Record<string, unknown>)
      return undefined
    },
  })
  await hooks.toolBefore({ ...call, args: round })
  const [copy] = seen
  expect(copy).not.toBe(round)
  expect(copy!.a).toBe(copy)
  expect((copy!.shared as { a: object }).a).not.toBe((shared as { a: object }).a)
  const echo = { name: 'echo', execute: (args: unknown) => args === round }
  expect(await guardTool(echo, {}).execute(round as never)).toBe(false)
})

test('a result of MCP keeps its texts, for any answer of a hook', async () => {
  const { hooks } = user({ 'tool.after': () => ({ output: { a: 1 } }) })
  const result = { content: [{ type: 'text', text: 'x' }] }
  expect(await hooks.toolAfter({ ...call, args: {}, result, isError: false })).toEqual({
    content: [{ type: 'text', text: '{"a":1}' }],
  })
})
