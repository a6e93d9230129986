/** `spillway sweep`: what is too old or too much goes. */

import { STORE, storageOf } from '../bounding'
import { type Command, type Parsed, typed } from '../command'
import { EXIT, note, print, printJson } from '../terminal'
import { bytes, countOf, positive, sizeOf, whole } from '../values'

const command: Command = {
  name: 'sweep',
  summary: 'Removes saved outputs that are too old, and the oldest of too many.',
  usage: '[options]',
  about: 'Nothing is removed that is younger than an hour, cannot be examined, or is no output of the store.',
  options: {
    'retention-days': { type: 'string', value: 'N', help: 'Days to keep an output. Default: 7.' },
    'max-bytes': { type: 'string', value: 'SIZE', help: 'Bytes to leave. Default: 4g.' },
    'max-files': { type: 'string', value: 'N', help: 'Outputs to leave. Default: 10,000.' },
    ...STORE,
  },
  positionals: [0, 0],
  exits: [
    ['0', 'done'],
    ['2', 'wrong usage'],
    ['3', 'it could not be done, or not for all of them'],
  ],
  examples: [
    ['spillway sweep', 'by the defaults'],
    ['spillway sweep --retention-days 1 --max-bytes 500m', 'more thoroughly'],
  ],
  run,
}

export default command

async function run({ values, json }: Parsed): Promise<number> {
  const report = await typed(
    storageOf(values).sweep({
      retentionDays: positive(values, 'retention-days'),
      maxStoreBytes: bytes(values, 'max-bytes'),
      maxStoreFiles: whole(values, 'max-files'),
    }),
  )
  if (json) {
    await printJson(report)
  } else {
    const { removedFiles, removedBytes, kept, failed, skippedDirs } = report
    await print(`removed ${countOf(removedFiles, 'output')} (${sizeOf(removedBytes)})\n`)
    await print(`kept ${countOf(kept.files, 'output')} (${sizeOf(kept.bytes)})\n`)
    for (const { path, error } of failed) note(`failed: ${path}: ${error}`)
    for (const dir of skippedDirs) note(`skipped: ${dir}: another process is sweeping it`)
  }
  return report.failedFiles > 0 ? EXIT.failed : EXIT.ok
}
