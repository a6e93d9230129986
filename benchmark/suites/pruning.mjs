/** `HistoryPruner` on long sessions: the first request, and the request after one more result, beside what `ai` and LangChain have. */
import { compare, once } from '../measure.mjs'
import { makeRow } from '../report.mjs'

const PEERS = new URL('../node_modules/', import.meta.url)
const RESULTS = 12_800
/** LangChain's take too long for more. */
const FEW_RESULTS = 1_600
/** Tokens that stay, by the pruner's own default. */
const PROTECTED = 40_000
/** Lengths of sessions, in results, over which the time per result should stay the same. */
const [FEW, MANY] = [200, 51_200]

export const pruning = {
  name: 'pruning',
  title: '`HistoryPruner`, results of 500 bytes',

  async run({ subject, shortRounds: rounds, log }) {
    const ours = (messages) => new subject.HistoryPruner().prune(messages, { now: 0 })
    const rows = [await linear(ours, rounds), await linear(ours, rounds, grown(subject))]
    const ai = await peer('ai', 'ai/dist/index.mjs', log)
    if (ai === undefined) return rows
    const theirs = (messages) => ai.pruneMessages({ messages, toolCalls: 'before-last-10-messages' })
    check(ours(history(RESULTS, modelMessage)).messages.length === 2 * RESULTS + 2)
    check(theirs(history(RESULTS, modelMessage)).length < RESULTS)
    rows.push(await beside('ai pruneMessages', modelMessage, subject, theirs, rounds))
    const langchain = await peer('langchain', 'langchain/dist/agents/middleware/contextEditing.js', log)
    const core = await peer('@langchain/core', '@langchain/core/dist/messages/index.js', log)
    if (langchain !== undefined && core !== undefined)
      rows.push(...(await besideLangChain(subject, langchain, core, rounds)))
    return rows
  },
}

/** One more result in a history that was seen before. */
function grown(subject) {
  return (count) => {
    const pruner = new subject.HistoryPruner()
    let messages = history(count, chatMessage)
    pruner.prune(messages, { now: 0 })
    let added = count
    return () => {
      messages = [...messages, ...chatMessage(added++)]
      return () => pruner.prune(messages, { now: 0 })
    }
  }
}

async function linear(ours, rounds, next) {
  const side = (count) => {
    if (next === undefined) return once(`${count}`, () => history(count, chatMessage), ours)
    return once(`${count}`, next(count), (call) => call())
  }
  const samples = await compare([side(MANY), side(FEW)], { rounds, batchMs: 1, warmUpMs: 200, maxCount: 200 })
  const perResult = (count) => samples[count].map((milliseconds) => milliseconds / count)
  return makeRow({
    work: `time per result, ${next ? 'next call' : 'first call'}, ${MANY.toLocaleString('en')} results`,
    ours: perResult(MANY),
    yardstick: perResult(FEW),
    yardstickName: `${FEW} results`,
    target: 1.5,
  })
}

async function beside(name, write, subject, theirs, rounds) {
  const pruner = new subject.HistoryPruner()
  let messages = history(RESULTS, write)
  pruner.prune(messages, { now: 0 })
  let added = RESULTS
  const oneMore = () => {
    messages = [...messages, ...write(added++)]
    return messages
  }
  const samples = await compare(
    [once('ours', oneMore, (given) => pruner.prune(given, { now: 0 })), once('theirs', () => messages, theirs)],
    { rounds, batchMs: 2, warmUpMs: 200, maxCount: 20 },
  )
  return makeRow({
    work: `next call with 1 new result, ${RESULTS.toLocaleString('en')} results`,
    ours: samples.ours,
    yardstick: samples.theirs,
    yardstickName: name,
    target: 0.25,
  })
}

/** Its `contextEditing` middleware clears results beyond a budget, `trimMessages` drops messages; both read everything again. */
async function besideLangChain(subject, { ClearToolUsesEdit }, core, rounds) {
  const countTokens = (list) => list.reduce((sum, { content }) => sum + String(content).length / 4, 0)
  const trim = { maxTokens: PROTECTED, strategy: 'last', includeSystem: true, tokenCounter: countTokens }
  const peers = {
    'LangChain ClearToolUsesEdit': async (messages) => {
      const edit = new ClearToolUsesEdit({ trigger: { tokens: PROTECTED }, keep: { messages: 5 } })
      await edit.apply({ messages, countTokens })
      return messages
    },
    'LangChain trimMessages': (messages) => core.trimMessages(messages, trim),
  }
  const write = (at) => langChainMessage(core, at)
  const rows = []
  for (const [name, theirs] of Object.entries(peers)) {
    const left = await theirs(history(FEW_RESULTS, write))
    check(countTokens(left) < countTokens(history(FEW_RESULTS, write)) / 2)
    for (const work of ['first call', 'next call with 1 new result']) {
      const grows = work !== 'first call'
      const side = (call) => timedPeer(call, () => history(FEW_RESULTS, write), write, grows)
      const pruner = new subject.HistoryPruner()
      const ours = side((given) => (grows ? pruner : new subject.HistoryPruner()).prune(given, { now: 0 }))
      const samples = { ours: [], theirs: [] }
      const other = side(theirs)
      for (let round = 0; round < Math.min(rounds, 9); round++) {
        samples.ours.push(await ours())
        samples.theirs.push(await other())
      }
      const about = { ...samples, yardstick: samples.theirs, yardstickName: name }
      rows.push(makeRow({ work: `${work}, ${FEW_RESULTS.toLocaleString('en')} results`, ...about }))
    }
  }
  return rows
}

/** Milliseconds of a call on a new list: of messages that were never seen, or of those of the last time and one result more. */
function timedPeer(call, make, write, grows) {
  let messages = make()
  let added = FEW_RESULTS
  return async () => {
    messages = grows ? [...messages, ...write(added++)] : make()
    const given = messages.slice()
    const start = performance.now()
    await call(given)
    return performance.now() - start
  }
}

async function peer(name, path, log) {
  try {
    return await import(new URL(path, PEERS))
  } catch (error) {
    log(`${name} is skipped: ${error.message}`)
    return undefined
  }
}

function history(count, write) {
  const messages = write('start')
  for (let at = 0; at < count; at++) messages.push(...write(at))
  return messages
}

const text = (at) => `line ${at} of what a tool printed\n`.repeat(16).slice(0, 500)

function chatMessage(at) {
  if (at === 'start')
    return [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'Go on.' },
    ]
  const call = { id: `call_${at}`, type: 'function', function: { name: 'bash', arguments: `{"command":"ls ${at}"}` } }
  return [
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: text(at) },
  ]
}

function modelMessage(at) {
  if (at === 'start')
    return [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'Go on.' },
    ]
  const tool = { toolCallId: `call_${at}`, toolName: 'bash' }
  return [
    { role: 'assistant', content: [{ type: 'tool-call', ...tool, input: { command: `ls ${at}` } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...tool, output: { type: 'text', value: text(at) } }] },
  ]
}

function langChainMessage({ SystemMessage, HumanMessage, AIMessage, ToolMessage }, at) {
  if (at === 'start') return [new SystemMessage('You are an agent.'), new HumanMessage('Go on.')]
  const id = `call_${at}`
  return [
    new AIMessage({ content: '', tool_calls: [{ id, name: 'bash', args: { command: `ls ${at}` } }] }),
    new ToolMessage({ content: text(at), tool_call_id: id, name: 'bash' }),
  ]
}

function check(holds) {
  if (!holds) throw new Error('the histories are not what they should be')
}
