/** Kills of workers with real object stores in small numbers; `node scripts/test/kills.mjs --server s3s-fs` runs 10,000. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { testIf } from '../../support/only'
import { azurite, moto, s3sFs } from './servers'

const KILLS = join(__dirname, '..', '..', '..', 'scripts', 'test', 'kills.mjs')

for (const { name, program, missing } of [s3sFs, moto, azurite]) {
  const test = testIf(program !== undefined, `it takes ${missing}`)
  test(`${name} has every acknowledged output after kills at any request and any operation on a file`, () => {
    const numbers = ['--simulated', '60', '--processes', '9', '--seed', String(Date.now() % 1e6)]
    const { simulated, processes } = JSON.parse(
      execFileSync(process.execPath, [KILLS, '--server', name.toLowerCase(), ...numbers], {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      }),
    )
    expect(simulated).toMatchObject({ kills: 60, missingOrDifferent: 0, torn: 0 })
    expect(processes).toMatchObject({ kills: 9, missingOrDifferent: 0, torn: 0 })
    expect(simulated.acknowledged).toBeGreaterThan(60)
  }, 600_000)
}
