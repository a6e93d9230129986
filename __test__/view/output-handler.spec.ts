import { symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import {
  AuditLog,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  runCommand,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { createAuditSource, createOutputHandler, LiveOutputs } from 'spillway/view'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'
import { eventsOf, serve } from './support'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

async function withOutput(text = lines(3000)) {
  const dir = tempDir()
  const storage = new TruncationStorage(dir)
  const path = await storage.save(text, { toolName: 'bash' })
  return { dir, storage, path, ...(await serve({ outputs: storage })) }
}

describe('outputs', () => {
  test('are listed, read by lines and by bytes, counted and searched', async () => {
    const { get, path } = await withOutput()
    expect(await get('outputs')).toMatchObject([{ path, toolName: 'bash', bytes: lines(3000).length }])
    expect(await get('range', { path, fromLine: 10, lineCount: 2 })).toMatchObject({
      text: 'line 10\nline 11\n',
      fromLine: 10,
    })
    expect(await get('range', { path, fromByte: 7, byteCount: 6 })).toMatchObject({ text: 'line 2', fromByte: 7 })
    expect(await get('range', { path, fromLine: 1e15, lineCount: 1 })).toMatchObject({ text: '', totalLines: 3000 })
    const first = await get('search', { path, pattern: 'line 29\\d0', maxMatches: 4 })
    expect(first.matches.map(({ line }: { line: number }) => line)).toEqual([2900, 2910, 2920, 2930])
    const rest = await get('search', { path, pattern: 'line 29\\d0', maxMatches: 100, after: first.next })
    expect(rest.matches.map(({ line }: { line: number }) => line)).toEqual([2940, 2950, 2960, 2970, 2980, 2990])
    expect(rest.truncated).toBe(false)
  })

  test('are saved by the browser from an address that is valid once', async () => {
    const text = `caf\u00e9 ${'x'.repeat(700_000)}`
    const { post, ask, path } = await withOutput(text)
    const { url } = (await post('download', { path })).json
    const answer = await ask(url, { token: null })
    expect([answer.status, answer.text === text]).toEqual([200, true])
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="bash_\d+_\w+\.txt"$/)
    expect((await ask(url, { token: null })).status).toBe(401)
    // A ticket is one for its output.
    const other = (await post('download', { path })).json.url as string
    expect((await ask(other.replace(/path=[^&]*/, 'path=%2Fetc%2Fpasswd'), { token: null })).status).toBe(401)
  })

  test("are served only if they are of the handler's session", async () => {
    const storage = new TruncationStorage(tempDir())
    const [own, other] = await Promise.all(
      ['a', 'b'].map((sessionId) => storage.save(`of ${sessionId}`, { toolName: 'bash', sessionId })),
    )
    const { get } = await serve({ outputs: storage, sessionId: 'a' })
    expect((await get('outputs')).map(({ path }: { path: string }) => path)).toEqual([own])
    expect(await get('range', { path: own!, fromLine: 1 })).toMatchObject({ text: 'of a' })
    for (const name of ['range', 'search']) {
      const question: Record<string, string | number> = name === 'range' ? { fromLine: 1 } : { pattern: 'of' }
      expect(await get(name, { path: other!, ...question })).toMatchObject({ error: { code: 'STORAGE_NOT_OWNED' } })
    }
  })

  test('can be those of a storage in memory', async () => {
    const storage = new MemoryStorage()
    const path = await storage.save('held\n', { toolName: 'bash' })
    const { get } = await serve({ outputs: storage })
    expect(await get('range', { path, fromLine: 1 })).toMatchObject({ text: 'held\n' })
  })

  test('are removed only where that is allowed', async () => {
    const { post, get, path, storage } = await withOutput()
    expect((await post('remove', { path })).status).toBe(404)
    expect((await post('sweep', {})).status).toBe(404)
    expect(await get('about')).toMatchObject({
      remove: false,
      sweep: false,
      search: true,
      download: true,
      approvals: false,
    })
    const allowed = await serve({ outputs: storage, allowRemove: true })
    expect((await allowed.post('remove', { path })).json).toEqual({ removed: true })
    expect(await allowed.get('outputs')).toEqual([])
    expect((await allowed.post('sweep', {})).json).toMatchObject({ removedFiles: 0 })
    expect(await allowed.get('usage')).toMatchObject({ files: 0 })
  })
})

describe('requests that are refused', () => {
  const evil = { host: 'evil.example' }
  test.each<
    [string, number, { path?: string; token?: string | null; headers?: Record<string, string>; method?: string }]
  >([
    ['without a token', 401, { token: null }],
    ['with another token', 401, { token: 'x'.repeat(43) }],
    ['with the token in the address', 401, { token: null, path: '/spillway/outputs?token=TOKEN' }],
    ['for another host', 403, { headers: evil }],
    ['for a host that begins like ours', 403, { headers: { host: '127.0.0.1.evil.example' } }],
    ['for a host with a user', 403, { headers: { host: '127.0.0.1@evil.example' } }],
    ['from a page of another origin', 403, { headers: { origin: 'https://evil.example' } }],
    ['from a page of another port', 403, { headers: { origin: 'http://127.0.0.1:1' } }],
    ['from a sandboxed page', 403, { headers: { origin: 'null' } }],
    ['from another site, as an image is', 403, { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['from another port, as an image is', 403, { headers: { 'sec-fetch-site': 'same-site' } }],
    ['for an unknown address', 404, { path: '/spillway/nothing' }],
    ['for a name of every object', 404, { path: '/spillway/constructor' }],
    ['for an address of others', 404, { path: '/spillway' }],
    ['for an address with a host', 404, { path: 'http://evil.example/spillway/outputs' }],
    ['for an address without a scheme', 404, { path: '//evil.example/spillway/outputs' }],
    ['with another method', 405, { method: 'DELETE' }],
    ['with a parameter that is not known', 400, { path: '/spillway/outputs?all=1' }],
    ['with a parameter twice', 400, { path: '/spillway/range?path=a&path=b&fromLine=1' }],
    ['with a number that is not one', 400, { path: '/spillway/range?path=a&fromLine=-1' }],
  ])('%s: %d', async (_title, status, { path = '/spillway/outputs', token, headers, method }) => {
    const { ask, handler } = await withOutput()
    const answer = await ask(path.replace('TOKEN', handler.token), {
      ...(token !== undefined && { token }),
      headers,
      method,
    })
    expect([answer.status, typeof answer.json.error.message]).toEqual([status, 'string'])
    expect(answer.text).not.toContain(handler.token)
  })

  test.each<[string, number, Record<string, string>, unknown]>([
    ['as a form', 400, { 'content-type': 'application/x-www-form-urlencoded' }, 'path=x'],
    ['as plain text', 400, { 'content-type': 'text/plain' }, '{}'],
    ['that is not JSON', 400, {}, '{'],
    ['that is a list', 400, {}, []],
    ['without end', 400, {}, { path: 'x'.repeat(70_000) }],
    ['with a wrong field', 400, {}, { path: 1 }],
  ])('a body %s: %d', async (_title, status, headers, body) => {
    const { ask } = await withOutput()
    const answer = await ask('/spillway/download', { method: 'POST', headers, body })
    expect([answer.status, answer.json.error.code]).toEqual([status, 'INVALID_ARGUMENT'])
  })

  test('paths that are no outputs, however they are written', async () => {
    const { dir, path, get, post } = await withOutput()
    const secret = join(dir, 'secret.txt')
    writeFileSync(secret, 'secret')
    const hostile = [
      ...['/etc/passwd', secret, `${path}/../secret.txt`, `${dir}/../../../etc/passwd`, 'secret.txt', '../secret.txt'],
      ...[
        `${path}\0`,
        `file://${path}`,
        dir,
        path.toUpperCase(),
        '%2e%2e/secret.txt',
        '\\\\server\\share',
        '~/.ssh/id_rsa',
      ],
    ]
    for (const name of hostile) {
      for (const [route, question] of [
        ['range', { fromLine: 1 }],
        ['search', { pattern: 'e' }],
      ] as const) {
        const { error } = await get(route, { path: name, ...question })
        expect([name, /^(STORAGE_NOT_OWNED|STORAGE_NOT_FOUND|INVALID_ARGUMENT)$/.test(error?.code)]).toEqual([
          name,
          true,
        ])
      }
      expect((await post('download', { path: name })).status).toBeGreaterThanOrEqual(400)
    }
  })

  onUnix('links in the store that lead out of it', async () => {
    const { dir, path, get, post } = await withOutput()
    const outside = join(tempDir(), 'bash_1700000000000_aaaaaaaaaaaaa.txt')
    writeFileSync(outside, 'outside')
    const link = join(dir, 'bash_1700000000000_bbbbbbbbbbbbb.txt')
    symlinkSync(outside, link)
    const folder = join(dir, 'linked')
    symlinkSync(join(outside, '..'), folder)
    for (const name of [link, join(folder, 'bash_1700000000000_aaaaaaaaaaaaa.txt')]) {
      expect(await get('range', { path: name, fromLine: 1 })).toMatchObject({ error: { code: 'STORAGE_NOT_OWNED' } })
      expect((await post('download', { path: name })).status).toBe(403)
    }
    expect((await get('range', { path, fromLine: 1, lineCount: 1 })).text).toBe('line 1\n')
  })

  test('say nothing about the server', async () => {
    const failing = { readRange: () => Promise.reject(new Error('/home/user/secret is missing')) }
    const { ask } = await serve({ outputs: failing })
    const answer = await ask('/spillway/range?path=a&fromLine=1')
    expect([answer.status, answer.json.error]).toEqual([500, { code: 'INTERNAL', message: 'The server failed.' }])
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
  })
})

describe('a page of another origin', () => {
  test('is served if it is allowed, and only then', async () => {
    const { storage, path } = await withOutput()
    const origin = 'http://localhost:5173'
    const { ask } = await serve({ outputs: storage, origins: [origin] })
    const [asked, read, other] = await Promise.all([
      ask('/spillway/range', { method: 'OPTIONS', token: null, headers: { origin } }),
      ask(`/spillway/range?${new URLSearchParams({ path, fromLine: '1' })}`, { headers: { origin } }),
      ask('/spillway/range', { method: 'OPTIONS', token: null, headers: { origin: 'http://localhost:5174' } }),
    ])
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, origin])
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, origin])
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined])
  })

  test('is one of a name that is served', async () => {
    const { storage } = await withOutput()
    const { ask } = await serve({ outputs: storage, hosts: ['desk.example:8443'] })
    expect((await ask('/spillway/outputs', { headers: { host: 'desk.example:8443' } })).status).toBe(200)
    expect((await ask('/spillway/outputs')).status).toBe(403)
  })
})

