/** The command as users run it: in a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CLI = join(__dirname, '..', '..', 'dist', 'cli', 'main.js')

/** The command as it can be typed where it is in no folder of the path. */
export const HERE = `${process.execPath} ${CLI}`

export interface Ran {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  input?: string | Buffer
  env?: NodeJS.ProcessEnv
  cwd?: string
}

const started = new Set<ChildProcess>()

afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})

/** Starts any command; it does not outlive the test. */
export function start(file: string, args: readonly string[], { env, cwd }: RunOptions = {}): ChildProcess {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, NODE_OPTIONS: undefined, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  started.add(child)
  child.once('close', () => started.delete(child))
  return child
}

/** Output of a process, and how it ended. */
export function ended(child: ChildProcess): Promise<Ran> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout!.on('data', (bytes: Buffer) => stdout.push(bytes))
  child.stderr!.on('data', (bytes: Buffer) => stderr.push(bytes))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    )
  })
}

/** Runs the command to its end. */
export async function cli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = start(process.execPath, [CLI, ...args], options)
  const end = ended(child)
  child.stdin!.on('error', () => {})
  child.stdin!.end(options.input ?? '')
  return end
}

/** Runs a line of the shell in which `spillway` is the command. */
export async function shell(line: string, options: RunOptions = {}): Promise<Ran> {
  const child = start('bash', ['-c', `spillway() { "${process.execPath}" "${CLI}" "$@"; }; ${line}`], options)
  const end = ended(child)
  child.stdin!.on('error', () => {})
  child.stdin!.end(options.input ?? '')
  return end
}

/** Returns true if a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits for something that another process does. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
