/**
 * The lengths of results that listed tools declare. A host that reads the declaration accepts longer results than
 * it does without: a server that declares one knows that a part of the result is of little use.
 */

import { isRecord } from '../../validation/validate'
import { type HostProfile, SIZE_KEY } from './hosts'
import type { McpTruncation } from './options'

/** A preview below this has no room beside its notice. */
const MIN_DECLARED = 2000

export class DeclaredSizes {
  private readonly declared = new Map<string, number>()

  /** Remembers what the tools of a page declare. */
  learn(tools: readonly unknown[]): void {
    for (const tool of tools) {
      if (!isRecord(tool) || typeof tool.name !== 'string') continue
      const characters = sizeIn(tool)
      if (characters === undefined) this.declared.delete(tool.name)
      else this.declared.set(tool.name, characters)
    }
  }

  /** The limits of a tool that declares a length, where the host reads it and the user gave no limit. */
  limitsOf(
    tool: string | undefined,
    { maxDeclared }: HostProfile,
    given: McpTruncation = {},
  ): { maxBytes?: number; maxLines?: number } {
    const characters = this.declared.get(tool ?? '')
    if (characters === undefined || maxDeclared === undefined || given.maxBytes !== undefined) return {}
    const maxBytes = Math.max(Math.min(characters, maxDeclared), MIN_DECLARED)
    // A byte is at least one line break, so that the bytes decide.
    return { maxBytes, ...(given.maxLines === undefined && { maxLines: maxBytes }) }
  }
}

/**
 * Returns the tool with the limit that the user gave declared, where the host would cut results within that limit; the very
 * same tool if there is nothing to declare.
 */
export function withDeclared(tool: unknown, { maxBytes, maxDeclared }: HostProfile, given?: number): unknown {
  if (!isRecord(tool) || maxDeclared === undefined || given === undefined || given <= maxBytes) return tool
  const wanted = Math.min(Math.ceil(given), maxDeclared)
  if (sizeIn(tool) === wanted) return tool
  return { ...tool, _meta: { ...(isRecord(tool._meta) ? tool._meta : {}), [SIZE_KEY]: wanted } }
}

function sizeIn({ _meta }: Record<string, unknown>): number | undefined {
  const size = isRecord(_meta) ? _meta[SIZE_KEY] : undefined
  return typeof size === 'number' && Number.isFinite(size) && size > 0 ? Math.floor(size) : undefined
}
