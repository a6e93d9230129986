/** Stand-in for `@earendil-works/pi-agent-core`: the names and types that the pages use. */
export interface AgentMessage {
  role: string
}
interface ToolCallContext {
  toolCall: { id: string; name: string }
  args: unknown
}
export interface AgentOptions {
  initialState?: { systemPrompt?: string; tools?: object[] }
  transformContext?: (messages: AgentMessage[], signal?: AbortSignal) => Promise<AgentMessage[]>
  beforeToolCall?: (
    context: ToolCallContext,
    signal?: AbortSignal,
  ) => Promise<{ block?: boolean; reason?: string } | undefined>
  afterToolCall?: (
    // biome-ignore lint/suspicious/noExplicitAny: the content parts of the framework
    context: ToolCallContext & { result: { content: any[]; details?: unknown }; isError: boolean },
    signal?: AbortSignal,
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ) => Promise<{ content?: any[]; details?: unknown; isError?: boolean } | undefined>
}
export class Agent {
  constructor(readonly options: AgentOptions = {}) {}
}
