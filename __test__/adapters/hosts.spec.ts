import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStorage, PermissionGate, PermissionPolicy, ToolResultLedger, TruncationService } from 'spillway'
import { type ClaudeControls, claudeOptions } from 'spillway/claude-agent-sdk'
import { contextControl, needsApproval } from 'spillway/langchain'
import { type OpenCodeControls, plugin, server } from 'spillway/opencode'
import { agentHooks, extension, type PiControls } from 'spillway/pi'
import { HOSTS } from '../clients/hosts'
import { tempDir } from '../support/temp'
import { type Any, eagerPruner, frozen, LONG, overflowError, smallService } from './shapes'

const deny = () => new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })

describe('LangChain', () => {
  /** As much of a message as the adapter reads. */
  class ToolMessage {
    constructor(fields: object) {
      Object.assign(this, fields)
    }
  }
  const request = { toolCall: { id: 'c1', name: 'bash', args: { command: 'make' } }, runtime: {} }

  test('a long result becomes a message of its own class, with a reference', async () => {
    const { service } = smallService()
    const whole = frozen(new ToolMessage({ content: LONG, tool_call_id: 'c1', name: 'bash', artifact: { rows: 1 } }))
    const shown = await contextControl({ truncation: service }).wrapToolCall(request, async () => whole)
    expect(shown).toBeInstanceOf(ToolMessage)
    expect(shown.content.length).toBeLessThan(3000)
    expect(shown.artifact).toMatchObject({ rows: 1, outputPath: expect.any(String) })
  })

  test('returns short results, and values that are no message, as the same object', async () => {
    const { service } = smallService()
    const { wrapToolCall } = contextControl({ truncation: service })
    const short = new ToolMessage({ content: 'short', tool_call_id: 'c1' })
    const command = { update: { messages: [LONG] }, lg_name: 'Command' }
    for (const result of [short, command, undefined]) {
      expect(await wrapToolCall(request, async () => result)).toBe(result)
    }
  })

  test('an interrupt is thrown as it is, and noted nowhere', async () => {
    const ledger = new ToolResultLedger()
    const interrupt = Object.assign(new Error('interrupt'), { is_bubble_up: true })
    const thrown = contextControl({ ledger }).wrapToolCall(request, () => Promise.reject(interrupt))
    await expect(thrown).rejects.toBe(interrupt)
    expect(ledger.size).toBe(0)
  })

  test('retries a request that was too long, with other messages', async () => {
    const messages = frozen(
      Array.from({ length: 40 }, (_, at) => [
        { type: 'ai', content: '', tool_calls: [{ id: `h${at}`, name: 'look', args: {} }] },
        { type: 'tool', content: LONG, tool_call_id: `h${at}` },
      ]).flat(),
    )
    const sent: Any[] = []
    const answer = await contextControl({ onEvent: () => {} }).wrapModelCall(
      { messages, model: 'm' },
      async (one: Any) => {
        sent.push(one)
        if (sent.length === 1) throw overflowError()
        return 'answer'
      },
    )
    expect(answer).toBe('answer')
    expect(sent[0].messages).toBe(messages)
    expect(sent[1].model).toBe('m')
    expect(JSON.stringify(sent[1].messages).length).toBeLessThan(JSON.stringify(messages).length)
  })

  test('an answer for which there was no room is asked for again, and no other', async () => {
    const messages = frozen(
      Array.from({ length: 40 }, (_, at) => [
        { type: 'ai', content: '', tool_calls: [{ id: `h${at}`, name: 'look', args: {} }] },
        { type: 'tool', content: LONG, tool_call_id: `h${at}` },
      ]).flat(),
    )
    const full = { stop_reason: 'model_context_window_exceeded' }
    const sentFor = async (first: object) => {
      const answers = [first, { content: 'done' }]
      const { wrapModelCall } = contextControl({ onEvent: () => {} })
      return wrapModelCall({ messages }, async () => answers.shift())
    }
    for (const empty of [
      { content: [], response_metadata: full },
      { content: '', additional_kwargs: full },
    ]) {
      expect(await sentFor(frozen(empty))).toEqual({ content: 'done' })
    }
    for (const whole of [
      { content: 'half', response_metadata: full },
      { content: '', tool_calls: [{ id: 'a' }], response_metadata: full },
      { content: '', response_metadata: { stop_reason: 'end_turn' } },
    ]) {
      expect(await sentFor(frozen(whole))).toBe(whole)
    }
  })

  test('asks where the policy asks', async () => {
    const when = needsApproval({ permission: deny() })
    expect(await when(request)).toBe(true)
    expect(await when({ toolCall: { id: 'c2', name: 'bash', args: { command: 'rm x' } } })).toBe(false)
  })

  test.each([
    ['a policy', () => deny()],
    ['a gate', () => new PermissionGate(deny())],
  ])('consent is to one call, or to what a person made of it: %s', async (_, make) => {
    const permission: Any = make()
    const when = needsApproval({ permission })
    const { wrapToolCall } = contextControl({ permission })
    const run = async (command: string) => {
      const toolCall = { ...request.toolCall, args: { command } }
      let ran = false
      const answer = wrapToolCall({ toolCall, runtime: {} }, async () => {
        ran = true
        // A refusal is a message of LangChain's, which is not here.
      }).catch(() => {})
      await new Promise(setImmediate)
      for (const { id } of permission.pending?.() ?? []) await permission.respond(id, { reject: 'not asked' })
      await answer
      return ran
    }
    expect(await when(request)).toBe(true)
    expect(await run('make')).toBe(true)
    expect(await run('ninja')).toBe(false)
    expect(await run('make')).toBe(true)
    expect(await when({ toolCall: { ...request.toolCall, args: { command: 'cmake' } } })).toBe(true)
    // A person wrote another command.
    expect(await run('cmake .')).toBe(true)
    expect(await run('cmake .')).toBe(true)
    expect(await run('cmake ..')).toBe(false)
    expect(await run('rm x')).toBe(false)
  })
})

