/** Reports a run as a page. */

import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chart, escaped } from './chart'
import { costRows } from './cost'
import type { AgentRun } from './types'

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:light-dark(#1e293b,#cbd5e1);background:light-dark(#fff,#0d1117)}
a{color:light-dark(#1d4ed8,#93c5fd)}table{border-collapse:collapse}td,th{text-align:left;padding:.2em .8em .2em 0;vertical-align:top}li{overflow-wrap:anywhere}
.wide{overflow-x:auto}.wide svg{min-width:50em;width:100%}`

const number = (value: number) => value.toLocaleString('en')
const unbroken = (text: string) => text.replace(' %', '\u00a0%')
const link = (path: string) => `<a href="${escaped(pathToFileURL(path).href)}">${escaped(basename(path))}</a>`

export function page(run: AgentRun, contextWindow: number): string {
  const sum = (key: 'tokens' | 'unmanaged') => run.requests.reduce((total, request) => total + request[key], 0)
  const largest = Math.max(...run.requests.map(({ tokens }) => tokens))
  const asked = run.asked.map(({ about, tool, why, answer }) => [about, tool, why, answer].map(escaped))
  const refused = run.refused.map(({ tool, kind, message }) => [tool, kind, message].map(escaped))
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A run of the agent</title>
<style>${STYLE}</style>
<main>
<h1>A run of the agent</h1>
<p>${run.requests.length} requests, ${number(sum('tokens'))} tokens sent instead of ${number(sum('unmanaged'))}; the largest had ${number(largest)} of ${number(contextWindow)}.
${run.compactions} summaries. The audit log has ${run.audit.records} records, ${run.audit.ok ? 'unbroken' : '<b>broken</b>'}.</p>
${wide('Tokens per request', chart(run, contextWindow))}
<h2>What the input costs</h2>
${table(
  ['for a million tokens', 'sent', 'the whole history', 'less'],
  costRows(run.requests).map((cells) => cells.map(unbroken)),
)}
<h2>What was not said again</h2>
<ul>${foldsOf(run)
    .map((sentence) => `<li>${escaped(sentence)}</li>`)
    .join('\n')}</ul>
<h2>What left the history</h2>
<ul>${changesOf(run)
    .map((sentence) => `<li>${escaped(sentence)}</li>`)
    .join('\n')}</ul>
<h2>What was asked (${asked.length})</h2>
${table(['about', 'tool', 'why', 'answer'], asked)}
<h2>What did not run (${refused.length})</h2>
${table(['tool', 'reason', 'what the model read'], refused)}
<h2>Outputs that were too long, and are kept (${run.saved.length})</h2>
<ul>${run.saved.map(({ tool, path }) => `<li>${escaped(tool)}: ${link(path)}</li>`).join('\n')}</ul>
</main>
</html>
`
}

/** A table; its cells are markup. */
function table(heads: string[], rows: string[][]): string {
  const row = (cells: string[], tag: 'td' | 'th') =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return wide(
    heads.join(', '),
    `<table>${row(heads, 'th')}\n${rows.map((cells) => row(cells, 'td')).join('\n')}</table>`,
  )
}

/** Scrolls sideways on a narrow screen, also with the keyboard. */
const wide = (label: string, content: string) =>
  `<div class="wide" role="region" aria-label="${label}" tabindex="0">${content}</div>`

const HOW = { pruned: 'were left out', outputs: 'became a line each', summary: 'went into a summary' } as const

/** One sentence for each time that the history was made smaller. */
export function changesOf({ left }: Pick<AgentRun, 'left'>): string[] {
  const changes = new Map<string, AgentRun['left']>()
  for (const one of left) {
    const key = `${one.request} ${one.how}`
    changes.set(key, [...(changes.get(key) ?? []), one])
  }
  return [...changes.values()].map((parts) => {
    const [{ request, how }] = parts as [AgentRun['left'][number]]
    const tools = new Map<string, number>()
    for (const { tool, outputs } of parts) tools.set(tool, (tools.get(tool) ?? 0) + outputs)
    const results = [...tools].map(([tool, outputs]) => `${outputs} of ${tool}`).join(', ')
    return `Before request ${request}, results ${HOW[how]}: ${results}.`
  })
}

/** One sentence for each result of which lines became a pointer. */
export function foldsOf({ folded }: Pick<AgentRun, 'folded'>): string[] {
  return folded.map(
    ({ request, toolName, bytes, savedBytes }) =>
      `After request ${request}, ${number(savedBytes)} of ${number(bytes)} bytes of ${toolName} were in the context already.`,
  )
}
