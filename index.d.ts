import { ByteRange, Capture, CapturePeek, ConfigSource, ContentPart, Durability, LineRange, NoticeInfo, NoticeLanguage, PartialLine, RawOutput, RedactionOptions, SaveError, SavedPart, ShownRange, SmartRule, StrategyResult, TestRun, TruncationEventCallback, TruncationEventType, TruncationLimit, TruncationProfile, TruncationReport } from './dist/entries/truncation.js';
import { FoldRecord, ResultFolder } from './dist/entries/fold.js';
import { AnthropicEditing, CompactionEnvironment, CompactionHooks, CompactionProfile, CompactionReason, CompactionState, ContextSavings, ContextStep, DropThinkingOptions, EstimateTokens, HistoryFormatName, OpenAIEditing, OutdatedResultInfo, PolicyName, ProviderEdits, PrunePolicy, PrunePrices, PruneReason, PrunedInfo, ThinkingMode, ToProviderOptions, ToolResultKnowledge, ToolResultRecorder } from './dist/entries/history.js';
import { ModeController, PermissionDomain, PermissionMode, PermissionTool } from './dist/entries/permission.js';
import { OutputOwner, asyncDispose } from './dist/entries/shared.js';
import { Compacted, OverflowFacts, OverflowKind, OverflowProfile, OverflowRecoveryState, OverflowStep } from './dist/entries/overflow.js';
import { Hooks, ToolHookRunner } from './dist/entries/extensions.js';
import { TokenCalibration } from './dist/entries/tokens.js';

/**
 * Which part of a long text is kept: its start, its end, or both ends without the middle.
 * @default 'head'
 */
export type TruncationDirection = "head" | "tail" | "both";
/** The built-in strategies that can be named instead of instantiated. */
export type TruncationStrategyName = "default" | "auto" | "line" | "byte" | "smart" | "json" | "diff" | "csv" | "tests";
/** Limits and switches of truncation. `retentionDays` and `storageDir` are service-wide; the rest also per tool. */
export interface TruncationConfig {
	/**
	 * Lines a preview may have, inclusive. A whole number of at least 1.
	 * @default 2000
	 */
	maxLines: number;
	/**
	 * UTF-8 bytes a preview may have, inclusive. A whole number of at least 1. For bytes and streams never
	 * more than 511 MiB, which one string can hold.
	 * @default 51200
	 */
	maxBytes: number;
	/**
	 * Tokens a preview may have, inclusive, by the upper mode of {@link estimateTokens}: a tokenizer hardly ever counts more.
	 * A whole number of at least 1. Default: no limit.
	 */
	maxTokens?: number;
	/** @default 'head' */
	direction: TruncationDirection;
	/** @default true */
	enabled: boolean;
	/**
	 * Days after which `TruncationService.cleanup` removes saved outputs. More than 0; `Infinity` keeps them forever. Service-wide only.
	 * @default 7
	 */
	retentionDays: number;
	/** First folder for saved outputs. Service-wide only. Default: the user's data directory. */
	storageDir?: string;
	/** Overrides the service's strategy, by name, for this tool. */
	strategy?: TruncationStrategyName;
	/**
	 * Measures and shows an output as a terminal would: without colours, titles and links, and without text that was
	 * overwritten or erased. The raw output is saved, and all numbers of a result are its lines and bytes. An output that is
	 * not text is described. A strategy of your own gets the raw output.
	 * @default false
	 */
	terminal?: boolean;
}
/** The fields that a tool, or a user's entry for a tool, may set. */
export type ToolTruncationConfig = Partial<TruncationConfig>;
/** Overrides for one call. */
export interface TruncationOptions {
	maxLines?: number;
	maxBytes?: number;
	maxTokens?: number;
	direction?: TruncationDirection;
	/** `true` returns this output unchanged, whatever its size; `false` truncates it even if truncation is off. */
	skip?: boolean;
	/** Overrides the strategy of the tool and of the service, by name, for this call. */
	strategy?: TruncationStrategyName;
	/** Measures and shows this output as a terminal would; see {@link TruncationConfig}. */
	terminal?: boolean;
}
/** Context of an output. */
export interface TruncationContext {
	/** The tool's name as the model calls it. Any string. */
	toolName: string;
	/** Saved files of a session live in a folder of their own. */
	sessionId?: string | undefined;
	/** For custom storages; Spillway does not read it. */
	messageId?: string | undefined;
	/** Identifies the call that produced the output. The same content of the same call is saved once. */
	toolCallId?: string | undefined;
	/** True if the call failed: the preview keeps the end, and the notice does not claim success. */
	failed?: boolean;
	/**
	 * Exit code of the command that printed the output, `null` if a signal ended it. With another one than 0 the call failed, unless
	 * `failed` says otherwise.
	 */
	exitCode?: number | null | undefined;
	/**
	 * The command line that printed the output. The strategy `smart` shows what `git diff` and its like print as a diff, and of
	 * listings (`cat`, `rg`, `git log`) rather the start. Commands of more than 4,096 bytes are not read.
	 */
	command?: string | undefined;
	/**
	 * The question that the output should answer, in any words: the model's description of the call, or the latest request. The
	 * strategy `smart` then keeps the lines that contain its rarest words. Up to 4,096 bytes are read.
	 */
	query?: string | undefined;
	options?: TruncationOptions;
	/**
	 * Defaults of the caller, which every setting of the service, the tool and the user overrides. Where one of them sets `direction`
	 * or a profile, the `strategy` given here does not apply.
	 */
	defaults?: ToolTruncationConfig | undefined;
	/** Options that the tool declares (its `truncation` property). They override `global`; the user's entry in `tools` overrides them. */
	declared?: ToolTruncationConfig;
	/**
	 * True if the tool has already truncated the output: it is returned unchanged up to the hard ceiling.
	 */
	handled?: boolean;
	/** Aborts the call: it rejects with the signal's reason and leaves no file. Middleware, which has a result already, saves it anyway. */
	signal?: AbortSignal | undefined;
}
/** The configuration that a call would use, and the source of each field. */
export interface EffectiveConfig {
	config: TruncationConfig & {
		strategy: string;
		hardCeilingBytes: number;
	};
	sources: Record<keyof TruncationConfig, ConfigSource>;
}
/** Content that `TruncationService.output` accepts. */
export type TruncationContent = string | Uint8Array | readonly ContentPart[];
/** The type of the content that comes back: text for text and bytes, parts for parts. */
export type ContentOf<C> = C extends readonly ContentPart[] ? C[number][] : string;
/** Metadata of one tool call. */
export interface ToolResultRecord {
	/** The id of the call, as the model gave it. */
	toolCallId: string;
	toolName: string;
	/** When the tool finished: milliseconds since the epoch. */
	endedAt: number;
	/** True if the tool reported a failure. */
	isError: boolean;
	/** The exit code of a command. */
	exitCode?: number;
	/** True if the command wrote something to its error stream. */
	hasStderr?: boolean;
	/** The size of the whole output: UTF-8 bytes. */
	bytes: number;
	/** Lines of the whole output, if they were counted. */
	lines?: number;
	/** Path of the saved output. */
	outputPath?: string;
	/** The arguments of the call, as plain JSON. Arguments of more than 4,096 UTF-16 units of JSON are not kept. */
	args?: Readonly<Record<string, unknown>>;
	/** The parts of its text that a `FoldSession` replaced by pointers to earlier results. */
	folds?: FoldRecord;
}
/** Storage of full outputs. Implement it to save them elsewhere. */
export interface ITruncationStorage {
	/** Saves a text and returns its location: a path, an id, a URL. */
	save(content: string, context: TruncationContext): Promise<string>;
	read(path: string): Promise<string>;
	/** Removes outputs older than `retentionDays` and returns their number. */
	cleanup(retentionDays: number): Promise<number>;
	getStorageDir(): string;
	/**
	 * Returns true for a location of an output that this storage saved, in this process or an earlier one. Only such locations are
	 * shown to a model. Without it, those that this process saved count, and no other.
	 */
	owns?(path: string): boolean;
	/** Saves bytes unchanged. Without it, bytes are decoded as UTF-8 and passed to `save`. */
	saveBytes?(content: Uint8Array, context: TruncationContext): Promise<string>;
	/**
	 * Saves bytes of any length: the output of a `TruncationService.capture`. Called when the output has ended; each piece is valid
	 * until the next is requested. Without it, captures of up to 64 MiB are passed to `saveBytes` or `save`, and longer ones are not
	 * saved in this storage.
	 */
	saveStream?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>;
	/**
	 * Saves bytes of any length while they arrive: called when 1 MiB of a capture has arrived, and settles after the source has
	 * ended. The source yields at most 256 KiB at a time, on request. It throws if the output is dropped or need not be saved; then
	 * remove everything that was written. If the method rejects, the full output is passed to `saveStream`.
	 */
	saveLive?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>;
	/** Milliseconds after which `saveLive` is called for a capture of less than 1 MiB that is still running. Without it, it is not. */
	readonly liveAfterMs?: number | undefined;
}
/** Options of `TruncationStorage`. */
export interface TruncationStorageOptions {
	/**
	 * Folders in order of preference; any failure moves on to the next. Default: the user's data folder, then a private temporary
	 * one.
	 */
	storageDirs?: readonly string[];
	/** @default 'process' */
	durability?: Durability;
	/**
	 * Maximum bytes that remain after a sweep, over all folders: the oldest outputs are removed first, those of sessions in use
	 * last. `Infinity` for no limit.
	 * @default 4294967296
	 */
	maxStoreBytes?: number;
	/**
	 * Maximum number of outputs that remain after a sweep, over all folders; `Infinity` for no limit.
	 * @default 10000
	 */
	maxStoreFiles?: number;
	/**
	 * Maximum bytes of a saved file, at least 4,096. The file of a longer output has its first and last part, and between them one
	 * line with the number of missing bytes; its name ends with `.partial.txt`, and `savedPart` has the ranges.
	 * @default none
	 */
	maxFileBytes?: number;
	/**
	 * Redacts secrets in saved outputs, not in previews. A saved output is then not lossless.
	 * @default none
	 */
	redact?: RedactionOptions;
	/**
	 * Days that a sweep keeps an output. More than 0; `Infinity`: forever.
	 * @default 7
	 */
	retentionDays?: number;
	/**
	 * Sweeps at the first save and at every hundredth one, in parallel to the save and without delaying it. Such a sweep uses the
	 * clock of the file system, keeps outputs that this storage saved itself, and does nothing if no output is between an hour
	 * and a year old, because the clock may have jumped.
	 * @default true; false in a service with the profile `takumi`
	 */
	sweepOnSave?: boolean;
}
/**
 * The result if nothing was truncated: the same content that was passed in; for bytes, their text; with `terminal`, the text that
 * a terminal would show.
 */
