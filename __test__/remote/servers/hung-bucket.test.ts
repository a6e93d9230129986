/** Compares a command whose bucket hangs with one that has none: times are measured, so this is no part of `npm test`. */

import { runCommand, TruncationService, TruncationStorage } from 'spillway'
import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { tempDir } from '../../support/temp'
import { through } from '../support'

/** Other programs of the machine only make a command longer: the best of each is compared. */
const ROUNDS = { least: 3, most: 15 }
const STORAGE_TIMEOUT_MS = 500
const MAX_LONGER = 0.05
/** CPU time of the first part, which is read and held, as a share of the command's work: a core that is free has it besides. */
const MAX_CPU = 0.1

/** Prints 40 MB, and works for two milliseconds for every 32 KB of it. */
const WORK_MS = 2400
const BUILD = `
  const line = 'a line of a build, as long as most of them are\\n'.repeat(700)
  for (let at = 0; at < ${WORK_MS / 2}; at += 1) {
    for (const until = performance.now() + 2; performance.now() < until; );
    require('node:fs').writeSync(1, line)
  }`

interface Times {
  /** Milliseconds until the result. */
  wall: number
  /** Milliseconds of CPU time of this process, which others hardly change. */
  cpu: number
}

async function ran(storage: TruncationStorage | RemoteStorage): Promise<Times> {
  const service = new TruncationService({ storage, storageTimeoutMs: STORAGE_TIMEOUT_MS })
  const [started, before] = [performance.now(), process.cpuUsage()]
  const { output } = await runCommand(process.execPath, ['-e', BUILD], { service, toolName: 'bash' })
  const { user, system } = process.cpuUsage(before)
  const times = { wall: performance.now() - started, cpu: (user + system) / 1000 }
  expect(output).toMatchObject({ truncated: true, totalLines: 840_000 })
  expect(output).not.toHaveProperty('saveError')
  return times
}

const least = (all: Times[], of: keyof Times) => Math.min(...all.map((times) => times[of]))

test('a bucket that hangs holds no command, and the result comes in its time', async () => {
  const hung = through(new MemoryObjects(), () => new Promise(() => {}))
  const hanging = (ack: 'spool' | 'remote') => new RemoteStorage({ objects: hung, spoolDir: tempDir(), ack })
  const kinds = {
    none: () => new TruncationStorage({ storageDirs: [tempDir()] }),
    spool: () => hanging('spool'),
    remote: () => hanging('remote'),
  }
  const all = { none: [] as Times[], spool: [] as Times[], remote: [] as Times[] }
  const measured = () => {
    const [none, spool, remote] = [all.none, all.spool, all.remote].map((times) => least(times, 'wall')) as [
      number,
      number,
      number,
    ]
    return { longer: spool / none - 1, waited: remote - spool }
  }
  const isGood = () => {
    const { longer, waited } = measured()
    return longer <= MAX_LONGER && waited <= STORAGE_TIMEOUT_MS + 100
  }
  for (let round = 0; round < ROUNDS.least || (round < ROUNDS.most && !isGood()); round += 1) {
    const order = ['none', 'spool', 'remote'] as const
    for (const kind of round % 2 === 0 ? order : order.toReversed()) all[kind].push(await ran(kinds[kind]()))
  }
  const { longer, waited } = measured()
  const more = least(all.spool, 'cpu') - least(all.none, 'cpu')
  console.log(
    `${all.none.length} rounds: ${(100 * longer).toFixed(1)} % longer, ${more.toFixed(0)} ms more CPU time, with remote ${waited.toFixed(0)} ms more`,
  )
  expect(longer).toBeLessThanOrEqual(MAX_LONGER)
  expect(waited).toBeLessThanOrEqual(STORAGE_TIMEOUT_MS + 100)
  expect(more / WORK_MS).toBeLessThanOrEqual(MAX_CPU)
}, 600_000)
