/** Service and middleware in one call, from the flat settings that a user writes. */

import { OPTION_FIELDS } from './constants'
import { isRecord, wrong } from './context'
import { knownAs } from './errors'
import { createTruncationMiddleware } from './middleware'
import { TruncationService } from './service'
import type {
  ToolResultLike,
  TruncationConfig,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationServiceConfig,
} from './types'

/** What a user sets for truncation, all in one object. */
export interface UserTruncationConfig<R extends ToolResultLike = ToolResultLike>
  extends Partial<Omit<TruncationConfig, 'strategy'>>,
    Omit<TruncationServiceConfig, 'global'>,
    Omit<TruncationMiddlewareConfig<R>, 'service'> {}

/** What {@link createTruncation} makes. */
export interface Truncation<R extends ToolResultLike = ToolResultLike> {
  service: TruncationService
  middleware: TruncationMiddleware<R>
}

/**
 * Makes a service and its middleware. `false` switches truncation off.
 *
 * @example
 * const { middleware } = createTruncation({ maxLines: 1500, tools: { bash: { direction: 'tail' } } })
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, its value and what is allowed
 */
export function createTruncation<R extends ToolResultLike = ToolResultLike>(
  userConfig: UserTruncationConfig<R> | boolean = {},
): Truncation<R> {
  const config: UserTruncationConfig<R> =
    userConfig === true ? {} : userConfig === false ? { enabled: false } : userConfig
  const given: unknown = config
  if (!isRecord(given)) throw wrong('truncation', given, 'an object, or false', 'INVALID_CONFIG')
  const { skipTools, shouldTruncate, ledger, ...settings } = config
  // What is neither goes where the nearest name is most likely to be.
  const isGlobal = ([key]: [string, unknown]) => key === 'global' || !OPTION_FIELDS.has(key)
  const entries = Object.entries(settings)
  const global = Object.fromEntries(entries.filter(isGlobal))
  const options = Object.fromEntries(entries.filter((entry) => !isGlobal(entry)))
  // The user wrote `maxLines`, so an error must not speak of `global.maxLines`.
  const service = knownAs({ 'global.': '' }, () => new TruncationService({ ...options, global }))
  return { service, middleware: createTruncationMiddleware<R>({ service, skipTools, shouldTruncate, ledger }) }
}
