/**
 * Spillway for the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk` 0.3): hooks around its tools, and `canUseTool`; {@link withSpillway} is
 * these and a server of MCP in one call. The SDK has no hook before a request, so nothing is pruned here; its own compaction does that. The
 * SDK itself is never loaded.
 */

export {
  type ClaudeCanUseTool,
  type ClaudeControls,
  type ClaudeHook,
  type ClaudeOptions,
  claudeOptions,
} from './claude-agent-sdk/claude-options'
export type { OutputServer } from './claude-agent-sdk/output-server'
export {
  type ClaudeQueryOptions,
  type ClaudeSpillwayOptions,
  type QueryParts,
  withSpillway,
} from './claude-agent-sdk/with-spillway'
export type { AdapterEvent } from './shared/types'
