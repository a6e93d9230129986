/** State that workers share, in Redis or Valkey. */

export type { RedisClient } from './client'
export type { IoredisClient } from './ioredis-client'
export { type RedisCoordinationOptions, redisCoordination } from './redis-coordination'
