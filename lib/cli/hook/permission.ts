/** The decision about a call before it runs. */

import { isAbsolute } from 'node:path'
import { PermissionPolicy } from 'spillway'
import type { HookFacts } from '../agents/types'
import type { Parsed } from '../command'
import { configOf, openStorage } from '../shared-options'
import type { Before } from './answers'
import type { HookCall } from './payload'

/** Judges a call by the rules of the user. @param wanted whether only what is denied is said, or also what is asked about */
export function decisionOf(hook: HookFacts, call: HookCall, wanted: 'deny' | 'ask', values: Parsed['values']): Before {
  const { options } = configOf(values)
  const { tool, args, sessionId } = call
  const cwd = call.cwd !== undefined && isAbsolute(call.cwd) ? call.cwd : undefined
  // Nothing is ever allowed by a hook, so the folder may be as wide as that of a session in a home folder.
  const wide = { vault: cwd, allowWideVault: true }
  const policy = new PermissionPolicy({ ...options.permission, ...wide, storage: openStorage(values) })
  const { decision, reasons } = policy.explain({ tool, args, cwd, sessionId, mode: options.mode })
  if (decision === 'allow' || (decision === 'ask' && (wanted === 'deny' || !hook.asks))) return {}
  return { decision, reason: `Spillway: ${reasons.join('; ') || decision}` }
}
