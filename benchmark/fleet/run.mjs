// `node benchmark/fleet/run.mjs`: simulates 10,000 agents and prints requests, bytes, money, memory and hot keys, with all
// assumptions.

import { main } from '../../scripts/build/run.mjs'
import { BUCKET, COORDINATION, FLEET, SAVED_ABOVE, SIZES, valuesOf } from './assumptions.mjs'
import { dollarsOf, memoryOf, simulate } from './simulate.mjs'

const number = (value, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits })
const dollars = (value) => `$${number(value, value < 100 ? 2 : 0)}`
const gib = (bytes) => `${number(bytes / 2 ** 30, 1)} GiB`

function row(name, savedAbove, fleet, bucket, coordination) {
  const result = simulate({ fleet, sizes: SIZES, bucket, coordination, savedAbove })
  const { requests, storage, keptGib } = dollarsOf(result, fleet, bucket)
  const cells = [
    name,
    number(result.saved),
    `${number(result.puts.sum)} / ${number(result.gets.sum)}`,
    `${number(result.puts.peak)} of ${number(bucket.putsPerSecond)}`,
    gib(result.savedBytes),
    gib(keptGib * 2 ** 30),
    `${dollars(requests)} + ${dollars(storage)}`,
    dollars(((requests + storage) / (result.outputs * (730 / fleet.hours))) * 1e6),
  ]
  return { line: `| ${cells.join(' | ')} |`, result }
}

await main(async () => {
  const [fleet, bucket, coordination] = [FLEET, BUCKET, COORDINATION].map(valuesOf)
  const rows = Object.entries(SAVED_ABOVE).map(([name, above]) => row(name, above, fleet, bucket, coordination))
  console.log(
    '| saved | outputs an hour | PUT / GET an hour | most PUT a second | saved an hour | kept | a month: requests + storage | for 1 M outputs |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const { line } of rows) console.log(line)
  const { result } = rows[0]
  const { without, withEntries } = memoryOf(result, fleet, coordination)
  console.log(
    `\nShared state: ${number(result.calls.sum / (fleet.hours * 3600))} calls a second, at most ${number(result.calls.peak)} of ${number(coordination.callsPerSecond)};`,
  )
  console.log(`${gib(without)} after ${fleet.hours} h without the entries of sessions, ${gib(withEntries)} with them.`)
  console.log(`The hottest key, the quota of the largest tenant: at most ${number(result.hottest)} calls a second.`)
  console.log('\nAssumptions:')
  for (const [name, [value, source]] of Object.entries({ ...FLEET, ...BUCKET, ...COORDINATION })) {
    console.log(`- ${name}: ${value} (${source})`)
  }
  console.log(
    `- sizes: ${SIZES.map(([share, bytes]) => `${number(share * 100, 2)} % up to ${number(bytes)} B`).join(', ')} (24,137 recorded outputs; the ends assumed)`,
  )
})
