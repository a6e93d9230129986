// `npm run torture [-- --quick | --only=word,… | --table]`: kills, faults, full disks, power cuts and crowds, until the store
// breaks a promise. A whole run keeps its results and puts them into the page about reliability, which `--table` does without
// a run; `--quick`, the smaller numbers, is a part of `.ci/run`.

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, release } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { markdown } from '../../torture/report.mjs'
import { build, main, ROOT, step } from '../build/run.mjs'
import { fillPage } from '../docs/fill-page.mjs'
import { endGroup, spawnGroup, useOwnTemporaryFolder } from './scratch.mjs'

/** Far more than a run takes; whatever still runs then is ended, with everything that it started. */
const LIMIT_MS = { quick: 4 * 60_000, full: 45 * 60_000 }
const RESULTS = join(ROOT, 'torture', 'results', 'latest.json')
const MARKS = { passed: '✓', failed: '✗', skipped: '-', compared: '·' }

/** The row of a rig that ended before its benches did; such a run is not kept. */
const THE_RIG = 'the rig itself'

const OPPONENTS = ['install', '--prefix', 'torture', '--no-save', '--no-package-lock', '--no-audit', '--no-fund']

/** Processes and mounts of their own, which go with the rig however it ends; nothing of the kind where there is no right to it. */
const APART = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child']

function canBeApart() {
  try {
    execFileSync(APART[0], [...APART.slice(1), 'true'], { stdio: 'ignore', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}

/** Runs the rig, prints a line for each bench, and answers the rows. */
async function run(scratch, { quick, only }) {
  const program = join(scratch, 'torture')
  copyFileSync(join(ROOT, 'target', 'debug', 'spillway-torture'), program)
  chmodSync(program, 0o755)
  const words = [program, 'bench', '--scratch', scratch, '--program', program]
  if (existsSync(join(ROOT, 'dist', 'index.js'))) words.push('--package', ROOT)
  if (quick) words.push('--quick')
  for (const word of only) words.push('--only', word)
  const [command, ...args] = canBeApart() ? [...APART, ...words] : words
  const child = spawnGroup(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const timer = setTimeout(endGroup, LIMIT_MS[quick ? 'quick' : 'full'], child)
  const rows = []
  const closed = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const row = JSON.parse(line)
    rows.push(row)
    const figures = row.figures.map(([value, name]) => `${value.toLocaleString('en')} ${name}`).join(', ')
    const reason = row.reason ? ` (${row.status}: ${row.reason.replaceAll(scratch, '…')})` : ''
    console.log(`${MARKS[row.status]} ${row.bars}: ${row.name}: ${figures}${reason} (${row.seconds} s)`)
  }
  const code = await closed
  clearTimeout(timer)
  if (code !== 0 && !rows.some(({ status }) => status === 'failed')) {
    rows.push({
      bars: '–',
      name: THE_RIG,
      status: 'failed',
      reason: `ended with ${code}`,
      figures: [],
      seconds: 0,
    })
    console.log(`✗ the rig itself ended with ${code}`)
  }
  return rows
}

function fileSystem(folder) {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
  const holds = ([, at]) => at && (folder === at || folder.startsWith(at.endsWith('/') ? at : `${at}/`))
  return mounts.filter(holds).sort((a, b) => b[1].length - a[1].length)[0]?.[2] ?? 'unknown'
}

function environment(folder) {
  return {
    cores: availableParallelism(),
    kernel: release().split('-')[0],
    node: process.versions.node,
    rustc: execFileSync('rustc', ['--version'], { encoding: 'utf8' }).split(' ')[1],
    fileSystem: fileSystem(folder),
  }
}

/** Puts the kept results into the page about reliability. */
function writeTable() {
  fillPage('docs/reliability.md', 'figures', markdown(JSON.parse(readFileSync(RESULTS, 'utf8'))))
}

/** Runs the rig and answers how many benches passed, failed and were skipped. */
export async function torture({ quick = false, only = [] } = {}) {
  if (process.platform !== 'linux') {
    console.log('- torture: skipped (needs Linux)')
    return { passed: 0, failed: 0, skipped: 1 }
  }
  // A part of a test run finds the package built.
  if (!quick) await build()
  // As the Rust tests build it: by itself it has other features, and the core would be compiled again.
  await step('Building the torture rig', 'cargo', ['test', '--workspace', '--no-run', '--quiet'])
  // The peer that the store is compared with, if a registry has it.
  if (!quick) await step('Installing opponents', 'npm', OPPONENTS).catch(() => {})
  const scratch = useOwnTemporaryFolder('torture')
  const where = environment(scratch)
  const started = new Date()
  const rows = await run(scratch, { quick, only })
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { status } of rows) if (status in counts) counts[status] += 1
  const isWhole = only.length === 0 && rows.every(({ name }) => name !== THE_RIG)
  if (!quick && isWhole) {
    const seconds = Math.round((Date.now() - started) / 1000)
    const results = { startedAt: started.toISOString(), seconds, environment: where, rows }
    mkdirSync(dirname(RESULTS), { recursive: true })
    writeFileSync(RESULTS, `${JSON.stringify(results, null, 2).replaceAll(scratch, '…')}\n`)
    writeTable()
  }
  return counts
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        table: { type: 'boolean', default: false },
        only: { type: 'string' },
      },
    })
    if (values.table) return writeTable()
    const { passed, failed, skipped } = await torture({ quick: values.quick, only: values.only?.split(',') })
    console.log(`torture: ${passed} passed, ${failed} failed, ${skipped} skipped`)
    if (failed > 0 || passed + skipped === 0) process.exitCode = 1
  })
}
