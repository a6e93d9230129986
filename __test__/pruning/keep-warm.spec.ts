// Advice about keeping a cache: when to send a ping, when to stop, and how long a cache should live.

import fc from 'fast-check'
import { adviseCacheLifetime, nextPing } from 'spillway/history'

const MINUTE = 60_000

describe('the next ping', () => {
  test.each<[string, Parameters<typeof nextPing>[0], number | undefined]>([
    ['before the cache expires', { idleMs: 0, tokens: 1000 }, 4.5 * MINUTE],
    ['from the last request on', { idleMs: 4 * MINUTE, tokens: 1000 }, 0.5 * MINUTE],
    ['after another ping', { idleMs: 5 * MINUTE, tokens: 1000 }, 4 * MINUTE],
    ['within the life of the named model', { idleMs: 0, tokens: 1000, prices: 'gpt-5.6' }, 27 * MINUTE],
    ['within a given life', { idleMs: 0, tokens: 1, cacheLifetimeMs: 10 * MINUTE }, 9 * MINUTE],
    ['not after it costs more than it saves', { idleMs: 110 * MINUTE, tokens: 1000 }, undefined],
    ['not where nothing is cheaper', { idleMs: 0, tokens: 1000, prices: { read: 1, write: 1, miss: 1 } }, undefined],
    ['not where nothing is in the cache', { idleMs: 0, tokens: 0 }, undefined],
    ['not where the cache lasts', { idleMs: 0, tokens: 5, cacheLifetimeMs: Number.POSITIVE_INFINITY }, undefined],
  ])('%s', (_name, options, inMs) => {
    expect(nextPing(options).inMs).toEqual(inMs)
  })

  test.each<[string, object]>([
    ['idleMs', { tokens: 1 }],
    ['idleMs', { idleMs: -1, tokens: 1 }],
    ['tokens', { idleMs: 1, tokens: Number.NaN }],
    ['prices.read', { idleMs: 1, tokens: 1, prices: {} }],
    ['prices.write', { idleMs: 1, tokens: 1, prices: { read: 0, write: -1, miss: 1 } }],
    ['prices', { idleMs: 1, tokens: 1, prices: '' }],
    ['cacheLifetimeMs', { idleMs: 1, tokens: 1, cacheLifetimeMs: 0 }],
  ])('%s is checked', (field, options) => {
    expect(() => nextPing(options as never)).toThrow(field)
  })

  test('no pause costs more than twice the least that is possible', () => {
    const price = fc.double({ min: 0.01, max: 2, noNaN: true })
    fc.assert(
      fc.property(price, price, fc.integer({ min: 1, max: 24 * 60 }), (read, miss, minutes) => {
        const [tokens, pause] = [10_000, minutes * MINUTE]
        const prices = { read, write: miss, miss }
        let [paid, pings, idleMs] = [0, 0, 0]
        for (;;) {
          const { inMs, cost } = nextPing({ idleMs, tokens, prices })
          if (inMs === undefined || idleMs + inMs > pause) break
          idleMs += inMs
          paid += cost
          pings++
        }
        const lastUse = pings * 4.5 * MINUTE
        paid += (pause - lastUse > 5 * MINUTE ? miss : read) * tokens
        const needed = Math.max(Math.ceil((pause - 5 * MINUTE) / (4.5 * MINUTE)), 0)
        const least = Math.min(needed * read + read, needed === 0 ? read : miss) * tokens
        expect(paid).toBeLessThanOrEqual(2 * least * (1 + 1e-9) + read * tokens)
      }),
    )
  })
})

describe('five minutes or an hour', () => {
  const request = (minutes: number) => ({ pauseMs: minutes * MINUTE, repeatedTokens: 50_000, newTokens: 2000 })
  test.each<[string, number[], string]>([
    ['a session without pauses', [0, 1, 1, 2, 1], '5m'],
    ['pauses of a quarter of an hour', [0, 15, 15, 15], '1h'],
    ['pauses of a night', [0, 600, 600], '5m'],
    ['no request at all', [], '5m'],
  ])('%s', (_name, pauses, expected) => {
    expect(adviseCacheLifetime(pauses.map(request)).lifetime).toBe(expected)
  })

  test('bad requests are named', () => {
    expect(() => adviseCacheLifetime('x' as never)).toThrow('requests')
    expect(() => adviseCacheLifetime([{ ...request(1), newTokens: -1 }])).toThrow('requests[0].newTokens')
  })
})
