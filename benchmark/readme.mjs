/** Writes the short table of `benchmark/README.md`, between two marks, so that it is always that of the kept run. */
import { fillPage } from '../scripts/docs/fill-page.mjs'
import { markdown } from './report.mjs'

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
  fillPage('benchmark/README.md', 'figures', `${markdown(shown)}\n\n${where}`)
}
