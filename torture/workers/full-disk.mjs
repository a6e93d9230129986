/**
 * `node full-disk.mjs SAVER FOLDER PAGES RESTS`: saves what is too long for the rest of a small file system, for every number
 * of pages that can be left, and counts what was cut short without an error.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const PAGE = 4096
const [saver, folder, pages, rests] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const filler = join(folder, 'filler')
const path = join(folder, 'output.txt')
const cache = join(folder, 'cache')
const content = Buffer.alloc(Number(rests) * PAGE + 1, 'x')

const SAVERS = {
  'write-file': () => (data) => writeFile(path, data),
  'write-file-atomic'() {
    const write = require('write-file-atomic')
    return (data) => write(path, data)
  },
  cacache() {
    const cacache = require('cacache')
    return (data) => cacache.put(cache, 'output', data)
  },
}

async function found() {
  if (saver !== 'cacache') return readFileSync(path)
  return (await require('cacache').get(cache, 'output')).data
}

const save = SAVERS[saver]()
const counts = { saves: 0, refused: 0, silent: 0, torn: 0 }
for (let rest = 0; rest < Number(rests); rest += 1) {
  for (const of of [filler, path, cache]) rmSync(of, { recursive: true, force: true })
  writeFileSync(filler, Buffer.alloc((Number(pages) - rest) * PAGE, 1))
  counts.saves += 1
  const refused = await save(content).then(
    () => false,
    () => true,
  )
  const isWhole = await found().then(
    (data) => data.equals(content),
    () => undefined,
  )
  if (refused) counts.refused += 1
  if (isWhole === false) counts[refused ? 'torn' : 'silent'] += 1
}
console.log(JSON.stringify(counts))
