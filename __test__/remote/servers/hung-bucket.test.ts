/** Compares a command whose bucket hangs with one that has none: times are measured, so this is no part of `npm test`. */

import { runCommand, TruncationService, TruncationStorage } from 'spillway'
import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { tempDir } from '../../support/temp'
import { through } from '../support'

const ROUNDS = 5
const STORAGE_TIMEOUT_MS = 500

/** Prints 20 MB, and works for two milliseconds for every 32 KB of it. */
const BUILD = `
  const line = 'a line of a build, as long as most of them are\\n'.repeat(700)
  for (let at = 0; at < 600; at += 1) {
    for (const until = performance.now() + 2; performance.now() < until; );
    require('node:fs').writeSync(1, line)
  }`

/** Runs the command, and returns the milliseconds until its result. */
async function ran(storage: TruncationStorage | RemoteStorage): Promise<number> {
  const service = new TruncationService({ storage, storageTimeoutMs: STORAGE_TIMEOUT_MS })
  const started = performance.now()
  const { output } = await runCommand(process.execPath, ['-e', BUILD], { service, toolName: 'bash' })
  expect(output).toMatchObject({ truncated: true, totalLines: 420_000 })
  expect(output).not.toHaveProperty('saveError')
  return performance.now() - started
}

test('a bucket that hangs holds no command, and the result comes in its time', async () => {
  const hung = through(new MemoryObjects(), () => new Promise(() => {}))
  const hanging = (ack: 'spool' | 'remote') => new RemoteStorage({ objects: hung, spoolDir: tempDir(), ack })
  const kinds = {
    none: () => new TruncationStorage({ storageDirs: [tempDir()] }),
    spool: () => hanging('spool'),
    remote: () => hanging('remote'),
  }
  const times = { none: [] as number[], spool: [] as number[], remote: [] as number[] }
  // By turns, and the best of each: other programs of the machine only make it longer.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of ['none', 'spool', 'remote'] as const) times[kind].push(await ran(kinds[kind]()))
  }
  const [none, spool, remote] = [times.none, times.spool, times.remote].map((all) => Math.min(...all)) as [
    number,
    number,
    number,
  ]
  console.log(`none ${none.toFixed(0)} ms, hung with spool ${spool.toFixed(0)} ms, with remote ${remote.toFixed(0)} ms`)
  expect(spool / none).toBeLessThanOrEqual(1.05)
  expect(remote - spool).toBeLessThanOrEqual(STORAGE_TIMEOUT_MS + 100)
}, 120_000)