test('a one-time token is exchanged once for the token', async () => {
  const { ask, handler } = await withOutput()
  const once = handler.issueLogin()
  const exchange = () => ask('/spillway/session', { method: 'POST', token: once, body: {} })
  const first = await exchange()
  expect([first.status, first.json]).toEqual([200, { token: handler.token }])
  expect((await exchange()).status).toBe(401)
  expect((await ask('/spillway/outputs', { token: once })).status).toBe(401)
})

describe('a command that runs', () => {
  test('is listed, read while it prints, and followed to its saved output', async () => {
    const storage = new TruncationStorage(tempDir())
    const service = new TruncationService({ storage, global: { maxLines: 1 } })
    const live = new LiveOutputs(storage)
    const { get, port, handler } = await serve({ outputs: live })
    let path = ''
    let end = () => {}
    const isStarted = new Promise<void>((resolve) => {
      end = resolve
    })
    const script = "process.stdout.write('first\\nsecond\\n'); process.stdin.on('data', () => process.exit())"
    const stop = new AbortController()
    const ended = runCommand(process.execPath, ['-e', `${script}; setInterval(() => {}, 1000)`], {
      service,
      signal: stop.signal,
      onStart: (running) => {
        path = live.start(running, { command: 'node' })
        end()
      },
    })
    await isStarted
    const growing = eventsOf(port, handler.token, `/spillway/follow?path=${path}`, 1)
    expect((await growing)[0].isFinished).toBe(false)
    let text = ''
    while (text !== 'first\nsecond\n') text = (await get('range', { path, fromLine: 1 })).text
    expect(await get('outputs')).toMatchObject([{ path, command: 'node', isRunning: true, bytes: 13 }])
    expect(await get('search', { path, pattern: 'second' })).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } })
    stop.abort()
    const { output } = await ended
    if (!output.truncated) throw new Error('the output was not truncated')
    await live.finish(path, output)
    const [last] = await eventsOf(port, handler.token, `/spillway/follow?path=${path}`, 1)
    expect(last).toEqual({ totalBytes: 13, isFinished: true, path: output.outputPath })
    expect(await get('search', { path, pattern: 'second' })).toMatchObject({ matches: [{ line: 2 }] })
    expect(await get('outputs')).toMatchObject([{ path: output.outputPath }])
  })
})

