// The package as hosts use it. Nothing runs here: that it compiles is the test, and `@ts-expect-error` says what must not.

import {
  ContextManager,
  compactHistory,
  createTruncation,
  createTruncationMiddleware,
  HistoryPruner,
  type ITruncationStorage,
  MemoryStorage,
  PermissionPolicy,
  recoverFromOverflow,
  SpillwayError,
  simplifyOutdatedTerminalResults,
  ToolRegistry,
  type TruncationConfig,
  type TruncationContext,
  type TruncationEvent,
  type TruncationMiddleware,
  type TruncationOptions,
  type TruncationResult,
  TruncationService,
  TruncationStorage,
  type TruncationStrategy,
} from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { guardSession, MemorySession } from 'spillway/session'
import {
  BaseTruncationStrategy,
  createTruncationPlugin,
  DEFAULT_TRUNCATION_CONFIG,
  StorageList,
  type StrategyResult,
  TOOL_TRUNCATION_CONFIGS,
  truncationPlugin,
} from 'spillway/truncation'

const service = new TruncationService({
  global: { maxLines: 2000, maxBytes: 50 * 1024, direction: 'head' },
  tools: { bash: { direction: 'tail', maxLines: 500 }, grep: { maxLines: 3000 } },
  onEvent: (event) => {
    const type: 'truncated' | 'skipped' | 'error' = event.type
    const sizes: number[] = [event.originalSize, event.truncatedSize, event.timestamp]
    const path: string | undefined = event.outputPath
    // @ts-expect-error an event has no content
    event.content
    void [type, sizes, path]
  },
})

export async function narrowing(): Promise<string> {
  const result: TruncationResult = await service.output('text', { toolName: 'bash' })
  if (result.truncated) {
    const path: string = result.outputPath
    const removed: (number | undefined)[] = [result.removedLines, result.removedBytes]
    void removed
    return path
  }
  const untruncated: false = result.truncated
  void untruncated
  // @ts-expect-error what was not cut was not saved
  result.outputPath
  // @ts-expect-error nothing was removed
  result.removedLines
  return result.content
}

export async function unnarrowed(): Promise<void> {
  const result = await service.output('text', { toolName: 'bash' })
  // @ts-expect-error only a truncated result has a path
  result.outputPath
  switch (result.truncated) {
    case true:
      return void result.outputPath.length
    case false:
      return void result.content.length
    default:
      return result satisfies never
  }
}

export async function contents(): Promise<void> {
  const text: string = (await service.output('text', { toolName: 'bash' })).content
  const decoded: string = (await service.output(new Uint8Array(1), { toolName: 'bash' })).content
  const buffer: string = (await service.output(Buffer.from('x'), { toolName: 'bash' })).content
  type Part = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }
  const parts: readonly Part[] = [{ type: 'text', text: 'x' }]
  const bounded: Part[] = (await service.output(parts, { toolName: 'bash' })).content
  const either: string | Uint8Array = text
  const answer: string = (await service.output(either, { toolName: 'bash' })).content
  // @ts-expect-error a number is no output
  await service.output(1, { toolName: 'bash' })
  // @ts-expect-error nothing is no output
  await service.output(undefined, { toolName: 'bash' })
  // @ts-expect-error parts have a type
  await service.output([{ text: 'x' }], { toolName: 'bash' })
  void [decoded, buffer, bounded, answer]
}

export const calls = {
  contexts: [
    { toolName: 'bash' },
    { toolName: 'bash', sessionId: 's', messageId: 'm', toolCallId: 'c', failed: true },
    { toolName: 'bash', options: { skip: true } },
    { toolName: 'bash', options: { maxLines: 1, maxBytes: 1, direction: 'tail' } },
    { toolName: 'bash', signal: new AbortController().signal },
  ] satisfies TruncationContext[],

  // @ts-expect-error the tool has to be named
  withoutTool: () => service.output('text', {}),
  // @ts-expect-error a context is needed
  withoutContext: () => service.output('text'),
  // @ts-expect-error `session` is none of the names
  withUnknown: () => service.output('text', { toolName: 'bash', session: 's' }),
  // @ts-expect-error a call does not say where things are kept
  withStorage: () => service.output('text', { toolName: 'bash', options: { storageDir: '/x' } }),
}

