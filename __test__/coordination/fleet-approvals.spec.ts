/** Questions that are asked by one process and answered by another. Processes share nothing but the coordination. */

import { type GateCall, type GateDecision, PermissionGate, PermissionPolicy } from 'spillway'
import { type Coordination, FleetApprovals, type FleetApprovalsOptions, MemoryCoordination } from 'spillway/remote'
import { rejection } from '../support/outputs'
import { eventually } from './contract'
import { KILLS, mortal, outage, severable, throughCoordination } from './support'

const CALL = { toolCallId: 'c1', tool: 'bash', args: { command: 'make' }, sessionId: 's1', cwd: '/w' }

/** A worker: a gate that asks by way of the coordination. */
function worker(coordination: Coordination, options: Partial<FleetApprovalsOptions> = {}) {
  const errors: unknown[] = []
  const approvals = new FleetApprovals({ coordination, onError: (error) => errors.push(error), ...options })
  return { gate: new PermissionGate(new PermissionPolicy(), { ask: approvals.ask }), errors }
}

/** Ends the waits of workers that are dead, which would keep the process of the tests. */
const buried = new AbortController()
afterAll(() => buried.abort())

/** Requests the call in a worker that dies at its n-th call of the server. */
function requestAndDie(coordination: Coordination, nth: number, isDone: boolean): void {
  const { gate } = worker(mortal(coordination, nth, isDone), { pollMs: 1 })
  void gate.request({ ...CALL, signal: buried.signal })
}

const page = (coordination: Coordination) => new FleetApprovals({ coordination })

/** The only open question, once there is one. */
async function onlyQuestion(approvals: FleetApprovals) {
  await eventually(async () => (await approvals.pending()).length > 0)
  const pending = await approvals.pending()
  expect(pending).toHaveLength(1)
  return pending[0]!
}

test('a worker asks and a page answers', async () => {
  const coordination = new MemoryCoordination()
  const { gate } = worker(coordination)
  const heard = jest.fn()
  const answers = page(coordination)
  const unlisten = answers.listen(heard)
  const decided = gate.request(CALL)
  const question = await onlyQuestion(answers)
  expect(question).toMatchObject({ tool: 'bash', args: { command: 'make' }, sessionId: 's1', toolCallId: 'c1' })
  await answers.respond(question.id, 'once')
  expect(await decided).toMatchObject({ decision: 'allow', by: 'once' })
  await eventually(() => heard.mock.calls.length >= 2)
  unlisten()
  expect(await answers.pending()).toEqual([])
  expect(await rejection(answers.respond(question.id, 'once'))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'id' })
})

test.each<[string, Parameters<FleetApprovals['respond']>[1], Partial<GateDecision>]>([
  ['a reason', { reject: 'not now' }, { decision: 'deny', by: 'reject', message: 'not now' }],
  ['no reason', { reject: true }, { decision: 'deny', by: 'reject' }],
])('a rejection with %s denies the call', async (_name, response, expected) => {
  const coordination = new MemoryCoordination()
  const { gate } = worker(coordination)
  const decided = gate.request(CALL)
  await page(coordination).respond((await onlyQuestion(page(coordination))).id, response)
  expect(await decided).toMatchObject(expected)
})

test('always stores the rule that was chosen, and no other', async () => {
  const coordination = new MemoryCoordination()
  const { gate } = worker(coordination)
  const decided = gate.request(CALL)
  const { id, suggestedRules } = await onlyQuestion(page(coordination))
  const forged = { ...suggestedRules[0]!, pattern: '*' }
  expect(await rejection(page(coordination).respond(id, 'always', forged))).toMatchObject({ field: 'response' })
  await page(coordination).respond(id, 'always', suggestedRules.at(-1))
  expect(await decided).toMatchObject({ decision: 'allow', by: 'always' })
  expect(await gate.request({ ...CALL, toolCallId: 'c2' })).toMatchObject({ decision: 'allow', by: 'rule' })
})

