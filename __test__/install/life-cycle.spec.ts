import { runChild } from '../support/child'
import { onLinux } from '../support/only'
import { tempDir } from '../support/temp'

/** How often the cost of the yardstick the package may cost: twice as seen, and a quarter for a machine that changes its speed. */
const ALLOWED_RATIO = 2.5

const say = (line: string) => process.stdout.write(`${line}\n`)

/**
 * Cost of loading each of two modules in fresh processes, in milliseconds of their processors: others that use the
 * machine do not count. One after the other and the least of many: a busy machine slows both.
 */
const costs = (names: [string, string]) =>
  runChild<[number, number]>(
    `const { execFileSync } = require('node:child_process')
     const cost = (name) => {
       const script = 'const before = process.cpuUsage(); require(' + JSON.stringify(name) + ');' +
         'const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)'
       return Number(execFileSync(process.execPath, ['-e', script]))
     }
     const least = [Infinity, Infinity]
     for (let i = 0; i < 40; i += 1) {
       least.forEach((before, at) => { least[at] = Math.min(before, cost(input[at])) })
       if (i >= 6 && least[0] < Math.max(10, least[1] * ${ALLOWED_RATIO})) break
     }
     answer(least)`,
    { input: names },
  )

test('loading the package costs little more than loading a module of Node', () => {
  const [ours, yardstick] = costs([require.resolve('../..'), 'node:https'])
  say(`loading: ${ours.toFixed(1)} ms, node:https ${yardstick.toFixed(1)} ms`)
  // The promise is 10 ms on a machine that does nothing else, where the yardstick takes about 4 and the package 8.
  expect(ours).toBeLessThan(Math.max(10, yardstick * ALLOWED_RATIO))
})

onLinux('nothing is left when idle: no handle, no timer, no thread', () => {
  const told = runChild<{ atLoad: string[]; after: string[]; threads: number[]; handles: number }>(
    `const fs = require('node:fs')
     const resources = () => process.getActiveResourcesInfo().filter((name) => name !== 'TTYWrap' && name !== 'PipeWrap')
     const threads = () => fs.readdirSync('/proc/self/task').length
     const atLoad = resources()
     // The threads of libuv's pool start with the first work of anybody's, and stay.
     await Promise.all(Array.from({ length: 16 }, () => fs.promises.readFile('/proc/self/status')))
     const before = threads()
     const text = 'a line\\n'.repeat(5000)
     const service = new spillway.TruncationService({ storageDirs: [input] })
     const { outputPath } = await service.output(text, { toolName: 'x', sessionId: 's' })
     const capture = service.capture({ toolName: 'y' })
     capture.write(text)
     capture.end(text)
     await capture.result
     await spillway.runCommand(process.execPath, ['-e', 'console.log(1)'], { service })
     const storage = new spillway.TruncationStorage(input)
     await storage.search(outputPath, 'line')
     await storage.sweep()
     await storage.close()
     await service.close()
     // A thread that ended is seen a moment longer.
     for (let i = 0; i < 200 && threads() > before; i += 1) await new Promise((done) => setTimeout(done, 5))
     answer({ atLoad, after: resources(), threads: [before, threads()], handles: process._getActiveHandles().filter(
       (handle) => handle.fd === undefined || handle.fd > 2).length })`,
    { input: tempDir() },
  )
  expect(told.atLoad).toEqual([])
  expect(told.after).toEqual([])
  expect(told.threads[1]).toBeLessThanOrEqual(told.threads[0]!)
  expect(told.handles).toBe(0)
})

// Each callback holds its own service: a binary that held the callback would keep them all.
onLinux('ten thousand services, made and dropped, are collected, and memory stays flat', () => {
  const told = runChild<{ made: number; collected: number; sizes: number[] }>(
    `const own = { storageDirs: [input] }
     const kinds = [
       () => { const s = new spillway.TruncationService({ ...own, onEvent: () => s }); return s },
       () => { const s = new spillway.TruncationService({ ...own, formatNotice: () => String(s), onEvent: () => s }); return s },
       () => { const s = new spillway.TruncationService({ ...own, onEvent: () => s }); void s.output('short', { toolName: 'x' }); return s },
       () => {
         const self = () => s
         const s = new spillway.TruncationService({
           strategy: { name: 'own', needsTruncation: self, truncate: self },
           storage: { save: self, read: self, cleanup: self, getStorageDir: self },
         })
         return s
       },
     ]
     let [made, collected] = [0, 0]
     // It must outlive what it watches.
     const registry = new FinalizationRegistry(() => { collected += 1 })
     const settle = async () => {
       for (let i = 0; i < 50 && (i < 3 || collected < made - 10); i += 1) {
         gc()
         await new Promise(setImmediate)
       }
       return process.memoryUsage().rss / 2 ** 20
     }
     const sizes = []
     for (let round = 0; round < 4; round += 1) {
       for (let i = 0; i < 2500; i += 1) {
         registry.register(kinds[i % kinds.length](), undefined)
         made += 1
         if (i % 500 === 0) await new Promise(setImmediate)
       }
       sizes.push(await settle())
     }
     registry.register({}, undefined)
     answer({ made, collected, sizes })`,
    { input: tempDir(), node: ['--expose-gc', '--max-semi-space-size=1'] },
  )
  say(`10,000 services: ${told.sizes.map((size) => size.toFixed(0)).join(', ')} MiB`)
  // The last ones may still be on the stack.
  expect(told.collected).toBeGreaterThanOrEqual(told.made - 10)
  expect(told.made).toBe(10_000)
  // The allocator takes a round to find its size; a leak of a kilobyte each would be 7 MiB from then on.
  expect(told.sizes[3]! - told.sizes[0]!).toBeLessThan(7)
})
