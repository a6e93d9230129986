import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { onUnix } from '../support/only'
import { tempDir } from '../support/temp'
import { Host, pathIn, SERVER, textOf } from './host'

const OURS = ['read_output', 'search_output']

/** Hosts of this process with one store, as one host starts them for several servers. */
async function start(count: number, options: string[] = []): Promise<Host[]> {
  const store = tempDir()
  const hosts = Array.from({ length: count }, () => new Host(['--store', store, ...options]))
  await Promise.all(hosts.map((host) => host.initialize()))
  return hosts
}

async function offers(host: Host): Promise<boolean> {
  const { result } = await host.request('tools/list')
  const names = result!.tools!.map(({ name }) => name)
  expect(names.includes('read_output')).toBe(names.includes('search_output'))
  return OURS.every((name) => names.includes(name))
}

async function firstOf(hosts: readonly Host[]): Promise<Host> {
  const offered = await Promise.all(hosts.map(offers))
  expect(offered.filter(Boolean)).toHaveLength(1)
  return hosts[offered.indexOf(true)]!
}

const changed = (host: Host) => host.next(({ method }) => method === 'notifications/tools/list_changed')

test('one proxy of a host offers the tools, and reads what the others saved', async () => {
  const hosts = await start(4)
  const first = await firstOf(hosts)
  expect(await firstOf(hosts)).toBe(first)
  for (const host of hosts) {
    const path = pathIn(await host.call('lines', { count: 5000 }))
    expect(textOf(await first.call('read_output', { path, from_line: 5000 }))).toContain('line 5000')
  }
  await Promise.all(hosts.map((host) => host.close()))
})

test.each(['SIGKILL', 'SIGTERM', undefined] as const)(
  'another takes over from one that ends by %s, and says so',
  async (signal) => {
    let hosts = await start(4)
    while (hosts.length > 1) {
      const first = await firstOf(hosts)
      const others = hosts.filter((host) => host !== first)
      const told = Promise.any(others.map(changed))
      if (signal) first.child.kill(signal)
      else await first.close()
      await told
      await firstOf(others)
      hosts = others
    }
    await hosts[0]!.close()
  },
)

test('a second host has its own, also with the same store', async () => {
  const store = tempDir()
  // A host in between: a process of its own that starts the proxy.
  const script = `const { spawn } = require('node:child_process')
    spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1))`
  const direct = new Host(['--store', store])
  const args = ['mcp', '--store', store, '--', process.execPath, SERVER]
  const other = new Host([], {}, [], ['-e', script, join(__dirname, '..', '..', 'dist', 'cli', 'main.js'), ...args])
  await Promise.all([direct.initialize(), other.initialize()])
  expect([await offers(direct), await offers(other)]).toEqual([true, true])
  await Promise.all([direct.close(), other.close()])
})

test('proxies with other stores or other sessions offer their own', async () => {
  const store = tempDir()
  const hosts = [new Host(['--store', store]), new Host(['--store', store, '--session', 'a']), new Host()]
  await Promise.all(hosts.map((host) => host.initialize()))
  expect(await Promise.all(hosts.map(offers))).toEqual([true, true, true])
  await Promise.all(hosts.map((host) => host.close()))
})

test('one that does not offer them takes no place', async () => {
  const store = tempDir()
  const silent = new Host(['--store', store, '--no-output-tools'])
  await silent.initialize()
  expect(await offers(silent)).toBe(false)
  const host = new Host(['--store', store])
  await host.initialize()
  expect(await offers(host)).toBe(true)
  await Promise.all([silent.close(), host.close()])
})

onUnix('without a folder for sockets each offers them', async () => {
  const folder = tempDir()
  chmodSync(folder, 0o500)
  const store = tempDir()
  const isRoot = process.getuid?.() === 0
  const hosts = [1, 2].map(() => new Host(['--store', store], { TMPDIR: isRoot ? '/dev/null' : folder }))
  await Promise.all(hosts.map((host) => host.initialize()))
  expect(await Promise.all(hosts.map(offers))).toEqual([true, true])
  await Promise.all(hosts.map((host) => host.close()))
})
