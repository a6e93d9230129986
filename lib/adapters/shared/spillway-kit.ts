/** The common part of all `withSpillway`: one object of options, and the controls that it stands for. */

import type {
  ContextManager,
  ContextManagerOptions,
  HistoryPrunerOptions,
  OutputService,
  OutputToolsOptions,
  SpillwayError,
  ToolControls,
  TruncationMiddleware,
  TruncationServiceConfig,
} from 'spillway'
import type { FoldOptions } from 'spillway/fold'
import { managerOf } from '../../context/context-manager'
import { LIMIT_CHECKS } from '../../context/options'
import { knownAs } from '../../errors'
import { FoldSession } from '../../fold/fold-session'
import { ToolResultLedger } from '../../history/ledger'
import { PRUNER_CHECKS, readPrunerOptions } from '../../pruning/options'
import { HistoryPruner } from '../../pruning/pruner'
import { TruncationService } from '../../service/service'
import { createOutputTools, type OutputTool } from '../../tools/output-tools'
import { definedOf } from '../../util/defined'
import { anything, type Check, checkOptions, isAboveZero, nonEmptyString, objectOrOff } from '../../validation/options'
import { checkKeys, invalid, isRecord, wrong } from '../../validation/validate'
import { checkControls, storageOf, tell } from './controls'
import { withHarmlessTools } from './harmless'
import type { AdapterControls, HistoryControl, RecoveryOptions } from './types'

/** Options of a pruner that the others say already. */
type KnownOfPruner = 'contextWindow' | 'ledger' | 'storage' | 'onError'

/**
 * Options of `withSpillway`, all of them optional. Options that are not named here are those of the controls of the adapter: `permission`,
 * `mode`, `doomLoop`, `askDoomLoop`, `audit`, `hooks`, `hookTimeoutMs`, `query`, `workingDirectory`, `onEvent`, `now`.
 */
export interface SpillwayOptions
  extends Omit<AdapterControls, 'truncation' | 'fold' | 'history' | 'recovery' | 'ledger' | 'sessionId'> {
  /** The model's window in tokens, above 0. @default what the provider's error names, else 200000 */
  contextWindow?: number
  /**
   * The session that everything is for; then results are folded as well. Without it several sessions may share what is returned, as
   * far as the framework names them.
   */
  sessionId?: string | undefined
  /**
   * Limits of outputs: options of a `TruncationService`, a service, or the middleware of one. `false`: outputs keep their length.
   * @default {}
   */
  truncation?: TruncationServiceConfig | OutputService | TruncationMiddleware | false
  /**
   * The tools `read_output` and `search_output`, with which the model reads saved outputs. `false`: without them.
   * @default {}, where outputs are saved in a storage that they can read
   */
  outputTools?: Omit<OutputToolsOptions, 'sessionId'> | false
  /** Replaces lines that the model has in view; needs `sessionId`. @default {} with `sessionId`, else false */
  fold?: FoldOptions | false
  /**
   * Prunes old results of each request. `prices` are those of the model, where the framework says its id.
   * @default {}
   */
  pruning?: Omit<HistoryPrunerOptions, KnownOfPruner> | false
  /**
   * Maximum bytes of the messages of a request: above it the oldest images and files are replaced by notes, and saved where outputs are.
   * Instructions and tools are not counted, because the framework adds them: leave room for them.
   * @default the documented limit of the provider, where its format says it: 50 MB for the Agents SDK
   */
  maxRequestBytes?: number
  /** Maximum number of images in a request, in the same way. @default 500 for the Agents SDK */
  maxImages?: number
  /** Retries a request that was too long, shortened. @default {} */
  recovery?: Omit<RecoveryOptions, 'contextWindowTokens'> | false
  /** A ledger of your own, such as a stored one. @default a new one */
  ledger?: ToolResultLedger
}

/** The same pieces, ready for an adapter. */
export interface SpillwayKit {
  controls: AdapterControls
  outputTools: OutputTool[]
}

const OWN: {
  readonly [K in Exclude<keyof SpillwayOptions, keyof ToolControls | 'workingDirectory' | 'onEvent' | 'now'>]-?: Check
} = {
  contextWindow: ['a number of tokens above 0', isAboveZero],
  outputTools: objectOrOff,
  pruning: objectOrOff,
  ...LIMIT_CHECKS,
  recovery: objectOrOff,
}

