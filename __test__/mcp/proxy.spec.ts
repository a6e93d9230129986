import { readFileSync, rmSync } from 'node:fs'
import { cli, isAlive } from '../cli/support'
import { filesIn, tempDir } from '../support/temp'
import { Host, pathIn, textOf } from './host'

/** Limits that are given hold, whatever the host. */
const WIDE = ['--max-bytes', '51200', '--max-lines', '2000']
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')

describe('a result', () => {
  test('that is short passes byte for byte, and a long one is bounded and kept', async () => {
    const host = new Host(WIDE)
    await host.initialize()
    await host.call('echo', { text: 'hello' })
    expect(host.lines.at(-1)).toBe('{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello"}]}}')

    const long = await host.call('lines', { count: 5000 })
    expect(long).toMatchObject({
      content: [{ type: 'text' }],
      _meta: { 'spillway/truncation': { removedLines: 3008 } },
    })
    expect(textOf(long)).toMatch(
      /^The tool call succeeded .*\n\nline 1\n[\s\S]*\nline 1992\n\n\.\.\.3008 lines truncated/,
    )
    expect(textOf(long)).toContain('Use search_output to search that file.')
    expect(readFileSync(pathIn(long), 'utf8')).toBe(lines(5000))
    expect(filesIn(host.store)).toEqual([expect.stringMatching(/^mcp__fixture__lines_/)])
    expect(await host.close()).toMatchObject({ code: 0, stderr: '' })
  })

  test('shows the decisive part of a command or a failed call, and the start of others', async () => {
    const host = new Host()
    await host.initialize()
    const shown = async (tool: string, args = {}) =>
      textOf(await host.call(tool, args)).includes('\nerror: disk full\n')
    const tools = ['run_command', 'run_tests', 'test']
    const calls = [...tools.map((tool) => shown(tool)), shown('log', { fail: true }), shown('log')]
    expect(await Promise.all(calls)).toEqual([true, true, true, true, false])
    await host.close()
    const ends = new Host(['--direction', 'tail'])
    await ends.initialize()
    expect(textOf(await ends.call('run_command'))).not.toContain('error: disk full')
    await ends.close()
  })

  describe('that is a preview', () => {
    const printed = async () => {
      const store = tempDir()
      const env = { SPILLWAY_STORAGE_DIR: store }
      const script =
        'for (let i = 1; i <= 9000; i += 1) console.log("line " + i + " of a text that is long enough to be cut")'
      const { stdout } = await cli(['run', '--direction', 'tail', '--', process.execPath, '-e', script], { env })
      const [, path = ''] = /saved to: (.*)/.exec(stdout) ?? []
      expect(Buffer.byteLength(stdout)).toBeGreaterThan(20_000)
      return { env, path, preview: stdout }
    }
    const through = async (env: NodeJS.ProcessEnv, text: string, options: string[] = [], client = 'host') => {
      const host = new Host(options, env)
      await host.initialize({}, client)
      const answers = [await host.call('run_command', { text }), await host.call('echo', { text })]
      await host.close()
      return answers.map(textOf)
    }

    test('which another process printed passes, also with a line or two around it', async () => {
      const { env, preview } = await printed()
      for (const text of [preview, `$ npm test\n${preview}[Exit code 1]`])
        expect(await through(env, text)).toEqual([text, text])
    })

    test('is bounded by limits that are given, or that the host is known for, and still names its output', async () => {
      const { env, path, preview } = await printed()
      const ways = [
        through(env, preview, ['--max-bytes', '8000']),
        through(env, preview, ['--max-lines', '100']),
        through(env, preview, [], 'codex-mcp-client'),
      ]
      for (const text of (await Promise.all(ways)).flat()) {
        expect(text.length).toBeLessThan(14_000)
        expect(text).toContain(path)
      }
    })

    test('only in its form, or of an output that the store has not, is a text like any other', async () => {
      const { env, path, preview } = await printed()
      const forged = preview.replace('line 8999 of', 'line X of')
      for (const text of await through(env, forged)) expect(text).not.toContain('line 8800 of')
      rmSync(path)
      for (const text of await through(env, preview)) expect(text).not.toContain('line 8800 of')
    })
  })

  test('stays an error for a failed call, and shows its end', async () => {
    const host = new Host(WIDE)
    await host.initialize()
    const failed = await host.call('fail', { count: 5000 })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(
      /^The tool call failed .* saved to: [\s\S]*line 5000\n\nThe tool call failed .*\nFull output saved to: /,
    )
    const { error } = await host.request('tools/call', { name: 'throw', arguments: { count: 5000 } })
    expect(error).toMatchObject({ code: -32000, data: { a: 1 } })
    expect(error!.message).toMatch(
      /^The tool call failed .* saved to: .*\n\nline 1\n[\s\S]*line 5000\n\nThe tool call failed .*\nFull output saved to: /,
    )
    expect(await host.call('nope')).toEqual({ content: [{ type: 'text', text: 'unknown tool nope' }], isError: true })
    await host.close()
  })

  test('keeps images, links and blobs where they are, and shares its limits among texts', async () => {
    const host = new Host(WIDE)
    await host.initialize()
    const { content, _meta } = await host.call('media')
    expect(content.map(({ type }) => type)).toEqual(['image', 'text', 'resource', 'resource', 'resource_link'])
    expect(content[0]).toMatchObject({ mimeType: 'image/png', data: 'QUJD'.repeat(30_000) })
    expect(content[1]).toMatchObject({
      text: expect.stringContaining(`\n\n${lines(1500)}`),
      annotations: { priority: 1 },
    })
    const { uri, text } = content[2]!.resource as { uri: string; text: string }
    expect([uri, text.split('\n').slice(0, 492).join('\n')]).toEqual(['file:///a', lines(492)])
    expect(text).toContain('...1008 lines truncated...')
    expect(content[3]).toEqual({ type: 'resource', resource: { uri: 'file:///b', blob: 'QUJD' } })
    expect(_meta).toMatchObject({ 'example.com/own': 1, 'spillway/truncation': { removedLines: 1008 } })
    await host.close()
  })

  test('loses its structure when it is cut, and nothing of what that says', async () => {
    const host = new Host()
    await host.initialize()
    const short = await host.call('twice', { count: 3 })
    expect(short).not.toHaveProperty('structuredContent')
    expect(JSON.parse(textOf(short))).toEqual({ rows: [{ at: 0 }, { at: 1 }, { at: 2 }] })
    const besideShort = await host.call('beside', { count: 3 })
    expect(besideShort.structuredContent).toMatchObject({ needle: 'in the structure' })
    const twice = await host.call('twice', { count: 3000 })
    expect(twice).not.toHaveProperty('structuredContent')
    expect(JSON.parse(readFileSync(pathIn(twice), 'utf8')).rows).toHaveLength(3000)
    const beside = await host.call('beside', { count: 3000 })
    expect(beside).not.toHaveProperty('structuredContent')
    expect(textOf(beside)).toMatch(/^The tool call .*\n\nsee the structure\n\{\n {2}"needle"/)
    expect(readFileSync(pathIn(beside), 'utf8')).toContain('"at": 2999')
    const odd = await host.call('odd', { count: 50_000 })
    expect(odd.content).toEqual([{ type: 'text', text: expect.stringContaining('"type": "chart"') }])
    await host.close()
  })

  test('that is not as promised is the server’s own affair', async () => {
    const host = new Host()
    await host.initialize()
    expect(await host.call('liar')).toMatchObject({ structuredContent: { not: 'as promised' } })
    expect(await host.call('nothing')).toEqual({ toolResult: 42 })
    await host.close()
  })
})

describe('the rest of an output', () => {
  test('is read and searched by tools that the proxy lists', async () => {
    const host = new Host()
    await host.initialize()
    const { result } = await host.request('tools/list')
    expect(result!.tools!.map(({ name }) => name)).toEqual(['echo', 'read_output', 'search_output'])
    expect(result!.tools![0]).not.toHaveProperty('outputSchema')
    const path = pathIn(await host.call('lines', { count: 5000 }))
    const read = await host.call('read_output', { path, from_line: 4001, line_count: 2 })
    expect(textOf(read)).toMatch(/^\[lines 4001-4002, .*\]\nline 4001\nline 4002\n\[More: read_output with /)
    expect(textOf(await host.call('search_output', { path, pattern: '4999$' }))).toContain('4999:line 4999')
    const wrong = await host.call('read_output', { path: '/etc/passwd' })
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('/etc/passwd')])
    await host.close()
  })

  test.each([
    ['', {}],
    [', and says so', { LAST_CURSOR: '' }],
  ])('has other tools where the server has such tools itself, on whichever of its pages%s', async (_name, env) => {
    const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
    const pages = [[tool('read_output')], [tool('echo')], [tool('spillway_read_output')]]
    const host = new Host([], { PAGES: JSON.stringify(pages), ...env })
    await host.initialize()
    const path = pathIn(await host.call('lines', { count: 5000 }))
    // Before the host has asked for the list.
    expect(textOf(await host.call('read_output', { path }))).toBe('unknown tool read_output')
    const names: string[][] = []
    for (let cursor: unknown; ; ) {
      const { result } = await host.request('tools/list', cursor === undefined ? {} : { cursor })
      names.push(result!.tools!.map(({ name }) => name))
      cursor = result!.nextCursor
      if (cursor === undefined || cursor === '') break
    }
    expect(names).toEqual([
      ['read_output'],
      ['echo'],
      ['spillway_read_output', 'spillway_read_output_2', 'search_output'],
    ])
    const read = await host.call('spillway_read_output_2', { path, line_count: 1 })
    expect(textOf(read)).toContain('line 1\n[More: spillway_read_output_2 with ')
    await host.close()
  })

  test('is not answered by the proxy where they are not offered', async () => {
    const host = new Host(['--no-output-tools', '--structured-content', 'keep'])
    await host.initialize()
    const { result } = await host.request('tools/list')
    expect(result!.tools).toEqual([{ name: 'echo', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }])
    const twice = await host.call('twice', { count: 3000 })
    expect((twice.structuredContent as { rows: [] }).rows).toHaveLength(3000)
    expect(textOf(twice)).not.toContain('search_output')
    await host.close()
  })
})

