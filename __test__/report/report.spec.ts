/** Logs of sessions, and what is reported of them. */

import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { MemoryStorage, TruncationService } from 'spillway'
import { type LoggedMessage, readSession, reportSessions } from 'spillway/report'
import { cli } from '../cli/support'
import { tempDir } from '../support/temp'
import { FILE, LOGS } from './logs'

let folder: string
beforeEach(() => {
  folder = tempDir()
})

function written(text: string | Buffer, name = 'session.jsonl'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** The texts and calls of messages, under names that all formats share. */
const toolNames = new Map([
  ...[['Read', 'read'] as const, ['read_file', 'read'] as const],
  ...['Bash', 'shell', 'run_shell_command'].map((name) => [name, 'bash'] as const),
])
const common = ({ role, content, toolCalls, isError }: LoggedMessage) => ({
  role,
  content,
  isError: isError === true,
  calls: toolCalls?.map(({ name, args }) => [
    toolNames.get(name) ?? name,
    typeof args === 'string' ? JSON.parse(args) : args,
  ]),
})

const SESSION = [
  { role: 'user', content: 'What is in a.ts?' },
  {
    role: 'assistant',
    content: 'Let me look.',
    calls: [
      ['read', { file_path: 'a.ts' }],
      ['bash', { command: 'false' }],
    ],
  },
  { role: 'tool', content: FILE },
  { role: 'tool', content: 'exit code 1', isError: true },
  { role: 'assistant', content: 'It exports 42.' },
].map((message) => ({ isError: false, calls: undefined, ...message }))

describe('reading a log', () => {
  test.each(LOGS)('gives the same conversation for %s', async (name, format, text) => {
    const log = await readSession(written(text))
    expect(log).toMatchObject({ format, unreadLines: 0, problems: [] })
    // Only Codex writes down what the model reads about itself; results of OpenAI's Responses say nothing about errors.
    const messages = log.messages.filter(({ role }) => role !== 'system').map(common)
    const wanted = /Codex|responses/.test(name) ? SESSION.map((message) => ({ ...message, isError: false })) : SESSION
    expect(messages).toEqual(wanted)
  })

  test.each(LOGS.filter(([, format]) => format !== 'messages'))(
    'gives the counts of the provider for %s',
    async (_, __, text) => {
      const { usage, model } = await readSession(written(text))
      expect(usage).toMatchObject({ requests: 2 })
      expect(usage!.cacheRead).toBeGreaterThanOrEqual(1000)
      expect(model).toMatch(/^(claude-opus-4-5|gpt-5.5|gemini-2.5-pro)/)
    },
  )

  test.each(LOGS)('unpacks a compressed log of %s', async (_, format, text) => {
    expect(await readSession(written(gzipSync(text), 'session.json.gz'))).toMatchObject({ format })
  })

  test.each(LOGS.filter(([, , text]) => !text.startsWith('{\n')))(
    'counts a last line that is cut off in %s',
    async (_, format, text) => {
      const log = await readSession(written(text.slice(0, -5)))
      expect(log).toMatchObject({ format, unreadLines: 1 })
      expect(log.problems).toEqual([
        { line: text.trimEnd().split('\n').length, problem: expect.stringContaining('JSON') },
      ])
    },
  )

  test('leaves out unknown parts of an unknown version', async () => {
    const [, , text] = LOGS.find(([name]) => name === 'Claude Code')!
    const unknown = '{"type":"from-the-future","uuid":"x","payload":[1]}\n{"type":"user","uuid":"y","message":null}\n'
    const log = await readSession(written(unknown + text + unknown))
    expect(log.messages.map(common)).toEqual(SESSION)
  })

  test('never fails because of a record, with any content', async () => {
    const starts = LOGS.map(([, , text]) => text.split('\n', 1)[0]!).filter((line) => line.length > 2)
    const keys = fc.constantFrom(
      'type',
      'message',
      'payload',
      'role',
      'content',
      'parts',
      'info',
      'id',
      'toolCalls',
      '$set',
    )
    const record = fc.dictionary(
      keys,
      fc.oneof(fc.jsonValue(), fc.constantFrom('user', 'assistant', 'response_item', 'message')),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...starts), fc.array(record), async (start, records) => {
        const path = written([start, ...records.map((each) => JSON.stringify(each))].join('\n'))
        expect((await readSession(path)).messages).toBeInstanceOf(Array)
      }),
      { numRuns: 200 },
    )
  })

  test('takes the path to the last entry of a tree, and what a compaction kept', async () => {
    const entry = (id: string, parentId: string | null, more: object) => ({ id, parentId, timestamp: 0, ...more })
    const user = (text: string) => ({ type: 'message', message: { role: 'user', content: text } })
    const records = [
      { type: 'session', version: 3, cwd: '/' },
      ...[entry('a', null, user('first')), entry('b', 'a', user('second'))],
      entry('c', 'b', { type: 'compaction', summary: 'so far', firstKeptEntryId: 'b' }),
      entry('d', 'c', user('third')),
    ]
    const { messages } = await readSession(written(records.map((each) => JSON.stringify(each)).join('\n')))
    expect(messages.map(({ content, kept }) => [content, kept])).toEqual([
      ...[
        ['first', undefined],
        ['second', undefined],
      ],
      ...[
        ['so far', 1],
        ['third', undefined],
      ],
    ])
  })

  test.each([
    ['an empty file', ''],
    ['a text', 'hello\nworld\n'],
    ['another JSON', '{"a": 1}\n'],
    ['an array', '[1, 2]\n'],
    ['bytes', Buffer.from([0, 255, 254, 10, 0])],
  ])('refuses %s by name', async (_, text) => {
    const path = written(text)
    await expect(readSession(path)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'path',
      message: expect.stringContaining(path),
    })
  })

  test('says how to get a session out of a database', async () => {
    await expect(readSession(written('SQLite format 3\0…', 'opencode.db'))).rejects.toThrow('opencode export')
  })

  test.each([
    ['that is not there', () => join(folder, 'missing'), 'STORAGE_READ'],
    ['that is packed badly', () => written(Buffer.from([0x1f, 0x8b, 1, 2, 3])), 'STORAGE_READ'],
  ])('refuses a file %s', async (_, path, code) => {
    await expect(readSession(path())).rejects.toMatchObject({ code })
  })

  test('reads a hundred megabytes without holding them', async () => {
    const path = join(folder, 'long.jsonl')
    const file = createWriteStream(path)
    const [, , text] = LOGS.find(([name]) => name === 'Claude Code')!
    file.write(text)
    const snapshot = JSON.stringify({ type: 'file-history-snapshot', messageId: 'x', snapshot: 'y'.repeat(2 ** 20) })
    for (let count = 0; count < 100; count++)
      if (!file.write(`${snapshot}\n`)) await new Promise((go) => file.once('drain', () => go(undefined)))
    file.end()
    await finished(file)
    const { code, stdout, stderr } = await cli(['report', '--json', path], {
      env: { NODE_OPTIONS: '--max-old-space-size=64' },
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).sessions[0].requests).toBe(2)
  })
})

