/** The service: decides if an output is too long, saves the full text, and returns the text for the model. */

import { Capture } from '../capture/capture'
import type { CaptureOptions } from '../capture/types'
import { knownAs } from '../errors'
import { GLOBAL_FIELDS, OPTION_FIELDS } from '../settings/defaults'
import { type Plan, Settings, Tag, unreadable } from '../settings/settings'
import { fileStorage, isStorage, type TruncationStorage } from '../storage/file-storage'
import type { SweepOptions, SweepReport } from '../storage/retention'
import { StorageList } from '../storage/storage-list'
import { isShort, isWithin, needsTerminal } from '../truncation/fast-path'
import { hasPreviewOf } from '../truncation/previews'
import { checkCall, type TruncationReport } from '../truncation/request'
import { untouched } from '../truncation/result'
import { openedDefaults } from '../truncation/save'
import { builtInName, isStrategy, SmartStrategy } from '../truncation/strategies'
import { decide } from '../truncation/truncate'
import type {
  ContentOf,
  EffectiveConfig,
  ITruncationStorage,
  OutputService,
  ToolTruncationConfig,
  TruncationConfig,
  TruncationContent,
  TruncationContext,
  TruncationResult,
  TruncationServiceConfig,
  TruncationStrategy,
} from '../types'
import { asyncDispose } from '../util/async-dispose'
import { isArray } from '../util/guards'
import { checkContext, checkKeys, invalid, isPlain, isRecord, wrong } from '../validation/validate'
import { warnOfRaisedLimits } from './raised-limits'

/** Bytes of a token of English text. */
const BYTES_OF_TOKEN = 4

/** Truncates the output of tools. */
export class TruncationService implements OutputService {
  /** @internal */
  readonly settings: Settings
  /** The storage of full outputs: the given one, the {@link StorageList} of several, or the service's own. */
  readonly storage: ITruncationStorage
  /**
   * Storages to save to, in order of preference.
   * @internal
   */
  readonly storages: readonly ITruncationStorage[]
  /** @internal */
  readonly options: Readonly<TruncationServiceConfig>
  /** @internal */
  readonly strategy: TruncationStrategy | undefined
  /** @internal */
  readonly sums: TruncationReport = {
    outputs: 0,
    truncated: 0,
    savings: { bytes: 0, shownBytes: 0, savedBytes: 0 },
  }
  /** @internal */
  closed: boolean

  /** @throws SpillwayError `INVALID_CONFIG` that names the option, its value and what is allowed */
  constructor(options: TruncationServiceConfig = {}) {
    const copy = copyOptions(options)
    checkKeys('', copy, FIELDS, 'INVALID_CONFIG')
    const { names, ...given } = withGlobal(copy)
    this.options = given.options
    this.settings = knownAs(names, () => new Settings(describeOptions(this.options)))
    const { storage = fileStorage(this.settings) } = this.options
    this.storages = Array.isArray(storage) ? storage : [storage as ITruncationStorage]
    this.storage = this.storages.length === 1 ? this.storages[0]! : new StorageList(this.storages)
    const { strategy } = this.options
    this.strategy = typeof strategy === 'object' ? strategy : undefined
    this.closed = false
    warnIfRaised(this, this.options.global)
  }

  /**
   * Truncates one output. An output within the limits is returned unchanged; otherwise the full output is saved first, and a
   * preview with a notice is returned. A failing disk, strategy or storage never fails the call: the output is still truncated.
   *
   * @param content text, bytes (decoded as UTF-8, saved as they are; they must not change until the promise settles),
   *   or the parts of a message, whose texts share one limit
   * @throws SpillwayError `INVALID_ARGUMENT` for any other content and for an invalid context, `CLOSED` after {@link close}
   */
  async output<C extends TruncationContent>(
    content: C,
    context: TruncationContext,
  ): Promise<TruncationResult<ContentOf<C>>> {
    if (typeof content === 'string') {
      const plan = isPlain(context) ? this.settings.knownPlan(context) : undefined
      // Most outputs are small, and one comparison is all they cost.
      // A text as long as a preview may be one, and says nothing here about its limits.
      const mayBePreview = hasPreviewOf(content.length)
      const isSure =
        plan !== undefined &&
        !this.closed &&
        !mayBePreview &&
        (content.length <= plan.sureUnits || isShort(content, plan))
      if (isSure && !(plan.limits.terminal && needsTerminal(content))) {
        return untouched(this, content, context) as TruncationResult<ContentOf<C>>
      }
      return (await bound(this, content, context, mayBePreview ? undefined : plan)) as TruncationResult<ContentOf<C>>
    }
    return (await bound(this, content, context)) as TruncationResult<ContentOf<C>>
  }

  /**
   * Captures an output while it is being produced: a writable stream of text or bytes, in pieces of any size. Memory is bounded by
   * the limits, whatever the length; the file is created when a limit is exceeded, and is complete from the first byte. Its
   * `result` is the same as that of {@link output} for the full text, with one exception: if the caller turned truncation off, the
   * output is still truncated above the hard ceiling, because a stream of any length cannot be held.
   *
   * @example
   * const capture = service.capture({ toolName: 'bash' })
   * child.stdout.pipe(capture)
   * const result = await capture.result
   * @throws SpillwayError `INVALID_ARGUMENT` for an invalid context or option, `CLOSED` after {@link close}
   */
  capture(context: TruncationContext, options: CaptureOptions = {}): Capture {
    return new Capture(this, context, options)
  }

