/** Completes outputs from the parts that killed processes had uploaded; each says that it is incomplete. */

import { now } from '../util/clock'
import { withRetries } from '../util/retry'
import type { ObjectStore, OpenUpload, UploadedPart } from './object-store'
import { OUTPUTS, parseKey } from './output-keys'
import { SALVAGED_LINE } from './salvaged-line'

/**
 * Completes uploads that had no part for so long, and returns the keys of the outputs.
 * @param report receives each upload that could not be completed; the others are
 */
export async function salvage(
  objects: ObjectStore,
  idleMs: number,
  report: (error: unknown, key: string) => void,
): Promise<string[]> {
  const salvaged: string[] = []
  const open = await withRetries(async () => {
    const found: OpenUpload[] = []
    for await (const upload of objects.uploads?.(OUTPUTS) ?? []) found.push(upload)
    return found
  })
  for (const { key, upload, started } of open) {
    if (parseKey(key) === undefined || now() - started < idleMs) continue
    try {
      const parts = await withRetries(() => objects.parts!(key, upload))
      const isIdle = parts.every(({ modified = started }) => now() - modified >= idleMs)
      if (isIdle && (await complete(objects, key, upload, unbroken(parts)))) salvaged.push(key)
    } catch (error) {
      report(error, key)
    }
  }
  return salvaged
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

async function complete(objects: ObjectStore, key: string, upload: string, parts: UploadedPart[]): Promise<boolean> {
  const [first] = parts
  if (first === undefined) {
    await withRetries(() => objects.abort(key, upload))
    return false
  }
  // Only the last part may be short: after it, the line would be refused, and nothing is missing.
  if (!isLast(parts.at(-1)!, first)) {
    const line = Buffer.from(SALVAGED_LINE)
    const number = parts.length + 1
    const tag = await withRetries(() => objects.part(key, upload, number, line))
    parts.push({ number, tag, bytes: line.length })
  }
  await withRetries(() => objects.complete(key, upload, parts))
  return true
}
