/** Reports a run as a chart and as a page. */

import type { AgentRun, RequestRecord } from './types'

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [900, 400, 60, 10, 50, 45]
const [SENT, OUTPUTS, SUMMARY, EVERYTHING, LIMIT] = ['#2563eb', '#eab308', '#c2410c', '#64748b', '#dc2626']
const number = (value: number) => value.toLocaleString('en')
const escaped = (text: unknown) =>
  String(text)
    .replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`)
    .replace(/[^\P{Cc}\n]/gu, '\ufffd')

/** Tokens of each request: a bar for what was sent, a line for what it would have been, and the window. */
export function chart({ requests }: Pick<AgentRun, 'requests'>, contextWindow: number): string {
  const top = Math.max(contextWindow, ...requests.map(({ unmanaged }) => unmanaged)) * 1.05
  const x = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / requests.length
  const y = (tokens: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * tokens) / top
  const n = (value: number) => value.toFixed(1)
  const fill = ({ did }: RequestRecord) =>
    did.some((what) => what === 'summary') ? SUMMARY : did.length > 0 ? OUTPUTS : SENT
  const bars = requests.map((request, at) => {
    const did = request.did.length > 0 ? ` (${request.did.join(', ')})` : ''
    const title = `request ${at + 1}: ${number(request.tokens)} tokens instead of ${number(request.unmanaged)}${did}`
    return `<rect x="${n(x(at))}" y="${n(y(request.tokens))}" width="${n(x(1) - x(0) - 2)}" height="${n(y(0) - y(request.tokens))}" fill="${fill(request)}"><title>${escaped(title)}</title></rect>`
  })
  const line = requests.map(({ unmanaged }, at) => `${n((x(at) + x(at + 1)) / 2)},${n(y(unmanaged))}`).join(' ')
  const step = 10 ** Math.floor(Math.log10(top))
  const levels = Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => at * step).map((tokens) => {
    const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(y(tokens))}" y2="${n(y(tokens))}" stroke="#e2e8f0"/>`
    return `${line}<text x="${LEFT - 8}" y="${n(y(tokens) + 4)}" text-anchor="end">${number(tokens)}</text>`
  })
  const numbers = requests.flatMap((_, at) =>
    at === 0 || (at + 1) % 10 === 0
      ? [`<text x="${n((x(at) + x(at + 1)) / 2)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${at + 1}</text>`]
      : [],
  )
  const legend = [
    [SENT, 'sent'],
    [OUTPUTS, 'sent, after old outputs went'],
    [SUMMARY, 'sent, after a summary'],
    [EVERYTHING, 'everything there is (dashed)'],
  ].map(([color, words], at) => {
    const left = LEFT + [0, 60, 240, 390][at]!
    return `<rect width="10" height="10" x="${left}" y="${TOP - 22}" fill="${color}"/><text x="${left + 15}" y="${TOP - 13}">${words}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#334155">
<title>Tokens per request</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${levels.join('\n')}
${bars.join('\n')}
<polyline points="${line}" fill="none" stroke="${EVERYTHING}" stroke-width="1.5" stroke-dasharray="4 3"/>
<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${n(y(contextWindow))}" y2="${n(y(contextWindow))}" stroke="${LIMIT}"/>
<text x="${LEFT + 4}" y="${n(y(contextWindow) - 6)}" fill="${LIMIT}">the model's window: ${number(contextWindow)}</text>
${numbers.join('\n')}
<text x="${(WIDTH + LEFT - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">request</text>
<text x="${LEFT}" y="16" font-weight="bold">Tokens per request</text>
${legend.join('\n')}
</svg>
`
}

/** The whole report. */
export function page(run: AgentRun, contextWindow: number): string {
  const sum = (key: 'tokens' | 'unmanaged') => run.requests.reduce((total, request) => total + request[key], 0)
  const table = (title: string, heads: string[], rows: unknown[][]) =>
    `<h2>${title} (${rows.length})</h2>\n<table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>\n${rows
      .map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`)
      .join('\n')}\n</table>`
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A run of the agent</title>
<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1e293b}table{border-collapse:collapse}td,th{text-align:left;padding:.2em .8em .2em 0;vertical-align:top}svg{max-width:100%}</style>
<h1>A run of the agent</h1>
<p>${run.requests.length} requests, ${number(sum('tokens'))} tokens sent instead of ${number(sum('unmanaged'))}; the largest had ${number(Math.max(...run.requests.map(({ tokens }) => tokens)))} of ${number(contextWindow)}.
${run.compactions} summaries. The audit log has ${run.audit.records} records, ${run.audit.ok ? 'unbroken' : '<b>broken</b>'}.</p>
${chart(run, contextWindow)}
${table(
  'What was asked',
  ['about', 'tool', 'why', 'answer'],
  run.asked.map(({ about, tool, why, answer }) => [about, tool, why, answer]),
)}
${table(
  'What did not run',
  ['tool', 'reason', 'what the model read'],
  run.refused.map(({ tool, kind, message }) => [tool, kind, message]),
)}
${table(
  'What left the history',
  ['before request', 'how', 'results of', 'how many'],
  run.left.map(({ request, how, tool, outputs }) => [request, how, tool, outputs]),
)}
${table(
  'Outputs that were too long, and are kept',
  ['tool', 'file'],
  run.saved.map(({ tool, path }) => [tool, path]),
)}
</html>
`
}
