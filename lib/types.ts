/**
 * The public shapes of truncation. Types only: nothing here runs.
 *
 * Units, everywhere: bytes are UTF-8 bytes; a line ends with `\n` (`\r\n` is one break), and a
 * final newline ends the last line without starting another; times are milliseconds.
 */

/**
 * Which part of a long text is kept: its start, its end, or both with the middle left out.
 * @default 'head'
 */
export type TruncationDirection = 'head' | 'tail' | 'both'

/** Limit that stopped the preview. */
export type TruncationLimit = 'lines' | 'bytes' | 'tokens'

/** The built-in strategies that can be named instead of instantiated. */
export type TruncationStrategyName = 'default' | 'line' | 'byte' | 'smart' | 'json' | 'diff' | 'csv' | 'tests'

/** The language of the notices that Spillway writes. */
export type NoticeLanguage = 'en' | 'zh-CN'

/**
 * Numbers, wording and order of a known agent, for hosts that must look like it. A profile is data: it never weakens
 * safety and never loses text.
 */
export type TruncationProfile = 'opencode' | 'openclaw-2026-02' | 'openclaw' | 'snow' | 'takumi' | 'moryflow'

/**
 * A stretch of the original text that the preview shows. Lines count from 1, bytes from 0; ends are exclusive for bytes,
 * inclusive for lines.
 */
export interface ShownRange {
  fromLine: number
  toLine: number
  fromByte: number
  toByte: number
}

/** A line that was cut inside because not even one line fitted: `shownBytes` of its `totalBytes` are in the preview. */
export interface PartialLine {
  line: number
  shownBytes: number
  totalBytes: number
}

/** Where the full output went wrong on its way to the disk. The preview is returned all the same. */
export interface SaveError {
  /** Stable code, such as `STORAGE_WRITE` or `STORAGE_TIMEOUT`. */
  code: string
  message: string
  /** Every directory that was tried, in order, with the operating system's reason (`ENOSPC: no space left on device`, …). */
  attempts: { dir: string; error: string }[]
}

/** Part of an output longer than `maxFileBytes` that the file holds: its first and last bytes, with one line between them. */
export interface SavedPart {
  /** Bytes of the start of the output; the first of the file. */
  headBytes: number
  /** Bytes of the end of the output; the last of the file. */
  tailBytes: number
  /** Bytes between them, which were not kept. */
  omittedBytes: number
}

/**
 * Secrets that are redacted before an output is saved. Each byte becomes `*`, except line breaks, so sizes, line
 * numbers and offsets stay true of the saved file, and the length of a secret shows. Overlapping matches count as one.
 *
 * A match of up to 65,536 bytes is always found, wherever an output is split. In a longer one at least the first 65,536 bytes
 * are redacted, or nothing if no shorter part of it matches.
 */
export interface RedactionOptions {
  /**
   * Regular expressions of Rust's `regex` crate, at most 100 of 1 to 4,096 bytes: no look-around and no back-references, and
   * none that matches the empty string. A `RegExp` keeps its source and the flags `i`, `m` and `s`; `u` is always on.
   * In an expression with a group named `secret`, only the match of that group is redacted.
   */
  patterns?: readonly (string | RegExp)[]
  /** Secrets that are known, found wherever they stand: at most 10,000 of 4 to 65,536 UTF-8 bytes, 1 MiB in all. */
  values?: readonly string[]
  /**
   * Redacts what has the shape of a well-known secret: private keys, JSON web tokens, `Authorization` and other headers with a
   * key, cookies, passwords in URLs and in arguments (`curl -u`, `mysql -p`), and the tokens of about 200 vendors, among them AWS,
   * Azure, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, Stripe and npm; and values that are named as a secret
   * (`DB_PASSWORD=…`, `"password": "…"`, `--token …`, `<password>…</password>`, `name: API_KEY, value: …`), unless they are a
   * type, a placeholder or a reference such as `${DB_PASSWORD}`. A word of lower case alone counts only where nothing but a
   * password can stand.
   * @default false
   */
  known?: boolean
}

/**
 * The answer when nothing had to be cut: the very content that was given; of bytes, the text; with `terminal`, what a
 * terminal would show of it.
 */
export interface UntouchedResult<C = string> {
  content: C
  truncated: false
  /** Path of the raw output. Only with `terminal`, and only if the raw output is over the limits. */
  raw?: RawOutput
}

