/** Service and middleware in one call, from the flat settings that a user writes. */

import { GLOBAL_FIELDS, OPTION_FIELDS } from '../settings/defaults'
import type {
  ToolResultLike,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationServiceConfig,
} from '../types'
import { checkKeys, isRecord, wrong } from '../validation/validate'
import { createTruncationMiddleware } from './middleware'
import { TruncationService } from './service'

/** Options of truncation in one object. */
export interface UserTruncationConfig<R extends ToolResultLike = ToolResultLike>
  extends Omit<TruncationServiceConfig, 'global'>,
    Omit<TruncationMiddlewareConfig<R>, 'service'> {}

/** The result of {@link createTruncation}. */
export interface Truncation<R extends ToolResultLike = ToolResultLike> {
  service: TruncationService
  middleware: TruncationMiddleware<R>
}

/**
 * Creates a service and its middleware. `false` turns truncation off.
 *
 * A setting for all tools overrides the built-in settings of single tools: `maxLines: 2000`, the default, raises the 500 lines of
 * `bash`. The first time that happens a warning with the code `SPILLWAY_TOOL_LIMIT` says so; `tools: { bash: { maxLines: 500 } }`
 * keeps the limit, and any entry of that tool with `maxLines` prevents the warning.
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
  checkKeys('', given, FIELDS, 'INVALID_CONFIG')
  const { skipTools, shouldTruncate, ledger, ...settings } = config
  const service = new TruncationService(settings)
  return { service, middleware: createTruncationMiddleware<R>({ service, skipTools, shouldTruncate, ledger }) }
}

const MIDDLEWARE_FIELDS = ['skipTools', 'shouldTruncate', 'ledger']
const FIELDS = [...GLOBAL_FIELDS, ...[...OPTION_FIELDS].filter((name) => name !== 'global'), ...MIDDLEWARE_FIELDS]
