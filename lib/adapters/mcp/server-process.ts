/** A server that is a process: messages over its standard input and output. */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { closeWhenIdle } from './close-pipe'
import type { Connection, Receiver } from './connection'
import type { McpProcessOptions, McpServerExit } from './options'

const KILL_AFTER_MS = 5000

export class ServerProcess implements Connection {
  readonly input: Writable
  private readonly child: ChildProcess
  private readonly exited: Promise<McpServerExit>

  constructor({ command, args = [], cwd, env }: McpProcessOptions) {
    this.child = spawn(command, args, {
      cwd,
      env: env ? { ...process.env, ...env } : process.env,
      stdio: ['pipe', 'pipe', 'inherit'],
      windowsHide: true,
    })
    this.input = this.child.stdin!
    this.exited = new Promise<McpServerExit>((resolve, reject) => {
      this.child.once('error', reject)
      this.child.once('exit', (code, signal) => {
        resolve({ code, signal })
        closeWhenIdle(this.child.stdout as Socket)
      })
    })
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  async read(receiver: Receiver): Promise<McpServerExit> {
    const [exit] = await Promise.all([this.exited, receiver.take(this.child.stdout!).catch(() => {})])
    return exit
  }

  stop(signal: NodeJS.Signals): void {
    this.child.kill(signal)
    // The others may mean something else to a server: to read its settings again, or to give up one thing.
    if (signal === 'SIGTERM') setTimeout(() => this.child.kill('SIGKILL'), KILL_AFTER_MS).unref()
  }
}
