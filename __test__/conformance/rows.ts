import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  ToolTruncationConfig,
  TruncationContext,
  TruncationProfile,
  TruncationServiceConfig,
} from '../../lib/types'
import type { AuditSetup } from './actions/audit'
import type { CompactionSetup } from './actions/compaction'
import type { ConfigSetup } from './actions/config'
import type { LoopStep } from './actions/doom-loop'
import type { HookSetup } from './actions/hooks'
import type { OverflowSetup, overflowActions } from './actions/overflow'
import type { PermissionStep } from './actions/permission'
import type { Recipe } from './recipes'

/** Actions of a row. Each has its function in `actions.ts`. */
export type Action =
  | 'output'
  | 'concurrent'
  | 'middleware'
  | 'registry'
  | 'plugin'
  | 'strategy'
  | 'save'
  | 'cleanup'
  | 'limits'
  | 'constants'
  | 'outdated'
  | 'prune'
  | 'repair'
  | 'command'
  | 'read'
  | 'load'
  | keyof typeof overflowActions
  | 'compact'
  | 'config'
  | 'doomLoop'
  | 'hooks'
  | 'audit'
  | 'permission'

/** A tool result or another message of a conversation, its time given as an age. */
export interface MessageRecipe {
  /** Names the message in expectations; it is not part of it. */
  label?: string
  /** Milliseconds before now. Without it the message has no timestamp. */
  age?: number
  /** Number of equal messages in a row. */
  times?: number
  content: unknown
  [key: string]: unknown
}

/** Expected outcome, one named check per key; `expectations.ts` has them all. */
export type Expectation = Record<string, unknown>

/** Everything that a case hands in. */
export interface Setup {
  run: Action
  service?: TruncationServiceConfig
  /** A storage of the caller's own instead of files. */
  storage?: 'rejects' | 'records'
  /** The state of the folder for full outputs before the call. */
  folder?: 'missing' | 'a file' | { name: string; ageDays: number }[]
  input?: Recipe
  /** Any value as the output of a tool, where the input is no text. */
  value?: unknown
  context?: TruncationContext
  signal?: 'aborted before' | 'aborted during'
  /** Done to the service between a first call and the one that is judged. */
  changes?: { updateConfig?: ToolTruncationConfig; setToolConfig?: [string, ToolTruncationConfig] }[]
  /** Further fields of the tool's result. */
  result?: Record<string, unknown>
  skipTools?: string[]
  /** Return value of the caller's `shouldTruncate`. */
  shouldTruncate?: boolean | Record<string, unknown>
  /** The `this.config` of the host of a plugin. */
  host?: { truncation?: boolean }
  plugin?: 'shared'
  strategy?: string
  times?: number
  by?: 'service' | 'storage'
  retentionDays?: number
  entry?: 'index.js' | 'index.mjs'
  messages?: MessageRecipe[]
  /** Messages that a second request adds, a millisecond later. */
  more?: MessageRecipe[]
  /** The model's arguments for the tool that reads a saved output, without the path. */
  arguments?: Record<string, unknown>
  /** A command of the shell, which reads the input. */
  shell?: string
  timeoutMs?: number
  /** A history that does not fit. */
  overflow?: OverflowSetup
  /** A history that comes near the window. */
  compaction?: CompactionSetup
  /** A user's configuration. */
  config?: ConfigSetup
  options?: Record<string, unknown>
  /** A run of an agent, for the detector of loops. */
  steps?: LoopStep[]
  audit?: AuditSetup
  hooks?: HookSetup
  /** Tool calls to decide about, or steps of a dialogue with the gate. */
  calls?: PermissionStep[]
}

interface Case extends Partial<Setup> {
  /** Tells the cases of a row apart. */
  case?: string
  default: Expectation
  /** `"as default"` when the profile changes nothing. */
  profile?: Expectation | 'as default'
  /** A fault of the upstream system: then there is nothing to follow, and no profile expectation. */
  fault?: string
}

interface Row extends Partial<Case> {
  id: string
  title: string
  cases?: Case[]
}

interface Table {
  about: string
  /** Every id of the upstream table, so that a row that goes missing is noticed. */
  ids: string[]
  /** Rows that have no meaning for what the table tests, each with the reason. */
  elsewhere?: Record<string, string>
  profile: TruncationProfile | null
  /** Options that replace the profile where a function takes no profile. */
  profileOptions?: Record<string, unknown>
  lineRule?: 'split'
  setup?: Partial<Setup>
  rows: Row[]
}

export interface Check {
  title: string
  setup: Setup
  expected: Expectation
  split: boolean
}

export function loadTable(name: string): Table {
  return JSON.parse(readFileSync(join(__dirname, `${name}.json`), 'utf8'))
}

function merged(layers: (Partial<Setup> | undefined)[]): Setup {
  const all: Partial<Setup> = Object.assign({}, ...layers)
  const services = layers.map((layer) => layer?.service).filter((service) => service !== undefined)
  if (services.length > 0) {
    all.service = Object.assign({}, ...services)
    const globals = services.map((service) => service.global).filter((global) => global !== undefined)
    if (all.service && globals.length > 0) all.service.global = Object.assign({}, ...globals)
  }
  if (all.run === undefined) throw new Error('a row must say what it runs')
  return all as Setup
}

/** The checks of a table: one per case, and one more where the profile has an expectation of its own. */
export function checksOf(table: Table): Check[] {
  return table.rows.flatMap((row) => {
    const { id, title, cases, ...shared } = row
    const list = cases ?? [shared as Case]
    return list.flatMap((one) => {
      const { case: name, default: expected, profile, fault = row.fault, ...own } = one
      const setup = merged([table.setup, cases ? shared : undefined, own])
      const label = `${id} ${title}${name ? ` (${name})` : ''}`
      if (expected === undefined) throw new Error(`${label}: no default expectation`)
      if (table.profile && (profile === undefined) === (fault === undefined)) {
        throw new Error(`${label}: needs a profile expectation or the upstream fault, and not both`)
      }
      if (!table.profile && profile !== undefined) throw new Error(`${label}: this upstream has no profile`)
      const checks: Check[] = [{ title: label, setup, expected, split: false }]
      if (table.profile && profile !== undefined) {
        checks.push({
          title: `${label} [${table.profile}]`,
          setup: table.profileOptions
            ? { ...setup, options: { ...setup.options, ...table.profileOptions } }
            : { ...setup, service: { ...setup.service, profile: table.profile } },
          expected: profile === 'as default' ? expected : profile,
          split: table.lineRule === 'split',
        })
      }
      return checks
    })
  })
}
