import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSharedApprovals } from 'spillway/view'
import { cli, isAlive, until } from '../cli/support'
import { onLinux } from '../support/only'
import { tempDir } from '../support/temp'
import { Host, type Message, SERVER, textOf } from './host'

const elicitation = { elicitation: {} }
const isQuestion = ({ method }: Message) => method === 'elicitation/create'
const accept = (decision: string) => ({ result: { action: 'accept', content: { decision } } })

describe('a call that is asked about', () => {
  test('is put to the user, and runs if that is wanted', async () => {
    const host = new Host(['--permission', '--server', 'files'])
    await host.initialize(elicitation)
    const questions: Message[] = []
    const answers = [accept('once'), { result: { action: 'decline' } }, accept('reject'), { error: { code: -1 } }]
    host.onRequest = (message) => {
      questions.push(message)
      return answers[questions.length - 1]
    }
    expect(textOf(await host.call('echo', { text: 'allowed' }))).toBe('allowed')
    for (let refused = 0; refused < 3; refused += 1) {
      const result = await host.call('echo', { text: 'refused' })
      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatch(/^The call of mcp:files\/echo was denied and did not run: the user rejected it/)
    }
    expect(questions).toHaveLength(4)
    expect(questions.every(isQuestion)).toBe(true)
    expect(questions[0]!.params).toMatchObject({
      message: expect.stringContaining('mcp:files/echo'),
      requestedSchema: { properties: { decision: { enum: ['once', 'always', 'reject'] } }, required: ['decision'] },
    })
    expect(questions[0]!.params!.message).toContain('"text": "allowed"')
    await host.close()
  })

  test('is not asked about again after "always", which the user’s file remembers', async () => {
    const config = join(tempDir(), 'config.jsonc')
    writeFileSync(config, '// mine\n{ "agents": { "runtime": { "permission": { "rules": [] } } } }')
    const first = new Host(['--config', config, '--server', 'fixture'])
    await first.initialize(elicitation)
    let asked = 0
    first.onRequest = () => {
      asked += 1
      return accept('always')
    }
    expect(textOf(await first.call('echo', { text: 'a' }))).toBe('a')
    expect(textOf(await first.call('echo', { text: 'b' }))).toBe('b')
    expect(asked).toBe(1)
    await first.close()
    expect(readFileSync(config, 'utf8')).toMatch(/^\/\/ mine\n[\s\S]*mcp:fixture\/echo/)
    const second = new Host(['--config', config, '--server', 'fixture'])
    await second.initialize()
    expect(textOf(await second.call('echo', { text: 'c' }))).toBe('c')
    await second.close()
  })

  test('is denied where no user can be asked, and where a rule denies it', async () => {
    const config = join(tempDir(), 'config.jsonc')
    const rules = [{ domain: 'mcp', pattern: 'mcp:fixture/echo', decision: 'deny' }]
    writeFileSync(config, JSON.stringify({ agents: { runtime: { permission: { rules, mcpServers: ['fixture'] } } } }))
    const [judged, ruled] = [
      new Host(['--permission', '--server', 'fixture']),
      new Host(['--config', config, '--server', 'fixture']),
    ]
    await Promise.all([judged.initialize({ elicitation: { url: {} } }), ruled.initialize(elicitation)])
    expect(textOf(await judged.call('echo', { text: 'a' }))).toMatch(
      /did not run: .*; no person can be asked\.\n[\s\S]*add the rule .*mcp:fixture\/echo/,
    )
    expect(textOf(await ruled.call('echo', { text: 'a' }))).toMatch(/"mcp:fixture\/echo" denies/)
    expect(textOf(await ruled.call('lines', { count: 2 }))).toBe('line 1\nline 2')
    await Promise.all([judged.close(), ruled.close()])
    expect((await judged.ended).stderr).toContain('the host has no elicitation')
    expect((await ruled.ended).stderr).toBe('')
  })

  test('is the call that was shown: what another reader could read differently is not passed on', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    host.onRequest = () => accept('once')
    const twice =
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"exit","name":"echo","arguments":{"text":"ok"}}}'
    const answer = host.next(({ id }) => id === 'x')
    host.write(`${twice}\n`)
    expect((await answer).result!.content[0]!.text).toBe('ok')
    await host.close()
  })

  test('must have an id that can be answered: without one nothing was judged, and nothing runs', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    const answers = [null, true].map((odd: unknown) => host.next(({ id, error }) => id === odd && error !== undefined))
    const params = { name: 'exit' }
    for (const id of [null, true, undefined]) host.send({ id, method: 'tools/call', params })
    for (const answer of answers) expect((await answer).error).toMatchObject({ code: -32600 })
    // The server would be gone if one had come to it.
    expect(await host.request('ping')).toBeDefined()
    await host.close()
  })

  test.each([
    ['no JSON', 'garbage (('],
    ['cut off', '{ "agents": { "runtime": {'],
    ['no rules', '{ "agents": { "runtime": { "permission": "x" } } }'],
  ])('is denied where the rules cannot be read: %s', async (_, text) => {
    const config = join(tempDir(), 'config.jsonc')
    writeFileSync(config, text)
    const host = new Host(['--config', config, '--server', 'fixture'])
    await host.initialize()
    const result = await host.call('echo', { text: 'ran' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).not.toContain('ran')
    await host.close()
  })

  test('is not passed on where it cannot be identified', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    host.onRequest = () => accept('once')
    const long = 'x'.repeat(5 * 2 ** 20)
    const call = (params: object) => ({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params })
    const crowd = Object.fromEntries(Array.from({ length: 400_000 }, (_, at) => [`member_${at}`, at]))
    for (const [text, code] of [
      [JSON.stringify({ ...crowd, ...call({ name: 'exit' }) }), -32700],
      [JSON.stringify([{ ...crowd, ...call({ name: 'exit' }) }]), -32700],
      [JSON.stringify(call({ name: 'exit'.padEnd(2 ** 15), arguments: { long } })), -32602],
      [JSON.stringify(call({ arguments: {} })), -32602],
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exit"},}', -32700],
    ] as const) {
      const refused = host.next(({ error }) => error !== undefined)
      host.write(`${text}\n`)
      expect((await refused).error!.code).toBe(code)
    }
    // The server would be gone if one had come to it.
    expect(await host.request('ping')).toBeDefined()
    await host.close()
  })

  test('is what the server hears, whichever of two names it takes', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize()
    const params = '{"name":"exit","arguments":{}}'
    host.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":${params}}\n`)
    const { error } = await host.next(({ id }) => id === 1)
    expect(error!.message).toBe('no ping')
    expect(host.lines.some((line) => line.includes('"method":"tools/call"'))).toBe(false)
    await host.close()
  })

  test('comes to the server as it was written, with its numbers of any length', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    host.onRequest = () => accept('once')
    const answer = host.next(({ id }) => id === 'n')
    const params = '{"name":"raw","arguments":{"id":1234567890123456789}}'
    host.write(`{"jsonrpc":"2.0","id":"n","method":"tools/call","params":${params}}\n`)
    expect(textOf((await answer).result!)).toContain('1234567890123456789')
    await host.close()
  })

  test('is taken back with the request', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    const asked = host.next(isQuestion)
    host.send({ id: 'w', method: 'tools/call', params: { name: 'echo', arguments: { text: 'late' } } })
    const { id } = await asked
    const takenBack = host.next(({ method }) => method === 'notifications/cancelled')
    host.send({ method: 'notifications/cancelled', params: { requestId: 'w' } })
    expect((await takenBack).params).toEqual({ requestId: id })
    host.send({ id, ...accept('once') })
    await host.request('ping')
    // Neither the call nor its end ever came to the server, which would have said so.
    expect(host.lines.some((line) => line.includes('late') && !line.includes('elicitation'))).toBe(false)
    expect(host.lines.some((line) => line.includes('wasWaiting'))).toBe(false)
    await host.close()
  })

  test('is no longer asked about once an answer to another call has decided it', async () => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize(elicitation)
    const questions: Message[] = []
    const both = new Promise<void>((resolve) => {
      host.onRequest = (question) => {
        if (questions.push(question) === 2) resolve()
        return undefined
      }
    })
    const calls = [host.call('echo', { text: 'a' }), host.call('echo', { text: 'b' })]
    await both
    const [one, two] = questions as [Message, Message]
    const takenBack = host.next(({ method }) => method === 'notifications/cancelled')
    host.send({ id: one.id, ...accept('always') })
    expect((await takenBack).params).toEqual({ requestId: two.id })
    expect((await Promise.all(calls)).map(textOf)).toEqual(['a', 'b'])
    await host.close()
  })

  test.each([
    ['short', ''],
    ['long', 'x'.repeat(5 * 2 ** 20)],
  ])('is judged in a batch, too, which is %s', async (_name, long) => {
    const host = new Host(['--permission', '--server', 'fixture'])
    await host.initialize()
    const answers = [1, 2].map((at) => host.next(({ id }) => id === `b${at}`))
    const params = { name: 'exit', arguments: { long } }
    const calls = [1, 2].map((at) => ({ jsonrpc: '2.0', id: `b${at}`, method: 'tools/call', params }))
    host.write(`${JSON.stringify(calls)}\n`)
    for (const answer of answers) expect((await answer).result!.isError).toBe(true)
    await host.close()
  })
})

