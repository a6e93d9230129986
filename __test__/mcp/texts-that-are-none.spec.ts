/** A value of another kind where the protocol has a text: no message of that kind may end the connection. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLI } from '../cli/support'
import { tempDir } from '../support/temp'
import { Host } from './host'
import { event, events, HttpServer } from './http-server'

/** `String` throws for the first two. */
const VALUES: [string, unknown][] = [
  ['an object without a text', { toString: null }],
  ['an array of them', [{ toString: null }]],
  ['null', null],
  ['the name of a method that every object has', 'toString'],
  ['a number beyond every double', 'NUMBER'],
  ['nested arrays', JSON.parse('['.repeat(3000) + ']'.repeat(3000))],
]

/** JSON with a number in it that JavaScript has no value for. */
const written = (message: object) => `${JSON.stringify(message).replaceAll('"NUMBER"', '1e999')}\n`

/** Result of a server with the value in its places. */
const resultOf = (value: unknown) => ({
  content: [value, { type: value, text: value }, { type: 'text', text: value }, { type: 'text', text: 'ok' }],
  structuredContent: value,
  _meta: value,
  isError: value,
  tools: [{ name: value }, { name: 'ok' }],
  nextCursor: value,
})

/** Has the value in every place of its answers, and answers everything. */
const server = (value: unknown) => [
  '-e',
  `const value = ${JSON.stringify(JSON.stringify(value))}.replaceAll('"NUMBER"', '1e999')
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }).replaceAll('"VALUE"', value) + '\\n')
  const named = (more) => [{ name: 'VALUE', uri: 'VALUE', uriTemplate: 'VALUE', ...more }, { name: 'ok', uri: 'a:b', uriTemplate: 'a:{b}', ...more }]
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} }, serverInfo: { name: 'VALUE', version: 'VALUE' } },
    'tools/list': { tools: named({ inputSchema: { type: 'object' } }), nextCursor: 'VALUE' },
    'prompts/list': { prompts: named() },
    'resources/list': { resources: named() },
    'resources/templates/list': { resourceTemplates: named() },
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined || method === undefined) return
    say({ method: 'VALUE' })
    say({ method: 'notifications/progress', params: { progressToken: 'VALUE' } })
    say({ id: 'VALUE', result: 'VALUE' })
    say({ id, result: (typeof method === 'string' && results[method]) || { content: ['VALUE', { type: 'VALUE', text: 'VALUE' }, { type: 'text', text: 'VALUE' }, { type: 'text', text: 'ok' }] } })
  })`,
]

/** Messages of a host with the value in their places. */
function messages(value: unknown): object[] {
  const methods = ['tools/call', 'prompts/get', 'resources/read', 'resources/subscribe', 'logging/setLevel']
  const places = [{ name: value, uri: value, level: value, arguments: value }, value, { name: 'ok', arguments: value }]
  return [
    ...methods.flatMap((method) => places.map((params) => ({ method, params }))),
    { method: 'completion/complete', params: { ref: { type: value, name: value, uri: value }, argument: value } },
    { method: 'tools/list', params: { cursor: value, _meta: { progressToken: value } } },
    { method: value, params: {} },
  ]
}

