/** JSON in texts that may hold anything. */

import { isRecord } from './guards'

/** Returns the value of a text that is JSON; `undefined` for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the object that a text is as JSON; `undefined` for any other text. */
export function jsonRecord(text: string): Record<string, unknown> | undefined {
  const value = parsedJson(text)
  return isRecord(value) ? value : undefined
}

/** Returns the value of a text that is JSON; anything else as it is. */
export function jsonOrSame(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const parsed = parsedJson(value)
  return parsed === undefined ? value : parsed
}

/** Returns the arguments of a call as they are judged: some hosts hand over the text that the model wrote, which counts as what it says. */
export function givenArguments(args: unknown): unknown {
  const isObject = typeof args === 'string' && args.trimStart().startsWith('{')
  return (isObject ? jsonRecord(args) : undefined) ?? args ?? {}
}

/** Returns the JSON text of a call's arguments. A call without arguments is often written as nothing at all. */
export function argumentsText(text: string): string {
  return text === '' ? '{}' : text
}
