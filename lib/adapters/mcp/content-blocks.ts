/** MCP results in the form that a guard expects of the `output` of a tool. */

import type { ToolControls, TruncationMiddleware } from 'spillway'
import { middlewareOf } from '../../service/middleware'
import { isRecord } from '../../validation/validate'
import { boundResult, type StructuredContent } from './truncate-result'
import { type McpToolResult, META_KEY } from './types'

/** The bounding of one guard. */
export class Blocks {
  /** For the guard: bounds the blocks with the whole result that they belong to. */
  readonly truncation: TruncationMiddleware | undefined
  readonly #structured: StructuredContent
  /** The result that a list of blocks belongs to, and what is known of the cut that made another. */
  readonly #whole = new WeakMap<object, McpToolResult>()
  readonly #meta = new WeakMap<object, unknown>()

  constructor(truncation: ToolControls['truncation'], structured: StructuredContent) {
    this.#structured = structured
    const bound = middlewareOf(truncation)
    this.truncation =
      bound &&
      (async (tool, given, context = {}) => {
        const { output } = given
        const whole = isHolder(output)
        if (!whole && !Array.isArray(output)) return bound(tool, given, context)
        const failed = context.failed === true && { isError: true }
        const result = whole ? output : { ...this.#whole.get(output), content: output, ...failed }
        const answer: McpToolResult = await boundResult(
          result,
          { bound, structured },
          { ...context, toolName: context.toolName ?? tool },
        )
        if (answer === result) return given
        const content = answer.content as object
        this.#meta.set(content, answer._meta?.[META_KEY])
        return { ...given, output: whole ? answer : content, metadata: { truncationPath: outputPathOf(answer) } }
      })
  }

  /** The answer of a tool before the guard sees it. */
  heard(result: unknown): unknown {
    const given = withoutForeignMeta(result)
    if (isHolder(given)) this.#whole.set(given.content, given)
    return given
  }

  /** The guarded answer as a result of MCP. */
  shown(answer: unknown): unknown {
    if (!isRecord(answer) || !isRecord(answer._meta) || answer._meta.truncationPath === undefined) return answer
    const { truncationPath, ...others } = answer._meta
    const facts = this.#meta.get(answer.content as object) ?? { outputPath: truncationPath }
    const { structuredContent, ...rest } = answer
    const kept = this.#structured === 'keep' && structuredContent !== undefined ? { structuredContent } : {}
    const shown = { ...rest, ...kept, _meta: { ...others, [META_KEY]: facts } }
    OWN.add(shown)
    return shown
  }
}

/** Results of this process that say where an output was saved. */
const OWN = new WeakSet<object>()

/** Returns a result without the path of a saved output that only the server says. */
function withoutForeignMeta(result: unknown): unknown {
  if (!isRecord(result) || !isRecord(result._meta) || !(META_KEY in result._meta) || OWN.has(result)) return result
  const { [META_KEY]: _, ...meta } = result._meta
  return { ...result, _meta: meta }
}

function isHolder(value: unknown): value is McpToolResult & { content: unknown[] } {
  return isRecord(value) && Array.isArray(value.content)
}

function outputPathOf({ _meta }: McpToolResult): unknown {
  const facts = _meta?.[META_KEY]
  return isRecord(facts) ? (facts.outputPath ?? '') : undefined
}
