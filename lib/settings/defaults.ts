/** The default settings. The numbers are in the binary; here they get their public names. */

import { native } from '../native/native'
import type { TruncationConfig } from '../types'

const defaults = JSON.parse(native.defaultSettings()) as {
  config: TruncationConfig
  tools: Record<string, Partial<TruncationConfig>>
  optionFields: string[]
}

/** 2,000 lines, 51,200 bytes, `head`, enabled, kept for 7 days. */
export const DEFAULT_TRUNCATION_CONFIG: Readonly<TruncationConfig> = Object.freeze(defaults.config)

/** Limits of single tools: `bash` shows its last 500 lines, `grep` 3,000, `read` is not truncated. */
export const TOOL_TRUNCATION_CONFIGS: Readonly<Record<string, Readonly<Partial<TruncationConfig>>>> = Object.freeze(
  Object.fromEntries(Object.entries(defaults.tools).map(([name, config]) => [name, Object.freeze(config)])),
)

/** The names of a service's options. */
export const OPTION_FIELDS: ReadonlySet<string> = new Set(defaults.optionFields)

/** Settings of tools that are allowed beside the options of a service. */
export const GLOBAL_FIELDS: readonly string[] = [
  ...Object.keys(defaults.config),
  'maxTokens',
  'terminal',
  'storageDir',
].filter((name) => !OPTION_FIELDS.has(name))
