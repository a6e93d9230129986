/** Truncates and folds the result of a call, in the shape that the tool gave it. */

import { isSavedOutput } from '../storage/saved-outputs'
import { withCommand } from '../tools/command-of'
import { foldResult } from '../tools/fold-result'
import { isMcp } from '../tools/tool-result'
import { opened } from '../truncation/bounded-output'
import type { ToolResultLike } from '../types'
import { isArray } from '../util/guards'
import { safeStringify } from '../util/safe-stringify'
import { catchLater, warn } from '../util/warn'
import { isRecord, wrong } from '../validation/validate'
import type { Call, Guard } from './guarded-call'

/** The question that the output of a call is to answer. */
function questionOf({ tool, controls }: Guard, { args }: Call): string | undefined {
  try {
    const query: unknown = controls.query?.({ tool: tool.name, args })
    catchLater('query', query)
    if (query !== undefined && typeof query !== 'string')
      throw wrong('controls.query', query, 'a string from the function')
    return query
  } catch (error) {
    warn('query', error)
    return undefined
  }
}

export async function truncate(guard: Guard, call: Call, given: unknown, isError: boolean): Promise<unknown> {
  if (given === undefined || given === null) return given
  const { value, made } = opened(given)
  if (made !== undefined && made.outputPath !== '') call.outputPath = made.outputPath
  const { tool, bound } = guard
  if (bound === undefined) return given
  // A bare result of a service stands for its text.
  const result = isRecord(given) && 'output' in given ? given : value
  const { toolCallId, sessionId, signal } = call
  const { name: toolName, truncation: declared } = tool
  const query = questionOf(guard, call)
  const about = { toolName, toolCallId, sessionId, signal, declared, failed: isError, ...(query && { query }) }
  const context = withCommand(about, call.args)
  const noteFile = (bounded: ToolResultLike) => {
    const path = bounded?.metadata?.truncationPath
    // A middleware of the caller's may save elsewhere; what the tool itself says is not believed.
    const isTools = isRecord(given) && isRecord(given.metadata) && given.metadata.truncationPath === path
    if (typeof path === 'string' && path !== '' && (!isTools || isSavedOutput(path))) call.outputPath = path
    return bounded
  }
  try {
    if (isRecord(result) && 'output' in result) return noteFile(await bound(tool.name, result, context))
    if (isMcp(result)) {
      // Results of MCP keep their text in parts; what is long beside those is read, too.
      const parts = hasMoreThanParts(result) ? result : result.content
      const { output, metadata } = noteFile(await bound(tool.name, { output: parts }, context))
      if (output === parts) return result
      const path = metadata?.truncationPath
      const shown = parts === result ? holderOf(result, output) : { ...result, content: partsOf(output) }
      return path === undefined ? shown : { ...shown, _meta: { ...(shown._meta as object), truncationPath: path } }
    }
    return noteFile(await bound(tool.name, { output: result }, context)).output
  } catch (error) {
    warn('truncation', error)
    return result
  }
}

/** Bytes of other fields beside the parts of a result that may stay as they are. */
const SMALL_UNITS = 1024

function hasMoreThanParts({ content: _, ...beside }: Record<string, unknown>): boolean {
  return safeStringify(beside).length > SMALL_UNITS
}

/** Returns the visible part of an MCP result, in its own shape. */
function holderOf({ isError }: Record<string, unknown>, shown: unknown): Record<string, unknown> {
  return isMcp(shown) ? shown : { content: partsOf(shown), ...(isError !== undefined && { isError }) }
}

function partsOf(shown: unknown): readonly unknown[] {
  return isArray(shown) ? shown : [{ type: 'text', text: shown }]
}

/** The result without the lines that the model has in view already. */
export function folded({ tool, controls }: Guard, call: Call, bounded: unknown): unknown {
  if (controls.fold === undefined) return bounded
  const { toolCallId, args, workingDirectory } = call
  const outputPath = call.outputPath ?? (bounded as ToolResultLike | null)?.metadata?.truncationPath
  const about = { toolName: tool.name, toolCallId, args, workingDirectory, outputPath }
  const { result, folds } = foldResult(controls.fold, bounded, about)
  call.folds = folds
  return result
}
