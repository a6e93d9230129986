/** Audit logs whose heads are kept elsewhere. */

import { readFileSync, writeFileSync } from 'node:fs'
import { AuditLog, verifyAudit } from 'spillway'
import { AuditHeads, MemoryCoordination } from 'spillway/remote'
import { rejection } from '../support/outputs'
import { tempDir } from '../support/temp'
import { severable } from './support'

test('a log whose end was cut off is found by its heads, of every writer', async () => {
  const dir = tempDir()
  const coordination = new MemoryCoordination()
  const logs = [1, 2].map(() => new AuditLog({ dir, sessionId: 's1' }))
  const write = async (log: AuditLog, count: number) => {
    const heads = new AuditHeads({ coordination, sessionId: 's1' })
    const keep = async (tool: string) => heads.keep((await log.append({ type: 'call', tool }))!)
    await Promise.all(Array.from({ length: count }, (_, at) => keep(`tool-${at}`)))
  }
  await write(logs[0]!, 50)
  await write(logs[1]!, 3)
  const file = logs[0]!.path
  for (const log of logs) await log.close()

  const head = await new AuditHeads({ coordination, sessionId: 's1' }).list()
  expect(head).toHaveLength(2)
  expect(await verifyAudit(file, { head })).toMatchObject({ ok: true, records: 53, writers: 2 })
  expect(await new AuditHeads({ coordination, sessionId: 's2' }).list()).toEqual([])

  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, `${lines.slice(0, -2).join('\n')}\n`)
  expect(await verifyAudit(file)).toMatchObject({ ok: true })
  expect(await verifyAudit(file, { head })).toMatchObject({ ok: false })
})

test('a head that could not be kept is an error, and the next one is kept', async () => {
  const { coordination, state } = severable()
  const heads = new AuditHeads({ coordination, sessionId: 's1' })
  const receipt = (seq: number) => ({ eventId: 'e', writer: 'w', seq, hash: `hash-${seq}` })
  state.isDown = true
  expect(await rejection(heads.keep(receipt(1)))).toMatchObject({ code: 'COORDINATION' })
  state.isDown = false
  await heads.keep(receipt(2))
  await heads.keep(receipt(1))
  expect(await heads.list()).toEqual(['hash-2'])
  expect(() => heads.keep({} as never)).toThrow(expect.objectContaining({ field: 'receipt' }))
})
