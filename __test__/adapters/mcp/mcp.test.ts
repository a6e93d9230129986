import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { PermissionPolicy } from 'spillway'
import { guardMcpClient, guardMcpTool } from 'spillway/mcp'
import { z } from 'zod'
import { type Any, longText, smallService, tempDir } from './support.ts'

const require = createRequire(import.meta.url)
const CLI = join(dirname(require.resolve('spillway/package.json')), 'dist', 'cli', 'main.js')
const SERVER = join(import.meta.dirname, 'server.ts')

/** A client of the SDK, the proxy as its server, and a server of the SDK after it. */
async function connect(options: readonly string[] = [], capabilities: object = {}) {
  const dir = tempDir()
  const client = new Client({ name: 'host', version: '1' }, { capabilities })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', '--store', dir, ...options, '--', process.execPath, '--no-warnings', SERVER],
    stderr: 'pipe',
  })
  const problems: Error[] = []
  client.onerror = (error) => problems.push(error)
  await client.connect(transport)
  after(() => client.close())
  return { client, transport, problems, dir }
}

const textOf = (result: Any): string => result.content[0].text
const pathIn = (result: Any): string => result._meta['spillway/truncation'].outputPath

test('a host of the SDK sees bounded results, reads the rest, and no fault of the protocol', async () => {
  const { client, problems } = await connect()
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.slice(-2).map(({ name }) => name),
    ['read_output', 'search_output'],
  )
  assert.ok(tools.every((tool) => tool.outputSchema === undefined))
  const long = await client.callTool({ name: 'lines', arguments: { count: 5000 } })
  assert.match(textOf(long), /\d+ (lines|bytes) truncated/)
  assert.equal(readFileSync(pathIn(long), 'utf8').split('\n').length, 5000)
  const read = await client.callTool({ name: 'read_output', arguments: { path: pathIn(long), from_line: 5000 } })
  assert.match(textOf(read), /line 5000\n\[End of the output\]$/)
  const rows = (await client.callTool({ name: 'rows', arguments: { count: 20_000 } })) as Any
  assert.equal(rows.structuredContent, undefined)
  assert.equal(JSON.parse(readFileSync(pathIn(rows), 'utf8')).rows.length, 20_000)
  const few = (await client.callTool({ name: 'rows', arguments: { count: 2 } })) as Any
  assert.equal(few.structuredContent, undefined)
  assert.deepEqual(JSON.parse(textOf(few)), { rows: [{ at: 0 }, { at: 1 }] })
  const thrown = (await client.callTool({ name: 'throws' })) as Any
  assert.equal(thrown.isError, true)
  assert.ok(textOf(thrown).length < 60_000)
  assert.deepEqual(problems, [])
})

test('schemas are kept where structures are', async () => {
  const { client, problems } = await connect(['--structured-content', 'keep'])
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.outputSchema !== undefined))
  const rows = (await client.callTool({ name: 'rows', arguments: { count: 20_000 } })) as Any
  assert.equal(rows.structuredContent.rows.length, 20_000)
  assert.ok(textOf(rows).length < 60_000)
  assert.deepEqual(problems, [])
})

test('progress and cancellation go through', async () => {
  const { client, transport } = await connect()
  const seen: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  await client.callTool({ name: 'steps', arguments: { count: 5000 } }, undefined, { onprogress })
  assert.deepEqual(seen, [1, 2, 3])
  const stop = new AbortController()
  const heard = new Promise<string>((resolve) => transport.stderr!.on('data', (bytes) => resolve(String(bytes))))
  const call = client.callTool({ name: 'forever' }, undefined, { signal: stop.signal })
  await client.ping()
  stop.abort('enough')
  await assert.rejects(call)
  assert.match(await heard, /the call was cancelled/)
})

test('the user is asked by elicitation', async () => {
  const { client } = await connect(['--permission', '--server', 'real'], { elicitation: {} })
  const decisions = ['once', 'reject']
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    assert.match(params.message, /mcp:real\/lines/)
    return { action: 'accept', content: { decision: decisions.shift()! } }
  })
  const call = () => client.callTool({ name: 'lines', arguments: { count: 1 } })
  assert.equal(textOf(await call()), 'line 1')
  assert.match(textOf(await call()), /was denied and did not run/)
})

