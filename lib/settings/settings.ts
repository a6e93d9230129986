/** The settings of a service in the binary, and the plans computed from them, cached per tool. */

import { types } from 'node:util'
import type { SpillwayError } from '../errors'
import { call, native } from '../native/native'
import type { ConfigSource, TruncationConfig, TruncationContext } from '../types'
import { invalid, isRecord } from '../validation/validate'

/** The budget of a preview as the binary reads it; `null` is no limit. */
export interface TextLimits {
  maxLines: number | null
  maxBytes: number | null
  /** By their upper estimate. */
  maxTokens: number | null
  direction: 'head' | 'tail' | 'both'
  lineRule: 'terminated' | 'split'
  /**
   * Part of a long text that is kept, and the end that has priority: its ends, the important lines, or a structure. `auto` keeps the
   * ends, but of a document on one line its structure.
   */
  keep: 'ends' | 'auto' | Partial<Record<'smart' | 'json' | 'diff' | 'csv', 'late' | 'early'>>
  /** True if all of this is asked of the text that a terminal would show. */
  terminal: boolean
}

/** Effect of a call. */
export interface Plan {
  config: TruncationConfig & { strategy: string; hardCeilingBytes: number }
  sources: Record<keyof TruncationConfig, ConfigSource>
  /** `bound` it, `leave` it alone, or leave it alone up to the hard ceiling. */
  mode: 'bound' | 'leave' | 'ceiling'
  limits: TextLimits
  defaultLimits: TextLimits
  /** Length in UTF-16 units up to which no text can pass a limit. */
  sureUnits: number
  hardCeilingBytes: number
  customStrategy: boolean
}

/** Settings of a service that the facade reads itself. */
export interface SettingsFacts {
  storageDirs: string[]
  durability: 'process' | 'file' | 'full'
  maxStoreBytes: number
  maxStoreFiles: number
  /** Bytes that a saved file may have; `null` is no limit. */
  maxFileBytes: number | null
  /** True if something is redacted in what is saved. */
  redacts: boolean
  retentionDays: number
  sweepOnSave: boolean
  storageTimeoutMs: number
}

/** More tools than any agent has; a table that grew without end would be a leak. */
const MAX_PLANS = 1000

/** The settings of one service. */
export class Settings {
  readonly handle: object
  readonly facts: SettingsFacts
  /** All plans, by the JSON of what they depend on. */
  private readonly plans = new Map<string, Plan>()
  /** Those of calls that have nothing but a tool's name, by this name: no JSON is written to find one. */
  private readonly plansByTool = new Map<string, Plan>()
  /** The same by the defaults of a caller that never change. */
  private plansByDefaults = new WeakMap<object, Map<string, Plan>>()

  constructor(options: object) {
    this.handle = call(() => native.settingsOpen(encode(options)))
    this.facts = decode<SettingsFacts>(call(() => native.settingsFacts(this.handle)))
  }

  update(change: object): void {
    call(() => native.settingsUpdate(this.handle, encode(change)))
    this.forgetPlans()
  }

  setTool(tool: string, entry: object): void {
    call(() => native.settingsSetTool(this.handle, wellFormed(tool), encode(entry)))
    this.forgetPlans()
  }

  /** The plan of a call whose context is plain, if there was one before. */
  knownPlan({ toolName, defaults }: TruncationContext): Plan | undefined {
    return (defaults === undefined ? this.plansByTool : this.plansByDefaults.get(defaults))?.get(toolName)
  }

  plan(context: TruncationContext): Plan {
    const { toolName, failed = false, handled = false } = context
    const defaults = context.defaults === undefined ? undefined : encode(context.defaults)
    const declared = context.declared === undefined ? undefined : encode(context.declared)
    const options = context.options === undefined ? undefined : encode(context.options)
    const key = JSON.stringify([toolName, failed, handled, defaults, declared, options])
    let plan = this.plans.get(key)
    if (plan === undefined) {
      const json = call(() =>
        native.settingsPlan(this.handle, wellFormed(toolName), failed, handled, defaults, declared, options),
      )
      plan = decode<Plan>(json)
      keep(this.plans, key, plan)
    }
    const shortcut = failed || handled || declared || options ? undefined : this.shortcutBy(context.defaults)
    if (shortcut) keep(shortcut, toolName, plan)
    return plan
  }

