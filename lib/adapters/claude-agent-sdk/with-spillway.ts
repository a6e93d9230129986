/** Everything in one call: options of `query`. */

import { isArray } from '../../util/guards'
import { type Check, flag } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'
import { withHarmlessTools } from '../shared/harmless'
import { checkOptionNames, type SpillwayOptions, spillwayKit } from '../shared/spillway-kit'
import type { ClaudeCanUseTool } from './claude-hooks'
import { type ClaudeControls, type ClaudeOptions, claudeOptions } from './claude-options'
import { type OutputServer, outputServer, SERVER } from './output-server'

/** Options that the SDK decides by itself, or that are those of its sessions. */
type NotHere = 'contextWindow' | 'sessionId' | 'fold' | 'pruning' | 'maxRequestBytes' | 'maxImages' | 'recovery' | 'now'
const NOT_HERE: readonly NotHere[] = [
  'contextWindow',
  'sessionId',
  'fold',
  'pruning',
  'maxRequestBytes',
  'maxImages',
  'recovery',
  'now',
]

/** Options of `query`, as far as they are read here. */
export interface ClaudeQueryOptions {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types stand here
  hooks?: any
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types stand here
  canUseTool?: any
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types stand here
  mcpServers?: Record<string, any>
  allowedTools?: string[]
  additionalDirectories?: string[]
  /** Named, because options that are known by no name here would not be these. */
  model?: unknown
  cwd?: unknown
  tools?: unknown
  systemPrompt?: unknown
  permissionMode?: unknown
  maxTurns?: unknown
  abortController?: unknown
  env?: unknown
  resume?: unknown
  settingSources?: unknown
}

/** Options of {@link withSpillway}. */
export interface ClaudeSpillwayOptions<O> extends Omit<SpillwayOptions, NotHere>, Pick<ClaudeControls, 'wrapCommands'> {
  /**
   * The options of `query`: `model`, `tools`, `mcpServers` and whatever else. Its `canUseTool` answers for the user.
   * @default {}
   */
  options?: O
}

/** Options of `query`. */
export interface QueryParts extends ClaudeOptions {
  /** The servers, and the one whose tools read saved outputs. */
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types stand here
  mcpServers?: Record<string, any>
  /** The tools that run without a question, and the two that read saved outputs. */
  allowedTools?: string[]
}

const OWN: Readonly<Record<string, Check>> = { wrapCommands: flag }

/**
 * Puts all of Spillway around a query: long outputs are saved and shown as previews, and `read_output` and `search_output` read them, as
 * tools of a server of MCP in this process, which the SDK calls without a question. `permission` judges calls if it is given. Hooks,
 * servers, allowed tools and folders of `options` are kept beside those that are added. Pruning and compaction are the SDK's.
 *
 * @example
 * for await (const message of query({ prompt, options: withSpillway({ options: { model, cwd } }) })) show(message)
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway<O extends ClaudeQueryOptions = Record<never, never>>(
  options: ClaudeSpillwayOptions<O> = {},
): O & QueryParts {
  checkOptionNames(options, ['options'], OWN, NOT_HERE)
  const { options: given = {}, ...rest } = options as ClaudeSpillwayOptions<ClaudeQueryOptions>
  checkGiven(given)
  const { controls, outputTools } = spillwayKit(rest, OWN, NOT_HERE, ['read', 'grep'])
  const { recovery: _recovery, history: _history, sessionId: _session, now: _now, ...around } = controls
  const judged = outputTools.length > 0 ? withHarmlessTools(around, 'claudeOutputs') : around
  const { hooks, canUseTool, additionalDirectories } = claudeOptions(judged, given.canUseTool as ClaudeCanUseTool)
  const server = outputTools.length > 0 ? outputServer(outputTools) : undefined
  if (server !== undefined && given.mcpServers?.[SERVER] !== undefined) {
    throw wrong('options.options.mcpServers', SERVER, `other names than ${SERVER}, or outputTools: false`)
  }
  return {
    ...given,
    ...(server && withServer(server, outputTools, given)),
    hooks: merged(given.hooks, hooks),
    ...(canUseTool !== undefined && { canUseTool }),
    ...(additionalDirectories !== undefined && {
      additionalDirectories: [...(given.additionalDirectories ?? []), ...additionalDirectories],
    }),
  } as O & QueryParts
}

function checkGiven(given: unknown): asserts given is ClaudeQueryOptions {
  if (!isRecord(given)) throw wrong('options.options', given, 'an object: the options of query')
  const { hooks, canUseTool, mcpServers, allowedTools, additionalDirectories } = given
  for (const [name, value] of Object.entries({ hooks, mcpServers })) {
    if (value !== undefined && !isRecord(value)) throw wrong(`options.options.${name}`, value, 'an object')
  }
  for (const [name, value] of Object.entries({ allowedTools, additionalDirectories })) {
    if (value !== undefined && !isArray(value)) throw wrong(`options.options.${name}`, value, 'an array')
  }
  if (canUseTool !== undefined && typeof canUseTool !== 'function') {
    throw wrong('options.options.canUseTool', canUseTool, 'a function')
  }
}

function withServer(
  server: OutputServer,
  tools: readonly { name: string }[],
  { mcpServers, allowedTools = [] }: ClaudeQueryOptions,
): Pick<QueryParts, 'mcpServers' | 'allowedTools'> {
  return {
    mcpServers: { ...mcpServers, [SERVER]: server },
    allowedTools: [...allowedTools, ...tools.map(({ name }) => `mcp__${SERVER}__${name}`)],
  }
}

/** All hooks of both, event by event; those of the caller first. */
function merged(given: Readonly<Record<string, object[]>> = {}, ours: ClaudeOptions['hooks']): ClaudeOptions['hooks'] {
  const own = Object.entries(ours).map(([event, hooks]) => [event, [...(given[event] ?? []), ...hooks]])
  return { ...given, ...Object.fromEntries(own) }
}
