/** A session that one worker after another continues. */

import { type Coordination, FleetSession, type FleetSessionOptions, MemoryCoordination } from 'spillway/remote'
import { rejection } from '../support/outputs'
import { eventually } from './contract'
import { KILLS, mortal, outage, severable, throughCoordination } from './support'

const open = (coordination: Coordination, options: Partial<FleetSessionOptions> = {}) =>
  FleetSession.open({ coordination, sessionId: 's1', leaseMs: 150, waitMs: 10_000, ...options })

const sessions: FleetSession[] = []
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close()
})

async function opened(...args: Parameters<typeof open>): Promise<FleetSession> {
  const session = await open(...args)
  sessions.push(session)
  return session
}

const texts = (session: FleetSession) => session.entries().map(({ message }) => message)
const say = (session: FleetSession, message: string) => session.append({ type: 'message', message })

test('the next worker has the entries, the states and the leaf', async () => {
  const coordination = new MemoryCoordination()
  const first = await opened(coordination)
  const [a] = await Promise.all(['a', 'b', 'c'].map((message) => say(first, message)))
  first.branch(a!)
  const last = await say(first, 'd')
  await first.saveState('detector', { calls: [1] })
  await first.close()
  const second = await opened(coordination, { waitMs: 0 })
  expect(second.entries()).toEqual(first.entries())
  expect([texts(second), second.leaf()]).toEqual([['a', 'b', 'c', 'd'], last])
  expect(second.entries()[3]!.parentId).toBe(a)
  expect(await second.loadState('detector')).toEqual({ calls: [1] })
  expect(await second.loadState('ledger')).toBeUndefined()
  expect(second.fence).toBeGreaterThan(first.fence)
  expect(await rejection(say(first, 'late'))).toMatchObject({ code: 'CLOSED' })
})

test('a session has one owner', async () => {
  const coordination = new MemoryCoordination()
  await opened(coordination, { leaseMs: 60_000 })
  expect(await rejection(open(coordination, { waitMs: 0 }))).toMatchObject({ code: 'CONFLICT' })
  await opened(coordination, { sessionId: 's1 ' })
})

test('a worker that stopped and comes back adds nothing after another took over', async () => {
  const { coordination, state } = severable()
  const lost = jest.fn()
  const slow = await opened(coordination, { onLost: lost })
  await say(slow, 'a')
  state.isDown = true
  const next = await opened(state.behind)
  await say(next, 'b')
  state.isDown = false
  expect(await rejection(say(slow, 'late'))).toMatchObject({ code: 'CONFLICT' })
  for (const name of ['my ledger', '', 'a/b', undefined as never]) {
    expect(await rejection(slow.loadState(name))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'name' })
  }
  expect(await rejection(slow.saveState('x', 1))).toMatchObject({ code: 'CONFLICT' })
  expect(lost).toHaveBeenCalledTimes(1)
  expect(texts(next)).toEqual(['a', 'b'])
})

describe.each(Object.entries(KILLS))('a worker that is killed %s a call reached the server', (_name, isDone) => {
  test.each([1, 2, 3, 4, 5, 6])('call %i: no entry that was acknowledged is missing, and no fork', async (nth) => {
    const coordination = new MemoryCoordination()
    const acknowledged: string[] = []
    const dying = async () => {
      const session = await open(mortal(coordination, nth, isDone))
      for (const message of ['a', 'b', 'c', 'd']) {
        await say(session, message)
        acknowledged.push(message)
      }
    }
    void dying()
    await new Promise(setImmediate)
    const next = await opened(coordination)
    const found = texts(next)
    expect(found.slice(0, acknowledged.length)).toEqual(acknowledged)
    expect(found.length - acknowledged.length).toBeLessThanOrEqual(1)
    await say(next, 'e')
    const parents = next.entries().map(({ parentId }) => parentId)
    expect(new Set(parents).size).toBe(parents.length)
  })
})

test('an entry whose answers were lost is added once', async () => {
  const behind = new MemoryCoordination()
  let lost = 0
  const coordination = throughCoordination(behind, async (name, send) => {
    const answer = await send()
    if (name !== 'append' || lost >= 4) return answer
    lost += 1
    throw outage()
  })
  const session = await opened(coordination)
  expect(await rejection(say(session, 'a'))).toMatchObject({ code: 'COORDINATION' })
  // The fourth answer is lost, too; the fifth attempt finds the entry.
  await say(session, 'b')
  await session.close()
  expect(texts(await opened(behind))).toEqual(['a', 'b'])
})

test('a server that lost the entries is a conflict', async () => {
  const behind = new MemoryCoordination()
  const session = await opened(behind)
  await say(session, 'a')
  const forgetful = throughCoordination(behind, (name, send) => (name === 'append' ? Promise.resolve(false) : send()))
  await session.close()
  const next = await opened(forgetful)
  expect(await rejection(say(next, 'b'))).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('gone') })
})