  /** Where plans that depend on the tool's name and these defaults alone are found without their JSON. */
  private shortcutBy(defaults: unknown): Map<string, Plan> | undefined {
    if (defaults === undefined) return this.plansByTool
    if (!isRecord(defaults) || !Object.isFrozen(defaults)) return undefined
    const plans = this.plansByDefaults.get(defaults) ?? new Map<string, Plan>()
    this.plansByDefaults.set(defaults, plans)
    return plans
  }

  private forgetPlans(): void {
    this.plans.clear()
    this.plansByTool.clear()
    this.plansByDefaults = new WeakMap()
  }
}

function keep(plans: Map<string, Plan>, key: string, plan: Plan): void {
  if (plans.size >= MAX_PLANS) plans.clear()
  plans.set(key, plan)
}

/** Encoding of a value that JSON cannot represent. */
export class Tag {
  constructor(readonly $type: string) {}
}

class RegExpTag extends Tag {
  readonly source: string
  readonly flags: string

  constructor({ source, flags }: RegExp) {
    super('RegExp')
    this.source = source
    this.flags = flags
  }
}

/**
 * A value as JSON for the binary, which is strict about it: a value that JSON cannot hold is written as `{"$type": …}`, so that the
 * message of the error can name it.
 */
export function encode(value: unknown): string {
  if (value === undefined) return '{"$type":"undefined"}'
  try {
    return toText(value)
  } catch (cause) {
    throw unreadable(value, cause)
  }
}

/** A value in a form that JSON can hold: what JSON would leave out or refuse becomes its name. */
export function tagged(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : new Tag(String(value))
    case 'bigint':
      return new Tag(`${value}n`)
    case 'function':
      return new Tag('function')
    case 'symbol':
      return new Tag('a symbol')
    default:
      return value
  }
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    switch (typeof inner) {
      case 'string':
        return wellFormed(inner)
      case 'object':
        if (types.isRegExp(inner)) return new RegExpTag(inner)
        // Only what we wrote down may stand for what JSON cannot hold.
        return inner !== null && Object.hasOwn(inner, '$type') && !(inner instanceof Tag) ? new Tag('an object') : inner
      default:
        return tagged(inner)
    }
  })
}

/** The error for settings that are cyclic, or that have a getter that throws: it names the innermost field at fault. */
export function unreadable(settings: unknown, cause: unknown): SpillwayError {
  const field = faultIn(settings).join('.') || 'options'
  const problem = 'expected an object whose fields can be read, without a cycle'
  return invalid(field, problem, { code: 'INVALID_CONFIG', cause })
}

/** The path of the innermost field that has no JSON. */
function faultIn(value: unknown, within: readonly unknown[] = []): string[] {
  if (!isRecord(value)) return []
  try {
    const inside = [...within, value]
    const faulty = Object.keys(value).find((key) => inside.includes(fieldOf(value, key)) || !isText(value, key))
    if (faulty === undefined) return []
    const inner = fieldOf(value, faulty)
    return [faulty, ...(inside.includes(inner) ? [] : faultIn(inner, inside))]
  } catch {
    return []
  }
}

function fieldOf(value: Record<string, unknown>, key: string): unknown {
  try {
    return value[key]
  } catch {
    return undefined
  }
}

function isText(value: Record<string, unknown>, key: string): boolean {
  try {
    toText(value[key])
    return true
  } catch {
    return false
  }
}

/** Reads what the binary answered. */
export function decode<T>(json: string): T {
  return JSON.parse(json, (_key, inner) => (inner?.$type === 'Infinity' ? Number.POSITIVE_INFINITY : inner)) as T
}

/** The text with every lone surrogate replaced by U+FFFD; the text itself if there is none. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}
