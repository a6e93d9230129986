/** The parameters of a model that hooks, agents and settings may set, and what each may be. */

import { type Check, finite, flag, object, string, strings, wholeFrom } from '../validation/options'
import { invalidOption, isRecord, mismatch, unknownName } from '../validation/validate'

/**
 * Parameters of a model, under the names that agent frameworks use. A provider refuses unknown ones; the host chooses which
 * of them to send.
 */
export interface ModelParameters {
  /** At least 0. */
  temperature?: number
  /** From 0 to 1. */
  topP?: number
  /** At least 0. */
  topK?: number
  /** Tokens of an answer, a whole number of at least 1. */
  maxTokens?: number
  /** The same, as the AI SDK calls it. */
  maxOutputTokens?: number
  frequencyPenalty?: number
  presencePenalty?: number
  /** A whole number. */
  seed?: number
  stopSequences?: readonly string[]
  /** `'auto'`, `'required'`, `'none'`, the name of a tool, or an object. */
  toolChoice?: string | object
  parallelToolCalls?: boolean
  truncation?: string
  store?: boolean
  promptCacheRetention?: string
  reasoning?: object
  text?: object
  providerData?: object
  providerOptions?: object
}

/** A change of parameters: `null` removes one, so that the model's own default applies. */
export type ModelParameterChange = { readonly [K in keyof ModelParameters]?: ModelParameters[K] | null }

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const anyNumber: Check = ['a finite number', isNumber]

/** The white list. */
export const PARAMETERS: { readonly [K in keyof ModelParameters]-?: Check } = {
  temperature: finite(0),
  topP: ['a number from 0 to 1', (value) => isNumber(value) && value >= 0 && value <= 1],
  topK: finite(0),
  maxTokens: wholeFrom(1),
  maxOutputTokens: wholeFrom(1),
  frequencyPenalty: anyNumber,
  presencePenalty: anyNumber,
  seed: ['a whole number', Number.isSafeInteger],
  stopSequences: strings,
  toolChoice: ['a string or an object', (value) => typeof value === 'string' || isRecord(value)],
  parallelToolCalls: flag,
  truncation: string,
  store: flag,
  promptCacheRetention: string,
  reasoning: object,
  text: object,
  providerData: object,
  providerOptions: object,
}

/**
 * Parameters that are merged member by member, with the depth; anything else is replaced. Options of providers are under
 * their names.
 */
const NESTED: Readonly<Record<string, number>> = { reasoning: 1, text: 1, providerData: 1, providerOptions: 2 }

/** Returns the valid part of a change, and a sentence for each invalid one. `undefined` changes nothing. */
export function readParameters(change: object, field: string): { change: ModelParameterChange; problems: string[] } {
  const right: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [key, value] of Object.entries(change)) {
    const check = Object.hasOwn(PARAMETERS, key) ? PARAMETERS[key as keyof ModelParameters] : undefined
    if (check === undefined) {
      problems.push(unknownName(`${field}.${key}`, key, Object.keys(PARAMETERS)))
    } else if (value === undefined) {
      // Says nothing.
    } else if (value === null || check[1](value)) {
      right[key] = value
    } else {
      problems.push(invalidOption(`${field}.${key}`, mismatch(value, check[0])))
    }
  }
  return { change: right, problems }
}

/** Parameters that frameworks name differently. */
const OTHER_NAME: Readonly<Record<string, string>> = { maxTokens: 'maxOutputTokens', maxOutputTokens: 'maxTokens' }

/**
 * Returns parameters with a change, in a new object. A parameter under another name is changed under that: a host reads one of them.
 */
export function withParameters<P extends object>(parameters: P, change: ModelParameterChange): P {
  const all = { ...parameters } as Record<string, unknown>
  for (const [key, value] of Object.entries(change)) {
    for (const name of namesOf(key, parameters, change)) {
      if (value === null) delete all[name]
      else all[name] = together(all[name], value, NESTED[key] ?? 0)
    }
  }
  return all as P
}

/** The names under which a parameter is changed: those that it has, or if it has none, that of the change. */
export function namesOf(key: string, parameters: object, change: ModelParameterChange): readonly string[] {
  const other = OTHER_NAME[key]
  if (other === undefined || !Object.hasOwn(parameters, other) || Object.hasOwn(change, other)) return [key]
  return Object.hasOwn(parameters, key) ? [key, other] : [other]
}

function together(before: unknown, change: unknown, levels: number): unknown {
  if (levels === 0 || !isRecord(before) || !isRecord(change)) return change
  const all: Record<string, unknown> = { ...before }
  for (const [key, value] of Object.entries(change)) {
    const own = Object.hasOwn(before, key) ? before[key] : undefined
    // An assignment to `__proto__` would change the prototype.
    Object.defineProperty(all, key, {
      value: together(own, value, levels - 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return all
}
