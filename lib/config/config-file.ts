/** The configuration of a user: a file with comments, then what is given inline. */

import { resolve } from 'node:path'
import { types } from 'node:util'
import { SpillwayError } from '../errors'
import type { DoomLoopOptions } from '../loop-detection/detector'
import { background, call, native } from '../native/native'
import type { PermissionMode, PermissionPolicyOptions, PermissionRule, SuggestedRule } from '../permission/types'
import type { UserTruncationConfig } from '../service/create-truncation'
import { decode } from '../settings/settings'
import type { SmartRule, TruncationStrategyName } from '../types'
import { isArray } from '../util/guards'
import { checkKeys, invalid, isRecord, wrong } from '../validation/validate'

/** The keys that are Spillway's. Others are the application's, and stay as they are. */
export interface SpillwayConfig {
  agents?: {
    runtime?: {
      mode?: { default?: PermissionMode }
      /** `maxChars` in UTF-16 units, `recentTurns` in turns of the user. */
      compaction?: { maxChars?: number; recentTurns?: number }
      /** `false` is off. */
      truncation?:
        | boolean
        | {
            maxLines?: number
            maxBytes?: number
            maxTokens?: number
            direction?: 'head' | 'tail' | 'both'
            strategy?: TruncationStrategyName
            /** A pattern is a string here, with flags inside: `(?i)`. */
            smartRules?: (Omit<SmartRule, 'pattern'> & { pattern?: string })[]
            enabled?: boolean
            /** True if what is shown is what a terminal would show. */
            terminal?: boolean
            /** Days that a saved output is kept. */
            ttlDays?: number
          }
      doomLoop?: Pick<
        DoomLoopOptions,
        | 'maxAttempts'
        | 'maxToolCalls'
        | 'sameToolThreshold'
        | 'sameErrorThreshold'
        | 'sameAnswerThreshold'
        | 'cooldownToolCalls'
      >
      permission?: Pick<PermissionPolicyOptions, 'outsideEdit' | 'mcpServers' | 'sensitiveFiles'> & {
        rules?: PermissionRule[]
      }
      /** Where workers on several machines keep outputs and shared state. */
      fleet?: FleetConfig
      [section: string]: unknown
    }
    [key: string]: unknown
  }
  [key: string]: unknown
}

/** Settings of workers on several machines. The environment is asked first: `SPILLWAY_STORE`, `SPILLWAY_SPOOL_DIR`, `SPILLWAY_COORDINATION`. */
export interface FleetConfig {
  /** The bucket, as the `url` of `openStore`. */
  store?: string
  /** The absolute path of a folder, as of `openStore`. */
  spoolDir?: string
  /** The server, as the `url` of `openCoordination`. */
  coordination?: string
}

/** Something in a configuration that is not as it should be. */
export interface ConfigProblem {
  /** `error`: it was left out. `warning`: it has no effect, or another than its author may think. */
  severity: 'error' | 'warning'
  layer: 'user' | 'inline'
  /** Path of the field, such as `agents.runtime.truncation.maxLines`; empty for the whole file. */
  path: string
  /** A sentence, with file, line and column where there are any. */
  message: string
  file?: string
  /** From 1. */
  line?: number
  /** From 1, in UTF-16 units. */
  column?: number
}

/** Options of each capability, made from a configuration. Unset options are absent. */
export interface ConfigOptions {
  /** For `new ModeController({ default })`. @default 'agent' */
  mode: PermissionMode
  /** For `createTruncation`. */
  truncation: UserTruncationConfig | false
  /** For `new DoomLoopDetector`. */
  doomLoop: DoomLoopOptions
  /** For `new PermissionPolicy`. */
  permission: PermissionPolicyOptions
  /** For the compaction of a history. */
  compaction: { maxChars?: number; recentTurns?: number }
  /** For `openStore({ config })` and `openCoordination({ config })`. */
  fleet: FleetConfig
}

/** Result of {@link loadConfig}. */
export interface LoadedConfig {
  /** Both layers in one, under the documented names, without what was wrong. Nothing is filled in. */
  config: SpillwayConfig
  problems: ConfigProblem[]
  /** Which layer each field came from: `{ 'agents.runtime.mode.default': 'user' }`. */
  sources: Record<string, 'user' | 'inline'>
  options: ConfigOptions
}

/** Where a configuration comes from. */
export interface LoadConfigOptions {
  /** JSON with comments, at most 4 MiB. It need not be there. */
  userFile?: string
  /** Over the file; its rules come after the file's. */
  inline?: SpillwayConfig
}

/**
 * Reads a configuration and never fails because of its content: faults are reported with line and column, and the rest is
 * used. If permission rules cannot be read, nothing is allowed without asking (`options.permission.failClosed`).
 *
 * @example
 * const { options, problems } = loadConfig({ userFile: join(homedir(), '.my-agent', 'config.jsonc') })
 * const policy = new PermissionPolicy(options.permission)
 * @throws SpillwayError `INVALID_ARGUMENT` for options of a wrong type
 */
export function loadConfig(options: LoadConfigOptions = {}): LoadedConfig {
  if (!isRecord(options)) throw wrong('options', options, 'an object with userFile and inline')
  checkKeys('options', options, ['userFile', 'inline'])
  const { userFile, inline } = options as LoadConfigOptions
  const file = userFile === undefined ? undefined : pathOf('options.userFile', userFile)
  if (inline !== undefined && !isRecord(inline)) throw wrong('options.inline', inline, 'an object')
  const json = inline === undefined ? undefined : jsonOf('options.inline', inline)
  return decode<LoadedConfig>(call(() => native.configLoad(file, json)))
}

