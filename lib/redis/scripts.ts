/**
 * Steps that Redis does as one, in Lua. A value is a key of its own, and beside it the folder has a sorted set of its keys by the time at which
 * they end. A lease is its number, a space and its owner.
 */

/** Functions of several scripts. The lease in `KEYS[1]` must have the number `ARGV[1]`; an empty one asks for none. */
const SHARED = `
local function is_held()
  if ARGV[1] == '' then return true end
  local held = redis.call('GET', KEYS[1])
  return held and string.match(held, '^%d+') == ARGV[1]
end
local function milliseconds()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
local function keep(value, folder, key, text, ttl, channel)
  if ttl == '' then
    redis.call('SET', value, text)
    redis.call('ZADD', folder, '+inf', key)
  else
    redis.call('SET', value, text, 'PX', ttl)
    redis.call('ZADD', folder, milliseconds() + ttl, key)
  end
  redis.call('PUBLISH', channel, key)
end
`

/** Keys: lease, value, folder. Arguments: number of the lease, key, text, lifetime or nothing, channel. */
export const PUT = `${SHARED}
if not is_held() then return 0 end
keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
return 1`

/** The same; returns the value that is stored then. */
export const FIRST = `${SHARED}
local known = redis.call('GET', KEYS[2])
if known then return known end
keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
return ARGV[3]`

/** Keys: value, folder. Arguments: key, channel. */
export const REMOVE = `
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('DEL', KEYS[1]) == 1 then redis.call('PUBLISH', ARGV[2], ARGV[1]) end
return 1`

/** Key: value. */
export const GET = `return redis.call('GET', KEYS[1])`

/** Key: folder. Argument: the beginning of the keys of values. Returns keys and values in turn. */
export const LIST = `${SHARED}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', milliseconds())
local found = {}
for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local value = redis.call('GET', ARGV[1] .. key)
  if value then
    found[#found + 1] = key
    found[#found + 1] = value
  end
end
return found`

/** Keys: lease, log. Arguments: number of the lease, place, entry. Returns 1, 0, or -1 without the lease. */
export const APPEND = `${SHARED}
if not is_held() then return -1 end
if redis.call('LLEN', KEYS[2]) == tonumber(ARGV[2]) then redis.call('RPUSH', KEYS[2], ARGV[3]) end
return redis.call('LINDEX', KEYS[2], ARGV[2]) == ARGV[3] and 1 or 0`

/** Key: log. Argument: the first place. */
export const READ = `return redis.call('LRANGE', KEYS[1], ARGV[1], -1)`

/** Key: counter. Arguments: amount, limit, lifetime. Returns what is left, or -1. */
export const TAKE = `
local left = ARGV[2] - (redis.call('GET', KEYS[1]) or 0) - ARGV[1]
if left < 0 then return -1 end
if redis.call('INCRBY', KEYS[1], ARGV[1]) == tonumber(ARGV[1]) and redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return left`

/**
 * Keys: lease, its last number. Arguments: owner, lifetime. Returns the number, or 0. The time is part of it, so that it grows even if
 * the server lost its data.
 */
export const LEASE = `
local held = redis.call('GET', KEYS[1])
local number
if held then
  local known, owner = string.match(held, '^(%d+) (.*)$')
  if owner ~= ARGV[1] then return 0 end
  number = known
else
  local now = redis.call('TIME')
  local after = tonumber(redis.call('GET', KEYS[2]) or 0) + 1
  number = string.format('%.0f', math.max(after, now[1] * 1000 + math.floor(now[2] / 1000)))
  redis.call('SET', KEYS[2], number)
end
redis.call('SET', KEYS[1], number .. ' ' .. ARGV[1], 'PX', ARGV[2])
return tonumber(number)`

/** Key: lease. Argument: owner. */
export const RELEASE = `
local held = redis.call('GET', KEYS[1])
if held and string.match(held, '^%d+ (.*)$') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`

/** Facts about the persistence of the server. */
export const PERSISTENCE = `return redis.call('info', 'persistence')`