describe('the report', () => {
  test.each(LOGS)('shares the tokens of %s among the tools, to the token', async (_, __, text) => {
    const { sessions, tools } = await reportSessions([written(text)])
    const [{ sentTokens, requests }] = sessions as [(typeof sessions)[0]]
    const { cached, new: fresh, expired, rewritten } = sentTokens
    const sum = (of: (tool: (typeof tools)[0]) => number) => tools.reduce((total, tool) => total + of(tool), 0)
    expect(requests).toBe(2)
    expect(sum((tool) => tool.sentTokens.cached)).toBe(cached)
    expect(sum((tool) => tool.sentTokens.paid)).toBe(fresh + expired + rewritten)
    const read = tools.find(({ tool }) => toolNames.get(tool) === 'read' || tool === 'read')
    expect(read).toMatchObject({ calls: 1, bytes: FILE.length })
  })

  test('counts every message at every request that carries it, and prices it', async () => {
    const message = (role: string, units: number, seconds: number, more: object = {}) =>
      JSON.stringify({ role, content: 'x'.repeat(units), timestamp: seconds * 1000, ...more })
    const call = (id: string) => ({ toolCalls: [{ id, name: 'read', args: '' }] })
    const path = written(
      [
        ...[message('user', 400, 0), message('assistant', 0, 1, call('a'))],
        ...[message('tool', 4000, 2, { toolCallId: 'a' }), message('assistant', 40, 3)],
        // The cache of an unknown model lives five minutes.
        ...[message('user', 40, 1000), message('assistant', 40, 1001)],
      ].join('\n'),
    )
    const { sessions, tools } = await reportSessions([path])
    expect(sessions[0]).toMatchObject({
      requests: 3,
      sentTokens: { new: 100 + 1 + 1000 + 10 + 10, cached: 100, expired: 100 + 1 + 1000, rewritten: 0 },
      bill: { source: 'estimate', output: { pricedTokens: 5 * (1 + 10 + 10) } },
    })
    expect(tools[0]).toMatchObject({
      tool: 'read',
      calls: 1,
      bytes: 4000,
      tokens: 1001,
      turns: 2,
      sentTokens: { cached: 0, paid: 2002 },
      cost: { pricedTokens: 1.25 * 2002 },
    })
  })

  test('leaves previews of Spillway as they are', async () => {
    const service = new TruncationService({ storage: new MemoryStorage() })
    const text = Array.from({ length: 9000 }, (_, at) => `line ${at}`).join('\n')
    const { content } = await service.output(text, { toolName: 'bash' })
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'bash', arguments: '{"command":"x"}' } }]
    const of = (result: string) =>
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: null, tool_calls },
        { role: 'tool', tool_call_id: 'c', content: result },
        { role: 'assistant', content: 'done' },
      ]
        .map((message) => JSON.stringify(message))
        .join('\n')
    const truncated = async (result: string) =>
      (await reportSessions([written(of(result))])).sessions[0]?.savings?.truncated.results
    expect([await truncated(text), await truncated(content)]).toEqual([1, 0])
  })

  test("takes the provider's counts for the bill, in dollars where the price is known", async () => {
    const [, , text] = LOGS.find(([name]) => name === 'Claude Code')!
    const { bill } = await reportSessions([written(text)])
    const input = 2 * (10 + 0.1 * 1000 + 1.25 * 300)
    expect(bill.input).toEqual({ pricedTokens: input, dollars: (input * 5) / 1e6 })
    expect(bill.output.dollars).toBeCloseTo((80 * 25) / 1e6, 12)
  })

  test('gives no dollars for a sum in which one model has none', async () => {
    const known = written(LOGS[0]![2], 'a.jsonl')
    const unknown = written(LOGS.at(-1)![2], 'b.jsonl')
    expect((await reportSessions([known, unknown])).bill.total).toEqual({ pricedTokens: expect.any(Number) })
  })

  test('looks into folders, and names what it leaves out', async () => {
    mkdirSync(join(folder, 'deep', 'er'), { recursive: true })
    const log = written(LOGS[0]![2], 'deep/er/one.jsonl')
    const other = written('{"a": 1}', 'deep/settings.json')
    written('no log', 'deep/readme.md')
    const missing = join(folder, 'missing')
    const { sessions, skipped } = await reportSessions([join(folder, 'deep'), missing])
    expect(sessions.map(({ path }) => path)).toEqual([log])
    expect(skipped.map(({ path }) => path)).toEqual([other, missing])
  })

  test('stops between two files', async () => {
    await expect(reportSessions([folder], { signal: AbortSignal.abort() })).rejects.toThrow('abort')
  })

  test.each(LOGS)('takes texts of %s that are objects nested deeper than the stack', async (_, __, text) => {
    // Every text that a result or an argument has becomes such an object.
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    const changed = text.replace(/"(output|content|args|input|arguments|result)":\s*"(?:[^"\\]|\\.)*"/g, `"$1":${deep}`)
    const { sessions, skipped } = await reportSessions([written(changed)])
    expect([sessions.length, skipped]).toEqual([1, []])
  })

  test('lets other work run during a long session, and stops in the middle', async () => {
    const lines = Array.from({ length: 600 }, (_, at) => [
      { role: 'user', content: `question ${at}` },
      { role: 'assistant', content: '', toolCalls: [{ id: `${at}`, name: 'bash', args: { command: `cat ${at}` } }] },
      { role: 'tool', toolCallId: `${at}`, content: `src/file-${at}.ts: a line\n`.repeat(200) },
    ])
    const path = written(
      lines
        .flat()
        .map((line) => JSON.stringify(line))
        .join('\n'),
    )
    const controller = new AbortController()
    const reported = reportSessions([path], { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 50)
    await expect(reported).rejects.toThrow('enough')
  })

  test.each([
    ['paths', () => reportSessions('a' as never)],
    ['options.nope', () => reportSessions([], { nope: 1 } as never)],
    ['options.signal', () => reportSessions([], { signal: 1 } as never)],
  ])('names a wrong argument: %s', async (field, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field })
  })
})

describe('spillway report', () => {
  test('prints the most expensive tool first, with its share of the bill', async () => {
    const { code, stdout } = await cli(['report', written(LOGS[0]![2])])
    expect(code).toBe(0)
    const lines = stdout.split('\n')
    const [head] = lines
    const [columns, costliest] = lines.slice(lines.findIndex((line) => line.startsWith('tool')))
    expect(head).toMatch(/^1 session, 2 requests, \$0\.\d\d$/)
    expect(columns).toMatch(/^tool +calls +results +tokens +turns +cost +of the bill$/)
    expect(costliest).toMatch(/^Read +1 +1000 B +25\d +1\.0 +\$0\.00 +\d+\.\d %$/)
  })

  test('says which models have no price, and what was left out', async () => {
    written(LOGS.at(-1)![2], 'a.jsonl')
    written('{}', 'b.json')
    const { code, stdout, stderr } = await cli(['report', folder])
    expect(code).toBe(0)
    expect(stdout).toContain('the price of these models is not known: not named')
    expect(stderr).toMatch(/^left out: \S+b\.json: no session log that is known/)
  })

  test('ends with 1 if no file is a session log', async () => {
    expect(await cli(['report', written('{}')])).toMatchObject({ code: 1, stdout: '' })
  })
})