test('the first of two answers counts, in 500 races', async () => {
  const coordination = new MemoryCoordination()
  for (let race = 0; race < 500; race += 1) {
    const { gate } = worker(coordination)
    const decided = gate.request({ ...CALL, toolCallId: `race-${race}` })
    const { id } = await onlyQuestion(page(coordination))
    const said = ['once', { reject: 'no' }] as const
    const answers = await Promise.allSettled(said.map((response) => page(coordination).respond(id, response)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const isAllowed = answers[0]!.status === 'fulfilled'
    expect((await decided).decision).toBe(isAllowed ? 'allow' : 'deny')
  }
})

describe.each(Object.entries(KILLS))('a worker that is killed %s a call reached the server', (_name, isDone) => {
  test.each([1, 2, 3, 4])('call %i: another takes the same question over', async (nth) => {
    const coordination = new MemoryCoordination()
    requestAndDie(coordination, nth, isDone)
    await new Promise(setImmediate)
    const before = await page(coordination).pending()
    const { gate } = worker(coordination)
    const decided = gate.request(CALL)
    const question = await onlyQuestion(page(coordination))
    if (before.length > 0) expect(question).toEqual(before[0])
    await page(coordination).respond(question.id, 'once')
    expect(await decided).toMatchObject({ decision: 'allow' })
  })
})

test('an answer that was given while no worker waited is found by who takes over', async () => {
  const coordination = new MemoryCoordination()
  // It dies once the question is stored.
  requestAndDie(coordination, 2, true)
  await page(coordination).respond((await onlyQuestion(page(coordination))).id, { reject: 'never' })
  expect(await worker(coordination).gate.request(CALL)).toMatchObject({ decision: 'deny', message: 'never' })
  expect(await page(coordination).pending()).toEqual([])
})

test.each([
  ['another session', { sessionId: 's2' }],
  ['other arguments', { args: { command: 'make install' } }],
  ['no session', { sessionId: undefined }],
])('a call of %s has a question of its own', async (_name, change) => {
  const coordination = new MemoryCoordination()
  const first = worker(coordination).gate.request(CALL)
  await page(coordination).respond((await onlyQuestion(page(coordination))).id, 'once')
  await first
  for (let time = 0; time < 2; time += 1) {
    const { gate } = worker(coordination)
    const cancel = new AbortController()
    const decided = gate.request(Object.assign({}, CALL, change, { signal: cancel.signal }) as GateCall)
    await onlyQuestion(page(coordination))
    cancel.abort()
    expect(await decided).toMatchObject({ decision: 'deny', by: 'abort' })
    await eventually(async () => (await page(coordination).pending()).length === 0)
  }
})

test('while the server is away a call waits, and continues when it is back', async () => {
  const { coordination, state } = severable()
  state.isDown = true
  const { gate, errors } = worker(coordination, { pollMs: 5 })
  const decided = gate.request(CALL)
  await eventually(() => errors.length > 3)
  expect(errors[0]).toMatchObject({ code: 'COORDINATION' })
  expect(gate.pending()).toHaveLength(1)
  state.isDown = false
  await page(state.behind).respond((await onlyQuestion(page(state.behind))).id, 'once')
  expect(await decided).toMatchObject({ decision: 'allow' })
})

test.each(['close', 'abort'] as const)('a question that is being stored is withdrawn by %s', async (how) => {
  const memory = new MemoryCoordination()
  let store = () => {}
  const stored = new Promise<void>((resolve) => {
    store = resolve
  })
  let isStoring = false
  const slow = throughCoordination(memory, async (name, send) => {
    if (name === 'first') {
      isStoring = true
      await stored
    }
    return send()
  })
  const approvals = new FleetApprovals({ coordination: slow })
  const gate = new PermissionGate(new PermissionPolicy(), { ask: approvals.ask })
  const controller = new AbortController()
  const decided = gate.request({ ...CALL, signal: controller.signal })
  await eventually(() => isStoring)
  if (how === 'abort') controller.abort()
  const closed = approvals.close()
  store()
  await closed
  expect(await decided).toMatchObject({ decision: 'deny' })
  expect(await page(memory).pending()).toEqual([])
})

test('a server that lost everything is asked again', async () => {
  const behind = new MemoryCoordination()
  const { gate } = worker(behind, { pollMs: 5 })
  const decided = gate.request(CALL)
  const { id } = await onlyQuestion(page(behind))
  await behind.remove(`questions/${id}`)
  const again = await onlyQuestion(page(behind))
  expect(again.id).toBe(id)
  await page(behind).respond(id, 'once')
  expect(await decided).toMatchObject({ decision: 'allow' })
})

describe('with a time limit', () => {
  const options = { answerTimeoutMs: 50, pollMs: 20 }
  const denied = { decision: 'deny', by: 'reject', message: expect.stringContaining('no answer within 50 ms') }

  test('a call without an answer is denied, everywhere', async () => {
    const coordination = new MemoryCoordination()
    expect(await worker(coordination, options).gate.request(CALL)).toMatchObject(denied)
    expect(await page(coordination).pending()).toEqual([])
    expect(await worker(coordination).gate.request(CALL)).toMatchObject(denied)
  })

  test.each<[string, () => Promise<unknown>, string]>([
    ['refuses', () => Promise.reject(outage()), 'connect ECONNREFUSED'],
    ['hangs', () => new Promise(() => {}), 'it has not answered'],
  ])('a call is denied in time while the server %s, with the reason', async (_name, answer, why) => {
    const coordination = throughCoordination(new MemoryCoordination(), answer)
    const startedAt = performance.now()
    const { decision, message } = await worker(coordination, { ...options, pollMs: 1500 }).gate.request(CALL)
    expect([decision, message]).toEqual([
      'deny',
      `no answer within 50 ms; the server of the questions cannot be reached: ${why}`,
    ])
    expect(performance.now() - startedAt).toBeLessThan(1200)
  })

  test('an answer of the same moment counts, where the server can be reached', async () => {
    const behind = new MemoryCoordination()
    const coordination = throughCoordination(behind, async (name, send) => {
      const [question] = name === 'first' ? await behind.list('questions') : []
      if (question !== undefined) {
        await behind.put(`answers/${question.key.split('/')[1]}`, JSON.stringify({ response: 'once', by: 'x' }))
      }
      return send()
    })
    expect(await worker(coordination, { ...options, pollMs: 5000 }).gate.request(CALL)).toMatchObject({
      decision: 'allow',
    })
  })
})

test.each([
  ['no JSON', '{'],
  ['no response', '{}'],
  ['a response that is none', '{"response":"allow"}'],
  ['a rule that was not shown', '{"response":"always","rule":{"domain":"bash","pattern":"*","decision":"allow"}}'],
])('a stored answer with %s denies the call', async (_name, text) => {
  const coordination = new MemoryCoordination()
  const { gate } = worker(coordination)
  const decided = gate.request(CALL)
  const { id } = await onlyQuestion(page(coordination))
  await coordination.put(`answers/${id}`, text)
  expect(await decided).toMatchObject({ decision: 'deny', by: 'error' })
})

test.each([
  ['no JSON', () => '{'],
  ['null', () => 'null'],
  ...['toolCallId', 'targets', 'reasons', 'suggestedRules', 'askedAt'].map((field): [string, (q: object) => string] => [
    `another ${field}`,
    (question) => JSON.stringify({ ...question, id: 'x', [field]: { toString: null } }),
  ]),
  ['a rule that is none', (question: object) => JSON.stringify({ ...question, id: 'x', suggestedRules: [null] })],
])('a stored question with %s is none', async (_name, textOf) => {
  const coordination = new MemoryCoordination()
  const cancel = new AbortController()
  const decided = worker(coordination).gate.request({ ...CALL, signal: cancel.signal })
  const question = await onlyQuestion(page(coordination))
  await coordination.put('questions/x', textOf(question))
  expect(await page(coordination).pending()).toEqual([question])
  const answered = rejection(page(coordination).respond('x', 'always'))
  expect(await answered).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'id' })
  cancel.abort()
  await decided
  await eventually(async () => (await page(coordination).pending()).length === 0)
})

