import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLI } from '../cli/support'
import { filesIn, tempDir } from '../support/temp'
import { Host, type Message, pathIn, SERVER, textOf } from './host'
import { answer, HttpServer, textResult } from './http-server'

const tool = (name: string, description?: string) => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
})

/** A server of the fixture with these tools. */
const fixture = (tools: object[], env: object = {}) => ({
  command: process.execPath,
  args: [SERVER],
  env: { PAGES: JSON.stringify([tools]), ...env },
})

function open(mcpServers: object, options: string[] = [], env: NodeJS.ProcessEnv = {}): Host {
  const file = join(tempDir(), 'servers.json')
  writeFileSync(file, `// servers\n${JSON.stringify({ mcpServers })}`)
  return new Host([], env, [], [CLI, 'mcp', '--servers', file, ...options])
}

async function listed(host: Host): Promise<string[]> {
  const { result } = await host.request('tools/list')
  return result!.tools!.map(({ name }) => name)
}

/** A server that counts its starts in a file: the tool of the first start ends it. */
const script = (state: string, more: string) => ({
  command: process.execPath,
  args: [
    '-e',
    `const { appendFileSync, readFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(state)}, '.')
    const starts = readFileSync(${JSON.stringify(state)}, 'utf8').length
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
    const tools = [{ name: 'first', inputSchema: { type: 'object' } }]
    const on = {
      initialize: ({ id, params }) => say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } }),
      'tools/list': ({ id }) => say({ id, result: { tools } }),
      'tools/call': () => process.exit(6),
    }
    ${more}
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const message = JSON.parse(line)
      on[message.method]?.(message)
    })`,
  ],
})

/** Has another tool from the second start on, and answers its call twice. */
const CHANGES = `if (starts > 1) {
  tools[0].name = 'second'
  on['tools/call'] = ({ id }) => {
    say({ id, result: { content: [{ type: 'text', text: 'once' }] } })
    say({ id, result: { content: [{ type: 'text', text: 'once' }] } })
  }
}`

const changed = ({ method }: Message) => method === 'notifications/tools/list_changed'
const TWO = { one: fixture([tool('echo'), tool('lines')]), two: fixture([tool('echo'), tool('twice')]) }

