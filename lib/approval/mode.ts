/** Which sessions have full access. */

import { PERMISSION_MODES, type PermissionMode } from '../permission/types'
import { randomUUID } from '../util/crypto'
import { tellCaller } from '../util/warn'
import { checkKeys, isRecord, listed, notAnInstance, wrong } from '../validation/validate'

/** Audit event of a mode. */
export interface ModeEvent {
  type: 'mode_requested' | 'mode_changed'
  sessionId: string
  previousMode: PermissionMode
  nextMode: PermissionMode
}

/** Options of {@link ModeController}. */
export interface ModeControllerOptions {
  /**
   * The mode of a session that was never switched.
   * @default 'agent'
   */
  default?: PermissionMode
  /** Receives every change. If it throws, the error is ignored. */
  onEvent?: (event: ModeEvent) => void
}

/** Result of {@link ModeController.setMode}. */
export type ModeChange =
  | { mode: PermissionMode; confirmationId?: undefined }
  /** The mode has not changed yet: the user must confirm first. */
  | { mode: PermissionMode; confirmationId: string }

interface State {
  fallback: PermissionMode
  onEvent: ModeControllerOptions['onEvent']
  modes: Map<string, PermissionMode>
  confirmed: Set<string>
  waiting: Map<string, string>
}

const states = new WeakMap<object, State>()

/**
 * The mode of each session. The first switch to full access needs a confirmation; later switches, and switching back, take effect at once.
 *
 * @example
 * const { confirmationId } = modes.setMode('s1', 'full_access')
 * if (confirmationId && (await askTheUser())) modes.confirm(confirmationId)
 */
export class ModeController {
  constructor(options: ModeControllerOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object')
    checkKeys('options', options, ['default', 'onEvent'])
    const { default: fallback = 'agent', onEvent } = options as ModeControllerOptions
    checkMode('options.default', fallback)
    if (onEvent !== undefined && typeof onEvent !== 'function') throw wrong('options.onEvent', onEvent, 'a function')
    states.set(this, { fallback, onEvent, modes: new Map(), confirmed: new Set(), waiting: new Map() })
  }

  getMode(sessionId: string): PermissionMode {
    checkSession(sessionId)
    const { modes, fallback } = stateOf(this)
    return modes.get(sessionId) ?? fallback
  }

  /** Switches the mode, or returns a `confirmationId` for {@link confirm}. An earlier id can then no longer be confirmed. */
  setMode(sessionId: string, mode: PermissionMode): ModeChange {
    checkSession(sessionId)
    checkMode('mode', mode)
    const state = stateOf(this)
    const before = this.getMode(sessionId)
    // The newest wish counts.
    for (const [id, session] of state.waiting) if (session === sessionId) state.waiting.delete(id)
    if (mode === before) return { mode }
    if (mode === 'full_access' && !state.confirmed.has(sessionId)) {
      const confirmationId = randomUUID()
      state.waiting.set(confirmationId, sessionId)
      tell(state, { type: 'mode_requested', sessionId, previousMode: before, nextMode: mode })
      return { mode: before, confirmationId }
    }
    change(state, sessionId, before, mode)
    return { mode }
  }

  /**
   * Confirms full access.
   * @throws SpillwayError `INVALID_ARGUMENT` if the id is unknown, or was already confirmed
   */
  confirm(confirmationId: string): ModeChange {
    const state = stateOf(this)
    const sessionId = state.waiting.get(confirmationId)
    if (sessionId === undefined) throw wrong('confirmationId', confirmationId, 'one that setMode answered')
    state.waiting.delete(confirmationId)
    state.confirmed.add(sessionId)
    change(state, sessionId, this.getMode(sessionId), 'full_access')
    return { mode: 'full_access' }
  }

  /** Removes the state of a session that has ended. */
  endSession(sessionId: string): void {
    checkSession(sessionId)
    const { modes, confirmed, waiting } = stateOf(this)
    modes.delete(sessionId)
    confirmed.delete(sessionId)
    for (const [id, session] of waiting) if (session === sessionId) waiting.delete(id)
  }
}

function change(state: State, sessionId: string, previousMode: PermissionMode, nextMode: PermissionMode): void {
  state.modes.set(sessionId, nextMode)
  tell(state, { type: 'mode_changed', sessionId, previousMode, nextMode })
}

function tell(state: State, event: ModeEvent): void {
  tellCaller('onEvent', state.onEvent, event)
}

function stateOf(controller: object): State {
  const state = states.get(controller)
  if (state === undefined) throw notAnInstance('ModeController')
  return state
}

function checkSession(sessionId: unknown): void {
  if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
}

function checkMode(field: string, mode: unknown): void {
  if (!PERMISSION_MODES.includes(mode as PermissionMode)) throw wrong(field, mode, listed(PERMISSION_MODES))
}
