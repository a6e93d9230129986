/** The options and events of `TruncationService`. */

import type {
  NoticeLanguage,
  ToolTruncationConfig,
  TruncationConfig,
  TruncationProfile,
  TruncationStrategyName,
} from './config'
import type { NoticeInfo } from './result'
import type { ITruncationStorage, SavedPart, TruncationStorageOptions } from './storage'
import type { SmartRule, TruncationStrategy } from './strategy'

export type TruncationEventType = 'truncated' | 'skipped' | 'error'

/** An event of an output. Each call ends with exactly one `truncated` or `skipped` event; `error` events may come before it. */
export interface TruncationEvent {
  type: TruncationEventType
  toolName: string
  /** UTF-8 bytes of the raw output. */
  originalSize: number
  /** UTF-8 bytes of the text for the model. */
  truncatedSize: number
  outputPath?: string
  /** As in the result. */
  savedPart?: SavedPart
  /** As in the result. */
  redactions?: number
  error?: string
  /** The stable code of the error, where it has one. */
  errorCode?: string
  /** Milliseconds since the epoch. */
  timestamp: number
  sessionId?: string
  toolCallId?: string
}

export type TruncationEventCallback = (event: TruncationEvent) => void

/** Options of `TruncationService`. */
export interface TruncationServiceConfig
  extends Partial<Omit<TruncationConfig, 'strategy'>>,
    Omit<TruncationStorageOptions, 'retentionDays'> {
  /** Settings for every tool. They may also be given next to the other options, as in `{ maxLines: 500 }`; those take precedence. */
  global?: Partial<TruncationConfig>
  /** Settings for single tools, merged field by field over the built-in ones. Aliases of a tool (`shell` for `bash`) count. */
  tools?: Record<string, ToolTruncationConfig>
  onEvent?: TruncationEventCallback
  /**
   * Saves full outputs in another place instead of the default files. `redact` is applied first. `storageDirs`, `durability`,
   * `maxStoreBytes`,
   * `maxStoreFiles`, `maxFileBytes` and `sweepOnSave` are then ignored, because they belong to the storage;
   * `TruncationService.cleanup` passes it `retentionDays`. An output that it does not save in time is saved in the default
   * folders. In a list, the storages are tried in order, and the default folders are not used.
   */
  storage?: ITruncationStorage | readonly ITruncationStorage[]
  /** @default 'default' */
  strategy?: TruncationStrategy | TruncationStrategyName
  /**
   * Rules of the strategy `smart` besides the built-in ones, for every tool; at most 64. Those of a `SmartStrategy` that
   * is the `strategy` come on top.
   * @default none
   */
  smartRules?: readonly SmartRule[]
  /**
   * Bytes above which an output is truncated even if its tool turned truncation off.
   * @default 4 × maxBytes
   */
  hardCeilingBytes?: number
  /**
   * True if preview and notice together must stay within the limits.
   * @default false
   */
  noticeInside?: boolean
  /** @default 'en' */
  language?: NoticeLanguage
  /** The names of the tools that the model can call: the notice recommends only these. */
  availableTools?: readonly string[]
  /** Returns the notice instead of the built-in one. Must be synchronous; if it throws, the built-in notice is used. */
  formatNotice?: (info: NoticeInfo) => string
  /**
   * Milliseconds to wait for a custom storage to save. The signal of its context is then aborted, and the next storage gets the output.
   * @default 30000
   */
  storageTimeoutMs?: number
  /**
   * Uses the limits and the wording of a known agent as defaults.
   * @default none
   */
  profile?: TruncationProfile
}
