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

test.each<HistoryPrunerOptions>([{ keepUsed: 0 }])('not with %j', (options) => {
  expect(readsUntilAllAreSeen(2, { schedule: 'always', ...options })).toBeUndefined()
})

test('of a command that prints the same again and again, the newest stays', () => {
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
