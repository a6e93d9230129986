/**
 * `spillway hook` with payloads of the agents: recorded from the programs themselves, and for Cursor made from its
 * documentation. Each file in `payloads/` says which.
 */

import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { onLinux, onUnix } from '../support/only'
import { tempDir } from '../support/temp'
import { CLI, cli, ended, type Ran, start } from './support'

let store: string
let env: NodeJS.ProcessEnv
beforeEach(() => {
  store = join(tempDir(), 'outputs')
  env = { SPILLWAY_STORAGE_DIR: store }
})

const PAYLOADS = join(__dirname, 'payloads')
type Payload = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: the answers of many agents
type Answer = any
const payloadsOf = (agent: string): Record<string, Payload> =>
  JSON.parse(readFileSync(join(PAYLOADS, `${agent}.json`), 'utf8')).payloads
const AGENTS = readdirSync(PAYLOADS).map((name) => name.replace('.json', ''))

const hook = (agent: string, input: unknown, ...args: string[]) =>
  cli(['hook', agent, ...args], { env, input: typeof input === 'string' ? input : JSON.stringify(input) })
const LONG = Array.from({ length: 3000 }, (_, at) => `line ${at + 1}: all is well`).join('\n')
const PATH = /Full output saved to: (\S+\.txt)/
const eventOf = (agent: string, event: string) => (agent === 'copilot' ? [event] : [])

describe.each(AGENTS)('%s', (agent) => {
  test('prints nothing if nothing has to change', async () => {
    for (const [event, payload] of Object.entries(payloadsOf(agent))) {
      const small = { ...payload, tool_name: 'other', toolName: 'other' }
      expect(await hook(agent, small, ...eventOf(agent, event))).toMatchObject({ code: 0, stdout: '', stderr: '' })
    }
  })

  test.each([
    ['no JSON', '{ "a": '],
    ['nothing', ''],
    ['another value', '[1]'],
    ['null', 'null'],
    ['fields of other types', '{"hook_event_name":"PreToolUse","tool_name":7,"tool_input":[],"session_id":{}}'],
    ['a name that objects have', '{"hook_event_name":"constructor","tool_name":"__proto__"}'],
  ])('%s leaves the call unchanged', async (name, input) => {
    const { code, stdout, stderr } = await hook(agent, input)
    expect(code).toBe(0)
    expect(stderr === '').toBe(!['no JSON', 'nothing'].includes(name))
    if (stdout !== '') expect(Object.keys(JSON.parse(stdout))).toEqual(['systemMessage'])
  })
})

/** The command that the agent is to run instead. */
const rewritten: [agent: string, event: string, of: (answer: Answer) => unknown][] = [
  [
    'codex',
    'PreToolUse',
    ({ hookSpecificOutput: { permissionDecision, updatedInput } }) =>
      permissionDecision === 'allow' && updatedInput.command,
  ],
  ['gemini', 'BeforeTool', ({ hookSpecificOutput }) => hookSpecificOutput.tool_input.command],
  ['copilot', 'preToolUse', ({ modifiedArgs }) => modifiedArgs.command],
  [
    'claude-code',
    'PreToolUse',
    ({ hookSpecificOutput: { permissionDecision, updatedInput } }) =>
      permissionDecision === undefined && updatedInput.command,
  ],
]

const wrapping = (agent: string) => (agent === 'claude-code' ? ['--wrap-commands'] : [])

