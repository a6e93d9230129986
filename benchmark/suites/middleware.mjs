/** The middleware on a result that is fine as it is. */
import { compare, tight } from '../measure.mjs'
import { createReferenceMiddleware } from '../reference/middleware.mjs'
import { ReferenceTruncationService } from '../reference/service.mjs'
import { makeRow } from '../report.mjs'
import { makeTexts } from '../workloads.mjs'

export const middleware = {
  name: 'middleware',
  title: 'Middleware',

  async run({ subject, folder, shortRounds, tightMs }) {
    const ours = subject.createTruncationMiddleware({
      service: new subject.TruncationService({ storageDirs: [folder] }),
    })
    const reference = createReferenceMiddleware({
      service: new ReferenceTruncationService({ global: { storageDir: folder } }),
    })
    const texts = makeTexts('ascii', 100, 16)
    await check(ours, texts[0])
    await check(reference, texts[0])
    // A tool makes a new result every time: so does each call.
    const call = (run) => (text) => run('fetch_log', { success: true, output: text }, { toolName: 'fetch_log' })
    const samples = await compare(
      [await tight('ours', call(ours), texts), await tight('reference', call(reference), texts)],
      { rounds: shortRounds, batchMs: tightMs, warmUpMs: 60 },
    )
    return [makeRow({ work: 'middleware, 100 B result', ours: samples.ours, yardstick: samples.reference, target: 1 })]
  },
}

async function check(run, text) {
  const result = await run('fetch_log', { success: true, output: text }, { toolName: 'fetch_log' })
  if (result.output !== text || result.success !== true || result.metadata?.truncated !== false) {
    throw new Error('a short result was changed')
  }
}
