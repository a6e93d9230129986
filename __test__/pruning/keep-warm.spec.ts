// Advice about keeping a cache: when to send a ping, when to stop, and how long a cache should live.

import fc from 'fast-check'
import { adviseCacheLifetime, nextPing } from 'spillway/history'

const MINUTE = 60_000

describe('the next ping', () => {
  test.each<[string, Parameters<typeof nextPing>[0], number | undefined]>([
    ['before the cache expires', { idleMs: 0, tokens: 1000 }, 295_000],
    ['from the last request on', { idleMs: 4 * MINUTE, tokens: 1000 }, 55_000],
    ['after another ping', { idleMs: 5 * MINUTE, tokens: 1000 }, 290_000],
    ['within the life of the named model', { idleMs: 0, tokens: 1000, prices: 'gpt-5.6' }, 30 * MINUTE - 5000],
    ['within a given life', { idleMs: 0, tokens: 1, cacheLifetimeMs: 10 * MINUTE }, 10 * MINUTE - 5000],
    ['within a short life', { idleMs: 0, tokens: 1, cacheLifetimeMs: 10_000 }, 9000],
    ['not after it costs more than it saves', { idleMs: 125 * MINUTE, tokens: 1000 }, undefined],
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

  test('no pause costs more than twice what it would cost if its length were known', () => {
    const share = fc.double({ min: 1 / 60, max: 1, noNaN: true })
    const minutes = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(5))
    fc.assert(
      fc.property(share, minutes, fc.nat({ max: 24 * 60 * MINUTE }), (read, lifetime, pause) => {
        const [tokens, cacheLifetimeMs] = [10_000, Math.max(lifetime, 5) * MINUTE]
        const options = { tokens, cacheLifetimeMs, prices: { read, write: 1, miss: 1 } }
        let [paid, idleMs] = [0, 0]
        for (;;) {
          const { inMs, cost } = nextPing({ ...options, idleMs })
          if (inMs === undefined || idleMs + inMs > pause) break
          idleMs += inMs
          paid += cost
        }
        paid += (pause - idleMs > cacheLifetimeMs ? 1 : read) * tokens
        const needed = Math.max(Math.ceil(pause / cacheLifetimeMs) - 1, 0)
        const least = Math.min((needed + 1) * read, needed === 0 ? read : 1) * tokens
        expect(paid).toBeLessThanOrEqual(2 * least * (1 + 1e-9))
      }),
      { numRuns: 2000 },
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
