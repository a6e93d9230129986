import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSdkMcpServer, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { PermissionGate, PermissionPolicy, ToolResultLedger } from 'spillway'
import { type ClaudeCanUseTool, type ClaudeControls, claudeOptions } from 'spillway/claude-agent-sdk'
import { programMissing } from './program.ts'
import { environmentOf, fakeApi, type Turn } from './server.ts'
import { type Any, longText, smallService, tempDir } from './support.ts'

const LONG = longText(300)

const skip = programMissing()

const allow: ClaudeCanUseTool = async (_name, input) => ({ behavior: 'allow', updatedInput: input })

/** A whole run of the SDK against a server on this machine. */
async function run(controls: ClaudeControls, turns: Turn[], more: Partial<Options> = {}, ask?: ClaudeCanUseTool) {
  const api = await fakeApi(...turns, { text: 'done' })
  try {
    const cwd = tempDir()
    const options: Options = {
      cwd,
      model: 'claude-sonnet-4-5',
      maxTurns: 8,
      settingSources: [],
      permissionMode: 'default',
      env: environmentOf(api),
      ...claudeOptions(controls, controls.permission === undefined ? allow : ask),
      ...more,
    }
    const messages: Any[] = []
    for await (const message of query({ prompt: 'go', options })) messages.push(message)
    const sent = api.requests.at(-1)?.messages ?? []
    const results = sent
      .flatMap(({ content }: Any) => (Array.isArray(content) ? content : []))
      .filter(({ type }: Any) => type === 'tool_result')
    return { messages, results }
  } finally {
    api.close()
  }
}

/** Text of the tool, without the additions of the SDK. */
const textOf = ({ content }: Any): string => {
  const text: string = typeof content === 'string' ? content : content.map((part: Any) => part.text ?? '').join('\n')
  return text.replace(/\s*<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
}
const bash = (command: string): Turn => ({
  calls: [{ id: 'toolu_1', name: 'Bash', input: { command, description: 'x' } }],
})
const printing = bash('for i in $(seq 1 300); do echo "line $i of some length"; done')

test('Bash: the model reads a preview, and the whole is kept', { skip }, async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const { results } = await run({ truncation: service, ledger }, [printing])
  assert.equal(results.length, 1)
  assert.ok(textOf(results[0]).length < 3500, textOf(results[0]))
  assert.match(textOf(results[0]), /line 300 of some length/)
  assert.deepEqual(
    files().map((text) => text.trimEnd()),
    [LONG],
  )
  assert.equal(ledger.get('toolu_1')?.toolName, 'Bash')
  assert.ok(ledger.get('toolu_1')?.outputPath)
})

test('a tool of an MCP server keeps its blocks', { skip }, async () => {
  const { service, files } = smallService()
  const image = {
    type: 'image' as const,
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    mimeType: 'image/png',
  }
  const look = tool('look', 'looks', {}, async () => ({ content: [{ type: 'text', text: LONG }, image] }))
  const mcpServers = { files: createSdkMcpServer({ name: 'files', version: '1', tools: [look] }) }
  const call: Turn = { calls: [{ id: 'toolu_1', name: 'mcp__files__look', input: {} }] }
  const { results } = await run({ truncation: service }, [call], { mcpServers })
  assert.ok(textOf(results[0]).length < 3500, textOf(results[0]))
  assert.ok(results[0].content.some(({ type }: Any) => type === 'image'))
  assert.deepEqual(files(), [LONG])
})

test('short results go through as they are', { skip }, async () => {
  const { results } = await run({ truncation: smallService().service }, [bash('echo hello')])
  assert.equal(textOf(results[0]), 'hello')
})

test('permission: denied by a rule; asked and allowed; asked and rejected', { skip }, async () => {
  const permission = () => new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
  const denied = await run({ permission: permission() }, [bash('rm -rf nothing-here')])
  assert.equal(denied.results[0].is_error, true)
  assert.match(textOf(denied.results[0]), /denied/)

  const asked: string[] = []
  const ask: ClaudeCanUseTool = async (name, input) => {
    asked.push(name)
    return { behavior: 'allow', updatedInput: input }
  }
  const allowed = await run({ permission: permission() }, [bash('echo $((40 + 2))')], {}, ask)
  assert.deepEqual(asked, ['Bash'])
  assert.equal(textOf(allowed.results[0]), '42')

  const gate: PermissionGate = new PermissionGate(permission(), {
    onEvent: (event) => {
      if (event.type === 'asked') queueMicrotask(() => void gate.respond(event.request.id, { reject: 'not today' }))
    },
  })
  const rejected = await run({ permission: gate }, [bash('echo $((40 + 2))')])
  assert.equal(rejected.results[0].is_error, true)
  assert.match(textOf(rejected.results[0]), /not today/)
  assert.deepEqual(gate.pending(), [])
})

