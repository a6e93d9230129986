/** State that workers share, in Redis or Valkey. */

export { type RedisClient, type RedisCoordinationOptions, redisCoordination } from './redis-coordination'