describe.each(rewritten)('a command of %s', (agent, event, of) => {
  const asked = async (command: string, more = {}) => {
    const payload = payloadsOf(agent)[event] as Payload
    const input = { ...((payload.tool_input ?? payload.toolArgs) as object), command, ...more }
    const { stdout } = await hook(
      agent,
      { ...payload, tool_input: input, toolArgs: input, hook_event_name: event },
      ...eventOf(agent, event),
      ...wrapping(agent),
    )
    return stdout === '' ? undefined : String(of(JSON.parse(stdout)))
  }

  test('runs under spillway run, with its output, its exit code and the whole saved', async () => {
    const line = await asked('seq 1 9000; echo "it\'s $HOME" >&2; exit 3')
    const child = start('bash', ['-c', line as string], { env })
    child.stdin!.end()
    const { code, stdout } = await ended(child)
    expect(code).toBe(3)
    expect(stdout).toContain(`it's ${process.env.HOME}`)
    expect(stdout.length).toBeLessThan(10_500)
    const [, path = ''] = PATH.exec(stdout) ?? []
    expect(readFileSync(path, 'utf8')).toContain('\n4711\n')
    // The notice names a command that runs as it is.
    const again = await asked(`${process.execPath} ${CLI} read ${path}`)
    expect(again).toBeUndefined()
  })

  test.each([
    ...['npm start &', 'nvm use 20 && npm test', '  '],
    "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF",
    "(applypatch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n)",
  ])('%s stays as it is', async (command) => {
    expect(await asked(command)).toBeUndefined()
  })

  test.each(['cd src', 'cd src && npm test', 'export A=1', 'source .venv/bin/activate; pytest'])(
    '%s is wrapped where each command has a shell of its own',
    async (command) => {
      expect((await asked(command)) !== undefined).toBe(agent !== 'claude-code')
    },
  )

  test('is saved without a folder of a session whose name looks like an option', async () => {
    const payload = payloadsOf(agent)[event] as Payload
    const input = { ...((payload.tool_input ?? payload.toolArgs) as object), command: 'make' }
    const names = { session_id: '-rf', sessionId: '-rf', tool_input: input, toolArgs: input }
    const { stdout } = await hook(agent, { ...payload, ...names }, ...eventOf(agent, event), ...wrapping(agent))
    expect(stdout).toContain(' run ')
    expect(stdout).not.toContain('--session')
  })

  test('stays as it is in the background', async () => {
    expect(await asked('npm test', { is_background: true, mode: 'async' })).toBeUndefined()
  })
})

/** The text that the model is to read instead. */
const replaced: [agent: string, event: string, result: (text: string) => object, of: (answer: Answer) => unknown][] = [
  [
    'claude-code',
    'PostToolUse',
    (stdout) => ({ tool_name: 'Bash', tool_response: { stdout, stderr: '', interrupted: false, isImage: false } }),
    ({ hookSpecificOutput }) => hookSpecificOutput.updatedToolOutput.stdout,
  ],
  [
    'claude-code',
    'PostToolUse',
    (text) => ({ tool_name: 'mcp__a__b', tool_response: [{ type: 'text', text }] }),
    ({ hookSpecificOutput }) => hookSpecificOutput.updatedToolOutput[0].text,
  ],
  [
    'codex',
    'PostToolUse',
    (text) => ({
      tool_name: 'mcp__a__b',
      tool_response: { content: [{ type: 'text', text }], structuredContent: { text } },
    }),
    ({ decision, reason }) => decision === 'block' && reason,
  ],
  [
    'copilot',
    'postToolUse',
    (textResultForLlm) => ({ toolName: 'web_fetch', toolResult: { resultType: 'success', textResultForLlm } }),
    ({ modifiedResult }) => modifiedResult.resultType === 'success' && modifiedResult.textResultForLlm,
  ],
  [
    'cursor',
    'postToolUse',
    (text) => ({ tool_name: 'MCP:b', tool_output: JSON.stringify({ content: [{ type: 'text', text }] }) }),
    ({ updated_mcp_tool_output }) => updated_mcp_tool_output.content[0].text,
  ],
]

describe.each(replaced)('a result of %s', (agent, event, result, of) => {
  const asked = async (text: string, more = {}) => {
    const { stdout } = await hook(
      agent,
      { ...payloadsOf(agent)[event], ...result(text), ...more },
      ...eventOf(agent, event),
    )
    return stdout === '' ? undefined : String(of(JSON.parse(stdout)))
  }

  test('is replaced by a preview, with the whole saved; the preview stays as it is', async () => {
    const shown = await asked(LONG)
    expect(shown?.length).toBeLessThan(45_000)
    const [, path = ''] = PATH.exec(shown ?? '') ?? []
    expect(readFileSync(path, 'utf8')).toBe(LONG)
    expect(await asked(shown as string)).toBeUndefined()
    expect(await asked('short')).toBeUndefined()
  })

  test('is as long as the agent takes it', async () => {
    // Codex cuts 10,000 bytes in the middle, and Claude Code saves 30,000 characters of a command itself.
    expect(Buffer.byteLength((await asked(LONG)) ?? '')).toBeLessThan(agent === 'codex' ? 10_000 : 20_000)
  })

  test('is saved inside the store for any name of the session', async () => {
    const shown = await asked(LONG, { session_id: '../../up', sessionId: '../../up', conversation_id: '../../up' })
    const [, path = ''] = PATH.exec(shown ?? '') ?? []
    expect(path.startsWith(store)).toBe(true)
    expect(existsSync(path)).toBe(true)
  })
})

