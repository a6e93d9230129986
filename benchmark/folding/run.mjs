// `node benchmark/folding/run.mjs FOLDER`: replays recorded sessions with results that are folded when they first enter the
// context, and writes the table of `docs/folding.md`.

import { main } from '../../scripts/build/run.mjs'
import { fillPage } from '../../scripts/docs/fill-page.mjs'
import { PRICES, RequestMeter } from '../pruning/cost.mjs'
import { eachTurn, pruner, nothing as whole } from '../pruning/policies.mjs'
import { loses, references } from '../pruning/regret.mjs'
import { isResult, sessions } from '../pruning/trajectories.mjs'
import { filters, folds, nothing, restarted, wholeResults } from './shapes.mjs'

const READS = [0.1, 0.05, 0.025]
const LIFETIMES = [
  ['five minutes', 5 * 60 * 1000],
  ['lasting', Number.POSITIVE_INFINITY],
]

const priced = (read, more) => pruner({ prices: { read, write: PRICES.write, miss: PRICES.write }, ...more })

const folded = folds()

/** How results enter, and what is pruned later. */
const ROWS = {
  'nothing is done': [nothing, () => whole],
  'filters by command': [filters, () => whole],
  'equal results once': [wholeResults, () => whole],
  '**folds**': [folded, () => whole],
  'all but the last 5, at every request': [nothing, () => eachTurn],
  HistoryPruner: [nothing, (read) => priced(read)],
  '**folds and HistoryPruner**': [folded, (read) => priced(read)],
  'the same, `maxLoss: 0.05`': [folded, (read) => priced(read, { maxLoss: 0.05 })],
}

await main(async () => {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('which folder of trajectories? node benchmark/folding/run.mjs FOLDER')
  const shapes = new Map()
  const under = (shape) => {
    if (!shapes.has(shape)) shapes.set(shape, sessions(folder, shape))
    return shapes.get(shape)
  }
  const base = under(nothing)
  for (const session of base) session.references = references(session.requests)
  const columns = LIFETIMES.flatMap(([name, lifetime]) => READS.map((read) => ({ name, lifetime, read })))
  const kept = ({ timed }, lifetime) => timed || !Number.isFinite(lifetime)
  const lines = Object.entries(ROWS).map(([name, [shape, make]]) => {
    const all = under(shape)
    const saved = 1 - bytesOf(all) / bytesOf(base)
    const cells = columns.map(({ lifetime, read }) => {
      PRICES.read = read
      const chosen = base.map((_, at) => at).filter((at) => kept(base[at], lifetime))
      const replays = chosen.map((at) => [
        replay(all[at], make(read), lifetime, base[at].references),
        replay(base[at], whole, lifetime, base[at].references),
      ])
      const sum = (place, key) => replays.reduce((total, both) => total + both[place][key], 0)
      const worst = Math.max(...replays.map(([own, none]) => own.cost / none.cost))
      const losses = percent(sum(0, 'losing') / sum(0, 'referring'))
      return [percent(sum(0, 'cost') / sum(1, 'cost')), percent(worst), losses].join(' / ')
    })
    return `| ${[name, `${percent(saved)} %`, ...cells].join(' | ')} |`
  })
  const share = (shape) => percent(1 - bytesOf(under(shape)) / bytesOf(base))
  const text = [
    `| cost / costliest session / requests that lose a reference, in % | bytes of results less | ${columns.map(({ name, read }) => `${name}, ${read}`).join(' | ')} |`,
    `| --- | ---: |${' ---: |'.repeat(columns.length)}`,
    ...lines,
    '',
    `${base.length} sessions; two halves of them, every other one: ${[0, 1].map((half) => percent(1 - bytesOf(under(folded), half) / bytesOf(base, half))).join(' and ')} % of the bytes of results folded.`,
    '',
    `If another process continues each session from its middle and restores it, ${share(restarted(true))} % are folded; if it restores nothing, ${share(restarted(false))} %.`,
  ].join('\n')
  fillPage('docs/folding.md', 'figures', text)
  console.log(text)
})

/** Bytes of all results, of one half of the sessions or of all. */
function bytesOf(all, half) {
  const seen = new Set()
  let bytes = 0
  for (const [at, { requests }] of all.entries()) {
    if (half !== undefined && at % 2 !== half) continue
    for (const { messages } of requests) {
      for (const message of messages) {
        if (!isResult(message) || seen.has(message)) continue
        seen.add(message)
        bytes += Buffer.byteLength(message.content ?? '')
      }
    }
  }
  return bytes
}

function replay({ requests }, make, lifetime, refs) {
  const meter = new RequestMeter(lifetime)
  const ask = make({ lifetime })
  const counts = { referring: 0, losing: 0 }
  let now = Date.UTC(2026, 0, 1)
  for (const [at, { messages, pause, time }] of requests.entries()) {
    now = time ?? now + pause
    const parts = ask(messages, { now, cold: pause > lifetime })
    meter.request(parts, pause)
    if (refs[at].refers) counts.referring++
    if (loses(refs[at].found, parts)) counts.losing++
  }
  return { cost: meter.cost(PRICES), ...counts }
}

function percent(share) {
  return (100 * share).toFixed(1)
}
