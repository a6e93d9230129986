/** Everything that `spillway` exports. */

export {
  type GateCall,
  type GateDecision,
  type GateEvent,
  type GateResponse,
  type GateState,
  type PendingRequest,
  PermissionGate,
  type PermissionGateOptions,
} from './approval/gate'
export { type ModeChange, ModeController, type ModeControllerOptions, type ModeEvent } from './approval/mode'
export {
  type AuditEvent,
  AuditLog,
  type AuditLogOptions,
  type AuditReceipt,
  type AuditReport,
  type BadAuditRecord,
  type VerifyAuditOptions,
  verifyAudit,
} from './audit/audit-log'
export { Capture } from './capture/capture'
export { runCommand } from './command/run-command'
export type * from './command/types'
export type { FoldState } from './compaction/apply-summary'
export {
  type CompactResult,
  type CutPoint,
  compactHistory,
  compactionStep,
  cutPoints,
} from './compaction/compact-history'
export type {
  CompactionAfterHook,
  CompactionBeforeHook,
  CompactionBeforeInfo,
  CompactionEdit,
  CompactionHooks,
} from './compaction/hooks'
export type {
  CompactionEnvironment,
  CompactionProfile,
  CompactOptions,
  Summarize,
  SummaryRequest,
} from './compaction/options'
export type { CompactionPlan, CompactionReason, CompactionReport, CompactionState } from './compaction/report'
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
} from './config/config-file'
export {
  ContextManager,
  type ContextManagerState,
  type ContextReport,
  type PreparedContext,
} from './context/context-manager'
export type { ContextManagerOptions } from './context/options'
export type { ContextStep } from './context/steps'
export { SpillwayError, type SpillwayErrorCode, type SpillwayErrorOptions } from './errors'
export { type AgentDefinition, type LoadAgentsOptions, type LoadedAgents, loadAgents } from './extensions/agents'
export {
  type ModelSettingsInput,
  type ParameterSetting,
  type ResolvedModelSettings,
  type ResolveModelSettingsOptions,
  resolveModelSettings,
  type SettingSource,
  type UserParameter,
} from './extensions/model-settings'
export type { ModelParameterChange, ModelParameters } from './extensions/parameters'
export type { ExtensionProblem } from './extensions/scan-folder'
export { type LoadedTools, type LoadToolsOptions, loadTools } from './extensions/tools'
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
export type { HistoryFormatName } from './history/message-view'
export {
  type OutdatedResultInfo,
  type SimplifiedReport,
  type SimplifyOutdatedOptions,
  simplifyOutdatedTerminalResults,
} from './history/outdated'
export { type RepairToolPairsOptions, repairToolPairs } from './history/repair-tool-pairs'
export { HookRunner } from './hooks/runner'
export type * from './hooks/types'
export {
  type DoomLoopCall,
  DoomLoopDetector,
  type DoomLoopOptions,
  type DoomLoopReason,
  type DoomLoopResult,
  type DoomLoopVerdict,
} from './loop-detection/detector'
export {
  type ClassifyOverflowOptions,
  classifyOverflow,
  type OverflowClass,
  type OverflowKind,
} from './overflow/classify-overflow'
export {
  type ContextFullOptions,
  isContextFull,
  type ModelLimits,
  type TokenUsage,
  usableTokens,
} from './overflow/context-window'
export type { CutText, SentResult } from './overflow/limit-results'
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
export {
  type Projection,
  type ProjectionState,
  type ProjectOptions,
  projectToolResults,
} from './overflow/project-tool-results'
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
} from './overflow/recover-from-overflow'
export type { OverflowEvent, OverflowState, OverflowTransition } from './overflow/state-machine'
export {
  getToolResultTextLength,
  sessionLikelyHasOversizedToolResults,
  type TruncatedMessages,
  type TruncateResultsOptions,
  truncateOversizedToolResultsInMessages,
} from './overflow/truncate-tool-results'
export { PermissionPolicy } from './permission/policy'
export type * from './permission/types'
export type { HistoryPrunerOptions, PrunedInfo, PrunePrices } from './pruning/options'
export type { PolicyName, PrunePolicy } from './pruning/policies'
export {
  HistoryPruner,
  type HistoryPrunerState,
  type PrunedItem,
  type PruneReason,
  type PruneReport,
  type PruneResult,
} from './pruning/pruner'
export {
  type GuardedResultInfo,
  type GuardedSession,
  type GuardSessionOptions,
  guardSession,
} from './session/guard-session'
export { JsonlSession, type JsonlSessionOptions } from './session/jsonl-session'
export { MemorySession } from './session/memory-session'
export type { SessionDamage } from './session/repair-jsonl'
export {
  type TruncatedSession,
  type TruncateSessionParams,
  truncateOversizedToolResultsInSession,
} from './session/truncate-session'
export type { NewSessionEntry, Session, SessionEntry } from './session/types'
export { DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS } from './settings/defaults'
export { type AppPaths, appPaths } from './storage/app-paths'
export { TruncationStorage, type TruncationStorageOptions } from './storage/file-storage'
export { MemoryStorage, type MemoryStorageOptions } from './storage/memory-storage'
export type {
  ByteRange,
  LineRange,
  OutputAccess,
  RangeResult,
  ReadRange,
  SearchMatch,
  SearchOptions,
  SearchResult,
} from './storage/read'
export type { SavedOutput, StorageUsage, SweepOptions, SweepReport, SweptFile } from './storage/retention'
export { StorageList } from './storage/storage-list'
export {
  type EstimateTokensOptions,
  estimateTokens,
  loadTokenCounter,
  TokenCalibration,
  type TokenCounter,
  type TokenCounterPackage,
  type TokenSample,
} from './tokens/tokens'
export {
  type DoomLoopAnswer,
  type DoomLoopQuestion,
  type GuardedTool,
  guardTool,
  type RefusalKind,
  type RefusedResult,
  type ToolControls,
  type ToolHookRunner,
} from './tools/guard-tool'
export {
  createOutputTools,
  type OutputSource,
  type OutputTool,
  type OutputToolContext,
  type OutputToolResult,
  type OutputToolsOptions,
} from './tools/output-tools'
export {
  type ExecutionContext,
  type Tool,
  type ToolCall,
  type ToolExecutionResult,
  ToolRegistry,
  type ToolRegistryConfig,
  type ToolResult,
} from './tools/registry'
export { createTruncation, type Truncation, type UserTruncationConfig } from './truncation/create-truncation'
export { createTruncationMiddleware } from './truncation/middleware'
export { containsTruncationMarker } from './truncation/notice'
export {
  createTruncationPlugin,
  type PluginHost,
  type PluginToolInfo,
  type PluginToolResult,
  type TruncationPlugin,
  truncationPlugin,
} from './truncation/plugin'
export { TruncationService } from './truncation/service'
export {
  BaseTruncationStrategy,
  ByteBasedStrategy,
  CsvStrategy,
  DefaultTruncationStrategy,
  DiffStrategy,
  JsonStrategy,
  LineBasedStrategy,
  SmartStrategy,
} from './truncation/strategies'
export type * from './types'