test.each([
  [{}, 'options.coordination'],
  [{ coordination: {} }, 'options.coordination'],
  [{ coordination: new MemoryCoordination(), answerTimeoutMs: 0 }, 'options.answerTimeoutMs'],
  [{ coordination: new MemoryCoordination(), keepMs: Number.POSITIVE_INFINITY }, 'options.keepMs'],
  [{ coordination: new MemoryCoordination(), timeout: 1 }, 'options.timeout'],
])('refuses wrong options', (options, field) => {
  expect(() => new FleetApprovals(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
  )
})

describe('options and callbacks', () => {
  let warned: jest.SpyInstance
  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warned.mockRestore())

  test.each([
    ['is undefined', undefined, 'FleetApprovals: connect ECONNREFUSED'],
    [
      'throws',
      () => {
        throw new Error('planted')
      },
      'onError: planted',
    ],
    ['rejects', async () => Promise.reject(new Error('planted')), 'onError: planted'],
  ])('a call waits on where onError %s', async (_name, onError, warning) => {
    const { coordination, state } = severable()
    const { gate } = worker(coordination, { onError, pollMs: 1 } as never)
    state.isDown = true
    const decided = gate.request(CALL)
    await eventually(() => warned.mock.calls.length > 0)
    expect(warned.mock.calls[0]).toEqual([warning, 'SpillwayWarning'])
    state.isDown = false
    const answers = page(state.behind)
    await answers.respond((await onlyQuestion(answers)).id, 'once')
    expect(await decided).toMatchObject({ decision: 'allow', by: 'once' })
  })

  test('one that is undefined is one that was not given', async () => {
    const stored: unknown[] = []
    const coordination = new MemoryCoordination()
    const first = coordination.first.bind(coordination)
    coordination.first = (key, value, ttlMs) => {
      stored.push(ttlMs)
      return first(key, value, ttlMs)
    }
    const { gate } = worker(coordination, { keepMs: undefined, pollMs: undefined, answerTimeoutMs: undefined } as never)
    void gate.request({ ...CALL, signal: buried.signal })
    await onlyQuestion(page(coordination))
    expect(stored).toEqual([7 * 86_400_000])
  })

  test('a listener that fails is a warning', async () => {
    const coordination = new MemoryCoordination()
    const answers = page(coordination)
    const unlisten = answers.listen(() => {
      throw new Error('planted')
    })
    void worker(coordination).gate.request({ ...CALL, signal: buried.signal })
    await eventually(() => warned.mock.calls.length > 0)
    expect(warned.mock.calls[0]).toEqual(['listener: planted', 'SpillwayWarning'])
    unlisten()
  })

  test('an answer that cannot be stored says what can be done', async () => {
    const coordination = new MemoryCoordination()
    void worker(coordination).gate.request({ ...CALL, signal: buried.signal })
    const answers = page(coordination)
    const { id } = await onlyQuestion(answers)
    const rule = { domain: 'bash', pattern: 'other', decision: 'allow' } as never
    expect(await rejection(answers.respond(id, 'always', rule))).toMatchObject({
      message: expect.stringContaining("pass one of them, or answer 'once'"),
    })
  })
})
