/** JSON of another kind in what a server has stored: another program may have written it. */

import { createHash } from 'node:crypto'
import { PermissionGate, PermissionPolicy, SpillwayError } from 'spillway'
import { AuditHeads, FleetApprovals, FleetSession, MemoryCoordination } from 'spillway/remote'
import { ODD_VALUES, oddJson } from '../support/odd-values'
import { rejection } from '../support/outputs'

const QUESTION = {
  id: 'q',
  toolCallId: 'c',
  tool: 'bash',
  targets: ['shell:ls'],
  reasons: [],
  suggestedRules: [],
  askedAt: 1,
}

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => jest.restoreAllMocks())

describe.each(ODD_VALUES.map(([name]) => name))('%s', (name) => {
  const value = new Map(ODD_VALUES).get(name)
  const json = oddJson(value)
  const places = [
    json,
    ...Object.keys(QUESTION).map((key) => JSON.stringify({ ...QUESTION, [key]: 'HERE' }).replace('"HERE"', () => json)),
  ]

  test('as a question hides no other', async () => {
    const coordination = new MemoryCoordination()
    for (const [at, text] of places.entries()) await coordination.put(`questions/odd-${at}`, text)
    await coordination.put('questions/q', JSON.stringify(QUESTION))
    const approvals = new FleetApprovals({ coordination })
    expect((await approvals.pending()).map(({ id }) => id)).toEqual(['q'])
    expect(await rejection(approvals.respond('odd-0', 'once'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    await approvals.respond('q', 'once')
    expect(await approvals.pending()).toEqual([])
  })

  test('as an answer allows nothing', async () => {
    const answers = [json, `{"response":${json}}`, `{"response":"always","rule":${json}}`]
    for (const answer of answers) {
      const coordination = new MemoryCoordination()
      const approvals = new FleetApprovals({ coordination, pollMs: 1 })
      const gate = new PermissionGate(new PermissionPolicy({ vault: '/v' }), { ask: approvals.ask })
      const decided = gate.request({ toolCallId: 'c', tool: 'bash', args: { command: 'make' }, sessionId: 's' })
      let [asked] = await coordination.list('questions')
      while (asked === undefined) [asked] = await coordination.list('questions')
      await coordination.put(asked.key.replace('questions', 'answers'), answer)
      const { decision } = await decided
      expect([answer.slice(0, 99), decision]).toEqual([answer.slice(0, 99), 'deny'])
      await approvals.close()
    }
  })

  test('as an entry of a session is refused', async () => {
    const log = `sessions/${createHash('sha256').update('s').digest('hex')}`
    const entry = { id: 'b', type: 't', parentId: null }
    const texts = ['id', 'type', 'parentId'].map((key) =>
      JSON.stringify({ ...entry, [key]: 'HERE' }).replace('"HERE"', () => json),
    )
    for (const text of [json, ...texts]) {
      const coordination = new MemoryCoordination()
      await coordination.append(log, 0, text)
      const opened = await FleetSession.open({ coordination, sessionId: 's' }).catch((error: unknown) => error)
      const isText = text !== json && (typeof value === 'string' || text === JSON.stringify(entry))
      expect([text.slice(0, 99), opened]).toEqual([
        text.slice(0, 99),
        isText ? expect.any(FleetSession) : expect.objectContaining({ code: 'COORDINATION' }),
      ])
      if (opened instanceof FleetSession) await opened.close()
    }
  })

  test('as a receipt is refused', async () => {
    const heads = new AuditHeads({ coordination: new MemoryCoordination(), sessionId: 's' })
    const receipt = { writer: 'w', hash: 'h', seq: 1 }
    const wrong = ['writer', 'hash', 'seq'].map((key) => ({ ...receipt, [key]: value }))
    for (const one of [value, ...wrong]) {
      const isText = one !== value && typeof value === 'string' && (one as typeof receipt).seq === 1
      const kept = Promise.resolve().then(() => heads.keep(one as never))
      const error = await kept.catch((thrown: unknown) => thrown)
      if (!isText)
        expect([Object.keys(Object(one)), error]).toEqual([Object.keys(Object(one)), expect.any(SpillwayError)])
    }
    await heads.keep({ ...receipt, seq: 2 } as never)
    expect(await heads.list()).toContain('h')
  })
})
