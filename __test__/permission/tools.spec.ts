import { PermissionGate, PermissionPolicy, type PermissionRule } from 'spillway'
import { claudeOptions } from 'spillway/claude-agent-sdk'

const vault = '/vault'
const rule = (pattern: string, decision: 'allow' | 'ask' | 'deny', domain = 'tool') =>
  ({ domain, pattern, decision }) as PermissionRule

const decide = (options: object, tool: string, args: object = { todos: [] }, call: object = {}) =>
  new PermissionPolicy({ vault, ...options }).evaluate({ tool, args, ...call })

test('a tool of which only the name is known is asked about by its name', () => {
  const verdict = decide({}, 'TodoWrite')
  expect(verdict).toMatchObject({ decision: 'ask', domain: 'tool', targets: ['tool:TodoWrite'] })
  expect(verdict.suggestedRules).toEqual([{ domain: 'tool', pattern: 'tool:TodoWrite', decision: 'allow' }])
})

test.each([
  ['LSP', '/src/a.ts', 'allow'],
  ['LSP', '/.env', 'deny'],
  ['lsp', '/../outside.ts', 'deny'],
])('a language server reads the file that it is asked about: %s %s', async (tool, path, decision) => {
  const policy = new PermissionPolicy({ vault })
  const args = { operation: 'goToDefinition', filePath: `${vault}${path}`, line: 3, character: 5 }
  expect(policy.evaluate({ tool, args, headless: true }).decision).toBe(decision)
})

test.each([
  ['a rule for its name', [rule('tool:TodoWrite', 'allow')], 'allow'],
  ['a rule without a scheme', [rule('Todo*', 'allow')], 'allow'],
  ['a rule for all tools', [rule('*', 'allow')], 'allow'],
  ['a rule for everything', [rule('*', 'allow', '*')], 'allow'],
  ['a rule for another', [rule('tool:Task', 'allow')], 'ask'],
  ['a later ban', [rule('*', 'allow', '*'), rule('tool:TodoWrite', 'deny')], 'deny'],
  ['rules of other domains', [rule('*', 'allow', 'read'), rule('*', 'allow', 'bash')], 'ask'],
] as const)('a tool may run: %s', (_, rules, decision) => {
  expect(decide({ rules }, 'TodoWrite').decision).toBe(decision)
})

test('a tool that touches nothing is allowed unless a rule says otherwise', () => {
  for (const line of ['none', { domain: 'none' }]) {
    const tools = { TodoWrite: line }
    expect(decide({ tools }, 'TodoWrite').decision).toBe('allow')
    expect(decide({ tools }, 'todo_write', { path: '/etc/passwd' }).decision).toBe('allow')
    expect(decide({ tools, rules: [rule('tool:TodoWrite', 'deny')] }, 'TodoWrite').decision).toBe('deny')
    expect(decide({ tools, rules: [rule('*', 'ask')] }, 'TodoWrite').decision).toBe('ask')
    expect(decide({ tools, failClosed: ['tool'] }, 'TodoWrite').decision).toBe('ask')
  }
  expect(decide({}, 'Anything', {}, { touchesNothing: true }).decision).toBe('allow')
  expect(decide({ rules: [rule('*', 'deny')] }, 'Anything', {}, { touchesNothing: true }).decision).toBe('deny')
})

test('a line without arguments that are there is about the tool itself', () => {
  const tools = { TodoWrite: { domain: 'read' } } as const
  expect(decide({ tools }, 'TodoWrite')).toMatchObject({ decision: 'ask', targets: ['tool:TodoWrite'] })
  expect(decide({ tools, rules: [rule('TodoWrite', 'allow')] }, 'TodoWrite').decision).toBe('allow')
  expect(decide({ tools, rules: [rule('TodoWrite', 'allow')] }, 'TodoWrite', { path: '/etc/passwd' }).decision).toBe(
    'ask',
  )
})

test.each([
  [{ TodoWrite: 'nothing' }, 'tools.TodoWrite'],
  [{ TodoWrite: { domain: 'tool' } }, 'tools.TodoWrite.domain'],
  [{ TodoWrite: { domain: 'none', keys: ['x'] } }, 'tools.TodoWrite.keys'],
])('a line that is wrong is named: %j', (tools, field) => {
  expect(() => new PermissionPolicy({ vault, tools } as never)).toThrow(expect.objectContaining({ field }))
})

