/** Record of a finished call, for the ledger. */

import { isSavedOutput } from '../storage/saved-outputs'
import type { FoldRecord, ToolResultLike, ToolResultRecord, ToolResultRecorder } from '../types'
import { jsonRecord } from '../util/json'
import { catchLater, tellCaller, warn } from '../util/warn'
import { isRecord } from '../validation/validate'
import { opened } from './bounded-output'
import { exitCodeIn, failureOf, type KnownOutcome } from './call-outcome'
import { textOfValue } from './content'
import { previewOf } from './previews'
import { saidPaths } from './said-path'

/** A finished call. */
export interface Finished extends KnownOutcome {
  toolCallId: string | undefined
  toolName: string
  /** As the tool gave it. */
  result: ToolResultLike | null | undefined
  /** As the model gets it. */
  bounded?: ToolResultLike | null | undefined
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
  { toolCallId, toolName, result, bounded, args, folds, ...known }: Finished,
): void {
  if (typeof toolCallId !== 'string' || toolCallId === '') return
  try {
    const { output, error, metadata } = result ?? {}
    const inside = isRecord(output) ? output : parsed(output)
    const codes = [known.exitCode, exitCodeIn(result), exitCodeIn(inside)]
    const exitCode = codes.find((code) => code !== undefined)
    const hasStderr = hasStderrIn(result, inside, metadata)
    const saved = savedAt(bounded?.metadata?.truncationPath, metadata)
    const record: ToolResultRecord = {
      toolCallId,
      toolName,
      endedAt: Date.now(),
      isError: known.failed ?? [failureOf(result, known), failureOf(inside)].includes(true),
      bytes: sizeOf(output ?? error),
    }
    if (typeof exitCode === 'number') record.exitCode = exitCode
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
  const told = saidPaths(metadata)
  const path = typeof bounded === 'string' && bounded !== '' ? bounded : told[0]
  if (path === undefined) return undefined
  const isTools = told.includes(path)
  return !isTools || isSavedOutput(path) ? path : undefined
}

/** Bytes of an output; of a preview, those of the output that it stands for. */
export function sizeOf(output: unknown): number {
  if (output === undefined || output === null) return 0
  const { value, made = typeof value === 'string' ? previewOf(value) : undefined } = opened(output)
  return made?.totalBytes ?? Buffer.byteLength(textOfValue(value))
}

/** Returns whether a command wrote to `stderr`, if one of these says it. */
function hasStderrIn(...holders: unknown[]): boolean | undefined {
  const streams = holders.map((holder) => (Object(holder) as { stderr?: unknown }).stderr)
  const stderr = streams.find((each) => typeof each === 'string')
  return stderr === undefined ? undefined : stderr !== ''
}

function parsed(text: unknown): object | undefined {
  if (typeof text !== 'string' || text.length > MAX_JSON_UNITS || !text.startsWith('{')) return undefined
  return jsonRecord(text)
}
