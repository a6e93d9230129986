/** Everything that `spillway` exports. */

export { type AppPaths, appPaths } from './app-paths'
export {
  type AuditEvent,
  AuditLog,
  type AuditLogOptions,
  type AuditReceipt,
  type AuditReport,
  type BadAuditRecord,
  type VerifyAuditOptions,
  verifyAudit,
} from './audit'
export { Capture } from './capture'
export {
  type ConfigChange,
  type ConfigFinding,
  type ConfigOptions,
  type ConfigProblem,
  type LoadConfigOptions,
  type LoadedConfig,
  lintConfig,
  loadConfig,
  type SpillwayConfig,
  updateConfig,
} from './config-file'
export { DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS } from './constants'
export {
  ContextManager,
  type ContextManagerState,
  type ContextReport,
  type PreparedContext,
} from './context-manager/manager'
export type { ContextManagerOptions } from './context-manager/options'
export type { ContextStep } from './context-manager/steps'
export { createTruncation, type Truncation, type UserTruncationConfig } from './create'
export {
  type DoomLoopCall,
  DoomLoopDetector,
  type DoomLoopOptions,
  type DoomLoopReason,
  type DoomLoopResult,
  type DoomLoopVerdict,
} from './doom-loop'
export { SpillwayError, type SpillwayErrorCode, type SpillwayErrorOptions } from './errors'
export { type AgentDefinition, type LoadAgentsOptions, type LoadedAgents, loadAgents } from './extension/agents'
export type { ExtensionProblem } from './extension/folder'
export {
  type ModelSettingsInput,
  type ParameterSetting,
  type ResolvedModelSettings,
  type ResolveModelSettingsOptions,
  resolveModelSettings,
  type SettingSource,
  type UserParameter,
} from './extension/model-settings'
export type { ModelParameterChange, ModelParameters } from './extension/parameters'
export { type LoadedTools, type LoadToolsOptions, loadTools } from './extension/tools'
export {
  type DoomLoopAnswer,
  type DoomLoopQuestion,
  type GuardedTool,
  guardTool,
  type RefusalKind,
  type RefusedResult,
  type ToolControls,
  type ToolHookRunner,
} from './guard-tool'
export {
  type CompactResult,
  type CutPoint,
  compactHistory,
  compactionStep,
  cutPoints,
} from './history/compact/compact'
export type { FoldState } from './history/compact/fold'
export type {
  CompactionAfterHook,
  CompactionBeforeHook,
  CompactionBeforeInfo,
  CompactionEdit,
  CompactionHooks,
} from './history/compact/hooks'
export type {
  CompactionEnvironment,
  CompactionProfile,
  CompactOptions,
  Summarize,
  SummaryRequest,
} from './history/compact/options'
export type { CompactionPlan, CompactionReason, CompactionReport, CompactionState } from './history/compact/report'
export type { EstimateTokens } from './history/estimate'
export { detectFormat } from './history/formats'
export {
  type ToolResultKnowledge,
  ToolResultLedger,
  type ToolResultLedgerOptions,
  type ToolResultLedgerState,
  type ToolResultRecord,
  type ToolResultRecorder,
} from './history/ledger'
export {
  type OutdatedResultInfo,
  type SimplifiedReport,
  type SimplifyOutdatedOptions,
  simplifyOutdatedTerminalResults,
} from './history/outdated'
export type { HistoryPrunerOptions, PrunedInfo, PrunePrices } from './history/prune/options'
export type { PolicyName, PrunePolicy } from './history/prune/policies'
export {
  HistoryPruner,
  type HistoryPrunerState,
  type PrunedItem,
  type PruneReason,
  type PruneReport,
  type PruneResult,
} from './history/prune/pruner'
export { type RepairToolPairsOptions, repairToolPairs } from './history/repair'
export type { HistoryFormatName } from './history/view'
export { HookRunner } from './hooks/runner'
export type * from './hooks/types'
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
export type { CutText, SentResult } from './overflow/bound'
export {
  type ClassifyOverflowOptions,
  classifyOverflow,
  type OverflowClass,
  type OverflowKind,
} from './overflow/classify'
export {
  calculateMaxToolResultChars,
  GUARD_TRUNCATION_SUFFIX,
  HARD_MAX_TOOL_RESULT_CHARS,
  MAX_OVERFLOW_COMPACTION_ATTEMPTS,
  MAX_TOOL_RESULT_CONTEXT_SHARE,
  type MaxCharsOptions,
  MIN_KEEP_CHARS,
  type OverflowProfile,
} from './overflow/limits'
export type { OverflowEvent, OverflowState, OverflowTransition } from './overflow/machine'
export { type Projection, type ProjectionState, type ProjectOptions, projectToolResults } from './overflow/project'
export {
  type Compacted,
  OVERFLOW_TRANSITIONS,
  type OverflowFacts,
  type OverflowPlan,
  type OverflowRecoveryState,
  type OverflowReport,
  type OverflowStep,
  type Recovered,
  type RecoverOptions,
  recoverFromOverflow,
} from './overflow/recover'
export {
  type TruncatedSession,
  type TruncateSessionParams,
  truncateOversizedToolResultsInSession,
} from './overflow/session'
export {
  getToolResultTextLength,
  sessionLikelyHasOversizedToolResults,
  type TruncatedMessages,
  type TruncateResultsOptions,
  truncateOversizedToolResultsInMessages,
} from './overflow/truncate'
export {
  type ContextFullOptions,
  isContextFull,
  type ModelLimits,
  type TokenUsage,
  usableTokens,
} from './overflow/usable'
export {
  type GateCall,
  type GateDecision,
  type GateEvent,
  type GateResponse,
  type GateState,
  type PendingRequest,
  PermissionGate,
  type PermissionGateOptions,
} from './permission/gate'
export { type ModeChange, ModeController, type ModeControllerOptions, type ModeEvent } from './permission/mode'
export { PermissionPolicy } from './permission/policy'
export type * from './permission/types'
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
  OutputAccess,
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
export type * from './run-command-types'
export { TruncationService } from './service'
export { type GuardedResultInfo, type GuardedSession, type GuardSessionOptions, guardSession } from './session/guard'
export { JsonlSession, type JsonlSessionOptions } from './session/jsonl-session'
export { MemorySession } from './session/memory-session'
export type { SessionDamage } from './session/read-log'
export type { NewSessionEntry, Session, SessionEntry } from './session/session'
export { TruncationStorage, type TruncationStorageOptions } from './storage'
export {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  CsvStrategy,
  DefaultTruncationStrategy,
  DiffStrategy,
  JsonStrategy,
  LineBasedStrategy,
  SmartStrategy,
} from './strategies'
export type { StorageUsage, SweepOptions, SweepReport, SweptFile } from './sweep'
export {
  type EstimateTokensOptions,
  estimateTokens,
  loadTokenCounter,
  TokenCalibration,
  type TokenCounter,
  type TokenCounterPackage,
  type TokenSample,
} from './tokens'
export type * from './types'
