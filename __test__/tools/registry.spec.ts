import { readFileSync } from 'node:fs'
import {
  createTruncation,
  DoomLoopDetector,
  type ExecutionContext,
  guardTool,
  type MiddlewareContext,
  SpillwayError,
  type Tool,
  type ToolCall,
  ToolRegistry,
  type ToolRegistryConfig,
  type ToolResult,
  ToolResultLedger,
} from 'spillway'
import { numbered, rejection, thrown, turn } from '../support/outputs'
import { tempDir } from '../support/temp'

const call = (name: string, args?: unknown, id = `call_${name}`): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

/** A registry with these tools and, unless told otherwise, truncation over 3 lines. */
function make(tools: Record<string, Tool['execute']>, maxLines: number | undefined = 3): ToolRegistry {
  const registry = new ToolRegistry()
  registry.register(Object.entries(tools).map(([name, execute]) => ({ name, execute })))
  if (maxLines) registry.setTruncationMiddleware(createTruncation({ maxLines, storageDir: tempDir() }).middleware)
  return registry
}

async function resultOf(execute: Tool['execute'], args?: unknown, maxLines?: number): Promise<ToolResult> {
  const [answer] = await make({ it: execute }, maxLines).execute([call('it', args)])
  return answer!.result
}

describe('tools', () => {
  test('synchronous and asynchronous ones, with results and bare values', async () => {
    const plain = { success: true, output: 'text', metadata: { truncated: false } }
    expect(await resultOf(() => ({ success: true, output: 'text' }))).toEqual(plain)
    expect(await resultOf(async () => ({ success: true, output: 'text' }))).toEqual(plain)
    expect(await resultOf(() => ({ output: 'text' }))).toEqual(plain)
    expect(await resultOf(() => 'text')).toEqual(plain)
    expect(await resultOf(async () => 'text')).toEqual(plain)
    expect(await resultOf(() => ({ rows: [1] }), '{}', 9)).toMatchObject({ success: true, output: { rows: [1] } })
    expect(await resultOf(() => ({ success: false, output: 'x', extra: 1 }))).toMatchObject({
      success: false,
      extra: 1,
    })
    expect(await resultOf(() => undefined)).toEqual({ success: true, output: '' })
    expect(await resultOf(() => ({ success: true, output: undefined }))).toEqual({ success: true, output: '' })
    expect(await resultOf(() => null)).toEqual({ success: true, output: null })
  })

  const parts = [{ type: 'text', text: 'denied' }]
  test.each<[string, unknown, object]>([
    ['an error alone', { success: false, error: 'denied' }, { output: 'denied', error: 'denied' }],
    ['an empty output', { success: false, output: '', error: 'denied' }, { output: 'denied', error: 'denied' }],
    ['an error that is an object', { isError: true, error: new Error('denied') }, { output: 'denied' }],
    ['an output', { success: false, output: 'x', error: 'denied' }, { output: 'x', error: 'denied' }],
    ['parts', { isError: true, content: parts }, { output: 'denied', error: 'denied' }],
    ['parts that are no text', { isError: true, content: [{ type: 'image' }] }, { output: { isError: true } }],
    ['an output beside isError', { isError: true, output: 'denied' }, { output: 'denied' }],
    ['an exit code', { exitCode: 1, stdout: 'x' }, { output: { exitCode: 1, stdout: 'x' } }],
  ])('a failure with %s is one for the ledger and for guardTool as well', async (_, value, expected) => {
    const [ledger, audited] = [new ToolResultLedger(), [] as object[]]
    const registry = new ToolRegistry({ ledger })
    registry.register({ name: 'it', execute: () => value })
    const [answer] = await registry.execute([call('it')])
    expect(answer!.result).toMatchObject({ success: false, ...expected })
    const audit = { append: (event: object) => void audited.push(event) }
    const guarded = await guardTool({ name: 'it', execute: () => value }, { audit, ledger }).execute({} as never, {
      toolCallId: 'guarded',
    })
    expect(audited.at(-1)).toMatchObject({ outcome: 'error' })
    expect([ledger.get('call_it')?.isError, ledger.get('guarded')?.isError]).toEqual([true, true])
    const shown = guarded as { output?: unknown; content?: unknown }
    if (!('content' in shown) && !('exitCode' in shown)) expect(shown.output).toBe(answer!.result.output)
  })

  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  const unreadable = Object.defineProperty({ id: 'a' }, 'name', { get: () => revoked(), enumerable: true })
  test.each<[string, unknown, string, string]>([
    ['an id that is an object', call('it', '{}', { toString: null } as never), '', 'its id is not a string'],
    ['an id that is a number', call('it', '{}', 5 as never), '5', 'its id is not a string'],
    ['an id that is null', call('it', '{}', null as never), '', 'its id is not a string'],
    ['a name that is an object', call({ toString: null } as never, '{}', 'a'), 'a', 'it has no name'],
    ['a function that is null', { id: 'a', function: null }, 'a', 'it has no name'],
    ['nothing', null, '', 'it has no name'],
    ['an array', [], '', 'it has no name'],
    ['a name that cannot be read', unreadable, 'a', 'it has no name'],
    ['a proxy that was revoked', revoked(), '', 'it has no name'],
  ])('a call with %s fails alone', async (_, wrong, id, problem) => {
    const registry = make({ it: () => 'done' })
    const answers = await registry.execute([call('it'), wrong as ToolCall, call('it')])
    const error = `This is not a call of a tool: ${problem}.`
    expect(answers.map(({ result }) => result.success)).toEqual([true, false, true])
    expect(answers[1]).toMatchObject({
      tool_call_id: id,
      arguments: '{}',
      result: { success: false, output: error, error },
    })
  })

  test('ones that throw give a failed result', async () => {
    const failed = { success: false, output: 'boom', error: 'boom', metadata: { truncated: false } }
    const sync = () => {
      throw new Error('boom')
    }
    expect(await resultOf(sync)).toEqual(failed)
    expect(await resultOf(async () => sync())).toEqual(failed)
    expect(await resultOf(() => Promise.reject('boom'))).toEqual(failed)
    expect((await resultOf(() => Promise.reject(undefined))).success).toBe(false)
    const unprintable = () => {
      throw Object.create(null)
    }
    expect(await resultOf(unprintable)).toMatchObject({ success: false, error: expect.any(String) })
  })

  test('an error that is long is bounded from its end, as every failed result', async () => {
    const { output, metadata } = await resultOf(() => {
      throw new Error(numbered(9))
    })
    expect(output).toMatch(/^\.\.\.6 lines truncated\.\.\.\n\nThe tool call failed[\s\S]*line 9$/)
    expect(readFileSync(String(metadata?.truncationPath), 'utf8')).toBe(numbered(9))
  })

  test('receive the arguments and the call', async () => {
    const execute = jest.fn((_args: never, _context: ExecutionContext & { toolCallId: string }) => 'ok')
    const registry = new ToolRegistry({ workingDirectory: '/work' })
    registry.register({ name: 'it', execute })
    const { signal } = new AbortController()
    await registry.execute([call('it', '{"a":[1]}')], { sessionId: 's', messageId: 'm', signal })
    expect(execute.mock.calls[0]).toEqual([
      { a: [1] },
      { workingDirectory: '/work', sessionId: 's', messageId: 'm', signal, toolCallId: 'call_it' },
    ])
    await registry.execute([call('it')], { workingDirectory: '/else' })
    expect(execute.mock.calls[1]).toEqual([{}, { workingDirectory: '/else', toolCallId: 'call_it' }])
  })

  test.each([
    ['of the call', '/call', '/registry', '/tool', '/call'],
    ['of the registry, if that of the call is undefined', undefined, '/registry', '/tool', '/registry'],
    ['of the tool, if the others are undefined', undefined, undefined, '/tool', '/tool'],
    ['of the tool, if the others are empty', '', '', '/tool', '/tool'],
  ])('run in the folder %s', async (_, ofCall, ofRegistry, ofTool, expected) => {
    const registry = new ToolRegistry({ workingDirectory: ofRegistry } as ToolRegistryConfig)
    const execute = (_args: unknown, { workingDirectory }: ExecutionContext) => String(workingDirectory)
    registry.register({ name: 'it', workingDirectory: ofTool, execute })
    const [answer] = await registry.execute([call('it')], { workingDirectory: ofCall } as ExecutionContext)
    expect(answer?.result.output).toBe(expected)
  })

  test('receive arguments that are parsed once, and records keep them as the model wrote them', async () => {
    const [ledger, fold] = [
      new ToolResultLedger(),
      { begin: jest.fn(), fold: jest.fn((content: string) => ({ content })) },
    ]
    const registry = new ToolRegistry({ ledger, fold })
    const execute = (args: unknown) => Object.assign(args as object, { a: 'changed' }) && 'ok'
    registry.register({ name: 'it', execute })
    const [json, args] = ['{ "a": [1, "once"] }', { a: [1, 'once'] }]
    const parse = jest.spyOn(JSON, 'parse')
    await registry.execute([call('it', json)])
    const parsed = parse.mock.calls.filter(([text]) => text === json)
    parse.mockRestore()
    expect(parsed).toHaveLength(1)
    expect(ledger.get('call_it')?.args).toEqual(args)
    expect(fold.begin).toHaveBeenCalledWith(expect.objectContaining({ args }))
    expect(fold.fold).toHaveBeenCalledWith('ok', expect.objectContaining({ args }))
  })

  test('that are methods keep their this', async () => {
    class Counter implements Tool {
      name = 'count'
      private count = 0
      execute(): string {
        this.count += 1
        return `call ${this.count}`
      }
    }
    const registry = new ToolRegistry()
    registry.register(new Counter())
    await registry.execute([call('count')])
    expect((await registry.execute([call('count')]))[0]!.result.output).toBe('call 2')
  })

  test('a later one of the same name replaces the earlier', async () => {
    const registry = make({ it: () => 'old' })
    registry.register({ name: 'it', execute: () => 'new' })
    expect((await registry.execute([call('it')]))[0]!.result.output).toBe('new')
  })

  test('names that objects inherit are plain names', async () => {
    const registry = make({ __proto__: () => 'never' })
    registry.register({ name: '__proto__', execute: () => 'mine' })
    const answers = await registry.execute([call('__proto__'), call('constructor'), call('toString')])
    expect(answers.map(({ result }) => result.success)).toEqual([true, false, false])
    expect(answers[0]!.result.output).toBe('mine')
  })
})

