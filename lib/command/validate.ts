/** Checks the arguments for running a program. */

import { isArray } from '../util/guards'
import { isRecord, wrong } from '../validation/validate'

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid name of a program */
export function checkProgram(field: string, file: unknown): void {
  if (typeof file !== 'string' || file === '') throw wrong(field, file, 'the name of a program')
  checkNoNul(field, file)
}

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid list of arguments */
export function checkProgramArguments(field: string, args: unknown): void {
  if (!isArray(args)) throw wrong(field, args, 'an array of strings')
  for (const [index, arg] of args.entries()) {
    if (typeof arg !== 'string') throw wrong(`${field}[${index}]`, arg, 'a string')
    checkNoNul(`${field}[${index}]`, arg)
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` for invalid environment variables */
export function checkVariables(field: string, env: unknown): void {
  if (!isRecord(env)) throw wrong(field, env, 'an object')
  for (const [name, value] of Object.entries(env)) {
    const variable = `${field}.${name.toWellFormed().replaceAll('\0', '\\0')}`
    checkNoNul(variable, name)
    // To a system the name ends there, and the rest is part of the value. Windows has names of its own that begin with one.
    if (name.lastIndexOf('=') > 0) throw wrong(variable, name, 'a name without =')
    if (value === undefined) continue
    // Node would make a text of anything: of `null` one of four letters.
    if (typeof value !== 'string') throw wrong(variable, value, 'a string, or undefined for none')
    checkNoNul(variable, value)
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` for a text that no system takes: to it, the text ends at the NUL */
export function checkNoNul(field: string, text: string): void {
  if (text.includes('\0')) throw wrong(field, text, 'a string without NUL')
}