test('a reader of events that never reads is disconnected before the events fill the memory', async () => {
  let stopped = () => {}
  const isStopped = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const outputs = {
    readRange: async () => ({ text: '', fromByte: 0, byteCount: 0, totalBytes: 0, partial: false }),
    follow(_path: string, listener: (progress: { totalBytes: number; isFinished: boolean; path: string }) => void) {
      const path = 'x'.repeat(100_000)
      const timer = setInterval(() => listener({ totalBytes: 1, isFinished: false, path }), 1)
      return () => {
        clearInterval(timer)
        stopped()
      }
    },
  }
  const { port, handler } = await serve({ outputs })
  const headers = { authorization: `Bearer ${handler.token}` }
  const reader = request({ host: '127.0.0.1', port, path: '/spillway/follow?path=x', headers })
  reader.on('response', (response) => response.pause())
  reader.on('error', () => {})
  reader.end()
  await isStopped
  reader.destroy()
})

test('the list keeps what was known of a command that has ended, also beside outputs that are saved already', async () => {
  const storage = new TruncationStorage(tempDir())
  const earlier = await storage.save('earlier', { toolName: 'read' })
  const service = new TruncationService({ storage, global: { maxLines: 1 } })
  const live = new LiveOutputs(storage)
  let path = ''
  const result = await runCommand(process.execPath, ['-e', 'console.log("a\\nb"); process.exit(3)'], {
    service,
    onStart: (running) => {
      path = live.start(running, { command: 'npm test', cwd: '/project' })
    },
  })
  await live.finish(path, result)
  const [{ get }, listed] = [await serve({ outputs: live }), await live.list()]
  expect(listed.find((one) => one.path === earlier)).not.toHaveProperty('command')
  expect((await get('outputs')).find((one: { path: string }) => one.path !== earlier)).toMatchObject({
    toolName: 'bash',
    command: 'npm test',
    cwd: '/project',
    exitCode: 3,
    lines: 2,
    startedAt: expect.any(Number),
    durationMs: result.durationMs,
  })
})