test('a worker that is cut off for longer than its lease stops by itself', async () => {
  const { coordination, state } = severable()
  const lost = jest.fn()
  const session = await opened(coordination, { onLost: lost })
  state.isDown = true
  await eventually(() => lost.mock.calls.length > 0)
  state.isDown = false
  expect(await rejection(say(session, 'a'))).toMatchObject({ code: 'CONFLICT' })
})

test('reports entries of another program as an error of the server', async () => {
  const coordination = new MemoryCoordination()
  const session = await opened(coordination)
  jest.spyOn(coordination, 'get').mockResolvedValue('{')
  expect(await rejection(session.loadState('detector'))).toMatchObject({ code: 'COORDINATION' })
  await session.close()
  for (const text of ['{', '', '[1]', 'null', '{"id":{"toString":null},"type":"x"}']) {
    jest.spyOn(coordination, 'read').mockResolvedValueOnce([text])
    expect(await rejection(open(coordination))).toMatchObject({ code: 'COORDINATION' })
  }
})

test('rejects an invalid state', async () => {
  const session = await opened(new MemoryCoordination())
  for (const state of [1n, undefined, { a: 1n }]) {
    const refused = rejection(session.saveState('x', state))
    expect(await refused).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'state' })
  }
})

test.each([
  [{ type: '' }, 'entry'],
  [Object.defineProperty({ type: 'x' }, 'a', { enumerable: true, get: () => JSON.parse('{') }), 'entry'],
  [{ type: 'message', toJSON: () => 1 }, 'entry'],
  [{ type: 'message', message: 1n }, 'entry'],
])('rejects an invalid entry', async (entry, field) => {
  const session = await opened(new MemoryCoordination())
  expect(await rejection(session.append(entry as never))).toMatchObject({ code: 'INVALID_ARGUMENT', field })
  expect(await say(session, 'a')).toBe(session.leaf())
})

test.each([
  [{ sessionId: 's1' }, 'options.coordination'],
  [{ coordination: new MemoryCoordination() }, 'options.sessionId'],
  [{ coordination: new MemoryCoordination(), sessionId: '' }, 'options.sessionId'],
  [{ coordination: new MemoryCoordination(), sessionId: 's', leaseMs: 1 }, 'options.leaseMs'],
])('refuses wrong options', async (options, field) => {
  expect(await rejection(FleetSession.open(options as never))).toMatchObject({ code: 'INVALID_ARGUMENT', field })
})

test('the callback of a worker that lost the session may fail', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    for (const onLost of [
      () => {
        throw new Error('planted')
      },
      (async () => {
        throw new Error('planted')
      }) as () => void,
    ]) {
      const { coordination, state } = severable()
      const session = await opened(coordination, { onLost })
      state.isDown = true
      await eventually(() => warned.mock.calls.length > 0)
      state.isDown = false
      expect(await rejection(say(session, 'a'))).toMatchObject({ code: 'CONFLICT' })
      expect(warned.mock.calls).toEqual([['onLost: planted', 'SpillwayWarning']])
      warned.mockClear()
    }
  } finally {
    warned.mockRestore()
  }
})

describe('a signal ends the wait for a session', () => {
  test('that another worker has', async () => {
    const coordination = new MemoryCoordination()
    await opened(coordination, { leaseMs: 60_000 })
    const stop = new AbortController()
    const waiting = open(coordination, { waitMs: 60_000, signal: stop.signal })
    setImmediate(() => stop.abort(new Error('planted')))
    expect(await rejection(waiting)).toMatchObject({ code: 'ABORTED', cause: { message: 'planted' } })
    expect(await rejection(open(coordination, { signal: stop.signal }))).toMatchObject({ code: 'ABORTED' })
  })

  test.each(['lease', 'read'])(
    'even if the server does not answer a %s, and leaves the session to others',
    async (name) => {
      const behind = new MemoryCoordination()
      let answer = () => {}
      const hanging = new Promise<void>((resolve) => {
        answer = resolve
      })
      const slow = throughCoordination(behind, async (asked, send) => {
        const sent = await send()
        if (asked === name) await hanging
        return sent
      })
      const stop = new AbortController()
      const waiting = open(slow, { leaseMs: 60_000, signal: stop.signal })
      setImmediate(() => stop.abort())
      expect(await rejection(waiting)).toMatchObject({ code: 'ABORTED' })
      answer()
      await opened(behind, { leaseMs: 60_000, waitMs: 5000 })
    },
  )

  test('and is checked', async () => {
    const wrong = open(new MemoryCoordination(), { signal: 5 as never })
    expect(await rejection(wrong)).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'options.signal' })
  })
})
