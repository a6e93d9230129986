import {
  DoomLoopDetector,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  runCommand,
  SpillwayError,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import * as ai from 'spillway/ai-sdk'
import * as claude from 'spillway/claude-agent-sdk'
import * as langchain from 'spillway/langchain'
import * as agents from 'spillway/openai-agents'
import * as opencode from 'spillway/opencode'
import * as pi from 'spillway/pi'
import { tempDir } from '../support/temp'
import { type Any, LONG, overflowError, smallService } from './shapes'

/** A model of the AI SDK that answers nothing, and what it was sent. */
function modelOf(answer: () => unknown = () => ({ content: [] })): { model: Any; prompts: Any[] } {
  const prompts: Any[] = []
  const doGenerate = async ({ prompt }: Any) => {
    prompts.push(prompt)
    return answer()
  }
  return { model: { modelId: 'anthropic/claude-sonnet-4.5', doGenerate, doStream: doGenerate }, prompts }
}

const { model } = modelOf()
const look = () => ({ execute: async () => LONG })
const shownBy = async (tool: Any, toolCallId = 'c1', input: object = {}): Promise<string> => {
  const output = await tool.execute(input, { toolCallId, messages: [] })
  return (await tool.toModelOutput({ toolCallId, input, output })).value
}
const limits = () => ({ maxLines: 10, storageDir: tempDir() })
const callAndResult = (id: string, text: string): Any[] => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'look', input: { id } }] },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: 'look', output: { type: 'text', value: text } }],
  },
]
const go = { role: 'user', content: [{ type: 'text', text: 'go' }] }

test.each<[string, (options: Any) => unknown, string, string]>([
  ['the AI SDK', ai.withSpillway, 'modle', 'model'],
  ['the AI SDK', ai.withSpillway, 'tols', 'tools'],
  ['LangChain', langchain.withSpillway, 'modle', 'model'],
  ['the Agents SDK', agents.withSpillway, 'mcpServer', 'mcpServers'],
  ['pi', pi.withSpillway, 'initalState', 'initialState'],
  ['the Claude Agent SDK', claude.withSpillway, 'optoins', 'options'],
  ['OpenCode', opencode.withSpillway, 'prunning', 'pruning'],
])('withSpillway of %s names a misspelt option before one that is missing', (_, make, given, meant) => {
  expect(() => make({ [given]: 1 })).toThrow(`Unknown option "${given}": did you mean ${meant}?`)
})

describe('a tool that returns the result of a command', () => {
  const { service } = smallService()
  class ToolMessage {
    constructor(fields: object) {
      Object.assign(this, fields)
    }
  }
  const all = { model, truncation: service, sessionId: 's' }
  const shows: [string, (execute: () => unknown) => Promise<string>][] = [
    ['the AI SDK', (execute) => shownBy(ai.withSpillway({ ...all, tools: { look: { execute } as Any } }).tools.look)],
    [
      'the Agents SDK',
      async (execute) => {
        const tool = { type: 'function', name: 'look', invoke: async () => execute() }
        return (
          agents.withSpillway({ ...all, model: { getResponse() {}, getStreamedResponse() {} }, tools: [tool] })
            .tools[0] as Any
        ).invoke({}, '{}', {
          toolCall: { callId: 'c1' },
        })
      },
    ],
    [
      'LangChain',
      async (execute) => {
        const { middleware } = langchain.withSpillway({ ...all, outputTools: false })
        const handler = async () =>
          new ToolMessage({ content: JSON.stringify(await execute()), tool_call_id: 'c1', name: 'look' })
        const message = await middleware[0].wrapToolCall({ toolCall: { id: 'c1', name: 'look', args: {} } }, handler)
        const { outputPath } = message.artifact ?? {}
        expect(outputPath).toBe(/saved to: (.*)/.exec(message.content)?.[1])
        return message.content
      },
    ],
  ]

  test.each(shows)('in %s shows the model its text alone, with how it ended', async (_, show) => {
    const run = (line: string) => show(() => runCommand(line, [], { shell: true, service }))
    expect(await run('echo a; echo b')).toBe('a\nb\n')
    expect(await run('true')).toBe('[No output]')
    expect(await run('echo a; exit 3')).toBe('a\n[Exit code 3]')
    const preview = await run('seq 1 500; exit 3')
    expect(preview).toMatch(/^[^{]*Full output saved to: .*\n(.*\n)*\[Exit code 3\]$/)
    expect(preview.match(/saved to/g)).toHaveLength(1)
    expect((await service.output(preview, { toolName: 'look' })).content).toBe(preview)
    expect(JSON.stringify(await show(() => ({ exitCode: 3, output: 'x' })))).toContain('exitCode')
  })

  test('whose lines a later result points at gives them back when it is pruned', async () => {
    const { model, prompts } = modelOf()
    const pruning = { schedule: 'always', keepRecent: 1 } as const
    const line = "seq -f 'line %g of a long output of a command' 1 60"
    const large = new TruncationService({ storageDirs: [tempDir()] })
    const run = () => runCommand(line, [], { shell: true, service: large })
    const agent = ai.withSpillway({
      model,
      pruning,
      sessionId: 's',
      truncation: large,
      tools: { look: { execute: run } as Any },
    })
    const messages: Any[] = [go]
    for (const [at, id] of ['c1', 'c2'].entries()) {
      const output = await agent.tools.look.execute({ at }, { toolCallId: id, messages: [] })
      const shown = await agent.tools.look.toModelOutput({ toolCallId: id, input: { at }, output })
      messages.push({
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: id, toolName: 'look', input: { at } }],
      })
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: id, toolName: 'look', output: shown }],
      })
    }
    expect(messages.at(-1).content[0].output.value).toContain('same as lines')
    await agent.model.doGenerate({ prompt: [...messages, go] })
    const [first, second] = prompts[0]
      .filter(({ role }: Any) => role === 'tool')
      .map((m: Any) => m.content[0].output.value)
    expect(first).not.toContain('line 30 of')
    expect(second).toContain('line 30 of')
    expect(second).not.toContain('not in view')
  })
})

