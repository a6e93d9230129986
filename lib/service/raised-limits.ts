/** Warns once where a limit for all tools raises the built-in limit of one. */

import { DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS } from '../settings/defaults'
import type { EffectiveConfig, TruncationContext } from '../types'

let isSaid = false
let isQuiet = false

/** Makes a service whose limits for all tools no user wrote. */
export function withoutWarning<T>(make: () => T): T {
  isQuiet = true
  try {
    return make()
  } finally {
    isQuiet = false
  }
}

/** Emits the warning `SPILLWAY_TOOL_LIMIT`, once in a process. */
export function warnOfRaisedLimits(effective: (context: TruncationContext) => EffectiveConfig): void {
  if (isSaid || isQuiet) return
  const usual = DEFAULT_TRUNCATION_CONFIG.maxLines
  for (const [toolName, { maxLines: own = usual }] of Object.entries(TOOL_TRUNCATION_CONFIGS)) {
    if (own >= usual) continue
    const { config, sources } = effective({ toolName })
    if (sources.maxLines !== 'global' || config.maxLines <= own) continue
    isSaid = true
    const { maxLines } = config
    process.emitWarning(
      `maxLines: ${maxLines} for all tools raises the limit of ${toolName}, which is ${own} lines otherwise. ` +
        `Set tools.${toolName}.maxLines: ${own} to keep it, or ${maxLines} if that is meant.`,
      { type: 'SpillwayWarning', code: 'SPILLWAY_TOOL_LIMIT' },
    )
    return
  }
}