/** A merge patch (RFC 7386): objects are merged, `null` removes, anything else replaces. */
export type ConfigChange = { readonly [key: string]: unknown }

/**
 * Changes a user's file. Comments and formatting stay; the file is replaced atomically, keeps its mode, and is created if it does
 * not exist. Writers wait for each other (a lock file next to it, for at most ten seconds), and every change is applied to the
 * current content of the file.
 *
 * @param change the change, or a function from the file's content to the change; it may be called again if
 * another process was faster. Its errors are rethrown
 * @returns the new content of the file
 * @throws SpillwayError `INVALID_ARGUMENT` for a value that JSON cannot hold, `INVALID_CONFIG` for a wrong field or a file that
 * cannot be parsed, `STORAGE_READ`, `STORAGE_WRITE`
 */
export async function updateConfig(
  file: string,
  change: ConfigChange | ((current: SpillwayConfig) => ConfigChange | undefined | Promise<ConfigChange | undefined>),
): Promise<LoadedConfig> {
  const path = pathOf('file', file)
  if (typeof change !== 'function') {
    if (!isRecord(change)) throw wrong('change', change, 'an object, or a function that answers one')
    const json = storedJson('change', change)
    return loaded(path, (await background(() => native.configUpdate(path, json, undefined))) ?? '')
  }
  for (;;) {
    const { text: seen, content } = await readConfig(path)
    const patch: unknown = await change(content)
    if (patch === undefined) return loaded(path, seen)
    if (!isRecord(patch)) throw wrong('change()', patch, 'an object, or undefined')
    const json = storedJson('change()', patch)
    const text = await background(() => native.configUpdate(path, json, seen))
    // A conflict means that another writer succeeded, so there is always progress.
    if (text !== null) return loaded(path, text)
  }
}

/**
 * The text of a user's file, and its content as it is written there; both are empty if it does not exist.
 * @throws SpillwayError `INVALID_CONFIG` for a file that cannot be parsed, `STORAGE_READ`
 * @internal
 */
export async function readConfig(path: string): Promise<{ text: string; content: SpillwayConfig }> {
  const text = await background(() => native.configRead(path))
  return { text, content: JSON.parse(call(() => native.configContent(text))) as SpillwayConfig }
}

function loaded(file: string, text: string): LoadedConfig {
  return decode<LoadedConfig>(call(() => native.configText(file, text)))
}

/** Something in a configuration that a person should look at. */
export interface ConfigFinding {
  /** A rule that can never count, a rule whose own examples fail, a wrong field, an unknown one. */
  kind: 'shadowed' | 'example' | 'invalid' | 'unknown'
  /** Such as `agents.runtime.permission.rules[3]`. */
  path: string
  message: string
}

/**
 * Finds invalid settings, and valid ones that are probably mistakes.
 * @throws SpillwayError `INVALID_ARGUMENT` if it is not an object
 */
export function lintConfig(config: SpillwayConfig): ConfigFinding[] {
  if (!isRecord(config)) throw wrong('config', config, 'an object')
  return JSON.parse(call(() => native.configLint(jsonOf('config', config)))) as ConfigFinding[]
}

/** Writes an answer "always" into the user's file. It is marked, so that it never overrides a deny, wherever that is. */
export async function storeApproval(file: string, { domain, pattern }: SuggestedRule): Promise<void> {
  const rule = { domain, pattern, decision: 'allow', approved: true } as const
  await updateConfig(file, ({ agents }) => {
    const before: unknown = agents?.runtime?.permission?.rules ?? []
    if (!Array.isArray(before)) {
      throw new SpillwayError('INVALID_CONFIG', 'agents.runtime.permission.rules: is no array, and is not changed')
    }
    const known = before.some(
      (one) => one?.domain === domain && one.pattern === pattern && one.approved === true && one.decision === 'allow',
    )
    return known ? undefined : { agents: { runtime: { permission: { rules: [...before, rule] } } } }
  })
}

/** @internal */
export function pathOf(field: string, path: unknown, expected = 'the path of a file'): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0') || !path.isWellFormed()) {
    throw wrong(field, path, expected)
  }
  return resolve(path)
}

/** Encodes a value for validation: a number that JSON does not have is an invalid value like others. */
function jsonOf(field: string, value: object): string {
  return encoded(field, value, (_key, inner) => {
    if (typeof inner === 'number' && !Number.isFinite(inner)) return { $type: String(inner) }
    return typeof inner === 'string' ? inner.toWellFormed() : inner
  })
}

/** Encodes a value for the file: no value may change on the way. */
function storedJson(field: string, value: object): string {
  const fields = new Map<unknown, string>()
  return encoded(field, value, function (key, inner) {
    const of = fields.get(this)
    const at = of === undefined ? field : isArray(this) ? `${of}[${key}]` : `${of}.${key}`
    if (!isStorable(inner) && !(inner === undefined && !isArray(this))) {
      throw wrong(at, inner, 'what JSON can hold')
    }
    if (typeof inner === 'object') fields.set(inner, at)
    return typeof inner === 'string' ? inner.toWellFormed() : inner
  })
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'object') return !types.isMap(value) && !types.isSet(value)
  return typeof value === 'string' || typeof value === 'boolean'
}

function encoded(field: string, value: object, replace: (this: unknown, key: string, inner: unknown) => unknown) {
  try {
    const json = JSON.stringify(value, replace)
    if (json !== undefined) return json
  } catch (cause) {
    if (cause instanceof SpillwayError) throw cause
    throw invalid(field, 'expected a value that JSON can represent', { cause })
  }
  throw wrong(field, value, 'an object')
}
