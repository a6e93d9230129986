import { readFileSync } from 'node:fs'
import { startMcpProxy } from 'spillway/mcp'
import { CLI, cli } from '../cli/support'
import { Host, pathIn, textOf } from './host'
import { answer, event, events, HttpServer, textResult } from './http-server'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')

let server: HttpServer
let url: string

beforeEach(async () => {
  server = new HttpServer()
  url = await server.listen()
})

afterEach(() => server.close())

const connect = (options: readonly string[] = [], env: NodeJS.ProcessEnv = {}, address = url) =>
  new Host([], env, [], [CLI, 'mcp', '--url', address, ...options])

describe('a server over HTTP', () => {
  test('gets each message as a request with session, version and the given headers, and its end', async () => {
    const host = connect(['--header', `Authorization: Bearer \${T}`, '--header', 'X-Team: a b'], { T: 'made-up' })
    await host.initialize()
    await host.request('tools/list')
    expect(await host.close()).toMatchObject({ code: 0, stderr: '' })
    const sent = server.seen.map(({ method, message, headers }) => [method, message.method, headers['mcp-session-id']])
    expect(sent.filter(([method]) => method !== 'GET')).toEqual([
      ['POST', 'initialize', undefined],
      ['POST', 'notifications/initialized', 's-1'],
      ['POST', 'tools/list', 's-1'],
      ['DELETE', undefined, 's-1'],
    ])
    for (const { headers } of server.seen)
      expect(headers).toMatchObject({ authorization: 'Bearer made-up', 'x-team': 'a b' })
    expect(server.of('tools/list')[0]!.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    })
  })

  test.each(['JSON', 'events'])('answers with %s, bounded and kept', async (form) => {
    server.onRequest = ({ response, message }) => {
      if (form === 'JSON') answer(response, message, textResult(lines(5000)))
      else events(response).end(event({ id: message.id, result: textResult(lines(5000)) }))
    }
    const host = connect()
    await host.initialize()
    const result = await host.call('lines')
    expect(textOf(result)).toContain('Shown: lines 1-')
    expect(readFileSync(pathIn(result), 'utf8')).toBe(lines(5000))
    await host.close()
  })

  test('answers in any form that events have', async () => {
    server.onRequest = ({ response, message }) => {
      const [head, tail] = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: textResult('né') }).split(
        ',"result"',
      )
      const bytes = Buffer.from(
        `\ufeff: comment\r\nevent: other\rdata: {"jsonrpc":"2.0","method":"notifications/lost"}\r\rid: 1\r\ndata:\r\n\r\n` +
          `retry: 5\nevent: message\ndata:${head}\r\ndata: ,"result"${tail}\nunknown\n\n`,
      )
      events(response)
      for (const byte of bytes) response.write(Buffer.from([byte]))
      response.end()
    }
    const host = connect()
    await host.initialize()
    expect(await host.call('any')).toEqual(textResult('né'))
    expect(host.lines.join('\n')).not.toContain('notifications/lost')
    await host.close()
  })

  test('takes and gives messages of any length', async () => {
    server.onRequest = ({ response, message }) => {
      const { given } = message.params!.arguments as { given: string }
      answer(response, message, textResult(`${given.length}\n${given}`))
    }
    const host = connect()
    await host.initialize()
    const result = await host.call('echo', { given: lines(600_000) })
    expect(readFileSync(pathIn(result), 'utf8')).toBe(`${lines(600_000).length}\n${lines(600_000)}`)
    await host.close()
  })

  test('sends progress with an answer, and asks the host on its own stream', async () => {
    let isAnswered: (message: object) => void
    const answered = new Promise<object>((resolve) => {
      isAnswered = resolve
    })
    server.onGet = ({ response }) => events(response).write(event({ id: 'q', method: 'roots/list' }))
    server.onRequest = ({ response, message }) => {
      if (message.method === undefined) {
        isAnswered(message)
        response.writeHead(202).end()
        return
      }
      events(response).write(event({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }))
      response.end(event({ id: message.id, result: textResult('done') }))
    }
    const host = connect()
    host.onRequest = () => ({ result: { roots: [] } })
    await host.initialize()
    expect(await answered).toMatchObject({ id: 'q', result: { roots: [] } })
    const progress = host.next(({ method }) => method === 'notifications/progress')
    expect(await host.call('slow')).toEqual(textResult('done'))
    expect((await progress).params).toEqual({ progressToken: 1, progress: 1 })
    await host.close()
  })

  test('resumes a stream that breaks off after an event with an id', async () => {
    let call: { id?: string | number } = {}
    server.onRequest = ({ response, message }) => {
      call = message
      events(response).write('retry: 1\n')
      response.write(event({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }, 'e-7'))
      response.write('id: e-8\ndata: {"jsonrpc":"2.0",', () => response.destroy())
    }
    server.onGet = ({ response, headers }) => {
      if (headers['last-event-id'] === undefined) response.writeHead(405).end()
      else events(response).end(event({ id: call.id, result: textResult(`after ${headers['last-event-id']}`) }))
    }
    const host = connect()
    await host.initialize()
    expect(await host.call('long')).toEqual(textResult('after e-7'))
    await host.close()
  })

  test('learns of a cancelled call, whose response is given up', async () => {
    let isClosed: () => void
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve
    })
    server.onRequest = ({ response }) => {
      response.once('close', isClosed)
      events(response).write(event({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }))
    }
    const host = connect()
    await host.initialize()
    const heard = host.next(({ method }) => method === 'notifications/progress')
    host.send({ id: 'c', method: 'tools/call', params: { name: 'forever' } })
    await heard
    host.send({ method: 'notifications/cancelled', params: { requestId: 'c' } })
    await closed
    expect(server.of('notifications/cancelled')[0]!.message.params).toEqual({ requestId: 'c' })
    await host.close()
  })

  test('sends headers that name the call in the protocol without sessions', async () => {
    const host = connect()
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    await host.request('tools/call', { name: 'naïve', arguments: {}, _meta })
    await host.request('resources/read', { uri: 'file:///a', _meta })
    const named = server.seen.map(({ headers }) => [
      headers['mcp-protocol-version'],
      headers['mcp-method'],
      headers['mcp-name'],
    ])
    expect(named).toEqual([
      ['2026-07-28', 'tools/call', `=?base64?${Buffer.from('naïve').toString('base64')}?=`],
      ['2026-07-28', 'resources/read', 'file:///a'],
    ])
    await host.close()
  })

  test('that has forgotten the session gets another, and the call again', async () => {
    server.onRequest = ({ response, message, headers }) => {
      if (headers['mcp-session-id'] === 's-1') response.writeHead(404).end()
      else answer(response, message, textResult(String(headers['mcp-session-id'])))
    }
    const host = connect()
    await host.initialize({ roots: {} }, 'somebody')
    server.session = 's-2'
    const results = await Promise.all([host.call('a'), host.call('b'), host.call('c')])
    expect(results.map(textOf)).toEqual(['s-2', 's-2', 's-2'])
    const [first, again, ...more] = server.of('initialize')
    expect(more).toEqual([])
    expect(again!.message.params).toEqual(first!.message.params)
    expect((await host.close()).stderr).toContain('had ended the session; another was begun')
  })
})