/** Lines by which a server could pass the limit: answers to the request `ID`, as some host reads them. */
const HOSTILE = [
  ...['"ID"', '" ID "', '"0ID"', 'ID.0', 'IDe0'].map((id) => `{"jsonrpc":"2.0","id":${id},"result":RESULT}`),
  '{"jsonrpc":"2.0","id":ID,"method":null,"result":RESULT}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":TEXTS,"structuredContent":{"a":NaN}}}',
  '{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":1,"message":TEXT}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"resource_link","uri":"a:b","name":TEXT}]}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"image","mimeType":"image/png","data":TEXT}]}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"chart","data":TEXT}]}}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"_meta":{"a":TEXT}}}',
  '{"jsonrpc":"2.0","id":ID,"result":RESULT',
]

test('no host of the SDK is handed more than the limit', async () => {
  for (const line of HOSTILE) {
    const dir = tempDir()
    const client = new Client({ name: 'host', version: '1' })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', '--store', dir, '--', process.execPath, join(import.meta.dirname, 'hostile.mjs'), line],
      stderr: 'ignore',
    })
    let handed = 0
    client.onerror = (error) => {
      handed += error.message.length
    }
    await client.connect(transport)
    const answer = await client.callTool({ name: 'x' }, undefined, { timeout: 10_000 }).catch((error: Error) => error)
    handed += answer instanceof Error ? answer.message.length : JSON.stringify(answer).length
    assert.ok(handed < 40_000, `${line}: ${handed}`)
    assert.ok(!(answer instanceof Error && answer.message.includes('timed out')), line)
    await client.close()
  }
})

/** A Python that has the SDK, or why there is none. */
function pythonWithSdk(): { python: string } | { reason: string } {
  const folder = join(import.meta.dirname, 'node_modules', '.python')
  const python = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python')
  const run = (command: string, args: string[]) => spawnSync(command, args, { encoding: 'utf8', timeout: 100_000 })
  if (existsSync(python) && run(python, ['-c', 'import mcp']).status === 0) return { python }
  if (run('python3', ['-m', 'venv', folder]).status !== 0) return { reason: 'no python3 with venv' }
  const installed = run(python, ['-m', 'pip', 'install', '--quiet', 'mcp==2.3.0'])
  if (installed.status !== 0) return { reason: installed.stderr.trim().split('\n').at(-1) || 'pip install failed' }
  return { python }
}

test('no host of the SDK for Python is handed more than the limit', (context) => {
  const found = pythonWithSdk()
  if ('reason' in found) return context.skip(found.reason)
  const here = (name: string) => join(import.meta.dirname, name)
  const args = [here('host.py'), process.execPath, CLI, here('hostile.mjs'), tempDir(), ...HOSTILE]
  const { stdout, stderr } = spawnSync(found.python, args, { encoding: 'utf8', timeout: 120_000 })
  const handed = stdout.trim().split('\n').map(Number)
  assert.equal(handed.length, HOSTILE.length, stderr.slice(-2000))
  for (const [at, size] of handed.entries()) assert.ok(size > 0 && size < 40_000, `${HOSTILE[at]}: ${size}`)
})

test('a client and a tool of the SDK are guarded in one process', async () => {
  const { service, files } = smallService()
  const server = new McpServer({ name: 'inner', version: '1' })
  const own = guardMcpTool(
    'own',
    async ({ lines }: { lines: number }, _extra: object) => ({
      content: [{ type: 'text' as const, text: longText(lines) }],
      structuredContent: { lines },
    }),
    { truncation: service },
  )
  const outputSchema = { lines: z.number() }
  server.registerTool('own', { inputSchema: { lines: z.number() }, outputSchema }, own)
  server.registerTool('plain', { outputSchema: { all: z.string() } }, async () => {
    const structuredContent = { all: longText(300) }
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const raw = new Client({ name: 'host', version: '1' })
  await Promise.all([server.connect(far), raw.connect(near)])
  const policy = new PermissionPolicy({ mcpServers: ['inner'] })
  const client = guardMcpClient(raw, { truncation: service, permission: policy, server: 'inner' })
  await client.listTools()
  const guarded = (await client.callTool({ name: 'own', arguments: { lines: 300 } })) as Any
  assert.deepEqual(guarded.structuredContent ?? { lines: 300 }, { lines: 300 })
  assert.ok(textOf(guarded).length < 3000)
  assert.ok(files().includes(longText(300)))
  const plain = (await client.callTool({ name: 'plain' })) as Any
  assert.equal(plain.structuredContent, undefined)
  assert.ok(textOf(plain).length < 3000)
  assert.equal(client.getServerVersion()?.name, 'inner')
  await client.close()
})
