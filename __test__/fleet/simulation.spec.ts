/** The simulation of a fleet in `benchmark/fleet`: what it counts is what the storage does, and what can be computed. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RemoteStorage } from 'spillway/remote'
import { counted } from '../remote/support'

const FOLDER = join(__dirname, '..', '..', 'benchmark', 'fleet')

/** Runs a text with the names of the simulation, and returns what it printed as JSON. */
function evaluated(expression: string) {
  const from = (name: string) => JSON.stringify(pathToFileURL(join(FOLDER, name)).href)
  const script = `import { savingRequests, simulate, sizeAt } from ${from('simulate.mjs')}
    import { BUCKET, COORDINATION, FLEET, SIZES, valuesOf } from ${from('assumptions.mjs')}
    console.log(JSON.stringify(${expression}))`
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

test.each([0, 1000, 8 * 2 ** 20, 20 * 2 ** 20])(
  'a save of %i bytes is as many requests as of the storage',
  async (bytes) => {
    const { objects, requests } = counted()
    await new RemoteStorage({ objects }).saveBytes(Buffer.alloc(bytes, 'x'), { toolName: 'bash' })
    expect(evaluated(`savingRequests(${bytes}, valuesOf(BUCKET).partBytes)`)).toBe(requests.length)
  },
)

test('sizes have the shares that were measured', () => {
  expect(evaluated('[0.5, 0.966, 0.9993].map((share) => sizeAt(SIZES, share))')).toEqual([396, 10_240, 51_200])
})

test('outputs, saves and calls are those of the fleet', () => {
  const { outputs, saved, calls, takes } = evaluated(`(() => {
    const fleet = { ...valuesOf(FLEET), agents: 500 }
    const coordination = { ...valuesOf(COORDINATION), questionShare: 0 }
    const given = { fleet, sizes: SIZES, bucket: valuesOf(BUCKET), coordination }
    const { outputs, saved, calls } = simulate({ ...given, savedAbove: 10_240 })
    return { outputs, saved, calls: calls.sum, takes: outputs * 3 + 500 * 360 }
  })()`)
  // Within four standard deviations of a Poisson process of 50,000 events, and of 3.4 % of them.
  expect(Math.abs(outputs - 50_000)).toBeLessThan(4 * Math.sqrt(50_000))
  expect(Math.abs(saved - 1700)).toBeLessThan(4 * Math.sqrt(1700))
  expect(calls).toBeCloseTo(takes, 0)
})
