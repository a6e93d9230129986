/** Clients that an application makes itself: they report a lost connection by `error`, which ends the process if no one listens. */

import { EventEmitter } from 'node:events'
import { postgresCoordination } from 'spillway/postgres'
import { redisCoordination } from 'spillway/redis'
import type { Coordination } from 'spillway/remote'
import { rejection } from '../support/outputs'

const THEIRS: [string, object, (client: never) => Coordination][] = [
  ['a Pool of pg', { connect() {}, end() {} }, (pool) => postgresCoordination({ pool })],
  ['a client of redis', { pSubscribe() {}, isOpen: true, destroy() {} }, (client) => redisCoordination({ client })],
  ['a client of ioredis', { psubscribe() {}, status: 'ready' }, (client) => redisCoordination({ client })],
]

test.each(THEIRS)('%s may lose its connection while it is idle', async (_name, members, open) => {
  const client = Object.assign(new EventEmitter(), members)
  const [one, other] = [open(client as never), open(client as never)]
  expect(client.emit('error', new Error('terminating connection'))).toBe(true)
  await one.close()
  await one.close()
  expect(client.emit('error', new Error('terminating connection'))).toBe(true)
  await other.close()
  expect(client.eventNames()).toEqual([])
})

test.each(THEIRS)('listeners that the application gave %s stay', async (_name, members, open) => {
  const client = Object.assign(new EventEmitter(), members)
  const heard = jest.fn()
  client.on('error', heard)
  const coordination = open(client as never)
  client.emit('error', 1)
  await coordination.close()
  client.emit('error', 2)
  expect(heard.mock.calls).toEqual([[1], [2]])
})

test.each([
  ['is connecting', true],
  ['is not connected yet', false],
])('a call that failed while a client of redis %s is not made later', async (_name, isOpen) => {
  let connect = () => {}
  const connected = new Promise<void>((resolve) => {
    connect = resolve
  })
  const send = jest.fn(async () => '1')
  const client = Object.assign(new EventEmitter(), {
    isOpen,
    isReady: false,
    connect: () => connected,
    duplicate() {},
    pSubscribe() {},
    eval: send,
    destroy() {},
  })
  const coordination = redisCoordination({ client: client as never, requestTimeoutMs: 20 })
  expect(await rejection(coordination.get('values/late'))).toMatchObject({ code: 'COORDINATION' })
  client.isReady = true
  client.emit('ready')
  connect()
  await coordination.get('values/next')
  expect(JSON.stringify(send.mock.calls)).not.toContain('values/late')
  await coordination.close()
  expect(client.eventNames()).toEqual([])
})
