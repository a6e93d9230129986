// Threads load the package, use it, and end: by themselves, by `process.exit`, or in the middle of their work by
// `terminate`. COUNT of them, some at a time; the main thread has it too. Nothing may crash, and memory may not grow with
// their number.

import assert from 'node:assert'
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads'

const COUNT = Number(process.env.COUNT ?? 200)
const ENDS = ['terminate', 'return', 'exit', 'terminate at once']

if (isMainThread) await lead()
else await work()

async function work() {
  const spillway = await import('spillway')
  const { default: use } = await import('../use.cjs')
  if (workerData.end !== 'terminate at once') await use(spillway)
  parentPort.postMessage({ used: true, threadId })
  if (workerData.end === 'exit') process.exit(0)
  if (workerData.end === 'return') return
  const { MemoryStorage } = spillway
  const storage = new MemoryStorage()
  for (;;) await Promise.all([storage.save('x'.repeat(100_000), { toolName: 'x' }), use(spillway)])
}

async function one(number) {
  const end = ENDS[number % ENDS.length]
  const worker = new Worker(new URL(import.meta.url), { workerData: { end } })
  const ended = new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', resolve)
  })
  await Promise.race([
    ended,
    new Promise((resolve) => {
      worker.once('message', resolve)
    }),
  ])
  if (end.startsWith('terminate')) await worker.terminate()
  await ended
}

async function lead() {
  const { default: use } = await import('../use.cjs')
  const lanes = async (from, to) => {
    let next = from
    const lane = async () => {
      while (next < to) {
        next += 1
        await one(next)
      }
    }
    await Promise.all([lane(), lane(), lane(), lane()])
  }
  // The main thread loads it only later: a binary that was first loaded by a thread must outlive that thread.
  const early = Math.ceil(COUNT / 4)
  await lanes(0, early)
  await use(await import('spillway'))
  const before = process.memoryUsage().rss
  await lanes(early, COUNT)
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  const most = 40 + COUNT / 4
  assert.ok(grown < most, `${grown.toFixed(0)} MiB more after ${COUNT - early} threads, at most ${most} are fine`)
  console.log(`${COUNT} threads, ${grown.toFixed(0)} MiB more`)
}
