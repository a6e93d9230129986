/** Checks the options of an adapter, and reports its events. */

import { isAbsolute } from 'node:path'
import type { ToolControls } from 'spillway'
import { hasListener } from '../../approval/gate'
import { SpillwayError } from '../../errors'
import { CONTROL_KEYS, checkToolControls } from '../../guard/controls'
import { RECOVER_CHECKS } from '../../overflow/recovery-options'
import { type OutputOwner, owner } from '../../storage/saved-outputs'
import { folderFor } from '../../tools/working-folder'
import { messageOf } from '../../util/message-of'
import { tellCaller, warn } from '../../util/warn'
import { anything, type Check, checkOptions, fn, folder, objectOrOff, wholeFrom } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'
import { givenPermission } from './harmless'
import type { AdapterControls, AdapterEvent, HistoryControl, RecoveryOptions, RequestControls } from './types'

const isFunction = (value: unknown) => typeof value === 'function'

const REQUESTS: Readonly<Record<keyof RequestControls, Check>> = {
  history: [
    'an object with prune or prepare, or a function that answers one',
    (value) => isFunction(value) || isControl(value),
  ],
  recovery: objectOrOff,
  onEvent: fn,
  now: fn,
}

/** The options of a recovery that the request itself does not say. */
const {
  messages: _messages,
  overflow: _overflow,
  state: _state,
  signal: _signal,
  duringCompaction: _during,
  provider: _provider,
  model: _model,
  ...KNOWN
} = RECOVER_CHECKS

const RECOVERY: Readonly<Record<keyof RecoveryOptions, Check>> = { ...KNOWN, retries: wholeFrom(0) }

// The host's own shape of a refusal is what an adapter is for.
const AROUND_TOOLS = CONTROL_KEYS.filter((key) => key !== 'refusal')
const TOOLS: Readonly<Record<string, Check>> = Object.fromEntries(AROUND_TOOLS.map((key) => [key, anything]))

/** True if this is something that prepares a history. */
export function isControl(value: unknown): value is HistoryControl {
  const { prune, prepare } = Object(value) as { prune?: unknown; prepare?: unknown }
  return isFunction(prune) || isFunction(prepare)
}

/**
 * Checks what an adapter was given.
 * @throws SpillwayError `INVALID_ARGUMENT` that names the field
 */
export function checkControls(controls: unknown, own: Readonly<Record<string, Check>> = {}): void {
  if (!isRecord(controls)) throw wrong('controls', controls, 'an object')
  checkOptions('controls', controls, { ...REQUESTS, ...TOOLS, workingDirectory: folder, ...own })
  checkToolControls(toolControls(controls))
  if (isRecord(controls.recovery)) checkOptions('controls.recovery', controls.recovery, RECOVERY)
}

/** The controls that `guardTool` knows. */
export function toolControls(controls: AdapterControls): ToolControls {
  const known = AROUND_TOOLS as (keyof AdapterControls)[]
  return Object.fromEntries(known.filter((key) => controls[key] !== undefined).map((key) => [key, controls[key]]))
}

/** The folder that a call runs in, where its host names none: that of its tool, else that of the adapter. */
export function folderOf(controls: Pick<AdapterControls, 'workingDirectory'>, tool: unknown): string | undefined {
  try {
    return folderFor(Object(tool) as object, controls)
  } catch {
    // A tool of a framework may be anything that throws when it is read.
    return folderFor(controls)
  }
}

/** Knows which outputs were saved by the service that is `truncation`; nothing where that is not known. */
export function storageOf({ truncation }: Pick<AdapterControls, 'truncation'>): OutputOwner | undefined {
  const { storage } = Object(truncation) as { storage?: unknown }
  return owner[1](storage) ? (storage as OutputOwner) : undefined
}

/** The folder of saved outputs, where `truncation` is a service that saves files; nothing where that is not known. */
export function storageDirOf({ truncation }: Pick<AdapterControls, 'truncation'>): string | undefined {
  const { storage } = Object(truncation) as { storage?: { getStorageDir?: unknown } }
  if (typeof storage?.getStorageDir !== 'function') return undefined
  try {
    const folder: unknown = storage.getStorageDir()
    return typeof folder === 'string' && isAbsolute(folder) ? folder : undefined
  } catch {
    // A storage of the caller's own need not have one.
    return undefined
  }
}

/** Tells the caller, who cannot get in the way. */
export function tell({ onEvent }: Pick<RequestControls, 'onEvent'>, event: AdapterEvent): void {
  if (onEvent === undefined) {
    if (event.type === 'error') warn('adapter', event.error)
    return
  }
  tellCaller('onEvent', onEvent, event)
}

/** Tells of a gate whose questions no one hears: a call that it asks about waits until `pending` is looked at. */
export function tellUnheard(controls: AdapterControls): void {
  const { permission } = controls
  if (permission === undefined || hasListener(givenPermission(permission))) return
  const error = new SpillwayError(
    'INVALID_ARGUMENT',
    'permission: the gate has neither ask nor onEvent, so a call that it asks about waits',
  )
  tell(controls, { type: 'error', error })
}

/** Reports a failure that cost no request. */
export function tellError(
  controls: Pick<RequestControls, 'onEvent'>,
  what: string,
  thrown: unknown,
  sessionId?: string,
): void {
  const error =
    thrown instanceof SpillwayError
      ? thrown
      : new SpillwayError('CALLBACK', `${what}: ${messageOf(thrown)}`, { cause: thrown })
  tell(controls, { type: 'error', ...(sessionId !== undefined && { sessionId }), error })
}

/** The session that the caller's function names, else the one of the controls. Never throws. */
export function sessionFrom(controls: AdapterControls, name: () => unknown): string | undefined {
  try {
    const named = name()
    if (typeof named === 'string' && named !== '') return named
  } catch (thrown) {
    tellError(controls, 'sessionOf', thrown)
  }
  return controls.sessionId
}
