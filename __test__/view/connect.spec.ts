/** The client of `spillway/ui` with a real server, in a process of its own: its module is for browsers, and Node can load it too. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { MemoryStorage, PermissionGate, PermissionPolicy } from 'spillway'
import { serve } from './support'

const UI = pathToFileURL(join(__dirname, '..', '..', 'dist', 'ui', 'index.mjs')).href

/** Runs a script with `connect` and `input`, and returns what it answers. */
async function inNode(input: Record<string, unknown>, body: string): Promise<unknown> {
  const script = `
    import { connect } from ${JSON.stringify(UI)}
    const input = ${JSON.stringify(input)}
    const answer = (value) => console.log(JSON.stringify(value))
    ${body}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
  })
  return JSON.parse(stdout)
}

async function served() {
  const outputs = new MemoryStorage()
  const path = await outputs.save('one\ntwo\nthree\n', { toolName: 'bash' })
  const gate = new PermissionGate(new PermissionPolicy({ vault: '/home/ada/project' }))
  const { handler, port } = await serve({ outputs, approvals: gate })
  return { path, gate, handler, base: `http://127.0.0.1:${port}/spillway` }
}

test('outputs are read and searched, and what the server does not offer is absent', async () => {
  const { path, handler, base } = await served()
  const answered = await inNode(
    { base, token: handler.token, path },
    `const { outputs, audit } = await connect(input)
     const { text } = await outputs.readRange(input.path, { fromLine: 2, lineCount: 1 })
     const { matches } = await outputs.search(input.path, 't', { literal: true, maxMatches: 1 })
     answer({ text, lines: matches.map(({ line }) => line), has: [audit, outputs.open, outputs.remove].map((one) => one !== undefined) })`,
  )
  expect(answered).toEqual({ text: 'two\n', lines: [2], has: [false, false, false] })
})

test('a one-time token is exchanged once', async () => {
  const { handler, base } = await served()
  const answered = await inNode(
    { base, login: handler.issueLogin() },
    `const { token } = await connect(input)
     const again = await connect(input).catch(({ message }) => message)
     answer({ token, again })`,
  )
  expect(answered).toEqual({ token: handler.token, again: expect.stringContaining('used or expired') })
})

test('errors of the server keep their code and field', async () => {
  const { handler, base } = await served()
  const answered = await inNode(
    { base, token: handler.token },
    `const { outputs } = await connect(input)
     const { code, field } = await outputs.readRange('/etc/passwd', { fromLine: 0 }).catch((error) => error)
     answer({ code, field })`,
  )
  expect(answered).toEqual({ code: 'INVALID_ARGUMENT', field: 'range.fromLine' })
})

test('a question is received and answered', async () => {
  const { gate, handler, base } = await served()
  const decided = gate.request({ tool: 'bash', args: { command: 'make' }, toolCallId: '1', cwd: '/home/ada/project' })
  const tool = await inNode(
    { base, token: handler.token },
    `const { approvals } = await connect(input)
     const [{ id, tool }] = await approvals.pending()
     const heard = new Promise((resolve) => { const stop = approvals.listen(() => { stop(); resolve() }) })
     const timer = setInterval(() => {}, 1000)
     await approvals.respond(id, 'once')
     await heard
     clearInterval(timer)
     answer(tool)`,
  )
  expect(tool).toBe('bash')
  expect(await decided).toMatchObject({ decision: 'allow', by: 'once' })
})
