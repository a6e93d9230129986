/** `spillway view`: the page, the token that works once, and what the server refuses. */

import { once } from 'node:events'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { AuditLog, PermissionGate, PermissionPolicy } from 'spillway'
import { shareApprovals } from 'spillway/view'
import { tempDir } from '../support/temp'
import { cli, ended } from './support'
import { approvalsOn, login, questionsOn, view } from './view-page'

async function storeWithOutput(): Promise<string> {
  const store = tempDir()
  await cli([
    'run',
    '--store',
    store,
    '--',
    process.execPath,
    '-e',
    'for (let i = 0; i < 5000; i++) console.log(i); process.exitCode = 3',
  ])
  return store
}

test('the page lists the outputs with command and exit code, and its token works once', async () => {
  const viewed = await view(['--store', await storeWithOutput(), '-1'])
  const { token } = (await (await login(viewed)).json()) as { token: string }
  const answer = await fetch(`${viewed.origin}/spillway/outputs`, { headers: { authorization: `Bearer ${token}` } })
  const listed = await answer.json()
  expect(listed).toEqual([
    expect.objectContaining({
      path: viewed.given.get('path'),
      exitCode: 3,
      command: expect.stringContaining('console.log'),
    }),
  ])
  expect((await login(viewed)).status).toBe(401)
})

test('an audit log with a key is verified with the key', async () => {
  const dir = tempDir()
  const [key, keyFile] = ['0'.repeat(64), join(dir, 'key')]
  writeFileSync(keyFile, key)
  const log = new AuditLog({ dir, sessionId: 's', key })
  await log.append({ type: 'permission', tool: 'bash' })
  await log.close()
  const isOk = async (...more: string[]) => {
    const viewed = await view(['--store', tempDir(), '--audit', dir, ...more])
    const { token } = (await (await login(viewed)).json()) as { token: string }
    const answer = await fetch(`${viewed.origin}/spillway/audit`, { headers: { authorization: `Bearer ${token}` } })
    return ((await answer.json()) as { report: { ok: boolean } }[]).map(({ report }) => report.ok)
  }
  expect(await isOk()).toEqual([false])
  expect(await isOk('--key-file', keyFile)).toEqual([true])
})

test('"Clear up" removes the outputs that are too old, and leaves the others', async () => {
  const store = await storeWithOutput()
  const [old] = readdirSync(store).filter((name) => name.endsWith('.txt'))
  const longAgo = new Date(Date.now() - 365 * 86_400_000)
  utimesSync(join(store, old!), longAgo, longAgo)
  await cli(['run', '--store', store, '--', process.execPath, '-e', 'for (let i = 0; i < 5000; i++) console.log(i)'])
  const viewed = await view(['--store', store])
  const { token } = (await (await login(viewed)).json()) as { token: string }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${viewed.origin}/spillway/sweep`, { method: 'POST', headers, body: '{}' })
  expect([answer.status, await answer.json()]).toEqual([200, expect.anything()])
  const left = readdirSync(store).filter((name) => name.endsWith('.txt'))
  expect(left).toHaveLength(1)
  expect(left).not.toContain(old)
})

test('the page and its scripts come with a policy that allows nothing but themselves', async () => {
  const { origin } = await view(['--store', tempDir()])
  for (const [path, type] of [
    ['/', 'text/html'],
    ['/page.css', 'text/css'],
    ['/view-page.mjs', 'text/javascript'],
    ['/index.mjs', 'text/javascript'],
  ] as const) {
    const answer = await fetch(origin + path)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      200,
      expect.stringContaining(type),
    ])
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
  }
})

test('other paths, hosts and requests without a token are refused', async () => {
  const { origin } = await view(['--store', tempDir()])
  for (const path of ['/package.json', '/..%2fpackage.json', '/cli/main.js']) {
    expect((await fetch(origin + path)).status).toBe(404)
  }
  expect((await fetch(`${origin}/spillway/outputs`)).status).toBe(401)
  for (const path of ['/spillway/outputs', '/', '/index.mjs']) {
    const [answer] = await once(get(`${origin}${path}`, { headers: { host: 'evil.example' } }), 'response')
    answer.resume()
    expect([path, answer.statusCode]).toEqual([path, 403])
  }
})

test('it ends with success at an interrupt', async () => {
  const { child } = await view(['--store', tempDir()])
  const end = ended(child)
  child.kill('SIGINT')
  expect(await end).toMatchObject({ code: 0, stderr: '' })
})

test('an output that is not of the store is refused before anything is served', async () => {
  const { code, stdout, stderr } = await cli(['view', '--print', '--store', tempDir(), '/etc/passwd'])
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toContain('/etc/passwd')
})

test('questions of sessions that wait are shown and answered', async () => {
  const store = tempDir()
  const gate = new PermissionGate(new PermissionPolicy({ vault: '/work' }))
  const { close } = shareApprovals(gate, { dir: join(store, 'approvals') })
  const asked = gate.request({ tool: 'bash', args: { command: 'make' }, toolCallId: 'c1' })
  const viewed = await view(['--store', store])
  const send = await approvalsOn(viewed)
  const pending = await questionsOn(send)
  expect(pending).toEqual(gate.pending())
  expect(await send({ id: pending[0]!.id, response: 'once' })).toBeNull()
  expect(await asked).toMatchObject({ decision: 'allow', by: 'once' })
  close()
})
