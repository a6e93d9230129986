/** Writes the short table of `benchmark/README.md`, between two marks, so that it is always that of the kept run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { markdown } from './report.mjs'

const MARKS = ['<!-- bench:start -->', '<!-- bench:end -->']

/** The figures for a reader in a hurry; the whole table is in `results/latest.json`. */
const SHOWN = [
  /^nothing to do, (100 B|1 KB|16 KB) (ASCII|CJK)$/,
  /^middleware/,
  /^saved, (100 KB|1 MB|100 MB) (ASCII|CJK)$/,
  /^longest stall/,
  /^`simplifyOutdated/,
  /^`require/,
]

export function updateReadme({ tables, environment, startedAt }) {
  const rows = tables.flatMap(({ suites }) => suites).flatMap((suite) => suite.rows)
  const shown = rows.filter(({ work }) => SHOWN.some((pattern) => pattern.test(work)))
  const where = `${environment.cpu}, ${environment.cores} cores, ${environment.os}, Node ${environment.node}, ${startedAt.slice(0, 10)}`
  const table = `${MARKS[0]}\n${markdown(shown)}\n\n${where}\n${MARKS[1]}`
  const path = fileURLToPath(new URL('./README.md', import.meta.url))
  const text = readFileSync(path, 'utf8')
  const [from, to] = [text.indexOf(MARKS[0]), text.indexOf(MARKS[1]) + MARKS[1].length]
  if (from < 0 || to <= from) throw new Error(`benchmark/README.md has no ${MARKS.join(' … ')}`)
  writeFileSync(path, text.slice(0, from) + table + text.slice(to))
}
