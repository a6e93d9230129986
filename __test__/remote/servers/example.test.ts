/** `examples/fleet` as it is described, with each pair of servers. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { testIf } from '../../support/only'
import { postgres, redis } from './coordination-servers'
import { azurite, moto, s3sFs } from './servers'

const START = join(__dirname, '..', '..', '..', 'examples', 'fleet', 'start.mjs')

const PAIRS = [
  [moto, redis],
  [s3sFs, redis],
  [azurite, postgres],
] as const

/** Its options name servers in lower case. */
const optionOf = (name: string) => (name === 'PostgreSQL' ? 'postgres' : name.toLowerCase())

for (const [bucket, coordination] of PAIRS) {
  const missing = [bucket, coordination].filter(({ program }) => program === undefined).map((kind) => kind.missing)
  const test = testIf(missing.length === 0, `it takes ${missing.join(' and ')}`)
  test(`a killed worker's session continues, with ${bucket.name} and ${coordination.name}`, async () => {
    const args = ['--check', '--bucket', optionOf(bucket.name), '--coordination', optionOf(coordination.name)]
    const child = spawn(process.execPath, ['--no-warnings', START, ...args], {
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    const [printed, code] = await new Promise<[string, number | null]>((resolve) => {
      let text = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece) => {
          text += piece
        })
      child.once('close', (ended) => resolve([text, ended]))
    })
    expect([code, printed]).toEqual([0, expect.stringMatching(/4 outputs are whole: all is checked\.\n$/)])
  }, 180_000)
}