describe('calls', () => {
  test('come in two forms, and the arguments are text or a value', async () => {
    const registry = make({ echo: (args: unknown) => ({ success: true, output: JSON.stringify(args) }) })
    const calls: ToolCall[] = [
      call('echo', '{"a":1}'),
      call('echo', { a: 1 }),
      { id: 'flat', name: 'echo', arguments: '{"a":1}' },
      call('echo', ''),
      call('echo'),
      call('echo', 'null'),
    ]
    const answers = await registry.execute(calls)
    expect(answers.map(({ result }) => result.output)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}', '{}', '{}', 'null'])
    expect(answers.map(({ tool_call_id }) => tool_call_id)[2]).toBe('flat')
    expect(answers.map((answer) => answer.arguments)).toEqual([
      '{"a":1}',
      '{\n  "a": 1\n}',
      '{"a":1}',
      '',
      '{}',
      'null',
    ])
  })

  test.each<[string, ToolCall, string]>([
    ['a tool_use of Anthropic', { type: 'tool_use', id: 'a', name: 'echo', input: { a: 1 } }, 'a'],
    ['a call of LangChain', { type: 'tool_call', id: 'a', name: 'echo', args: { a: 1 } }, 'a'],
    ['arguments before others', { id: 'a', name: 'echo', arguments: '{"a":1}', input: { a: 2 }, args: {} }, 'a'],
    ['a function_call of Responses', { id: 'fc', call_id: 'a', name: 'echo', arguments: '{"a":1}' }, 'a'],
    ['a tool-call of the AI SDK', { type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: { a: 1 } }, 'a'],
    ['a functionCall of Gemini', { functionCall: { id: 'a', name: 'echo', args: { a: 1 } } }, 'a'],
    ['a toolUse of Bedrock', { toolUse: { toolUseId: 'a', name: 'echo', input: { a: 1 } } }, 'a'],
    ['a call with no arguments that are set', { id: 'a', name: 'echo', arguments: undefined, args: { a: 1 } }, 'a'],
  ])('are read in the form of each provider: %s', async (_what, given, id) => {
    const [answer] = await make({ echo: (args: unknown) => JSON.stringify(args) }).execute([given])
    expect([answer!.tool_call_id, answer!.result.output]).toEqual([id, '{"a":1}'])
  })

  test.each<[string, ToolCall]>([
    ['Responses', { type: 'custom_tool_call', call_id: 'a', name: 'echo', input: '*** Begin Patch' }],
    ['the chat API', { type: 'custom', id: 'a', custom: { name: 'echo', input: '*** Begin Patch' } }],
  ])('pass on a text that is no JSON, of a custom call of %s', async (_, custom) => {
    const [answer] = await make({ echo: (args: unknown) => args }).execute([custom])
    expect(answer).toMatchObject({ tool_call_id: 'a', result: { success: true, output: { input: '*** Begin Patch' } } })
  })

  test('get an id of their own if they have none', async () => {
    const given: unknown[] = []
    const registry = make({ echo: (_: unknown, { toolCallId }: { toolCallId: string }) => given.push(toolCallId) })
    const use = { functionCall: { name: 'echo', args: {} } }
    const ids = (await registry.execute([use, use])).map(({ tool_call_id: id }) => id)
    expect(new Set(ids.filter((id) => id !== '')).size).toBe(2)
    expect(given).toEqual(ids)
  })

  test('run side by side, and the answers keep the order', async () => {
    const started: string[] = []
    const release: Record<string, (value: unknown) => void> = {}
    const slow = (name: string) => () => {
      started.push(name)
      return new Promise((resolve) => {
        release[name] = resolve
        // The last one that starts lets all end, the last first: none of them waits for another.
        if (started.length === 3) for (const other of ['c', 'b', 'a']) release[other]!(`output of ${other}`)
      })
    }
    const registry = make({ a: slow('a'), b: slow('b'), c: slow('c') })
    const answers = await registry.execute([call('a'), call('b'), call('c')])
    expect(started).toEqual(['a', 'b', 'c'])
    expect(answers.map(({ name, result }) => [name, result.output])).toEqual([
      ['a', 'output of a'],
      ['b', 'output of b'],
      ['c', 'output of c'],
    ])
  })

  test.each<[string, ExecutionContext, number[], number]>([
    ['of one answer are no loop', {}, [8], 8],
    ['of several answers are one', {}, [2, 2, 2, 2, 2, 2], 8],
    ['of a turn that the host names are none, one by one', { turn: 'answer' }, [1, 1, 1, 1, 1, 1, 1, 1], 8],
    ['one by one are one', {}, [1, 1, 1, 1, 1, 1, 1, 1], 4],
  ])('that are equal and %s', async (_what, context, answers, ran) => {
    const registry = new ToolRegistry()
    let count = 0
    const bash = { name: 'bash', execute: () => `x${++count && ''}` }
    registry.register(guardTool(bash, { doomLoop: new DoomLoopDetector() }))
    for (const [answer, calls] of answers.entries()) {
      const ids = Array.from({ length: calls }, (_, at) => `c${answer}_${at}`)
      await registry.execute(
        ids.map((id) => call('bash', '{"command":"ls"}', id)),
        context,
      )
    }
    expect(count).toBe(ran)
  })

  test('that fail do not disturb the others', async () => {
    const registry = make({
      good: () => 'fine',
      bad: () => {
        throw new Error('boom')
      },
    })
    const answers = await registry.execute([call('bad'), call('good'), call('unknown'), call('good', '{')])
    expect(answers.map(({ result }) => result.success)).toEqual([false, true, false, false])
  })

  test('name the tool in a failed result if it is unknown', async () => {
    const [answer] = await make({}).execute([call('no "such"\ntool', '{}')])
    expect(answer).toEqual({
      tool_call_id: expect.any(String),
      name: 'no "such"\ntool',
      arguments: '{}',
      result: expect.objectContaining({ success: false, error: 'There is no tool called "no \\"such\\"\\ntool".' }),
    })
  })

  test('suggest the tool that may be meant, or all tools if they are few', async () => {
    const registry = make({ read_file: () => '', grep: () => '' })
    const [near, far] = await registry.execute([call('readfile'), call('deploy')])
    expect(near!.result.output).toBe('There is no tool called "readfile". Did you mean read_file?')
    expect(far!.result.output).toBe('There is no tool called "deploy". The tools are read_file, grep.')
    const many = make(Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`tool_number_${at}`, () => ''])))
    const [answer] = await many.execute([call('deploy')])
    expect(answer!.result.output).toBe('There is no tool called "deploy".')
  })

  test('with arguments that are not JSON give a failed result, and the tool does not run', async () => {
    const execute = jest.fn()
    for (const wrong of ['{', '{"a":}', 'undefined', "{'a':1}"]) {
      const result = await resultOf(execute, wrong)
      expect(result).toMatchObject({ success: false, error: expect.stringMatching(/^The arguments are not JSON: /) })
    }
    expect(execute).not.toHaveBeenCalled()
  })

  test('with arguments that are a cycle or hold a bigint still give text', async () => {
    const args: Record<string, unknown> = { big: 1n }
    args.self = args
    const [answer] = await make({ it: () => 'ok' }).execute([call('it', args)])
    expect(answer!.arguments).toContain('[Circular]')
    expect(answer!.result.output).toBe('ok')
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 5],
    ['a string', 'it'],
    ['an empty object', {}],
    ['a function of null', { id: '1', function: null }],
    ['no name', { id: '1', function: {} }],
  ])('that are invalid are refused, or give a failed result and affect no other call: %s', async (_what, wrong) => {
    const outcome = await make({ it: () => 'ok' })
      .execute([call('it'), wrong as ToolCall])
      .then(
        (answers) => answers.map(({ result }) => result.success),
        ({ name, code }) => [name, code],
      )
    expect([JSON.stringify([true, false]), JSON.stringify(['SpillwayError', 'INVALID_ARGUMENT'])]).toContain(
      JSON.stringify(outcome),
    )
  })

  test('start no tool if the signal is aborted already', async () => {
    const execute = jest.fn()
    const [answer] = await make({ it: execute }).execute([call('it')], { signal: AbortSignal.abort() })
    const output = 'The call was cancelled before the tool ran.'
    expect(answer!.result).toMatchObject({ success: false, output, error: output })
    expect(execute).not.toHaveBeenCalled()
  })

  test('none at all have no answers', async () => {
    expect(await make({}).execute([])).toEqual([])
  })

  test.each([undefined, null, {}, 'calls', 5])('rejects an invalid list: %p', async (wrong) => {
    const error = await rejection(make({}).execute(wrong as unknown as ToolCall[]))
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'toolCalls' })
  })

  test.each([null, 'context', []])('rejects an invalid context: %p', async (wrong) => {
    const error = await rejection(make({}).execute([], wrong as never))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_ARGUMENT', field: 'context' })
  })
})

