// Values that throw when they are read: proxies that refuse, getters that throw. Each is refused as any wrong value is.

import {
  ContextManager,
  compactHistory,
  createTruncation,
  createTruncationMiddleware,
  DoomLoopDetector,
  guardTool,
  HistoryPruner,
  MemoryStorage,
  PermissionGate,
  PermissionPolicy,
  recoverFromOverflow,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import { createReadTool, createShellTool, subAgentResult } from 'spillway/tools'
import { rejection } from '../support/outputs'

const storage = new MemoryStorage()
const service = new TruncationService({ storage })
const tool = { name: 'x', execute: async () => 'done' }
const messages = [{ role: 'user', content: 'Look around.' }]
const guarded = (controls: object) => guardTool(tool, controls)
const compacted = (options: object) => compactHistory(messages, { contextWindow: 1000, ...options })
const recovered = (options: object) => recoverFromOverflow({ messages, contextWindowTokens: 1000, ...options })

const MANAGED = new ContextManager().toJSON()
const GATED = new PermissionGate(new PermissionPolicy()).toJSON()

/** Calls with the value under one name, and the field that the error names. */
const calls: [name: string, field: string, call: (value: never) => unknown][] = [
  ['a strategy', 'strategy', (strategy) => new TruncationService({ storage, strategy })],
  ['a storage', 'storage', (one) => new TruncationService({ storage: one })],
  ['a storage in a list', 'storage', (one) => new TruncationService({ storage: [storage, one] })],
  ['settings for every tool', 'global', (global) => new TruncationService({ storage, global })],
  ['settings of a tool', 'tools.bash', (bash) => new TruncationService({ storage, tools: { bash } })],
  ['options of a service', 'options', (options) => new TruncationService(options)],
  ['a limit', 'maxLines', (maxLines) => createTruncation({ storage, maxLines })],
  ['options of a call', 'options', (options) => service.output('', { toolName: 'x', options })],
  ['a signal', 'context.signal', (signal) => service.output('', { toolName: 'x', signal })],
  ['a service of a middleware', 'service', (one) => createTruncationMiddleware({ service: one })],
  ['a ledger of a middleware', 'ledger', (ledger) => createTruncationMiddleware({ service, ledger })],
  ['a ledger of a pruner', 'options.ledger', (ledger) => new HistoryPruner({ ledger })],
  ['a storage of a pruner', 'options.storage', (one) => new HistoryPruner({ storage: one })],
  ['a ledger of a manager', 'options.ledger', (ledger) => new ContextManager({ ledger })],
  ['a policy of a manager', 'options.budget', (budget) => new ContextManager({ budget })],
  ['a detector of a manager', 'options.doomLoop', (doomLoop) => new ContextManager({ doomLoop })],
  ['a signal of a request', 'options.signal', (signal) => new ContextManager().prepare(messages, { signal })],
  ['a ledger of a compaction', 'options.ledger', (ledger) => compacted({ ledger })],
  ['a signal of a compaction', 'options.signal', (signal) => compacted({ signal })],
  [
    'redaction of a compaction',
    'options.readState.redact',
    (redact) => compacted({ readState: { root: '/', redact } }),
  ],
  ['an error of a recovery', 'options.overflow', (overflow) => recovered({ overflow })],
  ['a signal of a recovery', 'options.signal', (signal) => recovered({ signal })],
  ['tools of a fold', 'options.tools', (tools) => new FoldSession({ tools })],
  ['folds of a record', 'entry.folds', (folds) => recordOf(folds)],
  ['modes of a gate', 'options.modes', (modes) => new PermissionGate(new PermissionPolicy(), { modes })],
  ['options of a detector', 'options', (options) => new DoomLoopDetector(options)],
  ['a registry', 'config', (config) => new ToolRegistry(config)],
  ['a ledger of a registry', 'config.ledger', (ledger) => new ToolRegistry({ ledger })],
  ['hooks', 'controls.hooks', (hooks) => guarded({ hooks })],
  ...['permission', 'doomLoop', 'audit', 'truncation', 'ledger', 'fold'].map(
    (key): [string, string, (value: never) => unknown] => [
      `${key} of a tool`,
      `controls.${key}`,
      (value) => guarded({ [key]: value }),
    ],
  ),
  ['a record of a ledger', 'entry', (entry) => new ToolResultLedger().record(entry)],
  ['a state of a ledger', 'state', (state) => ToolResultLedger.fromJSON(state)],
  ['a state of a pruner', 'state', (state) => HistoryPruner.fromJSON(state)],
  ['a state of a manager', 'state', (state) => ContextManager.fromJSON(state)],
  ['a pruner in a state', 'state', (pruner) => ContextManager.fromJSON({ ...MANAGED, pruner })],
  ['a summary in a state', 'state', (appliedSummary) => ContextManager.fromJSON({ ...MANAGED, appliedSummary })],
  ['a state of a gate', 'state', (state) => PermissionGate.fromJSON(state, new PermissionPolicy())],
  [
    'a question in a state',
    'state(\\.pending\\[0\\])?',
    (one) => PermissionGate.fromJSON({ ...GATED, pending: [one] }, new PermissionPolicy()),
  ],
  ['a service of a shell', 'options.service', (one) => createShellTool({ service: one })],
  ['reads of a tool', 'options.reads', (reads) => createReadTool({ reads })],
  ['a sub-agent', 'options.truncation', (truncation) => subAgentResult({ answer: '' }, { truncation })],
]

function recordOf(folds: never): void {
  new ToolResultLedger().record({ toolCallId: 'a', toolName: 'x', endedAt: 1, isError: false, bytes: 0, folds })
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const refuse = (): never => {
  throw new Error('planted')
}
const values: [string, () => object][] = [
  ['that was revoked', revoked],
  ['that refuses', () => new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse })],
]