  /** Removes saved outputs that are older than `retentionDays`, and returns their number. */
  async cleanup(): Promise<number> {
    return this.storage.cleanup(this.settings.facts.retentionDays)
  }

  /**
   * Removes saved outputs that are older than `retentionDays`, and then the oldest over `maxStoreBytes` and `maxStoreFiles`. A
   * custom `storage` uses its own limits; options passed here take precedence.
   * @throws SpillwayError `INVALID_CONFIG` if the storage is a custom one that cannot be swept
   */
  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    const { storage } = this
    if (!('sweep' in storage) || typeof storage.sweep !== 'function') {
      throw invalid('storage', 'expected an object with a function sweep', { code: 'INVALID_CONFIG' })
    }
    // The service's own storage got these bounds when it was made; a given one has its own.
    return storage.sweep(options)
  }

  /**
   * Changes settings for every tool, from the next call on.
   * @throws SpillwayError `INVALID_CONFIG`; `retentionDays`, `storageDir` and quotas can only be set in the constructor
   */
  updateConfig(config: Partial<Omit<TruncationConfig, 'retentionDays' | 'storageDir'>>): void {
    this.settings.update(config)
    warnIfRaised(this, config)
  }

  /** Sets the user's entry for a tool, from the next call on. The built-in settings of the tool stay below it. */
  setToolConfig(toolName: string, config: ToolTruncationConfig): void {
    if (typeof toolName !== 'string') throw wrong('toolName', toolName, 'a string')
    this.settings.setTool(toolName, config)
  }

  /** Returns the configuration that a call with this context would use, and the source of each field. */
  effectiveConfig(context: TruncationContext): EffectiveConfig {
    const { config, sources } = this.settings.plan(checkContext(context))
    return { config: { ...config }, sources: { ...sources } }
  }

  /**
   * True if the text fits its limits.
   * @internal
   */
  fits(content: string, context: TruncationContext): boolean {
    const known = isPlain(context) ? this.settings.knownPlan(context) : undefined
    const plan = known ?? this.settings.plan(checkContext(context))
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    return plan.mode !== 'bound' || content.length <= plan.sureUnits || isWithin(content, plan.limits)
  }

  /**
   * Longest line, in bytes, that a line-based preview may drop: a quarter of the preview.
   * @internal
   */
  longestLine(context: TruncationContext): number {
    const { maxBytes, maxTokens } = this.settings.plan(checkContext(context)).limits
    const bytes = Math.min(
      maxBytes ?? Number.POSITIVE_INFINITY,
      (maxTokens ?? Number.POSITIVE_INFINITY) * BYTES_OF_TOKEN,
    )
    return bytes / 4
  }

  /** Returns the totals of all outputs so far. */
  report(): TruncationReport {
    return { ...this.sums, savings: { ...this.sums.savings } }
  }

  /** Refuses further outputs, and releases the leases of the service's own storage. Running calls finish. */
  async close(): Promise<void> {
    this.closed = true
    const own = this.options.storage === undefined ? this.storages : openedDefaults(this)
    for (const storage of own as Iterable<TruncationStorage>) await storage.close()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

function copyOptions(options: TruncationServiceConfig): TruncationServiceConfig {
  if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
  try {
    return { ...options }
  } catch (cause) {
    throw unreadable(options, cause)
  }
}

/** All allowed names, settings for every tool first, because they are used most. */
const FIELDS = [...GLOBAL_FIELDS, ...OPTION_FIELDS]

/** Moves top-level settings into `global`; `names` maps their paths in errors back. */
function withGlobal(options: TruncationServiceConfig): {
  options: TruncationServiceConfig
  names: Readonly<Record<string, string>>
} {
  const fields = GLOBAL_FIELDS.filter((name) => name in options)
  // A `global` that is not an object is refused.
  if (fields.length === 0 || (options.global !== undefined && !isRecord(options.global))) return { options, names: {} }
  const given = options as Record<string, unknown>
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !fields.includes(name)))
  const flat = Object.fromEntries(fields.map((name) => [name, given[name]]))
  const names = Object.fromEntries(fields.map((name) => [`global.${name}`, name]))
  return { options: { ...rest, global: { ...options.global, ...flat } }, names }
}

function warnIfRaised(service: TruncationService, given: Partial<TruncationConfig> | undefined): void {
  if (given?.maxLines !== undefined) warnOfRaisedLimits((context) => service.effectiveConfig(context))
}

/** The options for the binary to check; values that are not data are replaced by their description. */
function describeOptions(options: TruncationServiceConfig): object {
  const { strategy, storage, ...data } = options
  const described: Record<string, unknown> = { ...data }
  if (strategy !== undefined) {
    described.strategy = isStrategy(strategy) ? (builtInName(strategy) ?? new Tag('strategy')) : strategy
  }
  if (described.strategy === 'smart' && strategy instanceof SmartStrategy && strategy.rules.length > 0) {
    const { smartRules = [] } = options
    described.smartRules = isArray(smartRules) ? [...smartRules, ...strategy.rules] : smartRules
  }
  if (storage !== undefined) described.storage = isStorages(storage) ? new Tag('storage') : storage
  return described
}

function isStorages(storage: unknown): boolean {
  return isArray(storage) ? storage.length > 0 && storage.every(isStorage) : isStorage(storage)
}

async function bound(
  service: TruncationService,
  content: unknown,
  given: TruncationContext,
  looked?: Plan,
): Promise<TruncationResult<unknown>> {
  const context = checkCall(service, given)
  context.signal?.throwIfAborted()
  return decide(service, content, context, looked)
}
