/** Redacts well-known forms of secrets in results. */

import { MemoryStorage } from 'spillway'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'

/**
 * Returns a result with stars in place of secrets; the result itself if there are none. Images stay as they are. The parts of the
 * result are changed in place, one after the other: it may be nested deeper than the stack.
 */
export async function redacted(result: unknown): Promise<unknown> {
  const storage = new MemoryStorage({ redact: { known: true } })
  let isChanged = false
  const root = { result }
  const todo: object[] = [root]
  for (let holder = todo.pop(); holder !== undefined; holder = todo.pop()) {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value === 'string' && value !== '') {
        const text = await storage.read(await storage.save(value, { toolName: 'hook' }))
        if (text === value) continue
        isChanged = true
        Object.defineProperty(holder, key, { value: text, ...OWN })
      } else if (isArray(value) || (isRecord(value) && value.type !== 'image')) todo.push(value)
    }
  }
  return isChanged ? copyOf(root.result) : result
}

const OWN = { configurable: true, enumerable: true, writable: true }

function copyOf(value: unknown): unknown {
  return isArray(value) ? [...value] : isRecord(value) ? { ...value } : value
}