describe.each(values)('a proxy %s', (_, make) => {
  test.each(calls)('as %s', async (_name, field, call) => {
    const error = await rejection((async () => call(make() as never))())
    expect(error).toMatchObject({ name: 'SpillwayError', field: expect.stringMatching(`^${field}(\\.\\w+)?$`) })
    expect((error as Error).message).toMatch(/^Invalid option ".*": (expected .*, received|expected an object whose)/)
  })
})

test('a getter is named by its path, and so is a cycle', async () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.maxLines = cyclic
  const bash = {
    get maxLines(): number {
      return refuse()
    },
  }
  const fault = async (call: () => unknown) => rejection((async () => call())())
  const inTools = await fault(() => new TruncationService({ storage, tools: { bash } }))
  expect(inTools).toMatchObject({ code: 'INVALID_CONFIG', field: 'tools.bash.maxLines' })
  const inGlobal = await fault(() => new TruncationService({ storage, global: cyclic }))
  expect(inGlobal).toMatchObject({ code: 'INVALID_CONFIG', field: 'global.maxLines' })
})

test('prepare rejects with `ABORTED` for a signal that is already aborted, even if there is nothing to do', async () => {
  const stopped = new ContextManager().prepare(messages, { signal: AbortSignal.abort('stop') })
  expect(await rejection(stopped)).toMatchObject({ code: 'ABORTED', cause: 'stop' })
})

test('a sub-agent may answer with what cannot be read', async () => {
  const answer = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse })
  const { success, output } = await subAgentResult({ answer }, { truncation: service })
  expect([success, output]).toEqual([true, expect.stringMatching(/^\[Sub-agent: completed\]\n/)])
})

test('an empty text is named as one', () => {
  expect(() => new HistoryPruner({ prices: '' })).toThrow(/a model that is not empty, received ""$/)
})

test('counts of a recovery may be as large as a whole number can be', async () => {
  const most = Number.MAX_SAFE_INTEGER
  const long = [...messages, { role: 'assistant', content: 'word '.repeat(4000) }, ...messages]
  const given = { messages: long, contextWindowTokens: 1000, maxAttempts: most, maxCompactions: most }
  const compact = async () => ({ messages })
  expect((await recoverFromOverflow({ ...given, compact })).messages).toEqual(messages)
  const state = { attempts: most, compactions: most, truncated: false }
  expect(await rejection(recoverFromOverflow({ ...given, state }))).toMatchObject({ code: 'OVERFLOW' })
})

test('a question that is asynchronous by mistake is a warning', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const query = (async () => refuse()) as never
  const run = guardTool(tool, { truncation: service, query })
  expect(await run.execute(undefined, { toolCallId: 'a' })).toBe('done')
  await new Promise(setImmediate)
  expect(warned.mock.calls.map(([text]) => text)).toContainEqual(expect.stringContaining('planted'))
  warned.mockRestore()
})
