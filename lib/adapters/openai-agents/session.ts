/** Sessions that keep the full history, and a filter that prunes requests. */

import { SpillwayError } from '../../errors'
import { isArray } from '../../util/guards'
import { LruCache } from '../../util/lru-cache'
import { isRecord, wrong } from '../../validation/validate'
import { checkControls, tellError } from '../shared/controls'
import { overlay } from '../shared/override-methods'
import { Requests } from '../shared/prepare-request'
import { type AgentsControls, OWN_CONTROLS, sessionOf } from './controls'

/** A session of the SDK, as far as it is used here. */
interface SessionLike {
  getItems(...given: unknown[]): Promise<unknown[]>
  addItems(items: unknown[], ...given: unknown[]): Promise<void>
}

/** State that a guarded session and the filter share. */
interface Ties {
  /** Results that the session has, by the id of their call. */
  readonly stored: Set<string>
  /** The item that the filter sent in place of each item. */
  readonly sent: LruCache<string, { shown: string; original: unknown }>
  /** The session was read, and no request was sent since: results that it does not know came with the input. */
  fresh: boolean
}

const ties = new WeakMap<object, Ties>()

/**
 * The same session for a run whose requests {@link pruneFilter} prunes: what the filter left out of a request is never
 * stored as left out. An item that comes back pruned is stored as it was.
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid session
 */
export function storeUnpruned<T extends object>(session: T): T {
  const { getItems, addItems } = Object(session) as Partial<SessionLike>
  if (typeof getItems !== 'function' || typeof addItems !== 'function') {
    throw wrong('session', session, 'a session with getItems and addItems')
  }
  if (ties.has(session)) return session
  const own: Ties = { stored: new Set(), sent: new LruCache(10_000), fresh: false }
  const note = (items: unknown): void => {
    for (const item of isArray(items) ? items : []) {
      const callId = resultOf(item)
      if (callId !== undefined) own.stored.add(callId)
    }
  }
  const guarded = overlay(session, {
    getItems: async (...given: unknown[]) => {
      const items = await getItems.apply(session, given)
      note(items)
      own.fresh = true
      return items
    },
    addItems: async (items: unknown[], ...given: unknown[]) => {
      const whole = isArray(items) ? items.map((item) => asItWas(own, item)) : items
      await addItems.call(session, whole as unknown[], ...given)
      note(whole)
    },
  })
  ties.set(guarded, own)
  return guarded
}

/** The item that the filter was given, if this is what it sent in its place. */
function asItWas({ sent }: Ties, item: unknown): unknown {
  const callId = resultOf(item)
  const known = callId === undefined ? undefined : sent.get(callId)
  return known !== undefined && known.shown === outputOf(item) ? known.original : item
}

function resultOf(item: unknown): string | undefined {
  const { type, callId } = Object(item) as { type?: unknown; callId?: unknown }
  const isResult = typeof type === 'string' && /_(result|output)$/.test(type)
  return isResult && typeof callId === 'string' ? callId : undefined
}

function outputOf(item: unknown): string {
  return JSON.stringify((item as { output?: unknown }).output) ?? ''
}

/** The argument that the SDK gives to a filter. */
export interface FilterArgs {
  modelData: { input: unknown[]; instructions?: string }
  context?: unknown
}

/** A function for `callModelInputFilter` of a `Runner` or a run. */
export interface PruneFilter {
  // biome-ignore lint/suspicious/noExplicitAny: the items of the SDK, in and out
  (args: { modelData: any; context?: unknown; agent?: unknown }): Promise<any>
  preserveInputIdentity?: boolean
}

/** How the runs of a {@link pruneFilter} keep their history. */
export interface PruneFilterOptions extends AgentsControls {
  /** The session that runs use, from {@link storeUnpruned}; `null` if they have none and bring the history as input. */
  session: object | null
}

/**
 * Returns a filter that prunes each request (`history`). {@link guardModel} does the same after everything that the SDK
 * stores, and is to be preferred; the filter knows the run's context, and so serves several sessions.
 *
 * The SDK stores the input of a run as a filter leaves it. So a run with a session must not bring results of tools as its
 * input: they would be stored pruned. The filter refuses such a run.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control, and for a session that is not from `storeUnpruned`
 */
export function pruneFilter(options: PruneFilterOptions): PruneFilter {
  const { session, ...controls } = Object(options) as PruneFilterOptions
  checkControls(controls, OWN_CONTROLS)
  const own = isRecord(session) ? ties.get(session) : undefined
  if (session !== null && own === undefined)
    throw wrong('options.session', session, 'a session from storeUnpruned, or null')
  const requests = new Requests(controls)
  const filter: PruneFilter = async ({ modelData, context }: FilterArgs) => {
    const { input } = modelData
    if (own !== undefined) refuseForeign(own, input)
    const { messages } = await requests.prepare(input, sessionOf(controls, { context }))
    if (messages.length !== input.length && own !== undefined) {
      // Items that are added or taken away would be stored, or would not.
      tellError(controls, 'history', new Error('answered another number of items, which a session would store'))
      return modelData
    }
    if (own !== undefined) remember(own, input, messages)
    return { ...modelData, input: [...messages] }
  }
  // Nothing here writes to an item, and a copy of a long history costs more than pruning it.
  filter.preserveInputIdentity = true
  return filter
}

/** @throws SpillwayError if results came with the input of a run that has a session */
function refuseForeign(own: Ties, input: readonly unknown[]): void {
  if (!own.fresh) return
  own.fresh = false
  const foreign = input.map(resultOf).filter((callId) => callId !== undefined && !own.stored.has(callId))
  if (foreign.length === 0) return
  const message =
    `${foreign.length} results of tools came with the input of a run that has a session, which would store them pruned. ` +
    'Give such a run only what is new, or no session, or prune with guardModel.'
  throw new SpillwayError('INVALID_ARGUMENT', `input: ${message}`, { field: 'input' })
}

function remember({ sent }: Ties, input: readonly unknown[], messages: readonly unknown[]): void {
  for (const [at, original] of input.entries()) {
    const item = messages[at]
    const callId = item === original ? undefined : resultOf(item)
    if (callId !== undefined) sent.set(callId, { shown: outputOf(item), original })
  }
}
