/** The check of kills in small numbers; `node scripts/test/kills.mjs` runs 10,000. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const KILLS = join(__dirname, '..', '..', 'scripts', 'test', 'kills.mjs')

test('acknowledged outputs are there after kills at any request and any operation on a file', () => {
  const args = [KILLS, '--simulated', '180', '--processes', '9', '--seed', String(Date.now() % 1e6)]
  const { simulated, processes } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }),
  )
  expect(simulated).toMatchObject({ kills: 180, missingOrDifferent: 0, torn: 0 })
  expect(processes).toMatchObject({ kills: 9, missingOrDifferent: 0, torn: 0 })
  expect(simulated.acknowledged).toBeGreaterThan(180)
}, 120_000)