describe('the order of answers', () => {
  const children = (pid: number) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

  onLinux('a killed proxy leaves no server and no file behind', async () => {
    const host = new Host()
    await host.initialize()
    const [server] = children(host.child.pid!)
    void host.request('tools/call', { name: 'big', arguments: { bytes: 2 ** 30 } })
    await until(() => isWriting(host.child.pid!))
    host.child.kill('SIGKILL')
    await host.ended
    await until(() => !isAlive(server!))
    expect(readdirSync(host.store)).toEqual([])
  })

  onLinux('a proxy that is asked to end asks its server', async () => {
    const host = new Host()
    await host.initialize()
    const [server] = children(host.child.pid!)
    host.child.kill('SIGTERM')
    expect(await host.ended).toMatchObject({ code: 143, stderr: '' })
    expect(isAlive(server!)).toBe(false)
  })

  onLinux('a host that is gone is not missed', async () => {
    const host = new Host()
    await host.initialize()
    const [server] = children(host.child.pid!)
    void host.request('tools/call', { name: 'big', arguments: { bytes: 2 ** 30 } })
    await until(() => isWriting(host.child.pid!))
    host.child.stdout!.destroy()
    host.child.stdin!.destroy()
    await until(() => !isAlive(server!) && !isAlive(host.child.pid!))
  })
})

