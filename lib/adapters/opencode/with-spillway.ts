/** Everything in one call: a plugin. */

import type { TruncationServiceConfig } from 'spillway'
import { LIMIT_CHECKS } from '../../context/options'
import { checkOptions, number, objectOrOff } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'
import { type SpillwayOptions, spillwayKit } from '../shared/spillway-kit'
import { type OpenCodeHooks, type OpenCodeInput, type OpenCodePlugin, plugin } from './plugin'

/** Options that OpenCode decides by itself, or that are those of its sessions. Its `read` and `grep` open saved outputs. */
type NotHere = 'sessionId' | 'outputTools' | 'fold' | 'recovery'
const NOT_HERE: readonly NotHere[] = ['sessionId', 'outputTools', 'fold', 'recovery']

/** Options of {@link withSpillway}. */
export interface OpenCodeSpillwayOptions extends Omit<SpillwayOptions, NotHere> {}

/**
 * A plugin with all of Spillway: long results of MCP servers are saved and shown as previews, which OpenCode's `read` and `grep` read on,
 * and each request is pruned by the prices of its model. `permission` judges calls if it is given. Sessions are OpenCode's; each has a
 * pruner of its own.
 *
 * @example
 * export const Spillway = withSpillway({ contextWindow: 200_000 })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway(options: OpenCodeSpillwayOptions = {}): OpenCodePlugin {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  const { controls } = spillwayKit(options, {}, NOT_HERE, ['read', 'grep'])
  const { recovery: _recovery, sessionId: _session, ...around } = controls
  return plugin(around)
}

/** Options of the plugin as `opencode.json` gives them: `"plugin": [["/path/to/spillway", { "pruning": false }]]`. */
export interface OpenCodePluginOptions
  extends Pick<OpenCodeSpillwayOptions, 'contextWindow' | 'pruning' | 'maxRequestBytes' | 'maxImages'> {
  /** Options of the `TruncationService`, or `false`. */
  truncation?: Omit<TruncationServiceConfig, 'storage' | 'onEvent'> | false
}

/** The name of the plugin that OpenCode finds when `opencode.json` names this package. */
export const id = 'spillway'

/**
 * That plugin: {@link withSpillway} with the options that JSON can say.
 * @throws SpillwayError `INVALID_ARGUMENT` for an unknown option, `INVALID_CONFIG` for a wrong one
 */
export async function server(
  input: OpenCodeInput | undefined,
  options: OpenCodePluginOptions = {},
): Promise<OpenCodeHooks> {
  checkOptions('options', options, {
    truncation: objectOrOff,
    contextWindow: number,
    pruning: objectOrOff,
    ...LIMIT_CHECKS,
  })
  return withSpillway(options)(input)
}
