/** The options and events of `TruncationService`. */

import type {
  NoticeLanguage,
  ToolTruncationConfig,
  TruncationConfig,
  TruncationProfile,
  TruncationStrategyName,
} from './config'
import type { NoticeInfo } from './result'
import type { Durability, ITruncationStorage, RedactionOptions, SavedPart } from './storage'
import type { SmartRule, TruncationStrategy } from './strategy'

export type TruncationEventType = 'truncated' | 'skipped' | 'error'

/** Something that happened to an output. Exactly one `truncated` or `skipped` ends a call; `error` events may come before it. */
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
export interface TruncationServiceConfig extends Partial<Omit<TruncationConfig, 'strategy'>> {
  /** Settings for every tool. They may also be given beside the other options, as in `{ maxLines: 500 }`, which take precedence. */
  global?: Partial<TruncationConfig>
  /** Settings for single tools, merged field by field over the built-in ones. Aliases of a tool (`shell` for `bash`) count. */
  tools?: Record<string, ToolTruncationConfig>
  onEvent?: TruncationEventCallback
  /**
   * Saves full outputs elsewhere than in files, or in files of its own. `storageDirs`, `durability`, `maxStoreBytes`,
   * `maxStoreFiles`, `maxFileBytes` and `sweepOnSave` are then not read, because they belong to the storage;
   * `TruncationService.cleanup` passes it `retentionDays`. An output that it does not take in time is saved in the
   * default folders. The storages of a list are tried in order, and nothing else.
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
   * Where full outputs are saved, in order of preference; any failure moves on to the next.
   * @default the user's data folder, then a private temporary one
   */
  storageDirs?: readonly string[]
  /** @default 'process' */
  durability?: Durability
  /**
   * Most bytes that `TruncationService.sweep` leaves in the folders; above it the oldest are removed first, those of sessions in use last.
   * @default 4294967296
   */
  maxStoreBytes?: number
  /**
   * Most outputs that `TruncationService.sweep` leaves in the folders.
   * @default 10000
   */
  maxStoreFiles?: number
  /**
   * Most bytes of a saved file, at least 4,096. The file of a longer output has its first and last part and between
   * them one line with the number of missing bytes; its name ends with `.partial.txt`, and `savedPart` has the ranges.
   * A `storage` of your own has its own bound.
   * @default none
   */
  maxFileBytes?: number
  /**
   * Redacts secrets in saved outputs, in files or in a `storage` of your own. Previews stay as they are. The saved
   * output is then not lossless.
   * @default none
   */
  redact?: RedactionOptions
  /**
   * The storage sweeps with its first save and then with every hundredth, beside the save and without delaying it.
   * @default true; false with the profile `takumi`
   */
  sweepOnSave?: boolean
  /**
   * Bytes above which an output is truncated even if its tool turned truncation off.
   * @default 4 × maxBytes
   */
  hardCeilingBytes?: number
  /**
   * The whole text, notice included, keeps the limits.
   * @default false
   */
  noticeInside?: boolean
  /** @default 'en' */
  language?: NoticeLanguage
  /** The tools that the model can call, by the names it knows: the notice recommends only these. */
  availableTools?: readonly string[]
  /** Returns the notice instead of the built-in one. Must be synchronous; if it throws, the built-in notice is used. */
  formatNotice?: (info: NoticeInfo) => string
  /**
   * Milliseconds to wait for a custom storage to save.
   * @default 30000
   */
  storageTimeoutMs?: number
  /**
   * Uses the limits and the wording of a known agent.
   * @default none
   */
  profile?: TruncationProfile
}