describe('withSpillway of the AI SDK', () => {
  test.each<[string, Any, boolean]>([
    ['folds against the history that another process left', {}, true],
    ['has nothing to fold against', { fold: false }, false],
  ])('%s', async (_, more, isFolded) => {
    const text = Array.from({ length: 60 }, (_, at) => `line ${at} of a long output of a command`).join('\n')
    const { model } = modelOf()
    const agent: Any = ai.withSpillway({
      model,
      sessionId: 's',
      tools: { look: { execute: async () => text } as Any },
      ...more,
    })
    await agent.model.doGenerate({ prompt: [go, ...callAndResult('c1', text)] })
    const shown = await shownBy(agent.tools.look, 'c2')
    expect(shown.includes('same as lines 4-57 of the result of look above]')).toBe(isFolded)
  })

  test('bounds outputs, and gives tools that read them to their end', async () => {
    const { tools } = ai.withSpillway({ model, tools: { look: look() as Any }, truncation: limits() })
    const preview = await shownBy(tools.look)
    expect(preview).toContain('read_output')
    const path = /saved to[^/]*(\/\S+\.txt)/.exec(preview)?.[1]
    expect(await tools.read_output.execute({ path, from_line: 299 })).toContain('line 300 of some length')
    expect(await tools.search_output.execute({ path, pattern: 'line 150 ' })).toContain('150:line 150')
  })

  test('truncation: a service is used as it is, and false leaves outputs alone', async () => {
    const { service, files } = smallService()
    await shownBy(ai.withSpillway({ model, tools: { look: look() as Any }, truncation: service }).tools.look)
    expect(files()).toEqual([LONG])
    const off = ai.withSpillway({ model, tools: { look: look() as Any }, truncation: false })
    expect(Object.keys(off.tools)).toEqual(['look'])
    expect(await shownBy(off.tools.look)).toBe(LONG)
  })

  test('outputTools: their pages have the asked size, and false leaves them out', async () => {
    const storage = new MemoryStorage()
    const path = await storage.save(LONG, { toolName: 'look' })
    const few = ai.withSpillway({ model, truncation: { storage }, outputTools: { pageLines: 20 } })
    const page = (await few.tools.read_output.execute({ path })) as string
    expect(page.split('\n').length).toBeLessThanOrEqual(20)
    expect(ai.withSpillway({ model, outputTools: false }).tools).toEqual({})
  })

  test('a storage that cannot be read offers no tools, and names none', async () => {
    const storage = {
      save: async () => '/x/y.txt',
      read: async () => '',
      cleanup: async () => 0,
      getStorageDir: () => '/x',
    }
    const truncation = { storage: [storage], maxLines: 10 }
    const { tools } = ai.withSpillway({ model, tools: { look: look() as Any }, truncation })
    expect(Object.keys(tools)).toEqual(['look'])
    expect(await shownBy(tools.look)).not.toContain('read_output')
  })

  test('fold: with a session repeated lines become a pointer, without one they stay', async () => {
    const text = Array.from({ length: 60 }, (_, at) => `export const value${at} = compute(${at})`).join('\n')
    const shownTwice = async (options: object) => {
      const { tools } = ai.withSpillway({ model, tools: { read: { execute: async () => text } as Any }, ...options })
      await shownBy(tools.read, 'c1', { path: 'a.ts' })
      return shownBy(tools.read, 'c2', { path: 'b.ts' })
    }
    expect(await shownTwice({ sessionId: 's' })).toContain('same as lines')
    expect(await shownTwice({})).toBe(text)
    expect(await shownTwice({ sessionId: 's', fold: false })).toBe(text)
    expect(await shownTwice({ sessionId: 's', fold: { tools: { read: false } } })).toBe(text)
  })

  test('pruning: requests are pruned by the prices of the model', async () => {
    const messages = [go, ...['a', 'b', 'c'].flatMap((id) => callAndResult(id, LONG)), go]
    const sent = async (pruning: Any, given = modelOf()) => {
      const agent = ai.withSpillway({ model: given.model, ...(pruning !== undefined && { pruning }) })
      await agent.model.doGenerate({ prompt: messages })
      return JSON.stringify(given.prompts[0])
    }
    const eager = { schedule: 'always', keepRecent: 1 }
    expect((await sent(eager)).length).toBeLessThan(JSON.stringify(messages).length / 2)
    expect(await sent(false)).toBe(JSON.stringify(messages))
  })

  test('the id of the model reaches the pruner as its prices, unless others are given', async () => {
    const reports: Any[] = []
    const onEvent = (event: Any) => event.type === 'prepared' && reports.push(event.report)
    for (const pruning of [{}, { prices: { read: 1, write: 1, miss: 1 } }]) {
      const given = modelOf()
      const agent = ai.withSpillway({ model: given.model, onEvent, pruning })
      const prompt = [go, ...callAndResult('a', LONG), go]
      await agent.model.doGenerate({ prompt })
      await agent.model.doGenerate({ prompt: [...prompt, go] })
    }
    const [, byModel, , byHand] = reports
    expect(byModel.totals ?? byModel).not.toEqual(byHand.totals ?? byHand)
  })

  test('recovery: retries a request that was too long, shortened to the given window; `false` passes the error on', async () => {
    const messages = [go, ...['a', 'b'].flatMap((id) => callAndResult(id, LONG.repeat(100))), go]
    const attempt = async (options: object) => {
      let first = true
      const given = modelOf(() => {
        if (!first) return { content: [] }
        first = false
        throw overflowError()
      })
      const failure = await ai
        .withSpillway({ model: given.model, pruning: false, ...options })
        .model.doGenerate({ prompt: messages })
        .then(
          () => undefined,
          (error: Error) => error.message,
        )
      return { failure, sizes: given.prompts.map((prompt) => JSON.stringify(prompt).length) }
    }
    const large = await attempt({ contextWindow: 200_000 })
    const small = await attempt({ contextWindow: 20_000 })
    expect([large.failure, small.failure]).toEqual([undefined, undefined])
    expect(large.sizes[1]).toBeLessThan(large.sizes[0] as number)
    expect(small.sizes[1]).toBeLessThan(large.sizes[1] as number)
    expect(await attempt({ recovery: false })).toMatchObject({
      failure: expect.stringMatching(/too long/),
      sizes: [expect.any(Number)],
    })
    expect((await attempt({ recovery: { retries: 0 } })).sizes).toHaveLength(1)
  })

  test('permission: judges tools and leaves those that read saved outputs alone; without it nothing is asked', async () => {
    const permission = new PermissionPolicy({ rules: [{ domain: 'read', pattern: '*', decision: 'deny' }] })
    const agent = ai.withSpillway({ model, tools: { read: look() as Any }, permission })
    const asked = (toolName: string) =>
      agent.toolApproval?.({ toolCall: { toolCallId: 'c1', toolName, input: { path: '/etc/passwd' } } })
    expect((await asked('read'))?.type).toBe('denied')
    expect((await asked('read_output'))?.type).toBe('not-applicable')
    await expect(agent.tools.read.execute({ path: '/etc/passwd' }, { toolCallId: 'c1' })).rejects.toThrow(SpillwayError)
    expect('toolApproval' in ai.withSpillway({ model })).toBe(false)
  })

  test('ledger, doomLoop, hooks, query and audit are those of the tools', async () => {
    const ledger = new ToolResultLedger()
    const seen: string[] = []
    const agent = ai.withSpillway({
      model,
      tools: { look: look() as Any },
      ledger,
      truncation: limits(),
      sessionId: 's',
      doomLoop: new DoomLoopDetector(),
      hooks: { 'tool.before': () => void seen.push('hook') },
      query: () => void seen.push('query'),
      audit: { append: ({ type, sessionId }: Any) => seen.push(`${type} ${sessionId}`) },
    })
    await shownBy(agent.tools.look)
    expect(seen).toEqual(['hook', 'decision s', 'query', 'outcome s'])
    expect(ledger.get('c1')?.outputPath).toBeDefined()
  })

  test('a preview of runCommand, of guardTool and of a middleware is never cut again', async () => {
    const { service } = smallService()
    const text = (await service.output(LONG, { toolName: 'bash' })).content
    const tools = { look: { execute: async () => text } as Any }
    const inner = ai.withSpillway({ model, tools, truncation: { maxLines: 5, storageDir: tempDir() } })
    expect(await shownBy(inner.tools.look)).toBe(text)
  })

  test.each<[string, Any, RegExp]>([
    ['no model', {}, /"model".*a model with doGenerate/],
    ['an id', { model: 'openai/gpt-5' }, /"model".*gateway\(id\)/],
    ['no tools', { model, tools: [1] }, /"tools"/],
    ['a typing error', { model, contextwindow: 1 }, /contextWindow/],
    ['a window of zero', { model, contextWindow: 0 }, /"contextWindow".*above 0/],
    ['a session without a name', { model, sessionId: '' }, /"sessionId"/],
    ['a session that is named twice', { model, sessionId: 's', sessionOf: () => 't' }, /"sessionOf"/],
    ['folding without a session', { model, fold: {} }, /"fold".*sessionId/],
    ['an option of folding', { model, sessionId: 's', fold: { minLines: 1 } }, /"fold\.minLines"/],
    ['an option of the limits', { model, truncation: { maxLines: -1 } }, /"truncation\.maxLines"/],
    ['an option of the pages', { model, outputTools: { pageLines: 0 } }, /"outputTools\.pageLines"/],
    ['tools without a storage', { model, truncation: false, outputTools: {} }, /"outputTools"/],
    ['an option of pruning', { model, pruning: { keepRecent: -1 } }, /"pruning\.keepRecent"/],
    ['what pruning does not take here', { model, pruning: { ledger: {} } }, /pruning\.ledger/],
    ['an option of recovery', { model, recovery: { retries: -1 } }, /"recovery\.retries"/],
    ['what is no permission', { model, permission: {} }, /"permission"/],
    ['what is no ledger', { model, ledger: {} }, /"ledger"/],
    ['a taken name', { model, tools: { read_output: look() } }, /"tools".*read_output/],
  ])('refuses %s', (_, options, words) => {
    const refusal = (() => {
      try {
        ai.withSpillway(options)
      } catch (error) {
        return error
      }
    })() as SpillwayError
    expect(refusal).toBeInstanceOf(SpillwayError)
    expect(refusal.message).toMatch(words)
    expect(refusal.code).toMatch(/^INVALID_/)
  })
})

