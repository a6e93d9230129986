import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CommandResult, RunCommandOptions } from '../../lib/command/types'
import type {
  EffectiveConfig,
  ITruncationStorage,
  StrategyResult,
  ToolResultLike,
  ToolTruncationConfig,
  TruncationConfig,
  TruncationContent,
  TruncationContext,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationResult,
  TruncationServiceConfig,
  TruncationStrategy,
} from '../../lib/types'
import { everything } from '../support/everything'
import { audit } from './actions/audit'
import { compact } from './actions/compaction'
import { config } from './actions/config'
import { doomLoop } from './actions/doom-loop'
import { hooks } from './actions/hooks'
import { overflowActions } from './actions/overflow'
import { permission } from './actions/permission'
import type { Outcome } from './outcome'
import { builtFrom, textOf } from './recipes'
import type { Action, MessageRecipe, Setup } from './rows'

type Facts = Record<string, unknown>

interface Service {
  output(content: TruncationContent, context: TruncationContext): Promise<TruncationResult<unknown>>
  cleanup(): Promise<number>
  updateConfig(config: ToolTruncationConfig): void
  setToolConfig(tool: string, config: ToolTruncationConfig): void
  effectiveConfig(context: TruncationContext): EffectiveConfig
}

interface Plugin {
  name: string
  enforce: string
  toolResult(this: { config: { truncation?: boolean } }, result: Facts, options: Facts): Promise<Facts>
}

interface Registry {
  register(tools: { name: string; execute(): Promise<ToolResultLike> }[]): void
  setTruncationMiddleware(middleware: TruncationMiddleware): void
  execute(calls: { id: string; function: { name: string; arguments: string } }[], context: Facts): Promise<Facts[]>
}

/** The part of the package that the rows run against. */
interface Product {
  TruncationService: new (config?: TruncationServiceConfig) => Service
  TruncationStorage: new (dir: string) => ITruncationStorage
  SpillwayError: new (...args: never[]) => Error & { code: string; field?: string }
  DEFAULT_TRUNCATION_CONFIG: TruncationConfig
  createTruncationMiddleware(
    config: Omit<TruncationMiddlewareConfig, 'service'> & { service: Service },
  ): TruncationMiddleware
  createOutputTools(storage: ITruncationStorage): {
    execute(args: object): Promise<{ success: boolean; output: string; metadata: { truncated: boolean } }>
  }[]
  createTruncationPlugin(options: { service: Service }): Plugin
  truncationPlugin: Plugin
  ToolRegistry: new () => Registry
  runCommand(file: string, args: string[], options: object): Promise<CommandResult>
  simplifyOutdatedTerminalResults(messages: readonly Facts[], options: Facts): Facts[]
  HistoryPruner: new (
    options: Facts,
  ) => { prune(messages: readonly Facts[], options: Facts): { messages: Facts[]; report: { reason: string } } }
  repairToolPairs(messages: readonly Facts[], options?: Facts): Facts[]
}

const root = resolve(__dirname, '../..')

export const product = everything as unknown as Product

/** The end of time for every conversation in the rows. */
export const NOW = 1_750_000_000_000

type Run = (setup: Setup, outcome: Outcome, service: () => Service) => Promise<void>

