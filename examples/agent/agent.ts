/**
 * A whole agent with every part of Spillway switched on. In a project of your own, import from 'spillway'.
 *
 * The model is a function, so a provider, a mock and a script all fit.
 */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AuditLog,
  ContextManager,
  classifyOverflow,
  createTruncation,
  DoomLoopDetector,
  estimateTokens,
  guardTool,
  PermissionGate,
  PermissionPolicy,
  ToolResultLedger,
  TruncationStorage,
  verifyAudit,
} from 'spillway'
import { loadConfig } from 'spillway/config'
import { HookRunner, loadAgents, resolveModelSettings } from 'spillway/extensions'
import { FoldSession } from 'spillway/fold'
import { sharedBeginning } from './cost'
import { toolsFor } from './tools'
import type { AgentOptions, AgentRun, Answer, CallPart, Message, Question, ResultPart, TextPart } from './types'

const sizeOf = (...parts: unknown[]) =>
  parts.reduce((sum: number, part) => sum + estimateTokens(JSON.stringify(part)), 0)

/** Works through what the user says, and tells how it went. */
export async function runAgent(options: AgentOptions): Promise<AgentRun> {
  const { model, contextWindow, workspace, dataDir } = options
  const sessionId = 'session-1'
  const run: AgentRun = {
    messages: [],
    requests: [],
    asked: [],
    refused: [],
    left: [],
    saved: [],
    folded: [],
    compactions: 0,
    audit: { path: '', records: 0, ok: false },
  }
  const ask = async (question: Question): Promise<Answer> => {
    const answer = await options.askUser(question)
    run.asked.push({ ...question, answer })
    return answer
  }

  // The user's settings: rules and limits in a file, agents in Markdown.
  const storageDir = join(dataDir, 'outputs')
  await mkdir(storageDir, { recursive: true })
  const configFile = join(dataDir, 'config.jsonc')
  const { options: config, problems } = loadConfig({ userFile: configFile })
  const { agents, problems: wrong } = await loadAgents(join(dataDir, 'agents'))
  for (const { message } of [...problems, ...wrong]) process.emitWarning(message)
  const [agent] = agents
  const settings = resolveModelSettings({ defaultSystemPrompt: 'You are a coding agent.', agent })
  const hooks = new HookRunner({
    builtIn: { 'chat.system': () => `The folder is ${workspace}. Do not leave it.` },
    user: options.hooks,
  })

  // Outputs: bounded, and kept whole.
  const { service } = createTruncation(
    config.truncation && {
      storageDirs: [storageDir],
      strategy: 'smart',
      availableTools: ['read_output', 'search_output'],
      maxLines: 120,
      maxBytes: 6000,
      ...config.truncation,
    },
  )
  const storage = new TruncationStorage(storageDir)

  // Permission, questions to the user, and loop detection.
  const policy = new PermissionPolicy({ ...config.permission, vault: workspace, storage })
  const gate = new PermissionGate(policy, {
    configFile,
    onEvent: async (event) => {
      if (event.type !== 'asked') return
      const { id, tool, targets, suggestedRules } = event.request
      const answer = await ask({ about: 'permission', tool, why: targets.join(', ') })
      const response = answer === 'always' && suggestedRules.length === 0 ? 'once' : answer
      await gate.respond(id, response === 'no' ? { reject: true } : response)
    },
  })
  const doomLoop = new DoomLoopDetector(config.doomLoop)
  const audit = new AuditLog({ dir: join(dataDir, 'audit'), sessionId })
  const ledger = new ToolResultLedger()
  // Lines that are in the context already become a pointer.
  const fold = new FoldSession({ onFold: (event) => run.folded.push({ ...event, request: run.requests.length }) })
  const tools = toolsFor(workspace, service, storage)
  const guarded = new Map(
    tools.map((tool) => [
      tool.name,
      guardTool(tool, {
        hooks,
        permission: gate,
        doomLoop,
        audit,
        truncation: service,
        fold,
        ledger,
        sessionId,
        askDoomLoop: async ({ tool, verdict }) => {
          const answer = await ask({ about: 'loop', tool, why: verdict.reason ?? '' })
          return answer === 'no' ? 'stop' : answer
        },
      }),
    ]),
  )

  /** Runs a call of the model's. There is a result in every case. */
  const execute = async ({ toolCallId, toolName, input }: CallPart): Promise<ResultPart> => {
    const tool = guarded.get(toolName)
    const result =
      (await tool?.execute(input as never, { toolCallId, workingDirectory: workspace })) ?? 'There is no such tool.'
    const { output = result, isError, success, kind, metadata } = result as Record<string, unknown>
    const path = (metadata as { truncationPath?: string } | undefined)?.truncationPath
    if (path) run.saved.push({ tool: toolName, path })
    const value = typeof output === 'string' ? output : JSON.stringify(output)
    if (kind !== undefined) run.refused.push({ tool: toolName, kind: String(kind), message: value })
    const type = isError === true || success === false ? 'error-text' : 'text'
    return { type: 'tool-result', toolCallId, toolName, output: { type, value } }
  }

  /** The history of a request: results that are worth their tokens, and a summary of the rest. */
  const specs = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  const context = new ContextManager<Message>({
    contextWindow,
    ledger,
    fold,
    environment: { systemPrompt: settings.systemPrompt, tools: specs },
    compaction: { ...config.compaction, summarize: ({ prompt }) => options.summarize(prompt), hooks },
  })
  const prepare = async (did: string[], force: boolean): Promise<Message[]> => {
    const { messages, report } = await context.prepare(run.messages, { now: Date.now(), force })
    const request = run.requests.length + 1
    for (const { toolName = '' } of report.pruning.pruned)
      run.left.push({ request, how: 'pruned', tool: toolName, outputs: 1 })
    if (report.pruning.pruned.length > 0) did.push('pruned')
    const { action = 'none', droppedTools = {} } = report.compaction ?? {}
    if (action === 'none') return messages
    for (const [tool, outputs] of Object.entries(droppedTools)) run.left.push({ request, how: action, tool, outputs })
    if (action === 'summary') run.compactions += 1
    did.push(action)
    return messages
  }

  let last: { sent: Message[]; all: Message[]; folded: number } = { sent: [], all: [], folded: 0 }
  const request = async (): Promise<(TextPart | CallPart)[]> => {
    const who = { sessionId, agent: agent?.id }
    const system = await hooks.chatSystem(settings.systemPrompt, who)
    const parameters = await hooks.chatParams(settings.modelSettings, who)
    const did: string[] = []
    for (let messages = await prepare(did, false); ; messages = await prepare(did, true)) {
      try {
        const answer = await model({ system, messages, tools, settings: parameters })
        const size = (sent: Message[]) => sizeOf(system, specs, sent)
        const shared = (before: Message[], now: Message[]) =>
          before.length > 0 ? size(sharedBeginning(before, now)) : 0
        const folded = run.folded.reduce((sum, { savedTokens }) => sum + savedTokens, 0)
        run.requests.push({
          tokens: size(messages),
          cached: shared(last.sent, messages),
          did,
          unmanaged: size(run.messages) + folded,
          cachedUnmanaged: shared(last.all, run.messages) + last.folded,
        })
        last = { sent: messages, all: [...run.messages], folded }
        return answer
      } catch (error) {
        // Estimates are estimates: the provider has the last word, once.
        if (!classifyOverflow(error).overflow || did.includes('overflow')) throw error
        did.push('overflow')
      }
    }
  }

  // The loop itself: until the model calls nothing more, and then the user speaks again.
  try {
    for (const prompt of options.prompts) {
      doomLoop.startRun()
      run.messages.push({ role: 'user', content: prompt })
      for (;;) {
        const answer = await request()
        run.messages.push({ role: 'assistant', content: answer })
        const calls = answer.filter((part) => part.type === 'tool-call')
        if (calls.length === 0) break
        run.messages.push({ role: 'tool', content: await Promise.all(calls.map(execute)) })
      }
    }
  } finally {
    await audit.close()
    await service.close()
    await storage.close()
  }
  const { ok, records } = await verifyAudit(audit.path)
  run.audit = { path: audit.path, records, ok }
  return run
}
