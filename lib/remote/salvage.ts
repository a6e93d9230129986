/** Completes outputs from the parts that killed processes had uploaded; each says that it is incomplete. */

import { now } from '../util/clock'
import { withRetries } from '../util/retry'
import type { ObjectStore, OpenUpload, UploadedPart } from './object-store'
import { OUTPUTS, parseKey } from './output-keys'

/** Ends an output whose process was killed. */
export const SALVAGED_LINE =
  '\n[Spillway: the output ends here. The process that saved it ended before the rest was saved.]\n'

/** Completes uploads that had no part for so long, and returns the keys of the outputs. */
export async function salvage(objects: ObjectStore, idleMs: number): Promise<string[]> {
  const salvaged: string[] = []
  const open: OpenUpload[] = []
  for await (const upload of objects.uploads?.(OUTPUTS) ?? []) open.push(upload)
  for (const { key, upload, started } of open) {
    if (parseKey(key) === undefined || now() - started < idleMs) continue
    const parts = await withRetries(() => objects.parts!(key, upload))
    const isIdle = parts.every(({ modified = started }) => now() - modified >= idleMs)
    if (isIdle && (await complete(objects, key, upload, unbroken(parts)))) salvaged.push(key)
  }
  return salvaged
}

/** The parts from the first up to the first that is missing. */
function unbroken(parts: readonly UploadedPart[]): UploadedPart[] {
  const sorted = [...parts].sort((a, b) => a.number - b.number)
  return sorted.slice(0, sorted.findIndex(({ number }, at) => number !== at + 1) >>> 0)
}

async function complete(objects: ObjectStore, key: string, upload: string, parts: UploadedPart[]): Promise<boolean> {
  if (parts.length === 0) {
    await withRetries(() => objects.abort(key, upload))
    return false
  }
  const line = Buffer.from(SALVAGED_LINE)
  const number = parts.length + 1
  const tag = await withRetries(() => objects.part(key, upload, number, line))
  await withRetries(() => objects.complete(key, upload, [...parts, { number, tag, bytes: line.length }]))
  return true
}