/** Where an output is as it came, of which all that a terminal would show keeps the limits. */
export type RawOutput = Pick<TruncatedResult, 'outputPath' | 'saveError' | 'savedPart' | 'redactions'>

/** A test that failed, or a file of tests that could not be run. */
export interface TestFailure {
  /**
   * The name of the test as its runner prints it, at most 1,000 bytes. Names of nested groups on lines of their own
   * are joined by ` > `.
   */
  id: string
  /** The first line of the message, at most 500 bytes; `''` if there is none. */
  message: string
  /** The place as `file:line`; `''` if the output does not say. */
  where: string
}

/** A test run, as far as the output of its runner states it. */
export interface TestRun {
  /** Whose output it is, such as `['pytest']`; several if the output holds several runs, whose numbers are added up. */
  runners: string[]
  /** Number of tests that passed. Absent if the output does not say, as that of `go test` without `-v`. */
  passed?: number
  /** Number of tests that failed, those with an error included. */
  failed: number
  /** Number of tests that were skipped, or failed as expected. */
  skipped: number
  /**
   * The failures in the order of the output, at most 10,000. A file that could not be loaded is among them although it is no
   * test, so that there may be more of them than `failed` says.
   */
  failures: TestFailure[]
}

/** How a test run differs from an earlier one, by the names of its failures. */
export interface TestRunChange {
  /** Failures of the earlier run that are none any more. */
  fixed: TestFailure[]
  /** Failures that the earlier run did not have. */
  failing: TestFailure[]
  /** Failures of both runs. */
  stillFailing: TestFailure[]
}

/** Result of an output that was truncated. */
export interface TruncatedResult<C = string> {
  /** Text for the model: preview and notice. */
  content: C
  truncated: true
  /** Path of the saved output. `''` if it could not be saved; `saveError` then says why. */
  outputPath: string
  /** Lines of the original that the preview does not show at all. */
  removedLines?: number
  /** Bytes of the original that the preview does not show, line breaks at the cut included. */
  removedBytes?: number
  /** The kept text alone, within the limits. */
  preview?: string
  /** The notice: what is missing, where the full output is, and how to read it. */
  hint?: string
  keptLines?: number
  keptBytes?: number
  totalLines?: number
  totalBytes?: number
  /** The limit that was reached first, which is the one that the notice names. */
  limitedBy?: TruncationLimit
  /** The parts of the original that the preview shows, in order. */
  ranges?: ShownRange[]
  /** Set when lines had to be truncated inside. */
  partialLines?: PartialLine[]
  /** The test run that the output reports. Only with the strategy `tests`, and only if a known runner printed it. */
  testRun?: TestRun
  /** Set when the output was truncated although its tool turned truncation off, because it passed the hard ceiling. */
  ceilingReached?: boolean
  /** Set when the full output could not be saved anywhere. */
  saveError?: SaveError
  /** Set when the saved file holds only a part of the output, because that is longer than `maxFileBytes`. */
  savedPart?: SavedPart
  /** Number of secrets that were redacted in the saved output. Absent without `redact`, and when nothing was saved. */
  redactions?: number
  /** Set when a custom strategy was not called, because a capture grew longer than `customStrategyBytes`. */
  strategyBypassed?: boolean
}

/** Result of a truncation: a union discriminated by `truncated`. */
export type TruncationResult<C = string> = UntouchedResult<C> | TruncatedResult<C>

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
  /** `true` lets this output through whatever its size; `false` truncates even if truncation is off. */
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
  sessionId?: string
  /** For custom storages; Spillway does not read it. */
  messageId?: string
  /** Identifies the call that produced the output. The same content of the same call is saved once. */
  toolCallId?: string
  /** True if the call failed: the preview keeps the end, and the notice does not claim success. */
  failed?: boolean
  /**
   * The question that the output is to answer, in any words: the model's description of the call, or the latest request. The
   * strategy `smart` then keeps the lines that hold its rarest words. Up to 4,096 bytes are read; without it nothing changes.
   */
  query?: string
  options?: TruncationOptions
  /** Options that the tool declares (its `truncation` property). They override `global`; the entry in `tools` overrides them. */
  declared?: ToolTruncationConfig
  /**
   * True if the output was truncated by its tool: it is let through up to the hard ceiling.
   */
  handled?: boolean
  /** Aborts the call: it rejects with the signal's reason and leaves no file. */
  signal?: AbortSignal
}

