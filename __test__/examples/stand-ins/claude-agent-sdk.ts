/** Stand-in for `@anthropic-ai/claude-agent-sdk`: the names and types that the pages use. */
interface HookMatcher {
  hooks: ((
    // biome-ignore lint/suspicious/noExplicitAny: one type for each event of the framework
    input: any,
    toolUseID: string | undefined,
    options: { signal: AbortSignal },
  ) => Promise<object>)[]
}
export type PermissionResult =
  | { behavior: 'allow'; updatedInput?: Record<string, unknown> }
  | { behavior: 'deny'; message: string; interrupt?: boolean }
export interface Options {
  cwd?: string
  model?: string
  additionalDirectories?: string[]
  hooks?: Partial<Record<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure', HookMatcher[]>>
  canUseTool?: (toolName: string, input: Record<string, unknown>, options: object) => Promise<PermissionResult>
}
export type Message =
  | { type: 'assistant'; message: object }
  | { type: 'result'; subtype: 'success'; result: string }
  | { type: 'result'; subtype: 'error_max_turns' }

export async function* query({ prompt }: { prompt: string; options?: Options }): AsyncGenerator<Message, void> {
  yield { type: 'result', subtype: 'success', result: prompt }
}
