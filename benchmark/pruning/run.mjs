// `node benchmark/pruning/run.mjs FOLDER`: replays recorded sessions request by request, checks what the pruner promises,
// and writes the table and the chart of `docs/pruning.md`.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import spillway from '../../index.js'
import { main, ROOT } from '../../scripts/build/run.mjs'
import { fillPage } from '../../scripts/docs/fill-page.mjs'
import { frontierChart } from './chart.mjs'
import { checkPromises } from './check.mjs'
import { PRICES, RequestMeter } from './cost.mjs'
import { optimum } from './optimum.mjs'
import { batches, clearToolUses, eachTurn, fifteenMinutes, nothing, PROVIDER_DEFAULTS, pruner } from './policies.mjs'
import { loses, references } from './regret.mjs'
import { MODES, replaySigned } from './signed.mjs'
import { sessions } from './trajectories.mjs'

const LIFETIMES = [Number.POSITIVE_INFINITY, 5 * 60 * 1000]
/** Prices of a read in the cache, relative to an input token; a write costs 1.25. */
const READS = [0.1, 0.05, 0.025]

const fixed = (make) => () => make
const priced =
  (options = {}) =>
  (prices) =>
    pruner({ prices, ...options })
const asked = new spillway.HistoryPruner().toProvider('anthropic').context_management.edits[0]

/** Each makes a policy for a price of a read. */
const POLICIES = {
  'nothing is pruned': fixed(nothing),
  'all but the last 5, at every request': fixed(eachTurn),
  'older than 15 minutes, at every request': fixed(fifteenMinutes),
  "`profile: 'opencode'`": fixed(pruner({ profile: 'opencode' })),
  "`profile: 'openclaw'`": fixed(pruner({ profile: 'openclaw' })),
  '`clear_tool_uses` with its defaults, simulated': fixed(clearToolUses(PROVIDER_DEFAULTS)),
  '`clear_tool_uses` as `toProvider` asks for it, simulated': fixed(clearToolUses(asked)),
  'cold cache, or batches of 20,000 tokens': fixed(batches(20_000, { cold: true })),
  '**HistoryPruner**': fixed(pruner()),
  '**HistoryPruner**, `prices` given': priced(),
  '`index: false`, `prices` given': priced({ index: false }),
  "`index: 'short'`, `prices` given": priced({ index: 'short' }),
  '`keepUsed: 8`': fixed(pruner({ keepUsed: 8 })),
  '`keepRecent: 8`, `prices` given': priced({ keepRecent: 8 }),
  '`keepRecent: 20`, `prices` given': priced({ keepRecent: 20 }),
  '`keepRecent: 3, keepUsed: 0`, `prices` given': priced({ keepRecent: 3, keepUsed: 0 }),
  '`keepRecent: 2`, `prices` given': priced({ keepRecent: 2 }),
  '`maxLoss: 0.05`, `prices` given': priced({ maxLoss: 0.05 }),
  "`policies: ['outdated']`, `prices` given": priced({ policies: ['outdated'] }),
  "`policies: ['results', 'arguments']`, `prices` given": priced({ policies: ['results', 'arguments'] }),
}

/** The rows of the chart, with shorter names; those of ours are joined by a line. */
const CHARTED = {
  'all but the last 5, at every request': { name: 'last 5', ours: false },
  'older than 15 minutes, at every request': { name: '15 minutes', ours: false },
  "`profile: 'opencode'`": { name: 'OpenCode', ours: false },
  '`clear_tool_uses` with its defaults, simulated': { name: 'clear_tool_uses', ours: false },
  'cold cache, or batches of 20,000 tokens': { name: 'batches of 20,000', ours: false },
  '**HistoryPruner**, `prices` given': { name: 'HistoryPruner', ours: true },
  '`index: false`, `prices` given': { name: 'index: false', ours: false },
  "`index: 'short'`, `prices` given": { name: "index: 'short'", ours: true },
  '`keepUsed: 8`': { name: 'keepUsed: 8', ours: true },
  '`keepRecent: 8`, `prices` given': { name: 'keep 8', ours: true },
  '`keepRecent: 20`, `prices` given': { name: 'keep 20', ours: true },
}

