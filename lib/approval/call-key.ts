/** Identifies equal calls, because agents restart their ids in each session, and models repeat ids. */

import { sha256 } from '../util/crypto'
import { isArray } from '../util/guards'
import { givenArguments } from '../util/json'
import { safeStringify } from '../util/safe-stringify'
import { isRecord } from '../validation/validate'

/** The parts of a call that distinguish it from others. */
export interface IdentifiedCall {
  toolCallId: string
  tool: string
  args?: unknown
  sessionId?: string | undefined
  cwd?: string | undefined
  vault?: string | undefined
}

/** Arguments as JSON has them. */
export interface PlainArguments {
  args: unknown
  /** True if JSON holds all of them. */
  isWhole: boolean
}

/** Arguments that are nested deeper are not read: a copy of them for the user would exceed the stack, and no tool has them. */
const MAX_LEVELS = 500

/** A copy of the arguments, each of which is read once; `undefined` if they cannot be read. Never throws. */
export function plainArguments(args: unknown): PlainArguments | undefined {
  if (typeof args === 'string' || args === undefined || args === null) return { args, isWhole: true }
  try {
    let isWhole = true
    const levels = new Map<unknown, number>()
    const text = JSON.stringify(args, function (this: unknown, _key, value: unknown) {
      isWhole &&= isPlain(value)
      if (typeof value !== 'object' || value === null) return value
      const level = (levels.get(this) ?? 0) + 1
      if (level > MAX_LEVELS) throw new RangeError('nested too deep')
      levels.set(value, level)
      return value
    })
    return text === undefined ? undefined : { args: JSON.parse(text), isWhole }
  } catch {
    return undefined
  }
}

/** The part of arguments that can be read. */
export function readablePart(args: unknown): unknown {
  return JSON.parse(safeStringify(args))
}

/** A key that only the same call has; `undefined` if its arguments cannot be read completely, so that no other call equals it. */
export function identityOf({ toolCallId, tool, args, sessionId, cwd, vault }: IdentifiedCall): string | undefined {
  const plain = plainArguments(args)
  if (!plain?.isWhole) return undefined
  try {
    const of = [toolCallId, tool, sessionId ?? null, cwd ?? null, vault ?? null, givenArguments(plain.args)]
    return sha256(JSON.stringify(of, (_key, value: unknown) => (isRecord(value) ? inOrder(value) : value)))
  } catch {
    return undefined
  }
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol'
  if (value === null || isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function inOrder(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