describe('pi', () => {
  test('before and after belong to one call; what was never asked about is bounded all the same', async () => {
    const { service } = smallService()
    const events: string[] = []
    const audit = { append: (event: Any) => void events.push(event.type) }
    const hooks = agentHooks({ truncation: service, audit })
    const call = { toolCall: { id: 'c1', name: 'bash' }, args: { command: 'make' } }
    const result = frozen({ content: [{ type: 'text', text: LONG }], details: 7 })
    expect(await hooks.beforeToolCall(call)).toBeUndefined()
    const edit: Any = await hooks.afterToolCall({ ...call, result, isError: false })
    expect(edit.content[0].text.length).toBeLessThan(3000)
    expect('details' in edit).toBe(false)
    expect(events).toEqual(['decision', 'outcome'])
    const other = { ...call, toolCall: { id: 'c2', name: 'bash' } }
    expect(await hooks.afterToolCall({ ...other, result, isError: true })).toBeDefined()
    const short = { content: [{ type: 'text', text: 'ok' }] }
    expect(await hooks.afterToolCall({ ...other, result: short, isError: false })).toBeUndefined()
  })

  test('the same question has the same answer while it is open', async () => {
    const gate = new PermissionGate(new PermissionPolicy())
    const hooks = agentHooks({ permission: gate })
    const call = { toolCall: { id: 'c1', name: 'bash' }, args: { command: 'make' } }
    const both = [hooks.beforeToolCall(call), hooks.beforeToolCall(call)]
    await new Promise(setImmediate)
    const [question] = gate.pending()
    await gate.respond(question?.id as string, { reject: 'no' })
    const answers = await Promise.all(both)
    expect(answers.map((answer) => answer?.block)).toEqual([true, true])
  })

  test('another call under the id of one that is open is judged for itself', async () => {
    const hooks = agentHooks({
      permission: new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'make', decision: 'allow' }] }),
    })
    const call = (command: string) => ({ toolCall: { id: 'c1', name: 'bash' }, args: { command } })
    expect(await hooks.beforeToolCall(call('make'))).toBeUndefined()
    expect(await hooks.beforeToolCall(call('ninja'))).toMatchObject({ block: true })
  })

  test('arguments that cannot be changed block the call', async () => {
    const hooks = agentHooks({ hooks: { 'tool.before': () => ({ input: { command: 'true' } }) } })
    const args = frozen({ command: 'make' })
    expect(await hooks.beforeToolCall({ toolCall: { id: 'c1', name: 'bash' }, args })).toMatchObject({ block: true })
  })

  test('messages go through a pruner', async () => {
    const hooks = agentHooks({ history: eagerPruner() })
    const messages = frozen([
      { role: 'user', content: 'go', timestamp: 1 },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'x', name: 'bash', arguments: {} }], timestamp: 2 },
      {
        role: 'toolResult',
        toolCallId: 'x',
        toolName: 'bash',
        content: [{ type: 'text', text: LONG }],
        isError: false,
        timestamp: 3,
      },
      { role: 'assistant', content: [{ type: 'text', text: 'seen' }], timestamp: 4 },
    ])
    expect(JSON.stringify(await hooks.transformContext(messages as Any[]))).not.toContain('line 150 of')
  })
})

