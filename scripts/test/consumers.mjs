// `npm run test:consumers [-- --quick] [-- word…]`: the package as users get it, in every kind of program that uses it. The
// quick ones need no network and are part of `npm test`; the others ask the registry for their tools, and are skipped where
// they cannot be had. With words, only what has one of them in its name is run.

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { main } from '../build/run.mjs'
import { addConsumers, completeTarball, installation, makeTarballs } from './consumers/install.mjs'
import { programs } from './consumers/programs.mjs'
import { runOne, spentByChildren } from './consumers/run.mjs'
import { RUNNERS_ROOT, runners } from './consumers/runners.mjs'
import { withTools } from './consumers/tools.mjs'
import { useOwnTemporaryFolder } from './scratch.mjs'

const MARKS = { passed: '✓', failed: '✗', skipped: '-' }

/** Runs what there is, prints a line for each, and answers how many passed, failed and were skipped. */
export async function consumers({ quick = false, words = [] } = {}) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const tell = (name, status, { note = '', printed = '' } = {}) => {
    counts[status] += 1
    console.log(`${MARKS[status]} ${name}${note && ` (${note})`}`)
    if (status === 'failed') console.log(printed.replaceAll(/^/gm, '    '))
  }
  const packed = makeTarballs()
  const { root, consumer: install } = installation(packed)
  const env = {
    NODE_ENV: 'test',
    SPILLWAY_STORAGE_DIR: join(root, 'storage'),
    PLATFORM_PACKAGE: packed.platformPackage,
    RUNNERS_ROOT,
  }
  const run = async (consumer) => {
    if (consumer.skipped) return tell(consumer.name, 'skipped', { note: `skipped: ${consumer.skipped}` })
    const started = Date.now()
    const spent = spentByChildren()
    const { passed, printed } = await runOne({ ...consumer, env: { ...env, ...consumer.env } })
    const milliseconds = Date.now() - started
    const problem = passed
      ? consumer.check?.({ milliseconds, cpuMs: spent === undefined ? spent : spentByChildren() - spent })
      : undefined
    const note = `${(milliseconds / 1000).toFixed(1)} s`
    tell(consumer.name, passed && !problem ? 'passed' : 'failed', { note, printed: problem ?? printed })
    if (passed && consumer.isMeasured) console.log(`    ${printed.trim().replaceAll('\n', '\n    ')}`)
    return passed
  }
  try {
    if (!(await run(install))) return counts
    addConsumers(root)
    const all = [completeTarball(packed), ...programs(root, { quick }), ...runners(root)]
    const chosen = ({ name }) => words.length === 0 || words.some((word) => name.includes(word))
    const left = all.filter(chosen)
    const lane = async () => {
      for (let next = left.shift(); next; next = left.shift()) await run(next)
    }
    await Promise.all(Array.from({ length: Math.min(availableParallelism(), 3) }, lane))
    // One at a time: each makes its own installation.
    if (!quick) await withTools({ ...packed, root }, chosen, run)
  } finally {
    rmSync(packed.folder, { recursive: true, force: true, maxRetries: 3 })
  }
  return counts
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    useOwnTemporaryFolder('consumers')
    const { values, positionals } = parseArgs({
      options: { quick: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const { passed, failed, skipped } = await consumers({ quick: values.quick, words: positionals })
    console.log(`consumers: ${passed} passed, ${failed} failed, ${skipped} skipped`)
    if (failed > 0 || passed === 0) process.exitCode = 1
  })
}