describe('a preview in a result of a command', () => {
  const asked = async (stdout: string) => {
    const tool = { tool_name: 'Bash', tool_response: { stdout, stderr: '', interrupted: false, isImage: false } }
    const ran = await hook('claude-code', { ...payloadsOf('claude-code').PostToolUse, ...tool })
    return ran.stdout === '' ? undefined : JSON.parse(ran.stdout).hookSpecificOutput.updatedToolOutput.stdout
  }
  const printed = async () => {
    const { stdout } = await cli(
      [
        'run',
        '--direction',
        'tail',
        '--max-bytes',
        '40k',
        '--max-lines',
        '1500',
        '--shell',
        '--',
        'seq -f "line %g of many" 1 9000',
      ],
      {
        env,
      },
    )
    return stdout
  }

  test('that spillway printed stays as it is, also within what an agent adds', async () => {
    const preview = await printed()
    expect(preview.length).toBeGreaterThan(16_000)
    expect(await asked(preview)).toBeUndefined()
    expect(await asked(`Exit code 0\nOutput:\n${preview.trimEnd()}`)).toBeUndefined()
  })

  test('that has the form of one, and names its output, is a text like any other', async () => {
    const preview = await printed()
    for (const forged of [preview.replace('line 8999 of', 'line X of'), `${LONG}\n${preview}`]) {
      expect(await asked(forged)).toMatch(PATH)
    }
  })

  test('is known although a process was killed while it noted another one', async () => {
    const log = join(store, 'previews.jsonl')
    const first = await printed()
    const torn = readFileSync(log, 'utf8').slice(0, 60)
    appendFileSync(log, torn)
    const second = await printed()
    expect(readFileSync(log, 'utf8').split('\n')).toContain(torn)
    for (const preview of [first, second]) expect(await asked(preview)).toBeUndefined()
  })

  test('is forgotten with its output', async () => {
    const preview = await printed()
    await cli(['rm', '-1'], { env })
    expect(readFileSync(join(store, 'previews.jsonl'), 'utf8')).toBe('')
    expect(await asked(preview)).toMatch(PATH)
  })
})

describe('--redact', () => {
  const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  const bash = (stdout: string) => ({
    ...payloadsOf('claude-code').PostToolUse,
    tool_name: 'Bash',
    tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
  })

  test('puts stars in the place of a secret, in short and in long results', async () => {
    for (const text of [`token ${SECRET}\n`, `${LONG}\ntoken ${SECRET}\n`]) {
      const { stdout } = await hook('claude-code', bash(text), '--redact')
      const { updatedToolOutput } = JSON.parse(stdout).hookSpecificOutput
      expect(updatedToolOutput.stdout).toContain(`token ${'*'.repeat(SECRET.length)}`)
      expect(updatedToolOutput).toMatchObject({ stderr: '', interrupted: false, isImage: false })
      const [, path] = PATH.exec(updatedToolOutput.stdout) ?? []
      if (path !== undefined) expect(readFileSync(path, 'utf8')).not.toContain(SECRET)
    }
  })

  test('says nothing where there is no secret, and where it was not asked for', async () => {
    expect((await hook('claude-code', bash('all is well'), '--redact')).stdout).toBe('')
    expect((await hook('claude-code', bash(`token ${SECRET}`))).stdout).toBe('')
  })

  test('changes the result of another agent', async () => {
    const payload = payloadsOf('copilot').postToolUse as Payload
    const toolResult = { ...(payload.toolResult as object), textResultForLlm: `token ${SECRET}` }
    const { stdout } = await hook('copilot', { ...payload, toolResult, toolName: 'view' }, 'postToolUse', '--redact')
    expect(JSON.parse(stdout).modifiedResult.textResultForLlm).toBe(`token ${'*'.repeat(SECRET.length)}`)
  })
})