/** Result of a strategy. */
export interface StrategyResult {
  content: string
  removedLines?: number
  removedBytes?: number
}

/** Strategy that shortens a text. */
export interface TruncationStrategy {
  readonly name: string
  needsTruncation(content: string, config: TruncationConfig): boolean
  truncate(content: string, config: TruncationConfig): StrategyResult
}

/**
 * A kind of line that the strategy `smart` is to look for. If several rules match a line, built-in ones included, the one with
 * the highest weight decides.
 */
export interface SmartRule {
  /** The line holds one of them; ASCII letters match in either case. 1 to 64 texts of 3 to 128 bytes, without line breaks. */
  words: readonly string[]
  /**
   * And this matches: a regular expression of Rust's `regex` crate, which takes linear time; 1 to 4,096 bytes, no look-around and
   * no back-references. A `RegExp` keeps its source and the flags `i`, `m` and `s`; `u` is always on. It sees the line
   * without the escapes of a terminal, at most its first 1,024 bytes. Default: the words alone decide.
   */
  pattern?: string | RegExp
  /**
   * How much the line matters, 0 to 1,000. Errors have 850 and more, words like `failed` 720, warnings 250; 0 is a veto: such a
   * line says that all is well, whatever else is in it.
   */
  weight: number
  /**
   * Lines before it that help to understand it, 0 to 32.
   * @default 0
   */
  before?: number
  /**
   * Lines after it that help to understand it, 0 to 32. Those of a trace follow as far as they go.
   * @default 0
   */
  after?: number
}

/** Options of `SmartStrategy`. */
export interface SmartStrategyOptions {
  /** At most 64, on top of the built-in ones. */
  rules?: readonly SmartRule[]
}

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

