/** The options for the length of a preview and the place of saved outputs. */

import { existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  createTruncation,
  SpillwayError,
  type TruncationOptions,
  type TruncationResult,
  type TruncationService,
  TruncationStorage,
  type UserTruncationConfig,
} from 'spillway'
import { type LoadedConfig, loadConfig } from 'spillway/config'
import { definedOf } from '../util/defined'
import { LANGUAGES } from '../util/languages'
import { isStoreUrl, wrongScheme } from '../util/store-url'
import { type Option, type Parsed, UsageError, wrongOption } from './command'
import { finiteBytes } from './parse-sizes'
import { choice, quoted, text, whole } from './parse-values'
import { note, printable } from './terminal'

export const WIDE_VAULT: Readonly<Record<string, Option>> = {
  'allow-wide-vault': {
    type: 'boolean',
    help: 'Allow a home folder, a folder above it, or a root as the vault.',
  },
}

const NAMED: Readonly<Record<Extract<TruncationOptions['strategy'], string>, true>> = {
  default: true,
  auto: true,
  line: true,
  byte: true,
  smart: true,
  json: true,
  diff: true,
  csv: true,
  tests: true,
}

/** Every strategy that has a name. */
const STRATEGIES = Object.keys(NAMED) as (keyof typeof NAMED)[]

export const LIMITS: Readonly<Record<string, Option>> = {
  'max-lines': { type: 'string', value: 'N', help: 'Maximum lines of the preview.' },
  'max-bytes': { type: 'string', value: 'SIZE', help: 'Maximum bytes of the preview, such as 50k; at most 511m.' },
  'max-tokens': { type: 'string', value: 'N', help: 'Maximum tokens of the preview, by a conservative estimate.' },
  direction: { type: 'string', value: 'WHICH', help: 'The end to keep: head, tail, both.' },
  strategy: { type: 'string', value: 'NAME', help: `The strategy that chooses the lines: ${STRATEGIES.join(', ')}.` },
  terminal: { type: 'boolean', help: 'Show the output as a terminal would leave it: no colours, no overwritten text.' },
}

export const WORDING: Readonly<Record<string, Option>> = {
  language: { type: 'string', value: 'LANG', help: 'The language of the notice: en, zh-CN.' },
}

/** The limits that were given. */
export function truncationOptions(values: Parsed['values']): TruncationOptions {
  const given: TruncationOptions = {
    maxLines: whole(values, 'max-lines'),
    maxBytes: finiteBytes(values, 'max-bytes'),
    maxTokens: whole(values, 'max-tokens'),
    direction: choice(values, 'direction', ['head', 'tail', 'both']),
    strategy: choice(values, 'strategy', STRATEGIES),
    terminal: values.terminal === true ? true : undefined,
  }
  return definedOf(given)
}

/** @throws UsageError unless it is a file: with another one, its rules would silently not hold */
export function configFile(path: string, option = 'config'): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path
  throw new UsageError(`Invalid option --${option}: ${JSON.stringify(path)} is not a file`)
}

/** By the values of a command: several of its parts read the settings, and faults are reported once. */
const loadedConfigs = new WeakMap<Parsed['values'], LoadedConfig>()

/** Settings of the named file, without its faults, which are reported. */
export function configOf(values: Parsed['values']): LoadedConfig {
  const known = loadedConfigs.get(values)
  if (known !== undefined) return known
  const named = text(values, 'config')
  const userFile = named === undefined ? undefined : configFile(named)
  const loaded = loadConfig({ userFile })
  for (const { severity, message } of loaded.problems) note(`spillway: ${severity}: ${printable(message)}`)
  loadedConfigs.set(values, loaded)
  return loaded
}

/** A service as the options and the settings say. */
export function serviceOf(values: Parsed['values'], more: Partial<UserTruncationConfig> = {}): TruncationService {
  const store = more.storage === undefined ? text(values, 'store') : undefined
  const language = choice(values, 'language', LANGUAGES)
  // The settings reader is loaded only when needed.
  const { truncation } = values.config === undefined ? {} : configOf(values).options
  const fromFile = truncation === false ? { enabled: false } : truncation
  return inStore(store, () => {
    const { service } = createTruncation({
      ...fromFile,
      ...(store !== undefined && { storageDirs: [store] }),
      ...(language !== undefined && { language }),
      ...more,
    })
    return service
  })
}

/** @throws UsageError for a folder of `--store` that can be no store */
function inStore<T>(store: string | undefined, make: () => T): T {
  try {
    return make()
  } catch (error) {
    const isStore = error instanceof SpillwayError && error.field === 'storageDirs[0]'
    if (store === undefined || !isStore) throw error
    throw new UsageError(error.message.replace('"storageDirs[0]"', '--store'))
  }
}

/** The store that the options name, or else the settings. */
export function openStorage(
  values: Parsed['values'],
  { storageDir, retentionDays }: { storageDir?: string; retentionDays?: number } = {},
): TruncationStorage {
  const named = text(values, 'store')
  const store = named ?? storageDir
  if (named !== undefined && isStoreUrl(named))
    throw wrongOption('store', `expected a folder on this machine, which this command needs${wrongScheme(named, [])}`)
  const make = () => new TruncationStorage({ ...(store !== undefined && { storageDirs: [store] }), retentionDays })
  return inStore(named, make)
}

/** Returns the text to print. A whole output is printed unchanged; a page, like any message, ends with a line feed. */
export function shownOf({ content, truncated }: TruncationResult): string {
  return truncated && !content.endsWith('\n') ? `${content}\n` : content
}

/** Names in the notice that are replaced by {@link withReaders}: a tool has one word as a name. */
export const READERS = ['spillway_search_output', 'spillway_read_output']

/** Names the commands that search and read the output, as they can be typed here, in the notice of a result. */
export function withReaders<R extends TruncationResult>(result: R): R {
  if (!result.truncated || result.hint === undefined) return result
  const program = typedCommand()
  const [searcher = '', reader = ''] = READERS
  const hint = result.hint
    .replaceAll(searcher, () => `\`${program} search\``)
    .replaceAll(reader, () => `\`${program} read\``)
  const at = result.content.lastIndexOf(result.hint)
  if (at === -1) return result
  const content = result.content.slice(0, at) + hint + result.content.slice(at + result.hint.length)
  return { ...result, content, hint }
}

/** Returns the command as it can be typed here. */
export function typedCommand(): string {
  return spillwayInPath() ? 'spillway' : `${quoted(process.execPath)} ${quoted(process.argv[1] ?? '')}`
}

/** A folder that npm puts into the path of what it runs is in no shell afterwards. */
const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]?$/

function spillwayInPath(): boolean {
  const names = process.platform === 'win32' ? ['spillway.cmd', 'spillway.exe'] : ['spillway']
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !OF_NPM.test(folder))
  return folders.some((folder) => names.some((name) => existsSync(join(folder, name))))
}
