/** Everything that `spillway` exports. */

export { type AppPaths, appPaths } from './app-paths'
export { Capture } from './capture'
export { DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS } from './constants'
export { createTruncation, type Truncation, type UserTruncationConfig } from './create'
export { SpillwayError, type SpillwayErrorCode, type SpillwayErrorOptions } from './errors'
export {
  type OutdatedResultInfo,
  type SimplifiedReport,
  type SimplifyOutdatedOptions,
  simplifyOutdatedTerminalResults,
} from './history/outdated'
export { MemoryStorage, type MemoryStorageOptions } from './memory-storage'
export { createTruncationMiddleware } from './middleware'
export { containsTruncationMarker } from './notice'
export {
  createOutputTools,
  type OutputSource,
  type OutputTool,
  type OutputToolContext,
  type OutputToolResult,
  type OutputToolsOptions,
} from './output-tools'
export {
  createTruncationPlugin,
  type PluginHost,
  type PluginToolInfo,
  type PluginToolResult,
  type TruncationPlugin,
  truncationPlugin,
} from './plugin'
export type {
  ByteRange,
  LineRange,
  RangeResult,
  ReadRange,
  SearchMatch,
  SearchOptions,
  SearchResult,
} from './read-back'
export {
  type ExecutionContext,
  type Tool,
  type ToolCall,
  type ToolExecutionResult,
  ToolRegistry,
  type ToolRegistryConfig,
  type ToolResult,
} from './registry'
export { runCommand } from './run-command'
export { TruncationService } from './service'
export { TruncationStorage, type TruncationStorageOptions } from './storage'
export {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  DefaultTruncationStrategy,
  LineBasedStrategy,
} from './strategies'
export type { StorageUsage, SweepOptions, SweepReport, SweptFile } from './sweep'
export type * from './types'
