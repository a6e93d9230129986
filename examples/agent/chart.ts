/** The tokens of each request as a chart, for a light page and a dark one. */

import type { AgentRun, RequestRecord } from './types'

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [900, 420, 60, 10, 70, 45]

/** Classes, because the colors depend on the page. */
const STYLE = `svg{--text:#334155;--page:#fff;--grid:#e2e8f0;--sent:#2563eb;--outputs:#a16207;--summary:#c2410c;--everything:#64748b;--limit:#dc2626}
@media (prefers-color-scheme:dark){svg{--text:#cbd5e1;--page:#0d1117;--grid:#273140;--sent:#60a5fa;--outputs:#facc15;--summary:#fb923c;--everything:#94a3b8;--limit:#f87171}}
text{fill:var(--text)}.page{fill:var(--page)}.grid{stroke:var(--grid)}.sent{fill:var(--sent)}.outputs{fill:var(--outputs)}.summary{fill:var(--summary)}
.everything{fill:none;stroke:var(--everything);stroke-width:1.5;stroke-dasharray:4 3}.limit{stroke:var(--limit);stroke-width:1.5}text.limit{fill:var(--limit);stroke:none}`

/** Parts of the legend: the class of a bar or a line, its words, and its place in the two rows. */
const LEGEND = [
  ['sent', 'sent', 0, 0],
  ['outputs', 'sent, after old results were left out', 80, 0],
  ['summary', 'sent, after a summary', 330, 0],
  ['everything', 'the whole history', 0, 1],
  ['limit', "the model's window", 150, 1],
] as const

const number = (value: number) => value.toLocaleString('en')
const n = (value: number) => value.toFixed(1)

export function escaped(text: unknown): string {
  return String(text)
    .replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(/[^\P{Cc}\n]/gu, '\ufffd')
}

/** Draws a bar for what each request sent, a line for what the whole history would have been, and one for the window. */
export function chart({ requests }: Pick<AgentRun, 'requests'>, contextWindow: number): string {
  const top = Math.max(contextWindow, ...requests.map(({ unmanaged }) => unmanaged)) * 1.05
  const x = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / requests.length
  const y = (tokens: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * tokens) / top
  const across = (tokens: number, name: string) =>
    `<line class="${name}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(y(tokens))}" y2="${n(y(tokens))}"/>`
  const bars = requests.map((request, at) => {
    const place = `x="${n(x(at))}" y="${n(y(request.tokens))}" width="${n(x(1) - x(0) - 2)}"`
    const height = n(y(0) - y(request.tokens))
    return `<rect ${place} height="${height}" class="${kindOf(request)}"><title>${escaped(titleOf(request, at))}</title></rect>`
  })
  const line = requests.map(({ unmanaged }, at) => `${n((x(at) + x(at + 1)) / 2)},${n(y(unmanaged))}`).join(' ')
  const step = 10 ** Math.floor(Math.log10(top))
  const levels = Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => at * step).map(
    (tokens) =>
      `${across(tokens, 'grid')}<text x="${LEFT - 8}" y="${n(y(tokens) + 4)}" text-anchor="end">${number(tokens)}</text>`,
  )
  const numbers = requests.flatMap((_, at) =>
    at === 0 || (at + 1) % 10 === 0
      ? [`<text x="${n((x(at) + x(at + 1)) / 2)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${at + 1}</text>`]
      : [],
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>Tokens per request</title>
<style>${STYLE}</style>
<rect width="${WIDTH}" height="${HEIGHT}" class="page"/>
${levels.join('\n')}
${bars.join('\n')}
<polyline points="${line}" class="everything"/>
${across(contextWindow, 'limit')}
<text x="${LEFT + 4}" y="${n(y(contextWindow) - 6)}" class="limit">${number(contextWindow)}</text>
${numbers.join('\n')}
<text x="${(WIDTH + LEFT - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">request</text>
<text x="${LEFT}" y="16" font-weight="bold">Tokens per request</text>
${LEGEND.map(legendOf).join('\n')}
</svg>
`
}

function kindOf({ did }: RequestRecord): 'sent' | 'outputs' | 'summary' {
  if (did.includes('summary')) return 'summary'
  return did.length > 0 ? 'outputs' : 'sent'
}

function titleOf({ tokens, unmanaged, did }: RequestRecord, at: number): string {
  const how = did.length > 0 ? ` (${did.join(', ')})` : ''
  return `request ${at + 1}: ${number(tokens)} tokens instead of ${number(unmanaged)}${how}`
}

function legendOf([name, words, left, row]: (typeof LEGEND)[number]): string {
  const [x, y] = [LEFT + left, 34 + 18 * row]
  const isLine = name === 'everything' || name === 'limit'
  const sign = isLine
    ? `<line class="${name}" x1="${x}" x2="${x + 16}" y1="${y}" y2="${y}"/>`
    : `<rect width="16" height="10" x="${x}" y="${y - 5}" class="${name}"/>`
  return `${sign}<text x="${x + 22}" y="${y + 4}">${words}</text>`
}