describe('every other message', () => {
  test('passes as it is, in both directions', async () => {
    const says = [
      'log, and no JSON\n',
      '\n',
      '{"jsonrpc":"2.0","id":1e3,"method":"x","params":{"n":12345678901234567890}}\n',
    ]
    const host = new Host([], { SAYS: JSON.stringify(says) })
    await host.initialize()
    expect(host.lines.slice(0, 3)).toEqual(says.map((line) => line.slice(0, -1)))
    expect((await host.request('resources/list')).error).toEqual({ code: -32601, message: 'no resources/list' })
    const heard = host.next(({ method }) => method === 'notifications/message')
    host.send({ method: 'notifications/roots/list_changed' })
    expect((await heard).params).toMatchObject({ data: { heard: 'notifications/roots/list_changed' } })
    host.onRequest = ({ params }) => ({ result: { role: 'user', seen: params } })
    const sampled = JSON.parse(textOf(await host.call('sample')))
    expect(sampled).toMatchObject({ id: 'q1', result: { seen: { big: '12345678901234567890' } } })
    await host.close()
  })

  test('about a call keeps its order and its token', async () => {
    const host = new Host()
    await host.initialize()
    // The server's answer to the notification before has arrived when this is answered.
    await host.request('ping')
    await host.call('progress', {}, { _meta: { progressToken: 'mine' } })
    const order = host.lines.slice(3).map((line) => JSON.parse(line).params?.progress ?? 'result')
    expect(order).toEqual([1, 2, 3, 'result'])
    const cancelled = host.next(({ method }) => method === 'notifications/message')
    host.send({ id: 'w', method: 'tools/call', params: { name: 'wait' } })
    host.send({ method: 'notifications/cancelled', params: { requestId: 'w' } })
    expect((await cancelled).params).toMatchObject({ data: { wasWaiting: true, of: 'w' } })
    await host.close()
  })

  test('gets its own answer among a hundred concurrent calls', async () => {
    const host = new Host()
    await host.initialize()
    const counts = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? at + 1 : 2000 + at))
    const results = await Promise.all(counts.map((count) => host.call('lines', { count })))
    for (const [at, result] of results.entries()) {
      const count = counts[at]!
      if (count <= 2000) expect(textOf(result)).toBe(lines(count))
      else expect(readFileSync(pathIn(result), 'utf8')).toBe(lines(count))
    }
    expect(new Set(results.map((result) => result._meta && pathIn(result))).size).toBe(51)
    await host.close()
  })
})

