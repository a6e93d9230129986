/** Everything about histories: formats, pairs of calls and results, pruning, compaction. */

export {
  type CompactResult,
  type CutPoint,
  compactHistory,
  compactionStep,
  cutPoints,
} from '../compaction/compact-history'
export type {
  CompactionAfterHook,
  CompactionBeforeHook,
  CompactionBeforeInfo,
  CompactionEdit,
  CompactionHooks,
} from '../compaction/hooks'
export type { CompactionProfile, CompactOptions, Summarize } from '../compaction/options'
export type { ReadStateOptions } from '../compaction/read-state-options'
export type { CompactionPlan, CompactionReason, CompactionReport, CompactionState } from '../compaction/report'
export type { CompactionEnvironment, SummaryRequest } from '../compaction/types'
export { ContextManager, type PrepareContextOptions } from '../context/context-manager'
export type { ListedMessage } from '../context/listed-messages'
export type { ContextManagerOptions } from '../context/options'
export type { ContextReport, PreparedContext } from '../context/report'
export type { ContextSavings } from '../context/savings'
export type { ContextManagerState } from '../context/state'
export type { ContextStep } from '../context/step-reports'
export type { Recipient } from '../overflow/provider-limits'
export {
  adviseCacheLifetime,
  type CacheLifetimeAdvice,
  type NextPingOptions,
  nextPing,
  type PausedRequest,
  type PingAdvice,
} from '../pruning/keep-warm'
export type { HistoryPrunerOptions, PrunedInfo } from '../pruning/options'
export type { PolicyName, PrunePolicy } from '../pruning/policies'
export type { PrunePrices } from '../pruning/prices'
export type {
  AnthropicEdit,
  AnthropicEditing,
  DropThinkingOptions,
  OpenAIEditing,
  ProviderEdits,
  ToProviderOptions,
} from '../pruning/provider-editing'
export { HistoryPruner, type PruneResult } from '../pruning/pruner'
export type { PrunedItem, PruneReason, PruneReport } from '../pruning/report'
export type { HistoryPrunerState } from '../pruning/state'
export type { PromptUsage } from '../pruning/usage'
export type { ToolResultRecord, ToolResultRecorder } from '../types'
export type { ThinkingMode } from './bound-thinking'
export type { EstimateTokens } from './estimate'
export { detectFormat } from './formats'
export {
  type ToolResultEntry,
  type ToolResultKnowledge,
  ToolResultLedger,
  type ToolResultLedgerOptions,
  type ToolResultLedgerState,
} from './ledger'
export type { HistoryFormatName } from './message-view'
export type { OutdatedResultInfo, SimplifiedReport, SimplifyOutdatedOptions } from './options'
export { simplifyOutdatedTerminalResults } from './outdated'
export { type RepairToolPairsOptions, repairToolPairs } from './repair-tool-pairs'
