/** Audit logs that are saved in an object store, and checked there. */

import { appendFileSync, readdirSync } from 'node:fs'
import { AuditLog } from 'spillway'
import {
  AuditHeads,
  AuditShipper,
  MemoryCoordination,
  MemoryObjects,
  type ObjectStore,
  verifyShippedAudit,
} from 'spillway/remote'
import { s3Objects } from 'spillway/s3'
import { keysOf, through } from '../remote/support'
import { rejection } from '../support/outputs'
import { tempDir } from '../support/temp'

const sessionId = 's1'

/** A worker with a folder of its own: its log of several files, its shipper, and the heads of its records. */
function worker(objects: ObjectStore, coordination = new MemoryCoordination(), dir = tempDir()) {
  const log = new AuditLog({ dir, sessionId, maxFileBytes: 65_536 })
  const heads = new AuditHeads({ coordination, sessionId })
  const shipper = new AuditShipper({ log, sessionId, objects })
  const write = async (count: number) => {
    // The records of one turn are in one file.
    for (let at = 0; at < count; at += 1) {
      await heads.keep((await log.append({ type: 'call', at, text: 'x'.repeat(1000) }))!)
    }
  }
  return { dir, log, heads, shipper, write }
}

const check = async (objects: ObjectStore, coordination: MemoryCoordination) =>
  verifyShippedAudit({ objects, sessionId, heads: await new AuditHeads({ coordination, sessionId }).list() })

test('the logs of two workers are there as a whole, and each file once', async () => {
  const objects = new MemoryObjects()
  const coordination = new MemoryCoordination()
  const [one, two] = [worker(objects, coordination), worker(objects, coordination)]
  await one.write(300)
  const first = await one.shipper.ship()
  expect(first.length).toBeGreaterThan(2)
  expect(
    first.every((url) => /^memory:\/\/objects\/audit\/s1-[0-9a-f]{32}\/[0-9a-f]{32}\/\d{6}\.jsonl$/.test(url)),
  ).toBe(true)
  expect(await one.shipper.ship()).toEqual([])
  // The file that is not full is shipped at the end.
  expect(await check(objects, coordination)).toMatchObject({ ok: false, missingHeads: [expect.any(String)] })
  await two.write(5)
  await one.shipper.close()
  await two.shipper.close()
  const report = await check(objects, coordination)
  expect(report).toMatchObject({ ok: true, missingHeads: [] })
  expect(report.logs.map(({ records }) => records).sort()).toEqual([300, 5].sort())
  expect(report.logs.flatMap(({ files }) => files).sort()).toEqual(
    (await keysOf(objects)).map((key) => `memory://objects/${key}`).sort(),
  )
})

test('a log that is continued after its shipper was closed is one log', async () => {
  const objects = new MemoryObjects()
  const coordination = new MemoryCoordination()
  const { dir, shipper, write } = worker(objects, coordination)
  await write(10)
  await shipper.close()
  const next = worker(objects, coordination, dir)
  await next.write(10)
  await next.shipper.close()
  await next.shipper.close()
  const again = worker(objects, coordination, dir)
  await again.write(100)
  await again.shipper.close()
  const { ok, logs } = await check(objects, coordination)
  expect([ok, logs.map(({ records }) => records)]).toEqual([true, [120]])
})

type Change = (objects: ObjectStore, keys: string[]) => Promise<unknown>
const spoil: [string, Change, object][] = [
  ['a record was changed', async (objects, [key]) => edited(objects, key!), { ok: false, missingHeads: [] }],
  [
    'the first file is missing',
    (objects, keys) => objects.remove([keys[0]!]),
    { ok: false, missingFiles: [expect.stringMatching(/\/000001\.jsonl$/)], missingHeads: [] },
  ],
  ['a file between is missing', (objects, keys) => objects.remove([keys[1]!]), { ok: false, missingHeads: [] }],
  [
    'the last file is missing',
    (objects, keys) => objects.remove([keys.at(-1)!]),
    { ok: false, missingHeads: [expect.any(String)] },
  ],
  ['all are missing', (objects, keys) => objects.remove(keys), { ok: false, logs: [] }],
  ['others lie beside', (objects, [key]) => objects.put(`${key}x`, Buffer.from('{}')), { ok: true }],
  [
    'a name leads out of the folder',
    (objects, [key]) => objects.put(key!.replace(/[^/]+$/, '../../../tmp/x.jsonl'), Buffer.from('{}')),
    { ok: true },
  ],
]

