/**
 * Spillway for the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk` 0.3): hooks around its tools, and `canUseTool`;
 * {@link withSpillway} sets up these and an MCP server in one call. The SDK has no hook before a request, so nothing is pruned
 * here; the SDK compacts by itself. The SDK itself is never loaded.
 */

export type { ClaudeCanUseTool, ClaudeHook } from './claude-agent-sdk/claude-hooks'
export {
  type ClaudeControls,
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