export interface UntouchedResult<C = string> {
	content: C;
	truncated: false;
	/** Path of the raw output. Only with `terminal`, and only if the raw output exceeds the limits. */
	raw?: RawOutput;
}
/** Result of an output that was truncated. */
export interface TruncatedResult<C = string> {
	/** Text for the model: preview and notice. */
	content: C;
	truncated: true;
	/** Path of the saved output. `''` if it could not be saved; `saveError` then says why. */
	outputPath: string;
	/** Lines of the original that the preview does not show at all. */
	removedLines?: number;
	/** Bytes of the original that the preview does not show, including line breaks at the cut. */
	removedBytes?: number;
	/** The kept text without the notice, within the limits. */
	preview?: string;
	/** The notice: what is missing, where the full output is, and how to read it. */
	hint?: string;
	keptLines?: number;
	keptBytes?: number;
	totalLines?: number;
	totalBytes?: number;
	/** The limit that was reached first, which is the one that the notice names. */
	limitedBy?: TruncationLimit;
	/** The parts of the original that the preview shows, in order. */
	ranges?: ShownRange[];
	/** Set if single lines were truncated. */
	partialLines?: PartialLine[];
	/** The test run that the output reports. Only with the strategy `tests`, and only if a known runner printed it. */
	testRun?: TestRun;
	/** Set if the output was truncated although its tool turned truncation off, because it exceeded the hard ceiling. */
	ceilingReached?: boolean;
	/** Set when the full output could not be saved anywhere. */
	saveError?: SaveError;
	/** Set when the saved file holds only a part of the output, because that is longer than `maxFileBytes`. */
	savedPart?: SavedPart;
	/** Number of secrets that were redacted in the saved output. Absent without `redact`, and when nothing was saved. */
	redactions?: number;
	/** Set when a custom strategy was not called, because a capture grew longer than `customStrategyBytes`. */
	strategyBypassed?: boolean;
}
/** Result of a truncation: a union discriminated by `truncated`. */
export type TruncationResult<C = string> = UntouchedResult<C> | TruncatedResult<C>;
/** The fields of a tool result that middleware needs; the host's own type is returned. */
export interface ToolResultLike {
	/** The text for the model, or any other value. */
	output?: unknown;
	success?: boolean;
	isError?: boolean;
	/** The message of a failed call. A long one is truncated too. */
	error?: unknown;
	metadata?: Record<string, unknown>;
}
/** Options of `createTruncationMiddleware`. */
export interface TruncationMiddlewareConfig<R extends ToolResultLike = ToolResultLike> {
	service: OutputService;
	/** Tools whose output is never changed. */
	skipTools?: readonly string[];
	/** Decides for each result: `false` returns it unchanged; options override the configuration for this call. */
	shouldTruncate?: (toolName: string, result: R) => boolean | TruncationOptions;
	/** Records every finished call that has a `toolCallId`: a `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
}
/** Facts about a call of a tool; without `toolName` the tool is the one that the middleware was called for. */
export type MiddlewareContext = Omit<TruncationContext, "toolName"> & Partial<Pick<TruncationContext, "toolName">>;
/**
 * Runs after a tool and returns its result, truncated to the limits, with facts about that in `metadata`. Never throws. A long
 * `output` that is not text becomes text or parts of a message.
 */
export type TruncationMiddleware<R extends ToolResultLike = ToolResultLike> = <T extends R>(toolName: string, result: T, context?: MiddlewareContext) => Promise<T & Pick<ToolResultLike, "metadata">>;
/** The part of `TruncationService` that middleware uses. */
export interface OutputService {
	output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>;
}
/** A strategy truncates a text. */
export interface TruncationStrategy {
	readonly name: string;
	needsTruncation(content: string, config: TruncationConfig): boolean;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/** An event of an output. Each call ends with exactly one `truncated` or `skipped` event; `error` events may come before it. */
export interface TruncationEvent {
	type: TruncationEventType;
	toolName: string;
	/** UTF-8 bytes of the raw output. */
	originalSize: number;
	/** UTF-8 bytes of the text for the model. */
	truncatedSize: number;
	outputPath?: string;
	/** As in the result. */
	savedPart?: SavedPart;
	/** As in the result. */
	redactions?: number;
	error?: string;
	/** The stable code of the error, where it has one. */
	errorCode?: string;
	/** Milliseconds since the epoch. */
	timestamp: number;
	sessionId?: string;
	toolCallId?: string;
}
/** Options of `TruncationService`. */
export interface TruncationServiceConfig extends Partial<Omit<TruncationConfig, "strategy">>, Omit<TruncationStorageOptions, "retentionDays"> {
	/** Settings for every tool. They may also be given next to the other options, as in `{ maxLines: 500 }`; those take precedence. */
	global?: Partial<TruncationConfig>;
	/** Settings for single tools, merged field by field over the built-in ones. Aliases of a tool (`shell` for `bash`) count. */
	tools?: Record<string, ToolTruncationConfig>;
	onEvent?: TruncationEventCallback;
	/**
	 * Saves full outputs in another place instead of the default files. `redact` is applied first. `storageDirs`, `durability`,
	 * `maxStoreBytes`,
	 * `maxStoreFiles`, `maxFileBytes` and `sweepOnSave` are then ignored, because they belong to the storage;
	 * `TruncationService.cleanup` passes it `retentionDays`. An output that it does not save in time is saved in the default
	 * folders. In a list, the storages are tried in order, and the default folders are not used.
	 */
	storage?: ITruncationStorage | readonly ITruncationStorage[];
	/** @default 'default' */
	strategy?: TruncationStrategy | TruncationStrategyName;
	/**
	 * Rules of the strategy `smart` besides the built-in ones, for every tool; at most 64. Those of a `SmartStrategy` that
	 * is the `strategy` come on top.
	 * @default none
	 */
	smartRules?: readonly SmartRule[];
	/**
	 * Bytes above which an output is truncated even if its tool turned truncation off.
	 * @default 4 × maxBytes
	 */
	hardCeilingBytes?: number;
	/**
	 * True if preview and notice together must stay within the limits.
	 * @default false
	 */
	noticeInside?: boolean;
	/** @default 'en' */
	language?: NoticeLanguage;
	/** The names of the tools that the model can call: the notice recommends only these. */
	availableTools?: readonly string[];
	/** Returns the notice instead of the built-in one. Must be synchronous; if it throws, the built-in notice is used. */
	formatNotice?: (info: NoticeInfo) => string;
	/**
	 * Milliseconds to wait for a custom storage to save. The signal of its context is then aborted, and the next storage gets the output.
	 * @default 30000
	 */
	storageTimeoutMs?: number;
	/**
	 * Uses the limits and the wording of a known agent as defaults.
	 * @default none
	 */
	profile?: TruncationProfile;
}
/** Stable codes; compare these, not messages. */
export type SpillwayErrorCode = 
/** A setting is not allowed. */
"INVALID_CONFIG"
/** An argument of a call is not allowed. */
 | "INVALID_ARGUMENT"
/** The file could not be written to any folder. */
 | "STORAGE_WRITE"
/** The file could not be read. */
 | "STORAGE_READ"
/** The path is not a file of the store. */
 | "STORAGE_NOT_OWNED"
/** The file existed and was removed, usually by a sweep. */
 | "STORAGE_NOT_FOUND"
/** The file is too large to become one string. */
 | "STORAGE_TOO_LARGE"
/** A custom storage did not answer in time. */
 | "STORAGE_TIMEOUT"
/** A server for shared state could not be reached, did not answer in time, or refused. */
 | "COORDINATION"
/** Another worker holds the session, or held it in the meantime. */
 | "CONFLICT"
/** The service was closed. */
 | "CLOSED"
/** A capture was destroyed before its end. */
 | "ABORTED"
/** A command could not be started. */
 | "COMMAND"
/** A custom strategy threw, or returned something other than a truncated text. */
 | "STRATEGY"
/** A history does not fit into the model's window, and no step made it fit; `report` lists the steps. */
 | "OVERFLOW"
/** A tool call was not allowed; `report` is the `RefusedResult`. */
 | "REFUSED"
/** Compacting does not help: the history was compacted three times in three turns, and is too long again. */
 | "COMPACTION"
/** A callback of the caller threw. */
 | "CALLBACK"
/** The binary is missing, does not load, or is of another version. */
 | "NATIVE_LOAD"
/** A bug in Spillway. */
 | "INTERNAL";
export interface SpillwayErrorOptions {
	/** The setting or argument that is wrong, such as `tools.bash.maxLines`. */
	field?: string;
	cause?: unknown;
	/** Steps before the failure: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
	report?: unknown;
}
/** The only error class that Spillway throws. */
export declare class SpillwayError extends Error {
	readonly name = "SpillwayError";
	readonly code: SpillwayErrorCode;
	readonly field?: string;
	/** Steps before the failure: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
	readonly report?: unknown;
	constructor(code: SpillwayErrorCode, message: string, options?: SpillwayErrorOptions);
	static [Symbol.hasInstance](value: unknown): boolean;
}
/** Decision about a target, from the mildest to the strictest. */
export type PermissionDecision = "allow" | "ask" | "deny";
/**
 * A rule. The last one that matches a target counts.
 *
 * Patterns are globs: `vault:**\/*.md`, `fs:/etc/**`, `url:https://*.example.com/**`, `mcp:server/*`, in which `*` does not match
 * `/`; in `shell:git *` and `query:*` a star matches anything. The scheme may be omitted. A pattern that begins with `regex:` is a
 * regular expression of linear time, searched for in the target; use `^` and `$` to match the whole target.
 */
export interface PermissionRule {
	domain: PermissionDomain | "*";
	/** At most 1,024 bytes. */
	pattern: string;
	decision: PermissionDecision;
	/** Targets that the pattern must match and must not match, checked when the rule is read. */
	examples?: {
		match?: readonly string[];
		noMatch?: readonly string[];
	};
	/** True for a stored answer "always": such a rule turns questions into permissions and never overrides a deny, at any position. */
	approved?: boolean;
}
/** A rule in a verdict. */
export interface AppliedRule {
	domain: PermissionDomain | "*";
	pattern: string;
	decision: PermissionDecision;
	/** Source of the rule: the defaults, the user, the user's answer "always", or `hardDeny`. */
	source: "default" | "user" | "approval" | "hard";
}
/** Options of {@link PermissionPolicy}. */
export interface PermissionPolicyOptions {
	/** The user's rules, after the defaults; at most 10,000. */
	rules?: readonly PermissionRule[];
	/** Denies that no rule, mode or approval overrides. Some are built in: `rm -rf /`, `mkfs*`, disks. */
	hardDeny?: readonly PermissionRule[];
	/**
	 * True if the default rules apply, before the user's.
	 * @default true
	 */
	defaults?: boolean;
	/** The default rules and the pattern syntax of another system. */
	profile?: "opencode" | "moryflow";
	/**
	 * Decision about edits outside the vault.
	 * @default 'deny'
	 */
	outsideEdit?: "deny" | "ask";
	/**
	 * Folders outside the vault that may be read and edited like it; `true` stands for the folders of temporary files. Without it,
	 * edits of temporary files are asked about.
	 */
	scratchFolders?: true | readonly string[];
	/**
	 * True if commands that only read (`ls`, `cat`, `grep`, `git status`, `find` without `-exec` …) are allowed unless a rule of the
	 * user says otherwise. The files that they read are checked as usual.
	 * @default false
	 */
	readOnlyCommands?: boolean;
	/** MCP servers whose tools are allowed; calls to other servers are asked about. */
	mcpServers?: readonly string[];
	/**
	 * Custom tools by name; they take precedence over the known ones. `'none'` declares that a tool does not access anything: it is
	 * allowed unless a rule for `tool:NAME` asks about it or denies it.
	 */
	tools?: Readonly<Record<string, PermissionTool | "none">>;
	/**
	 * Names of files with secrets, with at most one `*` each; `!` excludes names again. Reading and editing them is asked about. They
	 * replace the built-in list: `.env`, `.env.*` but not `.env.example`, keys, key stores, and files of credentials
	 * (docs/permission.md).
	 */
	sensitiveFiles?: readonly string[];
	/** Domains in which nothing is allowed without asking, because one of their rules could not be read; `loadConfig` returns them. */
	failClosed?: readonly PermissionDomain[];
	/**
	 * True if upper and lower case of paths differ.
	 * @default false on Windows and macOS, else true
	 */
	caseSensitive?: boolean;
	/**
	 * The folder that the agent works in. Its files are read and edited without asking, so a home folder, a folder above it and the
	 * root of a drive are refused unless `allowWideVault` is set.
	 * @default the current directory of the process
	 */
	vault?: string;
	/**
	 * True if the vault may be a home folder, a folder above it or the root of a drive.
	 * @default false
	 */
	allowWideVault?: boolean;
	/**
	 * True if the user cannot be asked: calls that would be asked about are denied.
	 * @default false
	 */
	headless?: boolean;
	/** Files that this storage saved for the session of a call may be read, unless the user denies it. It needs a function `owns`. */
	storage?: OutputOwner;
}
/** A tool call. */
export interface PermissionCall {
	tool: string;
	/** Arguments of the tool: an object, a JSON string, or its single argument as a string. */
	args?: unknown;
	sessionId?: string | undefined;
	/** @default 'agent' */
	mode?: PermissionMode;
	/** Declares that this tool does not access anything: it is allowed unless a rule for `tool:NAME` asks about it or denies it. */
	touchesNothing?: boolean;
	/** Base folder of relative paths. @default the vault */
	cwd?: string;
	/** @default the policy's */
	vault?: string;
	/** @default the policy's */
	headless?: boolean;
}
/** A suggested rule that may be stored as shown. */
export interface SuggestedRule {
	domain: PermissionDomain;
	pattern: string;
	decision: "allow";
}
/** Decision about a call. */
export interface PermissionVerdict {
	/** The strictest for any target; `ask` if there are none. */
	decision: PermissionDecision;
	/** The domain of the target that decided, if there is one. */
	domain: PermissionDomain | null;
	/** Targets of the call: `vault:/…`, `fs:/…`, `shell:…`, `url:…`, `query:…`, `mcp:server/tool`, `tool:name`. At most 256. */
	targets: string[];
	/** The rule that decided; `null` if none matched, or in full access. */
	rule: AppliedRule | null;
	/** Overridden rules that match too, newest first; at most 16. */
	shadowed: AppliedRule[];
	/** The reason, in sentences for a person. */
	reasons: string[];
	/** Rules that would make this question unnecessary, the narrowest first. Empty if none would be safe. */
	suggestedRules: SuggestedRule[];
}
/** One target of {@link PermissionPolicy.explain}. */
export interface ExplainedTarget {
	domain: PermissionDomain;
	target: string;
	decision: PermissionDecision;
	rule: AppliedRule | null;
	shadowed: AppliedRule[];
	reasons: string[];
}
/**
 * Rules about the calls that tools may make. For a target, the last matching rule decides; for a call, the strictest decision of
 * its targets; without a match the user is asked. The user is also asked about a call that cannot be understood. It is not a
 * sandbox: see `docs/permission.md`.
 *
 * @example
 * const policy = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'npm test', decision: 'allow' }] })
 * policy.evaluate({ tool: 'bash', args: { command: 'npm test && rm -rf ~' } }).decision // 'deny'
 * @throws SpillwayError `INVALID_CONFIG` or `INVALID_ARGUMENT` with the field, such as `rules[3].pattern`
 */
export declare class PermissionPolicy {
	constructor(options?: PermissionPolicyOptions);
	/**
	 * Decides about a call. The verdict of a call stays the same as long as the rules, the approvals and the links of the file
	 * system do. For arguments that cannot be read, the decision is `ask`, or `deny` if the part that can be read is denied; they
	 * never cause an error.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the call itself, not its arguments, is invalid
	 */
	evaluate(request: PermissionCall): PermissionVerdict;
	/** Like `evaluate`, with every target separately: the rule that decided, the rules that it overrides, and the reason. */
	explain(request: PermissionCall): PermissionVerdict & {
		details: ExplainedTarget[];
	};
	/**
	 * Adds an approved rule, for one session or for all. It turns questions into permissions and never overrides a denial.
	 * @throws SpillwayError `INVALID_CONFIG` if it is not a valid rule with the decision `allow`
	 */
	approve(rule: PermissionRule, sessionId?: string): void;
	/** Removes an approval. Returns `false` if there was none. */
	revoke(rule: Pick<PermissionRule, "domain" | "pattern">, sessionId?: string): boolean;
	/** Approved rules; those without a session apply to all. */
	approvals(): {
		rule: AppliedRule;
		sessionId: string | null;
	}[];
	/** Returns the user's rules that can never decide, because a later one covers at least the same targets. */
	shadowedRules(): {
		rule: AppliedRule;
		hiddenBy: AppliedRule;
	}[];
}
/** A question that waits for an answer. */
export interface PendingRequest {
	id: string;
	toolCallId: string;
	tool: string;
	args: unknown;
	sessionId?: string;
	cwd?: string;
	vault?: string;
	/** The folder that targets are inside or outside of: `vault` of the call, or else of the policy. */
	folder?: string;
	targets: string[];
	/** Domains of the targets, in their order: whether the call reads, edits or runs each. */
	domains?: PermissionDomain[];
	reasons: string[];
	suggestedRules: SuggestedRule[];
	/** Milliseconds since the epoch. */
	askedAt: number;
}
/** Decision about a call. */
export interface GateDecision {
	decision: "allow" | "deny";
	/**
	 * Source of the decision: rules, full access, an answer, or withdrawal of the question; `error` if `ask` failed or gave no answer.
	 * An error is not remembered: the same call is asked about again.
	 */
	by: "rule" | "full_access" | "once" | "always" | "reject" | "abort" | "error";
	/** The mode of the session at that time. */
	mode: PermissionMode;
	/** Message of the user who rejected it, or what is wrong with `ask`. */
	message?: string;
	verdict: PermissionVerdict;
}
/** The state that `PermissionGate.toJSON` returns. */
export interface GateState {
	version: 1;
	pending: PendingRequest[];
	/** Answers of users, by a hash of the call's session, id, tool, arguments and folders. */
	answers: {
		call: string;
		decision: GateDecision;
	}[];
	approvals: {
		rule: SuggestedRule;
		sessionId: string | null;
	}[];
}
/** A call that is asked about. */
export interface GateCall extends PermissionCall {
	/** Requests of the same call get the same answer; a call with the same id and other contents is another call. */
	toolCallId: string;
	/** Stops waiting. The question is withdrawn when no caller waits for it. */
	signal?: AbortSignal | undefined;
}
/** Audit event of a gate. */
export type GateEvent = {
	type: "asked";
	request: PendingRequest;
}
/**
 * `call` is the key in `answers` of {@link GateState}, so that each answer can be stored separately; absent if the arguments
 * cannot be read.
 */
 | {
	type: "decided";
	toolCallId: string;
	sessionId?: string;
	call?: string;
	decision: GateDecision;
} | {
	type: "rule_stored";
	rule: SuggestedRule;
	scope: "session" | "user";
	sessionId?: string;
} | {
	type: "rule_not_stored";
	rule: SuggestedRule;
	message: string;
};
/** An answer of the user: `always` stores the suggested rule that was shown. */
export type GateResponse = "once" | "always" | {
	reject: string | true;
};
/** An answer of `ask`; `{ always }` is the suggested rule to store. */
export type AskResponse = GateResponse | {
	always: SuggestedRule;
};
/** The second argument of `ask`. */
export interface AskContext {
	/**
	 * A key that is the same for the same call in every process: the key in `answers` of {@link GateState}. Absent if the arguments
	 * cannot be read completely.
	 */
	call?: string;
	/** Aborted when the question no longer needs an answer, because it was answered or withdrawn. */
	signal: AbortSignal;
}
/** Options of `PermissionGate`. */
export interface PermissionGateOptions {
	/**
	 * Puts a question to a person and returns the answer; `always` counts as `once` if no rule was suggested. If it throws or
	 * returns anything else, the call is denied by `error`, and a warning is issued. Without it, questions wait for `PermissionGate.respond`.
	 */
	ask?: (request: PendingRequest, context: AskContext) => AskResponse | Promise<AskResponse>;
	/** Controls which sessions have full access. */
	modes?: ModeController;
	/** Writes a rule to the user's settings. Without it, "always" is valid as long as the gate exists. */
	saveRule?: (rule: SuggestedRule) => void | Promise<void>;
	/** Writes the rule to this file of `loadConfig`; comments are kept. Instead of `saveRule`, not together with it. */
	configFile?: string;
	/**
	 * Scope of "always".
	 * @default 'user'
	 */
	scope?: "session" | "user";
	/** Receives every question and decision. If it throws, the error is ignored. */
	onEvent?: (event: GateEvent) => void;
	/** Milliseconds since the epoch. @default Date.now */
	now?: () => number;
}
/** The short form of a `PermissionGate`: the function that asks, and the policy if it is not the default one. */
export interface AskingGateOptions extends Omit<PermissionGateOptions, "ask"> {
	/** Puts a question to a person and returns the answer: see {@link PermissionGateOptions}. */
	ask: NonNullable<PermissionGateOptions["ask"]>;
	/**
	 * The policy, or its options.
	 * @default {}
	 */
	policy?: PermissionPolicy | PermissionPolicyOptions;
}
/**
 * Asks the user if the policy says so, and waits without a time limit. A call is asked about once, however often it is requested.
 * A call is identified by its session, `toolCallId`, tool, arguments and folders: the same id with other arguments is another
 * call. The rules are checked each time: an approved call does not run if the policy denies it by then.
 *
 * @example
 * const asking = new PermissionGate({ ask: () => 'once' }) // with the default policy
 * const gate = new PermissionGate(policy, { ask: async ({ tool, args }) => ((await askTheUser(tool, args)) ? 'once' : { reject: true }) })
 * const { decision } = await gate.request({ toolCallId: 'c1', tool: 'bash', args: { command: 'make' } })
 * // Without `ask`, from elsewhere: gate.respond(gate.pending()[0].id, 'once')
 */
export declare class PermissionGate {
	/** @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed */
	constructor(options: AskingGateOptions);
	constructor(policy: PermissionPolicy, options?: PermissionGateOptions);
	/**
	 * Decides about a call, or asks and waits.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the call is wrong
	 */
	request(call: GateCall): Promise<GateDecision>;
	/** Lists the open questions, oldest first; those of an earlier process too. */
	pending(): PendingRequest[];
	/**
	 * Answers a question. `always` stores the first suggested rule, or the given rule if it was shown, and also answers other
	 * questions that the rule covers. `{ reject }` denies the call and every other question of its session. The first
	 * answer counts and decides at once; the rule is saved afterwards. If the policy denies the call in the meantime, it is denied
	 * whatever the answer is.
	 * @throws SpillwayError `INVALID_ARGUMENT` if there is no such question, or no rule to store
	 */
	respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void>;
	/** Returns the state that must survive a restart: open questions whose call can be recognised again, answers and approvals. */
	toJSON(): GateState;
	/**
	 * Restores a gate. A question stays open if this policy also asks about its call; when the call is requested again, it uses that
	 * question.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names the field that was not returned by {@link toJSON}
	 */
	static fromJSON(saved: GateState | string, policy: PermissionPolicy, options?: PermissionGateOptions): PermissionGate;
}
/** Options of {@link AuditLog}. */
export interface AuditLogOptions {
	/** The folder of all logs, created if it does not exist. The agent's own tools should not be able to write to it. */
	dir: string;
	/** The session id, any string; its file gets a safe name made from it. */
	sessionId: string;
	/** A secret of at least 16 bytes. With it no other process can make records that verify. @default none */
	key?: string | Uint8Array | undefined;
	/** Maximum bytes of a file, at least 65,536; then a new one is started, and the old one is kept. @default 16777216 */
	maxFileBytes?: number;
	/** Redaction of every text. Well-known forms of secrets are redacted unless `known` is false. @default { known: true } */
	redact?: RedactionOptions;
	/** Waits for the disk after every batch, so that a power cut loses no acknowledged record. @default false */
	sync?: boolean;
	/**
	 * Behaviour if writing fails: with `warn`, `append` resolves to `undefined` and the problem is reported; with `block` it
	 * rejects, so that the host does not run the tool. In both cases the event counts as dropped, and a record says so as soon as
	 * the log can be written again.
	 * @default 'warn'
	 */
	onFailure?: "warn" | "block";
	/** Receives every failure. @default a warning of the process */
	onProblem?: (error: SpillwayError) => void;
}
/**
 * An event. All fields are optional, and others may be added, except `after`, `cut`, `hash`, `prev`, `seq`, `v` and `writer`,
 * which the log sets itself.
 */
export interface AuditEvent {
	/** @default an id that is unique */
	eventId?: string;
	/** Milliseconds since the epoch. @default when it is appended */
	timestamp?: number;
	type?: string;
	mode?: string;
	tool?: string;
	toolCallId?: string | undefined;
	/** `read`, `edit`, `bash`, … */
	permissionDomain?: string;
	/** In the form of permission rules: `vault:/a.md`, `shell:…` */
	targets?: readonly string[];
	decision?: "allow" | "ask" | "deny" | (string & {});
	rulePattern?: string;
	reason?: string;
	/** Source of the approval: a user, a rule, a mode. */
	approver?: string;
	outcome?: string;
	durationMs?: number;
	/** Bytes of the output. */
	bytes?: number;
	/** Where the full output is. */
	outputPath?: string;
	[field: string]: unknown;
}
/** A record that is in the log. */
export interface AuditReceipt {
	eventId: string;
	/** Id of the writer: one per `AuditLog`. */
	writer: string;
	/** Its place in the writer's chain, from 1. */
	seq: number;
	/** Keep the newest one elsewhere: with it `verifyAudit` detects that records were removed from the end. */
	hash: string;
}
/** A record that was changed after it was written. */
export interface BadAuditRecord {
	file: string;
	/** From 1. */
	line: number;
	/** Offset of the line, in bytes. */
	offset: number;
	reason: string;
	/** Fields of the record itself, if readable. */
	writer?: string;
	seq?: number;
}
/** Result of {@link verifyAudit}. */
export interface AuditReport {
	/** True if no record was changed. */
	ok: boolean;
	/** Records before the first bad one. */
	records: number;
	firstBad?: BadAuditRecord;
	/**
	 * True if the last line is incomplete; the next writer moves it to another file. It does not count as a fault, although a
	 * removed end looks the same.
	 */
	torn?: {
		file: string;
		line: number;
		offset: number;
		bytes: number;
	};
	/** The hash of the last record. */
	head?: string;
	/** Number of writers. */
	writers: number;
	/** Number of events that, according to the log, could not be written. */
	dropped: number;
	/** The files, oldest first. */
	files: string[];
}
/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions {
	/** The key that the log was written with. */
	key?: string | Uint8Array | undefined;
	/** The hash of a record, or of several, that must be in the log; if one is missing, records were removed from the end. */
	head?: string | readonly string[] | undefined;
	signal?: AbortSignal | undefined;
}
/**
 * The audit log of a session: one JSON object a line, each with its own hash and that of the record before it. Several
 * processes may write to the same session.
 */
export declare class AuditLog {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option. Nothing is written before the first event */
	constructor(options: AuditLogOptions);
	/** The file that records are appended to. When it is full, it is renamed with a number, and a new file takes its name. */
	get path(): string;
	/** Number of lost events: writing failed, or too many were waiting. */
	get dropped(): number;
	/**
	 * Appends an event. The promise settles when the operating system has the record; events of one turn of the event loop are
	 * written together, in order. The event is read at once and may have any type and size: fields that are too long for a line are
	 * truncated and marked.
	 *
	 * @returns the record's place and hash; `undefined` if it could not be written and `onFailure` is `warn`
	 * @throws SpillwayError `INVALID_ARGUMENT` if the value is not an object or has a field that the log sets itself, `CLOSED`, and with
	 * `onFailure: 'block'` `STORAGE_WRITE`
	 */
	append(event: AuditEvent): Promise<AuditReceipt | undefined>;
	/** Settles when every event appended before is written or has failed. */
	flush(): Promise<void>;
	/** Writes pending records. After that nothing can be appended. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/**
 * Checks a log: every record must have a correct hash, and link to the record before it and to the previous record of its writer. Earlier
 * files of the same session are read first. Memory does not depend on the size.
 *
 * Without a `key` the hashes only reveal accidents and careless changes, because a process that can write the file can recompute
 * them. Records removed from the end are only detected with a `head` that was stored elsewhere.
 *
 * @param file the path of the log's current file, or of a copy of one of its files
 * @throws SpillwayError `STORAGE_NOT_FOUND`, `STORAGE_READ`; the reason of an aborted signal
 */
export declare function verifyAudit(file: string, options?: VerifyAuditOptions): Promise<AuditReport>;
/** Options of `TruncationService.capture`. */
export interface CaptureOptions {
	/**
	 * Behaviour when the stream is destroyed, or its signal aborted, before its end: `discard` leaves no file and
	 * rejects `result`; `keep` ends the output where it is and resolves `result` with it. Later writes are dropped.
	 * @default 'discard'
	 */
	onAbort?: "discard" | "keep";
	/**
	 * Maximum bytes held in memory for a custom strategy, which must see the full text. A longer output is truncated by `default`;
	 * an `error` event and `strategyBypassed` say so. A whole number of at least 1.
	 * @default 8388608
	 */
	customStrategyBytes?: number;
}
/**
 * The part of a saved output to read: lines if `fromLine` or `lineCount` is given, or else bytes. At least one of the four must be given.
 */
export type ReadRange = LineRange | ByteRange;
/** Outputs of a storage that may be read. */
export interface OutputAccess {
	/** Only an output that was saved for this session, wherever links in the path lead; any other is refused. Default: all. */
	sessionId?: string | undefined;
}
/**
 * A part of a saved output. A call gives at most 262,144 bytes of the file.
 *
 * No character is split. A character belongs to the byte range of its first byte: a range that begins inside a character begins
 * after it, and a range that ends inside a character ends after it, so that adjacent ranges neither lose nor repeat a character.
 * Bytes that are not UTF-8 are U+FFFD in the text.
 */
export interface RangeResult {
	/** The text, well-formed, with the line breaks that the file has. */
	text: string;
	/** The line of the first byte of the text; only for a range of lines. */
	fromLine?: number;
	/** The lines that the text shows, whole or in part; only for a range of lines. */
	lineCount?: number;
	/** Byte of the file at which the text begins. */
	fromByte: number;
	/** Number of bytes of the file that the text covers. */
	byteCount: number;
	/** Bytes of the whole file. */
	totalBytes: number;
	/** Lines of the whole file; only for a range that begins with a line beyond its end. */
	totalLines?: number;
	/** The range of the next call, with the same count; absent at the end of the file. */
	next?: LineRange | ByteRange;
	/** True if the text begins or ends inside a line or a character of the file. */
	partial: boolean;
	/** True if the file itself has only a part of the output; lines and bytes refer to the file. */
	incomplete?: boolean;
}
/** Options of a search. */
export interface SearchOptions extends OutputAccess {
	/** Ignores case. @default false */
	ignoreCase?: boolean;
	/** Takes the pattern as plain text, not as a regular expression. @default false */
	literal?: boolean;
	/** Lines to show before and after each matching line, 0 to 100. @default 0 */
	context?: number | {
		before?: number;
		after?: number;
	};
	/** Maximum number of matching lines in one call, 1 to 10,000. @default 100 */
	maxMatches?: number;
	/** Maximum UTF-8 bytes of text in one call, 1 to 4,194,304. A single match is truncated to fit. @default 65536 */
	maxBytes?: number;
	/** Continues where an earlier search of the same file with the same pattern stopped: its `next`. */
	after?: string;
	signal?: AbortSignal | undefined;
}
/** A line that matches. */
export interface SearchMatch {
	/** Its number, from 1. */
	line: number;
	/** The line without its break, well-formed; over 1,024 bytes only the part around the match, with `…` where text is missing. */
	text: string;
	/** The lines before it, each at most about 512 bytes. */
	before: string[];
	/** The lines after it. */
	after: string[];
	/** Byte of the file at which the match begins: `readRange(path, { fromByte })` reads from there. */
	byte: number;
	/** The text is a part of the line. */
	partial?: boolean;
}
/** Result of a search. */
export interface SearchResult {
	/** One for every matching line, in order. */
	matches: SearchMatch[];
	/** A limit stopped the search before the end of the file. */
	truncated: boolean;
	/** Pass it as `after` to continue; present if truncated. */
	next?: string;
	/** Lines that this call searched. */
	linesSearched: number;
	/** The file holds only a part of the output; the rest was not searched. */
	incomplete?: boolean;
}
/** Limits of a sweep. Missing fields default to the storage's options. */
export interface SweepOptions {
	/** Days after which an output is removed; more than 0, `Infinity` for never. @default 7 */
	retentionDays?: number;
	/** Bytes of all outputs, over all folders. @default 4294967296 */
	maxStoreBytes?: number;
	/** Outputs, over all folders. @default 10000 */
	maxStoreFiles?: number;
	/** Milliseconds since the epoch. Default: now. */
	now?: number;
	/** Only reports what would be removed. @default false */
	dryRun?: boolean;
}
/** An output that a sweep removed, because of its age or a limit of the store. */
export interface SweptFile {
	path: string;
	bytes: number;
	reason: "age" | "bytes" | "count";
}
/** Report of a sweep. */
export interface SweepReport {
	/** The first 1,000 of the outputs that were removed. */
	removed: SweptFile[];
	/** Number of removed outputs. */
	removedFiles: number;
	/** Their bytes. */
	removedBytes: number;
	/** Remaining files and bytes, without those that could not be examined. */
	kept: {
		files: number;
		bytes: number;
	};
	/**
	 * The first 100 of the outputs that could not be removed, and of the folders that could not be read.
	 */
	failed: {
		path: string;
		error: string;
	}[];
	/** Number of both. */
	failedFiles: number;
	/** Folders that another process was sweeping, and that were skipped. */
	skippedDirs: string[];
}
/** A saved output, as lists show it. */
export interface SavedOutput {
	path: string;
	/** Read from the name of the file; absent if the name does not have it. */
	toolName: string;
	/** Milliseconds since the epoch. */
	savedAt: number;
	/** Bytes of the file. */
	bytes: number;
	/** The file holds only a part of the output. */
	partial?: true;
}
/** Size of a store. */
export interface StorageUsage {
	/** Outputs. */
	files: number;
	/** Their bytes. */
	bytes: number;
	/** Sessions that have outputs, or had some. */
	sessions: number;
	/**
	 * Folder by folder, in order. `freeBytes` is the free space of the file system; absent if the folder does not exist or the
	 * system does not report it.
	 */
	dirs: {
		dir: string;
		files: number;
		bytes: number;
		freeBytes?: number;
	}[];
	/** Report of the last automatic sweep; absent before the first. */
	lastSweep?: SweepReport;
}
/** Truncates the output of tools. */
export declare class TruncationService implements OutputService {
	/** The storage of full outputs: the given one, the {@link StorageList} of several, or the service's own. */
	readonly storage: ITruncationStorage;
	/** @throws SpillwayError `INVALID_CONFIG` that names the option, its value and what is allowed */
	constructor(options?: TruncationServiceConfig);
	/**
	 * Truncates one output. An output within the limits is returned unchanged; otherwise the full output is saved first, and a
	 * preview with a notice is returned. A failing disk, strategy or storage never fails the call: the output is still truncated.
	 *
	 * @param content text, bytes (decoded as UTF-8, saved as they are; they must not change until the promise settles),
	 *   or the parts of a message, whose texts share one limit
	 * @throws SpillwayError `INVALID_ARGUMENT` for any other content and for an invalid context, `CLOSED` after {@link close}
	 */
	output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>;
	/**
	 * Captures an output while it is being produced: a writable stream of text or bytes, in pieces of any size. Memory is bounded by
	 * the limits, whatever the length; the file is created when a limit is exceeded, and is complete from the first byte. Its
	 * `result` is the same as that of {@link output} for the full text, with one exception: if the caller turned truncation off, the
	 * output is still truncated above the hard ceiling, because a stream of any length cannot be held.
	 *
	 * @example
	 * const capture = service.capture({ toolName: 'bash' })
	 * child.stdout.pipe(capture)
	 * const result = await capture.result
	 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid context or option, `CLOSED` after {@link close}
	 */
	capture(context: TruncationContext, options?: CaptureOptions): Capture;
	/** Removes saved outputs that are older than `retentionDays`, and returns their number. */
	cleanup(): Promise<number>;
	/**
	 * Removes saved outputs that are older than `retentionDays`, and then the oldest over `maxStoreBytes` and `maxStoreFiles`. A
	 * custom `storage` uses its own limits; options passed here take precedence.
	 * @throws SpillwayError `INVALID_CONFIG` if the storage is a custom one that cannot be swept
	 */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/**
	 * Changes settings for every tool, from the next call on.
	 * @throws SpillwayError `INVALID_CONFIG`; `retentionDays`, `storageDir` and quotas can only be set in the constructor
	 */
	updateConfig(config: Partial<Omit<TruncationConfig, "retentionDays" | "storageDir">>): void;
	/** Sets the user's entry for a tool, from the next call on. The built-in settings of the tool stay below it. */
	setToolConfig(toolName: string, config: ToolTruncationConfig): void;
	/** Returns the configuration that a call with this context would use, and the source of each field. */
	effectiveConfig(context: TruncationContext): EffectiveConfig;
	/** Returns the totals of all outputs so far. */
	report(): TruncationReport;
	/** Refuses further outputs, and releases the leases of the service's own storage. Running calls finish. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/** Output of a running command so far. */
export interface CommandProgress {
	bytes: number;
	lines: number;
	/** Milliseconds since the command was started. */
	elapsedMs: number;
}
/** A command that is running. */
export interface RunningCommand {
	/** The id of its process, which is also that of its process group. */
	readonly pid: number;
	/** Preview as if the output ended here. */
	peek: () => Promise<CapturePeek>;
	/** Reads a part of the output so far; see `Capture.readRange`. */
	readRange: (range: ReadRange) => Promise<RangeResult>;
	/** Ends the command and everything that it started. The call then resolves with the output so far, and with `aborted`. */
	stop: () => void;
}
/** Options of `runCommand`. */
export interface RunCommandOptions {
	/** The folder the command runs in. Default: that of this process. */
	cwd?: string | URL;
	/** Variables on top of this process's environment; `undefined` removes one. */
	env?: Record<string, string | undefined>;
	/** Standard input of the command. Default: empty. */
	input?: string | Uint8Array;
	/**
	 * Standard input if `input` is not given: empty, or that of this process.
	 * @default 'ignore'
	 */
	stdin?: "ignore" | "inherit";
	/** Milliseconds after which the command and everything it started is ended. More than 0. Default: none. */
	timeoutMs?: number;
	/**
	 * Milliseconds between asking the processes to end (`SIGTERM`) and ending them (`SIGKILL`).
	 * @default 2000
	 */
	killGraceMs?: number;
	/**
	 * Ends the command; the result has the output so far, and `aborted`, or `timedOut` for a signal of `AbortSignal.timeout`. If it is
	 * aborted before the start, the call rejects with its reason.
	 */
	signal?: AbortSignal | undefined;
	/**
	 * Called when the command has started, with an object that can read its output and end it: for commands that do not end by
	 * themselves, such as a development server.
	 */
	onStart?: (running: RunningCommand) => void;
	/** Called a few times a second while the command runs. */
	onProgress?: (progress: CommandProgress) => void;
	/**
	 * Labels standard output and standard error: a line `[stdout]` or `[stderr]` comes before the text of each. By default both
	 * share one pipe, so that they are in the order in which they were written.
	 * @default false
	 */
	separate?: boolean;
	/**
	 * Runs `file` as a shell command: `true` for `/bin/sh` (`cmd.exe` on Windows), or the path of another shell. Arguments are
	 * appended, quoted.
	 * @default false
	 */
	shell?: boolean | string;
	/** Truncates the output. Default: a service with default settings. */
	service?: TruncationService;
	/** @default 'bash' */
	toolName?: string;
	sessionId?: string | undefined;
	messageId?: string | undefined;
	toolCallId?: string | undefined;
	/** The question that the output is to answer: see `TruncationContext`. */
	query?: string | undefined;
	/** Overrides of truncation for this call. */
	truncation?: TruncationOptions;
	/** Defaults for this call, which every setting overrides: see `TruncationContext`. */
	defaults?: ToolTruncationConfig | undefined;
}
/** Exit and output of a command. */
export interface CommandResult {
	/** `null` if a signal ended it. */
	exitCode: number | null;
	/** The signal that ended it. */
	signal: string | null;
	timedOut: boolean;
	aborted: boolean;
	/** Milliseconds. */
	durationMs: number;
	/** Truncated output of both streams. After a timeout or an abort, its `content` ends with `note`. */
	output: TruncationResult;
	/** Bytes that the command printed. */
	totalBytes: number;
	/** Lines that the command printed. */
	totalLines: number;
	/** A sentence that the command was ended, and what to do next. */
	note?: string;
}
/**
 * Runs a program to its end and returns its exit code and its truncated output; the full output is saved in a file.
 *
 * The command runs in its own process group, which a timeout or an abort ends as a whole; the output so far is kept, and a note at
 * the end of the text says what happened. An exit code other than 0 is not an error. Background processes that the command leaves
 * running are not waited for and can no longer write to the output.
 *
 * @example
 * const { exitCode, output } = await runCommand('npm', ['test'], { timeoutMs: 120_000, sessionId })
 * messages.push({ role: 'tool', content: output.content })
 * @throws SpillwayError `COMMAND` when the program cannot be started, `INVALID_ARGUMENT` for a wrong argument
 */
export declare function runCommand(file: string, args?: readonly string[], options?: RunCommandOptions): Promise<CommandResult>;
type MessageRole = "system" | "user" | "assistant" | "tool" | "other";
/** The argument of {@link ToolResultLedger.record}: facts about a call, with defaults for the rest. */
export interface ToolResultEntry extends Omit<ToolResultRecord, "endedAt" | "isError" | "bytes"> {
	/** @default now */
	endedAt?: number;
	/** @default whether `exitCode` is another one than 0 */
	isError?: boolean;
	/** @default 0 */
	bytes?: number;
}
/** Options of {@link ToolResultLedger}. */
export interface ToolResultLedgerOptions {
	/**
	 * Maximum number of calls; the oldest records are dropped first, and those of folded results last, until these are more than half.
	 * A whole number of at least 1.
	 * @default 10000
	 */
	maxEntries?: number;
}
/** A ledger as JSON. */
export interface ToolResultLedgerState {
	version: 1;
}
/**
 * Records facts when tools finish, because most histories lack the time, the success and the name of the tool, and a truncated
 * result cannot be parsed any more. `createTruncationMiddleware` and `ToolRegistry` fill
 * it; `simplifyOutdatedTerminalResults` reads it.
 *
 * Recording is safe to repeat: known facts of a call stay, and a later record adds missing ones. Some providers use an id again; a record
 * with other arguments, another exit code, saved output or folds is that of another call, and so is one after {@link begin}.
 *
 * @example
 * const ledger = new ToolResultLedger()
 * const middleware = createTruncationMiddleware({ service, ledger })
 * const sent = simplifyOutdatedTerminalResults(messages, { ledger })
 */
export declare class ToolResultLedger {
	/** @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or not allowed */
	constructor(options?: ToolResultLedgerOptions);
	/** Number of recorded calls. */
	get size(): number;
	/**
	 * Says that a call begins: what is recorded from now on is about it, and not about an earlier call that had the same id.
	 * `ToolRegistry` and `guardTool` do so.
	 */
	begin(toolCallId: string): void;
	/**
	 * Records a call. A second record of a call only adds missing facts; a default counts as missing.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names the field if the record is not one
	 */
	record(entry: ToolResultEntry): void;
	/** Returns the record of the newest call with this id. It must not be modified. */
	get(toolCallId: string): Readonly<ToolResultRecord> | undefined;
	/** Returns the records of all calls with this id, the newest last. They must not be modified. */
	getAll(toolCallId: string): readonly Readonly<ToolResultRecord>[];
	/** The ledger as plain JSON. */
	toJSON(): ToolResultLedgerState;
	/**
	 * Restores a ledger from the value of {@link toJSON}, or its JSON text.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names the invalid part
	 */
	static fromJSON(state: ToolResultLedgerState | string, options?: ToolResultLedgerOptions): ToolResultLedger;
}
/** Who a request is sent to, as far as its host knows. */
export interface Recipient {
	/** As its framework names it, such as `anthropic.messages` or `openai`. */
	provider?: string | undefined;
	/** Id of the model. */
	model?: string | undefined;
}
/** Report of a recovery. */
export interface OverflowReport {
	profile: OverflowProfile;
	/** The window that was used, in tokens. */
	contextWindowTokens: number;
	/** Token budget of the history: the window without `reserveTokens` and a margin of 4,096 or a fifth. */
	targetTokens: number;
	/** Estimated tokens before and after, scaled to the provider's count. */
	tokensBefore: number;
	tokensAfter: number;
	steps: OverflowStep[];
	state: OverflowRecoveryState;
	/**
	 * The next step. `prompt`: the history ends with a user message, send it again. `transcript`: it ends in the middle of
	 * a turn; let the model continue, and do not repeat the user's words. `ended`: the model had answered already.
	 */
	resume: "prompt" | "transcript" | "ended";
}
/** Options of {@link recoverFromOverflow}. */
export interface RecoverOptions<M> extends Recipient {
	/** The history that was too long, in any format that {@link detectFormat} knows. Never changed. */
	messages: readonly M[];
	/** The model's window in tokens. A limit that the provider's error names counts if it is less. */
	contextWindowTokens: number;
	/**
	 * Classification of the provider's error by `classifyOverflow`. Estimates are scaled to the number in it. Without
	 * it the history is only checked, before it is sent.
	 */
	overflow?: OverflowFacts;
	/** True if compaction itself overflowed; then it is not tried. */
	duringCompaction?: boolean;
	/**
	 * Tokens of a text.
	 * @default an estimate by its script
	 */
	estimateTokens?: EstimateTokens;
	/** Shortens the history, usually by a summary. Without it only tool results can be shortened. */
	compact?: (messages: M[], info: {
		targetTokens: number;
		attempt: number;
		signal: AbortSignal | undefined;
	}) => Compacted<M> | Promise<Compacted<M>>;
	/**
	 * The upstream system of numbers, words and order: `openclaw-2026-02` compacts first.
	 * @default 'openclaw'
	 */
	profile?: OverflowProfile;
	/**
	 * Maximum number of steps in one turn, over all recoveries that share a `state`.
	 * @default 16
	 */
	maxAttempts?: number;
	/**
	 * Maximum number of compactions among them.
	 * @default 3
	 */
	maxCompactions?: number;
	/**
	 * Minimum number of tokens by which a step must shorten the history if it does not make it fit; otherwise the step is discarded.
	 * @default a hundredth of `contextWindowTokens`
	 */
	minProgressTokens?: number;
	/**
	 * Tokens that the system prompt, the tools and the answer need.
	 * @default 0
	 */
	reserveTokens?: number;
	/** State returned by earlier recoveries of this turn. */
	state?: OverflowRecoveryState | undefined;
	/** Ends the recovery; it rejects with `ABORTED`. */
	signal?: AbortSignal | undefined;
	/** Called for each step. If it throws, a warning is emitted and nothing else changes. */
	onStep?: (step: OverflowStep) => void;
	/**
	 * Returns true if a saved output that a result names still exists; only then does the model get its path. A tool can print any
	 * path, so return true only for your own paths.
	 * @default whether `storage` owns the path, or this process saved it
	 */
	outputExists?: (path: string) => boolean;
	/** The storage that full outputs were saved in: only paths that it owns are named. */
	storage?: OutputOwner;
	/**
	 * A `ToolResultLedger` with the records of a `FoldSession`: a result whose pointer would lose its target gets its text back before
	 * results are shortened.
	 */
	ledger?: ToolResultKnowledge;
	/**
	 * `keep-prefix`: signed reasoning after the first changed message is removed, because current Claude models refuse it there.
	 * `ignore`: it stays.
	 * @default 'keep-prefix'
	 */
	thinking?: ThinkingMode;
	/** The language of the notes in place of images and files. @default that of what the user said */
	language?: NoticeLanguage;
}
/** Result of {@link recoverFromOverflow}. */
export interface Recovered<M> {
	messages: M[];
	report: OverflowReport;
}
/** Plan of a recovery. */
export interface OverflowPlan extends OverflowReport {
	/**
	 * The outcome as far as it is known: `compaction` stands for the result of the caller's compaction, which is not known
	 * before.
	 */
	outcome: "retry" | "compaction" | "failed";
}
/** Report of {@link compactHistory}. */
export interface CompactionReport {
	/** `none`: the input messages themselves. `outputs`: old outputs were replaced. `summary`: old messages were. */
	action: "none" | "outputs" | "summary";
	reason: CompactionReason;
	/** The sizes that were compared: the history with the other parts of the request, and the limit. */
	trigger: {
		size: number;
		/** `Infinity` if there is no limit. */
		limit: number;
		unit: "tokens" | "chars";
		/** True if the limit was exceeded, or compaction was forced. */
		triggered: boolean;
	};
	/** Budget of the history and the other parts of the request, in the unit of the trigger. */
	usable: number;
	/** True if they are within the budget now. */
	fits: boolean;
	/** The history, estimated, in the unit of the trigger. */
	sizeBefore: number;
	sizeAfter: number;
	/** UTF-16 units of all texts. */
	charsBefore: number;
	charsAfter: number;
	messagesBefore: number;
	messagesAfter: number;
	/** Number of outputs that were replaced in place. */
	replacedOutputs: number;
	/** By tool the number of outputs that were removed, replaced or summarised. */
	droppedTools: Record<string, number>;
	/** Images and files that were replaced by a note. */
	replacedMedia: number;
	/** Kept messages: those before `first`, those in `head`, and those from `from` on; indices into the input. */
	kept: {
		first: number;
		head: readonly [
			number,
			number
		];
		from: number;
		cut: "turn" | "inside";
	};
	/** The summary, if there is one now. */
	summary?: {
		/** Index of its message in the new history. */
		index: number;
		text: string;
		/** UTF-16 units. */
		chars: number;
		/** In the unit of the trigger. */
		size: number;
		/** True if it updates an earlier one. */
		updated: boolean;
		/** True if the summary includes the beginning of a turn whose rest is kept. */
		hasTurn: boolean;
		/** True if it was longer than its limit. */
		shortened: boolean;
	};
	/** Why there is no summary. */
	error?: SpillwayError;
	/** For the next compaction of this session. */
	state: CompactionState;
	/** Format of the history; `undefined` if no message is in a known format. */
	format: HistoryFormatName | undefined;
}
/** Plan of {@link compactHistory}. */
export interface CompactionPlan {
	/** `summary` if a summary would be requested; its result is not known before. */
	action: "none" | "outputs" | "summary";
	reason: CompactionReason;
	trigger: CompactionReport["trigger"];
	usable: number;
	sizeBefore: number;
	/** With `summary`, the size of the kept messages, without the summary. */
	sizeAfter: number;
	messages: number;
	replacedOutputs: number;
	droppedTools: Record<string, number>;
	/** Images and files that would be replaced by a note; with `summary` not known. */
	replacedMedia: number;
	kept: CompactionReport["kept"];
	/** Limit of the summary, in the unit of the trigger. */
	room: number;
	format: HistoryFormatName | undefined;
}
/** Request to the summariser. */
export interface SummaryRequest<M = unknown> {
	/** The complete prompt: instructions, the previous summary, and the messages. */
	prompt: string;
	/** Only the instructions, for callers who send the messages themselves. */
	instructions: string;
	/** The messages that the summary replaces, oldest first: the same objects, with their full outputs. */
	messages: readonly M[];
	/** `history`: everything before the turns that are kept. `turn`: the beginning of a turn whose rest is kept. */
	part: "history" | "turn";
	/** The previous summary, to be updated; `undefined` the first time. */
	previousSummary: string | undefined;
	/** Parts of the request besides the history. */
	environment: CompactionEnvironment | undefined;
	/** Token limit of the summary. */
	maxTokens: number;
	/** The language of the conversation, as far as that is known. */
	language: NoticeLanguage;
	/** Aborted when the time limit is reached, or when the caller's signal is aborted. */
	signal: AbortSignal;
}
/** Options of {@link MemoryStorage}. */
export interface MemoryStorageOptions {
	/** The most bytes that remain after {@link MemoryStorage.sweep}. @default 4294967296 */
	maxStoreBytes?: number;
	/** The most outputs that remain after {@link MemoryStorage.sweep}. @default 10000 */
	maxStoreFiles?: number;
	/** As for `TruncationStorage`. @default none */
	maxFileBytes?: number;
	/** As for `TruncationStorage`. @default none */
	redact?: RedactionOptions;
	/** Days that {@link MemoryStorage.sweep} keeps an output. More than 0; `Infinity`: forever. @default 7 */
	retentionDays?: number;
}
/**
 * Keeps full outputs in the memory of the process, with the methods of `TruncationStorage` but for `saveStream`: an output is held
 * as a whole. They are not shared with other processes and are lost when the process ends.
 */
export declare class MemoryStorage implements ITruncationStorage {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option */
	constructor(options?: MemoryStorageOptions);
	/** Stores a text and returns its path, which only this storage knows. */
	save(content: string, context: TruncationContext): Promise<string>;
	/** Stores a copy of bytes and returns its path. */
	saveBytes(content: Uint8Array, context: TruncationContext): Promise<string>;
	/** Returns the full text. @throws SpillwayError `STORAGE_NOT_OWNED`, `STORAGE_NOT_FOUND` if it was swept */
	read(path: string): Promise<string>;
	/** As `TruncationStorage.readRange`. */
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	/** As `TruncationStorage.search`. */
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
	/** Returns true if the path is that of an output in this storage. */
	owns(path: string): boolean;
	/** Removes outputs that are older than `retentionDays`, and returns their number. Outputs younger than an hour are kept. */
	cleanup(retentionDays?: number): Promise<number>;
	/** As `TruncationStorage.sweep`; there are no leases here. */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** Returns the number and size of the outputs. */
	usage(): Promise<StorageUsage>;
	/** Lists the outputs of the store, or of one session in it, newest first. */
	list(access?: OutputAccess): Promise<SavedOutput[]>;
	/**
	 * Removes one output. Returns false if it was removed before.
	 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path
	 */
	remove(path: string): Promise<boolean>;
	/** Removes all outputs of a session, and returns their number. */
	deleteSession(sessionId: string): Promise<number>;
	/** Returns the prefix of paths; it is not a folder on disk. */
	getStorageDir(): string;
	/** Removes all outputs. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/** Options of the part of a summary about files that were read before it. */
export interface ReadStateOptions {
	/** The folder that relative paths start from. Files outside of it, also after following links, are listed without their state. */
	root: string;
	/** Maximum tokens of the list; the newest reads come first. @default 600 */
	maxTokens?: number;
	/** Number of files, those read last, whose current text is added to the summary. A whole number. @default 0 */
	restoreFiles?: number;
	/** Maximum tokens of these texts together. A file that does not fit is left out. @default 4000 */
	restoreTokens?: number;
	/**
	 * Redaction of these texts, which are part of the summary and stored with it. Well-known forms of secrets are redacted unless
	 * `known` is false. Files whose names indicate secrets, such as `.env`, are never added.
	 * @default { known: true }
	 */
	redact?: RedactionOptions;
}
/** Writes a summary: usually a request to a model. */
export type Summarize<M = unknown> = (request: SummaryRequest<M>) => string | {
	text: string;
} | Promise<string | {
	text: string;
}>;
/** Options of {@link compactHistory}. */
export interface CompactOptions<M = unknown> {
	/** The model's window in tokens. 0, `NaN`, `Infinity` or nothing: unknown; then `maxChars` decides. */
	contextWindow?: number;
	/** Writes summaries. Without it only old outputs are removed. */
	summarize?: Summarize<M>;
	/**
	 * Milliseconds that the summariser may take, or `Infinity`.
	 * @default 120000
	 */
	summarizeTimeoutMs?: number;
	/**
	 * Token limit of a summary. Never more than 15 % of the usable window.
	 * @default 4096
	 */
	maxSummaryTokens?: number;
	/**
	 * Input limit of the summariser, in tokens.
	 * @default `contextWindow`, or 32,000 if it is unknown
	 */
	summarizerWindow?: number;
	/**
	 * The numbers of a known agent, as defaults of the other options. `moryflow`: the decision record's, four characters to a
	 * token. `opencode`: when all but 20,000 tokens are used; the newest 40,000 tokens of outputs stay, and none are removed unless
	 * 20,000 can. `takumi`: at 70 % of the window, with the same outputs.
	 */
	profile?: CompactionProfile;
	/** `false`: compacts only on request. @default true */
	enabled?: boolean;
	/** Compacts whatever the size, and although compaction is switched off. @default false */
	force?: boolean;
	/**
	 * Makes the history fit into this number of tokens, regardless of the window; for a recovery from an overflow.
	 */
	targetTokens?: number;
	/**
	 * Compaction begins above this share of the usable tokens: the window minus the room for an answer (4,096 tokens or a fifth) and
	 * minus `reserveTokens`. Above 0, at most 1.
	 * @default 0.8
	 */
	triggerShare?: number;
	/**
	 * Compaction begins above this number of UTF-16 units if the window is unknown; `Infinity`: never.
	 * @default 120000
	 */
	maxChars?: number;
	/** Tokens that stay free in addition to the room for an answer. @default 0 */
	reserveTokens?: number;
	/**
	 * Number of newest turns kept byte for byte, as long as they fit. The newest user message is always kept. A
	 * whole number; 0 is 1.
	 * @default 3
	 */
	recentTurns?: number;
	/**
	 * Outputs of these tools stay. `*` stands for any characters; case and `-`, `_`, `.` between words do not matter.
	 * @default ['task', 'tasks_*', 'write', 'edit', 'move', 'delete']
	 */
	protectedTools?: readonly string[];
	/** Parts of the request besides the history. */
	environment?: CompactionEnvironment;
	/**
	 * Tokens that the provider counted for these messages and the other parts of the request. Estimates are scaled to it.
	 */
	usedTokens?: number;
	/**
	 * Returns the tokens of a text. If it throws or returns no number, a warning is issued and the built-in estimate is used.
	 * @default the built-in estimate
	 */
	estimateTokens?: (text: string) => number;
	/**
	 * The language of the texts that Spillway adds to the history.
	 * @default that of what the user said
	 */
	language?: NoticeLanguage;
	/** Metadata recorded when the tools finished: the path of the saved output, and the tool name. */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: only paths that it owns are used. Without it, a path printed by the tool is used
	 * only if this process saved it, and a path that the host wrote into a message is trusted. Images that leave are saved in it if it has
	 * `saveBytes`.
	 */
	storage?: OutputOwner;
	/**
	 * `keep-prefix`: signed reasoning after the first changed message is removed, because current Claude models refuse it there.
	 * `ignore`: it stays.
	 * @default 'keep-prefix'
	 */
	thinking?: ThinkingMode;
	/**
	 * Adds to a summary the files that were read before it, with the lines read and whether they have changed since, and on request
	 * the current text of the files read last. These files are opened; without this option, no file is.
	 * @default none
	 */
	readState?: ReadStateOptions;
	/** State of an earlier compaction of this session: `report.state`. */
	state?: CompactionState | undefined;
	/** Called before a summary is written, and after a compaction. */
	hooks?: CompactionHooks<M>;
	/** Milliseconds that a hook may take. @default 5000 */
	hookTimeoutMs?: number;
	/** Ends the compaction; it rejects with `ABORTED`. */
	signal?: AbortSignal | undefined;
}
/** Result of {@link compactHistory}. */
export interface CompactResult<M> {
	messages: M[];
	report: CompactionReport;
}
/**
 * Shortens a history that is near the model's window: old tool outputs are replaced in place, and if
 * that is not enough, `summarize` writes a summary that takes the place of everything before the newest turns.
 *
 * Kept messages are the same objects, byte for byte: instructions at the beginning, the newest three turns as long as they fit,
 * and always the newest message of the user. A turn that is too long by itself is split where
 * {@link cutPoints} allows it. Calls keep their results. The summary is one message, updated by the next compaction. The record of
 * changed files in it is not written by the summariser, and later summaries keep it.
 *
 * If a summary fails, is empty, or is larger than the messages it replaces, only old outputs are removed. A step that frees less
 * than a tenth is discarded.
 *
 * `compactHistory.plan` takes the same arguments and returns the planned steps: no callback is called, and nothing changes.
 *
 * @param messages in any format that `detectFormat` knows. Never changed
 * @returns new messages, or the very array if nothing was done, and what was done and why
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed; `COMPACTION` if it was done three times in the last
 * three turns of the model and is needed again, by `options.state`; `ABORTED` if the signal says so
 */
export declare function compactHistory<M>(messages: readonly M[], options: CompactOptions<M>): Promise<CompactResult<M>>;
export declare namespace compactHistory {
	var plan: <M>(messages: readonly M[], options: CompactOptions<M>) => CompactionPlan;
}
/** Options of {@link HistoryPruner}. */
export interface HistoryPrunerOptions {
	/**
	 * The numbers and words of a known agent, as defaults of the other options: `opencode` has its budget, its placeholder,
	 * its estimate of tokens and its protected tool, and prunes whenever it can; `openclaw` has its pressure, keeps 3
	 * messages of the model and the preamble, and waits for a cold cache; `snow` prunes superseded reads at once.
	 */
	profile?: "opencode" | "openclaw" | "snow";
	/**
	 * Policies that select what may be pruned.
	 * @default ['results']
	 */
	policies?: readonly PrunePolicy[];
	/**
	 * Number of newest results that are kept. A whole number of at least 0, or `Infinity`. Results that the model has not seen
	 * yet always stay, however many they are.
	 * @default 5; 1 for the policy `results` if placeholders have an `index`
	 */
	keepRecent?: number;
	/**
	 * Older results are also kept while fewer than this number of results followed their last use. A use is an answer that contains
	 * a path, an identifier or a number of the result for the first time. For the policies `results`, `pressure` and `arguments`. A
	 * whole number of at least 0, or
	 * `Infinity`; 0 turns it off.
	 * @default 0; 3 for the policy `results` if placeholders have an `index`
	 */
	keepUsed?: number;
	/**
	 * Number of newest model messages that are kept, with everything after the first of them. Nothing is pruned until there are that
	 * many. A whole number of at least 0, or `Infinity`.
	 * @default 0
	 */
	keepMessages?: number;
	/**
	 * True if everything before the first user message is kept, such as the agent's identity. Without a user message nothing is pruned.
	 * @default false
	 */
	keepPreamble?: boolean;
	/**
	 * Results of failed calls stay.
	 * @default false
	 */
	keepErrors?: boolean;
	/**
	 * Results of these tools stay. `*` stands for any characters; case and `-`, `_`, `.` between words do not matter.
	 * @default []
	 */
	protectedTools?: readonly string[];
	/**
	 * Prunes only results of these tools, with `*` as above; a tool that is protected as well stays.
	 * @default all tools
	 */
	onlyTools?: readonly string[];
	/**
	 * When to prune. `cache`: when it pays, given what the provider's prompt cache saves. `cold`: only when the cache has expired
	 * because nothing was sent for `cacheLifetimeMs`; then everything that may be pruned is pruned. `always`: prunes at once; for
	 * providers without a cache, or if only the room counts.
	 * @default 'cache'
	 */
	schedule?: "cache" | "cold" | "always";
	/**
	 * The size of the context window, required by the policy `pressure`: tokens, above 0.
	 * @default 200000
	 */
	contextWindow?: number;
	/**
	 * Prices of tokens, relative to each other, or the id of the model, whose prices are looked up in a dated table
	 * (`docs/pruning.md`). Without a cache all three are the same. By default, and for a model that is not in the table, a read counts
	 * 0.05 and a write 1.25, and `maxLoss` holds for every price of a read from 0.025 up. An id that resembles one in the table is warned
	 * of once.
	 * @default { read: 0.05, write: 1.25, miss: 1.25 }
	 */
	prices?: PrunePrices | string;
	/**
	 * Lifetime of the provider's cache after its last use: milliseconds, or `Infinity`.
	 * @default 300000, or that of the model named in `prices`
	 */
	cacheLifetimeMs?: number;
	/**
	 * Maximum extra cost of all requests together compared with no pruning, as a fraction: 0.1 is 10 %. Guaranteed by construction,
	 * as far as the estimates of tokens and the prices are right.
	 * @default 0.1
	 */
	maxLoss?: number;
	/**
	 * Treatment of signed reasoning. `keep-prefix`: nothing before the last signed block changes, because current Claude models
	 * refuse a request in which the messages before a block have changed; results left out before the block was created stay left
	 * out. `remove`: with a change all signed blocks after it are removed, and those before it stay. `provider-drops`: the
	 * provider drops the blocks after a change, as the request of `toProvider('anthropic')` asks it to. `ignore`: signed blocks have
	 * no influence, for models that do not check them.
	 * @default 'keep-prefix'
	 */
	thinking?: ThinkingMode | "remove" | "provider-drops";
	/**
	 * Placeholder of a pruned item, or a function that returns one. If the function throws or does not return a string, an error is
	 * reported, and the default is used. An item that is shorter than its
	 * placeholder is not pruned.
	 * @default a sentence that names the file with the full output, if there is one
	 */
	placeholder?: string | ((info: PrunedInfo) => string);
	/**
	 * The default placeholder of a result lists words of the result that occur nowhere else in the request: paths, identifiers and
	 * numbers that agents are likely to use again. `long`: at most 6,000 bytes. `short`: at most 2,000 bytes. `false`: no list, and
	 * `keepRecent` is 5. A custom `placeholder`, or that of a profile, has no list.
	 * @default 'long'
	 */
	index?: "short" | "long" | false;
	/**
	 * The language of the default placeholder.
	 * @default 'en'
	 */
	language?: NoticeLanguage;
	/**
	 * Metadata recorded when the tools finished. It is more reliable than the message about the tool of a result, whether the
	 * call failed, when it finished, and where the full output was saved. Read once for each result.
	 */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: only paths that it owns are used. Without it, a path printed by the tool is used
	 * only if this process saved it, and a path that the host wrote into a message is trusted.
	 */
	storage?: OutputOwner;
	/**
	 * Returns the tokens of a text. If it throws or returns no number, the error is reported and the built-in estimate is used.
	 * @default the built-in estimate
	 */
	estimateTokens?: (text: string) => number;
	/**
	 * Called for every error while pruning; the messages are returned regardless.
	 * @default a warning of the process
	 */
	onError?: (error: SpillwayError) => void;
}
/** An item that was pruned for the first time. */
export interface PrunedItem extends PrunedInfo {
	/** Index of the message. */
	index: number;
	/** The policy that selected it; the first if there are several. */
	policy: PolicyName;
	/** True if its start and its end stay; it can still be pruned later. */
	trimmed?: true;
}
/** Report of one call of `HistoryPruner.prune`. Priced tokens are tokens times their price. */
export interface PruneReport {
	reason: PruneReason;
	/** Items pruned or trimmed for the first time. */
	pruned: PrunedItem[];
	/** Number of items that are pruned or trimmed by now. */
	total: number;
	/** Tokens of all messages, estimated. */
	tokensBefore: number;
	/** Tokens of the messages that are sent, estimated. */
	tokensAfter: number;
	/** True if the provider's cache had expired. */
	cold: boolean;
	/** Tokens that were freed, or, if nothing was pruned, that could have been freed. */
	freed: number;
	/** Priced tokens that freeing them costs at this request; negative if it saves at once. */
	price: number;
	/** Priced tokens that carrying them has cost so far. */
	carried: number;
	/** Priced tokens that may be spent on a change: the savings so far and the share of `maxLoss`. */
	savings: number;
	/** Priced tokens of all requests so far, and what they would have been without pruning. */
	cost: {
		paid: number;
		unpruned: number;
	};
	/** Number of messages at the start in which nothing changes, because signed reasoning is bound to them; missing if there are none. */
	bound?: number;
	/** Number of results that the provider left out by itself, as `accept` read; missing if there are none. */
	clearedByProvider?: number;
	/** Format of the history; `undefined` if no message is in a known format. */
	format?: HistoryFormatName;
}
/** State of a pruner, as JSON. */
export interface HistoryPrunerState {
	version: 1;
}
/** Tokens of a request, as its provider counted them. */
export interface PromptUsage {
	/** All tokens of the prompt, those read from the cache included. */
	promptTokens: number;
	/** Tokens read from the cache; missing if the usage does not say. */
	cacheReadTokens?: number;
	/** Tokens written to the cache; missing if the usage does not say. */
	cacheWriteTokens?: number;
	/** Why the usage was not used, or only in part. */
	problem?: string;
}
/** Result of {@link HistoryPruner.prune}. */
export interface PruneResult<M> {
	messages: M[];
	report: PruneReport;
	/** Only with `thinking: 'provider-drops'`: fields that the request needs, or the provider refuses it. Adapters set them. */
	requestOptions?: DropThinkingOptions;
}
/**
 * Prunes old parts of a history from requests, with regard to the provider's prompt cache. One pruner
 * belongs to one session: call {@link prune} once before every request, with the whole history.
 *
 * Pruned items stay pruned: once replaced, an item has the same bytes in every later request. Calls keep their results, because
 * only texts are replaced. Never replaced are results that the model has not seen yet,
 * results whose call is not in the history, and results that are no longer than their placeholder. Images and files of a result
 * are pruned with
 * its text, and the placeholder names them.
 */
export declare class HistoryPruner {
	/** @throws SpillwayError `INVALID_ARGUMENT` if an option is unknown or not allowed */
	constructor(options?: HistoryPrunerOptions);
	/**
	 * Returns the messages to send now, and records them as sent.
	 *
	 * Never throws because of the history: unreadable messages stay unchanged, and if pruning fails, the messages are returned
	 * unpruned and `onError` receives the reason.
	 *
	 * @param messages the whole history, in any format that `detectFormat` knows. Never changed
	 * @param options `now` is the time in milliseconds since the epoch, `Date.now()` by default
	 * @returns a new array in which changed messages are copies and unchanged ones the same objects (`===`); `messages` itself
	 * if nothing is pruned. The copies are returned again by the next call: to mark one for a cache, replace it by another copy
	 */
	prune<M>(messages: readonly M[], options?: {
		now?: number;
	}): PruneResult<M>;
	/**
	 * Learns from the usage of the response to the last request, with the field names of its provider or framework:
	 * the tokens of a prompt, whether the cache was still there after the pause before, and prices where the usage has costs
	 * or says that the cache lasts an hour. Call it after each response; a second call for the same request teaches nothing about the cache.
	 *
	 * Never throws. A usage with negative counts, without tokens or in unknown names teaches nothing; one with more hits
	 * than tokens only the number of tokens. `problem` says so.
	 */
	observe(usage: unknown): PromptUsage;
	/**
	 * Returns the fields of a request that ask the provider to edit the history by itself, with the rules of this pruner as far as
	 * the provider supports them: Anthropic's clearing of tool results and of reasoning and its compaction, or OpenAI's compaction.
	 * With `schedule:
	 * 'cold'`, or if requests are not pruned, the two do not interfere.
	 * @throws SpillwayError `INVALID_ARGUMENT` for another provider, or an option that is not allowed
	 */
	toProvider(provider: "anthropic", options?: ToProviderOptions): AnthropicEditing;
	toProvider(provider: "openai", options?: ToProviderOptions): OpenAIEditing;
	/**
	 * Reads from a response which results the provider cleared by itself. From then on they count as left out of the request: a
	 * result with a pointer to one of them gets its text back. `toolCallIds` lists them, for `FoldSession.forget`.
	 *
	 * Never throws. Returns `undefined` if the response does not mention edits; then nothing changes.
	 */
	accept(response: unknown): (ProviderEdits & {
		toolCallIds: string[];
	}) | undefined;
	/** Returns the last decision, as sentences for a person. */
	explain(): string;
	/** Returns the state for `JSON.stringify`: a session that continues in another process sends the same bytes as before. */
	toJSON(): HistoryPrunerState;
	/**
	 * Returns a pruner that continues where another stopped.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the state was not returned by `toJSON`, or an option is not allowed
	 */
	static fromJSON(state: HistoryPrunerState | string, options?: HistoryPrunerOptions): HistoryPruner;
}
type PolicySettings<Name extends PolicyName> = Omit<Extract<PrunePolicy, {
	type: Name;
}>, "type">;
type SharedOption = "contextWindow" | "reserveTokens" | "environment" | "estimateTokens" | "language" | "ledger" | "storage";
/** Options of {@link ContextManager}. */
export interface ContextManagerOptions<M = unknown> {
	/** The model's window in tokens; 0 or nothing: unknown. */
	contextWindow?: number;
	/**
	 * Maximum bytes of a request: of the JSON of its messages and of `environment`, with binary data in base64. Above this limit the oldest
	 * images and files are replaced by notes, down to three quarters of it; a `storage` with `saveBytes` saves them. Those in messages
	 * after the model's last answer stay, and if these are too large `fits` is false.
	 * @default the documented limit of the provider that `prepare` is given, if it has one; without a provider that of the format: 32 MB
	 * for `anthropic`, 50 MB for `openai-responses` and `openai-agents`, 20 MB for `gemini`, none for others
	 */
	maxRequestBytes?: number;
	/**
	 * Maximum number of images in a request; the oldest are replaced in the same way.
	 * @default in the same way: 100 for `anthropic`, 500 for `openai-responses` and `openai-agents`, none for others
	 */
	maxImages?: number;
	/** Tokens that stay free in addition to the room for an answer. @default 0 */
	reserveTokens?: number;
	/** Parts of the request besides the history: they count as tokens, and the summariser receives them. */
	environment?: CompactOptions["environment"];
	/** Tokens of a text. @default the built-in estimate */
	estimateTokens?: (text: string) => number;
	/**
	 * The language of the texts that Spillway adds to the history. @default that of what the user said; of placeholders English
	 */
	language?: NoticeLanguage;
	/** Metadata recorded when the tools finished: preferred over the messages. */
	ledger?: ToolResultKnowledge;
	/** The storage that full outputs were saved in: with it, only paths that it owns are named. */
	storage?: OutputOwner;
	/** Prunes results of terminal tools that are older than 15 minutes. @default true */
	outdated?: boolean | PolicySettings<"outdated">;
	/** Prunes reads of a file that newer reads cover, and results of commands that were run again. @default true */
	superseded?: boolean | PolicySettings<"superseded">;
	/** Prunes results beyond the newest 40,000 tokens of results. @default true */
	budget?: boolean | PolicySettings<"budget">;
	/** Further options of these three: when they prune, and what they may prune. None of them reads `keepUsed`. */
	pruning?: Omit<HistoryPrunerOptions, "policies" | "profile" | "contextWindow" | "ledger" | "storage" | "estimateTokens" | "language" | "onError">;
	/**
	 * `false`: no compaction. Without `summarize`, only old outputs are replaced. Its `thinking` follows that of `pruning` by default.
	 * @default old outputs are replaced when the window is nearly full
	 */
	compaction?: false | Omit<CompactOptions<M>, SharedOption | "state" | "signal" | "force" | "targetTokens" | "usedTokens">;
	/**
	 * Profile that truncates the results of a history that still does not fit; `false` sends it unchanged.
	 * @default 'openclaw'
	 */
	overflow?: false | OverflowProfile;
	/**
	 * Receives the calls whose results left the request, by pruning, a compaction or the provider, so that reading them again does
	 * not count as a loop: a `DoomLoopDetector`.
	 */
	doomLoop?: {
		forget(toolCallIds: readonly string[]): void;
	};
	/**
	 * Receives the same calls, so that later pointers do not refer to them: a `FoldSession`. With `callsStay` the calls are still sent. A session
	 * is restored from the first request if that has results of another process.
	 */
	fold?: {
		forget(toolCallIds: readonly string[], options?: {
			callsStay?: boolean;
		}): void;
	};
	/** Receives every error; the messages are returned regardless. @default a warning of the process */
	onError?: (error: SpillwayError) => void;
}
/** Report of {@link ContextManager.prepare}. */
export interface ContextReport {
	/** In the order in which they run. */
	steps: ContextStep[];
	/** Estimated tokens of the stored history, and of the sent messages, without the other parts of the request. */
	tokensBefore: number;
	tokensAfter: number;
	/** Tokens of the other parts of the request. */
	environmentTokens: number;
	/** Ids of the calls whose results left the request now: pruned, or replaced by a compaction. */
	left: string[];
	/** Those of them that are not sent any more themselves: a summary replaced them. */
	leftCalls: string[];
	/** Budget of both together; `Infinity` if the window is unknown. */
	usable: number;
	/**
	 * True if they are within the budget, in the provider's count once `observe` was called, and within the limits of bytes and
	 * images; the reason of the step `media` names a limit that is exceeded.
	 */
	fits: boolean;
	pruning: PruneReport;
	/** The savings of pruning in all requests so far. */
	savings: ContextSavings;
	/** Only if it was requested in this call. */
	compaction?: CompactionReport;
}
/** Result of {@link ContextManager.prepare}. */
export interface PreparedContext<M> {
	/** For the request. */
	messages: M[];
	/**
	 * The history with its compactions applied but nothing pruned, for callers who store that. The input array itself if there was
	 * no compaction.
	 */
	history: M[];
	report: ContextReport;
	/** Only with `pruning: { thinking: 'provider-drops' }`: fields that the request needs, as in the result of `HistoryPruner.prune`. */
	requestOptions?: DropThinkingOptions;
}
/** A message of a stored history, or the summary of some of them. */
export interface ListedMessage {
	role: MessageRole;
	/** The beginning of its text, or of the calls in it, in one line. */
	text: string;
	/** Estimated tokens as it is stored, with the lines that were folded when it was added; 0 for a summary that is not stored. */
	tokensBefore: number;
	/** Estimated tokens of what is sent of it. */
	tokensAfter: number;
	/**
	 * - `kept`: all of it is sent.
	 * - `pruned`: something of it is left out or shortened: a result, arguments, images, signed reasoning.
	 * - `folded`: some lines of it are pointers to an earlier result.
	 * - `compacted`: a summary replaces it.
	 * - `summary`: it is one.
	 */
	state: "kept" | "pruned" | "folded" | "compacted" | "summary";
}
/** State of a manager, as JSON. */
export interface ContextManagerState {
	version: 1;
}
/** Options of {@link ContextManager.prepare}: who the request is sent to, for its documented limits, and the rest. */
export interface PrepareContextOptions extends Recipient {
	/** Milliseconds since the epoch. @default Date.now() */
	now?: number;
	/** Compacts whatever the size. @default false */
	force?: boolean;
	/** Ends the preparation; it rejects with `ABORTED`. */
	signal?: AbortSignal | undefined;
}
/**
 * Prepares the history before each request: recorded metadata, outdated results, superseded reads, a budget of
 * results, compaction, and a guard that truncates results if the request still does not fit, in this order. Each step can be
 * turned off, and reports what it did and why.
 *
 * Use one manager per session, and pass the full stored history every time; it is never changed. Decisions are kept: a pruned
 * result stays pruned with the same bytes, and a summary is applied again until the next one. To store the compacted history, take
 * `history` of the result, and pass that from then on.
 *
 * @example
 * const manager = new ContextManager({ contextWindow: 200_000, ledger, compaction: { summarize } })
 * const { messages, report } = await manager.prepare(stored)
 */
export declare class ContextManager<M = unknown> {
	/** @throws SpillwayError `INVALID_ARGUMENT` if an option is unknown or not allowed */
	constructor(options?: ContextManagerOptions<M>);
	/**
	 * The messages for the next request.
	 *
	 * @param messages the whole stored history, in any format that `detectFormat` knows. Never changed
	 * @param options facts about this request
	 * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed; `COMPACTION` if compaction no longer helps and the
	 * request would exceed the window; `ABORTED` if the signal is aborted
	 */
	prepare(messages: readonly M[], options?: PrepareContextOptions): Promise<PreparedContext<M>>;
	/**
	 * Learns from the usage of the response to the last request, as `HistoryPruner.observe` does. From then on `fits`, compaction
	 * and the guard count as the provider does, with everything that is sent in addition to the history.
	 */
	observe(usage: unknown): PromptUsage;
	/** Reads from a response which results the provider cleared by itself, as `HistoryPruner.accept` does. */
	accept(response: unknown): ReturnType<HistoryPruner["accept"]>;
	/** Returns the steps of the last request as readable sentences. */
	explain(): string;
	/**
	 * Returns each message of the stored history with its state in a request, and its tokens before and after: the list that
	 * `<spillway-context>` shows. `prepared` is a result of `prepare`, as it was returned.
	 * @throws SpillwayError `INVALID_ARGUMENT` if `prepared` is not the object that `prepare` of this manager returned
	 */
	listMessages(prepared: PreparedContext<M>): ListedMessage[];
	/** Returns the state for `JSON.stringify`: a session that continues in another process sends the same bytes as before. */
	toJSON(): ContextManagerState;
	/**
	 * Returns a manager that continues where another stopped.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the state was not returned by `toJSON`, or an option is not allowed
	 */
	static fromJSON<M = unknown>(state: ContextManagerState | string, options?: ContextManagerOptions<M>): ContextManager<M>;
}
/** Options of {@link DoomLoopDetector}. A threshold of `Infinity` turns its rule off. */
export interface DoomLoopOptions {
	/**
	 * Number of loops that may be approved in a run; the next one is stopped. Approvals of the call budget do not count, because the
	 * hard cap limits them.
	 * @default 3
	 */
	maxAttempts?: number;
	/**
	 * Number of calls in a run at which the user is asked, and again after as many calls since an approval. Five times this
	 * number is the hard cap of a run, which nothing resets.
	 * @default 60
	 */
	maxToolCalls?: number;
	/**
	 * Number of calls with the same arguments and, if results are recorded, the same result, at which the user is asked. Other calls
	 * may come in between if they changed nothing.
	 * @default 5
	 */
	sameToolThreshold?: number;
	/**
	 * Number of consecutive turns in which every call failed and one error was the same; then the user is asked at the next call.
	 * @default 4
	 */
	sameErrorThreshold?: number;
	/** Number of answers without a call to the same message, passed to `observe`. @default 3 */
	sameAnswerThreshold?: number;
	/** Number of calls after an approval that are not checked. Budget and hard cap still apply. @default 3 */
	cooldownToolCalls?: number;
	/** True if the user cannot be asked: a question becomes a stop. @default false */
	headless?: boolean;
	/** The language of messages. @default 'en' */
	language?: "en" | "zh-CN";
	/**
	 * Names of fields that are ignored when two calls or two results are compared, at any depth: for every tool, or by tool (`*` is
	 * every tool). Durations and process ids of terminals are always ignored.
	 */
	volatileFields?: readonly string[] | Readonly<Record<string, readonly string[]>>;
	/** Further tools that wait for something: they may repeat, and the user is asked from the 20th call on. */
	pollTools?: readonly string[];
	/**
	 * Returns a key that distinguishes calls of a tool, instead of its arguments; `undefined` for the arguments. If it throws, the
	 * arguments are used.
	 */
	identity?: (call: DoomLoopCall) => unknown;
	/** The thresholds of another agent. @default none */
	profile?: TruncationProfile;
}
/** A call that is about to run. */
export interface DoomLoopCall {
	/** The provider's id of the call. */
	toolCallId: string;
	/** The name of the tool. */
	tool: string;
	/** The arguments, of any kind and size: the object, or the JSON text of the model. */
	args?: unknown;
	/**
	 * Names the turn of the model: calls of one turn run in parallel and do not count as repetitions of each other. Without it, a
	 * call after a result begins a new turn.
	 */
	turn?: string | number;
}
/** How a call went. */
export interface DoomLoopResult {
	toolCallId: string;
	/**
	 * Result of the tool, of any type and size. Texts of more than 4 million characters are compared by their ends and by lines
	 * at equal distances.
	 */
	result?: unknown;
	/** True if it failed. @default what the text says */
	isError?: boolean;
}
/** Pattern that was detected. */
export type DoomLoopReason = 
/** The same call, and as far as is known the same result. */
"same_tool"
/** The same two to five calls in turn. */
 | "cycle"
/** The same error, turn after turn. */
 | "same_error"
/** Calls of a tool that does not exist. */
 | "unknown_tool"
/** The same exchange of words without a call. */
 | "no_tool_call"
/** The same passage again and again in one answer. */
 | "repeated_text"
/** More calls than the budget. */
 | "max_tool_calls"
/** More approvals than a run has. */
 | "max_attempts"
/** More calls than any approval allows. */
 | "hard_cap";
/** Decision about a call. */
export interface DoomLoopVerdict {
	/** `allow` it, `ask` the user first, or `stop`: it must not run. */
	action: "allow" | "ask" | "stop";
	/** The reason, also of a warning. */
	reason?: DoomLoopReason;
	/** With `max_attempts`: the loop that would have been asked about. */
	detector?: DoomLoopReason;
	/** How often it was detected. */
	count?: number;
	/** A sentence for the user. With `stop` it can be the result of the tool, for people and models. */
	message?: string;
	/** The call may run, but the model should get this text with its result. */
	warning?: string;
	/** The language of `message` and `warning`. */
	language?: "en" | "zh-CN";
	/** With `ask`: the argument of `approve`. For a call its own id. */
	toolCallId?: string;
}
/**
 * Detects that an agent repeats itself: the same call with the same result, a few calls in turn, the same error for different
 * calls, or answers without calls. Use one detector per session.
 *
 * Call `check` before every call, `record` with its outcome, and `observe` with answers. It does
 * not read a clock and starts no work of its own.
 */
export declare class DoomLoopDetector {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option */
	constructor(options?: DoomLoopOptions);
	/**
	 * Begins a run, usually with each message of the user. Resets counts and open questions; approvals by `always` stay.
	 */
	startRun(): void;
	/**
	 * Decides about a call before it runs. For the same call it returns the same verdict and counts nothing, until the result is
	 * recorded. The same id in another turn, or after other calls or messages, is another call; open questions stay open.
	 *
	 * @throws SpillwayError `INVALID_ARGUMENT` if `toolCallId` or `tool` is not a string; arguments of any kind are fine
	 */
	check(toCheck: DoomLoopCall): DoomLoopVerdict;
	/**
	 * Records the result of a call, so that repeated calls that make progress do not count as a loop. The result of a call that was
	 * not allowed or is unknown is ignored.
	 */
	record(toRecord: DoomLoopResult): void;
	/**
	 * Records that the results of these calls left the context: they were pruned, cleared by the provider, or replaced by a summary.
	 * A call that
	 * only reads and gets such a result again is not a repetition; failed calls and calls that change something stay counted. Ids that are
	 * not known change nothing.
	 *
	 * @throws SpillwayError `INVALID_ARGUMENT` if the argument is not an array of strings
	 */
	forget(toolCallIds: readonly string[]): void;
	/**
	 * Approves a call that the detector asked about: `once`, or `always` for this loop until the session ends.
	 * @returns false if there is no open question with this id
	 */
	approve(toolCallId: string, approval: "once" | "always"): boolean;
	/**
	 * Records a message to or from the model, to detect loops without calls: repeated answers without a call to the same message.
	 * The verdict is like that of `check`; with `ask`, pass its `toolCallId` to `approve`.
	 */
	observe(said: {
		role: "user" | "assistant";
		text: string;
	}): DoomLoopVerdict;
	/** The ids of unanswered questions, oldest first. */
	pending(): string[];
	/** Returns the state that another detector needs to continue, for `JSON.stringify`. It contains hashes and ids, but no arguments. */
	toJSON(): object;
	/**
	 * Returns a detector that continues where another was saved.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the value was not returned by `toJSON`
	 */
	static fromJSON(state: object | string, options?: DoomLoopOptions): DoomLoopDetector;
}
/** The user must decide if a loop may continue. */
export interface DoomLoopQuestion {
	tool: string;
	toolCallId: string;
	sessionId?: string;
	args: unknown;
	verdict: DoomLoopVerdict;
	signal?: AbortSignal;
}
/** Controls of a tool. Each is optional. */
export interface ToolControls {
	/** Functions around the tool, or a runner that has them. Only the tool hooks of a set are run here. */
	hooks?: Hooks | ToolHookRunner;
	/** A `PermissionGate`, or a `PermissionPolicy`, which cannot ask a user: calls that need approval are then denied. */
	permission?: {
		request(call: GateCall): Promise<GateDecision>;
	} | {
		evaluate(call: PermissionCall): PermissionVerdict;
	};
	/** A `DoomLoopDetector`. */
	doomLoop?: {
		check(call: DoomLoopCall): DoomLoopVerdict;
		record(result: DoomLoopResult): void;
		forget?(toolCallIds: readonly string[]): void;
		approve(toolCallId: string, approval: "once" | "always"): boolean;
	};
	/** Asks the user if a loop may continue. Without it, a question stops the call; so does a function that throws or answers anything else, with a warning. */
	askDoomLoop?: (question: DoomLoopQuestion) => DoomLoopAnswer | Promise<DoomLoopAnswer>;
	/** An `AuditLog`. With `onFailure: 'block'`, the tool does not run if the log cannot be written. */
	audit?: {
		append(event: AuditEvent): Promise<unknown> | unknown;
	};
	/** A `TruncationService`, or the middleware of one. */
	truncation?: OutputService | TruncationMiddleware;
	/**
	 * Returns the question that the output of a call is to answer, such as the `description` in its arguments or the latest request
	 * of the user; `undefined` for none. The strategy `smart` keeps the lines that hold its rarest words.
	 */
	query?: (call: {
		tool: string;
		args: unknown;
	}) => string | undefined;
	/**
	 * A `FoldSession` of the session that the tool is called in: lines of an earlier result are not repeated. Give the `ledger` to
	 * the `HistoryPruner` or `ContextManager` as well, so that a result gets its text back when its target is pruned.
	 */
	fold?: ResultFolder;
	/** A `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
	/** The session of calls that do not name theirs. */
	sessionId?: string | undefined;
	/** The mode of calls, used unless `permission` is a gate with a `ModeController`. */
	mode?: PermissionMode;
	/**
	 * Form of a refused result: an object like those of tools, plain text, or an MCP result.
	 * @default 'result'
	 */
	refusal?: "result" | "text" | "mcp";
	/** Milliseconds that a hook may take; a runner as `hooks` has its own limit. @default 5000 */
	hookTimeoutMs?: number;
}
/** Answer of a user about a loop. */
export type DoomLoopAnswer = "once" | "always" | "stop";
/** Context of the call. */
export interface ExecutionContext {
	sessionId?: string | undefined;
	messageId?: string | undefined;
	signal?: AbortSignal | undefined;
	/** The folder that a tool works in. */
	workingDirectory?: string;
	/**
	 * Names the answer of the model that the call is in, for a `DoomLoopDetector`: equal calls of one answer are no loop.
	 * `ToolRegistry` names that of several calls that are executed together.
	 */
	turn?: string | number | undefined;
}
/** Result of a tool; a plain return value becomes `output`. */
export interface ToolResult extends ToolResultLike {
	success: boolean;
	output: unknown;
	error?: string;
}
/** A tool. */
export interface Tool {
	name: string;
	description?: string;
	/** Limits for this tool's output; the user's entry for the tool overrides them. */
	truncation?: ToolTruncationConfig;
	/** The folder that the tool works in unless its call names one: permission judges relative paths there. */
	workingDirectory?: string;
	execute(args: unknown, context: ExecutionContext & {
		toolCallId: string;
	}): unknown;
}
/**
 * A call by the model, as a provider or a framework gives it. Its arguments are JSON text or a value; the `input` of a
 * custom call is a text that the tool gets as `{ input }`. A call without an id gets one.
 */
export type ToolCall = 
/** OpenAI's chat API. */
{
	id: string;
	type?: string;
	function: {
		name: string;
		arguments?: unknown;
	};
} | {
	id: string;
	type: "custom";
	custom: {
		name: string;
		input?: unknown;
	};
}
/** OpenAI's Responses API: a call is answered by its `call_id`. Anthropic: `input`. LangChain: `args`. */
 | {
	id: string;
	call_id?: string;
	type?: string;
	name: string;
	arguments?: unknown;
	input?: unknown;
	args?: unknown;
} | {
	id?: string;
	call_id: string;
	type?: string;
	name: string;
	arguments?: unknown;
	input?: unknown;
}
/** The AI SDK. */
 | {
	toolCallId: string;
	toolName: string;
	type?: string;
	input?: unknown;
	args?: unknown;
}
/** Gemini, which gives ids only to some calls. */
 | {
	functionCall: {
		id?: string;
		name?: string;
		args?: unknown;
	};
}
/** Bedrock. */
 | {
	toolUse: {
		toolUseId?: string;
		name?: string;
		input?: unknown;
	};
};
/** One executed call. */
export interface ToolExecutionResult {
	tool_call_id: string;
	name: string;
	/** The arguments as JSON text. */
	arguments: string;
	result: ToolResult;
}
/** Options of {@link ToolRegistry}. */
export interface ToolRegistryConfig {
	/** The folder that tools work in, unless the call says otherwise. */
	workingDirectory?: string;
	/** Records every executed call with its arguments: a `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
	/** The `FoldSession` of the session: lines of an earlier result are not repeated. */
	fold?: ResultFolder;
}
/** Executes tools by name and passes their results through truncation. A tool that throws gives a failed result. */
export declare class ToolRegistry {
	/** @throws SpillwayError `INVALID_CONFIG` for an option that is unknown or not allowed */
	constructor(config?: ToolRegistryConfig);
	/**
	 * Adds tools; a later one of the same name replaces the earlier.
	 * @throws SpillwayError `INVALID_ARGUMENT` for a value that is not a tool, `INVALID_CONFIG` for an invalid `truncation`
	 */
	register(tools: Tool | readonly Tool[]): void;
	/** Truncates results from now on. */
	setTruncationMiddleware(middleware: TruncationMiddleware): void;
	/**
	 * Executes the calls of one answer of the model in parallel and returns the results in their order. If the signal is aborted, no
	 * further tool is started; the results that are there are returned and saved as usual.
	 */
	execute(toolCalls: readonly ToolCall[], context?: ExecutionContext): Promise<ToolExecutionResult[]>;
}
/** Why a call gave no result of its tool. */
export type RefusalKind = "permission_denied" | "doom_loop" | "audit_failed" | "aborted" | "tool_failed";
/** The result of a call that was refused or that threw. */
export interface RefusedResult extends ToolResultLike {
	kind: RefusalKind;
	success: false;
	isError: true;
	/** A sentence for people and models; the same in `error` and `message`. */
	output: string;
	error: string;
	message: string;
	domain?: string;
	targets?: string[];
}
/** The same as an MCP result. */
export interface RefusedMcpResult {
	content: [
		{
			type: "text";
			text: string;
		}
	];
	isError: true;
}
type BoundedResult<R> = R extends TruncationResult<infer C> ? R | C : R extends {
	output: TruncationResult<infer C>;
} ? Omit<R, "output"> & {
	output: R["output"] | C;
} : R;
type ArgumentsOf<T extends Tool> = Parameters<T["execute"]> extends readonly [
] ? unknown : Parameters<T["execute"]>[0];
type Shape = NonNullable<ToolControls["refusal"]>;
type Refused<S extends Shape> = "result" extends S ? RefusedResult : S extends "text" ? string : RefusedMcpResult;
/** A tool with everything around it. `S` is the `refusal` of its controls. */
export type GuardedTool<T extends Tool, S extends Shape = "result"> = Omit<T, "execute"> & {
	/**
	 * Never rejects: a failure is a result that says so. With `truncation`, an output of `TruncationService` or `runCommand` in the
	 * result is replaced by its `content`.
	 */
	execute(args: ArgumentsOf<T>, context?: Partial<ExecutionContext> & {
		toolCallId?: string | undefined;
	}): Promise<BoundedResult<Awaited<ReturnType<T["execute"]>>> | Refused<S>>;
};
/**
 * Wraps a tool in controls, always in this order: `tool.before`, permission on the merged arguments, loops, audit of
 * the decision, the tool, `tool.after` on the full result, truncation, `tool.final` on what the model reads, audit of the
 * outcome. MCP results and errors pass through the same steps. The arguments are copied first, so that the approved call is the
 * one that runs.
 *
 * @example
 * const safe = guardTool(bash, { permission: gate, doomLoop: new DoomLoopDetector(), truncation: service, audit: log })
 * const result = await safe.execute({ command: 'npm test' }, { toolCallId: 'call_1' })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or control
 */
export declare function guardTool<T extends Tool, S extends Shape = Shape>(tool: T, controls?: ToolControls & {
	refusal?: S;
}): GuardedTool<T, S>;
/** Report of one call. */
export interface SimplifiedReport {
	/** Results that were replaced; at least 1. */
	count: number;
	/**
	 * UTF-8 bytes that were saved: those of the texts, minus those of their placeholders. Negative if the placeholders are longer.
	 */
	bytes: number;
	/** The same in tokens, estimated. */
	tokens: number;
	/** Indices of the replaced messages, ascending. */
	indices: number[];
}
/** Options of `simplifyOutdatedTerminalResults`. */
export interface SimplifyOutdatedOptions {
	/**
	 * The time that ages are measured at: milliseconds since the epoch, at least 0.
	 * @default Date.now()
	 */
	now?: number;
	/**
	 * Results up to this age are kept: milliseconds, at least 0. `Infinity` keeps all.
	 * @default 900000
	 */
	maxAgeMs?: number;
	/**
	 * Number of newest results, of any tool, that are kept at any age. A whole number of at least 0, or `Infinity`.
	 * @default 5
	 */
	keepRecent?: number;
	/**
	 * True if errors count among the newest results. Errors are never replaced in either case.
	 * @default false
	 */
	countErrors?: boolean;
	/**
	 * True if a result with a non-empty `stderr` counts as an error.
	 * @default true
	 */
	stderrIsError?: boolean;
	/**
	 * The tools that run commands in a terminal; case and `-`, `_`, `.` between words do not matter. Replaces the built-in
	 * list (`terminal-execute`, `bash`, `shell`, `exec`, `exec_command`, `run_command`, `run_shell_command`, …), and overrides the
	 * built-in list of other tools (`read`, `filesystem-read`, `grep`, `edit`, …). For tools in neither list, the text decides.
	 */
	terminalTools?: readonly string[];
	/**
	 * Placeholder of an outdated result, or a function that returns one for each. If the function throws or returns
	 * something else than a string, the default is used and a warning is emitted.
	 * @default '此命令返回内容已过时', or what `language` says
	 */
	placeholder?: string | ((info: OutdatedResultInfo) => string);
	/**
	 * The language of the default placeholder; in English `[Outdated output of a command was removed]`.
	 * @default 'zh-CN'
	 */
	language?: NoticeLanguage;
	/**
	 * Metadata recorded when the tools finished. It is more reliable than the message about the tool of a result, whether the
	 * call failed (an exit code of 0 outweighs a text that starts like an error), and where the full output was saved; and
	 * when it finished, if the message has no time.
	 */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: with it, a placeholder only receives paths that it owns. Without it paths in
	 * the host's messages are trusted.
	 */
	storage?: OutputOwner;
	/** Called at the end of a call that replaced something. If it throws, a warning is emitted and nothing else changes. */
	onSimplified?: (report: SimplifiedReport) => void;
}
/**
 * Replaces the text of outdated terminal results by a placeholder. Use it for requests, not for the stored history. The input
 * messages are never changed.
 *
 * A tool result is outdated when all of these hold:
 * - it comes from a terminal: its tool is known to run commands, or its tool is unknown and its text is a JSON object with
 * `stdout`, `stderr` or `exitCode`, or is not JSON and contains one of these names with quotes and a colon;
 * - its `timestamp`, or its time in the `ledger`, is more than 15 minutes ago;
 * - it is not among the 5 newest tool results of any kind, by time and then by position. Errors are not counted; a result without
 * a timestamp stays, and counts with the time of the nearest earlier result that has one;
 * - it is not an error: the text does not start with `Error:`, `messageStatus` is not `'error'`, the exit code is 0 or not
 *   known, and `stderr` is empty or not known.
 *
 * A result with more than text stays, and so do elements that are not messages. If no result has a time, or no message is in a
 * known format, nothing is replaced, and a warning is issued once: codes
 * `SPILLWAY_NO_TIMES` and `SPILLWAY_UNKNOWN_FORMAT`.
 *
 * @param messages the history, in any format that `detectFormat` knows
 * @returns a new array in which replaced messages are shallow copies and unchanged ones the same objects (`===`); if there
 * is nothing to replace, `messages` itself
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export declare function simplifyOutdatedTerminalResults<M>(messages: readonly M[], options?: SimplifyOutdatedOptions): M[];
/** Facts about the request from other sources. */
export interface ClassifyOverflowOptions {
	/** Your estimate of the request, in tokens. It decides about refusals without a message. */
	estimatedTokens?: number;
	/** The model's context window, in tokens. An answer whose usage is above it is an unreported overflow. */
	contextWindow?: number;
}
/** Result of {@link classifyOverflow}. */
export interface OverflowClass {
	/** True if `kind` is `'overflow'`. */
	overflow: boolean;
	kind: OverflowKind;
	/**
	 * `'high'`: a code, a status or a wording that has one meaning. `'medium'`: a wording of no known provider, or a status.
	 * `'low'`: only circumstances suggest it, or nothing was recognised.
	 */
	confidence: "high" | "medium" | "low";
	/** Tokens of the request as the provider counted them, including those reserved for the answer if it counts them. */
	actualTokens?: number;
	/** The limit in tokens: for an overflow the model's window, for a rate limit the tokens per time. */
	limitTokens?: number;
	/** Tokens of {@link actualTokens} that the request reserved for the answer: asking for fewer may be enough. */
	outputTokens?: number;
	/** Length of a field, in the units in which the provider counts it. */
	actualLength?: number;
	/** Limit of a field, in the same units. */
	limitLength?: number;
	/** The provider whose wording was recognised, such as `'anthropic'`; a proxy may pass on the message of another provider. */
	provider?: string;
	/** Evidence: a code, or the name of a rule. For logs. */
	matched?: string;
}
/**
 * Determines if an error, or an answer, means that the request was too long for the model's context window.
 *
 * Takes any value that a client throws or returns: errors of the providers' packages, of the AI SDK and LangChain, events of
 * a stream, bodies as objects or JSON, a message, an answer with its stop reason and usage. It follows `cause`, changes nothing,
 * and never throws because of the value.
 *
 * In order: rate limits, limits of single fields, codes, wordings, the status 413, a status 400 or 413 without a body
 * (an overflow only if the estimate is at least 80 % of the window), and answers that ended at once because of their length.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export declare function classifyOverflow(errorOrResponse: unknown, options?: ClassifyOverflowOptions): OverflowClass;
/**
 * Makes a history fit into the model's window again, cheapest step first: results that are too long are truncated, then all
 * results together are limited to a budget, then the caller's compaction is called; {@link OVERFLOW_TRANSITIONS} has all
 * transitions. Each step must make progress, no step may separate a call from its result, and at most `maxAttempts` steps are
 * tried. The result is a history that fits by the estimate, or an error.
 *
 * `recoverFromOverflow.plan` takes the same arguments and returns the planned steps: nothing is compacted, no callback is called, and nothing
 * changes. The sizes are those that the steps would reach. A plan ends at a compaction, because its result is not known.
 *
 * @returns new messages, in which unchanged ones are the same objects (`===`), and a report
 * @throws SpillwayError `OVERFLOW` if no step helped; its message lists the steps and its `report` has the sizes. `ABORTED` if the
 * signal is aborted. `INVALID_ARGUMENT` if an option is not allowed, or `overflow` is not an overflow
 */
export declare function recoverFromOverflow<M>(options: RecoverOptions<M>): Promise<Recovered<M>>;
export declare namespace recoverFromOverflow {
	var plan: <M>(options: RecoverOptions<M>) => OverflowPlan;
}
/** Options of truncation in one object. */
export interface UserTruncationConfig<R extends ToolResultLike = ToolResultLike> extends Omit<TruncationServiceConfig, "global">, Omit<TruncationMiddlewareConfig<R>, "service"> {
}
/** The result of {@link createTruncation}. */
export interface Truncation<R extends ToolResultLike = ToolResultLike> {
	service: TruncationService;
	middleware: TruncationMiddleware<R>;
}
/**
 * Creates a service and its middleware. `false` turns truncation off.
 *
 * A setting for all tools overrides the built-in settings of single tools: `maxLines: 2000`, the default, raises the 500 lines of
 * `bash`. The first time that happens a warning with the code `SPILLWAY_TOOL_LIMIT` says so; `tools: { bash: { maxLines: 500 } }`
 * keeps the limit, and any entry of that tool with `maxLines` prevents the warning.
 *
 * @example
 * const { middleware } = createTruncation({ maxLines: 1500, tools: { bash: { direction: 'tail' } } })
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, its value and what is allowed
 */
export declare function createTruncation<R extends ToolResultLike = ToolResultLike>(userConfig?: UserTruncationConfig<R> | boolean): Truncation<R>;
/**
 * Middleware for a host's tool executor. Results within limits keep their output; longer ones get a preview, and
 * `metadata` describes the saved output: `truncated`, `truncationPath`, `truncationRemovedLines`, `truncationRemovedBytes`.
 *
 * A result with its own `metadata.truncated` stays unchanged up to the hard ceiling. If anything fails, the result is still
 * returned, truncated, and an `error` event has the reason.
 *
 * @throws SpillwayError `INVALID_CONFIG` for invalid options, at once
 */
export declare function createTruncationMiddleware<R extends ToolResultLike = ToolResultLike>(config: TruncationMiddlewareConfig<R>): TruncationMiddleware<R>;
/**
 * Saves full outputs in files. The environment variable `SPILLWAY_STORAGE_DIR` overrides the default folders, but not folders that
 * are passed here.
 */
export declare class TruncationStorage implements ITruncationStorage {
	/**
	 * @param options one folder, or several in order of preference
	 * @throws SpillwayError `INVALID_CONFIG` for an invalid folder
	 */
	constructor(options?: string | TruncationStorageOptions);
	/**
	 * Saves a text so that {@link read} returns exactly the same string, unless `redact` or `maxFileBytes` changes it, and returns the path.
	 * @throws SpillwayError `STORAGE_WRITE` if it could not be written to any folder
	 */
	save(content: string, context: TruncationContext): Promise<string>;
	/** Saves bytes unchanged, and returns the path. They must not change until the promise settles. */
	saveBytes(content: Uint8Array, context: TruncationContext): Promise<string>;
	/** Saves bytes of any length while they arrive, in constant memory, and returns the path. */
	saveStream(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>;
	/**
	 * Reads the whole text of a saved output.
	 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_NOT_FOUND` when it was swept,
	 *   `STORAGE_TOO_LARGE` when no string can hold it
	 */
	read(path: string): Promise<string>;
	/**
	 * Reads a part of a saved output, by lines or by bytes, regardless of the size of the file; at most 262,144 bytes in one call.
	 * The first read by line counts the lines up to there; later reads find any line of the file at once.
	 *
	 * @example
	 * let range: ReadRange | undefined = { fromLine: 1, lineCount: 500 }
	 * while (range) {
	 *   const { text, next } = await storage.readRange(path, range)
	 *   range = next
	 * }
	 * @throws SpillwayError `INVALID_ARGUMENT`, `STORAGE_NOT_OWNED`, `STORAGE_NOT_FOUND` as {@link read}; rejects with the
	 *   reason of the signal when that is aborted
	 */
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	/**
	 * Finds the lines of a saved output that match a regular expression, regardless of the size of the file.
	 *
	 * The expression is one of Rust's `regex` crate: no look-around and no back-references, and therefore linear
	 * time; `\p{…}` knows general categories and scripts. Lines are searched one by one: `^` and `$` match the ends of a line, and
	 * no expression matches a line feed. A line over 1 MiB is searched in pieces; in it, a match over
	 * 64 KiB may be missed. A file of 16 MiB or more is searched on up to four threads at once.
	 *
	 * @param pattern 1 to 1,024 bytes
	 * @throws SpillwayError `INVALID_ARGUMENT` with field `pattern` for an expression that is invalid or too large, with the
	 * option's name for an invalid option; otherwise as {@link readRange}
	 */
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
	/** Returns true if this store saved the output at a path, links resolved. */
	owns(path: string): boolean;
	/**
	 * Removes outputs that are older than `retentionDays`, in all folders and nothing else, and returns their number.
	 * Files that cannot be examined or are younger than an hour are kept.
	 * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
	 */
	cleanup(retentionDays?: number): Promise<number>;
	/**
	 * Removes outputs that are too old, and then, while the store is over its limits, the oldest; outputs of sessions in use are
	 * removed last. Files that are not outputs of a store, cannot be examined or are younger than an hour are
	 * kept. If several processes sweep one folder at once, only one of them does the work.
	 * @throws SpillwayError `INVALID_CONFIG` for an invalid limit, `INVALID_ARGUMENT` for any other invalid option
	 */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** Returns the size of the store, folder by folder, and the report of its last automatic sweep. */
	usage(): Promise<StorageUsage>;
	/** Lists the outputs of the store, or of one session in it, newest first. */
	list(access?: OutputAccess): Promise<SavedOutput[]>;
	/**
	 * Removes one output. Returns false if it did not exist.
	 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_WRITE` when it could not be removed
	 */
	remove(path: string): Promise<boolean>;
	/**
	 * Removes all outputs of a session, regardless of their age, and even while a process uses the session, and returns their number.
	 * @throws SpillwayError `STORAGE_WRITE` if some of them could not be removed; the others are
	 */
	deleteSession(sessionId: string): Promise<number>;
	/** Returns the first folder for outputs. */
	getStorageDir(): string;
	/** Waits for a running sweep, and releases the leases of its sessions. The storage can still be used. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/** Options of {@link estimateTokens}. */
export interface EstimateTokensOptions {
	/**
	 * `'typical'`: as close as possible. `'upper'`: hardly ever below the count of a tokenizer, for decisions that must be safe;
	 * usually 30 to 50 % more. Figures are in docs/tokens.md.
	 * @default 'typical'
	 */
	mode?: "typical" | "upper";
	/** Calibration from real usage of a model; estimates are multiplied by its factor. */
	calibration?: TokenCalibration;
	/**
	 * Estimate as another agent does. `'opencode'`: UTF-16 units / 4, rounded. `'openclaw'`: the same rounded up, with a
	 * Chinese, Japanese or Korean character counted as four. The mode has no effect then.
	 */
	profile?: "opencode" | "openclaw";
}
/**
 * Estimates the number of tokens of a text, by its scripts and its kind: prose, code, JSON, hashes, white space, digits, Chinese,
 * Cyrillic, emoji. It uses no vocabulary; for exact numbers see {@link loadTokenCounter}.
 *
 * Linear and fast enough for every tool result. An empty text has 0 tokens.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for anything but a text, or for an invalid option
 */
export declare function estimateTokens(text: string, options?: EstimateTokensOptions): number;
/** Storage that the tools read. It must enforce `sessionId`: the path comes from a model. */
export interface OutputStore {
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
}
/** A service that has such a storage, such as a `TruncationService`. */
export interface OutputStoreHolder {
	readonly storage: unknown;
}
/** Options of {@link createOutputTools}. */
export interface OutputToolsOptions {
	/** Only outputs of this session can be read. Default: the session of the call if it has one, or else all. */
	sessionId?: string | undefined;
	/**
	 * Bytes of one answer, with the lines that say what it shows and how to read on. Default: 32 KiB of the output, and those lines.
	 */
	pageBytes?: number;
	/** Lines of one answer. Default: 500 of the output. */
	pageLines?: number;
	/**
	 * `json`: `pageBytes` limits the length of the answer as a JSON string, for hosts that count that.
	 * @default 'text'
	 */
	pageCounts?: "text" | "json";
}
/** Context of a call. */
export interface OutputToolContext {
	sessionId?: string | undefined;
	signal?: AbortSignal | undefined;
}
/** A result for the model. Errors are results, too. It needs no truncation: `metadata.truncated` tells middleware so. */
export interface OutputToolResult {
	success: boolean;
	output: string;
	error?: string;
	metadata: {
		truncated: boolean;
		next?: object;
	} & Record<string, unknown>;
}
/** A tool that hosts can offer to a model, or register in a `ToolRegistry`. */
export interface OutputTool {
	name: "read_output" | "search_output";
	description: string;
	/** JSON Schema of the arguments. */
	inputSchema: Record<string, unknown>;
	execute(args: unknown, context?: OutputToolContext): Promise<OutputToolResult>;
}
/**
 * Makes the tools `read_output` and `search_output`. In addition to its own names, `read_output` takes `offset` (the first line, from 1; 0 is
 * the first as well) and `limit` (number of lines), and both take names such as `fromLine`.
 *
 * @param source a storage, or a service with one
 * @example
 * for (const tool of createOutputTools(storage, { sessionId })) registry.register([tool])
 */
export declare function createOutputTools(source: OutputStore | OutputStoreHolder, options?: OutputToolsOptions): [
	OutputTool,
	OutputTool
];

export {};
