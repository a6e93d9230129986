// A model that needs several results at once gets them: what it fetches again stays longer, and few results stay anyway.

import { HistoryPruner, type HistoryPrunerOptions } from 'spillway'

/** Returns the text of a file, about 4,000 tokens. */
const contentOf = (file: number) =>
  Array.from({ length: 400 }, (_, line) => `const x${file}_${line} = call(${line})`).join('\n')

const filesOf = (messages: readonly object[]) =>
  new Set(
    messages
      .flatMap((message) => /^const x(\d+)_/.exec((message as { content?: string }).content ?? '')?.[1] ?? [])
      .map(Number),
  )

function read(history: object[], id: string, path: string, content: string): void {
  const call = { id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path }) } }
  history.push({ role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: id, content })
}

/** Reads until all files are in view, always the first one that is not. Returns the number of reads; nothing above a hundred. */
function readsUntilAllAreSeen(files: number, options: HistoryPrunerOptions, isHandedOver = false): number | undefined {
  let pruner = new HistoryPruner(options)
  const history: object[] = [{ role: 'user', content: 'Compare these files.' }]
  for (let reads = 0; reads <= 100; reads++) {
    const seen = filesOf(pruner.prune(history, { now: reads * 5000 }).messages)
    const missing = Array.from({ length: files }, (_, file) => file).find((file) => !seen.has(file))
    if (missing === undefined) return reads
    read(history, `${reads}`, `src/${missing}.ts`, contentOf(missing))
    if (isHandedOver) pruner = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
  }
  return undefined
}

const cases = [2, 3, 4, 5, 6].flatMap((files) =>
  (['cache', 'always'] as const).map((schedule): [number, HistoryPrunerOptions] => [files, { schedule }]),
)

test.each(cases)('%d files come to be seen together: %j', (files, options) => {
  expect(readsUntilAllAreSeen(files, options)).toBeLessThanOrEqual(3 * files)
  expect(readsUntilAllAreSeen(files, options, true)).toBe(readsUntilAllAreSeen(files, options))
})

test('not without `keepUsed`', () => {
  expect(readsUntilAllAreSeen(2, { schedule: 'always', keepUsed: 0 })).toBeUndefined()
})

test('a result that is used may stay forever', () => {
  const onError = (error: Error) => {
    throw error
  }
  expect(readsUntilAllAreSeen(3, { schedule: 'always', keepUsed: Number.POSITIVE_INFINITY, onError })).toBeLessThan(10)
})

test('a result that comes in again was not missed if the model had it', () => {
  const staysFor = (last: number) => {
    const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 10 })
    const history: object[] = [{ role: 'user', content: 'Go.' }]
    let requests = 0
    for (let at = 0; at < 40; at++) {
      read(history, `${at}`, `src/${at}.ts`, contentOf(at === 9 ? last : at))
      const { messages } = pruner.prune(history, { now: at * 5000 })
      if (at >= 9 && filesOf(messages.slice(19, 21)).size > 0) requests++
    }
    return requests
  }
  expect(staysFor(0)).toBe(staysFor(9))
})

test('the same stays in a format that has the results of a turn in one message', () => {
  const turns = [[1], [2], [3, 4, 5, 6, 7, 1], [8], [9], [10], [11], [12], [13], [14], [15], [16], [17], [18]]
  const chat = new HistoryPruner({ schedule: 'always' })
  const anthropic = new HistoryPruner({ schedule: 'always' })
  const histories: { chat: object[]; anthropic: object[] } = {
    chat: [{ role: 'user', content: 'Go.' }],
    anthropic: [{ role: 'user', content: 'Go.' }],
  }
  for (const [turn, files] of turns.entries()) {
    const calls = files.map((file, place) => ({
      id: `${turn}-${place}`,
      input: { path: `src/${file}.ts` },
      text: contentOf(file),
    }))
    const called = calls.map(({ id, input }) => ({
      id,
      type: 'function',
      function: { name: 'read', arguments: JSON.stringify(input) },
    }))
    histories.chat.push(
      { role: 'assistant', content: null, tool_calls: called },
      ...calls.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
    )
    histories.anthropic.push(
      { role: 'assistant', content: calls.map(({ id, input }) => ({ type: 'tool_use', id, name: 'read', input })) },
      { role: 'user', content: calls.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })) },
    )
    const seen = [chat.prune(histories.chat, { now: turn }), anthropic.prune(histories.anthropic, { now: turn })].map(
      ({ messages }) => [...JSON.stringify(messages).matchAll(/"const x(\d+)_/g)].map(([, file]) => Number(file)),
    )
    expect([turn, seen[1]]).toEqual([turn, seen[0]])
  }
})

test('keeps the newest result of a command that prints the same repeatedly', () => {
  const pruner = new HistoryPruner({ schedule: 'always' })
  const history: object[] = [{ role: 'user', content: 'Wait for the server.' }]
  for (let at = 0; at < 8; at++) {
    read(history, `${at}`, 'status', contentOf(0))
    const { messages } = pruner.prune(history, { now: at * 5000 })
    const whole = messages.filter((message) => (message as { content?: string }).content === contentOf(0))
    expect(whole.length).toBeLessThanOrEqual(1)
  }
})

describe('few results', () => {
  const history = (tokens: number): object[] => {
    const made: object[] = [{ role: 'user', content: 'Go.' }]
    // The built-in estimate takes four letters for a token.
    for (const at of [0, 1, 2, 3]) read(made, `${at}`, `src/${at}.ts`, `${at} `.repeat(10) + 'word '.repeat(tokens / 4))
    return made
  }
  const prunedOf = (options: HistoryPrunerOptions, tokens: number) =>
    new HistoryPruner({ estimateTokens: (text) => text.split(' ').length, cacheLifetimeMs: 0, ...options }).prune(
      history(tokens),
      { now: 0 },
    ).report.total

  test.each<[HistoryPrunerOptions, number, number]>([
    [{}, 3600, 0],
    [{}, 4400, 3],
    [{ policies: [{ type: 'results', minTokens: 0 }] }, 400, 3],
    [{ policies: [{ type: 'results', minTokens: 8000 }] }, 7000, 0],
    [{ schedule: 'always' }, 400, 3],
    [{ index: false, keepRecent: 1 }, 400, 3],
  ])('%j, %d tokens of results: %d are left out', (options, tokens, expected) => {
    expect(prunedOf(options, tokens)).toBe(expected)
  })
})