describe.each([
  ['one server', (args: string[]) => [CLI, 'mcp', '--', process.execPath, ...args]],
  [
    'several servers',
    (args: string[]) => {
      const file = join(tempDir(), 'servers.json')
      const one = { command: process.execPath, args }
      writeFileSync(file, JSON.stringify({ mcpServers: { a: one, b: one } }))
      return [CLI, 'mcp', '--servers', file]
    },
  ],
])('in front of %s', (_, command) => {
  test.each(VALUES)('%s in place of a text ends nothing', async (__, value) => {
    const host = new Host([], {}, [], command(server(value)))
    const opened = host.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: value === 'NUMBER' ? 1 : value, version: '1' },
    })
    expect(await opened).toHaveProperty('result')
    const sent = messages(value).map((message, at) => ({ jsonrpc: '2.0', id: `asked-${at}`, ...message }))
    const others = [{ method: value }, { id: value, method: 'tools/list' }, { id: value, result: value }]
    const cancelled = { method: 'notifications/cancelled', params: { requestId: value } }
    for (const message of [...sent, ...others, cancelled]) host.write(written({ jsonrpc: '2.0', ...message }))

    const { result } = await host.request('tools/list')
    expect(result!.tools!.some(({ name }) => typeof name === 'string' && /ok$/.test(name))).toBe(true)
    await host.request('ping')
    const isAnswered = ({ id }: { id: string }) => host.lines.some((line) => line.includes(`"id":"${id}"`))
    while (!sent.every(isAnswered)) await host.next(() => true)
    expect(await host.close()).toMatchObject({ code: 0 })
  })
})

const isAnswered = (host: Host, { id }: { id: string }) => host.lines.some((line) => line.includes(`"id":"${id}"`))
const asked = (all: object[]) => all.map((message, at) => ({ jsonrpc: '2.0', id: `asked-${at}`, ...message }))

describe('in front of a server over HTTP', () => {
  test.each(VALUES)('%s in place of a text ends nothing', async (_, value) => {
    const server = new HttpServer()
    const url = await server.listen()
    const odd = [
      { id: value, method: value },
      { id: value, result: value },
      { method: value, params: value },
    ]
    server.onGet = ({ response }) => events(response).write(odd.map((message) => event(message)).join(''))
    server.onRequest = ({ response, message: { id } }) => {
      const all = [...odd, { id, result: resultOf(value) }].map((message) => event(message))
      events(response).end(all.join('').replaceAll('"NUMBER"', '1e999'))
    }
    const host = new Host([], {}, [], [CLI, 'mcp', '--url', url])
    host.onRequest = () => ({ result: value })
    await host.initialize()
    const sent = asked(messages(value))
    for (const message of sent) host.write(written(message))
    while (!sent.every((message) => isAnswered(host, message))) await host.next(() => true)
    const { id } = sent.at(-1)!
    const answer = host.lines.find((line) => line.includes(`"id":"${id}"`))!
    if (value !== 'toString') expect(JSON.parse(answer)).toMatchObject({ error: { code: -32600 } })
    expect(await host.close()).toMatchObject({ code: 0 })
    await server.close()
  })
})

describe('with permission', () => {
  const meta = (value: unknown) => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': value,
  })
  const calls = (value: unknown): unknown[] => [
    ...[
      { name: value },
      value,
      { name: 'ok', arguments: value },
      { name: 'ok', arguments: { a: value }, _meta: value },
    ],
    {
      name: 'ok',
      arguments: { a: value },
      requestState: value,
      inputResponses: value,
      _meta: meta({ elicitation: {} }),
    },
    ...[{ name: 'ok', _meta: meta(value) }, { name: 'ok' }],
  ]

  test.each(VALUES)('no call runs for %s, nor for an answer that is one', async (_, value) => {
    const host = new Host(['--permission', '--server', 'x'], {}, server('"'))
    const content = { action: 'accept', content: value }
    const answers = [{ result: value }, { error: value }, { result: { action: value } }, { result: content }]
    const decision = { result: { action: 'accept', content: { decision: value } } }
    host.onRequest = () => [...answers, decision][host.lines.length % 5]
    await host.initialize({ elicitation: {} })
    const sent = asked(calls(value).map((params) => ({ method: 'tools/call', params })))
    for (const message of sent) host.write(written(message))
    while (!sent.every((message) => isAnswered(host, message))) await host.next(() => true)
    const answered = host.lines.filter((line) => line.includes('"id":"asked-'))
    expect(answered.filter((line) => !/did not run|"input_required"|could not be made/.test(line))).toEqual([])
    expect(await host.close()).toMatchObject({ code: 0 })
  })
})
