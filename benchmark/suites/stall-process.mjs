/** Measures the stalls, see `stall.mjs`, and prints them as JSON: samples in milliseconds, round by round. */
import { unlinkSync } from 'node:fs'
import { collectGarbage, longestStall, sleep, watchCollector } from '../measure.mjs'
import { ReferenceTruncationService } from '../reference/service.mjs'
import { loadSubject } from '../subject.mjs'
import { MB, makeBytes } from '../workloads.mjs'

const SIZE = 100 * MB
const WORK = [
  { label: 'string, ASCII', script: 'ascii', asBytes: false },
  { label: 'string, CJK', script: 'cjk', asBytes: false },
  { label: '`Uint8Array`', script: 'ascii', asBytes: true },
]

const { self, folder, rounds } = JSON.parse(process.argv[2])
const subject = loadSubject({ self })
const ours = new subject.TruncationService({ storageDirs: [folder] })
const reference = new ReferenceTruncationService({ global: { storageDir: folder } })

const measured = []
for (const { label, script, asBytes } of WORK) {
  const bytes = makeBytes(script, SIZE)
  const text = asBytes ? undefined : bytes.toString('utf8')
  const samples = await takeRounds(
    () => ours.output(text ?? bytes, { toolName: 'fetch_log' }),
    // The reference takes strings only: bytes have to be decoded first, and that is part of the stall.
    () => reference.output(text ?? bytes.toString('utf8'), { toolName: 'fetch_log' }),
  )
  measured.push({ label, ...samples })
}
process.stdout.write(JSON.stringify(measured))

async function takeRounds(ourWork, referenceWork) {
  const watch = watchCollector()
  const samples = { ours: [], reference: [], idle: [], collector: [] }
  const windows = []

  await take(ourWork)
  await take(referenceWork)
  for (let round = 0; round < rounds; round++) {
    const own = await take(ourWork)
    samples.ours.push(own.longest)
    windows.push(own)
    samples.reference.push((await take(referenceWork)).longest)
    // The same ticker with nothing to do for as long: what the machine alone does to it.
    samples.idle.push((await take(() => sleep(own.elapsed))).longest)
  }

  // The collector's entries arrive a turn or two later.
  await sleep(20)
  samples.collector = windows.map(({ from, to }) => watch.longestWithin(from, to))
  watch.stop()
  return samples
}

async function take(work) {
  collectGarbage('full')
  // Its helpers may still be freeing pages.
  await sleep(20)
  const round = await longestStall(work)
  if (round.result) {
    if (!round.result.truncated) throw new Error('a long output was not cut')
    unlinkSync(round.result.outputPath)
  }
  return round
}