test('live outputs offer what their storage offers', async () => {
  const storage = new TruncationStorage(tempDir())
  const path = await storage.save('text', { toolName: 'read' })
  const live = new LiveOutputs(storage)
  const { get, post } = await serve({ outputs: live, allowRemove: true })
  expect(await get('about')).toMatchObject({ usage: true, remove: true, sweep: true, open: false })
  expect(await get('usage')).toMatchObject({ files: 1 })
  expect((await post('sweep', {})).json).toMatchObject({ removedFiles: 0 })
  expect((await post('remove', { path })).json).toEqual({ removed: true })
  expect(await get('outputs')).toEqual([])
  const plain = await serve({
    outputs: new LiveOutputs({ readRange: storage.readRange.bind(storage) }),
    allowRemove: true,
  })
  expect(await plain.get('about')).toMatchObject({ usage: false, remove: false, sweep: false })
})

test.each([
  ['that was saved', 'console.log("a\\nb")'],
  ['that was too short to be saved', 'console.log(1)'],
])('an output %s is removed under the name that it had while its command ran, and not before', async (_, script) => {
  const storage = new TruncationStorage(tempDir())
  const live = new LiveOutputs(storage)
  let [path, early] = ['', Promise.resolve<unknown>(undefined)]
  const { output } = await runCommand(process.execPath, ['-e', script], {
    service: new TruncationService({ storage, global: { maxLines: 1 } }),
    onStart: (running) => {
      path = live.start(running, { command: 'node' })
      early = live.remove!(path).catch((error: Error) => error.message)
    },
  })
  expect(await early).toBe(`${path}: can be removed when the command has ended`)
  await live.finish(path, output)
  expect(await live.remove!(path)).toBe(true)
  expect(await live.list()).toEqual([])
  await expect(live.readRange(path, { fromLine: 1 })).rejects.toThrow(path)
})

