/** Ends a command and everything that it started. */

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { elapsed } from '../util/clock'
import { startTimer } from '../util/timer'
import { isRecord } from '../validation/validate'
import type { RunCommandOptions } from './types'

export const IS_WINDOWS = process.platform === 'win32'

/**
 * First wait before checking if a group of processes has ended. Each further wait is twice as long, because a check reads all the
 * processes of the system.
 */
const FIRST_LOOK_MS = 20
const LAST_LOOK_MS = 500

/** Loaded with the first command: it is a tenth of the time that loading the package takes, and many never run one. */
export function spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const childProcess: typeof import('node:child_process') = require('node:child_process')
  return childProcess.spawn(file, args, options)
}

export interface Exit {
  exitCode: number | null
  signal: string | null
}

/** Ends a command and everything that it started: first by asking. */
export class Stop {
  reason: 'timedOut' | 'aborted' | undefined
  /** The time that the command had, if it was too short. */
  limitMs: number | undefined
  /** Resolves when all of it has ended, or has been killed. */
  done: Promise<void> = Promise.resolve()

  constructor(
    private readonly child: ChildProcess,
    private readonly exited: Promise<Exit>,
    private readonly graceMs: number,
  ) {}

  now(reason: 'timedOut' | 'aborted', limitMs?: number): void {
    if (this.reason !== undefined || this.child.pid === undefined || hasExited(this.child)) return
    this.reason = reason
    this.limitMs = limitMs
    this.done = this.end(this.child.pid)
    this.done.catch(() => {})
  }

  private async end(pid: number): Promise<void> {
    signalGroup(pid, 'SIGTERM')
    const grace = startTimer(this.graceMs)
    let isOver = false
    grace.done.then(() => {
      isOver = true
    })
    await Promise.race([this.exited, grace.done])
    for (let wait = FIRST_LOOK_MS; !isOver && isAlive(pid); wait = Math.min(2 * wait, LAST_LOOK_MS)) {
      const look = startTimer(wait)
      await Promise.race([look.done, grace.done])
      look.cancel()
    }
    grace.cancel()
    signalGroup(pid, 'SIGKILL')
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** True if anything of the group is left that has not ended. */
function isAlive(pid: number): boolean {
  if (IS_WINDOWS) return false
  try {
    process.kill(-pid, 0)
  } catch {
    return false
  }
  return process.platform !== 'linux' || hasRunning(pid)
}

/** A zombie process still counts for a signal. */
function hasRunning(group: number): boolean {
  try {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isRunning(name, group))
  } catch {
    return true
  }
}

function isRunning(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in brackets, and may have anything in it.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(itsGroup) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (IS_WINDOWS) {
    // There are no process groups; the tree is killed.
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', () => {})
    return
  }
  try {
    process.kill(-pid, constants.signals[signal])
  } catch {
    // Gone already.
  }
}

/** Stops at the timeout and at the signal, until the answer is called. */
export function stopWhen(stop: Stop, { timeoutMs, signal }: RunCommandOptions): () => void {
  const started = elapsed()
  const abort = () => {
    if (isTimeout(signal?.reason)) stop.now('timedOut', Math.floor(elapsed() - started))
    else stop.now('aborted')
  }
  signal?.addEventListener('abort', abort, { once: true })
  const timeout = timeoutMs === undefined ? undefined : startTimer(timeoutMs)
  timeout?.done.then((isUp) => {
    if (isUp) stop.now('timedOut', timeoutMs)
  })
  return () => {
    timeout?.cancel()
    signal?.removeEventListener('abort', abort)
  }
}

/** The reason of `AbortSignal.timeout`, of whatever realm. */
function isTimeout(reason: unknown): boolean {
  return isRecord(reason) && reason.name === 'TimeoutError'
}
