import { runChild } from '../support/child'
import { isLong, onLinux } from '../support/only'
import { tempDir } from '../support/temp'

const say = (line: string) => process.stdout.write(`${line}\n`)

test('B31 a large output does not hold the event loop', () => {
  const told = runChild<Record<'floor50' | 'bytes50' | 'text10' | 'text50', number[]>>(
    `const service = new spillway.TruncationService({ storageDirs: [input.dir] })
     const longest = async (work) => {
       let [held, last, running] = [0, performance.now(), true]
       const look = () => {
         held = Math.max(held, performance.now() - last)
         last = performance.now()
       }
       const tick = () => {
         look()
         if (running) setImmediate(tick)
       }
       setImmediate(tick)
       await work()
       look()
       running = false
       return held
     }
     const text = (mib) => {
       const made = 'é123456789abcde\\n'.repeat((mib << 20) / 16)
       // A text as a program has it is flat; this one is put together when somebody looks into it.
       made.charCodeAt(0)
       return Buffer.from(made, 'latin1').toString('latin1')
     }
     const [bytes50, text10, text50] = [Buffer.alloc(50 << 20, 'line\\n'), text(10), text(50)]
     const rows = { floor50: () => { Buffer.from(text50) } }
     for (const [name, content] of Object.entries({ bytes50, text10, text50 })) {
       rows[name] = () => service.output(content, { toolName: 'x' })
     }
     const told = {}
     for (const [name, work] of Object.entries(rows)) {
       await work()
       told[name] = []
       for (let round = 0; round < 3; round += 1) told[name].push(await longest(work))
     }
     answer(told)`,
    { input: { dir: tempDir() } },
  )
  const least = (times: number[]) => Math.min(...times)
  const [floor, bytes50, text10, text50] = [told.floor50, told.bytes50, told.text10, told.text50].map(least) as [
    number,
    number,
    number,
    number,
  ]
  say(
    `B31 held for ${bytes50.toFixed(1)} ms by 50 MiB of bytes, ${text10.toFixed(1)} by 10 MiB of text, ${text50.toFixed(1)} by 50; Buffer.from takes ${floor.toFixed(1)} ms`,
  )
  // Whoever copied the whole at once would hold it as long as Buffer.from does. The best of three rounds, because
  // others use the machine as well.
  expect(bytes50).toBeLessThan(Math.max(5, floor / 2))
  expect(text10).toBeLessThan(Math.max(15, floor / 2))
  expect(text50).toBeLessThan(floor * 1.5)
})

describe('B32 memory', () => {
  const rows: [what: string, make: string, copies: number][] = [
    ['one line of 100 MiB, as bytes', `Buffer.alloc(100 << 20, 'x')`, 0],
    ['100 MiB of newlines, as bytes', `Buffer.alloc(100 << 20, '\\n')`, 0],
    ['one line of 100 MiB, as a text', `Buffer.alloc(100 << 20, 'x').toString('latin1')`, 1],
    ['100 MiB of newlines, as a text', `Buffer.alloc(100 << 20, '\\n').toString('latin1')`, 1],
  ]
  for (const [what, make, copies] of rows) {
    onLinux(`${what}: no more is taken than ${copies === 0 ? '32 MiB' : 'a copy and 32 MiB'}`, () => {
      const grown = runChild<number>(
        `const fs = require('node:fs')
         const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
         const service = new spillway.TruncationService({ storageDirs: [input] })
         await service.output('warm\\n'.repeat(100_000), { toolName: 'x' })
         const content = ${make}
         gc()
         // From here on the peak is counted anew.
         fs.writeFileSync('/proc/self/clear_refs', '5')
         const before = peak()
         const { outputPath } = await service.output(content, { toolName: 'x' })
         if (fs.statSync(outputPath).size !== 100 << 20) throw new Error('not all of it was saved')
         answer(peak() - before)`,
        { input: tempDir(), node: ['--expose-gc'] },
      )
      say(`B32 ${what}: ${grown.toFixed(0)} MiB`)
      expect(grown).toBeLessThan(copies * 100 + 32)
    })
  }
})

onLinux(
  'B38 nothing is left over: memory and descriptors end as they began',
  () => {
    const [small, saves, instances] = isLong ? [1_000_000, 100_000, 1000] : [20_000, 2000, 200]
    const told = runChild<{ grown: number; perRound: number[]; descriptors: number[] }>(
      `const fs = require('node:fs')
     const limits = { global: { maxLines: 2 } }
     const descriptors = () => fs.readdirSync('/proc/self/fd').length
     const text = 'a\\nb\\nc\\n'
     const strategy = new spillway.DefaultTruncationStrategy()
     const config = { ...spillway.DEFAULT_TRUNCATION_CONFIG, maxLines: 2 }
     const settled = async () => {
       for (let i = 0; i < 3; i += 1) {
         gc()
         await new Promise(setImmediate)
       }
       return process.memoryUsage().rss / 2 ** 20
     }
     const round = async (share) => {
       for (let i = 0; i < input.small / share; i += 1) strategy.truncate(text, config)
       const storage = new spillway.TruncationStorage(input.dir)
       for (let i = 0; i < input.saves / share; i += 1) {
         await storage.save(text, { toolName: 'x', sessionId: 's' + (i % 50) })
       }
       await storage.close()
       for (let i = 0; i < input.instances / share; i += 1) {
         const service = new spillway.TruncationService({ ...limits, storageDirs: [input.dir] })
         await service.output(text, { toolName: 'x', sessionId: 'i' + (i % 50) })
         await service.close()
       }
       return settled()
     }
     await round(4)
     const open = descriptors()
     const perRound = []
     for (let i = 0; i < 4; i += 1) perRound.push(await round(4))
     answer({ grown: perRound[3] - perRound[0], perRound, descriptors: [open, descriptors()] })`,
      {
        input: { dir: tempDir(), small, saves, instances },
        node: ['--expose-gc'],
      },
    )
    say(`B38 resident memory after each quarter: ${told.perRound.map((mib) => mib.toFixed(1)).join(', ')} MiB`)
    expect(told.descriptors[1]).toBe(told.descriptors[0])
    // The bar is 1 MiB for 100,000 operations; the short form cannot tell that from the noise of the allocator.
    expect(told.grown).toBeLessThan(isLong ? Math.max(8, (small + saves + instances) / 100_000) : 8)
  },
  1_900_000,
)