describe('an end', () => {
  test('ends with the server, and passes on no partial message', async () => {
    const host = new Host()
    await host.initialize()
    const long = host.call('lines', { count: 5000 })
    const crashed = host.request('tools/call', { name: 'crash' }, 'c')
    expect(textOf(await long)).toMatch(/\d+ (lines|bytes) truncated/)
    expect((await crashed).error).toEqual({
      code: -32000,
      message: 'the server "fixture" has ended (code 3)',
    })
    expect(await host.ended).toMatchObject({ code: 3, stderr: '' })
    for (const line of host.lines) JSON.parse(line)
  })

  test('does not wait for processes that a server leaves running, and passes on its last messages', async () => {
    // The remaining process holds the pipe open, with more data waiting than the pipe can hold.
    const script = `
      const { spawn } = require('node:child_process')
      const left = ['-e', 'setTimeout(() => {}, 60000)']
      const { pid } = spawn(process.execPath, left, { stdio: ['ignore', 'inherit', 'ignore'], detached: true })
      const said = (data) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data } })
      const all = Array.from({ length: 30_000 }, (_, at) => said(at)).join('\\n')
      process.stdout.write(all + '\\n' + said({ pid }) + '\\n', () => process.exit(4))`
    const host = new Host([], {}, ['-e', script])
    const last = await host.next(({ params }) => Number(Object(params?.data).pid) > 0)
    expect((await host.ended).code).toBe(4)
    expect(host.lines).toHaveLength(30_001)
    const { pid } = Object(last.params!.data)
    expect(isAlive(pid)).toBe(true)
    process.kill(pid)
  })

  test('is reported as shells do if a server cannot be started', async () => {
    const host = new Host([], {}, ['--no-such-option'])
    expect((await host.ended).code).toBe(9)
  })
})
