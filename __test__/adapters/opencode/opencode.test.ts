import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config, Plugin, PluginModule } from '@opencode-ai/plugin'
import { PermissionPolicy, ToolResultLedger } from 'spillway'
import { type OpenCodeControls, plugin } from 'spillway/opencode'
import { type Any, eagerPruner, longText, smallService, snapshot } from './support.ts'

const LONG = longText(300)
const call = { tool: 'bash', sessionID: 's1', callID: 'c1' }

/** OpenCode loads a plugin by calling it; this is what it would call. */
const load = async (controls: OpenCodeControls) => {
  const made: Plugin = plugin(controls)
  const hooks = await made({} as Any)
  return async (name: keyof typeof hooks, input: object, output: object): Promise<Any> => {
    await (hooks[name] as Any)(input, output)
    return output
  }
}

test('a built-in tool: what is long is bounded, and what OpenCode has shortened is left alone', async () => {
  const { service } = smallService()
  const ledger = new ToolResultLedger()
  const trigger = await load({ truncation: service, ledger })
  await trigger('tool.execute.before', call, { args: { command: 'make' } })
  const long = await trigger(
    'tool.execute.after',
    { ...call, args: { command: 'make' } },
    { title: 't', output: LONG, metadata: { exit: 0 } },
  )
  assert.ok(long.output.length < 3000)
  assert.deepEqual(long.metadata, { exit: 0, truncated: true, outputPath: ledger.get('c1')?.outputPath })
  assert.equal(long.title, 't')
  const some = longText(50)
  const shortened = { title: 't', output: some, metadata: { truncated: true, outputPath: '/x' } }
  await trigger('tool.execute.after', { ...call, callID: 'c2' }, shortened)
  assert.equal(shortened.output, some)
  const short = await trigger(
    'tool.execute.after',
    { ...call, callID: 'c3' },
    { title: '', output: 'ok', metadata: {} },
  )
  assert.deepEqual(short, { title: '', output: 'ok', metadata: {} })
})

test('a tool of an MCP server: the raw result is bounded in place', async () => {
  const { service, files } = smallService()
  const trigger = await load({ truncation: service })
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
  const output = await trigger(
    'tool.execute.after',
    { ...call, tool: 'files_search' },
    { content: [{ type: 'text', text: LONG }, image] },
  )
  assert.ok(output.content[0].text.length < 3000)
  assert.deepEqual(output.content[1], image)
  assert.deepEqual(files(), [LONG])
})

test('permission: denied calls throw, hooks change the arguments in place', async () => {
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:make*', decision: 'allow' }] })
  const hooks = { 'tool.before': ({ args }: Any) => ({ input: { ...args, timeout: 5 } }) }
  const trigger = await load({ permission, hooks })
  await assert.rejects(trigger('tool.execute.before', call, { args: { command: 'rm x' } }), { code: 'REFUSED' })
  const args = { command: 'make' }
  await trigger('tool.execute.before', { ...call, callID: 'c2' }, { args })
  assert.deepEqual(args, { command: 'make', timeout: 5 })
})

test('configuration: the folder of saved outputs may be read without a question', async () => {
  const { service, dir } = smallService()
  const trigger = await load({ truncation: service })
  const config: Config = { permission: { edit: 'ask' } }
  await trigger('config', config, {})
  assert.deepEqual(config.permission, { edit: 'ask', external_directory: { [`${dir}/*`]: 'allow' } })
})

test('the plugin that OpenCode finds by the name of the package', async () => {
  const found = await import('spillway/server')
  const module: PluginModule = found.default
  assert.equal(module.id, 'spillway')
  assert.equal(typeof (await module.server({} as Any))['tool.execute.after'], 'function')
})

test('messages: old outputs are left out of the array that was given, and of nothing else', async () => {
  const sessions: unknown[] = []
  const trigger = await load({
    history: (sessionId) => {
      sessions.push(sessionId)
      return eagerPruner(1)
    },
  })
  const part = (callID: string, output = LONG): Any => ({
    id: callID,
    sessionID: 's1',
    messageID: 'm',
    type: 'tool',
    callID,
    tool: 'bash',
    state: { status: 'completed', input: {}, output, title: '', metadata: {}, time: { start: 1, end: 2 } },
  })
  const stored: Any[] = [
    { info: { id: '1', role: 'user', sessionID: 's1' }, parts: [{ type: 'text', text: 'go' }] },
    { info: { id: '2', role: 'assistant', sessionID: 's1' }, parts: [part('a'), part('b')] },
    { info: { id: '3', role: 'assistant', sessionID: 's1' }, parts: [part('c'), { type: 'text', text: 'seen' }] },
    { info: { id: '4', role: 'user', sessionID: 's1' }, parts: [{ type: 'text', text: 'more' }] },
    { info: { id: '5', role: 'assistant', sessionID: 's1' }, parts: [{ type: 'text', text: 'hm' }] },
  ]
  const before = snapshot(stored)
  const messages = [...stored]
  await trigger('experimental.chat.messages.transform', {}, { messages })
  const outputs = messages
    .flatMap(({ parts }) => parts)
    .filter(({ type }) => type === 'tool')
    .map(({ state }) => state.output)
  assert.deepEqual(
    outputs.map((output) => output === LONG),
    [false, false, true],
  )
  assert.equal(messages.length, stored.length)
  assert.equal(snapshot(stored), before)
  assert.equal(messages[0], stored[0])
  assert.deepEqual(sessions, ['s1'])
})

test('a history that cannot be read is sent unchanged', async () => {
  const trigger = await load({ history: eagerPruner(), onEvent: () => {} })
  const messages = [null, 1, { parts: 'none' }, { info: null, parts: [null, { type: 'tool' }] }]
  const before = snapshot(messages)
  await trigger('experimental.chat.messages.transform', {}, { messages })
  assert.equal(snapshot(messages), before)
  await trigger('experimental.chat.messages.transform', {}, {})
  await trigger('tool.execute.after', call, null as Any)
})
