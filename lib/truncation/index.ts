/** Everything about truncation: strategies, storage, events and plugins. */

export { Capture } from '../capture/capture'
export type { CaptureOptions, CapturePeek } from '../capture/types'
export { createTruncation, type Truncation, type UserTruncationConfig } from '../service/create-truncation'
export { createTruncationMiddleware } from '../service/middleware'
export {
  createTruncationPlugin,
  type PluginHost,
  type PluginToolInfo,
  type PluginToolResult,
  type TruncationPlugin,
  truncationPlugin,
} from '../service/plugin'
export { TruncationService } from '../service/service'
export { DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS } from '../settings/defaults'
export { type AppPaths, appPaths } from '../storage/app-paths'
export { TruncationStorage } from '../storage/file-storage'
export { MemoryStorage, type MemoryStorageOptions } from '../storage/memory-storage'
export type {
  ByteRange,
  LineRange,
  OutputAccess,
  RangeResult,
  ReadRange,
  SearchMatch,
  SearchOptions,
  SearchResult,
} from '../storage/read'
export type { SavedOutput, StorageUsage, SweepOptions, SweepReport, SweptFile } from '../storage/retention'
export { StorageList } from '../storage/storage-list'
export type {
  ConfigSource,
  ContentOf,
  ContentPart,
  Durability,
  EffectiveConfig,
  ITruncationStorage,
  MiddlewareContext,
  NoticeInfo,
  NoticeLanguage,
  OtherContentPart,
  OutputService,
  PartialLine,
  RawOutput,
  RedactionOptions,
  SavedPart,
  SaveError,
  ShownRange,
  SmartRule,
  SmartStrategyOptions,
  StrategyResult,
  TestFailure,
  TestRun,
  TestRunChange,
  TextContentPart,
  ToolResultLike,
  ToolTruncationConfig,
  TruncatedResult,
  TruncationConfig,
  TruncationContent,
  TruncationContext,
  TruncationDirection,
  TruncationEvent,
  TruncationEventCallback,
  TruncationEventType,
  TruncationLimit,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationOptions,
  TruncationProfile,
  TruncationResult,
  TruncationServiceConfig,
  TruncationStorageOptions,
  TruncationStrategy,
  TruncationStrategyName,
  UntouchedResult,
} from '../types'
export { containsTruncationMarker } from './notice'
export type { TruncationReport } from './request'
export {
  AutoStrategy,
  BaseTruncationStrategy,
  ByteBasedStrategy,
  CsvStrategy,
  DefaultTruncationStrategy,
  DiffStrategy,
  JsonStrategy,
  LineBasedStrategy,
  SmartStrategy,
  TestsStrategy,
} from './strategies'
export { compareTestRuns, readTestRun } from './test-run'
