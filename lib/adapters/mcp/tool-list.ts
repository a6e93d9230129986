/** The listed tools: those of the server, and the two with which a model reads saved outputs. */

import { createOutputTools, type OutputTool, type TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { isRecord } from '../../validation/validate'
import { DeclaredSizes, withDeclared } from './declared-sizes'
import type { HostProfile } from './hosts'
import type { Limits } from './truncate-answer'
import type { StructuredContent } from './truncate-result'

export type OutputToolName = OutputTool['name']

/** The names of our tools here. */
export type Names = Readonly<Record<OutputToolName, string>>

/** How it is done where the server has a tool of the same name: the first name that is free. */
function chooseNames(taken: ReadonlySet<string>): Names {
  const free = (name: OutputToolName) => {
    if (!taken.has(name)) return name
    let chosen = `spillway_${name}`
    for (let count = 2; taken.has(chosen); count += 1) chosen = `spillway_${name}_${count}`
    return chosen
  }
  return { read_output: free('read_output'), search_output: free('search_output') }
}

/** True if a name may be one of ours. */
export function mayBeOurs(name: string): boolean {
  return /^(spillway_)?(read|search)_output(_\d+)?$/.test(name)
}

/** The cursor of the page that follows, if one does. Servers say that none does by an empty one, too. */
export function nextPage(result: unknown): string | undefined {
  const next = isRecord(result) ? result.nextCursor : undefined
  return typeof next === 'string' && next !== '' ? next : undefined
}

export class Listing {
  tools: readonly OutputTool[]
  /** Known once the server has listed its last tool. */
  names: Names | undefined
  /** True if this proxy offers the output tools: only one of the proxies of a host does. */
  isFirst = false
  /** The lengths of results that the listed tools declare. */
  readonly sizes = new DeclaredSizes()
  private taken = new Set<string>()

  constructor(
    private readonly storage: TruncationStorage | RemoteStorage,
    private readonly isOffered: boolean,
    private readonly structured: StructuredContent,
    private readonly sessionId: string | undefined,
  ) {
    this.tools = createOutputTools(storage, sessionId === undefined ? {} : { sessionId })
  }

  /** Makes pages fit the limit of the host. */
  setPage({ maxBytes, maxLines, counts }: Limits): void {
    const { sessionId } = this
    const page = { pageBytes: maxBytes, pageLines: maxLines, pageCounts: counts }
    this.tools = createOutputTools(this.storage, { ...page, ...(sessionId !== undefined && { sessionId }) })
  }

  /** The tool of ours that is meant by a name. */
  find(name: string): OutputTool | undefined {
    const { names } = this
    return this.isOffered && names ? this.tools.find((tool) => names[tool.name] === name) : undefined
  }

  /** Starts the list again. */
  begin(): void {
    this.taken = new Set()
  }

  /**
   * A page of the server's list, as the host gets it; the same object (`===`) if nothing is to change. Without
   * `outputSchema`, because a result that was truncated has no `structuredContent`, and hosts refuse one that breaks the promise.
   *
   * @param host reads what the tools declare
   * @param maxBytes the limit that the user gave
   */
  page(result: unknown, host: HostProfile, maxBytes?: number): unknown {
    if (!isRecord(result) || !Array.isArray(result.tools)) return result
    const given: unknown[] = result.tools
    for (const tool of given) if (isRecord(tool) && typeof tool.name === 'string') this.taken.add(tool.name)
    this.sizes.learn(given)
    let tools = given
    if (this.structured === 'drop' && given.some(hasSchema)) {
      tools = given.map((tool) => {
        if (!hasSchema(tool)) return tool
        const { outputSchema: _, ...rest } = tool
        return rest
      })
    }
    if (nextPage(result) === undefined) {
      this.names = chooseNames(this.taken)
      if (this.isOffered && this.isFirst) tools = [...tools, ...this.described(this.names)]
    }
    const declared = tools.map((tool) => withDeclared(tool, host, maxBytes))
    if (declared.some((tool, index) => tool !== tools[index])) tools = declared
    return tools === given ? result : { ...result, tools }
  }

  private described(names: Names): object[] {
    return this.tools.map(({ name, description, inputSchema }) => ({
      name: names[name],
      description,
      inputSchema,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    }))
  }
}

function hasSchema(tool: unknown): tool is Record<string, unknown> {
  return isRecord(tool) && tool.outputSchema !== undefined
}
