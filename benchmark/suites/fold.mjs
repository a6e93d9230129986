/** `FoldSession.fold` against an index that is full, beside `output()` of the same text. */
import { createRequire } from 'node:module'
import { compare, once, tight } from '../measure.mjs'
import { makeRow } from '../report.mjs'
import { KB, MB } from '../workloads.mjs'

/** Bytes of the index, by default of a session. */
const INDEX = 8 * MB
const { FoldSession } = createRequire(import.meta.url)('../../dist/entries/fold.js')

export const fold = {
  name: 'fold',
  title: '`FoldSession.fold`, an index of 8 MiB',

  async run({ subject, self, folder, shortRounds: rounds, tightMs: batchMs }) {
    // The reference folds nothing.
    if (self) return []
    const service = new subject.TruncationService({ storageDirs: [folder], global: { maxLines: 100 } })
    const rows = []
    const beside = async (work, make, target) => {
      const session = filled()
      const next = make(session)
      const texts = Array.from({ length: 64 }, next)
      const samples = await compare(
        [
          once('ours', next, (text) => session.fold(text, call())),
          await tight('output', (text) => service.output(text, { toolName: 'fetch' }), texts),
        ],
        { rounds, batchMs, warmUpMs: 200, maxCount: 2000 },
      )
      rows.push(makeRow({ work, ours: samples.ours, yardstick: samples.output, yardstickName: '`output()`', target }))
      rows.push(makeRow({ work: `${work}, time`, ours: samples.ours, unit: 'ms', target: 0.06 }))
    }
    await beside('fold, 16 KB of new lines', () => pages(16 * KB), 0.5)
    await beside('fold, 16 KB of which half is known', halfKnown, 0.5)
    const session = filled()
    const small = await tight('ours', (text) => session.fold(text, call()), [''.padEnd(300, 'x')])
    const { ours } = await compare([small], { rounds, batchMs, warmUpMs: 200 })
    rows.push(makeRow({ work: 'fold, 300 B', ours, unit: 'ms', target: 0.00003 }))
    return rows
  },
}

/** A session whose index is full: a text that came in pushed older ones out. */
function filled() {
  const session = new FoldSession({ maxIndexBytes: INDEX })
  const next = pages(64 * KB)
  for (let known = -1; session.report().index.lines > known; ) {
    known = session.report().index.lines
    session.fold(next(), call())
  }
  return session
}

function halfKnown(session) {
  const known = pages(8 * KB)()
  if (session.fold(known, call()).content !== known) throw new Error('a text of new lines was folded')
  const next = pages(8 * KB)
  const both = () => next() + known
  const { content } = session.fold(both(), call())
  if (content.length > 9 * KB) throw new Error('a text that is known was not folded')
  return both
}

let calls = 0

/** A read of a file of its own: of one name, only the newest hundred are known. */
function call() {
  const count = calls++
  return { toolName: 'read', toolCallId: `call ${count}`, args: { path: `src/${count}.ts` } }
}

let made = 0

/** Texts of lines that no other text has, each in one piece: V8 would join its parts within the time that is measured. */
function pages(bytes) {
  return () => {
    const name = made++
    let text = ''
    for (let line = 0; text.length < bytes; line++) text += `export const value${name} = compute(${line}, ${name})\n`
    return Buffer.from(text).toString()
  }
}
