import type { ToolResultLedger } from 'spillway'
import type { FoldCall, FoldSession } from 'spillway/fold'

/** Folds the result of a call as a host does, and records it. Returns the text that is stored. */
export function foldedText(
  text: string,
  call: FoldCall & { toolCallId: string },
  { fold, ledger }: { fold: FoldSession; ledger: ToolResultLedger },
): string {
  const { content, record } = fold.fold(text, call)
  const { toolCallId, toolName } = call
  ledger.record({ toolCallId, toolName, ...(record && { folds: record }) })
  return content
}