const actions: Record<Action, Run> = {
  ...overflowActions,
  compact,
  config,
  doomLoop,
  hooks,
  audit,
  async permission(setup, outcome) {
    await permission(setup, outcome.facts)
  },

  async output(setup, outcome, makeService) {
    const service = makeService()
    const context = contextOf(setup)
    if (setup.changes) {
      outcome.facts.before = await service.output(outcome.given as string, context)
      for (const change of setup.changes) {
        if (change.updateConfig) service.updateConfig(change.updateConfig)
        if (change.setToolConfig) service.setToolConfig(...change.setToolConfig)
      }
    }
    const controller = new AbortController()
    if (setup.signal) context.signal = controller.signal
    outcome.facts.reason = new Error('the user pressed escape')
    if (setup.signal === 'aborted before') controller.abort(outcome.facts.reason)
    const pending = service.output(outcome.given as string, context)
    if (setup.signal === 'aborted during') controller.abort(outcome.facts.reason)
    const result = await pending
    Object.assign(outcome.facts, result)
    outcome.returned = result
    outcome.text = result.content as string
  },

  async command(setup, outcome, makeService) {
    const controller = new AbortController()
    let updates = 0
    const options: Omit<RunCommandOptions, 'service'> & { service: Service } = {
      service: makeService(),
      shell: true,
      timeoutMs: setup.timeoutMs,
      signal: controller.signal,
      onProgress: ({ bytes }) => {
        updates += 1
        if (setup.signal === 'aborted during' && bytes > 0) controller.abort()
      },
      ...(setup.input !== undefined && { input: outcome.givenText }),
    }
    const result = await product.runCommand(setup.shell ?? 'cat', [], options)
    Object.assign(outcome.facts, result.output, { ended: result, updates })
    outcome.returned = result.output
    outcome.text = result.output.content
  },

  async read(setup, outcome, makeService) {
    const { outputPath: path } = (await makeService().output(outcome.givenText, contextOf(setup))) as {
      outputPath: string
    }
    const [tool] = product.createOutputTools(new product.TruncationStorage(storageDirOf(setup, outcome.dir)))
    const { success, output, metadata } = await tool!.execute({ path, ...setup.arguments })
    if (!success) throw new Error(output)
    Object.assign(outcome.facts, metadata, { outputPath: path })
    outcome.text = output
  },

  async concurrent(setup, outcome, makeService) {
    const service = makeService()
    const calls = Array.from({ length: setup.times ?? 2 }, () =>
      service.output(outcome.given as string, contextOf(setup)),
    )
    const results = await Promise.all(calls)
    outcome.facts.each = results.map((result) => result.truncated)
    outcome.facts.paths = results.map((result) => (result.truncated ? result.outputPath : undefined))
  },

  async middleware(setup, outcome, makeService) {
    const { middleware, result, context } = middlewareCase(setup, outcome, makeService())
    record(outcome, await middleware(context.toolName, result, context))
  },

  async registry(setup, outcome, makeService) {
    const { middleware, result, context } = middlewareCase(setup, outcome, makeService())
    const { toolName: name, toolCallId: id = 'call_1', ...rest } = context
    const registry = new product.ToolRegistry()
    registry.register([{ name, execute: async () => result }])
    registry.setTruncationMiddleware(middleware)
    const executed = await registry.execute([{ id, function: { name, arguments: '{}' } }], rest)
    expect(executed).toEqual([{ tool_call_id: id, name, arguments: '{}', result: expect.anything() }])
    record(outcome, executed[0]?.result as ToolResultLike)
  },

  async plugin(setup, outcome, makeService) {
    const plugin =
      setup.plugin === 'shared' ? product.truncationPlugin : product.createTruncationPlugin({ service: makeService() })
    const result = { ...(builtFrom(setup.result ?? {}) as Facts), llmContent: outcome.given }
    outcome.given = result
    const host = { config: setup.host ?? {} }
    const { toolName: name, toolCallId: callId, sessionId } = contextOf(setup)
    const options = { toolUse: { name, callId, params: {} }, approved: true, sessionId }
    const returned = await plugin.toolResult.call(host, result, options)
    outcome.returned = returned
    Object.assign(outcome.facts, returned, { name: plugin.name, enforce: plugin.enforce })
    outcome.text = textIn(returned.llmContent)
  },

  async strategy(setup, outcome) {
    const Strategy = (product as unknown as Record<string, new () => TruncationStrategy>)[setup.strategy as string]
    if (!Strategy) throw new Error(`the package has no ${setup.strategy}`)
    const config = { ...product.DEFAULT_TRUNCATION_CONFIG, ...setup.service?.global }
    const strategy = new Strategy()
    const needed = strategy.needsTruncation(outcome.givenText, config)
    const cut: StrategyResult = strategy.truncate(outcome.givenText, config)
    Object.assign(outcome.facts, { ...cut, preview: cut.content, needed })
    outcome.text = cut.content
  },

  async save(setup, outcome) {
    const storage = new product.TruncationStorage(storageDirOf(setup, outcome.dir))
    const calls = Array.from({ length: setup.times ?? 1 }, () => storage.save(outcome.givenText, contextOf(setup)))
    const paths = await Promise.all(calls)
    Object.assign(outcome.facts, { outputPath: paths[0], paths, storageDir: storage.getStorageDir() })
  },

  async cleanup(setup, outcome, makeService) {
    const removed =
      setup.by === 'storage'
        ? await new product.TruncationStorage(storageDirOf(setup, outcome.dir)).cleanup(setup.retentionDays as number)
        : await makeService().cleanup()
    Object.assign(outcome.facts, { removed })
  },

  async limits(setup, outcome) {
    // Nothing is saved here, and the row may be about an empty configuration: no folder is put into it.
    const { config } = new product.TruncationService(setup.service).effectiveConfig(contextOf(setup))
    Object.assign(outcome.facts, { config })
  },

  async constants(_setup, outcome) {
    Object.assign(outcome.facts, { config: product.DEFAULT_TRUNCATION_CONFIG })
  },

  async outdated(setup, outcome) {
    const { messages, labels } = conversation(setup.messages ?? [])
    const before = JSON.stringify(messages)
    outcome.given = messages
    const options = { now: NOW, ...setup.options }
    const returned = product.simplifyOutdatedTerminalResults(messages, options)
    outcome.returned = returned
    const again = product.simplifyOutdatedTerminalResults(deepFreeze(returned), options)
    Object.assign(outcome.facts, { labels, before, again })
  },

  async repair(setup, outcome) {
    const { messages } = conversation(setup.messages ?? [])
    outcome.given = messages
    const returned = product.repairToolPairs(deepFreeze(messages), setup.options)
    outcome.returned = returned
    outcome.facts.again = product.repairToolPairs(deepFreeze(returned), setup.options)
  },

  async prune(setup, outcome) {
    const { messages, labels } = conversation(setup.messages ?? [])
    const before = JSON.stringify(messages)
    outcome.given = messages
    // The rows count as their upstream does; a profile brings that along.
    const estimateTokens = setup.options?.profile === undefined ? (text: string) => text.length / 4 : undefined
    const pruner = new product.HistoryPruner({ ...setup.options, ...(estimateTokens && { estimateTokens }) })
    const first = pruner.prune(messages, { now: NOW })
    outcome.returned = first.messages
    const later = [...messages, ...conversation(setup.more ?? []).messages]
    const second = pruner.prune(later, { now: NOW + 1 })
    const again = second.messages.slice(0, messages.length)
    const reasons = [first, second].map(({ report }) => report.reason)
    Object.assign(outcome.facts, { labels, before, again, reasons })
  },

  async load(setup, outcome) {
    const entry = join(root, setup.entry ?? 'index.js')
    const config = JSON.stringify(setup.service ?? {})
    const args = entry.endsWith('.mjs')
      ? [
          '--input-type=module',
          '-e',
          `import { TruncationService } from '${pathToFileURL(entry)}'; new TruncationService(${config})`,
        ]
      : ['-e', `new (require(${JSON.stringify(entry)}).TruncationService)(${config})`]
    await new Promise<void>((done) => {
      execFile(process.execPath, args, (error, _stdout, stderr) => {
        Object.assign(outcome.facts, { exitCode: error ? error.code : 0, stderr })
        done()
      })
    })
  },
}

