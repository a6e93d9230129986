/**
 * The proxies of one host, each with a server of its own: one of them offers the tools that read saved outputs, so that the
 * model sees them once. The oldest proxy is the first; when it ends, however it ends, the next one takes over.
 *
 * Each proxy listens on a socket whose number is one above all that are there, and holds a connection to the lowest that answers. A
 * system closes connections of a process that is killed, so nothing has to be looked at from time to time, and no file has to be
 * removed by the one that ended. Where no socket can be made every proxy is the first.
 */

import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { makeFolder } from '../../util/make-folder'

const ATTEMPTS = 50
/** A new socket does not answer before it listens. */
const RETRY_MS = 50
const CONNECT_MS = 1000
/** Systems have no longer paths of sockets. */
const MAX_PATH_LENGTH = 100
const MAX_LAUNCHERS = 6

export class Siblings {
  /** True if this proxy offers the tools. */
  isFirst = false
  private server: Server | undefined
  private number = 0
  private joined: Promise<void> | undefined
  private hasLeft = false
  private readonly folder: string
  private readonly sockets = new Set<Socket>()

  /**
   * @param scope proxies with the same one are siblings
   * @param onFirst is called when the one that was the first has ended and this one takes its place
   */
  constructor(
    scope: readonly string[],
    private readonly onFirst: () => void,
  ) {
    const key = createHash('sha256').update(JSON.stringify(scope)).digest('hex').slice(0, 16)
    this.folder = process.platform === 'win32' ? `\\\\.\\pipe\\spillway-mcp-${key}` : join(baseOf(key), key)
  }

  /** Resolves when it is known which one is the first. */
  join(): Promise<void> {
    this.joined ??= this.enter().catch(() => {
      this.isFirst = true
    })
    return this.joined
  }

  leave(): void {
    this.hasLeft = true
    this.server?.close(() => {
      try {
        rmdirSync(this.folder)
      } catch {
        // Others are in it.
      }
    })
    for (const socket of this.sockets) socket.destroy()
  }

  private async enter(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // The last one that left has removed it.
      if (process.platform !== 'win32') makePrivate(this.folder)
      const number = Math.max(0, ...this.numbers()) + 1
      const server = await this.listen(this.pathOf(number))
      if (server === undefined) {
        // The name is taken. A pipe has one name, so its owner is followed there.
        if (process.platform === 'win32' && (await this.follow([1]))) return
        continue
      }
      this.number = number
      this.server = server
      // Proxies that came before this one listened took it for ended. The others that came since then follow it, so it must stay.
      if (process.platform !== 'win32' && !this.numbers().includes(number)) {
        server.close()
        continue
      }
      await this.elect()
      return
    }
    this.isFirst = true
  }

  private async elect(): Promise<void> {
    const lower = this.numbers().filter((number) => number < this.number)
    if (!(await this.follow(lower.sort((a, b) => a - b)))) this.isFirst = true
  }

  /** Holds a connection to the first of these that answers. */
  private async follow(numbers: readonly number[]): Promise<boolean> {
    for (const number of numbers) {
      const socket = await this.reach(this.pathOf(number))
      if (socket === undefined) continue
      socket.once('close', () => void this.succeed())
      return true
    }
    return false
  }

  private async succeed(): Promise<void> {
    if (this.hasLeft) return
    try {
      if (process.platform === 'win32') await this.enter()
      else await this.elect()
    } catch {
      this.isFirst = true
    }
    if (this.isFirst && !this.hasLeft) this.onFirst()
  }

  private pathOf(number: number): string {
    return process.platform === 'win32' ? this.folder : join(this.folder, `${number}.sock`)
  }

  private numbers(): number[] {
    if (process.platform === 'win32') return []
    return readdirSync(this.folder).flatMap((name) => (/^\d{1,9}\.sock$/.test(name) ? [Number.parseInt(name, 10)] : []))
  }

  private listen(path: string): Promise<Server | undefined> {
    return new Promise((resolve, reject) => {
      const server = createServer((socket) => this.keep(socket))
      server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE' || error.code === 'ENOENT') resolve(undefined)
        else reject(error)
      })
      server.listen(path, () => {
        server.removeAllListeners('error').on('error', () => {})
        resolve(server.unref())
      })
    })
  }

  /** Returns a connection, or `undefined` if no process listens; a stale socket is removed. */
  private async reach(path: string): Promise<Socket | undefined> {
    for (const isLast of [false, true]) {
      const answer = await new Promise<Socket | string>((resolve) => {
        const socket = connect(path)
        this.keep(socket)
        socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('timeout')))
        socket.once('connect', () => resolve(socket.setTimeout(0)))
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      })
      if (typeof answer !== 'string') return answer
      if (answer !== 'ECONNREFUSED') return undefined
      if (!isLast) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
    try {
      unlinkSync(path)
    } catch {
      // Another process was faster.
    }
    return undefined
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket.unref())
    socket.on('error', () => {})
    socket.once('close', () => this.sockets.delete(socket))
    // The end of the other side shows only to who reads.
    socket.resume()
  }
}

/** The folder of sockets of this user. */
function baseOf(key: string): string {
  const name = `spillway-mcp-${userInfo().uid}`
  const base = join(tmpdir(), name)
  return Buffer.byteLength(join(base, key, '999999999.sock')) <= MAX_PATH_LENGTH ? base : join('/tmp', name)
}

/** Makes a folder that others can neither read nor fill. */
function makePrivate(folder: string): void {
  makeFolder(folder)
  for (const each of [join(folder, '..'), folder]) {
    const { uid, mode } = lstatSync(each)
    if (!lstatSync(each).isDirectory() || uid !== userInfo().uid || (mode & 0o077) !== 0) {
      throw new Error(`${each} belongs to others`)
    }
  }
}

/** Identifies a host: the process that started this one, whatever launched it in between. */
export function hostProcess(): string {
  let pid = process.ppid
  for (let count = 0; count < MAX_LAUNCHERS && process.platform === 'linux'; count += 1) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name may hold blanks and brackets.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      const parent = Number(fields[1])
      if (!isLauncher(words) || parent <= 1) return `${pid}:${fields[19]}`
      pid = parent
    } catch {
      break
    }
  }
  return String(pid)
}

/** `npx --no-install spillway mcp` is npm, which starts a shell, which starts us. */
function isLauncher([program = '', first = '', ...rest]: string[]): boolean {
  const name = basename(program.split(' ')[0] ?? '')
  if (/^(sh|bash|dash|zsh)$/.test(name)) return first === '-c'
  if (/^(npm|npx|pnpm|pnpx|yarn|bunx)$/.test(name)) return true
  return (
    /^(node|bun)$/.test(name) &&
    [first, ...rest].slice(0, 2).some((word) => /^(npm|npx|pnpm|yarn)(-cli)?(\.c?js)?$/.test(basename(word)))
  )
}
