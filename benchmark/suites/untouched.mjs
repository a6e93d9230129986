/** `output()` with nothing to do: what most calls are. */
import { compare, tight } from '../measure.mjs'
import { ReferenceTruncationService } from '../reference/service.mjs'
import { makeRow } from '../report.mjs'
import { KB, makeTexts, SCRIPTS } from '../workloads.mjs'

const SIZES = [20, 100, KB, 2 * KB, 4 * KB, 8 * KB, 16 * KB]

export const untouched = {
  name: 'untouched',
  title: '`output()`, nothing to do',

  async run({ subject, folder, shortRounds, tightMs }) {
    const ours = new subject.TruncationService({ storageDirs: [folder] })
    const reference = new ReferenceTruncationService({ global: { storageDir: folder } })
    const rows = []
    for (const [script, scriptName] of Object.entries(SCRIPTS)) {
      for (const size of SIZES) {
        const texts = makeTexts(script, size, 16)
        await check(ours, texts[0])
        await check(reference, texts[0])
        const samples = await compare(
          [
            await tight('ours', (text) => ours.output(text, { toolName: 'fetch_log' }), texts),
            await tight('reference', (text) => reference.output(text, { toolName: 'fetch_log' }), texts),
          ],
          { rounds: shortRounds, batchMs: tightMs, warmUpMs: 60 },
        )
        rows.push(
          makeRow({
            work: `nothing to do, ${size < KB ? `${size} B` : `${size / KB} KB`} ${scriptName}`,
            ours: samples.ours,
            yardstick: samples.reference,
            target: targetOf(script, size),
          }),
        )
      }
    }
    for (const size of [100, KB]) rows.push(await heard({ subject, folder, shortRounds, tightMs }, size))
    return rows
  },
}

/** The same with a listener: both then count bytes and make an event. */
async function heard({ subject, folder, shortRounds, tightMs }, size) {
  let told = 0
  const onEvent = (event) => {
    told += event.truncatedSize
  }
  const ours = new subject.TruncationService({ storageDirs: [folder], onEvent })
  const reference = new ReferenceTruncationService({ global: { storageDir: folder }, onEvent })
  const texts = makeTexts('ascii', size, 16)
  await check(ours, texts[0])
  await check(reference, texts[0])
  if (told !== 2 * size) throw new Error('an event is missing')
  const samples = await compare(
    [
      await tight('ours', (text) => ours.output(text, { toolName: 'fetch_log' }), texts),
      await tight('reference', (text) => reference.output(text, { toolName: 'fetch_log' }), texts),
    ],
    { rounds: shortRounds, batchMs: tightMs, warmUpMs: 60 },
  )
  return makeRow({
    work: `nothing to do, ${size < KB ? `${size} B` : `${size / KB} KB`} ASCII, with a listener`,
    ours: samples.ours,
    yardstick: samples.reference,
    target: 0.8,
  })
}

function targetOf(script, size) {
  if (size <= 100) return 0.4
  if (size <= KB) return 0.28
  return script === 'ascii' ? 0.5 : 0.15
}

async function check(service, text) {
  const result = await service.output(text, { toolName: 'fetch_log' })
  if (result.truncated !== false || result.content !== text) throw new Error('a short output was changed')
}
