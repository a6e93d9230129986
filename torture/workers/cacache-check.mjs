/** `node cacache-check.mjs CACHE BLOCK ACKS`: what is whole, torn, missing and left over in a cache of cacache's. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const cacache = createRequire(import.meta.url)('cacache')
const [cache, blockFile, ackFile] = process.argv.slice(2)
const block = readFileSync(blockFile)
const filesIn = (name) => {
  try {
    return readdirSync(join(cache, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

// A file of content is named by its hash: whatever does not match its name is torn.
const contents = filesIn('content-v2')
const hashOf = (path) => path.split('/').slice(-3).join('')
const isWhole = (path) => createHash('sha512').update(readFileSync(path)).digest('hex') === hashOf(path)
let missing = 0
for (const tag of readFileSync(ackFile, 'utf8').split('\n').filter(Boolean)) {
  const [, , length, start] = tag.split('-').map(Number)
  const found = await cacache.get(cache, tag).catch(() => undefined)
  if (!found?.data.equals(block.subarray(start, start + length))) missing += 1
}
const torn = contents.filter((path) => !isWhole(path)).length
console.log(JSON.stringify({ files: contents.length, torn, missing, leftOver: filesIn('tmp').length }))