test.each(spoil)('%s', async (_name, change, expected) => {
  const objects = new MemoryObjects()
  const coordination = new MemoryCoordination()
  const { shipper, write } = worker(objects, coordination)
  await write(300)
  await shipper.close()
  await change(objects, await keysOf(objects))
  expect(await check(objects, coordination)).toMatchObject(expected)
})

async function edited(objects: ObjectStore, key: string) {
  const { bytes } = (await objects.get(key, 0, 2 ** 30))!
  await objects.put(key, Buffer.from(Buffer.from(bytes).toString().replace('"at":3', '"at":4')))
}

test('an outage is an error, and nothing is lost by it', async () => {
  const objects = new MemoryObjects()
  const coordination = new MemoryCoordination()
  let isDown = true
  const failing = through(objects, ({ name }, send) =>
    isDown && name === 'put' ? Promise.reject(new Error('503 SlowDown')) : send(),
  )
  const { shipper, write } = worker(failing, coordination)
  await write(200)
  const message = 'memory://objects: 503 SlowDown'
  expect(await rejection(shipper.ship())).toMatchObject({ code: 'STORAGE_WRITE', message })
  isDown = false
  await shipper.close()
  expect(await check(objects, coordination)).toMatchObject({ ok: true })
})

test('files are shipped from time to time, and the error of an attempt is reported', async () => {
  const objects = new MemoryObjects()
  const errors: unknown[] = []
  let fail = true
  const failing = through(objects, ({ name }, send) =>
    fail && name === 'put' ? Promise.reject(new Error('denied')) : send(),
  )
  const log = new AuditLog({ dir: tempDir(), sessionId, maxFileBytes: 65_536 })
  const reported = new Promise<void>((resolve) => {
    const onError = (error: unknown) => {
      errors.push(error)
      fail = false
      resolve()
    }
    new AuditShipper({ log, sessionId, objects: failing, intervalMs: 5, onError })
  })
  for (let at = 0; at < 100; at += 1) await log.append({ text: 'x'.repeat(1000) })
  await reported
  expect(errors[0]).toMatchObject({ code: 'STORAGE_WRITE' })
  while ((await keysOf(objects)).length === 0) await new Promise((resolve) => setImmediate(resolve))
})

test('an empty log has nothing to ship; its folder is not made', async () => {
  const objects = new MemoryObjects()
  const dir = tempDir()
  const log = new AuditLog({ dir: `${dir}/logs`, sessionId })
  await new AuditShipper({ log, sessionId, objects }).close()
  expect([await keysOf(objects), readdirSync(dir)]).toEqual([[], []])
})

test('a damaged id is an error', async () => {
  const { dir, shipper, write } = worker(new MemoryObjects())
  await write(1)
  await shipper.ship({ current: true })
  const [id] = readdirSync(dir).filter((name) => name.endsWith('.id'))
  appendFileSync(`${dir}/${id}`, '/../../x')
  await write(1)
  expect(await rejection(shipper.ship({ current: true }))).toMatchObject({ code: 'STORAGE_READ' })
})

test.each([
  [{ log: undefined }, 'options.log'],
  [{ log: {} }, 'options.log'],
  [{ sessionId: '' }, 'options.sessionId'],
  [{ objects: {} }, 'options.objects'],
  [{ intervalMs: 0 }, 'options.intervalMs'],
  [{ interval: 1 }, 'options.interval'],
])('%j is refused', (wrong, field) => {
  const log = new AuditLog({ dir: tempDir(), sessionId })
  const options = { log, sessionId, objects: new MemoryObjects(), ...wrong } as never
  expect(() => new AuditShipper(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
})

test('a locked store sends the lock with each object, and takes none in parts', async () => {
  const sent: Record<string, unknown>[] = []
  const client = { getObject: () => {}, putObject: async (request: Record<string, unknown>) => sent.push(request) }
  const objects = s3Objects({ bucket: 'audit', client: client as never, lock: { days: 2 } })
  const before = Date.now()
  await objects.put('a', Buffer.from('x'))
  expect(sent).toMatchObject([{ Key: 'a', ObjectLockMode: 'COMPLIANCE', ChecksumAlgorithm: 'SHA256' }])
  const until = (sent[0]!.ObjectLockRetainUntilDate as Date).getTime()
  expect(until - before).toBeGreaterThanOrEqual(2 * 86_400_000)
  expect(await rejection(objects.begin('b'))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'options.lock' })
  for (const lock of [{}, { days: 0 }, { days: 1, mode: 'x' }, { days: 1, day: 1 }]) {
    const made = () => s3Objects({ bucket: 'audit', client: client as never, lock: lock as never })
    expect(made).toThrow(expect.objectContaining({ field: 'options.lock' }))
  }
})