describe('a server that is hostile or ill', () => {
  const failure = async (host = connect()) => {
    await host.initialize()
    const { error } = await host.request('tools/call', { name: 'x', arguments: {} })
    await host.close()
    return error
  }

  test.each([
    ['drops the connection', (exchange: Response) => exchange.destroy(), /mcp: socket hang up$/],
    [
      'ends in the middle of JSON',
      (response: Response) => cut(response, 'application/json'),
      /before the answer was complete$/,
    ],
    [
      'ends in the middle of an event',
      (response: Response) => cut(response, 'text/event-stream'),
      /before the answer was complete$/,
    ],
    [
      'answers without an answer',
      (response: Response) => events(response).end('data: {}\n\n'),
      /before the answer was complete$/,
    ],
    [
      'answers with a page',
      (response: Response) => response.setHeader('Content-Type', 'text/html').end('<p>'),
      /answered with text\/html, not with/,
    ],
    ['answers with nothing', (response: Response) => response.writeHead(202).end(), /answered 202 Accepted$/],
    [
      'denies access',
      (response: Response) => response.writeHead(401).end('no\u001b[31m\n  token'),
      /401 Unauthorized\. .* no valid credentials for it: no \[31m token$/,
    ],
    [
      'is broken',
      (response: Response) => response.writeHead(502).end('x'.repeat(2 ** 20)),
      /502 Bad Gateway: x{300}…$/,
    ],
    [
      'redirects for ever',
      (response: Response) => response.writeHead(307, { Location: '/again' }).end(),
      /redirects more than 3 times$/,
    ],
    [
      'redirects a call to a page',
      (response: Response) => response.writeHead(302, { Location: '/' }).end(),
      /status 302, which is no answer/,
    ],
  ])('that %s is an error of the call', async (_name, act, message) => {
    server.onRequest = ({ response }) => act(response)
    expect(await failure()).toEqual({ code: -32000, message: expect.stringMatching(message) })
  })

  test('that redirects is followed on its own host, and to no other', async () => {
    server.onRequest = ({ response, message, url: path }) => {
      if (path === '/mcp') response.writeHead(308, { Location: '/elsewhere' }).end()
      else answer(response, message, textResult(path))
    }
    const host = connect()
    await host.initialize()
    expect(textOf(await host.call('x'))).toBe('/elsewhere')
    await host.close()
    const other = new HttpServer()
    const address = await other.listen()
    server.onRequest = ({ response }) => response.writeHead(307, { Location: address }).end()
    const error = await failure(connect(['--header', 'Authorization: made-up']))
    expect(error!.message).toContain(`redirects to ${new URL(address).origin}, which is another host`)
    expect(other.seen).toEqual([])
    await other.close()
  })

  test('that answers with an error of MCP is passed on, bounded', async () => {
    server.onRequest = ({ response }) =>
      response
        .writeHead(400, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32022, message: 'w'.repeat(50_000) } }))
    const error = await failure()
    expect(error!.code).toBe(-32022)
    expect(error!.message.length).toBeLessThan(16_000)
    expect(error!.message).toContain('truncated')
  })

  test('that answers twice, for others, and without end leaves one answer and a proxy that works', async () => {
    server.onRequest = ({ response, message }) => {
      const { id, params } = message
      if (params!.name !== 'flood') return answer(response, message, textResult('fine'))
      events(response).write(event({ id, result: textResult('first') }))
      const again = event({ id, result: textResult('second') }).repeat(1000)
      const more = () => {
        while (response.writable && response.write(again));
        if (response.writable) response.once('drain', more)
      }
      more()
    }
    const host = connect()
    await host.initialize()
    expect(textOf(await host.call('flood'))).toBe('first')
    expect(textOf(await host.call('other'))).toBe('fine')
    await host.close()
    expect(host.lines.filter((line) => line.includes('second'))).toEqual([])
  })

  test('that wants the next connection at once gets it later', async () => {
    server.onGet = ({ response }) => events(response).end('retry: 0\n\n')
    const host = connect()
    await host.initialize()
    const start = performance.now()
    while (server.of('GET').length < 5) await host.request('ping')
    expect(performance.now() - start).toBeGreaterThan(150)
    await host.close()
  })

  test('that stalls holds up no other call, and not the end', async () => {
    server.onRequest = ({ response, message }) => {
      if (message.params!.name !== 'stall') answer(response, message, textResult('fine'))
    }
    const host = connect()
    await host.initialize()
    host.send({ id: 'never', method: 'tools/call', params: { name: 'stall' } })
    expect(textOf(await host.call('other'))).toBe('fine')
    host.child.kill('SIGTERM')
    expect((await host.ended).code).toBe(143)
  })

  test('that is not there is an error of each request', async () => {
    await server.close()
    const host = connect()
    expect((await host.initialize()).error).toMatchObject({ message: expect.stringMatching(/ECONNREFUSED/) })
    server = new HttpServer()
    await server.listen()
    expect((await host.close()).code).toBe(0)
  })
})

