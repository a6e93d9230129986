import { Writable } from 'node:stream';

/** The one error class. */
/** Stable codes; compare these, not messages. */
export type SpillwayErrorCode = 
/** A setting is not allowed. */
"INVALID_CONFIG"
/** An argument of a call is not allowed. */
 | "INVALID_ARGUMENT"
/** No directory took the file. */
 | "STORAGE_WRITE"
/** The file could not be read. */
 | "STORAGE_READ"
/** The path is not one of the store's own files. */
 | "STORAGE_NOT_OWNED"
/** The file was there and is gone, usually swept. */
 | "STORAGE_NOT_FOUND"
/** The file is too large to become one string. */
 | "STORAGE_TOO_LARGE"
/** A custom storage did not answer in time. */
 | "STORAGE_TIMEOUT"
/** The service was closed. */
 | "CLOSED"
/** A capture was destroyed before its end. */
 | "ABORTED"
/** A command could not be started. */
 | "COMMAND"
/** A custom strategy threw, or gave back something else than a shortened text. */
 | "STRATEGY"
/** A history does not fit into the model's window, and nothing helped; `report` says what was tried. */
 | "OVERFLOW"
/** A call of a tool was not let through; `report` is the `RefusedResult`. */
 | "REFUSED"
/** Compacting does not help: the history was compacted three times in three turns, and is too long again. */
 | "COMPACTION"
/** A callback of the caller threw. */
 | "CALLBACK"
/** The binary is missing, does not load, or is of another version. */
 | "NATIVE_LOAD"
/** A fault of Spillway itself. */
 | "INTERNAL";
