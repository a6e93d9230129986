/** Scripts in a process of their own, for what a process has only once: its umask, its user, its environment, its life. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const PACKAGE = join(__dirname, '..', '..', 'index.js')

export interface ChildOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** What the script sees as `input`. */
  input?: unknown
  /** Runs as another user; only root may ask for that. */
  uid?: number
}

/** A script that has `spillway` and `input`, and hands over one value with `answer(value)`. */
function program(body: string, input: unknown): string {
  return `
    const spillway = require(${JSON.stringify(PACKAGE)})
    const input = ${JSON.stringify(input ?? null)}
    const answer = (value) => require('node:fs').writeSync(1, JSON.stringify(value))
    const main = async () => { ${body} }
    main().catch((error) => { console.error(error); process.exitCode = 1 })`
}

/** Runs a script to its end and gives back its answer. */
export function runChild<T>(body: string, { env, cwd, input, uid }: ChildOptions = {}): T {
  const node = [process.execPath, '-e', program(body, input)]
  const [command, ...args] =
    uid === undefined
      ? node
      : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', ...node]
  const { status, stdout, stderr, error } = spawnSync(command!, args, {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, SPILLWAY_STORAGE_DIR: '', ...env },
  })
  if (error) throw error
  if (status !== 0) throw new Error(`the child ended with ${status}: ${stderr}`)
  return JSON.parse(stdout) as T
}

const started = new Set<ChildProcess>()

// A test that fails half-way must not leave a process behind that holds the runner's own output open.
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})

/** Starts a script and leaves it running, until the test ends. What it reports as an error is not the runner's output. */
export function startChild(body: string, { env, input }: ChildOptions = {}): ChildProcess {
  const child = spawn(process.execPath, ['-e', program(body, input)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  child.stderr.resume()
  started.add(child)
  return child
}
