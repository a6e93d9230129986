/**
 * How things are timed.
 *
 * Machines are noisy and shared, so nothing is measured alone: the sides of a comparison take turns in one process,
 * round by round, in changing order, and a figure is the median of its rounds.
 */
import { unlinkSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

/**
 * Collects between two turns: what one side leaves behind is not paid for by the next.
 *
 * `full` is for work on megabytes. After a full collection V8 has forgotten the shapes of objects of which none was
 * alive, and throws away the code that was compiled for them: microseconds would be measured in code that is being
 * compiled again, which no program that runs for a while does.
 *
 * @param {'young' | 'full'} generation
 */
export function collectGarbage(generation) {
  gc({ type: generation === 'full' ? 'major' : 'minor' })
}

/**
 * One side of a comparison.
 *
 * @typedef {object} Side
 * @property {string} name
 * @property {(count: number, prepared: unknown) => Promise<number>} batch does the work `count` times and answers the
 *   milliseconds; what it does before and after its own clock is free
 * @property {(count: number) => unknown} [prepare] makes what a batch needs, before the garbage is collected
 */

let loops = 0

/** Work of nanoseconds to microseconds: many calls under one clock. The number of inputs must be a power of two. */
export async function tight(name, call, inputs) {
  const { loop } = await import(`./loop.mjs?side=${loops++}`)
  return { name, batch: (count) => loop(call, inputs, count) }
}

/** Work that leaves a file: `call` answers its path, and the files go when the clock has stopped. */
export function filing(name, call, inputs, { keep = false } = {}) {
  return {
    name,
    async batch(count) {
      const paths = []
      const start = performance.now()
      for (let i = 0; i < count; i++) paths.push(await call(inputs[i % inputs.length]))
      const elapsed = performance.now() - start
      if (!keep) for (const path of paths) unlinkSync(path)
      return elapsed
    },
  }
}

/** Work on a value that has to be made again for every call. */
export function once(name, make, call) {
  return {
    name,
    prepare: (count) => Array.from({ length: count }, make),
    async batch(count, prepared) {
      let elapsed = 0
      for (let i = 0; i < count; i++) {
        const start = performance.now()
        call(prepared[i])
        elapsed += performance.now() - start
      }
      return elapsed
    },
  }
}

/**
 * Lets the sides take turns and answers the milliseconds of one call per side, round by round.
 *
 * @param {Side[]} sides
 * @param {object} options
 * @param {number} options.rounds
 * @param {number} options.batchMs how long a turn should take: the number of calls in it is found by trying
 * @param {number} [options.warmUpMs] how long each side runs before its number of calls is believed
 * @param {number} [options.maxCount] never more calls in a turn than this
 * @param {boolean} [options.sameCount] as many calls for each side as for the slowest: for work whose cost depends on
 *   how much of it there has just been, such as writing into the page cache
 * @param {'young' | 'full'} [options.collect]
 * @returns {Promise<Record<string, number[]>>}
 */
export async function compare(
  sides,
  { rounds, batchMs, warmUpMs = batchMs, maxCount = 1e7, sameCount = false, collect = 'young' },
) {
  const turn = async (side, count) => {
    const prepared = side.prepare?.(count)
    collectGarbage(collect)
    return await side.batch(count, prepared)
  }

  const counts = []
  for (const side of sides) counts.push(await calibrate((count) => turn(side, count), { batchMs, warmUpMs, maxCount }))
  if (sameCount) counts.fill(Math.min(...counts))

  const samples = Object.fromEntries(sides.map((side) => [side.name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const index of orderOf(round, sides.length)) {
      const side = sides[index]
      samples[side.name].push((await turn(side, counts[index])) / counts[index])
    }
  }
  return samples
}

/** Each side comes first, last and in between, and follows each other one: AB, BA, BA, AB for two. */
function orderOf(round, length) {
  const shift = Math.floor(round / 2)
  const order = Array.from({ length }, (_, index) => (index + shift) % length)
  return round % 2 === 0 ? order : order.reverse()
}

async function calibrate(run, { batchMs, warmUpMs, maxCount }) {
  let count = 1
  let elapsed = await run(count)
  let warm = elapsed
  // The first calls run uncompiled code: a number that was found with them is found again.
  while (warm < warmUpMs || (elapsed < batchMs / 2 && count < maxCount)) {
    count = fitting(count, elapsed, batchMs, maxCount)
    elapsed = await run(count)
    warm += elapsed
  }
  return fitting(count, elapsed, batchMs, maxCount)
}

/** At most fifty times as many at once: a clock that showed next to nothing is not believed. */
function fitting(count, elapsed, batchMs, maxCount) {
  const wanted = Math.round((count * batchMs) / Math.max(elapsed, batchMs / 50))
  return Math.max(1, Math.min(maxCount, wanted))
}

const IDLE_MS = 10

/**
 * Runs `work` while a `setImmediate` ticker goes round, and answers the longest time between two ticks: how long the
 * event loop could do nothing else. The ticker starts before the work and ends after it, so that the call itself and
 * the settling of its promise are inside.
 */
export async function longestStall(work) {
  let longest = 0
  let last = performance.now()
  let stop
  const tick = () => {
    const now = performance.now()
    if (now - last > longest) longest = now - last
    last = now
    if (stop) stop()
    else setImmediate(tick)
  }

  setImmediate(tick)
  await sleep(IDLE_MS)
  longest = 0
  const from = performance.now()
  const result = await work()
  const to = performance.now()
  await sleep(IDLE_MS)
  await new Promise((resolve) => {
    stop = resolve
  })
  return { longest, elapsed: to - from, from, to, result }
}

/**
 * Watches the collector, so that its stalls can be distinguished from others.
 *
 * @returns {{ longestWithin(from: number, to: number): number, stop(): void }}
 */
export function watchCollector() {
  const pauses = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) pauses.push({ startTime, duration })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    longestWithin: (from, to) =>
      Math.max(0, ...pauses.filter((p) => p.startTime >= from && p.startTime <= to).map((p) => p.duration)),
    stop: () => observer.disconnect(),
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** @returns {number} the value at the given part of the sorted samples: 0.5 is the median */
export function quantile(samples, part) {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
}

export function median(samples) {
  return quantile(samples, 0.5)
}
