import { Writable } from 'node:stream';

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
 * @throws SpillwayError `INVALID_ARGUMENT` unless the name is of letters, digits, `.`, `_` and `-` and begins with one of the first two
 */
export declare function appPaths(appName: string): AppPaths;
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
export interface SearchOptions {
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
declare const asyncDispose: typeof Symbol.asyncDispose;
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
}
/** What Spillway throws, and nothing else. */
export declare class SpillwayError extends Error {
	readonly name = "SpillwayError";
	readonly code: SpillwayErrorCode;
	readonly field?: string;
	constructor(code: SpillwayErrorCode, message: string, options?: SpillwayErrorOptions);
	static [Symbol.hasInstance](value: unknown): boolean;
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
	/** The first 100 of the outputs that should have gone and could not be removed. */
	failed: {
		path: string;
		error: string;
	}[];
	/** How many could not be removed. */
	failedFiles: number;
	/** Folders that another process was sweeping; nothing was done there. */
	skippedDirs: string[];
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
/** Bounds the output of tools. */
export declare class TruncationService implements OutputService {
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
	 * Removes saved outputs that are older than `retentionDays`, and then the oldest over `maxStoreBytes` and `maxStoreFiles`.
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
/**
 * Which part of a long text is kept: its start, its end, or both with the middle left out.
 * @default 'head'
 */
export type TruncationDirection = "head" | "tail" | "both";
/** What stopped a cut. */
export type TruncationLimit = "lines" | "bytes";
/** The built-in strategies that can be named instead of instantiated. */
export type TruncationStrategyName = "default" | "line" | "byte";
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
	 * Redacts what has the shape of a well-known secret: private keys, JSON web tokens, `Authorization` headers, passwords in
	 * URLs, and keys of AWS, Azure, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, Stripe, npm, PyPI, Hugging Face, SendGrid
	 * and DigitalOcean.
	 * @default false
	 */
	known?: boolean;
}
/** The answer when nothing had to be cut: the very content that was given; of bytes, the text. */
export interface UntouchedResult<C = string> {
	content: C;
	truncated: false;
}
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
	 * UTF-8 bytes a preview may have, inclusive. A whole number of at least 1.
	 * @default 51200
	 */
	maxBytes: number;
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
}
/** The fields that a tool, or a user's entry for a tool, may set. */
export type ToolTruncationConfig = Partial<TruncationConfig>;
/** Overrides for one call. */
export interface TruncationOptions {
	maxLines?: number;
	maxBytes?: number;
	direction?: TruncationDirection;
	/** `true` leaves this output alone whatever its size; `false` truncates even where truncation is off. */
	skip?: boolean;
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
	/** Keeps full outputs somewhere else than in files. */
	storage?: ITruncationStorage;
	/** @default 'default' */
	strategy?: TruncationStrategy | TruncationStrategyName;
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
}
/** Runs after a tool and gives its result back, bounded. Never throws. */
export type TruncationMiddleware<R extends ToolResultLike = ToolResultLike> = (toolName: string, result: R, context: TruncationContext) => Promise<R>;
/** The part of {@link TruncationService} that middleware asks for. */
export interface OutputService {
	output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>;
}
/**
 * Takes an output while it is made. Made by {@link TruncationService.capture}.
 *
 * Pieces are text or bytes, split anywhere. End the stream and await `result`; destroy it, or abort the context's signal,
 * to give up. Once the stream has ended, aborting comes too late. A failure is reported by `result`, so an `error` event
 * without a listener does not end the process.
 */