describe('several servers', () => {
  test('are one for the host: tools keep their names, except where two have the same', async () => {
    const host = open(TWO)
    const { result } = await host.initialize()
    expect(result).toMatchObject({
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'spillway' },
    })
    const names = ['one_echo', 'lines', 'two_echo', 'twice', 'read_output', 'search_output']
    expect(await listed(host)).toEqual(names)
    expect(textOf(await host.call('two_echo', { text: 'hello' }))).toBe('hello')
    expect(await host.call('echo', { text: 'hello' })).toMatchObject({ isError: true })
    const long = await host.call('lines', { count: 5000 })
    expect(filesIn(host.store)).toEqual([expect.stringMatching(/^mcp__one__lines_/)])
    expect(textOf(await host.call('read_output', { path: pathIn(long), from_line: 5000 }))).toContain('line 5000')
    expect(await host.request('ping')).toMatchObject({ result: {} })
    expect(await host.request('tasks/list')).toMatchObject({ error: { code: -32601 } })
    expect(await host.close()).toMatchObject({ code: 0, stderr: '' })
  })

  test('are waited for by a host that does not wait itself', async () => {
    const host = open(TWO)
    const opened = host.initialize()
    const call = host.call('one_echo', { text: 'at once' })
    expect(await listed(host)).toContain('one_echo')
    expect(textOf(await call)).toBe('at once')
    await opened
    await host.close()
  })

  test('can be programs and addresses', async () => {
    const web = new HttpServer()
    web.onRequest = ({ response, message }) => {
      const isList = message.method === 'tools/list'
      answer(response, message, isList ? { tools: [tool('fetch')] } : textResult('from the web'))
    }
    const url = await web.listen()
    const headers = { Authorization: `Bearer \${TOKEN}` }
    const host = open({ ...TWO, web: { type: 'http', url, headers } }, [], { TOKEN: 'made-up' })
    await host.initialize()
    expect(await listed(host)).toContain('fetch')
    expect(textOf(await host.call('fetch'))).toBe('from the web')
    expect(textOf(await host.call('one_echo', { text: 'hello' }))).toBe('hello')
    expect(web.of('tools/call')[0]!.headers.authorization).toBe('Bearer made-up')
    await host.close()
    await web.close()
  })

  test('one that crashes answers what waits with an error, and is there again for the next call', async () => {
    const host = open({ one: fixture([tool('wait'), tool('exit'), tool('lines')]), two: fixture([tool('echo')]) })
    await host.initialize()
    const names = ['wait', 'exit', 'lines', 'echo', 'read_output', 'search_output']
    expect(await listed(host)).toEqual(names)
    const [waiting, exit] = await Promise.all(
      ['wait', 'exit'].map((name) => host.request('tools/call', { name, arguments: {} })),
    )
    const ended = { code: -32000, message: 'the server "one" has ended (code 3); it is started again' }
    expect([waiting!.error, exit!.error]).toEqual([ended, ended])
    expect(await listed(host)).toEqual(names)
    expect(textOf(await host.call('echo', { text: 'still here' }))).toBe('still here')
    // Waits until the server is there.
    expect(textOf(await host.call('lines', { count: 2 }))).toBe('line 1\nline 2')
    expect(await host.close()).toMatchObject({ code: 0 })
  })

  test('one that crashes in the middle of an answer is started again, and bounded as before', async () => {
    const host = open({ one: fixture([tool('crash'), tool('big')]), two: fixture([tool('echo')]) })
    await host.initialize()
    await listed(host)
    const [crash, beside] = await Promise.all([
      host.request('tools/call', { name: 'crash', arguments: {} }),
      host.request('tools/call', { name: 'echo', arguments: { text: 'beside' } }),
    ])
    expect(crash!.error!.message).toMatch(/has ended \(code 3\); it is started again/)
    expect(textOf(beside!.result!)).toBe('beside')
    const flood = textOf(await host.call('big', { bytes: 3_000_000 }))
    expect(flood.length).toBeLessThan(20_000)
    expect(flood).toContain(' bytes truncated')
    await host.close()
  })

  test('announces changed tools, and passes on one of two answers', async () => {
    const state = join(tempDir(), 'starts')
    const host = open({ one: script(state, CHANGES), two: fixture([tool('echo')]) })
    await host.initialize()
    expect(await listed(host)).toContain('first')
    // The tools that read outputs move to the other server, which announces it by itself.
    const announced = [host.next(changed), host.request('tools/call', { name: 'first', arguments: {} })] as const
    expect((await announced[1]).error!.message).toContain('it is started again')
    await announced[0]
    const listOf = async (name: string) => {
      for (;;) {
        const names = await listed(host)
        if (names.includes(name)) return names
      }
    }
    expect(await listOf('second')).not.toContain('first')
    expect(textOf(await host.call('second'))).toBe('once')
    expect(textOf(await host.call('echo', { text: 'x' }))).toBe('x')
    const { stderr } = await host.close()
    expect(stderr).toContain('answered a request that it was not asked')
    expect(host.lines.filter((line) => line.includes('"once"'))).toHaveLength(1)
  })

  test.each([
    ['that ends at each start', 'process.exit(5)'],
    [
      'that cannot be greeted',
      `say({ id: 'none' }); on.initialize = ({ id }) => say({ id, error: { code: 1, message: 'no' } })`,
    ],
  ])('one %s is tried a few times, and left out then', async (_what, again) => {
    const state = join(tempDir(), 'starts')
    const host = open({ one: script(state, `if (starts > 1) { ${again} }`), two: fixture([tool('echo')]) })
    await host.initialize()
    expect(await listed(host)).toContain('first')
    const crash = await host.request('tools/call', { name: 'first', arguments: {} })
    expect(crash.error!.message).toContain('it is started again')
    const waiting = await host.request('tools/call', { name: 'first', arguments: {} })
    expect(waiting.error!.message).toMatch(/^the server "one" has ended \((code 5|SIGTERM)\)$/)
    expect(readFileSync(state, 'utf8')).toBe('.....')
    expect(await listed(host)).toEqual(['echo', 'read_output', 'search_output'])
    expect(await host.close()).toMatchObject({ code: 0 })
  })

  test('one that is started again while the host ends does not keep the proxy', async () => {
    const state = join(tempDir(), 'starts')
    const host = open({ one: script(state, 'if (starts > 1) process.exit(5)'), two: fixture([tool('echo')]) })
    await host.initialize()
    await listed(host)
    await host.request('tools/call', { name: 'first', arguments: {} })
    expect(await host.close()).toMatchObject({ code: 0 })
    expect(readFileSync(state, 'utf8').length).toBeLessThan(5)
  })

  test('one that cannot be started, or is no MCP server, leaves the others', async () => {
    const broken = { command: join(tempDir(), 'nothing-here') }
    const silent = { command: process.execPath, args: ['-e', 'process.exit(0)'] }
    const host = open({ broken, silent, two: fixture([tool('echo')]), off: { ...broken, disabled: true } })
    await host.initialize()
    expect(await listed(host)).toContain('echo')
    const { stderr } = await host.close()
    expect(stderr).toMatch(/the server "broken" cannot be started: .*ENOENT/)
    expect(stderr).toContain('the server "silent" has ended (code 0)')
    expect(stderr).not.toContain('"off"')
  })

  test('all of which cannot be started end the proxy as one does', async () => {
    const host = open({ one: { command: join(tempDir(), 'a') }, two: { command: join(tempDir(), 'b') } })
    const { code, stderr } = await host.ended
    expect([code, stderr]).toEqual([127, expect.stringMatching(/\/a, .*\/b" cannot be started: .*ENOENT/)])
  })

  test('none of which speaks MCP are an error that names them', async () => {
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.once("data", () => process.exit(4))'] }
    const host = open({ one: silent, two: silent })
    const { error } = await host.initialize()
    expect(error!.message).toBe('the server "one" has ended (code 4); the server "two" has ended (code 4)')
    expect((await host.ended).code).toBe(4)
  })

  test('ask the host questions with ids of their own, and receive their own answers', async () => {
    const host = open({ one: fixture([tool('sample')]), two: fixture([tool('sample')]) })
    await host.initialize()
    let count = 0
    host.onRequest = () => {
      count += 1
      return { result: { count } }
    }
    await listed(host)
    const [one, two] = await Promise.all([host.call('one_sample'), host.call('two_sample')])
    const answers = [one, two].map((result) => JSON.parse(textOf(result!)))
    expect(answers.map(({ id }) => id)).toEqual(['q1', 'q1'])
    expect(answers.map(({ result }) => result.count).sort()).toEqual([1, 2])
    await host.close()
  })

  test('a call is cancelled where it runs', async () => {
    const host = open({ one: fixture([tool('wait')]), two: fixture([tool('echo')]) })
    await host.initialize()
    await listed(host)
    void host.request('tools/call', { name: 'wait', arguments: {} }, 'long')
    // The call before has been handed on then.
    await host.call('echo', { text: 'x' })
    const told = host.next(({ method, params }) => method === 'notifications/message' && isOf(params, 'long'))
    host.send({ method: 'notifications/cancelled', params: { requestId: 'long' } })
    expect((await told).params).toMatchObject({ data: { wasWaiting: true } })
    await host.close()
  })

  test('are judged by their names', async () => {
    const rules = [{ domain: 'mcp', pattern: 'mcp:one/echo', decision: 'allow' }]
    const config = join(tempDir(), 'rules.json')
    writeFileSync(config, JSON.stringify({ agents: { runtime: { permission: { rules } } } }))
    const host = open(TWO, ['--config', config])
    await host.initialize()
    expect(textOf(await host.call('one_echo', { text: 'allowed' }))).toBe('allowed')
    const denied = await host.call('two_echo', { text: 'asked' })
    expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('mcp:two/echo')])
    await host.close()
  })

  test('a tool of a server that is called as ours has another name', async () => {
    const host = open({ one: fixture([tool('read_output'), tool('lines')]), two: fixture([tool('echo')]) })
    await host.initialize()
    const names = await listed(host)
    expect(names.slice(0, 3)).toEqual(['one_read_output', 'lines', 'echo'])
    const path = pathIn(await host.call('lines', { count: 5000 }))
    expect(textOf(await host.call('one_read_output', { path }))).toBe('unknown tool read_output')
    for (const name of [names.at(-2)!, 'read_output'])
      expect(textOf(await host.call(name, { path, from_line: 5000 }))).toContain('line 5000')
    await host.close()
  })
})

