// Which prices the pruner counts with, and what its guarantee covers where it does not know them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { HistoryPruner, type HistoryPrunerOptions } from 'spillway'
import { nextPing } from 'spillway/history'
import { TABLE } from '../../lib/pruning/price-table'
import { pricesOf } from '../../lib/pruning/prices'
import { sessionPrices } from '../../lib/report/prices'

describe('the prices of a model', () => {
  test.each([
    ['claude-fable-5-1', 0.025, 1.25, 5],
    ['claude-opus-5-5-20261007', 0.05, 1.25, 5],
    ['anthropic/claude-sonnet-5.5', 0.05, 1.25, 5],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 0.1, 1.25, 5],
    ['claude-opus-4-1@20250805', 0.1, 1.25, 5],
    ['openai/gpt-5.6-codex', 0.1, 1.25, 30],
    ['gpt-5-mini-2025-08-07', 0.1, 1, 5],
    ['claude-sonnet-5', 0.1, 1.25, 5],
    ['claude-opus-4-8', 0.1, 1.25, 5],
    ['gpt-5.3-codex', 0.1, 1, 5],
    ['gpt-6-sol', 0.1, 1.25, 30],
    ['google/gemini-3.8-flash', 0.1, 1, 5],
    ['GPT-4.1', 0.25, 1, 5],
    ['gpt-4o-2024-11-20', 0.5, 1, 5],
  ])('%s', (model, read, write, minutes) => {
    const { prices, cheapest, lifetimeMs } = pricesOf(model)
    expect(prices).toEqual({ read, write, miss: write })
    expect(cheapest).toEqual(prices)
    expect(lifetimeMs).toBe(minutes * 60_000)
  })

  test.each([undefined, 'a-model-of-nobody', 'gpt-5.7', 'claude-opus-4-9', 'claude-opus', 'my-gpt-5x', '\ud800'])(
    'a model that is not in the table is counted with care: %j',
    (model) => {
      const { prices, cheapest } = pricesOf(model)
      expect(prices).toEqual({ read: 0.05, write: 1.25, miss: 1.25 })
      expect(cheapest).toEqual({ read: 0.025, write: 1.25, miss: 1.25 })
    },
  )

  test('a report counts with the prices of the pruner, for any model', () => {
    for (const model of TABLE.flatMap(({ models }) => Object.keys(models))) {
      const { prices, lifetimeMs } = pricesOf(model)
      expect([model, sessionPrices(model)]).toMatchObject([
        model,
        { read: prices.read, write: prices.write, lifetimeMs },
      ])
    }
  })

  test('no model is listed twice', () => {
    const names = TABLE.flatMap(({ models }) => Object.keys(models))
    expect(new Set(names).size).toBe(names.length)
  })

  test('an id that resembles a known one is warned of once, with that one', () => {
    const warnings: string[] = []
    const emit = jest.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))
    try {
      for (const prices of ['claude-opus-55', 'claude-opus-55', 'openai/gpt-5.7-2026-01-01', 'a-model-of-nobody']) {
        new HistoryPruner({ prices })
        nextPing({ idleMs: 0, tokens: 1, prices })
      }
    } finally {
      emit.mockRestore()
    }
    expect(warnings).toEqual([
      'options.prices: no prices are known for the model "claude-opus-55", so a cached token counts 0.05; did you mean "claude-opus-5-5"?',
      expect.stringMatching(/"openai\/gpt-5\.7-2026-01-01".* did you mean "gpt-5-6"\?$/),
    ])
  })

  test('the table of the page is that of the code', () => {
    const page = readFileSync(join(__dirname, '../../docs/pruning.md'), 'utf8')
    for (const { models, read, write, lifetimeMs, source, day } of TABLE) {
      const names = Object.keys(models)
        .map((model) => `\`${model}\``)
        .join(', ')
      const cells = [names, read, write, `${lifetimeMs / 60_000} min`, source, day]
      const row = new RegExp(cells.map((cell) => String(cell).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(' *\\| *'))
      expect(page).toMatch(row)
    }
  })
})

/** Requests of a session: each adds a call and a result of this many tokens, after this pause. */
const SESSION = fc.array(
  fc.record({ tokens: fc.integer({ min: 1, max: 20_000 }), pause: fc.constantFrom(1000, 400_000) }),
  { minLength: 2, maxLength: 60 },
)

/** The cost of a session by these prices, pruned and not. */
function costs(
  session: readonly { tokens: number; pause: number }[],
  options: HistoryPrunerOptions,
  read: number,
): [paid: number, unpruned: number] {
  const pruner = new HistoryPruner({ ...options, keepRecent: 1, estimateTokens: (text) => text.length })
  const messages: object[] = [{ role: 'user', content: 'x'.repeat(500) }]
  const size = (message: object) => JSON.stringify(message).length
  let [now, paid, unpruned] = [1e12, 0, 0]
  let last: string[] | undefined
  let sentBefore = 0
  for (const [at, { tokens, pause }] of session.entries()) {
    const id = `call_${at}`
    const call = { id, type: 'function', function: { name: 'read', arguments: '{}' } }
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    messages.push({ role: 'tool', tool_call_id: id, content: 'y'.repeat(tokens) })
    now += pause
    const sent = (pruner.prune(messages, { now }).messages as object[]).map((message) => JSON.stringify(message))
    const isCold = last === undefined || pause > 300_000
    let shared = 0
    while (last !== undefined && shared < last.length && sent[shared] === last[shared]) shared++
    const sum = (texts: readonly string[]) => texts.reduce((total, text) => total + text.length, 0)
    const cached = isCold ? 0 : sum(sent.slice(0, shared))
    paid += read * cached + 1.25 * (sum(sent) - cached)
    const total = messages.reduce((all, message) => all + size(message), 0)
    const cachedBefore = isCold ? 0 : sentBefore
    unpruned += read * cachedBefore + 1.25 * (total - cachedBefore)
    ;[last, sentBefore] = [sent, total]
  }
  return [paid, unpruned]
}

test('without prices no session costs more than a tenth above doing nothing, at any price of a read', () => {
  fc.assert(
    fc.property(SESSION, fc.constantFrom(0.025, 0.05, 0.1, 0.25, 1), (session, read) => {
      const [paid, unpruned] = costs(session, {}, read)
      // The pruner does not count what a message has around its text.
      expect(paid).toBeLessThanOrEqual(unpruned * 1.1 * 1.02)
    }),
  )
})

test('a model that is named has the cache of its provider', () => {
  const pruned = (options: HistoryPrunerOptions) => {
    const pruner = new HistoryPruner({ keepRecent: 1, ...options })
    const result = (at: number) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `${at}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: `${at}`, content: 'word '.repeat(5000) },
    ]
    const messages = [{ role: 'user', content: 'hi' }, ...result(1), ...result(2), { role: 'user', content: 'go on' }]
    pruner.prune(messages.slice(0, 5), { now: 1e12 })
    return pruner.prune(messages, { now: 1e12 + 10 * 60_000 }).report.cold
  }
  expect(pruned({})).toBe(true)
  expect(pruned({ prices: 'gpt-5.6' })).toBe(false)
  expect(pruned({ prices: 'gpt-5.6', cacheLifetimeMs: 60_000 })).toBe(true)
  expect(pruned({ prices: 'claude-opus-5-5' })).toBe(true)
})
