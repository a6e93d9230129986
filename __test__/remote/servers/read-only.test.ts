/** Servers of shared state that take no changes, or would not keep them. */

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { PermissionGate, PermissionPolicy } from 'spillway'
import { redisCoordination } from 'spillway/redis'
import { type Coordination, FleetApprovals } from 'spillway/remote'
import { eventually, newKey } from '../../coordination/contract'
import { rejection } from '../../support/outputs'
import { postgres, redis } from './coordination-servers'
import { describeServer, folderOfServer, freePort, serve } from './servers'

const HOUR = 3_600_000

/** Every change is an error with a code, and a call that asks is denied. */
async function expectRefusals(coordination: Coordination) {
  for (const change of [
    () => coordination.put(newKey(), 'x'),
    () => coordination.first(newKey(), 'x', HOUR),
    () => coordination.append(newKey('logs'), 0, 'x'),
    () => coordination.take(newKey('quotas'), 1, 10, HOUR),
    () => coordination.lease(newKey('leases'), 'a', HOUR),
  ]) {
    expect(await rejection(change())).toMatchObject({ code: 'COORDINATION' })
  }
  const approvals = new FleetApprovals({ coordination, onError: () => {}, answerTimeoutMs: 300, pollMs: 100 })
  const gate = new PermissionGate(new PermissionPolicy(), { ask: approvals.ask })
  const call = { toolCallId: 'c1', sessionId: 's1', tool: 'bash', args: { command: 'make' } }
  expect(await gate.request(call)).toMatchObject({ decision: 'deny' })
}

describeServer(postgres, () => {
  test.each([
    ['is read-only', 'postgresql.conf', 'default_transaction_read_only = on\n'],
    ['is in recovery', 'standby.signal', ''],
  ])('a server that %s refuses changes, and still answers', async (_state, file, line) => {
    const folder = folderOfServer()
    const first = await postgres.start(postgres.program!, folder)
    const before = postgres.connect(first.port)
    await before.put('a/b', 'kept')
    await before.close()
    first.process.kill('SIGINT')
    await once(first.process, 'exit')
    appendFileSync(join(folder, 'data', file), line)
    const { port } = await postgres.start(postgres.program!, folder)
    const coordination = postgres.connect(port)
    await eventually(async () => (await coordination.get('a/b').catch(() => undefined)) === 'kept')
    await expectRefusals(coordination)
    await coordination.close()
  })
})

describeServer(redis, (server) => {
  test('a replica refuses changes', async () => {
    const of = ['--bind', '127.0.0.1', '--dir', folderOfServer(), '--appendonly', 'yes', '--replicaof', '127.0.0.1']
    const nowhere = String(await freePort())
    const replica = await serve(redis.program!, (port) => [...of, nowhere, '--port', String(port)])
    const coordination = redis.connect(replica.port)
    await expectRefusals(coordination)
    await coordination.close()
  })

  test('a server without persistence is warned of, once', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const volatile = await serve(redis.program!, (port) => [
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--save',
      '',
    ])
    for (const { port } of [server(), volatile, volatile]) {
      const coordination = redisCoordination({ url: `redis://127.0.0.1:${port}` })
      await coordination.put(newKey(), 'x')
      await coordination.close()
    }
    const persistence = expect.objectContaining({ code: 'SPILLWAY_REDIS_PERSISTENCE' })
    expect(warned.mock.calls).toEqual([[expect.stringContaining('appendonly yes'), persistence]])
    warned.mockRestore()
  })
})