/** Returns true if a process has an unlinked file open. */
function isWriting(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => /\.mcp-.*\(deleted\)$/.test(linkOf(`/proc/${pid}/fd/${fd}`)))
  } catch {
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Closed in the meantime.
    return ''
  }
}

describe('--permission without --server', () => {
  test('checks calls by a name that the command tells, never by the one that the server reports', async () => {
    const folder = join(tempDir(), 'mcp-server-files', 'dist')
    mkdirSync(folder, { recursive: true })
    const script = join(folder, 'index.cjs')
    // It reports the name fixture.
    writeFileSync(script, `require(${JSON.stringify(SERVER)})`)
    const config = join(tempDir(), 'config.jsonc')
    const rules = [{ domain: 'mcp', pattern: 'mcp:files/echo', decision: 'allow' }]
    writeFileSync(config, JSON.stringify({ agents: { runtime: { permission: { rules, mcpServers: ['fixture'] } } } }))
    const host = new Host(['--config', config], {}, [script])
    await host.initialize()
    expect(textOf(await host.call('echo', { text: 'a' }))).toBe('a')
    expect(textOf(await host.call('lines', { count: 1 }))).toMatch(/^The call of mcp:files\/lines was denied/)
    expect((await host.close()).stderr).toContain('calls are checked as mcp:files/TOOL')
  })

  test.each([
    [['node', 'server.js']],
    [['node', '-e', 'require("./files")']],
    [['sh', '-c', 'files-mcp']],
    [['docker', 'run', '-i']],
    [['./dist/index.js']],
  ])('needs one for %j, which tells no name', async (words) => {
    const { code, stderr } = await cli(['mcp', '--permission', '--', ...words])
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --server NAME before --')])
  })
})

describe('--ask-in-view', () => {
  const ASKING = ['--permission', '--server', 'fixture', '--ask-in-view']

  test.each([
    ['once', /^hello$/],
    [{ reject: true }, /was denied and did not run/],
  ] as const)('a question that the host cannot show is answered in the page: %j', async (response, shown) => {
    const host = new Host(ASKING)
    await host.initialize()
    const approvals = createSharedApprovals({ dir: join(host.store, 'approvals') })
    const call = host.call('echo', { text: 'hello' })
    let [question] = await approvals.pending()
    while (question === undefined) [question] = await approvals.pending()
    expect(question).toMatchObject({ tool: 'mcp:fixture/echo', args: { text: 'hello' } })
    await approvals.respond(question.id, response)
    expect(textOf(await call)).toMatch(shown)
    expect((await host.close()).stderr).toBe(
      'spillway mcp: may mcp:fixture/echo be called? Answer within 1h: spillway view\n',
    )
  })

  test('a call whose question gets no answer is denied, and its result says where one could be given', async () => {
    const host = new Host([...ASKING, '--answer-timeout', '300ms'])
    await host.initialize()
    const approvals = createSharedApprovals({ dir: join(host.store, 'approvals') })
    const { isError, content } = await host.call('echo', { text: 'hello' })
    expect(isError).toBe(true)
    expect(content[0]!.text).toMatch(/no one answered within 300ms.*`spillway view`/)
    while ((await approvals.pending()).length > 0) await new Promise(setImmediate)
    await host.close()
  })

  test.each([[['--answer-timeout', '1h']], [['--coordination', 'redis://127.0.0.1:1']]])(
    '%j is wrong without --ask-in-view',
    async (options) => {
      const { code, stderr } = await cli(['mcp', ...options, '--permission', '--server', 'x', '--', 'true'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${options[0]} needs --ask-in-view`)])
    },
  )

  test('a call that the host cancels asks no more', async () => {
    const host = new Host(ASKING)
    await host.initialize()
    const approvals = createSharedApprovals({ dir: join(host.store, 'approvals') })
    void host.request('tools/call', { name: 'echo', arguments: { text: 'hello' } }, 'x')
    while ((await approvals.pending()).length === 0) await new Promise(setImmediate)
    host.send({ method: 'notifications/cancelled', params: { requestId: 'x' } })
    while ((await approvals.pending()).length > 0) await new Promise(setImmediate)
    await host.close()
  })
})
