/** JSON objects in texts that may hold anything. */

import { isRecord } from './guards'

/** Returns the object that a text is as JSON; `undefined` for any other text. */
export function jsonRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
