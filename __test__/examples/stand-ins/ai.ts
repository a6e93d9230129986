/** Stand-in for `ai`: the names and types that the pages use. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: unknown
}
export interface Tool {
  execute?: (input: never, options: never) => unknown
}
export type ToolSet = Record<string, Tool>
export interface CallOptions {
  prompt: unknown[]
  providerOptions?: Record<string, Record<string, unknown>>
}
export interface Model {
  modelId: string
  doGenerate: (options: CallOptions) => PromiseLike<{ content: unknown[] }>
  doStream: (options: CallOptions) => PromiseLike<{ stream: ReadableStream }>
}
export type LanguageModel = Model | string
export interface Middleware {
  transformParams?: (options: { params: CallOptions; type: 'generate' | 'stream'; model: Model }) => Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: the framework's own type names four versions of a model
  wrapGenerate?: (options: any) => Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  wrapStream?: (options: any) => Promise<any>
}

export function wrapLanguageModel({ model }: { model: Model; middleware: Middleware }): Model {
  return model
}
export function stepCountIs(count: number): (state: { steps: unknown[] }) => boolean {
  return ({ steps }) => steps.length === count
}
export async function generateText(options: {
  model: LanguageModel
  tools?: ToolSet
  messages: ModelMessage[]
  providerOptions?: Record<string, Record<string, unknown>>
  toolApproval?: (request: { toolCall: { toolCallId: string; toolName: string; input: unknown } }) => unknown
  stopWhen?: (state: { steps: unknown[] }) => boolean
}): Promise<{ text: string; content: { type: string }[] }> {
  return { text: `${options.messages.length}`, content: [] }
}
