/** Redacts well-known forms of secrets in results. */

import { MemoryStorage } from 'spillway'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'

/** Returns a result with stars in place of secrets; the result itself if there are none. Images stay as they are. */
export async function redacted(result: unknown): Promise<unknown> {
  const storage = new MemoryStorage({ redact: { known: true } })
  const read = async (text: string): Promise<string> => {
    const path = await storage.save(text, { toolName: 'hook' })
    return storage.read(path)
  }
  return changed(result, read)
}

async function changed(value: unknown, read: (text: string) => Promise<string>): Promise<unknown> {
  if (typeof value === 'string') return value === '' ? value : read(value)
  if (isArray(value)) {
    const items = await Promise.all(value.map((item) => changed(item, read)))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isRecord(value) || value.type === 'image') return value
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, item]) => [key, await changed(item, read)] as const),
  )
  return entries.every(([key, item]) => item === value[key]) ? value : Object.fromEntries(entries)
}
