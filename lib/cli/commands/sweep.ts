/** `spillway sweep`: removes outputs that are too old or over a quota. */

import { countText, sizeText } from '../../util/format'
import { type Command, type Parsed, typed } from '../command'
import { openOutputs } from '../output-storage'
import { forgetRemoved } from '../outputs'
import { bytes } from '../parse-sizes'
import { positive, whole } from '../parse-values'
import { configOf } from '../shared-options'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printJson } from '../terminal'

const command: Command = {
  name: 'sweep',
  summary: 'Removes saved outputs that are too old or over a quota.',
  usage: '[options]',
  about: 'Files that are younger than an hour, cannot be examined, or are not outputs of the store are never removed.',
  options: {
    'retention-days': {
      type: 'string',
      value: 'N',
      help: 'Number of days to keep an output. Default: truncation.ttlDays of --config, else 7.',
    },
    'max-bytes': { type: 'string', value: 'SIZE', help: 'Maximum bytes that remain. Default: 4g.' },
    'max-files': { type: 'string', value: 'N', help: 'Maximum number of outputs that remain. Default: 10,000.' },
    'dry-run': { type: 'boolean', help: 'Print what would be removed, and remove nothing.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [0, 0],
  exits: [
    ['0', 'done'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed, or some outputs could not be removed'],
  ],
  examples: [
    ['spillway sweep', 'by the defaults'],
    ['spillway sweep --retention-days 1 --max-bytes 500m', 'with tighter limits'],
  ],
  run,
}

/** The defaults of a store. */
const [MAX_FILES, MAX_BYTES] = [10_000, 4 * 2 ** 30]

const WHY = { age: 'too old', bytes: 'the store has too many bytes', count: 'the store has too many outputs' }

export default command

/** Days that the settings say. */
function retentionIn(values: Parsed['values']): number | undefined {
  const { truncation } = values.config === undefined ? {} : configOf(values).options
  return truncation === false ? undefined : truncation?.retentionDays
}

async function run({ values, json }: Parsed): Promise<number> {
  const dryRun = values['dry-run'] === true
  const [maxBytes, maxFiles] = [bytes(values, 'max-bytes'), whole(values, 'max-files')]
  const retentionDays = positive(values, 'retention-days') ?? retentionIn(values)
  const storage = await openOutputs(values)
  const report = await typed(storage.sweep({ retentionDays, maxStoreBytes: maxBytes, maxStoreFiles: maxFiles, dryRun }))
  if (!dryRun && report.removedFiles > 0) await forgetRemoved(storage)
  if (json) {
    await printJson(report)
  } else {
    const { removed, removedFiles, removedBytes, kept, failed, skippedDirs } = report
    if (dryRun)
      for (const { path, bytes: size, reason } of removed) await print(`${path}  ${sizeText(size)}, ${WHY[reason]}\n`)
    await print(
      `${dryRun ? 'would remove' : 'removed'} ${countText(removedFiles, 'output')} (${sizeText(removedBytes)})\n`,
    )
    await print(`${dryRun ? 'would keep' : 'kept'} ${countText(kept.files, 'output')} (${sizeText(kept.bytes)})\n`)
    const isOver = kept.files > (maxFiles ?? MAX_FILES) || kept.bytes > (maxBytes ?? MAX_BYTES)
    if (isOver) note('The store is still over its limits, because outputs younger than an hour are never removed.')
    else if (removedFiles === 0 && kept.files > 0) {
      note(`Nothing is older than ${countText(retentionDays ?? 7, 'day')}, and the store is within its limits.`)
    }
    for (const { path, error } of failed) note(`failed: ${path}: ${error}`)
    for (const dir of skippedDirs) note(`skipped: ${dir}: another process is sweeping it`)
  }
  return report.failedFiles > 0 ? EXIT.failed : EXIT.ok
}