test('a short output, which is not saved, can still be read under the name it had', async () => {
  const storage = new TruncationStorage(tempDir())
  const live = new LiveOutputs(storage)
  let path = ''
  const { output } = await runCommand(process.execPath, ['-e', 'console.log(1)'], {
    service: new TruncationService({ storage }),
    onStart: (running) => {
      path = live.start(running, { command: 'node', sessionId: 'a' })
    },
  })
  await live.finish(path, output)
  const [{ get }, other] = await Promise.all([serve({ outputs: live }), serve({ outputs: live, sessionId: 'b' })])
  expect(await other.get('range', { path, fromLine: 1 })).toMatchObject({ error: { code: 'STORAGE_NOT_OWNED' } })
  expect(await get('range', { path, fromLine: 1 })).toMatchObject({ text: '1\n' })
  expect(await get('search', { path, pattern: '1' })).toMatchObject({ matches: [{ line: 1 }] })
  expect(await get('outputs')).toEqual([])
})

describe('approvals', () => {
  test('are listed, announced and answered, with a rule that was shown', async () => {
    const gate = new PermissionGate(new PermissionPolicy({ vault: tempDir() }))
    const { get, post, port, handler } = await serve({ outputs: new MemoryStorage(), approvals: gate })
    const announced = eventsOf(port, handler.token, '/spillway/approvals/follow', 1)
    const decided = gate.request({ toolCallId: 'c1', tool: 'bash', args: { command: 'make install' } })
    await announced
    const [question] = await get('approvals')
    expect(question).toMatchObject({ tool: 'bash', args: { command: 'make install' } })
    const forged = { domain: 'bash', pattern: '*', decision: 'allow' }
    expect((await post('approvals', { id: question.id, response: 'always', rule: forged })).status).toBe(400)
    expect((await post('approvals', { id: question.id, response: 'yes' })).status).toBe(400)
    expect((await post('approvals', { id: 'unknown', response: 'once' })).status).toBe(400)
    expect((await post('approvals', { id: question.id, response: 'once' })).status).toBe(200)
    expect(await decided).toMatchObject({ decision: 'allow', by: 'once' })
    expect(await get('approvals')).toEqual([])
  })
})

describe('audit logs', () => {
  test('are verified, and read from their end', async () => {
    const dir = tempDir()
    const log = new AuditLog({ dir, sessionId: 's' })
    for (let count = 1; count <= 250; count += 1)
      await log.append({ type: 'outcome', tool: 'bash', toolCallId: `c${count}` })
    await log.close()
    writeFileSync(join(dir, 'notes.txt'), 'secret')
    const { get } = await serve({ outputs: new MemoryStorage(), audit: createAuditSource({ dir }) })
    const [{ file, report }] = await get('audit')
    expect(report).toMatchObject({ ok: true })
    const first = await get('audit/records', { file, count: 100 })
    expect(first.records.map(({ toolCallId }: { toolCallId: string }) => toolCallId).slice(0, 2)).toEqual([
      'c250',
      'c249',
    ])
    expect(first.next).toBe(100)
    const last = await get('audit/records', { file, skip: 200, count: 100 })
    const ids = last.records.flatMap(({ toolCallId }: { toolCallId?: string }) => toolCallId ?? [])
    expect([ids.length, ids.at(-1), last.next]).toEqual([50, 'c1', undefined])
    for (const other of [join(dir, 'notes.txt'), join(dir, '..', 'x.jsonl'), '/etc/passwd', '']) {
      expect(await get('audit/records', { file: other })).toMatchObject({ error: { code: 'STORAGE_NOT_OWNED' } })
    }
    // Lines of another program are read as far as they are JSON.
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    writeFileSync(join(dir, 'other.jsonl'), `{"toString":null,"a":${deep}}\n[1]\nnull\n{\n`)
    const other = await get('audit/records', { file: join(dir, 'other.jsonl') })
    expect(other.records.map((record: object) => Object.keys(record))).toEqual([['toString', 'a']])
    expect(await get('audit/records', { file, count: 0 })).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } })
  })
})

