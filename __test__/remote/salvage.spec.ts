/** Outputs that killed processes had uploaded in part, in a bucket that refuses short parts before the last, as S3 does. */

import { SpillwayError } from 'spillway'
import { MemoryObjects, type ObjectStore, RemoteStorage, type UploadedPart } from 'spillway/remote'
import { tempDir } from '../support/temp'
import { through } from './support'

const MEBIBYTE = 2 ** 20
const PART = 5 * MEBIBYTE
const context = { toolName: 'bash', sessionId: 's1' }
const LINE = /\[Spillway: the output ends here\..*\]\n$/

/** A bucket as S3 is: parts before the last have 5 MiB or more, and nothing is overwritten unless it was salvaged. */
function bucket() {
  const objects = new MemoryObjects()
  const complete = objects.complete.bind(objects)
  objects.complete = async (key: string, upload: string, parts: readonly UploadedPart[]) => {
    if (parts.slice(0, -1).some(({ bytes }) => bytes < PART)) throw new Error('EntityTooSmall')
    return complete(key, upload, parts)
  }
  return objects
}

/** A store of a process that is killed before its n-th request of a name. */
function killedBefore(objects: ObjectStore, name: string, nth: number): ObjectStore {
  let made = 0
  let isDead = false
  return through(objects, (request, send) => {
    if (request.name === name) made += 1
    isDead ||= made === nth
    return isDead ? new Promise(() => {}) : send()
  })
}

async function* pieces(bytes: number) {
  for (let at = 0; at < bytes; at += MEBIBYTE)
    yield Buffer.alloc(Math.min(MEBIBYTE, bytes - at), 97 + ((at / MEBIBYTE) % 26))
}

async function killed(objects: ObjectStore, bytes: number, name: string, nth: number) {
  const spoolDir = tempDir()
  const options = { spoolDir, partBytes: PART, ackTimeoutMs: 300 }
  const storage = new RemoteStorage({ objects: killedBefore(objects, name, nth), ...options })
  return { path: await storage.saveLive(pieces(bytes), context), spoolDir }
}

test.each([
  ['all parts, the last of them short', 12 * MEBIBYTE + 7, 'complete', 1, 12 * MEBIBYTE + 7, false],
  ['all parts, the last of them full', 10 * MEBIBYTE, 'complete', 1, 10 * MEBIBYTE, true],
  ['two parts of four', 18 * MEBIBYTE, 'part', 3, 10 * MEBIBYTE, true],
])('restores the output of a process that had uploaded %s', async (_name, bytes, request, nth, there, hasLine) => {
  const objects = bucket()
  const { path, spoolDir } = await killed(objects, bytes, request, nth)
  const elsewhere = new RemoteStorage({ objects })
  expect(await elsewhere.salvage(0)).toEqual([path])
  const text = await elsewhere.read(path)
  expect(LINE.test(text)).toBe(hasLine)
  expect(text.replace(LINE, '').trimEnd().length).toBe(there)
  // The next process with the spool uploads all of it.
  const next = new RemoteStorage({ objects, spoolDir, partBytes: PART })
  expect(await next.flush()).toBe(0)
  expect((await elsewhere.readRange(path, { fromByte: bytes, byteCount: 1 })).totalBytes).toBe(bytes)
})

test('one that cannot be completed is reported, and the others are salvaged', async () => {
  const objects = bucket()
  const { path: lost } = await killed(objects, 18 * MEBIBYTE, 'part', 3)
  const { path } = await killed(objects, 18 * MEBIBYTE, 'part', 3)
  const refusing = through(objects, (request, send) =>
    request.name === 'complete' && lost.endsWith(request.key) ? Promise.reject(new Error('AccessDenied')) : send(),
  )
  const failures: unknown[][] = []
  const elsewhere = new RemoteStorage({ objects: refusing, onError: (...failure) => failures.push(failure) })
  expect(await elsewhere.salvage(0)).toEqual([path])
  expect(failures).toEqual([[expect.any(SpillwayError), lost]])
  expect(failures[0]![0]).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringContaining('AccessDenied') })
  expect(await new RemoteStorage({ objects }).salvage(0)).toEqual([lost])
})

test('a store that does not list uploads says so', async () => {
  const objects = through(bucket(), ({ name }, send) =>
    name === 'uploads' ? Promise.reject(new Error('501')) : send(),
  )
  await expect(new RemoteStorage({ objects }).salvage(0)).rejects.toMatchObject({ code: 'STORAGE_READ' })
})