describe('truncation', () => {
  test('does not happen without middleware', async () => {
    const [answer] = await make({ it: () => numbered(9000) }, 0).execute([call('it')])
    expect(answer!.result).toEqual({ success: true, output: numbered(9000) })
  })

  test('that throws is warned of, and costs no result', async () => {
    const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const registry = make({ it: () => 'one', other: () => 'two' }, 0)
    registry.setTruncationMiddleware(async (name, result) => {
      if (name === 'it') throw new Error('no')
      return { ...result, output: 'short' }
    })
    const answers = await registry.execute([call('it'), call('other')])
    expect(answers.map(({ result }) => result.output)).toEqual(['one', 'short'])
    expect(warnings.mock.calls.map(([text]) => text)).toEqual(['middleware: no'])
    warnings.mockRestore()
  })

  test('receives the facts of the call', async () => {
    const seen: [string, unknown, MiddlewareContext?][] = []
    const registry = make({ it: () => 'text' }, 0)
    registry.register({ name: 'declaring', truncation: { maxLines: 1 }, execute: () => 'text' })
    registry.setTruncationMiddleware(async (...args) => {
      seen.push(args as [string, unknown, MiddlewareContext?])
      return args[1]
    })
    const { signal } = new AbortController()
    await registry.execute([call('it'), call('declaring')], { sessionId: 's', messageId: 'm', signal })
    expect(seen[0]).toEqual([
      'it',
      { success: true, output: 'text' },
      {
        toolName: 'it',
        sessionId: 's',
        messageId: 'm',
        toolCallId: 'call_it',
        signal,
        declared: undefined,
        defaults: { strategy: 'auto' },
      },
    ])
    expect(seen[1]![2]).toMatchObject({ toolName: 'declaring', declared: { maxLines: 1 } })
  })

  test('honours what a tool declares, below what the user says', async () => {
    const registry = new ToolRegistry()
    const { middleware, service } = createTruncation({ maxLines: 50, storageDir: tempDir() })
    registry.setTruncationMiddleware(middleware)
    registry.register({ name: 'it', truncation: { maxLines: 4, direction: 'tail' }, execute: () => numbered(9) })
    const output = async () => (await registry.execute([call('it')]))[0]!.result.output
    expect(await output()).toMatch(/\n\nline 6\nline 7\nline 8\nline 9$/)
    service.setToolConfig('it', { maxLines: 2 })
    expect(await output()).toMatch(/\n\nline 8\nline 9$/)
  })

  test('a tool that declares itself off is bounded at the hard ceiling only', async () => {
    const registry = new ToolRegistry()
    registry.setTruncationMiddleware(createTruncation({ maxBytes: 100, storageDir: tempDir() }).middleware)
    registry.register([
      { name: 'small', truncation: { enabled: false }, execute: () => 'x'.repeat(400) },
      { name: 'large', truncation: { enabled: false }, execute: () => 'x'.repeat(401) },
    ])
    const answers = await registry.execute([call('small'), call('large')])
    expect(answers.map(({ result }) => result.metadata?.truncated)).toEqual([false, true])
  })

  test('a result that the tool has dealt with stays as it is', async () => {
    const own = { success: true, output: numbered(9), metadata: { truncated: true, mine: 1 } }
    expect(await resultOf(() => own)).toEqual(own)
  })

  test('an output is saved whole, also if the call is cancelled by the time the tool answers', async () => {
    const stop = new AbortController()
    const it = () => {
      stop.abort()
      return numbered(9)
    }
    const registry = make({ it })
    const [answer] = await registry.execute([call('it')], { signal: stop.signal })
    expect(readFileSync(String(answer!.result.metadata?.truncationPath), 'utf8')).toBe(numbered(9))
  })
})

