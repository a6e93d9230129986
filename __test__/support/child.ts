/** Scripts in a process of their own, for what a process has only once: its umask, its user, its environment, its life. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isLong } from './only'

const PACKAGE = join(__dirname, '..', '..', 'index.js')

export interface ChildOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Value of `input` in the script. */
  input?: unknown
  /** Runs as another user; only root may ask for that. */
  uid?: number
  /** The command that runs it: `['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh']`, a tracer, a new namespace. */
  under?: readonly string[]
  /** Options of Node itself. */
  node?: readonly string[]
  /** When it is ended, whatever it does. Default: a minute, and half an hour where tests are run at full length. */
  timeoutMs?: number
}

/** A script that has `spillway`, `subpath('history')` and `input`, and hands over one value with `answer(value)`. */
function program(body: string, input: unknown): string {
  return `
    const spillway = require(${JSON.stringify(PACKAGE)})
    const subpath = (name) => require('node:module').createRequire(${JSON.stringify(PACKAGE)})('spillway/' + name)
    const input = ${JSON.stringify(input ?? null)}
    const answer = (value) => require('node:fs').writeSync(1, JSON.stringify(value))
    const main = async () => { ${body} }
    main().catch((error) => { console.error(error); process.exitCode = 1 })`
}

/** How a script ended, and everything that it wrote. */
export interface Ended {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

function commandOf(body: string, { input, uid, under = [], node = [] }: ChildOptions): [string, string[]] {
  const user =
    uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs']
  const [command, ...args] = [...under, ...user, process.execPath, ...node, '-e', program(body, input)]
  return [command!, args]
}

/** Runs a script to its end, however it ends. */
export function endChild(body: string, options: ChildOptions = {}): Ended {
  const { env, cwd, timeoutMs = isLong ? 1_800_000 : 60_000 } = options
  const [command, args] = commandOf(body, options)
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, SPILLWAY_STORAGE_DIR: '', ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 2 ** 26,
  })
  if (error) throw error
  return { status, signal, stdout, stderr }
}

/** Runs a script to its end and gives back its answer. */
export function runChild<T>(body: string, options: ChildOptions = {}): T {
  const { status, signal, stdout, stderr } = endChild(body, options)
  if (status !== 0) throw new Error(`the child ended with ${status ?? signal}: ${stderr}`)
  return JSON.parse(stdout) as T
}

const started = new Set<ChildProcess>()

// A test that fails half-way must not leave a process that holds the runner's own output open.
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})

/** Starts a script and leaves it running, until the test ends. Its standard error is not the runner's output. */
export function startChild(body: string, options: ChildOptions = {}): ChildProcess {
  const [command, args] = commandOf(body, options)
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  })
  child.stderr.resume()
  started.add(child)
  return child
}
