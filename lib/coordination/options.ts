/** Checks of options that several classes of this room have. */

import { type Check, isNonEmptyString } from '../validation/options'
import { wrong } from '../validation/validate'
import { COORDINATION_FUNCTIONS, type Coordination } from './coordination'

export const coordination: Check = [
  'a coordination, such as redisCoordination of spillway/redis',
  (value) =>
    COORDINATION_FUNCTIONS.every((name) => typeof (value as Partial<Coordination> | null)?.[name] === 'function'),
]

export const sessionName: Check = ['the id of a session', isNonEmptyString]

/** @throws SpillwayError `INVALID_ARGUMENT` if an option that is needed is missing */
export function checkNeeded(options: object, checks: Readonly<Record<string, Check>>, ...names: string[]): void {
  for (const name of names) {
    if ((options as Record<string, unknown>)[name] === undefined) {
      throw wrong(`options.${name}`, undefined, (checks[name] as Check)[0])
    }
  }
}