/** Storage of full outputs. Implement it to save them elsewhere. */
export interface ITruncationStorage {
  /** Saves a text and returns its location: a path, an id, a URL. */
  save(content: string, context: TruncationContext): Promise<string>
  read(path: string): Promise<string>
  /** Removes outputs older than `retentionDays` and returns their number. */
  cleanup(retentionDays: number): Promise<number>
  getStorageDir(): string
  /** Saves bytes unchanged. Without it, bytes are decoded as UTF-8 and passed to `save`. */
  saveBytes?(content: Uint8Array, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length: what `TruncationService.capture` took in. Called once the output has ended; its
   * pieces are valid until the next is asked for. Without it, captures of up to 64 MiB go to `saveBytes` or `save`, and
   * longer ones are not kept.
   */
  saveStream?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length while they come: called once 1 MiB of a capture has come in, and settles after the source has ended.
   * The source gives at most 256 KiB at a time, and only what is asked for. It throws if the output is dropped or need not be
   * saved; then nothing must stay. If it rejects, the whole output is given to `saveStream`.
   */
  saveLive?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
}

/** Options of `TruncationService.capture`. */
export interface CaptureOptions {
  /**
   * Behaviour when the stream is destroyed, or its signal aborted, before its end: `discard` leaves no file and
   * rejects `result`; `keep` ends the output where it is and resolves `result` with it. Later writes are dropped.
   * @default 'discard'
   */
  onAbort?: 'discard' | 'keep'
  /**
   * Bytes that are held in memory for a custom strategy, which must see the whole text. A longer output is
   * shortened by `default`; an `error` event and `strategyBypassed` say so. A whole number of at least 1.
   * @default 8388608
   */
  customStrategyBytes?: number
}

/** Progress of an unfinished output. */
export interface CapturePeek {
  /** Preview as if the output ended here, without a notice. */
  text: string
  /** True if that is not all. */
  truncated: boolean
  /** Bytes so far. */
  totalBytes: number
  /** Lines so far. */
  totalLines: number
}

/** A part of a tool result that holds text. */
export interface TextContentPart {
  type: 'text'
  text: string
}

/** A part of a tool result that is kept in its place and never cut: images, files, resources. */
export interface OtherContentPart {
  type: string
  [key: string]: unknown
}

export type ContentPart = TextContentPart | OtherContentPart

/** Content that `TruncationService.output` accepts. */
export type TruncationContent = string | Uint8Array | readonly ContentPart[]

/** The type of the content that comes back: text for text and bytes, parts for parts. */
export type ContentOf<C> = C extends readonly ContentPart[] ? C[number][] : string

/** Everything that a notice can be made from. */
export interface NoticeInfo {
  toolName: string
  failed: boolean
  direction: TruncationDirection
  limitedBy: TruncationLimit
  removedLines: number
  removedBytes: number
  keptLines: number
  keptBytes: number
  totalLines: number
  totalBytes: number
  ranges: ShownRange[]
  partialLines: PartialLine[]
  ceilingReached: boolean
  /** `''` when nothing was saved. */
  outputPath: string
  saveError?: SaveError
  savedPart?: SavedPart
  redactions?: number
  availableTools: readonly string[]
}

/** How much a save survives: a killed process, a power cut without tearing, a power cut without losing what was acknowledged. */
export type Durability = 'process' | 'file' | 'full'

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

/** Which layer a field of the effective configuration came from, weakest first. */
export type ConfigSource =
  | 'default'
  | 'profile'
  | 'built-in tool'
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

/** Shape of a tool result that middleware needs; the host's own type is returned. */
export interface ToolResultLike {
  /** The text for the model, or any other value. */
  output?: unknown
  success?: boolean
  isError?: boolean
  /** The message of a failed call. A long one is truncated too. */
  error?: unknown
  metadata?: Record<string, unknown>
}

/** Options of `createTruncationMiddleware`. */
export interface TruncationMiddlewareConfig<R extends ToolResultLike = ToolResultLike> {
  service: OutputService
  /** Tools whose output is never touched. */
  skipTools?: readonly string[]
  /** Decides per result: `false` lets it through, options override the configuration for this call. */
  shouldTruncate?: (toolName: string, result: R) => boolean | TruncationOptions
  /** Records every finished call that has a `toolCallId`: a `ToolResultLedger`. */
  ledger?: ToolResultRecorder
}

/** Facts about a call of a tool; without `toolName` the tool is the one that the middleware was called for. */
export type MiddlewareContext = Omit<TruncationContext, 'toolName'> & Partial<Pick<TruncationContext, 'toolName'>>

/**
 * Runs after a tool and returns its result, truncated to the limits, with facts about that in `metadata`. Never throws. A long
 * `output` that is no text becomes text or parts of a message.
 */
export type TruncationMiddleware<R extends ToolResultLike = ToolResultLike> = <T extends R>(
  toolName: string,
  result: T,
  context?: MiddlewareContext,
) => Promise<T & Pick<ToolResultLike, 'metadata'>>

/** The part of `TruncationService` that middleware asks for. */
export interface OutputService {
  output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>
}

/** Metadata of one tool call. */
export interface ToolResultRecord {
  /** The id of the call, as the model gave it. */
  toolCallId: string
  toolName: string
  /** When the tool finished: milliseconds since the epoch. */
  endedAt: number
  /** True if the tool reported a failure. */
  isError: boolean
  /** The exit code of a command. */
  exitCode?: number
  /** True if the command wrote something to its error stream. */
  hasStderr?: boolean
  /** The size of the whole output: UTF-8 bytes. */
  bytes: number
  /** Lines of the whole output, if they were counted. */
  lines?: number
  /** Path of the saved output. */
  outputPath?: string
  /** The arguments of the call, as plain JSON. Larger ones than 4,096 UTF-16 units of JSON are not kept. */
  args?: Readonly<Record<string, unknown>>
  /** The parts of its text that a `FoldSession` replaced by pointers to earlier results. */
  folds?: FoldRecord
}

/** A receiver of records, such as a `ToolResultLedger`. */
export interface ToolResultRecorder {
  record(entry: ToolResultRecord): void
}

/** A stretch of a result that is shown otherwise. Lines count from 0 and end before `toLine`. */
export interface FoldEdit {
  fromLine: number
  toLine: number
  /** The shown text: a pointer, or lines under the path that they begin with. */
  text: string
  /** The call whose result has the lines. */
  toolCallId?: string
  /** The argument of that call that has them, if it is not the result. */
  argument?: string
  /** The first of them there. */
  line?: number
  /** How they are numbered here, where that is not as there. */
  numbering?: 'None' | { From: number }
}

/** The replaced parts of a result, from which its text can be restored. */
export interface FoldRecord {
  /** UTF-16 units that it became shorter by. */
  saved: number
  edits: FoldEdit[]
}