test('after a compaction the model reads which files it had read', async () => {
  const session = payloadsOf('claude-code').SessionStart as Payload
  const read = (tool_input: object) =>
    hook('claude-code', {
      ...payloadsOf('claude-code').PostToolUse,
      session_id: session.session_id,
      tool_name: 'Read',
      tool_input,
      tool_response: { file: { content: 'x' } },
    })
  await read({ file_path: '/w/a.ts' })
  await read({ file_path: '/w/b.ts', offset: 11, limit: 20 })
  await Promise.all(Array.from({ length: 4 }, (_, at) => read({ file_path: `/w/c${at}.ts` })))
  await read({ file_path: '/w/x\ny.ts' })
  await read({ file_path: '/w/a.ts' })
  const { stdout } = await hook('claude-code', { ...session, source: 'compact' })
  const { additionalContext } = JSON.parse(stdout).hookSpecificOutput
  const listed = additionalContext.split('\n').slice(1)
  expect(listed[0]).toBe('- /w/a.ts')
  expect(listed.at(-1)).toBe('- /w/b.ts (lines 11-30)')
  expect(listed[1]).toMatch(/^- \/w\/x[^\n]+y\.ts$/)
  expect(listed).toHaveLength(7)
  expect((await hook('claude-code', { ...session, session_id: 'other', source: 'compact' })).stdout).toBe('')
})

test('tools that read files are left alone', async () => {
  const payload = {
    ...payloadsOf('claude-code').PostToolUse,
    tool_name: 'Read',
    tool_response: { file: { content: LONG } },
  }
  expect(await hook('claude-code', payload)).toMatchObject({ code: 0, stdout: '' })
})

describe('--permission', () => {
  const answers: [agent: string, event: string, decision: (answer: Answer) => unknown][] = [
    ['claude-code', 'PreToolUse', ({ hookSpecificOutput }) => hookSpecificOutput.permissionDecision],
    ['codex', 'PreToolUse', ({ hookSpecificOutput }) => hookSpecificOutput.permissionDecision],
    ['qwen', 'PreToolUse', ({ hookSpecificOutput }) => hookSpecificOutput.permissionDecision],
    ['gemini', 'BeforeTool', ({ decision }) => decision],
    ['copilot', 'preToolUse', ({ permissionDecision }) => permissionDecision],
    ['cursor', 'preToolUse', ({ permission }) => permission],
  ]
  test.each(answers)('%s reads what is denied, with the reason', async (agent, event, of) => {
    const payload = payloadsOf(agent)[event] as Payload
    const input = { command: 'rm -rf /' }
    const given = { ...payload, tool_input: input, toolArgs: input }
    const { stdout } = await hook(agent, given, ...eventOf(agent, event), '--permission', 'deny')
    expect(of(JSON.parse(stdout))).toBe('deny')
    expect(stdout).toContain('Spillway: ')
    expect((await hook(agent, given, ...eventOf(agent, event))).stdout).not.toContain('deny')
  })

  const patch = '*** Begin Patch\n*** Update File: /etc/hosts\n@@\n-a\n+b\n*** End Patch'
  test.each<[agent: string, tool: string, args: object, deny: unknown, ask: unknown]>([
    ['copilot', 'create', { path: '/etc/hosts', file_text: 'x' }, 'deny', 'deny'],
    ['copilot', 'report_intent', { intent: 'x' }, undefined, undefined],
    ['codex', 'apply_patch', { command: patch }, 'deny', 'deny'],
    ['gemini', 'write_todos', { todos: [] }, undefined, undefined],
    ['qwen', 'todo_write', { todos: [] }, undefined, undefined],
    ...['TodoWrite', 'AskUserQuestion', 'ExitPlanMode', 'ToolSearch', 'BashOutput'].map(
      (tool): [string, string, object, unknown, unknown] => ['claude-code', tool, {}, undefined, undefined],
    ),
    ['claude-code', 'mcp__x__y', {}, undefined, 'ask'],
  ])('%s: %s %j', async (agent, tool, args, deny, ask) => {
    const [, event, of] = answers.find(([each]) => each === agent)!
    for (const [wanted, decision] of [
      ['deny', deny],
      ['ask', ask],
    ] as const) {
      const names = { tool_name: tool, tool_input: args, toolName: tool, toolArgs: args }
      const given = { ...payloadsOf(agent)[event], ...names }
      const { stdout } = await hook(agent, given, ...eventOf(agent, event), '--permission', wanted)
      expect(stdout === '' ? undefined : of(JSON.parse(stdout))).toBe(decision)
    }
  })

  test.each<[string, object]>([
    ['in the home folder', { cwd: homedir() }],
    ['in the root', { cwd: '/' }],
    ['in a folder that is no path', { cwd: 'toString' }],
    ['beside what is nested deep', { tool_input: { command: 'rm -rf /', more: 'DEEP' } }],
    ['beside half of a character', { tool_input: { command: 'rm -rf /', more: '\ud800' } }],
  ])('keeps denying %s', async (_, more) => {
    const input = { command: 'rm -rf /' }
    const payload = { ...payloadsOf('claude-code').PreToolUse, tool_name: 'Bash', tool_input: input, ...more }
    const { stdout } = await hook(
      'claude-code',
      JSON.stringify(payload).replace('"DEEP"', DEEP),
      '--permission',
      'deny',
    )
    expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
  })
})

