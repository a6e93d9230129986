// Kills workers at any request and any write, and looks afterwards for outputs that were acknowledged and are missing or different.
//
//     node scripts/test/kills.mjs [--simulated 10000] [--processes 1000] [--minutes 10] [--seed 1] [--server moto|s3s-fs|azurite | --store URL]
//
// Without a server, outputs are in memory and in a folder. `--server` starts a real one, `npm run test:remote -- --install` has it; `--store` is the
// URL of one that runs, whose client is found by NODE_PATH. Simulated kills: the object store of a worker answers nothing from its n-th request on, which was carried out or not, and another storage
// continues with the spool. Real ones: a process sends SIGKILL to itself at its n-th operation on a file, or request to the server, before it, after it or in the
// middle of it. Every n is drawn from the seed. Each kind ends after `--minutes`, however many it has had.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { MODULES, startBucket } from '../../examples/fleet/servers.mjs'
import { contentOf, isWhole, openObjects, randomOf, savePath } from './killed-worker.mjs'
import { endWithThis, useOwnTemporaryFolder } from './scratch.mjs'

const WORKER = fileURLToPath(new URL('killed-worker.mjs', import.meta.url))

/** How workers save: without a spool, or with one and each of the promises. */
const WAYS = [{}, { ack: 'spool' }, { ack: 'remote' }, { ack: 'live', snapshotMs: 100 }]
/** Most kills between two looks at the store. */
const MAX_PER_ROUND = 60
/** Requests or operations up to which a worker may live. */
const MAX_LENGTH = { simulated: 12, processes: 80 }

const hashOf = (text) => createHash('sha256').update(text).digest('hex')

/** Passes requests on until the n-th, and answers none from then on. */
function mortal(objects, nth, isCarriedOut) {
  let made = 0
  let die
  const died = new Promise((resolve) => {
    die = resolve
  })
  const never = new Promise(() => {})
  const pass =
    (name) =>
    async (...args) => {
      made += 1
      if (made < nth) return objects[name](...args)
      if (made === nth && isCarriedOut) await objects[name](...args)
      die()
      return never
    }
  const names = ['put', 'begin', 'part', 'complete', 'abort', 'get', 'remove', 'parts']
  const passed = Object.fromEntries(names.map((name) => [name, pass(name)]))
  const list = (prefix) => objects.list(prefix)
  return { died, objects: { url: objects.url, ...passed, list, uploads: (prefix) => objects.uploads(prefix) } }
}

/** Lets one simulated worker save until it dies. */
async function simulate(bucket, options, random, saved) {
  const nth = 1 + Math.floor(random() * MAX_LENGTH.simulated)
  const { died, objects } = mortal(bucket, nth, random() < 0.5)
  const storage = new RemoteStorage({ objects, ...options, partBytes: 5 * 2 ** 20, ackTimeoutMs: 3_600_000 })
  let isDead = false
  const end = died.then(() => {
    isDead = true
  })
  while (!isDead) {
    const content = contentOf(random)
    const save = savePath(storage, content, random).then((path) => {
      if (!isDead) saved.set(path, hashOf(content))
    })
    await Promise.race([end, save])
  }
}

