// `node scripts/docs/loops.mjs FOLDER [--part=work|held-out] [--verbose]`: replays recorded sessions through the detector of
// loops and writes what it found into `docs/doom-loop.md`. The folder holds `ID.jsonl.gz` with one message a line, and
// `loops.json` with the stretches that people judged. Needs a build.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fillPage } from './fill-page.mjs'

const { DoomLoopDetector } = createRequire(import.meta.url)('../../index.js')

const [folder, ...flags] = process.argv.slice(2)
if (!folder) throw new Error('which folder?')
const part = flags.find((flag) => flag.startsWith('--part='))?.slice('--part='.length)
const verbose = flags.includes('--verbose')

/** One session in three is held out while rules are worked on. */
const isHeldOut = (id) => createHash('sha256').update(id).digest()[0] % 3 === 0

/**
 * Replays a session as one long run without a budget, which is hardest on a detector of repeats, and approves whatever is
 * asked. The answer is what was asked, and at which message.
 */
function replay(messages) {
  const detector = new DoomLoopDetector({ maxToolCalls: Number.POSITIVE_INFINITY })
  const found = []
  messages.forEach((message, at) => {
    const note = (verdict) => {
      if (verdict.action === 'allow') return
      found.push({ at, ...verdict })
      if (verdict.action === 'ask') detector.approve(verdict.toolCallId, 'once')
    }
    const { role, content, toolCalls = [] } = message
    if (role === 'tool') {
      detector.record({ toolCallId: message.toolCallId, result: content, isError: message.isError })
    } else if (role === 'user' || role === 'assistant') {
      note(detector.observe({ role, text: typeof content === 'string' ? content : JSON.stringify(content) }))
      for (const { id, name, args } of toolCalls) note(detector.check({ toolCallId: id, tool: name, args, turn: at }))
    }
  })
  return found
}

const labels = JSON.parse(readFileSync(join(folder, 'loops.json'), 'utf8'))
const ids = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl.gz'))
  .map((name) => name.slice(0, -'.jsonl.gz'.length))
  .filter((id) => part === undefined || isHeldOut(id) === (part === 'held-out'))

const rows = new Map()
const add = (name, hit) => {
  const row = rows.get(name) ?? { sessions: 0, found: 0 }
  rows.set(name, { sessions: row.sessions + 1, found: row.found + (hit ? 1 : 0) })
}
/** A question finds a stretch from its second message to the message after it. */
const within = ({ from, to }, at) => at > from && at <= to + 2

let calls = 0
const started = performance.now()
for (const id of ids) {
  const lines = gunzipSync(readFileSync(join(folder, `${id}.jsonl.gz`)))
    .toString('utf8')
    .split('\n')
  const messages = lines.filter((line) => line !== '').map((line) => JSON.parse(line))
  calls += messages.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0)
  const found = replay(messages)
  const own = labels.filter((label) => label.id === id)
  const stretches = own.map((label) => ({ ...label, hit: found.find(({ at }) => within(label, at)) }))
  for (const { label, note, hit } of stretches) {
    add(label === 'loop' && /without a tool call/.test(note) ? 'loop without calls' : label, hit)
  }
  if (own.length === 0) add('other', found.length > 0)
  if (verbose && (own.length > 0 || found.length > 0)) {
    const first = found.slice(0, 3).map(({ at, action, reason, count }) => `${at} ${action} ${reason} ${count}`)
    console.log(
      id,
      own.map(({ label, from, to }) => `${label} ${from}-${to}`).join(),
      '=>',
      first.join('; ') || 'nothing',
    )
  }
}
console.log(`${ids.length} sessions, ${calls} calls, ${Math.round(performance.now() - started)} ms`)

const names = [
  ['loop', 'loops of tool calls'],
  ['loop without calls', 'loops without calls'],
  ['dead tool', 'dead tools'],
  ['not a loop', 'look-alikes'],
  ['borderline', 'borderline'],
  ['other', 'all other sessions'],
]
const table = [
  '| what people judged | how many | asked or stopped |',
  '| --- | ---: | ---: |',
  ...names
    .filter(([name]) => rows.has(name))
    .map(([name, title]) => `| ${title} | ${rows.get(name).sessions} | ${rows.get(name).found} |`),
]
console.log(table.join('\n'))

if (part === undefined) fillPage('docs/doom-loop.md', 'figures', table.join('\n'))