/** JSON of values that are nested deeper than the stack. */
const DEEP = '{"a":['.repeat(25_000) + ']}'.repeat(25_000)

describe('a value nested deeper than the stack', () => {
  test.each(rewritten)('may accompany the command of %s', async (agent, event) => {
    const payload = payloadsOf(agent)[event] as Payload
    const input = { ...((payload.tool_input ?? payload.toolArgs) as object), command: 'make', more: 'DEEP' }
    const given = { ...payload, tool_input: input, toolArgs: input, hook_event_name: event }
    const text = JSON.stringify(given).replaceAll('"DEEP"', DEEP)
    const { code, stdout, stderr } = await hook(agent, text, ...eventOf(agent, event), ...wrapping(agent))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`${DEEP}`)
    expect(stdout).toContain('dist/cli/main.js run ')
  })

  test.each([
    ['short', 1],
    ['long', 9000],
  ])('may accompany a %s text with a secret', async (_, times) => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const stdout = `token ${secret}\n`.repeat(times)
    const payload = {
      ...payloadsOf('claude-code').PostToolUse,
      tool_name: 'x',
      tool_response: { stdout, more: 'DEEP' },
    }
    const ran = await hook('claude-code', JSON.stringify(payload).replace('"DEEP"', DEEP), '--redact')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).not.toContain(secret)
    expect(ran.stdout.length).toBeLessThan(DEEP.length + 50_000)
    expect(ran.stdout).toContain(`token ${'*'.repeat(secret.length)}`)
  })
})

test('after a compaction the model reads which outputs are saved', async () => {
  const session = payloadsOf('claude-code').SessionStart as Payload
  const sessionId = session.session_id as string
  await cli(['run', '--session', sessionId, '--shell', '--', 'seq 1 9000'], { env })
  expect((await hook('claude-code', session)).stdout).toBe('')
  const { stdout } = await hook('claude-code', { ...session, source: 'compact' })
  const { hookEventName, additionalContext } = JSON.parse(stdout).hookSpecificOutput
  expect(hookEventName).toBe('SessionStart')
  expect(additionalContext).toContain('seq 1 9000')
  expect(additionalContext).toContain(store)
})

test('an output that a hook saves keeps its command', async () => {
  const { session_id: sessionId, ...payload } = payloadsOf('claude-code').PostToolUse as Payload
  const response = { stdout: LONG, stderr: '', interrupted: false, isImage: false }
  const given = { ...payload, tool_input: { command: 'npm run everything' }, tool_response: response }
  for (const session of [{}, { session_id: sessionId }]) await hook('claude-code', { ...given, ...session })
  const { stdout } = await cli(['ls'], { env })
  expect(stdout.match(/npm run everything/g)).toHaveLength(2)
  const start = { ...payloadsOf('claude-code').SessionStart, session_id: sessionId, source: 'compact' }
  expect((await hook('claude-code', start)).stdout).toContain('): npm run everything')
})

test('100 MB are truncated, or left unchanged in time', async () => {
  const stdout = `${'a line of text\n'.repeat(7_000_000)}`
  const payload = {
    ...payloadsOf('claude-code').PostToolUse,
    tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
  }
  const started = Date.now()
  const ran = await hook('claude-code', payload)
  expect(ran.code).toBe(0)
  expect(Date.now() - started).toBeLessThan(15_000)
  expect(JSON.parse(ran.stdout)).toEqual(expect.any(Object))
  expect(ran.stdout.length).toBeLessThan(100_000)
})