export declare class Capture extends Writable {
	/** Settles when the output has ended, with exactly what {@link TruncationService.output} gives for the whole. */
	readonly result: Promise<TruncationResult>;
	/** What there is so far. */
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
	destroy(error?: Error): this;
	/** What is written after the capture was ended by an abort or `destroy()` is dropped: whoever writes may not know yet. */
	write(chunk: unknown, encoding?: unknown, done?: unknown): boolean;
	_write(chunk: string | Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void;
	_final(callback: (error?: Error | null) => void): void;
	_destroy(error: Error | null, callback: (error?: Error | null) => void): void;
}
/** 2,000 lines, 51,200 bytes, `head`, enabled, kept for 7 days. */
export declare const DEFAULT_TRUNCATION_CONFIG: Readonly<TruncationConfig>;
/** What differs for single tools: `bash` shows its last 500 lines, `grep` 3,000, `read` is left alone. */
export declare const TOOL_TRUNCATION_CONFIGS: Readonly<Record<string, Readonly<Partial<TruncationConfig>>>>;
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
 * @example
 * const { middleware } = createTruncation({ maxLines: 1500, tools: { bash: { direction: 'tail' } } })
 * @throws SpillwayError `INVALID_CONFIG` that names the setting, its value and what is allowed
 */
export declare function createTruncation<R extends ToolResultLike = ToolResultLike>(userConfig?: UserTruncationConfig<R> | boolean): Truncation<R>;
/** Outdated results of terminal tools make room for a placeholder. */
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
	/** Where the full output was saved, from the message's `outputPath` or from `truncationPath` or `outputPath` of its `metadata`. */
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
	 * @default '此命令返回内容已过时'
	 */
	placeholder?: string | ((info: OutdatedResultInfo) => string);
	/** Told at the end of a call that replaced something. If it throws, a warning is emitted and nothing else changes. */
	onSimplified?: (report: SimplifiedReport) => void;
}
/**
 * Replaces the text of outdated terminal results by a placeholder. For what is sent to a model, not for what is kept:
 * the messages that go in are never changed.
 *
 * A tool result (`role: 'tool'`) is outdated when all of these hold:
 * - it comes from a terminal: its tool is known to run commands, or its tool is unknown and its text is a JSON object
 *   with `stdout`, `stderr` or `exitCode`, or is not JSON and has one of them with quotes and colon in it;
 * - its `timestamp` is more than 15 minutes back;
 * - it is not among the 5 newest tool results of any kind, by time and then by position. Errors do not take up places;
 *   a result without a timestamp stays, and counts as of the time of the nearest earlier one that has one;
 * - it is no error: the text does not start with `Error:`, `messageStatus` is not `'error'`, the exit code is 0 or not
 *   known, and `stderr` is empty or not known.
 *
 * A result whose content is more than text stays. Elements that are no messages at all stay, too.
 *
 * @param messages the history, in the shape of chat completions
 * @returns a new array in which replaced messages are shallow copies and all others are the very same objects; if there
 * is nothing to replace, `messages` itself
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export declare function simplifyOutdatedTerminalResults<M>(messages: readonly M[], options?: SimplifyOutdatedOptions): M[];
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
	readRange(path: string, range: ReadRange): Promise<RangeResult>;
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
 * Whether a text holds a line that only a notice of Spillway writes, in any language and profile. A tool that writes
 * files can refuse such a text: the model has copied a preview, and the rest would be lost.
 */
export declare function containsTruncationMarker(text: string): boolean;
/** What the tools need of a storage. */
export interface OutputSource {
	readRange(path: string, range: ReadRange): Promise<RangeResult>;
	search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>;
}
/** Options of {@link createOutputTools}. */
export interface OutputToolsOptions {
	/** Only outputs of this session are shown. Default: the session of the call, if it says one; else all. */
	sessionId?: string;
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
 * Makes the tools `read_output` and `search_output`.
 *
 * @example
 * for (const tool of createOutputTools(storage, { sessionId })) registry.register([tool])
 */
export declare function createOutputTools(storage: OutputSource, options?: OutputToolsOptions): [
	OutputTool,
	OutputTool
];
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
/** Options of {@link TruncationStorage}. */
export interface TruncationStorageOptions {
	/** Folders in order of preference; any failure moves on to the next. Default: the user's data folder, then a private temporary one. */
	storageDirs?: readonly string[];
	/** @default 'process' */
	durability?: Durability;
	/**
	 * Bytes that {@link TruncationStorage.sweep} leaves, over all folders.
	 * @default 4294967296
	 */
	maxStoreBytes?: number;
	/**
	 * Outputs that {@link TruncationStorage.sweep} leaves, over all folders.
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
	readRange(path: string, range: ReadRange): Promise<RangeResult>;
	/**
	 * The lines of a saved output that match a regular expression, whatever the size of the file.
	 *
	 * The expression is one of Rust's `regex` crate: no look-around and no back-references, and therefore time that grows with
	 * the text and never explodes. Lines are searched one by one: `^` and `$` are the ends of a line, and nothing matches a line
	 * feed. A line over 1 MiB is searched in pieces; in it, a match over 64 KiB may be missed.
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
	 * @throws SpillwayError `INVALID_ARGUMENT`, and `INVALID_CONFIG` for a wrong `retentionDays`
	 */
	sweep(options?: SweepOptions): Promise<SweepReport>;
	/** How much the store holds, folder by folder, and what it last swept by itself. */
	usage(): Promise<StorageUsage>;
	/** Removes all outputs of a session, whatever their age and whoever uses it, and answers how many there were. */
	deleteSession(sessionId: string): Promise<number>;
	/** The folder that outputs go to first. */
	getStorageDir(): string;
	/** Waits for a sweep that is under way, and gives back the leases of the sessions that it saved into. It can still be used. */
	close(): Promise<void>;
	[asyncDispose](): Promise<void>;
}
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

export {};
