/** An array of a billion holes costs nothing to make. Nothing that is called with one may read them all. */

import {
  ContextManager,
  classifyOverflow,
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
  SpillwayError,
  simplifyOutdatedTerminalResults,
  ToolRegistry,
  ToolResultLedger,
  TruncationService,
} from 'spillway'
import { loadConfig } from 'spillway/config'
import { projectToolResults } from 'spillway/overflow'

const HOLES: unknown[] = []
HOLES.length = 1e9

const any = HOLES as never
const inside = {
  a: HOLES,
  content: HOLES,
  usage: HOLES,
  body: { context_management: { applied_edits: HOLES } },
} as never
const MESSAGES: [string, unknown][] = [
  ['an array', HOLES],
  [
    'contents',
    [
      { role: 'user', content: HOLES },
      { role: 'tool', tool_call_id: 'a', content: HOLES },
    ],
  ],
  [
    'calls',
    [
      { role: 'assistant', content: '', tool_calls: HOLES },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ],
  ],
  ['a result', [{ role: 'tool', tool_call_id: 'a', content: HOLES }]],
  ['blocks', [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: HOLES }] }]],
  ['parts', [{ role: 'user', parts: HOLES }]],
  [
    'items',
    [
      { type: 'function_call_output', call_id: 'x', output: HOLES },
      { type: 'reasoning', summary: HOLES },
    ],
  ],
  [
    'arguments',
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read', input: { path: HOLES } }] }],
  ],
]
const storage = new MemoryStorage()
const service = new TruncationService({ storage })
const context = { toolName: 'bash' }

const calls: [string, () => unknown][] = [
  ...MESSAGES.flatMap(([name, messages]): [string, () => unknown][] => [
    [`pruning of ${name}`, () => new HistoryPruner().prune(messages as never)],
    [`a manager of ${name}`, () => new ContextManager({ contextWindow: 9000 }).prepare(messages as never)],
    [
      `compaction of ${name}`,
      () => compactHistory(messages as never, { contextWindow: 9000, summarize: () => 'short', force: true }),
    ],
    [`recovery of ${name}`, () => recoverFromOverflow({ messages: messages as never, contextWindowTokens: 1000 })],
    [`outdated results of ${name}`, () => simplifyOutdatedTerminalResults(messages as never)],
    [`projection of ${name}`, () => projectToolResults(messages as never, { contextWindowTokens: 1000 })],
  ]),
  ...[any, inside].flatMap((value, at): [string, () => unknown][] =>
    Object.entries({
      response: () => new HistoryPruner().accept(value),
      'response of a manager': () => new ContextManager().accept(value),
      error: () => classifyOverflow(value),
      output: () => service.output(value, context),
      options: () => createTruncation(value),
      storages: () => new TruncationService({ storage: value }),
      'skipped tools': () => createTruncationMiddleware({ service, skipTools: value }),
      'result of a middleware': () => createTruncationMiddleware({ service })('x', { output: value }),
      rules: () => new PermissionPolicy({ rules: value }),
      'arguments of a call': () => new PermissionPolicy().evaluate({ tool: 'bash', args: { command: value } }),
      'state of a gate': () => PermissionGate.fromJSON(value, new PermissionPolicy()),
      'doom loop': () => {
        const detector = new DoomLoopDetector()
        detector.check({ toolCallId: 'a', tool: 'x', args: value })
        detector.record({ toolCallId: 'a', result: value })
        detector.forget(value)
      },
      policies: () => new HistoryPruner({ policies: value }),
      'state of a pruner': () =>
        HistoryPruner.fromJSON({ ...(new HistoryPruner().toJSON() as object), placeholders: value } as never),
      ledger: () =>
        new ToolResultLedger().record({ toolCallId: 'a', toolName: 'x', args: value, folds: value } as never),
      calls: () => new ToolRegistry().execute(value),
      tools: () => new ToolRegistry().register(value),
      'a guarded tool': () =>
        guardTool({ name: 'x', execute: () => value as unknown }, { truncation: service }).execute(value),
      settings: () => loadConfig({ inline: { agents: { runtime: { permission: { rules: value } } } } }),
    }).map(([name, call]): [string, () => unknown] => [`${name}${at === 0 ? '' : ' with one inside'}`, call]),
  ),
]

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => jest.restoreAllMocks())

test.each(calls)('%s', async (_, call) => {
  const began = performance.now()
  try {
    await call()
  } catch (error) {
    expect(error).toBeInstanceOf(SpillwayError)
  }
  expect(performance.now() - began).toBeLessThan(1000)
})
