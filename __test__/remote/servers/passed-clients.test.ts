/** Servers that are killed while a client of the application's own, to which it does not listen, is idle. */

import { PermissionGate, PermissionPolicy } from 'spillway'
import { postgresCoordination } from 'spillway/postgres'
import { redisCoordination } from 'spillway/redis'
import { type Coordination, FleetApprovals } from 'spillway/remote'
import { eventually, newKey } from '../../coordination/contract'
import { describeUnless } from '../../support/only'
import { rejection } from '../../support/outputs'
import { type CoordinationServer, killServer, postgres, redis } from './coordination-servers'
import { folderOfServer } from './servers'

interface Theirs {
  coordination: Coordination
  end(): unknown
}

const requestTimeoutMs = 500

const THEIRS: [string, CoordinationServer, (port: number) => Theirs][] = [
  [
    'a Pool of pg',
    postgres,
    (port) => {
      const { Pool } = require('pg')
      const pool = new Pool({ host: '127.0.0.1', port, user: 'tests', database: 'postgres' })
      return { coordination: postgresCoordination({ pool, requestTimeoutMs }), end: () => pool.end() }
    },
  ],
  [
    'a client of redis',
    redis,
    (port) => {
      const client = require('redis').createClient({ url: `redis://127.0.0.1:${port}` })
      return { coordination: redisCoordination({ client, requestTimeoutMs }), end: () => client.destroy() }
    },
  ],
  [
    'a client of ioredis',
    redis,
    (port) => {
      const client = new (require('ioredis').Redis)(port, '127.0.0.1')
      return { coordination: redisCoordination({ client, requestTimeoutMs }), end: () => client.disconnect() }
    },
  ],
]

for (const [name, kind, connect] of THEIRS) {
  describeUnless(kind.program === undefined ? `it takes ${kind.missing}` : '', name, () => {
    test('the process lives, calls wait or are denied, and continue when the server is back', async () => {
      const folder = folderOfServer()
      const first = await kind.start(kind.program!, folder)
      const { coordination, end } = connect(first.port)
      const [key, late] = [newKey(), newKey()]
      // Its subscription has a connection of its own, which is lost as well.
      coordination.watch('values', () => {})
      await Promise.all([coordination.put(key, 'x'), coordination.get(late)])
      await killServer(kind, first)
      expect(await rejection(coordination.get(key))).toMatchObject({ code: 'COORDINATION' })
      expect(await rejection(coordination.put(late, 'x'))).toMatchObject({ code: 'COORDINATION' })
      const approvals = new FleetApprovals({ coordination, onError: () => {}, answerTimeoutMs: 300, pollMs: 100 })
      const gate = new PermissionGate(new PermissionPolicy(), { ask: approvals.ask })
      const call = { toolCallId: 'c1', sessionId: 's1', tool: 'bash', args: { command: 'make' } }
      expect(await gate.request(call)).toMatchObject({ decision: 'deny' })
      await kind.start(kind.program!, folder, first.port)
      await eventually(async () => (await coordination.get(key).catch(() => undefined)) === 'x')
      // A call that has failed is not made later.
      expect(await coordination.get(late)).toBeUndefined()
      await coordination.close()
      await end()
    })
  })
}