describe('withSpillway of the other frameworks', () => {
  test('OpenAI Agents: a model, tools and servers', async () => {
    const invoke = async () => LONG
    const tool = { type: 'function', name: 'look', invoke } as const
    const server = { name: 'files', callTool: async () => [{ type: 'text', text: LONG }] }
    const base = { getResponse: async () => ({ output: [] }), async *getStreamedResponse() {} }
    const agent = agents.withSpillway({ model: base, tools: [tool], mcpServers: [server], truncation: limits() })
    const [guarded, read] = agent.tools as Any[]
    const preview = (await guarded.invoke({}, '{}', { toolCall: { callId: 'c1' } })) as string
    expect(preview.length).toBeLessThan(LONG.length / 4)
    const path = /(\/\S+\.txt)/.exec(preview)?.[1]
    expect(await read.invoke({}, JSON.stringify({ path, from_line: 300 }))).toContain('line 300')
    expect(await read.invoke({}, 'no JSON')).toMatch(/not JSON/)
    expect(JSON.stringify(await (agent.mcpServers[0] as Any).callTool('x', {})).length).toBeLessThan(LONG.length / 4)
    expect(() => agents.withSpillway({ model: 'gpt-5' as Any })).toThrow(/OpenAIProvider/)
    expect(() => agents.withSpillway({ model: base, tools: {} as Any })).toThrow(/"tools"/)
    expect(() => agents.withSpillway({ model: base, mcpServers: 1 as Any })).toThrow(/"mcpServers"/)
  })

  test('pi: the state with tools, hooks, and the window of the model', async () => {
    const execute = async () => ({ content: [{ type: 'text', text: LONG }] })
    const initialState = {
      model: { id: 'gpt-5.5', contextWindow: 1000 },
      tools: [{ name: 'look', execute }],
      systemPrompt: 'x',
    }
    const agent = pi.withSpillway({
      initialState,
      truncation: limits(),
      pruning: { policies: ['pressure'], schedule: 'always', keepRecent: 0 } as Any,
    })
    expect(agent.initialState.systemPrompt).toBe('x')
    const [, read] = agent.initialState.tools as Any[]
    await expect(read.execute('c2', { path: '/nowhere' })).rejects.toThrow(/nowhere/)
    const result = { content: [{ type: 'text', text: LONG }] }
    const call = { toolCall: { id: 'c1', name: 'look' }, args: {} }
    const shown = await agent.afterToolCall({ ...call, result, isError: false })
    const path = /(\/\S+\.txt)/.exec(shown?.content?.[0].text)?.[1]
    expect((await read.execute('c3', { path, from_line: 300 })).content[0].text).toContain('line 300')
    expect(() => pi.withSpillway({ initialState, recovery: {} } as Any)).toThrow(/recovery/)
    expect(() => pi.withSpillway({} as Any)).toThrow(/"initialState"/)
  })

  test('LangChain: a middleware, and a question only with permission', () => {
    const parts = langchain.withSpillway({ model: 'openai:gpt-5', truncation: false })
    expect(parts).toMatchObject({ model: 'openai:gpt-5', tools: [], middleware: [{ name: 'spillway' }] })
    const permission = new PermissionGate(new PermissionPolicy())
    const asking = langchain.withSpillway({ model: 'openai:gpt-5', truncation: false, permission })
    expect(typeof asking.needsApproval).toBe('function')
    expect(() => langchain.withSpillway({ model: 1 as Any })).toThrow(/"model"/)
    expect(() => langchain.withSpillway({ model: 'm', tools: {} as Any })).toThrow(/"tools"/)
  })

  test('a gate that no one hears is reported, also through the tools that are allowed by themselves', () => {
    const told: string[] = []
    const onEvent = (event: Any) => told.push(event.error?.message)
    const permission = new PermissionGate(new PermissionPolicy())
    pi.withSpillway({ initialState: {}, permission, onEvent })
    opencode.withSpillway({ permission, onEvent })
    expect(told).toEqual([expect.stringContaining('neither ask nor onEvent'), expect.stringContaining('neither ask')])
  })

  test('a service of several adapters is one', async () => {
    const truncation = new TruncationService(limits())
    const { tools } = ai.withSpillway({ model, tools: { look: look() as Any }, truncation })
    const path = /(\/\S+\.txt)/.exec(await shownBy(tools.look))?.[1]
    const agent = agents.withSpillway({ model: { getResponse() {}, getStreamedResponse() {} }, truncation })
    expect(await (agent.tools as Any[])[0].invoke({}, JSON.stringify({ path }))).toContain('line 1 ')
  })
})