onLinux('a call is left unchanged where the folder of the store can never be made', async () => {
  const calls = [
    { tool_name: 'Read', tool_input: { file_path: '/a' }, tool_response: 'x' },
    { tool_name: 'Bash', tool_input: {}, tool_response: { stdout: 'x\n'.repeat(20_000), stderr: '' } },
  ]
  for (const call of calls) {
    const input = JSON.stringify({ hook_event_name: 'PostToolUse', session_id: 's', tool_use_id: 'c', ...call })
    expect((await cli(['hook', 'claude-code', '--store', '/proc/x'], { env, input })).code).toBe(0)
  }
})

/** An answer that says that the time is over. */
function expectLate({ code, stdout, stderr }: Ran, agent: string) {
  const said = `spillway hook ${agent}: not done after 2 s; the call continues unchanged`
  expect([code, stderr]).toEqual([0, `${said}\n`])
  expect(stdout).toBe(agent === 'cursor' ? '' : `${JSON.stringify({ systemMessage: said })}\n`)
}

test.each(['codex', 'cursor'])('%s, which never closes standard input, gets an answer after 2 s', async (agent) => {
  const started = Date.now()
  expectLate(await ended(start(process.execPath, [CLI, 'hook', agent], { env })), agent)
  expect(Date.now() - started).toBeGreaterThanOrEqual(2000)
})

/** Files whose opening blocks the whole process until another one opens their other end. */
const blocking: [what: string, file: string, call: Payload][] = [
  [
    'the results in view',
    'shown-s.jsonl',
    { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {}, tool_response: { stdout: LONG, stderr: '' } },
  ],
  [
    'the reads of the session, after a compaction',
    'reads-s.jsonl',
    { hook_event_name: 'SessionStart', source: 'compact' },
  ],
]

describe.each(blocking)('where %s can be opened but never read', (_, file, call) => {
  onUnix('the call continues unchanged after 2 s', async () => {
    mkdirSync(store, { recursive: true })
    spawnSync('mkfifo', [join(store, file)])
    const input = JSON.stringify({ session_id: 's', tool_use_id: 'c', ...call })
    const started = Date.now()
    expectLate(await cli(['hook', 'claude-code'], { env, input }), 'claude-code')
    expect(Date.now() - started).toBeLessThan(10_000)
  })
})

test.each([
  ['nothing\n', 'standard input is not JSON'],
  ['{"a": 1', 'standard input is not JSON'],
  ['\n', 'standard input is empty'],
])('the input %j leaves the call unchanged and says why', async (input, problem) => {
  const { code, stdout, stderr } = await cli(['hook', 'claude-code'], { env, input })
  const said = `spillway hook claude-code: ${problem}; the call continues unchanged`
  expect([code, stderr.trim(), JSON.parse(stdout).systemMessage]).toEqual([0, said, said])
})

test.each([
  [['hook'], 'missing argument <agent>'],
  [['hook', 'codex', '--nothing'], 'Unknown option --nothing: expected one of'],
  [['hook', 'clude-code'], "did you mean 'claude-code'?"],
  [['hook', 'opencode'], 'has no hooks'],
])('%j ends with 1: agents take 2 for a refusal', async (args, words) => {
  const { code, stderr } = await cli(args, { env, input: '{}' })
  expect(code).toBe(1)
  expect(stderr).toContain(words)
})

test.each([
  ['one text', 'Bash', { stdout: LONG, stderr: '', interrupted: false, isImage: false }],
  ['several', 'mcp__x__y', [LONG, LONG].map((text) => ({ type: 'text', text }))],
])('an output of %s that cannot be saved stays whole', async (_, tool, response) => {
  env = {
    ...env,
    SPILLWAY_STORAGE_DIR: '/dev/null/outputs',
    HOME: '/dev/null',
    XDG_DATA_HOME: undefined,
    TMPDIR: '/dev/null',
  }
  const given = { ...payloadsOf('claude-code').PostToolUse, tool_name: tool, tool_response: response }
  const { code, stdout, stderr } = await hook('claude-code', given)
  expect([code, stdout, stderr]).toEqual([0, '', expect.stringMatching(/could not be saved, so it was not shortened/)])
})