/** Runs a row's action in a folder of its own, shows the outcome to `judge`, and removes the folder. */
export async function perform(setup: Setup, judge: (outcome: Outcome) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-conformance-'))
  try {
    prepareFolder(setup, dir)
    const given = setup.input === undefined ? builtFrom(setup.value) : textOf(setup.input)
    const givenText = typeof given === 'string' ? given : (JSON.stringify(given, null, 2) ?? '')
    const outcome: Outcome = { given, givenText, facts: {}, events: [], dir, files: [] }
    const before = new Set(filesBelow(dir))
    const makeService = () => {
      const service = setup.service ?? {}
      return new product.TruncationService({
        ...service,
        global: { storageDir: storageDirOf(setup, dir), ...service.global },
        onEvent: (event) => outcome.events.push(event),
        // A list is tried as it is: nothing is saved in the default folders.
        ...(setup.storage && { storage: [customStorage(setup, outcome)] }),
      })
    }
    try {
      await actions[setup.run](setup, outcome, makeService)
    } catch (error) {
      outcome.thrown = error
    }
    outcome.files = setup.run === 'cleanup' ? filesBelow(dir) : filesBelow(dir).filter((file) => !before.has(file))
    await judge(outcome)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function middlewareCase({ skipTools, shouldTruncate, ...setup }: Setup, outcome: Outcome, service: Service) {
  const middleware = product.createTruncationMiddleware({
    service,
    ...(skipTools && { skipTools }),
    ...(shouldTruncate !== undefined && { shouldTruncate: () => shouldTruncate }),
  })
  const output = outcome.given
  const result: ToolResultLike = { success: true, ...setup.result, ...(output !== undefined && { output }) }
  outcome.given = result
  return { middleware, result, context: contextOf(setup) }
}

function record(outcome: Outcome, returned: ToolResultLike): void {
  const metadata = returned.metadata ?? {}
  outcome.returned = returned
  outcome.text = textIn(returned.output)
  Object.assign(outcome.facts, {
    truncated: metadata.truncated,
    outputPath: metadata.truncationPath,
    removedLines: metadata.truncationRemovedLines,
    removedBytes: metadata.truncationRemovedBytes,
  })
}

function contextOf(setup: Setup): TruncationContext {
  return { toolName: 'tool', ...setup.context }
}

function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const parts = Array.isArray(value) ? value : (value as { content?: unknown } | undefined)?.content
  if (!Array.isArray(parts)) return undefined
  return parts.map((part: { type?: unknown; text?: unknown }) => (part.type === 'text' ? part.text : '')).join('')
}

function storageDirOf(setup: Setup, dir: string): string {
  if (setup.folder === 'missing') return join(dir, 'missing')
  return setup.folder === 'a file' ? join(dir, 'file') : join(dir, 'outputs')
}

function prepareFolder(setup: Setup, dir: string): void {
  const storageDir = storageDirOf(setup, dir)
  // A file in the folder's place fails for everybody; a read-only folder would not stop root.
  if (setup.folder === 'a file') writeFileSync(storageDir, 'in the way')
  if (!Array.isArray(setup.folder)) return
  mkdirSync(storageDir)
  for (const { name, ageDays } of setup.folder) {
    const path = join(storageDir, name)
    const time = Date.now() / 1000 - ageDays * 86_400
    writeFileSync(path, name)
    utimesSync(path, time, time)
  }
}

function filesBelow(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort()
}

function customStorage(setup: Setup, outcome: Outcome): ITruncationStorage {
  return {
    async save(content, context) {
      if (setup.storage === 'rejects') throw new Error('the disk is on fire')
      outcome.facts.saved = [...((outcome.facts.saved as unknown[]) ?? []), { content, toolName: context.toolName }]
      return 'memory://1'
    },
    read: async () => outcome.givenText,
    cleanup: async () => 0,
    getStorageDir: () => 'memory://',
  }
}

function conversation(recipes: MessageRecipe[]): { messages: Facts[]; labels: (string | undefined)[] } {
  const messages: Facts[] = []
  const labels: (string | undefined)[] = []
  for (const { label, age, times = 1, ...rest } of recipes) {
    for (let n = 0; n < times; n++) {
      const message = builtFrom(rest) as Facts
      messages.push(deepFreeze(age === undefined ? message : { ...message, timestamp: NOW - age }))
      labels.push(label)
    }
  }
  return { messages: deepFreeze(messages), labels }
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
