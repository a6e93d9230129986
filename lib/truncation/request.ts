/** The state of one output while it is processed. */

import { SpillwayError } from '../errors'
import type { Source } from '../ingest/ingest'
import type { Plan, Settings, TextLimits } from '../settings/settings'
import type {
  ContentPart,
  ITruncationStorage,
  TruncationContext,
  TruncationServiceConfig,
  TruncationStrategy,
} from '../types'
import { debug } from '../util/warn'
import { decodeBytes } from '../validation/bytes'
import { checkContext } from '../validation/validate'
import { type EventDetails, emit } from './events'
import type { EarlierNotice } from './previews'

/** Parts of a service that a truncation uses. */
export interface Client {
  /** Sums of the outputs so far. */
  readonly sums: TruncationReport
  readonly settings: Settings
  readonly storage: ITruncationStorage
  /** Storages to save to, in order of preference. */
  readonly storages: readonly ITruncationStorage[]
  readonly options: Readonly<TruncationServiceConfig>
  /** Set by the caller. */
  readonly strategy: TruncationStrategy | undefined
  readonly closed: boolean
}

/** Totals of a service. */
export interface TruncationReport {
  /** Outputs that were given. A preview, as a tool with the same service returns one, is not counted again. */
  outputs: number
  /** Those that were truncated. */
  truncated: number
  /** UTF-8 bytes of the outputs that were truncated, those that the model was shown, and the difference. */
  savings: { bytes: number; shownBytes: number; savedBytes: number }
}

/** One output on its way: what it is, what is to be done with it, and for whom. */
export interface Job {
  service: Client
  context: TruncationContext
  plan: Plan
  /** The text or bytes; of parts, their texts. */
  source: Source
  /** UTF-16 units or bytes of it when the call began. */
  units: number
  /** Result if nothing is truncated. */
  original: unknown
  parts: readonly ContentPart[] | undefined
  limits: TextLimits
  /** The ceiling that overrules the tool's wish to be left alone. */
  ceiling?: number
  /** The notices of earlier previews in it. */
  earlier?: readonly EarlierNotice[]
  /** The preview was made by a strategy of the caller's. */
  byStrategy?: boolean
  /** Why it was not saved; reported once the preview is known. */
  strategyProblem?: string
}

/**
 * Validated context of a call.
 * @throws SpillwayError for a wrong context and for a closed service
 */
export function checkCall(service: Client, context: TruncationContext): TruncationContext {
  const read = checkContext(context)
  if (service.closed) throw new SpillwayError('CLOSED', 'the service was closed')
  return read
}

/** The limits up to which an output is left alone that asks for it. */
export function ceilingOf(plan: Plan): TextLimits {
  // Left alone is as it came.
  return { ...plan.limits, maxLines: null, maxBytes: plan.hardCeilingBytes, maxTokens: null, terminal: false }
}

/** The text of a source. */
export function sourceText(source: Source): string {
  if (typeof source === 'string') return source
  return Array.isArray(source) ? source.join('\n') : decodeBytes(source as Uint8Array)
}

/** Tells why a strategy of the caller's did not decide, if that is so. */
export function reportStrategy(
  { service, context, strategyProblem: error }: Job,
  sizes: Pick<EventDetails, 'originalSize' | 'truncatedSize'>,
): void {
  if (error !== undefined) report(service, context, { type: 'error', ...sizes, error, errorCode: 'STRATEGY' })
}

/** True if there is a listener for events: counting for an event takes as long as truncating. */
export function isHeard({ options }: Client): boolean {
  return Boolean(options.onEvent) || debug.enabled
}

/** Sends an event to the listeners. */
export function report(service: Client, context: TruncationContext, details: EventDetails): void {
  if (isHeard(service)) emit(service.options.onEvent ?? (() => {}), context, details)
}
