/** Requests that agent programs sent when they were run (`npm run test:clients`), replayed to the package: see `docs/clients.md`. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { HistoryPruner } from 'spillway'
import { repairToolPairs } from 'spillway/history'
import { tempDir } from '../support/temp'
import { HOSTS } from './hosts'

// biome-ignore lint/suspicious/noExplicitAny: what programs send
type Any = any

const { linesOf }: { linesOf: (count: number, more: string) => string } = require('./server.cjs')

const ROOT = join(__dirname, '..', '..')
const SERVER = join(__dirname, 'server.cjs')

interface Fixture {
  client: string
  way: string
  initialize?: { clientInfo: { name: string } }
  call?: Any
  messages: Any[]
}

const FIXTURES: Fixture[] = readdirSync(join(__dirname, 'fixtures')).map((name) =>
  JSON.parse(readFileSync(join(__dirname, 'fixtures', name), 'utf8')),
)

const started: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** The proxy in front of a server, and a function that asks it. */
function startProxy(storageDir: string): (method: string, params?: Any) => Promise<Any> {
  const args = [join(ROOT, 'dist', 'cli', 'main.js'), 'mcp', '--server', 'lines', '--', process.execPath, SERVER]
  const child = spawn(process.execPath, args, { env: { ...process.env, SPILLWAY_STORAGE_DIR: storageDir } })
  started.push(child)
  child.stderr.resume()
  const waiting = new Map<number, (answer: Any) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line)
    waiting.get(id)?.(result ?? error)
  })
  let last = 0
  return (method, params) => {
    const isNotice = method.startsWith('notifications/')
    const id = ++last
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...(!isNotice && { id }), method, params })}\n`)
    return isNotice ? Promise.resolve() : new Promise((resolve) => waiting.set(id, resolve))
  }
}

const recorded = FIXTURES.filter(({ way, initialize }) => way === 'mcp' && initialize)
const known = new Set(recorded.map(({ initialize }) => initialize?.clientInfo.name))
/** Clients that were run once, of which only the name and what they do to a result are known. */
const named = Object.keys(HOSTS).filter((name) => !known.has(name))

/** The text that the tool prints. */
const OUTPUTS: [title: string, count: number, more: string][] = [
  ['a short output', 3, ''],
  ['many lines', 20_000, ''],
  ['long lines', 300, ` ${'word '.repeat(100)}`],
  ['one line', 1, 'x'.repeat(300_000)],
  ['Chinese', 3_000, '水'.repeat(30)],
  ['quotes and backslashes, which JSON escapes', 3_000, ` "C:\\dir\\file"`],
]

describe('spillway mcp', () => {
  const clients: [name: string, initialize: Any, call: Any][] = [
    ...recorded.map(({ initialize, call }): [string, Any, Any] => [initialize!.clientInfo.name, initialize, call]),
    ...named.map((name): [string, Any, Any] => {
      const clientInfo = { name, version: '1.0.0' }
      return [name, { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }, { name: 'print_lines' }]
    }),
  ]

  test.each(clients)('%s passes on one notice, whose file has the whole output', async (name, initialize, call) => {
    const ask = startProxy(tempDir())
    await ask('initialize', initialize)
    await ask('notifications/initialized')
    expect(HOSTS[name]).toBeDefined()
    for (const [title, count, more] of OUTPUTS) {
      const { content } = await ask('tools/call', { ...call, arguments: { count, more } })
      const sent = content.map(({ text }: Any) => text).join('\n')
      const read = HOSTS[name]!(sent)
      const places = new Set(Array.from(read.matchAll(/saved to: ([^\s"\\]+)/g), ([, place]) => place))
      const whole = linesOf(count, more)
      if (title === 'a short output') expect(sent).toBe(whole)
      else expect([title, places.size, readFileSync([...places][0]!, 'utf8') === whole]).toEqual([title, 1, true])
    }
  })
})

describe('the history that a client sends', () => {
  test.each(FIXTURES.map(({ client, messages }): [string, Any[]] => [client, messages]))(
    '%s: is read: calls have their results, and an old result is left out',
    (_, messages) => {
      const long = Array.from({ length: 5_000 }, (__, at) => `line ${at + 1}`).join('\\n')
      const history = JSON.parse(JSON.stringify(messages).replaceAll('{{text}}', long))
      expect(repairToolPairs(history)).toEqual(history)
      const { messages: sent } = new HistoryPruner({ schedule: 'always', keepRecent: 0 }).prune(history, { now: 0 })
      expect(JSON.stringify(sent)).not.toContain('line 4999')
      expect(repairToolPairs(sent as Any[])).toEqual(sent)
    },
  )
})
