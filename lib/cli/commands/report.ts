/** `spillway report`: shows the cost of tools in recorded sessions. */

import { writeFileSync } from 'node:fs'
import {
  type PricedCost,
  reportPage,
  reportSessions,
  type Savings,
  type SessionReport,
  type ToolCost,
  type UsageReport,
} from 'spillway/report'
import { countText, inDollars, numberText, percent, sizeText, thousands } from '../../util/format'
import type { Command, Parsed } from '../command'
import { text } from '../parse-values'
import { bold, EXIT, note, print, printable, printJson } from '../terminal'

const command: Command = {
  name: 'report',
  summary: 'Shows what each tool cost in recorded sessions of an agent, and what Spillway would have saved.',
  usage: '[options] <session>...',
  about: `A session is a log of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), pi (~/.pi/agent/sessions) or Gemini CLI
(~/.gemini/tmp), the output of "opencode export", or a folder with such files. Prices come from the table in the documentation;
no network is used.`,
  options: {
    observe: { type: 'boolean', help: 'Report only what happened, without simulated savings.' },
    html: { type: 'string', value: 'FILE', help: 'Write the report to this file, as an HTML page with charts.' },
  },
  positionals: [1, Number.POSITIVE_INFINITY],
  exits: [
    ['0', 'reported'],
    ['1', 'no file is a session log'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway report ~/.claude/projects', 'all sessions of Claude Code'],
    ['spillway report --html report.html session.jsonl', 'a page for a browser'],
    ['spillway report --json session.jsonl | jq .savings.share', 'for programs'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const report = await reportSessions(positionals, { observe: values.observe === true })
  const page = text(values, 'html')
  if (page !== undefined) writeFileSync(page, reportPage(report))
  if (json) await printJson(report)
  else await print(report.sessions.length === 0 ? '' : textOf(report))
  for (const { path, problem } of json ? [] : report.skipped) {
    note(`left out: ${printable(problem.startsWith(path) ? problem : `${path}: ${problem}`)}`)
  }
  return report.sessions.length === 0 ? EXIT.no : EXIT.ok
}

/** Tools that are listed one by one. */
const LISTED = 20

function textOf({ sessions, bill, tools, savings }: UsageReport): string {
  const requests = sessions.reduce((sum, session) => sum + session.requests, 0)
  // One unit for the whole page: a sum in dollars needs all of its parts in dollars.
  const written = bill.total.dollars === undefined ? inTokens : asDollars
  const lines = [
    `${countText(sessions.length, 'session')}, ${countText(requests, 'request')}, ${written(bill.total)}`,
    `  input ${written(bill.input)}, output ${written(bill.output)}${estimateOf(sessions)}`,
    ...(savings === undefined ? [] : savingsText(savings, written)),
    '',
    bold(row('tool', 'calls', 'results', 'tokens', 'turns', 'cost', 'of the bill')),
    ...tools.slice(0, LISTED).map((tool) => rowOf(tool, bill.total, written)),
    ...(tools.length > LISTED ? [`and ${countText(tools.length - LISTED, 'tool')} more; see --json`] : []),
    ...unpricedOf(sessions),
    ...sessions.filter(({ unreadLines }) => unreadLines > 0).map(unreadOf),
  ]
  return `${lines.join('\n')}\n`
}

function savingsText(savings: Savings, written: typeof inTokens): string[] {
  const { net, share, gross, refetches, rewrites, declarations, entering } = savings
  const unit = written === inTokens ? ' input tokens' : ''
  return [
    bold(
      `  with Spillway ${percent(Math.abs(share))} ${share < 0 ? 'more' : 'less'}: ${written(amountOf(net))}${unit}`,
    ),
    `    ${written(gross)} not sent, less ${written(refetches)} fetched again, ${written(rewrites)} cache written again, ${written(declarations)} declarations`,
    `    without pruning, as in a hook: ${percent(entering.share)}, ${written(entering.net)}`,
  ]
}

/** A cost without its sign, where a word says it. */
function amountOf({ pricedTokens, dollars }: PricedCost): PricedCost {
  return { pricedTokens: Math.abs(pricedTokens), ...(dollars !== undefined && { dollars: Math.abs(dollars) }) }
}

function estimateOf(sessions: readonly SessionReport[]): string {
  const estimated = sessions.filter(({ bill }) => bill.source === 'estimate').length
  return estimated === 0 ? '' : `; estimated from the texts in ${countText(estimated, 'session')}`
}

function unpricedOf(sessions: readonly SessionReport[]): string[] {
  const unpriced = sessions.filter(({ prices }) => prices.dollars === undefined)
  if (unpriced.length === 0) return []
  const models = [...new Set(unpriced.map(({ model }) => printable(model ?? 'not named')))]
  return ['', `In input tokens, because the price of these models is not known: ${models.join(', ')}`]
}

function unreadOf({ path, unreadLines, problems: [first] }: SessionReport): string {
  const where = first === undefined ? '' : `; line ${first.line}: ${first.problem}`
  return `${printable(path)}: ${countText(unreadLines, 'line')} not read${where}`
}

const NAME_WIDTH = 28
const WIDTHS = [8, 12, 12, 8, 12, 13]

function row(name: string, ...cells: string[]): string {
  const shown = name.length > NAME_WIDTH ? `${name.slice(0, NAME_WIDTH - 1)}…` : name
  return shown.padEnd(NAME_WIDTH) + cells.map((cell, at) => cell.padStart(WIDTHS[at] ?? 0)).join('')
}

function rowOf(
  { tool, calls, bytes, tokens, turns, cost }: ToolCost,
  bill: PricedCost,
  written: typeof inTokens,
): string {
  const share = cost.pricedTokens / (bill.pricedTokens || 1)
  const counts = [numberText(calls), sizeText(bytes), numberText(tokens)]
  return row(printable(tool), ...counts, turns.toFixed(1), written(cost), percent(share))
}

const asDollars = ({ dollars = 0 }: PricedCost): string => inDollars(dollars)

const inTokens = ({ pricedTokens }: PricedCost): string => thousands(pricedTokens)
