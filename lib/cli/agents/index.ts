/** The agents that `init`, `doctor` and `hook` know. */

import { wrongArgument } from '../command'
import { claudeCode } from './claude-code'
import { codex } from './codex'
import { copilot } from './copilot'
import { cursor } from './cursor'
import { gemini } from './gemini'
import { mcp } from './mcp'
import { opencode } from './opencode'
import { pi } from './pi'
import { qwen } from './qwen'
import type { Agent } from './types'

export const AGENTS: readonly Agent[] = [claudeCode, codex, gemini, qwen, copilot, cursor, opencode, pi, mcp]

/** @throws UsageError for a name that none has */
export function agentOf(name: string): Agent {
  const found = AGENTS.find((agent) => agent.name === name)
  if (found !== undefined) return found
  const names = AGENTS.map((agent) => agent.name)
  throw wrongArgument('agent', name, names)
}
