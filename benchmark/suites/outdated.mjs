/** `simplifyOutdatedTerminalResults` on a long session: the first call, and the call after one more result. */
import { compare, once } from '../measure.mjs'
import { REFERENCE_PLACEHOLDER, referenceSimplify } from '../reference/outdated.mjs'
import { makeRow } from '../report.mjs'
import { KB, makeExchange, makeHistory, makeTerminalContents } from '../workloads.mjs'

const RESULTS = 1000
const ENDS_AT = Date.UTC(2026, 0, 31, 12)
/** An hour after the last result: all but the newest five are old enough. */
const NOW = ENDS_AT + 60 * 60_000

export const outdated = {
  name: 'outdated',
  title: '`simplifyOutdatedTerminalResults`, 1,000 results of 8 KB',

  async run({ subject, shortRounds: rounds }) {
    const ours = (messages) => subject.simplifyOutdatedTerminalResults(messages, { now: NOW })
    const reference = (messages) => referenceSimplify(messages, NOW)
    const rows = []
    for (const { keys, label, target } of [
      { keys: 'ends', label: 'keys near the ends', target: 0.1 },
      { keys: 'middle', label: 'keys anywhere', target: 0.4 },
    ]) {
      const contents = makeTerminalContents(RESULTS, 8 * KB, keys)
      check(ours, contents)
      check(reference, contents)
      const fresh = () => makeHistory(contents, ENDS_AT)
      const first = await compare([once('ours', fresh, ours), once('reference', fresh, reference)], {
        rounds,
        batchMs: 1,
        warmUpMs: 100,
        maxCount: 1,
      })
      rows.push(
        makeRow({ work: `first call, ${label}`, ours: first.ours, yardstick: first.reference, target }),
        await nextCall({ ours, reference, contents, rounds, label }),
      )
    }
    return rows
  },
}

/** The host keeps its history and hands it over again with one more exchange: the old messages are the same objects. */
async function nextCall({ ours, reference, contents, rounds, label }) {
  const side = (name, call) => {
    const history = makeHistory(contents, ENDS_AT)
    call(history)
    let added = 0
    // Always one more than the same thousand: a side that is called more often would else have more of them.
    const oneMore = () => [...history, ...makeExchange(contents[added % RESULTS], `more_${added}`, ENDS_AT + ++added)]
    return once(name, oneMore, call)
  }
  const samples = await compare([side('ours', ours), side('reference', reference)], {
    rounds,
    batchMs: 2,
    warmUpMs: 50,
    maxCount: 20,
  })
  return makeRow({
    work: `next call with 1 new result, ${label}`,
    ours: samples.ours,
    yardstick: samples.reference,
    target: 0.02,
  })
}

function check(simplify, contents) {
  const messages = makeHistory(contents, ENDS_AT)
  const simplified = simplify(messages)
  const stubs = simplified.filter((message) => message.content === REFERENCE_PLACEHOLDER).length
  if (stubs !== RESULTS - 5) throw new Error(`${stubs} results were simplified, not ${RESULTS - 5}`)
  if (messages.some((message) => message.content === REFERENCE_PLACEHOLDER)) throw new Error('the input was changed')
}
