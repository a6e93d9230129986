/**
 * The results as a bar chart: how much of its target each measurement uses. A bar that ends before the line meets its
 * target.
 */
import { amount, ratioText } from './report.mjs'
import { picture, round, text } from './svg.mjs'

const WIDTH = 960
const LABELS = 316
const FIGURES = 214
const BARS = WIDTH - LABELS - FIGURES
const ROW = 20
const HEAD = 58
const GROUP = 34
/** The axis ends at one and a half times the target; a longer bar is drawn broken. */
const AXIS_MAX = 1.5

const STYLE = `
  .group { font-weight: 600 }
  .met { fill: #1a7f5a }
  .missed { fill: #c4541a }
  .unclear { fill: #8c959f }
  .track { fill: #f0f2f4 }
  .gap { fill: #ffffff }
  .target { stroke: #1f2328; stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    .met { fill: #3fb68b }
    .missed { fill: #e8834a }
    .unclear { fill: #767d86 }
    .track { fill: #1c2128 }
    .gap { fill: #0d1117 }
    .target { stroke: #f0f6fc }
  }
`

export function chart({ environment, tables, startedAt }) {
  const groups = tables
    .flatMap((table) => table.suites)
    .map((suite) => ({ title: suite.title, rows: suite.rows.filter((row) => row.target) }))
    .filter((group) => group.rows.length > 0)

  const body = []
  let y = HEAD
  for (const group of groups) {
    body.push(text(16, y + 22, plain(group.title), 'group'))
    y += GROUP
    for (const row of group.rows) {
      body.push(...bar(row, y))
      y += ROW
    }
  }
  const height = y + 44
  const lineX = LABELS + BARS / AXIS_MAX
  const machine = `${environment.cpu}, ${environment.cores} cores, node ${environment.node}, ${environment.os}`

  return picture({
    width: WIDTH,
    height,
    label: 'Each measurement as a share of its target',
    style: STYLE,
    elements: [
      text(16, 28, 'Share of its target that each measurement uses (shorter is better)', 'title'),
      text(lineX, HEAD - 4, 'target', 'quiet', 'middle'),
      ...body,
      `<line class="target" x1="${round(lineX)}" x2="${round(lineX)}" y1="${HEAD}" y2="${y + 4}"/>`,
      text(16, y + 28, `${machine}, spillway ${environment.spillway}, ${startedAt.slice(0, 10)}`, 'quiet'),
    ],
  })
}

function bar(row, y) {
  const measured = row.target.of === 'ratio' ? row.ratio : row.ours.median
  const share = measured / row.target.max
  const width = Math.max(1, (Math.min(share, AXIS_MAX) / AXIS_MAX) * BARS)
  const figure =
    row.target.of === 'ratio'
      ? `${ratioText(row.ratio)} × ${plain(row.yardstick.name)} (≤ ${ratioText(row.target.max)})`
      : `${amount(measured, row.unit)} (≤ ${amount(row.target.max, row.unit)})`
  const [verdict, mark] = row.met ? ['met', '✓'] : row.doubtful ? ['unclear', '?'] : ['missed', '✗']
  const drawn = [
    text(LABELS - 10, y + 14, plain(row.work), '', 'end'),
    `<rect class="track" x="${LABELS}" y="${y + 4}" width="${BARS}" height="${ROW - 7}" rx="2"/>`,
    `<rect class="${verdict}" x="${LABELS}" y="${y + 4}" width="${round(width)}" height="${ROW - 7}" rx="2"/>`,
    text(LABELS + BARS + 10, y + 14, `${mark} ${figure}`),
  ]
  if (share > AXIS_MAX) {
    const x = LABELS + BARS - 16
    drawn.push(`<path class="gap" d="M${x} ${y + ROW - 3} l6 ${7 - ROW} h4 l-6 ${ROW - 7} z"/>`)
  }
  return drawn
}

function plain(markdown) {
  return markdown.replaceAll('`', '')
}
