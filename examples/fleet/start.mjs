// Three workers, a page, a bucket and a server for shared state, all on this machine. The worker that waits for an answer is killed; the
// answer is given on the page, and another worker continues the session.
//
//     node examples/fleet/start.mjs           until Ctrl+C; the page asks you
//     node examples/fleet/start.mjs --check   answers as the page does, checks the result, and ends
//
// --bucket s3s-fs|moto|azurite and --coordination redis|postgres name the servers; by default the first that is installed.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { check, questionOn } from './check.mjs'
import { CannotStart, MODULES, startServers } from './servers.mjs'
import { TASKS, WORK_FOLDER } from './task.mjs'

const STRING = { type: 'string' }
const { values } = parseArgs({ options: { check: { type: 'boolean' }, bucket: STRING, coordination: STRING } })
const folder = mkdtempSync(join(tmpdir(), 'spillway-fleet-'))
const deployed = join(folder, 'deployed')
const children = []
/** Is rejected when a program ends that should not have ended. */
const failed = withResolvers()
failed.promise.catch(() => {})
/** The programs that may end. */
const ending = new Set()

/** Starts a program of this folder with a home and a spool of its own, as a pod has, and passes on each line of JSON it prints. */
function start(file, name, env, heard) {
  const home = join(folder, name)
  mkdirSync(home)
  const own = { HOME: home, XDG_DATA_HOME: home, SPILLWAY_SPOOL_DIR: join(home, 'spool'), DEPLOYED: deployed }
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), name], {
    cwd: WORK_FOLDER,
    env: { ...process.env, NODE_PATH: MODULES, NODE_NO_WARNINGS: '1', ...env, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  child.once('exit', (code, signal) => {
    if (!ending.has(child)) failed.reject(new CannotStart(`${name} has ended: ${signal ?? `code ${code}`}`))
  })
  createInterface({ input: child.stdout }).on('line', (line) => heard(JSON.parse(line)))
  return child
}

/** Ends what was started, the servers last. */
async function stop(servers) {
  for (const [child, signal] of [
    ...children.map((child) => [child, 'SIGTERM']),
    ...servers.map(({ process: child }) => [child, 'SIGKILL']),
  ]) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    ending.add(child)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const late = setTimeout(() => child.kill('SIGKILL'), 5000)
    child.kill(signal)
    await ended
    clearTimeout(late)
  }
  for (const each of [folder, ...servers.map(({ folder: own }) => own)]) rmSync(each, { recursive: true, force: true })
}

async function main() {
  const servers = await startServers(values)
  try {
    const env = Object.assign({}, ...servers.map((server) => server.env))
    console.log(`The bucket is of ${servers[0].name}, the shared state in ${servers[1].name}.`)
    const page = await unlessFailed(new Promise((resolve) => start('page.mjs', 'page', env, resolve)))

    const events = []
    const left = new Set(Object.keys(TASKS))
    const workers = {}
    const killed = withResolvers()
    const finished = withResolvers()
    for (const name of ['worker-1', 'worker-2', 'worker-3']) {
      workers[name] = start('worker.mjs', name, env, (event) => {
        events.push(event)
        const { sessionId, worker, state, command = '' } = event
        console.log(`${sessionId}: ${worker} ${state} ${command}`.trimEnd())
        if (state === 'done' && left.delete(sessionId) && left.size === 0) finished.resolve()
        if (state !== 'waits' || killed.worker !== undefined) return
        killed.worker = worker
        void questionOn(page).then(() => {
          workers[worker].once('exit', () => killed.resolve(worker))
          ending.add(workers[worker])
          workers[worker].kill('SIGKILL')
        }, failed.reject)
      })
    }
    const victim = await unlessFailed(killed.promise)
    console.log(`${victim} was killed while it waited for an answer, and its disk is gone.`)
    rmSync(join(folder, victim), { recursive: true, force: true })
    const timesDeployed = () => (existsSync(deployed) ? readFileSync(deployed, 'utf8').split('\n').length - 1 : 0)
    if (values.check) await check({ page, events, victim, finished: unlessFailed(finished.promise), timesDeployed })
    else {
      console.log(`Answer the question on the page: ${page.url}#token=${page.token}`)
      await unlessFailed(finished.promise)
      console.log('Every session is done. The page shows the outputs until Ctrl+C.')
      await failed.promise
    }
  } finally {
    await stop(servers)
  }
}

/** Waits for something, unless a program ends or Ctrl+C is pressed before. */
function unlessFailed(promise) {
  return Promise.race([promise, failed.promise])
}

function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}

process.once('SIGINT', () => failed.reject(new CannotStart('')))
process.once('SIGTERM', () => failed.reject(new CannotStart('')))

try {
  await main()
} catch (error) {
  if (!(error instanceof CannotStart)) throw error
  rmSync(folder, { recursive: true, force: true })
  if (error.message !== '') {
    console.error(error.message)
    process.exitCode = 1
  }
}
