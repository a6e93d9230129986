import {
  ContextManager,
  compactHistory,
  HistoryPruner,
  recoverFromOverflow,
  simplifyOutdatedTerminalResults,
  ToolResultLedger,
} from 'spillway'
import { cutPoints, detectFormat, repairToolPairs } from 'spillway/history'
import {
  projectToolResults,
  sessionLikelyHasOversizedToolResults,
  truncateOversizedToolResultsInMessages,
} from 'spillway/overflow'
import { pairedFormats, written } from './histories'

const HOUR = 3_600_000
const PLACEHOLDER = '此命令返回内容已过时'
const ids = ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const turns = (name: string) =>
  ids.flatMap((id) => [
    { kind: 'calls' as const, text: 'I look', calls: [{ id, name }] },
    { kind: 'results' as const, results: [{ id, name, text: `output ${id}`, isError: false, image: false }] },
  ])

let warnings: (Error & { code?: string })[] = []
beforeEach(() => {
  warnings = []
  jest.spyOn(process, 'emitWarning').mockImplementation(((text: string, options: { code?: string }) => {
    warnings.push(Object.assign(new Error(text), { code: options?.code }))
  }) as never)
})
afterEach(() => jest.restoreAllMocks())

function ledgerOf(tools = 'bash'): ToolResultLedger {
  const ledger = new ToolResultLedger()
  ids.forEach((toolCallId, at) => {
    ledger.record({ toolCallId, toolName: tools, endedAt: at, isError: toolCallId === 'e', bytes: 8 })
  })
  return ledger
}

describe.each(pairedFormats.filter((format) => format !== 'snow'))('%s', (format) => {
  const messages = written(format, [{ kind: 'user', text: 'Go' }, ...turns('bash'), { kind: 'user', text: 'And now?' }])

  test('uses the facts of a ledger to find outdated results', () => {
    const sent = simplifyOutdatedTerminalResults(messages, { ledger: ledgerOf(), now: HOUR })
    const json = JSON.stringify(sent)
    // e failed, and takes up no place among the newest.
    expect(json.split(PLACEHOLDER)).toHaveLength(3)
    expect(json).not.toContain('output c')
    expect(json).not.toContain('output d')
    for (const id of ids.slice(2)) expect(json).toContain(`output ${id}`)
    expect(simplifyOutdatedTerminalResults(sent, { ledger: ledgerOf(), now: HOUR })).toBe(sent)
    expect(messages).toEqual(
      written(format, [{ kind: 'user', text: 'Go' }, ...turns('bash'), { kind: 'user', text: 'And now?' }]),
    )
  })

  test('in English, or in words of the caller', () => {
    const english = simplifyOutdatedTerminalResults(messages, { ledger: ledgerOf(), now: HOUR, language: 'en' })
    expect(JSON.stringify(english).split('[Outdated output of a command was removed]')).toHaveLength(3)
    expect(simplifyOutdatedTerminalResults(english, { ledger: ledgerOf(), now: HOUR, language: 'en' })).toBe(english)
    const reports: number[] = []
    const own = simplifyOutdatedTerminalResults(messages, {
      ledger: ledgerOf(),
      now: HOUR,
      placeholder: ({ toolName, toolCallId }) => `${toolName} ${toolCallId} was here`,
      onSimplified: ({ count }) => reports.push(count),
    })
    expect(JSON.stringify(own)).toContain('bash c was here')
    expect(simplifyOutdatedTerminalResults(own, { ledger: ledgerOf(), now: HOUR, placeholder: () => 'again' })).toBe(
      own,
    )
    expect(reports).toEqual([2])
  })

  test('results of other tools stay', () => {
    const others = written(format, [{ kind: 'user', text: 'Go' }, ...turns('read')])
    expect(simplifyOutdatedTerminalResults(others, { ledger: ledgerOf('read'), now: HOUR })).toBe(others)
  })

  if (format !== 'pi') {
    test('without times nothing is done, and a warning says so once', () => {
      expect(simplifyOutdatedTerminalResults(messages, { now: HOUR })).toBe(messages)
      expect(simplifyOutdatedTerminalResults(messages, { now: 2 * HOUR })).toBe(messages)
      expect(warnings.map(({ code }) => code)).toEqual(['SPILLWAY_NO_TIMES'])
      expect(warnings[0]?.message).toContain('ToolResultLedger')
    })
  }
})

