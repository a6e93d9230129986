import { readFileSync } from 'node:fs'
import { Host, pathIn, type ToolResult, textOf } from './host'

const HOSTS: [client: string, bytes: number, lines: number, counts?: 'json'][] = [
  ['claude-code', 48_325, 2000],
  ['opencode', 51_200, 2000],
  ['qwen-cli-mcp-client-files', 24_332, 2000],
  ['copilot-cli', 18_756, 2000],
  ['gemini-cli-mcp-client', 40_000, 2000],
  ['openclaw', 20_000, 2000, 'json'],
  ['codex-mcp-client', 12_000, 2000, 'json'],
  ['cline', 8000, 2000, 'json'],
  ['Cline/VSCode', 8000, 2000, 'json'],
  ['continue-cli-client', 51_200, 2000, 'json'],
  ['mcp', 15_000, 2000],
  ['never heard of', 15_000, 2000],
]

/** Texts of which each host counts something else. */
const TEXTS: [what: string, args: object][] = [
  ['short lines', { lines: 40_000, width: 1 }],
  ['lines of a usual length', { lines: 3000, width: 80 }],
  ['one line', { lines: 1, width: 300_000 }],
  ['quotes and backslashes', { lines: 3000, width: 80, unit: '"\\' }],
  ['control characters', { lines: 300, width: 400, unit: '\u0001' }],
  ['Chinese', { lines: 3000, width: 40, unit: '你' }],
]

describe.each(HOSTS)('%s', (client, bytes, lines, counts) => {
  const sizeOf = (text: string) => (counts === 'json' ? JSON.stringify(text).length : Buffer.byteLength(text))
  const expectFits = (text: string) => {
    expect(sizeOf(text)).toBeLessThanOrEqual(bytes)
    expect(text.split('\n').length).toBeLessThanOrEqual(lines)
  }

  const expectBothEnds = (result: ToolResult) => {
    const text = textOf(result)
    expectFits(text)
    const path = pathIn(result)
    const [first] = text.split('\n')
    // Binary data is described, and nothing of it is shown.
    const shown = text.includes('[binary data') ? '' : 'Shown: .*\\d+.* '
    expect(first).toMatch(new RegExp(`truncated.*${shown}saved to: `))
    expect(first).toContain(path)
    expect(text.slice(-600)).toContain(path)
    return path
  }

  test.each([
    ['a result that failed', [], true],
    ['the end of a result', ['--direction', 'tail'], false],
    ['both ends of a result', ['--direction', 'both'], false],
  ])('%s has its notice at both ends', async (_, options, fail) => {
    const host = new Host(options)
    await host.initialize({}, client)
    for (const [, args] of TEXTS) expectBothEnds(await host.call('text', { ...args, fail }))
    await host.close()
  })

  test('passes everything on, previews with their notices at both ends and pages', async () => {
    const host = new Host()
    await host.initialize({}, client)
    await host.request('tools/list')
    for (const [, args] of TEXTS) {
      const result = await host.call('text', args)
      const path = expectBothEnds(result)
      const saved = readFileSync(path, 'utf8')
      let read = ''
      let pages = 0
      for (let next: object | undefined = { path }; next && pages < 4; pages += 1) {
        const page = textOf(await host.call('read_output', next))
        expectFits(page)
        const [, more] = /\n\[More: read_output with (.*)\]$/.exec(page) ?? []
        read += page.slice(page.indexOf('\n') + 1, page.lastIndexOf('\n'))
        next = more === undefined ? undefined : JSON.parse(more)
      }
      expect(saved.replaceAll('\n', '').startsWith(read.replaceAll('\n', ''))).toBe(true)
      for (const pattern of ['.', '$']) {
        const found = textOf(await host.call('search_output', { path, pattern, max_matches: 1000, context: 20 }))
        expectFits(found)
      }
    }
    await host.close()
  })
})

test('without initialize, the host says its name in every request', async () => {
  const host = new Host()
  const _meta = { 'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2' } }
  const { result } = await host.request('tools/call', { name: 'text', arguments: { lines: 3000, width: 80 }, _meta })
  expect(textOf(result!).length).toBeGreaterThan(30_000)
  await host.close()
})

test('--host decides, not the name that the client gives', async () => {
  const host = new Host(['--host', 'cline'])
  await host.initialize({}, 'claude-code')
  expect(textOf(await host.call('text', { lines: 3000, width: 80 })).length).toBeLessThan(8000)
  await host.close()
})

test('given limits win, and a warning names what the host would truncate', async () => {
  const host = new Host(['--max-bytes', '100k', '--max-lines', '1000'])
  await host.initialize({}, 'opencode')
  const text = textOf(await host.call('text', { lines: 3000, width: 80 }))
  expect(text.length).toBeGreaterThan(60_000)
  expect(text.split('\n').length).toBeLessThanOrEqual(1000)
  const { stderr } = await host.close()
  expect(stderr).toContain('--max-bytes 102400: opencode accepts 48000')
  expect(stderr).not.toContain('--max-lines')
})

describe('the length that a tool declares', () => {
  const KEY = 'anthropic/maxResultSizeChars'
  const tool = (name: string, declared?: unknown) => ({
    name,
    inputSchema: { type: 'object' },
    ...(declared !== undefined && { _meta: { own: 1, [KEY]: declared } }),
  })
  const withTools = async (client: string, options: string[], ...tools: object[]) => {
    const host = new Host(options, { PAGES: JSON.stringify([tools]) })
    await host.initialize({}, client)
    const { result } = await host.request('tools/list')
    const declared = result!.tools!.map((each) => (each._meta as Record<string, unknown> | undefined)?.[KEY])
    return { host, declared }
  }
  const sizes = async (host: Host, width = 80) =>
    Buffer.byteLength(textOf(await host.call('text', { lines: 12_000, width })))

  test.each([
    ['more than the host accepts', 200_000, 150_000, 200_000],
    ['more than the host reads', 9_000_000, 450_000, 500_000],
    ['less', 10_000, 5000, 10_000],
    ['nothing that is a length', 'much', 30_000, 40_000],
  ])('%s is its limit in Claude Code', async (_what, declared, least, most) => {
    const { host } = await withTools('claude-code', [], tool('text', declared))
    const size = await sizes(host)
    expect([size > least, size <= most]).toEqual([true, true])
    await host.close()
  })

  test('does not concern other hosts, or other tools', async () => {
    const other = await withTools('gemini-cli-mcp-client', [], tool('text', 200_000))
    expect(await sizes(other.host)).toBeLessThanOrEqual(38_000)
    const others = await withTools('claude-code', [], tool('lines', 200_000), tool('text'))
    expect(await sizes(others.host)).toBeLessThanOrEqual(40_000)
    await Promise.all([other.host.close(), others.host.close()])
  })

  test('is the limit that the user gave where that is longer than the host accepts', async () => {
    const { host, declared } = await withTools('claude-code', ['--max-bytes', '100k'], tool('text'), tool('lines', 9e6))
    expect(declared).toEqual([102_400, 102_400, 102_400, 102_400])
    expect(await sizes(host, 20)).toBeLessThanOrEqual(102_400)
    expect(await host.close()).toMatchObject({ stderr: '' })
    const short = await withTools('claude-code', ['--max-bytes', '20k'], tool('text'), tool('lines', 9e6))
    expect(short.declared).toEqual([undefined, 9e6, undefined, undefined])
    expect(await sizes(short.host, 20)).toBeLessThanOrEqual(20_480)
    await short.host.close()
  })
})
