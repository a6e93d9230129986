// A state, signal, session or key that a caller may not have can be passed on as it is. Under `exactOptionalPropertyTypes` this
// compiles only if the declaration says `| undefined`.

import {
  AuditLog,
  ContextManager,
  compactHistory,
  createOutputTools,
  createTruncationMiddleware,
  guardTool,
  MemoryStorage,
  PermissionPolicy,
  recoverFromOverflow,
  runCommand,
  ToolRegistry,
  TruncationService,
  verifyAudit,
} from 'spillway'
import { resolveModelSettings } from 'spillway/extensions'
import { projectToolResults } from 'spillway/overflow'
import { reportSessions } from 'spillway/report'
import { createReadTool, subAgentResult } from 'spillway/tools'

/** The parts of a call that a program may not have. */
interface Given {
  sessionId: string | undefined
  messageId: string | undefined
  toolCallId: string | undefined
  query: string | undefined
  signal: AbortSignal | undefined
}

export async function passOn(given: Given, messages: object[], key: string | undefined): Promise<void> {
  const { sessionId, toolCallId, signal } = given
  const storage = new MemoryStorage()
  const truncation = new TruncationService({ storage })
  const content = await truncation.output('text', { toolName: 'bash', ...given })
  await runCommand('true', [], { ...given, service: truncation })
  await createTruncationMiddleware({ service: truncation })('bash', { success: true }, given)

  await compactHistory(messages, { state: undefined, signal, contextWindow: 200_000 })
  await recoverFromOverflow({ messages, contextWindowTokens: 200_000, state: undefined, signal })
  projectToolResults(messages, { contextWindowTokens: 200_000, state: undefined })

  new AuditLog({ dir: 'audit', sessionId: 's', key })
  await verifyAudit('audit', { key, head: undefined, signal })
  await reportSessions(['log.jsonl'], { signal })

  const policy = new PermissionPolicy({ vault: '/vault' })
  policy.evaluate({ tool: 'bash', args: { command: 'ls' }, sessionId })
  const tool = guardTool({ name: 'tool', execute: async () => content }, { permission: policy, sessionId })
  await tool.execute(undefined, { sessionId, toolCallId, signal })
  await new ContextManager().prepare(messages, { signal })

  createOutputTools(storage, { sessionId })
  // Tools of both kinds in one list, as an agent has them.
  for (const one of [createReadTool(), ...createOutputTools(storage)]) {
    const { metadata } = await one.execute({ path: 'a' }, { sessionId, signal })
    const { truncated, truncationPath } = metadata
    console.log(truncated, truncationPath)
  }
  const registry = new ToolRegistry()
  await registry.execute([], { sessionId, messageId: given.messageId, signal })
  await storage.search('path', 'pattern', { sessionId, signal })
  await storage.readRange('path', { fromLine: 1, signal })
  await subAgentResult({ agent: undefined, answer: 'done' }, { truncation, sessionId, toolCallId, signal })
  resolveModelSettings({ defaultSystemPrompt: 'You are terse.', agent: undefined })
}