const REDEFINED: Readonly<Record<string, Check>> = {
  sessionId: nonEmptyString,
  truncation: ['an object, a function, or false', (value) => typeof value === 'function' || objectOrOff[1](value)],
  fold: objectOrOff,
  ledger: ['a ToolResultLedger', (value) => value instanceof ToolResultLedger],
}

const REST = [
  'permission',
  'mode',
  'doomLoop',
  'askDoomLoop',
  'audit',
  'hooks',
  'hookTimeoutMs',
  'query',
  'workingDirectory',
  'onEvent',
  'now',
]
const CHECKS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(REST.map((name) => [name, anything])),
  ...OWN,
  ...REDEFINED,
}

const { contextWindow: _window, ledger: _ledger, storage: _storage, onError: _onError, ...OF_PRUNER } = PRUNER_CHECKS

function checksOf(own: Readonly<Record<string, Check>>, without: readonly string[]): Record<string, Check> {
  return Object.fromEntries(Object.entries({ ...CHECKS, ...own }).filter(([name]) => !without.includes(name)))
}

/**
 * Checks the names of the options before their values, so that a misspelt one is not said to be missing. `parts` are those that the
 * adapter reads by itself.
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, and the one that is meant
 */
export function checkOptionNames(
  options: unknown,
  parts: readonly string[],
  own: Readonly<Record<string, Check>> = {},
  without: readonly (keyof SpillwayOptions)[] = [],
): asserts options is Record<string, unknown> {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, [...parts, ...Object.keys(checksOf(own, without))])
}

/**
 * Makes the pieces. `own` are the options of the adapter itself, which become controls as they are; `readers` are tools of the host that
 * open saved outputs, where it is given none of ours.
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option; `INVALID_CONFIG` for one of `truncation`
 */
export function spillwayKit(
  options: SpillwayOptions,
  own: Readonly<Record<string, Check>> = {},
  without: readonly (keyof SpillwayOptions)[] = [],
  readers: readonly string[] = [],
): SpillwayKit {
  checkOptions('options', options, checksOf(own, without))
  const {
    contextWindow,
    sessionId,
    truncation,
    outputTools,
    fold,
    pruning,
    recovery,
    maxRequestBytes,
    maxImages,
    ...rest
  } = options
  const { ledger = new ToolResultLedger() } = rest
  const hasTools = outputTools !== false && !without.includes('outputTools')
  const bound = truncation === false ? undefined : boundOf(truncation, hasTools ? OURS : readers)
  const tools = hasTools ? outputToolsOf(bound, outputTools, sessionId) : []
  const folder = folderOf(fold, sessionId)
  const controls: AdapterControls = {
    ...rest,
    ledger,
    ...(bound !== undefined && { truncation: bound }),
    ...(folder && { fold: folder }),
    ...(sessionId !== undefined && { sessionId }),
  }
  if (sessionId !== undefined && 'sessionOf' in own) {
    if ((options as { sessionOf?: unknown }).sessionOf !== undefined) {
      throw invalid(
        'options.sessionOf',
        'cannot be given together with sessionId, which names the session; give one of them',
      )
    }
    Object.assign(controls, { sessionOf: () => sessionId })
  }
  const storage = storageOf(controls)
  const shared = { ...(storage && { storage }) }
  if (!without.includes('recovery')) {
    const window = contextWindow !== undefined && { contextWindowTokens: contextWindow }
    controls.recovery = recovery === false ? false : { ...shared, ...window, ...definedOf(recovery) }
  }
  if (pruning !== undefined && pruning !== false) {
    checkOptions('options.pruning', pruning, OF_PRUNER)
    readPrunerOptions(pruning, 'options.pruning')
  }
  const limits = definedOf({ maxRequestBytes, maxImages })
  // The documented limits apply without pruning as well.
  const rules = pruning === false ? { policies: [] } : definedOf(pruning)
  controls.history = histories({ ...options, ledger }, { ...shared, ...rules }, { ...shared, ...limits })
  knownAs({ 'controls.': '' }, () => checkControls(controls, own))
  return { controls: tools.length > 0 ? withHarmlessTools(controls, 'spillway') : controls, outputTools: tools }
}

const OURS: readonly string[] = ['read_output', 'search_output']

