/** Some providers number the calls of each answer, so that an id is used again. */

import {
  compactHistory,
  createTruncation,
  HistoryPruner,
  recoverFromOverflow,
  simplifyOutdatedTerminalResults,
  ToolRegistry,
  ToolResultLedger,
  type ToolResultRecord,
} from 'spillway'
import { FoldSession } from 'spillway/fold'
import { tempDir } from '../support/temp'

interface Message {
  role: string
  content: string | null
  [field: string]: unknown
}

const textsOf = (messages: readonly Message[]) =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content ?? '')

/** Runs one call per turn, and returns the history and the paths of the saved outputs. */
async function conversation(registry: ToolRegistry, calls: readonly [id: string, name: string, args: object][]) {
  const history: Message[] = [{ role: 'user', content: 'x' }]
  const paths: (string | undefined)[] = []
  for (const [id, name, args] of calls) {
    const tool_calls = [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }]
    const [executed] = await registry.execute(tool_calls, { sessionId: 's' })
    paths.push(executed?.result.metadata?.truncationPath as string | undefined)
    history.push({ role: 'assistant', content: null, tool_calls })
    history.push({ role: 'tool', tool_call_id: id, content: executed?.result.output as string })
    history.push({ role: 'assistant', content: 'ok' }, { role: 'user', content: 'next' })
  }
  return { history, paths }
}

describe('the saved output of a call whose id is used again', () => {
  const commands = ['make', 'make test', 'make', 'make deploy', 'date', 'date']

  async function commandsRun(ledger: ToolResultLedger) {
    const { service, middleware } = createTruncation({ storageDirs: [tempDir()], maxLines: 100 })
    const registry = new ToolRegistry({ ledger })
    registry.setTruncationMiddleware(middleware)
    let runs = 0
    const execute = async ({ command }: { command: string }) =>
      command === 'date' ? 'noon\n'.repeat(90) : `${command} ${++runs}\n`.repeat(400)
    registry.register({ name: 'bash', execute })
    const calls = commands.map((command): [string, string, object] => ['call_0', 'bash', { command }])
    return { service, ...(await conversation(registry, calls)) }
  }

  const named = (paths: readonly (string | undefined)[], messages: readonly Message[]) =>
    textsOf(messages).map((text) => paths.findIndex((path) => path !== undefined && text.includes(path)))

  const own = [0, 1, 2, 3, -1, -1]

  test.each(['as it is', 'restored from JSON', 'that keeps one record of an id', 'that knows only the first'])(
    'is named, with a ledger %s',
    async (kind) => {
      const filled = new ToolResultLedger()
      const { history, paths, service } = await commandsRun(filled)
      const first = filled.getAll('call_0')[0] as ToolResultRecord
      const ledger =
        kind === 'as it is'
          ? filled
          : kind === 'restored from JSON'
            ? ToolResultLedger.fromJSON(JSON.stringify(filled))
            : kind === 'that keeps one record of an id'
              ? { get: (id: string) => filled.get(id) }
              : { get: () => ({ ...first }) }
      const { storage } = service
      const prune = { schedule: 'always', keepRecent: 0, keepUsed: 0, ledger, storage } as const
      expect(named(paths, new HistoryPruner(prune).prune(history).messages)).toEqual(own)
      const stepwise = new HistoryPruner(prune)
      for (let end = 3; end <= history.length; end += 4) stepwise.prune(history.slice(0, end))
      expect(named(paths, stepwise.prune(history).messages)).toEqual(own)
      const compacted = await compactHistory(history, {
        contextWindow: 500,
        recentTurns: 1,
        force: true,
        ledger,
        storage,
      })
      expect(named(paths, compacted.messages)).toEqual(own)
      const outdated = simplifyOutdatedTerminalResults(history, {
        ledger,
        now: Date.now() + 9e9,
        keepRecent: 0,
        countErrors: true,
        placeholder: ({ outputPath = '' }) => outputPath,
      })
      expect(named(paths, outdated).slice(0, 4)).toEqual([0, 1, 2, 3])
    },
  )
})