const partial: Partial<TruncationConfig> = { maxLines: 5 }
export const configs = [
  new TruncationService(),
  new TruncationService({}),
  new TruncationService({ global: partial, tools: { anything: partial } }),
  new TruncationService({ global: { retentionDays: Number.POSITIVE_INFINITY, storageDir: '/x' } }),
  new TruncationService({ strategy: 'line', language: 'zh-CN', noticeInside: true, durability: 'full' }),
  new TruncationService({
    formatNotice: ({ outputPath, removedLines }) => `${removedLines} lines are in ${outputPath}`,
  }),
  // @ts-expect-error an unknown option
  new TruncationService({ maxLine: 5 }),
  new TruncationService({ maxLines: 5 }),
  // @ts-expect-error an unknown setting
  new TruncationService({ global: { maxLine: 5 } }),
  // @ts-expect-error a wrong direction
  new TruncationService({ global: { direction: 'middle' } }),
  // @ts-expect-error a wrong direction of a tool
  new TruncationService({ tools: { bash: { direction: 'end' } } }),
  // @ts-expect-error a number is asked for
  new TruncationService({ global: { maxLines: '5' } }),
  // @ts-expect-error an unknown strategy
  new TruncationService({ strategy: 'best' }),
  // @ts-expect-error a storage has four methods
  new TruncationService({ storage: { save: async () => 'x' } }),
  // @ts-expect-error a notice is written at once
  new TruncationService({ formatNotice: async () => 'x' }),
]

export function changing(): void {
  service.updateConfig({ maxLines: 100, enabled: false })
  service.setToolConfig('bash', { maxLines: 100 })
  const { config, sources } = service.effectiveConfig({ toolName: 'bash' })
  const lines: number = config.maxLines
  const source: 'default' | 'tool' | 'call' | string = sources.maxLines
  // @ts-expect-error how long outputs are kept is said when the service is made
  service.updateConfig({ retentionDays: 1 })
  // @ts-expect-error an unknown setting
  service.setToolConfig('bash', { lines: 1 })
  // @ts-expect-error defaults are not to be changed
  DEFAULT_TRUNCATION_CONFIG.maxLines = 1
  // @ts-expect-error nor are those of tools
  TOOL_TRUNCATION_CONFIGS.bash = {}
  void [lines, source]
}

class DatabaseStorage implements ITruncationStorage {
  private readonly rows = new Map<string, string>()

  async save(content: string, context: TruncationContext): Promise<string> {
    const id = `${context.toolName}:${this.rows.size}`
    this.rows.set(id, content)
    return id
  }

  async read(path: string): Promise<string> {
    return this.rows.get(path) ?? ''
  }

  async cleanup(retentionDays: number): Promise<number> {
    return Math.floor(retentionDays)
  }

  getStorageDir(): string {
    return 'database'
  }
}

export const storages = [
  new TruncationService({ storage: new DatabaseStorage() }),
  new TruncationService({ storage: new TruncationStorage() }),
  new TruncationService({ storage: new TruncationStorage('/x') }),
  new TruncationService({ storage: new TruncationStorage({ storageDirs: ['/x', '/y'], durability: 'file' }) }),
]

// A service, a storage with `owns` and one without: each can say which paths are shown to the model.
const kept: ITruncationStorage = service.storage
for (const storage of [
  kept,
  new DatabaseStorage(),
  new MemoryStorage(),
  new TruncationStorage(),
  { owns: () => true },
]) {
  const contextWindow = 200_000
  new ContextManager({ contextWindow, storage })
  new HistoryPruner({ storage })
  guardSession(new MemorySession(), { storage })
  new PermissionPolicy({ storage })
  void compactHistory([], { contextWindow, storage, summarize: () => 'short' })
  void recoverFromOverflow({ messages: [], contextWindowTokens: contextWindow, storage })
  void simplifyOutdatedTerminalResults([], { storage })
}
for (const storage of [{} as RemoteStorage, new StorageList([kept])])
  new ContextManager({ contextWindow: 9000, storage })
// @ts-expect-error nothing that could be asked
new HistoryPruner({ storage: { has: () => true } })

// @ts-expect-error `cleanup` is missing
export class Forgetful implements ITruncationStorage {
  save = async () => 'x'
  read = async () => 'x'
  getStorageDir = () => 'x'
}

class HeadAndTail extends BaseTruncationStrategy {
  readonly name = 'head-and-tail'

  override needsTruncation(content: string, config: TruncationConfig): boolean {
    return super.needsTruncation(content, config) || this.countLines(content) > 10
  }

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    if (this.countBytes(content) > config.maxBytes) return super.truncate(content, config)
    const lines: string[] = [...this.truncateHead(content, 5), ...this.truncateTail(content, 5)]
    return { content: lines.join('\n'), removedLines: this.countLines(content) - lines.length }
  }
}

export const strategies: TruncationStrategy[] = [
  new HeadAndTail(),
  { name: 'mine', needsTruncation: () => true, truncate: (content) => ({ content: content.slice(0, 10) }) },
]
export const withStrategy = new TruncationService({ strategy: new HeadAndTail() })

