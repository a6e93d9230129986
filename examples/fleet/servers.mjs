// Real servers on 127.0.0.1 at free ports: a bucket and shared state, with the programs that this machine has.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REMOTE = join(ROOT, 'target', 'remote')
const FOLDERS = [...(process.env.NODE_PATH ?? '').split(delimiter), join(REMOTE, 'node_modules')].filter(Boolean)

/** The folder that has a package; nothing if it is not installed. */
const folderOf = (name) => FOLDERS.find((folder) => existsSync(join(folder, name)))

/** Where workers find the clients of the servers. */
export const MODULES = FOLDERS.join(delimiter)

/** The account that every Azurite has; its key is printed in the documentation. */
const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
const S3_KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'testtest', AWS_EC2_METADATA_DISABLED: 'true' }

const BUCKETS = {
  's3s-fs': {
    client: '@aws-sdk/client-s3',
    program: () => existing(join(REMOTE, 's3s', 'bin', 's3s-fs')) ?? inPath('s3s-fs'),
    async start(program, folder) {
      const keys = ['--access-key', 'test', '--secret-key', 'testtest']
      return s3At(await serve(program, (port) => [folder, '--host', '127.0.0.1', '--port', `${port}`, ...keys]))
    },
  },
  moto: {
    client: '@aws-sdk/client-s3',
    program: () => existing(join(REMOTE, 'moto', 'bin', 'moto_server')) ?? inPath('moto_server'),
    start: async (program) => s3At(await serve(program, (port) => ['-H', '127.0.0.1', '-p', `${port}`])),
  },
  azurite: {
    client: '@azure/storage-blob',
    program: () => existing(join(folderOf('azurite') ?? '', 'azurite', 'dist', 'src', 'blob', 'main.js')),
    async start(program, folder) {
      const server = await serve(process.execPath, (port) => [
        ...[program, '--blobHost', '127.0.0.1', '--blobPort', `${port}`, '--location', folder],
        ...['--silent', '--skipApiVersionCheck', '--disableTelemetry'],
      ])
      const endpoint = `BlobEndpoint=http://127.0.0.1:${server.port}/devstoreaccount1`
      const account = `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${AZURITE_KEY};${endpoint}`
      const { ContainerClient } = required('@azure/storage-blob')
      await new ContainerClient(account, 'agent-outputs').create()
      const env = { AZURE_STORAGE_CONNECTION_STRING: account }
      return { ...server, env: { ...env, SPILLWAY_STORE: 'azblob://devstoreaccount1/agent-outputs/example' } }
    },
  },
}

async function s3At(server) {
  const endpoint = `http://127.0.0.1:${server.port}`
  const credentials = { accessKeyId: 'test', secretAccessKey: 'testtest' }
  const { S3 } = required('@aws-sdk/client-s3')
  await new S3({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials }).createBucket({
    Bucket: 'agent-outputs',
  })
  const url = `s3://agent-outputs/example?endpoint=${endpoint}&region=us-east-1`
  return { ...server, env: { ...S3_KEYS, SPILLWAY_STORE: url } }
}

const COORDINATIONS = {
  redis: {
    client: 'redis',
    program: () => inPath('redis-server') ?? inPath('valkey-server'),
    async start(program, folder) {
      const kept = ['--dir', folder, '--appendonly', 'yes', '--save', '']
      const server = await serve(program, (port) => ['--bind', '127.0.0.1', '--port', `${port}`, ...kept])
      return { ...server, env: { SPILLWAY_COORDINATION: `redis://127.0.0.1:${server.port}/0?prefix=example` } }
    },
  },
  postgres: {
    client: 'pg',
    program: postgresFolder,
    async start(program, folder) {
      const user = await postgresUser(folder)
      const data = join(folder, 'data')
      execFileSync(join(program, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'agents'], { ...user, stdio: 'ignore' })
      const server = await serve(
        join(program, 'postgres'),
        (port) => ['-D', data, '-h', '127.0.0.1', '-p', `${port}`, '-k', folder],
        user,
      )
      const url = `postgres://agents@127.0.0.1:${server.port}/postgres?schema=example`
      return { ...server, env: { SPILLWAY_COORDINATION: url } }
    },
  },
}

/** Starts the bucket and the shared state; those that are named, else the first that can be had. */
export async function startServers({ bucket, coordination }) {
  const kinds = [pick('bucket', BUCKETS, bucket), pick('coordination', COORDINATIONS, coordination)]
  const started = []
  try {
    for (const kind of kinds) started.push(await startKind(kind))
  } catch (error) {
    for (const { process: child } of started) child.kill('SIGKILL')
    throw error
  }
  return started
}

/** Starts the bucket alone. */
export const startBucket = (asked) => startKind(pick('bucket', BUCKETS, asked))

async function startKind({ name, program, start }) {
  const folder = mkdtempSync(join(tmpdir(), `spillway-${name}-`))
  return { name, folder, ...(await start(program, folder)) }
}

/** A problem that the reader of the message can solve. */
export class CannotStart extends Error {}

function pick(what, kinds, asked) {
  if (asked !== undefined && !Object.hasOwn(kinds, asked))
    throw new CannotStart(`--${what} ${asked}: expected ${Object.keys(kinds).join(', ')}`)
  const candidates = Object.entries(kinds).filter(([name]) => asked === undefined || name === asked)
  for (const [name, { program, client, start }] of candidates) {
    const found = program()
    if (found !== undefined && folderOf(client) !== undefined) return { name, program: found, start }
  }
  const system =
    what === 'bucket' ? '' : '\nAnd a server: apt-get install redis-server, or valkey-server, or postgresql.'
  const names = candidates.map(([name]) => name).join(' or ')
  throw new CannotStart(
    `There is no ${names} for the ${what}. In the folder of Spillway run once: npm run test:remote -- --install${system}`,
  )
}

/** Starts a program that serves a port, and waits until it answers. */
async function serve(command, args, user = {}) {
  const port = await freePort()
  const child = spawn(command, args(port), { ...user, stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  let failure
  child.stderr.on('data', (text) => {
    printed = (printed + text).slice(-2000)
  })
  child.once('error', (error) => {
    failure = error
  })
  while (!(await answers(port))) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null)
      throw new CannotStart(`${command} did not start: ${failure?.message ?? printed}`)
  }
  return { port, process: child }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isThere) => {
      socket.destroy()
      setTimeout(resolve, 20, isThere)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

const existing = (path) => (existsSync(path) ? path : undefined)
const required = (name) => createRequire(join(folderOf(name), 'index.js'))(name)

function inPath(name) {
  const found = spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' })
  return found.status === 0 ? found.stdout.trim() : undefined
}

/** The folder of PostgreSQL's own programs: Debian has it outside of the path. */
function postgresFolder() {
  const versions = '/usr/lib/postgresql'
  const [newest] = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : []
  if (newest !== undefined) return join(versions, newest, 'bin')
  const initdb = inPath('initdb')
  return initdb && join(initdb, '..')
}

/** It refuses to run as root. */
async function postgresUser(folder) {
  if (process.getuid() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })))
  chownSync(folder, uid, gid)
  return { uid, gid }
}