test('a failed command is bounded or left alone, and noted as failed', { skip }, async () => {
  const ledger = new ToolResultLedger()
  await run({ truncation: smallService().service, ledger }, [bash('exit 3')])
  assert.equal(ledger.get('toolu_1')?.isError, true)
})

/** More than the 10,000 characters of a failed command that the SDK shows. */
const MUCH = 'for i in $(seq 1 3000); do echo "line $i of some length"; done; echo the cause >&2'

test('wrapCommands: the output of a failed command is saved whole, and its preview has the notice', {
  skip,
}, async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const { results } = await run({ truncation: service, ledger, wrapCommands: true }, [bash(`${MUCH}; exit 3`)])
  assert.equal(results[0].is_error, true)
  assert.match(textOf(results[0]), /Exit code 3[\s\S]*the cause[\s\S]*Full output saved to: /)
  assert.doesNotMatch(textOf(results[0]), /line 1000 of some length/)
  const [whole, ...others] = files()
  assert.equal(others.length, 0)
  assert.equal(whole?.trimEnd(), `${longText(3000)}\nthe cause`)
  const known = ledger.get('toolu_1')
  assert.ok(known?.isError)
  assert.equal(known.args?.command, `${MUCH}; exit 3`)
})

test('wrapCommands: one preview of a command that succeeds, and the folder it ended in is kept', { skip }, async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const second = { calls: [{ id: 'toolu_2', name: 'Bash', input: { command: 'pwd', description: 'x' } }] }
  const { results } = await run({ truncation: service, ledger, wrapCommands: true }, [
    bash(`mkdir -p "it's" && cd "it's" && ${MUCH}`),
    second,
  ])
  assert.equal(textOf(results[0]).match(/saved to:/g)?.length, 1)
  assert.equal(files().length, 1)
  assert.match(ledger.get('toolu_1')?.outputPath ?? '', /\.txt$/)
  assert.match(textOf(results[1]), /\/it's$/)
})

test('wrapCommands: permission and ask see the command as the model wrote it', { skip }, async () => {
  const asked: unknown[] = []
  const ask: ClaudeCanUseTool = async (_name, input) => {
    asked.push(input.command)
    return { behavior: 'allow', updatedInput: input }
  }
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
  const controls = () => ({ truncation: smallService().service, permission, wrapCommands: true })
  const allowed = await run(controls(), [bash('echo $((40 + 2))')], {}, ask)
  assert.deepEqual(asked, ['echo $((40 + 2))'])
  assert.equal(textOf(allowed.results[0]), '42')
  const denied = await run(controls(), [bash('rm -rf nothing-here')], {}, ask)
  assert.match(textOf(denied.results[0]), /denied/)
  assert.equal(asked.length, 1)
})

test('wrapCommands needs a folder of saved outputs', () => {
  assert.throws(() => claudeOptions({ wrapCommands: true }), {
    code: 'INVALID_ARGUMENT',
    field: 'controls.wrapCommands',
  })
})

test('does not save again the output that the SDK has put into a file', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const { hooks } = claudeOptions({ truncation: service, ledger })
  const [after] = hooks.PostToolUse[0]?.hooks ?? []
  const response = { stdout: LONG, stderr: '', persistedOutputPath: '/x/y.txt', persistedOutputSize: 40_000 }
  const input = { session_id: 's', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1', tool_response: response }
  assert.deepEqual(await after?.(input, 't1', { signal: new AbortController().signal }), {})
  assert.deepEqual(files(), [])
  assert.equal(ledger.get('t1')?.outputPath, '/x/y.txt')
})

test('rejects options for features of the SDK itself at once', () => {
  assert.throws(() => claudeOptions({ history: () => undefined } as Any), {
    code: 'INVALID_ARGUMENT',
    field: 'controls.history',
  })
})
