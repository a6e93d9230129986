/** The command, MCP and the settings of the environment, with real servers. */

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOutputTools } from 'spillway'
import { MemoryObjects, openStore, RemoteStorage } from 'spillway/remote'
import { cli } from '../../cli/support'
import { through } from '../support'
import { describeServer, moto } from './servers'

const MODULES = join(__dirname, '..', '..', '..', 'target', 'remote', 'node_modules')

describeServer(moto, (server) => {
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'testtest', AWS_EC2_METADATA_DISABLED: 'true' }
  const url = () => `s3://outputs/prod?endpoint=http://127.0.0.1:${server().port}&region=us-east-1`
  const home = mkdtempSync(join(tmpdir(), 'spillway-home-'))
  const spillway = (args: string[], more: NodeJS.ProcessEnv = {}, input = '') => {
    const env = { ...keys, NODE_PATH: MODULES, HOME: home, XDG_DATA_HOME: home, SPILLWAY_STORE: url(), ...more }
    return cli(args, { env, input })
  }
  let path: string

  beforeAll(async () => {
    Object.assign(process.env, keys)
    const { S3 } = require('@aws-sdk/client-s3')
    const at = { region: 'us-east-1', endpoint: `http://127.0.0.1:${server().port}`, forcePathStyle: true }
    await new S3(at).createBucket({ Bucket: 'outputs' })
    const { stdout } = await spillway(['run', '--json', '--', 'seq', '1', '900'])
    path = JSON.parse(stdout).outputPath
  })

  test('run saves in the bucket, and the other commands read it there', async () => {
    expect(path).toMatch(/^s3:\/\/outputs\/prod\/o\/bash_\d+_[0-9a-f]{32}\.txt$/)
    const [output] = JSON.parse((await spillway(['ls', '--json'])).stdout)
    expect(output).toMatchObject({ path, bytes: 3492, command: 'seq 1 900' })
    expect((await spillway(['read', '--from-line', '880', '--lines', '2', path])).stdout).toBe('880\n881\n')
    const whole = Array.from({ length: 900 }, (_, at) => `${at + 1}\n`).join('')
    expect((await spillway(['read', '--all', '-1'])).stdout).toBe(whole)
    expect((await spillway(['search', path, '^89[0-2]$'])).stdout).toBe('890:890\n891:891\n892:892\n')
    expect((await spillway(['tail', '-n', '2', path])).stdout).toBe('899\n900\n')
    expect((await spillway(['open', path])).stderr).toContain('is in a bucket')
  })

  test('another machine reads the path without a setting', async () => {
    const environment = { SPILLWAY_STORE: '', AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${server().port}` }
    const { stdout } = await spillway(['read', '-n', '1', path], { ...environment, AWS_REGION: 'us-east-1' })
    expect(stdout).toBe('1\n')
  })

  test('a path of another store or session is not read', async () => {
    for (const args of [
      ['read', path.replace('/prod/', '/other/')],
      ['read', '--session', 's2', path],
    ]) {
      const { code, stdout } = await spillway(args)
      expect([code, stdout]).toEqual([3, ''])
    }
  })

  test('openStore takes the bucket and the spool of the environment', async () => {
    process.env.SPILLWAY_STORE = url()
    process.env.SPILLWAY_SPOOL_DIR = join(home, 'spool')
    const storage = openStore()
    const tools = createOutputTools(storage)
    const read = tools.find(({ name }) => name === 'read_output')!
    expect(await read.execute({ path, fromLine: 900 })).toMatchObject({ success: true })
    expect(await storage.usage()).toMatchObject({ pending: { files: 0 } })
    await storage.close()
    delete process.env.SPILLWAY_STORE
    delete process.env.SPILLWAY_SPOOL_DIR
  })

  test('a command that cannot be run uploads what an earlier process left in the spool', async () => {
    const spoolDir = mkdtempSync(join(tmpdir(), 'spillway-spool-'))
    const down = through(new MemoryObjects('s3://outputs/prod'), () => Promise.reject(new Error('503 SlowDown')))
    const earlier = new RemoteStorage({ objects: down, spoolDir, ack: 'spool', closeTimeoutMs: 0 })
    const left = await earlier.save('left by an earlier process\n', { toolName: 'bash' })
    expect((await spillway(['read', '--all', left])).code).toBe(3)
    const { code } = await spillway(['run', '--spool-dir', spoolDir, '--', './not-there'])
    expect(code).toBe(127)
    expect((await spillway(['read', '--all', left])).stdout).toBe('left by an earlier process\n')
  })

  test('a preview printed before passes through, also with a bucket that is not there', async () => {
    const nowhere = url().replace(/endpoint=[^&]*/, 'endpoint=http://127.0.0.1:1')
    const long = Array.from({ length: 9000 }, (_, at) => `${at}\n`).join('')
    for (const store of [url(), nowhere]) {
      const clip = (input: string) => spillway(['clip', '--store', store], {}, input)
      const { stdout } = await clip(long)
      const [saved] = /(?<=saved to: ).*/.exec(stdout) ?? []
      expect([store, saved?.startsWith('s3://')]).toEqual([store, store === url()])
      expect((await clip(stdout)).stdout).toBe(stdout)
    }
  })

  test('the proxy of MCP saves there, and its tools read it', async () => {
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) return
      const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
        'tools/list': { tools: [{ name: 'long', inputSchema: { type: 'object' } }] }, 'tools/call': { content: [{ type: 'text', text: 'line of a tool\\n'.repeat(20_000) }] } }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
    })`
    const client = { name: 'test', version: '1' }
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client }
    const messages = [
      { id: 1, method: 'initialize', params: initialize },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'long', arguments: {} } },
    ]
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
    const { stdout } = await spillway(['mcp', '--', process.execPath, '-e', script], {}, input)
    const [saved] = /s3:\/\/outputs\/prod\/o\/[\w.]+\.txt/.exec(stdout) ?? []
    expect(saved).toBeDefined()
    expect(stdout.length).toBeLessThan(100_000)
    expect((await spillway(['read', '-n', '1', saved!])).stdout).toBe('line of a tool\n')
  })
})