test('known tools keep what they touch, and what cannot be read of them is asked about under any rule', () => {
  const rules = [rule('*', 'allow', '*')]
  expect(decide({ rules }, 'read', {}).decision).toBe('ask')
  expect(decide({ rules }, 'mcp__x__y', {}).domain).toBe('mcp')
})

test('the adapter knows the tools of its host, and a rule still decides', async () => {
  const run = async (tool: string, rules: PermissionRule[] = [], gate = false) => {
    const policy = new PermissionPolicy({ vault, rules })
    const { canUseTool } = claudeOptions({ permission: gate ? new PermissionGate(policy) : policy })
    const signal = AbortSignal.timeout(5000)
    return (await canUseTool!(tool, { todos: [] }, { toolUseID: tool, signal })).behavior
  }
  for (const tool of ['TodoWrite', 'TaskUpdate', 'BashOutput', 'StructuredOutput', 'Skill', 'ToolSearch']) {
    expect([tool, await run(tool)]).toEqual([tool, 'allow'])
    expect([tool, await run(tool, [], true)]).toEqual([tool, 'allow'])
    expect([tool, await run(tool, [rule(`tool:${tool}`, 'deny')])]).toEqual([tool, 'deny'])
    expect([tool, await run(tool, [rule('*', 'ask')])]).toEqual([tool, 'deny'])
  }
  for (const tool of ['Task', 'Agent', 'Unknown', 'todowrite', 'AskUserQuestion', 'ExitPlanMode']) {
    expect([tool, await run(tool)]).toEqual([tool, 'deny'])
    expect([tool, await run(tool, [rule(`tool:${tool}`, 'allow')])]).toEqual([tool, 'allow'])
  }
})

test.each([
  ['AskUserQuestion', { questions: [] }, { answers: { which: 'the second' } }],
  ['ExitPlanMode', { plan: 'x' }, {}],
])(
  'the answer to %s of the Claude Agent SDK is the one of the caller, unless the call is denied',
  async (tool, input, answers) => {
    const updatedInput = { ...input, ...answers }
    for (const gate of [false, true]) {
      for (const rules of [[], [rule('*', 'allow', '*')], [rule(`tool:${tool}`, 'ask')]]) {
        const policy = new PermissionPolicy({ vault, rules })
        const permission = gate ? new PermissionGate(policy) : policy
        const answer = jest.fn(async (name: string) =>
          name === tool
            ? ({ behavior: 'allow', updatedInput } as const)
            : ({ behavior: 'deny', message: 'no' } as const),
        )
        const { hooks, canUseTool } = claudeOptions({ permission }, answer)
        const signal = AbortSignal.timeout(5000)
        const call = { tool_name: tool, tool_input: input, tool_use_id: 'one', session_id: 's' }
        const { hookSpecificOutput = {} } = await hooks.PreToolUse[0]!.hooks[0]!(call, 'one', { signal })
        expect(hookSpecificOutput.permissionDecision).not.toBe('deny')
        expect(await canUseTool!(tool, input, { toolUseID: 'one', signal })).toEqual({
          behavior: 'allow',
          updatedInput,
        })
        expect(answer).toHaveBeenCalledTimes(1)
        if (gate) expect((permission as PermissionGate).pending()).toEqual([])
      }
    }
    const refusing = jest.fn(async () => ({ behavior: 'deny', message: 'another plan' }) as const)
    const open = claudeOptions({ permission: new PermissionPolicy({ vault }) }, refusing)
    const options = { toolUseID: 'two', signal: AbortSignal.timeout(5000) }
    expect(await open.canUseTool!(tool, input, options)).toEqual({ behavior: 'deny', message: 'another plan' })
    const denying = claudeOptions(
      { permission: new PermissionPolicy({ vault, rules: [rule(`tool:${tool}`, 'deny')] }) },
      refusing,
    )
    expect((await denying.canUseTool!(tool, input, options)).behavior).toBe('deny')
    expect(refusing).toHaveBeenCalledTimes(1)
  },
)

test('a permission never takes permission away', () => {
  const both = [rule('python -m tool *', 'allow', 'bash'), rule('python *', 'allow', 'bash')]
  for (const rules of [both, both.toReversed()]) {
    expect(decide({ rules }, 'bash', { command: 'python -m tool' }).decision).toBe('allow')
    expect(decide({ rules }, 'bash', { command: 'python -m evil' }).decision).toBe('ask')
  }
  const between = [both[0]!, rule('python *', 'ask', 'bash'), both[1]!]
  expect(decide({ rules: between }, 'bash', { command: 'python -m tool' }).decision).toBe('ask')
})
