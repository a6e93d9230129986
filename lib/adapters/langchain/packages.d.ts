/**
 * The parts of LangChain's core that are used, so that this compiles without it. Not published: users of the adapter have the
 * core, and the adapter's tests check it against it.
 */

declare module '@langchain/core/messages' {
  export class ToolMessage {
    constructor(fields: {
      content: unknown
      tool_call_id: string
      name?: string
      status?: 'success' | 'error'
      artifact?: unknown
    })
  }
}

declare module '@langchain/core/tools' {
  export function tool(
    run: (args: unknown, runtime?: { configurable?: { thread_id?: string }; signal?: AbortSignal }) => Promise<string>,
    fields: { name: string; description: string; schema: object },
  ): object
}