/** A client of the server in the options of a query, over a transport as the SDK has it. */
async function clientOf({ mcpServers }: claude.QueryParts) {
  const waiting = new Map<number, (message: Any) => void>()
  const transport: Any = {
    start: async () => {},
    send: async (message: Any) => waiting.get(message.id)?.(message),
  }
  await mcpServers?.spillway.instance.connect(transport)
  let id = 0
  return (method: string, params: object = {}): Promise<Any> => {
    id += 1
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    transport.onmessage({ jsonrpc: '2.0', id, method, params })
    return answered
  }
}

describe('withSpillway of the Claude Agent SDK', () => {
  const { signal } = new AbortController()
  const input = (tool_name: string, more: object) => ({
    session_id: 's',
    tool_use_id: 'c1',
    tool_name,
    tool_input: {},
    ...more,
  })

  test('a preview, and a server whose tools read the rest of it', async () => {
    const options = claude.withSpillway({ truncation: limits() })
    const said = await options.hooks.PostToolUse.at(-1)!.hooks[0]!(input('look', { tool_response: LONG }), 'c1', {
      signal,
    })
    const preview: string = said.hookSpecificOutput.updatedToolOutput
    expect(preview).toContain('read_output')
    const path = /saved to[^/]*(\/\S+\.txt)/.exec(preview)?.[1]
    expect(options.additionalDirectories).toEqual([path?.slice(0, path.lastIndexOf('/'))].map(() => expect.any(String)))
    const ask = await clientOf(options)
    expect((await ask('initialize', { protocolVersion: '2025-06-18' })).result).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'spillway' },
    })
    expect((await ask('ping')).result).toEqual({})
    const { tools } = (await ask('tools/list')).result
    expect(options.allowedTools).toEqual(tools.map(({ name }: Any) => `mcp__spillway__${name}`))
    const read = (args: object) => ask('tools/call', { name: 'read_output', arguments: args })
    expect((await read({ path, from_line: 300 })).result.content[0].text).toContain('line 300 of some length')
    expect((await read({ path: '/etc/passwd' })).result).toMatchObject({ isError: true })
    expect((await ask('tools/call', { name: 'write_output' })).error).toMatchObject({ code: -32602 })
    expect((await ask('resources/list')).error).toMatchObject({ code: -32601 })
  })

  test("keeps the caller's own options beside it", async () => {
    const seen: string[] = []
    const own = { hooks: [async () => void seen.push('own')] }
    const given = {
      model: 'claude-sonnet-4-5',
      tools: ['Bash'],
      allowedTools: ['Read'],
      additionalDirectories: ['/mine'],
      mcpServers: { files: { command: 'files' } },
      hooks: { PreToolUse: [own], SessionStart: [own] },
      canUseTool: async () => ({ behavior: 'deny' as const, message: 'no' }),
    }
    const before = structuredClone({ ...given, hooks: undefined, canUseTool: undefined })
    const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: '*', decision: 'ask' }] })
    const options = claude.withSpillway({ options: given, permission, truncation: limits() })
    expect(options).toMatchObject({ model: 'claude-sonnet-4-5', tools: ['Bash'] })
    expect(options.allowedTools[0]).toBe('Read')
    expect(options.additionalDirectories[0]).toBe('/mine')
    expect(Object.keys(options.mcpServers)).toEqual(['files', 'spillway'])
    expect(options.hooks.PreToolUse).toHaveLength(2)
    expect(options.hooks.PreToolUse[0]).toBe(own)
    expect(options.hooks.SessionStart).toEqual([own])
    const call = { toolUseID: 'c2', signal }
    expect(await options.canUseTool('Bash', { command: 'make' }, call)).toEqual({ behavior: 'deny', message: 'no' })
    expect({ ...given, hooks: undefined, canUseTool: undefined }).toEqual(before)
  })

  test('permission: leaves the tools that read saved outputs alone, and denies what no one can be asked about', async () => {
    const permission = new PermissionGate(new PermissionPolicy())
    const options = claude.withSpillway({ permission, truncation: limits() })
    const judged = (tool: string, id: string) =>
      options.hooks.PreToolUse[0]!.hooks[0]!(input(tool, { tool_use_id: id, tool_input: { path: '/x' } }), id, {
        signal,
      })
    expect(await judged('mcp__spillway__read_output', 'c1')).toEqual({})
    expect((await judged('mcp__other__read_output', 'c2')).hookSpecificOutput.permissionDecision).toBe('ask')
    const asked = await options.canUseTool!('mcp__other__read_output', {}, { toolUseID: 'c2', signal })
    expect(asked).toMatchObject({ behavior: 'deny', message: expect.stringContaining('no one can be asked') })
    expect(permission.pending()).toEqual([])
    const off = claude.withSpillway({ permission, outputTools: false, truncation: limits() })
    expect(off).not.toHaveProperty('mcpServers')
    const said = await off.hooks.PreToolUse[0]!.hooks[0]!(input('mcp__spillway__read_output', {}), 'c1', { signal })
    expect(said.hookSpecificOutput.permissionDecision).toBe('ask')
  })

  test('without tools of ours the notice names those of the SDK', async () => {
    const options = claude.withSpillway({ truncation: limits(), outputTools: false })
    const said = await options.hooks.PostToolUse[0]!.hooks[0]!(input('look', { tool_response: LONG }), 'c1', { signal })
    expect(said.hookSpecificOutput.updatedToolOutput).toMatch(/Use read on that file/)
  })

  test.each<[string, Any, RegExp]>([
    ['options of a query that are none', { options: 1 }, /"options": expected an object/],
    ['servers that are none', { options: { mcpServers: [] } }, /"options\.mcpServers"/],
    ['hooks that are none', { options: { hooks: [] } }, /"options\.hooks"/],
    ['tools that are none', { options: { allowedTools: 'Read' } }, /"options\.allowedTools"/],
    ['a person that is none', { options: { canUseTool: true } }, /"options\.canUseTool"/],
    ['a server of the same name', { options: { mcpServers: { spillway: {} } } }, /mcpServers.*outputTools: false/],
    ['what the SDK does by itself', { pruning: {} }, /pruning/],
    ['commands in no folder', { wrapCommands: true, truncation: { storage: new MemoryStorage() } }, /wrapCommands/],
  ])('refuses %s', (_, options, words) => {
    expect(() => claude.withSpillway(options)).toThrow(words)
    expect(() => claude.withSpillway(options)).toThrow(SpillwayError)
  })
})