/** Lets one process save until it kills itself. */
async function runProcess(input, saved) {
  const child = spawn(process.execPath, [WORKER, JSON.stringify(input)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  for await (const line of createInterface({ input: child.stdout })) {
    const [path, hash] = line.split(' ')
    // The last line may be cut off.
    if (hash?.length === 64) saved.set(path, hash)
  }
  const signal = await ended
  if (signal !== 'SIGKILL') throw new Error(`a worker ended by itself: ${JSON.stringify(input)}`)
}

const SESSIONS = ['s0', 's1', 's2', 's3', 's4']

/** Returns the paths that are missing or different, and those of outputs that are there in part. */
async function verify(bucket, options, saved) {
  let left = Number.POSITIVE_INFINITY
  // A simulated worker may still put into the spool the output that it had begun.
  for (let turn = 0; left > 0 && turn < 5; turn += 1)
    left = await new RemoteStorage({
      objects: bucket,
      ...options,
      onError: (error, path) => console.error(path, error),
    }).flush()
  if (left > 0) throw new Error(`${left} outputs stayed in the spool`)
  const elsewhere = new RemoteStorage({ objects: bucket })
  const lost = []
  for (const [path, hash] of saved) {
    const text = await elsewhere.read(path).catch(() => undefined)
    if (text === undefined || hashOf(text) !== hash) lost.push(path)
  }
  const listed = await elsewhere.list()
  const torn = []
  for (const { path } of listed) if (!isWhole(await elsewhere.read(path))) torn.push(path)
  if (store !== undefined) {
    for (const session of SESSIONS) await elsewhere.deleteSession(session)
    const open = []
    for await (const upload of bucket.uploads?.('') ?? []) open.push(upload)
    for (const { key, upload } of open) await bucket.abort(key, upload)
  }
  return { lost, torn, listed: listed.length }
}

/** Kills workers, a round for each way after the other, and returns the sums. */
async function rounds(kills, seed, makeBucket, kill) {
  const until = Date.now() + minutes * 60_000
  const sums = { kills: 0, acknowledged: 0, missingOrDifferent: 0, torn: 0, outputs: 0 }
  const most = Math.min(MAX_PER_ROUND, Math.ceil(kills / WAYS.length))
  for (let round = 0; sums.kills < kills && Date.now() < until; round += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-kills-'))
    const way = WAYS[round % WAYS.length]
    const options = way.ack === undefined ? {} : { ...way, spoolDir: join(folder, 'spool') }
    const place = placeOf(folder, round)
    const bucket = makeBucket(place)
    const saved = new Map()
    for (let at = 0; at < most && sums.kills < kills && Date.now() < until; at += 1) {
      await kill({ place, bucket, options, random: randomOf(seed + sums.kills), seed: seed + sums.kills, saved })
      sums.kills += 1
    }
    const { lost, torn, listed } = await verify(bucket, options, saved)
    for (const path of [...lost, ...torn])
      console.error(`seed ${seed}, round ${round}, ${way.ack ?? 'memory'}: ${path}`)
    sums.acknowledged += saved.size
    sums.missingOrDifferent += lost.length
    sums.torn += torn.length
    sums.outputs += listed
    for (const done of [folder, data]) rmSync(done, { recursive: true, force: true })
  }
  return sums
}

/** Where the objects of a round are. */
function placeOf(folder, round) {
  if (store === undefined) return join(folder, 'objects')
  const url = new URL(store)
  url.pathname += `/${process.pid}-${round}`
  return url.href
}

/** Runs the check in a process that finds the client of the server, and ends the server. */
async function withServer(name) {
  const { process: server, env } = await startBucket(name)
  endWithThis(server)
  const others = process.argv.slice(2).filter((_, at, all) => all[at] !== '--server' && all[at - 1] !== '--server')
  const { SPILLWAY_STORE, ...keys } = env
  const args = [...process.execArgv, process.argv[1], ...others, '--store', SPILLWAY_STORE]
  const child = endWithThis(
    spawn(process.execPath, args, {
      stdio: 'inherit',
      env: { ...process.env, ...keys, NODE_PATH: MODULES, NODE_NO_WARNINGS: '1' },
    }),
  )
  return (await new Promise((resolve) => child.once('exit', resolve))) ?? 1
}

const TEXT = { type: 'string' }
const options = { simulated: TEXT, processes: TEXT, minutes: TEXT, seed: TEXT, server: TEXT, store: TEXT }
const { values } = parseArgs({ options })
// Captures pass through the folder of the user, and those of killed workers stay there.
const data = join(useOwnTemporaryFolder('kills'), 'data')
process.env.XDG_DATA_HOME = data
if (values.server !== undefined) process.exit(await withServer(values.server))
const { store } = values
const seed = Number(values.seed ?? 1)
const minutes = Number(values.minutes ?? 10)

const simulated = await rounds(
  Number(values.simulated ?? 10_000),
  seed,
  (place) => (store === undefined ? new MemoryObjects() : openObjects(place)),
  ({ bucket, options, random, saved }) => simulate(bucket, options, random, saved),
)
const processes = await rounds(
  Number(values.processes ?? 1000),
  seed,
  openObjects,
  ({ place, options, random, seed: own, saved }) => {
    const dieAt = 1 + Math.floor(random() * MAX_LENGTH.processes)
    const how = ['before', 'after', 'within'][Math.floor(random() * 3)]
    return runProcess({ objects: place, options, seed: own, dieAt, how }, saved)
  },
)
console.log(JSON.stringify({ seed, simulated, processes }, undefined, 2))
const bad = [simulated, processes].some(({ missingOrDifferent, torn }) => missingOrDifferent + torn > 0)
// Saves of dead workers wait forever.
process.exit(bad ? 1 : 0)