describe('the record of a call whose id is used again', () => {
  const record = (more: Partial<ToolResultRecord>): ToolResultRecord => ({
    toolCallId: 'a',
    toolName: 'bash',
    endedAt: 1,
    isError: false,
    bytes: 2,
    ...more,
  })

  test.each<[string, Partial<ToolResultRecord>[], number]>([
    ['another file', [{ outputPath: '/a' }, { outputPath: '/b' }], 2],
    ['other arguments', [{ args: { command: 'x' } }, { args: { command: 'y' } }], 2],
    ['another exit code', [{ exitCode: 0 }, { exitCode: 1 }], 2],
    ['more of the same call', [{ args: { b: 1, a: 2 } }, { outputPath: '/a', args: { a: 2, b: 1 } }], 1],
    ['an earlier record once more', [{ outputPath: '/a' }, { outputPath: '/b', endedAt: 2 }, { outputPath: '/a' }], 2],
  ])('is a record of its own: %s', (_, records, count) => {
    const ledger = new ToolResultLedger()
    for (const one of records) ledger.record(record(one))
    expect(ledger.getAll('a')).toHaveLength(count)
    expect(ledger.get('a')).toBe(ledger.getAll('a').at(-1))
    expect(ledger.size).toBe(count)
    expect(ToolResultLedger.fromJSON(ledger.toJSON()).getAll('a')).toEqual(ledger.getAll('a'))
    expect(ledger.getAll('b')).toEqual([])
  })

  test('is one after a beginning, however equal it is', () => {
    const ledger = new ToolResultLedger({ maxEntries: 2 })
    ledger.begin('a')
    ledger.record(record({}))
    ledger.begin('a')
    ledger.record(record({}))
    ledger.record(record({ lines: 3 }))
    expect(ledger.getAll('a')).toEqual([record({}), record({ lines: 3 })])
    ledger.record(record({ toolCallId: 'b' }))
    expect(ledger.getAll('a')).toEqual([record({ lines: 3 })])
  })
})

describe('the folds of a call whose id is used again', () => {
  const text = (name: string) =>
    Array.from({ length: 60 }, (_, line) => `export const ${name}${line} = compute(${line}) // some text`).join('\n')

  const files: Record<string, string> = {
    a: text('a'),
    b: text('b'),
    a2: `1\n2\n3\n${text('a')}\n4\n5\n6\n7`,
    b2: `x1\nx2\nx3\n${text('b')}\ny1\ny2\ny3`,
  }

  const foldedRun = async (calls: readonly [id: string, path: string][]) => {
    const ledger = new ToolResultLedger()
    const registry = new ToolRegistry({ ledger, fold: new FoldSession() })
    registry.register({ name: 'read', execute: async ({ path }: { path: string }) => files[path] })
    const { history } = await conversation(
      registry,
      calls.map(([id, path]) => [id, 'read', { path }]),
    )
    return { ledger, history }
  }

  const CALLS: [id: string, path: string][][] = [
    [
      ['i1', 'a'],
      ['i2', 'b'],
      ['call_0', 'a2'],
      ['call_0', 'b2'],
    ],
    [
      ['call_0', 'b'],
      ['call_1', 'a'],
      ['call_0', 'a2'],
    ],
    [
      ['call_0', 'b'],
      ['call_0', 'a'],
      ['call_1', 'a2'],
    ],
    [
      ['call_0', 'a'],
      ['call_1', 'a2'],
      ['call_0', 'b'],
      ['call_1', 'b2'],
    ],
  ]

  test.each(CALLS.map((calls) => [calls.join(' '), calls] as const))(
    'come back when what they point to is left out: %s',
    async (_, calls) => {
      const { ledger, history } = await foldedRun(calls)
      const last = files[(calls.at(-1) as [string, string])[1]]
      expect(textsOf(history).at(-1)).not.toBe(last)
      const pruned = new HistoryPruner({ ledger, schedule: 'always', keepRecent: 1, keepUsed: 0, index: false })
      expect(textsOf(pruned.prune(history).messages as Message[]).at(-1)).toBe(last)
      const stepwise = new HistoryPruner({ ledger, schedule: 'always', keepRecent: 1, keepUsed: 0, index: false })
      for (let end = 3; end <= history.length; end += 4) stepwise.prune(history.slice(0, end))
      expect(textsOf(stepwise.prune(history).messages as Message[]).at(-1)).toBe(last)
      const outdated = simplifyOutdatedTerminalResults(history, {
        ledger,
        now: Date.now() + 9e9,
        keepRecent: 1,
        terminalTools: ['read'],
      })
      expect(textsOf(outdated).at(-1)).toBe(last)
    },
  )

  test('stay where what they point to is sent', async () => {
    const { ledger, history } = await foldedRun(CALLS[0] as [string, string][])
    const { messages } = new HistoryPruner({ ledger, schedule: 'always', keepRecent: 9 }).prune(history)
    expect(messages).toEqual(history)
  })

  test('are found by the recovery', async () => {
    const { ledger, history } = await foldedRun(CALLS[0] as [string, string][])
    const recovered = await recoverFromOverflow({ messages: history, contextWindowTokens: 1500, ledger })
    const shown = textsOf(recovered.messages as Message[]).join('\n')
    expect(shown).not.toMatch(/same as lines .* of the (newest )?read of a above/)
  })
})
