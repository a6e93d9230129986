/** Stand-in for `redis`: a client without a server, with the types that the pages use. */
import type { RedisClient } from 'spillway/redis'

export const createClient = (_options: object) =>
  ({ isOpen: false, pSubscribe: async () => undefined }) as unknown as RedisClient
