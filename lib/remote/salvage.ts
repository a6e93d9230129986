/** Completes outputs from what killed processes had uploaded, parts and snapshots; each says that it is incomplete. */

import { now } from '../util/clock'
import { withRetries } from '../util/retry'
import type { ObjectStore, OpenUpload, UploadedPart } from './object-store'
import { OUTPUTS, parseKey, parseSnapshotKey, type Snapshot } from './output-keys'
import { SALVAGED_LINE } from './salvaged-line'

/** The snapshots of an output. */
interface Found {
  /** True if the output itself is there. */
  isSaved: boolean
  snapshots: (Snapshot & { modified: number })[]
}

/**
 * Completes outputs to which nothing was added for so long, and returns their keys.
 * @param report receives each output that could not be completed; the others are
 * @param withSnapshots lists all outputs, to find those snapshots
 */
export async function salvage(
  objects: ObjectStore,
  idleMs: number,
  report: (error: unknown, key: string) => void,
  withSnapshots: boolean,
): Promise<string[]> {
  const salvaged: string[] = []
  const open = await withRetries(() => collected(objects.uploads?.(OUTPUTS) ?? []))
  const found = withSnapshots ? await withRetries(() => listSnapshots(objects)) : new Map<string, Found>()
  const uploads = new Map<string, OpenUpload | undefined>([...found.keys()].map((key) => [key, undefined]))
  for (const upload of open) if (parseKey(upload.key) !== undefined) uploads.set(upload.key, upload)
  const isIdle = (moment: number) => now() - moment >= idleMs
  for (const [key, upload] of uploads) {
    const { isSaved, snapshots } = found.get(key) ?? { isSaved: false, snapshots: [] }
    if (![upload?.started ?? 0, ...snapshots.map(({ modified }) => modified)].every(isIdle)) continue
    try {
      const parts = upload === undefined ? [] : await withRetries(() => objects.parts!(key, upload.upload))
      if (!parts.every(({ modified = upload!.started }) => isIdle(modified))) continue
      const isOld = isSaved && upload === undefined
      const isThere = isOld || (await complete(objects, key, upload, unbroken(parts), snapshots))
      if (isThere && !isOld) salvaged.push(key)
      const old = snapshots.map(({ key }) => key)
      if (isThere && old.length > 0) await withRetries(() => objects.remove(old))
    } catch (error) {
      report(error, key)
    }
  }
  return salvaged
}

async function collected<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of source) all.push(each)
  return all
}

/** Returns the outputs that have snapshots. */
async function listSnapshots(objects: ObjectStore): Promise<Map<string, Found>> {
  const found = new Map<string, Found>()
  let saved: string | undefined
  for await (const { key, modified } of objects.list(OUTPUTS)) {
    const snapshot = parseSnapshotKey(key)
    if (snapshot === undefined) {
      // In the order of keys, an output comes right before its snapshots.
      if (parseKey(key) !== undefined) saved = key
      continue
    }
    const { output } = snapshot
    const known = found.get(output) ?? { isSaved: saved === output, snapshots: [] }
    known.snapshots.push({ ...snapshot, modified })
    found.set(output, known)
  }
  return found
}

/** The parts from the first up to the first that is missing, or that is the last of its output. */
function unbroken(parts: readonly UploadedPart[]): UploadedPart[] {
  const sorted = [...parts].sort((a, b) => a.number - b.number)
  const run = sorted.slice(0, sorted.findIndex(({ number }, at) => number !== at + 1) >>> 0)
  return run.slice(0, run.findIndex((part) => isLast(part, run[0]!)) + 1 || run.length)
}

/** All parts of an output have one size, but for the last. */
function isLast(part: UploadedPart, first: UploadedPart): boolean {
  return part.bytes < first.bytes
}

/** Makes the output of what there is. Returns false if there is nothing. */
async function complete(
  objects: ObjectStore,
  key: string,
  upload: OpenUpload | undefined,
  parts: UploadedPart[],
  snapshots: readonly Snapshot[],
): Promise<boolean> {
  const [first] = parts
  // Only the last part may be short: after it, more would be refused, and nothing is missing.
  const isComplete = first !== undefined && isLast(parts.at(-1)!, first)
  const after = isComplete ? Buffer.alloc(0) : await rest(objects, snapshots, bytesOf(parts))
  if (first === undefined) {
    if (after.length > 0) await withRetries(() => objects.put(key, withLine(after)))
    if (upload !== undefined) await withRetries(() => objects.abort(key, upload.upload))
    return after.length > 0
  }
  if (!isComplete) {
    const body = withLine(after)
    const number = parts.length + 1
    const tag = await withRetries(() => objects.part(key, upload!.upload, number, body))
    parts.push({ number, tag, bytes: body.length })
  }
  await withRetries(() => objects.complete(key, upload!.upload, parts))
  return true
}

function bytesOf(parts: readonly UploadedPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0)
}

function withLine(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.from(SALVAGED_LINE)])
}

/** The bytes after the first `from`, by the snapshot that has most of them. */
async function rest(objects: ObjectStore, snapshots: readonly Snapshot[], from: number): Promise<Uint8Array> {
  const able = snapshots.filter((each) => each.from <= from && each.to > from).sort((a, b) => b.to - a.to)
  for (const { key, from: start, to } of able) {
    const range = await withRetries(() => objects.get(key, from - start, to - start))
    if (range !== undefined) return range.bytes
  }
  return Buffer.alloc(0)
}
