/** Parameters of a request as arguments of a source, whose own checks decide about them. */

import type { ReadRange, SearchOptions } from '../storage/read'
import { definedOf } from '../util/defined'
import { checkKeys, invalid, wrong } from '../validation/validate'

/** The parameters of an address by name; each may be given once. */
export function parametersOf(query: URLSearchParams, known: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of query) {
    if (found.has(name)) throw invalid(name, 'expected it once')
    found.set(name, value)
  }
  checkKeys('', Object.fromEntries(found), known)
  return found
}

export function pathParameter(parameters: Map<string, string>): string {
  const path = parameters.get('path')
  if (path === undefined || path === '') throw wrong('path', path, 'the path of a saved output')
  return path
}

/** A parameter that is a whole number. */
export function numberIn(parameters: Map<string, string>, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  if (!/^\d{1,16}$/.test(text)) throw invalid(name, 'expected a whole number')
  return Number(text)
}

function flagIn(parameters: Map<string, string>, name: string): boolean | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw invalid(name, 'expected true or false')
  return text === 'true'
}

const RANGE = ['fromLine', 'lineCount', 'fromByte', 'byteCount', 'maxBytes'] as const

export const RANGE_PARAMETERS = ['path', ...RANGE]

export function rangeIn(parameters: Map<string, string>): ReadRange {
  return definedOf(Object.fromEntries(RANGE.map((name) => [name, numberIn(parameters, name)])))
}

export const SEARCH_PARAMETERS = [
  ...['path', 'pattern', 'literal', 'ignoreCase', 'maxMatches', 'maxBytes', 'context', 'after'],
]

export function searchIn(parameters: Map<string, string>): SearchOptions {
  return definedOf({
    literal: flagIn(parameters, 'literal'),
    ignoreCase: flagIn(parameters, 'ignoreCase'),
    maxMatches: numberIn(parameters, 'maxMatches'),
    maxBytes: numberIn(parameters, 'maxBytes'),
    context: numberIn(parameters, 'context'),
    after: parameters.get('after'),
  })
}