describe('withSpillway of OpenCode', () => {
  test('results are bounded and read on by the tools of the host; requests are pruned for each session', async () => {
    const reports: Any[] = []
    const onEvent = (event: Any) => event.type === 'prepared' && reports.push(event)
    const pruning = { schedule: 'always', keepRecent: 0 } as const
    const hooks = await opencode.withSpillway({ truncation: limits(), contextWindow: 20_000, pruning, onEvent })()
    const call = { tool: 'files_look', sessionID: 's', callID: 'c1' }
    const output: Any = { content: [{ type: 'text', text: LONG }] }
    await hooks['tool.execute.after'](call, output)
    expect(output.content[0].text).toMatch(/Use read on that file/)
    const part = (id: string) => ({
      type: 'tool',
      callID: id,
      tool: 'look',
      state: { status: 'completed', input: {}, output: LONG.repeat(20) },
    })
    const messages: Any[] = [
      { info: { role: 'user', sessionID: 's' }, parts: [{ type: 'text', text: 'go' }] },
      ...['a', 'b', 'c'].map((id) => ({ info: { role: 'assistant', modelID: 'gpt-5' }, parts: [part(id)] })),
      { info: { role: 'user' }, parts: [{ type: 'text', text: 'on' }] },
    ]
    const before = JSON.stringify(messages).length
    await hooks['experimental.chat.messages.transform']({}, { messages })
    expect(JSON.stringify(messages).length).toBeLessThan(before / 2)
    expect(reports).toEqual([expect.objectContaining({ sessionId: 's' })])
  })

  test('pruning: false sends what there is, and truncation: false leaves results alone', async () => {
    const hooks = await opencode.withSpillway({ truncation: false, pruning: false })()
    const output: Any = { content: [{ type: 'text', text: LONG }] }
    await hooks['tool.execute.after']({ tool: 'files_look', sessionID: 's', callID: 'c1' }, output)
    expect(output.content[0].text).toBe(LONG)
  })

  test.each<[string, Any, RegExp]>([
    ['a session', { sessionId: 's' }, /sessionId/],
    ['tools of ours', { outputTools: {} }, /outputTools/],
    ['what OpenCode does by itself', { recovery: {} }, /recovery/],
    ['an option of pruning', { pruning: { keepRecent: -1 } }, /"pruning\.keepRecent"/],
    ['a window of zero', { contextWindow: 0 }, /"contextWindow".*above 0/],
  ])('refuses %s', (_, options, words) => {
    expect(() => opencode.withSpillway(options)).toThrow(words)
  })
})
