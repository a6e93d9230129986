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

/** Lines of a source file, from one number up to another. */
export const file = (from: number, to: number, name = 'value'): string =>
  Array.from({ length: to - from }, (_, at) => `const ${name}${from + at} = compute(${from + at}, 'of a file')`).join(
    '\n',
  )
