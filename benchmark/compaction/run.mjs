// `node benchmark/compaction/run.mjs FOLDER`: replays recorded sessions in windows that they do not fit into, checks what
// compaction promises at every request, and writes the table of `docs/compaction.md`.

import { main } from '../../scripts/build/run.mjs'
import { fillPage } from '../../scripts/docs/fill-page.mjs'
import { PRICES, RequestMeter } from '../pruning/cost.mjs'
import { sessions } from '../pruning/trajectories.mjs'
import { Promises } from './check.mjs'
import { everything, langchain, manager, pi } from './policies.mjs'

const WINDOWS = [16_000, 32_000, 64_000, 128_000]
const LIFETIME = 5 * 60 * 1000
const ALONE = { outdated: false, superseded: false, budget: false }

const POLICIES = {
  'everything is sent': everything,
  '**ContextManager**': manager(),
  'compaction alone': manager(ALONE),
  'compaction alone, without a summariser': manager({ ...ALONE, compaction: { summarize: undefined } }),
  "pi's rule": pi,
  "LangChain's rule": langchain,
}

await main(async () => {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('which folder of trajectories? node benchmark/compaction/run.mjs FOLDER')
  const all = sessions(folder)
  const promises = new Promises()
  const texts = []
  for (const window of WINDOWS) {
    const rows = []
    for (const [name, make] of Object.entries(POLICIES)) {
      if (name === "pi's rule" && window <= 16_384) {
        rows.push([name, undefined])
        continue
      }
      const check = name === 'compaction alone' ? promises : undefined
      const results = []
      for (const session of all) results.push(await replay(session, make, window, check))
      rows.push([name, totals(results)])
    }
    texts.push(table(window, rows))
    console.log(texts.at(-1))
  }
  const { requests, whole, tooLarge } = promises
  const count = (number) => number.toLocaleString('en')
  texts.push(
    `Checked at ${count(requests)} requests of ${count(all.length)} sessions (compaction alone): calls keep their results, what the user said last is there, no request is over the window of those that the report says fit (it says of ${count(tooLarge)} that they do not), and the newest three turns are the same objects wherever they fit (${count(whole)} requests).`,
  )
  const text = texts.join('\n\n')
  fillPage('docs/compaction.md', 'figures', text)
  console.log(texts.at(-1))
})

async function replay(session, make, window, promises) {
  const meter = new RequestMeter(LIFETIME)
  const ask = make({ window, lifetime: LIFETIME })
  let now = Date.UTC(2026, 0, 1)
  let [compactions, over, asked, thrash] = [0, 0, 0, 0]
  for (const { messages, pause, time } of session.requests) {
    now = time ?? now + pause
    let answer
    try {
      answer = await ask(messages, { now })
    } catch (error) {
      if (error.code !== 'COMPACTION') throw error
      // The agent would stop here; the figures go on without the session's rest.
      thrash++
      break
    }
    const { parts, compacted } = answer
    meter.request(parts, pause)
    if (compacted) compactions++
    asked += answer.asked
    if (parts.reduce((total, { tokens }) => total + tokens, 0) > window) over++
    promises?.check({ id: session.id, window, messages, ...answer })
  }
  const cost = meter.cost(PRICES) + PRICES.write * asked
  return { cost, tokens: meter.total, compactions, over, asked, thrash, requests: session.requests.length }
}

function totals(results) {
  const sum = (key) => results.reduce((total, one) => total + one[key], 0)
  return Object.fromEntries(
    ['cost', 'tokens', 'compactions', 'over', 'asked', 'thrash', 'requests'].map((key) => [key, sum(key)]),
  )
}

function table(window, rows) {
  const [[, whole]] = rows
  const percent = (share) => `${(100 * share).toFixed(1)} %`
  const head = '| in the window | tokens sent | cost | compactions | requests over the window | sessions stopped |'
  const lines = rows.map(([name, one]) => {
    if (one === undefined) return `| ${name} | – | – | – | – | – |`
    const { tokens, cost, compactions, over, requests, thrash } = one
    const figures = [
      percent(tokens / whole.tokens),
      percent(cost / whole.cost),
      compactions,
      percent(over / requests),
      thrash,
    ]
    return `| ${[name, ...figures].join(' | ')} |`
  })
  const title = `A window of ${(window / 1000).toFixed(0)},000 tokens:`
  return [title, '', head, '| --- | ---: | ---: | ---: | ---: | ---: |', ...lines].join('\n')
}
