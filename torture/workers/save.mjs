/**
 * Saves until it is killed, by one of the ways that JavaScript programs have, and acknowledges each save when its promise
 * was kept. The protocol is that of the rig's own workers: `ready`, then a line with path and tag for each save.
 */
import { mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values: args } = parseArgs({
  options: {
    saver: { type: 'string' },
    probe: { type: 'boolean', default: false },
    dir: { type: 'string' },
    block: { type: 'string' },
    worker: { type: 'string' },
  },
})
const require = createRequire(import.meta.url)
const MAX_LENGTH = 8 << 20

const SAVERS = {
  spillway() {
    const { TruncationStorage } = require('../../index.js')
    const storage = args.dir && new TruncationStorage(args.dir)
    return (tag, content) => storage.saveBytes(content, { toolName: tag })
  },
  'write-file': () => named((path, content) => writeFile(path, content)),
  'write-file-atomic'() {
    const write = require('write-file-atomic')
    // Its durability is compared with ours at the same level: a killed process.
    return named((path, content) => write(path, content, { fsync: false }))
  },
  cacache() {
    const cacache = require('cacache')
    return async (tag, content) => {
      await cacache.put(args.dir, tag, content)
      return tag
    }
  },
}

function named(write) {
  return async (tag, content) => {
    const path = join(args.dir, `${tag}.txt`)
    await write(path, content)
    return path
  }
}

const save = SAVERS[args.saver]()
if (args.probe) process.exit()
mkdirSync(args.dir, { recursive: true })
const block = openSync(args.block, 'r')
writeSync(1, 'ready\n')
for (let number = 0; ; number += 1) {
  const length = Math.min(MAX_LENGTH, Math.floor(2 ** (Math.random() * 23)))
  const start = Math.floor(Math.random() * MAX_LENGTH)
  const tag = `w${args.worker}-${number}-${length}-${start}`
  const content = Buffer.alloc(length)
  readSync(block, content, 0, length, start)
  writeSync(1, `${await save(tag, content)}\t${tag}\n`)
}
