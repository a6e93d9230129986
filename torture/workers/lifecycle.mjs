/**
 * A program that uses the package and ends in the middle of it: `--mode exit`, `signal`, `threads` or `copies`.
 * Saved files must be complete all the same, and nothing may crash.
 */
import { openSync, readSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const require = createRequire(import.meta.url)
const MAX_LENGTH = 4 << 20

const { values: args } = parseArgs({
  args: workerData?.args ?? process.argv.slice(2),
  options: {
    mode: { type: 'string' },
    dir: { type: 'string' },
    block: { type: 'string' },
    worker: { type: 'string' },
    count: { type: 'string', default: '1' },
    copy: { type: 'string' },
  },
})
const block = openSync(args.block, 'r')
let number = 0

/** Saves a stretch of the block under a name that says which. */
function saveOne(storage, worker) {
  const length = 1 + Math.floor(Math.random() * MAX_LENGTH)
  const start = Math.floor(Math.random() * MAX_LENGTH)
  const content = Buffer.alloc(length)
  readSync(block, content, 0, length, start)
  number += 1
  return storage.saveBytes(content, { toolName: `w${worker}-${number}-${length}-${start}` })
}

function storageOf(path) {
  const { TruncationStorage } = require(path)
  return new TruncationStorage(args.dir)
}

async function saveForEver(storage, worker) {
  for (;;) await Promise.all([saveOne(storage, worker), saveOne(storage, worker), saveOne(storage, worker)])
}

const soon = (ms) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms))

const MODES = {
  async exit() {
    void saveForEver(storageOf('../../index.js'), args.worker)
    await soon(40)
    process.exit(0)
  },
  async signal() {
    writeSync(1, 'ready\n')
    await saveForEver(storageOf('../../index.js'), args.worker)
  },
  async threads() {
    let next = 0
    const lane = async () => {
      while (next < Number(args.count)) {
        next += 1
        const thread = new Worker(new URL(import.meta.url), {
          workerData: { args: [...process.argv.slice(2), '--worker', `${args.worker}${next}`] },
        })
        await new Promise((resolve, reject) => {
          thread.once('message', resolve)
          thread.once('error', reject)
        })
        await soon(20)
        await thread.terminate()
      }
    }
    await Promise.all([lane(), lane(), lane()])
  },
  async copies() {
    const storages = [storageOf('../../index.js'), storageOf(args.copy)]
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(storages.flatMap((storage) => [saveOne(storage, args.worker), saveOne(storage, args.worker)]))
    }
  },
}

if (isMainThread) await MODES[args.mode]()
else {
  parentPort.postMessage('ready')
  await saveForEver(storageOf('../../index.js'), args.worker)
}