test.each([
  ['pi', (controls: Any) => agentHooks(controls)],
  ['OpenCode', (controls: Any) => plugin(controls)],
])('%s: a gate without a listener is reported', (_, make) => {
  const events: Any[] = []
  const onEvent = (event: Any) => events.push(event)
  const policy = new PermissionPolicy()
  for (const permission of [policy, new PermissionGate(policy, { onEvent: () => {} })]) make({ permission, onEvent })
  expect(events).toEqual([])
  make({ permission: new PermissionGate(policy), onEvent })
  expect(events).toMatchObject([
    { type: 'error', error: { message: expect.stringContaining('neither ask nor onEvent') } },
  ])
})

describe('results that pi has truncated', () => {
  const trailer = (path: string) => `\n\n[Showing lines 298001-300000 of 300000. Full output: ${path}]`
  const logged = join(tmpdir(), 'pi-bash-0123456789abcdef.log')
  const truncation = { truncated: true, truncatedBy: 'lines', totalLines: 300_000 }
  const rows: [title: string, result: Any, isError: boolean, outputPath: string | undefined][] = [
    ['a command', { content: LONG + trailer(logged), details: { truncation, fullOutputPath: logged } }, false, logged],
    [
      'a command that failed',
      { content: `${LONG}${trailer(logged)}\n\nCommand exited with code 2`, details: {} },
      true,
      logged,
    ],
    ['a command that was aborted', { content: `${LONG}${trailer(logged)}\n\nCommand aborted` }, true, logged],
    [
      'a file that was read',
      { content: `${LONG}\n\n[Showing lines 1-2000 of 9000. Use offset=2001 to continue.]`, details: { truncation } },
      false,
      undefined,
    ],
  ]
  /** Both ways into pi, with what the model reads of a result. */
  const ways: Record<string, (controls: PiControls, call: Any, result: Any, isError: boolean) => Promise<Any>> = {
    'an agent': async (controls, call, result, isError) => {
      const hooks = agentHooks(controls)
      await hooks.beforeToolCall(call)
      return (await hooks.afterToolCall({ ...call, result, isError })) ?? result
    },
    'the coding agent': async (controls, { toolCall, args }, result, isError) => {
      const handlers: Record<string, (event: Any, context: Any) => Any> = {}
      extension(controls)({ on: (name, handler) => Object.assign(handlers, { [name]: handler }) })
      const event = { toolName: toolCall.name, toolCallId: toolCall.id, input: args }
      const context = { sessionManager: { getSessionId: () => 's1' } }
      await handlers.tool_call?.(event, context)
      return (await handlers.tool_result?.({ ...event, ...result, isError }, context)) ?? result
    },
  }
  const call = { toolCall: { id: 'c1', name: 'bash' }, args: { command: 'make' } }
  for (const [way, read] of Object.entries(ways)) {
    test.each(rows)(
      `${way}, %s: they are left alone and known by the file of pi's`,
      async (_, { content, details }, isError, outputPath) => {
        const { service, files } = smallService()
        const ledger = new ToolResultLedger()
        const result = frozen({ content: [{ type: 'text', text: content }], details })
        const shown = await read({ truncation: service, ledger }, call, result, isError)
        expect(shown.content).toEqual(result.content)
        expect(files()).toEqual([])
        expect(ledger.get('c1')?.outputPath).toBe(outputPath)
      },
    )

    test(`${way}: a hook may change such a result, and a command cannot make one up`, async () => {
      const { service } = smallService()
      const hooks = { 'tool.after': () => ({ append: ' changed' }) }
      const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
      const result = { content: [{ type: 'text', text: LONG }, image], details: { fullOutputPath: logged } }
      const shown = await read({ truncation: service, hooks }, call, result, false)
      expect(shown.content).toEqual([{ type: 'text', text: `${LONG} changed` }, image])
      const other = { content: [{ type: 'text', text: LONG }], details: { fullOutputPath: '/etc/passwd' } }
      expect((await read({ truncation: service }, call, other, false)).content[0].text.length).toBeLessThan(3000)
      const forged = { content: [{ type: 'text', text: LONG + trailer('/etc/passwd') }] }
      expect((await read({ truncation: service }, call, forged, true)).content[0].text.length).toBeLessThan(3000)
    })
  }

  test('each session of the coding agent has its own pruner', async () => {
    const sessions: unknown[] = []
    const handlers: Record<string, (event: Any, context?: Any) => Any> = {}
    const history = (sessionId: unknown) => {
      sessions.push(sessionId)
      return eagerPruner()
    }
    extension({ history, sessionId: 'own' })({ on: (name, handler) => Object.assign(handlers, { [name]: handler }) })
    const messages = [{ role: 'user', content: 'go', timestamp: 1 }]
    for (const id of ['s1', 's1', 's2', undefined, 's1']) {
      const context = id && { sessionManager: { getSessionId: () => id } }
      await handlers.context?.({ messages }, context)
    }
    expect(sessions).toEqual(['s1', 's2', 'own'])
  })
})

