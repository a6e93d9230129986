/** The output of a command that runs in another process: `spillway run` answers on a socket in the store, `spillway tail -f` asks there. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningCommand } from 'spillway'
import { makeFolder } from '../util/make-folder'
import { Live } from './live-output'

/** A shorter command is not worth a socket, which takes a few milliseconds. */
const AFTER_MS = 500
/** Bytes of the output so far that a follower is sent. */
const BEFORE_BYTES = 32 * 1024
/** A follower that does not read is left behind. */
const MAX_WAITING = 8 * 2 ** 20

const NAME = /^running-\d+\.sock$/

/** Lets others follow a running command. Where that is not possible, the command runs without followers. */
export class Followers {
  private timer: NodeJS.Timeout | undefined
  private close: () => Promise<void> = async () => {}

  constructor(private readonly dir: () => string | undefined) {}

  allow(running: RunningCommand): void {
    if (process.platform === 'win32') return
    this.timer = setTimeout(() => void this.listen(running), AFTER_MS)
    this.timer.unref()
  }

  /** Sends followers the rest. */
  async end(): Promise<void> {
    clearTimeout(this.timer)
    await this.close()
  }

  private async listen(running: RunningCommand): Promise<void> {
    const dir = this.dir()
    if (dir === undefined) return
    const path = join(dir, `running-${process.pid}.sock`)
    const { createServer } = await import('node:net')
    const followers = new Map<Live, import('node:net').Socket>()
    const server = createServer(async (socket) => {
      socket.on('error', () => {})
      const so = await running.readRange({ fromByte: 0, byteCount: 1 }).catch(() => undefined)
      const live = new Live(
        (text) => {
          if (socket.writableLength > MAX_WAITING) socket.destroy()
          else socket.write(text)
        },
        Math.max(0, (so?.totalBytes ?? 0) - BEFORE_BYTES),
      )
      followers.set(live, socket)
      socket.on('close', () => {
        live.stop()
        followers.delete(live)
      })
      live.follow(running)
    })
    server.on('error', () => {})
    server.unref()
    this.close = async () => {
      const ends = [...followers].map(async ([live, socket]) => {
        await live.end()
        // A follower that has stopped reading must not keep the command from ending.
        await new Promise<void>((resolve) => {
          socket.setTimeout(1000, () => socket.destroy())
          socket.once('close', () => resolve())
          if (socket.destroyed) resolve()
          else socket.end()
        })
      })
      await Promise.all(ends)
      server.close()
    }
    try {
      makeFolder(dir)
      // A process of the same number may have left one.
      rmSync(path, { force: true })
      server.listen(path)
    } catch {
      // It is only not followed.
    }
  }
}

/**
 * Follows the command that was started last and still runs.
 * @param dirs the folders of a store
 * @returns false if none runs
 */
export async function followNewest(
  dirs: readonly string[],
  write: (text: Uint8Array) => Promise<void>,
): Promise<boolean> {
  const { connect } = await import('node:net')
  for (const path of socketsIn(dirs)) {
    const socket = connect(path)
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve)
        socket.once('error', reject)
      })
    } catch {
      // Its process was killed.
      rmSync(path, { force: true })
      continue
    }
    for await (const piece of socket) await write(piece as Uint8Array)
    return true
  }
  return false
}

function socketsIn(dirs: readonly string[]): string[] {
  const found = dirs.flatMap((dir) => {
    try {
      return readdirSync(dir)
        .filter((name) => NAME.test(name))
        .map((name) => join(dir, name))
    } catch {
      return []
    }
  })
  const times = new Map(found.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0]))
  return found.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0))
}
