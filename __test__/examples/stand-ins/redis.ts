/** Stand-in for `redis`: a client without a server, with the types that the pages use. */
import { EventEmitter } from 'node:events'
import type { RedisClient } from 'spillway/redis'

export const createClient = (_options: object) =>
  Object.assign(new EventEmitter(), { isOpen: false, pSubscribe: async () => undefined }) as unknown as RedisClient