test.each<[string, object, string]>([
  ['outputs', {}, 'Invalid option "outputs": expected a TruncationStorage or another OutputSource, received undefined'],
  [
    'outputs',
    { outputs: {} },
    'Invalid option "outputs": expected a TruncationStorage or another OutputSource, received an object',
  ],
  [
    'token',
    { token: 'short' },
    'Invalid option "token": expected 16 to 512 letters, digits or .~+/=_-, received a string',
  ],
  ['base', { base: 'spillway' }, 'Invalid option "base": expected a path such as /spillway, received a string'],
  ['hosts', { hosts: '*' }, 'Invalid option "hosts": expected an array of strings, received a string'],
  ['origin', { origin: [] }, 'Unknown option "origin": did you mean origins?'],
])('a wrong %s is named', (_name, options, message) => {
  const outputs = new MemoryStorage()
  const given = 'outputs' in options || _name === 'outputs' ? options : { outputs, ...options }
  expect(() => createOutputHandler(given as never)).toThrow(message)
})

test('a listener of a followed output that fails is a warning', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    for (const fail of [
      () => {
        throw new Error('planted')
      },
      (async () => {
        throw new Error('planted')
      }) as () => void,
    ]) {
      const live = new LiveOutputs(new MemoryStorage())
      const stop = live.follow('memory:/none', fail)
      while (warned.mock.calls.length === 0) await new Promise(setImmediate)
      stop()
      expect(warned.mock.calls).toEqual([['listener: planted', 'SpillwayWarning']])
      warned.mockClear()
    }
  } finally {
    warned.mockRestore()
  }
})

test('a source of questions that throws at once has none, until it answers', async () => {
  let looks = 0
  const approvals = {
    pending: () => {
      looks += 1
      if (looks < 3) throw new Error('planted')
      return [{ id: 'a' }] as never
    },
    respond: async () => {},
  }
  const { port, handler } = await serve({ outputs: new MemoryStorage(), approvals })
  expect(await eventsOf(port, handler.token, '/spillway/approvals/follow', 1)).toEqual([{}])
  expect(looks).toBe(3)
})

test('a MemoryStorage is listed, and an output of it is removed', async () => {
  const storage = new MemoryStorage()
  const first = await storage.save('a', { toolName: 'bash', sessionId: 's' })
  const second = await storage.save('bc', { toolName: 'grep' })
  const { get, post } = await serve({ outputs: storage, allowRemove: true })
  expect(await get('outputs')).toMatchObject([
    { path: second, toolName: 'grep', bytes: 2 },
    { path: first, toolName: 'bash', bytes: 1 },
  ])
  expect((await post('remove', { path: first })).json).toEqual({ removed: true })
  expect(await get('outputs')).toMatchObject([{ path: second }])
})

test.each([
  ['what the source does not have', 'outputs', {}, 404, 'NOT_OFFERED'],
  ['another address', 'nothing', {}, 404, 'NOT_FOUND'],
  ['no token', 'about', { token: null }, 401, 'UNAUTHORIZED'],
  ['another host', 'about', { headers: { host: 'elsewhere.example' } }, 403, 'FORBIDDEN'],
  ['another origin', 'about', { headers: { origin: 'https://elsewhere.example' } }, 403, 'FORBIDDEN'],
  ['another method', 'about', { method: 'POST', body: {} }, 405, 'METHOD_NOT_ALLOWED'],
])('a request is refused with a code of its own: %s', async (_what, name, asked, status, code) => {
  const outputs = { readRange: new MemoryStorage().readRange }
  const { ask } = await serve({ outputs })
  const answer = await ask(`/spillway/${name}`, asked as never)
  expect([answer.status, answer.json.error.code]).toEqual([status, code])
})
