/** Redis and PostgreSQL on the loopback interface. */

import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { postgresCoordination } from 'spillway/postgres'
import { type IoredisClient, redisCoordination } from 'spillway/redis'
import type { Coordination } from 'spillway/remote'
import { folderOfServer, type Server, type ServerKind, serve } from './servers'

/** A server, and how a worker reaches it. */
export interface CoordinationServer extends ServerKind {
  connect(port: number, requestTimeoutMs?: number): Coordination
}

/** A program of the system; nothing if it is not installed. */
function programOf(name: string): string | undefined {
  const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return found.status === 0 ? found.stdout.trim() : undefined
}

/** Redis that writes every change to its disk. */
export const redis: CoordinationServer = {
  name: 'Redis',
  program: programOf('redis-server') ?? programOf('valkey-server'),
  missing: 'apt-get install redis-server',
  makesBuckets: false,
  start(program, folder = folderOfServer(), port) {
    const durable = ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
    const at = port === undefined ? {} : { port }
    return serve(program, (free) => ['--bind', '127.0.0.1', '--port', String(free), ...durable], at)
  },
  connect: (port, requestTimeoutMs = 5000) => redisCoordination({ url: `redis://127.0.0.1:${port}`, requestTimeoutMs }),
}

/** The same, by a client of `ioredis`, which the tests leave to the end of the process. */
export const ioredis: CoordinationServer = {
  ...redis,
  name: 'Redis, by ioredis',
  connect(port, requestTimeoutMs = 5000) {
    const { Redis } = require('ioredis') as { Redis: new (port: number, host: string) => IoredisClient }
    const client = new Redis(port, '127.0.0.1')
    client.on('error', () => {})
    return redisCoordination({ client, requestTimeoutMs })
  },
}

/** The folder of PostgreSQL's own programs: Debian has it outside of the path. */
function postgresFolder(): string | undefined {
  const versions = '/usr/lib/postgresql'
  const [newest] = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : []
  return newest === undefined ? undefined : join(versions, newest, 'bin')
}

/** It refuses to run as root. */
const postgresUser = () =>
  process.getuid!() === 0
    ? {
        uid: Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })),
        gid: Number(execFileSync('id', ['-g', 'postgres'], { encoding: 'utf8' })),
      }
    : {}

export const postgres: CoordinationServer = {
  name: 'PostgreSQL',
  program: postgresFolder(),
  missing: 'apt-get install postgresql',
  makesBuckets: false,
  start(program, folder = folderOfServer(), port) {
    const user = postgresUser()
    const data = join(folder, 'data')
    if (!existsSync(data)) {
      if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
      execFileSync(join(program, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'tests'], { ...user, stdio: 'ignore' })
    }
    const args = (free: number) => ['-D', data, '-h', '127.0.0.1', '-p', String(free), '-k', folder]
    return serve(join(program, 'postgres'), args, { ...user, ...(port !== undefined && { port }) })
  },
  connect: (port, requestTimeoutMs = 5000) =>
    postgresCoordination({ url: `postgres://tests@127.0.0.1:${port}/postgres`, requestTimeoutMs }),
}

/** SIGQUIT is PostgreSQL's crash: it ends at once, with its processes, and recovers from its log. */
export async function killServer(kind: CoordinationServer, { process: child }: Server): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(kind === postgres ? 'SIGQUIT' : 'SIGKILL')
  await ended
}
