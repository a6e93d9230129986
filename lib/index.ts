/** The root of the package: the classes and functions that most agents use. Each feature has all of its names in a subpath. */

export { PermissionGate } from './approval/gate'
export type {
  AskContext,
  AskingGateOptions,
  AskResponse,
  GateCall,
  GateEvent,
  GateResponse,
  PermissionGateOptions,
} from './approval/gate-options'
export type { GateDecision, GateState, PendingRequest } from './approval/gate-state'
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
export type { CaptureOptions } from './capture/types'
export { runCommand } from './command/run-command'
export type { CommandProgress, CommandResult, RunCommandOptions, RunningCommand } from './command/types'
export { type CompactResult, compactHistory } from './compaction/compact-history'
export type { CompactOptions, Summarize } from './compaction/options'
export type { ReadStateOptions } from './compaction/read-state-options'
export type { CompactionPlan, CompactionReport } from './compaction/report'
export type { SummaryRequest } from './compaction/types'
export { ContextManager, type PrepareContextOptions } from './context/context-manager'
export type { ListedMessage } from './context/listed-messages'
export type { ContextManagerOptions } from './context/options'
export type { ContextReport, PreparedContext } from './context/report'
export type { ContextManagerState } from './context/state'
export { SpillwayError, type SpillwayErrorCode, type SpillwayErrorOptions } from './errors'
export type { DoomLoopAnswer, DoomLoopQuestion, ToolControls } from './guard/controls'
export { type GuardedTool, guardTool } from './guard/guard-tool'
export type { RefusalKind, RefusedMcpResult, RefusedResult } from './guard/refusals'
export {
  type ToolResultEntry,
  ToolResultLedger,
  type ToolResultLedgerOptions,
  type ToolResultLedgerState,
} from './history/ledger'
export type { SimplifiedReport, SimplifyOutdatedOptions } from './history/options'
export { simplifyOutdatedTerminalResults } from './history/outdated'
export {
  type DoomLoopCall,
  DoomLoopDetector,
  type DoomLoopOptions,
  type DoomLoopReason,
  type DoomLoopResult,
  type DoomLoopVerdict,
} from './loop-detection/detector'
export { type ClassifyOverflowOptions, classifyOverflow, type OverflowClass } from './overflow/classify-overflow'
export type { Recipient } from './overflow/provider-limits'
export { recoverFromOverflow } from './overflow/recover-from-overflow'
export type { OverflowPlan, OverflowReport, Recovered, RecoverOptions } from './overflow/recovery-options'
export { PermissionPolicy } from './permission/policy'
export type {
  AppliedRule,
  ExplainedTarget,
  PermissionCall,
  PermissionDecision,
  PermissionPolicyOptions,
  PermissionRule,
  PermissionVerdict,
  SuggestedRule,
} from './permission/types'
export type { HistoryPrunerOptions } from './pruning/options'
export { HistoryPruner, type PruneResult } from './pruning/pruner'
export type { PrunedItem, PruneReport } from './pruning/report'
export type { HistoryPrunerState } from './pruning/state'
export type { PromptUsage } from './pruning/usage'
export { createTruncation, type Truncation, type UserTruncationConfig } from './service/create-truncation'
export { createTruncationMiddleware } from './service/middleware'
export { TruncationService } from './service/service'
export { TruncationStorage } from './storage/file-storage'
export { MemoryStorage, type MemoryStorageOptions } from './storage/memory-storage'
export type { OutputAccess, RangeResult, ReadRange, SearchMatch, SearchOptions, SearchResult } from './storage/read'
export type { SavedOutput, StorageUsage, SweepOptions, SweepReport, SweptFile } from './storage/retention'
export { type EstimateTokensOptions, estimateTokens } from './tokens/tokens'
export {
  createOutputTools,
  type OutputStore,
  type OutputStoreHolder,
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
export type {
  ContentOf,
  EffectiveConfig,
  ITruncationStorage,
  MiddlewareContext,
  OutputService,
  ToolResultLike,
  ToolResultRecord,
  ToolTruncationConfig,
  TruncatedResult,
  TruncationConfig,
  TruncationContent,
  TruncationContext,
  TruncationDirection,
  TruncationEvent,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationOptions,
  TruncationResult,
  TruncationServiceConfig,
  TruncationStorageOptions,
  TruncationStrategy,
  TruncationStrategyName,
  UntouchedResult,
} from './types'
