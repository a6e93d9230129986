/** The settings of truncation, and the context of an output. */

/**
 * Which part of a long text is kept: its start, its end, or both ends without the middle.
 * @default 'head'
 */
export type TruncationDirection = 'head' | 'tail' | 'both'

/** The built-in strategies that can be named instead of instantiated. */
export type TruncationStrategyName = 'default' | 'auto' | 'line' | 'byte' | 'smart' | 'json' | 'diff' | 'csv' | 'tests'

/** The language of the notices that Spillway writes. */
export type NoticeLanguage = 'en' | 'zh-CN'

/**
 * Limits, wording and order of a known agent, for hosts that must behave like it. A profile is data: it never weakens
 * safety and never loses text.
 */
export type TruncationProfile = 'opencode' | 'openclaw-2026-02' | 'openclaw' | 'snow' | 'takumi' | 'moryflow'

/** Limits and switches of truncation. `retentionDays` and `storageDir` are service-wide; the rest also per tool. */
export interface TruncationConfig {
  /**
   * Lines a preview may have, inclusive. A whole number of at least 1.
   * @default 2000
   */
  maxLines: number
  /**
   * UTF-8 bytes a preview may have, inclusive. A whole number of at least 1. For bytes and streams never
   * more than 511 MiB, which one string can hold.
   * @default 51200
   */
  maxBytes: number
  /**
   * Tokens a preview may have, inclusive, by the upper mode of {@link estimateTokens}: a tokenizer hardly ever counts more.
   * A whole number of at least 1. Default: no limit.
   */
  maxTokens?: number
  /** @default 'head' */
  direction: TruncationDirection
  /** @default true */
  enabled: boolean
  /**
   * Days after which `TruncationService.cleanup` removes saved outputs. More than 0; `Infinity` keeps them forever. Service-wide only.
   * @default 7
   */
  retentionDays: number
  /** First folder for saved outputs. Service-wide only. Default: the user's data directory. */
  storageDir?: string
  /** Overrides the service's strategy, by name, for this tool. */
  strategy?: TruncationStrategyName
  /**
   * Measures and shows an output as a terminal would: without colours, titles and links, and without text that was
   * overwritten or erased. The raw output is saved, and all numbers of a result are its lines and bytes. An output that is
   * not text is described. A strategy of your own gets the raw output.
   * @default false
   */
  terminal?: boolean
}

/** The fields that a tool, or a user's entry for a tool, may set. */
export type ToolTruncationConfig = Partial<TruncationConfig>

/** Overrides for one call. */
export interface TruncationOptions {
  maxLines?: number
  maxBytes?: number
  maxTokens?: number
  direction?: TruncationDirection
  /** `true` returns this output unchanged, whatever its size; `false` truncates it even if truncation is off. */
  skip?: boolean
  /** Overrides the strategy of the tool and of the service, by name, for this call. */
  strategy?: TruncationStrategyName
  /** Measures and shows this output as a terminal would; see {@link TruncationConfig}. */
  terminal?: boolean
}

/** Context of an output. */
export interface TruncationContext {
  /** The tool's name as the model calls it. Any string. */
  toolName: string
  /** Saved files of a session live in a folder of their own. */
  sessionId?: string | undefined
  /** For custom storages; Spillway does not read it. */
  messageId?: string | undefined
  /** Identifies the call that produced the output. The same content of the same call is saved once. */
  toolCallId?: string | undefined
  /** True if the call failed: the preview keeps the end, and the notice does not claim success. */
  failed?: boolean
  /**
   * Exit code of the command that printed the output, `null` if a signal ended it. With another one than 0 the call failed, unless
   * `failed` says otherwise.
   */
  exitCode?: number | null | undefined
  /**
   * The command line that printed the output. The strategy `smart` shows what `git diff` and its like print as a diff, and of
   * listings (`cat`, `rg`, `git log`) rather the start. Commands of more than 4,096 bytes are not read.
   */
  command?: string | undefined
  /**
   * The question that the output should answer, in any words: the model's description of the call, or the latest request. The
   * strategy `smart` then keeps the lines that contain its rarest words. Up to 4,096 bytes are read.
   */
  query?: string | undefined
  options?: TruncationOptions
  /**
   * Defaults of the caller, which every setting of the service, the tool and the user overrides. Where one of them sets `direction`
   * or a profile, the `strategy` given here does not apply.
   */
  defaults?: ToolTruncationConfig | undefined
  /** Options that the tool declares (its `truncation` property). They override `global`; the user's entry in `tools` overrides them. */
  declared?: ToolTruncationConfig
  /**
   * True if the tool has already truncated the output: it is returned unchanged up to the hard ceiling.
   */
  handled?: boolean
  /** Aborts the call: it rejects with the signal's reason and leaves no file. Middleware, which has a result already, saves it anyway. */
  signal?: AbortSignal | undefined
}

/** Which layer a field of the effective configuration came from, weakest first. */
export type ConfigSource =
  | 'default'
  | 'profile'
  | 'built-in tool'
  | 'caller'
  | 'global'
  | 'declared'
  | 'tool'
  | 'failed result'
  | 'call'

/** The configuration that a call would use, and the source of each field. */
export interface EffectiveConfig {
  config: TruncationConfig & { strategy: string; hardCeilingBytes: number }
  sources: Record<keyof TruncationConfig, ConfigSource>
}