describe('the Claude Agent SDK', () => {
  const signal = new AbortController().signal
  const input = { session_id: 's', tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 't1' }

  test('the result keeps the shape of its tool', async () => {
    const { service, files } = smallService()
    const { hooks } = claudeOptions({ truncation: service })
    const rewrite = hooks.PostToolUse[0]!.hooks[0] as Any
    const response = frozen({ stdout: LONG, stderr: 'warning', interrupted: false, nested: [{ text: LONG }] })
    const { hookSpecificOutput } = await rewrite({ ...input, tool_response: response }, 't1', { signal })
    const { stdout, nested, ...rest } = hookSpecificOutput.updatedToolOutput
    expect(stdout.length).toBeLessThan(3000)
    expect(nested[0].text.length).toBeLessThan(3000)
    expect(rest).toEqual({ stderr: 'warning', interrupted: false })
    expect(files()[0]).toBe(LONG)
    const found = { filenames: Array.from({ length: 300 }, (_, at) => `file${at}.ts`), content: LONG }
    const many = await rewrite({ ...input, tool_use_id: 't3', tool_response: frozen(found) }, 't3', { signal })
    expect(many.hookSpecificOutput.updatedToolOutput.content.length).toBeLessThan(3000)
    expect(many.hookSpecificOutput.updatedToolOutput.filenames).toEqual(found.filenames)
    // An unchanged value must not be returned: it would replace another hook's rewrite.
    const media = [
      { type: 'resource', resource: { blob: LONG } },
      { type: 'pdf', file: { base64: LONG } },
    ]
    for (const same of [{ stdout: 'ok' }, 'ok', null, [{ type: 'image', data: LONG }], ...media]) {
      expect(await rewrite({ ...input, tool_use_id: 't2', tool_response: same }, 't2', { signal })).toEqual({})
    }
  })

  test('adds a warning beside a result that is no text, and a text of a hook in place of the output', async () => {
    const { hooks } = claudeOptions({
      doomLoop: { check: () => ({ action: 'allow', warning: 'again' }), record: () => {}, approve: () => true } as Any,
      hooks: { 'tool.final': ({ args }) => ((args as Any).command === 'cat' ? { output: 'short' } : undefined) },
    })
    const result = async (command: string, id: string, response: unknown) => {
      const call = { ...input, tool_input: { command }, tool_use_id: id }
      await (hooks.PreToolUse[0]!.hooks[0] as Any)(call, id, { signal })
      return (hooks.PostToolUse[0]!.hooks[0] as Any)({ ...call, tool_response: response }, id, { signal })
    }
    const response = frozen({ stdout: LONG, stderr: 'none', interrupted: false })
    const said = { hookEventName: 'PostToolUse', additionalContext: 'again' }
    expect((await result('cat', 'c1', response)).hookSpecificOutput).toEqual({
      ...said,
      updatedToolOutput: { stdout: 'short', stderr: '', interrupted: false },
    })
    expect((await result('make', 'm1', response)).hookSpecificOutput).toEqual(said)
    expect((await result('make', 'm2', 'printed')).hookSpecificOutput).toEqual({
      hookEventName: 'PostToolUse',
      updatedToolOutput: 'printed\n\nagain',
    })
  })

  test('denied, asked, and judged by a gate that is broken', async () => {
    const decide = async (permission: Any, command: string) => {
      const { hooks } = claudeOptions({ permission, onEvent: () => {} })
      const answer = await (hooks.PreToolUse[0]!.hooks[0] as Any)({ ...input, tool_input: { command } }, 't1', {
        signal,
      })
      return answer.hookSpecificOutput?.permissionDecision
    }
    expect(await decide(deny(), 'rm x')).toBe('deny')
    expect(await decide(deny(), 'make')).toBe('ask')
    expect(await decide({ request: () => Promise.reject(new Error('broken')) }, 'make')).toBe('deny')
    const allow = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:make', decision: 'allow' }] })
    expect(await decide(allow, 'make')).toBeUndefined()
  })

  test('an answer that comes with the id alone is about the call that was asked, or what a person made of it', async () => {
    const commands: string[] = []
    const { hooks, canUseTool } = claudeOptions({ permission: deny() }, async (_tool, args) => {
      commands.push(String(args.command))
      return { behavior: 'allow', ...(args.command === 'cmake' && { updatedInput: { command: 'cmake .' } }) }
    })
    const hook = (more: object) => (hooks.PreToolUse[0]!.hooks[0] as Any)({ ...input, ...more }, 't1', { signal })
    const use = (command: string, toolUseID = 't1') => canUseTool?.('Bash', { command }, { toolUseID, signal })
    expect((await hook({})).hookSpecificOutput.permissionDecision).toBe('ask')
    expect(await use('make')).toEqual({ behavior: 'allow', updatedInput: { command: 'make' } })
    for (const other of [{ session_id: 's2' }, { tool_input: { command: 'ninja' } }]) {
      expect((await hook(other)).hookSpecificOutput.permissionDecision).toBe('ask')
    }
    await hook({ tool_use_id: 't2', tool_input: { command: 'cmake' } })
    expect(await use('cmake', 't2')).toEqual({ behavior: 'allow', updatedInput: { command: 'cmake .' } })
    expect(commands).toEqual(['make', 'cmake'])
    expect(await use('rm x')).toMatchObject({ behavior: 'deny' })
  })

  test('a call that was asked about twice and rejected leaves no open question', async () => {
    const permission = new PermissionGate(new PermissionPolicy())
    const { hooks, canUseTool } = claudeOptions({ permission }, async () => ({ behavior: 'deny', message: 'no' }))
    await (hooks.PreToolUse[0]!.hooks[0] as Any)(input, 't1', { signal })
    expect(permission.pending()).toHaveLength(1)
    expect(await canUseTool?.('Bash', input.tool_input, { toolUseID: 't1', signal })).toMatchObject({ message: 'no' })
    expect(permission.pending()).toEqual([])
  })

  test('a gate that no one hears is denied at once, and what was asked is taken back', async () => {
    const gate = new PermissionGate(new PermissionPolicy())
    const { hooks, canUseTool } = claudeOptions({ permission: gate })
    const asked = await (hooks.PreToolUse[0]!.hooks[0] as Any)(input, 't1', { signal })
    expect(asked.hookSpecificOutput.permissionDecision).toBe('ask')
    const answer: Any = await canUseTool?.('Bash', input.tool_input, { toolUseID: 't1', signal })
    expect(answer).toMatchObject({ behavior: 'deny', message: expect.stringContaining('no one can be asked') })
    await new Promise(setImmediate)
    expect(gate.pending()).toEqual([])
  })

  test('the folder of saved outputs may be read, where there is one', () => {
    const storageDir = tempDir()
    const folders = (controls: ClaudeControls) => claudeOptions(controls).additionalDirectories
    expect(folders({ truncation: new TruncationService({ global: { storageDir } }) })).toEqual([storageDir])
    expect(folders({ truncation: new TruncationService({ storage: new MemoryStorage() }) })).toBeUndefined()
    expect(folders({})).toBeUndefined()
  })

  test('without a permission the host decides', async () => {
    expect(claudeOptions({}).canUseTool).toBeUndefined()
    const asked = claudeOptions({}, async () => ({ behavior: 'allow' }))
    expect(await asked.canUseTool?.('Bash', { command: 'x' }, { toolUseID: 't1', signal })).toEqual({
      behavior: 'allow',
    })
  })
})

