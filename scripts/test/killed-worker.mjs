// A worker of `kills.mjs`: saves outputs until it kills itself at its n-th operation on a file, or request to a server.

import { createHash } from 'node:crypto'
import { promises, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TruncationService } from 'spillway'
import { azureObjects } from 'spillway/azure'
import { RemoteStorage } from 'spillway/remote'
import { s3Objects } from 'spillway/s3'

const hashOf = (text) => createHash('sha256').update(text).digest('hex')

/** Returns numbers from 0 up to 1 that follow from the seed (mulberry32). */
export function randomOf(seed) {
  let state = (seed * 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** An output that says in its first line what the others must be; a few have several parts. */
export function contentOf(random) {
  const kind = random()
  const lines = kind < 0.01 ? 110_000 : kind < 0.04 ? 25_000 : kind < 0.1 ? 2000 : 1 + Math.floor(random() * 100)
  const rest = `${'x'.repeat(20 + Math.floor(random() * 80))} ${random()}\n`.repeat(lines)
  return `${hashOf(rest)}\n${rest}`
}

export function isWhole(content) {
  const end = content.indexOf('\n')
  return hashOf(content.slice(end + 1)) === content.slice(0, end)
}

/** The object store in a folder, or at a URL whose client `NODE_PATH` has. */
export function openObjects(place) {
  if (!URL.canParse(place)) {
    const { FolderObjects } = createRequire(import.meta.url)('../../__test__/remote/folder-objects.cjs')
    return new FolderObjects(place)
  }
  const { protocol, hostname, pathname, searchParams } = new URL(place)
  if (protocol === 's3:') return s3Objects({ bucket: hostname, prefix: pathname, ...Object.fromEntries(searchParams) })
  const [, container, ...prefix] = pathname.split('/')
  return azureObjects({ container, prefix: prefix.join('/') })
}

/** Bytes from which a capture gives an output to the storage before its end. */
const LIVE_BYTES = 2 ** 20

/** Saves by one of the four ways into a storage, and returns the path. */
export async function savePath(storage, content, random) {
  const context = { toolName: 'bash', sessionId: `s${Math.floor(random() * 5)}` }
  const way = random()
  if (content.length > LIVE_BYTES && way < 0.5) {
    const capture = new TruncationService({ storage, storageTimeoutMs: 3_600_000 }).capture(context)
    capture.end(content)
    const { outputPath } = await capture.result
    if (!storage.owns(outputPath)) throw new Error(`${outputPath} is not in the storage`)
    return outputPath
  }
  if (way < 0.4) return storage.save(content, context)
  const pieces = (async function* () {
    for (let at = 0; at < content.length; at += 2 ** 18) yield Buffer.from(content.slice(at, at + 2 ** 18))
  })()
  return way < 0.7 ? storage.saveStream(pieces, context) : storage.saveLive(pieces, context)
}

/** Milliseconds after which a process may end within a request. */
const MAX_REQUEST_MS = 10

/**
 * Counts operations on files and requests, and ends this process at the n-th: before it, after it, or with half of a write done,
 * or while a request is on its way.
 */
async function mortal(dieAt, how, random, objects) {
  let made = 0
  const die = () => process.kill(process.pid, 'SIGKILL')
  const wrap = (owner, name, half) => {
    const original = owner[name]
    owner[name] = async function (...args) {
      made += 1
      if (made !== dieAt) return original.apply(this, args)
      try {
        if (how === 'within' && half !== undefined) await half.call(this, original, args)
        else if (how === 'after') await original.apply(this, args)
      } finally {
        // Also if the operation fails: a folder that is there already, a file that is not.
        die()
      }
      return new Promise(() => {})
    }
  }
  for (const name of ['open', 'rename', 'unlink', 'mkdir', 'rm', 'link', 'copyFile']) wrap(promises, name)
  wrap(promises, 'writeFile', (write, [path, bytes]) => write(path, bytes.subarray(0, bytes.length >> 1)))
  const file = await open(join(tmpdir(), `spillway-killed-${process.pid}`), 'w')
  const prototype = Object.getPrototypeOf(file)
  await file.close()
  await promises.rm(join(tmpdir(), `spillway-killed-${process.pid}`), { force: true })
  wrap(prototype, 'write', function (write, [bytes, at, length, position]) {
    return write.call(this, bytes, at, length >> 1, position)
  })
  const isServer = objects.constructor.name !== 'FolderObjects'
  for (const name of isServer ? ['put', 'begin', 'part', 'complete', 'abort', 'get', 'remove'] : [])
    wrap(objects, name, function (request, given) {
      void request.apply(this, given).catch(() => {})
      return pause(random() * MAX_REQUEST_MS)
    })
  // The preparation itself is no operation of the worker.
  made = 0
}

async function work({ objects: place, options, seed, dieAt, how }) {
  const random = randomOf(seed)
  const objects = openObjects(place)
  const storage = new RemoteStorage({ objects, ...options, partBytes: 5 * 2 ** 20 })
  await mortal(dieAt, how, randomOf(seed + 1), objects)
  for (;;) {
    const content = contentOf(random)
    const path = await savePath(storage, content, random)
    writeSync(1, `${path} ${hashOf(content)}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await work(JSON.parse(process.argv[2]))