test('results of one message go one by one', () => {
  const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `output ${id}` }))
  const messages = [
    { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'bash', input: {} })) },
    { role: 'user', content: results },
  ]
  const [, sent] = simplifyOutdatedTerminalResults(messages, { ledger: ledgerOf(), now: HOUR }) as typeof messages
  expect(sent?.content).toEqual([
    { ...results[0], content: PLACEHOLDER },
    { ...results[1], content: PLACEHOLDER },
    ...results.slice(2),
  ])
})

test('times in the messages are enough', () => {
  const line = (type: 'user' | 'assistant', at: number, content: object[]) => ({
    type,
    timestamp: new Date(at).toISOString(),
    message: { role: type, content },
  })
  const messages = ids.flatMap((id, at) => [
    line('assistant', at, [{ type: 'tool_use', id, name: 'Bash', input: {} }]),
    line('user', at, [{ type: 'tool_result', tool_use_id: id, content: `output ${id}` }]),
  ])
  expect(JSON.stringify(simplifyOutdatedTerminalResults(messages, { now: HOUR })).split(PLACEHOLDER)).toHaveLength(4)
  expect(warnings).toEqual([])
})

describe('messages of a user interface', () => {
  const messages = Array.from({ length: 20 }, (_, at) => ({
    id: `${at}`,
    role: at % 2 ? 'assistant' : 'user',
    parts: [{ type: 'text', text: 'Hello' }],
  }))

  test.each<[string, () => unknown]>([
    ['simplifyOutdatedTerminalResults', () => simplifyOutdatedTerminalResults(messages)],
    ['HistoryPruner', () => new HistoryPruner().prune(messages)],
    ['ContextManager', () => new ContextManager({ contextWindow: 100_000 }).prepare(messages)],
    ['compactHistory', () => compactHistory(messages, { contextWindow: 1_000, summarize: () => 'x', force: true })],
    ['recoverFromOverflow', () => recoverFromOverflow({ messages, contextWindowTokens: 1_000 })],
    ['repairToolPairs', () => repairToolPairs(messages)],
    ['cutPoints', () => cutPoints(messages)],
    ['projectToolResults', () => projectToolResults(messages, { contextWindowTokens: 1_000 })],
    ['truncateOversizedToolResultsInMessages', () => truncateOversizedToolResultsInMessages(messages, 1_000)],
    [
      'sessionLikelyHasOversizedToolResults',
      () => sessionLikelyHasOversizedToolResults({ messages, contextWindowTokens: 1_000 }),
    ],
  ])('%s says that it cannot read them', async (name, work) => {
    await Promise.resolve(work()).catch(() => undefined)
    await Promise.resolve(work()).catch(() => undefined)
    const told = warnings.filter(({ code }) => code === 'SPILLWAY_UNKNOWN_FORMAT')
    if (name !== 'ContextManager') expect(told.map(({ message }) => message.split(':')[0])).toEqual([name])
    for (const { message } of told) expect(message).toContain('convertToModelMessages')
  })

  const invocation = { state: 'result', toolCallId: 'a', toolName: 'bash', args: {}, result: 'x'.repeat(100_000) }
  test.each<[string, object]>([
    ['parts', { role: 'assistant', parts: [{ type: 'tool-bash', toolCallId: 'a', output: invocation.result }] }],
    [
      'parts beside a content',
      { role: 'assistant', content: '', parts: [{ type: 'tool-invocation', toolInvocation: invocation }] },
    ],
    ['invocations', { role: 'assistant', content: 'Done', toolInvocations: [invocation] }],
    ['no parts', { role: 'assistant', content: '', parts: [] }],
  ])('%s are not taken for another format', (_, message) => {
    expect(detectFormat([message, message])).toBeUndefined()
    expect(new HistoryPruner().prune([message, message]).report.reason).toBe('unknown-format')
  })

  test('the pruner gives it as the reason', () => {
    const pruner = new HistoryPruner()
    const { messages: sent, report } = pruner.prune(messages)
    expect(sent).toBe(messages)
    expect(report).toMatchObject({ reason: 'unknown-format' })
    expect(report.format).toBeUndefined()
    expect(pruner.explain()).toContain('no known format')
  })
})