await main(async () => {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('which folder of trajectories? node benchmark/pruning/run.mjs FOLDER')
  const all = sessions(folder)
  const promises = checkPromises(all)
  for (const session of all) session.references = references(session.requests)
  const tables = LIFETIMES.map((lifetime) => {
    // Without times it is not known if a cache had expired.
    const set = Number.isFinite(lifetime) ? all.filter(({ timed }) => timed) : all
    const rows = new Map()
    const add = (name, figures) => rows.set(name, [...(rows.get(name) ?? []), figures])
    for (const read of READS) {
      const prices = { ...PRICES, read, miss: PRICES.write }
      const unpruned = set.map((session) => replay(session, nothing, lifetime, prices))
      const best = compare(
        set.map((session) => ({ cost: optimum(session, lifetime, prices) })),
        unpruned,
      )
      for (const [name, make] of Object.entries(POLICIES)) {
        const results = set.map((session) => replay(session, make(prices), lifetime, prices))
        const figures = compare(results, unpruned)
        add(name, { ...figures, ofBest: figures.cost / best.cost })
      }
      add('offline optimum', { ...best, ofBest: 1 })
    }
    return { lifetime, sessions: set.length, rows }
  })
  const text = [...tables.map(table), signedTable(all), promises].join('\n\n')
  fillPage('docs/pruning.md', 'figures', text)
  writeFileSync(join(ROOT, 'docs/images/pruning.svg'), chartOf(tables[0]))
  console.log(text)
})

/** The rows of a table at the first price. */
function chartOf({ rows, sessions }) {
  const points = Object.entries(CHARTED).map(([row, point]) => ({ ...point, ...rows.get(row)[0] }))
  return frontierChart(`${sessions} sessions, cache that lasts, read ${READS[0]}`, points)
}

/** The cost of each treatment of signed reasoning, with a cache that lasts. */
function signedTable(all) {
  const rows = new Map()
  for (const read of READS) {
    const prices = { ...PRICES, read, miss: PRICES.write }
    const costs = (options) =>
      all.map((session) => ({ cost: replaySigned(session, LIFETIMES[0], options).cost(prices) }))
    const unpruned = costs(undefined)
    for (const [name, options] of Object.entries(MODES)) {
      const { cost, worst } = compare(costs({ prices, ...options }), unpruned)
      rows.set(name, [...(rows.get(name) ?? []), [cost, worst].map(percent).join(' / ')])
    }
  }
  const title = `The same ${all.length} sessions with signed reasoning in every answer, cache that lasts, \`prices\` given. Every request was accepted by a provider that checks the messages in front of each block:`
  const head = `| mode | ${READS.map((read) => `read ${read}: cost / worst`).join(' | ')} |`
  const lines = [...rows].map(([name, cells]) => `| ${[name, ...cells].join(' | ')} |`)
  return [title, '', head, `| --- |${' ---: |'.repeat(READS.length)}`, ...lines].join('\n')
}

function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '–'
}

function replay(session, make, lifetime, prices) {
  const meter = new RequestMeter(lifetime)
  const ask = make({ lifetime })
  const counts = { refer: 0, lose: 0 }
  let now = Date.UTC(2026, 0, 1)
  for (const [at, { messages, pause, time }] of session.requests.entries()) {
    now = time ?? now + pause
    const parts = ask(messages, { now, cold: pause > lifetime })
    meter.request(parts, pause)
    const { refers, found } = session.references[at]
    if (refers) counts.refer++
    if (loses(found, parts)) counts.lose++
  }
  return { cost: meter.cost(prices), tokens: meter.total, ...counts }
}

function compare(results, unpruned) {
  const sum = (list, key) => list.reduce((total, one) => total + (one[key] ?? Number.NaN), 0)
  const shares = results.map(({ cost }, at) => cost / unpruned[at].cost)
  return {
    tokens: sum(results, 'tokens') / sum(unpruned, 'tokens'),
    cost: sum(results, 'cost') / sum(unpruned, 'cost'),
    worst: Math.max(...shares),
    losses: sum(results, 'lose') / sum(results, 'refer'),
  }
}

function table({ lifetime, sessions, rows }) {
  const title = Number.isFinite(lifetime)
    ? `Cache gone after ${lifetime / 60_000} minutes without a request, the ${sessions} sessions with times:`
    : `Cache that lasts, all ${sessions} sessions:`
  const heads = READS.map((read) => `read ${read}: cost / worst / of the optimum / requests`)
  const lines = [...rows].map(([name, figures]) => {
    const cells = figures.map((row) => [row.cost, row.worst, row.ofBest, row.losses].map(percent).join(' / '))
    return `| ${[name, percent(figures[0].tokens), ...cells].join(' | ')} |`
  })
  const head = `| policy | tokens sent at 0.1 | ${heads.join(' | ')} |`
  return [title, '', head, `| --- | ---: |${' ---: |'.repeat(heads.length)}`, ...lines].join('\n')
}
