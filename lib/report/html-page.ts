/** The report as a self-contained page without scripts, for light and dark mode. */

import { createHash } from 'node:crypto'
import { countText, inDollars, numberText, percent, thousands } from '../util/format'
import { isArray } from '../util/guards'
import { isRecord, readable, wrong } from '../validation/validate'
import { type Bar, bars, escaped, table } from './charts'
import { DOLLARS_SOURCE, type PricedCost, shareOf } from './prices'
import type { SessionReport, UsageReport } from './report'
import type { Savings } from './savings'

const STYLE = `
:root{color-scheme:light dark;--page:#fff;--text:#1f2328;--faint:#59636e;--line:#d1d9e0;--bar:#2f6fde;--good:#1a7f37;--bad:#c4432b;--other:#8c959f}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--faint:#9198a1;--line:#3d444d;--bar:#6ea8fe;--good:#4ac26b;--bad:#ff8e7a;--other:#6e7681}}
body{margin:0 auto;max-width:60rem;padding:1.5rem;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{margin:.4rem 0}
.big{font-size:2.4rem;font-weight:600;line-height:1.2;margin:1rem 0 0}.faint{color:var(--faint)}
svg{display:block;width:100%;min-width:36rem;height:auto}svg text{font:13px system-ui,sans-serif;fill:var(--text)}svg .value{fill:var(--faint)}
.bar{fill:var(--bar)}.good{fill:var(--good)}.bad{fill:var(--bad)}.other{fill:var(--other)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
th{color:var(--faint);font-weight:500}.number{text-align:right;font-variant-numeric:tabular-nums}
`

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`

/** Maximum number of tools and of sessions that are shown. */
const [TOOLS, SESSIONS] = [15, 50]

/** Returns the report as a self-contained HTML page. */
export function reportPage(report: UsageReport): string {
  return readable('report', () => {
    const { bill, sessions }: Partial<UsageReport> = isRecord(report) ? report : {}
    if (!isRecord(bill) || !isArray(sessions)) throw wrong('report', report, 'a report as reportSessions returns it')
    return pageOf(report)
  })
}

function pageOf(report: UsageReport): string {
  const { bill, savings, sessions } = report
  const write = writerOf(bill.total)
  const requests = sessions.reduce((sum, session) => sum + session.requests, 0)
  const sections = [
    `<h1>Spillway report</h1>`,
    `<p class="faint">${countText(sessions.length, 'session')}, ${countText(requests, 'request')}</p>`,
    headline(report, write),
    savings === undefined ? '' : savingsSection(savings, write),
    toolsSection(report, write),
    paidSection(sessions),
    sessionsSection(sessions, write),
    notesSection(report),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>Spillway report</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${sections.filter((section) => section !== '').join('\n')}
</main>
</body>
</html>
`
}

type Write = (cost: PricedCost) => string

/** Dollars if the whole is in dollars, else priced tokens: one unit for the page. */
function writerOf(bill: PricedCost): Write {
  return bill.dollars === undefined
    ? ({ pricedTokens }) => `${thousands(pricedTokens)} tokens`
    : ({ dollars = 0 }) => inDollars(dollars).replace('-', '−')
}

function headline({ bill, savings }: UsageReport, write: Write): string {
  const paid = `<p>The bill is <b>${write(bill.total)}</b>: ${write(bill.input)} input, ${write(bill.output)} output.</p>`
  if (savings === undefined) return paid
  const { net, share, entering } = savings
  const verb = net.pricedTokens < 0 ? 'more' : 'less'
  return `<p class="big">${percent(Math.abs(share))} ${verb}</p>
<p>with Spillway: ${write(net)} of ${write(bill.total)}, net of everything that it costs. Where nothing can be pruned, as in a hook, it is ${write(entering.net)} (${percent(entering.share)}).</p>
${paid}`
}

