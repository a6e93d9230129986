/** Everything about context overflow: limits, classification, recovery. */

export {
  type ClassifyOverflowOptions,
  classifyOverflow,
  type OverflowClass,
  type OverflowKind,
} from './classify-overflow'
export {
  type ContextFullOptions,
  isContextFull,
  type ModelLimits,
  type TokenUsage,
  usableTokens,
} from './context-window'
export {
  calculateMaxToolResultChars,
  GUARD_TRUNCATION_SUFFIX,
  HARD_MAX_TOOL_RESULT_CHARS,
  MAX_OVERFLOW_COMPACTION_ATTEMPTS,
  MAX_TOOL_RESULT_CONTEXT_SHARE,
  type MaxCharsOptions,
  MIN_KEEP_CHARS,
  type OverflowProfile,
} from './limits'
export { type Projection, type ProjectionState, type ProjectOptions, projectToolResults } from './project-tool-results'
export { OVERFLOW_TRANSITIONS, recoverFromOverflow } from './recover-from-overflow'
export type {
  Compacted,
  OverflowFacts,
  OverflowPlan,
  OverflowRecoveryState,
  OverflowReport,
  OverflowStep,
  Recovered,
  RecoverOptions,
} from './recovery-options'
export type { OverflowEvent, OverflowState, OverflowTransition } from './state-machine'
export {
  getToolResultTextLength,
  sessionLikelyHasOversizedToolResults,
  type TruncatedMessages,
  type TruncateResultsOptions,
  truncateOversizedToolResultsInMessages,
} from './truncate-tool-results'
