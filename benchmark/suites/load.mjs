/** The cost of having the package: the time to load it in a fresh process, to start the command, the size of the binary. */
import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { makeRow } from '../report.mjs'
import { MB } from '../workloads.mjs'

/**
 * The second time ends when a long output has been handled: loading the binary only then would make the first
 * time smaller and nothing faster.
 */
const SCRIPT = `
  const [entry, storageDir] = process.argv.slice(1)
  const start = process.hrtime.bigint()
  const { TruncationService } = require(entry)
  const loaded = Number(process.hrtime.bigint() - start) / 1e6
  const service = new TruncationService({ storageDirs: [storageDir] })
  service.output('x\\n'.repeat(3000), { toolName: 'fetch_log' }).then(() => {
    const used = Number(process.hrtime.bigint() - start) / 1e6
    const binary = Object.keys(require.cache).find((file) => file.endsWith('.node'))
    process.stdout.write(JSON.stringify({ loaded, used, binary }))
  })
`

export const load = {
  name: 'load',
  title: 'Loading',

  async run({ subject, folder, rounds, log }) {
    if (!subject.entry) {
      log('load: skipped, the reference is not a package')
      return []
    }
    const inFreshProcess = () =>
      JSON.parse(execFileSync(process.execPath, ['-e', SCRIPT, subject.entry, folder], { encoding: 'utf8' }))
    // The first one reads the files from the disk.
    const { binary } = inFreshProcess()
    const samples = Array.from({ length: 2 * rounds + 1 }, inFreshProcess)
    const rows = [
      makeRow({
        work: "`require('spillway')` in a fresh process",
        ours: samples.map(({ loaded }) => loaded),
        target: 10,
        unit: 'ms',
      }),
      makeRow({ work: 'the same, and a first long `output()`', ours: samples.map(({ used }) => used) }),
    ]
    rows.push(commandRow(subject.command, 2 * rounds + 1))
    if (binary) {
      rows.push(makeRow({ work: 'size of the binary', ours: [statSync(binary).size], target: 5 * MB, unit: 'bytes' }))
    } else {
      log('load: no binary among the loaded modules')
    }
    return rows
  },
}

/** The time that `spillway run` adds to a command, without the start of Node, which any program in Node pays. */
function commandRow(command, rounds) {
  const timed = (file, ...args) => {
    const start = performance.now()
    spawnSync(file, args)
    return performance.now() - start
  }
  const over = () => {
    const node = timed(process.execPath, '-e', '0')
    const ours = timed(process.execPath, command, 'run', '--', 'true')
    return ours - node - timed('true')
  }
  over()
  return makeRow({
    work: '`spillway run -- true`, over `node -e 0` and `true`',
    ours: Array.from({ length: rounds }, over),
    target: 25,
    unit: 'ms',
  })
}
