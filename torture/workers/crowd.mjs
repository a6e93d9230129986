/**
 * `node crowd.mjs CACHE`: one process puts an output into a cache of cacache's piece by piece, while another verifies the
 * cache, which is its way to clean up. Says whether the output is there in the end.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const require = createRequire(import.meta.url)
const cacache = require('cacache')
const [cache] = process.argv.slice(2)
const verify = `require(${JSON.stringify(require.resolve('cacache'))}).verify(${JSON.stringify(cache)})`

const temporary = join(cache, 'tmp')
const isBegun = () => existsSync(temporary) && readdirSync(temporary).length > 0
let lost = 0
const times = 5
for (let time = 0; time < times; time += 1) {
  const key = `output ${time}`
  const stream = cacache.put.stream(cache, key)
  const isKept = stream.promise().then(
    () => cacache.get(cache, key).then(({ data }) => data.length === 2 << 20),
    () => false,
  )
  stream.write(Buffer.alloc(1 << 20, 'x'))
  while (!isBegun()) await setTimeout(2)
  execFileSync(process.execPath, ['-e', verify])
  stream.end(Buffer.alloc(1 << 20, 'y'))
  if (!(await isKept)) lost += 1
}
console.log(JSON.stringify({ times, lost }))
