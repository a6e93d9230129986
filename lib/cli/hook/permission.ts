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
  const { tool, args } = judgedAs(hook, call)
  const { sessionId } = call
  const cwd = call.cwd !== undefined && isAbsolute(call.cwd) ? call.cwd : undefined
  // Nothing is ever allowed by a hook, so the folder may be as wide as that of a session in a home folder.
  const wide = { vault: cwd, allowWideVault: true }
  const policy = new PermissionPolicy({ ...options.permission, ...wide, storage: openStorage(values) })
  const { decision, reasons } = policy.explain({
    tool,
    args,
    cwd,
    sessionId,
    mode: options.mode,
    ...(hook.harmless?.includes(tool) && { touchesNothing: true }),
  })
  if (decision === 'allow' || (decision === 'ask' && (wanted === 'deny' || !hook.asks))) return {}
  return { decision, reason: `Spillway: ${reasons.join('; ') || decision}` }
}

/** A call in the words of the rules. */
function judgedAs({ judges }: HookFacts, { tool, args }: HookCall): Pick<HookCall, 'tool' | 'args'> {
  const known = judges !== undefined && Object.hasOwn(judges, tool) ? judges[tool] : undefined
  if (known !== undefined) {
    const { patch = '' } = known
    return { tool: known.tool, args: Object.hasOwn(args, patch) ? { ...args, input: args[patch] } : args }
  }
  return { tool, args }
}
