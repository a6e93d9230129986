/** Stand-in for `@openai/agents`: the names and types that the pages use. */
export interface FunctionTool {
  type: 'function'
  name: string
  invoke: (context: unknown, input: string, details?: unknown) => Promise<unknown>
}
export interface Model {
  // biome-ignore lint/suspicious/noExplicitAny: the request of the framework
  getResponse: (request: any) => Promise<{ output: unknown[] }>
  // biome-ignore lint/suspicious/noExplicitAny: the request of the framework
  getStreamedResponse: (request: any) => AsyncIterable<unknown>
}
export interface Session {
  getSessionId(): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: the items of the framework
  getItems(limit?: number): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: the items of the framework
  addItems(items: any[]): Promise<void>
  popItem(): Promise<unknown>
  clearSession(): Promise<void>
}
export interface ModelInput {
  // biome-ignore lint/suspicious/noExplicitAny: the items of the framework
  input: any[]
  instructions?: string
}
type InputFilter = (args: {
  modelData: ModelInput
  // biome-ignore lint/suspicious/noExplicitAny: an agent of any context
  agent: Agent<any>
  context: unknown
}) => ModelInput | Promise<ModelInput>

// biome-ignore lint/correctness/noUnusedVariables: the framework's agents have it
export class Agent<Context = unknown> {
  readonly name: string
  constructor(readonly options: { name: string; model?: Model; tools?: FunctionTool[] }) {
    this.name = options.name
  }
}

export class MemorySession implements Session {
  private readonly items: unknown[] = []
  async getSessionId() {
    return 'session'
  }
  async getItems(limit = this.items.length) {
    return this.items.slice(-limit)
  }
  async addItems(items: unknown[]) {
    this.items.push(...items)
  }
  async popItem() {
    return this.items.pop()
  }
  async clearSession() {
    this.items.length = 0
  }
}

export class Runner {
  constructor(readonly options: { callModelInputFilter?: InputFilter } = {}) {}
  async run(agent: Agent, input: string, options: { session?: Session } = {}): Promise<{ finalOutput: string }> {
    await options.session?.addItems([{ role: 'user', content: input }])
    return { finalOutput: agent.name }
  }
}