const isOf = (params: Message['params'], id: string) => (params?.data as { of?: string } | undefined)?.of === id

describe('--tools lazy', () => {
  const tools = [
    tool('echo', 'Says it again. And more about it.'),
    tool('lines', `Counts ${'very '.repeat(40)}far`),
    tool('fail'),
  ]
  const LAZY = ['--tools', 'lazy']
  const OURS = ['describe_tool', 'call_tool', 'read_output', 'search_output']

  test('names tools first, and lists one once it was described', async () => {
    const host = open({ one: fixture(tools) }, LAZY)
    await host.initialize()
    const { result } = await host.request('tools/list')
    expect(result!.tools!.map(({ name }) => name)).toEqual(OURS)
    const description = String(result!.tools![0]!.description)
    expect(description).toContain('\necho: Says it again.\nlines: Counts very ')
    expect(
      Math.max(
        ...description
          .split('\n')
          .slice(1)
          .map(({ length }) => length),
      ),
    ).toBeLessThan(140)
    expect(textOf(await host.call('describe_tool'))).toMatch(/^echo: Says it again\.\nlines: .*…\nfail$/)

    const told = host.next(changed)
    const described = textOf(await host.call('describe_tool', { names: ['echo'] }))
    expect(JSON.parse(described.split('\n\n')[0]!)).toEqual([tools[0]])
    await told
    expect(await listed(host)).toEqual([...OURS, 'echo'])
    expect(textOf(await host.call('echo', { text: 'hello' }))).toBe('hello')
    await host.close()
  })

  test('calls tools for hosts that do not list again: bounded, judged and failing as the tool itself', async () => {
    const config = join(tempDir(), 'rules.json')
    const rules = ['echo', 'lines', 'fail'].map((name) => ({
      domain: 'mcp',
      pattern: `mcp:one/${name}`,
      decision: name === 'echo' ? 'deny' : 'allow',
    }))
    writeFileSync(config, JSON.stringify({ agents: { runtime: { permission: { rules } } } }))
    const host = open({ one: fixture(tools) }, [...LAZY, '--config', config])
    await host.initialize()
    const call = (name: string, args: unknown) => host.call('call_tool', { name, arguments: args })
    const long = await call('lines', { count: 5000 })
    expect(readFileSync(pathIn(long), 'utf8')).toContain('line 5000')
    expect(textOf(await call('read_output', { path: pathIn(long), from_line: 5000 }))).toContain('line 5000')
    expect(textOf(await call('lines', '{"count":2}'))).toBe('line 1\nline 2')
    const denied = await call('echo', { text: 'x' })
    expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('mcp:one/echo')])
    expect(await call('fail', { count: 1 })).toEqual({ content: [{ type: 'text', text: 'line 1' }], isError: true })
    const unknown = await call('ecko', {})
    expect([unknown.isError, textOf(unknown)]).toEqual([true, 'There is no tool "ecko". Did you mean echo?'])
    expect(await host.call('describe_tool', { names: ['nothing like it'] })).toMatchObject({ isError: true })
    await host.close()
  })

  test('works in front of one server, whose end is that of the proxy', async () => {
    const host = new Host(LAZY, { PAGES: JSON.stringify([[tool('echo'), tool('exit')]]) })
    await host.initialize()
    expect(await listed(host)).toEqual(OURS)
    expect(textOf(await host.call('call_tool', { name: 'echo', arguments: { text: 'a' } }))).toBe('a')
    const exit = await host.request('tools/call', { name: 'call_tool', arguments: { name: 'exit' } })
    expect(exit.error!.message).toBe('the server "server" has ended (code 3)')
    expect((await host.ended).code).toBe(3)
  })

  test('describes names only for hundreds of tools, and a definition of any size within bounds', async () => {
    const many = Array.from({ length: 300 }, (_, at) => tool(`tool_${at}`, 'long '.repeat(60)))
    const host = open({ one: fixture(many) }, LAZY)
    await host.initialize({}, 'claude-code')
    const { result } = await host.request('tools/list')
    const [first] = result!.tools!
    expect(String(first!.description).length).toBeLessThanOrEqual(2000)
    expect(first!.description).toMatch(/tool_0, tool_1, .*, and \d+ more\. A call without names returns all/s)
    const names = many.slice(0, 50).map(({ name }) => name)
    const described = textOf(await host.call('describe_tool', { names }))
    expect(Buffer.byteLength(described)).toBeLessThan(15_000)
    expect(described).toContain('"tool_49"')
    await host.close()
  })
})