function savingsSection(savings: Savings, write: Write): string {
  const { gross, refetches, rewrites, declarations, net, truncated, folded, pruned, refetched } = savings
  let left = gross.pricedTokens
  const taken = (label: string, cost: PricedCost): Bar => {
    left -= cost.pricedTokens
    return { label, value: `−${write(cost)}`, size: cost.pricedTokens, from: left, color: 'bad' }
  }
  const rows: Bar[] = [
    { label: 'not sent', value: write(gross), size: gross.pricedTokens },
    taken('fetched again', refetches),
    taken('cache written again', rewrites),
    taken('declarations of tools', declarations),
    { label: 'saved', value: write(net), size: net.pricedTokens, color: net.pricedTokens < 0 ? 'bad' : 'good' },
  ]
  return `<h2>Savings</h2>
${bars('Savings and what they cost', rows)}
<p class="faint">${numberText(truncated.results)} results were truncated, ${numberText(folded.results)} folded, ${numberText(pruned)} items pruned; ${numberText(refetched)} results would have been fetched again.</p>`
}

function toolsSection({ tools, bill }: UsageReport, write: Write): string {
  const shown = tools.slice(0, TOOLS)
  const rows = shown.map(({ tool, cost }): Bar => {
    const value = `${write(cost)} (${percent(shareOf(cost, bill.total))})`
    return { label: tool, value, size: cost.pricedTokens, color: tool.startsWith('(') ? 'other' : 'bar' }
  })
  const cells = shown.map(({ tool, calls, bytes, tokens, turns, cost }) => [
    ...[tool, numberText(calls), numberText(bytes), numberText(tokens), turns.toFixed(1), write(cost)],
  ])
  return `<h2>Tools</h2>
${bars('Cost of each tool', rows)}
${table(['tool', 'calls', 'bytes of results', 'tokens', 'turns', 'cost'], cells)}
${tools.length > shown.length ? `<p class="faint">and ${numberText(tools.length - shown.length)} more</p>` : ''}`
}

const PAID = [
  ...[['cached', 'read from the cache', 'good'] as const, ['new', 'sent for the first time', 'bar'] as const],
  ...[
    ['expired', 'the cache had expired', 'bad'] as const,
    ['rewritten', 'something in front changed', 'bad'] as const,
  ],
]

function paidSection(sessions: readonly SessionReport[]): string {
  const rows = PAID.map(([as, label, color]): Bar => {
    const size = sessions.reduce((sum, { sentTokens }) => sum + sentTokens[as], 0)
    return { label, value: thousands(size), size, color }
  })
  return `<h2>Tokens of requests</h2>\n${bars('Tokens of requests by how they were paid', rows)}`
}

function sessionsSection(sessions: readonly SessionReport[], write: Write): string {
  const costliest = [...sessions]
    .sort((a, b) => b.bill.total.pricedTokens - a.bill.total.pricedTokens)
    .slice(0, SESSIONS)
  const cells = costliest.map(({ path, format, model = '', requests, bill, savings }) => [
    ...[path.split(/[\\/]/).at(-1) ?? path, format, model, numberText(requests), write(bill.total)],
    ...(savings === undefined ? [] : [percent(savings.share)]),
  ])
  const head = ['session', 'agent', 'model', 'requests', 'bill']
  return `<h2>Sessions</h2>
${table(costliest.some(({ savings }) => savings !== undefined) ? [...head, 'saved'] : head, cells)}`
}

function notesSection({ sessions, skipped }: UsageReport): string {
  const estimated = sessions.filter(({ bill }) => bill.source === 'estimate').length
  const unread = sessions.reduce((sum, { unreadLines }) => sum + unreadLines, 0)
  const notes = [
    `Prices: ${DOLLARS_SOURCE.source}, ${DOLLARS_SOURCE.day}.`,
    ...(estimated === 0 ? [] : [`The bill of ${countText(estimated, 'session')} is estimated from the texts.`]),
    ...(unread === 0 ? [] : [`${countText(unread, 'line')} could not be read.`]),
    ...(skipped.length === 0 ? [] : [`${countText(skipped.length, 'file')} left out.`]),
  ]
  return `<p class="faint">${escaped(notes.join(' '))}</p>`
}
