// Answers the question by the page's own requests, and checks that another worker went on and that nothing is missing.

import assert from 'node:assert/strict'
import { TASKS } from './task.mjs'

/** Longest time for a take-over and the rest of the sessions. */
const LATEST_MS = 60_000

const LOOK_MS = 50

/** Makes requests as the page does. */
const requestsTo =
  (page) =>
  async (address, init = {}) => {
    const headers = { authorization: `Bearer ${page.token}`, 'content-type': 'application/json' }
    const response = await fetch(new URL(`spillway/${address}`, page.url), { ...init, headers })
    const body = await response.json()
    assert.equal(response.status, 200, JSON.stringify(body))
    return body
  }

/** Waits until the page has a question. */
export async function questionOn(page) {
  const ask = requestsTo(page)
  while ((await ask('approvals')).length === 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

export async function check({ page, events, victim, finished, timesDeployed }) {
  const ask = requestsTo(page)

  for (const file of ['', 'page.mjs', 'page.css']) assert.equal((await fetch(page.url + file)).status, 200)
  // A browser imports the module of the components, not their build for `require`.
  assert.ok((await (await fetch(`${page.url}ui.mjs`)).text()).includes('export{'))
  // No worker waits for the answer now, and the question is still there.
  const [question, ...others] = await ask('approvals')
  assert.deepEqual([question.sessionId, others.length, timesDeployed()], ['release', 0, 0])
  await ask('approvals', { method: 'POST', body: JSON.stringify({ id: question.id, response: 'once' }) })
  await within(LATEST_MS, finished)

  const of = (state) => events.filter((event) => event.sessionId === 'release' && event.state === state)
  const [first, second] = of('took')
  assert.equal(first.worker, victim)
  assert.notEqual(second.worker, victim)
  // The call of the killed worker is in the session: the next one makes that call, and no other.
  assert.equal(second.entries, 3)
  assert.deepEqual([of('done').map(({ worker }) => worker), timesDeployed()], [[second.worker], 1])
  assert.deepEqual(await ask('approvals'), [])

  const outputs = await ask('outputs')
  const calls = Object.values(TASKS).flat()
  assert.equal(outputs.length, calls.length)
  const texts = []
  for (const { path } of outputs) {
    const { text } = await ask(`range?path=${encodeURIComponent(path)}&fromLine=29999&lineCount=3`)
    texts.push(text)
  }
  assert.deepEqual(texts.sort(), [
    ...Array(3).fill('29999\n30000\n30001\n'),
    'copied file 29999 of 30000\ncopied file 30000 of 30000\ndeployed\n',
  ])
  console.log(`${victim} was killed, ${second.worker} continued, ${outputs.length} outputs are whole: all is checked.`)
}

async function within(ms, promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, ms, new Error(`the sessions were not done within ${ms} ms`))
  })
  await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
