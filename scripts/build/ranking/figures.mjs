// Counts what previews keep of marked outputs, and says why they miss what they miss.
import { clean, ESCAPES } from './outputs.mjs'

export const BUDGETS = [
  [2000, 51_200],
  [500, 16_384],
  [100, 4096],
]

/** Why a marked chunk is not whole in a preview: its lines were not remembered, none of them was chosen, or only a part. */
function reasonOf(log, got) {
  const missing = log.want.filter((line) => !got.has(line))
  const numbers = log.lines.filter((number) => missing.includes(log.rows[number - 1]))
  if (numbers.some((number) => !log.known.has(number))) return 'not remembered'
  return missing.length === log.want.length ? 'not chosen' : 'cut'
}

export const newFigures = () =>
  BUDGETS.map(() => ({ logs: 0, lines: 0, first: 0, fit: 0, fits: 0, corpus: 0, full: 0, missed: [] }))

/** Adds the figures of other outputs. */
export function add(figures, others) {
  figures.forEach((figure, at) => {
    for (const name of Object.keys(figure)) {
      if (name === 'missed') figure.missed.push(...others[at].missed)
      else figure[name] += others[at][name]
    }
  })
}

/** A number by which to choose between ways of showing the same outputs: the chunks, the first lines and the labelled outputs kept. */
export const worth = (figures) => figures.reduce((sum, { fits, first, full }) => sum + fits + first + full, 0)

/** Adds the previews of an output, one for each budget: chunks kept whole that fill at most half of it, and their first lines. */
export function count(figures, log, previews) {
  BUDGETS.forEach(([maxLines, maxBytes], at) => {
    const preview = previews[at].toString('utf8')
    const figure = figures[at]
    if (log.isCorpus) {
      const shown = preview.replace(ESCAPES, '')
      figure.corpus += 1
      if (log.want.every((line) => shown.includes(line))) figure.full += 1
      else figure.missed.push(`${log.name}: labelled`)
      return
    }
    const got = new Set(preview.split('\n').map(clean))
    const kept = log.want.filter((line) => got.has(line)).length
    figure.logs += 1
    figure.first += Number(got.has(log.want[0]))
    figure.lines += kept / log.want.length
    if (log.size > maxBytes / 2 || log.want.length > maxLines / 2) return
    figure.fit += 1
    if (kept === log.want.length) figure.fits += 1
    else figure.missed.push(`${log.name}: ${reasonOf(log, got)}, ${kept} of ${log.want.length} lines`)
  })
}

const percent = (a, b) => (b === 0 ? '-' : `${((100 * a) / b).toFixed(1)} %`)

/** Prints the figures, and with `misses` the outputs of which something is missing. */
export function report(title, figures, { misses }) {
  console.log(title)
  figures.forEach(({ logs, lines, fit, fits, first, corpus, full, missed }, at) => {
    const [maxLines, maxBytes] = BUDGETS[at]
    console.log(
      `  ${maxLines} lines / ${maxBytes / 1024} KB: whole ${percent(fits, fit)}, first ${percent(first, logs)}, lines ${percent(lines, logs)}, corpus ${percent(full, corpus)}`,
    )
    if (misses) for (const miss of missed) console.log(`    ${miss}`)
  })
}
