/** Real servers on the loopback interface: started by a test on a free port, and ended by their process id. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObjectStore } from 'spillway/remote'
import { describeUnless } from '../../support/only'

/** Where `npm run test:remote` installs what the tests need. */
const WORK = join(__dirname, '..', '..', '..', 'target', 'remote')

/** A server that answers. */
export interface Server {
  port: number
  process: ChildProcess
}

/** A kind of server. */
export interface ServerKind {
  name: string
  /** The program, and whatever it was found under; nothing if it is not installed. */
  program: string | undefined
  /** The command that installs it. */
  missing: string
  /** True if it makes a bucket that is missing when something is put into it. */
  makesBuckets: boolean
  /** With a folder and a port: starts it again on its data. */
  start(program: string, folder?: string, port?: number): Promise<Server>
}

const started = new Set<ChildProcess>()
const folders: string[] = []

/** A folder that is removed after the last test: that of a server is needed as long as it runs. */
export function folderOfServer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-server-'))
  folders.push(folder)
  return folder
}

afterAll(async () => {
  for (const child of started) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve))
  }
  started.clear()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Returns a port that is free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a program that serves a port, and waits until it answers. */
export async function serve(
  command: string,
  args: (port: number) => string[],
  { port: given, env, ...user }: { port?: number; env?: NodeJS.ProcessEnv; uid?: number; gid?: number } = {},
): Promise<Server> {
  const port = given ?? (await freePort())
  const child = spawn(command, args(port), {
    ...user,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.add(child)
  let printed = ''
  child.stderr!.on('data', (text) => {
    printed += text
  })
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${printed}`)
  }
  return { port, process: child }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isThere: boolean) => {
      socket.destroy()
      setTimeout(resolve, 20, isThere)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

const installed = (...paths: string[]) => paths.find((path) => existsSync(path))

/** An S3 in memory. */
export const moto: ServerKind = {
  name: 'moto',
  program: installed(join(WORK, 'moto', 'bin', 'moto_server')),
  missing: "pip install 'moto[server,s3]'",
  makesBuckets: false,
  start: (program) => serve(program, (port) => ['-H', '127.0.0.1', '-p', String(port)]),
}

/** The same, which checks signatures, and knows no keys. */
export const motoWithKeys: ServerKind = {
  ...moto,
  name: 'moto, with keys',
  start(program) {
    const env = { INITIAL_NO_AUTH_ACTION_COUNT: '0' }
    return serve(program, (port) => ['-H', '127.0.0.1', '-p', String(port)], { env })
  },
}

/** An S3 on the disk, which checks signatures and the sizes of parts. */
export const s3sFs: ServerKind = {
  name: 's3s-fs',
  program: installed(join(WORK, 's3s', 'bin', 's3s-fs')),
  missing: 'cargo install s3s-fs --version 0.14.1 --features binary --root target/remote/s3s',
  makesBuckets: true,
  start: (program) => {
    const keys = ['--access-key', 'test', '--secret-key', 'testtest']
    return serve(program, (port) => [folderOfServer(), '--host', '127.0.0.1', '--port', String(port), ...keys])
  },
}

/** Azure Blob Storage on the disk. */
export const azurite: ServerKind = {
  name: 'Azurite',
  program: installed(join(WORK, 'node_modules', 'azurite', 'dist', 'src', 'blob', 'main.js')),
  missing: 'npm install azurite',
  makesBuckets: false,
  start: (program) =>
    serve(process.execPath, (port) => {
      const at = ['--blobHost', '127.0.0.1', '--blobPort', String(port), '--location', folderOfServer()]
      return [program, ...at, '--silent', '--skipApiVersionCheck', '--disableTelemetry']
    }),
}

/** Runs tests against a server, or says why they cannot be. */
export function describeServer(kind: ServerKind, tests: (server: () => Server) => void): void {
  const { name, program, missing, start } = kind
  describeUnless(program === undefined ? `it takes ${missing}` : '', name, () => {
    let server: Server
    beforeAll(async () => {
      server = await start(program as string)
    })
    tests(() => server)
  })
}

/** Tests that a request to a server which hangs ends in time. */
export function testHangingServer(server: () => Server, objectsWithin200Ms: () => ObjectStore): void {
  test('a server that hangs is waited for no longer than it may take', async () => {
    const objects = objectsWithin200Ms()
    process.kill(server().process.pid!, 'SIGSTOP')
    const started = Date.now()
    await expect(objects.put('o/x', Buffer.from('x'))).rejects.toThrow()
    const waited = Date.now() - started
    process.kill(server().process.pid!, 'SIGCONT')
    expect(waited).toBeLessThan(1500)
  })
}