describe('invalid URLs', () => {
  test.each([
    [{ url: 'ftp://a/b' }, 'options.url'],
    [{ url: 'nothing' }, 'options.url'],
    [{ url: 'http://user:made-up@a/b' }, 'options.url'],
    [{ url: 'http://a/', command: 'x' }, 'options.command'],
    [{ url: 'http://a/', headers: { 'Mcp-Session-Id': 'x' } }, 'options.headers.Mcp-Session-Id'],
    [{ url: 'http://a/', headers: { 'a b': 'x' } }, 'options.headers.a b'],
    [{ url: 'http://a/', headers: { a: 'x\r\nb: c' } }, 'options.headers.a'],
    [{ headers: { a: 'x' }, command: 'x' }, 'options.headers'],
    [{}, 'options.command'],
  ])('%j is refused', (options, field) => {
    expect(() => startMcpProxy(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  })

  test.each([
    [['--header', 'A: b', '--', 'node'], '--header needs --url'],
    [['--url', 'http://127.0.0.1/', 'node'], 'cannot be one, too'],
    [['--url', 'http://127.0.0.1/', '--header', 'A'], 'expected a name and a value'],
    [
      ['--url', 'http://127.0.0.1/', '--header', `A: \${NOT_SET_ANYWHERE}`],
      'the environment variable NOT_SET_ANYWHERE is not set',
    ],
    [[], 'missing argument <server>'],
  ])('%j is wrong usage', async (args, problem) => {
    expect(await cli(['mcp', ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) })
  })
})

type Response = Parameters<typeof events>[0]

function cut(response: Response, type: string): void {
  response.writeHead(200, { 'Content-Type': type })
  response.write('data: {"jsonrpc":"2.0","id":2,'.slice(type === 'application/json' ? 6 : 0), () => response.destroy())
}
