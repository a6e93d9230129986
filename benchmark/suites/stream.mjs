/**
 * A gibibyte from a real command: through `runCommand`, through the `Writable`, through `spillway run`, through pi's accumulator,
 * and into a file by the shell. Each turn has a process of its own (`stream-process.mjs`), because the peak of the memory is the process's.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { failedRow, makeRow } from '../report.mjs'
import { MB, makeLargeFile } from '../workloads.mjs'

const PROCESS = fileURLToPath(new URL('./stream-process.mjs', import.meta.url))
const PEER = fileURLToPath(
  new URL('../node_modules/@mariozechner/pi-coding-agent/dist/core/tools/output-accumulator.js', import.meta.url),
)

/** How much slower than the shell is allowed: 0.8 and 0.35 times its speed. */
const SIDES = [
  { name: 'runCommand', work: '1 GB from a command, `runCommand`', target: 1 / 0.8, memory: 24 * MB },
  { name: 'writable', work: '1 GB from a command, through the `Writable`', target: 1 / 0.35, memory: 64 * MB },
  { name: 'cli', work: '1 GB from a command, `spillway run`', target: 1 / 0.8 },
  { name: 'pi', work: "1 GB from a command, pi's accumulator" },
]

export const stream = {
  name: 'stream',
  title: 'A gigabyte from a command',

  async run({ subject, folder, rounds, quick, log }) {
    if (!subject.entry || quick) {
      log('stream: skipped, only the package itself is measured, and only in whole runs')
      return []
    }
    const sides = SIDES.filter(({ name }) => name !== 'pi' || existsSync(PEER))
    if (sides.length < SIDES.length) log("stream: pi's accumulator is not installed (`npm install --prefix benchmark`)")
    const large = makeLargeFile(folder)
    try {
      const taken = await takeRounds(
        ['shell', 'pipe', ...sides.map(({ name }) => name)],
        large,
        folder,
        Math.min(rounds, 7),
      )
      return sides.flatMap((side) => rowsOf(side, taken))
    } catch (error) {
      return [failedRow('1 GB from a command', error)]
    } finally {
      rmSync(large.path)
    }
  },
}

async function takeRounds(names, large, folder, rounds) {
  const taken = Object.fromEntries(names.map((name) => [name, { ms: [], memory: [] }]))
  // The first round is not kept: it reads the file from the disk, and checks what was saved.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const into = path.join(folder, 'stream')
      mkdirSync(into)
      const job = JSON.stringify({ name, large, into, peer: PEER, check: round === 0 })
      const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, job], {
        env: { ...process.env, TMPDIR: into },
      })
      rmSync(into, { recursive: true })
      const { ms, memory } = JSON.parse(stdout)
      if (round === 0) continue
      taken[name].ms.push(ms)
      taken[name].memory.push(memory)
    }
  }
  return taken
}

function rowsOf({ name, work, target, memory }, taken) {
  const { ms, memory: bytes } = taken[name]
  const beside = { yardstick: taken.pipe.ms, yardstickName: '`command \\| cat > file`' }
  const times = [
    makeRow({ work, ours: ms, yardstick: taken.shell.ms, yardstickName: 'shell floor', target }),
    makeRow({ work: 'the same', ours: ms, ...beside }),
  ]
  // It is a process of its own, which ends before it could be queried.
  if (name === 'cli') return times
  return [
    ...times,
    makeRow({ work: `the same, memory at its peak over before`, ours: bytes, target: memory, unit: 'bytes' }),
  ]
}