describe('a file of servers', () => {
  const end = async (host: Host) => {
    const { code, stderr } = await host.ended
    return [code, stderr]
  }

  test.each([
    ['no servers', {}, 'expected an object "mcpServers" with at least one usable server'],
    [
      'an old transport',
      { a: { type: 'sse', url: 'http://127.0.0.1:1/' } },
      'mcpServers.a: the proxy does not speak the transport "sse"',
    ],
    ['no place', { a: { args: ['x'] } }, 'mcpServers.a: expected a "command", a "url", an "httpUrl" or a "serverUrl"'],
    [
      'an unknown variable',
      { a: { command: `\${NOT_SET_ANYWHERE}` } },
      'the environment variable NOT_SET_ANYWHERE is not set',
    ],
  ])('with %s is refused, and says why', async (_what, servers, problem) => {
    expect(await end(open(servers))).toEqual([2, expect.stringContaining(problem)])
  })

  test('that has the proxy itself in it does not start without end', async () => {
    const file = join(tempDir(), 'servers.json')
    const self = { command: process.execPath, args: [CLI, 'mcp', '--servers', file] }
    writeFileSync(file, JSON.stringify({ mcpServers: { self, two: fixture([tool('echo')]) } }))
    const host = new Host([], {}, [], [CLI, 'mcp', '--servers', file])
    await host.initialize()
    expect(await listed(host)).toEqual(['echo', 'read_output', 'search_output'])
    expect((await host.close()).stderr).toContain('the file starts this proxy itself')
  })

  test('with a program and an address for one server starts the program', async () => {
    const host = open({ one: { ...fixture([tool('echo')]), url: 'http://127.0.0.1:1/' } })
    await host.initialize()
    expect(await listed(host)).toContain('echo')
    await host.close()
  })

  test('that is not there is named', async () => {
    const host = new Host([], {}, [], [CLI, 'mcp', '--servers', join(tempDir(), 'none.json')])
    expect(await end(host)).toEqual([2, expect.stringMatching(/option --servers: ".*none.json" is not a file/)])
  })

  test('leaves no other place for a server', async () => {
    const host = open(TWO, ['--url', 'http://127.0.0.1:1/'])
    expect(await end(host)).toEqual([2, expect.stringContaining('--url is not for several')])
  })
})

