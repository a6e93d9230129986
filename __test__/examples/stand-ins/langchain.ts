/** Stand-in for `langchain`: the names and types that the pages use. */
export interface AgentMiddleware {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: the request of the framework
  wrapToolCall?: (request: any, handler: any) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: the request of the framework
  wrapModelCall?: (request: any, handler: any) => unknown
}
export interface AgentParts {
  model: string | { invoke: (input: unknown) => Promise<unknown> }
  tools?: { name: string }[]
  checkpointer?: object
  middleware?: readonly AgentMiddleware[]
}
export function createAgent(parts: AgentParts) {
  return { parts, invoke: async (input: { messages: unknown[] }) => input }
}
export function humanInTheLoopMiddleware(options: {
  interruptOn: Record<
    string,
    {
      allowedDecisions: ('approve' | 'edit' | 'reject')[]
      when?: (request: { toolCall: { id?: string; name: string; args: unknown } }) => Promise<boolean> | boolean
    }
  >
}): AgentMiddleware {
  return { name: Object.keys(options.interruptOn).join() }
}
