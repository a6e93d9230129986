// Runs one command after another with a line that shows the progress. Needs nothing but Node, because it runs
// before anything is installed.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const isTerminal = process.stderr.isTTY === true

/**
 * Runs a command and shows its progress. Its output is shown only if it fails, or at once with `show`. With
 * `isPatient` it takes what other programs leave of the processors. Returns the output; throws if the command fails.
 */
export async function step(title, command, args, { show = false, isPatient = false, env = {}, cwd = ROOT } = {}) {
  const started = Date.now()
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`
  if (show) process.stderr.write(`» ${title}\n`)
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  if (isPatient) yieldProcessor(child.pid)
  let printed = ''
  let last = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      printed += text
      if (show) process.stdout.write(text)
      last = text.trim().split('\n').at(-1) || last
    })
  }
  const width = Math.max(20, (process.stderr.columns ?? 80) - 1)
  const draw = () => {
    const line = `» ${title} (${seconds()}) ${last.replace(/[^\x20-\x7e]/g, '')}`
    process.stderr.write(`\r${line.slice(0, width).padEnd(width)}`)
  }
  const timer = !show && isTerminal ? setInterval(draw, 200) : undefined
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => {
    clearInterval(timer)
    if (timer) process.stderr.write(`\r${' '.repeat(width)}\r`)
  })
  if (code !== 0) {
    if (!show) process.stderr.write(printed)
    throw Object.assign(new Error(`${title} failed: ${command} ${args.join(' ')} ended with ${code}`), { printed })
  }
  if (!show) process.stderr.write(`✓ ${title} (${seconds()})\n`)
  return printed
}

/** Gives a process and what it starts from now on the lowest priority. */
export function yieldProcessor(pid) {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
}

/** The binary that was built here: the functions behind the facade, for what has to look at them alone. */
export function builtBinary() {
  const name = readdirSync(ROOT).find((file) => /^spillway\..*\.node$/.test(file))
  if (!name) throw new Error('Nothing is built: run npm run build')
  return join(ROOT, name)
}

// Not `npm ci`: it refuses a lock file that was made where a registry lacks the binaries of other platforms.
const INSTALL = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs what the lock file says, unless that is installed already. */
export async function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  const stamp = join(ROOT, 'node_modules', '.spillway-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  await step('Installing development tools', 'npm', [...INSTALL])
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, lock)
}

/** Builds the binary and the facade. Cargo and TypeScript do only what has changed. */
export async function build() {
  await install()
  await step('Building the native add-on', 'npx', [
    ...['napi', 'build', '--platform', '--release', '--no-const-enum', '--manifest-path', 'src/node/Cargo.toml'],
    ...['--package-json-path', 'package.json', '--output-dir', '.', '--no-js', '--dts', 'binding.d.ts'],
  ])
  await step('Building the TypeScript facade', 'npx', ['tsc', '-p', '.'])
  await step('Bundling it', process.execPath, ['scripts/build/bundle.mjs'])
}

/** Runs a script's main function and turns a failure into an exit code. */
export async function main(work) {
  try {
    await work()
  } catch (error) {
    process.stderr.write(`\n${error.message}\n`)
    process.exitCode = 1
  }
}