describe('OpenCode', () => {
  const call = (callID: string, tool = 'lines_print') => ({ tool, sessionID: 's', callID })
  const numbered = (count: number, more = '') =>
    Array.from({ length: count }, (_, at) => `line ${at + 1}${more}`).join('\n')
  /** OpenCode joins the texts of a result with an empty line, and then truncates what is too long. */
  const readBy = (content: readonly Any[]) =>
    (HOSTS.opencode as Any)(content.flatMap(({ text }) => text ?? []).join('\n\n'))

  const results: [title: string, blocks: string[]][] = [
    ['many lines', [numbered(30_000)]],
    ['one line of 200 kB', ['x'.repeat(200_000)]],
    ['long lines', [numbered(900, ` ${'word '.repeat(40)}`)]],
    ['Chinese', [numbered(5_000, ' 水水水水水水水水')]],
    ['a hundred blocks', Array.from({ length: 100 }, () => numbered(300))],
    ['blocks of one line', Array.from({ length: 1_999 }, (_, at) => `line ${at}`)],
    ['just within the limits of OpenCode', [numbered(2_000)]],
  ]
  for (const open of [true, false]) {
    test.each(results)(
      `MCP: %s, the notice arrives${open ? '' : ', also of a call that was not announced'}`,
      async (_, blocks) => {
        const service = new TruncationService({ global: { storageDir: tempDir() } })
        const hooks = await plugin({ truncation: service })()
        if (open) await hooks['tool.execute.before'](call('c1'), { args: {} })
        const output: Any = { content: blocks.map((text) => ({ type: 'text', text })) }
        await hooks['tool.execute.after'](call('c1'), output)
        const read = readBy(output.content)
        expect(read).not.toContain('/host/file')
        const [, path = ''] = /Full output saved to: (\S+\.txt)/.exec(read) ?? []
        expect(readFileSync(path, 'utf8')).toBe(blocks.join('\n'))
      },
    )
  }

  test('MCP: the limits are those of the configuration, and of the service where they are lower', async () => {
    const shown = async (tool_output: object, global: object) => {
      const hooks = await plugin({
        truncation: new TruncationService({ global: { storageDir: tempDir(), ...global } }),
      })()
      await hooks.config({ tool_output })
      const output: Any = { content: [{ type: 'text', text: numbered(30_000) }] }
      await hooks['tool.execute.after'](call('c1'), output)
      return output.content[0].text.split('\n').length
    }
    const few = await shown({ max_lines: 100 }, {})
    expect(few).toBeGreaterThan(70)
    expect(few).toBeLessThanOrEqual(100)
    expect(await shown({ max_bytes: 4_000 }, {})).toBeLessThan(300)
    expect(await shown({ max_lines: 100 }, { maxLines: 5 })).toBeLessThan(20)
    expect(await shown({}, {})).toBeGreaterThan(1_900)
  })

  test('an output that OpenCode has saved is left alone, and known by the file that has it', async () => {
    const ledger = new ToolResultLedger()
    const hooks = await plugin({ truncation: smallService().service, ledger })()
    await hooks['tool.execute.before'](call('c1', 'bash'), { args: { command: 'make' } })
    const output = { title: '', output: LONG, metadata: { truncated: true, outputPath: '/data/tool-output/tool_1' } }
    const before = structuredClone(output)
    await hooks['tool.execute.after'](call('c1', 'bash'), output)
    expect(output).toEqual(before)
    expect(ledger.get('c1')?.outputPath).toBe('/data/tool-output/tool_1')
  })

  const folders: [title: string, permission: unknown, expected: (pattern: string) => unknown][] = [
    ['nothing', undefined, (at) => ({ external_directory: { [at]: 'allow' } })],
    ['other rules', { bash: 'ask' }, (at) => ({ bash: 'ask', external_directory: { [at]: 'allow' } })],
    ['a word', { external_directory: 'ask' }, (at) => ({ external_directory: { '*': 'ask', [at]: 'allow' } })],
    [
      'folders',
      { external_directory: { '/x/*': 'allow' } },
      (at) => ({ external_directory: { '/x/*': 'allow', [at]: 'allow' } }),
    ],
    ['a denial', { external_directory: 'deny' }, () => ({ external_directory: 'deny' })],
    ['a word for everything', 'ask', () => 'ask'],
  ]
  test.each(folders)(
    'the folder of saved outputs may be read: the configuration has %s',
    async (_, permission, expected) => {
      const dir = tempDir()
      const hooks = await plugin({ truncation: new TruncationService({ global: { storageDir: dir } }) })()
      const config: Any = { permission }
      await hooks.config(config)
      expect(config.permission).toEqual(expected(`${dir}/*`))
    },
  )

  test("keeps a user's decision about the folder, and changes nothing without a folder", async () => {
    const dir = tempDir()
    const own = { external_directory: { [`${dir}/*`]: 'deny' } }
    const config: Any = { permission: own }
    await (await plugin({ truncation: new TruncationService({ global: { storageDir: dir } }) })()).config(config)
    expect(config.permission).toBe(own)
    const inMemory = new TruncationService({ storage: new MemoryStorage() })
    const others: OpenCodeControls[] = [{}, { truncation: inMemory }]
    for (const controls of others) {
      const untouched: Any = {}
      await (await plugin(controls)()).config(untouched)
      expect(untouched).toEqual({})
    }
  })

  test('a denied call throws what the model should read', async () => {
    const hooks = await plugin({ permission: deny() })()
    const args = { command: 'rm -rf build' }
    await expect(hooks['tool.execute.before'](call('c1', 'bash'), { args })).rejects.toThrow(/denied/)
  })

  test('the plugin that can be named takes options of a configuration', async () => {
    const storageDir = tempDir()
    const hooks = await server({}, { truncation: { global: { storageDir, maxLines: 5 } }, pruning: false })
    const output: Any = { content: [{ type: 'text', text: LONG }] }
    await hooks['tool.execute.after'](call('c1'), output)
    expect(output.content[0].text).toMatch(/Use read on that file/)
    await expect(server({}, { truncations: {} } as Any)).rejects.toThrow(/truncations/)
    await expect(server({}, { truncation: { maxLine: 5 } } as Any)).rejects.toThrow(/maxLine/)
  })

  test('a result that cannot be read is left alone', async () => {
    const hooks = await plugin({ truncation: smallService().service })()
    const call = { tool: 'bash', sessionID: 's', callID: 'c1' }
    for (const output of [null, 1, {}, { output: 7 }, { content: 'none' }]) {
      const before = JSON.stringify(output)
      await hooks['tool.execute.after'](call, output)
      expect(JSON.stringify(output)).toBe(before)
    }
  })
})
