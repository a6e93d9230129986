// `node benchmark/pruning/run.mjs FOLDER`: replays recorded sessions request by request, checks what the pruner promises,
// and writes the table of `docs/pruning.md`.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main, ROOT } from '../../scripts/build/run.mjs'
import { checkPromises } from './check.mjs'
import { Meter } from './cost.mjs'
import { optimum } from './optimum.mjs'
import { batches, eachTurn, fifteenMinutes, nothing, pruner } from './policies.mjs'
import { sessions } from './trajectories.mjs'

const LIFETIMES = [Number.POSITIVE_INFINITY, 5 * 60 * 1000]

const POLICIES = {
  'nothing is pruned': nothing,
  'all but the last 5, at every request': eachTurn,
  'older than 15 minutes, at every request': fifteenMinutes,
  'superseded reads, at every request': pruner({ policies: ['superseded'], schedule: 'always' }),
  'batches of 5,000 tokens': batches(5_000),
  'batches of 20,000 tokens': batches(20_000),
  'cold cache, or batches of 20,000': batches(20_000, { cold: true }),
  '**HistoryPruner**': pruner(),
  '`maxLoss: 0.05`': pruner({ maxLoss: 0.05 }),
  '`maxLoss: 0.03`': pruner({ maxLoss: 0.03 }),
  '`keepErrors: true`': pruner({ keepErrors: true }),
  "`policies: ['outdated']`": pruner({ policies: ['outdated'] }),
  "`policies: ['superseded']`": pruner({ policies: ['superseded'] }),
  "`policies: ['results', 'superseded']`, of each file the newest read": pruner({
    policies: ['results', { type: 'superseded', keepReads: 1 }],
  }),
  "`policies: ['results', 'arguments']`": pruner({ policies: ['results', 'arguments'] }),
}

await main(async () => {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('which folder of trajectories? node benchmark/pruning/run.mjs FOLDER')
  const all = sessions(folder)
  const promises = checkPromises(all)
  const tables = LIFETIMES.map((lifetime) => {
    // Without times it is not known if a cache had expired.
    const set = Number.isFinite(lifetime) ? all.filter(({ timed }) => timed) : all
    const unpruned = set.map((session) => replay(session, nothing, lifetime))
    const rows = Object.entries(POLICIES).map(([name, make]) => [
      name,
      compare(
        set.map((session) => replay(session, make, lifetime)),
        unpruned,
      ),
    ])
    const best = compare(
      set.map((session) => ({ cost: optimum(session, lifetime) })),
      unpruned,
    )
    return { lifetime, sessions: set.length, best, rows: [...rows, ['offline optimum', best]] }
  })
  const text = [...tables.map(table), promises].join('\n\n')
  const page = join(ROOT, 'docs/pruning.md')
  const marked = /(<!-- figures -->\n).*(<!-- end of figures -->)/s
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(marked, (_, start, end) => `${start}\n${text}\n\n${end}`),
  )
  console.log(text)
})

function replay(session, make, lifetime) {
  const meter = new Meter(lifetime)
  const ask = make({ lifetime })
  let now = Date.UTC(2026, 0, 1)
  for (const { messages, pause, time } of session.requests) {
    now = time ?? now + pause
    meter.request(ask(messages, { now, cold: pause > lifetime }), pause)
  }
  return { cost: meter.cost, tokens: meter.tokens, breaks: meter.breaks, requests: session.requests.length }
}

function compare(results, unpruned) {
  const sum = (list, key) => list.reduce((total, one) => total + (one[key] ?? Number.NaN), 0)
  const shares = results.map(({ cost }, at) => cost / unpruned[at].cost).sort((a, b) => a - b)
  return {
    tokens: sum(results, 'tokens') / sum(unpruned, 'tokens'),
    cost: sum(results, 'cost') / sum(unpruned, 'cost'),
    median: shares[Math.floor(shares.length / 2)],
    worst: shares.at(-1),
    breaks: sum(results, 'breaks') / sum(results, 'requests'),
  }
}

function table({ lifetime, sessions, best, rows }) {
  const title = Number.isFinite(lifetime)
    ? `Cache gone after ${lifetime / 60_000} minutes without a request, the ${sessions} sessions with times:`
    : `Cache that lasts, all ${sessions} sessions:`
  const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '–')
  const head =
    '| policy | tokens sent | cost | median session | worst session | breaks in 100 requests | of the optimum |'
  const lines = rows.map(([name, { tokens, cost, median, worst, breaks }]) => {
    const rest = [tokens, cost, median, worst].map(percent)
    return `| ${[name, ...rest, Number.isFinite(breaks) ? (100 * breaks).toFixed(1) : '–', percent(cost / best.cost)].join(' | ')} |`
  })
  return [title, '', head, '| --- | ---: | ---: | ---: | ---: | ---: | ---: |', ...lines].join('\n')
}
