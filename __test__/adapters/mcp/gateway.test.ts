import assert from 'node:assert/strict'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Any, tempDir } from './support.ts'

const require = createRequire(import.meta.url)
const packageOf = (name: string) => dirname(require.resolve(`${name}/package.json`))
const CLI = join(packageOf('spillway'), 'dist', 'cli', 'main.js')
const textOf = (result: Any): string => result.content.map(({ text }: Any) => text).join('\n')

/** The program of a server that npm has. */
function program(name: string): string {
  const folder = packageOf(`@modelcontextprotocol/${name}`)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, Object.values(bin as Record<string, string>)[0]!)
}

/** The servers that others wrote, with the files of a folder, and one of the SDK. */
async function connect(options: readonly string[] = []) {
  const folder = realpathSync(tempDir())
  writeFileSync(join(folder, 'long.txt'), Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}`).join('\n'))
  const node = (...args: string[]) => ({ command: process.execPath, args })
  const mcpServers = {
    everything: node(program('server-everything'), 'stdio'),
    files: node(program('server-filesystem'), folder),
    own: node('--no-warnings', join(import.meta.dirname, 'server.ts')),
  }
  const file = join(tempDir(), 'servers.json')
  writeFileSync(file, JSON.stringify({ mcpServers }))
  const client = new Client({ name: 'host', version: '1' })
  const problems: Error[] = []
  client.onerror = (error) => problems.push(error)
  after(() => client.close())
  const args = [CLI, 'mcp', '--store', tempDir(), '--servers', file, ...options]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  return { client, problems, folder }
}

test('three servers are one for a host of the SDK', async () => {
  const { client, problems, folder } = await connect()
  assert.equal(client.getServerVersion()?.name, 'spillway')
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const name of ['echo', 'read_text_file', 'lines', 'read_output']) assert.ok(names.includes(name), name)

  assert.match(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hello' } })), /hello/)
  const path = join(folder, 'long.txt')
  const read = (await client.callTool({ name: 'read_text_file', arguments: { path } })) as Any
  assert.match(textOf(read), /lines truncated|bytes truncated/)
  assert.equal(read.structuredContent, undefined)
  const { outputPath } = read._meta['spillway/truncation']
  assert.equal(readFileSync(outputPath, 'utf8'), readFileSync(path, 'utf8'))
  const last = await client.callTool({ name: 'read_output', arguments: { path: outputPath, from_line: 20_000 } })
  assert.match(textOf(last), /line 20000/)

  const { prompts } = await client.listPrompts()
  assert.ok(prompts.length > 0)
  const simple = prompts.find((prompt) => (prompt.arguments ?? []).every((argument) => !argument.required))!
  assert.ok((await client.getPrompt({ name: simple.name })).messages.length > 0)
  const { resources } = await client.listResources()
  assert.ok(resources.length > 0)
  assert.ok((await client.readResource({ uri: resources[0]!.uri })).contents.length > 0)
  await client.setLoggingLevel('error')
  await client.ping()
  assert.deepEqual(problems, [])
})

test('a lazy list costs less than a third, and grows by what is described', async () => {
  const all = await connect()
  const whole = JSON.stringify(await all.client.listTools()).length
  const { client, problems, folder } = await connect(['--tools', 'lazy'])
  const lazy = await client.listTools()
  const names = lazy.tools.map(({ name }) => name)
  assert.deepEqual(names, ['describe_tool', 'call_tool', 'read_output', 'search_output'])
  assert.ok(JSON.stringify(lazy).length < whole / 3, `${JSON.stringify(lazy).length} of ${whole}`)

  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
  })
  const described = await client.callTool({ name: 'describe_tool', arguments: { names: ['list_directory'] } })
  assert.match(textOf(described), /"inputSchema":\{.*"path"/)
  await changed
  const { tools } = await client.listTools()
  assert.equal(tools.at(-1)!.name, 'list_directory')
  const args = { path: folder }
  assert.match(textOf(await client.callTool({ name: 'list_directory', arguments: args })), /long\.txt/)
  const call = { name: 'list_directory', arguments: args }
  assert.match(textOf(await client.callTool({ name: 'call_tool', arguments: call })), /long\.txt/)
  assert.deepEqual(problems, [])
})
