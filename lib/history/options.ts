/** The options of {@link simplifyOutdatedTerminalResults}, checked. */

import { SpillwayError } from '../errors'
import { call, native } from '../native'
import { DEFAULT_PLACEHOLDER } from './knowledge'
import type { OutdatedResultInfo, SimplifiedReport, SimplifyOutdatedOptions } from './outdated'

const DEFAULT_MAX_AGE_MS = 15 * 60 * 1000
const DEFAULT_KEEP_RECENT = 5

/** Every option with its value. */
export interface Rules {
  now: number
  maxAgeMs: number
  keepRecent: number
  countErrors: boolean
  stderrIsError: boolean
  terminalTools: readonly string[] | undefined
  placeholder: string | ((info: OutdatedResultInfo) => string)
  onSimplified: ((report: SimplifiedReport) => void) | undefined
}

type Check = readonly [allowed: string, test: (value: unknown) => boolean]

const flag: Check = ['true or false', (value) => typeof value === 'boolean']

const CHECKS: { readonly [K in keyof SimplifyOutdatedOptions]-?: Check } = {
  now: [
    'a number of milliseconds since the epoch',
    (value) => atLeastZero(value) && value !== Number.POSITIVE_INFINITY,
  ],
  maxAgeMs: ['a number of milliseconds of at least 0', atLeastZero],
  keepRecent: ['a whole number of at least 0, or Infinity', (value) => atLeastZero(value) && isWhole(value as number)],
  countErrors: flag,
  stderrIsError: flag,
  terminalTools: ['an array of strings', (value) => isArray(value) && value.every((name) => typeof name === 'string')],
  placeholder: ['a string or a function', (value) => typeof value === 'string' || typeof value === 'function'],
  onSimplified: ['a function', (value) => typeof value === 'function'],
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readOptions(options: SimplifyOutdatedOptions | undefined): Rules {
  if (options !== undefined) check(options)
  const { now, maxAgeMs, keepRecent, countErrors, stderrIsError, terminalTools, placeholder, onSimplified } =
    options ?? {}
  return {
    now: now ?? Date.now(),
    maxAgeMs: maxAgeMs ?? DEFAULT_MAX_AGE_MS,
    keepRecent: keepRecent ?? DEFAULT_KEEP_RECENT,
    countErrors: countErrors ?? false,
    stderrIsError: stderrIsError ?? true,
    terminalTools,
    // The text goes to a provider, and one lone surrogate makes a request invalid.
    placeholder: typeof placeholder === 'string' ? placeholder.toWellFormed() : (placeholder ?? DEFAULT_PLACEHOLDER),
    onSimplified,
  }
}

function check(options: SimplifyOutdatedOptions): void {
  if (typeof options !== 'object' || options === null || isArray(options)) throw wrong('options', options, 'an object')
  for (const [key, value] of Object.entries(options)) {
    if (!Object.hasOwn(CHECKS, key)) {
      call(() => native.refuseOption('options', key.toWellFormed(), Object.keys(CHECKS)))
    }
    const [allowed, test] = CHECKS[key as keyof SimplifyOutdatedOptions]
    if (value !== undefined && !test(value)) throw wrong(`options.${key}`, value, allowed)
  }
}

/** Whether this is an array that can be read at all: a proxy can refuse even that. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value) && value.length >= 0
  } catch {
    return false
  }
}

/** The error for an argument that is not allowed. */
export function wrong(field: string, value: unknown, allowed: string): SpillwayError {
  return new SpillwayError('INVALID_ARGUMENT', `${field}: got ${describe(value)}, allowed is ${allowed}`, { field })
}

/** A value as a person would name it. */
export function describe(value: unknown): string {
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return String(value)
  if (typeof value === 'object') return isArray(value) ? 'an array' : 'an object'
  return `a ${typeof value}`
}

function atLeastZero(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY
}