describe('the same output again in a session', () => {
  const run = (stdout: string, id: string, more: object = {}, ...args: string[]) => {
    const response = { stdout, stderr: '', interrupted: false, isImage: false }
    const payload = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: response, tool_use_id: id }
    return hook('claude-code', { ...payloadsOf('claude-code').PostToolUse, ...payload, ...more }, ...args)
  }
  const shownOf = ({ stdout }: { stdout: string }): string | undefined =>
    stdout === '' ? undefined : JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.stdout
  const TEXT = Array.from({ length: 300 }, (_, at) => `test ${at + 1}: passes in ${at * 7} ms`).join('\n')
  const CHANGED = TEXT.replace('test 150: passes in 1043 ms', 'test 150: is slower than before')

  test('becomes a pointer, with what differs and where the whole is', async () => {
    expect(shownOf(await run(TEXT, 'one'))).toBeUndefined()
    const shown = shownOf(await run(CHANGED, 'two'))!
    expect(shown.length).toBeLessThan(1000)
    expect(shown).toContain('test 150: is slower than before')
    expect(shown).toMatch(/\[lines \d+-\d+/)
    const [, path = ''] = PATH.exec(shown) ?? []
    expect(readFileSync(path, 'utf8')).toBe(CHANGED)
  })

  test('keeps what decides where it is cut', async () => {
    expect(shownOf(await run(LONG.replace('line 1500: all is well', 'error: disk full'), 'one'))).toContain(
      'error: disk full',
    )
  })

  test('stays within a preview of a long result, notice included', async () => {
    const listing = { tool_input: { command: 'cat names.txt' } }
    const first = shownOf(await run(LONG, 'one', listing))!
    const again = shownOf(await run(LONG, 'two', listing))!
    expect(again.length).toBeLessThan(first.length / 4)
    expect(readFileSync(PATH.exec(again)![1]!, 'utf8')).toBe(LONG)
  })

  test.each<[string, object, string[]]>([
    ['another session', { session_id: 'another' }, []],
    ['a sub-agent', { agent_id: 'a1' }, []],
    ['a call without a session', { session_id: undefined }, []],
    ['a call without an id', { tool_use_id: undefined }, []],
    ['a tool that reads files', { tool_name: 'Read' }, []],
    ['--no-fold', {}, ['--no-fold']],
  ])('stays whole in %s', async (_what, more, args) => {
    await run(TEXT, 'one')
    expect(shownOf(await run(TEXT, 'two', more, ...args))).toBeUndefined()
  })

  test('stays whole where the model read only the beginning of the earlier one, which the agent had saved itself', async () => {
    const response = { stdout: LONG, stderr: '', persistedOutputPath: '/a/b.txt', persistedOutputSize: 99_999 }
    expect(shownOf(await run(TEXT, 'one', { tool_response: { ...response, stdout: TEXT } }))).toBeUndefined()
    expect(shownOf(await run(TEXT, 'two'))).toBeUndefined()
    expect(shownOf(await run(LONG, 'three', { tool_response: response }))).toBeUndefined()
  })

  test('stays whole after a compaction, also in what a sub-agent was shown', async () => {
    const session = payloadsOf('claude-code').SessionStart as Payload
    const sub = { agent_id: 'a1' }
    await run(TEXT, 'one')
    await run(TEXT, 'two', sub)
    expect(shownOf(await run(TEXT, 'three', sub))).toMatch(/same as lines/)
    await hook('claude-code', { ...session, source: 'compact' })
    expect(shownOf(await run(TEXT, 'four'))).toBeUndefined()
    expect(shownOf(await run(TEXT, 'five', sub))).toBeUndefined()
    expect(shownOf(await run(TEXT, 'six'))).toMatch(/same as lines/)
  })

  test('concurrent hooks leave a record that the next one reads whole', async () => {
    const texts = Array.from({ length: 8 }, (_, at) => TEXT.replaceAll('test', `suite ${at} test`))
    const all = (id: string) =>
      Promise.all(texts.map((text, at) => run(text, `${id} ${at}`, { tool_input: { command: `${id} ${at}` } })))
    await all('at')
    for (const shown of await all('again')) expect(shownOf(shown)).toMatch(/same as lines/)
  })

  test('that may stand below is not pointed to: calls of one answer end in any order', async () => {
    await run(TEXT, 'one', { tool_input: { command: 'one' } })
    const slow = { tool_input: { command: 'two' }, duration_ms: 60_000 }
    expect(shownOf(await run(TEXT, 'two', slow))).toBeUndefined()
    expect(shownOf(await run(TEXT, 'three', { tool_input: { command: 'three' } }))).toMatch(/same as lines/)
  })

  test('gets its own text, also beside a result that is noted as ended later', async () => {
    await run(TEXT, 'one')
    await run(TEXT.replaceAll('test', 'other'), 'two', { tool_input: { command: 'two' } })
    const [name] = readdirSync(store).filter((each) => each.startsWith('shown-'))
    const file = join(store, name!)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const later = { ...JSON.parse(lines[1]!), began: 0, ended: Date.now() + 1e9 }
    writeFileSync(file, `${lines[0]}\n${JSON.stringify(later)}\n`)
    const shown = shownOf(await run(TEXT, 'three', { tool_input: { command: 'three' } }))
    expect(shown).toMatch(/same as lines/)
    expect(shown).not.toContain('other')
  })

  test('is kept in a file that only the user can read, and that does not grow without end', async () => {
    const long = (at: number) => Array.from({ length: 900 }, (_, line) => `${at}: line ${line} of many`).join('\n')
    let largest = 0
    for (let at = 0; at < 42; at += 6) {
      await Promise.all(
        [0, 1, 2, 3, 4, 5].map((more) => run(long(at + more), `at ${at + more}`, { tool_input: { command: 'ls' } })),
      )
      const [name] = readdirSync(store).filter((each) => each.startsWith('shown-'))
      const { size, mode } = statSync(join(store, name!))
      expect(mode & 0o077).toBe(0)
      largest = Math.max(largest, size)
    }
    expect([largest > 300_000, largest < 650_000]).toEqual([true, true])
  })
})

