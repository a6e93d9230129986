/** Reading and searching one gibibyte that was saved. */
import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { failedRow, makeRow } from '../report.mjs'
import { GB, MB, makeLargeFile } from '../workloads.mjs'

const PROCESS = fileURLToPath(new URL('./read-back-process.mjs', import.meta.url))
const PAGE_MS = 10
const PAGE_MEMORY = 4 * MB

/** Each is found less often than one call may tell, so that the whole file is searched. */
const PATTERNS = [
  { label: 'a word', pattern: 'needle' },
  { label: 'a regular expression', pattern: 'ERR_[A-Z]+_[0-9]{4}' },
  { label: 'one without case', pattern: 'NEEDLE', ignoreCase: true },
  { label: 'nested quantifiers', pattern: '(x+x+)+y' },
]

export const readBack = {
  name: 'read-back',
  title: 'Reading a gigabyte back',

  async run({ subject, folder, rounds, quick, log }) {
    if (!subject.entry || quick) {
      log('read-back: skipped, only the package itself is measured, and only in whole runs')
      return []
    }
    const large = makeLargeFile(folder)
    const service = new subject.TruncationService({ storageDirs: [folder], sweepOnSave: false })
    const { output } = await subject.runCommand('cat', [large.path], { service })
    const job = { folder, path: output.outputPath, lines: large.lines, bytes: GB, rounds: Math.min(rounds, 7) }
    const measure = async (what) => {
      const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify({ ...job, ...what })])
      return JSON.parse(stdout)
    }
    try {
      return [...(await pages(measure)), ...(await searches(measure, log))]
    } catch (error) {
      return [failedRow('1 GB read back', error)]
    }
  },
}

async function pages(measure) {
  const { byByte, byLine, first, counted, memory } = await measure({ what: 'pages' })
  return [
    makeRow({ work: '`readRange` in 1 GB, by byte', ours: byByte, target: PAGE_MS, unit: 'ms' }),
    makeRow({ work: '`readRange` in 1 GB, by line', ours: byLine, target: PAGE_MS, unit: 'ms' }),
    makeRow({
      work: 'the same, the first to the last line',
      ours: first,
      yardstick: counted,
      yardstickName: '`wc -l`',
      target: 1.5,
    }),
    makeRow({ work: 'the same, memory at its peak over before', ours: memory, target: PAGE_MEMORY, unit: 'bytes' }),
  ]
}

async function searches(measure, log) {
  try {
    execFileSync('rg', ['--version'])
  } catch {
    log('read-back: ripgrep is not installed, so searching has no yardstick')
    return []
  }
  const rows = []
  for (const { label, ...query } of PATTERNS) {
    const { ours, numbering, counting } = await measure({ what: 'search', query })
    const work = `\`search\` in 1 GB, ${label}`
    rows.push(
      // Our answer says the number of each line, so ripgrep has to count lines, too. Without, it does less than is compared.
      makeRow({ work, ours, yardstick: numbering, yardstickName: '`rg -j1 -n`', target: 1 / 0.7 }),
      makeRow({ work, ours, yardstick: counting, yardstickName: '`rg -j1 -c`' }),
    )
  }
  return rows
}
