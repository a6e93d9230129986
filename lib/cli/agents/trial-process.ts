/** A process of a setup that is tried: it has a time limit, and ends with everything that it started. */

import { type ChildProcess, spawn } from 'node:child_process'

export interface Trial {
  /** A line of the shell, or a program with its arguments. */
  command: string | readonly string[]
  /** Written to its standard input, which stays open if `until` is given. */
  input: string
  /** The trial is over when it has printed this. */
  until?: (stdout: string) => boolean
  cwd?: string
  env?: NodeJS.ProcessEnv
  timeoutMs: number
}

/** How a process of a setup ended. */
export interface TrialEnd {
  stdout: string
  stderr: string
  ms: number
  /** The reason why it was not successful. */
  problem?: string
  /** True if it was ended because it did not answer in time. */
  isLate?: true
}

/** The time to end in before it is killed. */
const GRACE_MS = 1000

export function runTrial({ command, input, until, cwd, env, timeoutMs }: Trial): Promise<TrialEnd> {
  const [file, ...args] = typeof command === 'string' ? [command] : command
  const startedAt = Date.now()
  const child = spawn(file ?? '', args, {
    cwd,
    env: { ...process.env, ...env },
    shell: typeof command === 'string',
    windowsHide: true,
    // A group of its own, so that what it starts ends with it.
    detached: process.platform !== 'win32',
  })
  let [stdout, stderr] = ['', '']
  return new Promise((resolve) => {
    let end: TrialEnd | undefined
    const over = (reason: Pick<TrialEnd, 'problem' | 'isLate'> = {}) => {
      if (end !== undefined) return
      end = { stdout, stderr, ms: Date.now() - startedAt, ...reason }
      clearTimeout(late)
      child.stdin.end()
      stopGroup(child, 'SIGTERM')
      const kill = setTimeout(() => stopGroup(child, 'SIGKILL'), GRACE_MS)
      const leave = () => {
        clearTimeout(kill)
        stopGroup(child, 'SIGKILL')
        // A process that left the group may hold the other ends.
        for (const stream of child.stdio) stream?.destroy()
        resolve({ ...(end as TrialEnd), stderr })
      }
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) leave()
      else child.once('exit', leave)
    }
    const late = setTimeout(() => over({ problem: lateProblem(timeoutMs, stderr), isLate: true }), timeoutMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (until?.(stdout)) over()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin.on('error', () => {})
    child.once('error', ({ message }) => over({ problem: message }))
    child.once('close', (code, signal) => {
      if (code === 0 && until === undefined) over()
      else over({ problem: saidIn(stderr) ?? (signal === null ? `exit code ${code}` : `ended by ${signal}`) })
    })
    if (until === undefined) child.stdin.end(input)
    else child.stdin.write(input)
  })
}

function lateProblem(timeoutMs: number, stderr: string): string {
  const said = saidIn(stderr)
  return `no answer within ${timeoutMs / 1000} s${said === undefined ? '' : `; it printed: ${said}`}`
}

/** The line that says what is wrong: Node says it in the middle of a trace. */
export function saidIn(stderr: string): string | undefined {
  const lines = stderr.trim().split('\n')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? (lines.at(-1) || undefined)
}

function stopGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // All of it has ended.
  }
}
