/**
 * Spillway for OpenAI's Agents SDK (`@openai/agents` 0.20): function tools and MCP servers with controls around them, a model
 * that prunes its requests and recovers from an overflow, and a filter and a session for runs that prune with
 * `callModelInputFilter`. The SDK itself is never loaded; its values are described by structural types.
 */

export type { AgentsControls, AgentsSource } from './openai-agents/controls'
export { guardModel } from './openai-agents/model'
export { type HostToolsOptions, hostTools, outputTools } from './openai-agents/output-tools'
export {
  type FilterArgs,
  type PruneFilter,
  type PruneFilterOptions,
  pruneFilter,
  storeUnpruned,
} from './openai-agents/session'
export { guardFunctionTool, guardMcpServer } from './openai-agents/tools'
export { type AgentsSpillwayOptions, type SpillwaySettings, withSpillway } from './openai-agents/with-spillway'
export type { SpillwayOptions } from './shared/spillway-kit'
export type * from './shared/types'