// @ts-expect-error a strategy has a name
export class Nameless extends BaseTruncationStrategy {}
// @ts-expect-error the helpers are for subclasses
new HeadAndTail().countLines('x')
// @ts-expect-error the base is there to be extended
new BaseTruncationStrategy()

/** A host's own type of results, with what only it knows. */
interface HostResult {
  success: boolean
  output: string
  exitCode: number
  metadata?: Record<string, unknown>
}

export async function middleware(): Promise<number> {
  const bound = createTruncationMiddleware<HostResult>({
    service,
    skipTools: ['web_fetch'],
    shouldTruncate: (toolName, result) => {
      const code: number = result.exitCode
      const options: TruncationOptions = { maxLines: code }
      return toolName === 'bash' ? options : result.success
    },
  })
  const typed: TruncationMiddleware<HostResult> = bound
  const result = await typed('bash', { success: true, output: 'x', exitCode: 0 }, { toolName: 'bash' })
  const output: string = result.output
  void output
  // @ts-expect-error the result is the host's, which has an exit code
  await typed('bash', { success: true, output: 'x' }, { toolName: 'bash' })
  return result.exitCode
}

export const wrongMiddleware = [
  // @ts-expect-error a service is needed
  createTruncationMiddleware({}),
  // @ts-expect-error names are strings
  createTruncationMiddleware({ service, skipTools: [1] }),
  // @ts-expect-error an unknown option
  createTruncationMiddleware({ service, skip: ['x'] }),
  // @ts-expect-error the answer is a boolean or options
  createTruncationMiddleware({ service, shouldTruncate: () => 'yes' }),
]
// Anything that bounds outputs will do, a test's double for example.
export const doubled = createTruncationMiddleware({ service: { output: service.output.bind(service) } })

export function flat(): void {
  const { service: made, middleware: bound } = createTruncation({
    maxLines: 1500,
    retentionDays: 3,
    storageDir: '/x',
    tools: { bash: { direction: 'tail' } },
    skipTools: ['web_fetch'],
    onEvent: (event: TruncationEvent) => void event.toolName,
  })
  const one: TruncationService = made
  const other: TruncationMiddleware = bound
  const host: TruncationMiddleware<HostResult> = createTruncation<HostResult>({ maxLines: 5 }).middleware
  createTruncation()
  createTruncation(false)
  // @ts-expect-error limits are not nested here
  createTruncation({ global: { maxLines: 5 } })
  // @ts-expect-error an unknown setting
  createTruncation({ maxLine: 5 })
  // @ts-expect-error a wrong direction
  createTruncation({ direction: 'middle' })
  void [one, other, host]
}

export async function registry(): Promise<string> {
  const tools = new ToolRegistry({ workingDirectory: '/x' })
  tools.setTruncationMiddleware(createTruncation().middleware)
  tools.register({ name: 'echo', truncation: { maxLines: 5 }, execute: ({ text }: { text: string }) => text })
  tools.register([{ name: 'now', execute: () => Date.now() }])
  // @ts-expect-error a tool has a name
  tools.register({ execute: () => 1 })
  // @ts-expect-error a wrong limit
  tools.register({ name: 'x', truncation: { maxLines: 'all' }, execute: () => 1 })
  const [first] = await tools.execute(
    [
      { id: '1', type: 'function', function: { name: 'echo', arguments: '{}' } },
      { id: '2', name: 'now' },
    ],
    { sessionId: 's' },
  )
  const success: boolean | undefined = first?.result.success
  void success
  // @ts-expect-error a call has an id
  await tools.execute([{ name: 'now' }])
  return first?.tool_call_id ?? ''
}

export async function plugins(): Promise<number> {
  const result = await truncationPlugin.toolResult({ llmContent: 'x', extra: 1 }, { toolUse: { name: 'bash' } })
  const own = createTruncationPlugin({ service })
  const name: 'truncation' = own.name
  const order: 'post' = own.enforce
  void [name, order]
  // @ts-expect-error a service is needed
  createTruncationPlugin({})
  return result.extra
}

export async function closing(): Promise<void> {
  await service.close()
  await service[Symbol.asyncDispose]()
  await using own = new TruncationService()
  await own.cleanup()
}

export function errors(thrown: unknown): string {
  if (!(thrown instanceof SpillwayError)) return ''
  switch (thrown.code) {
    case 'INVALID_CONFIG':
      return thrown.field ?? thrown.message
    // @ts-expect-error no such code
    case 'NO_SUCH_CODE':
      return ''
    default:
      return `${thrown.code}: ${thrown.cause}`
  }
}