export interface SpillwayErrorOptions {
	/** The setting or argument that is wrong, such as `tools.bash.maxLines`. */
	field?: string;
	cause?: unknown;
	/** What was done before it failed: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
	report?: unknown;
}
/** What Spillway throws, and nothing else. */
export declare class SpillwayError extends Error {
	readonly name = "SpillwayError";
	readonly code: SpillwayErrorCode;
	readonly field?: string;
	/** What was done before it failed: with `OVERFLOW` an `OverflowReport`, with `REFUSED` a `RefusedResult`. */
	readonly report?: unknown;
	constructor(code: SpillwayErrorCode, message: string, options?: SpillwayErrorOptions);
	static [Symbol.hasInstance](value: unknown): boolean;
}
/** What was learnt when a tool finished, for the time when its result is old and shortened and says it no more. */
/** What is known of one call of a tool. */
export interface ToolResultRecord {
	/** The id of the call, as the model gave it. */
	toolCallId: string;
	toolName: string;
	/** When the tool finished: milliseconds since the epoch. */
	endedAt: number;
	/** The tool said that it failed. */
	isError: boolean;
	/** The exit code of a command. */
	exitCode?: number;
	/** Whether the command wrote something to its error stream. */
	hasStderr?: boolean;
	/** The size of the whole output: UTF-8 bytes. */
	bytes: number;
	/** Lines of the whole output, if somebody counted them. */
	lines?: number;
	/** Where the full output was saved. */
	outputPath?: string;
	/** The arguments of the call, as plain JSON. Larger ones than 4,096 UTF-16 units of JSON are not kept. */
	args?: Readonly<Record<string, unknown>>;
}
/** Whoever takes records, such as a {@link ToolResultLedger}. */
export interface ToolResultRecorder {
	record(entry: ToolResultRecord): void;
}
/** Whoever knows calls, such as a {@link ToolResultLedger}. */
export interface ToolResultKnowledge {
	get(toolCallId: string): Readonly<ToolResultRecord> | undefined;
}
/** Options of {@link ToolResultLedger}. */
export interface ToolResultLedgerOptions {
	/**
	 * So many calls are remembered; of more, those recorded first are forgotten. A whole number of at least 1.
	 * @default 10000
	 */
	maxEntries?: number;
}
/** A ledger as JSON. */
export interface ToolResultLedgerState {
	version: 1;
	entries: ToolResultRecord[];
}
/**
 * Remembers what was learnt when tools finished: most histories do not say when that was, whether it went well, or which
 * tool it was, and a shortened result cannot be parsed any more. `createTruncationMiddleware` and `ToolRegistry` fill
 * it; `simplifyOutdatedTerminalResults` asks it.
 *
 * Recording is safe to repeat: what is known of a call stays, and a later record adds what was not known.
 *
 * @example
 * const ledger = new ToolResultLedger()
 * const middleware = createTruncationMiddleware({ service, ledger })
 * messages = simplifyOutdatedTerminalResults(messages, { ledger })
 */
export declare class ToolResultLedger {
	/** @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or not allowed */
	constructor(options?: ToolResultLedgerOptions);
	/** How many calls are remembered. */
	get size(): number;
	/**
	 * Remembers a call. Of one that is known already, only what was not known before is added.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names the field if the record is not one
	 */
	record(entry: ToolResultRecord): void;
	/** What is known of a call. Not to be changed. */
	get(toolCallId: string): Readonly<ToolResultRecord> | undefined;
	/** The ledger as plain JSON. */
	toJSON(): ToolResultLedgerState;
	/**
	 * The ledger that {@link toJSON} gave, or the JSON text of it.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names what is wrong
	 */
	static fromJSON(state: ToolResultLedgerState | string, options?: ToolResultLedgerOptions): ToolResultLedger;
}
/**
 * Which part of a long text is kept: its start, its end, or both with the middle left out.
 * @default 'head'
 */
export type TruncationDirection = "head" | "tail" | "both";
/** What stopped a cut. */
export type TruncationLimit = "lines" | "bytes" | "tokens";
/** The built-in strategies that can be named instead of instantiated. */
export type TruncationStrategyName = "default" | "line" | "byte" | "smart" | "json" | "diff" | "csv";
/** The language of the notices that Spillway writes. */
export type NoticeLanguage = "en" | "zh-CN";
/**
 * Numbers, wording and order of a known agent, for hosts that must look like it. A profile is data: it never weakens
 * safety and never loses text.
 */
export type TruncationProfile = "opencode" | "openclaw-2026-02" | "openclaw" | "snow" | "takumi" | "moryflow";
/** A stretch of the original text that the preview shows. Lines count from 1, bytes from 0; ends are exclusive for bytes, inclusive for lines. */
export interface ShownRange {
	fromLine: number;
	toLine: number;
	fromByte: number;
	toByte: number;
}
/** A line that was cut inside because not even one line fitted: `shownBytes` of its `totalBytes` are in the preview. */
export interface PartialLine {
	line: number;
	shownBytes: number;
	totalBytes: number;
}
/** Where the full output went wrong on its way to the disk. The preview is returned all the same. */
export interface SaveError {
	/** Stable code, such as `STORAGE_WRITE` or `STORAGE_TIMEOUT`. */
	code: string;
	message: string;
	/** Every directory that was tried, in order, with the operating system's reason (`ENOSPC: no space left on device`, …). */
	attempts: {
		dir: string;
		error: string;
	}[];
}
/** What a saved file holds of an output that is longer than `maxFileBytes`: its first and its last bytes, with one line between them. */
export interface SavedPart {
	/** Bytes of the start of the output; the first of the file. */
	headBytes: number;
	/** Bytes of the end of the output; the last of the file. */
	tailBytes: number;
	/** Bytes between them, which were not kept. */
	omittedBytes: number;
}
/**
 * What is taken out of every output before it is saved. Each byte of it becomes `*`, except line breaks, so sizes, line
 * numbers and offsets stay true of the saved file, and the length of a secret shows. What overlaps counts as one.
 *
 * A match of up to 65,536 bytes is always found, wherever an output is split. Of a longer one at least the first 65,536 bytes
 * are redacted, or nothing if no shorter stretch of it matches.
 */
export interface RedactionOptions {
	/**
	 * Regular expressions of Rust's `regex` crate, at most 100 of 1 to 4,096 bytes: no look-around and no back-references, and
	 * none that matches the empty string. Of a `RegExp` the source and the flags `i`, `m` and `s` are taken; `u` is always on.
	 * Of an expression with a group named `secret` only what that group matches is redacted.
	 */
	patterns?: readonly (string | RegExp)[];
	/** Secrets that are known, found wherever they stand: at most 10,000 of 4 to 65,536 UTF-8 bytes, 1 MiB in all. */
	values?: readonly string[];
	/**
	 * Redacts what has the shape of a well-known secret: private keys, JSON web tokens, `Authorization` and other headers with a
	 * key, cookies, passwords in URLs and in arguments (`curl -u`, `mysql -p`), and the tokens of about 200 vendors, among them AWS,
	 * Azure, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, Stripe and npm; and values that are named as a secret
	 * (`DB_PASSWORD=…`, `"password": "…"`, `--token …`, `<password>…</password>`, `name: API_KEY, value: …`), unless they are a
	 * type, a placeholder or a reference such as `${DB_PASSWORD}`. A word of lower case alone counts only where nothing but a
	 * password can stand.
	 * @default false
	 */
	known?: boolean;
}
/**
 * The answer when nothing had to be cut: the very content that was given; of bytes, the text; with `terminal`, what a
 * terminal would show of it.
 */
export interface UntouchedResult<C = string> {
	content: C;
	truncated: false;
	/** Where the output is as it came. Only with `terminal`, and only of an output that is over the limits as it came. */
	raw?: RawOutput;
}
/** Where an output is as it came, of which all that a terminal would show keeps the limits. */
export type RawOutput = Pick<TruncatedResult, "outputPath" | "saveError" | "savedPart" | "redactions">;
/** The answer when something was cut. */
export interface TruncatedResult<C = string> {
	/** What the model should read: preview and notice. */
	content: C;
	truncated: true;
	/** Where the full output is. `''` when it could not be saved; `saveError` then says why. */
	outputPath: string;
	/** Lines of the original that the preview does not show at all. */
	removedLines?: number;
	/** Bytes of the original that the preview does not show, line breaks at the cut included. */
	removedBytes?: number;
	/** The kept text alone, within the limits. */
	preview?: string;
	/** The sentences that say where the rest is and how to read it. */
	hint?: string;
	keptLines?: number;
	keptBytes?: number;
	totalLines?: number;
	totalBytes?: number;
	/** The unit that stopped the cut, which is the one that the text shows. */
	limitedBy?: TruncationLimit;
	/** The parts of the original that the preview shows, in order. */
	ranges?: ShownRange[];
	/** Set when lines had to be cut inside. */
	partialLines?: PartialLine[];
	/** Set when the output was bounded although its tool asked to be left alone, because it passed the hard ceiling. */
	ceilingReached?: boolean;
	/** Set when the full output could not be saved anywhere. */
	saveError?: SaveError;
	/** Set when the saved file holds only a part of the output, because that is longer than `maxFileBytes`. */
	savedPart?: SavedPart;
	/** How many secrets were redacted in what was saved, 0 for none. Absent without `redact`, and when nothing was saved. */
	redactions?: number;
	/** Set when a strategy of the caller's was not asked, because a capture grew longer than what is held for one. */
	strategyBypassed?: boolean;
}
/** What became of an output: a union that `truncated` tells apart. */
export type TruncationResult<C = string> = UntouchedResult<C> | TruncatedResult<C>;
/** Limits and switches of truncation. `retentionDays` and `storageDir` are service-wide; the rest also per tool. */
export interface TruncationConfig {
	/**
	 * Lines a preview may have, inclusive. A whole number of at least 1.
	 * @default 2000
	 */
	maxLines: number;
	/**
	 * UTF-8 bytes a preview may have, inclusive. A whole number of at least 1. Of bytes and of what comes in pieces never
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
	 * Days after which {@link TruncationService.cleanup} removes saved outputs. More than 0; `Infinity` keeps for ever. Service-wide only.
	 * @default 7
	 */
	retentionDays: number;
	/** Where full outputs are saved, first choice. Service-wide only. Default: the user's data directory. */
	storageDir?: string;
	/** Overrides the service's strategy, by name, for this tool. */
	strategy?: TruncationStrategyName;
	/**
	 * Shows and measures what a terminal would show of an output: colours, titles and links are gone, and what was written
	 * over or erased too. What is saved is the output as it came, and all numbers of a result are its lines and bytes. An
	 * output that is no text is described. A strategy of your own gets the output as it came.
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
	/** `true` leaves this output alone whatever its size; `false` truncates even where truncation is off. */
	skip?: boolean;
	/** Overrides the strategy of the tool and of the service, by name, for this call. */
	strategy?: TruncationStrategyName;
	/** Shows and measures what a terminal would show of this output; see {@link TruncationConfig}. */
	terminal?: boolean;
}
/** What is known about the output that is handed in. */
export interface TruncationContext {
	/** The tool's name as the model calls it. Any string. */
	toolName: string;
	/** Saved files of a session live in a folder of their own. */
	sessionId?: string;
	/** For storages of one's own; Spillway does not look at it. */
	messageId?: string;
	/** Identifies the call that produced the output. The same content of the same call is saved once. */
	toolCallId?: string;
	/** The call failed: the end is kept, and the notice does not claim success. */
	failed?: boolean;
	options?: TruncationOptions;
	/** What the tool itself declares (its `truncation` property). Above the service's `global`, below the user's entry for the tool. */
	declared?: ToolTruncationConfig;
	/**
	 * The output says of itself that truncation has been dealt with: it is left alone up to the hard ceiling.
	 */
	handled?: boolean;
	/** Aborts the call: it rejects with the signal's reason and leaves no file. */
	signal?: AbortSignal;
}
/** What a strategy gives back. */
export interface StrategyResult {
	content: string;
	removedLines?: number;
	removedBytes?: number;
}
/** A way of shortening a text. */
export interface TruncationStrategy {
	readonly name: string;
	needsTruncation(content: string, config: TruncationConfig): boolean;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/**
 * A kind of line that the strategy `smart` is to look for. Of all rules that hold for a line, built-in ones too, the one with
 * the highest weight decides.
 */
export interface SmartRule {
	/** The line holds one of them; ASCII letters match in either case. 1 to 64 texts of 3 to 128 bytes, without line breaks. */
	words: readonly string[];
	/**
	 * And this matches: a regular expression of Rust's `regex` crate, which takes linear time; 1 to 4,096 bytes, no look-around and
	 * no back-references. Of a `RegExp` the source and the flags `i`, `m` and `s` are taken; `u` is always on. It sees the line
	 * without the escapes of a terminal, at most its first 1,024 bytes. Default: the words alone decide.
	 */
	pattern?: string | RegExp;
	/**
	 * How much the line matters, 0 to 1,000. Errors have 850 and more, words like `failed` 720, warnings 250; 0 is a veto: such a
	 * line says that all is well, whatever else is in it.
	 */
	weight: number;
	/**
	 * Lines before it that help to understand it, 0 to 32.
	 * @default 0
	 */
	before?: number;
	/**
	 * Lines after it that help to understand it, 0 to 32. Those of a trace follow as far as they go.
	 * @default 0
	 */
	after?: number;
}
/** Options of `SmartStrategy`. */
export interface SmartStrategyOptions {
	/** At most 64, on top of the built-in ones. */
	rules?: readonly SmartRule[];
}
export type TruncationEventType = "truncated" | "skipped" | "error";
/** Something that happened to an output. Exactly one `truncated` or `skipped` ends a call; `error` events may come before it. */
export interface TruncationEvent {
	type: TruncationEventType;
	toolName: string;
	/** UTF-8 bytes of the output as it came. */
	originalSize: number;
	/** UTF-8 bytes of the text that the model gets. */
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
export type TruncationEventCallback = (event: TruncationEvent) => void;
/** Where full outputs are kept. Implement it to keep them elsewhere. */
export interface ITruncationStorage {
	/** Saves a text and answers where it is: a path, an id, a URL. */
	save(content: string, context: TruncationContext): Promise<string>;
	read(path: string): Promise<string>;
	/** Removes outputs older than so many days and answers how many. */
	cleanup(retentionDays: number): Promise<number>;
	getStorageDir(): string;
	/** Saves bytes as they are. Without it, bytes are decoded as UTF-8 and handed to `save`. */
	saveBytes?(content: Uint8Array, context: TruncationContext): Promise<string>;
	/**
	 * Saves bytes of any length: what {@link TruncationService.capture} took in. Called once the output has ended; its
	 * pieces are valid until the next is asked for. Without it, captures of up to 64 MiB go to `saveBytes` or `save`, and
	 * longer ones are not kept.
	 */
	saveStream?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>;
}
/** Options of {@link TruncationService.capture}. */
export interface CaptureOptions {
	/**
	 * What happens when the stream is destroyed, or its signal aborted, before its end: `discard` leaves no file and
	 * rejects `result`; `keep` ends the output where it is and resolves `result` with it. What is written later is dropped.
	 * @default 'discard'
	 */
	onAbort?: "discard" | "keep";
	/**
	 * Bytes that are held in memory for a strategy of the caller's, which must see the whole text. A longer output is
	 * shortened by `default`; an `error` event and `strategyBypassed` say so. A whole number of at least 1.
	 * @default 8388608
	 */
	customStrategyBytes?: number;
}
/** What there is of an output that is still coming in. */
export interface CapturePeek {
	/** What a preview would show if the output ended here, without a notice. */
	text: string;
	/** Whether that is not all. */
	truncated: boolean;
	/** Bytes so far. */
	totalBytes: number;
	/** Lines so far. */
	totalLines: number;
}
/** A part of a tool result that holds text. */
export interface TextContentPart {
	type: "text";
	text: string;
}
/** A part of a tool result that is kept in its place and never cut: images, files, resources. */
export interface OtherContentPart {
	type: string;
	[key: string]: unknown;
}
export type ContentPart = TextContentPart | OtherContentPart;
/** What `TruncationService.output` takes. */
export type TruncationContent = string | Uint8Array | readonly ContentPart[];
/** The type of the content that comes back: text for text and bytes, parts for parts. */
export type ContentOf<C> = C extends readonly ContentPart[] ? C[number][] : string;
/** Everything that a notice can be made from. */
export interface NoticeInfo {
	toolName: string;
	failed: boolean;
	direction: TruncationDirection;
	limitedBy: TruncationLimit;
	removedLines: number;
	removedBytes: number;
	keptLines: number;
	keptBytes: number;
	totalLines: number;
	totalBytes: number;
	ranges: ShownRange[];
	partialLines: PartialLine[];
	ceilingReached: boolean;
	/** `''` when nothing was saved. */
	outputPath: string;
	saveError?: SaveError;
	savedPart?: SavedPart;
	redactions?: number;
	availableTools: readonly string[];
}
/** How much a save survives: a killed process, a power cut without tearing, a power cut without losing what was acknowledged. */
export type Durability = "process" | "file" | "full";
/** Options of {@link TruncationService}. */
export interface TruncationServiceConfig {
	/** Settings for every tool. */
	global?: Partial<TruncationConfig>;
	/** Settings for single tools, merged field by field over the built-in ones. Aliases of a tool (`shell` for `bash`) count. */
	tools?: Record<string, ToolTruncationConfig>;
	onEvent?: TruncationEventCallback;
	/**
	 * Keeps full outputs somewhere else than in files, or in files of its own. `storageDirs`, `durability`, `maxStoreBytes`,
	 * `maxStoreFiles`, `maxFileBytes` and `sweepOnSave` are then not read, because they are the storage's own affair;
	 * `retentionDays` is what {@link TruncationService.cleanup} asks it for. An output that it does not take in time is saved in the
	 * default folders. Of a list, each is tried in order, and nothing else.
	 */
	storage?: ITruncationStorage | readonly ITruncationStorage[];
	/** @default 'default' */
	strategy?: TruncationStrategy | TruncationStrategyName;
	/**
	 * What the strategy `smart` looks for beside what it does by default, for every tool; at most 64. Those of a `SmartStrategy` that
	 * is the `strategy` come on top.
	 * @default none
	 */
	smartRules?: readonly SmartRule[];
	/**
	 * Where full outputs are saved, in order of preference; any failure moves on to the next.
	 * @default the user's data folder, then a private temporary one
	 */
	storageDirs?: readonly string[];
	/** @default 'process' */
	durability?: Durability;
	/**
	 * Bytes that {@link TruncationService.sweep} leaves in the folders; over it the oldest go first, those of sessions in use last.
	 * @default 4294967296
	 */
	maxStoreBytes?: number;
	/**
	 * Outputs that {@link TruncationService.sweep} leaves in the folders.
	 * @default 10000
	 */
	maxStoreFiles?: number;
	/**
	 * Bytes that a saved file may have, at least 4,096. Of a longer output the file has the first and the last part and between
	 * them one line that says how many bytes are missing; its name ends with `.partial.txt`, and `savedPart` says what is there.
	 * A `storage` of your own has its own bound.
	 * @default none
	 */
	maxFileBytes?: number;
	/**
	 * Takes secrets out of what is saved, in files or by a `storage` of your own. What the model reads stays as it is. The saved
	 * output is then not lossless.
	 * @default none
	 */
	redact?: RedactionOptions;
	/**
	 * The storage sweeps with its first save and then with every hundredth, beside the save and without delaying it.
	 * @default true; false with the profile `takumi`
	 */
	sweepOnSave?: boolean;
	/**
	 * Above so many bytes an output is bounded even if its tool asked to be left alone.
	 * @default 4 × maxBytes
	 */
	hardCeilingBytes?: number;
	/**
	 * The whole text, notice included, keeps the limits.
	 * @default false
	 */
	noticeInside?: boolean;
	/** @default 'en' */
	language?: NoticeLanguage;
	/** The tools that the model can call, by the names it knows: the notice recommends only these. */
	availableTools?: readonly string[];
	/** Writes the notice instead of Spillway. Must answer at once; if it throws, the built-in notice is used. */
	formatNotice?: (info: NoticeInfo) => string;
	/**
	 * Milliseconds to wait for a custom storage to save.
	 * @default 30000
	 */
	storageTimeoutMs?: number;
	/**
	 * Counts and speaks as a known agent does.
	 * @default none
	 */
	profile?: TruncationProfile;
}
/** Which layer a field of the effective configuration came from, weakest first. */
export type ConfigSource = "default" | "profile" | "built-in tool" | "global" | "declared" | "tool" | "failed result" | "call";
/** The configuration that a call would use, and where each field came from. */
export interface EffectiveConfig {
	config: TruncationConfig & {
		strategy: string;
		hardCeilingBytes: number;
	};
	sources: Record<keyof TruncationConfig, ConfigSource>;
}
/** What middleware needs a tool result to look like; the host's own type comes back. */
export interface ToolResultLike {
	/** The text for the model, or any other value. */
	output?: unknown;
	success?: boolean;
	isError?: boolean;
	/** The message of a failed call. A long one is bounded too. */
	error?: unknown;
	metadata?: Record<string, unknown>;
}
/** Options of `createTruncationMiddleware`. */
export interface TruncationMiddlewareConfig<R extends ToolResultLike = ToolResultLike> {
	service: OutputService;
	/** Tools whose output is never touched. */
	skipTools?: readonly string[];
	/** Decides per result: `false` leaves it alone, options override the configuration for this call. */
	shouldTruncate?: (toolName: string, result: R) => boolean | TruncationOptions;
	/** Where every finished call that has a `toolCallId` is written down: a `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
}
/** Runs after a tool and gives its result back, bounded. Never throws. */
export type TruncationMiddleware<R extends ToolResultLike = ToolResultLike> = (toolName: string, result: R, context: TruncationContext) => Promise<R>;
/** The part of {@link TruncationService} that middleware asks for. */
export interface OutputService {
	output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>;
}
declare const asyncDispose: typeof Symbol.asyncDispose;
/** Reading saved outputs back: a range of lines or bytes, and a search, for files of any size. */
/** Lines of a saved output. A line ends with `\n`. */
export interface LineRange {
	/**
	 * The first line, from 1.
	 * @default 1
	 */
	fromLine?: number;
	/** How many. Default: as many as one call gives. */
	lineCount?: number;
	/** Set by `next` where a call ended inside a line: goes on at this byte, which is in the line `fromLine`. */
	fromByte?: number;
	/**
	 * Bytes of the file that one call gives, 4 to 262,144. It ends after a whole line if one of them fits.
	 * @default 262144
	 */
	maxBytes?: number;
	signal?: AbortSignal;
}
/** Bytes of a saved output. */
export interface ByteRange {
	/**
	 * The first byte, from 0.
	 * @default 0
	 */
	fromByte?: number;
	/**
	 * How many, at most 262,144 in one call.
	 * @default 262144
	 */
	byteCount?: number;
	signal?: AbortSignal;
}
/** Which part of a saved output to read: lines if `fromLine` or `lineCount` is given, else bytes. One of the four must be given. */
export type ReadRange = LineRange | ByteRange;
/** What of a storage may be read. */
export interface OutputAccess {
	/** Only an output that was saved for this session, wherever links in the path lead; any other is refused. Default: all. */
	sessionId?: string;
}
/**
 * A part of a saved output. A call gives at most 262,144 bytes of the file.
 *
 * No character is ever torn. A character belongs to the range of bytes that its first byte is in: a range that begins
 * inside one begins behind it, and one that ends inside one ends behind it, so that neighbouring ranges lose nothing
 * and repeat nothing. What is not UTF-8 in the file is U+FFFD in the text.
 */
export interface RangeResult {
	/** The text, well-formed, with the line breaks that the file has. */
	text: string;
	/** The line of the first byte of the text; only when lines were asked for. */
	fromLine?: number;
	/** The lines that the text shows, whole or in part; only when lines were asked for. */
	lineCount?: number;
	/** Where the text begins in the file. */
	fromByte: number;
	/** How many bytes of the file the text stands for. */
	byteCount: number;
	/** Bytes of the whole file. */
	totalBytes: number;
	/** The argument of the next call to read on with the same count; absent at the end of the file. */
	next?: LineRange | ByteRange;
	/** The text begins or ends inside a line, or inside what is one character in the file. */
	partial: boolean;
	/** The file itself holds only a part of the output; lines and bytes count in the file. */
	incomplete?: boolean;
}
/** Options of a search. */
export interface SearchOptions extends OutputAccess {
	/** Upper and lower case are the same. @default false */
	ignoreCase?: boolean;
	/** The pattern is the text to find, not a regular expression. @default false */
	literal?: boolean;
	/** Lines to show before and after each matching line, 0 to 100. @default 0 */
	context?: number | {
		before?: number;
		after?: number;
	};
	/** Matching lines of one call, 1 to 10,000. @default 100 */
	maxMatches?: number;
	/** UTF-8 bytes of text of one call, 1 to 4,194,304. A single match is cut to fit. @default 65536 */
	maxBytes?: number;
	/** Goes on where an earlier search of the same file with the same pattern stopped: its `next`. */
	after?: string;
	signal?: AbortSignal;
}
/** A line that matches. */
export interface SearchMatch {
	/** Its number, from 1. */
	line: number;
	/** The line without its break, well-formed; over 1,024 bytes only the part around the match, with `…` where it was cut. */
	text: string;
	/** The lines before it, each at most about 512 bytes. */
	before: string[];
	/** The lines after it. */
	after: string[];
	/** Where the match begins in the file: `readRange(path, { fromByte })` shows what follows. */
	byte: number;
	/** The text is a part of the line. */
	partial?: boolean;
}
/** What a search found. */
export interface SearchResult {
	/** One for every matching line, in order. */
	matches: SearchMatch[];
	/** A limit stopped the search before the end of the file. */
	truncated: boolean;
	/** Hand it over as `after` to go on; present if truncated. */
	next?: string;
	/** Lines that this call looked at. */
	linesSearched: number;
	/** The file holds only a part of the output; what is not in it was not searched. */
	incomplete?: boolean;
}
/** Keeping a store within its bounds: what a sweep may do, and what it and the store say. */
/** What a sweep goes by. What is not given is as the storage was told. */
export interface SweepOptions {
	/** Days after which an output goes; more than 0, `Infinity` for never. @default 7 */
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
/** An output that a sweep removed, and whether for its age or for a bound of the store. */
export interface SweptFile {
	path: string;
	bytes: number;
	reason: "age" | "bytes" | "count";
}
/** What a sweep did. */
export interface SweepReport {
	/** The first 1,000 of the outputs that were removed. */
	removed: SweptFile[];
	/** How many were removed. */
	removedFiles: number;
	/** Their bytes. */
	removedBytes: number;
	/** What is left, without what could not be examined. */
	kept: {
		files: number;
		bytes: number;
	};
	/** The first 100 of the outputs that should have gone and could not be removed, and of the folders that could not be looked at. */
	failed: {
		path: string;
		error: string;
	}[];
	/** How many there are of both. */
	failedFiles: number;
	/** Folders that another process was sweeping; nothing was done there. */
	skippedDirs: string[];
}
/** A saved output, as lists show it. */
export interface SavedOutput {
	path: string;
	/** As far as it stands in the name of the file. */
	toolName: string;
	/** Milliseconds since the epoch. */
	savedAt: number;
	/** Bytes of the file. */
	bytes: number;
	/** The file holds only a part of the output. */
	partial?: true;
}
/** How much a store holds. */
export interface StorageUsage {
	/** Outputs. */
	files: number;
	/** Their bytes. */
	bytes: number;
	/** Sessions that have outputs, or had some. */
	sessions: number;
	/** Folder by folder, in order. `freeBytes` is what the file system has left, where the folder is there and the system says. */
	dirs: {
		dir: string;
		files: number;
		bytes: number;
		freeBytes?: number;
	}[];
	/** What the last sweep did that the store made by itself; absent before the first. */
	lastSweep?: SweepReport;
}
/** Options of {@link TruncationStorage}. */
export interface TruncationStorageOptions {
	/** Folders in order of preference; any failure moves on to the next. Default: the user's data folder, then a private temporary one. */
	storageDirs?: readonly string[];
	/** @default 'process' */
	durability?: Durability;
	/**
	 * Bytes that {@link TruncationStorage.sweep} leaves, over all folders; `Infinity` for no bound.
	 * @default 4294967296
	 */
	maxStoreBytes?: number;
	/**
	 * Outputs that {@link TruncationStorage.sweep} leaves, over all folders; `Infinity` for no bound.
	 * @default 10000
	 */
	maxStoreFiles?: number;
	/**
	 * Bytes that a saved file may have, at least 4,096. Of a longer output the file has the first and the last part and between
	 * them one line that says how many bytes are missing; its name ends with `.partial.txt`.
	 * @default none
	 */
	maxFileBytes?: number;
	/**
	 * Takes secrets out of what is saved. {@link TruncationStorage.read} then gives back the redacted text.
	 * @default none
	 */
	redact?: RedactionOptions;
	/**
	 * Days that {@link TruncationStorage.sweep} keeps an output. More than 0; `Infinity` for ever.
	 * @default 7
	 */
	retentionDays?: number;
	/**
	 * Sweeps with the first save and then with every hundredth, beside the save and without delaying it. Such a sweep goes by the
	 * clock of the file system, leaves alone what this storage saved itself, and does nothing where no output is between an hour
	 * and a year old, because the clock may have jumped.
	 * @default true
	 */
	sweepOnSave?: boolean;
}
/**
 * Keeps full outputs in files. `SPILLWAY_STORAGE_DIR` in the environment overrides the default folders, but not
 * folders that are given here.
 */
export declare class TruncationStorage implements ITruncationStorage {
	/**
	 * @param options one folder, or more of them in order
	 * @throws SpillwayError `INVALID_CONFIG` for a folder that cannot be one
	 */
	constructor(options?: string | TruncationStorageOptions);
	/**
	 * Saves a text so that {@link read} gives back exactly the same string, unless `redact` or `maxFileBytes` takes something
	 * out of it, and answers the path.
	 * @throws SpillwayError `STORAGE_WRITE` when no folder took it
	 */
	save(content: string, context: TruncationContext): Promise<string>;
	/** Saves bytes as they are, and answers the path. They must not change until the promise settles. */
	saveBytes(content: Uint8Array, context: TruncationContext): Promise<string>;
	/** Saves bytes of any length as they come, in constant memory, and answers the path. */
	saveStream(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>;
	/**
	 * The whole text of a saved output.
	 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_NOT_FOUND` when it was swept,
	 *   `STORAGE_TOO_LARGE` when no string can hold it
	 */
	read(path: string): Promise<string>;
	/**
	 * A part of a saved output, by lines or by bytes, whatever the size of the file; at most 262,144 bytes of it in one call.
	 * The first read by line counts lines up to there; later ones find any line of the file at once.
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
	 * The lines of a saved output that match a regular expression, whatever the size of the file.
	 *
	 * The expression is one of Rust's `regex` crate: no look-around and no back-references, and therefore time that grows with
	 * the text and never explodes; `\p{…}` stands for general categories and scripts. Lines are searched one by one: `^` and `$`
	 * are the ends of a line, and nothing matches a line feed. A line over 1 MiB is searched in pieces; in it, a match over
	 * 64 KiB may be missed. A file of 16 MiB or more is searched on up to four threads at once.
	 *
	 * @param pattern 1 to 1,024 bytes
	 * @throws SpillwayError `INVALID_ARGUMENT` with field `pattern` for what is no expression or too large, with the option's
	 *   name for a wrong option; else as {@link readRange}
	 */
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
	/** Whether a path is that of an output that this store saved, links resolved. */
	owns(path: string): boolean;
	/**
	 * Removes outputs that are older than so many days, in all folders and nothing else, and answers how many.
	 * What cannot be examined and what is younger than an hour is kept.
	 * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
	 */
	cleanup(retentionDays?: number): Promise<number>;
	/**
	 * Removes outputs that are too old, and then, as long as the store holds more than it may, the oldest: those of sessions that no
	 * process uses before the others. What is not an output of a store, what cannot be examined and what is younger than an hour is
	 * kept. Of several processes that sweep one folder at once, one does.
	 * @throws SpillwayError `INVALID_CONFIG` for a wrong bound, `INVALID_ARGUMENT` for any other wrong option
	 */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** How much the store holds, folder by folder, and what it last swept by itself. */
	usage(): Promise<StorageUsage>;
	/** The outputs of the store, or of one session in it, the newest first. */
	list(access?: OutputAccess): Promise<SavedOutput[]>;
	/**
	 * Removes one output, and answers whether it was there.
	 * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_WRITE` when it could not be removed
	 */
	remove(path: string): Promise<boolean>;
	/**
	 * Removes all outputs of a session, whatever their age and whoever uses it, and answers how many there were.
	 * @throws SpillwayError `STORAGE_WRITE` when some of them could not be removed; the rest is
	 */
	deleteSession(sessionId: string): Promise<number>;
	/** The folder that outputs go to first. */
	getStorageDir(): string;
	/** Waits for a sweep that is under way, and gives back the leases of the sessions that it saved into. It can still be used. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/** What kind of access a rule is about. */
export type PermissionDomain = "read" | "edit" | "bash" | "web_fetch" | "web_search" | "mcp" | "tool";
/** What holds for a target, from the mildest to the strictest. */
export type PermissionDecision = "allow" | "ask" | "deny";
/**
 * A rule. The last one that matches a target counts.
 *
 * Patterns are globs: `vault:**\/*.md`, `fs:/etc/**`, `url:https://*.example.com/**`, `mcp:server/*`, in which `*` stops at
 * `/`; in `shell:git *` and `query:*` a star stands for anything. The scheme may be left out. `regex:` begins a regular
 * expression of linear time, searched for in the target; write `^` and `$` for the whole.
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
	/** An answer "always" that was stored: it turns questions into permissions and never overrides a deny, wherever it stands. */
	approved?: boolean;
}
/** A rule as a verdict tells it. */
export interface AppliedRule {
	domain: PermissionDomain | "*";
	pattern: string;
	decision: PermissionDecision;
	/** Who wrote it: the table of defaults, the user, the user by answering "always", or `hardDeny`. */
	source: "default" | "user" | "approval" | "hard";
}
/** How a tool of one's own says what it touches; `none` is nothing. */
export interface PermissionTool {
	domain: Exclude<PermissionDomain, "mcp" | "tool"> | "none";
	/**
	 * What its arguments are.
	 * @default 'paths' for read and edit, else what the domain says
	 */
	shape?: "paths" | "folder" | "glob" | "search" | "patch" | "command" | "address" | "query";
	/**
	 * The names of the arguments that count; no others are looked at.
	 * @default the usual ones, such as `path`, `file_path`, `command`, `url`, `query`
	 */
	keys?: readonly string[];
}
/** Options of {@link PermissionPolicy}. */
export interface PermissionPolicyOptions {
	/** The user's, after the defaults; at most 10,000. */
	rules?: readonly PermissionRule[];
	/** Denies that no rule, mode or approval overrides. Some are built in: `rm -rf /`, `mkfs*`, disks. */
	hardDeny?: readonly PermissionRule[];
	/**
	 * Whether there are rules before the user's.
	 * @default true
	 */
	defaults?: boolean;
	/** The defaults of another system, and how it reads patterns. */
	profile?: "opencode" | "moryflow";
	/**
	 * What holds for edits outside of the vault.
	 * @default 'deny'
	 */
	outsideEdit?: "deny" | "ask";
	/**
	 * Folders outside of the vault that may be read and edited like it; `true` is the folders of temporary files. Without it,
	 * edits of temporary files are asked about.
	 */
	scratchFolders?: true | readonly string[];
	/**
	 * Whether commands that only look (`ls`, `cat`, `grep`, `git status`, `find` without `-exec` …) are allowed where no rule of the
	 * user's says otherwise. The files that they read are judged as always.
	 * @default false
	 */
	readOnlyCommands?: boolean;
	/** MCP servers whose tools are allowed; those of others are asked. */
	mcpServers?: readonly string[];
	/**
	 * Tools of one's own, by their names; they come before the known ones. `'none'` says that a tool touches nothing: it is allowed
	 * unless a rule for `tool:NAME` asks about it or denies it.
	 */
	tools?: Readonly<Record<string, PermissionTool | "none">>;
	/**
	 * Names of files with secrets, with at most one `*` each; `!` takes names out again. They take the place of the built-in list:
	 * `.env`, `.env.*` but not `.env.example`, keys, key stores, and files of credentials (docs/permission.md).
	 */
	sensitiveFiles?: readonly string[];
	/** Domains in which nothing is allowed unasked, because one of their rules could not be read; `loadConfig` says which. */
	failClosed?: readonly PermissionDomain[];
	/**
	 * Whether upper and lower case of paths differ.
	 * @default false on Windows and macOS, else true
	 */
	caseSensitive?: boolean;
	/**
	 * The folder that is worked in.
	 * @default the current directory of the process
	 */
	vault?: string;
	/**
	 * Whether nobody can be asked: what would be asked is denied.
	 * @default false
	 */
	headless?: boolean;
	/** Files that this storage saved for the session of a call may be read, unless the user denies it. */
	storage?: Pick<TruncationStorage, "owns">;
}
/** How a session runs. */
export type PermissionMode = "agent" | "full_access";
/** A call of a tool. */
export interface PermissionCall {
	tool: string;
	/** What the tool is given: an object, or a string of JSON or of its one argument. */
	args?: unknown;
	sessionId?: string;
	/** @default 'agent' */
	mode?: PermissionMode;
	/** The host knows that this tool touches nothing: it is allowed unless a rule for `tool:NAME` asks about it or denies it. */
	touchesNothing?: boolean;
	/** What relative paths begin at. @default the vault */
	cwd?: string;
	/** @default the policy's */
	vault?: string;
	/** @default the policy's */
	headless?: boolean;
}
/** A rule that may be stored as it is shown. */
export interface SuggestedRule {
	domain: PermissionDomain;
	pattern: string;
	decision: "allow";
}
/** What holds for a call. */
export interface PermissionVerdict {
	/** The strictest for any target; `ask` if there are none. */
	decision: PermissionDecision;
	/** The domain of the target that decided, if there is one. */
	domain: PermissionDomain | null;
	/** What the call touches: `vault:/…`, `fs:/…`, `shell:…`, `url:…`, `query:…`, `mcp:server/tool`, `tool:name`. At most 256. */
	targets: string[];
	/** The rule that decided; `null` where none matched, or in full access. */
	rule: AppliedRule | null;
	/** Rules that match too and do not count, newest first; at most 16. */
	shadowed: AppliedRule[];
	/** Why, in sentences for a person. */
	reasons: string[];
	/** Rules that would make this question unnecessary, the narrowest first. Empty where none would be safe. */
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
 * Rules about what tools may do. Within the list the last match counts, across the targets of a call the strictest, and
 * where nothing matches somebody is asked. What cannot be understood is asked. It is no sandbox: see `docs/permission.md`.
 *
 * @example
 * const policy = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'npm test', decision: 'allow' }] })
 * policy.evaluate({ tool: 'bash', args: { command: 'npm test && rm -rf ~' } }).decision // 'deny'
 * @throws SpillwayError `INVALID_CONFIG` or `INVALID_ARGUMENT` with the field, such as `rules[3].pattern`
 */
export declare class PermissionPolicy {
	constructor(options?: PermissionPolicyOptions);
	/**
	 * Decides about a call. The same call has the same answer as long as the rules, the approvals and the links of the file
	 * system are the same. Arguments that cannot be read are asked about; they never throw.
	 * @throws SpillwayError `INVALID_ARGUMENT` where the call itself, not its arguments, is wrong
	 */
	evaluate(request: PermissionCall): PermissionVerdict;
	/** The same, and every target by itself: the rule that decided, the rules that it hides, and why. */
	explain(request: PermissionCall): PermissionVerdict & {
		details: ExplainedTarget[];
	};
	/**
	 * Remembers a permission, for a session or for all. It turns questions into permissions and never a denial.
	 * @throws SpillwayError `INVALID_CONFIG` if it is no rule that allows
	 */
	approve(rule: PermissionRule, sessionId?: string): void;
	/** Forgets one; `false` if there was none. */
	revoke(rule: Pick<PermissionRule, "domain" | "pattern">, sessionId?: string): boolean;
	/** What was approved; without a session for all. */
	approvals(): {
		rule: AppliedRule;
		sessionId: string | null;
	}[];
	/** The user's rules that can never count, because a later one is about at least the same targets. */
	shadowedRules(): {
		rule: AppliedRule;
		hiddenBy: AppliedRule;
	}[];
}
/** What an audit records about a mode. */
export interface ModeEvent {
	type: "mode_requested" | "mode_changed";
	sessionId: string;
	previousMode: PermissionMode;
	nextMode: PermissionMode;
}
/** Options of {@link ModeController}. */
export interface ModeControllerOptions {
	/**
	 * The mode of a session that nobody switched.
	 * @default 'agent'
	 */
	default?: PermissionMode;
	/** Hears every change. What it throws is ignored. */
	onEvent?: (event: ModeEvent) => void;
}
/** What {@link ModeController.setMode} answers. */
export type ModeChange = {
	mode: PermissionMode;
	confirmationId?: undefined;
}
/** Nothing changed yet: somebody must confirm first. */
 | {
	mode: PermissionMode;
	confirmationId: string;
};
/**
 * The mode of each session. Switching to full access needs one confirmation per session; after that, and back, it is at once.
 *
 * @example
 * const { confirmationId } = modes.setMode('s1', 'full_access')
 * if (confirmationId && (await askTheUser())) modes.confirm(confirmationId)
 */
export declare class ModeController {
	constructor(options?: ModeControllerOptions);
	getMode(sessionId: string): PermissionMode;
	/** Switches, or answers a `confirmationId` for {@link confirm}. One that was answered before can no longer be confirmed. */
	setMode(sessionId: string, mode: PermissionMode): ModeChange;
	/**
	 * Somebody agreed to full access.
	 * @throws SpillwayError `INVALID_ARGUMENT` if nobody was asked so, or it was answered
	 */
	confirm(confirmationId: string): ModeChange;
	/** Forgets a session that is over. */
	endSession(sessionId: string): void;
}
/** A call that is asked about. */
export interface GateCall extends PermissionCall {
	/** The same call has the same answer, however often it is asked; another call under the same id is another call. */
	toolCallId: string;
	/** Waits no longer. The question is taken back when nobody waits for it any more. */
	signal?: AbortSignal;
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
	targets: string[];
	reasons: string[];
	suggestedRules: SuggestedRule[];
	/** Milliseconds since the epoch. */
	askedAt: number;
}
/** How a call was decided. */
export interface GateDecision {
	decision: "allow" | "deny";
	/** Who decided: rules, full access, an answer, or that the question was taken back. */
	by: "rule" | "full_access" | "once" | "always" | "reject" | "abort";
	/** The mode of the session then. */
	mode: PermissionMode;
	/** What the person said who rejected it. */
	message?: string;
	verdict: PermissionVerdict;
}
/** What an audit records. */
export type GateEvent = {
	type: "asked";
	request: PendingRequest;
}
/** `call` is that of {@link GateState} `answers`, so that each answer can be stored by itself; absent for arguments that cannot be read. */
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
/** An answer: `always` stores the suggested rule that was shown. */
export type GateResponse = "once" | "always" | {
	reject: string | true;
};
/** Options of {@link PermissionGate}. */
export interface PermissionGateOptions {
	/** Says which sessions have full access. */
	modes?: ModeController;
	/** Writes a rule to the user's settings. Without it, "always" holds as long as the gate. */
	saveRule?: (rule: SuggestedRule) => void | Promise<void>;
	/** Writes it to this file of `loadConfig` instead, comments kept. */
	configFile?: string;
	/**
	 * For whom "always" holds.
	 * @default 'user'
	 */
	scope?: "session" | "user";
	/** Hears every question and decision. What it throws is ignored. */
	onEvent?: (event: GateEvent) => void;
	/** Milliseconds since the epoch. @default Date.now */
	now?: () => number;
}
/** What {@link PermissionGate.toJSON} keeps. */
export interface GateState {
	version: 1;
	pending: PendingRequest[];
	/** What people said, and of which call: a hash of its session, id, tool, arguments and folders. */
	answers: {
		call: string;
		decision: GateDecision;
	}[];
	approvals: {
		rule: SuggestedRule;
		sessionId: string | null;
	}[];
}
/**
 * Asks where the policy says so, and waits; nobody waits on a clock. One answer per call, however often and from wherever it
 * is requested. A call is its session, `toolCallId`, tool, arguments and folders: the same id with others is asked about anew.
 * Rules decide each time: what a person allowed does not run if the policy denies it by then.
 *
 * @example
 * const gate = new PermissionGate(policy, { onEvent: (event) => show(event) })
 * const { decision } = await gate.request({ toolCallId: 'c1', tool: 'bash', args: { command: 'make' } })
 * // elsewhere: gate.respond(gate.pending()[0].id, 'once')
 */
export declare class PermissionGate {
	constructor(policy: PermissionPolicy, options?: PermissionGateOptions);
	/**
	 * Decides, or asks and waits.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the call is wrong
	 */
	request(call: GateCall): Promise<GateDecision>;
	/** The questions that wait, the oldest first; those of an earlier process too. */
	pending(): PendingRequest[];
	/**
	 * Answers a question. `always` stores the first suggested rule, or the one that is given if it was shown, and lets other
	 * questions through that it answers. `{ reject }` denies the call and every other question of its session. The first
	 * answer counts and decides at once; a rule is saved after that. What the policy denies by now is denied whatever is said.
	 * @throws SpillwayError `INVALID_ARGUMENT` if there is no such question, or no rule to store
	 */
	respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void>;
	/** Everything that must survive a restart: questions whose call can be known again, what people said, approvals. */
	toJSON(): GateState;
	/**
	 * A gate as it was. A question waits on if this policy asks about its call, too; the call is requested again and takes it over.
	 * @throws SpillwayError `INVALID_ARGUMENT` that names the field which is not as {@link toJSON} gave it
	 */
	static fromJSON(saved: GateState | string, policy: PermissionPolicy, options?: PermissionGateOptions): PermissionGate;
}
/** Options of {@link AuditLog}. */
export interface AuditLogOptions {
	/** The folder of all logs, made if it is not there. It should be out of reach of the agent's own tools. */
	dir: string;
	/** The session; whatever it is, its file has a safe name of its own. */
	sessionId: string;
	/** A secret of at least 16 bytes. With it nobody else can make records that verify. @default none */
	key?: string | Uint8Array;
	/** Bytes of a file, at least 65,536; then another begins, and the old one is kept. @default 16777216 */
	maxFileBytes?: number;
	/** What is taken out of every text. Well-known shapes of secrets are, unless `known` is false. @default { known: true } */
	redact?: RedactionOptions;
	/** Every batch waits until the disk has it, so that not even a power cut loses what was acknowledged. @default false */
	sync?: boolean;
	/**
	 * What a failing log does: with `warn`, `append` resolves to `undefined` and the problem is reported; with `block` it rejects,
	 * so that the host can keep the tool from running. Either way the event counts as dropped, and the log says so as soon as it can be written again.
	 * @default 'warn'
	 */
	onFailure?: "warn" | "block";
	/** Hears of every failure. @default a warning of the process */
	onProblem?: (error: SpillwayError) => void;
}
/** An event. All fields are optional, and others may be added; `after`, `cut`, `hash`, `prev`, `seq`, `v` and `writer` are the log's own. */
export interface AuditEvent {
	/** @default an id that is unique */
	eventId?: string;
	/** Milliseconds since the epoch. @default when it is appended */
	timestamp?: number;
	type?: string;
	mode?: string;
	tool?: string;
	toolCallId?: string;
	/** `read`, `edit`, `bash`, … */
	permissionDomain?: string;
	/** As the permission rules write them: `vault:/a.md`, `shell:…` */
	targets?: readonly string[];
	decision?: "allow" | "ask" | "deny" | (string & {});
	rulePattern?: string;
	reason?: string;
	/** Who approved: a user, a rule, a mode. */
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
	/** Who wrote it: one per `AuditLog`. */
	writer: string;
	/** Its place in the writer's chain, from 1. */
	seq: number;
	/** Keep the newest one elsewhere: `verifyAudit` finds by it that the end was cut off. */
	hash: string;
}
/** A record that is not as it was written. */
export interface BadAuditRecord {
	file: string;
	/** From 1. */
	line: number;
	/** Where the line begins, in bytes. */
	offset: number;
	reason: string;
	/** Of the record itself, if they can be read. */
	writer?: string;
	seq?: number;
}
/** What {@link verifyAudit} found. */
export interface AuditReport {
	/** Everything is as it was written. */
	ok: boolean;
	/** Records before the first bad one. */
	records: number;
	firstBad?: BadAuditRecord;
	/** A line that a process did not finish; the next writer puts it aside. Not a fault, but a cut end looks the same. */
	torn?: {
		file: string;
		line: number;
		offset: number;
		bytes: number;
	};
	/** The hash of the last record. */
	head?: string;
	/** How many wrote. */
	writers: number;
	/** Events of which the log says that they could not be written. */
	dropped: number;
	/** The files, oldest first. */
	files: string[];
}
/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions {
	/** The key that the log was written with. */
	key?: string | Uint8Array;
	/** The hash of a record, or several, that must be in the log: else its end was cut off. */
	head?: string | readonly string[];
	signal?: AbortSignal;
}
/**
 * The audit log of a session: one JSON object a line, each with its own hash and that of the record before it. Several
 * processes may write into the same session.
 */
export declare class AuditLog {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option; the disk is touched by the first event only */
	constructor(options: AuditLogOptions);
	/** The file that records go to. When it is full it gets a number, and another takes its name. */
	get path(): string;
	/** Events of this log that were lost, because it could not be written or too many waited. */
	get dropped(): number;
	/**
	 * Appends an event. The promise settles when the system has the record; those of one turn of the event loop are written
	 * together, in order. The event is read at once and may be of any kind and size: what is too long for a line is cut and marked.
	 *
	 * @returns the record's place and hash; `undefined` if it could not be written and `onFailure` is `warn`
	 * @throws SpillwayError `INVALID_ARGUMENT` for what is no object or has a field of the log's own, `CLOSED`, and with
	 * `onFailure: 'block'` `STORAGE_WRITE`
	 */
	append(event: AuditEvent): Promise<AuditReceipt | undefined>;
	/** Settles when everything that was appended before is written, or could not be. */
	flush(): Promise<void>;
	/** Writes what waits. After that nothing can be appended. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/**
 * Checks a log: every record must have its hash, and follow on the record before it and on that of its writer. Earlier
 * files of the same session are read first. Memory does not depend on the size.
 *
 * Without a `key` the hashes show accidents and careless changes; somebody who can write the file can make them all anew. Records
 * cut from the end show only against a kept `head`.
 *
 * @param file the path of the log's current file, or of a copy of one of its files
 * @throws SpillwayError `STORAGE_NOT_FOUND`, `STORAGE_READ`; the reason of an aborted signal
 */
export declare function verifyAudit(file: string, options?: VerifyAuditOptions): Promise<AuditReport>;
/**
 * Takes an output while it is made. Made by {@link TruncationService.capture}.
 *
 * Pieces are text or bytes, split anywhere. End the stream and await `result`; destroy it, or abort the context's signal,
 * to give up. Once all of it has come in (`finish`), aborting comes too late. A failure is reported by `result`, so an `error` event
 * without a listener does not end the process. A write after the end fails, by its callback and `error`, and nothing else: `result`
 * is of what came before it.
 */
export declare class Capture extends Writable {
	/** Settles when the output has ended, with exactly what {@link TruncationService.output} gives for the whole. */
	readonly result: Promise<TruncationResult>;
	/**
	 * What there is so far, as it would be shown if the output ended here.
	 *
	 * @throws SpillwayError `ABORTED` after an abort
	 */
	peek(): Promise<CapturePeek>;
	/**
	 * A part of the whole output, by lines or by bytes, as far as it has come in; at most 262,144 bytes of it in one call. `next` is
	 * absent at the end of what is there: to go on later, ask from the byte or the line where the text ended. What is read is what
	 * would be saved if the output ended here, redacted; once it is longer than `maxFileBytes`, only the first half of what its
	 * file may hold can be read until it has ended.
	 *
	 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong range, `STORAGE_NOT_FOUND` when the output could not be kept, `ABORTED`
	 *   after an abort; rejects with the reason of the range's signal when that is aborted
	 */
	readRange(range: ReadRange): Promise<RangeResult>;
	private checkNotGivenUp;
	destroy(error?: Error): this;
	/** What is written after the capture was ended by an abort or `destroy()` is dropped: whoever writes may not know yet. */
	write(chunk: unknown, encoding?: unknown, done?: unknown): boolean;
	end(...given: unknown[]): this;
	_write(chunk: string | Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void;
	_final(callback: (error?: Error | null) => void): void;
	_destroy(error: Error | null, callback: (error?: Error | null) => void): void;
}
/** Bounds the output of tools. */
export declare class TruncationService implements OutputService {
	/** Where full outputs are saved: the storage that was given, the {@link StorageList} of several, or one of its own. */
	readonly storage: ITruncationStorage;
	/** @throws SpillwayError `INVALID_CONFIG` that names the option, its value and what is allowed */
	constructor(options?: TruncationServiceConfig);
	/**
	 * Bounds one output. Within limits it comes back as it is; over them, the whole is saved first and a preview with a
	 * notice comes back. A failing disk, strategy or storage never fails the call: the preview is bounded all the same.
	 *
	 * @param content text, bytes (decoded as UTF-8, saved as they are; they must not change until the promise settles),
	 *   or the parts of a message, whose texts share one budget
	 * @throws SpillwayError `INVALID_ARGUMENT` for any other content and for a wrong context, `CLOSED` after {@link close}
	 */
	output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>;
	/**
	 * Takes an output while it is made: a writable stream of text or bytes, in pieces of any size. Memory is bounded by the
	 * limits, whatever comes; the file is made when a limit is passed, and is complete from the first byte. Its `result` is
	 * what {@link output} says of the whole; only a tool that asks to be left alone is bounded above the hard ceiling
	 * whoever asked for it, because a stream cannot be held.
	 *
	 * @example
	 * const capture = service.capture({ toolName: 'bash' })
	 * child.stdout.pipe(capture)
	 * const result = await capture.result
	 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong context or option, `CLOSED` after {@link close}
	 */
	capture(context: TruncationContext, options?: CaptureOptions): Capture;
	/** Removes saved outputs that are older than `retentionDays`, and answers how many. */
	cleanup(): Promise<number>;
	/**
	 * Removes saved outputs that are older than `retentionDays`, and then the oldest over `maxStoreBytes` and `maxStoreFiles`. A
	 * `storage` that was given goes by its own bounds; what is given here goes before them.
	 * @throws SpillwayError `INVALID_CONFIG` if the storage is a custom one that cannot be swept
	 */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/**
	 * Changes settings for every tool, from the next call on.
	 * @throws SpillwayError `INVALID_CONFIG`; `retentionDays`, `storageDir` and quotas can only be set when the service is made
	 */
	updateConfig(config: Partial<Omit<TruncationConfig, "retentionDays" | "storageDir">>): void;
	/** Sets the user's entry for a tool, from the next call on. The built-in settings of the tool stay below it. */
	setToolConfig(toolName: string, config: ToolTruncationConfig): void;
	/** The configuration that a call with this context would use, and where each field comes from. */
	effectiveConfig(context: TruncationContext): EffectiveConfig;
	/** Refuses further outputs, and gives back what its own storage holds. Calls under way come to their end. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/** What a running command has printed so far. */
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
	/** What a preview would show if it ended here. */
	peek: () => Promise<CapturePeek>;
	/** A part of everything that it printed so far; see `Capture.readRange`. */
	readRange: (range: ReadRange) => Promise<RangeResult>;
	/** Ends it and everything that it started. The call then resolves with what was printed, and with `aborted`. */
	stop: () => void;
}
/** Options of `runCommand`. */
export interface RunCommandOptions {
	/** The folder the command runs in. Default: that of this process. */
	cwd?: string | URL;
	/** Variables on top of this process's environment; `undefined` removes one. */
	env?: Record<string, string | undefined>;
	/** What the command reads from standard input. Default: nothing. */
	input?: string | Uint8Array;
	/**
	 * What its standard input is without `input`: nothing, or that of this process.
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
	/** Ends the command; what it printed so far is the result, with `aborted`. Aborted before the start, the call rejects with its reason. */
	signal?: AbortSignal;
	/**
	 * Called once the command runs: with what reads the output of one that may never end, such as a development server, and ends it.
	 */
	onStart?: (running: RunningCommand) => void;
	/** Called a few times a second while the command runs. */
	onProgress?: (progress: CommandProgress) => void;
	/**
	 * Keeps standard output and standard error apart: a line `[stdout]` or `[stderr]` comes before what follows. By default
	 * both go into one pipe, so that they are in the order in which they were written.
	 * @default false
	 */
	separate?: boolean;
	/**
	 * Runs `file` as the text of a command of the shell: `true` for `/bin/sh` (`cmd.exe` on Windows), or the path of
	 * another. Arguments are appended, quoted.
	 * @default false
	 */
	shell?: boolean | string;
	/** Bounds the output. Default: a service with default settings. */
	service?: TruncationService;
	/** @default 'bash' */
	toolName?: string;
	sessionId?: string;
	messageId?: string;
	toolCallId?: string;
	/** Overrides of truncation for this call. */
	truncation?: TruncationOptions;
}
/** How a command ended, and what it printed. */
export interface CommandResult {
	/** `null` when a signal ended it. */
	exitCode: number | null;
	/** The signal that ended it. */
	signal: string | null;
	timedOut: boolean;
	aborted: boolean;
	/** Milliseconds. */
	durationMs: number;
	/** What both streams printed, bounded. After a timeout or an abort, its `content` ends with `note`. */
	output: TruncationResult;
	/** Bytes that the command printed. */
	totalBytes: number;
	/** Lines that the command printed. */
	totalLines: number;
	/** The sentence that says that the command was ended, and what to do. */
	note?: string;
}
/**
 * Runs a program to its end and gives back how it ended and what it printed, bounded; the whole is in a file.
 *
 * The command has a process group of its own, which is ended as a whole by a timeout or an abort; what was printed so far
 * is kept, and a note at the end of the text says what happened. A command that ends with another code than 0 is a
 * result like any other. A process that it leaves behind is not waited for; it can no longer write to the output.
 *
 * @example
 * const { exitCode, output } = await runCommand('npm', ['test'], { timeoutMs: 120_000, sessionId })
 * messages.push({ role: 'tool', content: output.content })
 * @throws SpillwayError `COMMAND` when the program cannot be started, `INVALID_ARGUMENT` for a wrong argument
 */
export declare function runCommand(file: string, args?: readonly string[], options?: RunCommandOptions): Promise<CommandResult>;
/** The formats that can be read. */
export type HistoryFormatName = "openai-chat" | "openai-responses" | "openai-agents" | "anthropic" | "ai-sdk" | "langchain" | "gemini" | "mcp" | "pi" | "snow";
/** What earlier compactions of a session left behind. Plain data. */
export interface CompactionState {
	/** Answers of the model that were summarised away. */
	answers: number;
	/** After which answer, counted over the whole session, each of the newest compactions was made. */
	recent: number[];
	/** Summaries that failed since the last that did not. */
	failures: number;
	/** After which answer the last one failed; ten answers later it is tried again. */
	failedAt?: number;
}
/**
 * Why a compaction did what it did.
 * - `not-needed`: there is room; `disabled`: it was switched off;
 * - `nothing-old`: everything is protected or gone already; `no-progress`: what could go is less than a tenth;
 * - `outputs-suffice`: without old outputs it fits; `no-summarizer`: outputs went, and nobody writes summaries;
 * - `summarized`;
 * - `summary-failed`, `summary-timeout`, `summary-empty`, `summary-too-large`, `summary-no-progress`: outputs went, because
 *   the summary threw or was no text, did not come, was empty, larger than what it stands for, or frees too little;
 * - `summary-blocked`: the same, because three summaries in a row have failed, for ten answers of the model;
 * - `thrash`: three compactions in three turns of the model did not help. Only a `ContextManager` says so, as long as results
 *   can still be shortened; else it is an error;
 * - `media`: nothing else could go, so images and files were replaced by notes;
 * - `unreadable`: no message is in a known format.
 */
export type CompactionReason = "not-needed" | "disabled" | "nothing-old" | "no-progress" | "outputs-suffice" | "no-summarizer" | "summarized" | "summary-failed" | "summary-timeout" | "summary-empty" | "summary-too-large" | "summary-no-progress" | "summary-blocked" | "thrash" | "media" | "unreadable";
/** What {@link compactHistory} did. */
export interface CompactionReport {
	/** `none`: the very messages that went in. `outputs`: old outputs were replaced. `summary`: old messages were. */
	action: "none" | "outputs" | "summary";
	reason: CompactionReason;
	/** What decided: the history and what is sent beside it, against the limit. */
	trigger: {
		size: number;
		/** `Infinity` if nothing is too much. */
		limit: number;
		unit: "tokens" | "chars";
		/** It was over the limit, or somebody asked for it. */
		triggered: boolean;
	};
	/** What the history and what is sent beside it may have together, in the unit of the trigger. */
	usable: number;
	/** Whether they have no more, now. */
	fits: boolean;
	/** The history, estimated, in the unit of the trigger. */
	sizeBefore: number;
	sizeAfter: number;
	/** UTF-16 units of all texts. */
	charsBefore: number;
	charsAfter: number;
	messagesBefore: number;
	messagesAfter: number;
	/** Outputs that were replaced where they are. */
	replacedOutputs: number;
	/** By tool how many outputs are gone, replaced or summarised. */
	droppedTools: Record<string, number>;
	/** Images and files that were replaced by a note. */
	replacedMedia: number;
	/** What is kept: messages before `first`, those in `head`, and those from `from` on; indices of what went in. */
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
		/** Its message in what came out. */
		index: number;
		text: string;
		/** UTF-16 units. */
		chars: number;
		/** In the unit of the trigger. */
		size: number;
		/** It brings an earlier one up to date. */
		updated: boolean;
		/** It also tells of the beginning of a turn whose rest is kept. */
		hasTurn: boolean;
		/** It was longer than there was room for. */
		shortened: boolean;
	};
	/** Why there is no summary. */
	error?: SpillwayError;
	/** For the next compaction of this session. */
	state: CompactionState;
	/** How the history is kept; `undefined` if no message is in a known format. */
	format: HistoryFormatName | undefined;
}
/** What {@link compactHistory} would do. */
export interface CompactionPlan {
	/** `summary` if a summary would be asked for; what comes of it nobody knows before. */
	action: "none" | "outputs" | "summary";
	reason: CompactionReason;
	trigger: CompactionReport["trigger"];
	usable: number;
	sizeBefore: number;
	/** With `summary` that of what stays, without the summary. */
	sizeAfter: number;
	messages: number;
	replacedOutputs: number;
	droppedTools: Record<string, number>;
	/** Images and files that would be replaced by a note; with `summary` nobody knows. */
	replacedMedia: number;
	kept: CompactionReport["kept"];
	/** What the summary may have, in the unit of the trigger. */
	room: number;
	format: HistoryFormatName | undefined;
}
/** A fold as JSON. */
export interface FoldState {
	first: number;
	head: [
		number,
		number
	];
	from: number;
	/** A number per message that is folded, by which it is known again. */
	sizes: number[];
	/** The text of the summary. */
	text: string;
	format: HistoryFormatName;
	/** Tokens that it saves. */
	saved: number;
}
/** Tokens of a text, estimated. */
export type EstimateTokens = (text: string) => number;
/** A storage that can be asked whether a path is that of an output which it saved. */
export interface OutputOwner {
	/** Whether a path is that of an output that this store saved. */
	owns(path: string): boolean;
}
/** The states of a recovery, and which follows which. */
/** Where a recovery is. `retry` and `failed` are its ends. */
export type OverflowState = "start" | "oversized" | "aggregate" | "compaction" | "retry" | "failed";
/** What came of a state; at the start, `nothing` says that the history does not fit. */
export type OverflowEvent = "fits" | "smaller" | "nothing" | "refused" | "error";
/** One transition. Of those that match, the first is taken. */
export interface OverflowTransition {
	readonly order: "cheapest-first" | "compaction-first";
	readonly from: OverflowState;
	readonly on: readonly OverflowEvent[];
	/**
	 * What must hold: `compaction-left` is that the caller can compact, that it was not compaction that overflowed nor did
	 * it fail in this call, and that fewer than the allowed number were tried; `last-resort` that no compaction is left and
	 * results were not yet held to what remains then; `truncation-untried` that no results were cut since the recovery began.
	 */
	readonly when: "always" | "compaction-left" | "last-resort" | "truncation-untried";
	readonly to: OverflowState;
	/** The number of compactions begins anew; that of attempts never does. */
	readonly resetsCompactions: boolean;
	readonly why: string;
}
/** No result is longer, whatever the window: 400,000 UTF-16 units, about 100,000 tokens. */
export declare const HARD_MAX_TOOL_RESULT_CHARS: number;
/** So much of a result stays where there is room for it: 2,000 UTF-16 units. The cap wins over it. */
export declare const MIN_KEEP_CHARS: number;
/** The share of the window that one result may take: 0.3. */
export declare const MAX_TOOL_RESULT_CONTEXT_SHARE: number;
/** So many compactions are tried in one recovery: 3. */
export declare const MAX_OVERFLOW_COMPACTION_ATTEMPTS: number;
/** Ends a result that {@link guardSession} cut before it was written. */
export declare const GUARD_TRUNCATION_SUFFIX: string;
/**
 * Whose numbers, words and order: `openclaw` has the newest (16,000, 32,000 or 64,000 characters by window, Chinese,
 * Japanese and Korean characters counting four times, and a budget for all results together), `openclaw-2026-02` those of
 * the document (30 % of the window, at most 400,000 UTF-16 units, compaction first).
 */
export type OverflowProfile = Extract<TruncationProfile, "openclaw" | "openclaw-2026-02">;
/**
 * What one tool result may have at most: 30 % of the window at four characters a token, and never more than
 * {@link HARD_MAX_TOOL_RESULT_CHARS}.
 *
 * @param contextWindowTokens the model's window in tokens, at least 0; `NaN` or `Infinity` if nobody knows
 * @returns UTF-16 units: 153,600 for 128,000 tokens
 * @throws SpillwayError `INVALID_ARGUMENT` if it is no such number, or an option is not allowed
 */
export declare function calculateMaxToolResultChars(contextWindowTokens: number, options?: MaxCharsOptions): number;
/** Options of {@link calculateMaxToolResultChars}. */
export interface MaxCharsOptions {
	/**
	 * Whose numbers: with `openclaw` 16,000, 32,000 or 64,000 by window, and 16,000 if nobody knows it.
	 * @default 'openclaw-2026-02'
	 */
	profile?: OverflowProfile;
	/** A cap of your own. It holds within 30 % of the window; a number that is not above 0 is ignored. */
	maxChars?: number;
}
/** Every transition of {@link recoverFromOverflow}. */
export declare const OVERFLOW_TRANSITIONS: readonly Readonly<OverflowTransition>[];
/** What a provider's error said, as `classifyOverflow` gives it. */
export interface OverflowFacts {
	overflow: boolean;
	kind: string;
	actualTokens?: number | undefined;
	limitTokens?: number | undefined;
}
/** What a step of a recovery did. */
export interface OverflowStep {
	step: "oversized" | "aggregate" | "compaction";
	/** `fits`: that is enough. `smaller`: by enough to count. `nothing`, `refused`, `error`: the history is as before. */
	event: OverflowEvent;
	/** Estimated tokens of the history. */
	tokensBefore: number;
	/** What came out, or would have: with `nothing` and `refused` it was not used. */
	tokensAfter: number;
	/** Results that the step shortened. */
	results: number;
	/** Why nothing came of it. */
	reason?: string;
}
/** What a recovery has used up; hand it to the next one of the same turn. Plain data. */
export interface OverflowRecoveryState {
	/** Steps that were tried. Nothing but the next turn makes it smaller. */
	attempts: number;
	compactions: number;
	/** Results were cut. */
	truncated: boolean;
}
/** What a recovery did. */
export interface OverflowReport {
	profile: OverflowProfile;
	/** The window that counted, in tokens. */
	contextWindowTokens: number;
	/** What the history may have, in tokens: the window without `reserveTokens` and a margin of 4,096 or a fifth. */
	targetTokens: number;
	/** Estimated tokens before and after, brought into line with what the provider counted. */
	tokensBefore: number;
	tokensAfter: number;
	steps: OverflowStep[];
	state: OverflowRecoveryState;
	/**
	 * How to go on. `prompt`: the history ends with what a user said, send it again. `transcript`: it ends in the middle of
	 * a turn; let the model continue, and do not repeat the user's words. `ended`: the model had answered already.
	 */
	resume: "prompt" | "transcript" | "ended";
}
/** What the caller's compaction gives back: the new messages, or nothing if there was nothing to compact. */
export type Compacted<M> = readonly M[] | {
	messages: readonly M[];
} | undefined;
/** Options of {@link recoverFromOverflow}. */
export interface RecoverOptions<M> {
	/** The history that did not fit, in any format that {@link detectFormat} knows. Never changed. */
	messages: readonly M[];
	/** The model's window in tokens. A limit that the provider's error names counts if it is less. */
	contextWindowTokens: number;
	/**
	 * What `classifyOverflow` made of the provider's error. Estimates are brought into line with the number in it. Without
	 * it the history is only looked at, before it is sent.
	 */
	overflow?: OverflowFacts;
	/** It was compaction itself that overflowed: it is not tried. */
	duringCompaction?: boolean;
	/**
	 * Tokens of a text.
	 * @default an estimate by its script
	 */
	estimateTokens?: EstimateTokens;
	/** Makes the history shorter, usually by a summary. Without it only tool results can be shortened. */
	compact?: (messages: M[], info: {
		targetTokens: number;
		attempt: number;
		signal: AbortSignal | undefined;
	}) => Compacted<M> | Promise<Compacted<M>>;
	/**
	 * Whose numbers, words and order: `openclaw-2026-02` compacts first.
	 * @default 'openclaw'
	 */
	profile?: OverflowProfile;
	/**
	 * So many steps may be tried in one turn, over all recoveries that share a `state`.
	 * @default 16
	 */
	maxAttempts?: number;
	/**
	 * So many of them may be compactions.
	 * @default 3
	 */
	maxCompactions?: number;
	/**
	 * A step that does not make the history fit must make it smaller by so many tokens, or it counts as nothing.
	 * @default a hundredth of `contextWindowTokens`
	 */
	minProgressTokens?: number;
	/**
	 * Tokens that the system prompt, the tools and the answer need.
	 * @default 0
	 */
	reserveTokens?: number;
	/** What earlier recoveries of this turn used up. */
	state?: OverflowRecoveryState;
	/** Ends the recovery; it rejects with `ABORTED`. */
	signal?: AbortSignal;
	/** Told of each step. If it throws, a warning is emitted and nothing else changes. */
	onStep?: (step: OverflowStep) => void;
	/**
	 * Whether a saved output that a result names is still there; only then is the model pointed to it. A tool can print any path:
	 * answer yes only for paths of your own.
	 * @default whether `storage` owns the path, or this process saved it
	 */
	outputExists?: (path: string) => boolean;
	/** The storage that full outputs were saved in: only paths that it owns are named. */
	storage?: OutputOwner;
}
/** What {@link recoverFromOverflow} gives back. */
export interface Recovered<M> {
	messages: M[];
	report: OverflowReport;
}
/** What a recovery would do. */
export interface OverflowPlan extends OverflowReport {
	/**
	 * How it would end as far as that is known: `compaction` stands for what the caller's compaction would bring, which
	 * nobody knows before.
	 */
	outcome: "retry" | "compaction" | "failed";
}
/**
 * Makes a history fit into the model's window again, cheapest step first: results that are too long are cut, then all
 * results together are held to a budget, then the caller's compaction is asked; {@link OVERFLOW_TRANSITIONS} has every
 * way through. Each step must make progress, none may part a call from its result, and with `maxAttempts` used up it is
 * over: it ends with a history that fits by the estimate, or with an error.
 *
 * `recoverFromOverflow.plan` takes the same and says what would be done: nothing is compacted, nobody is told, and nothing
 * changes. The sizes are those that the steps would reach; what compaction brings nobody knows, so a plan ends there.
 *
 * @returns new messages, in which everything that was not shortened is the very same object, and a report
 * @throws SpillwayError `OVERFLOW` if nothing helped; its message says what was tried and its `report` has the sizes.
 * `ABORTED` if the signal says so. `INVALID_ARGUMENT` if an option is not allowed, or `overflow` is no overflow
 */
export declare function recoverFromOverflow<M>(options: RecoverOptions<M>): Promise<Recovered<M>>;
export declare namespace recoverFromOverflow {
	var plan: <M>(options: RecoverOptions<M>) => OverflowPlan;
}
/** What a hook changes in what the summariser is asked. What is not a string changes nothing. */
export interface CompactionEdit {
	/** Other instructions, in place of ours; the prompt is made of them. */
	instructions?: string;
	/** More to say: it comes behind the instructions. */
	context?: string;
	/** Another prompt, in place of everything. */
	prompt?: string;
}
/** What `compaction.before` is told: what the summariser will be. */
export type CompactionBeforeInfo<M = unknown> = Readonly<Omit<SummaryRequest<M>, "signal">>;
/** Asked before each summary. Several are asked in their order; each sees what those before it changed. */
export type CompactionBeforeHook<M = unknown> = (request: CompactionBeforeInfo<M>) => CompactionEdit | undefined | Promise<CompactionEdit | undefined>;
/** Told after each compaction that did something. Its answer is not looked at. */
export type CompactionAfterHook = (report: Readonly<CompactionReport>) => unknown;
/**
 * The hooks around a compaction, by their names:
 * `{ 'compaction.before': (request) => ({ context: '…' }), 'compaction.after': (report) => { … } }`.
 * One that throws, or takes too long, is warned of and changes nothing.
 */
export interface CompactionHooks<M = unknown> {
	"compaction.before"?: CompactionBeforeHook<M> | readonly CompactionBeforeHook<M>[];
	"compaction.after"?: CompactionAfterHook | readonly CompactionAfterHook[];
}
/** Whose numbers: `moryflow`, `opencode` or `takumi`. */
export type CompactionProfile = Extract<TruncationProfile, "moryflow" | "opencode" | "takumi">;
/** What is sent beside the history. It is counted, and the summariser is told of it. */
export interface CompactionEnvironment {
	systemPrompt?: string;
	/** The definitions of tools, in whatever form they are sent. */
	tools?: unknown;
	/** Skills, or whatever else is put before the model. */
	skills?: unknown;
}
/** What the summariser is asked for. */
export interface SummaryRequest<M = unknown> {
	/** Everything in one text, ready to be sent: instructions, the summary so far, and the messages. */
	prompt: string;
	/** The instructions alone, for callers who send the messages themselves. */
	instructions: string;
	/** The messages that the summary stands for, oldest first: the very objects, with their full outputs. */
	messages: readonly M[];
	/** `history`: everything before the turns that are kept. `turn`: the beginning of a turn whose rest is kept. */
	part: "history" | "turn";
	/** The summary so far, to be brought up to date; `undefined` the first time. */
	previousSummary: string | undefined;
	/** What is sent beside the history. */
	environment: CompactionEnvironment | undefined;
	/** So many tokens the summary should have at most. */
	maxTokens: number;
	/** The language of the conversation, as far as that is known. */
	language: NoticeLanguage;
	/** Aborted when the time is up, or when the caller's own signal is. */
	signal: AbortSignal;
}
/** Writes a summary: usually a request to a model. */
export type Summarize<M = unknown> = (request: SummaryRequest<M>) => string | {
	text: string;
} | Promise<string | {
	text: string;
}>;
/** Options of {@link compactHistory}. */
export interface CompactOptions<M = unknown> {
	/** The model's window in tokens. 0, `NaN`, `Infinity` or nothing: nobody knows; then `maxChars` decides. */
	contextWindow?: number;
	/** Writes summaries. Without it only old outputs go. */
	summarize?: Summarize<M>;
	/**
	 * Milliseconds that the summariser may take, or `Infinity`.
	 * @default 120000
	 */
	summarizeTimeoutMs?: number;
	/**
	 * What a summary may have: tokens. Never more than 15 % of what is usable.
	 * @default 4096
	 */
	maxSummaryTokens?: number;
	/**
	 * What the summariser can read at once: tokens.
	 * @default `contextWindow`, or 32,000 if nobody knows it
	 */
	summarizerWindow?: number;
	/**
	 * The numbers of a known agent, as defaults of the other options. `moryflow`: the decision record's, four characters to a
	 * token. `opencode`: when all but 20,000 tokens are used; the newest 40,000 tokens of outputs stay, and none go unless
	 * 20,000 can. `takumi`: at 70 % of the window, with the same outputs.
	 */
	profile?: CompactionProfile;
	/** `false`: never by itself. @default true */
	enabled?: boolean;
	/** Whatever the size, and although it was switched off: somebody asks for it. @default false */
	force?: boolean;
	/**
	 * The history is made to fit into so many tokens, whatever the window; for a recovery from an overflow.
	 */
	targetTokens?: number;
	/**
	 * Compaction begins above this share of what is usable: the window without room for an answer (4,096 tokens or a fifth)
	 * and without `reserveTokens`. Above 0, at most 1.
	 * @default 0.8
	 */
	triggerShare?: number;
	/**
	 * It begins above so many UTF-16 units where nobody knows the window; `Infinity`: never.
	 * @default 120000
	 */
	maxChars?: number;
	/** Tokens that stay free beside the room for an answer. @default 0 */
	reserveTokens?: number;
	/**
	 * So many of the newest turns stay byte for byte, as long as they fit. The newest message of the user always does. A
	 * whole number; 0 is 1.
	 * @default 3
	 */
	recentTurns?: number;
	/**
	 * Outputs of these tools stay. `*` stands for any characters; case and `-`, `_`, `.` between words do not matter.
	 * @default ['task', 'tasks_*', 'write', 'edit', 'move', 'delete']
	 */
	protectedTools?: readonly string[];
	/** What is sent beside the history. */
	environment?: CompactionEnvironment;
	/**
	 * What the provider counted for these messages and what is sent beside them: tokens. Estimates are brought into line with it.
	 */
	usedTokens?: number;
	/**
	 * Tokens of a text. If it throws or answers no number, that is warned of and the built-in estimate is used.
	 * @default the built-in estimate
	 */
	estimateTokens?: (text: string) => number;
	/**
	 * The language of the words that Spillway puts into the history.
	 * @default that of what the user said
	 */
	language?: NoticeLanguage;
	/** What was learnt when the tools finished: where their full outputs were saved, and which tool it was. */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: only a path that it owns is named. Without it a path that the tool itself says is
	 * named if this process saved it, and one that the host wrote into a message is believed.
	 */
	storage?: OutputOwner;
	/** What an earlier compaction of this session left behind: `report.state`. */
	state?: CompactionState;
	/** Asked before a summary is written, and told after a compaction. */
	hooks?: CompactionHooks<M>;
	/** Milliseconds that a hook may take. @default 5000 */
	hookTimeoutMs?: number;
	/** Ends the compaction; it rejects with `ABORTED`. */
	signal?: AbortSignal;
}
/** What {@link compactHistory} gives back. */
export interface CompactResult<M> {
	messages: M[];
	report: CompactionReport;
}
/**
 * Makes a history shorter when it comes near the model's window: old outputs of tools are replaced where they are, and if
 * that is not enough, `summarize` writes a summary that takes the place of everything before the newest turns.
 *
 * What stays, stays byte for byte, as the very same objects: instructions at the beginning, the newest three turns as long
 * as they fit, and the newest message of the user in any case. A turn that is too long by itself is cut where
 * {@link cutPoints} allows it. Calls keep their results. The summary is one message, brought up to date by the next
 * compaction; the record of changed files in it is not the summariser's and outlives it.
 *
 * A summary that fails, is empty, or larger than what it stands for leaves the history without its old outputs. What frees
 * less than a tenth is not done.
 *
 * `compactHistory.plan` takes the same and says what would be done: nobody is asked or told, and nothing changes.
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
/** A place where a history may be cut. */
export interface CutPoint {
	/** The first message behind the cut. */
	index: number;
	/** `turn`: the user speaks there. `inside`: in the middle of a turn, before the model is asked again. */
	kind: "turn" | "inside";
}
/**
 * The only places between messages where a history may be cut: never between a call and its result, parallel calls
 * included, never behind a call that is still running, before a result, or between two messages of one answer. Ascending;
 * the two ends of the history are not among them.
 *
 * @param messages in any format that `detectFormat` knows; none if it is in no known format
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array
 */
export declare function cutPoints(messages: readonly unknown[]): CutPoint[];
/**
 * The `compact` of `recoverFromOverflow`, made of {@link compactHistory}: whatever the size, into the tokens that the recovery asks for.
 * It remembers over the recoveries of a session what its compactions left behind.
 *
 * @example
 * await recoverFromOverflow({ messages, contextWindowTokens, overflow, compact: compactionStep({ summarize }) })
 */
export declare function compactionStep<M>(options: Omit<CompactOptions<M>, "targetTokens" | "force" | "enabled">): (messages: M[], info: {
	targetTokens: number;
	signal: AbortSignal | undefined;
}) => Promise<Compacted<M>>;
/** Options of {@link DoomLoopDetector}. A threshold can be `Infinity`: then the rule is off. */
export interface DoomLoopOptions {
	/**
	 * Loops that may be approved in a run; the next one is a stop. The budget of calls has an end of its own, the hard cap.
	 * @default 3
	 */
	maxAttempts?: number;
	/**
	 * Calls of a run until the user is asked: the call with this number is. After an approval so many more. Five times as
	 * many are the hard cap of a run, which nothing resets.
	 * @default 60
	 */
	maxToolCalls?: number;
	/**
	 * Calls with the same arguments and, as far as is recorded, the same result: the call with this number is asked about.
	 * Others may come in between if nothing was changed by them.
	 * @default 5
	 */
	sameToolThreshold?: number;
	/** Turns running in which everything failed and one error was the same: then the next call is asked about. @default 4 */
	sameErrorThreshold?: number;
	/** Answers without a call to the same words, seen through `observe`. @default 3 */
	sameAnswerThreshold?: number;
	/** Calls after an approval that are not judged. Budget and hard cap hold. @default 3 */
	cooldownToolCalls?: number;
	/** Nobody can be asked: what would be a question is a stop. @default false */
	headless?: boolean;
	/** The language of messages. @default 'en' */
	language?: "en" | "zh-CN";
	/**
	 * Names of fields that do not tell two calls or two results apart, at any depth: for every tool, or by tool (`*` is every
	 * tool). What terminals say of themselves (durations, process ids) is known already.
	 */
	volatileFields?: readonly string[] | Readonly<Record<string, readonly string[]>>;
	/** More tools that wait for something: repeating them is their use, and they are asked about from the 20th time on. */
	pollTools?: readonly string[];
	/**
	 * What tells calls of a tool apart, instead of its arguments; `undefined` for the arguments. What it throws is ignored.
	 */
	identity?: (call: DoomLoopCall) => unknown;
	/** The numbers of another system. @default none */
	profile?: TruncationProfile;
}
/** A call that is about to run. */
export interface DoomLoopCall {
	/** The provider's id of the call. */
	callId: string;
	/** The name of the tool. */
	tool: string;
	/** The arguments, of any kind and size: the object, or the JSON text of the model. */
	args?: unknown;
	/**
	 * Names the turn of the model: calls of one turn are made side by side and say nothing about each other. Without it a
	 * call that comes after a result begins a new turn.
	 */
	turn?: string | number;
}
/** How a call went. */
export interface DoomLoopResult {
	callId: string;
	/** What the tool gave back, of any kind and size. */
	result?: unknown;
	/** Whether it failed. @default what the text says */
	isError?: boolean;
}
/** What was noticed. */
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
/** What to do with a call. */
export interface DoomLoopVerdict {
	/** `allow` it, `ask` the user first, or `stop`: it must not run. */
	action: "allow" | "ask" | "stop";
	/** Why. Also of a warning. */
	reason?: DoomLoopReason;
	/** With `max_attempts`: the loop that would have been asked about. */
	detector?: DoomLoopReason;
	/** How often it was noticed. */
	count?: number;
	/** A sentence for the user. With `stop` it can be the result of the tool, for people and models. */
	message?: string;
	/** The call may run, but the model should be told this with its result. */
	warning?: string;
	/** With `ask`: what `approve` takes. Of a call its own id. */
	callId?: string;
}
/**
 * Notices that an agent goes in circles: the same call with the same result, a few calls in turn, the same error whatever
 * is tried, or words without deeds. One detector serves one session.
 *
 * Ask it before every call with `check`, tell it how the call went with `record`, and what is said with `observe`. It does
 * not read a clock and does nothing by itself.
 */
export declare class DoomLoopDetector {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option */
	constructor(options?: DoomLoopOptions);
	/** Begins a run, usually with each message of the user. Counts and open questions are gone; what was approved for good stays. */
	startRun(): void;
	/**
	 * Judges a call before it runs. Asked again about the same call before its result is recorded, it gives the same answer
	 * and counts nothing. The same id in another turn, or after other calls or words, is another call; a question that is open waits.
	 *
	 * @throws SpillwayError `INVALID_ARGUMENT` if `callId` or `tool` is not a string; arguments of any kind are fine
	 */
	check(toCheck: DoomLoopCall): DoomLoopVerdict;
	/**
	 * Tells how a call went, so that repeating what makes progress is no loop. The result of a call that was not allowed,
	 * or that is not known, changes nothing.
	 */
	record(toRecord: DoomLoopResult): void;
	/**
	 * The user lets a call run that was asked about: `once`, or `always` for this loop as long as the session lasts.
	 * @returns false if there is no open question with this id
	 */
	approve(callId: string, approval: "once" | "always"): boolean;
	/**
	 * Tells what was said to the model and by it, so that loops without calls are seen: an answer that does nothing to the
	 * same words, again and again. The answer is as that of `check`; with `ask`, its `callId` is what `approve` takes.
	 */
	observe(said: {
		role: "user" | "assistant";
		text: string;
	}): DoomLoopVerdict;
	/** The ids of questions that nobody has answered yet, oldest first. */
	pending(): string[];
	/** Everything that another detector needs to go on, for `JSON.stringify`. It holds hashes and ids, and no arguments. */
	toJSON(): object;
	/**
	 * A detector that goes on where another was saved.
	 * @throws SpillwayError `INVALID_ARGUMENT` if that is not what `toJSON` gave
	 */
	static fromJSON(state: object | string, options?: DoomLoopOptions): DoomLoopDetector;
}
/** What a user sets for truncation, all in one object. */
export interface UserTruncationConfig<R extends ToolResultLike = ToolResultLike> extends Partial<Omit<TruncationConfig, "strategy">>, Omit<TruncationServiceConfig, "global">, Omit<TruncationMiddlewareConfig<R>, "service"> {
}
/** What {@link createTruncation} makes. */
export interface Truncation<R extends ToolResultLike = ToolResultLike> {
	service: TruncationService;
	middleware: TruncationMiddleware<R>;
}
/**
 * Makes a service and its middleware. `false` switches truncation off.
 *
 * What is set for all tools goes before the built-in settings of single ones: `maxLines: 2000`, the default, raises the 500 lines of
 * `bash`. The first time that happens a warning with the code `SPILLWAY_TOOL_LIMIT` says so; `tools: { bash: { maxLines: 500 } }`
 * keeps the limit, and any entry of that tool with `maxLines` keeps the warning away.
 *
 * @example
 * const { middleware } = createTruncation({ maxLines: 1500, tools: { bash: { direction: 'tail' } } })
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, its value and what is allowed
 */
export declare function createTruncation<R extends ToolResultLike = ToolResultLike>(userConfig?: UserTruncationConfig<R> | boolean): Truncation<R>;
/** The keys that are Spillway's. Others are the application's, and stay as they are. */
export interface SpillwayConfig {
	agents?: {
		runtime?: {
			mode?: {
				default?: PermissionMode;
			};
			/** `maxChars` in UTF-16 units, `recentTurns` in turns of the user. */
			compaction?: {
				maxChars?: number;
				recentTurns?: number;
			};
			/** `false` is off. */
			truncation?: boolean | {
				maxLines?: number;
				maxBytes?: number;
				maxTokens?: number;
				direction?: "head" | "tail" | "both";
				strategy?: TruncationStrategyName;
				/** A pattern is a string here, with flags inside: `(?i)`. */
				smartRules?: (Omit<SmartRule, "pattern"> & {
					pattern?: string;
				})[];
				enabled?: boolean;
				/** Whether what is shown is what a terminal would show. */
				terminal?: boolean;
				/** Days that a saved output is kept. */
				ttlDays?: number;
			};
			doomLoop?: Pick<DoomLoopOptions, "maxAttempts" | "maxToolCalls" | "sameToolThreshold" | "sameErrorThreshold" | "sameAnswerThreshold" | "cooldownToolCalls">;
			permission?: Pick<PermissionPolicyOptions, "outsideEdit" | "mcpServers" | "sensitiveFiles"> & {
				rules?: PermissionRule[];
			};
			[section: string]: unknown;
		};
		[key: string]: unknown;
	};
	[key: string]: unknown;
}
/** Something in a configuration that is not as it should be. */
export interface ConfigProblem {
	/** `error`: it was left out. `warning`: it has no effect, or another than its author may think. */
	severity: "error" | "warning";
	layer: "user" | "inline";
	/** Of the field, such as `agents.runtime.truncation.maxLines`; empty for the whole. */
	path: string;
	/** A sentence, with file, line and column where there are any. */
	message: string;
	file?: string;
	/** From 1. */
	line?: number;
	/** From 1, in UTF-16 units. */
	column?: number;
}
/** What the capabilities take, made of a configuration. Only what was set is in it. */
export interface ConfigOptions {
	/** For `new ModeController({ default })`. @default 'agent' */
	mode: PermissionMode;
	/** For `createTruncation`. */
	truncation: UserTruncationConfig | false;
	/** For `new DoomLoopDetector`. */
	doomLoop: DoomLoopOptions;
	/** For `new PermissionPolicy`. */
	permission: PermissionPolicyOptions;
	/** For the compaction of a history. */
	compaction: {
		maxChars?: number;
		recentTurns?: number;
	};
}
/** What {@link loadConfig} found. */
export interface LoadedConfig {
	/** Both layers in one, under the documented names, without what was wrong. Nothing is filled in. */
	config: SpillwayConfig;
	problems: ConfigProblem[];
	/** Which layer each field came from: `{ 'agents.runtime.mode.default': 'user' }`. */
	sources: Record<string, "user" | "inline">;
	options: ConfigOptions;
}
/** Where a configuration comes from. */
export interface LoadConfigOptions {
	/** JSON with comments, at most 4 MiB. It need not be there. */
	userFile?: string;
	/** Over the file; its rules come after the file's. */
	inline?: SpillwayConfig;
}
/**
 * Reads a configuration and never fails over what is in it: what is wrong is told with line and column, and the rest is
 * used. Where rules of permission cannot be read, nothing is allowed unasked (`options.permission.failClosed`).
 *
 * @example
 * const { options, problems } = loadConfig({ userFile: join(homedir(), '.my-agent', 'config.jsonc') })
 * const policy = new PermissionPolicy(options.permission)
 * @throws SpillwayError `INVALID_ARGUMENT` for options of a wrong kind
 */
export declare function loadConfig(options?: LoadConfigOptions): LoadedConfig;
/** A change: objects are gone into, `null` removes, anything else replaces (RFC 7386). */
export type ConfigChange = {
	readonly [key: string]: unknown;
};
/**
 * Changes a user's file. Comments and formatting stay; the file is replaced in one step, keeps its mode, and is made if
 * it is not there. Writers wait for each other (a lock file beside it, for at most ten seconds), and every change is made
 * to what the file holds then.
 *
 * @param change what to change, or a function of what the file holds that answers it; that may be called again if
 * somebody else was faster. What it throws is thrown on
 * @returns what the file says now
 * @throws SpillwayError `INVALID_ARGUMENT` for a value that JSON cannot hold, `INVALID_CONFIG` for a wrong field or a file that
 * cannot be parsed, `STORAGE_READ`, `STORAGE_WRITE`
 */
export declare function updateConfig(file: string, change: ConfigChange | ((current: SpillwayConfig) => ConfigChange | undefined | Promise<ConfigChange | undefined>)): Promise<LoadedConfig>;
/** Something in a configuration that a person should look at. */
export interface ConfigFinding {
	/** A rule that can never count, a rule whose own examples fail, a wrong field, an unknown one. */
	kind: "shadowed" | "example" | "invalid" | "unknown";
	/** Such as `agents.runtime.permission.rules[3]`. */
	path: string;
	message: string;
}
/**
 * Looks for what loading accepts and nobody means, and for what it does not accept.
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no object
 */
export declare function lintConfig(config: SpillwayConfig): ConfigFinding[];
/**
 * What may be left out of a request. Policies combine: an item goes when one of them lets it.
 * - `results`: results of tools, all but the newest `keepRecent`;
 * - `outdated`: results of terminal tools older than 15 minutes, as `simplifyOutdatedTerminalResults` judges them;
 * - `superseded`: reads of a file that 5 newer reads of it cover;
 * - `budget`: results beyond the newest 40,000 tokens of them, when that frees more than 20,000 tokens;
 * - `pressure`: when the context window fills up, long results are trimmed to their start and end, and if that does not
 *   help, results go, oldest first; all but the newest `keepRecent`;
 * - `arguments`: long arguments of old writes and edits.
 */
export type PrunePolicy = "results" | "outdated" | "superseded" | "budget" | "pressure" | "arguments" | {
	type: "results";
} | {
	type: "outdated";
	/** Milliseconds, at least 0; results of exactly this age stay. @default 900000 */
	maxAgeMs?: number;
} | {
	type: "superseded";
	/** So many newer reads of a file make an older one go, if they show the same lines or more. @default 5 */
	keepReads?: number;
} | {
	type: "budget";
	/** The newest results stay as long as they have no more tokens than this together. @default 40000 */
	protectTokens?: number;
	/** Nothing goes unless more tokens than this can. @default 20000 */
	minTokens?: number;
	/** Results behind the last but so many messages of the user stay. @default 2 */
	protectTurns?: number;
	/** Results go until so many tokens of results remain. @default all go that are not protected */
	targetTokens?: number;
	/** Which go first on the way to `targetTokens`. @default 'oldest' */
	order?: "oldest" | "largest";
} | {
	type: "pressure";
	/** Long results are trimmed from this share of `contextWindow` on. The numbers here are OpenClaw's. @default 0.3 */
	trimAt?: number;
	/** Results go from this share on, until less is used. @default 0.5 */
	clearAt?: number;
	/** None go unless those that may have at least so many tokens together: 50,000 characters. @default 12500 */
	minTokens?: number;
	/** Results of at most so many UTF-16 units are not trimmed. @default 4000 */
	maxChars?: number;
	/** So many units of the start stay. @default 1500 */
	headChars?: number;
	/** So many units of the end stay. @default 1500 */
	tailChars?: number;
} | {
	type: "arguments";
	/** Arguments with fewer tokens stay. @default 500 */
	minTokens?: number;
};
/** The types of policies. */
export type PolicyName = Extract<PrunePolicy, string>;
/** What a token of a prompt costs. Only the relations matter. */
export interface PrunePrices {
	/** In a prefix that the provider has in its cache. */
	read: number;
	/** The first time it is sent. */
	write: number;
	/** Sent before, and not in the cache any more. */
	miss: number;
}
/** Something that was left out, as a placeholder can speak of it. */
export interface PrunedInfo {
	kind: "result" | "arguments";
	toolName?: string;
	toolCallId?: string;
	/** Its size in tokens, estimated. */
	tokens: number;
	/** Where the full output was saved, if the message or the ledger tells. */
	outputPath?: string;
}
/** Options of {@link HistoryPruner}. */
export interface HistoryPrunerOptions {
	/**
	 * The numbers and words of a known agent, as defaults of the other options: `opencode` has its budget, its placeholder,
	 * its estimate of tokens and its protected tool, and prunes whenever it can; `openclaw` has its pressure, keeps 3
	 * messages of the model and the preamble, and waits for a cold cache; `snow` lets superseded reads go at once.
	 */
	profile?: "opencode" | "openclaw" | "snow";
	/**
	 * What may be left out.
	 * @default ['results']
	 */
	policies?: readonly PrunePolicy[];
	/**
	 * So many of the newest results stay. A whole number of at least 0, or `Infinity`. Results that the model has not seen
	 * yet always stay, however many they are.
	 * @default 5
	 */
	keepRecent?: number;
	/**
	 * So many of the newest messages of the model stay, and everything behind the first of them. Nothing goes before there
	 * are so many. A whole number of at least 0, or `Infinity`.
	 * @default 0
	 */
	keepMessages?: number;
	/**
	 * Everything before the first message of the user stays: agents read there who they are. Without such a message nothing
	 * goes.
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
	 * Only results of these tools may go, with `*` likewise; a tool that is protected as well stays.
	 * @default all tools
	 */
	onlyTools?: readonly string[];
	/**
	 * When to prune. `cache`: when it pays, given what the provider's prompt cache saves. `cold`: only when the cache is gone
	 * because nothing was sent for `cacheLifetimeMs`; then whatever may go goes. `always`: whatever may go goes at once; for
	 * providers without a cache, or when room is all that counts.
	 * @default 'cache'
	 */
	schedule?: "cache" | "cold" | "always";
	/**
	 * The size of the context window, which the policy `pressure` asks for: tokens, above 0.
	 * @default 200000
	 */
	contextWindow?: number;
	/**
	 * What tokens cost, relative to each other. The default are those of providers that charge a tenth for what is in the
	 * cache and a quarter more for what is put there. Without a cache all three are the same.
	 * @default { read: 0.1, write: 1.25, miss: 1.25 }
	 */
	prices?: PrunePrices;
	/**
	 * How long the provider's cache outlives its last use: milliseconds, or `Infinity`.
	 * @default 300000
	 */
	cacheLifetimeMs?: number;
	/**
	 * What all requests together may cost more than without pruning, as a share: 0.1 is ten per cent. Kept by construction,
	 * as far as the estimates of tokens and the prices are right.
	 * @default 0.1
	 */
	maxLoss?: number;
	/**
	 * What takes the place of something that is left out, or a function that says so. A function that throws or answers
	 * something else than a string is reported as an error, and the default is used. Nothing goes that is shorter than what
	 * takes its place.
	 * @default a sentence that names the file with the full output, if there is one
	 */
	placeholder?: string | ((info: PrunedInfo) => string);
	/**
	 * The language of the default placeholder.
	 * @default 'en'
	 */
	language?: NoticeLanguage;
	/**
	 * What was learnt when the tools finished. It says more surely than the message which tool a result is of, whether the
	 * call failed, when it finished, and where the full output was saved. Asked once about each result.
	 */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: only a path that it owns is named. Without it a path that the tool itself says is
	 * named if this process saved it, and one that the host wrote into a message is believed.
	 */
	storage?: OutputOwner;
	/**
	 * Tokens of a text. If it throws or answers no number, that is reported and the built-in estimate is used.
	 * @default the built-in estimate
	 */
	estimateTokens?: (text: string) => number;
	/**
	 * Told of everything that went wrong while pruning; the messages went out all the same.
	 * @default a warning of the process
	 */
	onError?: (error: SpillwayError) => void;
}
/** Why something was left out, or was not. */
export type PruneReason = 
/** There is nothing that may go. */
"nothing-to-free"
/** The cache is gone anyway, or the change costs less than it frees. */
 | "free"
/** What carrying it has cost comes close to the price of the change. */
 | "pays"
/** The schedule is `always`. */
 | "always"
/** It has not been carried long enough. */
 | "too-early"
/** The schedule is `cold`, and the cache is not. */
 | "warm"
/** It would pay, but what was saved so far and `maxLoss` do not cover the price yet. */
 | "purse-too-small"
/** The messages could not be read; they go out as they are. */
 | "unreadable"
/** The messages are in no known format; they go out as they are. */
 | "unknown-format";
/** Something that was left out for the first time. */
export interface PrunedItem extends PrunedInfo {
	/** Index of the message. */
	index: number;
	/** The policy that let it go; of several the first. */
	policy: PolicyName;
	/** Its start and its end stay; it can still be left out later. */
	trimmed?: true;
}
/** What one call of {@link HistoryPruner.prune} did, and why. Priced tokens are tokens times their price. */
export interface PruneReport {
	reason: PruneReason;
	/** What was left out or trimmed for the first time. */
	pruned: PrunedItem[];
	/** How many items are left out or trimmed by now. */
	total: number;
	/** Tokens of all messages, estimated. */
	tokensBefore: number;
	/** Tokens of the messages that are sent, estimated. */
	tokensAfter: number;
	/** The provider's cache had nothing of the last request. */
	cold: boolean;
	/** Tokens that became free, or if nothing did, that could have. */
	freed: number;
	/** Priced tokens that freeing them costs at this request; negative if it saves at once. */
	price: number;
	/** Priced tokens that carrying them has cost so far. */
	carried: number;
	/** Priced tokens that could have been spent. */
	purse: number;
	/** Priced tokens of all requests so far, and what they would have been without pruning. */
	cost: {
		paid: number;
		unpruned: number;
	};
	/** How the history is kept; `undefined` if no message is in a known format. */
	format?: HistoryFormatName;
}
/** What {@link HistoryPruner.prune} gives back. */
export interface PruneResult<M> {
	messages: M[];
	report: PruneReport;
}
/** What lasts of a pruner, as JSON. */
export interface HistoryPrunerState {
	version: 1;
	/** What stands where something was, by the key of the item. */
	placeholders: [
		key: string,
		text: string
	][];
	/** Where items are cut that are trimmed, in UTF-16 units of their start and end, and what stands between and behind. */
	trims: [
		key: string,
		head: number,
		tail: number,
		middle: string,
		suffix: string
	][];
	/** The account, in the binary's terms. */
	account: object;
	/** Of each item how many requests have carried it since it could have gone. */
	carried: (number | null)[];
	/** A number per message of the last request by which it is known again. */
	sizes: number[];
	/** The keys of items that are left out although the model may not have seen them: a `ContextManager` had no room. */
	adopted?: string[];
	/** Where every call is an element of its own: the model has not seen the elements from this one on. */
	unseenFrom?: number;
}
/**
 * Leaves old parts of a history out of what is sent to a model, and thinks of the provider's prompt cache. One pruner
 * belongs to one session: call {@link prune} once before every request, with the whole history.
 *
 * What is left out stays away: once replaced, an item has the same bytes in every later request. Pairs of calls and
 * results stay whole, because only texts are replaced. Never replaced are results that the model has not seen yet,
 * results whose call is not in view, and what is no longer than its placeholder. Images and files of a result go with
 * its text, and the placeholder names them.
 */
export declare class HistoryPruner {
	/** @throws SpillwayError `INVALID_ARGUMENT` if an option is unknown or not allowed */
	constructor(options?: HistoryPrunerOptions);
	/**
	 * Says what to send now, and books that it was sent.
	 *
	 * Never throws for what is in the history: messages that cannot be read stay as they are, and if everything fails, the
	 * messages go out unpruned and `onError` is told why.
	 *
	 * @param messages the whole history, in any format that `detectFormat` knows. Never changed
	 * @param options `now` is the time in milliseconds since the epoch, `Date.now()` by default
	 * @returns a new array in which changed messages are copies and all others are the very same objects; `messages` itself
	 * if nothing is left out. The copies come again with the next call: to mark one for a cache, put another in its place
	 */
	prune<M>(messages: readonly M[], options?: {
		now?: number;
	}): PruneResult<M>;
	/** The last decision, as sentences that a person can read. */
	explain(): string;
	/** What lasts, for `JSON.stringify`: a session that goes on in another process sends the same bytes as before. */
	toJSON(): HistoryPrunerState;
	/**
	 * A pruner that goes on where another stopped.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the state is not one that `toJSON` gave, or an option is not allowed
	 */
	static fromJSON(state: HistoryPrunerState | string, options?: HistoryPrunerOptions): HistoryPruner;
}
/** A message without its images: its index in the stored history, a number by which it is known again, the note, tokens saved. */
export type WithoutImages = [
	index: number,
	size: number,
	note: string,
	saved: number
];
/** What lasts of it, as JSON. */
export interface ImagesState {
	format: HistoryFormatName;
	messages: WithoutImages[];
}
/** The settings of a policy, without its type. */
export type Settings<Name extends PolicyName> = Omit<Extract<PrunePolicy, {
	type: Name;
}>, "type">;
/** Options that all steps share. */
export type Shared = "contextWindow" | "reserveTokens" | "environment" | "estimateTokens" | "language" | "ledger" | "storage";
/** Options of {@link ContextManager}. */
export interface ContextManagerOptions<M = unknown> {
	/** The model's window in tokens; 0 or nothing: nobody knows. */
	contextWindow?: number;
	/** Tokens that stay free beside the room for an answer. @default 0 */
	reserveTokens?: number;
	/** What is sent beside the history: it counts, and the summariser is told of it. */
	environment?: CompactOptions["environment"];
	/** Tokens of a text. @default the built-in estimate */
	estimateTokens?: (text: string) => number;
	/** The language of the words that Spillway puts into the history. @default that of what the user said; of placeholders English */
	language?: NoticeLanguage;
	/** What was learnt when the tools finished: preferred over what messages say. */
	ledger?: ToolResultKnowledge;
	/** The storage that full outputs were saved in: with it, only paths that it owns are named. */
	storage?: OutputOwner;
	/** Results of terminal tools that are older than 15 minutes go. @default true */
	outdated?: boolean | Settings<"outdated">;
	/** Reads of a file that newer reads of it cover go. @default true */
	superseded?: boolean | Settings<"superseded">;
	/** Results beyond the newest 40,000 tokens of them go. @default true */
	budget?: boolean | Settings<"budget">;
	/** More about the three: when they go, and what may. */
	pruning?: Omit<HistoryPrunerOptions, "policies" | "profile" | "contextWindow" | "ledger" | "storage" | "estimateTokens" | "language" | "onError">;
	/** `false`: no compaction. Without `summarize` only old outputs go. @default old outputs go when the window is nearly full */
	compaction?: false | Omit<CompactOptions<M>, Shared | "state" | "signal" | "force" | "targetTokens" | "usedTokens">;
	/**
	 * What still does not fit has its results shortened, by the rules of this profile; `false`: it goes out as it is.
	 * @default 'openclaw'
	 */
	overflow?: false | OverflowProfile;
	/** Told of everything that went wrong on the way; the messages went out all the same. @default a warning of the process */
	onError?: (error: SpillwayError) => void;
}
/** A step of {@link ContextManager.prepare}. */
export interface ContextStep {
	step: "ledger" | "outdated" | "superseded" | "budget" | "compaction" | "overflow";
	/** `off`: an option says so. `nothing`: it had nothing to do. */
	outcome: "done" | "nothing" | "off";
	/** Results that it looked up, replaced or shortened at this request, and images; with a summary, messages that it stands for. */
	items: number;
	/** Tokens that it freed at this request. */
	freed: number;
	/** Why, in words. */
	reason: string;
}
/** What {@link ContextManager.prepare} did. */
export interface ContextReport {
	/** In the order in which they are done. */
	steps: ContextStep[];
	/** Tokens of the stored history, and of the messages that go out, estimated. What is sent beside them is not in it. */
	tokensBefore: number;
	tokensAfter: number;
	/** Tokens of what is sent beside the history. */
	environmentTokens: number;
	/** What both may have together; `Infinity` if nobody knows the window. */
	usable: number;
	/** Whether they have no more. */
	fits: boolean;
	pruning: PruneReport;
	/** Only if it was asked for at this request. */
	compaction?: CompactionReport;
}
/** What {@link ContextManager.prepare} gives back. */
export interface PreparedContext<M> {
	/** For the request. */
	messages: M[];
	/**
	 * The history with its compactions, and nothing else left out: for callers who want to store that. The very array that
	 * went in if there was none.
	 */
	history: M[];
	report: ContextReport;
}
/** What lasts of a manager, as JSON. */
export interface ContextManagerState {
	version: 1;
	pruner: HistoryPrunerState;
	fold: FoldState | null;
	compaction: CompactionState | null;
	/** Messages that go out without their images. */
	images?: ImagesState;
}
/**
 * What an agent calls before each request: what was learnt of results, outdated results, superseded reads, a budget of
 * results, compaction, and a guard against what still does not fit, in this order. Each step can be switched off, and says
 * what it did and why.
 *
 * One manager belongs to one session, and gets the whole stored history every time; that stays untouched. What it decided
 * holds: what was left out stays left out with the same bytes, and a summary is applied again until the next. Who wants to
 * store the compacted history takes `history` of the answer, and hands that in from then on.
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
	 * @param options `now`: milliseconds since the epoch, `Date.now()` by default; `force`: compact whatever the size;
	 * `signal` ends it
	 * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed; `COMPACTION` if compacting does not help any more, and
	 * the request would be over the window;
	 * `ABORTED` if the signal says so
	 */
	prepare(messages: readonly M[], options?: {
		now?: number;
		force?: boolean;
		signal?: AbortSignal;
	}): Promise<PreparedContext<M>>;
	/** What was done at the last request, as sentences that a person can read. */
	explain(): string;
	/** What lasts, for `JSON.stringify`: a session that goes on in another process sends the same bytes as before. */
	toJSON(): ContextManagerState;
	/**
	 * A manager that goes on where another stopped.
	 * @throws SpillwayError `INVALID_ARGUMENT` if the state is not one that `toJSON` gave, or an option is not allowed
	 */
	static fromJSON<M = unknown>(state: ContextManagerState | string, options?: ContextManagerOptions<M>): ContextManager<M>;
}
/**
 * Parameters of a model, under the names that agent frameworks use. What a provider does not know it refuses; which of
 * them to send is the host's choice.
 */
export interface ModelParameters {
	/** At least 0. */
	temperature?: number;
	/** From 0 to 1. */
	topP?: number;
	/** At least 0. */
	topK?: number;
	/** Tokens of an answer, a whole number of at least 1. */
	maxTokens?: number;
	/** The same, as the AI SDK calls it. */
	maxOutputTokens?: number;
	frequencyPenalty?: number;
	presencePenalty?: number;
	/** A whole number. */
	seed?: number;
	stopSequences?: readonly string[];
	/** `'auto'`, `'required'`, `'none'`, the name of a tool, or an object. */
	toolChoice?: string | object;
	parallelToolCalls?: boolean;
	truncation?: string;
	store?: boolean;
	promptCacheRetention?: string;
	reasoning?: object;
	text?: object;
	providerData?: object;
	providerOptions?: object;
}
/** A change of parameters: `null` takes one out, so that the model's own default counts. */
export type ModelParameterChange = {
	readonly [K in keyof ModelParameters]?: ModelParameters[K] | null;
};
/** The files of a folder that a user filled, read with care: one that cannot be read is told, and the others are used. */
/** Something in a folder that is not as it should be. */
export interface ExtensionProblem {
	/** `error`: the file was left out. `warning`: it is used, without what the message names. */
	severity: "error" | "warning";
	/** The file, or the folder itself. */
	path: string;
	/** A sentence. */
	message: string;
	/** The field of a front matter. */
	field?: string;
	/** From 1. */
	line?: number;
}
/** An agent: who it is, what it is told, and what it may use. */
export interface AgentDefinition {
	/** The front matter's `id`, else the name of the file without `.md`; at most 100 characters, in one form of Unicode (NFC). */
	id: string;
	/** For people. The front matter's `name`, else the id. */
	name: string;
	/** What it is for; a model that chooses among agents reads it. */
	description?: string;
	/** The front matter's `systemPrompt`, else what follows the front matter, without white space around it. */
	systemPrompt: string;
	/** The model to ask, as the host names models. */
	model?: string;
	/** Of the front matter's `modelSettings`, and of `temperature`, `topP` (`top_p`) and `maxTokens` (`max_tokens`) beside them. */
	modelSettings?: ModelParameters;
	/** The only tools that it may use. Without it, all. From a list, a text with commas, or a map of names to `true` and `false`. */
	tools?: string[];
	/** Tools that it may not use. */
	disallowedTools?: string[];
	/** The file. */
	path: string;
	/** What else the front matter says: the application's own keys. */
	metadata: Record<string, unknown>;
}
/** Options of {@link loadAgents}. */
export interface LoadAgentsOptions {
	/**
	 * Whether a file may be a link to another.
	 * @default false
	 */
	followLinks?: boolean;
}
/** What {@link loadAgents} found. */
export interface LoadedAgents {
	/** In the order of the names of their files. */
	agents: AgentDefinition[];
	problems: ExtensionProblem[];
}
/**
 * Reads the agents of a folder: each `*.md` in it, at most 1,000 of at most 1 MiB, is one. A front matter in YAML or JSON,
 * between two lines of three dashes, says who the agent is; the rest is its system prompt. What is wrong with a file is told
 * with its path, and the others are read. Of two agents with one id the file whose name comes first counts. A folder that is
 * not there has no agents.
 *
 * @param dir such as `~/.my-agent/agents`, with the home folder spelt out
 * @example
 * const { agents, problems } = await loadAgents(join(homedir(), '.my-agent', 'agents'))
 * for (const { path, message } of problems) console.warn(`${path}: ${message}`)
 * @throws SpillwayError `INVALID_ARGUMENT` for a path or an option of a wrong kind
 */
export declare function loadAgents(dir: string, options?: LoadAgentsOptions): Promise<LoadedAgents>;
/** The parameters that a user may set. */
export type UserParameter = "temperature" | "topP" | "maxTokens";
/** A parameter as settings keep it: the value stays while it is switched off. */
export interface ParameterSetting {
	/** With `default` the model's own default counts, and the value is not read. @default 'default' */
	mode?: "default" | "custom";
	value?: number;
}
/** What a user set. Everything is kept when the mode changes, so going back and forth loses nothing. */
export interface ModelSettingsInput {
	/**
	 * With the mode `default` neither the template nor any of `modelParams` is used. Without this field each parameter counts
	 * by its own mode. @default mode 'default'
	 */
	systemPrompt?: {
		mode?: "default" | "custom";
		template?: string;
	};
	modelParams?: {
		[K in UserParameter]?: ParameterSetting;
	};
}
/** Options of {@link resolveModelSettings}. */
export interface ResolveModelSettingsOptions extends ModelSettingsInput {
	/** The application's own system prompt. */
	defaultSystemPrompt: string;
	/**
	 * The agent that asks, such as one of `loadAgents`. Its system prompt takes the place of the default, and its parameters
	 * of the model's; what the user set comes over both.
	 */
	agent?: {
		systemPrompt?: string | undefined;
		modelSettings?: ModelParameters | undefined;
	} | undefined;
}
/** What a request is made with. */
export interface ResolvedModelSettings {
	systemPrompt: string;
	/** Only what somebody switched on: a parameter that is not here must not be sent. */
	modelSettings: ModelParameters;
	/** Who said so. */
	sources: {
		systemPrompt: SettingSource;
	} & {
		[K in keyof ModelParameters]?: SettingSource;
	};
	/** Values that are switched on and cannot be used; they are left out. */
	problems: string[];
}
/** Where a setting came from. */
export type SettingSource = "default" | "agent" | "user";
/**
 * The system prompt and the parameters of a request. A user's own prompt takes the place of the default and is never joined
 * to it; a blank one is none. With the mode `default` nothing of the user's is used. The result depends on the options alone,
 * and the options are not changed.
 *
 * @example
 * const { systemPrompt, modelSettings } = resolveModelSettings({
 *   defaultSystemPrompt: 'You are a coding agent.',
 *   systemPrompt: { mode: 'custom', template: 'You are terse.' },
 *   modelParams: { temperature: { mode: 'custom', value: 0.2 }, topP: { mode: 'default', value: 0.9 } },
 * })
 * // 'You are terse.', { temperature: 0.2 }
 * @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or of a wrong kind
 */
export declare function resolveModelSettings(options: ResolveModelSettingsOptions): ResolvedModelSettings;
export type OrNothing<T> = T | null | undefined;
export type Answer<T> = OrNothing<T> | Promise<OrNothing<T>>;
/** What the hooks of a request are told beside what they may change. */
export interface ChatHookContext {
	sessionId?: string | undefined;
	/** The id of the agent that asks. */
	agent?: string | undefined;
	/** The id of the model that is asked. */
	model?: string | undefined;
}
/** What a `chat.params` hook is told. */
export interface ChatParamsCall extends ChatHookContext {
	/** With what hooks before it changed. A copy. */
	params: Readonly<Record<string, unknown>>;
}
/** Changes parameters of a request. */
export type ChatParamsHook = (call: ChatParamsCall) => Answer<ModelParameterChange>;
/** What a `chat.system` hook is told. */
export interface ChatSystemCall extends ChatHookContext {
	/** The system prompt, with what hooks before it changed. */
	system: string;
}
/** A text and where it goes. With `append` and `prepend` a blank line stands between. A blank text changes nothing. */
export interface PromptEdit {
	text: string;
	/** @default 'append' */
	mode?: "append" | "prepend" | "replace";
}
/** Changes the system prompt of a request; a bare text is appended. */
export type ChatSystemHook = (call: ChatSystemCall) => Answer<PromptEdit | string>;
/** What a hook is told of a call. */
export interface ToolHookCall {
	tool: string;
	toolCallId: string;
	sessionId?: string;
	/** With what is merged so far. A copy. */
	args: unknown;
}
/** What a hook is told after the tool. */
export interface ToolHookResult extends ToolHookCall {
	/** The result, or of a tool that threw what the model will read. A copy. */
	result: unknown;
	isError: boolean;
}
/** What a hook changes in the arguments; they may be an object or JSON text. */
export interface ToolInputEdit {
	/** Defaults: what the model wrote wins. */
	mergeInput?: object;
	/** Overrides: these win over what the model wrote. */
	overrideInput?: object;
	/** Replaces all. */
	input?: unknown;
}
/** Changes arguments, before anything is judged. */
export type ToolBeforeHook = (call: ToolHookCall) => Answer<ToolInputEdit>;
/** What a hook changes in a result. */
export interface ToolHookEdit {
	/** Replaces its text, and of a bare value all. Images of a result of MCP stay; its `structuredContent`, which says the same, goes. */
	output?: unknown;
	/** Put around a text. */
	prepend?: string;
	append?: string;
}
/** Changes a result. */
export type ToolAfterHook = (call: ToolHookResult) => Answer<ToolHookEdit>;
/** What `HookRunner.compactionBefore` needs to be told; hooks are told whatever else is there, too. */
export interface CompactionBeforeCall {
	/** What the summariser will be told, with what hooks before it changed. */
	instructions: string;
	/** All that it will read. */
	prompt?: string;
	/** Makes the prompt of other instructions. Without it, `prompt` is `undefined` once a hook changed them. Hooks are not told of it. */
	promptOf?: (instructions: string) => string;
}
/** Hooks around a tool. */
export interface ToolHooks {
	"tool.before"?: ToolBeforeHook | readonly ToolBeforeHook[];
	/** Sees the full result. */
	"tool.after"?: ToolAfterHook | readonly ToolAfterHook[];
	/** Sees the result as the model will, and may make it longer again. */
	"tool.final"?: ToolAfterHook | readonly ToolAfterHook[];
}
/** Hooks, by what they are about. */
export interface Hooks extends ToolHooks, CompactionHooks {
	"chat.params"?: ChatParamsHook | readonly ChatParamsHook[];
	"chat.system"?: ChatSystemHook | readonly ChatSystemHook[];
}
/** The name of a hook. */
export type HookName = keyof Hooks;
/** A hook that threw, took too long, or answered what cannot be used. What it was about stays as it was. */
export interface HookProblem {
	hook: HookName;
	source: "builtIn" | "user";
	/** A sentence. */
	message: string;
	/** What was thrown. */
	error?: unknown;
}
/** Options of {@link HookRunner}. */
export interface HookRunnerOptions {
	/** Run first, in this order. */
	builtIn?: Hooks | readonly Hooks[] | undefined;
	/** Run after all built-in ones, in this order. */
	user?: Hooks | readonly Hooks[] | undefined;
	/**
	 * Milliseconds that a hook may take. One that never gives the thread back cannot be interrupted.
	 * @default 5000
	 */
	timeoutMs?: number;
	/** Told of each problem. Without it, `process.emitWarning` is. */
	onProblem?: (problem: HookProblem) => void;
}
/**
 * Runs hooks: all built-in ones, then the user's, each in the order of its list; each sees what those before it changed.
 * A hook that throws, takes longer than `timeoutMs`, or answers what cannot be used is reported and changes nothing. No
 * method rejects. What hooks are told are copies.
 *
 * @example
 * const hooks = new HookRunner({ user: { 'chat.params': () => ({ temperature: 0.2 }) } })
 * const params = await hooks.chatParams({ temperature: 0.7, maxTokens: 100 }) // { temperature: 0.2, maxTokens: 100 }
 * const safe = guardTool(bash, { hooks, permission: gate })
 */
export declare class HookRunner {
	/** @throws SpillwayError `INVALID_ARGUMENT` for an option or a hook that is unknown or not allowed */
	constructor(options?: HookRunnerOptions);
	/** Whether anybody listens: a host may spare itself the work. */
	has(name: HookName): boolean;
	/**
	 * The parameters of a request. Only parameters that are known and right are taken from a hook (`ModelParameters`); those
	 * of the host pass, whatever they are.
	 */
	chatParams<P extends object>(params: P, context?: ChatHookContext): Promise<P>;
	/** The system prompt of a request. */
	chatSystem(system: string, context?: ChatHookContext): Promise<string>;
	/** The arguments of a call, to be judged and then run. */
	toolBefore(call: ToolHookCall): Promise<unknown>;
	/** The full result of a call. */
	toolAfter(call: ToolHookResult): Promise<unknown>;
	/** The result of a call as the model will read it. */
	toolFinal(call: ToolHookResult): Promise<unknown>;
	/** What all hooks change in what a summariser is asked; nothing if they change nothing. */
	compactionBefore(call: CompactionBeforeCall): Promise<CompactionEdit | undefined>;
	/** Tells what came of a compaction. */
	compactionAfter(report: object): Promise<void>;
	/** For whoever takes hooks by their names: all `compaction.before` hooks as one. */
	get "compaction.before"(): (call: CompactionBeforeCall) => Promise<CompactionEdit | undefined>;
	/** All `compaction.after` hooks as one. */
	get "compaction.after"(): (report: object) => Promise<void>;
	private run;
}
/** What a tool is told about the call. */
export interface ExecutionContext {
	sessionId?: string;
	messageId?: string;
	signal?: AbortSignal;
	/** The folder that a tool works in. */
	workingDirectory?: string;
}
/** What a tool gives back in the end; it may return a bare value, which becomes `output`. */
export interface ToolResult extends ToolResultLike {
	success: boolean;
	output: unknown;
	error?: string;
}
/** A tool. */
export interface Tool {
	name: string;
	description?: string;
	/** Limits for this tool's output, below the user's entry for it. */
	truncation?: ToolTruncationConfig;
	execute(args: never, context: ExecutionContext & {
		toolCallId: string;
	}): unknown;
}
/** A call by the model, in OpenAI's form or flat. `arguments` is JSON text or a value. */
export type ToolCall = {
	id: string;
	type?: string;
	function: {
		name: string;
		arguments?: unknown;
	};
} | {
	id: string;
	type?: string;
	name: string;
	arguments?: unknown;
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
	/** Where every executed call is written down, with its arguments: a `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
}
/** Executes tools by name and passes their results through truncation. A tool that throws gives a failed result. */
export declare class ToolRegistry {
	constructor(config?: ToolRegistryConfig);
	/**
	 * Adds tools; a later one of the same name replaces the earlier.
	 * @throws SpillwayError `INVALID_ARGUMENT` for what is not a tool, `INVALID_CONFIG` for a wrong `truncation`
	 */
	register(tools: Tool | readonly Tool[]): void;
	/** Bounds results from now on. */
	setTruncationMiddleware(middleware: TruncationMiddleware): void;
	/** Executes the calls side by side and answers in their order. */
	execute(toolCalls: readonly ToolCall[], context?: ExecutionContext): Promise<ToolExecutionResult[]>;
}
/** Somebody must say whether a loop may go on. */
export interface DoomLoopQuestion {
	tool: string;
	toolCallId: string;
	sessionId?: string;
	args: unknown;
	verdict: DoomLoopVerdict;
	signal?: AbortSignal;
}
/** What stands around a tool. Each is optional. */
export interface ToolControls {
	/** Functions around the tool, or a runner that has them. Of a set of hooks only those of tools are run here. */
	hooks?: Hooks | ToolHookRunner;
	/** A `PermissionGate`, or a `PermissionPolicy` where nobody can be asked: what would be asked is denied then. */
	permission?: {
		request(call: GateCall): Promise<GateDecision>;
	} | {
		evaluate(call: PermissionCall): PermissionVerdict;
	};
	/** A `DoomLoopDetector`. */
	doomLoop?: {
		check(call: DoomLoopCall): DoomLoopVerdict;
		record(result: DoomLoopResult): void;
		approve(callId: string, approval: "once" | "always"): boolean;
	};
	/** Answers for the user whether a loop may go on. Without it a question is a stop. */
	askDoomLoop?: (question: DoomLoopQuestion) => DoomLoopAnswer | Promise<DoomLoopAnswer>;
	/** An `AuditLog`. One with `onFailure: 'block'` that cannot be written keeps the tool from running. */
	audit?: {
		append(event: AuditEvent): Promise<unknown> | unknown;
	};
	/** A `TruncationService`, or the middleware of one. */
	truncation?: OutputService | TruncationMiddleware;
	/** A `ToolResultLedger`. */
	ledger?: ToolResultRecorder;
	/** The session of calls that do not name theirs. */
	sessionId?: string;
	/** The mode of calls, where `permission` is no gate with a `ModeController`. */
	mode?: PermissionMode;
	/**
	 * What a call that was not let through gives back: an object like those of tools, bare text, or a result of MCP.
	 * @default 'result'
	 */
	refusal?: "result" | "text" | "mcp";
	/** Milliseconds that a hook may take, where `hooks` is no runner, which has its own. @default 5000 */
	hookTimeoutMs?: number;
}
/** Whoever runs the hooks around a tool, such as a {@link HookRunner}. None of its methods rejects. */
export type ToolHookRunner = Pick<HookRunner, "toolBefore" | "toolAfter" | "toolFinal">;
/** What a user says of a loop. */
export type DoomLoopAnswer = "once" | "always" | "stop";
/** Why a call gave no result of its tool. */
export type RefusalKind = "permission_denied" | "doom_loop" | "audit_failed" | "aborted" | "tool_failed";
/** The result of a call that was not let through, or that threw. */
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
/** A tool with everything around it. */
export type GuardedTool<T extends Tool> = Omit<T, "execute"> & {
	/** Never rejects: what goes wrong is a result that says so. */
	execute(args: Parameters<T["execute"]>[0], context?: Partial<ExecutionContext> & {
		toolCallId?: string;
	}): Promise<unknown>;
};
/**
 * Puts controls around a tool, always in this order: `tool.before`, permission on the merged arguments, loops, audit of
 * the decision, the tool, `tool.after` on the full result, truncation, `tool.final` on what the model reads, audit of the
 * outcome. Results of MCP and errors take the same way. What a person allowed is what runs: the arguments are copied first.
 *
 * @example
 * const safe = guardTool(bash, { permission: gate, doomLoop: new DoomLoopDetector(), truncation: service, audit: log })
 * const result = await safe.execute({ command: 'npm test' }, { toolCallId: 'call_1' })
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no tool or no control
 */
export declare function guardTool<T extends Tool>(tool: T, controls?: ToolControls): GuardedTool<T>;
/** Options of {@link loadTools}. */
export interface LoadToolsOptions {
	/**
	 * The files are code that runs with all rights of this process. Unless this is `true`, the folder is not even looked at.
	 * @default false
	 */
	enabled?: boolean;
	/**
	 * What stands around each tool, as with `guardTool`: permission, loops, audit, truncation, hooks. Without it the tools come
	 * back as they are, for a host that guards all its tools itself.
	 */
	controls?: ToolControls | undefined;
	/**
	 * Names of the host's own tools. A tool of that name in the folder, whatever its case and joints (`BASH`, `read_file` and
	 * `readFile`), is left out and told.
	 */
	reserved?: readonly string[];
	/**
	 * Milliseconds that a file may take to load.
	 * @default 10000
	 */
	timeoutMs?: number;
	/**
	 * Whether each file is first loaded in a thread of its own, which can be ended: only so can an endless loop, or a file
	 * that ends the process, be told and left out. What a file does while it is loaded it does twice then. TypeScript that a
	 * loader reads is not tried.
	 * @default true
	 */
	trial?: boolean;
	/**
	 * Loads `.ts`, `.mts` and `.cts` and gives what they export, such as `(path) => jiti.import(path)`. Without it the runtime
	 * must read TypeScript by itself.
	 */
	loader?: ((path: string) => unknown) | undefined;
	/**
	 * Whether a file may be a link to another.
	 * @default false
	 */
	followLinks?: boolean;
}
/** What {@link loadTools} found. */
export interface LoadedTools {
	/** In the order of the names of their files; in a file `default` first, then the names of the exports. */
	tools: Tool[];
	problems: ExtensionProblem[];
	/** The file of each tool, by its name. */
	paths: Record<string, string>;
}
/**
 * Loads the tools of a folder: every export of a `.js`, `.mjs`, `.cjs` or `.ts` file in it that has an `execute` function,
 * alone or in an array. A tool without a `name` is called like its file, or, if it is not the default export, like its
 * export. A file that does not load is told with its path, and the others are used. Of two tools with one name the first
 * counts, and those of the host before all. A file stays as it was loaded until the process ends.
 *
 * @example
 * const { tools, problems } = await loadTools(join(homedir(), '.my-agent', 'tools'), {
 *   enabled: config.externalTools === true,
 *   controls: { permission: gate, truncation: service, audit: log },
 *   reserved: ['read', 'edit', 'bash'],
 * })
 * @throws SpillwayError `INVALID_ARGUMENT` for a path or an option of a wrong kind
 */
export declare function loadTools(dir: string, options?: LoadToolsOptions): Promise<LoadedTools>;
/**
 * The format that a history is kept in: the one that most of its first telling messages are in, or if there are none, as
 * in a conversation without tools, the first that can read it all. A history keeps its format when it grows beyond its
 * first few calls of tools.
 *
 * @returns `undefined` if no message is in a known format
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array
 */
export declare function detectFormat(messages: readonly unknown[]): HistoryFormatName | undefined;
/** An outdated result, as a placeholder can speak of it. */
export interface OutdatedResultInfo {
	/** The tool, from the result or from the call that it answers. */
	toolName?: string;
	toolCallId?: string;
	/** When the tool finished: milliseconds since the epoch. */
	timestamp: number;
	/** Milliseconds from then to `now`. */
	ageMs: number;
	/** Size of the result's text: UTF-8 bytes. */
	bytes: number;
	/** Where the full output was saved, from the ledger, the message's `outputPath` or from `truncationPath` or `outputPath` of its `metadata`. */
	outputPath?: string;
}
/** What one call replaced. */
export interface SimplifiedReport {
	/** Results that were replaced; at least 1. */
	count: number;
	/** UTF-8 bytes that were saved: those of the texts, less those of their placeholders. Negative if the placeholders are longer. */
	bytes: number;
	/** The same in tokens, estimated. */
	tokens: number;
	/** Indices of the replaced messages, ascending. */
	indices: number[];
}
/** Options of {@link simplifyOutdatedTerminalResults}. */
export interface SimplifyOutdatedOptions {
	/**
	 * The time that ages are measured at: milliseconds since the epoch, at least 0.
	 * @default Date.now()
	 */
	now?: number;
	/**
	 * Results up to this age stay: milliseconds, at least 0. `Infinity` keeps all.
	 * @default 900000
	 */
	maxAgeMs?: number;
	/**
	 * So many of the newest results, of whatever tools, stay whatever their age. A whole number of at least 0, or `Infinity`.
	 * @default 5
	 */
	keepRecent?: number;
	/**
	 * Errors take up places among the newest like other results. Errors are never replaced, whatever this says.
	 * @default false
	 */
	countErrors?: boolean;
	/**
	 * A result with something in its `stderr` is an error.
	 * @default true
	 */
	stderrIsError?: boolean;
	/**
	 * The tools that run commands in a terminal; case and `-`, `_`, `.` between words do not matter. Replaces the built-in
	 * list (`terminal-execute`, `bash`, `shell`, `exec`, `exec_command`, `run_command`, `run_shell_command`, …), and wins
	 * over the built-in list of other tools (`read`, `filesystem-read`, `grep`, `edit`, …). The text decides about results
	 * of tools in neither list.
	 */
	terminalTools?: readonly string[];
	/**
	 * What takes the place of an outdated result, or a function that says so for each. If the function throws or answers
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
	 * What was learnt when the tools finished. It says more surely than the message which tool a result is of, whether the
	 * call failed (an exit code of 0 outweighs a text that starts like an error), and where the full output was saved; and
	 * when it finished, if the message has no time.
	 */
	ledger?: ToolResultKnowledge;
	/**
	 * The storage that full outputs were saved in: with it, a placeholder is only told of paths that it owns. Without it what the
	 * host wrote into a message is believed.
	 */
	storage?: OutputOwner;
	/** Told at the end of a call that replaced something. If it throws, a warning is emitted and nothing else changes. */
	onSimplified?: (report: SimplifiedReport) => void;
}
/**
 * Replaces the text of outdated terminal results by a placeholder. For what is sent to a model, not for what is kept:
 * the messages that go in are never changed.
 *
 * A tool result is outdated when all of these hold:
 * - it comes from a terminal: its tool is known to run commands, or its tool is unknown and its text is a JSON object
 *   with `stdout`, `stderr` or `exitCode`, or is not JSON and has one of them with quotes and colon in it;
 * - its `timestamp`, or what the `ledger` says, is more than 15 minutes back;
 * - it is not among the 5 newest tool results of any kind, by time and then by position. Errors do not take up places;
 *   a result without a timestamp stays, and counts as of the time of the nearest earlier one that has one;
 * - it is no error: the text does not start with `Error:`, `messageStatus` is not `'error'`, the exit code is 0 or not
 *   known, and `stderr` is empty or not known.
 *
 * A result whose content is more than text stays. Elements that are no messages at all stay, too. Where no result has a
 * time, and where no message is in a known format, nothing can be done, and a warning says so once: codes
 * `SPILLWAY_NO_TIMES` and `SPILLWAY_UNKNOWN_FORMAT`.
 *
 * @param messages the history, in any format that `detectFormat` knows
 * @returns a new array in which replaced messages are shallow copies and all others are the very same objects; if there
 * is nothing to replace, `messages` itself
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export declare function simplifyOutdatedTerminalResults<M>(messages: readonly M[], options?: SimplifyOutdatedOptions): M[];
/** Options of {@link repairToolPairs}. */
export interface RepairToolPairsOptions {
	/**
	 * The format of the history.
	 * @default detectFormat(messages)
	 */
	format?: HistoryFormatName;
	/**
	 * What a synthesised result says.
	 * @default '[missing tool result: the call was interrupted, or its result was lost]'
	 */
	text?: string;
	/**
	 * Calls at the end of the history may still be running: nobody has spoken since. `'keep'` waits for their results,
	 * `'close'` answers them too, as after a crash or before a session is written for the last time.
	 * @default 'keep'
	 */
	runningCalls?: "keep" | "close";
}
/**
 * Restores the pairs of calls and results, so that a provider takes the history.
 *
 * - A call without a result gets one, marked as an error where the format can, that says that the result is missing. It
 *   comes after the results of the same turn, and into their message where a format keeps results together. A call that
 *   may still be running at the end of the history is left alone.
 * - A result without a call before it, or of a call that has its result already, is removed; a message in which nothing
 *   is left goes with it.
 * - A blank name of a tool in a result becomes that of its call.
 * - A result that comes after somebody spoke is moved to its call. Where calls and results are items in any order
 *   (OpenAI's Responses and Agents SDK) it may stay.
 *
 * Calls are never removed, and neither is anything that belongs to a pair. Applying it again changes nothing. What
 * calls and results a message has is told by its format; results in the format `mcp` have no calls and stay.
 *
 * @param messages the history, in any of the formats
 * @returns a new array in which untouched messages are the very same objects; `messages` itself if there is nothing to do
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export declare function repairToolPairs<M>(messages: readonly M[], options?: RepairToolPairsOptions): M[];
/** What an error, or an answer, of a provider is about: whether the request did not fit. */
/** What an error is about. */
export type OverflowKind = 
/** The request is too long for the model's context, or for the provider. */
"overflow"
/** Too much in a time: requests, or tokens per minute. Wait; shortening the request does not help for good. */
 | "rate"
/** One field of the request is too long by itself: shorten that one. */
 | "field"
/** Something else, or nothing that is known. */
 | "other";
/** What is known of the request from elsewhere. */
export interface ClassifyOverflowOptions {
	/** Our own estimate of the request, in tokens. Decides about refusals that say nothing. */
	estimatedTokens?: number;
	/** The model's context window, in tokens. An answer whose usage is above it is an overflow that nobody reported. */
	contextWindow?: number;
}
/** What {@link classifyOverflow} found. */
export interface OverflowClass {
	/** Whether `kind` is `'overflow'`. */
	overflow: boolean;
	kind: OverflowKind;
	/**
	 * `'high'`: a code, a status or a wording that has one meaning. `'medium'`: a wording that nobody owns, or a status.
	 * `'low'`: nothing speaks for it but the circumstances, or nothing was recognised.
	 */
	confidence: "high" | "medium" | "low";
	/** Tokens of the request as the provider counted them, with those reserved for the answer if it counts them in. */
	actualTokens?: number;
	/** Tokens that there are: of an overflow the model's window, of a rate limit the tokens per time. */
	limitTokens?: number;
	/** Tokens of {@link actualTokens} that the request reserved for the answer: asking for fewer may be enough. */
	outputTokens?: number;
	/** Of a field: its length, in the units in which the provider counts that field. */
	actualLength?: number;
	/** Of a field: the length that is allowed, in the same units. */
	limitLength?: number;
	/** Whose wording it is, such as `'anthropic'`. A proxy passes on the words of others. */
	provider?: string;
	/** What was recognised: a code, or the name of a rule. For logs. */
	matched?: string;
}
/**
 * Says whether an error, or an answer, means that the request did not fit into the model's context.
 *
 * Takes whatever a client throws or gives back: errors of the providers' packages, of the AI SDK and LangChain, events of
 * a stream, bodies as objects or JSON, a message, an answer with its stop reason and usage. It looks into causes, and
 * changes nothing. Never throws for what it is given, however odd.
 *
 * In order: rate limits, limits of single fields, codes, wordings, the status 413, a status 400 or 413 without a body
 * (an overflow only if the estimate is at least 80 % of the window), and answers that were cut off at once.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export declare function classifyOverflow(errorOrResponse: unknown, options?: ClassifyOverflowOptions): OverflowClass;
/** How much of a model's context its input may use, and whether a history uses more. */
/** What a model can take. */
export interface ModelLimits {
	/** Input and output together, in tokens. 0 if nobody knows. */
	context: number;
	/**
	 * What an answer may have, in tokens.
	 * @default 0, which is not known
	 */
	output?: number;
	/** What the input may have, in tokens, where the provider has such a limit beside the context. */
	input?: number;
}
/** The tokens of a request as providers count them. */
export interface TokenUsage {
	/** Everything together; if it is missing or 0, the sum of the others. */
	total?: number;
	input?: number;
	output?: number;
	cacheRead?: number;
	cacheWrite?: number;
}
/** Options of {@link isContextFull}. */
export interface ContextFullOptions {
	model: ModelLimits;
	/** The tokens of the last request, not the sum over several. */
	usage: TokenUsage;
	/**
	 * Tokens that stay free for the next answer. What an answer may have stays free in any case.
	 * @default 20000, or what an answer may have if that is less; a fifth of a window that is not larger
	 */
	reservedTokens?: number;
	/**
	 * `false` is never full: compaction is switched off.
	 * @default true
	 */
	auto?: boolean;
}
/**
 * The tokens that the input of a request may have: the context without the answer or what is reserved, whichever is more,
 * and not more than the provider's limit of the input without what is reserved.
 *
 * @returns `undefined` if nobody knows the context, or if nothing would be left
 * @throws SpillwayError `INVALID_ARGUMENT` if a number is not allowed
 */
export declare function usableTokens(model: ModelLimits, reservedTokens?: number): number | undefined;
/**
 * Whether the next request would be too long, by what the last one took: time to compact. Never if the model's context is
 * not known.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed
 */
export declare function isContextFull(options: ContextFullOptions): boolean;
/** What stays of a text that was cut. */
export interface CutText {
	head: number;
	tail: number;
	middle: string;
	suffix: string;
}
/** How a result was sent: cut texts (`null` for one that was not), or a line in its place; whole if neither. */
export interface SentResult {
	/** A short name of the texts that it was made from. */
	source: string;
	/** Its length as it was sent, as the profile counts. */
	weight: number;
	cuts?: readonly (CutText | null)[];
	line?: string;
}
/** How the results of a history were sent. Plain data: it survives `JSON.stringify`. */
export interface ProjectionState {
	readonly version: 1;
	/** By the id of the call; results without one by their tool and place. */
	readonly sent: Readonly<Record<string, SentResult>>;
}
/** Options of {@link projectToolResults}. */
export interface ProjectOptions {
	/** The model's window in tokens; `NaN` or `Infinity` if nobody knows. */
	contextWindowTokens: number;
	/** What the last call gave back; without it this is the first request. */
	state?: ProjectionState;
	/**
	 * Whose numbers and words.
	 * @default 'openclaw'
	 */
	profile?: OverflowProfile;
	/**
	 * A cap of your own for one result: characters as the profile counts them, within 30 % of the window.
	 * @default 16,000 below 100,000 tokens, else 32,000
	 */
	maxChars?: number;
	/**
	 * What all results may have together: characters.
	 * @default as many as the window has tokens, at least the cap of one result, at most 256,000
	 */
	maxTotalChars?: number;
	/**
	 * Whether a saved output that a result names is still there; only then is the model pointed to it. A tool can print any path:
	 * answer yes only for paths of your own.
	 * @default whether `storage` owns the path, or this process saved it
	 */
	outputExists?: (path: string) => boolean;
	/** The storage that full outputs were saved in: only paths that it owns are named. */
	storage?: OutputOwner;
}
/** What {@link projectToolResults} did. */
export interface Projection<M> {
	/** The messages for the request; the very array that went in if nothing had to be shortened. */
	messages: M[];
	/** For the next request. */
	state: ProjectionState;
	report: {
		/** Results that are shown shortened. */
		shortened: number;
		/** Characters of all results, as the profile counts them: in the history, and in the request. */
		charsBefore: number;
		charsAfter: number;
		/** A result that was sent before is shown in another form: the provider's prompt cache is lost from there on. */
		rebaselined: boolean;
	};
}
/**
 * Holds the tool results of a request to a cap each and a budget together, always in the same way: a result is sent again
 * with the same bytes as long as its text is the same, because a provider's prompt cache holds only as far as the history
 * does. It may get shorter, and never longer again.
 *
 * Results of the newest turn are protected: a quarter of the budget, or the whole newest result, is theirs. What was sent
 * before gives way only if they would not get that; then it makes room for several turns, and the report says so. Of the
 * older results the largest are cut first; then the oldest make room for a line that says so, and that names the file with
 * the full output if the result itself did and a storage says that it saved it.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is not allowed
 */
export declare function projectToolResults<M>(messages: readonly M[], options: ProjectOptions): Projection<M>;
/** Options of the document's functions. */
export interface TruncateResultsOptions {
	/**
	 * Whose numbers and words.
	 * @default 'openclaw-2026-02'
	 */
	profile?: OverflowProfile;
	/**
	 * A cap of your own for one result: characters as the profile counts them. It holds within 30 % of the window; a number
	 * that is not above 0 is ignored.
	 * @default by the profile and the window
	 */
	maxChars?: number;
	/**
	 * So much of each text stays where the cap has room for it: characters, at least 0.
	 * @default 2000, or 0 with the profile `openclaw`
	 */
	minKeepChars?: number;
	/**
	 * Ends a text that was cut; `{removed}` stands for the number of characters that went.
	 * @default by the profile
	 */
	suffix?: string;
	/**
	 * What all results may have together: characters, at least 0. `false` is no such bound.
	 * @default none, or the budget of a recovery with the profile `openclaw`
	 */
	maxTotalChars?: number | false;
	/**
	 * Whether a saved output that a result names is still there; only then is the model pointed to it. A tool can print any path:
	 * answer yes only for paths of your own.
	 * @default whether `storage` owns the path, or this process saved it
	 */
	outputExists?: (path: string) => boolean;
	/** The storage that full outputs were saved in: only paths that it owns are named. */
	storage?: OutputOwner;
}
/** What {@link truncateOversizedToolResultsInMessages} did. */
export interface TruncatedMessages<M> {
	/** The messages for the request; the very array that went in if nothing was too long. */
	messages: M[];
	/** Results that were shortened. */
	truncatedCount: number;
}
/**
 * Shortens the tool results that are too long for the model's window, in a copy of the messages: for what is sent, not for
 * what is kept. Histories of every format that {@link detectFormat} knows.
 *
 * Of a long result the start stays, up to a line break if one is in the last fifth, and also the end if that says how
 * things went. Several texts of one result share the cap in proportion to their lengths. A line at the end says how many
 * characters went. The cap holds with that line, and wins over {@link MIN_KEEP_CHARS}. Messages that need nothing are
 * the very same objects.
 *
 * @param contextWindowTokens the model's window in tokens; `NaN` or `Infinity` if nobody knows
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array, or the window or an option is not allowed
 */
export declare function truncateOversizedToolResultsInMessages<M>(messages: readonly M[], contextWindowTokens: number, options?: TruncateResultsOptions): TruncatedMessages<M>;
/**
 * The length of a tool result's texts: UTF-16 units. Images count nothing. 0 for any other message, and for what is no
 * message at all.
 */
export declare function getToolResultTextLength(message: unknown): number;
/**
 * Whether truncating could help: whether a tool result is longer than the window allows, or with the profile `openclaw`
 * all of them together. Quick, and enough to decide whether it is worth a try.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array, or another parameter is not allowed
 */
export declare function sessionLikelyHasOversizedToolResults(params: {
	messages: readonly unknown[];
	contextWindowTokens: number;
} & TruncateResultsOptions): boolean;
/** Sessions: a conversation kept as a tree of entries, to which things are only ever added. */
/** An entry without its place in the tree. */
export interface NewSessionEntry {
	/** `message`, or whatever else a host keeps: a summary, a label, a change of the model. */
	type: string;
	/** With `type: 'message'`, the message. */
	message?: unknown;
	[key: string]: unknown;
}
/** An entry in its place. */
export interface SessionEntry extends NewSessionEntry {
	/** Unique in the session. */
	id: string;
	/** The entry before it on its branch; `null` for the first. */
	parentId: string | null;
}
export type Maybe<T> = T | Promise<T>;
/**
 * What a session must be able to do. Hosts implement it over what they have; {@link MemorySession} and
 * {@link JsonlSession} come with the package.
 */
export interface Session {
	/** All entries of all branches, in the order in which they were added. */
	entries(): Maybe<readonly SessionEntry[]>;
	/** The id of the entry that the next one follows; `null` if it will be the first. */
	leaf(): Maybe<string | null>;
	/** Adds an entry behind the leaf; it becomes the leaf. Gives back its id. */
	append(entry: NewSessionEntry): Maybe<string>;
	/** Makes another entry the leaf, or with `null` none: what is added next begins a new branch. Removes nothing. */
	branch(id: string | null): Maybe<void>;
}
/** What is known of a result that is about to be written. */
export interface GuardedResultInfo {
	toolCallId: string | undefined;
	toolName: string | undefined;
	/** The result was made up because none had come. */
	synthetic: boolean;
}
/** Options of {@link guardSession}. Hooks may be asynchronous; what one throws is a warning and changes nothing. */
export interface GuardSessionOptions {
	/**
	 * What a result's texts may have together: UTF-16 units.
	 * @default 400000
	 */
	maxToolResultChars?: number;
	/**
	 * Ends a text that was cut; `{removed}` stands for the number of characters that went.
	 * @default GUARD_TRUNCATION_SUFFIX, or the path of the saved output if the text names it
	 */
	suffix?: string;
	/**
	 * Whether a result is made up for each call that has none when another message comes.
	 * @default true
	 */
	synthesizeMissing?: boolean;
	/** The storage that full outputs were saved in: only paths that it owns are named. @default what this process saved */
	storage?: OutputOwner;
	/** First: another message in place of any message. */
	transform?: (message: unknown) => unknown;
	/** After results were cut: another message in place of a result. */
	transformToolResult?: (message: unknown, info: GuardedResultInfo) => unknown;
	/** Last: another message to be written, or `{ block: true }` for none. Nothing is as it was. */
	beforeWrite?: (message: unknown) => unknown;
}
/** A session that is guarded. */
export interface GuardedSession extends Session {
	entries(): Promise<readonly SessionEntry[]>;
	leaf(): Promise<string | null>;
	/** Adds an entry. Gives back its id, or that of the leaf if nothing was written. */
	append(entry: NewSessionEntry): Promise<string>;
	branch(id: string | null): Promise<void>;
	/** Makes up the results that have not come. */
	flush(): Promise<void>;
	/** The ids of calls that wait for their results. */
	pending(): string[];
}
/**
 * A session in front of another one that keeps what is added in bounds: results of tools are cut to
 * {@link HARD_MAX_TOOL_RESULT_CHARS} and end with {@link GUARD_TRUNCATION_SUFFIX}; a call whose result has not come when the
 * next message does gets one that says so; calls that a model began and never gave any arguments are taken out. What is
 * added is written in the order in which it came. The messages of the caller are never changed.
 *
 * Results are made up in the format of the call.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed
 */
export declare function guardSession(session: Session, options?: GuardSessionOptions): GuardedSession;
/** What was wrong with the file of a session. Everything 0 is a sound file. */
export interface SessionDamage {
	/** The last line has no end, as a write that was cut off leaves it. */
	tornLine: boolean;
	/** Lines that are no entries. Entries that stand whole in one, as a write that was cut off before them leaves it, are read. */
	unreadable: number;
	/** Entries that had the id of another; they have new ones. */
	duplicateIds: number;
	/** Lines that came twice, word for word; one of them is left. */
	repeated: number;
	/** Entries whose parent is missing, or that are their own ancestors; they follow the entry before them now. */
	lostParents: number;
}
/** Options of {@link JsonlSession.open}. */
export interface JsonlSessionOptions {
	/**
	 * Whether an entry is on the disk when {@link JsonlSession.append} is back, and survives a power cut. Without it, a
	 * killed process loses nothing.
	 * @default false
	 */
	sync?: boolean;
}
/**
 * A session in a file: one entry per line, in the order in which they were added, and never changed. Only its owner can
 * read the file (mode 0600).
 *
 * A damaged file is repaired when it is opened: a torn last line, lines that are no entries, ids that came twice, parents
 * that are missing. Everything that can be read is kept, and the damaged file beside the repaired one, under
 * {@link JsonlSession.keptOriginal}. The repair takes the place of the file in one step.
 *
 * Each line is written by one system call at the end of the file, so several processes may add to one file without tearing
 * each other's lines. Each has its own leaf and sees what the others wrote only when it opens the file again; a file must
 * not be opened for the first time after a crash while another process adds to it, because then it may be repaired.
 * The leaf of a file that is opened is its last entry.
 */
export declare class JsonlSession implements Session {
	/** Use {@link JsonlSession.open}. */
	constructor(opening: symbol, state: object);
	/**
	 * Opens a session; the file is made if there is none, its folder is not.
	 * @throws SpillwayError `STORAGE_READ` or `STORAGE_WRITE` with what the system said, `INVALID_ARGUMENT`
	 */
	static open(file: string, options?: JsonlSessionOptions): JsonlSession;
	/** The path of the file. */
	get file(): string;
	/** What was wrong with the file when it was opened. */
	get damage(): SessionDamage;
	/** Where the file is as it was before it was repaired; `undefined` if it was sound. */
	get keptOriginal(): string | undefined;
	/** All entries of all branches, in the order in which they were added. */
	entries(): readonly SessionEntry[];
	leaf(): string | null;
	/**
	 * Adds an entry to the file.
	 * @throws SpillwayError `STORAGE_WRITE` if it could not be written: then it was not added; or, with `sync`, if the disk
	 * did not confirm it: then it was, and the message says so. `INVALID_ARGUMENT` if it has no `type` or no JSON, `CLOSED`
	 */
	append(entry: NewSessionEntry): string;
	/** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
	branch(id: string | null): void;
	/** Closes the file. Nothing can be added any more. */
	close(): void;
	[Symbol.dispose](): void;
}
/** A session that lasts as long as the process. */
export declare class MemorySession implements Session {
	constructor();
	/** All entries of all branches, in the order in which they were added. */
	entries(): readonly SessionEntry[];
	leaf(): string | null;
	/** @throws SpillwayError `INVALID_ARGUMENT` if the entry has no `type` */
	append(entry: NewSessionEntry): string;
	/** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
	branch(id: string | null): void;
}
/** Parameters of {@link truncateOversizedToolResultsInSession}. */
export interface TruncateSessionParams extends TruncateResultsOptions {
	session: Session;
	/** The model's window in tokens; `NaN` or `Infinity` if nobody knows. */
	contextWindowTokens: number;
}
/** What {@link truncateOversizedToolResultsInSession} did. */
export interface TruncatedSession {
	truncated: boolean;
	/** Results that are shorter on the new branch. */
	truncatedCount: number;
	/** Why nothing was truncated. */
	reason?: string;
	/** The ids of the entries that were replayed, and of those that stand for them on the new branch. */
	replayed?: Record<string, string>;
}
/**
 * Shortens the tool results that are too long, in a session: a new branch begins behind the parent of the first of them,
 * and every entry from there on is added to it again, shortened where it was too long. The old branch stays as it was, so
 * that the full results can be found there. Entries that name entries, such as summaries and labels, name the new ones on
 * the new branch; labels that were set elsewhere are set again.
 *
 * Never throws and never rejects: what goes wrong is the `reason`, and the session is left at the leaf that it had.
 */
export declare function truncateOversizedToolResultsInSession(params: TruncateSessionParams): Promise<TruncatedSession>;
/** 2,000 lines, 51,200 bytes, `head`, enabled, kept for 7 days. */
export declare const DEFAULT_TRUNCATION_CONFIG: Readonly<TruncationConfig>;
/** What differs for single tools: `bash` shows its last 500 lines, `grep` 3,000, `read` is left alone. */
export declare const TOOL_TRUNCATION_CONFIGS: Readonly<Record<string, Readonly<Partial<TruncationConfig>>>>;
/** The places that a desktop agent keeps outputs in. */
/** Folders of an application, for `storageDirs`: the vault first, then the application's own. */
export interface AppPaths {
	/** `<vault>/.agent-output` */
	vaultDir(vault: string): string;
	/** `~/.<app>/agent-output` */
	dataDir: string;
}
/**
 * The places of an application, by its name. Nothing is made here.
 *
 * @example
 * const { vaultDir, dataDir } = appPaths('moryflow')
 * new TruncationService({ storageDirs: [vaultDir(vault), dataDir] })
 * A name with spaces, such as Electron's `productName`, becomes one of dashes: `My Agent` is `my-agent`. In Electron
 * `app.getPath('userData')` is the better place for `dataDir` where the application need not share it with others.
 * @throws SpillwayError `INVALID_ARGUMENT` unless the name is of letters, digits, spaces, `.`, `_` and `-` and begins with one of the first two
 */
export declare function appPaths(appName: string): AppPaths;
/** Options of {@link MemoryStorage}. */
export interface MemoryStorageOptions {
	/** Bytes that {@link MemoryStorage.sweep} leaves. @default 4294967296 */
	maxStoreBytes?: number;
	/** Outputs that {@link MemoryStorage.sweep} leaves. @default 10000 */
	maxStoreFiles?: number;
	/** As for `TruncationStorage`. @default none */
	maxFileBytes?: number;
	/** As for `TruncationStorage`. @default none */
	redact?: RedactionOptions;
	/** Days that {@link MemoryStorage.sweep} keeps an output. More than 0; `Infinity` for ever. @default 7 */
	retentionDays?: number;
}
/** Keeps full outputs in the memory of the process, with the surface of `TruncationStorage`. Nothing is shared, and all ends with it. */
export declare class MemoryStorage implements ITruncationStorage {
	/** @throws SpillwayError `INVALID_CONFIG` that names the option */
	constructor(options?: MemoryStorageOptions);
	/** Keeps a text and answers its path, which only this storage knows. */
	save(content: string, context: TruncationContext): Promise<string>;
	/** Keeps a copy of bytes and answers its path. */
	saveBytes(content: Uint8Array, context: TruncationContext): Promise<string>;
	/** The whole text. @throws SpillwayError `STORAGE_NOT_OWNED`, `STORAGE_NOT_FOUND` when it was swept */
	read(path: string): Promise<string>;
	/** As `TruncationStorage.readRange`. */
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	/** As `TruncationStorage.search`. */
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
	/** Whether a path is that of an output that this storage kept. */
	owns(path: string): boolean;
	/** Forgets outputs that are older than so many days, and answers how many. What is younger than an hour is kept. */
	cleanup(retentionDays?: number): Promise<number>;
	/** As `TruncationStorage.sweep`; nothing is leased here. */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** How much is kept. */
	usage(): Promise<StorageUsage>;
	/** Forgets all outputs of a session, and answers how many there were. */
	deleteSession(sessionId: string): Promise<number>;
	/** Where paths begin; no folder of a disk. */
	getStorageDir(): string;
	/** Forgets everything. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
/**
 * Storages in order of preference. {@link save} asks them one after another until one takes the output; a path is read where it
 * is owned.
 */
export declare class StorageList implements ITruncationStorage {
	/** In order of preference. */
	readonly storages: readonly ITruncationStorage[];
	/** @throws SpillwayError `INVALID_CONFIG` for an empty list */
	constructor(storages: readonly ITruncationStorage[]);
	/** Saves a text in the first storage that takes it. @throws SpillwayError `STORAGE_WRITE` that says why none did */
	save(content: string, context: TruncationContext): Promise<string>;
	/** The same for bytes. */
	saveBytes(content: Uint8Array, context: TruncationContext): Promise<string>;
	/** The whole text of a saved output. */
	read(path: string): Promise<string>;
	/** A part of a saved output. @throws SpillwayError `STORAGE_NOT_OWNED` where no storage knows the path */
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	/** Lines of a saved output that match. */
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
	/** Whether one of the storages saved this output. One that cannot be asked owns nothing. */
	owns(path: string): boolean;
	/** Removes what is older than so many days from each of them, and answers how many. */
	cleanup(retentionDays: number): Promise<number>;
	/** Sweeps each storage that can be swept by the bounds that it was given, and adds the reports up. */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** How much they hold together; one that does not say counts as empty. */
	usage(): Promise<StorageUsage>;
	/** Removes all outputs of a session from each of them, and answers how many. */
	deleteSession(sessionId: string): Promise<number>;
	/** Where outputs go first. */
	getStorageDir(): string;
	/** Closes each of them. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
	private first;
	/** Reads where the path is owned; where no storage says so, in the first that cannot be asked and finds it. */
	private owner;
	private sum;
}
/** How many tokens a text has: estimated, calibrated, or counted by somebody who knows. */
/** Counts the tokens of a text, exactly for one model. */
export type TokenCounter = (text: string) => number;
/** Options of {@link estimateTokens}. */
export interface EstimateTokensOptions {
	/**
	 * `'typical'`: as near as it gets. `'upper'`: hardly ever below what a tokenizer counts, for decisions that must not
	 * fail; usually 30 to 50 % more. Figures are in docs/tokens.md.
	 * @default 'typical'
	 */
	mode?: "typical" | "upper";
	/** What real usage taught about a model; the estimate is multiplied by its factor. */
	calibration?: TokenCalibration;
	/**
	 * Estimate as another agent does. `'opencode'`: UTF-16 units / 4, rounded. `'openclaw'`: the same rounded up, with a
	 * Chinese, Japanese or Korean character counted as four. The mode means nothing there.
	 */
	profile?: "opencode" | "openclaw";
}
/** One request: what was estimated, and what the provider counted, both in tokens. */
export interface TokenSample {
	estimated: number;
	actual: number;
}
/**
 * Estimates how many tokens a text has, by its scripts and by what it is: prose, code, JSON, hashes, white space, digits,
 * Chinese, Cyrillic, emoji. It knows no vocabulary; for exact numbers see {@link loadTokenCounter}.
 *
 * Linear and fast enough for every tool result. An empty text has 0 tokens.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for something else than a text, or a wrong option
 */
export declare function estimateTokens(text: string, options?: EstimateTokensOptions): number;
/**
 * Learns from real usage how far estimates are off for one model and one kind of work. Keep one per model.
 *
 * The factor is the median of actual by estimated over the last 32 requests, long ones counting more: one odd request
 * changes little. It stays between 1/8 and 8, and is 1 until there is a request to learn from.
 *
 * @example
 * const calibration = new TokenCalibration()
 * calibration.add({ estimated: estimateTokens(prompt), actual: response.usage.input_tokens })
 * estimateTokens(next, { calibration })
 */
export declare class TokenCalibration {
	/**
	 * @param usage what an earlier one had learnt: its `toJSON()`
	 * @throws SpillwayError `INVALID_ARGUMENT` for something else than pairs of numbers above 0
	 */
	constructor(usage?: readonly TokenSample[]);
	/** What estimates are multiplied by. */
	get factor(): number;
	/**
	 * Learns from a request. The estimate must be one without this calibration.
	 * @throws SpillwayError `INVALID_ARGUMENT` if a number is not finite and above 0
	 */
	add(usage: TokenSample): this;
	/** What was learnt, for `new TokenCalibration(…)`. */
	toJSON(): TokenSample[];
}
/** The packages that {@link loadTokenCounter} knows. */
export type TokenCounterPackage = "gpt-tokenizer" | "js-tiktoken" | "tiktoken" | "@anthropic-ai/tokenizer";
/**
 * Loads a tokenizer that you have installed beside Spillway, and gives its counting function. Nothing is loaded before.
 *
 * @param name the package
 * @param options.encoding which vocabulary; of `gpt-tokenizer` the module, such as `'gpt-tokenizer/encoding/cl100k_base'`
 * is loaded. @default 'o200k_base'
 * @throws SpillwayError `INVALID_ARGUMENT` for a package that is not known, or not installed, or does not know the encoding
 */
export declare function loadTokenCounter(name: TokenCounterPackage, options?: {
	encoding?: string;
}): Promise<TokenCounter>;
/** What the tools need of a storage. A `sessionId` must be obeyed: the path comes from a model. */
export interface OutputSource {
	readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>;
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
}
/** A service whose storage is one, such as a `TruncationService`. */
export interface OutputSourceHolder {
	readonly storage: unknown;
}
/** Options of {@link createOutputTools}. */
export interface OutputToolsOptions {
	/** Only outputs of this session are shown. Default: the session of the call, if it says one; else all. */
	sessionId?: string;
	/**
	 * Bytes of one answer, with the lines that say what it shows and how to read on. Default: 32 KiB of the output, and those lines.
	 */
	pageBytes?: number;
	/** Lines of one answer. Default: 500 of the output. */
	pageLines?: number;
	/**
	 * `json`: `pageBytes` is the length of the answer as a string of JSON, for hosts that count that.
	 * @default 'text'
	 */
	pageCounts?: "text" | "json";
}
/** What a tool is told about a call. */
export interface OutputToolContext {
	sessionId?: string;
	signal?: AbortSignal;
}
/** A result for the model. It is never an exception, and never needs truncation: `metadata.truncated` says so to middleware. */
export interface OutputToolResult {
	success: boolean;
	output: string;
	error?: string;
	metadata: {
		truncated: boolean;
		next?: object;
	};
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
 * Makes the tools `read_output` and `search_output`. Beside its own names, `read_output` takes `offset` (the first line, from 1; 0 is
 * the first as well) and `limit` (how many lines), and both take names such as `fromLine`.
 *
 * @param source a storage, or a service with one
 * @example
 * for (const tool of createOutputTools(storage, { sessionId })) registry.register([tool])
 */
export declare function createOutputTools(source: OutputSource | OutputSourceHolder, options?: OutputToolsOptions): [
	OutputTool,
	OutputTool
];
/**
 * Middleware for a host's tool executor. Results within limits keep their output; longer ones get a preview, and
 * `metadata` says where the rest is: `truncated`, `truncationPath`, `truncationRemovedLines`, `truncationRemovedBytes`.
 *
 * A result that says `metadata.truncated` itself is left alone up to the hard ceiling. If anything goes wrong, the
 * result still comes back, bounded, and an `error` event says why.
 *
 * @throws SpillwayError `INVALID_CONFIG` for wrong options, at once
 */
export declare function createTruncationMiddleware<R extends ToolResultLike = ToolResultLike>(config: TruncationMiddlewareConfig<R>): TruncationMiddleware<R>;
/** Recognising a preview that was taken for the whole. */
/**
 * Whether a text holds a notice of Spillway, in any language and profile and in words of `formatNotice` that name the saved output:
 * as it was, behind the prefix of a comment, a quote or a diff, on one line, in a JSON string, or the last lines of it. A tool that
 * writes files can refuse such a text: the model has copied a preview, and the rest would be lost. A document that only speaks of
 * truncation, or has a line such as `...5 lines truncated...` in it, is none.
 */
export declare function containsTruncationMarker(text: string): boolean;
/** A tool result as such hosts have it. */
export interface PluginToolResult {
	/** What the model reads. */
	llmContent: string | readonly ContentPart[];
	/** What the user sees. */
	returnDisplay?: unknown;
	isError?: boolean;
	/** Set once truncation has been dealt with. */
	truncated?: boolean;
	outputPath?: string;
	metadata?: Record<string, unknown>;
}
/** What the host says about the call. */
export interface PluginToolInfo {
	toolUse?: {
		name?: string;
		callId?: string;
	};
	toolName?: string;
	sessionId?: string;
}
/** The plugin; the host calls `toolResult` with itself as `this`. */
export interface TruncationPlugin {
	name: "truncation";
	enforce: "post";
	toolResult<R extends PluginToolResult>(this: object | undefined, toolResult: R, info?: PluginToolInfo): Promise<R>;
}
/** What the plugin reads of its host: `truncation: false` switches it off. */
export interface PluginHost {
	config?: {
		truncation?: boolean;
	};
}
/**
 * A plugin over a service of one's own.
 *
 * Results over the limits get a preview, `truncated: true` and `outputPath` (`''` if nothing could be saved); others are
 * stamped `truncated: false`. Failed results, and results that carry `truncated` already, are left alone up to the hard
 * ceiling. Text parts share one budget; images keep their place. `returnDisplay` follows if it is missing or long.
 */
export declare function createTruncationPlugin(options: {
	service: OutputService;
}): TruncationPlugin;
/** The plugin with a service of its own, made with the defaults when it is first needed. */
export declare const truncationPlugin: TruncationPlugin;
/**
 * The base for strategies of one's own. `needsTruncation` and `truncate` keep both limits unless they are overridden,
 * so `super.needsTruncation(content, config)` works.
 */
export declare abstract class BaseTruncationStrategy implements TruncationStrategy {
	abstract readonly name: string;
	/** Whether the text passes a limit. */
	needsTruncation(content: string, config: TruncationConfig): boolean;
	/** The part of the text that the limits allow, and how much is missing. */
	truncate(content: string, config: TruncationConfig): StrategyResult;
	/** Lines of a text; a final newline does not start another. */
	protected countLines(content: string): number;
	/** UTF-8 bytes of a text. */
	protected countBytes(content: string): number;
	/** The first lines. */
	protected truncateHead(content: string, maxLines: number): string[];
	/** The last lines. */
	protected truncateTail(content: string, maxLines: number): string[];
}
/** Keeps both limits. */
export declare class DefaultTruncationStrategy extends BaseTruncationStrategy {
	readonly name: string;
}
/** Keeps the limit in lines, whatever their length. In a service the hard ceiling still holds. */
export declare class LineBasedStrategy extends BaseTruncationStrategy {
	readonly name: string;
	needsTruncation(content: string, config: TruncationConfig): boolean;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/** Keeps the limit in bytes, whatever the number of lines. */
export declare class ByteBasedStrategy extends BaseTruncationStrategy {
	readonly name: string;
	needsTruncation(content: string, config: TruncationConfig): boolean;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/**
 * Keeps both limits, and what a developer would look for: errors and what explains them, sums and exits, both ends, with
 * the exact gap at every cut.
 */
export declare class SmartStrategy extends BaseTruncationStrategy {
	readonly name: string;
	/** What it looks for beside what it does by default. */
	readonly rules: readonly SmartRule[];
	/** @throws SpillwayError `INVALID_CONFIG` that names the field of the rule, its value and what is allowed */
	constructor(options?: SmartStrategyOptions);
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/**
 * Keeps both limits, and JSON as JSON: what is shown of a JSON text, or of JSON Lines, parses, and every value in it is one of
 * the text, in its place and of its type. The notice says what is missing. Anything else is shown as by {@link SmartStrategy}.
 */
export declare class JsonStrategy extends BaseTruncationStrategy {
	readonly name: string;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/**
 * Keeps both limits, and of a diff (`git diff`, `git show`, `git log -p`, `diff -u`) its structure: commits, files and heads of
 * hunks first, then as much of the hunks as fits. Each gap says how many lines that are added and removed, and how many files,
 * are missing in it. Anything else is shown as by {@link SmartStrategy}.
 */
export declare class DiffStrategy extends BaseTruncationStrategy {
	readonly name: string;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}
/**
 * Keeps both limits, and a table as a table: what is shown of CSV (also with `;`) or TSV parses with the same columns, and every
 * row in it is one of the text: the header, the first and the last rows, and those that differ. The notice says what is missing.
 * Anything else is shown as by {@link SmartStrategy}.
 */
export declare class CsvStrategy extends BaseTruncationStrategy {
	readonly name: string;
	truncate(content: string, config: TruncationConfig): StrategyResult;
}

export {};