describe('registering', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'tools[0]'],
    ['null', null, 'tools[0]'],
    ['a string', 'bash', 'tools[0]'],
    ['no name', { execute: () => 1 }, 'tools[0].name'],
    ['no execute', { name: 'x' }, 'tools[0].execute'],
    [
      'one of several',
      [
        { name: 'a', execute: () => 1 },
        { name: 5, execute: () => 1 },
      ],
      'tools[1].name',
    ],
  ])('rejects a value that is not a tool: %s', (_what, wrong, field) => {
    const error = thrown(() => new ToolRegistry().register(wrong as Tool))
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field })
  })

  test.each<[string, object, string]>([
    ['a limit of nothing', { maxLines: 0 }, 'maxLines'],
    ['a setting of the service', { retentionDays: 3 }, 'retentionDays'],
    ['a setting that is none', { maxLine: 3 }, 'maxLine'],
  ])('a declaration that is wrong is refused at once: %s', (_what, truncation, key) => {
    const error = thrown(() => new ToolRegistry().register({ name: 'it', truncation, execute: () => 1 }))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', field: `tools.it.${key}` })
  })

  test.each([null, 'config', []])('rejects an invalid configuration at once: %p', (wrong) => {
    const error = thrown(() => new ToolRegistry(wrong as never))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_CONFIG', field: 'config' })
  })

  test('an option that it does not know is refused, and one that sets limits says where they are set', () => {
    const make = (config: object) => thrown(() => new ToolRegistry(config as never))
    expect(make({ ledgers: 1 })).toMatchObject({
      code: 'INVALID_CONFIG',
      field: 'config.ledgers',
      message: 'Unknown option "config.ledgers": did you mean ledger?',
    })
    expect(make({ truncation: {} })).toMatchObject({
      code: 'INVALID_CONFIG',
      field: 'config.truncation',
      message: expect.stringContaining('setTruncationMiddleware'),
    })
    expect(make({ workingDirectory: 5 })).toMatchObject({ code: 'INVALID_CONFIG', field: 'config.workingDirectory' })
  })

  test('rejects invalid middleware at once', () => {
    const error = thrown(() => new ToolRegistry().setTruncationMiddleware(5 as never))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_ARGUMENT' })
  })

  test('promises of tools that are not awaited break nothing', async () => {
    const registry = make({ it: () => ({ success: true, output: Promise.resolve('late') }) })
    const [answer] = await registry.execute([call('it')])
    expect(answer!.result.success).toBe(true)
    await turn()
  })
})
