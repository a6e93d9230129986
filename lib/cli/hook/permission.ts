/** The decision about a call before it runs. */

import { PermissionPolicy } from 'spillway'
import type { HookFacts } from '../agents/types'
import type { Parsed } from '../command'
import { configOf, openStorage } from '../shared-options'
import type { Before } from './answers'
import type { HookCall } from './payload'

/** Judges a call by the rules of the user. @param wanted whether only what is denied is said, or also what is asked about */
export function decisionOf(hook: HookFacts, call: HookCall, wanted: 'deny' | 'ask', values: Parsed['values']): Before {
  const { options } = configOf(values)
  const policy = new PermissionPolicy({ ...options.permission, vault: call.cwd, storage: openStorage(values) })
  const { tool, args, cwd, sessionId } = call
  const { decision, reasons } = policy.explain({ tool, args, cwd, sessionId, mode: options.mode })
  if (decision === 'allow' || (decision === 'ask' && (wanted === 'deny' || !hook.asks))) return {}
  return { decision, reason: `Spillway: ${reasons.join('; ') || decision}` }
}
