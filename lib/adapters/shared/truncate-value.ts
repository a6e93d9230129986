/** Truncates a value of a host, in any structure. */

import type { ToolControls, ToolResultLike, TruncationContext } from 'spillway'
import type { ToolResultKnowledge } from 'spillway/history'
import { middlewareOf } from '../../service/middleware'
import { withCallDefaults } from '../../tools/command-of'
import { catchLater, warn } from '../../util/warn'

/** A value as the model may read it; the value itself if nothing had to go. Never rejects. */
export type TruncateValue = (
  value: unknown,
  context: TruncationContext,
) => Promise<{ value: unknown; outputPath?: string }>

/** How the caller's truncation bounds any value. A ledger learns where the whole is. */
export function boundBy({ truncation, ledger }: Pick<ToolControls, 'truncation' | 'ledger'>): TruncateValue {
  if (truncation === undefined) return async (value) => ({ value })
  const middleware = middlewareOf(truncation)
  return async (value, context) => {
    const bounded: ToolResultLike = await middleware(context.toolName, { output: value }, withCallDefaults(context))
    const path = bounded.metadata?.truncationPath
    if (typeof path !== 'string' || path === '') return { value: bounded.output }
    noteFile(ledger, context.toolCallId, path)
    return { value: bounded.output, outputPath: path }
  }
}

function noteFile(ledger: ToolControls['ledger'], toolCallId: string | undefined, outputPath: string): void {
  const { get } = Object(ledger) as Partial<ToolResultKnowledge>
  if (ledger === undefined || typeof get !== 'function' || toolCallId === undefined) return
  try {
    const known = get.call(ledger, toolCallId)
    if (known === undefined || known.outputPath !== undefined) return
    catchLater('ledger.record', ledger.record({ ...known, outputPath }))
  } catch (thrown) {
    warn('ledger.record', thrown)
  }
}