/** A service is used as it is; of options one is made, whose notice names the tools that read its outputs. */
function boundOf(
  truncation: Exclude<SpillwayOptions['truncation'], false> = {},
  readers: readonly string[],
): OutputService | TruncationMiddleware {
  if (typeof truncation === 'function' || 'output' in truncation) return truncation
  const { storage } = truncation
  const readable = storage === undefined || [storage].flat().every(isSource)
  // A page of a saved output is not saved again, whatever the limits are.
  const free = Object.fromEntries(
    readers.filter((name) => OURS.includes(name)).map((name) => [name, { enabled: false }]),
  )
  const config =
    readers.length > 0 && readable
      ? { availableTools: [...readers], ...definedOf(truncation), tools: { ...free, ...truncation.tools } }
      : truncation
  return knownAs({ '': 'truncation.' }, () => new TruncationService(config))
}

function isSource(storage: unknown): boolean {
  const { readRange, search } = Object(storage) as Record<string, unknown>
  return typeof readRange === 'function' && typeof search === 'function'
}

function outputToolsOf(
  bound: OutputService | TruncationMiddleware | undefined,
  given: Exclude<SpillwayOptions['outputTools'], false>,
  sessionId: string | undefined,
): OutputTool[] {
  const { storage } = Object(bound) as { storage?: unknown }
  // A middleware and a storage of the caller's may have nothing to read from.
  if (given === undefined && ![storage].flat().every(isSource)) return []
  if (!isSource(storage))
    throw invalid(
      'options.outputTools',
      'the storage of truncation has no readRange and search; give one that has, or outputTools: false',
    )
  return knownAs({ 'options.': 'outputTools.' }, () =>
    createOutputTools(storage as never, { ...given, ...(sessionId !== undefined && { sessionId }) }),
  )
}

function folderOf(fold: SpillwayOptions['fold'], sessionId: string | undefined): FoldSession | undefined {
  if (fold === false || (fold === undefined && sessionId === undefined)) return undefined
  // A pointer to what another session has in view would point nowhere.
  if (sessionId === undefined)
    throw invalid('options.fold', 'a pointer is valid in one session only; give sessionId as well, or fold: false')
  return knownAs({ 'options.': 'fold.' }, () => new FoldSession(fold))
}

/** A pruner for each session, with the prices of its model and the limits of its requests. */
function histories(
  { contextWindow, ledger, onEvent }: SpillwayOptions,
  pruning: HistoryPrunerOptions,
  limits: ContextManagerOptions,
): NonNullable<AdapterControls['history']> {
  const onError = onEvent && ((error: SpillwayError) => tell({ onEvent }, { type: 'error', error }))
  const { language, thinking, estimateTokens } = pruning
  const options = {
    ...definedOf({ language, estimateTokens, onError, pruning: thinking && { thinking } }),
    ...limits,
    compaction: false,
    overflow: false,
  } as const
  return (sessionId, { model }) => {
    const prices = model
    const pruner = new HistoryPruner({ ...definedOf({ contextWindow, prices, ledger, onError }), ...pruning })
    return controlOf(managerOf(pruner, options, sessionId))
  }
}

/** A manager whose report is that of its pruner, with what became of images and files. */
function controlOf(manager: ContextManager): HistoryControl {
  return {
    async prepare(messages, options) {
      const { messages: sent, report, requestOptions } = await manager.prepare(messages, options)
      const { pruning, steps, left, fits } = report
      const media = steps.find(({ step }) => step === 'media')
      return { messages: sent, report: { ...pruning, left, fits, media }, ...(requestOptions && { requestOptions }) }
    },
    observe: (usage) => manager.observe(usage),
    accept: (response) => manager.accept(response),
  }
}

/**
 * The tools by their names, with those that read saved outputs.
 * @throws SpillwayError `INVALID_ARGUMENT` if the caller has one of the same name
 */
export function withOutputTools<T extends object>(tools: T, outputTools: Readonly<Record<string, unknown>>): T {
  checkNames(Object.keys(tools), Object.keys(outputTools))
  return { ...tools, ...outputTools }
}

/** @throws SpillwayError `INVALID_ARGUMENT` if a name is taken */
export function checkNames(given: readonly unknown[], ours: readonly string[]): void {
  const taken = ours.find((name) => given.includes(name))
  if (taken !== undefined)
    throw wrong('options.tools', taken, `other names than ${ours.join(' and ')}, or outputTools: false`)
}
