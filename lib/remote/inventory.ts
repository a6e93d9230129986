/** Which outputs an object store has, and removing them. */

import { SpillwayError } from '../errors'
import { call, native } from '../native/native'
import type { SavedOutput, StorageUsage, SweepOptions, SweepReport, SweptFile } from '../storage/retention'
import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'
import { sum } from '../util/sum'
import { type ListedObject, MAX_REMOVED_KEYS, type ObjectStore } from './object-store'
import { INDEX_SUFFIX, OUTPUTS, PARTIAL_SUFFIX, parseKey, parseSnapshotKey, toolOf } from './output-keys'

/** Outputs that a report names. */
const MAX_REPORTED = 1000

const INDEX = new RegExp(`\\${INDEX_SUFFIX}$`)

/** Failures that a report names. */
const MAX_FAILED = 100

/** True if a store has said everything about an object: it may be of the caller's own making. */
function isListed(object: unknown): boolean {
  const { key, bytes = -1, modified } = Object(object) as Partial<ListedObject>
  return typeof key === 'string' && Number.isSafeInteger(bytes) && bytes >= 0 && Number.isFinite(modified)
}

/** Lists outputs and removes them. */
export class Inventory {
  constructor(private readonly objects: ObjectStore) {}

  /** Lists outputs, newest first. */
  async list(prefix: string): Promise<SavedOutput[]> {
    const found = await this.outputs(prefix)
    return found
      .sort((a, b) => b.modified - a.modified || (a.key < b.key ? 1 : -1))
      .map(({ key, bytes, modified }) => {
        const { name } = parseKey(key)!
        const known = { path: this.pathOf(key), toolName: toolOf(name), savedAt: modified, bytes }
        return name.endsWith(PARTIAL_SUFFIX) ? { ...known, partial: true } : known
      })
  }

  /** Returns how much there is. */
  async usage(): Promise<StorageUsage> {
    const found = await this.outputs(OUTPUTS)
    const bytes = found.reduce((sum, each) => sum + each.bytes, 0)
    const sessions = new Set(found.flatMap(({ key }) => parseKey(key)!.session ?? [])).size
    const files = found.length
    return { files, bytes, sessions, dirs: [{ dir: this.objects.url, files, bytes }] }
  }

  /** Removes what is too old or too much. */
  async sweep({
    retentionDays,
    maxStoreBytes,
    maxStoreFiles,
    now,
    dryRun,
  }: Required<SweepOptions>): Promise<SweepReport> {
    const found = await this.outputs(OUTPUTS)
    const dates = found.map(({ modified }) => modified)
    const sizes = found.map(({ bytes }) => bytes)
    const applied = call(() => native.boundsApply(dates, sizes, retentionDays, maxStoreBytes, maxStoreFiles, now))
    const chosen = (JSON.parse(applied) as [number, SweptFile['reason']][]).map(([at, reason]) => ({
      key: found[at]!.key,
      bytes: sizes[at]!,
      reason,
    }))
    const failed = dryRun ? [] : await this.removeBatches(chosen.map(({ key }) => key))
    const lost = new Set(failed.map(({ key }) => key))
    const removed = chosen.filter(({ key }) => !lost.has(key))
    const removedBytes = sum(removed.map(({ bytes }) => bytes))
    return {
      removed: removed
        .slice(0, MAX_REPORTED)
        .map(({ key, bytes, reason }) => ({ path: this.pathOf(key), bytes, reason })),
      removedFiles: removed.length,
      removedBytes,
      kept: { files: found.length - removed.length, bytes: sum(sizes) - removedBytes },
      failed: failed.slice(0, MAX_FAILED).map(({ key, error }) => ({ path: this.pathOf(key), error })),
      failedFiles: failed.length,
      skippedDirs: [],
    }
  }

  /** Removes the outputs below a prefix with their indexes and snapshots, and returns the keys of the outputs. @throws SpillwayError `STORAGE_WRITE` */
  async removeAll(prefix: string): Promise<string[]> {
    const outputs: string[] = []
    let batch: string[] = []
    for (const { key } of await this.listed(prefix)) {
      if (parseKey(key) !== undefined) outputs.push(key)
      // Other people's objects may lie there, too.
      else if (parseKey(key.replace(INDEX, '')) === undefined && parseSnapshotKey(key) === undefined) continue
      batch.push(key)
      if (batch.length < MAX_REMOVED_KEYS) continue
      await this.remove(batch)
      batch = []
    }
    if (batch.length > 0) await this.remove(batch)
    return outputs
  }

  /** Returns the output with a key, if it is there. */
  async find(key: string): Promise<ListedObject | undefined> {
    return (await this.listed(key)).find((object) => object.key === key)
  }

  /** @throws SpillwayError `STORAGE_WRITE` */
  async remove(keys: readonly string[]): Promise<void> {
    try {
      await withRetries(() => this.objects.remove(keys))
    } catch (cause) {
      throw new SpillwayError('STORAGE_WRITE', `${this.objects.url}: ${messageOf(cause)}`, { cause })
    }
  }

  /** Removes outputs and their indexes, and returns those that stayed. */
  private async removeBatches(keys: readonly string[]): Promise<{ key: string; error: string }[]> {
    const failed: { key: string; error: string }[] = []
    for (let at = 0; at < keys.length; at += MAX_REMOVED_KEYS / 2) {
      const batch = keys.slice(at, at + MAX_REMOVED_KEYS / 2)
      try {
        await this.remove(batch.flatMap((key) => [key, `${key}${INDEX_SUFFIX}`]))
      } catch (error) {
        failed.push(...batch.map((key) => ({ key, error: messageOf(error) })))
      }
    }
    return failed
  }

  private async outputs(prefix: string): Promise<ListedObject[]> {
    return (await this.listed(prefix)).filter(({ key }) => parseKey(key) !== undefined)
  }

  /** @throws SpillwayError `STORAGE_READ` */
  private async listed(prefix: string): Promise<ListedObject[]> {
    try {
      return await withRetries(async () => {
        const found: ListedObject[] = []
        for await (const object of this.objects.list(prefix)) if (isListed(object)) found.push(object)
        return found
      })
    } catch (cause) {
      throw new SpillwayError('STORAGE_READ', `${this.objects.url}: ${messageOf(cause)}`, { cause })
    }
  }

  private pathOf(key: string): string {
    return `${this.objects.url}/${key}`
  }
}
