// Placeholders list words of the results that they stand for.

import fc from 'fast-check'
import { HistoryPruner, type HistoryPrunerOptions } from 'spillway'
import { conversations, pairedFormats, written } from '../history/histories'

/** A history in which each text is the result of a call. */
function historyOf(...outputs: string[]): object[] {
  const turns = outputs.map((content, at) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: `${at}`, type: 'function', function: { name: 'read', arguments: '{"path":"src/known_file.ts"}' } },
      ],
    },
    { role: 'tool', tool_call_id: `${at}`, content },
  ])
  return [{ role: 'user', content: 'Where is loadSettings?' }, ...turns.flat(), { role: 'assistant', content: 'Done' }]
}

const padding = 'so many words that say nothing '.repeat(100)

/** The text in the place of the first result. */
function placeholderOf(outputs: string[], options: HistoryPrunerOptions = {}): string {
  const pruner = new HistoryPruner({ keepRecent: 0, schedule: 'always', ...options })
  return (pruner.prune(historyOf(...outputs), { now: 0 }).messages[2] as { content: string }).content
}

test.each<[string, string, HistoryPrunerOptions, string]>([
  ['names', 'parseConfig calls readSettings', {}, '. It had: parseConfig readSettings]'],
  ['no words of a language', 'everything interesting happened yesterday', {}, 'call the tool again to see it]'],
  ['nothing that is in view elsewhere', 'loadSettings in src/known_file.ts', {}, 'call the tool again to see it]'],
  ['Chinese', 'parseConfig', { language: 'zh-CN' }, '。其中有：parseConfig]'],
  ['not without an index', 'parseConfig', { index: false }, 'call the tool again to see it]'],
  ['not in a placeholder of your own', 'parseConfig', { placeholder: '[gone]' }, '[gone]'],
  ['not in one of a profile', 'parseConfig', { profile: 'opencode', policies: ['results'] }, 'content cleared]'],
])('%s', (_name, text, options, end) => {
  const sent = placeholderOf([`${text} ${padding}`, 'ok'], options)
  expect(sent.endsWith(end)).toBe(true)
})

test('a name is listed once, with the first result that has it', () => {
  const pruner = new HistoryPruner({ keepRecent: 0, schedule: 'always' })
  const text = `parseConfig parseConfig ${padding}`
  const { messages } = pruner.prune(historyOf(text, `${text} writeConfig`, 'ok'), { now: 0 })
  const sent = JSON.stringify(messages)
  expect(sent.match(/parseConfig/g)).toHaveLength(1)
  expect(sent).toContain('It had: writeConfig]')
})

test('a long index lists more than a short one', () => {
  const names = Array.from({ length: 500 }, (_, at) => `someFunction${at}`).join(' ')
  const text = `${names} ${padding.repeat(10)}`
  const [short, long] = (['short', 'long'] as const).map((index) => placeholderOf([text, 'ok'], { index }))
  expect(short?.length).toBeLessThan(2200)
  expect(long?.length).toBeGreaterThan(2500)
  expect(long?.length).toBeLessThan(6200)
})

test.each<[HistoryPrunerOptions, number]>([
  [{}, 1],
  [{ index: false }, 5],
  [{ placeholder: '[gone]' }, 5],
  [{ policies: ['outdated'] }, 5],
  [{ keepRecent: 3 }, 3],
])('%j keeps the newest %d', (options, kept) => {
  const pruner = new HistoryPruner({ schedule: 'always', ...options })
  const history = historyOf(...Array.from({ length: 8 }, () => padding))
  const aged = history.map((message) => ({ ...message, timestamp: 0 }))
  const { report } = pruner.prune(aged, { now: 1e12 })
  expect(report.total).toBe(options.policies ? 0 : 8 - kept)
})

describe.each(pairedFormats)('%s', (format) => {
  test('an index has words of the result, and the same bytes in another process', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const history = written(format, conversation)
        const options = { keepRecent: 0, schedule: 'always' } as const
        const pruner = new HistoryPruner(options)
        const { messages, report } = pruner.prune(history, { now: 0 })
        const before = JSON.stringify(history)
        for (const [, words] of JSON.stringify(messages).matchAll(/It had: ([^\]]*)\]/g)) {
          for (const word of (words as string).split(' ')) expect(before).toContain(word)
        }
        expect(report.tokensAfter).toBeLessThanOrEqual(report.tokensBefore)
        const again = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
        expect(again.prune(structuredClone(history), { now: 1 }).messages).toEqual(messages)
      }),
      { numRuns: 50 },
    )
  })
})

describe('results that the model uses', () => {
  /** Five results; the answer before the last call uses `used`. */
  const history = (used: string): object[] => {
    const messages = historyOf(...Array.from({ length: 5 }, (_, at) => `ofResult${at} ${padding}`))
    messages[7] = { ...messages[7], content: used }
    return messages
  }
  const wholeIn = (messages: readonly object[]) =>
    messages.flatMap((message, at) => (JSON.stringify(message).includes('so many words') ? [at / 2 - 1] : []))
  const wholeOf = (used: string, options: HistoryPrunerOptions) =>
    wholeIn(
      new HistoryPruner({ keepRecent: 1, schedule: 'always', ...options }).prune(history(used), { now: 0 }).messages,
    )

  test.each<[string, string, HistoryPrunerOptions, number[]]>([
    ['stay for some results', 'I see ofResult1.', { keepUsed: 3 }, [1, 4]],
    [
      'stay by what an argument says',
      'I see ofResult1, and ofResult0.',
      { keepUsed: Number.POSITIVE_INFINITY },
      [0, 1, 4],
    ],
    ['go after as many results', 'I see ofResult1.', { keepUsed: 2 }, [4]],
    ['go without the option', 'I see ofResult1.', { keepUsed: 0 }, [4]],
    ['stay by default', 'I see ofResult1.', {}, [1, 4]],
    ['stay without an index, if that is asked for', 'I see ofResult1.', { index: false, keepUsed: 3 }, [1, 4]],
    ['go without an index', 'I see ofResult1.', { index: false }, [4]],
    ['are not those whose words somebody said before', 'I see loadSettings.', { keepUsed: 3 }, [4]],
    ['go under a profile', 'I see ofResult1.', { profile: 'opencode', policies: ['results'] }, [4]],
  ])('%s', (_, used, options, whole) => {
    expect(wholeOf(used, options)).toEqual(whole)
  })

  test('stay in another process too, and what is left out stays out', () => {
    const options: HistoryPrunerOptions = { keepRecent: 1, keepUsed: 3, schedule: 'always' }
    const messages = history('I see ofResult1.')
    const pruner = new HistoryPruner(options)
    for (let end = 2; end < messages.length; end += 2) pruner.prune(messages.slice(0, end), { now: 0 })
    const resumed = HistoryPruner.fromJSON(JSON.stringify(pruner), options)
    const sent = pruner.prune(messages, { now: 0 }).messages
    expect(wholeIn(sent)).toContain(1)
    expect(resumed.prune(messages, { now: 0 }).messages).toEqual(sent)
    // A rewritten end uses nothing.
    expect(
      wholeIn(pruner.prune([...messages.slice(0, 7), ...history('Nothing.').slice(7)], { now: 0 }).messages),
    ).not.toContain(1)
  })
})
