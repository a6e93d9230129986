// Every subpath with names of its own and those that the root has too: the classes are the same types. Compiled, never run.

import {
  ContextManager,
  createTruncation,
  guardTool,
  type HistoryPrunerState,
  PermissionGate,
  PermissionPolicy,
  type PruneReport,
  SpillwayError,
  type Tool,
  ToolResultLedger,
  TruncationService,
  type TruncationStorage,
} from 'spillway'
import { type LoadedConfig, loadConfig } from 'spillway/config'
import { HookRunner, type Hooks, loadAgents } from 'spillway/extensions'
import * as history from 'spillway/history'
import { classifyOverflow, isContextFull, type Projection, projectToolResults } from 'spillway/overflow'
import * as permission from 'spillway/permission'
import { guardSession, JsonlSession, MemorySession, type Session } from 'spillway/session'
import { loadTokenCounter, TokenCalibration } from 'spillway/tokens'
import { createReadTool, createShellTool } from 'spillway/tools'
import * as truncation from 'spillway/truncation'

const service: truncation.TruncationService = new TruncationService({ strategy: new truncation.SmartStrategy() })
const storage: TruncationStorage = new truncation.TruncationStorage('outputs')
const ledger: history.ToolResultLedger = new ToolResultLedger()
const policy: permission.PermissionPolicy = new PermissionPolicy()
const modes = new permission.ModeController({ default: 'agent' })
const gate: permission.PermissionGate = new PermissionGate(policy, { modes })
const manager: history.ContextManager = new ContextManager({ contextWindow: 200_000, ledger })
const session: Session = new MemorySession()
const file: Promise<JsonlSession> | JsonlSession = JsonlSession.open('session.jsonl')
const guarded = guardSession(session, { storage })
const hooks: Hooks = { 'chat.system': () => 'text' }
const runner = new HookRunner({ user: hooks })
const projection: Projection<{ role: string }> = projectToolResults([{ role: 'user' }], { contextWindowTokens: 1000 })
const full: boolean = isContextFull({ model: { context: 1 }, usage: { input: 1, output: 1 } })

export async function use(state: HistoryPrunerState): Promise<permission.PermissionMode | PruneReport> {
  const config: LoadedConfig = await loadConfig({ userFile: 'spillway.json' })
  const agents = await loadAgents('agents')
  const count = await loadTokenCounter('gpt-tokenizer')
  const calibration = new TokenCalibration()
  const pruner = history.HistoryPruner.fromJSON(state, { ledger })
  if (classifyOverflow(new Error('x')) !== null) throw new SpillwayError('OVERFLOW', 'x')
  void [service, gate, manager, file, guarded, runner, projection, full, config, agents, count, calibration, state]
  return pruner.prune([]).report
}

// Tools of several kinds in one list can be called, guarded or not.
export function listed(): unknown[] {
  const own = { name: 'own', execute: ({ a }: { a: number }) => a }
  const tools: Tool[] = [createShellTool(), createReadTool(), own]
  const call = { toolCallId: 'c' }
  return tools.flatMap((tool) => [tool.execute({ a: 1 }, call), guardTool(tool).execute({ a: 1 }, call)])
}

// Results keep their types.
export async function results(): Promise<[string, number, number]> {
  const { middleware } = createTruncation({ maxLines: 500 })
  const { output, lines } = await middleware('bash', { output: 'text', lines: 3 })
  const answer = await guardTool({ name: 'count', execute: async (args: { a: number }) => args.a }).execute({ a: 1 })
  return [output, lines, typeof answer === 'number' ? answer : 0]
}
void new TruncationService({ maxLines: 500, tools: { bash: { direction: 'tail' } } })
// @ts-expect-error the fields of a state are no part of the types
export const placeholders = (state: HistoryPrunerState) => state.placeholders

// @ts-expect-error a helper type of the declarations is no export
export type { OutputOwner } from 'spillway'
// @ts-expect-error the modes are of the feature, not of the root
export { ModeController } from 'spillway'