describe('servers of the command line', () => {
  /** A line that starts the fixture, from another file so that it has another name. */
  function line(folder: string, tools: object[]): string {
    const file = join(folder, 'index.cjs')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      file,
      `process.env.PAGES = ${JSON.stringify(JSON.stringify([tools]))}\nrequire(${JSON.stringify(SERVER)})`,
    )
    return `'${process.execPath}' "${file}"`
  }
  const run = (args: string[], env: NodeJS.ProcessEnv = {}) => new Host([], env, [], [CLI, 'mcp', ...args])

  test('are one for the host, with one pair of tools that read what all of them saved', async () => {
    const dir = tempDir()
    const one = line(join(dir, 'one'), [tool('echo'), tool('lines')])
    const two = line(join(dir, 'mcp-server-two', 'dist'), [tool('echo'), tool('twice')])
    const host = run(['--server', `one=${one}`, '--server', two])
    await host.initialize()
    expect(await listed(host)).toEqual(['one_echo', 'lines', 'two_echo', 'twice', 'read_output', 'search_output'])
    expect(textOf(await host.call('two_echo', { text: 'hello' }))).toBe('hello')
    const long = await host.call('lines', { count: 5000 })
    expect(filesIn(host.store)).toEqual([expect.stringMatching(/^mcp__one__lines_/)])
    expect(textOf(await host.call('read_output', { path: pathIn(long), from_line: 5000 }))).toContain('line 5000')
    expect(await host.close()).toMatchObject({ code: 0, stderr: '' })
  })

  test('stand beside the program after --, whose name is the one alone, and beside an address', async () => {
    const web = new HttpServer()
    web.onRequest = ({ response, message }) => {
      const isList = message.method === 'tools/list'
      answer(response, message, isList ? { tools: [tool('echo')] } : textResult('from the web'))
    }
    const url = await web.listen()
    const one = line(join(tempDir(), 'one'), [tool('echo')])
    const after = ['--', process.execPath, SERVER, '--server', 'not=ours']
    const host = run(['--server', `web=${url}`, '--server', 'last', '--server', `one=${one}`, ...after], {
      PAGES: JSON.stringify([[tool('echo')]]),
    })
    await host.initialize()
    const names = await listed(host)
    expect(names).toEqual(['web_echo', 'one_echo', 'last_echo', 'read_output', 'search_output'])
    expect(textOf(await host.call('web_echo'))).toBe('from the web')
    expect(textOf(await host.call('last_echo', { text: 'hello' }))).toBe('hello')
    await host.close()
    await web.close()
  })

  test('can be one, which is known by its name', async () => {
    const host = run(['--server', `files=${line(join(tempDir(), 'one'), [tool('lines')])}`])
    await host.initialize()
    await host.call('lines', { count: 5000 })
    expect(filesIn(host.store)).toEqual([expect.stringMatching(/^mcp__files__lines_/)])
    await host.close()
  })

  test.each([
    ['a word alone without a program', ['--server', 'github'], 'missing argument <server>'],
    ['no command', ['--server', 'a='], 'expected NAME=COMMAND'],
    ['an open quote', ['--server', "a=node 'x"], 'whose quotes are closed'],
    ['an operator of the shell', ['--server', 'a=node x | tee y'], 'no | outside quotes'],
    ['two names', ['--server', 'a', '--server', 'b', '--', 'node'], '"a" and "b" cannot both be the name'],
    ['one name twice', ['--server', 'a=node x', '--server', 'a=node y'], 'two servers are called "a"'],
    [
      'one program twice',
      ['--server', 'npx -y @s/server-a 1', '--server', 'docker run -i -e T x/a-mcp:2'],
      'are called "a"',
    ],
    [
      'an unknown variable',
      ['--server', `a=node \${NOT_SET_ANYWHERE}`],
      'the environment variable NOT_SET_ANYWHERE is not set',
    ],
    ['a file, too', ['--servers', SERVER, '--server', 'a=node x'], '--server is not for several'],
    ['a header', ['--server', 'a=http://127.0.0.1:1/', '--header', 'A: b'], '--header needs --url'],
  ])('with %s are refused', async (_what, args, problem) => {
    const host = run(args)
    const { code, stderr } = await host.ended
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  })
})
