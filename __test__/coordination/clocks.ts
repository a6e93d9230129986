/** Tests of workers whose clocks differ: what is shared ends by the clock of the server, and waits by elapsed time. */

import { PermissionGate, PermissionPolicy } from 'spillway'
import { type Coordination, FleetApprovals, FleetSession } from 'spillway/remote'
import { rejection } from '../support/outputs'
import { eventually, newKey } from './contract'
import { severable } from './support'

const HOUR = 3_600_000
const RealDate = Date

/** Sets the clock of the process forward by a number of milliseconds from the real one. */
function setClock(by: number): void {
  const now = () => RealDate.now() + by
  const Shifted = class extends RealDate {
    constructor(...given: []) {
      super(...(given.length === 0 ? ([now()] as unknown as []) : given))
    }
  }
  globalThis.Date = Object.assign(Shifted, { now }) as DateConstructor
}

/** @param workers returns two clients of one server */
export function clockContract(workers: () => [Coordination, Coordination]): void {
  let one: Coordination
  let other: Coordination
  const opened: FleetSession[] = []
  const open = async (coordination: Coordination, sessionId: string, leaseMs: number, waitMs: number) => {
    const session = await FleetSession.open({ coordination, sessionId, leaseMs, waitMs })
    opened.push(session)
    return session
  }

  beforeAll(() => {
    ;[one, other] = workers()
  })
  afterEach(async () => {
    globalThis.Date = RealDate
    await Promise.all(opened.splice(0).map((session) => session.close()))
  })

  describe.each([
    ['ahead of', HOUR],
    ['behind', -HOUR],
  ])('a worker whose clock is an hour %s that of the other', (_name, by) => {
    test('does not take a session before its lease is over', async () => {
      const id = newKey()
      const first = await open(one, id, 60_000, 0)
      setClock(by)
      expect(await rejection(open(other, id, 60_000, 300))).toMatchObject({ code: 'CONFLICT' })
      await first.append({ type: 'message', message: 'mine' })
      await first.close()
      const second = await open(other, id, 60_000, 0)
      expect(second.entries()).toMatchObject([{ message: 'mine' }])
      expect(second.fence).toBeGreaterThan(first.fence)
    })

    test('takes the session of a worker that is gone when its lease is over', async () => {
      const id = newKey()
      const { coordination: cut, state } = severable(one)
      setClock(by)
      const first = await open(cut, id, 200, 0)
      state.isDown = true
      setClock(0)
      const second = await open(other, id, 200, 10_000)
      await second.append({ type: 'message', message: 'mine' })
      state.isDown = false
      expect(await rejection(first.append({ type: 'message', message: 'late' }))).toMatchObject({ code: 'CONFLICT' })
    })

    test('keeps a session as long as it can extend the lease', async () => {
      const id = newKey()
      const first = await open(one, id, 300, 0)
      setClock(by)
      expect(await rejection(open(other, id, 300, 900))).toMatchObject({ code: 'CONFLICT' })
      await first.append({ type: 'message', message: 'mine' })
    })

    test('answers a question of the other, which is not over before its time', async () => {
      const toolCallId = newKey()
      const asking = new FleetApprovals({ coordination: one, answerTimeoutMs: 60_000, keepMs: 60_000, pollMs: 20 })
      const gate = new PermissionGate(new PermissionPolicy(), { ask: asking.ask })
      const decided = gate.request({ toolCallId, sessionId: 's1', tool: 'bash', args: { command: 'make' } })
      const page = new FleetApprovals({ coordination: other })
      const find = async () => (await page.pending()).find((question) => question.toolCallId === toolCallId)
      await eventually(async () => (await find()) !== undefined)
      setClock(by)
      const question = await find()
      expect(gate.pending()).toHaveLength(1)
      await page.respond(question!.id, 'once')
      expect(await decided).toMatchObject({ decision: 'allow' })
    })

    test('denies its question in time, and the question is gone for all', async () => {
      const toolCallId = newKey()
      const asking = new FleetApprovals({ coordination: one, answerTimeoutMs: 300, pollMs: 20 })
      const gate = new PermissionGate(new PermissionPolicy(), { ask: asking.ask })
      const started = performance.now()
      const decided = gate.request({ toolCallId, sessionId: 's1', tool: 'bash', args: { command: 'make' } })
      setClock(by)
      expect(await decided).toMatchObject({ decision: 'deny' })
      const waited = performance.now() - started
      expect(waited).toBeGreaterThanOrEqual(290)
      expect(waited).toBeLessThan(5000)
      await asking.close()
      const pending = await new FleetApprovals({ coordination: other }).pending()
      expect(pending.filter((question) => question.toolCallId === toolCallId)).toEqual([])
    })

    test('keeps an answer for as long as it was stored, and no longer', async () => {
      const [short, long, counter] = [newKey(), newKey(), newKey('quotas')]
      await one.first(short, 'x', 100)
      await one.first(long, 'x', 60_000)
      expect(await one.take(counter, 5, 5, 60_000)).toBe(0)
      setClock(by)
      await eventually(async () => (await other.get(short)) === undefined)
      expect(await other.get(long)).toBe('x')
      expect(await other.first(long, 'y', 60_000)).toBe('x')
      expect(await other.take(counter, 1, 5, 60_000)).toBeUndefined()
      expect(await other.first(short, 'y', 60_000)).toBe('y')
    })
  })
}
