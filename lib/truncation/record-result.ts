/** Record of a finished call, for the ledger. */

import { isSavedOutput } from '../storage/saved-outputs'
import type { FoldRecord, ToolResultLike, ToolResultRecord, ToolResultRecorder } from '../types'
import { exitCodeIn } from '../util/exit-code'
import { jsonRecord } from '../util/json-record'
import { catchLater, tellCaller, warn } from '../util/warn'
import { isRecord } from '../validation/validate'
import { opened } from './bounded-output'
import { textOfValue } from './content'
import { previewOf } from './previews'

/** A finished call. */
export interface Finished {
  toolCallId: string | undefined
  toolName: string
  /** As the tool gave it. */
  result: ToolResultLike | null | undefined
  /** As the model gets it. */
  bounded?: ToolResultLike | null | undefined
  /** The host said that it failed. */
  failed?: boolean | undefined
  args?: Readonly<Record<string, unknown>> | undefined
  /** The folded parts of its text. */
  folds?: FoldRecord | undefined
}

/** Larger outputs are not parsed for an exit code. */
const MAX_JSON_UNITS = 1 << 20

/** Tells the ledger that a call begins. A failure is only a warning. */
export function observeStart(ledger: ToolResultRecorder | undefined, toolCallId: string | undefined): void {
  if (ledger === undefined || typeof toolCallId !== 'string' || toolCallId === '') return
  tellCaller('ledger.begin', () => ledger.begin?.(toolCallId))
}

/** Writes a finished call into the ledger. A call without an id is never looked up, and a failure is only a warning. */
export function observe(
  ledger: ToolResultRecorder,
  { toolCallId, toolName, result, bounded, failed, args, folds }: Finished,
): void {
  if (typeof toolCallId !== 'string' || toolCallId === '') return
  try {
    const { output, error, metadata, success, isError } = result ?? {}
    const { exitCode, hasStderr, hasFailed } = outcomeOf(result ?? {}, output)
    const saved = savedAt(bounded?.metadata?.truncationPath, metadata)
    const failure = failed === true || success === false || isError === true
    const record: ToolResultRecord = {
      toolCallId,
      toolName,
      endedAt: Date.now(),
      isError: failure || hasFailed,
      bytes: sizeOf(output ?? error),
    }
    if (exitCode !== undefined) record.exitCode = exitCode
    if (hasStderr !== undefined) record.hasStderr = hasStderr
    if (saved !== undefined) record.outputPath = saved
    if (isRecord(args)) record.args = args
    if (folds !== undefined) record.folds = folds
    catchLater('ledger.record', ledger.record(record))
  } catch (error) {
    warn('ledger.record', error)
  }
}

/** Where the output is, as truncation says, or as the tool says if that is the path of a saved output. */
function savedAt(bounded: unknown, metadata: ToolResultLike['metadata']): string | undefined {
  const said = [bounded, metadata?.truncationPath, metadata?.outputPath]
  const [path, ...others] = said.filter((each): each is string => typeof each === 'string' && each !== '')
  if (path === undefined) return undefined
  const isTools = bounded !== path || others.includes(path)
  return !isTools || isSavedOutput(path) ? path : undefined
}

/** Bytes of an output; of a preview, those of the output that it stands for. */
export function sizeOf(output: unknown): number {
  if (output === undefined || output === null) return 0
  const { value, made = typeof value === 'string' ? previewOf(value) : undefined } = opened(output)
  return made?.totalBytes ?? Buffer.byteLength(textOfValue(value))
}

/** How a command ended, from wherever its tool says it: beside the output, or inside of it. */
function outcomeOf(
  result: ToolResultLike,
  output: unknown,
): Pick<ToolResultRecord, 'exitCode' | 'hasStderr'> & { hasFailed: boolean } {
  const inside = isRecord(output) ? output : parsed(output)
  const exitCode = exitCodeIn(result) ?? exitCodeIn(inside)
  const streams = [result, inside, result.metadata].map((holder) => (Object(holder) as { stderr?: unknown }).stderr)
  const stderr = streams.find((each) => typeof each === 'string')
  return {
    hasFailed: exitCode !== undefined && exitCode !== 0,
    ...(typeof exitCode === 'number' && { exitCode }),
    ...(stderr !== undefined && { hasStderr: stderr !== '' }),
  }
}

function parsed(text: unknown): object | undefined {
  if (typeof text !== 'string' || text.length > MAX_JSON_UNITS || !text.startsWith('{')) return undefined
  return jsonRecord(text)
}