test('a data folder that cannot be made loses no output: it is saved elsewhere, and only folding has to wait', async () => {
  const blocked = join(tempDir(), 'file')
  writeFileSync(blocked, '')
  env = { SPILLWAY_STORAGE_DIR: undefined, XDG_DATA_HOME: blocked, TMPDIR: tempDir() }
  const payload = (more: object) => ({ ...payloadsOf('claude-code').PostToolUse, ...more })
  const { code, stdout, stderr } = await hook(
    'claude-code',
    payload({ tool_response: { stdout: LONG, stderr: '', interrupted: false, isImage: false } }),
  )
  expect([code, stderr]).toEqual([0, ''])
  const [, path = ''] = PATH.exec(JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.stdout) ?? []
  expect(readFileSync(path, 'utf8')).toBe(LONG)
  const read = payload({ tool_name: 'Read', tool_input: { file_path: '/a' } })
  expect(await hook('claude-code', read)).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

describe('loads only what an event needs', () => {
  let recorder: string
  beforeEach(() => {
    recorder = join(tempDir(), 'recorder.cjs')
    writeFileSync(
      recorder,
      `process.on('exit', () => {
        const files = Object.keys(require.cache).map((path) => path.split('/').pop())
        const crypto = process.moduleLoadList.includes('NativeModule crypto')
        require('fs').writeFileSync(process.env.LOADED, JSON.stringify({ files, crypto }))
      })`,
    )
  })
  const bash = (stdout: string) => ({ stdout, stderr: '', interrupted: false, isImage: false })

  test.each<[string, string, object, string[]]>([
    ['a call before it runs', 'PreToolUse', {}, []],
    ['a short result', 'PostToolUse', { tool_response: bash('short') }, []],
    ['a read of a file', 'PostToolUse', { tool_name: 'Read', tool_input: { file_path: '/a' } }, ['room-core.js']],
    ['a long result', 'PostToolUse', { tool_response: bash(LONG) }, ['room-core.js']],
  ])('%s', async (_what, event, more, rooms) => {
    const loaded = join(tempDir(), 'loaded.json')
    const payload = { ...payloadsOf('claude-code')[event], ...more }
    const child = start(process.execPath, ['-r', recorder, CLI, 'hook', 'claude-code'], {
      env: { ...env, LOADED: loaded },
    })
    child.stdin!.end(JSON.stringify(payload))
    expect(await ended(child)).toMatchObject({ code: 0 })
    const { files, crypto } = JSON.parse(readFileSync(loaded, 'utf8')) as { files: string[]; crypto: boolean }
    // The rooms and the entries of the package; what several of them share comes with either.
    expect(files.filter((file) => /^room-(?!shared)/.test(file))).toEqual(rooms)
    expect(files).not.toContain('claude-agent-sdk.js')
    if (rooms.length === 0) expect(crypto).toBe(false)
  })
})
